//! Conclusions on small reports: what fits, how fast it is, what cannot be said.

use super::*;
use crate::analysis::fixture::side_facts;
use crate::store::execution::ExecutionTotals;
use crate::store::options::About;
use crate::store::report::Part;
use crate::systems::poplar::insights::fixture::{Fixture, always, call, temporary};

fn report(limit: u64) -> Report {
    let steps = vec![Some(0), None];
    let variables = vec![always("w", &[50, 50]), temporary("x", 0..1, &[60, 40])];
    let calls = vec![call("convolution", "conv", 0.6)];
    Fixture { limit, calls, steps, variables, ..Fixture::default() }.report()
}

fn conclusions(source: &Report, target: &Report) -> Vec<ChangeInsight> {
    change_insights(source, target, &KnownChange::default())
}

fn of_kind(list: &[ChangeInsight], kind: ChangeKind) -> Option<&ChangeInsight> {
    list.iter().find(|insight| insight.kind == kind)
}

/// What is said first, and whether it is better.
fn first(source: &Report, target: &Report) -> (String, Option<bool>) {
    let found = conclusions(source, target);
    assert_eq!(found[0].kind, ChangeKind::Fits);
    (found[0].what.clone(), found[0].is_better)
}

#[test]
fn the_first_conclusion_says_whether_it_fits_before_and_after() {
    let unknown = Report::default();
    // 110 bytes on tile 0, 90 on tile 1.
    for (before, after, expected, is_better) in [
        (120, 120, "It fit before and still fits", None),
        (120, 100, "It fit before and no longer fits: 1 tile is over its limit", Some(false)),
        (80, 120, "It did not fit before and fits now: 2 tiles were over before", Some(true)),
        (
            80,
            100,
            "It did not fit before and still does not: 1 tile is over its limit, and 2 were over \
            before",
            None,
        ),
        (
            100,
            100,
            "It did not fit before and still does not: 1 tile is over its limit, as before",
            None,
        ),
    ] {
        let found = first(&report(before), &report(after));
        assert_eq!(found, (expected.to_owned(), is_better), "{before} and {after}");
    }
    for (source, target, expected) in [
        (&unknown, &report(120), "It fits now. It is not known whether it fit before"),
        (
            &unknown,
            &report(80),
            "It does not fit now: 2 tiles are over their limit. It is not known whether it fit \
            before",
        ),
        (&report(120), &unknown, "It fit before. It is not known whether it still fits"),
        (
            &report(80),
            &unknown,
            "It did not fit before: 2 tiles were over. It is not known whether it fits now",
        ),
        (&unknown, &unknown, "It is not known whether it fits, neither before nor after"),
    ] {
        assert_eq!(first(source, target), (expected.to_owned(), None));
    }
}

#[test]
fn less_over_the_limit_is_better_on_the_same_machine_alone() {
    let fixture = |bytes| Fixture::of_one_step(vec![always("w", &[bytes])]);
    let found = conclusions(&fixture(130).report(), &fixture(120).report());
    assert_eq!(
        (found[0].is_better, found[0].figure(Unit::Bytes)),
        (Some(true), Some(Difference::between(30, 20)))
    );
    assert_eq!(
        found[0].text(&|bytes| format!("{bytes} B")),
        "It did not fit before and still does not: 1 tile is over its limit, as before. Over the \
        limit: 30 B to 20 B, −10 B (−33.3 %)"
    );
    let other = Fixture { limit: 110, ..fixture(120) }.report();
    let found = conclusions(&fixture(130).report(), &other);
    assert_eq!(found[0].is_better, None, "tiles of 100 bytes and of 110");
    let machines = of_kind(&found, ChangeKind::DifferentTargets).expect("said");
    assert!(
        machines.text(&|bytes| format!("{bytes} B")).contains("Memory of a tile: 100 B to 110 B")
    );
}

/// A report that was run.
fn run(batch: Option<u64>, runs: u64, cycles: u64, microseconds: Option<u64>) -> Report {
    let mut report = report(120);
    let app = batch.map(|batch| side_facts(&[("batch_size", &batch.to_string())]));
    report.about.fill(Some(About { app: app.unwrap_or_default(), ..About::default() }));
    let mut target = report.target.get().cloned().expect("a target");
    target.clock_hz = Some(1_000_000);
    report.target = Part::default();
    report.target.fill(Some(target));
    let elapsed_microseconds = microseconds;
    let totals = ExecutionTotals { runs, steps: 1, cycles: Some(cycles), elapsed_microseconds };
    report.execution.fill(Some(totals));
    report
}

/// Whether samples per second are said to be better, and whether cycles are.
fn speed_of(source: &Report, target: &Report) -> [&'static str; 2] {
    let found = conclusions(source, target);
    [ChangeKind::Throughput, ChangeKind::Cycles].map(|kind| {
        match of_kind(&found, kind).map(|insight| insight.is_better) {
            None => "same",
            Some(Some(true)) => "better",
            Some(Some(false)) => "worse",
            Some(None) => "neither",
        }
    })
}

