//! The cards of a snapshot: the request at which its run ended against what there was, who owns the peak of each device,
//! and what lies free in pieces.

use std::cmp::Reverse;

use crate::run::card::{
    BarColor, BarList, BarRow, Card, CardBar, CardCell, CardColumn, CardNote, CardRow, Link, PEAK,
};
use crate::run::{Cell, FirstSight, Place, VerdictFigure};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::device_facts::DeviceFacts;
use crate::systems::pytorch::allocator::insights::fragmentation::FreeAt;
use crate::systems::pytorch::allocator::insights::out_of_memory::OutOfMemory;
use crate::systems::pytorch::allocator::insights::peak::PeakInsights;
use crate::systems::pytorch::allocator::insights::{DeviceInsights, SnapshotInsights};
use crate::systems::pytorch::allocator::peak::{CategoryAtPeak, FrameBytes, OwnedBytes};
use crate::systems::pytorch::allocator::phases::PhaseOfEvent;
use crate::systems::pytorch::allocator::run_end::Recorded;
use crate::systems::pytorch::allocator::user_frame::NO_STACK;
use crate::text::size::Size;
use crate::text::{counted, grouped, shortened};

/// Longest phase.
const PHASE: usize = 120;

/// Adds the cards of all devices, that of the verdict in front.
pub(super) fn add_cards(sight: &mut FirstSight, found: &SnapshotInsights, size: Size<'_>) {
    let devices = &found.devices;
    let is_of_verdict = |one: &DeviceInsights| Some(one.device) == found.verdict.device;
    sight.part = devices.iter().position(is_of_verdict).unwrap_or(0);
    if devices.len() > 1 {
        sight.parts = devices.iter().map(DeviceInsights::title).collect();
    }
    for (part, device) in devices.iter().enumerate() {
        let failure = device.out_of_memory.as_ref().map(|failure| failure_card(device, failure));
        let cards = [failure, owners_card(device, size), pieces_card(device, size)];
        let of_part = |card: Card| Card { part: Some(part), ..card };
        sight.cards.extend(cards.into_iter().flatten().map(of_part));
    }
    let device = devices.get(sight.part).filter(|device| device.peak.blocks > 0);
    sight.glance = device.map_or_else(Default::default, |device| {
        let (peak, on) = (&device.peak, on_device(device, devices.len()));
        let card = |id, title: &str, list| Card {
            link: peak_link(device),
            ..Card::of_bars(id, format!("{title}{on}"), vec![list])
        };
        let place = place_of(device, peak.event);
        [
            vec![card(PEAK, "Parts of the peak", by_category(peak))],
            vec![card("owners", "Owners of the peak", by_frame(peak, &place))],
        ]
    });
}

fn on_device(device: &DeviceInsights, devices: usize) -> String {
    if devices > 1 { format!(" on {}", device.title()) } else { String::new() }
}

/// The figures of the device at a place.
pub(super) fn figures(all: &[DeviceFacts], place: Option<usize>) -> Vec<VerdictFigure> {
    let Some(facts) = place.and_then(|place| all.get(place)) else { return Vec::new() };
    let of = match all.len() {
        1 => String::new(),
        _ => format!("{}, ", facts.title()),
    };
    let at = |event: i64| match u64::try_from(event) {
        Ok(event) => format!("at event {}", grouped(event)),
        Err(_) => "before the first event".to_owned(),
    };
    let mut figures = Vec::new();
    let mut push =
        |title, bytes, note| figures.push(VerdictFigure::of::<String>(title, bytes, note));
    let peak = &facts.requested_peak;
    push("Requested, peak", peak.bytes, format!("{of}{}", at(peak.event)));
    let is_cut = facts.recorded == Recorded::Cut;
    let least = if facts.allocated_peak.exact && !is_cut { "" } else { ", at least" };
    let note = format!("{of}max_memory_allocated(){least}");
    push("Allocated, peak", facts.allocated_peak.bytes, note);
    let least = if is_cut { ", at least" } else { "" };
    let note = format!("{of}max_memory_reserved(){least}");
    push("Reserved, peak", facts.reserved_peak_bytes, note);
    // An exception lets go of everything: then the end says nothing of the run.
    if all.iter().all(|of| of.ended_by.is_none()) {
        let pieces = counted(facts.end.inactive_blocks, "piece");
        push("Reserved, not in use, end", facts.end.inactive_bytes, format!("{of}in {pieces}"));
    }
    figures
}

/// An event of a device; of what was before the first the first.
pub(super) fn place_of_event(device: i64, event: i64) -> Place {
    Place { device: Some(device), step: Some(event.max(0)), ..Place::default() }
}

fn place_of(device: &DeviceInsights, event: i64) -> Place {
    place_of_event(device.device, event)
}

/// What code had at a moment.
fn code_at(place: &Place, frame: &str) -> Place {
    Place { frame: Some(frame.to_owned()), ..place.clone() }
}

