//! Snapshots in a comparison by peaks: the device that failed, else the one whose requested peak is the largest, if no
//! number is given, and its requested peak, because only requested bytes are known for every block. Events of two runs
//! are not aligned: they are as many as each run made, and none belongs to one of the other.

mod alive;
mod conclusions;
mod figures;

use serde_json::{Map, Value, json};

pub use self::figures::SnapshotFigure;
use crate::analysis::comparison::options::OptionText;
use crate::analysis::program::report_options::OptionKind;
use crate::run::compared::names::{Owner, SharedNames};
use crate::run::compared::{Compared, ComparedWords, Own, PeakOfSide, PeakTab, RunSide};
use crate::run::{Conclusion, Need, Room};
use crate::store::snapshot::{Action, Snapshot, SnapshotDevice};
use crate::systems::pytorch::allocator::annotations::open_at;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::device_facts::DeviceFacts;
use crate::systems::pytorch::allocator::replay::Replay;
use crate::systems::pytorch::allocator::replayed::{AllocatorRun, ReplayedSnapshot};
use crate::systems::pytorch::allocator::run_end::{Ended, Recorded};
use crate::systems::pytorch::allocator::user_frame::{NO_STACK, user_frame};
use crate::systems::pytorch::budgets::need_of;
use crate::systems::pytorch::took::SnapshotTook;
use crate::text::{exact_bytes, grouped};

/// How snapshots are compared.
pub static WORDS: ComparedWords = ComparedWords {
    matching: alive::MATCHING,
    no_setting: "No setting of the allocator differs",
    are_owners_operations: false,
    owner: "Function",
    nobody: NO_STACK,
    detail: "Called by",
    counted: "blocks",
    each: Some("Each block"),
    by_owner: "By function",
    by_row: "By user frames and size",
    tabs: [(PeakTab::Rows, "At the peaks by frames"), (PeakTab::Owners, "By function")],
    at_peaks: "At the requested peaks",
    peaks: "Requested peaks",
    adds_up: "requested bytes at the peak of each run; they add up to both peaks",
    no_peaks: "",
    steps: "events",
    is_capacity_of_machine: true,
    device: ["Device", "Fullest device"],
};

/// A device of a snapshot.
#[derive(Clone, Copy, Debug)]
struct ComparedDevice<'a> {
    /// Its place among the devices.
    place: usize,
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
    pub function: Option<Owner>,
    /// Whether the snapshot has stacks of Python at all, so that an event without one says something.
    pub has_stacks: bool,
}

/// One side of the comparison.
#[derive(Clone, Debug)]
pub struct ComparedSide {
    /// The figures of the device.
    pub facts: DeviceFacts,
    /// What it took.
    pub took: SnapshotTook,
    /// Where its peak is.
    pub peak: PeakMoment,
    /// Bytes that were asked for, of blocks that live from before the first event to behind the last.
    pub always_live_bytes: u64,
    /// Allocations of activations that the backward pass computes again.
    pub recomputed: u64,
}

impl ComparedSide {
    /// What it is called: `GPU 0`.
    pub fn device_title(&self) -> String {
        self.facts.title()
    }

    /// Whether its figures are those of a run that ended, recorded from its begin and read as a whole.
    pub fn is_whole(&self) -> bool {
        self.took.ending == Ended::Ran && self.took.recorded == Recorded::Whole
    }
}

