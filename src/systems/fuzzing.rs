//! Fuzz targets: each reader gets bytes instead of a file, and its result is checked (docs/dev/fuzzing.md).
//!
//! Built for tests, which replay what was found, and with `--cfg fuzzing`, which `scripts/fuzz` sets; in no other build. A target panics where
//! its reader does, where what it gives is not what its definition says, and in nothing else.

#![allow(clippy::unwrap_used, reason = "what is made here must come about")]
#![allow(clippy::missing_panics_doc, missing_docs, reason = "every target is for panicking")]

use std::cell::RefCell;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::diagnose;
use crate::format::side_files::read_side_file;
use crate::format::sqlite::{DatabaseFile, Only, Refusal, StoredTable, read_rows};
use crate::index::{self, IndexFile};
use crate::progress::Progress;
use crate::store::context_details::ReadContext as _;
use crate::store::debug_info::ContextRow;
use crate::store::hlo::{HloModule, ValueId};
use crate::store::names::Interner;
use crate::store::{Report, Warnings};
use crate::systems::poplar::files::{DebugFile, blob, read_debug_info};
use crate::systems::pytorch::files as pytorch;
use crate::systems::pytorch::run::{RunContents, SnapshotRun};
use crate::systems::tenstorrent::files as ttnn;
use crate::systems::tenstorrent::memory::{ProgramState, RankReplay};
use crate::systems::tenstorrent::recorded::{OperationGraph, TtnnRank};
use crate::systems::xla::files as xla_files;
use crate::systems::xla::run as xla;

/// A target by its name, which is that of its folder of inputs.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [FuzzTarget; 11] = [
    ("sqlite", sqlite),
    ("blob", blob),
    ("debug_cbor", debug_cbor),
    ("side_file", side_file),
    ("log", log),
    ("index", index),
    ("snapshot", snapshot),
    ("timeline", timeline),
    ("xla_proto", xla_proto),
    ("xla_text", xla_text),
    ("ttnn_graph", ttnn_graph),
];

/// Number lists of a BLOB. The first byte says how many numbers are expected.
pub fn blob(input: &[u8]) {
    let Some((expected, input)) = input.split_first() else { return };
    let expected = usize::from(*expected);
    if let Ok(list) = blob::list(input) {
        assert_eq!(blob::list(&blob::encode_list(&list)), Ok(list.clone()));
        assert_eq!(blob::list_of(input, expected).is_ok(), list.len() == expected);
    } else {
        assert!(blob::list_of(input, expected).is_err());
    }
    if let Ok(list) = blob::run_length_list_of(input, expected) {
        assert_eq!(list.len(), expected);
        let again = blob::encode_run_length_list(&list);
        assert_eq!(blob::run_length_list_of(&again, expected), Ok(list));
    }
}

/// Pages of a table. The first byte says which rows are wanted; the rest is a database whose second page is the
/// root of the table.
pub fn sqlite(input: &[u8]) {
    thread_local!(static TABLE: StoredTable = table());
    const COLUMNS: [&str; 6] = ["id", "a", "b", "c", "d", "absent"];
    let Some((wanted, pages)) = input.split_first() else { return };
    let ids = match wanted & 3 {
        0 => i64::MIN..=i64::MAX,
        1 => 3..=40,
        2 => 100..=100,
        _ => i64::MIN..=20,
    };
    let only = match (wanted >> 2) & 3 {
        0 => None,
        1 => Some(Only::NotNull("b")),
        2 => Some(Only::Null("c")),
        _ => Some(Only::Between("a", 10, 30)),
    };
    let columns = if wanted & 16 == 0 { &COLUMNS[..] } else { &COLUMNS[..2] };
    let (mut last, mut rows) = (None, 0_usize);
    let read = |path: &Path| -> Result<(), Refusal> {
        let file = DatabaseFile::open(path)?;
        TABLE.with(|table| {
            let layout = table.layout(columns, only)?;
            read_rows(&file, table, &layout, &ids, &Progress::default(), &mut |record| {
                for column in 0..columns.len() {
                    if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = record.value(column) {
                        assert!(bytes.len() <= pages.len(), "a value is no longer than the file");
                    }
                }
                let ValueRef::Integer(id) = record.value(0) else { panic!("an id is a number") };
                assert!(ids.contains(&id), "a row that was asked for");
                assert!(last.is_none_or(|last| last < id), "row ids ascend");
                last = Some(id);
                rows += 1;
                ControlFlow::Continue(())
            })
        })
    };
    // A refusal leaves the table to SQLite.
    let _ = in_file(pages, read);
    assert!(rows <= pages.len(), "a row takes a byte");
}

/// The table whose pages are read.
pub const TABLE: &str =
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c BLOB, d INTEGER DEFAULT 7)";

fn table() -> StoredTable {
    let made = Connection::open_in_memory().unwrap();
    made.execute_batch(TABLE).unwrap();
    StoredTable::find(&made, "t").unwrap()
}