/// The request against what was free and what the device has.
fn failure_card(device: &DeviceInsights, failure: &OutOfMemory) -> Card {
    let place = place_of(device, failure.event.into());
    let link = |title: &str, is_on_map| {
        Some(Link { title: title.to_owned(), place: place.clone(), is_on_map, ..Link::default() })
    };
    let row =
        |name: &str, hover: &str, bytes, color| BarRow { color, ..BarRow::of(name, hover, bytes) };
    let asked = "Rounded up, as the allocator does";
    let mut rows = vec![BarRow {
        link: link("Event", false),
        ..row("Asked", asked, failure.requested_bytes, BarColor::Over)
    }];
    if let Some(bytes) = failure.left_bytes {
        let hover = if failure.capacity_is_share {
            "What it may have, less its segments"
        } else {
            "As the event says"
        };
        rows.push(row(failure.left_title(), hover, bytes, BarColor::Free));
    }
    let pieces = format!("Free in {}", counted(failure.pieces as u64, "piece"));
    let hover = "Reserved and not in use, within segments";
    let free = row(&pieces, hover, failure.free_bytes, BarColor::Gap);
    rows.push(BarRow { link: link("Segments", true), ..free });
    let (usable, hover) = (failure.largest_usable_bytes, "Of its size, pool and stream");
    rows.push(row("Largest usable piece", hover, usable, BarColor::Gap));
    if let Some(bytes @ 1..) = failure.short_bytes {
        let hover = "The segment for it, less what was free on the device";
        rows.push(row("Had to go at least", hover, bytes, BarColor::Over));
    }
    rows.push(row("In use", "Blocks of PyTorch", failure.active_bytes, BarColor::Temporary));
    let reserved = "Segments of PyTorch";
    rows.push(row("Reserved", reserved, failure.reserved_bytes, BarColor::Temporary));
    let stated = failure.stated_by.as_deref().unwrap_or("the user");
    if let Some(bytes) = failure.other_bytes {
        let hover = "Other processes, the CUDA context, libraries: the device's memory, less what \
            was free and what was reserved";
        rows.push(row("Used by others", hover, bytes, BarColor::Others));
    }
    if let Some(bytes) = failure.capacity_bytes {
        let title =
            if failure.capacity_is_share { "The process may have" } else { "The device has" };
        rows.push(row(title, &format!("Says {stated}"), bytes, BarColor::Others));
    }
    let asked_at = failure.frame.as_ref().map(|frame| CardNote {
        text: format!("Asked at {frame}"),
        leads: Some((code_at(&place, frame), "Memory of its code at that event, in Liveness")),
        ..CardNote::default()
    });
    let list = BarList::of(&["What", "Size"], None, rows);
    Card {
        about: failure.why(),
        notes: asked_at.into_iter().collect(),
        ..Card::of_bars("failure", "Out of memory", vec![list])
    }
}

fn peak_link(device: &DeviceInsights) -> Option<Link> {
    let event = device.peak.event;
    let title = u64::try_from(event)
        .map_or("Before the first event".to_owned(), |event| format!("Event {}", grouped(event)));
    (device.events > 0).then(|| Link {
        title,
        hover: "Select it in Liveness".to_owned(),
        place: place_of(device, event),
        is_on_map: false,
    })
}

/// Who owns the peak: by category with its rule, by user frame, by function, by module of `torch.nn`.
fn owners_card(device: &DeviceInsights, size: Size<'_>) -> Option<Card> {
    let peak = &device.peak;
    let window =
        if device.history_complete || device.events == 0 { "" } else { " in the recorded window" };
    let phase = peak.phase.as_ref().map(PhaseOfEvent::text).filter(|text| !text.is_empty());
    let phase =
        phase.map_or_else(String::new, |phase| format!(", in {}", shortened(&phase, PHASE)));
    let about = format!(
        "{} requested of {} in {}{window}{phase}",
        size(peak.bytes),
        device.title(),
        counted(peak.blocks, "block")
    );
    let by = |title, rows: &[FrameBytes]| list(peak, title, rows.iter().map(row_of_code).collect());
    let note = peak.note.as_ref().map(|note| CardNote {
        text: note.clone(),
        is_caution: true,
        ..CardNote::default()
    });
    let lists = vec![
        by_category(peak),
        by_frame(peak, &place_of(device, peak.event)),
        by("Function", &peak.by_function),
        by("Module", &peak.by_module),
    ];
    (peak.blocks > 0).then(|| Card {
        about,
        link: peak_link(device),
        notes: note.into_iter().collect(),
        ..Card::of_bars(PEAK, "Parts of the peak", lists)
    })
}

