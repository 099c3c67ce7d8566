//! The verdict of a PyTorch run: it ran, or ran out of memory. The capacity of the device is given only where an error
//! text states it.

use serde::Serialize;

use super::out_of_memory::OutOfMemory;
use crate::run::{self, DeviceVerdict, Evidence, Verdict, VerdictFigure};
use crate::store::snapshot::{SnapshotDevice, device_title};
use crate::systems::pytorch::allocator::failed_requests::failed_requests;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::stated_failure::{StatedFailure, capacity_text, text_of};
use crate::text::{bytes, counted};

pub use crate::systems::pytorch::allocator::run_end::{Ended, Recorded, RunEnd};

const REQUEST_FAILED: Option<&str> = Some("request-failed");
const CUT: Option<&str> = Some("cut");
const NOT_RECORDED: Option<&str> = Some("not-recorded");

#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotVerdict {
    /// The verdict as every system gives it.
    pub verdict: Verdict,
    /// What only a snapshot says beside it.
    pub facts: VerdictFacts,
}

/// What only a snapshot says of how its run ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictFacts {
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
    /// Whether the capacity is what the process may have of the device.
    pub capacity_is_share: bool,
    /// What others had of the device when the request failed.
    pub other_bytes: Option<u64>,
    /// Requests that failed and after which the run went on, on all devices.
    pub caught: usize,
}

impl SnapshotVerdict {
    /// The verdict of a snapshot, with what error texts beside it say, and whether its file is cut.
    pub fn of(replayed: &ReplayedSnapshot, stated: &[StatedFailure], is_cut: bool) -> Self {
        let known =
            VerdictBasis { replayed, stated, is_cut, end: RunEnd::of(replayed, stated, is_cut) };
        let (end, devices) = (known.end, &replayed.snapshot.devices);
        let place = end.device;
        let of_run = place.and_then(|place| replayed.device(place));
        let is_recorded = end.ending == Ended::OutOfMemory && end.said_by.is_none();
        let failure = place.filter(|_| is_recorded);
        let failure = failure.and_then(|place| OutOfMemory::at_end(replayed, place, stated));
        let capacity = place.and_then(|place| known.capacity(place));
        let caught = (0..devices.len()).map(|place| caught_on(replayed, place)).sum();
        let facts = VerdictFacts {
            device: of_run.map(|(device, _)| device.number),
            failed_event: failure.as_ref().map(|failure| failure.event),
            allocated_peak_bytes: of_run.map_or(0, |(_, replay)| replay.allocated_peak.bytes),
            allocated_peak_exact: of_run.is_some_and(|(_, replay)| replay.is_exact),
            reserved_peak_bytes: of_run.map_or(0, |(_, replay)| replay.reserved_peak.bytes),
            recorded: place.map(|place| replayed.recorded(place)).unwrap_or_default(),
            history_complete: of_run.is_some_and(|(_, replay)| replay.is_complete),
            capacity_is_share: capacity.is_some_and(|text| text.is_share),
            other_bytes: failure.as_ref().and_then(|failure| failure.other_bytes),
            caught,
        };
        let text = match (&failure, of_run) {
            (Some(failure), Some((device, _))) if devices.len() > 1 => {
                format!("{}: {}", device.title(), failure.what())
            }
            (Some(failure), _) => failure.what(),
            (None, _) => facts.reason_of_no_failure(&known),
        };
        let figures = facts.figures(capacity);
        let device = of_run.map(|(device, _)| device.number);
        // What others had is known only of the moment at which it failed.
        let room = capacity.filter(|text| !text.is_share).and_then(|text| text.capacity_bytes);
        let used = facts.reserved_peak_bytes.saturating_add(facts.other_bytes.unwrap_or(0));
        let verdict = Verdict {
            used_of_all: room.map(|capacity| (used, capacity)),
            failed: failure.as_ref().zip(device).map(|(failure, device)| {
                let request = Evidence::new("the request").at_step(failure.event);
                request.at(|place| place.device = Some(device))
            }),
            text,
            details: vec![sentence_of(&figures)],
            figures,
            ..known.verdict_without_text()
        };
        Self { verdict, facts }
    }
}

