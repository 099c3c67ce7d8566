//! Small reports of any content for the tests of comparisons: four tiles on two IPUs, six steps.

use std::ops::RangeInclusive;
use std::sync::Arc;

use proptest::prelude::*;

use crate::analysis::comparison::matching::{Matching, Pairs, Sureness};
use crate::analysis::fixture::{self, Lowered};
use crate::analysis::liveness::curve_of_variables;
use crate::analysis::placement::recompute::tile_sums;
use crate::analysis::program::step_operations::step_operations;
use crate::store::compute::{ComputeSetTiles, ComputeSets};
use crate::store::exchange::{ExchangeId, ExchangeKind, Exchanges};
use crate::store::liveness::{Deltas, Liveness};
use crate::store::memory::TileMemory;
use crate::store::placed::Placement;
use crate::store::program::{Programs, Steps};
use crate::store::target::Target;
use crate::store::tile_list::TileList;
use crate::store::variable::VariableFlags;
use crate::store::{ComputeSetId, DeviceId, ProgramId, Report, StepId, TileId, UnloweredId};

const TILES: u32 = 4;
const STEPS: u32 = 6;

/// Names of variables, with pseudo variables of all kinds.
const NAMES: [&str; 8] = [
    "weights",
    "<anon>",
    "<message:weights>",
    "internalExchangeCode",
    "vertexInstanceState",
    "weights",
    "output",
    "vertexCode",
];
/// Names of categories; lowered variables may have another one, which has no name.
pub const CATEGORIES: [&str; 3] = ["variable", "internalExchangeCode", "vertexCode"];

#[derive(Clone, Debug)]
pub struct Content {
    /// Of each debug context its operation's name; empty for one of Poplar's own.
    pub contexts: Vec<&'static str>,
    /// Of each variable its name, a place in the list of names, and its debug context.
    pub variables: Vec<(usize, u64)>,
    /// First and last step of each class after the first, which is always live.
    pub classes: Vec<(u32, u32)>,
    /// Tile, variable, class, category, bytes and offset of each lowered variable.
    pub cells: Vec<(u32, u32, u32, u8, u32, u32)>,
    /// The debug context of each step's program.
    pub steps: Vec<u64>,
    /// Code on each tile of the exchange that each step runs.
    pub code: Vec<[u64; 4]>,
    /// State on each tile of the compute set of each debug context.
    pub state: Vec<[u64; 4]>,
    /// Control code on each tile of each step's program.
    pub control: Vec<[u64; 4]>,
    /// What `memory_by_tile` says too much of the always-live bytes.
    pub surplus: u64,
}

pub fn contents() -> impl Strategy<Value = Content> {
    let name = proptest::sample::select(vec!["", "layer1.conv1", "layer1.conv2", "fc"]);
    let variable = (0..NAMES.len(), 0..5_u64);
    let class = (0..STEPS, 0..STEPS);
    let cell = (0..TILES, 0..6_u32, 0..5_u32, 0..4_u8, 1..60_u32, 0..200_u32);
    let list = || proptest::collection::vec(proptest::array::uniform4(0..30_u64), 0..6);
    (
        proptest::collection::vec(name, 1..5),
        proptest::collection::vec(variable, 1..6),
        proptest::collection::vec(class, 0..4),
        proptest::collection::vec(cell, 0..30),
        proptest::collection::vec(0..6_u64, STEPS as usize),
        [list(), list(), list()],
        0..9_u64,
    )
        .prop_map(
            |(contexts, variables, classes, cells, steps, [code, state, control], surplus)| {
                Content {
                    contexts,
                    variables,
                    classes,
                    cells,
                    steps,
                    code,
                    state,
                    control,
                    surplus,
                }
            },
        )
}

/// The report with all its parts.
pub fn report(content: &Content) -> Report {
    let report = Report::default();
    let target = Target {
        tiles: Some(u64::from(TILES)),
        tiles_per_device: Some(2),
        bytes_per_tile: Some(1000),
        ..Target::default()
    };
    let kind = |name: &str| if name.is_empty() { "" } else { "convolution" };
    let contexts = fixture::contexts(content.contexts.iter().map(|name| (kind(name), *name)));
    report.debug.fill(Some(contexts));
    programs(content, &report);
    compute(content, &report);
    report.categories.fill(Some(fixture::categories(0, &CATEGORIES)));
    let mut liveness = liveness(content);
    tiles(content, &report, &target, &mut liveness);
    report.liveness.fill(Some(liveness));
    report.target.fill(Some(target));
    report.fill_arenas_with_tiles();
    report
}

fn exchange(number: u32) -> ExchangeId {
    ExchangeId { kind: ExchangeKind::Internal, number }
}

fn programs(content: &Content, report: &Report) {
    let (mut programs, mut steps) = (Programs::default(), Steps::default());
    for (id, context) in (0..).zip(&content.steps) {
        assert!(programs.ids.push(ProgramId(id)) && steps.ids.push(StepId(id)));
        programs.names.push("");
        programs.debug_ids.push(*context);
        programs.exchanges.push(content.code.get(id as usize).map(|_| exchange(id)));
        steps.programs.push(ProgramId(id));
    }
    report.programs.fill(Some(programs));
    report.steps.fill(Some(steps));
}