fn list(peak: &PeakInsights, title: &'static str, rows: Vec<BarRow>) -> BarList {
    let columns = ["What", "Category", "Requested", "Blocks"];
    BarList { title, ..BarList::of(&columns, Some(peak.bytes), rows) }
}

fn by_category(peak: &PeakInsights) -> BarList {
    let row = |one: &CategoryAtPeak| {
        let hover = format!("By the rule: {}. {}", one.rule, counted(one.all.blocks, "block"));
        row_of(one.category.title(), hover, one.all, one.category)
    };
    let mut rows: Vec<BarRow> = peak.by_category.iter().map(row).collect();
    rows.sort_by_key(|row| Reverse(row.bytes));
    list(peak, "Category", rows)
}

fn by_frame(peak: &PeakInsights, place: &Place) -> BarList {
    let row = |one: &FrameBytes| BarRow {
        leads: (one.name != NO_STACK).then(|| code_at(place, &one.name)),
        ..row_of_code(one)
    };
    let rows = peak.by_frame.iter().map(row).collect();
    BarList { more: peak.more_frames, ..list(peak, "Line", rows) }
}

fn row_of_code(one: &FrameBytes) -> BarRow {
    let category = one.category.title();
    let (name, blocks) = (shortened(&one.name, 300), counted(one.all.blocks, "block"));
    let caller = one
        .called_by
        .as_deref()
        .map_or_else(String::new, |caller| format!(". Called by {}", shortened(caller, 300)));
    let hover = format!("{name}: {blocks}, most of it {}{caller}", category.to_lowercase());
    row_of(&one.name, hover, one.all, one.category)
}

fn row_of(name: &str, hover: String, all: OwnedBytes, category: BlockCategory) -> BarRow {
    let category = category.title().to_owned();
    BarRow {
        color: BarColor::Category(category.clone()),
        cells: vec![Cell::Text(category), Cell::Count(all.blocks)],
        ..BarRow::of(name, hover, all.bytes)
    }
}

/// The columns of what lies free in pieces: their titles, also on the card where that has room for them.
const OF_PIECES: [(&str, Option<&str>); 10] = [
    ("Moment", Some("")),
    ("Event", None),
    ("Reserved", Some("Reserved")),
    ("In use", None),
    ("Free", Some("Free")),
    ("Pieces", Some("Pieces")),
    ("Largest piece", Some("Largest")),
    ("In small segments", None),
    ("In empty segments", None),
    ("Rounding", None),
];

/// What is reserved and in use, free in pieces, and lost to rounding, at each moment.
fn pieces_card(device: &DeviceInsights, size: Size<'_>) -> Option<Card> {
    let found = &device.fragmentation;
    let most = found.moments.iter().map(|at| at.reserved_bytes).max().filter(|most| *most > 0)?;
    let whole = most.max(device.reserved_peak.bytes);
    let row = |at: &FreeAt| {
        let hover = format!(
            "{} in use, {} of it lost to rounding. Click to show the segments at this event",
            size(at.active_bytes),
            size(at.rounding_bytes)
        );
        let place = place_of(device, at.event);
        let link = Link { hover, place, is_on_map: true, ..Link::default() };
        let moment = CardCell { link: Some(link), ..Cell::Text(at.title()).into() };
        let cells = [
            Cell::Text(at.event.to_string()),
            Cell::Bytes(at.reserved_bytes),
            Cell::Bytes(at.active_bytes),
            Cell::Bytes(at.free_bytes),
            Cell::Count(at.pieces as u64),
            Cell::Bytes(at.largest_piece_bytes),
            Cell::Bytes(at.in_small_segments_bytes),
            Cell::Bytes(at.in_empty_segments_bytes),
            Cell::Bytes(at.rounding_bytes),
        ];
        let (used, unused) = (at.active_bytes, at.free_bytes);
        CardRow {
            cells: std::iter::once(moment).chain(cells.map(CardCell::from)).collect(),
            bar: Some(CardBar { used, unused, whole, limit: None }),
            ..CardRow::default()
        }
    };
    let columns = OF_PIECES.map(|(title, shown)| CardColumn::of(title, shown));
    let about = match found.expandable_segments {
        Some(true) => "Expandable segments are on",
        Some(false) => "Expandable segments are off",
        None => "It is not recorded whether segments are expandable",
    };
    let saved = found.most_saved_bytes.map(|saved| {
        format!("At most {} were reserved beyond the most that was in use", size(saved))
    });
    let rounding = found.moments.iter().map(|at| at.rounding_bytes).max().filter(|most| *most > 0);
    let rounding =
        rounding.map(|most| format!("Rounding of blocks takes at most {} of it", size(most)));
    let rows = found.moments.iter().map(row).collect();
    Some(Card {
        about: about.to_owned(),
        notes: saved.into_iter().chain(rounding).map(CardNote::from).collect(),
        ..Card::of_table("pieces", "Fragmentation", columns.to_vec(), rows)
    })
}