/// What a run brings into a comparison: the device of a number, or the one that failed or had most; `None` where it has
/// no such device.
pub fn side(run: &AllocatorRun, device: Option<i64>, names: &mut SharedNames) -> Option<RunSide> {
    let (own, need, of) = compared_side(run, device)?;
    let at = match u64::try_from(own.peak.event) {
        Ok(event) => format!("at event {}", grouped(event)),
        Err(_) => "before the first event".to_owned(),
    };
    let bytes = own.took.requested_peak_bytes;
    let mut figures = SnapshotFigure::all(&own);
    figures.extend(
        run.snapshot().map(|all| SnapshotFigure::of_steps(all, of.place)).into_iter().flatten(),
    );
    Some(RunSide {
        device: Some(own.facts.device),
        title: own.device_title(),
        peak: Some(PeakOfSide {
            bytes,
            not_always_live_bytes: bytes.saturating_sub(own.always_live_bytes),
            step: Some(own.peak.step),
        }),
        peak_text: format!("{} {at}", exact_bytes(bytes)),
        always_live_bytes: Some(own.always_live_bytes),
        figures,
        settings: OptionText::of_kind(OptionKind::Setting, &of.snapshot.settings.all),
        need,
        alive: Some(alive::alive(&of, names)),
        own: Own::new(own),
    })
}

/// What follows from a comparison of two snapshots; `size` writes bytes.
pub fn change_conclusions(compared: &Compared, size: &dyn Fn(u64) -> String) -> Vec<Conclusion> {
    let Some(sides) = compared.own() else { return Vec::new() };
    conclusions::conclusions(compared, sides, size)
}

/// What only snapshots say of a comparison, for programs.
pub fn change_json(compared: &Compared, room: Room) -> Map<String, Value> {
    let Some([source, target]) = compared.own::<ComparedSide>() else { return Map::new() };
    let both = |value: &dyn Fn(&ComparedSide) -> Value| json!({ "source": value(source), "target": value(target) });
    let facts = [
        ("device", both(&|side| side.facts.device.into())),
        ("finished", both(&|side| side.took.ending.finished().into())),
        ("cut", both(&|side| side.took.is_cut.into())),
        ("recorded", both(&|side| side.took.recorded.key().into())),
        ("history_complete", both(&|side| side.facts.history_complete.into())),
        ("max_allocated_from", both(&|side| side.took.max_allocated_from.as_str().into())),
        ("oom_request_bytes", both(&|side| json!(side.took.failed_request_bytes))),
        ("recomputed_allocations", both(&|side| side.recomputed.into())),
        ("stated_capacity_bytes", both(&|side| json!(side.took.stated.capacity_bytes))),
        ("stated_other_bytes", both(&|side| json!(side.took.stated.other_bytes))),
        ("capacity_bytes", json!(room.capacity_bytes)),
        ("other_bytes", json!(room.other_bytes)),
        ("peak", both(&peak_json)),
    ];
    facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn peak_json(side: &ComparedSide) -> Value {
    let PeakMoment { event, step, action, annotations, function, .. } = &side.peak;
    json!({
        "bytes": side.took.requested_peak_bytes,
        "event": event,
        "step": step,
        "action": action,
        "annotations": annotations,
        "function": function.as_ref().map(Owner::title),
    })
}

fn compared_side(
    run: &AllocatorRun,
    device: Option<i64>,
) -> Option<(ComparedSide, Need, ComparedDevice<'_>)> {
    let replayed = run.snapshot()?;
    let (place, took) = SnapshotTook::of_run(run, device)?;
    let (device, replay) = replayed.device(place)?;
    let need = need_of(run, place, &took)?;
    let snapshot = &replayed.snapshot;
    let facts = replayed.device_facts().get(place)?.clone();
    let (live, categories) = (replayed.live_at_peak(place), replayed.categories(place));
    let of = ComparedDevice { place, snapshot, device, replay, live, categories };
    let compared = ComparedSide {
        facts,
        took,
        peak: peak_moment(replayed, place, &of),
        always_live_bytes: replay.lives.always_live_bytes(),
        recomputed: recomputed(replayed, device),
    };
    Some((compared, need, of))
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
        step: event,
        action: row.and_then(|row| snapshot.events.actions.get(row)).copied(),
        annotations: open.into_iter().map(str::to_owned).collect(),
        has_stacks: replayed.signs().has_python(),
        function: frame.map(|frame| alive::function(snapshot, frame)),
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
