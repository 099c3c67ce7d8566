//! The JSON of a sweep.

use serde_json::{Value, json};

use super::{Grid, SweepReport};
use crate::analysis::program::report_options::OptionValue;
use crate::analysis::sweep::{Curve, FastestThatFits, HeatMap, Sweep, SweepRun, VaryingOption};

/// `tilescope.sweep/1` (cli.md).
pub fn document(answer: &SweepReport) -> Value {
    let sweep = &answer.sweep;
    let no_fastest_because = match sweep.fastest_that_fits {
        FastestThatFits::Run { .. } => None,
        FastestThatFits::NoneFits => Some("none-fits"),
        FastestThatFits::SpeedUnknown => Some("speed-unknown"),
    };
    let options: Value = sweep.options.iter().map(|option| varying(sweep, option)).collect();
    let runs = (0..).zip(&sweep.runs).map(|(place, run)| facts(sweep, place, run));
    let mut document = json!({
        "path": answer.folder.display().to_string(),
        "options": options,
        // Numbers of app.json, each of which may be the figure.
        "measures": sweep.measures,
        "options_left_out": sweep.options_left_out,
        "runs": runs.collect::<Value>(),
        "fastest_that_fits": fastest(sweep),
        // Why there is none.
        "no_fastest_because": no_fastest_because,
    });
    match &answer.grid {
        None => {}
        Some(Grid::HeatMap(map)) => document["heat_map"] = heat_map(sweep, map),
        Some(Grid::Curve(curve)) => document["curve"] = curve_of(sweep, curve),
    }
    document
}

fn varying(sweep: &Sweep, option: &VaryingOption) -> Value {
    json!({
        "id": option.id,
        "kind": option.kind,
        "name": option.name,
        "values": option.values,
        "same_as": option.same_as.map(|other| sweep.id(other)),
    })
}

/// A run with its options.
fn facts(sweep: &Sweep, place: usize, run: &SweepRun) -> Value {
    let mut facts = json!(run);
    facts["options"] = options_of(sweep, place);
    facts
}

/// The value of each varying option that a run has; null where it has not.
fn options_of(sweep: &Sweep, run: usize) -> Value {
    let options = (0..).zip(&sweep.options);
    options.map(|(place, option)| (option.id.clone(), json!(sweep.value(run, place)))).collect()
}

fn fastest(sweep: &Sweep) -> Option<Value> {
    let FastestThatFits::Run { run, by } = sweep.fastest_that_fits else { return None };
    let facts = sweep.runs.get(run)?;
    Some(json!({
        // A position in `runs`.
        "run": run,
        "path": facts.path,
        "by": by,
        "options": options_of(sweep, run),
        "throughput_samples_per_second": facts.throughput_samples_per_second,
        "cycles": facts.cycles,
    }))
}

fn heat_map(sweep: &Sweep, map: &HeatMap) -> Value {
    let value = |values: &[Option<OptionValue>], place: usize| json!(values.get(place));
    let cells = map.cells.iter().map(|cell| {
        json!({
            "by": value(&map.rows, cell.row),
            "and": value(&map.columns, cell.column),
            "value": cell.value,
            "fits": cell.fits,
            "path": sweep.path(cell.shown),
            "runs": cell.runs.len(),
        })
    });
    json!({
        "by": sweep.id(map.y),
        "and": sweep.id(map.x),
        "figure": sweep.figure_key(map.figure),
        "rows": map.rows,
        "columns": map.columns,
        "cells": cells.collect::<Value>(),
    })
}

fn curve_of(sweep: &Sweep, curve: &Curve) -> Value {
    let lines = curve.lines.iter().map(|line| {
        let settings = curve.others.iter().zip(&line.settings);
        let options = settings.map(|(option, value)| (sweep.id(*option).to_owned(), json!(value)));
        let points = line.points.iter().map(|point| {
            let path = sweep.path(point.run);
            json!({ "by": point.at, "value": point.value, "fits": point.fits, "path": path })
        });
        json!({ "options": options.collect::<Value>(), "points": points.collect::<Value>() })
    });
    json!({ "by": sweep.id(curve.option), "figure": sweep.figure_key(curve.figure), "lines": lines.collect::<Value>() })
}
