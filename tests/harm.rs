//! Files that were made to do harm: each takes little memory and little work, says what was left out, and everything
//! else is shown. Memory is counted by the allocator of this test, work by what was read; no clock is asked.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{all_answers, damaged_sample, liveness, map, sample, summary, tiles};
use peak_alloc::PeakAlloc;
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;
use tilescope::cli::tiles::Breakdown;
use tilescope::format::poplar::OpenReport;
use tilescope::format::{Error, Progress};
use tilescope::store::ArenaId;
use tilescope::synth::{Options, write_report};
use tilescope::work::WorkDone;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory and work are counted of the whole process, so that one test at a time may count.
static COUNTING: Mutex<()> = Mutex::new(());

const MIB: usize = 1 << 20;

/// A copy of the sample with harm done to it, by one test at a time.
struct Harmed {
    directory: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Harmed {
    fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn harmed_sample(harm: impl FnOnce(&Path)) -> Harmed {
    let alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    Harmed { directory: damaged_sample(harm), _alone: alone }
}

/// What an answer took beyond what was there before: bytes of memory at most, and what was read.
struct Took {
    bytes: usize,
    work: WorkDone,
}

fn counted<T>(answer: impl FnOnce() -> T) -> (T, Took) {
    let (before, work) = (MEMORY.current_usage(), WorkDone::now());
    MEMORY.reset_peak_usage();
    let answer = answer();
    let after = WorkDone::now();
    let work = WorkDone {
        rows: after.rows - work.rows,
        blobs: after.blobs - work.blobs,
        pages: after.pages - work.pages,
        bytes: after.bytes - work.bytes,
        placements: after.placements - work.placements,
        steps: after.steps - work.steps,
    };
    (answer, Took { bytes: MEMORY.peak_usage().saturating_sub(before), work })
}

/// Asks every command about a report. What they warn of is returned with what they took.
fn ask_all(directory: &Path, most_mib: usize) -> (String, Took) {
    ask(directory, most_mib, all_answers)
}

/// Asks a few commands that read most of a report.
fn ask_some(directory: &Path, most_mib: usize) -> (String, Took) {
    let some = |path: &Path| {
        vec![
            summary(path),
            liveness(path, Some(2)),
            tiles(path, Breakdown::Gaps),
            map(path, 3, Some(12)),
        ]
    };
    ask(directory, most_mib, some)
}

fn ask(
    directory: &Path,
    most_mib: usize,
    answers: impl Fn(&Path) -> Vec<Result<Value, Error>>,
) -> (String, Took) {
    let (answers, took) = counted(|| answers(directory));
    let said = said(&answers);
    assert!(took.bytes < most_mib * MIB, "{} MiB: {said:.2000}", took.bytes / MIB);
    (said, took)
}

fn said(answers: &[Result<Value, Error>]) -> String {
    let said = answers.iter().map(|answer| match answer {
        Ok(answer) => answer["warnings"].to_string(),
        Err(error) => error.to_string(),
    });
    said.collect::<Vec<_>>().join("\n")
}

fn sql(directory: &Path, statements: &str) {
    let connection = Connection::open(directory.join("profile.pop")).unwrap();
    connection.execute_batch(statements).unwrap();
}

// ---- JSON files

#[test]
fn leaves_of_a_json_file_that_have_long_ways() {
    let directory = harmed_sample(|directory| {
        let (levels, leaves) = (100, 60_000);
        let key = "k".repeat(1000);
        let open = format!("{{\"{key}\":").repeat(levels);
        let leaves = vec!["{}"; leaves].join(",");
        let text = format!("{open}[{leaves}]{}", "}".repeat(levels));
        assert!(text.len() < 400_000);
        fs::write(directory.join("app.json"), text).unwrap();
    });
    let (said, _) = ask_some(directory.path(), 120);
    assert!(said.contains("app.json") && said.contains("take more than"), "{said}");
}

#[test]
fn a_json_file_of_many_values() {
    let directory = harmed_sample(|directory| {
        let text = format!("[{}1]", "{},".repeat(5_000_000));
        fs::write(directory.join("framework.json"), text).unwrap();
    });
    let (said, _) = ask_some(directory.path(), 120);
    assert!(said.contains("framework.json") && said.contains("values expected"), "{said}");
}

// ---- Pages

/// The pages of a profile that a test writes.
struct Pages {
    bytes: Vec<u8>,
    page_bytes: usize,
}

impl Pages {
    fn read(directory: &Path) -> Self {
        let bytes = fs::read(directory.join("profile.pop")).unwrap();
        let page_bytes = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
        Self { bytes, page_bytes: if page_bytes == 1 { 65_536 } else { page_bytes } }
    }

    fn write(mut self, directory: &Path) {
        let pages = u32::try_from(self.bytes.len() / self.page_bytes).unwrap();
        self.bytes[28..32].copy_from_slice(&pages.to_be_bytes());
        fs::write(directory.join("profile.pop"), self.bytes).unwrap();
    }

    fn root(directory: &Path, table: &str) -> usize {
        let connection = Connection::open(directory.join("profile.pop")).unwrap();
        let sql = "SELECT rootpage FROM sqlite_master WHERE name = ?1";
        connection.query_row(sql, [table], |row| row.get(0)).unwrap()
    }

    fn page(&mut self, number: usize) -> &mut [u8] {
        let start = (number - 1) * self.page_bytes;
        &mut self.bytes[start..start + self.page_bytes]
    }

    fn add(&mut self, page: &[u8]) -> usize {
        self.bytes.extend_from_slice(page);
        self.bytes.len() / self.page_bytes
    }

    /// The leftmost leaf below a page.
    fn leaf(&mut self, mut number: usize) -> usize {
        // The first page has the header of the file before its own.
        loop {
            let head = if number == 1 { 100 } else { 0 };
            let page = self.page(number);
            if page[head] == 13 {
                return number;
            }
            let cell = usize::from(u16::from_be_bytes([page[head + 12], page[head + 13]]));
            number = u32::from_be_bytes(page[cell..cell + 4].try_into().unwrap()) as usize;
        }
    }

    /// An interior page all of whose children are the same; `head` bytes before it belong to something else.
    fn all_of(&self, child: usize, head: usize) -> Vec<u8> {
        let mut page = vec![0; self.page_bytes];
        let child = u32::try_from(child).unwrap().to_be_bytes();
        let cells = (self.page_bytes - head - 12) / 9;
        page[head] = 5;
        page[head + 3..head + 5].copy_from_slice(&u16::try_from(cells).unwrap().to_be_bytes());
        page[head + 8..head + 12].copy_from_slice(&child);
        for cell in 0..cells {
            let at = self.page_bytes - (cell + 1) * 7;
            let pointer = head + 12 + cell * 2;
            page[pointer..pointer + 2].copy_from_slice(&u16::try_from(at).unwrap().to_be_bytes());
            page[at..at + 4].copy_from_slice(&child);
            page[at + 4..at + 7].copy_from_slice(&[
                0x80 | 1,
                0x80 | (cell >> 7) as u8,
                (cell & 0x7f) as u8,
            ]);
        }
        page[head + 5..head + 7]
            .copy_from_slice(&u16::try_from(self.page_bytes - cells * 7).unwrap().to_be_bytes());
        page
    }

    /// Makes the rows of the first leaf of a tree come hundreds of millions of times.
    fn share(&mut self, root: usize) {
        let leaf = self.leaf(root);
        let copy = self.page(leaf).to_vec();
        let mut child = if root == 1 {
            // A leaf of the schema without the header of the file: one with no cells would be refused.
            leaf
        } else {
            self.add(&copy)
        };
        for _ in 0..3 {
            let page = self.all_of(child, 0);
            child = self.add(&page);
        }
        let head = if root == 1 { 100 } else { 0 };
        let page = self.all_of(child, head);
        self.page(root)[head..].copy_from_slice(&page[head..]);
    }
}

fn with_shared_pages(directory: &Path, tables: &[&str]) {
    let roots: Vec<usize> = tables.iter().map(|table| Pages::root(directory, table)).collect();
    let mut pages = Pages::read(directory);
    for root in roots {
        pages.share(root);
    }
    pages.write(directory);
}

/// Takes the indexes of a table away, so that SQLite goes through its rows and sorts them itself.
fn without_indexes(directory: &Path, table: &str) {
    let make = format!("CREATE TABLE other AS SELECT * FROM {table}; DROP TABLE {table};");
    sql(directory, &format!("{make} ALTER TABLE other RENAME TO {table};"));
}

/// Steps of SQLite that all commands together may take on a file of which one question was stopped: some questions each.
fn most_steps(directory: &Path) -> u64 {
    let bytes = fs::metadata(directory.join("profile.pop")).unwrap().len();
    40 * (2 * bytes + (1 << 20))
}

#[test]
fn pages_that_share_their_children_and_rows_that_nobody_wants() {
    let directory = harmed_sample(|directory| {
        without_indexes(directory, "programs");
        sql(directory, "UPDATE programs SET compilation_step_id = 1");
        with_shared_pages(directory, &["programs"]);
    });
    let (said, took) = ask_all(directory.path(), 150);
    assert!(said.contains("table programs") && said.contains("SQLite was stopped"), "{said}");
    assert!(took.work.steps < most_steps(directory.path()), "{}", took.work);
    let answer = summary(directory.path()).unwrap();
    let intact = summary(&sample()).unwrap();
    assert_eq!(answer["memory"], intact["memory"], "the rest is shown");
}

#[test]
fn pages_that_share_their_children_and_rows_in_an_order() {
    let directory = harmed_sample(|directory| {
        without_indexes(directory, "compilation_parameters");
        with_shared_pages(directory, &["compilation_parameters", "var_categories"]);
    });
    let (said, took) = ask_some(directory.path(), 150);
    assert!(said.contains("table compilation_parameters"), "{said}");
    assert!(took.work.steps < most_steps(directory.path()), "{}", took.work);
}

#[test]
fn pages_that_share_their_children_in_every_large_table() {
    let tables = [
        "vars_info",
        "var_bytes_by_eq_class",
        "depth_first_steps",
        "eq_class_step",
        "vars_string_table",
        "unlowered_vars",
        "memory_by_tile",
    ];
    let directory = harmed_sample(|directory| with_shared_pages(directory, &tables));
    let (said, took) = ask_some(directory.path(), 300);
    for table in ["vars_info", "eq_class_step", "memory_by_tile"] {
        assert!(said.contains(table), "{table}: {said}");
    }
    assert!(took.work.steps < 3 * most_steps(directory.path()), "{}", took.work);
}

#[test]
fn pages_of_the_schema_that_share_their_children() {
    let directory = harmed_sample(|directory| {
        // Rows of the schema that SQLite passes over.
        sql(
            directory,
            "PRAGMA writable_schema = ON; \
             UPDATE sqlite_master SET type = 'none', sql = NULL, rootpage = 0;",
        );
        let mut pages = Pages::read(directory);
        pages.share(1);
        pages.write(directory);
    });
    let (said, took) = ask_some(directory.path(), 150);
    assert!(!said.is_empty());
    assert!(took.work.steps < 3 * most_steps(directory.path()), "{}: {said}", took.work);
}

// ---- Warnings

#[test]
fn a_warning_for_each_of_many_tiles() {
    let directory = harmed_sample(|directory| {
        // A variable on each tile, which must not share an element with one that is not there.
        sql(
            directory,
            "DELETE FROM vars_info; \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) \
             INSERT INTO vars_info (var_id, tile, offset, size_bytes, alignment, equivalence_class, \
                 name_base_id, name_suffix, category, bitset, element_constraints) \
             SELECT i, i, 0, 8, 4, 1, 1, '', 1, 1, x'85' FROM n;",
        );
    });
    let (said, _) = ask_all(directory.path(), 300);
    assert!(said.contains("constraints name no variable of it (") && said.contains("such tiles"));
    assert!(said.len() < 300_000, "{} bytes of warnings", said.len());
}

// ---- Debug contexts

/// A text or the head of one, of a list or of a map, in CBOR.
fn cbor(kind: u8, length: usize) -> Vec<u8> {
    let kind = kind << 5;
    match length {
        0..=23 => vec![kind | u8::try_from(length).unwrap()],
        _ => [&[kind | 26][..], &u32::try_from(length).unwrap().to_be_bytes()].concat(),
    }
}

fn text(text: &str) -> Vec<u8> {
    [cbor(3, text.len()), text.as_bytes().to_vec()].concat()
}

/// `debug.cbor` of contexts and texts.
fn contexts(contexts: &[Vec<u8>], texts: &[Vec<u8>]) -> Vec<u8> {
    let list =
        |name: &str, items: &[Vec<u8>]| [text(name), cbor(4, items.len()), items.concat()].concat();
    [cbor(5, 2), list("contexts", contexts), list("stringTable", texts)].concat()
}

fn context(id: usize, parent: usize, name: usize) -> Vec<u8> {
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

// ---- Names

/// Thirty thousand steps of one program.
fn many_steps(directory: &Path) {
    sql(
        directory,
        "DELETE FROM depth_first_steps; \
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) \
         INSERT INTO depth_first_steps (id, program_id) SELECT i, (SELECT max(id) FROM programs) FROM n;",
    );
}

/// Sets a column of all rows.
fn set(directory: &Path, column: &str, value: &dyn rusqlite::ToSql) {
    let connection = Connection::open(directory.join("profile.pop")).unwrap();
    connection.execute(&format!("UPDATE {column} = ?1"), [value]).unwrap();
}

#[test]
fn a_name_that_many_steps_repeat() {
    let directory = harmed_sample(|directory| {
        many_steps(directory);
        let name = "n".repeat(100_000);
        set(directory, "programs SET name", &name);
        set(directory, "compute_sets SET name", &name);
    });
    let (said, _) = ask_some(directory.path(), 300);
    assert!(said.contains("depth_first_steps repeats them"), "{said}");
}

#[test]
fn names_of_categories_that_every_tile_repeats() {
    let directory = harmed_sample(|directory| {
        without_indexes(directory, "memory_by_category");
        set(directory, "memory_by_category SET category_id", &"n".repeat(40_000));
        set(directory, "var_categories SET name", &"n".repeat(1 << 20));
    });
    let (said, _) = ask_all(directory.path(), 150);
    assert!(said.contains("table memory_by_category, row category_id nnn"), "{said}");
    let by_category = tiles(directory.path(), Breakdown::Category).unwrap().to_string();
    assert!(by_category.len() < MIB, "{}", by_category.len());
}

#[test]
fn a_name_that_all_variables_of_a_tile_repeat() {
    let directory = harmed_sample(|directory| {
        set(directory, "vars_string_table SET string", &"n".repeat(1 << 20));
    });
    let (said, _) = ask_some(directory.path(), 300);
    assert!(said.contains("vars_string_table") && said.contains("it is cut"), "{said}");
    let map = map(directory.path(), 0, None).unwrap();
    assert!(map.to_string().len() < 64 * MIB, "{}", map.to_string().len());
    assert_eq!(map["gaps"], common::map(&sample(), 0, None).unwrap()["gaps"]);
}

// ---- Bytes that grow

#[test]
fn lists_longer_than_there_are_tiles() {
    let directory = harmed_sample(|directory| {
        let blob = vec![0x80_u8; 12 * MIB];
        let connection = Connection::open(directory.join("profile.pop")).unwrap();
        let statement = "UPDATE memory_by_category SET interleaved_overlapped = ?1 WHERE rowid = 1";
        connection.execute(statement, [&blob]).unwrap();
        let statement = "UPDATE programs SET children = ?1 WHERE id = 1";
        connection.execute(statement, [&blob]).unwrap();
    });
    let (said, _) = ask_some(directory.path(), 30);
    assert!(said.contains("16 numbers expected, 12582912 found"), "{said}");
    assert!(said.contains("table programs") && said.contains("numbers expected"), "{said}");
}

#[test]
fn many_lists_that_are_each_short_enough() {
    let directory = harmed_sample(|directory| {
        set(directory, "programs SET children", &vec![0x81_u8; 900_000]);
    });
    let (said, _) = ask_some(directory.path(), 300);
    assert!(said.contains("more children than all programs"), "{said}");
}

#[test]
fn many_constraints_of_every_variable() {
    let directory = harmed_sample(|directory| {
        set(directory, "vars_info SET element_constraints", &vec![0x85_u8; 10_000]);
    });
    let (said, _) = ask_some(directory.path(), 300);
    assert!(!said.is_empty());
}

#[test]
fn a_class_that_lives_often_and_is_named_by_many_rows() {
    let directory = harmed_sample(|directory| {
        without_indexes(directory, "eq_class_step");
        without_indexes(directory, "var_bytes_by_eq_class");
        sql(
            directory,
            "INSERT OR REPLACE INTO eq_classes (id, is_always_live) VALUES (1, 0); \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
             INSERT INTO eq_class_step (eq_class_id, step_id_from, step_id_to) \
             SELECT 1, i % 60, i % 60 + 1 FROM n; \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) \
             INSERT INTO var_bytes_by_eq_class (unlowered_var_id, eq_class_id, bytes, tile) \
             SELECT 1, 1, 4, CASE i % 2 WHEN 0 THEN 2 END FROM n;",
        );
    });
    let (said, took) = ask_all(directory.path(), 150);
    assert!(said.contains("its class lives too often"), "{said}");
    assert!(took.work.rows < 5_000_000, "{}", took.work);
}

#[test]
fn numbers_of_tiles_that_no_system_has() {
    for number in ["4000000000", "9223372036854775807"] {
        let directory = harmed_sample(|directory| {
            let set = ["num_tiles", "tiles_per_ipu", "num_ipus", "num_replicas"];
            let set = set.map(|column| format!("{column} = {number}")).join(", ");
            sql(directory, &format!("UPDATE target_info SET {set}"));
        });
        let (said, took) = ask_all(directory.path(), 150);
        assert!(said.contains("at most 1048576 expected"), "{said}");
        assert!(took.work.rows < 1_000_000, "{}", took.work);
    }
}

#[test]
fn a_log_of_one_long_line_and_one_of_many_findings() {
    let directory = harmed_sample(|directory| {
        let line = "Memory allocation: Out of memory on tile 3: 700000 bytes used but tiles only have 638976. ";
        fs::write(directory.join("compile.log"), line.repeat(8 * MIB / line.len())).unwrap();
        fs::write(directory.join("run.log"), format!("{line}\n").repeat(8 * MIB / line.len()))
            .unwrap();
    });
    let (_, took) = counted(|| summary(directory.path()).unwrap());
    assert!(took.bytes < 60 * MIB, "{} MiB", took.bytes / MIB);
    for log in ["compile.log", "run.log"] {
        let output = common::tilescope(&[
            "diagnose",
            "--json",
            &directory.path().join(log).display().to_string(),
        ]);
        assert!(output.status.success());
        assert!(output.stdout.len() < 100 * MIB, "{log}: {}", output.stdout.len());
    }
}

// ---- What a part that is absent or too large leaves

#[test]
fn the_curve_of_an_ipu_without_changes_from_step_to_step() {
    let of_ipu = |directory: &Path, by: Option<&str>| {
        let path = directory.display().to_string();
        let by = by.map_or(vec![], |by| vec!["--step", "peak", "--by", by]);
        let arguments = [vec!["liveness", "--json", "--ipu", "0", &path], by].concat();
        common::json(&common::tilescope(&arguments))
    };
    let intact = of_ipu(&sample(), None);
    let directory = harmed_sample(|directory| {
        sql(directory, "DROP TABLE memory_not_always_live_by_step_and_ipu");
    });
    let answer = of_ipu(directory.path(), None);
    assert_eq!(answer["steps"], intact["steps"]);
    assert_eq!(answer["scope"], "ipu 0");
    let by_category = of_ipu(directory.path(), Some("category"));
    assert_eq!(by_category["consists_of"], of_ipu(&sample(), Some("category"))["consists_of"]);
}

#[test]
fn a_variable_of_five_gib_stays_on_the_map_of_its_tile() {
    let bytes = 5_u64 << 30;
    let directory = harmed_sample(|directory| {
        let statement = "UPDATE vars_info SET size_bytes =";
        sql(
            directory,
            &format!(
                "{statement} {bytes} WHERE var_id = (SELECT max(var_id) FROM vars_info WHERE tile = 3)"
            ),
        );
    });
    let (said, _) = ask_all(directory.path(), 150);
    assert!(
        said.contains("column size_bytes: a number below 2³² expected, 5368709120 found"),
        "{said}"
    );
    let map = map(directory.path(), 3, None).unwrap();
    let variables = map["variables"].as_array().unwrap();
    assert!(variables.iter().any(|variable| variable["bytes"] == bytes), "{map:#}");
    assert!(map["end"].as_u64().unwrap() >= bytes);
}

// ---- Reading that nobody waits for

/// A report of so many rows that none is read as a whole between two looks.
fn many_rows() -> (TempDir, MutexGuard<'static, ()>) {
    let alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let options = Options { tiles_per_ipu: 1024, ..Options::default() };
    write_report(&options, directory.path(), &Progress::default()).unwrap();
    (directory, alone)
}

#[test]
fn every_read_ends_at_once_when_nobody_waits() {
    let (directory, _alone) = many_rows();
    fs::write(directory.path().join("a.log"), vec![b'a'; 20 * MIB]).unwrap();
    let (open, cancelled) =
        (OpenReport::open(directory.path(), &Progress::default()).unwrap(), Progress::default());
    cancelled.cancel();
    let reader = || open.report.reader().unwrap();
    let arenas: Vec<ArenaId> = (0..200).map(ArenaId).collect();
    let (mut bytes_of_logs, bytes) = (0, std::cell::Cell::new(0));
    type Read<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let reads: Vec<Read<'_>> = vec![
        ("small tables", Box::new(|| drop(OpenReport::open(directory.path(), &cancelled)))),
        ("contexts", Box::new(|| open.read_debug_info(&cancelled))),
        ("variables", Box::new(|| open.read_variables(&cancelled))),
        ("bytes by tile", Box::new(|| open.read_tile_variable_bytes(&cancelled))),
        ("compute", Box::new(|| open.read_compute(&cancelled))),
        ("all tiles", Box::new(|| drop(open.read_each_tile(&cancelled, |_, _| ())))),
        ("a tile", Box::new(|| drop(reader().read(ArenaId(3), &cancelled)))),
        ("some tiles", Box::new(|| drop(reader().read_some(&arenas, &cancelled, &|_, _| ())))),
        ("bytes of tiles", Box::new(|| drop(open.read_variable_bytes(2..=90, &cancelled)))),
        (
            "logs",
            Box::new(|| {
                open.read_logs(&[], &cancelled, |log| {
                    bytes.set(bytes.get() + std::io::copy(log, &mut std::io::sink())?);
                    Ok(Vec::new())
                });
            }),
        ),
    ];
    for (what, read) in &reads {
        let ((), took) = counted(read);
        let work = took.work;
        assert!(work.rows < 20_000 && work.pages < 600 && work.steps < 40_000, "{what}: {work}");
        assert!(work.placements < 500 && took.bytes < 20 * MIB, "{what}: {work}");
    }
    drop(reads);
    bytes_of_logs += bytes.get();
    assert_eq!(bytes_of_logs, 0);
    let variables = open.report.variables.absence().unwrap();
    assert!(format!("{variables:?}").contains("ancelled"), "{variables:?}");
}

#[test]
fn reading_tiles_ends_when_the_first_of_them_is_enough() {
    let (directory, _alone) = many_rows();
    let open = OpenReport::open(directory.path(), &Progress::default()).unwrap();
    let enough = Progress::default();
    let mut tiles = 0;
    let of_each = |_, _| {
        enough.cancel();
        tiles += 1;
    };
    let (_, took) = counted(|| open.read_each_tile(&enough, of_each).unwrap());
    assert!(tiles < 10 && took.work.rows < 1000, "{tiles} tiles, {}", took.work);
    let (enough, tiles) = (Progress::default(), AtomicUsize::new(0));
    let arenas: Vec<ArenaId> = (0..1000).map(ArenaId).collect();
    let of_some = |_, _| {
        enough.cancel();
        tiles.fetch_add(1, Ordering::Relaxed);
    };
    let reader = open.report.reader().unwrap();
    reader.read_some(&arenas, &enough, &of_some).unwrap();
    assert!(tiles.load(Ordering::Relaxed) < 100, "{tiles:?}");
}

#[test]
fn sqlite_stops_in_the_middle_of_a_question() {
    let directory = harmed_sample(|directory| {
        without_indexes(directory, "programs");
        sql(directory, "UPDATE programs SET compilation_step_id = 1");
        with_shared_pages(directory, &["programs"]);
    });
    let (progress, before) = (Progress::default(), WorkDone::now().steps);
    std::thread::scope(|scope| {
        scope.spawn(|| drop(OpenReport::open(directory.path(), &progress)));
        // It takes millions of steps before it is stopped for another reason.
        while WorkDone::now().steps < before + 100_000 {
            std::thread::yield_now();
        }
        progress.cancel();
    });
    let steps = WorkDone::now().steps - before;
    assert!(steps < 1_500_000, "{steps}");
}

// ---- Text is shown, never obeyed

/// Names that a terminal, a spreadsheet or a reader of text would obey.
const HOSTILE: [&str; 5] = [
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]8;;http://x\u{1b}\\link\u{9b}31mred\u{90}x\u{9c}\u{7f}",
    "a\r\nb\tc\u{0}d\u{2028}e\u{85}f\u{202e}txet\u{2066}\u{200f}",
    "=cmd|' /C calc'!A0",
    "+1+2\",=1",
    "\t=1\u{fffe}\u{ffff}",
];

