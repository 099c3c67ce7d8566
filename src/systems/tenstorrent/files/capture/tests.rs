//! Captures as Python and the allocator complete them, also damaged ones.

#![allow(clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::super::discover::SideFiles;
use super::*;
use crate::systems::tenstorrent::WORDS;
use crate::systems::tenstorrent::recorded::GraphEvent;

/// A capture with its parts in the order in which TT-NN writes them: that of their names.
fn written(parts: &Value) -> String {
    let mut text = String::from("{");
    for (name, part) in parts.as_object().unwrap() {
        let comma = if text.len() > 1 { "," } else { "" };
        write!(text, "{comma}\n{name:?}: {part}").unwrap();
    }
    text + "}"
}

struct ReadCapture {
    captures: Captures,
    found: TtnnReport,
    report: Report,
}

impl ReadCapture {
    fn warnings(&self) -> Vec<String> {
        self.report.warnings.list().into_iter().map(|warning| warning.message).collect()
    }
}

fn read(text: &str) -> ReadCapture {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    std::fs::write(&path, text).unwrap();
    let report = Report::of(WORDS, path.clone());
    let mut captures = Captures::open(&[path]).unwrap();
    report.set_files(captures.list());
    let beside = SideFiles::of(Path::new("/nowhere"));
    let found = captures.read(&beside, &report, &Progress::default()).unwrap();
    ReadCapture { captures, found, report }
}

fn function(kind: &str, counter: u64, name: &str) -> Value {
    json!({"counter": counter, "node_type": format!("function_{kind}"), "params": {"name": name}})
}

/// Calls of these names, each with a start and an end.
fn calls(names: &[&str]) -> Vec<Value> {
    let pair = |(place, name): (u64, &&str)| {
        [function("start", place * 2, name), function("end", place * 2 + 1, name)]
    };
    (0..).zip(names).flat_map(pair).collect()
}

fn alive(address: u64, mesh: u64) -> Value {
    json!([{"device_id": mesh, "address": address, "max_size_per_bank": 64, "buffer_type": 1}])
}

#[test]
fn calls_of_python_are_matched_though_they_stand_behind_the_graph() {
    let of = |name: &str, value: u64| json!({"name": name, "arguments": {"x": value}});
    let mut graph = calls(&["ttnn.add", "ttnn.relu"]);
    // A function within the second call has the name of the first.
    graph.splice(3..3, calls(&["ttnn.add"]));
    graph.extend(calls(&["ttnn.add"]));
    let python = [of("ttnn.add", 1), of("ttnn.relu", 2), of("ttnn.add", 3), of("ttnn.add", 4)];
    let read = read(&written(&json!({"graph": graph, "python_io": python})));
    let rank = &read.found.ranks[0];
    let value = |at: u32| -> Vec<&str> {
        rank.calls.arguments_of(at).map(|(_, value)| read.found.names.get(value)).collect()
    };
    assert_eq!([value(0), value(1), value(2)], [["1"], ["2"], ["4"]]);
}

#[test]
fn each_graph_of_python_has_node_numbers_of_its_own() {
    let tensor = |counter: u64, id: u64, address: Option<u64>| {
        json!({"counter": counter, "node_type": "tensor", "params": {
            "tensor_id": id, "address": address, "buffer_type": 1}})
    };
    let reshape = |kind: &str, counter: u64| function(kind, counter, "Tensor::reshape");
    let mut start = reshape("start", 0);
    start["input_tensors"] = json!([1]);
    let mut end = reshape("end", 2);
    end["connections"] = json!([3]);
    let first = json!([tensor(1, 7, Some(64))]);
    let second = json!([start, end, tensor(3, 9, None)]);
    let of = |graph: &Value| json!({"name": "ttnn.add", "captured_graph": graph});
    let graph = calls(&["ttnn.add", "ttnn.add"]);
    let capture = json!({"graph": graph, "python_io": [of(&first), of(&second)]});
    let mut read = read(&written(&capture));
    let mut views = 0;
    let warnings = Warnings::default();
    read.captures.read_graphs(
        &mut read.found,
        &warnings,
        &Progress::default(),
        |_, _, _, graph| {
            let is_view = |event: &&GraphEvent| matches!(event, GraphEvent::View { .. });
            views += graph.events.iter().filter(is_view).count();
        },
    );
    assert_eq!((views, warnings.list().len()), (0, 0), "node 1 is one of another graph");
}

#[test]
fn a_damaged_list_of_buffers_is_counted_and_the_others_are_read() {
    let graph = calls(&["ttnn.add", "ttnn.relu", "ttnn.add"]);
    let damaged = json!([{"address": [1, 2], "max_size_per_bank": 3}, 4]);
    let buffers = json!({"0": alive(64, 3), "2": damaged, "4": alive(96, 4)});
    let read = read(&written(&json!({"graph": graph, "per_operation_buffers": buffers})));
    let rank = &read.found.ranks[0];
    assert!(rank.is_incomplete);
    let stays: Vec<(u64, u32)> =
        rank.stays.iter().map(|stay| (stay.key.address, stay.first)).collect();
    assert_eq!(stays, [(64, 0), (96, 2)]);
    let [damage, meshes] = &read.warnings()[..] else { panic!("{:?}", read.warnings()) };
    assert!(damage.contains("the buffers of 1 calls cannot be read"), "{damage}");
    assert!(meshes.contains("buffers of 2 meshes"), "{meshes}");
}

#[test]
fn what_is_too_long_is_left_out_and_the_rest_is_read() {
    let long = "x".repeat(17 << 20);
    let mut graph = calls(&["ttnn.add"]);
    graph.insert(1, json!({"counter": 9, "node_type": "tensor", "arguments": [&long]}));
    let parts = json!({"cluster_descriptor": long, "graph": graph, "metadata": {"rank": 5}});
    let read = read(&written(&parts));
    assert_eq!((read.found.ranks[0].rank, read.found.ranks[0].operations.count()), (5, 1));
    let said = read.warnings();
    let [nodes, descriptor, _] = &said[..] else { panic!("{said:?}") };
    assert!(nodes.starts_with("graph: 1 nodes are damaged or too long"), "{nodes}");
    assert!(descriptor.starts_with("cluster_descriptor: damaged or too long"), "{descriptor}");
}

#[test]
fn a_call_of_a_long_name_has_an_end() {
    let long = "x".repeat(limits::NAME_BYTES + 1);
    let read = read(&written(&json!({"graph": calls(&[&long, "ttnn.relu", &long])})));
    assert_eq!(read.found.ranks[0].operations.count(), 3);
}

#[test]
fn a_capture_that_is_cut_is_listed_as_such() {
    let text = written(&json!({"graph": calls(&["ttnn.add", "ttnn.relu"])}));
    let read = read(&text[..text.len() - 20]);
    assert_eq!(read.report.files()[0].status, FileStatus::Truncated);
}
