//! Reading large tables straight from the pages of the file gives what reading them through SQLite gives: on every
//! report at hand, in other forms of the file, and on damaged files.

use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{in_package, real_report, sample, sample_options};
use rayon::prelude::*;
use rusqlite::Connection;
use tilescope::format::Progress;
use tilescope::store::ArenaId;
use tilescope::store::report::Part;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};

/// All that is read of a report, part by part, and what was left to SQLite.
struct Answers {
    parts: Vec<(&'static str, String)>,
    left: Vec<String>,
}

fn shown<T: Debug>(part: &Part<T>) -> String {
    part.get().map_or_else(|| "absent".to_owned(), |part| format!("{part:?}"))
}

fn everything(path: &Path, through_sqlite: bool) -> Answers {
    let progress = Progress::default();
    let mut parts = Vec::new();
    let open = match OpenReport::find(path) {
        Ok(open) => open,
        Err(error) => {
            parts.push(("error", error.to_string()));
            return Answers { parts, left: Vec::new() };
        }
    };
    if through_sqlite {
        open.read_through_sqlite();
    }
    if let Err(error) = open.read_small_tables(&progress) {
        parts.push(("error", error.to_string()));
    }
    open.read_variables(&progress);
    open.read_tile_variable_bytes(&progress);
    open.read_compute(&progress);
    open.read_program_trees(&progress);
    let report = &*open.report;
    let most_rows = fs::metadata(open.report.path.join("profile.pop"))
        .map_or(usize::MAX, |file| usize::try_from(file.len() / 4).unwrap());
    assert!(report.variables.get().is_none_or(|variables| variables.len() <= most_rows));
    parts.push(("memory", shown(&report.memory)));
    parts.push(("liveness", shown(&report.liveness)));
    parts.push(("steps", shown(&report.steps)));
    parts.push(("compute sets", shown(&report.compute_sets)));
    parts.push(("variables", shown(&report.variables)));
    parts.push(("bytes by tile", shown(&report.tile_variable_bytes)));
    parts.push(("vertex types", shown(&report.vertex_types)));
    parts.push(("compute sets by tile", shown(&report.compute_set_tiles)));
    parts.push(("exchanges", shown(&report.exchanges)));
    parts.push(("control code", shown(&report.control_code)));
    parts.push(("program trees", shown(&report.program_trees)));
    let mut tiles = Vec::new();
    let is_there = open.read_each_tile(&progress, |tile, placed| tiles.push((tile, placed)));
    parts.push(("tiles with names", format!("{is_there:?} {tiles:?}")));
    let arenas: Vec<ArenaId> = report.memory.get().map_or_else(Vec::new, |memory| {
        memory.tiles.as_slice().iter().map(|tile| (*tile).into()).collect()
    });
    let found = Mutex::new(Vec::new());
    let reader = report.reader().unwrap();
    let is_there = reader.read_some(&arenas, &progress, &|arena, placed| {
        found.lock().unwrap().push((arena, format!("{placed:?}")));
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    parts.push(("tiles", format!("{:?} {found:?}", is_there.ok())));
    for arena in arenas.iter().take(40).step_by(13) {
        parts.push(("a tile", format!("{:?}", reader.read(*arena, &progress).ok())));
    }
    let bytes = open.read_variable_bytes(2..=5, &progress);
    parts.push(("bytes of some tiles", format!("{bytes:?}")));
    let bytes = reader.read_variable_bytes(&arenas[..arenas.len().min(3)], &progress);
    parts.push(("bytes of three tiles", format!("{:?}", bytes.ok())));
    let code = reader.read_exchange_code(&arenas[..arenas.len().min(3)], &progress);
    parts.push(("code of three tiles", format!("{:?}", code.ok())));
    // Several threads read ranges of rows, so the order of warnings is by chance.
    let mut warnings: Vec<String> =
        report.warnings.list().iter().map(|warning| format!("{warning:?}")).collect();
    warnings.sort();
    parts.push(("warnings", warnings.join("\n")));
    Answers { parts, left: open.left_to_sqlite() }
}

/// Compares both ways. Returns what was left to SQLite.
fn compare(path: &Path, what: &str) -> Vec<String> {
    let (straight, sqlite) = (everything(path, false), everything(path, true));
    assert!(sqlite.left.is_empty(), "nothing is tried where everything is read through SQLite");
    assert_eq!(straight.parts.len(), sqlite.parts.len(), "{what}");
    for ((part, found), (_, expected)) in straight.parts.iter().zip(&sqlite.parts) {
        let at = found.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
        let near = |text: &str| {
            String::from_utf8_lossy(
                &text.as_bytes()[at.saturating_sub(200)..(at + 200).min(text.len())],
            )
            .into_owned()
        };
        assert!(
            found == expected,
            "{what}, {part}, left to SQLite: {:#?}\n{}\n---- through SQLite:\n{}",
            straight.left,
            near(found),
            near(expected)
        );
    }
    straight.left
}

fn copied(report: &Path, statements: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let profile = directory.path().join("profile.pop");
    fs::copy(report.join("profile.pop"), &profile).unwrap();
    Connection::open(profile).unwrap().execute_batch(statements).unwrap();
    directory
}

#[test]
fn every_report_at_hand() {
    for (name, _) in sample_options() {
        let left = compare(&in_package("sample_profiles").join(name), name);
        assert!(left.is_empty(), "{name}: {left:?}");
    }
    for name in ["poplar-3.3", "poplar-3.3-interrupted"] {
        if let Some(path) = real_report(name) {
            let left = compare(&path, name);
            assert!(left.is_empty(), "{name}: {left:?}");
        }
    }
}

#[test]
fn a_report_that_several_threads_read() {
    let directory = tempfile::tempdir().unwrap();
    let options = ReportOptions { tiles_per_ipu: 300, copies: 2, ..ReportOptions::default() };
    write_report(&options, directory.path(), &Progress::default()).unwrap();
    let left = compare(directory.path(), "300 tiles");
    assert!(left.is_empty(), "{left:?}");
    let rows: i64 = Connection::open(directory.path().join("profile.pop"))
        .unwrap()
        .query_row("SELECT count(*) FROM vars_info", [], |row| row.get(0))
        .unwrap();
    assert!(rows > 20_000, "{rows} rows are several ranges");
}

#[test]
fn other_forms_of_the_file() {
    for (statements, is_left) in [
        ("PRAGMA page_size = 512; VACUUM", false),
        ("PRAGMA page_size = 65536; VACUUM", false),
        ("PRAGMA auto_vacuum = 1; VACUUM", false),
        ("PRAGMA auto_vacuum = 2; VACUUM; DELETE FROM vars_info WHERE var_id % 3 = 0", false),
        ("DROP TABLE compute_sets; DELETE FROM var_bytes_by_eq_class WHERE tile = 3", false),
        ("PRAGMA journal_mode = WAL; UPDATE vars_info SET size_bytes = size_bytes + 1", false),
        ("UPDATE vars_info SET tile = 15 - tile", false),
        ("UPDATE vars_info SET var_id = var_id * 9000000000000", false),
        ("UPDATE vars_info SET offset = -1, name_suffix = X'00FF' WHERE var_id % 7 = 0", false),
        ("UPDATE var_bytes_by_eq_class SET bytes = 'many', tile = 2.5 WHERE rowid % 5 = 0", false),
        (
            "ALTER TABLE vars_info RENAME COLUMN alignment TO gone; \
          ALTER TABLE vars_info ADD COLUMN alignment INTEGER",
            false,
        ),
        (
            "ALTER TABLE vars_info RENAME COLUMN alignment TO gone; \
          ALTER TABLE vars_info ADD COLUMN alignment INTEGER DEFAULT 4",
            true,
        ),
        (
            "CREATE TABLE kept AS SELECT * FROM vars_info; DROP TABLE vars_info; \
          ALTER TABLE kept RENAME TO vars_info",
            true,
        ),
        (
            "CREATE TABLE kept (unlowered_var_id, eq_class_id, bytes REAL, tile); \
          INSERT INTO kept SELECT * FROM var_bytes_by_eq_class; DROP TABLE var_bytes_by_eq_class; \
          ALTER TABLE kept RENAME TO var_bytes_by_eq_class",
            true,
        ),
        (
            "CREATE TABLE kept (id INTEGER PRIMARY KEY, string TEXT NOT NULL) WITHOUT ROWID; \
          INSERT INTO kept SELECT * FROM vars_string_table; DROP TABLE vars_string_table; \
          ALTER TABLE kept RENAME TO vars_string_table",
            true,
        ),
    ] {
        let directory = copied(&sample(), statements);
        let left = compare(directory.path(), statements);
        assert_eq!(!left.is_empty(), is_left, "{statements}: {left:?}");
    }
}

#[test]
fn a_file_of_other_texts() {
    // The encoding cannot be changed later, so the tables are made anew.
    for encoding in ["UTF-16le", "UTF-16be"] {
        let directory = tempfile::tempdir().unwrap();
        let from = sample().join("profile.pop");
        let connection = Connection::open(directory.path().join("profile.pop")).unwrap();
        connection
            .execute_batch(&format!("PRAGMA encoding = '{encoding}'; CREATE TABLE other (x)"))
            .unwrap();
        let source = Connection::open(&from).unwrap();
        let mut statement = source
            .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
            .unwrap();
        let tables: Vec<(String, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        for (name, sql) in tables {
            connection.execute_batch(&sql).unwrap();
            copy_rows(&source, &connection, &name);
        }
        drop(connection);
        let left = compare(directory.path(), encoding);
        assert_eq!(
            left,
            ["file header: encoding 1 (UTF-8) expected, ".to_owned()
                + if encoding == "UTF-16le" { "2 found" } else { "3 found" }]
        );
    }
}

/// An attached file would have to be of the same encoding.
fn copy_rows(from: &Connection, to: &Connection, table: &str) {
    let mut statement = from.prepare(&format!("SELECT * FROM [{table}]")).unwrap();
    let columns = statement.column_count();
    let places = vec!["?"; columns].join(", ");
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let cells: Vec<rusqlite::types::Value> =
            (0..columns).map(|column| row.get(column).unwrap()).collect();
        to.prepare_cached(&format!("INSERT INTO [{table}] VALUES ({places})"))
            .unwrap()
            .execute(rusqlite::params_from_iter(cells))
            .unwrap();
    }
}

/// A fixed sequence (Knuth's linear congruential generator), so that a failure comes again.
struct Random(u64);

impl Random {
    fn below(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }
}

/// Damages a file whose pages have `page` bytes.
fn damage(bytes: &mut Vec<u8>, page: usize, seed: u64) {
    let mut random = Random(seed);
    let pages = bytes.len() / page;
    let range = |number: usize| number * page..(number + 1) * page;
    let (one, other) = (1 + random.below(pages - 1), 1 + random.below(pages - 1));
    match seed % 8 {
        0 => bytes.truncate(100 + random.below(bytes.len() - 100)),
        1 => {
            for _ in 0..=random.below(20) {
                let at = random.below(bytes.len());
                bytes[at] = random.byte();
            }
        }
        // The head of a page and its pointers to cells.
        2 | 3 => {
            for _ in 0..=random.below(3) {
                let at = range(1 + random.below(pages - 1)).start + random.below(60);
                bytes[at] = random.byte();
            }
        }
        4 => {
            let (a, b) = (bytes[range(one)].to_vec(), bytes[range(other)].to_vec());
            bytes[range(one)].copy_from_slice(&b);
            bytes[range(other)].copy_from_slice(&a);
        }
        5 => {
            let copied = bytes[range(one)].to_vec();
            bytes[range(other)].copy_from_slice(&copied);
        }
        6 => bytes[range(one)].fill(if seed.is_multiple_of(16) { 0 } else { 0xff }),
        // A child of an interior page becomes another page: its own, one above it, or one of another table.
        _ => {
            let interior: Vec<usize> =
                (1..pages).filter(|number| bytes[range(*number).start] == 5).collect();
            let parent = interior[random.below(interior.len())];
            let start = range(parent).start;
            let pointer = start + 12;
            let cell = usize::from(bytes[pointer]) << 8 | usize::from(bytes[pointer + 1]);
            let at = if seed.is_multiple_of(3) { start + 8 } else { start + cell };
            let child = if seed.is_multiple_of(2) { parent } else { one };
            let number = u32::try_from(child + 1).unwrap();
            bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
        }
    }
}

#[test]
fn damaged_files() {
    // Small pages: more of them, and more levels.
    let few_tiles = tempfile::tempdir().unwrap();
    let options = ReportOptions { tiles_per_ipu: 6, ..ReportOptions::default() };
    write_report(&options, few_tiles.path(), &Progress::default()).unwrap();
    let small = copied(few_tiles.path(), "PRAGMA page_size = 1024; VACUUM");
    let files: Vec<(usize, Vec<u8>)> = [(1024, small.path()), (4096, few_tiles.path())]
        .into_iter()
        .map(|(page, path)| (page, fs::read(path.join("profile.pop")).unwrap()))
        .collect();
    let (partly, wholly) = (AtomicUsize::new(0), AtomicUsize::new(0));
    (0..500_u64).into_par_iter().for_each(|seed| {
        let (page, intact) = &files[usize::from(seed % 5 == 0)];
        let mut bytes = intact.clone();
        damage(&mut bytes, *page, seed);
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("profile.pop"), bytes).unwrap();
        let left = compare(directory.path(), &format!("seed {seed}"));
        if left.is_empty() { &wholly } else { &partly }.fetch_add(1, Ordering::Relaxed);
    });
    let (partly, wholly) = (partly.into_inner(), wholly.into_inner());
    assert!(partly > 150 && wholly > 50, "{partly} in part left to SQLite, {wholly} not");
}
