//! XLA dumps that were damaged, and protos that were made to do harm: each comes to an end, says what is wrong or
//! shows what there is, and takes little more memory than four times its bytes.

use super::*;

use buffa::encoding::encode_varint;
use tilescope::run::Compared;
use tilescope::synth::transformer::Transformer;
use tilescope::systems::xla::buffer_assignment::analysed::Analysed;
use tilescope::systems::xla::buffer_assignment::facts::ModuleFacts;
use tilescope::systems::xla::run::{XlaFiles, XlaRun};
use tilescope::systems::xla::synth::{DumpOptions, Remat, write_dump};
use tilescope::systems::{SYSTEMS, find};

/// The name of a file that is taken for a module.
const NAME: &str = "module_0001.jit_f.cpu_after_optimizations.hlo.pb";
/// What a dump may take beside four times its bytes.
const SMALL: usize = 10 * MIB;

/// The bytes of a dump with every kind of instruction.
fn dump() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let network = Transformer {
        layers: 2,
        width: 16,
        heads: 2,
        sequence: 8,
        vocabulary: 32,
        batch: 2,
        element_bytes: 4,
    };
    let options =
        DumpOptions { network, remat: Remat::Dots, is_donated: true, ..DumpOptions::default() };
    let written = write_dump(&options, directory.path(), &Progress::default()).unwrap();
    fs::read(written.file).unwrap()
}

/// Whatever is asked of a dump: figures, the report of the window, a comparison with itself.
fn ask_program(path: &Path) -> Result<(usize, Vec<String>), Error> {
    let progress = Progress::default();
    let found: Box<dyn std::any::Any> = find(SYSTEMS, path, None, &progress)?;
    let Ok(files) = found.downcast::<XlaFiles>() else { return Ok((0, Vec::new())) };
    let Some(run) = XlaRun::open(&files, &progress)? else { return Ok((0, Vec::new())) };
    run.fill_report(&progress);
    let analysed: &Analysed = &run.program.analysed;
    let facts = ModuleFacts::of(analysed, None);
    let _ = serde_json::to_string(&facts).unwrap();
    for color in analysed.colors().take(4) {
        if let Some(peak) = analysed.temporary_peak(color) {
            let shares = analysed.shares_at(color, peak.position);
            let sum = shares.iter().map(|(_, bytes)| u128::from(*bytes)).sum::<u128>();
            assert_eq!(sum, u128::from(peak.bytes), "shares add up to the peak");
        }
    }
    let derived = run.derived();
    drop(Compared::of([&derived, &derived], None, None, &|| false));
    let warnings = run.report.warnings.list().into_iter().map(|warning| warning.message);
    Ok((facts.allocations, warnings.collect()))
}

/// What is said of a dump of such bytes, and whether there was something to show.
fn ask_bytes(directory: &Path, bytes: &[u8]) -> (bool, String) {
    let path = directory.join(NAME);
    fs::write(&path, bytes).unwrap();
    let (answer, took) = counted(|| ask_program(&path));
    let most = bytes.len() * 4 + SMALL;
    assert!(took.bytes < most, "{} bytes of a file of {}: {answer:?}", took.bytes, bytes.len());
    match answer {
        Ok((allocations, warnings)) => (allocations > 0, warnings.join("\n")),
        Err(error) => (false, error.to_string()),
    }
}

#[test]
fn a_dump_that_is_cut_anywhere_is_shown_as_far_as_it_goes_or_refused() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let bytes = dump();
    let (is_shown, said) = ask_bytes(directory.path(), &bytes);
    assert!(is_shown && said.is_empty(), "{said}");
    let mut shown = 0;
    for end in (0..bytes.len()).step_by(149).chain(bytes.len() - 40..bytes.len()) {
        let (is_shown, said) = ask_bytes(directory.path(), &bytes[..end]);
        assert!(end == 0 || !said.is_empty(), "cut at {end} and nothing is said");
        shown += usize::from(is_shown);
    }
    assert!(shown > 70, "{shown}: what is cut behind its allocations is shown");
}

#[test]
fn bytes_that_are_others_do_no_harm() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let bytes = dump();
    let mut state = 11_u64;
    let mut next = |most: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % most
    };
    let mut shown = 0;
    for seed in 0..2000 {
        let mut damaged = bytes.clone();
        for _ in 0..=next(4) {
            let at = next(damaged.len());
            damaged[at] =
                if seed % 2 == 0 { damaged[at] ^ (1 << next(8)) } else { next(256) as u8 };
        }
        shown += usize::from(ask_bytes(directory.path(), &damaged).0);
    }
    assert!(shown > 1000, "{shown}: most leave something to show");
}

/// A message that is put together field by field.
#[derive(Clone, Default)]
struct Proto(Vec<u8>);

impl Proto {
    fn varint(&mut self, number: u64) {
        encode_varint(number, &mut self.0);
    }