#[test]
fn fewer_cycles_with_a_smaller_batch_are_judged_by_samples_per_second() {
    // 24 in 1,000 cycles against 16 in 913: fewer cycles, and fewer samples per second.
    let (source, target) = (run(Some(24), 1, 1_000, None), run(Some(16), 1, 913, None));
    assert_eq!(speed_of(&source, &target), ["worse", "neither"]);
    let found = conclusions(&source, &target);
    let throughput = of_kind(&found, ChangeKind::Throughput).expect("said");
    assert_eq!(
        throughput.text(&|bytes| bytes.to_string()),
        "It is slower: there are fewer samples per second, with a batch of 16 instead of 24. \
         Samples per second (by cycles): 24,000 to 17,525, −6,475 (−27.0 %)"
    );
    assert_eq!(speed_of(&target, &source), ["better", "neither"]);
    // The same work: cycles say the same.
    let faster = run(Some(24), 1, 900, None);
    assert_eq!(speed_of(&source, &faster), ["better", "better"]);
}

#[test]
fn where_batch_or_runs_are_other_or_not_known_cycles_are_not_judged() {
    let source = run(None, 1, 1_000, None);
    assert_eq!(speed_of(&source, &run(None, 1, 900, None)), ["same", "neither"]);
    assert_eq!(speed_of(&source, &run(Some(8), 1, 900, None)), ["same", "neither"]);
    // Twice the runs in less than twice the cycles.
    let (one, two) = (run(Some(8), 1, 1_000, None), run(Some(8), 2, 1_900, None));
    assert_eq!(speed_of(&one, &two), ["better", "neither"]);
    assert_eq!(speed_of(&one, &one), ["same", "same"]);
}

#[test]
fn where_cycles_and_elapsed_time_disagree_neither_is_better() {
    let (source, target) = (run(Some(8), 1, 1_000, Some(10)), run(Some(8), 1, 900, Some(20)));
    assert_eq!(speed_of(&source, &target)[0], "neither");
    let found = conclusions(&source, &target);
    let text = of_kind(&found, ChangeKind::Throughput).expect("said").text(&|_| String::new());
    assert!(
        text.starts_with("By cycles there are more samples per second, by elapsed time fewer"),
        "{text}"
    );
}

#[test]
fn evidence_has_its_numbers_in_json() {
    let found = conclusions(&report(120), &report(100));
    let json = serde_json::to_value(&found[0].evidence).expect("JSON");
    assert_eq!(
        json[0],
        serde_json::json!({ "name": "fits", "unit": null, "source": true, "target": false,
        "difference": null, "percent": null })
    );
    assert_eq!(
        json[2],
        serde_json::json!({ "name": "over_limit_bytes", "unit": "bytes", "source": 0,
        "target": 10, "difference": 10, "percent": null })
    );
    let json = serde_json::to_value(&found[0]).expect("JSON");
    assert_eq!(
        (&json["kind"], &json["bytes"]["difference"], &json["cycles"]),
        (&"fits".into(), &10.into(), &serde_json::Value::Null)
    );
}

/// A report whose log says so often that the planner is at its minimum; without a log for `None`.
fn with_log(warnings: Option<usize>) -> Report {
    use crate::store::log::{Log, LogMessage};
    let report = report(120);
    let message = LogMessage {
        kind: crate::diagnose::Kind::PlannerAtMinimum.key(),
        line: 1,
        text: String::new(),
    };
    let log = |count| Log { file: "compile.log".into(), messages: vec![message.clone(); count] };
    report.logs.fill(Some(warnings.map(log).into_iter().collect()));
    report
}

#[test]
fn what_logs_say_of_the_planner_is_told_of_the_report_that_says_it() {
    let said = |source: &Report, target: &Report| {
        let found = conclusions(source, target);
        of_kind(&found, ChangeKind::PlannerAtMinimum).map(|insight| insight.what.clone())
    };
    let (none, silent, five) = (with_log(None), with_log(Some(0)), with_log(Some(5)));
    assert_eq!(said(&silent, &silent), None);
    assert_eq!(said(&five, &report(120)), None, "logs are not read yet");
    for (source, target, expected) in [
        (
            &silent,
            &five,
            "In the target the planner is at its minimum memory, according to 5 warnings",
        ),
        (&five, &silent, "according to 5 warnings in its logs; the target's logs do not say so"),
        (&five, &none, "according to 5 warnings in its logs; the target has no log"),
        (&five, &five, "In both the planner is at its minimum memory for some operations"),
    ] {
        let text = said(source, target).expect("said");
        assert!(text.contains(expected), "{text}");
    }
}
