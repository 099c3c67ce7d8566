//! Training steps of a device, and its landmarks: where passes, steps of the optimizer and named parts begin and end
//! within them.
//!
//! A training step is a `ProfilerStep#N`, where the profiler named steps: its number is the same in every run. Else it
//! lasts until the first pass behind a step of the optimizer, and is counted from the begin of the recording.

use std::collections::HashMap;
use std::ops::Range;

use super::annotations::AnnotatedSpan;
use super::bands::steps_of_spans;
use super::phases::Phase;
use super::replayed::ReplayedSnapshot;
use crate::analysis::comparison::landmarks::Landmark;

/// How `torch.profiler` calls a training step, with its number.
const PROFILER_STEP: &str = "ProfilerStep#";

/// A training step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainingStep {
    /// `ProfilerStep#5`, `recorded step 2`.
    pub name: String,
    /// Its events.
    pub events: Range<u32>,
    /// Whether its end is recorded.
    pub is_whole: bool,
}

/// The training steps of a device, ascending; nothing where neither the profiler nor the optimizer shows any.
pub fn training_steps(replayed: &ReplayedSnapshot, place: usize) -> Vec<TrainingStep> {
    steps_among(replayed, place, &steps_of_spans(replayed, place))
}

/// The same where the named parts are known.
fn steps_among(
    replayed: &ReplayedSnapshot,
    place: usize,
    spans: &[(Range<u32>, &AnnotatedSpan)],
) -> Vec<TrainingStep> {
    let of_device = replayed.device(place).zip(replayed.moments(place));
    let Some(((device, _), moments)) = of_device else { return Vec::new() };
    let texts = &replayed.snapshot.texts;
    let failed = replayed.ended_by(place).map(|failed| failed.event);
    let named = spans.iter().filter(|(_, span)| texts.get(span.name).starts_with(PROFILER_STEP));
    let named = named.map(|(events, span)| TrainingStep {
        name: texts.get(span.name).to_owned(),
        events: events.clone(),
        // What a failure ends has an end, too.
        is_whole: span.end != i64::MAX && failed.is_none_or(|failed| !events.contains(&failed)),
    });
    let named: Vec<_> = named.collect();
    if !named.is_empty() {
        return named;
    }
    let mut begin = 0;
    let mut steps: Vec<TrainingStep> = Vec::new();
    let mut push = |events: Range<u32>, is_whole| {
        let name = format!("recorded step {}", steps.len().saturating_add(1));
        steps.push(TrainingStep { name, events, is_whole });
    };
    for step in &moments.optimizer_steps {
        let later = moments.phases.partition_point(|(event, _)| event <= step);
        let mut later = moments.phases.get(later..).unwrap_or_default().iter();
        let next = later.find(|(_, phase)| *phase != Phase::Optimizer);
        let end = next.map_or(device.steps(), |(event, _)| *event);
        // Optimizers of a step that follow each other make one.
        if end > begin {
            push(begin..end, true);
            begin = end;
        }
    }
    // A step that was not finished.
    if begin > 0 && moments.phases.last().is_some_and(|(event, _)| *event >= begin) {
        push(begin..device.steps(), false);
    }
    steps
}

/// The landmarks of a device, ascending.
pub fn landmarks(replayed: &ReplayedSnapshot, place: usize) -> Vec<Landmark> {
    let Some(moments) = replayed.moments(place) else { return Vec::new() };
    let texts = &replayed.snapshot.texts;
    let spans = steps_of_spans(replayed, place);
    let steps = steps_among(replayed, place, &spans);
    // At one event what is outside comes first, and begins come before ends.
    let begins = spans.iter().map(|(events, span)| (events.start, texts.get(span.name)));
    let phases = moments.phases.iter().map(|(event, phase)| (*event, phase.title()));
    let mut found: Vec<(u32, &str, &str)> =
        begins.chain(phases).map(|(event, name)| (event, "begin", name)).collect();
    let ends = spans.iter().map(|(events, span)| (events.end, "end", texts.get(span.name)));
    found.extend(ends);
    found.sort_by_key(|(event, ..)| *event);
    let mut numbers: HashMap<(usize, &str, &str), u32> = HashMap::new();
    let landmark = |(event, what, name)| {
        let begun = steps.partition_point(|step| step.events.start <= event);
        let within = begun.checked_sub(1).and_then(|row| steps.get(row));
        let within = within.filter(|step| event < step.events.end);
        let step = within.map_or("after", |step| &step.name);
        let number = numbers.entry((begun, what, name)).or_default();
        *number = number.saturating_add(1);
        Landmark { step: event, name: format!("{step}: {what} of {name} {number}") }
    };
    found.into_iter().map(landmark).collect()
}
