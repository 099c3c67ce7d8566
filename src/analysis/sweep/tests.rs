//! Sweeps of a few made-up runs.

use super::*;
use crate::analysis::program::report_options::ReportOption;
use crate::run::{AtLeast, Ending, Need, Outcome, StatedRoom, Verdict};
use OptionKind::{App, AvailableMemoryProportion as Proportion, Directory, EngineOption};

/// A run with options, whose peak is `peak`.
fn run(name: &str, peak: u64, options: &[(OptionKind, &str, &str)]) -> SweepRun {
    let own = (Directory, "directory", name);
    let mut options: Vec<ReportOption> = options
        .iter()
        .chain([&own])
        .map(|(kind, name, value)| ReportOption {
            kind: *kind,
            name: (*name).to_owned(),
            value: OptionValue::parse(value),
        })
        .collect();
    options.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    let mut kinds: Vec<OptionKind> = options.iter().map(|option| option.kind).collect();
    kinds.dedup();
    let outcome = if peak <= 100 { Outcome::Fits } else { Outcome::DoesNotFit };
    let count = |kind| SweepFigure::count(kind, Some(peak));
    SweepRun {
        name: name.to_owned(),
        system: "one",
        facts: SweepFacts {
            verdict: Verdict { outcome, ..Verdict::default() },
            need: Need {
                bytes: Some(peak),
                stated: StatedRoom { capacity_bytes: Some(100), other_bytes: None },
                ..Need::default()
            },
            figures: vec![
                count(&PEAK),
                count(&NEEDED),
                SweepFigure::rate(&THROUGHPUT, Some(peak as f64)),
            ],
            options,
            kinds,
            ..SweepFacts::default()
        },
        ..SweepRun::default()
    }
}

static PEAK: FigureKind = FigureKind {
    percents: Percents::OfBoth,
    ..FigureKind::bytes(["peak_bytes", "peak"], ["Peak", "peak"], Some(2))
};
const BY_PEAK: FigureToSweep = FigureToSweep::Known(&PEAK);

fn sweep_of(runs: Vec<SweepRun>) -> Sweep {
    Sweep::new(runs, Room::default())
}

fn unreadable(name: &str) -> SweepRun {
    let (path, name) = (format!("dir/{name}"), name.to_owned());
    SweepRun { path, name, error: Some(RunError::default()), ..SweepRun::default() }
}

/// Batches 4 and 16 at proportions 0.2, 0.6 and (batch 4 only) 0.9; an unreadable one in between.
fn grid() -> Sweep {
    let one = |batch: &str, proportion: &str, peak| {
        let options = [
            (App, "a / batch", batch),
            (App, "network", "tiny"),
            (Proportion, "convolution", proportion),
            (Proportion, "matMul", proportion),
        ];
        run(&format!("{batch}-{proportion}"), peak, &options)
    };
    sweep_of(vec![
        one("16", "0.60", 120),
        one("16", "0.2", 90),
        unreadable("2"),
        one("4", "0.6", 70),
        one("4", "0.20", 50),
        one("4", "0.9", 80),
    ])
}

fn ids(sweep: &Sweep) -> Vec<&str> {
    sweep.options.iter().map(|option| option.id.as_str()).collect()
}

fn names(sweep: &Sweep) -> Vec<&str> {
    sweep.runs.iter().map(|run| run.name.as_str()).collect()
}

#[test]
fn only_what_differs_is_an_option_and_runs_are_sorted_by_it() {
    let sweep = grid();
    let expected = [
        "availableMemoryProportion.convolution",
        "availableMemoryProportion.matMul",
        "app.a.batch",
    ];
    assert_eq!(ids(&sweep), expected);
    let [convolution, mat_mul, batch] = &sweep.options[..] else { panic!("{:?}", sweep.options) };
    assert_eq!((convolution.same_as, mat_mul.same_as, batch.same_as), (None, Some(0), None));
    assert_eq!(convolution.short_name, "availableMemoryProportion", "both are the same");
    let texts = |option: &VaryingOption| -> Vec<String> {
        option.values.iter().flatten().map(ToString::to_string).collect()
    };
    assert_eq!(
        (texts(convolution), texts(batch)),
        (vec!["0.2".into(), "0.6".into(), "0.9".into()], vec!["4".into(), "16".into()])
    );
    assert_eq!(names(&sweep), ["4-0.20", "16-0.2", "4-0.6", "16-0.60", "4-0.9", "2"]);
    assert_eq!(sweep.best.ok().map(|best| best.run), Some(1), "16-0.60 is faster and does not fit");
    assert_eq!(sweep.value(5, 0), None);
    assert_eq!(sweep.best.map(|best| best.by), Ok(BestBy::Throughput));
    assert_eq!(sweep.settings_text(1), "availableMemoryProportion=0.2, batch=16");
}

