//! The JSON of a sweep.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Grid, SweepReport};
use crate::analysis::program::report_options::{OptionKind, OptionValue};
use crate::analysis::sweep::{
    Curve, FigureKind, FigureToSweep, FigureUnit, FigureValue, HeatMap, Measure, NoBest, RunError,
    Sweep, SweepFigure, SweepRun,
};
use crate::run::Verdict;
use crate::text::exact_bytes;

/// `tilescope.sweep/2` (cli.md).
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepDocument<'a> {
    paths: Vec<String>,
    /// What the user says of the device.
    capacity_bytes: Option<u64>,
    other_bytes: u64,
    /// The settings that vary.
    settings: Vec<VaryingSetting<'a>>,
    settings_left_out: usize,
    figures: Vec<FigureOfRuns>,
    /// Numbers of `app.json`, each of which may be the figure.
    measures: &'a [Measure],
    pub(super) runs: Vec<RunOfSweep<'a>>,
    reference: Option<NamedRun<'a>>,
    best: Option<BestRun<'a>>,
    /// Why there is none.
    no_best_because: Option<NoBest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heat_map: Option<HeatMapOfRuns<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<CurveOfRuns<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct VaryingSetting<'a> {
    id: &'a str,
    kind: OptionKind,
    name: &'a str,
    /// Null where a run does not have it.
    values: &'a [Option<OptionValue>],
    /// The setting that has another value wherever this one has.
    same_as: Option<&'a str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FigureOfRuns {
    key: &'static str,
    title: &'static str,
    unit: FigureUnit,
    /// How `--figure` calls it.
    argument: &'static str,
}

/// A position in `runs`, with what it is called.
#[derive(Debug, Serialize, JsonSchema)]
struct NamedRun<'a> {
    run: usize,
    path: &'a str,
    name: Option<&'a str>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunOfSweep<'a> {
    path: &'a str,
    name: &'a str,
    system: &'static str,
    error: Option<&'a RunError>,
    no_report: bool,
    #[schemars(with = "BTreeMap<String, Option<OptionValue>>")]
    settings: Map<String, Value>,
    verdict: Option<&'a Verdict>,
    #[schemars(with = "BTreeMap<String, Option<FigureValue>>")]
    figures: Map<String, Value>,
    /// Which of them are lower bounds.
    at_least: Vec<&'static str>,
    /// Where figures are from, of which that has to be said.
    #[schemars(with = "BTreeMap<String, String>")]
    from: Map<String, Value>,
    recorded: Option<&'static str>,
    #[schemars(with = "BTreeMap<String, Option<f64>>")]
    percent_of_reference: Map<String, Value>,
    #[schemars(with = "BTreeMap<String, Option<f64>>")]
    percent_of_previous: Map<String, Value>,
    /// Of which of several devices the figures are.
    of: Option<&'a str>,
    pareto: bool,
    notes: &'a [&'static str],
}

#[derive(Debug, Serialize, JsonSchema)]
struct BestRun<'a> {
    #[serde(flatten)]
    run: NamedRun<'a>,
    /// The figure that it is the best at.
    by: &'static str,
    value: Option<FigureValue>,
    text: String,
    #[schemars(with = "BTreeMap<String, Option<OptionValue>>")]
    settings: Map<String, Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HeatMapOfRuns<'a> {
    by: &'a str,
    and: &'a str,
    figure: &'a str,
    rows: &'a [Option<OptionValue>],
    columns: &'a [Option<OptionValue>],
    cells: Vec<CellOfRuns<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CellOfRuns<'a> {
    by: Option<&'a OptionValue>,
    and: Option<&'a OptionValue>,
    value: Option<FigureValue>,
    fits: Option<bool>,
    /// Of the best run in it.
    path: &'a str,
    runs: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CurveOfRuns<'a> {
    by: &'a str,
    figure: &'a str,
    lines: Vec<LineOfRuns<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LineOfRuns<'a> {
    #[schemars(with = "BTreeMap<String, Option<OptionValue>>")]
    settings: Map<String, Value>,
    points: Vec<PointOfRun<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PointOfRun<'a> {
    by: Option<&'a OptionValue>,
    value: Option<FigureValue>,
    fits: Option<bool>,
    path: &'a str,
}

