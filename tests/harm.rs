//! Files that were made to do harm: each takes little memory and little work, says what was left out, and everything
//! else is shown. Memory is counted by the allocator of this test, work by what was read; no clock is asked.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use common::{all_answers, damaged_sample, liveness, map, sample, summary, tiles};
use peak_alloc::PeakAlloc;
use rusqlite::{Connection, params};
use serde_json::Value;
use tilescope::cli::tiles::Breakdown;
use tilescope::format::Error;
use tilescope::work::WorkDone;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory and work are counted of the whole process, so that one test at a time may count.
static COUNTING: Mutex<()> = Mutex::new(());

const MIB: usize = 1 << 20;

/// What an answer took beyond what was there before: bytes of memory at most, and what was read.
struct Took {
    bytes: usize,
    work: WorkDone,
}

fn counted<T>(answer: impl FnOnce() -> T) -> (T, Took) {
    let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Asks every command about a report. Each answers; what they warn of is returned with what they took.
fn ask_all(directory: &Path, most_mib: usize) -> (String, Took) {
    let (answers, took) = counted(|| all_answers(directory));
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
    let directory = damaged_sample(|directory| {
        let (levels, leaves) = (100, 60_000);
        let key = "k".repeat(1000);
        let open = format!("{{\"{key}\":").repeat(levels);
        let leaves = vec!["{}"; leaves].join(",");
        let text = format!("{open}[{leaves}]{}", "}".repeat(levels));
        assert!(text.len() < 400_000);
        fs::write(directory.join("app.json"), text).unwrap();
    });
    let (said, _) = ask_all(directory.path(), 120);
    assert!(said.contains("app.json") && said.contains("take more than"), "{said}");
}

#[test]
fn a_json_file_of_many_values() {
    let directory = damaged_sample(|directory| {
        let text = format!("[{}1]", "{},".repeat(5_000_000));
        fs::write(directory.join("framework.json"), text).unwrap();
    });
    let (said, _) = ask_all(directory.path(), 120);
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
    let directory = damaged_sample(|directory| {
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
    let directory = damaged_sample(|directory| {
        without_indexes(directory, "compilation_parameters");
        with_shared_pages(directory, &["compilation_parameters", "var_categories"]);
    });
    let (said, took) = ask_all(directory.path(), 150);
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
    let directory = damaged_sample(|directory| with_shared_pages(directory, &tables));
    let (said, took) = ask_all(directory.path(), 300);
    for table in ["vars_info", "eq_class_step", "memory_by_tile"] {
        assert!(said.contains(table), "{table}: {said}");
    }
    assert!(took.work.steps < 3 * most_steps(directory.path()), "{}", took.work);
}

#[test]
fn pages_of_the_schema_that_share_their_children() {
    let directory = damaged_sample(|directory| {
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
    let (said, took) = ask_all(directory.path(), 150);
    assert!(!said.is_empty());
    assert!(took.work.steps < 3 * most_steps(directory.path()), "{}: {said}", took.work);
}
