//! The steps that ran: what they add up to, what the command says of them, and what is damaged.

use std::path::Path;

use crate::common::{answer, damaged_sample, in_package, json, tilescope, warning_codes};
use rusqlite::Connection;
use serde_json::Value;
use tilescope::analysis::derived::Derived;
use tilescope::analysis::execution::Executed;
use tilescope::analysis::execution::stated::stated_and_summed;
use tilescope::analysis::operations::{FigureByTile, NotByTile, by_tile, operation_of_span};
use tilescope::analysis::program::kinds::Activity;
use tilescope::cli::Input;
use tilescope::cli::ops::{Lines, Ops, OpsArguments};
use tilescope::cli::output::arrow::ArrowArgument;
use tilescope::cli::trace::{TraceArguments, TraceReport};
use tilescope::format::{Error, Progress};
use tilescope::index::{Cache, Limits};
use tilescope::systems::poplar::cross_checks::contradictions;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::{RecordedRuns, ReportOptions, write_report};
use tilescope::systems::poplar::system::ReportRun;

fn arguments(path: &Path) -> TraceArguments {
    let input = Input { path: path.to_owned(), json: true };
    TraceArguments {
        input,
        ipu: None,
        from: None,
        to: None,
        csv: false,
        arrow: ArrowArgument::default(),
    }
}

fn trace_of(path: &Path, arguments: &TraceArguments) -> Result<Value, Error> {
    answer(path, |open, progress| TraceReport::of(open, arguments, progress))
}

fn trace(path: &Path) -> Value {
    trace_of(path, &arguments(path)).unwrap()
}

fn written(options: &ReportOptions) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    write_report(options, directory.path(), &Progress::default()).unwrap();
    directory
}

/// A report that has all: two IPUs, three runs, transfers beside computing, blocks.
fn full() -> ReportOptions {
    let recorded = RecordedRuns { runs: 3, overlapped_io: true, blocks: true };
    ReportOptions { ipus: 2, batch: 4, execution: true, recorded, ..ReportOptions::default() }
}

fn pair() -> std::path::PathBuf {
    in_package("sample_profiles/pair-0.6")
}

#[test]
fn steps_add_up_to_what_the_report_states() {
    let one = ReportOptions { execution: true, ..ReportOptions::default() };
    let reports = [
        written(&one),
        written(&ReportOptions { ipus: 3, ..one.clone() }),
        written(&ReportOptions {
            recorded: RecordedRuns { runs: 5, ..RecordedRuns::default() },
            ..one
        }),
        written(&full()),
    ];
    let samples = ["pair-0.6", "pair-0.2", "pipeline"];
    let samples = samples.map(|name| in_package("sample_profiles").join(name));
    for path in reports.iter().map(tempfile::TempDir::path).chain(samples.iter().map(AsRef::as_ref))
    {
        let open = OpenReport::open(path, &Progress::default()).unwrap();
        open.report.read_trace(&Progress::default());
        let executed = Executed::of(&open.report).unwrap();
        let runs = stated_and_summed(executed);
        assert_eq!(runs.len() as u64, open.report.execution.get().unwrap().runs);
        for rows in runs {
            let rows = rows.expect("stated and recorded by tile");
            assert_eq!(rows.len(), 8);
            for row in &rows {
                assert_eq!(row.stated, row.summed, "{:?} of {}", row.activity, path.display());
            }
            let compute = rows.iter().find(|row| row.activity == Some(Activity::Compute));
            assert!(compute.unwrap().summed > 0);
        }
        assert!(!warning_codes(&trace(path)).contains(&"inconsistent"), "{}", path.display());
    }
}

