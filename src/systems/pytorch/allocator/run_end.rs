//! The end of a run, and the device that it is about: one answer for window, commands and tables.
//!
//! A run ran out of memory if a request failed at last on a device (formats/pytorch.md 9.11), or if an error text
//! beside the snapshot says so of a request that the snapshot does not have: it was taken before, or recorded nothing.
//! The end of a run whose file is cut is not known, unless the text beside it is about the request that failed; the
//! files of other ranks say it of theirs. A run is known to have ended well only if every process recorded its events.
//! Its device is the one that failed, else the one that had most.

use super::peak::largest_device;
use super::replay::Replay;
use super::replayed::ReplayedSnapshot;
use super::stated_failure::{StatedFailure, text_of};
use crate::store::snapshot::{Snapshot, SnapshotDevice};
use crate::text::words;

words! {
    /// What became of a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Ended by key, title {
        /// No request failed at last in what was recorded.
        Ran = "ran" | "Ran",
        /// A request failed, and nothing as large was handed out after it.
        OutOfMemory = "out_of_memory" | "Ran out of memory",
        /// The file ends before its contents do.
        Cut = "cut" | "The file is cut",
        /// There are no events, or none of one of the processes.
        NotRecorded = "not_recorded" | "How it ended is not recorded",
    }
}

impl Ended {
    /// Whether the run ran to its end; `None` where nobody knows.
    pub fn finished(self) -> Option<bool> {
        match self {
            Self::Ran => Some(true),
            Self::OutOfMemory => Some(false),
            Self::Cut | Self::NotRecorded => None,
        }
    }
}

words! {
    /// How much of a run its events are.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Recorded by key {
        /// All of it: nothing was there before the first event.
        Whole = "whole",
        /// What came after something else, which is gone: peaks are no more than those of the recorded window.
        Window = "window",
        /// What could be read of a file that ends before its contents do: peaks are no more than those until there.
        Cut = "cut",
        /// Nothing: there are no events, so peaks are what was there when the snapshot was taken.
        #[default]
        Nothing = "nothing",
    }
}

impl Recorded {
    /// Of a device of a snapshot. One without an event, where another of its process has some, had all before.
    pub fn of(snapshot: &Snapshot, device: &SnapshotDevice, replay: &Replay) -> Self {
        let rank = |device: &SnapshotDevice| device.rank.map(|of| of.rank);
        let mut of_process = snapshot.devices.iter().filter(|other| rank(other) == rank(device));
        let has_events = of_process.any(|device| !device.events.is_empty());
        match (has_events, device.is_cut) {
            (false, _) => Self::Nothing,
            (true, true) => Self::Cut,
            (true, false) if replay.is_complete => Self::Whole,
            (true, false) => Self::Window,
        }
    }
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEnd<'a> {
    /// What became of it.
    pub ending: Ended,
    /// The place of the device that it is about; `None` where there is none.
    pub device: Option<usize>,
    /// The error text that says of a request that it failed which the snapshot does not have.
    pub said_by: Option<&'a StatedFailure>,
}

impl<'a> RunEnd<'a> {
    /// Of a snapshot, with what error texts beside it say, and whether its file is cut.
    pub fn of(replayed: &ReplayedSnapshot, stated: &'a [StatedFailure], is_cut: bool) -> Self {
        let devices = &replayed.snapshot.devices;
        let most = || largest_device(replayed.replays.get(..devices.len())?);
        if let Some(device) = failed_device(replayed, stated) {
            return Self { ending: Ended::OutOfMemory, device: Some(device), said_by: None };
        }
        let is_recorded = |text: &StatedFailure| {
            devices.iter().enumerate().any(|(place, device)| {
                let failed = || text.request_among(replayed.failed_by_size(place));
                text.may_be_of(device.number) && failed().is_some()
            })
        };
        let is_new = |text: &&StatedFailure| text.requested_bytes.is_some() && !is_recorded(text);
        if let Some(text) = stated.iter().rev().find(is_new) {
            let is_named = |of: &SnapshotDevice| text.device.is_some() && text.may_be_of(of.number);
            let named = devices.iter().position(is_named);
            let (ending, device) = (Ended::OutOfMemory, named.or_else(most));
            return Self { ending, device, said_by: Some(text) };
        }
        let mut recorded = (0..devices.len()).map(|place| replayed.recorded(place));
        let is_recorded = !devices.is_empty() && recorded.all(|of| of != Recorded::Nothing);
        let ending = match (is_cut, is_recorded) {
            (true, _) => Ended::Cut,
            (false, true) => Ended::Ran,
            (false, false) => Ended::NotRecorded,
        };
        Self { ending, device: most(), said_by: None }
    }
}