/// `debug.cbor`.
pub fn debug_cbor(input: &[u8]) {
    let warnings = Warnings::default();
    let read = |path: &Path| {
        let debug = read_debug_info(path, "debug.cbor", &warnings, &Progress::default()).0?;
        let file = DebugFile::open(path).ok()?;
        for (id, offset) in debug.ids.iter().zip(debug.offsets.iter()).take(16) {
            if let Ok(found) = file.read(*id, offset.get(), &Progress::default()) {
                assert!(found.entries.len() <= input.len(), "a key takes a byte");
            }
        }
        Some(debug)
    };
    let Some(debug) = in_file(input, read) else { return };
    let rows = debug.ids.len();
    assert!(rows > 0 && rows <= input.len(), "a context takes a byte");
    let is_there = |parent: &ContextRow| *parent == ContextRow::NONE || (parent.0 as usize) < rows;
    assert!(debug.parents.iter().all(is_there), "a parent is a row");
    assert_eq!([debug.layers.len(), debug.names.len(), debug.lines.len()], [rows; 3]);
}

/// `app.json` and `framework.json`.
pub fn side_file(input: &[u8]) {
    let warnings = Warnings::default();
    let (facts, _) =
        in_file(input, |path| read_side_file(path, "app.json", &warnings, &Progress::default()));
    assert!(facts.len() <= input.len(), "a fact takes a byte");
}

/// A memory snapshot, with its replay, its figures, and the report that is made of it.
pub fn snapshot(input: &[u8]) {
    let warnings = Warnings::default();
    let read = in_file(input, |path| {
        pytorch::read_snapshot(path, &warnings, &Progress::default()).ok().flatten()
    });
    let Some((snapshot, _)) = read else { return };
    assert!(snapshot.blocks.len() <= input.len(), "a block takes a byte");
    let of_devices = snapshot.all_devices().map(|device| device.events.len());
    assert!(of_devices.sum::<usize>() <= input.len(), "so does an event, wherever it is named");
    let run = SnapshotRun::of_snapshot(snapshot);
    let RunContents::Snapshot(replayed) = &run.allocator.contents else {
        panic!("it is a snapshot")
    };
    for (device, replay) in replayed.devices() {
        let lives = &replay.lives;
        assert!(lives.len() <= input.len(), "a block has an event, or is there at the end");
        for row in 0..lives.len() {
            let (from, until) = (lives.allocation(row), lives.freed_at[row]);
            assert!(from.is_none_or(|from| from <= until), "a block is freed after it was made");
        }
        assert!(replay.requested_peak.bytes >= replay.start.requested_bytes);
        let events = i64::try_from(device.events.len()).unwrap();
        assert!(replay.requested_peak.event < events);
    }
    let (_, _) = (replayed.device_facts(), replayed.host_facts());
    run.fill_report(&Progress::default());
    let arenas = run.report.arenas.get().map(|arenas| arenas.ids.as_slice()).unwrap_or_default();
    for arena in arenas.iter().take(4) {
        let read = run.report.reader().unwrap().read(*arena, &Progress::default());
        assert!(read.unwrap().is_some(), "an arena can be read");
    }
}

/// A memory timeline, plain or compressed.
pub fn timeline(input: &[u8]) {
    let read = in_file(input, |path| {
        let files =
            pytorch::find(path, &Warnings::default(), &Progress::default()).ok().flatten()?;
        if files.kind == pytorch::FileKind::Snapshot {
            return None;
        }
        SnapshotRun::open(&files, &Progress::default()).ok().flatten()
    });
    let Some(run) = read else { return };
    let RunContents::Timeline(timeline) = &run.allocator.contents else {
        panic!("it is a timeline")
    };
    assert_eq!(timeline.times.len(), timeline.bytes.len());
    run.fill_report(&Progress::default());
}

/// A module of XLA with its analysis, and what else a proto may be: a profile, whose modules are opened as from a file.
pub fn xla_proto(input: &[u8]) {
    let (warnings, progress) = (Warnings::default(), Progress::default());
    if let Ok(Some(read)) = xla_files::read_proto(input, "input.hlo.pb", &warnings, &progress) {
        check_module(read.module, input);
    }
    in_file(input, |path| {
        let mut file = xla_files::module_files(path, &warnings, &progress).unwrap_or_default();
        let Some(file) = file.pop() else { return };
        for kind in [file.kind, xla_files::ProtoKind::Profile] {
            let file = xla_files::ModuleFile { kind, ..file.clone() };
            for place in 0..2 {
                if let Ok(Some(read)) = xla_files::read_module(&file, place, &warnings, &progress) {
                    check_module(read.module, input);
                }
            }
        }
        let Ok(Some(files)) = xla::find(path, None, &progress) else { return };
        if let Ok(Some(run)) = xla::XlaRun::open_with(&files, None, &progress) {
            run.fill_report(&progress);
        }
    });
}

/// The texts of an assignment, one behind the other with a byte 0 between them.
pub fn xla_text(input: &[u8]) {
    let texts: Vec<&[u8]> = input.split(|byte| *byte == 0).take(3).collect();
    let mut said = 0;
    let read = xla_files::text::read_texts(&texts, &mut |_| said += 1, &|| false);
    if let Some(read) = read {
        check_module(read.module, input);
    }
    assert!(said <= input.len() + 8, "{said} things said of {} bytes", input.len());
}

