//! Reports of TT-NN with very many buffers or operations, each of its own name: what is written of them is far longer than
//! they are, and is never in memory as a whole.

use tilescope::cli::Input;
use tilescope::cli::compare::{Shown, document};
use tilescope::cli::liveness::LivenessReport;
use tilescope::cli::map::{Map, MapArguments};
use tilescope::cli::ops::{Lines, Ops, OpsArguments};
use tilescope::cli::output::Answer;
use tilescope::cli::output::arrow::ArrowArgument;
use tilescope::systems::system::OpenRun;
use tilescope::systems::{SYSTEMS, find};

use super::common::liveness_arguments;
use super::compared::with_itself;
use super::ttnn::report;
use super::*;

/// Buffers, more than a comparison tells apart, or operations.
const MANY: usize = 80_000;
/// Bytes that each may take: with 400,000 of them, of which a report has 9 MB, less than 300 MB.
const EACH: usize = 700;
/// Buffers of each side that a comparison tells apart, and bytes that a row of it may take.
const TOLD_APART: usize = 1 << 16;
const EACH_ROW: usize = 512;
/// What a report may take beside.
const SMALL: usize = 16 * MIB;

/// A report with this many rows `row` more, in which `x` is the number of each.
fn report_with(row: &str) -> TempDir {
    let directory = report();
    let database = Connection::open(directory.path().join("db.sqlite")).unwrap();
    let numbers = format!(
        "WITH RECURSIVE numbers(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM numbers WHERE x < {MANY})"
    );
    database
        .execute_batch(&format!("PRAGMA synchronous = OFF; {numbers} {row} FROM numbers"))
        .unwrap();
    directory
}

fn report_of_buffers() -> TempDir {
    report_with("INSERT INTO buffers SELECT 5, 1, x * 64, 64, 1, 0, 0")
}

fn input(directory: &Path) -> Input {
    Input { path: directory.to_owned(), json: false }
}

/// Writes the text and the JSON of an answer, each of which must be longer than the database is, and take no more than
/// that.
fn is_written<A: Answer>(
    directory: &Path,
    answer: impl FnOnce(&dyn OpenRun, &Progress) -> Result<A, Error>,
) {
    let ((text, json), took) = counted(|| {
        let progress = Progress::default();
        let found = find(SYSTEMS, directory, None, &progress).unwrap();
        let run = found.open(&progress).unwrap().unwrap();
        let answer = answer(&*run, &progress).unwrap();
        let [mut text, mut json] = [Counted(0), Counted(0)];
        answer.write_text(&mut text).unwrap();
        serde_json::to_writer(&mut json, &answer).unwrap();
        (text.0, json.0)
    });
    assert!(text > 30 * MANY && json > 80 * MANY, "{text} bytes of text, {json} of JSON");
    let most = MANY * EACH + SMALL;
    assert!(took.bytes < most, "{} bytes of at most {most}", took.bytes);
}

#[test]
fn very_many_operations_are_listed() {
    let _alone = alone();
    let directory =
        report_with("INSERT INTO operations SELECT 1000 + x, 'ttnn.relu' || x, 1e308, 0");
    let path = directory.path();
    let arguments = OpsArguments {
        input: input(path),
        layer: None,
        by: Lines::Operation,
        csv: false,
        arrow: ArrowArgument::default(),
    };
    is_written(path, |run, progress| Ops::of(run, &arguments, progress));
}

#[test]
fn very_many_buffers_are_mapped_and_listed() {
    let _alone = alone();
    let directory = report_of_buffers();
    let path = directory.path();
    let arguments = MapArguments { input: input(path), arena: 0, step: None, csv: false };
    is_written(path, |run, progress| Map::of(run, &arguments, progress));
    let arguments = liveness_arguments(path, None);
    is_written(path, |run, progress| LivenessReport::of(run, &arguments, progress));
}

#[test]
fn of_very_many_buffers_a_comparison_says_that_the_smallest_are_together() {
    let _alone = alone();
    let directory = report_of_buffers();
    let path = directory.path();
    let arguments = with_itself(path, Shown::default());
    let (answer, took) = counted(|| {
        let progress = Progress::default();
        let both = [(); 2].map(|()| find(SYSTEMS, path, None, &progress).unwrap());
        document(&both, &arguments, &progress).unwrap()
    });
    let most = 2 * MANY * EACH + TOLD_APART * EACH_ROW + SMALL;
    assert!(took.bytes < most, "{} bytes of at most {most}", took.bytes);
    let answer = serde_json::to_value(&answer).unwrap();
    let rows = answer["peak"]["by_variable"].as_array().unwrap();
    let is_together = |row: &&Value| row["shape"]["source"] == "smaller buffers, taken together";
    let together: Vec<&Value> = rows.iter().filter(is_together).collect();
    let count = |row: &&Value| row["source_count"].as_u64().unwrap() as usize;
    assert!(together.iter().map(count).sum::<usize>() >= MANY - TOLD_APART);
    assert!(rows.len() <= TOLD_APART + together.len(), "{} rows", rows.len());
    let all = rows.iter().map(|row| row["source_bytes"].as_u64().unwrap()).sum::<u64>();
    let by_category = answer["peak"]["by_category"].as_array().unwrap();
    assert_eq!(
        all,
        by_category.iter().map(|row| row["source_bytes"].as_u64().unwrap()).sum::<u64>()
    );
}
