//! The JSON of a sweep.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Grid, SweepReport};
use crate::analysis::program::report_options::{OptionKind, OptionValue};
use crate::analysis::sweep::{
    Curve, FastestThatFits, Figure, FigureValue, HeatMap, SpeedMeasure, Sweep, SweepRun,
};

/// `tilescope.sweep/1` (cli.md).
#[derive(Serialize)]
pub struct SweepDocument<'a> {
    path: String,
    options: Vec<VaryingOption<'a>>,
    options_left_out: usize,
    runs: Vec<Run<'a>>,
    fastest_that_fits: Option<Fastest<'a>>,
    /// Why there is none.
    no_fastest_because: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heat_map: Option<HeatMapDocument<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<CurveDocument<'a>>,
}

#[derive(Serialize)]
struct VaryingOption<'a> {
    id: &'a str,
    kind: OptionKind,
    name: &'a str,
    values: &'a [Option<OptionValue>],
    same_as: Option<&'a str>,
}

#[derive(Serialize)]
struct Run<'a> {
    #[serde(flatten)]
    facts: &'a SweepRun,
    options: Map<String, Value>,
}

#[derive(Serialize)]
struct Fastest<'a> {
    /// A position in `runs`.
    run: usize,
    path: &'a str,
    by: SpeedMeasure,
    options: Map<String, Value>,
    throughput_samples_per_second: Option<f64>,
    cycles: Option<u64>,
}

#[derive(Serialize)]
struct HeatMapDocument<'a> {
    by: &'a str,
    and: &'a str,
    figure: Figure,
    rows: &'a [Option<OptionValue>],
    columns: &'a [Option<OptionValue>],
    cells: Vec<Cell<'a>>,
}

#[derive(Serialize)]
struct Cell<'a> {
    by: Option<&'a OptionValue>,
    and: Option<&'a OptionValue>,
    value: Option<FigureValue>,
    fits: Option<bool>,
    path: &'a str,
    runs: usize,
}

#[derive(Serialize)]
struct CurveDocument<'a> {
    by: &'a str,
    figure: Figure,
    lines: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    options: Map<String, Value>,
    points: Vec<Point<'a>>,
}

#[derive(Serialize)]
struct Point<'a> {
    by: Option<&'a OptionValue>,
    value: Option<FigureValue>,
    fits: Option<bool>,
    path: &'a str,
}

impl<'a> SweepDocument<'a> {
    pub fn of(answer: &'a SweepReport) -> Self {
        let sweep = &answer.sweep;
        let no_fastest_because = match sweep.fastest_that_fits {
            FastestThatFits::Run { .. } => None,
            FastestThatFits::NoneFits => Some("none-fits"),
            FastestThatFits::SpeedUnknown => Some("speed-unknown"),
        };
        let (heat_map, curve) = match &answer.grid {
            None => (None, None),
            Some(Grid::HeatMap(map)) => (Some(heat_map_document(sweep, map)), None),
            Some(Grid::Curve(curve)) => (None, Some(curve_document(sweep, curve))),
        };
        Self {
            path: answer.folder.display().to_string(),
            options: varying_options(sweep),
            options_left_out: sweep.options_left_out,
            runs: (0..)
                .zip(&sweep.runs)
                .map(|(run, facts)| Run { facts, options: options_of(sweep, run) })
                .collect(),
            fastest_that_fits: fastest(sweep),
            no_fastest_because,
            heat_map,
            curve,
        }
    }
}

fn varying_options(sweep: &Sweep) -> Vec<VaryingOption<'_>> {
    let options = sweep.options.iter();
    options
        .map(|option| VaryingOption {
            id: &option.id,
            kind: option.kind,
            name: &option.name,
            values: &option.values,
            same_as: option.same_as.map(|other| sweep.id(other)),
        })
        .collect()
}

/// The value of each varying option that a run has; null where it has not.
fn options_of(sweep: &Sweep, run: usize) -> Map<String, Value> {
    let value = |option| json(sweep.value(run, option));
    (0..).zip(&sweep.options).map(|(place, option)| (option.id.clone(), value(place))).collect()
}

fn json(value: Option<&OptionValue>) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn fastest(sweep: &Sweep) -> Option<Fastest<'_>> {
    let FastestThatFits::Run { run, by } = sweep.fastest_that_fits else { return None };
    let facts = sweep.runs.get(run)?;
    Some(Fastest {
        run,
        path: &facts.path,
        by,
        options: options_of(sweep, run),
        throughput_samples_per_second: facts.throughput_samples_per_second,
        cycles: facts.cycles,
    })
}

fn heat_map_document<'a>(sweep: &'a Sweep, map: &'a HeatMap) -> HeatMapDocument<'a> {
    let cells = map.cells.iter().map(|cell| Cell {
        by: map.rows.get(cell.row).and_then(Option::as_ref),
        and: map.columns.get(cell.column).and_then(Option::as_ref),
        value: cell.value,
        fits: cell.fits,
        path: sweep.path(cell.shown),
        runs: cell.runs.len(),
    });
    HeatMapDocument {
        by: sweep.id(map.y),
        and: sweep.id(map.x),
        figure: map.figure,
        rows: &map.rows,
        columns: &map.columns,
        cells: cells.collect(),
    }
}

fn curve_document<'a>(sweep: &'a Sweep, curve: &'a Curve) -> CurveDocument<'a> {
    let lines = curve.lines.iter().map(|line| Line {
        options: curve
            .others
            .iter()
            .zip(&line.settings)
            .map(|(option, value)| (sweep.id(*option).to_owned(), json(value.as_ref())))
            .collect(),
        points: line
            .points
            .iter()
            .map(|point| Point {
                by: point.at.as_ref(),
                value: point.value,
                fits: point.fits,
                path: sweep.path(point.run),
            })
            .collect(),
    });
    CurveDocument { by: sweep.id(curve.option), figure: curve.figure, lines: lines.collect() }
}
