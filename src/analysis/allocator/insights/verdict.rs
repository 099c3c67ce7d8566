//! Whether a run went through, in words of PyTorch: it ran, or ran out of memory. What the device has is said only where
//! an error text says it.

use serde::Serialize;

use super::DeviceInsights;
use super::context::Context;
use crate::analysis::allocator::stated_failure::{StatedFailure, capacity_text};
use crate::text::{bytes, counted, words};

words! {
    /// What became of a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Outcome by key, title {
        /// No request failed at last in what was recorded.
        Ran = "ran" | "Ran",
        /// A request failed, and nothing as large was handed out after it.
        OutOfMemory = "out_of_memory" | "Ran out of memory",
        /// There are no events.
        NotRecorded = "not_recorded" | "Whether it ran is not recorded",
    }
}

/// What became of a run, and the figures that say most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunVerdict {
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

impl RunVerdict {
    /// Of a run with these devices.
    pub fn of(
        contexts: &[Context<'_>],
        devices: &[DeviceInsights],
        stated: &[StatedFailure],
    ) -> Self {
        let failed = devices.iter().find(|device| device.out_of_memory.is_some());
        // The first of equals.
        let most = || devices.iter().rev().max_by_key(|device| device.peak.bytes);
        let device = failed.or_else(most);
        let failure = failed.and_then(|device| device.out_of_memory.as_ref());
        let has_events = devices.iter().any(|device| device.events > 0);
        let text = device.and_then(|device| text_about(stated, device.device, devices.len()));
        let outcome = match (failure, has_events) {
            (Some(_), _) => Outcome::OutOfMemory,
            // Nothing was recorded, but somebody wrote down how it ended.
            (None, false) if text.is_some_and(|text| text.requested_bytes.is_some()) => {
                Outcome::OutOfMemory
            }
            (None, true) => Outcome::Ran,
            (None, false) => Outcome::NotRecorded,
        };
        let context = device
            .and_then(|device| contexts.iter().find(|one| one.device.number == device.device));
        let capacity = context.and_then(|context| {
            let of = (context.device.number, devices.len());
            capacity_text(stated, of, context.ended_by.as_ref())
        });
        let caught = devices.iter().map(|device| device.caught.len()).sum();
        let mut verdict = Self {
            outcome,
            reason: String::new(),
            device: device.map(|device| device.device),
            failed_event: failure.map(|failure| failure.event),
            allocated_peak_bytes: device.map_or(0, |device| device.allocated_peak.bytes),
            allocated_peak_exact: device.is_some_and(|device| device.is_exact),
            reserved_peak_bytes: device.map_or(0, |device| device.reserved_peak.bytes),
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
            (None, _) => verdict.reason_of_no_failure(text),
        };
        verdict
    }

    fn reason_of_no_failure(&self, text: Option<&StatedFailure>) -> String {
        match self.outcome {
            Outcome::NotRecorded => {
                "The snapshot has no events, only what was there when it was taken".to_owned()
            }
            Outcome::OutOfMemory => text.map_or_else(String::new, |text| {
                let requested = text.requested_bytes.map_or_else(String::new, bytes);
                format!(
                    "{} says that a request of {requested} failed; no event is recorded",
                    text.file
                )
            }),
            Outcome::Ran => {
                let recorded = if self.history_complete { "" } else { " of the recorded window" };
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
        let window = if self.history_complete { "" } else { " of the window" };
        let was_recorded = self.outcome != Outcome::NotRecorded;
        let mut figures = if was_recorded {
            vec![
                ("Allocated peak", format!("{least}{}{window}", size(self.allocated_peak_bytes))),
                ("Reserved peak", format!("{}{window}", size(self.reserved_peak_bytes))),
            ]
        } else {
            vec![
                ("Allocated", size(self.allocated_peak_bytes)),
                ("Reserved", size(self.reserved_peak_bytes)),
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

/// The last error text that is about a device: one that names it, or names none where there is only one.
fn text_about(stated: &[StatedFailure], device: i64, devices: usize) -> Option<&StatedFailure> {
    let is_about = |number: Option<i64>| match number {
        Some(number) => number == device,
        None => devices == 1,
    };
    stated.iter().rev().find(|text| is_about(text.device))
}