#[test]
fn the_command_says_runs_steps_and_totals() {
    let path = pair();
    let found = trace(&path);
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    let length =
        |run: &Value| run["end_cycle"].as_u64().unwrap() - run["start_cycle"].as_u64().unwrap();
    assert!(runs.iter().all(|run| run["cycles"] == length(run)));
    let steps = found["steps"].as_array().unwrap();
    let of_runs: u64 = runs.iter().map(|run| run["steps"].as_u64().unwrap()).sum();
    assert_eq!(steps.len() as u64, of_runs, "on one IPU");
    for step in steps {
        let length = step["end_cycle"].as_u64().unwrap() - step["start_cycle"].as_u64().unwrap();
        assert_eq!(step["cycles"], length);
    }
    let computing = steps.iter().find(|step| step["kind"] == "OnTileExecute").unwrap();
    assert!(computing["name"].as_str().is_some_and(|name| !name.is_empty()));
    // One after the other, so kinds and what is idle fill the whole.
    let sum = |rows: &Value, key: &str| -> u64 {
        rows.as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum()
    };
    let idle = found["ipus"][0]["idle_cycles"].as_u64().unwrap();
    let whole = found["to_cycle"].as_u64().unwrap() - found["from_cycle"].as_u64().unwrap();
    assert_eq!(sum(&found["totals"], "cycles") + idle, whole);
    assert!(steps.iter().any(|step| step["is_slow_at_peak"] == true));
    assert!(found["ipus"][0]["moved_bytes"]["from_host"].as_u64().unwrap() > 0);
    let utilisation = found["ipus"][0]["utilisation"].as_f64().unwrap();
    assert!(utilisation > 0.0 && utilisation < 1.0, "{utilisation}");
}

#[test]
fn the_parts_of_a_range_add_up_to_it() {
    let path = pair();
    let whole = trace(&path);
    let to = whole["to_cycle"].as_u64().unwrap();
    let middle = to / 3;
    let part =
        |from, to| trace_of(&path, &TraceArguments { from, to, ..arguments(&path) }).unwrap();
    let (before, after) = (part(None, Some(middle)), part(Some(middle), None));
    let cycles = |found: &Value, kind: &str| -> u64 {
        let rows = found["totals"].as_array().unwrap().iter();
        rows.filter(|row| row["kind"] == kind).map(|row| row["cycles"].as_u64().unwrap()).sum()
    };
    for kind in ["OnTileExecute", "DoExchange", "StreamCopyBegin", "Sync"] {
        assert_eq!(cycles(&before, kind) + cycles(&after, kind), cycles(&whole, kind), "{kind}");
    }
    let count = |found: &Value| found["steps"].as_array().unwrap().len();
    let both = count(&before) + count(&after);
    assert!(both == count(&whole) || both == count(&whole) + 1, "one step may lie across");
    let ends = before["steps"].as_array().unwrap().iter().map(|step| step["start_cycle"].as_u64());
    assert!(ends.flatten().all(|start| start < middle));
    let wrong = TraceArguments { from: Some(2), to: Some(1), ..arguments(&path) };
    assert!(trace_of(&path, &wrong).unwrap_err().message.contains("--from 2"));
    let no_ipu = TraceArguments { ipu: Some(7), ..arguments(&path) };
    assert!(trace_of(&path, &no_ipu).unwrap_err().message.contains("no IPU 7"));
}

