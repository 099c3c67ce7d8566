//! Synthetic XLA dumps: whoever puts a program together knows when its values live and what they take; the reader
//! and the analysis find the same from the files alone.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use crate::common::{json, tilescope};
use serde_json::Value;
use tilescope::format::Progress;
use tilescope::store::Warnings;
use tilescope::store::hlo::AllocationKind;
use tilescope::store::report::FileStatus;
use tilescope::synth::WriteError;
use tilescope::synth::transformer::Transformer;
use tilescope::systems::xla::buffer_assignment::analysed::Analysed;
use tilescope::systems::xla::buffer_assignment::facts::ModuleFacts;
use tilescope::systems::xla::buffer_assignment::in_use::{self, PlacedValue};
use tilescope::systems::xla::buffer_assignment::live_ranges::alias_groups;
use tilescope::systems::xla::files::text::read_texts;
use tilescope::systems::xla::files::{ModuleFile, ProtoKind, read_module};
use tilescope::systems::xla::synth::{DumpOptions, Remat, WrittenModule, XlaTarget, write_dump};

/// A network of three layers that is quick to write.
fn small() -> DumpOptions {
    let network = Transformer {
        layers: 3,
        width: 48,
        heads: 3,
        sequence: 20,
        vocabulary: 100,
        batch: 2,
        element_bytes: 4,
    };
    DumpOptions { network, ..DumpOptions::default() }
}

/// Every kind of program.
fn all_kinds() -> Vec<DumpOptions> {
    let mut all = Vec::new();
    for platform in [XlaTarget::Cpu, XlaTarget::Gpu, XlaTarget::Tpu] {
        for remat in [Remat::None, Remat::Dots, Remat::Full] {
            for is_donated in [false, true] {
                for unroll in [1, 3] {
                    let mut options = small().unrolled(unroll);
                    options.network.element_bytes = if is_donated { 2 } else { 4 };
                    all.push(DumpOptions {
                        platform,
                        remat,
                        is_donated,
                        has_texts: true,
                        ..options
                    });
                }
            }
        }
    }
    all
}

fn write(options: &DumpOptions, directory: &Path) -> WrittenModule {
    write_dump(options, directory, &Progress::default()).unwrap()
}

#[track_caller]
fn read(written: &WrittenModule) -> Analysed {
    let warnings = Warnings::default();
    let file = ModuleFile::of(written.file.clone(), ProtoKind::Module);
    let read = read_module(&file, 0, &warnings, &Progress::default()).unwrap().unwrap();
    assert_eq!(warnings.list(), [], "{}", written.file.display());
    Analysed::of(read.module)
}

/// The values of the temporary allocation, but for tables of tuples.
fn traced(analysed: &Analysed) -> Vec<PlacedValue> {
    let module = &analysed.module;
    let (row, _) =
        analysed.allocations_of(0, |kind| kind == AllocationKind::Temporary).next().unwrap();
    let is_table =
        |one: &&PlacedValue| module.shapes.is_tuple(module.value_shape(one.assigned.value));
    analysed.placed[row].iter().filter(|one| !is_table(one)).copied().collect()
}

#[test]
fn lives_and_figures_are_those_with_which_a_program_was_put_together() {
    for options in all_kinds() {
        let directory = tempfile::tempdir().unwrap();
        let written = write(&options, directory.path());
        let analysed = read(&written);
        let module = &analysed.module;
        assert_eq!(module.instructions.len() as u64, written.instructions, "{options:?}");
        assert_eq!(module.assigned.len() as u64, written.values);
        assert_eq!(analysed.schedule.end(), written.steps);
        let lives: BTreeMap<String, (u32, u32)> = (0..)
            .zip(&module.values)
            .filter_map(|(row, _)| {
                let value = tilescope::store::hlo::ValueId(row);
                let range = analysed.ranges.get(value)?;
                Some((module.value_name(value), (range.start, range.end)))
            })
            .collect();
        let expected: BTreeMap<String, (u32, u32)> = written.lives.iter().cloned().collect();
        assert_eq!(expected.len(), written.lives.len(), "names are different");
        for (name, life) in &expected {
            assert_eq!(lives.get(name), Some(life), "{name} of {options:?}");
        }
        assert_eq!(lives.len(), expected.len());

        let facts = serde_json::to_value(ModuleFacts::of(&analysed, None)).unwrap();
        let temporary = &facts["temp"][0];
        assert_eq!(facts["temp"].as_array().unwrap().len(), 1);
        assert_eq!(facts["total_bytes"], written.total_bytes);
        assert_eq!(temporary["bytes"], written.temporary_bytes);
        let trace = &temporary["heap_trace"];
        assert_eq!(trace["peak_bytes"], written.peak_bytes);
        assert_eq!(
            (&trace["left_at_end_bytes"], &trace["whole_module"]),
            (&0.into(), &true.into())
        );
        let curve = in_use::bytes_in_use(&traced(&analysed));
        let (peak, positions) = in_use::peak(&curve, analysed.schedule.end());
        assert_eq!((peak, positions[0].0), (written.peak_bytes, written.peak_position));

        let padding = temporary["peak"]["padding_bytes"].as_u64().unwrap();
        assert_eq!(padding > 0, options.platform == XlaTarget::Tpu, "{options:?}");
        let donated = facts["parameters"]["donated_bytes"].as_u64().unwrap();
        assert_eq!(donated > 0, options.is_donated);
        let donatable = facts["donatable_bytes"].as_u64().unwrap();
        assert_eq!(donatable > 0, !options.is_donated);
        // Of what a reader gets first, nothing is lost to careless packing.
        assert!(written.temporary_bytes < written.peak_bytes * 3 / 2 + (1 << 20), "{written:?}");
    }
}

