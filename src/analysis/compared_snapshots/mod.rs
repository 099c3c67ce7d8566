//! Two snapshots of one training run, or of variants of it: what each took, what is alive at the peak of each, and what
//! follows from that.
//!
//! Of each side it is the device that failed, else the one whose requested peak is the largest, if no number is given, and its peak is that of
//! the requested bytes: only of these does every block say how much of it is its own. Events of two runs are not
//! aligned: they are as many as each run made, and none belongs to one of the other.

mod conclusions;
mod figures;
mod rows;

use std::path::PathBuf;

use crate::analysis::variants::{SnapshotTook, Took, Variant};
use crate::store::snapshot::{Action, Snapshot, SnapshotDevice};
use crate::systems::pytorch::allocator::annotations::open_at;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::device_facts::DeviceFacts;
use crate::systems::pytorch::allocator::replay::Replay;
use crate::systems::pytorch::allocator::replayed::{AllocatorRun, ReplayedSnapshot};
use crate::systems::pytorch::allocator::run_end::{Outcome, Recorded};
use crate::systems::pytorch::allocator::user_frame::user_frame;
use crate::text::clean;

pub use self::conclusions::{SnapshotConclusion, conclusions};
pub use self::figures::{ComparedFigure, SnapshotFigure, compared_figures};
pub use self::rows::{
    Both, ComparedPeaks, ComparedRow, Function, FunctionRow, MatchedBy, RowChange, UserFrames,
};

/// What the device has, as the user says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Bytes of the device.
    pub capacity_bytes: Option<u64>,
    /// What others have of it.
    pub other_bytes: u64,
    /// Whether the user says that; else what an error text says of them counts, where the capacity is from there.
    pub is_other_said: bool,
}

/// What a device has: as the user says, else as the error text beside a run states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRoom {
    /// Bytes of the device.
    pub capacity_bytes: u64,
    /// Whether the error text says that.
    pub is_stated: bool,
    /// What others have of it.
    pub other_bytes: u64,
    /// Whether that follows from the error text.
    pub is_other_stated: bool,
}

impl Room {
    /// The same, or what the text beside a variant says; `None` where nobody says it.
    pub fn or_stated(self, variant: Option<&Variant>) -> Option<KnownRoom> {
        let stated = variant.and_then(|variant| variant.stated_capacity_bytes);
        let capacity_bytes = self.capacity_bytes.or(stated)?;
        let is_stated = self.capacity_bytes.is_none();
        let others = variant.and_then(|variant| variant.stated_other_bytes);
        let others = others.filter(|_| is_stated && !self.is_other_said);
        Some(KnownRoom {
            capacity_bytes,
            is_stated,
            other_bytes: others.unwrap_or(self.other_bytes),
            is_other_stated: others.is_some(),
        })
    }
}

/// A device of a snapshot.
#[derive(Clone, Copy, Debug)]
struct ComparedDevice<'a> {
    snapshot: &'a Snapshot,
    device: &'a SnapshotDevice,
    replay: &'a Replay,
    /// The blocks that are alive at its peak.
    live: &'a [usize],
    categories: &'a [BlockCategory],
}

/// The moment of the requested peak.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeakMoment {
    /// The event within the device; −1 is before the first.
    pub event: i64,
    /// The step on the axis of all devices; −1 is before the first.
    pub step: i64,
    /// What the event did.
    pub action: Option<Action>,
    /// Named parts of the run that it is within, outermost first.
    pub annotations: Vec<String>,
    /// Where the event is: the user's function.
    pub function: Option<Function>,
    /// Whether the snapshot has stacks of Python at all, so that an event without one says something.
    pub has_stacks: bool,
}

/// One side of the comparison.
#[derive(Clone, Debug)]
pub struct ComparedSide {
    /// The figures of the device.
    pub facts: DeviceFacts,
    /// The same as a variant.
    pub variant: Variant,
    /// What it took, of that.
    pub took: SnapshotTook,
    /// Where its peak is.
    pub peak: PeakMoment,
    /// Bytes that were asked for, of blocks that live from before the first event to behind the last.
    pub always_live_bytes: u64,
    /// Allocations of activations that the backward pass computes again.
    pub recomputed: u64,
}

/// A setting of the allocator that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferentSetting {
    /// Its name.
    pub name: String,
    /// What each side has; `None` where it does not say.
    pub values: [Option<String>; 2],
}

/// Two snapshots, compared.
#[derive(Clone, Debug)]
pub struct ComparedSnapshots {
    /// Source and target.
    pub sides: [ComparedSide; 2],
    /// Settings that differ, in the order of the source.
    pub settings: Vec<DifferentSetting>,
    /// What each took.
    pub figures: Vec<ComparedFigure>,
    /// What is alive at the peak of each.
    pub peaks: ComparedPeaks,
}