#[test]
fn an_absent_option_differs_only_where_its_absence_says_something() {
    let all = (App, "recompute", "true");
    let sweep = sweep_of(vec![
        run("a", 1, &[all, (App, "x", "1"), (EngineOption, "old", "1"), (EngineOption, "b", "1")]),
        run("b", 1, &[(App, "x", "1"), (EngineOption, "b", "1")]),
        // Without app.json nothing is known of it.
        run("c", 1, &[(EngineOption, "b", "2")]),
    ]);
    assert_eq!(ids(&sweep), ["app.recompute", "engine.b"]);
    assert_eq!(sweep.options[0].values.len(), 2);
    assert_eq!(sweep.options[0].values[1], None, "absent comes last");
    assert_eq!(names(&sweep), ["a", "b", "c"]);
}

#[test]
fn the_directory_tells_apart_what_nothing_else_does() {
    let sweep = sweep_of(vec![
        run("a", 1, &[(App, "x", "1")]),
        run("b", 1, &[(App, "x", "1.0")]),
        run("c", 1, &[(App, "x", "2")]),
    ]);
    assert_eq!(ids(&sweep), ["app.x", "directory"]);
    assert_eq!(ids(&sweep_of(vec![run("a", 1, &[]), run("b", 1, &[])])), ["directory"]);
    assert!(sweep_of(vec![run("a", 1, &[]), unreadable("b")]).options.is_empty());
    let empty = sweep_of(Vec::new());
    assert!(empty.options.is_empty() && heat_map(&empty, 0, 0, BY_PEAK).is_none());
}

#[test]
fn an_option_is_found_by_what_it_is_called() {
    let sweep = grid();
    assert_eq!(sweep.find_option("APP.A.BATCH"), Ok(2));
    assert_eq!(sweep.find_option("batch"), Ok(2));
    assert_eq!(sweep.find_option("proportion"), Ok(0), "both have the same values");
    assert_eq!(sweep.find_option("matmul"), Ok(1));
    assert_eq!(sweep.find_option("a"), Err(NotFound::Several));
    assert_eq!(sweep.find_option("network"), Err(NotFound::None));
    let twice = |x: &str, y: &str| run(x, 1, &[(App, "a / x", x), (App, "b / x", y)]);
    let sweep = sweep_of(vec![twice("1", "1"), twice("2", "1"), twice("1", "2")]);
    let short: Vec<_> = sweep.options.iter().map(|option| option.short_name.as_str()).collect();
    assert_eq!(short, ["app.a.x", "app.b.x"]);
}

#[test]
fn a_heat_map_has_a_cell_wherever_there_is_a_run() {
    let sweep = grid();
    let map = heat_map(&sweep, 0, 2, BY_PEAK).unwrap();
    assert_eq!((map.columns.len(), map.rows.len(), map.cells.len()), (3, 2, 5));
    let at =
        |row, column| map.cell(row, column).map(|cell| (cell.value.unwrap().as_f64(), cell.fits));
    assert_eq!(at(0, 2), Some((80.0, Some(true))));
    assert_eq!(at(1, 1), Some((120.0, Some(false))));
    assert_eq!(at(1, 2), None);
    assert_eq!(map.range(), Some((50.0, 120.0)));
    // Along one option only, cells have several runs: the fastest that fits is shown.
    let map = heat_map(&sweep, 0, 1, BY_PEAK).unwrap();
    let cell = map.cell(1, 1).unwrap();
    assert_eq!((&*sweep.runs[cell.shown].name, cell.runs.len()), ("4-0.6", 2));
    assert_eq!(map.cell(0, 1), None);
    assert!(heat_map(&sweep, 0, 3, BY_PEAK).is_none());
}

