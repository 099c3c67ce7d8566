//! The full content of debug contexts, read on demand: arguments and options of calls, whatever happens to the file
//! meanwhile.

#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::common::{damaged_sample, liveness, real_report, sample};
use tilescope::analysis::program::debug_tree::{DebugNode, DebugTree, debug_tree};
use tilescope::format::Progress;
use tilescope::index::{Cache, Limits};
use tilescope::store::debug_info::DebugInfo;
use tilescope::systems::poplar::files::OpenReport;

fn open(path: &Path) -> OpenReport {
    let open = OpenReport::open(path, &Progress::default()).unwrap();
    open.read_debug_info(&Progress::default());
    open
}

fn tree(open: &OpenReport, context: usize) -> Result<DebugTree, String> {
    let tree = debug_tree(&open.report, context, &Progress::default());
    tree.map(|tree| tree.expect("a file to read it from")).map_err(|error| error.to_string())
}

fn rows(debug: &DebugInfo) -> impl Iterator<Item = usize> {
    0..debug.ids.len()
}

/// The row of the call that a context names last.
fn is_call(node: &DebugNode, api: &str) -> bool {
    node.key == "PopLibs" && node.value.split(" · ").next() == Some(api)
}

#[test]
fn calls_of_the_real_report_have_arguments_and_options() {
    let Some(path) = real_report("poplar-3.3") else { return };
    let open = open(&path);
    let debug = open.report.debug.get().unwrap();
    let trees: Vec<DebugTree> = rows(debug).map(|row| tree(&open, row).unwrap()).collect();
    assert!(trees.iter().all(|tree| !tree.is_cut && !tree.contexts.is_empty()));
    let innermost = |api| {
        trees.iter().filter_map(|tree| tree.contexts.last()).filter(move |node| is_call(node, api))
    };
    assert_eq!(innermost("reduceWithOutput").count(), 2);
    for call in innermost("reduceWithOutput") {
        let arguments = call.child("arguments").unwrap();
        let value = |key: &str| &*arguments.child(key).unwrap().value;
        assert_eq!(value("in"), "float [2, 3]");
        assert_eq!(value("out_"), "float [2, 1]");
        assert_eq!((value("dims"), value("options")), ("[1]", "none"));
        let params = arguments.child("params").unwrap();
        let params: Vec<(&str, &str)> =
            params.children.iter().map(|node| (&*node.key, &*node.value)).collect();
        assert_eq!(params, [("op", "ADD"), ("update", "false"), ("useScale", "false")]);
        assert_eq!(call.child("function").unwrap().value, "reduceStage");
        let source = &call.child("source").unwrap().value;
        assert!(source.ends_with("poplin/QRFactorization.cpp:273"), "{source}");
    }
    assert_eq!(innermost("mapInPlace").count(), 4);
    // The way from the loop that the user's call made to the innermost call.
    let deepest = trees.iter().max_by_key(|tree| tree.contexts.len()).unwrap();
    let layers: Vec<&str> = deepest.contexts.iter().map(|node| &*node.key).collect();
    assert_eq!(layers[..2], ["PopLibs", "PopLibs"], "{layers:?}");
}

#[test]
fn the_line_of_a_real_step_is_that_of_the_outermost_call() {
    let Some(path) = real_report("poplar-3.3") else { return };
    let answer = liveness(&path, None).unwrap();
    let location = answer["steps"][50]["operation_facts"]["location"].as_str().unwrap();
    assert!(location.ends_with("poplin/QRFactorization.cpp:450"), "{location}");
}

#[test]
fn contexts_of_a_cut_file_can_be_read_up_to_the_cut() {
    let Some(path) = real_report("poplar-3.3-interrupted") else { return };
    let open = open(&path);
    let debug = open.report.debug.get().unwrap();
    assert!(debug.is_cut && debug.ids.len() == 68);
    let has_arguments =
        |row| tree(&open, row).unwrap().contexts.iter().any(|it| it.child("arguments").is_some());
    assert!(rows(debug).any(has_arguments));
}

#[test]
fn every_context_is_found_where_the_index_says() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::in_directory(directory.path().join("tilescope/index"), Limits::default());
    let find = || OpenReport::find_with(&sample(), Some(&cache), &Progress::default()).unwrap();
    let first = find();
    first.read_all(&Progress::default(), |_| Vec::new()).unwrap();
    first.write_index(&Progress::default()).unwrap().unwrap();
    let second = find();
    assert!(second.has_index());
    second.read_debug_info(&Progress::default());
    let debug = second.report.debug.get().unwrap();
    for row in rows(debug) {
        let found = tree(&second, row).unwrap();
        assert_eq!(found, tree(&first, row).unwrap());
        let id = found.contexts.last().unwrap().child("id").unwrap();
        assert_eq!(id.value, debug.ids[row].to_string());
    }
}

#[test]
fn a_file_that_is_deleted_can_be_read_and_one_that_is_written_over_is_told() {
    let directory = damaged_sample(|_| {});
    let file = directory.path().join("debug.cbor");
    let open = open(directory.path());
    let expected = tree(&open, 3).unwrap();
    // Replaced: the report goes on with what it was opened with.
    let other = directory.path().join("other");
    fs::write(&other, "something else").unwrap();
    fs::rename(&other, &file).unwrap();
    assert_eq!(tree(&open, 3).unwrap(), expected);
    fs::remove_file(&file).unwrap();
    assert_eq!(tree(&open, 3).unwrap(), expected);

    let directory = damaged_sample(|_| {});
    let file = directory.path().join("debug.cbor");
    let open = self::open(directory.path());
    let mut bytes = fs::read(&file).unwrap();
    // As many bytes, each context one further: neither its time need differ, nor its size.
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    bytes.rotate_right(1);
    fs::write(&file, &bytes).unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(written).unwrap();
    assert!(tree(&open, 3).is_err());
    fs::write(&file, "short").unwrap();
    let said = tree(&open, 3).unwrap_err();
    assert!(said.contains("debug.cbor") && said.contains("reload the report"), "{said}");
}
