//! The peak of a run and who owns it: of a device of a snapshot, and of a timeline.

use crate::run::{PeakOfRun, PeakRow, PeakVariable};
use crate::store::memory_timeline::{CATEGORY_NAMES, MemoryTimeline};
use crate::store::snapshot::{Action, Snapshot, SnapshotDevice};
use crate::systems::pytorch::allocator::peak::{FrameBytes, NO_MODULE, PeakContents};
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::run_end::Recorded;
use crate::systems::pytorch::allocator::user_frame::{frame_title, is_users};

/// The peak of the device at a place. Its step is on the axis of all devices, as `tilescope liveness` counts them.
pub(super) fn of_snapshot(replayed: &ReplayedSnapshot, place: usize) -> Option<PeakOfRun> {
    let ((device, _), found) = (replayed.device(place)?, replayed.peak(place)?);
    // Without events nobody knows when it was.
    let is_recorded = replayed.recorded(place) != Recorded::Nothing;
    Some(PeakOfRun {
        step: is_recorded.then_some(found.event),
        stack: calls(&replayed.snapshot, device, found.event),
        ..of_contents(found)
    })
}

/// The calls in the user's code that led to an event of a device, the innermost first.
fn calls(snapshot: &Snapshot, device: &SnapshotDevice, event: i64) -> Vec<String> {
    let row = usize::try_from(event).ok().and_then(|event| device.events.start.checked_add(event));
    let stack = row.and_then(|row| snapshot.events.stacks.get(row));
    let frames = stack.into_iter().flat_map(|stack| snapshot.frames_of(*stack));
    let users = frames.filter(|frame| is_users(snapshot, frame));
    users.map(|frame| frame_title(snapshot, frame)).collect()
}

fn of_contents(found: &PeakContents) -> PeakOfRun {
    let row = |row: &FrameBytes| PeakRow {
        name: row.name.clone(),
        bytes: row.all.bytes,
        count: row.all.blocks,
    };
    let variable = |row: &FrameBytes| PeakVariable {
        name: row.name.clone(),
        bytes: row.all.bytes,
        category: Some(row.category.as_str().to_owned()),
        operation: None,
    };
    let by_category = found.by_category.iter().map(|row| PeakRow {
        name: row.category.as_str().to_owned(),
        bytes: row.all.bytes,
        count: row.all.blocks,
    });
    // Without a stack that names a module there is nothing to list.
    let has_modules = found.by_module.iter().any(|module| module.name != NO_MODULE);
    let modules = found.by_module.iter().filter(|_| has_modules);
    PeakOfRun {
        device: Some(found.device),
        kind: found.action.map(|action| Action::as_str(action).to_owned()),
        name: found.frame.clone(),
        bytes: found.bytes,
        always_live_bytes: Some(found.always_live_bytes),
        by_category: largest_first(by_category.collect()),
        by_module: modules.map(row).collect(),
        by_line: found.by_frame.iter().map(row).collect(),
        largest: found.by_frame.iter().map(variable).collect(),
        ..PeakOfRun::default()
    }
}

/// The peak of a timeline, which has bytes by category and no names.
pub(super) fn of_timeline(timeline: &MemoryTimeline) -> Option<PeakOfRun> {
    let (place, total) = timeline.peak()?;
    let bytes = u64::try_from(total).unwrap_or(0);
    let named = CATEGORY_NAMES.iter().zip(timeline.bytes.get(place)?).map(|(name, bytes)| {
        let bytes = u64::try_from(*bytes).ok()?;
        Some(PeakRow { name: name.to_lowercase(), bytes, count: 0 })
    });
    // Categories of a damaged timeline may be negative; then they do not add up.
    let by_category: Vec<PeakRow> = named.collect::<Option<_>>().unwrap_or_default();
    let sum = by_category.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
    let by_category = if sum == bytes { by_category } else { Vec::new() };
    let by_category = by_category.into_iter().filter(|row| row.bytes > 0).collect();
    Some(PeakOfRun {
        step: i64::try_from(place).ok(),
        bytes,
        by_category: largest_first(by_category),
        ..PeakOfRun::default()
    })
}

