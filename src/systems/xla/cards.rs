//! The cards of a module: who owns the peak of what is temporary in each memory space, what is lost there, and what
//! memory is reserved for.

use super::buffer_assignment::insights::{ModuleInsights, PeakOfSpace, SpaceInsights};
use crate::run::card::{BarColor, BarList, BarRow, Card, Link, PEAK};
use crate::run::{Cell, FirstSight, PeakRow, Place};
use crate::store::hlo::AllocationKind;
use crate::text::size::Size;
use crate::text::{capitalised, clean, counted, grouped};

/// Adds the cards of the memory spaces that are worth a picture.
pub(super) fn add_cards(sight: &mut FirstSight, found: &ModuleInsights, size: Size<'_>) {
    let with_peak = || found.large_spaces().filter_map(|space| Some((space, space.peak.as_ref()?)));
    if with_peak().count() > 1 {
        sight.parts = with_peak().map(|(space, _)| space.title.clone()).collect();
    }
    for (part, (space, peak)) in with_peak().enumerate() {
        let cards = [owners_card(space, peak, size), lost_card(peak)];
        sight.cards.extend(cards.map(|card| Card { part: Some(part), ..card }));
    }
    sight.glance = [
        found.large_spaces().map(kinds_card).collect(),
        with_peak().map(|(space, peak)| glance_card(space, peak)).collect(),
    ];
}

/// The way to the peak of a space; the curve is that of the main memory.
fn peak_link(peak: &PeakOfSpace) -> Link {
    let position = peak.at.position;
    Link {
        title: format!("Step {}", grouped(position.into())),
        hover: format!("{}; click to select it in Liveness", clean(&peak.instruction)),
        place: Place { step: Some(position.into()), ..Place::default() },
        is_on_map: false,
    }
}

fn list(title: &'static str, peak: &PeakOfSpace, owners: &[PeakRow]) -> BarList {
    let row = |owner: &PeakRow| {
        let hover = format!("{}\n{}", clean(&owner.name), counted(owner.count, "value"));
        let cells = vec![Cell::Count(owner.count)];
        BarRow { cells, ..BarRow::of(&owner.name, hover, owner.bytes) }
    };
    let rows = owners.iter().filter(|owner| owner.bytes > 0).map(row).collect();
    BarList { title, ..BarList::of(&["Name", "Bytes", "Values"], Some(peak.at.bytes), rows) }
}

fn owners_card(space: &SpaceInsights, peak: &PeakOfSpace, size: Size<'_>) -> Card {
    let lists = vec![
        list("Operation", peak, &peak.by_operation),
        list("Line", peak, &peak.by_source),
        list("Category", peak, &peak.by_category),
    ];
    let title = format!("Parts of the temporary peak of {}", space.in_text);
    Card {
        about: format!("{} in use", size(peak.at.bytes)),
        link: Some(peak_link(peak)),
        ..Card::of_bars(PEAK, title, lists)
    }
}

/// What temporary allocations have that is never in use at once, and what tiles that are not full take. Each is a part of
/// another whole.
fn lost_card(peak: &PeakOfSpace) -> Card {
    let row = |name: &str, (bytes, whole), hover: &str| BarRow {
        whole_bytes: Some(whole),
        color: BarColor::Throughout,
        ..BarRow::of(name, hover, bytes)
    };
    let allocated = peak.at.allocated_bytes;
    let packing = "Temporary allocations less what is in use of them at their peak";
    let padding = "Bytes of values alive at the peak, less those of their elements";
    let rows = vec![
        row("Packing and alignment", (peak.lost_bytes(), allocated), packing),
        row("Padding of tiled shapes", (peak.padding_bytes, peak.at.bytes), padding),
    ];
    let list = BarList::of(&["What", "Bytes"], Some(allocated), rows);
    Card::of_bars("lost", "Lost bytes", vec![list])
}

/// What the allocations of a memory space are for.
fn kinds_card(space: &SpaceInsights) -> Card {
    let row = |(kind, bytes): &(AllocationKind, u64)| BarRow {
        color: match kind {
            AllocationKind::Temporary => BarColor::Temporary,
            _ => BarColor::Throughout,
        },
        ..BarRow::of(capitalised(kind.in_text()), "", *bytes)
    };
    let rows = space.by_kind.iter().map(row).collect();
    let list = BarList::of(&["What", "Bytes"], Some(space.total_bytes), rows);
    Card::of_bars("kinds", format!("Uses of {}", space.in_text), vec![list])
}

fn glance_card(space: &SpaceInsights, peak: &PeakOfSpace) -> Card {
    let title = format!("Owners of the temporary peak of {}", space.in_text);
    let lists = vec![list("Operation", peak, &peak.by_operation)];
    let link = (space.color == 0).then(|| peak_link(peak));
    Card { link, ..Card::of_bars("owners", title, lists) }
}