#[test]
fn transfers_beside_computing_overlap_and_blocks_are_counted() {
    let report = written(&full());
    let found = trace(report.path());
    assert_eq!(found["runs"].as_array().unwrap().len(), 3);
    let range =
        |step: &Value| (step["start_cycle"].as_u64().unwrap(), step["end_cycle"].as_u64().unwrap());
    let steps = found["steps"].as_array().unwrap();
    let is_of_host = |step: &&Value| step["kind"].as_str().unwrap().starts_with("StreamCopy");
    let overlapped = steps.iter().filter(is_of_host).any(|copy| {
        let (from, to) = range(copy);
        let others = steps.iter().filter(|step| step["ipu"] == copy["ipu"] && !is_of_host(step));
        others.map(range).any(|(start, end)| start < to && end > from)
    });
    assert!(overlapped);
    let blocks = found["blocks"].as_array().unwrap();
    assert!(blocks.iter().any(|block| block["kind"] == "Stream copy" && block["block"].is_null()));
    let common: Vec<&Value> = blocks.iter().filter(|block| block["kind"] == "Block").collect();
    assert!(!common.is_empty());
    assert!(
        common
            .iter()
            .all(|block| block["tiles"] == 4 && block["count"].as_u64().unwrap() % 12 == 0)
    );
    let one = TraceArguments { ipu: Some(1), ..arguments(report.path()) };
    let of_one = trace_of(report.path(), &one).unwrap();
    assert!(of_one["steps"].as_array().unwrap().iter().all(|step| step["ipu"] == 1));
    assert_eq!(of_one["ipus"].as_array().unwrap().len(), 1);
}

#[test]
fn blocks_alone_are_an_execution() {
    let report = written(&full());
    let profile = Connection::open(report.path().join("profile.pop")).unwrap();
    for table in ["steps", "steps_by_ipu", "cycles_by_tile", "runs", "execution_cycle_totals"] {
        profile.execute(&format!("DELETE FROM {table}"), []).unwrap();
    }
    drop(profile);
    let found = trace(report.path());
    assert!(found["steps"].as_array().unwrap().is_empty());
    assert!(!found["blocks"].as_array().unwrap().is_empty());
    assert!(!warning_codes(&found).contains(&"no-execution"), "{found:#}");
}