/// Graphs of TT-NN with a byte 0 between them, each of an operation: every other one failed, and `buffers` is empty.
pub fn ttnn_graph(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut names = Interner::default();
    let graphs: Vec<OperationGraph> = text
        .split('\0')
        .filter_map(|text| Some(ttnn::parse_graph(text, &mut names).ok()?.0))
        .collect();
    let mut rank = TtnnRank::default();
    rank.operations.ids = (1..).take(graphs.len()).collect();
    rank.operations.has_error = graphs.iter().enumerate().map(|(at, _)| at % 2 == 1).collect();
    let mut replay = RankReplay::of(&rank);
    for (at, graph) in (0..).zip(&graphs) {
        assert!(graph.events.len() <= input.len(), "an event takes a byte");
        replay.step(&rank, at, graph);
    }
    let memory = replay.finish(&rank);
    assert_eq!(memory.levels.len(), graphs.len());
    for life in &memory.lives {
        let ended = life.last().saturating_add(1);
        assert!(life.first <= ended, "a buffer is freed after it was there");
    }
    for program in &memory.programs {
        let has_scratch = program.scratch.is_some();
        assert!(program.scratch.is_none_or(|list| (list as usize) < memory.scratch.len()));
        assert_eq!(has_scratch, program.state != ProgramState::Unknown);
    }
}

/// Analyses a module, in which nothing is longer than what it was read from.
fn check_module(module: HloModule, input: &[u8]) {
    let lists = [module.allocations.len(), module.assigned.len(), module.values.len()];
    assert!(lists.iter().all(|list| *list <= input.len()), "each takes a byte: {lists:?}");
    let program = xla::AnalysedModule::of(module);
    let analysed = &program.analysed;
    for one in &analysed.module.assigned {
        assert!(analysed.ranges.get(one.value).is_none_or(|range| range.start <= range.end));
        let _ = (program.value_name(one.value), analysed.operation(one.value));
    }
}

/// A log, as a whole; what it says does not depend on where its bytes come apart.
pub fn log(input: &[u8]) {
    let whole = diagnose::diagnose_pieces(&[input]);
    let middle = input.len() / 2;
    assert_eq!(diagnose::diagnose_pieces(&[&input[..middle], &input[middle..]]), whole);
    for finding in &whole.findings {
        assert!(finding.line <= whole.lines, "a finding is on a line");
    }
}

/// A file of the index. Built for fuzzing, checksums are not looked at, or nothing would come past them.
pub fn index(input: &[u8]) {
    let Ok(file) = IndexFile::of(Bytes::copy_from_slice(input)) else { return };
    let report = Report::new(PathBuf::new());
    // Each part is read on its own, whatever is wrong with the others.
    let _ = index::fill_small_tables(&report, &file);
    let _ = index::fill_debug_info(&report, &file);
    let _ = index::fill_variables(&report, &file);
    let _ = index::fill_tile_variable_bytes(&report, &file);
    let _ = index::fill_compute(&report, &file);
    let _ = index::fill_program_trees(&report, &file);
    let _ = index::read_bytes_of_tiles(&file, |tile| tile.0 % 2 == 0);
    let _ = crate::systems::pytorch::run::read_index(&file);
    if let Ok((module, _)) = xla::read_index(&file) {
        let program = xla::AnalysedModule::of(module);
        let values = 0..program.analysed.module.values.len() as u32;
        assert!(
            values
                .map(ValueId)
                .map(|id| program.value_name(id))
                .all(|name| name.len() <= input.len())
        );
    }
}

/// Hands a file that has these bytes to a reader: one that lies in memory where the system has such files.
fn in_file<T>(bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    thread_local!(static FILE: RefCell<Option<(tempfile::TempDir, File)>> = const { RefCell::new(None) });
    FILE.with_borrow_mut(|kept| {
        let (directory, file) = kept.get_or_insert_with(|| {
            let memory = Path::new("/dev/shm");
            let in_memory = memory.is_dir().then(|| tempfile::tempdir_in(memory));
            let directory = in_memory.unwrap_or_else(tempfile::tempdir).unwrap();
            let file = File::create(directory.path().join("input")).unwrap();
            (directory, file)
        });
        file.set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(bytes).unwrap();
        read(&directory.path().join("input"))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Each input that is kept, and each that once made a reader fail, goes through its target again.
    #[test]
    fn what_fuzzing_kept_and_found_is_read_again() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
        for (name, target) in TARGETS {
            let mut inputs = 0;
            for folder in ["corpus", "found"] {
                let files = fs::read_dir(root.join(folder).join(name)).into_iter().flatten();
                for path in files.map(|entry| entry.unwrap().path()) {
                    // The name of an input that fails is on the way out.
                    println!("{}", path.display());
                    target(&fs::read(&path).unwrap());
                    inputs += 1;
                }
            }
            assert!(inputs > 1, "{name}: {inputs} inputs");
        }
    }
}
