//! Files that were made to do harm: each takes little memory and little work, says what was left out, and everything
//! else is shown. Memory is counted by the allocator of this test, work by what was read; no clock is asked.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod bytes;
mod cancelled;
mod compared;
mod contexts;
mod dumps;
#[cfg(unix)]
mod interrupted;
mod long_answers;
mod names;
mod obeyed;
mod packed;
mod pages;
mod parts;
#[cfg(unix)]
mod special;
mod ttnn;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{all_answers, damaged_sample, in_package, liveness, map, sample, summary, tiles};
use peak_alloc::PeakAlloc;
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;
use tilescope::cli::tiles::TileBreakdown;
use tilescope::format::{Error, Progress};
use tilescope::store::ArenaId;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};
use tilescope::work::WorkDone;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory and work are counted of the whole process, so that one test at a time may count.
static COUNTING: Mutex<()> = Mutex::new(());

const MIB: usize = 1 << 20;

/// Keeps other tests that count from running; what a test makes before it has this counts to others.
fn alone() -> MutexGuard<'static, ()> {
    COUNTING.lock().unwrap_or_else(PoisonError::into_inner)
}

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
    let alone = alone();
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
    let work = WorkDone::now().since(&work);
    (answer, Took { bytes: MEMORY.peak_usage().saturating_sub(before), work })
}

/// Counts what is written.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
            tiles(path, TileBreakdown::Gaps),
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

/// Takes the indexes of a table away, so that SQLite goes through its rows and sorts them itself.
fn without_indexes(directory: &Path, table: &str) {
    let make = format!("CREATE TABLE other AS SELECT * FROM {table}; DROP TABLE {table};");
    sql(directory, &format!("{make} ALTER TABLE other RENAME TO {table};"));
}

/// Sets a column of all rows.
fn set(directory: &Path, column: &str, value: &dyn rusqlite::ToSql) {
    let connection = Connection::open(directory.join("profile.pop")).unwrap();
    connection.execute(&format!("UPDATE {column} = ?1"), [value]).unwrap();
}

/// Thirty thousand steps of one program.
fn many_steps(directory: &Path) {
    sql(
        directory,
        "DELETE FROM depth_first_steps; \
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) \
         INSERT INTO depth_first_steps (id, program_id) SELECT i, (SELECT max(id) FROM programs) FROM n;",
    );
}