/// The first device on which a request failed at last, one of which an error text says so before others.
fn failed_device(replayed: &ReplayedSnapshot, stated: &[StatedFailure]) -> Option<usize> {
    let devices = replayed.snapshot.devices.iter().enumerate();
    let failed = devices.filter_map(|(place, device)| {
        let text = text_of(stated, device.number, &replayed.ended_by(place)?);
        Some((place, text.is_some(), !device.is_cut))
    });
    let failed: Vec<(usize, bool, bool)> = failed.collect();
    let stated = failed.iter().find(|(_, is_stated, _)| *is_stated);
    let known = || failed.iter().find(|(.., is_known)| *is_known);
    stated.or_else(known).map(|(place, ..)| *place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::snapshot::{Action, StackId};
    use crate::systems::pytorch::allocator::replayed::AllocatorRun;

    const MIB: u64 = 1 << 20;

    /// A snapshot of devices with these events, which takes nothing back: action, address or free bytes, bytes.
    fn snapshot(devices: &[&[(Action, u64, u64)]]) -> ReplayedSnapshot {
        let mut snapshot = Snapshot::default();
        for (number, of_device) in (0..).zip(devices) {
            let first = snapshot.events.len();
            for (action, address, bytes) in *of_device {
                snapshot.push_event(*action, *address, *bytes, StackId::NONE);
            }
            let events = first..snapshot.events.len();
            let device = SnapshotDevice { number, events, ..SnapshotDevice::default() };
            snapshot.devices.push(device);
        }
        ReplayedSnapshot::of(snapshot)
    }

    fn text(device: Option<i64>, mebibytes: u64) -> StatedFailure {
        let requested_bytes = Some(mebibytes * MIB);
        StatedFailure { device, requested_bytes, ..StatedFailure::default() }
    }

    const BIG: (Action, u64, u64) = (Action::Alloc, 1 << 40, 8 * MIB);
    const SMALL: (Action, u64, u64) = (Action::Alloc, 1 << 41, MIB);
    const FAILED: (Action, u64, u64) = (Action::OutOfMemory, MIB, 6 * MIB);

    fn end(
        replayed: &ReplayedSnapshot,
        stated: &[StatedFailure],
        is_cut: bool,
    ) -> (Ended, Option<usize>) {
        let end = RunEnd::of(replayed, stated, is_cut);
        (end.ending, end.device)
    }

    #[test]
    fn the_device_that_failed_counts_before_the_one_that_had_most() {
        let both = snapshot(&[&[BIG], &[SMALL, FAILED]]);
        assert_eq!(end(&both, &[], false), (Ended::OutOfMemory, Some(1)));
        assert_eq!(end(&snapshot(&[&[SMALL], &[BIG]]), &[], false), (Ended::Ran, Some(1)));
        let each = snapshot(&[&[SMALL, FAILED], &[SMALL, FAILED]]);
        assert_eq!(end(&each, &[], false), (Ended::OutOfMemory, Some(0)));
        assert_eq!(end(&each, &[text(Some(1), 6)], false), (Ended::OutOfMemory, Some(1)));
        assert_eq!(end(&snapshot(&[]), &[], false), (Ended::NotRecorded, None));
    }

    #[test]
    fn the_place_of_pinned_memory_is_behind_those_of_the_devices() {
        let mut both = snapshot(&[&[BIG], &[SMALL]]).snapshot;
        both.pinned_hosts.push(SnapshotDevice { number: -1, ..SnapshotDevice::default() });
        let both = ReplayedSnapshot::of(both);
        let numbers = (0..4).map(|place| both.device(place).map(|(device, _)| device.number));
        assert_eq!(numbers.collect::<Vec<_>>(), [Some(0), Some(1), Some(-1), None]);
    }

    #[test]
    fn the_end_is_the_same_when_it_is_asked_for_again() {
        let run = AllocatorRun::of(snapshot(&[&[BIG], &[SMALL]]));
        let run = run.beside(Vec::new(), vec![text(None, 1), text(Some(1), 50)], false);
        for _ in 0..2 {
            let end = run.end().unwrap();
            assert_eq!((end.ending, end.device), (Ended::OutOfMemory, Some(1)));
            assert_eq!(end.said_by, run.stated.last());
        }
    }

    #[test]
    fn a_request_is_found_again_however_many_failed_after_it() {
        let later = std::iter::repeat_n((Action::OutOfMemory, MIB, MIB), 1001);
        let events: Vec<_> = [FAILED, BIG].into_iter().chain(later).chain([SMALL]).collect();
        let run = snapshot(&[&events]);
        assert_eq!(end(&run, &[text(None, 6)], false), (Ended::Ran, Some(0)));
        assert_eq!(end(&run, &[text(None, 7)], false), (Ended::OutOfMemory, Some(0)));
    }

    #[test]
    fn a_text_about_a_request_that_is_not_recorded_says_how_it_ended() {
        let ran = snapshot(&[&[BIG], &[SMALL]]);
        assert_eq!(end(&ran, &[text(Some(1), 50)], false), (Ended::OutOfMemory, Some(1)));
        assert_eq!(end(&ran, &[text(None, 50)], false), (Ended::OutOfMemory, Some(0)));
        assert_eq!(end(&ran, &[StatedFailure::default()], false), (Ended::Ran, Some(0)));
        // One about a request that was granted later is of a run that went on.
        let caught = snapshot(&[&[FAILED, BIG]]);
        assert_eq!(end(&caught, &[text(Some(0), 6)], false), (Ended::Ran, Some(0)));
        assert_eq!(end(&caught, &[text(Some(0), 7)], false), (Ended::OutOfMemory, Some(0)));
        assert_eq!(end(&snapshot(&[&[]]), &[text(None, 6)], false).0, Ended::OutOfMemory);
        // PyTorch says of 31 MiB that it tried to take 32.
        let odd = (Action::OutOfMemory, MIB, 31 * MIB);
        let granted = (Action::Alloc, 1 << 42, 31 * MIB);
        let caught = snapshot(&[&[odd, granted]]);
        assert_eq!(end(&caught, &[text(Some(0), 32)], false), (Ended::Ran, Some(0)));
        let failed = snapshot(&[&[odd]]);
        assert_eq!(end(&failed, &[text(Some(0), 32)], false), (Ended::OutOfMemory, Some(0)));
    }

    #[test]
    fn of_a_file_that_is_cut_the_end_is_known_by_a_text_alone() {
        let cut = |events: &[(Action, u64, u64)]| {
            let mut snapshot = snapshot(&[events]).snapshot;
            snapshot.devices[0].is_cut = true;
            ReplayedSnapshot::of(snapshot)
        };
        let failed = cut(&[BIG, FAILED]);
        assert_eq!(end(&failed, &[], true), (Ended::Cut, Some(0)));
        assert_eq!(end(&failed, &[text(None, 6)], true), (Ended::OutOfMemory, Some(0)));
        assert_eq!(end(&cut(&[BIG]), &[], true), (Ended::Cut, Some(0)));
        assert_eq!(cut(&[BIG]).recorded(0), Recorded::Cut);
        assert_eq!(Ended::Cut.finished(), None);
    }

    #[test]
    fn a_run_is_recorded_whole_from_a_point_or_not_at_all() {
        let of = |replayed: &ReplayedSnapshot| replayed.recorded(0);
        let freed = (Action::FreeCompleted, 1 << 41, MIB);
        assert_eq!(of(&snapshot(&[&[freed]])), Recorded::Window, "a block was there");
        let segment = (Action::SegmentAlloc, 1 << 41, 2 * MIB);
        assert_eq!(of(&snapshot(&[&[segment, SMALL]])), Recorded::Whole);
        assert_eq!(of(&snapshot(&[&[]])), Recorded::Nothing);
        assert_eq!(of(&snapshot(&[&[], &[segment]])), Recorded::Whole, "nothing happened on it");
    }
}