#[test]
fn values_that_share_no_memory_do_not_overlap() {
    for options in all_kinds() {
        let directory = tempfile::tempdir().unwrap();
        let analysed = read(&write(&options, directory.path()));
        let groups = alias_groups(&analysed.module);
        for placed in &analysed.placed {
            for (at, one) in placed.iter().enumerate() {
                for other in &placed[at + 1..] {
                    let group = |of: &PlacedValue| groups[of.assigned.value.0 as usize];
                    if group(one) == group(other) {
                        assert_eq!(one.assigned.offset, other.assigned.offset);
                        continue;
                    }
                    let is_apart = |a: &PlacedValue, b: &PlacedValue| {
                        a.range.end < b.range.start
                            || a.assigned.offset + a.assigned.bytes <= b.assigned.offset
                    };
                    assert!(
                        is_apart(one, other) || is_apart(other, one),
                        "{one:?} and {other:?} of {options:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn texts_say_the_same_and_opening_warns_of_nothing() {
    for options in all_kinds() {
        let directory = tempfile::tempdir().unwrap();
        let written = write(&options, directory.path());
        let summary = json(&tilescope(&["summary", "--json", directory.path().to_str().unwrap()]));
        assert_eq!(summary["warnings"], Value::Array(Vec::new()), "{options:?}");
        let word = summary["xla"]["platform"].as_str().unwrap().to_owned();
        assert_eq!(word, format!("{:?}", options.platform).to_lowercase());
        let analysed = read(&written);
        let stem = written.file.to_str().unwrap().strip_suffix(".hlo.pb").unwrap();
        let texts = ["-buffer-assignment.txt", "-live-range.txt"]
            .map(|ending| std::fs::read(format!("{stem}{ending}")).unwrap());
        let mut notes = Vec::new();
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let of_text = read_texts(&texts, &mut |note| notes.push(note), &|| false).unwrap();
        assert_eq!(of_text.status, FileStatus::Ok);
        let of_text = Analysed::of(of_text.module);
        assert_eq!(notes, Vec::<String>::new());
        let facts = |of: &Analysed| serde_json::to_value(ModuleFacts::of(of, None)).unwrap();
        let (proto, text) = (facts(&analysed), facts(&of_text));
        for key in
            ["steps", "values", "values_with_live_range", "bytes_by_kind", "parameters", "in_use"]
        {
            assert_eq!(proto[key], text[key], "{key} of {options:?}");
        }
    }
}

#[test]
fn of_texts_that_are_cut_nobody_says_that_they_fit() {
    let directory = tempfile::tempdir().unwrap();
    let options =
        DumpOptions { has_texts: true, capacity_bytes: Some(80 << 30), ..DumpOptions::default() };
    let written = write(&options, directory.path());
    std::fs::remove_file(&written.file).unwrap();
    let stem = written.file.to_str().unwrap().strip_suffix(".hlo.pb").unwrap();
    let asked = || json(&tilescope(&["summary", "--json", directory.path().to_str().unwrap()]));
    assert_eq!(crate::common::fits(&asked()), true, "{:#}", asked()["memory"]);
    for ending in ["-buffer-assignment.txt", "-live-range.txt"] {
        let file = format!("{stem}{ending}");
        let whole = std::fs::read(&file).unwrap();
        let end = whole.len() / 2;
        assert_ne!(whole[end - 1], b'\n', "within a line");
        std::fs::write(&file, &whole[..end]).unwrap();
        let asked = asked();
        assert_eq!(crate::common::fits(&asked), Value::Null, "{ending}");
        let warnings = asked["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|one| one["code"] == "truncated"), "{ending}: {warnings:?}");
        std::fs::write(&file, whole).unwrap();
    }
}

#[test]
fn instructions_have_operations_lines_and_layers() {
    let directory = tempfile::tempdir().unwrap();
    let options = DumpOptions { remat: Remat::Full, ..small().unrolled(3) };
    let module = read(&write(&options, directory.path())).module;
    let rows = || (0..module.instructions.len() as u32).map(tilescope::store::hlo::InstructionId);
    let paths: HashSet<&str> = rows().filter_map(|id| module.op_name(id)).collect();
    for expected in [
        "jit(train_step)/jvp()/while/body/closed_call/layer_2/attention/dot_general",
        "jit(train_step)/transpose(jvp())/while/body/closed_call/checkpoint/layer_0/feed_forward/dot_general",
        "jit(train_step)/transpose(jvp())/while/body/closed_call/checkpoint/rematted_computation/layer_1/attention/softmax",
        "jit(train_step)/adam/sub",
        "params['layers']['qkv']",
    ] {
        assert!(paths.contains(expected), "{expected}: {paths:?}");
    }
    let sources: HashSet<String> = rows().filter_map(|id| module.source(id)).collect();
    assert!(sources.contains("/workspace/train.py:19"), "{sources:?}");
}

#[test]
fn a_program_has_as_many_instructions_and_bytes_as_were_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let by_number = write(&small().with_instructions(20_000), &directory.path().join("a"));
    assert!((20_000..22_000).contains(&by_number.instructions), "{}", by_number.instructions);
    let by_size = write(&small().with_size(2 << 20), &directory.path().join("b"));
    assert!((2 << 20..5 << 19).contains(&by_size.bytes), "{}", by_size.bytes);
    assert!(by_number.values * 3 > by_number.instructions, "{}", by_number.values);
}

#[test]
fn equal_options_give_equal_files_and_nothing_is_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| write(&small(), &directory.path().join(name)));
    assert_eq!(std::fs::read(one.file).unwrap(), std::fs::read(other.file).unwrap());
    let again = write_dump(&small(), &directory.path().join("one"), &Progress::default());
    assert!(matches!(again, Err(WriteError::Exists(_))), "{again:?}");
}

#[test]
fn of_a_dump_that_cannot_be_written_whole_nothing_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let options = DumpOptions { has_texts: true, ..small() };
    let text = "module_0001.jit_train_step.sm_9.0a_gpu_after_optimizations-live-range.txt";
    std::fs::write(directory.path().join(text), "another").unwrap();
    let error = write_dump(&options, directory.path(), &Progress::default()).unwrap_err();
    assert!(matches!(&error, WriteError::Exists(file) if file.ends_with(text)), "{error}");
    let there = std::fs::read_dir(directory.path()).unwrap();
    let there: Vec<_> = there.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, [text], "what was there before");
    assert_eq!(std::fs::read(directory.path().join(text)).unwrap(), b"another");
}

#[test]
fn sizes_that_are_too_large_are_named_and_not_added_up() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("dump");
    let said = |network: Transformer, platform| {
        let options = DumpOptions { network, platform, ..DumpOptions::default() };
        let said = |options: &DumpOptions| {
            write_dump(options, &path, &Progress::default()).unwrap_err().to_string()
        };
        let message = said(&options);
        assert_eq!(said(&options.with_size(1 << 20)), message);
        message
    };
    let usual = Transformer::default();
    let longest = Transformer { sequence: 65_536, batch: 4096, heads: 256, layers: 1000, ..usual };
    let message = said(longest, XlaTarget::Gpu);
    assert_eq!(
        message,
        "the batch of 4,096 is too large: the attention would take more than 256.0 TiB; choose less"
    );
    for (network, option) in [
        (Transformer { width: u64::MAX, ..usual }, "width"),
        (Transformer { vocabulary: u64::MAX, ..usual }, "vocabulary"),
        (Transformer { sequence: u64::MAX, ..usual }, "sequence"),
        (Transformer { heads: u64::MAX, ..usual }, "heads"),
        (Transformer { batch: 1 << 40, ..usual }, "batch"),
        (Transformer { layers: 1 << 40, ..usual }, "layers"),
    ] {
        for platform in [XlaTarget::Cpu, XlaTarget::Tpu] {
            let message = said(network, platform);
            assert!(message.starts_with(&format!("the {option} of ")), "{message}");
        }
    }
    assert!(!path.exists());
}

