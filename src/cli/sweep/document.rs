//! The JSON of a sweep.

use serde_json::{Map, Value, json};

use super::{Grid, SweepReport};
use crate::analysis::program::report_options::OptionValue;
use crate::analysis::sweep::{
    Curve, Figure, FigureKind, FigureUnit, HeatMap, NoBest, Sweep, SweepRun, VaryingOption,
};
use crate::text::exact_bytes;

/// `tilescope.sweep/2` (cli.md).
pub fn document(answer: &SweepReport) -> Value {
    let sweep = &answer.sweep;
    let kinds = sweep.kinds.iter().map(|kind| {
        json!({ "key": kind.key, "title": kind.title, "unit": kind.unit.key(), "argument": kind.word })
    });
    let paths = answer.paths.iter().map(|path| path.display().to_string());
    let mut document = json!({
        "paths": paths.collect::<Vec<_>>(),
        // What the user says of the device.
        "capacity_bytes": sweep.room.capacity_bytes,
        "other_bytes": sweep.room.other_bytes,
        "settings": sweep.options.iter().map(|option| varying(sweep, option)).collect::<Value>(),
        "settings_left_out": sweep.options_left_out,
        "figures": kinds.collect::<Value>(),
        // Numbers of app.json, each of which may be the figure.
        "measures": sweep.measures,
        "runs": (0..).zip(&sweep.runs).map(|(place, run)| of_run(sweep, place, run)).collect::<Value>(),
        "reference": sweep.reference.map(|run| named(sweep, run)),
        "best": best(sweep),
        // Why there is none.
        "no_best_because": sweep.best.err().map(NoBest::key),
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

/// A position in `runs`, with what it is called.
fn named(sweep: &Sweep, run: usize) -> Value {
    let name = sweep.runs.get(run).map(|run| &run.name);
    json!({ "run": run, "path": sweep.path(run), "name": name })
}

fn of_run(sweep: &Sweep, place: usize, run: &SweepRun) -> Value {
    let (facts, is_read) = (&run.facts, run.is_read());
    let known = |kind: &&'static FigureKind| {
        run.figure(kind).map(|figure| (kind.key.to_owned(), json!(figure.value)))
    };
    let figures: Map<String, Value> = sweep.kinds.iter().filter_map(known).collect();
    let least = facts.figures.iter().filter(|figure| figure.is_at_least && figure.value.is_some());
    let from = facts.figures.iter().filter_map(|figure| Some((figure.kind.key, figure.from?)));
    let percents = |percent: &dyn Fn(Figure) -> Option<f64>| -> Value {
        let kinds = sweep.kinds.iter().filter(|kind| kind.unit == FigureUnit::Bytes);
        let own = kinds.filter(|kind| run.figure(kind).is_some());
        own.map(|kind| (kind.key.to_owned(), json!(percent(Figure::Known(kind))))).collect()
    };
    json!({
        "path": run.path,
        "name": run.name,
        "system": run.system,
        "error": run.error,
        "no_report": run.no_report,
        "settings": settings_of(sweep, place),
        "verdict": is_read.then_some(&run.verdict),
        "figures": figures,
        // Which of them are lower bounds.
        "at_least": least.map(|figure| figure.kind.key).collect::<Vec<_>>(),
        "from": from.map(|(key, from)| (key.to_owned(), json!(from))).collect::<Value>(),
        "recorded": facts.recorded,
        "percent_of_reference": percents(&|figure| sweep.percent(place, figure)),
        "percent_of_previous": percents(&|figure| sweep.percent_of_previous(place, figure)),
        // Of which of several devices the figures are.
        "of": facts.of,
        "pareto": run.pareto,
        "notes": facts.notes,
    })
}

/// The value of each varying setting that a run has; null where it has not.
fn settings_of(sweep: &Sweep, run: usize) -> Value {
    let options = (0..).zip(&sweep.options);
    options.map(|(place, option)| (option.id.clone(), json!(sweep.value(run, place)))).collect()
}

fn best(sweep: &Sweep) -> Option<Value> {
    let best = sweep.best.ok()?;
    let mut found = named(sweep, best.run);
    let kind = best.by.figure();
    found["by"] = json!(kind.key);
    found["value"] = json!(sweep.runs.get(best.run).and_then(|run| run.figure(kind)?.value));
    found["text"] = json!(sweep.best_figure_text(best, &exact_bytes));
    found["settings"] = settings_of(sweep, best.run);
    Some(found)
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
        let others = curve.others.iter().zip(&line.settings);
        let settings = others.map(|(option, value)| (sweep.id(*option).to_owned(), json!(value)));
        let points = line.points.iter().map(|point| {
            let path = sweep.path(point.run);
            json!({ "by": point.at, "value": point.value, "fits": point.fits, "path": path })
        });
        json!({ "settings": settings.collect::<Value>(), "points": points.collect::<Value>() })
    });
    json!({ "by": sweep.id(curve.option), "figure": sweep.figure_key(curve.figure), "lines": lines.collect::<Value>() })
}
