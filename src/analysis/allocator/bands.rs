//! What parts of a run the steps belong to: named parts, nested, one band a depth; where a snapshot names none, the
//! phases of training that stacks show (formats/pytorch.md 3.5, 4.7).
//!
//! A phase lasts from one change among forward (Python stack), backward (no Python stack) and optimizer (a frame below
//! `torch/optim`) to the next, by the allocations.

use std::ops::Range;

use super::annotations::annotated_spans;
use super::replayed::ReplayedSnapshot;
use super::user_frame::is_python;
use crate::store::snapshot::{Action, Snapshot, SnapshotDevice, StackId};
use crate::text::{clean, shortened};

/// Depths of named parts that are shown.
const MOST_DEPTHS: usize = 3;

/// Longest name.
const NAME: usize = 60;

/// Parts that share a band: ranges of steps, ascending, with names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunBand {
    /// What they are: "Annotations".
    pub title: &'static str,
    /// The parts.
    pub parts: Vec<(Range<u32>, String)>,
}

/// The bands of a device.
pub fn run_bands(replayed: &ReplayedSnapshot, place: usize) -> Vec<RunBand> {
    let Some((device, _)) = replayed.device(place) else { return Vec::new() };
    let named = named_bands(replayed, device);
    let mut bands = named;
    let phases = phases(&replayed.snapshot, device);
    // One phase says nothing.
    if phases.len() > 1 {
        let axis = replayed.axis();
        let part = |(events, phase): &(Range<u32>, TrainingPhase)| {
            let steps = axis.step(device, events.start)..axis.step(device, events.end);
            (steps, phase.title().to_owned())
        };
        bands.push(RunBand { title: "Phases", parts: phases.iter().map(part).collect() });
    }
    bands
}

fn named_bands(replayed: &ReplayedSnapshot, device: &SnapshotDevice) -> Vec<RunBand> {
    let snapshot = &replayed.snapshot;
    let spans = annotated_spans(snapshot, device);
    let times = snapshot.events.times.get(device.events.clone()).unwrap_or_default();
    if spans.is_empty() || times.is_empty() {
        return Vec::new();
    }
    // Time may step back: a part begins with the first event that is as late.
    let mut latest = i64::MIN;
    let running: Vec<i64> = times
        .iter()
        .map(|time| {
            latest = latest.max(*time);
            latest
        })
        .collect();
    let axis = replayed.axis();
    let step = |event: usize| match u32::try_from(event) {
        Ok(event) if (event as usize) < running.len() => axis.step(device, event),
        _ => axis.len(),
    };
    let mut bands: Vec<RunBand> = Vec::new();
    // Ends of the parts that are open.
    let mut open: Vec<i64> = Vec::new();
    for span in &spans {
        while open.last().is_some_and(|end| *end <= span.start) {
            open.pop();
        }
        let depth = open.len();
        open.push(span.end);
        let from = running.partition_point(|time| *time < span.start);
        let to = running.partition_point(|time| *time <= span.end);
        if depth >= MOST_DEPTHS || from >= to {
            continue;
        }
        if bands.len() <= depth {
            let title = if depth == 0 { "Annotations" } else { "" };
            bands.resize_with(depth + 1, || RunBand { title, parts: Vec::new() });
        }
        let name = clean(snapshot.texts.get(span.name));
        // "Optimizer.step#AdamW.step" is said by its end.
        let name = name.rsplit_once('#').map_or(&*name, |(_, name)| name);
        let Some(band) = bands.get_mut(depth) else { continue };
        let start = step(from).max(band.parts.last().map_or(0, |(last, _)| last.end));
        let end = step(to);
        if start < end {
            band.parts.push((start..end, shortened(name, NAME).into_owned()));
        }
    }
    bands.retain(|band| !band.parts.is_empty());
    bands
}

crate::text::words! {
    /// A phase of training.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TrainingPhase by as_str, title {
        /// Allocations with a Python stack.
        Forward = "forward" | "Forward",
        /// Allocations without one.
        Backward = "backward" | "Backward",
        /// Allocations below `torch/optim`.
        Optimizer = "optimizer" | "Optimizer",
    }
}

/// The phases of a device: events from the first allocation of each to that of the next.
pub fn phases(snapshot: &Snapshot, device: &SnapshotDevice) -> Vec<(Range<u32>, TrainingPhase)> {
    let of_stack = |stack: u32| {
        let frames = || snapshot.frames_of(StackId(stack));
        let is_optimizer =
            frames().any(|frame| snapshot.texts.get(frame.file).contains("/torch/optim/"));
        match () {
            () if is_optimizer => TrainingPhase::Optimizer,
            () if frames().any(|frame| is_python(snapshot, frame)) => TrainingPhase::Forward,
            () => TrainingPhase::Backward,
        }
    };
    let of_stacks: Vec<TrainingPhase> = (0..snapshot.stacks.len() as u32).map(of_stack).collect();
    let events = &snapshot.events;
    let actions = events.actions.get(device.events.clone()).unwrap_or_default();
    let stacks = events.stacks.get(device.events.clone()).unwrap_or_default();
    let mut phases: Vec<(Range<u32>, TrainingPhase)> = Vec::new();
    // Without any stack nothing is known.
    if of_stacks.is_empty() {
        return phases;
    }
    for ((event, action), stack) in (0_u32..).zip(actions).zip(stacks) {
        if *action != Action::Alloc {
            continue;
        }
        let of = of_stacks.get(stack.0 as usize).copied();
        let phase = of.unwrap_or(TrainingPhase::Backward);
        match phases.last_mut() {
            Some((last, now)) if *now == phase => last.end = event,
            Some((last, _)) => {
                last.end = event;
                phases.push((event..event, phase));
            }
            None => phases.push((event..event, phase)),
        }
    }
    if let Some((last, _)) = phases.last_mut() {
        last.end = (actions.len() as u32).saturating_sub(1).max(last.start);
    }
    phases
}
