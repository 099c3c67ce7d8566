//! What is at the steps of a place, as differences: bytes alive by category, vertices by type, estimated
//! cycles and floating point operations.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::derived::PairDerived;
use super::places::Places;
use crate::analysis::comparison::category_bytes::category_bytes;
use crate::analysis::comparison::contribution::LiveBytes;
use crate::analysis::comparison::moment::Moment;
use crate::analysis::compute::estimates::{self, NoEstimate};
use crate::analysis::compute::vertices::{self, StepVertexRow};
use crate::analysis::figures::joined::joined;
use crate::analysis::memory::category_title;
use crate::analysis::memory::over_tiles::OverTiles;
use crate::store::Report;
use crate::ui::comparison::Side;
use crate::ui::report::differences::{Entries, Entry, Unit};
use crate::ui::report::liveness::compute::AtSteps;
use crate::ui::report::reason_of;
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

/// What a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// What is alive, by category.
    Categories,
    /// What runs.
    Runs(AtSteps),
}

impl What {
    /// Whether what it needs has been read.
    pub fn is_settled(self, report: &Report) -> bool {
        match self {
            Self::Categories => report.variables.is_settled() && report.categories.is_settled(),
            Self::Runs(what) => what.is_settled(report),
        }
    }
}

/// What a table shows of a place.
pub fn compared(
    reports: [&Report; 2],
    derived: &PairDerived,
    places: &Places,
    what: What,
) -> Compared {
    let tiles = Side::BOTH.map(|side| derived.scope.tiles(side.of(reports).target.get()));
    match what {
        What::Categories => categories_of(reports, derived, places),
        What::Runs(AtSteps::Vertices) => vertices_of(reports, &tiles, places),
        What::Runs(what) => estimates_of(reports, &tiles, places, what),
    }
}

fn categories_of(reports: [&Report; 2], derived: &PairDerived, places: &Places) -> Compared {
    let of_side = |side: Side| {
        // Before its first step nothing is alive.
        let Some(step) = places.step(side) else { return Some(Vec::new()) };
        let moment = Moment::at(&derived.side(side)?.derived.curve, derived.scope, step)?;
        let categories = category_bytes(side.of(reports), &moment)?.into_iter();
        // Sums of bytes are not below 0.
        let bytes = |bytes: LiveBytes| u64::try_from(bytes.sum()).unwrap_or(0);
        Some(categories.map(|(name, sum)| (name.clone(), (name, bytes(sum)))).collect())
    };
    let [Some(source), Some(target)] = Side::BOTH.map(of_side) else {
        let reason = "They need the lowered variables, which one of the reports does not have";
        return Compared::Nothing("Categories cannot be compared", reason.to_owned());
    };
    let list = joined(source, target).into_iter().filter_map(|rows| {
        let [source, target] = rows.each_ref().map(|row| row.as_ref().map(|(_, bytes)| *bytes));
        let (name, _) = rows.into_iter().flatten().next()?;
        Some(Entry { name: category_title(&name), source, target, groups: Vec::new() })
    });
    let (list, groupings) = (list.collect(), Vec::new());
    let entries = Entries { unit: Unit::Bytes, title: "Category", groupings, list };
    Compared::Entries(
        Arc::new(entries),
        "all that is alive, before sharing of addresses".to_owned(),
    )
}

type Tiles = [Option<RangeInclusive<u32>>; 2];

fn vertices_of(reports: [&Report; 2], tiles: &Tiles, places: &Places) -> Compared {
    let of_side = |side: Side| {
        let step: Vec<usize> = places.step_there(side).into_iter().collect();
        vertices::at_steps(side.of(reports), side.of(tiles.clone()), &step).ok_or(side)
    };
    let (source, target) = match (of_side(Side::Source), of_side(Side::Target)) {
        (Ok(source), Ok(target)) => (source, target),
        (Err(side), _) | (_, Err(side)) => {
            let reason = reason_of(vertices::why_no_vertices(side.of(reports)));
            let reason = format!("{}: {reason}", side.title());
            return Compared::Nothing("What computes is not in one of the reports", reason);
        }
    };
    let count = |row: &StepVertexRow| row.instances.first().copied().flatten();
    let keyed =
        |rows: Vec<StepVertexRow>| rows.into_iter().map(|row| (row.name.clone(), row)).collect();
    let rows = joined(keyed(source), keyed(target));
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

fn estimates_of(reports: [&Report; 2], tiles: &Tiles, places: &Places, what: AtSteps) -> Compared {
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
    let reasons: Vec<String> = match &found {
        [Err(source), Err(target)] if source == target => vec![source.clone()],
        _ => Side::BOTH.into_iter().filter_map(reason).collect(),
    };
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
