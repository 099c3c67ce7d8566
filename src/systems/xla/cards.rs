//! The cards of a module: who owns the peak of what is temporary in each memory space, what is lost there, and what
//! memory is reserved for.

use super::buffer_assignment::insights::{PeakOfSpace, ProgramInsights, SpaceInsights};
use super::buffer_assignment::program::kind_title;
use crate::run::card::{BarColor, BarList, BarRow, Card, CardBody, Link, PEAK};
use crate::run::{Cell, FirstSight, PeakRow, Place};
use crate::store::hlo::AllocationKind;
use crate::text::{capitalised, clean, counted, grouped};

/// How a number of bytes is written.
type Size<'a> = &'a dyn Fn(u64) -> String;

/// Adds the cards of the memory spaces that are worth a picture.
pub(super) fn add_cards(sight: &mut FirstSight, found: &ProgramInsights, size: Size<'_>) {
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
        hover: format!("{}; a click selects it in Liveness", clean(&peak.instruction)),
        place: Place { step: Some(position.into()), ..Place::default() },
        is_on_map: false,
    }
}

fn list(title: &'static str, peak: &PeakOfSpace, owners: &[PeakRow]) -> BarList {
    let row = |owner: &PeakRow| BarRow {
        name: owner.name.clone(),
        hover: format!("{}\n{}", clean(&owner.name), counted(owner.count, "value")),
        bytes: owner.bytes,
        cells: vec![Cell::Count(owner.count)],
        ..BarRow::default()
    };
    BarList {
        title,
        whole_bytes: Some(peak.at.bytes),
        rows: owners.iter().filter(|owner| owner.bytes > 0).map(row).collect(),
        columns: vec!["Name", "Bytes", "Values"],
        ..BarList::default()
    }
}

fn owners_card(space: &SpaceInsights, peak: &PeakOfSpace, size: Size<'_>) -> Card {
    Card {
        id: PEAK,
        title: format!("What the temporary peak of {} consists of", space.in_text),
        about: format!("{} in use", size(peak.at.bytes)),
        link: Some(peak_link(peak)),
        body: CardBody::Bars(vec![
            list("Operation", peak, &peak.by_operation),
            list("Line", peak, &peak.by_source),
            list("Category", peak, &peak.by_category),
        ]),
        ..Card::default()
    }
}

/// What temporary allocations have that is never in use at once, and what tiles that are not full take. Each is a part of
/// another whole.
fn lost_card(peak: &PeakOfSpace) -> Card {
    let row = |name: &str, (bytes, whole), hover: &str| BarRow {
        name: name.to_owned(),
        hover: hover.to_owned(),
        bytes,
        whole_bytes: Some(whole),
        color: BarColor::Throughout,
        ..BarRow::default()
    };
    let allocated = peak.at.allocated_bytes;
    let packing = "Temporary allocations less what is in use of them at their peak";
    let padding = "Of what lives at the peak, less the bytes of its elements";
    Card {
        id: "lost",
        title: "What is lost".to_owned(),
        body: CardBody::Bars(vec![BarList {
            whole_bytes: Some(allocated),
            rows: vec![
                row("Packing and alignment", (peak.lost_bytes(), allocated), packing),
                row("Padding of tiled shapes", (peak.padding_bytes, peak.at.bytes), padding),
            ],
            columns: vec!["What", "Bytes"],
            ..BarList::default()
        }]),
        ..Card::default()
    }
}

/// What the allocations of a memory space are for.
fn kinds_card(space: &SpaceInsights) -> Card {
    let row = |(kind, bytes): &(AllocationKind, u64)| BarRow {
        name: capitalised(kind_title(*kind)),
        bytes: *bytes,
        color: match kind {
            AllocationKind::Temporary => BarColor::Temporary,
            _ => BarColor::Throughout,
        },
        ..BarRow::default()
    };
    Card {
        id: "kinds",
        title: format!("What {} is for", space.in_text),
        body: CardBody::Bars(vec![BarList {
            whole_bytes: Some(space.total_bytes),
            rows: space.by_kind.iter().map(row).collect(),
            columns: vec!["What", "Bytes"],
            ..BarList::default()
        }]),
        ..Card::default()
    }
}

fn glance_card(space: &SpaceInsights, peak: &PeakOfSpace) -> Card {
    Card {
        id: "owners",
        title: format!("Whose the temporary peak of {} is", space.in_text),
        link: (space.color == 0).then(|| peak_link(peak)),
        body: CardBody::Bars(vec![list("Operation", peak, &peak.by_operation)]),
        ..Card::default()
    }
}