    fn number(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// A field that says to be longer than the message.
    fn endless(mut self, field: u64, length: u64) -> Self {
        self.varint(field << 3 | 2);
        self.varint(length);
        self
    }

    fn all(self, field: u64, numbers: impl IntoIterator<Item = u64>) -> Self {
        numbers.into_iter().fold(self, |proto, number| proto.number(field, number))
    }
}

/// `f32[256]`.
fn array() -> Proto {
    Proto::default().number(2, 11).number(3, 256)
}

fn instruction(id: u64, opcode: &str, operands: &[u64], called: &[u64]) -> Proto {
    let proto = Proto::default().bytes(1, format!("{opcode}.{id}").as_bytes());
    let proto = proto.bytes(2, opcode.as_bytes()).message(3, &array()).number(35, id);
    proto.all(36, operands.iter().copied()).all(38, called.iter().copied())
}

/// A computation by its id: the root is the last instruction.
fn computation(id: u64, instructions: &[Proto], root: u64) -> Proto {
    let proto = Proto::default().bytes(1, format!("computation.{id}").as_bytes());
    let proto = instructions.iter().fold(proto, |proto, one| proto.message(2, one));
    proto.number(5, id).number(6, root)
}

/// The order of a computation.
fn sequence(id: u64, instructions: impl IntoIterator<Item = u64>) -> Proto {
    Proto::default().number(1, id).message(2, &Proto::default().all(1, instructions))
}

/// A module that begins with the first computation.
fn module(computations: &[Proto], sequences: &[Proto]) -> Proto {
    let proto = Proto::default().bytes(1, b"jit_f").number(6, 1);
    let proto = computations.iter().fold(proto, |proto, one| proto.message(3, one));
    let schedule = sequences.iter().fold(Proto::default(), |proto, one| proto.message(1, one));
    proto.message(7, &schedule)
}

fn value(id: u64, instruction: u64) -> Proto {
    Proto::default()
        .number(1, id)
        .number(2, 1024)
        .message(3, &Proto::default().number(4, instruction))
}

fn assigned(id: u64, offset: u64) -> Proto {
    Proto::default().number(1, id).number(2, offset).number(3, 1024)
}

/// An assignment in which each instruction has a value with its own id, all in one temporary allocation.
fn assignment(instructions: impl Iterator<Item = u64> + Clone) -> Proto {
    let values =
        instructions.clone().fold(Proto::default(), |proto, id| proto.message(1, &value(id, id)));
    let allocation = Proto::default().number(2, 1 << 40);
    let allocation =
        instructions.fold(allocation, |proto, id| proto.message(9, &assigned(id, id % 64 * 1024)));
    values.message(3, &allocation)
}

fn hlo(module: &Proto, assignment: &Proto) -> Vec<u8> {
    Proto::default().message(1, module).message(3, assignment).0
}

/// Asks about a proto that was made; something is shown, and what is said is returned.
#[track_caller]
fn shown(bytes: &[u8]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let (is_shown, said) = ask_bytes(directory.path(), bytes);
    assert!(is_shown, "{said}");
    said
}

/// A program of one computation with its values in order.
fn chain(count: u64) -> (Proto, Proto) {
    let one = |id: u64| instruction(id, "add", &[id.saturating_sub(1).max(1)], &[]);
    let all: Vec<Proto> = (1..=count).map(one).collect();
    (module(&[computation(1, &all, count)], &[sequence(1, 1..=count)]), assignment(1..=count))
}

#[test]
fn lengths_behind_the_end_are_damage() {
    let _alone = alone();
    let (good, values) = chain(20);
    for length in [1 << 20, u64::from(u32::MAX), u64::MAX >> 1, u64::MAX] {
        let damaged = instruction(21, "add", &[1], &[]).endless(36, length);
        let all = [computation(1, &[instruction(1, "add", &[], &[]), damaged], 1)];
        let said = shown(&hlo(&module(&all, &[sequence(1, [1])]), &values));
        assert!(said.contains("an instruction is damaged"), "{said}");
        let said = shown(&hlo(&good, &values.clone().endless(4, length)));
        assert!(said.contains("ends at byte") || said.contains("damaged"), "{said}");
        let trace = Proto::default().message(1, &Proto::default().endless(4, length));
        let said = shown(&hlo(&good, &values.clone().message(4, &trace)));
        assert!(said.contains("a heap trace is damaged"), "{said}");
    }
}

#[test]
fn computations_that_call_each_other_in_a_ring_come_once() {
    let _alone = alone();
    // The first calls the second, that a loop of the first with a condition that calls itself.
    let first = [instruction(1, "parameter", &[], &[]), instruction(2, "call", &[2], &[2])];
    let second = [instruction(3, "parameter", &[], &[]), instruction(4, "while", &[4], &[1, 3])];
    let third = [
        instruction(5, "conditional", &[5, 5], &[3, 2, 1]),
        instruction(6, "async-start", &[6], &[3]),
    ];
    let all = [computation(1, &first, 2), computation(2, &second, 4), computation(3, &third, 6)];
    let order = [sequence(1, [1, 2]), sequence(2, [3, 4]), sequence(3, [5, 6])];
    shown(&hlo(&module(&all, &order), &assignment(1..=6)));
}

#[test]
fn computations_within_each_other_without_end_are_no_recursion() {
    let _alone = alone();
    let count = 20_000;
    let one = |id: u64| {
        let parameter = instruction(2 * id, "parameter", &[], &[]);
        computation(
            id,
            &[parameter, instruction(2 * id + 1, "call", &[2 * id], &[id + 1])],
            2 * id + 1,
        )
    };
    let all: Vec<Proto> = (1..=count).map(one).collect();
    let order: Vec<Proto> = (1..=count).map(|id| sequence(id, [2 * id, 2 * id + 1])).collect();
    shown(&hlo(&module(&all, &order), &assignment(2..=count)));
}

#[test]
fn ids_that_do_not_exist_are_said() {
    let _alone = alone();
    let all =
        [instruction(1, "add", &[77, 1 << 40], &[99]), instruction(2, "while", &[88], &[98, 97])];
    let order = [sequence(1, [1, 2, 3, 4, u64::MAX]), sequence(55, [1])];
    let values = assignment(1..=2).message(1, &value(50, 1000)).message(1, &value(u64::MAX, 1));
    let alias = Proto::default().number(1, 66).message(2, &Proto::default().number(4, 1001));
    let values = values
        .message(2, &alias)
        .message(3, &Proto::default().number(1, 1).number(2, 1 << 20).message(9, &assigned(67, 0)));
    let event = |kind, id, other| Proto::default().number(1, kind).number(2, id).number(5, other);
    let trace = [event(0, 500, 0), event(2, 501, 502), event(1, 503, 0), event(2, 1, 504)];
    let trace = trace.iter().fold(Proto::default(), |proto, one| proto.message(1, one));
    let said =
        shown(&hlo(&module(&[computation(1, &all, 44)], &order), &values.message(4, &trace)));
    for part in [
        "of its instructions are not in the module",
        "values that do not exist",
        "name an instruction",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn values_that_share_their_memory_in_rings_and_long_chains() {
    let _alone = alone();
    let count = 30_000;
    let (program, values) = chain(count);
    let event = |kind, id, other| Proto::default().number(1, kind).number(2, id).number(5, other);
    let mut trace = Proto::default();
    for id in 1..=count {
        // Each shares with the next, the last with the first, and every tenth with itself.
        let with = if id % 10 == 0 { id } else { id % count + 1 };
        trace = trace.message(1, &event(0, id, 0)).message(1, &event(2, id, with));
    }
    for id in (1..=count).chain(1..=count) {
        trace = trace.message(1, &event(1, id, 0));
    }
    let alias = |id: u64| {
        Proto::default().number(1, id).message(2, &Proto::default().number(4, id % count + 1))
    };
    let values =
        (1..=count).fold(values.message(4, &trace), |proto, id| proto.message(2, &alias(id)));
    shown(&hlo(&program, &values));
}

#[test]
fn heap_traces_of_the_shortest_events_take_what_their_bytes_allow() {
    let _alone = alone();
    let (program, values) = chain(2);
    let nothing = Proto::default().number(1, 2);
    for (event, is_read) in [(nothing.clone().number(2, 1).number(5, 2), true), (nothing, false)] {
        let trace = Proto(Proto::default().message(1, &event).0.repeat(850_000));
        let said = shown(&hlo(&program, &values.clone().message(4, &trace)));
        assert_eq!(!said.contains("a heap trace is damaged and left out"), is_read, "{said}");
    }
}

#[test]
fn an_instruction_that_stands_in_the_order_again_and_again_stands_there_once() {
    let _alone = alone();
    let all = [instruction(1, "add", &[], &[]), instruction(2, "while", &[1], &[1, 1])];
    let order = sequence(1, (0..100_000).map(|place| 1 + place % 2));
    shown(&hlo(&module(&[computation(1, &all, 2)], &[order]), &assignment(1..=2)));
}

#[test]
fn wide_and_deep_tuples_take_what_their_bytes_allow() {
    let _alone = alone();
    let wide = (0..20_000).fold(Proto::default().number(2, 13), |proto, _| {
        proto.message(4, &Proto::default().number(2, 11))
    });
    let deep =
        (0..3_000).fold(array(), |proto, _| Proto::default().number(2, 13).message(4, &proto));
    let one = |id: u64, shape: &Proto| {
        let proto = Proto::default().bytes(1, b"t").bytes(2, b"bitcast").message(3, shape);
        proto.number(35, id).number(36, id.saturating_sub(1).max(1))
    };
    let mut all: Vec<Proto> = (1..=20).map(|id| one(id, &wide)).collect();
    all.push(one(21, &deep));
    let said = shown(&hlo(
        &module(&[computation(1, &all, 20)], &[sequence(1, 1..=21)]),
        &assignment(1..=20),
    ));
    assert!(said.contains("tuples lie within"), "{said}");
}
