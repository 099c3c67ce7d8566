//! The sections that only a snapshot has, as text: settings, the figures of each device, pinned host memory, and what
//! lies free within segments.

use crate::run::{Cell, Section};
use crate::store::snapshot::SnapshotDevice;
use crate::systems::pytorch::allocator::device_facts::{DeviceFacts, HostFacts};
use crate::systems::pytorch::allocator::insights::{DeviceInsights, SnapshotInsights};
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::run_end::Recorded;
use crate::systems::pytorch::allocator::settings::is_default;
use crate::text::{bytes, counted, grouped};

/// Failed requests that are shown for a device.
const MOST_FAILED: usize = 3;

type SectionFacts = Vec<(String, Cell)>;

fn text(title: &str, value: impl Into<String>) -> (String, Cell) {
    (title.to_owned(), Cell::Text(value.into()))
}

fn size(title: &str, bytes: u64) -> (String, Cell) {
    (title.to_owned(), Cell::Bytes(bytes))
}

fn count(title: &str, count: u64) -> (String, Cell) {
    (title.to_owned(), Cell::Count(count))
}

pub(super) fn of_snapshot(
    replayed: &ReplayedSnapshot,
    insights: &SnapshotInsights,
) -> Vec<Section> {
    let snapshot = &replayed.snapshot;
    let devices = replayed.device_facts().iter().zip(&insights.devices);
    let devices = devices.flat_map(|(facts, found)| {
        [Section::facts(facts.title(), of_device(facts, found)), fragmentation(found)]
    });
    let titles = snapshot.pinned_hosts.iter().map(SnapshotDevice::title);
    let hosts = titles.zip(replayed.host_facts());
    let hosts = hosts.map(|(title, host)| Section::facts(title, of_host(&host)));
    settings(&snapshot.settings.all).into_iter().chain(devices).chain(hosts).collect()
}

/// The settings that are not as they are by default.
fn settings(all: &[(String, String)]) -> Option<Section> {
    let set = all.iter().filter(|(name, value)| is_default(name, value) != Some(true));
    let facts: SectionFacts = set.map(|(name, value)| text(name, value)).collect();
    (!facts.is_empty()).then(|| Section::facts("Settings of the allocator", facts))
}

fn of_host(host: &HostFacts) -> SectionFacts {
    vec![
        size("Reserved", host.reserved_bytes),
        size("Allocated", host.allocated_bytes),
        size("Allocated peak", host.allocated_peak_bytes),
        count("Segments", host.segments as u64),
        count("Events", host.events as u64),
    ]
}

fn of_device(device: &DeviceFacts, found: &DeviceInsights) -> SectionFacts {
    let end = &device.end;
    let inactive = format!(
        "{} in {}, the largest {}",
        bytes(end.inactive_bytes),
        counted(end.inactive_blocks, "block"),
        bytes(end.largest_inactive_bytes)
    );
    let segments =
        format!("{}, {}", grouped(device.segments as u64), counted(device.blocks as u64, "block"));
    let expandable = found.fragmentation.expandable_segments;
    let expandable = expandable.map(|is_on| text("Expandable", if is_on { "on" } else { "off" }));
    let mut facts = peaks(device);
    facts.extend([
        size("Allocated", end.allocated_bytes),
        size("Reserved", end.reserved_bytes),
        text("Inactive", inactive),
        size("Rounding", end.rounding_bytes),
        text("Segments", segments),
    ]);
    facts.extend(expandable);
    facts.push(text("Events", history(device)));
    let within = device.requested_peak.annotations.as_ref().filter(|names| !names.is_empty());
    facts.extend(within.map(|names| text("Within", names.join(", "))));
    facts.extend(device.oom.iter().rev().take(MOST_FAILED).map(|failed| {
        let what = format!(
            "event {}: {} asked for, {} free on the device",
            grouped(u64::from(failed.event)),
            bytes(failed.bytes),
            failed.device_free.map_or_else(|| "unknown".to_owned(), bytes)
        );
        text("Out of memory", what)
    }));
    facts
}

/// The peaks of a device; without events nobody knows of one.
fn peaks(device: &DeviceFacts) -> SectionFacts {
    if device.recorded == Recorded::Nothing {
        return Vec::new();
    }
    let at = |event: i64| match u64::try_from(event) {
        Ok(event) => format!("event {}", grouped(event)),
        Err(_) => "before the first event".to_owned(),
    };
    let least = if device.recorded == Recorded::Cut { " at least" } else { "" };
    let (allocated, requested) = (&device.allocated_peak, &device.requested_peak);
    let exact = if allocated.exact { least } else { " at least" };
    let blocks = counted(requested.live_blocks as u64, "block");
    vec![
        text(
            "Allocated peak",
            format!("{}{exact}, {}", bytes(allocated.bytes), at(allocated.event)),
        ),
        text("Reserved peak", format!("{}{least}", bytes(device.reserved_peak_bytes))),
        text(
            "Requested peak",
            format!("{}{least}, {}, {blocks}", bytes(requested.bytes), at(requested.event)),
        ),
    ]
}

/// How much of the run the events of a device are.
fn history(device: &DeviceFacts) -> String {
    let events = grouped(device.events as u64);
    match device.recorded {
        Recorded::Nothing => "none recorded, only the state when the snapshot was taken".to_owned(),
        Recorded::Whole => format!("{events}, history complete"),
        Recorded::Cut => format!("{events}, up to where the file is cut"),
        Recorded::Window => format!(
            "{events}, history begins with {} of {} already allocated",
            counted(device.start.live_blocks, "block"),
            bytes(device.start.requested_bytes)
        ),
    }
}

/// What is reserved and free at each moment.
fn fragmentation(found: &DeviceInsights) -> Section {
    let columns =
        ["Moment", "Event", "Reserved", "In use", "Free", "Pieces", "Largest piece", "Rounding"];
    let rows = found.fragmentation.moments.iter().map(|at| {
        vec![
            Cell::Text(at.title()),
            u64::try_from(at.event).map_or(Cell::Empty, Cell::Count),
            Cell::Bytes(at.reserved_bytes),
            Cell::Bytes(at.active_bytes),
            Cell::Bytes(at.free_bytes),
            Cell::Count(at.pieces as u64),
            Cell::Bytes(at.largest_piece_bytes),
            Cell::Bytes(at.rounding_bytes),
        ]
    });
    let title = format!("Free within segments of {}", found.title());
    Section::table(title, &columns, rows.collect())
}
