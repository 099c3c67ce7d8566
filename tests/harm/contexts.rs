//! Debug contexts: long chains, and many that say nothing.

use super::*;

/// A text or the head of one, of a list or of a map, in CBOR.
fn cbor(kind: u8, length: usize) -> Vec<u8> {
    let kind = kind << 5;
    match length {
        0..=23 => vec![kind | u8::try_from(length).unwrap()],
        _ => [&[kind | 0x1a][..], &u32::try_from(length).unwrap().to_be_bytes()].concat(),
    }
}

pub fn text(text: &str) -> Vec<u8> {
    [cbor(3, text.len()), text.as_bytes().to_vec()].concat()
}

/// `debug.cbor` of contexts and texts.
pub fn contexts(contexts: &[Vec<u8>], texts: &[Vec<u8>]) -> Vec<u8> {
    let list =
        |name: &str, items: &[Vec<u8>]| [text(name), cbor(4, items.len()), items.concat()].concat();
    [cbor(5, 2), list("contexts", contexts), list("stringTable", texts)].concat()
}

pub fn context(id: usize, parent: usize, name: usize) -> Vec<u8> {
    let keys = [("id", id), ("parentId", parent), ("name", name)];
    let numbers = keys.map(|(key, number)| [text(key), cbor(0, number)].concat()).concat();
    [cbor(5, 4), numbers, text("layer"), text("poplibs")].concat()
}

#[test]
fn a_long_chain_of_contexts() {
    const LENGTH: usize = 60_000;
    let directory = harmed_sample(|directory| {
        let all: Vec<_> = (1..=LENGTH).map(|id| context(id, id - 1, 0)).collect();
        fs::write(directory.join("debug.cbor"), contexts(&all, &[text("name")])).unwrap();
        sql(directory, &format!("UPDATE programs SET debug_id = {LENGTH} - id"));
    });
    let (said, _) = ask_some(directory.path(), 150);
    assert!(said.contains("nested deeper than"), "{said}");
    let open = OpenReport::open(directory.path(), &Progress::default()).unwrap();
    open.read_debug_info(&Progress::default());
    let debug = open.report.debug.get().unwrap();
    let longest = (0..LENGTH).map(|row| debug.ancestry(row).count()).max().unwrap();
    assert!(longest <= 256, "{longest}");
}

#[test]
fn millions_of_empty_contexts_and_texts() {
    let directory = harmed_sample(|directory| {
        let bytes = contexts(&vec![vec![0xa0]; 2_000_000], &vec![vec![0x60]; 2_000_000]);
        fs::write(directory.join("debug.cbor"), bytes).unwrap();
    });
    let (answer, took) = counted(|| summary(directory.path()));
    let said = said(&[answer]);
    assert!(took.bytes < 60 * MIB, "{} MiB", took.bytes / MIB);
    assert!(said.contains("more than a file of"), "{said}");
}

#[test]
fn names_of_contexts_that_many_steps_repeat() {
    let directory = harmed_sample(|directory| {
        let name = text(&"n".repeat(100_000));
        fs::write(directory.join("debug.cbor"), contexts(&[context(1, 0, 0)], &[name])).unwrap();
        sql(directory, "UPDATE programs SET debug_id = 1");
        many_steps(directory);
    });
    let (said, _) = ask_some(directory.path(), 300);
    assert!(said.contains("names are cut to"), "{said}");
}

/// A context that is a call with these arguments, as CBOR.
fn call(id: usize, arguments: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let list = |entries: &[(&str, Vec<u8>)]| {
        let entries = entries.iter().flat_map(|(key, value)| [text(key), value.clone()].concat());
        [cbor(5, arguments.len()), entries.collect()].concat()
    };
    [cbor(5, 2), text("id"), cbor(0, id), text("args"), list(arguments)].concat()
}

#[test]
fn arguments_that_are_all_different_and_very_long_ones() {
    const CALLS: usize = 300_000;
    let directory = harmed_sample(|directory| {
        let argument = |id: usize| [("seed", text(&format!("a number that is used once, {id}")))];
        let mut all: Vec<_> = (1..=CALLS).map(|id| call(id, &argument(id))).collect();
        all.push(call(CALLS + 1, &[("long", text(&"x".repeat(1 << 20))), ("short", text("y"))]));
        all.push(call(CALLS + 2, &vec![("many", text(&"z".repeat(100))); 1000]));
        fs::write(directory.join("debug.cbor"), contexts(&all, &[])).unwrap();
    });
    let progress = Progress::default();
    let (open, took) = counted(|| {
        let open = OpenReport::open(directory.path(), &progress).unwrap();
        open.read_debug_info(&progress);
        open
    });
    let debug = open.report.debug.get().unwrap();
    let lists = |row: usize| debug.arguments.get(debug.arguments_of(row).unwrap());
    assert!(lists(0).ends_with("once, 1"));
    assert!(
        (0..debug.ids.len()).filter(|row| debug.arguments_of(*row).is_some()).count() < CALLS / 2
    );
    assert!(took.bytes < 60 * MIB, "{} MiB", took.bytes / MIB);
    let warnings = open.report.warnings.list();
    let said = |text: &str| warnings.iter().any(|warning| warning.message.contains(text));
    assert!(said("contexts cannot be searched"), "{warnings:?}");
    // What is read of one is cut, and says so, also where the last text of all is too long.
    let whole = open.report.read_context(0, &progress).unwrap().unwrap();
    assert!(!whole.is_cut);
    let last = [("texts", text(&"x".repeat(2 << 20)))];
    let directory = damaged_sample(|directory| {
        fs::write(directory.join("debug.cbor"), contexts(&[call(1, &last)], &[])).unwrap();
    });
    let open = OpenReport::open(directory.path(), &progress).unwrap();
    open.read_debug_info(&progress);
    assert!(open.report.read_context(0, &progress).unwrap().unwrap().is_cut);
}