impl<'a> SweepDocument<'a> {
    pub(super) fn of(answer: &'a SweepReport) -> Self {
        let sweep = &answer.sweep;
        let settings = sweep.options.iter().map(|option| VaryingSetting {
            id: &option.id,
            kind: option.kind,
            name: &option.name,
            values: &option.values,
            same_as: option.same_as.map(|other| sweep.id(other)),
        });
        let figures = sweep.kinds.iter().map(|kind| FigureOfRuns {
            key: kind.key,
            title: kind.title,
            unit: kind.unit,
            argument: kind.word,
        });
        let (heat_map, curve) = match &answer.grid {
            None => (None, None),
            Some(Grid::HeatMap(map)) => (Some(HeatMapOfRuns::of(sweep, map)), None),
            Some(Grid::Curve(curve)) => (None, Some(CurveOfRuns::of(sweep, curve))),
        };
        Self {
            paths: answer.paths.iter().map(|path| path.display().to_string()).collect(),
            capacity_bytes: sweep.room.capacity_bytes,
            other_bytes: sweep.room.other_bytes,
            settings: settings.collect(),
            settings_left_out: sweep.options_left_out,
            figures: figures.collect(),
            measures: &sweep.measures,
            runs: (0..).zip(&sweep.runs).map(|(at, run)| RunOfSweep::of(sweep, at, run)).collect(),
            reference: sweep.reference.map(|run| NamedRun::of(sweep, run)),
            best: BestRun::of(sweep),
            no_best_because: sweep.best.err(),
            heat_map,
            curve,
        }
    }
}

impl<'a> NamedRun<'a> {
    fn of(sweep: &'a Sweep, run: usize) -> Self {
        let name = sweep.runs.get(run).map(|run| &*run.name);
        Self { run, path: sweep.path(run), name }
    }
}

impl<'a> RunOfSweep<'a> {
    fn of(sweep: &Sweep, place: usize, run: &'a SweepRun) -> Self {
        let facts = &run.facts;
        let known = |kind: &&'static FigureKind| {
            run.figure(kind).map(|figure| (kind.key.to_owned(), json!(figure.value)))
        };
        let least = facts.figures.iter().filter(|it| it.is_at_least && it.value.is_some());
        let from = |figure: &SweepFigure| Some((figure.kind.key.to_owned(), json!(figure.from?)));
        let percents = |percent: &dyn Fn(FigureToSweep) -> Option<f64>| {
            let kinds = sweep.kinds.iter().filter(|kind| kind.unit == FigureUnit::Bytes);
            let own = kinds.filter(|kind| run.figure(kind).is_some());
            own.map(|kind| (kind.key.to_owned(), json!(percent(FigureToSweep::Known(kind)))))
                .collect()
        };
        Self {
            path: &run.path,
            name: &run.name,
            system: run.system,
            error: run.error.as_ref(),
            no_report: run.no_report,
            settings: settings_of(sweep, place),
            verdict: run.is_read().then_some(&run.verdict),
            figures: sweep.kinds.iter().filter_map(known).collect(),
            at_least: least.map(|figure| figure.kind.key).collect(),
            from: facts.figures.iter().filter_map(from).collect(),
            recorded: facts.recorded,
            percent_of_reference: percents(&|figure| sweep.percent(place, figure)),
            percent_of_previous: percents(&|figure| sweep.percent_of_previous(place, figure)),
            of: facts.of.as_deref(),
            pareto: run.pareto,
            notes: &facts.notes,
        }
    }
}

/// The value of each varying setting that a run has; null where it has not.
fn settings_of(sweep: &Sweep, run: usize) -> Map<String, Value> {
    let options = (0..).zip(&sweep.options);
    options.map(|(place, option)| (option.id.clone(), json!(sweep.value(run, place)))).collect()
}

impl<'a> BestRun<'a> {
    fn of(sweep: &'a Sweep) -> Option<Self> {
        let best = sweep.best.ok()?;
        let kind = best.by.figure();
        Some(Self {
            run: NamedRun::of(sweep, best.run),
            by: kind.key,
            value: sweep.runs.get(best.run).and_then(|run| run.figure(kind)?.value),
            text: sweep.best_figure_text(best, &exact_bytes),
            settings: settings_of(sweep, best.run),
        })
    }
}

impl<'a> HeatMapOfRuns<'a> {
    fn of(sweep: &'a Sweep, map: &'a HeatMap) -> Self {
        let value = |values: &'a [Option<OptionValue>], place: usize| values.get(place)?.as_ref();
        let cells = map.cells.iter().map(|cell| CellOfRuns {
            by: value(&map.rows, cell.row),
            and: value(&map.columns, cell.column),
            value: cell.value,
            fits: cell.fits,
            path: sweep.path(cell.shown),
            runs: cell.runs.len(),
        });
        Self {
            by: sweep.id(map.y),
            and: sweep.id(map.x),
            figure: sweep.figure_key(map.figure),
            rows: &map.rows,
            columns: &map.columns,
            cells: cells.collect(),
        }
    }
}

impl<'a> CurveOfRuns<'a> {
    fn of(sweep: &'a Sweep, curve: &'a Curve) -> Self {
        let lines = curve.lines.iter().map(|line| {
            let others = curve.others.iter().zip(&line.settings);
            let settings =
                others.map(|(option, value)| (sweep.id(*option).to_owned(), json!(value)));
            let points = line.points.iter().map(|point| PointOfRun {
                by: point.at.as_ref(),
                value: point.value,
                fits: point.fits,
                path: sweep.path(point.run),
            });
            LineOfRuns { settings: settings.collect(), points: points.collect() }
        });
        Self {
            by: sweep.id(curve.option),
            figure: sweep.figure_key(curve.figure),
            lines: lines.collect(),
        }
    }
}