#[test]
fn without_execution_the_option_that_records_it_is_named() {
    let path = in_package("sample_profiles/tiny");
    let output = tilescope(&["trace", path.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let error = &json(&output)["error"];
    assert!(error["message"].as_str().unwrap().starts_with("no execution recorded"));
    assert!(error["hint"].as_str().unwrap().contains("autoReport.outputExecutionProfile"));
}

#[test]
fn text_and_csv_come_out() {
    let path = pair();
    let path = path.to_str().unwrap();
    let text = tilescope(&["trace", path]);
    let text = String::from_utf8(text.stdout).unwrap();
    let all = trace(Path::new(path));
    let mut steps: Vec<u64> = all["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["step"].as_u64().unwrap())
        .collect();
    steps.dedup();
    let of = format!("Trace of {} steps on 1 IPU, ", steps.len());
    assert!(text.starts_with(&of), "{of} in {text}");
    for expected in ["Spent on", "OnTileExecute", "utilisation", "Longest steps", "no step"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let csv = tilescope(&["trace", path, "--csv"]);
    let csv = String::from_utf8(csv.stdout).unwrap();
    let steps = trace(Path::new(path))["steps"].as_array().unwrap().len();
    assert_eq!(csv.lines().count(), steps + 1);
}

/// A copy of a report whose profile was changed by a statement.
fn changed(statement: &str) -> tempfile::TempDir {
    let copy = damaged_sample(|directory| {
        std::fs::copy(pair().join("profile.pop"), directory.join("profile.pop")).unwrap();
    });
    let profile = Connection::open(copy.path().join("profile.pop")).unwrap();
    profile.execute_batch(statement).unwrap();
    copy
}

#[test]
fn what_does_not_come_out_by_the_rules_is_a_warning_and_left_out() {
    let sound = trace(&pair())["steps"].as_array().unwrap().len();
    let cases = [
        (
            "UPDATE cycles_by_tile SET cycles_by_tile_rle = x'8280' WHERE id = (SELECT min(id) FROM cycles_by_tile)",
            "table cycles_by_tile",
            0,
        ),
        ("UPDATE steps_by_ipu SET step_id = 999999 WHERE step_id = 3", "table steps_by_ipu", 1),
        ("UPDATE steps_by_ipu SET ipu = 9 WHERE step_id = 3", "table steps_by_ipu", 1),
        (
            "UPDATE steps_by_ipu SET active_cycles_from_min = 1 << 40 WHERE step_id = 3",
            "table steps_by_ipu",
            1,
        ),
        ("UPDATE steps_by_ipu SET cycles_base = -5 WHERE step_id = 3", "table steps_by_ipu", 1),
        ("UPDATE steps_by_ipu SET tile_balance = 7 WHERE step_id = 3", "table steps_by_ipu", 0),
        ("UPDATE runs SET start_cycles_by_ipu = x'8080' WHERE id = 0", "table runs", 0),
        (
            "UPDATE execution_cycle_totals SET tile_cycles_sync = tile_cycles_sync + 1 WHERE run_id = 0",
            "table execution_cycle_totals, run 0, Sync",
            0,
        ),
        (
            "UPDATE execution_cycle_totals SET cycles = cycles + 1 WHERE run_id = 0",
            "expected by start_cycles_by_ipu and end_cycles_by_ipu in runs",
            0,
        ),
        (
            "UPDATE execution_cycle_totals SET cycles = cycles + 1 WHERE run_id = 0; \
             UPDATE runs SET start_cycles_by_ipu = NULL",
            "expected by the steps",
            0,
        ),
    ];
    for (statement, expected, fewer) in cases {
        let report = changed(statement);
        let found = trace(report.path());
        let warnings = found["warnings"].as_array().unwrap();
        let said = |warning: &Value| warning["message"].as_str().unwrap().contains(expected);
        assert!(warnings.iter().any(said), "{statement}: {warnings:?}");
        assert_eq!(found["steps"].as_array().unwrap().len(), sound - fewer, "{statement}");
    }
    let of_lists = changed(cases[0].0);
    let found = trace(of_lists.path());
    let steps = found["steps"].as_array().unwrap();
    assert!(steps.iter().any(|step| step["tile_cycles"].is_null()), "not known is not nothing");
}

#[test]
fn what_is_not_known_of_balance_is_not_0() {
    let report = changed(
        "CREATE TABLE copied AS SELECT * FROM steps_by_ipu; DROP TABLE steps_by_ipu; \
         ALTER TABLE copied RENAME TO steps_by_ipu; \
         UPDATE steps_by_ipu SET tile_balance = NULL WHERE step_id = 3",
    );
    let found = trace(report.path());
    let steps = found["steps"].as_array().unwrap();
    let unknown = |step: &&Value| step["tile_balance"].is_null();
    assert_eq!(steps.iter().filter(unknown).map(|step| &step["step"]).collect::<Vec<_>>(), [3]);
}

#[test]
fn the_window_warns_as_the_command_does() {
    let report = changed(
        "UPDATE execution_cycle_totals SET tile_cycles_sync = tile_cycles_sync + 1 WHERE run_id = 0",
    );
    let progress = Progress::default();
    let open = OpenReport::open(report.path(), &progress).unwrap();
    let derived = open.derived();
    let said = || {
        let warnings = open.report.warnings.list().into_iter();
        warnings.filter(|warning| warning.message.contains("run 0, Sync")).count()
    };
    assert_eq!(said(), 0, "what ran is not read yet");
    assert!(derived.executed(&progress).is_some() && derived.executed(&progress).is_some());
    assert_eq!(said(), 1);
    let in_window: Vec<Value> = open
        .report
        .warnings
        .list()
        .into_iter()
        .map(|it| serde_json::to_value(it).unwrap())
        .collect();
    let is_of_run = |warning: &&Value| warning["message"].as_str().unwrap().contains("run 0, Sync");
    let in_window = in_window.iter().find(is_of_run).cloned();
    for command in ["ops", "trace"] {
        let found = json(&tilescope(&[command, report.path().to_str().unwrap(), "--json"]));
        let said = found["warnings"].as_array().unwrap().iter().find(is_of_run).cloned();
        assert_eq!(said, in_window, "{command}: of the same file, in the same words");
    }
}

/// Steps that ran are not in the index, so it does not matter to it what is wrong with them, nor when they are read.
#[test]
fn what_is_wrong_with_the_steps_keeps_nobody_from_writing_the_index() {
    let report = changed(
        "UPDATE execution_cycle_totals SET tile_cycles_sync = tile_cycles_sync + 1 WHERE run_id = 0; \
         UPDATE runs SET end_cycles_by_ipu = x'ff'",
    );
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::in_directory(directory.path().join("tilescope/index"), Limits::default());
    let progress = Progress::default();
    let open = OpenReport::find_with(report.path(), Some(&cache), &progress).unwrap();
    // As in the window: the steps are read while the rest still is.
    open.read_small_tables(&progress).unwrap();
    assert!(open.derived().executed(&progress).is_some());
    open.read_all(&progress, |report| contradictions(report, &progress)).unwrap();
    assert!(open.report.warnings.list().len() > open.report.warnings.list_of_reading().len());
    let written = open.write_index(&progress);
    assert!(matches!(written, Ok(Some(_))), "{written:?}");
    // What was noted for the index is not what was wrong with the steps.
    let again = OpenReport::find_with(report.path(), Some(&cache), &progress).unwrap();
    assert!(again.has_index());
    again.read_all(&progress, |_| Vec::new()).unwrap();
    assert_eq!(again.report.warnings.list(), open.report.warnings.list_of_reading());
}

/// Without debug contexts there are no operations, and of a layer that is not there nobody waits for what ran.
#[test]
fn steps_that_ran_are_not_read_for_operations_that_are_not_there() {
    let report = changed("SELECT 1");
    let progress = Progress::default();
    let ops = |layer: Option<&str>| {
        let input = Input { path: report.path().to_owned(), json: true };
        OpsArguments {
            input,
            layer: layer.map(str::to_owned),
            by: Lines::default(),
            csv: false,
            arrow: ArrowArgument::default(),
        }
    };
    let is_read = |arguments: &OpsArguments| {
        let run = ReportRun::of(OpenReport::open(report.path(), &progress).unwrap());
        let found = Ops::of(&run, arguments, &progress);
        (found.is_ok(), run.open.report.trace.is_settled())
    };
    assert_eq!(is_read(&ops(None)), (true, true));
    assert_eq!(is_read(&ops(Some("no such layer"))), (false, false));
    std::fs::remove_file(report.path().join("debug.cbor")).unwrap();
    assert_eq!(is_read(&ops(None)), (true, false));
}

/// Cycles of the tiles of an operation add up to those of its steps on all tiles; nothing is said where one was not
/// recorded by tile.
#[test]
fn measured_cycles_of_an_operation_by_tile_are_those_of_all_its_steps() {
    let cycles = |path: &Path| {
        let progress = Progress::default();
        let open = OpenReport::open(path, &progress).unwrap();
        open.read_debug_info(&progress);
        let report = &open.report;
        let derived = Derived::new(std::sync::Arc::clone(report));
        let executed = derived.executed(&progress).unwrap();
        let (steps, owners) = (derived.operations().unwrap(), derived.owners());
        let owner = |span: usize| operation_of_span(executed, &owners, span);
        let (mut all, mut why_not) = (Vec::new(), Vec::new());
        for operation in (0..).take(owners.operations().len()) {
            let spans = 0..executed.trace.spans.len();
            let of_operation = spans.filter(|span| owner(*span) == Some(operation));
            let expected: Vec<Option<u64>> =
                of_operation.map(|span| executed.trace.tile_cycles(span)).collect();
            let found = by_tile(
                report,
                &steps,
                &owners,
                operation,
                FigureByTile::MeasuredCycles,
                &progress,
            );
            let sum = found.as_ref().map_or(0, |tiles| tiles.iter().sum::<u64>());
            let expected: Option<u64> = expected.iter().copied().sum();
            all.push((sum, expected.unwrap_or(0)));
            why_not.extend(found.err());
        }
        (all, why_not)
    };
    let report = written(&full());
    for report in [report.path(), &pair()] {
        let (found, _) = cycles(report);
        assert!(found.iter().any(|(found, _)| *found > 0));
        assert!(found.iter().all(|(found, expected)| found == expected), "{found:?}");
    }
    let less = changed("UPDATE steps_by_ipu SET tile_cycles_id = NULL");
    let (found, why_not) = cycles(less.path());
    assert!(found.iter().all(|(found, _)| *found == 0));
    assert!(why_not.contains(&NotByTile::NotRecorded), "{why_not:?}");
    let none = changed("DELETE FROM steps_by_ipu WHERE step_id > 0");
    let (_, why_not) = cycles(none.path());
    assert!(why_not.contains(&NotByTile::DidNotRun), "{why_not:?}");
}

/// What Chrome's "Trace Event Format" asks of an event; a check of the form, not a consumer of it.
fn check_event(event: &Value) {
    let phase = event["ph"].as_str().unwrap();
    assert!(event["pid"].is_u64() && event["tid"].is_u64(), "{event}");
    assert!(event["name"].as_str().is_some_and(|name| !name.is_empty()), "{event}");
    let is_time = |key: &str| event[key].as_f64().is_some_and(|time| time >= 0.0);
    match phase {
        "M" => assert!(event["args"]["name"].is_string(), "{event}"),
        "X" => assert!(is_time("ts") && is_time("dur") && event["args"].is_object(), "{event}"),
        "C" => assert!(is_time("ts") && event["args"]["bytes"].is_u64(), "{event}"),
        other => panic!("phase {other}"),
    }
}

#[test]
fn a_chrome_trace_has_the_form_and_every_span() {
    let report = written(&full());
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace.json");
    let [path, to] = [report.path(), &file].map(|path| path.to_str().unwrap());
    let output = tilescope(&["export", path, "--chrome-trace", to, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let said = json(&output);
    let whole: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let events = whole["traceEvents"].as_array().unwrap();
    events.iter().for_each(check_event);
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).collect::<Vec<_>>();
    let spans: Vec<&Value> = of("X").into_iter().filter(|event| event["pid"] != 1).collect();
    assert_eq!(said["spans"], spans.len() as u64);
    assert_eq!(said["counters"], of("C").len() as u64);
    let found = trace(report.path());
    let blocks: u64 = found["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["count"].as_u64().unwrap())
        .sum();
    assert_eq!(spans.len() as u64, found["steps"].as_array().unwrap().len() as u64 + blocks);
    // Events of a thread nest or follow each other: viewers drop others.
    let clock = found["clock_hz"].as_f64().unwrap();
    let cycle = 1e6 / clock;
    let mut ends = std::collections::HashMap::new();
    for span in &spans {
        let (start, length) = (span["ts"].as_f64().unwrap(), span["dur"].as_f64().unwrap());
        let end = ends.entry((span["pid"].as_u64(), span["tid"].as_u64())).or_insert(0.0);
        assert!(start >= *end - cycle / 2.0, "{span} before {end}");
        *end = start + length;
    }
    let step = &found["steps"][5];
    let is_it =
        |span: &&&Value| span["args"]["step"] == step["step"] && span["cat"] == step["kind"];
    let span = spans.iter().find(is_it).unwrap();
    let start = step["start_cycle"].as_f64().unwrap() * cycle;
    assert!((span["ts"].as_f64().unwrap() - start).abs() < cycle / 2.0);

    let inside = report.path().join("trace.json");
    let refused = tilescope(&["export", path, "--chrome-trace", inside.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(!inside.exists());
    let none = in_package("sample_profiles/tiny");
    let none = tilescope(&["export", none.to_str().unwrap(), "--chrome-trace", to]);
    assert_eq!(none.status.code(), Some(3));
}
