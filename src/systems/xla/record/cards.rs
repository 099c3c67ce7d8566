//! The card of a record: what the peak consists of.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::OpenRecord;
use super::insights::nanoseconds_text;
use crate::run::card::{BarList, BarRow, Card, Link, PEAK};
use crate::run::{Cell, FirstSight, Place};
use crate::text::size::Size;
use crate::text::{clean, counted, grouped};

/// Adds the card, where it is known which blocks are alive.
pub(super) fn add_cards(sight: &mut FirstSight, open: &OpenRecord, size: Size<'_>) {
    let Some(list) = alive_at_peak(open) else { return };
    let (figures, event) = (&open.figures, grouped(open.figures.peak_event as u64));
    let card = |title: &str| Card {
        about: format!(
            "{} in use at {}",
            size(figures.peak_in_use_bytes),
            nanoseconds_text(figures.peak_time_ns)
        ),
        link: Some(Link {
            title: format!("Event {event}"),
            hover: "Select it in Liveness".to_owned(),
            place: Place { step: i64::try_from(figures.peak_event).ok(), ..Place::default() },
            is_on_map: false,
        }),
        ..Card::of_bars(PEAK, title, vec![list.clone()])
    };
    sight.cards.push(card("Parts of the peak"));
    sight.glance = [vec![card("Parts of the peak")], Vec::new()];
}

/// Blocks alive at the peak by what they are called, the most bytes first.
fn alive_at_peak(open: &OpenRecord) -> Option<BarList> {
    open.blocks.as_ref()?;
    let mut sums: HashMap<&str, (u64, u64)> = HashMap::new();
    let always_live = open.always_live_bytes();
    if always_live > 0 {
        sums.insert(super::BEFORE, (always_live, 0));
    }
    for block in open.blocks_at_peak() {
        let (bytes, blocks) = sums.entry(open.title(block)).or_default();
        *bytes = bytes.saturating_add(block.bytes);
        *blocks = blocks.saturating_add(1);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(name, (bytes, _))| (Reverse(*bytes), *name));
    let row = |(name, (bytes, blocks)): (&str, (u64, u64))| {
        let name = clean(name).into_owned();
        let hover = match blocks {
            0 => name.clone(),
            _ => format!("{name}: {}", counted(blocks, "block")),
        };
        BarRow { cells: vec![Cell::Count(blocks)], ..BarRow::of(name, hover, bytes) }
    };
    let rows = sums.into_iter().map(row).collect();
    let whole = Some(open.figures.peak_in_use_bytes);
    Some(BarList::of(&["Name", "Bytes", "Blocks"], whole, rows))
}
