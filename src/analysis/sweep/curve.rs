//! A figure along one option: a line for each setting of the other options, a point for each run.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{FigureToSweep, FigureValue, Sweep, compare_values};
use crate::analysis::program::report_options::OptionValue;

/// A figure along an option.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The option, a position in [`Sweep::options`].
    pub option: usize,
    pub figure: FigureToSweep,
    /// The options that tell the lines apart, positions in [`Sweep::options`].
    pub others: Vec<usize>,
    /// The lines, by their settings.
    pub lines: Vec<OptionLine>,
}

/// Runs that differ in the option of the curve only.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OptionLine {
    /// The value of each of [`Curve::others`]; `None` where the runs do not have it.
    pub settings: Vec<Option<OptionValue>>,
    /// The points, by value of the option, then in the order of the runs.
    pub points: Vec<Point>,
}

/// A run on a line.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Point {
    /// The value of the option; `None` where the run does not have it.
    pub at: Option<OptionValue>,
    /// The run, a position in [`Sweep::runs`].
    pub run: usize,
    pub value: Option<FigureValue>,
    pub fits: Option<bool>,
}

/// A figure along `option`, a position in [`Sweep::options`]. `None` when there is no such option.
///
/// Options that always go together with another, the directory, and options that have another value in
/// each run tell no lines apart.
pub fn curve(sweep: &Sweep, option: usize, figure: FigureToSweep) -> Option<Curve> {
    sweep.options.get(option)?;
    let others = sweep.others(option);
    let mut places: BTreeMap<Vec<Option<&OptionValue>>, usize> = BTreeMap::new();
    let mut lines: Vec<OptionLine> = Vec::new();
    for (at, run) in sweep.runs_by_value(option) {
        let settings: Vec<Option<&OptionValue>> =
            others.iter().map(|other| sweep.value(run, *other)).collect();
        let place = *places.entry(settings.clone()).or_insert(lines.len());
        if place == lines.len() {
            let settings = settings.into_iter().map(Option::<&OptionValue>::cloned).collect();
            lines.push(OptionLine { settings, points: Vec::new() });
        }
        let facts = sweep.runs.get(run)?;
        lines.get_mut(place)?.points.push(Point {
            at: at.cloned(),
            run,
            value: figure.of(facts),
            fits: facts.fits(),
        });
    }
    lines.sort_by(|a, b| {
        let pairs = a.settings.iter().zip(&b.settings);
        let mut orders = pairs.map(|(a, b)| compare_values(a.as_ref(), b.as_ref()));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    });
    for line in &mut lines {
        line.points.sort_by(|a, b| compare_values(a.at.as_ref(), b.at.as_ref()));
    }
    Some(Curve { option, figure, others, lines })
}
