//! The steps of a snapshot: the events of all devices on one axis. For one device they are its events; those of several
//! are in the order of their times, each device's own order kept, or one device after the other where times are not
//! known. A snapshot without events has one step, the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::store::column::Column;
use crate::store::snapshot::{Snapshot, SnapshotDevice};

/// Which event of which device each step is.
#[derive(Clone, Debug, Default)]
pub struct EventAxis {
    /// Rows of the events by step; empty where step and row are the same number.
    pub rows: Column<u32>,
    /// The step of each row; empty in the same case.
    pub steps: Column<u32>,
    pub events: u32,
}

impl EventAxis {
    pub fn of(snapshot: &Snapshot) -> Self {
        let all = snapshot.events.len() as u32;
        let devices: Vec<&SnapshotDevice> =
            snapshot.all_devices().filter(|device| !device.events.is_empty()).collect();
        if let [only] = devices.as_slice()
            && only.events == (0..snapshot.events.len())
        {
            return Self { events: all, ..Self::default() };
        }
        let count: usize = devices.iter().map(|device| device.events.len()).sum();
        let mut rows = Vec::with_capacity(count);
        let has_times = devices
            .iter()
            .all(|device| device.events.clone().all(|row| snapshot.events.time(row).is_some()));
        // The first of equals, and so the first device where no time is known.
        let next = |row: usize, place: usize| {
            let time = if has_times { snapshot.events.time(row) } else { None };
            Reverse((time, place, row))
        };
        let first = |(place, device): (usize, &&SnapshotDevice)| next(device.events.start, place);
        let mut waiting: BinaryHeap<_> = devices.iter().enumerate().map(first).collect();
        while let Some(Reverse((_, place, row))) = waiting.pop() {
            rows.push(row as u32);
            let later = row.saturating_add(1);
            if devices.get(place).is_some_and(|device| later < device.events.end) {
                waiting.push(next(later, place));
            }
        }
        let mut steps = vec![0; snapshot.events.len()];
        for (step, row) in (0..).zip(&rows) {
            steps[*row as usize] = step;
        }
        let events = rows.len() as u32;
        Self { rows: rows.into(), steps: steps.into(), events }
    }

    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> u32 {
        self.events.max(1)
    }

    pub fn step(&self, device: &SnapshotDevice, event: u32) -> u32 {
        let row = device.events.start.saturating_add(event as usize);
        self.steps.get(row).copied().unwrap_or(row as u32)
    }

    /// The row of the event of a step; `None` of the one step of a snapshot without events.
    pub fn row(&self, step: u32) -> Option<usize> {
        if self.steps.is_empty() {
            return (step < self.events).then_some(step as usize);
        }
        self.rows.get(step as usize).map(|row| *row as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::snapshot::{Action, Events, StackId};

    /// Devices with events at these times.
    fn snapshot(devices: &[&[i64]]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (number, times) in (0..).zip(devices) {
            let start = snapshot.events.len();
            for time in *times {
                snapshot.events.actions.push(Action::Snapshot);
                snapshot.events.addresses.push(0);
                snapshot.events.sizes.push(0);
                snapshot.events.streams.push(0);
                snapshot.events.times.push(*time);
                snapshot.events.stacks.push(StackId::NONE);
            }
            let events = start..snapshot.events.len();
            snapshot.devices.push(SnapshotDevice { number, events, ..Default::default() });
        }
        snapshot
    }

    fn rows(snapshot: &Snapshot) -> Vec<Option<usize>> {
        let axis = EventAxis::of(snapshot);
        for device in &snapshot.devices {
            for (event, row) in (0..).zip(device.events.clone()) {
                assert_eq!(axis.row(axis.step(device, event)), Some(row));
            }
        }
        (0..axis.len()).map(|step| axis.row(step)).collect()
    }

    #[test]
    fn events_of_devices_are_in_the_order_of_their_times_each_in_its_own() {
        assert_eq!(rows(&snapshot(&[&[], &[]])), [None], "the end alone");
        assert_eq!(rows(&snapshot(&[&[5]])), [Some(0)]);
        // Of equals the first device; a time that steps back stays behind what came before it.
        let two = snapshot(&[&[1, 4, 2, 9], &[], &[1, 3, 8]]);
        assert_eq!(rows(&two), [0, 4, 5, 1, 2, 6, 3].map(Some));
        let without = snapshot(&[&[7, Events::NO_TIME], &[1, 2]]);
        assert_eq!(rows(&without), [0, 1, 2, 3].map(Some), "one device after the other");
    }
}
