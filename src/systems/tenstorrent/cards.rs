//! The cards of a report: what L1 of a core consists of at its peak, and what each space reserves and holds.

use super::memory::facts::RankView;
use super::memory::spaces::{alive_at, held_bytes};
use super::recorded::BufferSpace;
use crate::run::card::{BarColor, BarList, BarRow, Card, Link, PEAK};
use crate::run::{Cell, FirstSight, PeakOfRun, PeakRow, Place};
use crate::text::size::Size;
use crate::text::{clean, counted, grouped};

/// Adds the cards of the rank with the highest L1 peak.
pub(super) fn add_cards(
    sight: &mut FirstSight,
    view: &RankView<'_>,
    peak: Option<&PeakOfRun>,
    size: Size<'_>,
) {
    let peak = peak.map(|peak| peak_card(peak, size));
    let spaces = spaces_card(view);
    sight.glance = [&peak, &spaces].map(|card| card.iter().cloned().collect());
    sight.cards.extend(peak.into_iter().chain(spaces));
}

fn peak_card(peak: &PeakOfRun, size: Size<'_>) -> Card {
    let lists = [
        ("Operation", &peak.by_operation),
        ("Line", &peak.by_line),
        ("Category", &peak.by_category),
    ];
    let lists = lists.into_iter().filter(|(_, rows)| !rows.is_empty());
    let lists = lists.map(|(title, rows)| list(title, rows, peak.bytes)).collect();
    let step = peak.step.unwrap_or(0);
    Card {
        about: format!("{} of a core", size(peak.bytes)),
        link: Some(Link {
            title: format!("Operation {}", grouped(step.unsigned_abs())),
            hover: "Select it in Liveness".to_owned(),
            place: Place { device: peak.device, step: Some(step), ..Place::default() },
            is_on_map: false,
        }),
        ..Card::of_bars(PEAK, "Parts of the peak of L1", lists)
    }
}

fn list(title: &'static str, rows: &[PeakRow], whole: u64) -> BarList {
    let row = |row: &PeakRow| {
        let hover = format!("{}\n{}", clean(&row.name), counted(row.count, "buffer"));
        let cells = vec![Cell::Count(row.count)];
        BarRow { cells, ..BarRow::of(&row.name, hover, row.bytes) }
    };
    let rows = rows.iter().map(row).collect();
    BarList { title, ..BarList::of(&["Name", "Bytes", "Buffers"], Some(whole), rows) }
}

/// What buffers hold of what they reserve on all banks of a chip; `None` where the report says it of no space.
fn spaces_card(view: &RankView<'_>) -> Option<Card> {
    let row = |space: BufferSpace| {
        let at = view.memory.peak(space)?;
        let reserved = view.memory.level(space, at).saturating_mul(view.banks(space));
        let held = held_bytes(&alive_at(view, space, at))?;
        let hover = format!(
            "At the peak of {}, on {}: buffers have the same addresses on all of them",
            space.word(),
            counted(view.banks(space), "bank")
        );
        let name = format!("{}, holding data", space.word());
        Some(BarRow {
            whole_bytes: Some(reserved),
            color: BarColor::Throughout,
            ..BarRow::of(name, hover, held)
        })
    };
    let rows: Vec<BarRow> = BufferSpace::OF_CHIP.into_iter().filter_map(row).collect();
    let has_rows = !rows.is_empty();
    let list = BarList::of(&["What", "Bytes"], None, rows);
    has_rows.then(|| Card::of_bars("held", "Reserved on a chip, and holding data", vec![list]))
}