/// A sample that has a name of this kind wherever there is one.
fn with_names(name: &str) -> Harmed {
    harmed_sample(|directory| {
        for column in [
            "unlowered_vars SET name",
            "compute_sets SET name",
            "programs SET name",
            "vars_string_table SET string",
            "var_categories SET name",
            "vertex_types SET name",
            "program_types SET name",
            "date_time SET string",
            "poplar_version SET string",
            "compilation_parameters SET value",
            "target_info SET architecture",
        ] {
            set(directory, column, &name);
        }
        // Categories are told apart by their names.
        let connection = Connection::open(directory.join("profile.pop")).unwrap();
        let numbered = "UPDATE memory_by_category SET category_id = ?1 || rowid";
        connection.execute(numbered, [name]).unwrap();
        drop(connection);
        let texts = vec![text(name); 40];
        let all: Vec<_> = (1..=60).map(|id| context(id, id / 2, id % 40)).collect();
        fs::write(directory.join("debug.cbor"), contexts(&all, &texts)).unwrap();
        sql(directory, "UPDATE programs SET debug_id = 1 + id % 60");
        let value = serde_json::json!({ name: { "x": name }, "batch": name });
        fs::write(directory.join("app.json"), value.to_string()).unwrap();
        fs::write(directory.join("framework.json"), value.to_string()).unwrap();
        let log = format!(
            "{name} Out of memory on tile 3: 700000 bytes used but tiles only have 638976 {name}\n"
        );
        fs::write(directory.join("compile.log"), log).unwrap();
    })
}

