//! The steps of a snapshot: the events of all devices on one axis. Of one device they are its events; those of several
//! are in the order of their times, each device's own order kept, or one device after the other where times are not
//! known. A snapshot without events has one step, the end.

use crate::store::snapshot::{Snapshot, SnapshotDevice};

/// Which event of which device each step is.
#[derive(Clone, Debug, Default)]
pub struct EventAxis {
    /// Rows of the events by step; empty where step and row are the same number.
    rows: Vec<u32>,
    /// The step of each row; empty in the same case.
    steps: Vec<u32>,
    len: u32,
}

impl EventAxis {
    /// Of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        let all = snapshot.events.len() as u32;
        let devices: Vec<&SnapshotDevice> =
            snapshot.all_devices().filter(|device| !device.events.is_empty()).collect();
        if let [only] = devices.as_slice()
            && only.events == (0..snapshot.events.len())
        {
            return Self { rows: Vec::new(), steps: Vec::new(), len: all };
        }
        let count: usize = devices.iter().map(|device| device.events.len()).sum();
        let mut rows = Vec::with_capacity(count);
        let mut next: Vec<usize> = devices.iter().map(|device| device.events.start).collect();
        let has_times = devices
            .iter()
            .all(|device| device.events.clone().all(|row| snapshot.events.time(row).is_some()));
        while rows.len() < count {
            let left = (0..devices.len()).filter(|place| next[*place] < devices[*place].events.end);
            // The first of equals, and so the first device where no time is known.
            let earliest =
                left.min_by_key(
                    |place| {
                        if has_times { snapshot.events.time(next[*place]) } else { None }
                    },
                );
            let Some(place) = earliest else { break };
            rows.push(next[place] as u32);
            next[place] += 1;
        }
        let mut steps = vec![0; snapshot.events.len()];
        for (step, row) in (0..).zip(&rows) {
            steps[*row as usize] = step;
        }
        let len = rows.len().max(1) as u32;
        Self { rows, steps, len }
    }

    /// Number of steps.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The step of an event of a device.
    pub fn step(&self, device: &SnapshotDevice, event: u32) -> u32 {
        let row = device.events.start.saturating_add(event as usize);
        self.steps.get(row).copied().unwrap_or(row as u32)
    }

    /// The row of the event of a step; `None` of the one step of a snapshot without events.
    pub fn row(&self, step: u32) -> Option<usize> {
        let row = self.rows.get(step as usize).copied().unwrap_or(step) as usize;
        (!self.rows.is_empty() || self.steps.is_empty()).then_some(row)
    }
}