impl VerdictFacts {
    fn reason_of_no_failure(&self, known: &VerdictBasis<'_>) -> String {
        let devices = &known.replayed.snapshot.devices;
        match known.end.ending {
            Ended::NotRecorded if self.device.is_none() => {
                "The snapshot has no device: it has neither segments nor events".to_owned()
            }
            Ended::NotRecorded => {
                let is_without =
                    |place: &usize| known.replayed.recorded(*place) == Recorded::Nothing;
                let without = (0..devices.len()).filter(is_without);
                let titles = without.filter_map(|place| devices.get(place));
                let titles: Vec<String> = titles.map(SnapshotDevice::title).collect();
                let what = "no events, only the state when it was taken";
                match titles.as_slice() {
                    [first, more @ ..] if titles.len() < devices.len() => {
                        let more = match more.len() as u64 {
                            0 => String::new(),
                            more => format!(", and so do {}", counted(more, "more device")),
                        };
                        format!("The snapshot of {first} has {what}{more}")
                    }
                    _ => format!("The snapshot has {what}"),
                }
            }
            Ended::Cut if devices.iter().any(|device| device.rank.is_some()) => {
                "Not all files of the ranks could be read to their ends, so it is not known how \
                the run ended"
                    .to_owned()
            }
            Ended::Cut => {
                "The file ends before its contents do, so it is not known how the run ended"
                    .to_owned()
            }
            Ended::OutOfMemory => known.end.said_by.map_or_else(String::new, |text| {
                let requested = text.requested_bytes.map_or_else(String::new, bytes);
                let title = |number: i64| {
                    let known = devices.iter().find(|device| device.number == number);
                    known.map_or_else(|| device_title(number, None), SnapshotDevice::title)
                };
                let device =
                    text.device.map_or_else(String::new, |of| format!(" on {}", title(of)));
                let what = match text.rank_not_there {
                    Some(rank) => format!(" on rank {rank}, whose snapshot cannot be read"),
                    None => format!("{device}; the snapshot has no such event"),
                };
                format!("{} says that a request of {requested} failed{what}", text.file)
            }),
            Ended::Ran => {
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

    /// The figures that say most; the capacity is what an error text states.
    fn figures(&self, capacity: Option<&StatedFailure>) -> Vec<VerdictFigure> {
        let figure = VerdictFigure::of::<String>;
        let of_room = |title, bytes, note| VerdictFigure {
            is_of_room: true,
            ..VerdictFigure::of::<String>(title, bytes, note)
        };
        let (allocated, reserved) = (self.allocated_peak_bytes, self.reserved_peak_bytes);
        let window = match self.recorded {
            Recorded::Whole | Recorded::Nothing => "",
            Recorded::Window => "of the window",
            Recorded::Cut => "of what could be read",
        };
        let least = if self.allocated_peak_exact { "" } else { "at least" };
        let mut figures = if self.recorded == Recorded::Nothing {
            vec![
                figure("Allocated", allocated, String::new()),
                figure("Reserved", reserved, String::new()),
            ]
        } else {
            let note = [least, window]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(", ");
            vec![
                figure("Allocated peak", allocated, note),
                figure("Reserved peak", reserved, window.to_owned()),
            ]
        };
        if let Some((text, bytes)) = capacity.and_then(|text| Some((text, text.capacity_bytes?))) {
            let title = if self.capacity_is_share { "Allowed" } else { "Capacity" };
            figures.push(of_room(title, bytes, format!("says {}", text.file)));
        }
        figures
            .extend(self.other_bytes.map(|bytes| of_room("Used by others", bytes, String::new())));
        figures
    }
}

fn sentence_of(figures: &[VerdictFigure]) -> String {
    let figures = figures.iter().map(|figure| {
        let note = match figure.note.as_str() {
            "" => String::new(),
            note => format!(" ({note})"),
        };
        format!("{} {}{note}", figure.title, bytes(figure.bytes))
    });
    figures.collect::<Vec<_>>().join(", ")
}

/// Number of requests that failed on a device and after which the run went on, of the last that failed.
fn caught_on(replayed: &ReplayedSnapshot, place: usize) -> usize {
    let Some((device, _)) = replayed.device(place) else { return 0 };
    let ended_by = replayed.ended_by(place).map(|failed| failed.event);
    let failed = failed_requests(&replayed.snapshot, device).into_iter();
    failed.filter(|failed| Some(failed.event) != ended_by).count()
}

/// What the verdict of a run and those of its devices go by.
struct VerdictBasis<'a> {
    replayed: &'a ReplayedSnapshot,
    stated: &'a [StatedFailure],
    is_cut: bool,
    end: RunEnd<'a>,
}

impl<'a> VerdictBasis<'a> {
    /// The verdict, but for its text and the figures that it shows.
    fn verdict_without_text(&self) -> Verdict {
        let (outcome, cause, short) = match self.end.ending {
            Ended::Ran => (run::Outcome::Ran, None, "ran"),
            Ended::OutOfMemory => (run::Outcome::OutOfMemory, REQUEST_FAILED, "out of memory"),
            Ended::Cut => (run::Outcome::Unknown, CUT, "the file is cut"),
            Ended::NotRecorded => (run::Outcome::Unknown, NOT_RECORDED, "not known"),
        };
        let places = 0..self.replayed.snapshot.devices.len();
        let devices = places.filter_map(|place| self.of_device(place));
        let devices: Vec<DeviceVerdict> = devices.collect();
        let place = self.end.device;
        let of_run = place.and_then(|place| devices.get(place));
        let capacity = place.and_then(|place| self.capacity(place));
        Verdict {
            outcome,
            cause,
            short: short.to_owned(),
            used_bytes: of_run.and_then(|device| device.used_bytes),
            capacity_bytes: capacity.and_then(|text| text.capacity_bytes),
            capacity_from: capacity.map(|text| text.file.clone()),
            over_bytes: match self.end.said_by {
                Some(text) => lacked_by_text(text),
                None => of_run.and_then(|device| device.over_bytes),
            },
            devices,
            ..Verdict::default()
        }
    }

    /// The error text that says what the device at a place has.
    fn capacity(&self, place: usize) -> Option<&'a StatedFailure> {
        let devices = &self.replayed.snapshot.devices;
        let number = devices.get(place)?.number;
        capacity_text(self.stated, number, devices.len(), self.replayed.ended_by(place).as_ref())
    }

    fn of_device(&self, place: usize) -> Option<DeviceVerdict> {
        let (device, replay) = self.replayed.device(place)?;
        let (outcome, cause) = self.outcome_of_device(place, device);
        let used = replay.reserved_peak.bytes;
        let capacity_bytes = self.capacity(place).and_then(|text| text.capacity_bytes);
        // Without events nobody knows of a peak.
        let is_recorded = self.replayed.recorded(place) != Recorded::Nothing;
        let peak = is_recorded.then_some(replay.requested_peak);
        let over_bytes = match outcome {
            run::Outcome::OutOfMemory => match self.replayed.ended_by(place) {
                Some(_) => {
                    let failure = OutOfMemory::at_end(self.replayed, place, self.stated);
                    failure.and_then(|failure| failure.short_bytes)
                }
                None => self.end.said_by.and_then(lacked_by_text),
            },
            run::Outcome::Ran => capacity_bytes.map(|capacity| used.saturating_sub(capacity)),
            _ => None,
        };
        Some(DeviceVerdict {
            device: device.number,
            name: device.title(),
            outcome,
            cause,
            used_bytes: Some(used),
            capacity_bytes,
            over_bytes,
            peak_bytes: peak.map(|peak| peak.bytes),
            peak_step: peak.map(|peak| peak.event),
        })
    }

    fn outcome_of_device(
        &self,
        place: usize,
        device: &SnapshotDevice,
    ) -> (run::Outcome, Option<&'static str>) {
        let is_cut = device.is_cut || (self.is_cut && device.rank.is_none());
        let is_known = |failed| !is_cut || text_of(self.stated, device.number, &failed).is_some();
        let has_failed = self.replayed.ended_by(place).is_some_and(is_known);
        let devices = self.replayed.snapshot.devices.len();
        let text = self.end.said_by.filter(|text| text.may_be_of(device.number));
        match text {
            _ if has_failed => (run::Outcome::OutOfMemory, REQUEST_FAILED),
            Some(text) if text.device.is_some() || devices == 1 => {
                (run::Outcome::OutOfMemory, REQUEST_FAILED)
            }
            // The text does not say on which of them.
            Some(_) => (run::Outcome::Unknown, None),
            None if is_cut => (run::Outcome::Unknown, CUT),
            None if self.replayed.recorded(place) == Recorded::Nothing => {
                (run::Outcome::Unknown, NOT_RECORDED)
            }
            None => (run::Outcome::Ran, None),
        }
    }
}

/// What the device lacked for a request, by the text about it.
fn lacked_by_text(text: &StatedFailure) -> Option<u64> {
    Some(text.requested_bytes?.saturating_sub(text.free_bytes?))
}
