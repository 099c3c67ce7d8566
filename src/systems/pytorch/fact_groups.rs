//! The facts of a PyTorch run: what was recorded, the peaks and the end of the four curves of
//! each device, requests that failed, what the system itself states beside ours.

use std::borrow::Cow;

use super::allocator::claims::{ComparedClaim, claimed_device, compared_claims};
use super::allocator::device_facts::{DeviceFacts, HostFacts};
use super::allocator::replayed::{AllocatorRun, ReplayedSnapshot, RunContents};
use super::allocator::run_end::Recorded;
use crate::analysis::comparison::fact_groups::{
    Statements, TitledFacts, count, push, sized, sized_with, words,
};
use crate::analysis::comparison::facts::Said;
use crate::store::memory_timeline::{CATEGORY_NAMES, MemoryTimeline, TimelineForm};
use crate::store::snapshot::{Action, Events, SnapshotDevice};
use crate::text::{bytes, counted, grouped, time_text};

/// Requests that failed and are named.
const MOST_FAILED: usize = 4;

pub(super) fn groups(run: &AllocatorRun) -> Vec<TitledFacts> {
    match &run.contents {
        RunContents::Snapshot(snapshot) => of_snapshot(run, snapshot),
        RunContents::Timeline(timeline) => of_timeline(timeline),
    }
}

fn of_snapshot(run: &AllocatorRun, replayed: &ReplayedSnapshot) -> Vec<TitledFacts> {
    let facts = replayed.device_facts();
    let mut devices: Vec<_> = replayed.snapshot.devices.iter().zip(facts).collect();
    // The one that the run is about in front.
    if let Some(first) = run.end().and_then(|end| end.device).filter(|of| *of < devices.len()) {
        devices[..=first].rotate_right(1);
    }
    let mut groups = Vec::new();
    let is_one = facts.len() == 1;
    for (device, facts) in devices {
        let title: Cow<'static, str> =
            if is_one { "Memory".into() } else { format!("Memory of {}", device.title()).into() };
        groups.push((title, of_device(facts)));
    }
    groups.insert(0, ("Recording".into(), recording(replayed, facts)));
    let stated = run.claims.iter();
    let of_device = |claims| Some((claims, facts.get(claimed_device(claims, replayed)?)?));
    for (claims, device) in stated.filter_map(of_device) {
        let agreeing = |claim: &ComparedClaim| {
            let said = if claim.agrees {
                sized_with(claim.claimed_bytes, ", agrees with the replay")
            } else {
                let replayed = bytes(claim.bytes);
                sized_with(claim.claimed_bytes, format!(", replayed {replayed}: does not agree"))
            };
            (Cow::Borrowed(claim.name), said)
        };
        let mut stated: Statements = compared_claims(claims, device).iter().map(agreeing).collect();
        if let Some(failed) = claims.failed_requests {
            push(&mut stated, "num_ooms", Said::Count(failed, String::new()));
        }
        let title = match claims.rank {
            Some(_) => format!("Stated by PyTorch for {}", device.title()).into(),
            None => "Stated by PyTorch".into(),
        };
        groups.push((title, stated));
    }
    for (host, facts) in replayed.snapshot.pinned_hosts.iter().zip(replayed.host_facts()) {
        groups.push((host.title().into(), of_host(facts)));
    }
    groups
}

