//! What is said of variables and gaps, in tooltips and tables.

use crate::analysis::memory::category_title;
use crate::analysis::placement::gaps::{Gap, GapReason};
use crate::store::Report;
use crate::store::ids::CategoryId;
use crate::store::placed::Placement;
use crate::text::{clean, grouped, shortened};
use crate::ui::report::figures::variables::{MOST_RANGES, range_texts};

use super::read::TileData;

/// Longest name in a sentence.
const NAME: usize = 60;

/// Why a gap is there, with the variables that it is about.
pub fn reason_text(data: &TileData, gap: &Gap) -> String {
    let name = |row: Option<usize>| {
        let name = row.and_then(|row| data.placed.names.at(row));
        shortened(name.unwrap_or("the next variable"), NAME).into_owned()
    };
    let after = name(gap.after);
    let apart =
        |what: &str| format!("{after} may not share a memory {what} with {}", name(gap.constraint));
    match gap.reason {
        GapReason::Start => {
            let arena = data.report.system.arena_in_text;
            format!("Nothing is placed at the beginning of the {arena}'s memory")
        }
        GapReason::Alignment => {
            let variable = gap.after.and_then(|row| data.placed.placements.get(row));
            let alignment = variable.map_or(0, |variable| variable.alignment);
            format!("{after} begins at a multiple of {alignment} bytes")
        }
        GapReason::ElementConstraint => apart("element"),
        GapReason::RegionConstraint => apart("region"),
        GapReason::Interleaving => format!("{after} must lie in interleaved memory"),
        GapReason::Unexplained => "The report does not say why".to_owned(),
        GapReason::FreeAtStep => "Free at this step, taken at others".to_owned(),
    }
}

pub fn category(report: &Report, variable: &Placement) -> String {
    let id = variable.category.map(CategoryId);
    let name = id.and_then(|id| report.categories.get()?.name(id));
    name.map_or_else(|| "–".to_owned(), |name| clean(&category_title(name)).into_owned())
}

pub fn life(report: &Report, variable: &Placement) -> String {
    let Some(liveness) = report.liveness.get() else { return "–".to_owned() };
    let classes = &liveness.classes;
    if classes.is_always_live(variable.class) {
        return "Always".to_owned();
    }
    let Some(position) = classes.ids.position(variable.class) else { return "–".to_owned() };
    let ranges = classes.ranges_of(position);
    if ranges.is_empty() {
        return "At no step".to_owned();
    }
    let count: u64 =
        ranges.iter().map(|range| u64::from(range.end.saturating_sub(range.start))).sum();
    let more = if ranges.len() > MOST_RANGES { ", …" } else { "" };
    let word = if count == 1 { "Step" } else { "Steps" };
    let total =
        if ranges.len() > 1 { format!(" ({} in all)", grouped(count)) } else { String::new() };
    format!("{word} {}{more}{total}", range_texts(report, ranges).join(", "))
}

/// Addresses from the first to the last byte.
pub fn addresses(start: u64, end: u64) -> String {
    format!("{} to {}", grouped(start), grouped(end.saturating_sub(1)))
}