fn is_obeyed(character: char) -> bool {
    (character.is_control() && character != '\n')
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
        || ('\u{202a}'..='\u{202e}').contains(&character)
        || ('\u{2066}'..='\u{2069}').contains(&character)
}

/// The cells of comma-separated values.
fn cells(csv: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for character in csv.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => cells.push(String::new()),
            other => cells.last_mut().unwrap().push(other),
        }
    }
    cells
}

#[test]
fn no_command_prints_what_is_obeyed() {
    let commands: [&[&str]; 18] = [
        &["summary", "PATH"],
        &["tiles", "PATH"],
        &["tiles", "--by", "category", "PATH"],
        &["tiles", "--by", "region", "PATH"],
        &["tiles", "--by", "gaps", "PATH"],
        &["liveness", "PATH"],
        &["liveness", "--step", "peak", "PATH"],
        &["liveness", "--step", "peak", "--by", "category", "PATH"],
        &["liveness", "--step", "peak", "--by", "variable", "PATH"],
        &["liveness", "--step", "peak", "--by", "operation", "PATH"],
        &["liveness", "--filter", "a", "PATH"],
        &["map", "--tile", "3", "PATH"],
        &["check", "--max-tile-bytes", "1024", "PATH"],
        &["compare", "SAMPLE", "PATH"],
        &["compare", "SAMPLE", "PATH", "--by", "variable"],
        &["diagnose", "PATH/compile.log"],
        &["sweep", "PATH"],
        &["sweep", "PATH", "--by", "batch"],
    ];
    let with_csv = ["tiles", "map", "compare", "sweep"];
    for name in HOSTILE {
        let directory = with_names(name);
        let (path, sample) =
            (directory.path().display().to_string(), sample().display().to_string());
        for command in commands {
            let words: Vec<String> = command
                .iter()
                .map(|word| word.replace("PATH", &path).replace("SAMPLE", &sample))
                .collect();
            for form in ["", "--json", "--csv"] {
                let has_no_json =
                    command[0] == "index" || command[0] == "compare" && command.contains(&"--by");
                if form == "--csv" && !with_csv.contains(&command[0])
                    || form == "--json" && has_no_json
                {
                    continue;
                }
                let mut all: Vec<&str> = words.iter().map(String::as_str).collect();
                all.extend(Some(form).filter(|form| !form.is_empty()));
                let output = common::tilescope(&all);
                let out = String::from_utf8(output.stdout).unwrap();
                let said = String::from_utf8(output.stderr).unwrap();
                assert!(!said.contains("Usage:"), "{all:?}: {said}");
                for (what, printed) in [("output", &out), ("messages", &said)] {
                    let obeyed = printed.chars().find(|character| is_obeyed(*character));
                    // Within a cell a line end of its own is quoted.
                    let obeyed = obeyed.filter(|obeyed| form != "--csv" || *obeyed != '\r');
                    assert_eq!(obeyed, None, "{what} of {all:?}: {printed:.2000}");
                }
                if form == "--json" {
                    let answer: Result<Value, _> = serde_json::from_str(&out);
                    assert!(answer.is_ok(), "{all:?}: {answer:?} {said}");
                }
                if form == "--csv" {
                    for cell in cells(&out) {
                        let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
                        let is_number = cell.parse::<f64>().is_ok() || cell == "-";
                        assert!(!is_formula || is_number, "{all:?}: {cell}");
                    }
                }
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn no_command_prints_a_path_that_is_obeyed() {
    let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let hostile = directory.path().join("\u{1b}[2J\u{9b}31m\u{202e}=1");
    fs::create_dir(&hostile).unwrap();
    fs::copy(sample().join("profile.pop"), hostile.join("profile.pop")).unwrap();
    fs::write(hostile.join("\u{1b}[2J.log"), "nothing\n").unwrap();
    fs::create_dir(hostile.join("\u{1b}[1m.log")).unwrap();
    let [all, one] = [directory.path(), &hostile].map(|path| path.display().to_string());
    let absent = format!("{one}/absent");
    for command in [
        &["sweep", &*all][..],
        &["sweep", "--csv", &all],
        &["sweep", "--json", &all],
        &["summary", &one],
        &["summary", "--json", &one],
        &["summary", &absent],
        &["compare", &one, &one],
        &["diagnose", &absent],
        &["check", "--must-fit", &one],
    ] {
        let output = common::tilescope(command);
        for printed in [output.stdout, output.stderr] {
            let printed = String::from_utf8(printed).unwrap();
            let obeyed = printed.chars().find(|character| is_obeyed(*character));
            assert_eq!(obeyed, None, "{command:?}: {printed}");
        }
    }
}

// ---- What is no file

#[cfg(unix)]
mod special {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    fn fifo(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    }

    /// Everything that may lie beside a profile.
    const BESIDE: [&str; 8] = [
        "profile.pop-journal",
        "profile.pop-wal",
        "debug.cbor",
        "app.json",
        "framework.json",
        "archive.a",
        "compile.log",
        "profile.pop_cache",
    ];

    fn beside(make: impl Fn(&Path)) -> String {
        let directory = harmed_sample(|directory| {
            for name in BESIDE {
                let path = directory.join(name);
                // Not all are there.
                drop(fs::remove_file(&path));
                make(&path);
            }
        });
        let answers = all_answers(directory.path());
        assert!(answers.iter().all(Result::is_ok), "{}", said(&answers));
        said(&answers)
    }

    #[test]
    fn fifos_sockets_and_directories_beside_a_profile_are_not_opened() {
        let kinds: [(&str, fn(&Path)); 4] = [
            ("a FIFO", fifo),
            ("a socket", |path| drop(UnixListener::bind(path).unwrap())),
            ("a directory", |path| fs::create_dir(path).unwrap()),
            ("a device", |path| symlink("/dev/zero", path).unwrap()),
        ];
        for (what, make) in kinds {
            let said = beside(make);
            for name in BESIDE.iter().take(6) {
                let named = said.lines().any(|line| {
                    line.contains(&format!("\"{name}\""))
                        && line.contains(&format!("it is {what}, not a file"))
                });
                assert!(named, "{name}, {what}: {said}");
            }
        }
    }

    #[test]
    fn a_profile_that_is_no_file_is_called_what_it_is() {
        let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().unwrap();
        let profile = directory.path().join("profile.pop");
        fifo(&profile);
        for path in [directory.path(), &profile] {
            let said = summary(path).unwrap_err().message;
            assert!(
                said.contains("profile.pop") && said.contains("it is a FIFO, not a file"),
                "{said}"
            );
        }
        fs::remove_file(&profile).unwrap();
        fs::create_dir(&profile).unwrap();
        let said = summary(directory.path()).unwrap_err().message;
        assert!(said.contains("profile.pop") && said.contains("it is a directory"), "{said}");
    }

    #[test]
    fn a_sweep_of_fifos_and_links_that_lead_back() {
        let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().unwrap();
        let below = |path: &str| directory.path().join(path);
        for run in ["a", "b", "c"] {
            fs::create_dir(below(run)).unwrap();
        }
        fs::copy(sample().join("profile.pop"), below("a/profile.pop")).unwrap();
        fifo(&below("a/profile.pop-journal"));
        fifo(&below("a/app.json"));
        fifo(&below("b/profile.pop"));
        fifo(&below("b/run.log"));
        fifo(&below("c/app.json"));
        symlink(directory.path(), below("c/back")).unwrap();
        symlink(below("c/loop"), below("c/loop")).unwrap();
        let output =
            common::tilescope(&["sweep", "--json", &directory.path().display().to_string()]);
        let answer = common::json(&output);
        assert_eq!(answer["runs"][0]["error"], Value::Null, "{answer:#}");
        let said = answer["warnings"].to_string();
        assert!(said.contains("b/profile.pop") && said.contains("it is a FIFO"), "{said}");
    }
}