/// What was recorded, and over what.
fn recording(replayed: &ReplayedSnapshot, facts: &[DeviceFacts]) -> Statements {
    let snapshot = &replayed.snapshot;
    let mut said = Vec::new();
    push(&mut said, "Format", words("Memory snapshot"));
    let titles: Vec<String> = snapshot.devices.iter().map(SnapshotDevice::title).collect();
    // Those of ranks have commas.
    let between = if titles.iter().any(|title| title.contains(',')) { "; " } else { ", " };
    push(&mut said, "Devices", words(titles.join(between)));
    let events = facts.iter().map(|facts| facts.events).sum::<usize>();
    push(&mut said, "Events", count(events));
    let are = |recorded: Recorded| facts.iter().filter(|facts| facts.recorded == recorded).count();
    let (silent, cut) = (are(Recorded::Nothing), are(Recorded::Cut));
    if silent == facts.len() {
        push(&mut said, "History", words("Not recorded: the state at the end alone"));
    } else if silent > 0 {
        let text = format!("Not recorded for {silent} of {} devices", facts.len());
        push(&mut said, "History", words(text));
    } else if cut > 0 {
        push(&mut said, "History", words("Up to where the file is cut"));
    } else if are(Recorded::Whole) == facts.len() {
        push(&mut said, "History", words("Complete: nothing was there before its first event"));
    } else {
        let blocks = facts.iter().map(|facts| facts.start.live_blocks).sum::<u64>();
        let there = facts.iter().map(|facts| facts.start.requested_bytes).sum::<u64>();
        let there = format!(
            "A window: {} with {} were there before its first event; peaks are those of the window",
            counted(blocks, "block"),
            bytes(there)
        );
        push(&mut said, "History", words(there));
    }
    let times = snapshot.events.times.iter().filter(|time| **time != Events::NO_TIME);
    if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
        let seconds = last.saturating_sub(*first) as f64 * 1e-6;
        push(&mut said, "Time from first to last event", words(time_text(seconds)));
    }
    for (name, action) in [
        ("Allocations", Action::Alloc),
        ("Segments taken", Action::SegmentAlloc),
        ("Segments given back", Action::SegmentFree),
        ("Pieces mapped", Action::SegmentMap),
        ("Pieces unmapped", Action::SegmentUnmap),
        ("Requests that failed", Action::OutOfMemory),
    ] {
        let number =
            facts.iter().filter_map(|facts| facts.actions.get(action.as_str())).sum::<u64>();
        if number > 0 {
            push(&mut said, name, Said::Count(number, String::new()));
        }
    }
    let spans: usize = (0..facts.len()).map(|place| replayed.annotated_spans(place).len()).sum();
    if spans > 0 {
        push(&mut said, "Annotations", count(spans));
    }
    push(&mut said, "Stacks", count(snapshot.stacks.len()));
    said
}

/// The four curves of a device, and what is lost of what is reserved.
fn of_device(facts: &DeviceFacts) -> Statements {
    let mut said = Vec::new();
    // After an exception nothing is left of what was in use.
    let (end, when) = match &facts.at_failure {
        Some(failed) => (failed, "when it failed"),
        None => (&facts.end, "end"),
    };
    let at = |event: i64| match event {
        ..0 => " before the first event".to_owned(),
        event => format!(" at event {}", grouped(event.unsigned_abs())),
    };
    let peak = &facts.requested_peak;
    let within = match peak.annotations.as_deref() {
        Some([.., innermost]) => format!(", in {innermost}"),
        _ => String::new(),
    };
    let text = format!("{}{within}", at(peak.event));
    push(&mut said, "Requested, peak", sized_with(peak.bytes, text));
    let is_whole = facts.allocated_peak.exact && facts.recorded != Recorded::Cut;
    let least = if is_whole { "" } else { ", at least" };
    let allocated = &facts.allocated_peak;
    let text = format!("{}{least}", at(allocated.event));
    push(&mut said, "Allocated, peak", sized_with(allocated.bytes, text));
    push(&mut said, "Active, peak", sized_with(facts.active_peak_bytes, least));
    push(&mut said, "Reserved, peak", sized(facts.reserved_peak_bytes));
    let then = |what: &str| format!("{what}, {when}");
    push(&mut said, then("Requested"), sized(end.requested_bytes));
    if facts.at_failure.is_none() {
        push(&mut said, then("Allocated"), sized(end.allocated_bytes));
    }
    push(&mut said, then("Active"), sized(end.active_bytes));
    let segments = match facts.at_failure {
        Some(_) => String::new(),
        None => format!(" in {}", counted(facts.segments as u64, "segment")),
    };
    push(&mut said, then("Reserved"), sized_with(end.reserved_bytes, segments));
    let pieces = match end.inactive_blocks {
        0 => String::new(),
        1 => " in 1 piece".to_owned(),
        pieces => format!(
            " in {} pieces, the largest of {}",
            grouped(pieces),
            bytes(end.largest_inactive_bytes)
        ),
    };
    push(&mut said, then("Reserved, not in use"), sized_with(end.inactive_bytes, pieces));
    push(&mut said, then("Rounding of blocks"), sized(end.rounding_bytes));
    if facts.start.live_blocks > 0 || facts.start.reserved_bytes > 0 {
        let blocks = format!(
            " in {}, {} reserved",
            counted(facts.start.live_blocks, "block"),
            bytes(facts.start.reserved_bytes)
        );
        push(&mut said, "There before", sized_with(facts.start.requested_bytes, blocks));
    }
    for failed in facts.oom.iter().rev().take(MOST_FAILED) {
        let name = format!("Failed at event {}", grouped(u64::from(failed.event)));
        let free = failed
            .device_free
            .map_or_else(String::new, |free| format!(", {} free on the device", bytes(free)));
        let free = format!(" asked{free}");
        said.push((name.into(), sized_with(failed.bytes, free)));
    }
    said
}