fn largest_first(mut rows: Vec<PeakRow>) -> Vec<PeakRow> {
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::memory_timeline::CATEGORIES;
    use crate::store::snapshot::StackId;

    /// Files of frames: the user's, a module's, the optimizer's, and one of C++.
    const FILES: [&str; 4] = [
        "/home/me/train.py",
        "/v/site-packages/torch/nn/modules/linear.py",
        "/v/site-packages/torch/optim/adam.py",
        "??",
    ];

    /// An event: whether it frees, the number of its block, bytes, its stack.
    type Event = (bool, u64, u64, usize);

    /// A snapshot of two devices, whose events may contradict each other.
    fn snapshot(devices: &[Vec<Event>; 2]) -> ReplayedSnapshot {
        let mut snapshot = Snapshot::default();
        for file in FILES {
            snapshot.push_stack([(file, "f", 3)]);
        }
        for (number, of_device) in (0..).zip(devices) {
            let first = snapshot.events.len();
            for (frees, block, bytes, stack) in of_device {
                let action = if *frees { Action::FreeCompleted } else { Action::Alloc };
                let stacks = [StackId(0), StackId(1), StackId(2), StackId(3), StackId::NONE];
                snapshot.push_event(action, (block + 1) << 20, *bytes, stacks[*stack]);
            }
            let events = first..snapshot.events.len();
            snapshot.devices.push(SnapshotDevice { number, events, ..SnapshotDevice::default() });
        }
        ReplayedSnapshot::of(snapshot)
    }

    fn assert_adds_up(peak: &PeakOfRun) {
        let sum = |rows: &[PeakRow]| rows.iter().map(|row| row.bytes).sum::<u64>();
        for rows in [&peak.by_category, &peak.by_line, &peak.by_module, &peak.by_operation] {
            assert!(rows.is_empty() || sum(rows) == peak.bytes, "{peak:?}");
            assert!(rows.is_sorted_by(|a, b| a.bytes >= b.bytes), "{peak:?}");
        }
        let largest = peak.largest.iter().map(|variable| variable.bytes).sum::<u64>();
        assert!(peak.largest.is_empty() || largest == peak.bytes, "{peak:?}");
    }

    proptest! {
        #[test]
        fn every_list_of_a_peak_adds_up_to_it(
            first in prop::collection::vec((any::<bool>(), 0..6_u64, 0..5000_u64, 0..5_usize), 0..60),
            second in prop::collection::vec((any::<bool>(), 0..6_u64, 0..5000_u64, 0..5_usize), 0..60),
        ) {
            let replayed = snapshot(&[first, second]);
            for place in 0..2 {
                let peak = of_snapshot(&replayed, place).unwrap();
                assert_adds_up(&peak);
                let counted = |rows: &[PeakRow]| rows.iter().map(|row| row.count).sum::<u64>();
                prop_assert_eq!(counted(&peak.by_category), counted(&peak.by_line));
                prop_assert_eq!(peak.bytes, replayed.replays[place].requested_peak.bytes);
                prop_assert_eq!(peak.by_category.is_empty(), peak.by_line.is_empty());
            }
        }

        #[test]
        fn categories_of_a_timeline_add_up_to_its_peak(
            bytes in prop::collection::vec(prop::array::uniform8(-100..1000_i64), 1..20)
        ) {
            const { assert!(CATEGORIES == 8) };
            let times = vec![0; bytes.len()];
            let timeline = MemoryTimeline { times, bytes, ..MemoryTimeline::default() };
            let peak = of_timeline(&timeline).unwrap();
            assert_adds_up(&peak);
            let row = timeline.bytes[usize::try_from(peak.step.unwrap()).unwrap()];
            let is_whole = row.iter().all(|bytes| *bytes >= 0);
            prop_assert!(!is_whole || peak.bytes == 0 || !peak.by_category.is_empty());
        }
    }
}