#[test]
fn a_curve_has_a_line_for_each_setting_of_the_others() {
    let sweep = grid();
    let along = curve(&sweep, 1, BY_PEAK).unwrap();
    assert_eq!(along.others, [2], "what goes along with the option tells nothing apart");
    let points = |line: &curve::OptionLine| -> Vec<(f64, f64)> {
        let point = |point: &curve::Point| {
            (point.at.as_ref().unwrap().as_f64().unwrap(), point.value.unwrap().as_f64())
        };
        line.points.iter().map(point).collect()
    };
    let [four, sixteen] = &along.lines[..] else { panic!("{along:?}") };
    assert_eq!(four.settings, [Some(OptionValue::Integer(4))]);
    assert_eq!(points(four), [(0.2, 50.0), (0.6, 70.0), (0.9, 80.0)]);
    assert_eq!(points(sixteen), [(0.2, 90.0), (0.6, 120.0)]);
    assert_eq!(curve(&sweep, 2, BY_PEAK).unwrap().lines.len(), 3);
    assert!(curve(&sweep, 3, BY_PEAK).is_none());
    // A number of its own in each run tells no lines apart.
    let numbered = |id: &str, x: &str, peak| run(id, peak, &[(App, "id", id), (App, "x", x)]);
    let sweep = sweep_of(vec![numbered("7", "1", 1), numbered("8", "2", 2), numbered("9", "2", 3)]);
    let along = curve(&sweep, sweep.find_option("x").unwrap(), BY_PEAK).unwrap();
    assert_eq!((along.lines.len(), along.lines[0].points.len()), (1, 3));
}

#[test]
fn a_number_of_app_json_is_a_figure_and_the_axis_has_its_name() {
    let one = |batch: &str, measured: &str| {
        let options = [(App, "batch", batch), (App, "run / samples_per_s", measured)];
        run(batch, 1, &options)
    };
    let text = run("text", 1, &[(App, "batch", "32"), (App, "network", "tiny")]);
    let sweep = sweep_of(vec![one("4", "410.5"), one("8", "702"), one("16", "x"), text]);
    let names: Vec<&str> = sweep.measures.iter().map(|measure| &*measure.name).collect();
    assert_eq!(names, ["batch", "run / samples_per_s"]);
    for text in ["app.run.samples_per_s", "SAMPLES_PER_S", "per_s"] {
        assert_eq!(sweep.find_figure(text), Ok(FigureToSweep::Measured(1)), "{text}");
    }
    assert_eq!(sweep.find_figure("throughput"), Ok(FigureToSweep::Known(&THROUGHPUT)));
    assert_eq!(sweep.find_figure("network"), Err(NotFound::None), "it is no number");
    let figure = FigureToSweep::Measured(1);
    assert_eq!(sweep.figure_title(figure), "samples_per_s");
    assert_eq!(sweep.figure_key(figure), "app.run.samples_per_s");
    let along = curve(&sweep, sweep.find_option("batch").unwrap(), figure).unwrap();
    let points = along.lines.iter().flat_map(|line| &line.points);
    let mut values: Vec<(f64, Option<f64>)> = points
        .map(|point| {
            let at = point.at.as_ref().and_then(OptionValue::as_f64).unwrap();
            (at, point.value.map(FigureValue::as_f64))
        })
        .collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(values, [(4.0, Some(410.5)), (8.0, Some(702.0)), (16.0, None), (32.0, None)]);
}

#[test]
fn a_run_that_left_no_report_has_a_cell_where_its_options_are_known() {
    let one = |name: &str, batch: &str, proportion: &str| {
        let options = [
            (App, "batch", batch),
            (App, "amp", proportion),
            (Proportion, "convolution", proportion),
        ];
        run(name, 1, &options)
    };
    let lost = run("lost", 1, &[(App, "batch", "8"), (App, "amp", "0.6")]);
    let facts = SweepFacts {
        figures: Vec::new(),
        verdict: Verdict::default(),
        need: Need::default(),
        ..lost.facts
    };
    let lost = SweepRun { no_report: true, facts, ..lost };
    let sweep =
        sweep_of(vec![one("a", "4", "0.2"), one("b", "4", "0.6"), one("c", "8", "0.2"), lost]);
    assert_eq!(ids(&sweep), ["availableMemoryProportion.convolution", "app.amp", "app.batch"]);
    assert_eq!(sweep.options[1].same_as, Some(0), "both are still one");
    let map = heat_map(&sweep, 0, 2, BY_PEAK).unwrap();
    assert_eq!((map.columns.len(), map.rows.len(), map.cells.len()), (2, 2, 4));
    let cell = map.cell(1, 1).unwrap();
    assert!(sweep.runs[cell.shown].no_report && cell.value.is_none() && cell.fits.is_none());
    assert_eq!(
        sweep.best.ok().map(|best| best.run).map(|run| sweep.runs[run].no_report),
        Some(false)
    );
    // Where the two differ in a report, nothing is taken over.
    let other = run(
        "d",
        1,
        &[(App, "batch", "4"), (App, "amp", "0.9"), (Proportion, "convolution", "0.1")],
    );
    let lost = sweep.runs.iter().find(|run| run.no_report).unwrap().clone();
    let bare = run("lost", 1, &[(App, "batch", "8"), (App, "amp", "0.6")]);
    let bare = SweepRun { no_report: true, ..bare };
    let sweep = sweep_of(vec![one("a", "4", "0.2"), other, bare]);
    let bare = sweep.runs.iter().find(|run| run.no_report).unwrap();
    assert_eq!(bare.option(Proportion, "convolution"), None);
    assert_ne!(lost.option(Proportion, "convolution"), None);
}