fn compute(content: &Content, report: &Report) {
    let list = |numbers: &[u64; 4]| Some(TileList::from_runs(numbers.map(|number| (1, number))));
    let control = || content.control.iter().map(list).collect();
    report.control_code.fill((!content.control.is_empty()).then(control));
    let mut exchanges = Exchanges::default();
    for (number, code) in (0..).zip(&content.code) {
        exchanges.ids.push(exchange(number));
        exchanges.code.push(list(code));
    }
    report.exchanges.fill(Some(exchanges));
    let (mut sets, mut tiles) = (ComputeSets::default(), ComputeSetTiles::default());
    for (id, state) in (0..).zip(&content.state) {
        assert!(sets.ids.push(ComputeSetId(id)));
        sets.debug_ids.push(u64::from(id));
        sets.vertices.push(Some(state.iter().sum()));
        let zero = || list(&[0; 4]);
        tiles.state.push([list(state), zero(), zero(), zero(), zero()]);
    }
    report.compute_sets.fill(Some(sets));
    report.compute_set_tiles.fill(Some(tiles));
}

fn liveness(content: &Content) -> Liveness {
    let lives = [(0, STEPS)].into_iter().chain(content.classes.iter().copied());
    let lives = lives.map(|(first, last)| [first.min(last)..first.max(last)]);
    let mut liveness = Liveness { classes: fixture::classes(1, lives), ..Liveness::default() };
    for (id, (name, context)) in (0..).zip(&content.variables) {
        assert!(liveness.variable_ids.push(UnloweredId(id)));
        liveness.variable_names.push(NAMES[*name]);
        liveness.debug_ids.extend((*context > 0).then_some(*context));
        liveness.debug_id_ends.push(liveness.debug_ids.len());
    }
    liveness
}

/// Lowered variables, the bytes by variable and class, and Poplar's sums of them.
fn tiles(content: &Content, report: &Report, target: &Target, liveness: &mut Liveness) {
    let cells_of = |tile: u32| content.cells.iter().filter(move |cell| cell.0 == tile);
    // Class 0 is not listed: such a variable has no place, and no bytes before lowering.
    let is_listed = |class: u32| u16::from(class > 0);
    let lowered = fixture::lowered((0..TILES).map(|tile| {
        let variables = cells_of(tile).map(|(_, _, class, category, bytes, offset)| Lowered {
            flags: is_listed(*class),
            ..Lowered::new(*offset, *bytes, *class, *category)
        });
        (tile, variables)
    }));
    let table = fixture::tile_variable_bytes((0..TILES).map(|tile| {
        cells_of(tile).map(|(_, variable, class, _, bytes, _)| {
            (*variable, *class, bytes * u32::from(is_listed(*class)))
        })
    }));
    let mut memory = TileMemory::default();
    for tile in 0..TILES {
        let placed = cells_of(tile).map(|(_, _, class, category, bytes, offset)| Placement {
            category: Some(u32::from(*category)),
            flags: VariableFlags(is_listed(*class)),
            ..fixture::placement(u64::from(*offset), u64::from(*bytes), *class)
        });
        let placed = fixture::placed(placed);
        let sums = tile_sums(&placed, target, &liveness.classes, STEPS as usize);
        assert!(memory.tiles.push(TileId(tile)));
        memory.total.push(Some(sums.total));
        memory.including_gaps.push(Some(sums.including_gaps));
        memory.always_live.push(Some(sums.always_live + content.surplus));
        memory.not_always_live_max.push(Some(sums.not_always_live_max));
    }
    report.memory.fill(Some(memory));
    report.variables.fill(Some(lowered));
    let changes = |tiles: &RangeInclusive<u32>| {
        let rows: Vec<_> = table.iter(table.rows_between(tiles)).collect();
        changes(&curve_of_variables(&rows, &liveness.classes, STEPS as usize))
    };
    let by_device =
        (0..2).map(|device| (DeviceId(device), changes(&(device * 2..=device * 2 + 1)))).collect();
    report.deltas.fill(Some(Deltas {
        everything: changes(&(0..=TILES)),
        by_device,
        ..Deltas::default()
    }));
    liveness.variable_bytes = Some(table.iter(0..table.len()).collect());
    report.tile_variable_bytes.fill(Some(table));
}

/// What a curve changes at every step.
fn changes(curve: &[u64]) -> Vec<(u32, i64)> {
    let mut before = 0;
    let change = |(step, bytes): (u32, &u64)| {
        let bytes = i64::try_from(*bytes).expect("small");
        (step, bytes - std::mem::replace(&mut before, bytes))
    };
    (0..).zip(curve).map(change).collect()
}

/// A matching of two reports, in which these operations and variables are pairs as far as they are
/// there.
pub fn matching(source: &Report, target: &Report, wanted: &[(usize, usize)]) -> Matching {
    let operations = [source, target].map(|report| step_operations(report).unwrap_or_default());
    let count = |report: &Report| report.liveness.get().map_or(0, |found| found.variable_ids.len());
    let [of_source, of_target] = operations.each_ref().map(|found| found.operations.len());
    let mut matching = Matching {
        operations: Pairs::new(of_source, of_target),
        variables: Pairs::new(count(source), count(target)),
        steps: Pairs::new(STEPS as usize, STEPS as usize),
        step_operations: operations.map(Arc::new),
        ..Matching::default()
    };
    for (from, to) in wanted {
        matching.operations.pair(*from, *to, Sureness::Exact);
        matching.variables.pair(*from, *to, Sureness::Exact);
    }
    (0..STEPS as usize).for_each(|step| assert!(matching.steps.pair(step, step, Sureness::Exact)));
    matching
}