#[test]
fn the_command_writes_dumps_and_tells_options_of_other_systems() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("dump");
    let path = path.to_str().unwrap();
    let synth = |options: &[&str]| tilescope(&[&["synth", "-o", path], options].concat());
    let says = |options: &[&str]| String::from_utf8(synth(options).stderr).unwrap();
    assert!(says(&["--donate"]).contains("--donate is for XLA: add --system xla"));
    assert!(says(&["--layers", "3"]).contains("--layers is for PyTorch and XLA"));
    assert!(says(&["--system", "xla", "--steps", "3"]).contains("--steps is for PyTorch"));
    let other = ["--system", "xla", "--capacity", "8GiB", "--other", "1GiB"];
    assert!(says(&other).contains("--other is for PyTorch"));
    assert!(says(&["--system", "xla", "--ipus", "3"]).contains("--ipus is for Poplar"));
    assert!(!Path::new(path).exists());
    let options =
        ["--system", "xla", "--layers", "2", "--platform", "tpu", "--remat", "dots", "--texts"];
    let output = synth(&options);
    assert!(output.status.success(), "{}", says(&options));
    let summary = json(&tilescope(&["summary", "--json", path]));
    assert_eq!(summary["xla"]["platform"], "tpu");
    assert_eq!(std::fs::read_dir(path).unwrap().count(), 3);
    assert_eq!(synth(&options).status.code(), Some(4), "it is there already");
}