fn of_host(host: HostFacts) -> Statements {
    let mut said = Vec::new();
    push(&mut said, "Events", count(host.events));
    push(&mut said, "Allocated, peak", sized(host.allocated_peak_bytes));
    push(&mut said, "Allocated, end", sized(host.allocated_bytes));
    let segments = format!(" in {}", counted(host.segments as u64, "segment"));
    push(&mut said, "Reserved, end", sized_with(host.reserved_bytes, segments));
    said
}

fn of_timeline(timeline: &MemoryTimeline) -> Vec<TitledFacts> {
    let (row, peak) = timeline.peak().unwrap_or((0, 0));
    let unsigned = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    let mut said = Vec::new();
    push(&mut said, "Format", words("Memory timeline of torch.profiler"));
    let (what, per_second) = match timeline.form {
        TimelineForm::Curve => ("Points", 1e-6),
        TimelineForm::Raw => ("Changes", 1e-9),
    };
    push(&mut said, what, count(timeline.bytes.len()));
    let times = timeline.times.iter().filter(|time| **time >= 0);
    if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
        let seconds = last.saturating_sub(*first) as f64 * per_second;
        push(&mut said, "Time from first to last", words(time_text(seconds)));
    }
    push(&mut said, "Peak", sized_with(unsigned(peak), format!(" at {}", grouped(row as u64))));
    let at_peak = timeline.bytes.get(row).copied().unwrap_or_default();
    let mut categories = Vec::new();
    for (name, bytes) in CATEGORY_NAMES.iter().zip(at_peak).filter(|(_, bytes)| *bytes != 0) {
        push(&mut categories, *name, sized(unsigned(bytes)));
    }
    vec![("Recording".into(), said), ("At the peak".into(), categories)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::snapshot::{AllocatorClaims, ClaimedBytes, Snapshot};

    #[test]
    fn what_is_stated_of_no_device_is_compared_with_none() {
        let device = |number| SnapshotDevice { number, ..SnapshotDevice::default() };
        let devices = vec![device(0), device(1)];
        let snapshot = Snapshot { devices, ..Snapshot::default() };
        let mut run = AllocatorRun::of(ReplayedSnapshot::of(snapshot));
        let has_group =
            |run: &AllocatorRun| groups(run).iter().any(|(title, _)| title == "Stated by PyTorch");
        let stated = |bytes| {
            let reserved = ClaimedBytes { current: Some(bytes), peak: None };
            vec![AllocatorClaims { reserved, ..AllocatorClaims::default() }]
        };
        run.claims = stated(4096);
        assert!(!has_group(&run), "neither device has as much");
        run.claims = stated(0);
        assert!(has_group(&run));
    }
}
