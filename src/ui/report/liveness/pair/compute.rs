//! What runs at the steps of a place, as differences: vertices by type, estimated cycles and floating
//! point operations.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::derived::PairDerived;
use super::places::Places;
use crate::analysis::estimates::{self, NoEstimate};
use crate::analysis::joined::joined;
use crate::analysis::over_tiles::OverTiles;
use crate::analysis::vertices::{self, StepVertexRow};
use crate::store::Report;
use crate::ui::comparison::Side;
use crate::ui::report::differences::{Entries, Entry, Unit};
use crate::ui::report::liveness::compute::AtSteps;
use crate::ui::widget::rows::{Column, Rows, Value};

/// Differences with what is said beside them, or why there are none.
pub enum Compared {
    /// The differences.
    Entries(Arc<Entries>, String),
    /// A few figures.
    Figures(Arc<EstimateRows>, String),
    /// A title and a reason.
    Nothing(&'static str, String),
}

/// What a table shows of a place.
pub fn compared(
    reports: [&Report; 2],
    derived: &PairDerived,
    places: &Places,
    what: AtSteps,
) -> Compared {
    let tiles = Side::BOTH.map(|side| derived.scope.tiles(side.of(reports).target.get()));
    match what {
        AtSteps::Vertices => vertices_of(reports, tiles, places),
        AtSteps::Cycles | AtSteps::Flops => estimates_of(reports, tiles, places, what),
    }
}

type Tiles = [Option<RangeInclusive<u32>>; 2];

fn vertices_of(reports: [&Report; 2], tiles: Tiles, places: &Places) -> Compared {
    let of_side = |side: Side| {
        let step: Vec<usize> = places.step_there(side).into_iter().collect();
        vertices::at_steps(side.of(reports), side.of(tiles.clone()), &step).ok_or(side)
    };
    let (source, target) = match (of_side(Side::Source), of_side(Side::Target)) {
        (Ok(source), Ok(target)) => (source, target),
        (Err(side), _) | (_, Err(side)) => {
            let reason = "It has no readable tables compute_sets and vertex_instances";
            let reason = format!("{}: {reason}", side.title());
            return Compared::Nothing("What computes is not in one of the reports", reason);
        }
    };
    let count = |row: &StepVertexRow| row.instances.first().copied().flatten();
    let rows = joined(source, target, |row| &row.name);
    let all = rows.len();
    let list: Vec<Entry> = rows
        .into_iter()
        .filter_map(|rows| {
            // What cannot be read is not the same as what is not there.
            let are_known = rows.iter().flatten().all(|row| count(row).is_some());
            let [source, target] = rows.each_ref().map(|row| count(row.as_ref()?));
            let name = rows.into_iter().flatten().next().filter(|_| are_known)?.name;
            Some(Entry { name, source, target, groups: Vec::new() })
        })
        .collect();
    if all == 0 {
        let reason = "They compute nothing: choose other ones".to_owned();
        return Compared::Nothing("No vertices run at these steps", reason);
    }
    let unreadable = all - list.len();
    let note = match unreadable {
        0 => "vertices, each run counted once".to_owned(),
        count => format!("vertices; {count} types cannot be read"),
    };
    let groupings = Vec::new();
    let entries = Entries { unit: Unit::Count, title: "Vertex type", groupings, list };
    Compared::Entries(Arc::new(entries), note)
}

fn estimates_of(reports: [&Report; 2], tiles: Tiles, places: &Places, what: AtSteps) -> Compared {
    let found = Side::BOTH.map(|side| {
        let step = places.step_there(side).ok_or("It has no step there".to_owned())?;
        let of_step = estimates::at_steps(side.of(reports), side.of(tiles.clone()), &[step]);
        let of_step = of_step.first().ok_or_else(|| NoEstimate::NotRead.to_string())?;
        let figure = if what == AtSteps::Flops { of_step.flops } else { of_step.cycles };
        figure.map_err(|why| why.to_string())
    });
    let reason = |side: Side| {
        let reason = side.of(found.each_ref()).as_ref().err()?;
        Some(format!("{}: {reason}", side.title()))
    };
    let reasons: Vec<String> = Side::BOTH.into_iter().filter_map(reason).collect();
    if found.iter().all(Result::is_err) {
        return Compared::Nothing("No estimate at these steps", reasons.join(". "));
    }
    let row = |name: &'static str, figure: fn(&OverTiles) -> u64| {
        (name, found.each_ref().map(|found| found.as_ref().ok().map(figure)))
    };
    let rows = [row("Busiest tile", |all| all.most), row("All tiles", |all| all.sum)];
    Compared::Figures(Arc::new(EstimateRows(rows)), note_or(&reasons, "each run counted once"))
}

fn note_or(reasons: &[String], note: &str) -> String {
    if reasons.is_empty() { note.to_owned() } else { reasons.join(". ") }
}

/// Figures of both, which do not add up.
pub struct EstimateRows([(&'static str, [Option<u64>; 2]); 2]);

impl EstimateRows {
    /// Its columns.
    pub fn columns() -> Vec<Column> {
        let number = |title: &str, width| Column::count(title, width).not_summed();
        vec![
            Column::rest("Figure"),
            number("Source", 120.0),
            number("Target", 120.0),
            number("Difference", 130.0),
            Column { unit: "percent", ..number("Of the source", 108.0) },
        ]
    }
}

impl Rows for EstimateRows {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some((title, figures)) = self.0.get(row) else { return Value::Nothing };
        let count = |count: Option<u64>| count.map_or(Value::Nothing, Value::Count);
        match (column, *figures) {
            (0, _) => Value::text(*title),
            (1, [figure, _]) | (2, [_, figure]) => count(figure),
            (3, [Some(from), Some(to)]) => Value::count_change(from, to),
            (4, [Some(from @ 1..), Some(to)]) => {
                Value::Percent((to as f64 - from as f64) * 100.0 / from as f64)
            }
            _ => Value::Nothing,
        }
    }
}
