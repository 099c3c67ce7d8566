//! Texts about variables and gaps, for tooltips and tables.

use std::ops::Range;

use crate::analysis::liveness::variable_kind;
use crate::analysis::memory::category_title;
use crate::analysis::placement::always_live::Band;
use crate::analysis::placement::gaps::{Gap, GapReason};
use crate::store::ids::CategoryId;
use crate::store::placed::Placement;
use crate::store::{Report, System};
use crate::text::{capitalised, clean, grouped, shortened};
use crate::ui::report::figures::variables::{MOST_RANGES, range_texts};
use crate::ui::units::Units;

use super::data::RunData;
use super::read::TileData;

/// Longest name in a sentence.
const NAME: usize = 60;
/// Longest name of what is chosen.
const CHOSEN_NAME: usize = 100;
/// Categories in the title of a band.
const MOST_TITLES: usize = 2;

/// A variable that is chosen, for those who cannot see the picture.
pub fn chosen_text(name: &str, bytes: &Range<u64>, units: Units) -> String {
    let size = units.exact(bytes.end - bytes.start);
    format!("{}, {size} at address {}", shortened(name, CHOSEN_NAME), bytes.start)
}

/// Why a gap is there, with the variables that it is about.
pub fn reason_text(data: &TileData, gap: &Gap) -> String {
    let name = |row: Option<usize>| {
        let name = row.and_then(|row| data.placed.names.at(row));
        let next = || format!("the next {}", data.report.system.item_in_text);
        name.map_or_else(next, |name| shortened(name, NAME).into_owned())
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
        GapReason::NeverUsed => {
            format!("Nothing lies here at any {}", data.report.system.step_in_text)
        }
        GapReason::Unexplained => "No reason is recorded".to_owned(),
        GapReason::FreeAtStep => reason_title(gap.reason, &data.report.system),
    }
}

/// The title of a reason, with the system's word for a step.
pub fn reason_title(reason: GapReason, system: &System) -> String {
    match reason {
        GapReason::FreeAtStep => format!("Free at this {}, taken at others", system.step_in_text),
        _ => reason.title().to_owned(),
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
        return format!("At no {}", report.system.step_in_text);
    }
    let count: u64 =
        ranges.iter().map(|range| u64::from(range.end.saturating_sub(range.start))).sum();
    let more = if ranges.len() > MOST_RANGES { ", …" } else { "" };
    let system = &report.system;
    let word = if count == 1 { system.step.to_owned() } else { capitalised(system.steps) };
    let total =
        if ranges.len() > 1 { format!(" ({} in all)", grouped(count)) } else { String::new() };
    format!("{word} {}{more}{total}", range_texts(report, ranges).join(", "))
}

/// Addresses from the first to the last byte.
pub fn addresses(start: u64, end: u64) -> String {
    format!("{} to {}", grouped(start), grouped(end.saturating_sub(1)))
}

/// What a band of always-live memory consists of: `Internal exchange code, control code`.
pub fn band_title(report: &Report, band: &Band) -> String {
    let title = |id: &Option<CategoryId>| {
        let name = id.and_then(|id| report.categories.get()?.name(id));
        name.map_or_else(|| "Other".to_owned(), |name| clean(&category_title(name)).into_owned())
    };
    let mut titles = band.categories.iter().take(MOST_TITLES).map(title);
    let first = titles.next().unwrap_or_default();
    titles.fold(first, |text, title| format!("{text}, {}", title.to_lowercase()))
}

/// The name of a variable as it is read by people, and the operation that it is of where that says more.
pub fn pretty_name(data: &RunData, row: u32) -> (String, Option<String>) {
    let raw = without_tile(data.tile.name(row));
    let unlowered = data.tile.unlowered_name(row).filter(|name| !name.is_empty());
    let operation = data.operation(row).map(|operation| operation.name.clone());
    let name = match unlowered.as_deref().map(|name| (name, generated(name))) {
        Some((_, Some((kind, of)))) => format!("{kind} {of}"),
        Some((name, None)) => name.to_owned(),
        None if is_numbered(raw) => {
            let variable = data.tile.placed.placements.get(row as usize);
            variable
                .map_or_else(|| raw.to_owned(), |variable| category(&data.tile.report, variable))
        }
        None => raw.to_owned(),
    };
    let operation = operation.filter(|operation| !name.contains(operation.as_str()));
    (clean(&name).into_owned(), operation.map(|operation| clean(&operation).into_owned()))
}

/// `<rearrangement:layer1/output>` says what was made of what.
fn generated(name: &str) -> Option<(&'static str, &str)> {
    let (kind, of) = variable_kind::parts(name).filter(|(_, of)| !of.is_empty())?;
    let kind = match kind {
        "rearrangement" => "Rearranged",
        "message" => "Message",
        _ => return None,
    };
    Some((kind, of))
}

/// The name without the number of the tile, which ends the names of what was lowered.
fn without_tile(name: &str) -> &str {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    name.rsplit_once('#').filter(|(_, tile)| is_number(tile)).map_or(name, |(name, _)| name)
}

/// Whether a name says nothing but a kind and a number: `arrange-10`.
fn is_numbered(name: &str) -> bool {
    let is =
        |part: &str, of: fn(&u8) -> bool| !part.is_empty() && part.bytes().all(|byte| of(&byte));
    name.rsplit_once('-').is_some_and(|(kind, number)| {
        is(kind, u8::is_ascii_lowercase) && is(number, u8::is_ascii_digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_compiler_makes_are_read_by_people() {
        assert_eq!(without_tile("arrange-10#39"), "arrange-10");
        assert_eq!(without_tile("a#b"), "a#b");
        assert!(is_numbered("message-128") && !is_numbered("layer1-2/output") && !is_numbered("x"));
        assert_eq!(generated("<rearrangement:conv/output>"), Some(("Rearranged", "conv/output")));
        assert_eq!(generated("<other:conv>"), None);
        assert_eq!(generated("conv"), None);
    }
}
