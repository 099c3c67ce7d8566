//! Whether a run went through, in words of PyTorch: it ran, or ran out of memory. What the device has is said only where
//! an error text says it.

use serde::Serialize;

use super::DeviceInsights;
use super::context::Context;
use crate::store::snapshot::device_title;
use crate::systems::pytorch::allocator::stated_failure::{StatedFailure, capacity_text};
use crate::text::{bytes, counted};

pub use crate::systems::pytorch::allocator::run_end::{Outcome, Recorded, RunEnd};

/// What became of a run, and the figures that say most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotVerdict {
    /// What became of it.
    pub outcome: Outcome,
    /// Why, in a sentence.
    pub reason: String,
    /// The device that ran out of memory, or that had most.
    pub device: Option<i64>,
    /// The event of the request at which it ended.
    pub failed_event: Option<u32>,
    /// The peak of its allocated curve.
    pub allocated_peak_bytes: u64,
    /// Whether that is exact; else it is at least that.
    pub allocated_peak_exact: bool,
    /// The peak of its reserved curve.
    pub reserved_peak_bytes: u64,
    /// How much of the run was recorded of the device.
    pub recorded: Recorded,
    /// Whether the events of the device are all that ever happened; else peaks are those of the recorded window.
    pub history_complete: bool,
    /// What the device has, as an error text states it.
    pub capacity_bytes: Option<u64>,
    /// The error text.
    pub capacity_from: Option<String>,
    /// Whether the capacity is what the process may have of the device.
    pub capacity_is_share: bool,
    /// What others had of the device when the request failed.
    pub other_bytes: Option<u64>,
    /// Requests that failed and after which the run went on, on all devices.
    pub caught: usize,
}

impl SnapshotVerdict {
    /// Of a run with these devices, by what became of it.
    pub fn of(
        contexts: &[Context<'_>],
        devices: &[DeviceInsights],
        stated: &[StatedFailure],
        end: &RunEnd<'_>,
    ) -> Self {
        let device = end.device.and_then(|place| devices.get(place));
        let is_recorded = end.outcome == Outcome::OutOfMemory && end.said_by.is_none();
        let failure = device.and_then(|device| device.out_of_memory.as_ref());
        let failure = failure.filter(|_| is_recorded);
        let capacity = end.device.and_then(|place| contexts.get(place)).and_then(|context| {
            let of = (context.device.number, devices.len());
            capacity_text(stated, of, context.ended_by.as_ref())
        });
        let caught = devices.iter().map(|device| device.caught.len()).sum();
        let mut verdict = Self {
            outcome: end.outcome,
            reason: String::new(),
            device: device.map(|device| device.device),
            failed_event: failure.map(|failure| failure.event),
            allocated_peak_bytes: device.map_or(0, |device| device.allocated_peak.bytes),
            allocated_peak_exact: device.is_some_and(|device| device.is_exact),
            reserved_peak_bytes: device.map_or(0, |device| device.reserved_peak.bytes),
            recorded: device.map(|device| device.recorded).unwrap_or_default(),
            history_complete: device.is_some_and(|device| device.history_complete),
            capacity_bytes: capacity.and_then(|text| text.capacity_bytes),
            capacity_from: capacity.map(|text| text.file.clone()),
            capacity_is_share: capacity.is_some_and(|text| text.is_share),
            other_bytes: failure.and_then(|failure| failure.other_bytes),
            caught,
        };
        verdict.reason = match (failure, device) {
            (Some(failure), Some(device)) if devices.len() > 1 => {
                format!("{}: {}", device.title(), failure.what())
            }
            (Some(failure), _) => failure.what(),
            (None, _) => verdict.reason_of_no_failure(end.said_by, devices),
        };
        verdict
    }

    fn reason_of_no_failure(
        &self,
        said_by: Option<&StatedFailure>,
        devices: &[DeviceInsights],
    ) -> String {
        match self.outcome {
            Outcome::NotRecorded if self.device.is_none() => {
                "The snapshot is of no device: it has neither segments nor events".to_owned()
            }
            Outcome::NotRecorded => {
                let without = devices.iter().filter(|of| of.recorded == Recorded::Nothing);
                let titles: Vec<String> = without.map(DeviceInsights::title).collect();
                let what = "no events, only what was there when it was taken";
                match titles.as_slice() {
                    [first, more @ ..] if titles.len() < devices.len() => {
                        let more = match more.len() as u64 {
                            0 => String::new(),
                            more => format!(", as that of {}", counted(more, "more device")),
                        };
                        format!("The snapshot of {first} has {what}{more}")
                    }
                    _ => format!("The snapshot has {what}"),
                }
            }
            Outcome::Cut if devices.iter().any(|device| device.rank.is_some()) => {
                "Not all files of the ranks could be read to their ends, so nobody knows how the run ended".to_owned()
            }
            Outcome::Cut => {
                "The file ends before its contents do, so nobody knows how the run ended".to_owned()
            }
            Outcome::OutOfMemory => said_by.map_or_else(String::new, |text| {
                let requested = text.requested_bytes.map_or_else(String::new, bytes);
                let title = |number: i64| {
                    let known = devices.iter().find(|device| device.device == number);
                    known.map_or_else(|| device_title(number, None), DeviceInsights::title)
                };
                let device = text.device.map_or_else(String::new, |of| format!(" on {}", title(of)));
                let what = match text.rank_not_there {
                    Some(rank) => format!(" on rank {rank}, whose snapshot cannot be read"),
                    None => format!("{device}; the snapshot has no such event"),
                };
                format!("{} says that a request of {requested} failed{what}", text.file)
            }),
            Outcome::Ran => {
                let is_whole = self.recorded == Recorded::Whole;
                let recorded = if is_whole { "" } else { " of the recorded window" };
                match self.caught as u64 {
                    0 => format!("No request{recorded} failed"),
                    1 => format!("A request{recorded} failed, and the run went on"),
                    caught => {
                        format!(
                            "{}{recorded} failed, and the run went on",
                            counted(caught, "request")
                        )
                    }
                }
            }
        }
    }

    /// The figures that say most, each with its title.
    pub fn figures(&self, size: &dyn Fn(u64) -> String) -> Vec<(&'static str, String)> {
        let least = if self.allocated_peak_exact { "" } else { "at least " };
        let window = match self.recorded {
            Recorded::Whole | Recorded::Nothing => "",
            Recorded::Window => " of the window",
            Recorded::Cut => " of what could be read",
        };
        let mut figures = if self.recorded == Recorded::Nothing {
            vec![
                ("Allocated", size(self.allocated_peak_bytes)),
                ("Reserved", size(self.reserved_peak_bytes)),
            ]
        } else {
            vec![
                ("Allocated peak", format!("{least}{}{window}", size(self.allocated_peak_bytes))),
                ("Reserved peak", format!("{}{window}", size(self.reserved_peak_bytes))),
            ]
        };
        if let Some(capacity) = self.capacity_bytes {
            let title = if self.capacity_is_share { "Allowed" } else { "Capacity" };
            figures.push((title, size(capacity)));
        }
        if let Some(other) = self.other_bytes {
            figures.push(("Of others", size(other)));
        }
        figures
    }
}