/// The device that was asked for is not there, or there is none at all: on the source's side, or the target's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchDevice(pub usize);

impl ComparedSnapshots {
    /// Compares the devices of a number, or those that failed or had most.
    ///
    /// # Errors
    /// When a side does not have the device.
    pub fn of(runs: [&AllocatorRun; 2], device: Option<i64>) -> Result<Self, NoSuchDevice> {
        let of = |place: usize| {
            let run = runs.get(place).ok_or(NoSuchDevice(place))?;
            compared_side(run, device).ok_or(NoSuchDevice(place))
        };
        let ((source, first), (target, second)) = (of(0)?, of(1)?);
        let settings =
            DifferentSetting::between([&first, &second].map(|of| &*of.snapshot.settings.all));
        let peaks = rows::compared_peaks([&first, &second]);
        let sides = [source, target];
        Ok(Self { figures: compared_figures(&sides.each_ref()), sides, settings, peaks })
    }
}

impl ComparedSide {
    /// What it is called: `GPU 0`.
    pub fn device_title(&self) -> String {
        self.facts.title()
    }

    /// Whether its figures are those of a run that ended, recorded from its begin and read as a whole.
    pub fn is_whole(&self) -> bool {
        self.variant.outcome == Outcome::Ran && self.took.recorded == Recorded::Whole
    }
}

fn compared_side(
    run: &AllocatorRun,
    device: Option<i64>,
) -> Option<(ComparedSide, ComparedDevice<'_>)> {
    let replayed = run.snapshot()?;
    let (place, variant) = Variant::of_run((String::new(), PathBuf::new()), run, device)?;
    let Took::Snapshot(took) = variant.took else { return None };
    let (device, replay) = replayed.device(place)?;
    let snapshot = &replayed.snapshot;
    let facts = replayed.device_facts().get(place)?.clone();
    let (live, categories) = (replayed.live_at_peak(place), replayed.categories(place));
    let of = ComparedDevice { snapshot, device, replay, live, categories };
    let compared = ComparedSide {
        facts,
        variant,
        took,
        peak: peak_moment(replayed, place, &of),
        always_live_bytes: replay.lives.always_live_bytes(),
        recomputed: recomputed(replayed, device),
    };
    Some((compared, of))
}

fn peak_moment(replayed: &ReplayedSnapshot, place: usize, of: &ComparedDevice<'_>) -> PeakMoment {
    let ComparedDevice { snapshot, device, replay, .. } = *of;
    let event = replay.requested_peak.event;
    let row = usize::try_from(event).ok().map(|event| device.events.start.saturating_add(event));
    let time = row.and_then(|row| snapshot.events.time(row));
    let open =
        time.map_or_else(Vec::new, |time| open_at(snapshot, replayed.annotated_spans(place), time));
    let stack = row.and_then(|row| snapshot.events.stacks.get(row));
    let frame = stack.and_then(|stack| user_frame(snapshot, *stack));
    PeakMoment {
        event,
        step: replayed.step_of(device, event),
        action: row.and_then(|row| snapshot.events.actions.get(row)).copied(),
        annotations: open.into_iter().map(str::to_owned).collect(),
        has_stacks: replayed.signs().has_python(),
        function: frame.map(|frame| Function {
            file: snapshot.texts.get(frame.file).into(),
            name: snapshot.texts.get(frame.name).into(),
        }),
    }
}

/// How many allocations are of activations that the backward pass computes again.
fn recomputed(replayed: &ReplayedSnapshot, device: &SnapshotDevice) -> u64 {
    let (events, signs) = (&replayed.snapshot.events, replayed.signs());
    let rows = device.events.clone();
    let actions = events.actions.get(rows.clone()).unwrap_or_default();
    let of_events = actions.iter().zip(events.stacks.get(rows).unwrap_or_default());
    let found = of_events.filter(|(action, stack)| {
        **action == Action::Alloc && signs.of_stack(**stack).is_recomputed
    });
    found.count() as u64
}

impl DifferentSetting {
    /// Those of two lists of names and values, in the order of the source.
    pub fn between([source, target]: [&[(String, String)]; 2]) -> Vec<Self> {
        let value = |list: &[(String, String)], name: &str| {
            list.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
        };
        let of_target = target.iter().filter(|(name, _)| value(source, name).is_none());
        let rows = source.iter().chain(of_target).map(|(name, _)| Self {
            name: name.clone(),
            values: [value(source, name), value(target, name)],
        });
        rows.filter(|row| row.values[0] != row.values[1]).collect()
    }

    /// The values as words of a sentence.
    pub fn said(&self) -> [String; 2] {
        self.values.each_ref().map(|value| match value.as_deref() {
            None => "not said".to_owned(),
            Some("") => "none".to_owned(),
            Some(value) => clean(value).into_owned(),
        })
    }
}