/// Runs of a training that take so much, which failed where that is 3000.
fn splits(room: Room) -> Sweep {
    let one = |name: &str, peak: u64| {
        let mut run = run(name, peak, &[]);
        let has_ran = peak < 3000;
        run.facts.figures.pop();
        run.facts.verdict.outcome = if has_ran { Outcome::Ran } else { Outcome::OutOfMemory };
        run.facts.need = Need {
            bytes: Some(peak),
            ending: if has_ran { Ending::Ran } else { Ending::Failed },
            at_least: (!has_ran).then_some(AtLeast::FAILED),
            ..Need::default()
        };
        run.facts.is_whole = has_ran;
        run
    };
    let all = [("splits_10", 1500), ("splits_0", 3000), ("splits_2", 2000), ("splits_4", 1305)];
    Sweep::new(all.map(|(name, peak)| one(name, peak)).to_vec(), room)
}

#[test]
fn the_reference_is_the_first_that_ran_and_fits() {
    let plain = splits(Room::default());
    assert_eq!(names(&plain), ["splits_0", "splits_2", "splits_4", "splits_10"]);
    assert_eq!(plain.reference, Some(1));
    assert_eq!(plain.best, Ok(Best { run: 2, by: BestBy::Needed }));
    assert_eq!(plain.percent(2, BY_PEAK), Some(65.3), "65.25, half up");
    assert_eq!(plain.percent(0, BY_PEAK), None, "it did not run to its end");
    let previous = [1, 2].map(|run| plain.percent_of_previous(run, BY_PEAK));
    assert_eq!(previous, [None, Some(65.3)]);
    let room = |capacity: u64| Room {
        capacity_bytes: Some(capacity),
        other_bytes: 100,
        ..Room::default()
    };
    let mut small = splits(room(1600));
    assert_eq!(small.reference, Some(2), "splits_2 and what others have is more");
    assert_eq!(small.runs[1].verdict.over_bytes, Some(500));
    let limits = (small.capacity_bytes(), small.limit_bytes());
    assert_eq!(limits, (Some(1600), Some(1500)), "figures are held against what others leave");
    assert_eq!(small.percent(1, BY_PEAK), Some(153.3));
    assert_eq!(
        small.capacity_text(&|bytes| bytes.to_string()).unwrap(),
        "Capacity 1600, of which others have 100: 2 of 4 fit"
    );
    assert_eq!(small.compare_with("splits_10"), Ok(()));
    assert_eq!((small.reference, small.compare_with("splits_3")), (Some(3), Err(None)));
    small.runs[0].facts.why_no_reference = Some(NoReference::NotRecorded);
    assert_eq!(small.compare_with("splits_0"), Err(Some(NoReference::NotRecorded)));
    let none = splits(room(10));
    assert_eq!((none.reference, none.percent(1, BY_PEAK)), (None, None));
    assert_eq!(none.best, Err(NoBest::NoneFits));
}

#[test]
fn runs_of_several_systems_are_rows_and_no_figure_is_in_percent_of_another_system() {
    let mut other = run("other", 50, &[]);
    other.system = "other";
    other.facts.figures.pop();
    other.facts.is_whole = true;
    let mut runs = splits(Room::default()).runs;
    runs.push(other);
    let both = sweep_of(runs);
    assert_eq!(both.systems(), ["other", "one"]);
    assert_eq!(both.best, Err(NoBest::SeveralSystems));
    assert_eq!(both.reference, Some(0));
    assert_eq!(both.percent(2, BY_PEAK), None);
}
