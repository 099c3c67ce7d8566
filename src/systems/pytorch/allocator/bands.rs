//! The parts of a run that steps belong to: named parts, nested, one band a depth; where a snapshot names none, the
//! phases of training that stacks show (formats/pytorch.md 3.5, 4.7).

use std::borrow::Cow;
use std::ops::Range;

use super::annotations::AnnotatedSpan;
use super::phases::Phase;
use super::replayed::ReplayedSnapshot;
use crate::run::beside_curve::StepBand;
use crate::text::{clean, shortened};

/// Depths of named parts that are shown.
const MOST_DEPTHS: usize = 3;

/// Longest name.
const NAME: usize = 60;

pub fn run_bands(replayed: &ReplayedSnapshot, place: usize) -> Vec<StepBand> {
    let mut bands = named_bands(replayed, place);
    let phases = phases(replayed, place);
    // One phase says nothing.
    if phases.len() > 1 {
        let part =
            |(events, phase): &(Range<u32>, Phase)| (events.clone(), phase.title().to_owned());
        bands.push(StepBand { title: "Phases", parts: phases.iter().map(part).collect() });
    }
    bands
}

/// The named parts of a device with the steps that they have, by their begin, outer ones first; those without a step are
/// left out.
pub fn steps_of_spans(
    replayed: &ReplayedSnapshot,
    place: usize,
) -> Vec<(Range<u32>, &AnnotatedSpan)> {
    let Some((device, _)) = replayed.device(place) else { return Vec::new() };
    let spans = replayed.annotated_spans(place);
    let times = replayed.snapshot.events.times.get(device.events.clone()).unwrap_or_default();
    if spans.is_empty() || times.is_empty() {
        return Vec::new();
    }
    let running = never_earlier(times);
    let step = |event: usize| u32::try_from(event).map_or(device.steps(), |event| event);
    let steps = |span: &AnnotatedSpan| {
        let from = running.partition_point(|time| *time < span.start);
        step(from)..step(running.partition_point(|time| *time <= span.end))
    };
    let of_spans = spans.iter().map(|span| (steps(span), span));
    of_spans.filter(|(steps, _)| !steps.is_empty()).collect()
}

fn named_bands(replayed: &ReplayedSnapshot, place: usize) -> Vec<StepBand> {
    let snapshot = &replayed.snapshot;
    let mut bands: Vec<StepBand> = Vec::new();
    // Ends of the parts that are open.
    let mut open: Vec<i64> = Vec::new();
    for (steps, span) in steps_of_spans(replayed, place) {
        while open.last().is_some_and(|end| *end <= span.start) {
            open.pop();
        }
        let depth = open.len();
        open.push(span.end);
        if depth >= MOST_DEPTHS {
            continue;
        }
        if bands.len() <= depth {
            let title = if depth == 0 { "Annotations" } else { "" };
            bands.resize_with(depth + 1, || StepBand { title, parts: Vec::new() });
        }
        let name = clean(snapshot.texts.get(span.name));
        // "Optimizer.step#AdamW.step" is said by its end.
        let name = name.rsplit_once('#').map_or(&*name, |(_, name)| name);
        let Some(band) = bands.get_mut(depth) else { continue };
        let start = steps.start.max(band.parts.last().map_or(0, |(last, _)| last.end));
        if start < steps.end {
            band.parts.push((start..steps.end, shortened(name, NAME).into_owned()));
        }
    }
    bands.retain(|band| !band.parts.is_empty());
    bands
}

/// Times, where they step back the latest until then: a part begins with the first event that is as late.
fn never_earlier(times: &[i64]) -> Cow<'_, [i64]> {
    if times.is_sorted() {
        return Cow::Borrowed(times);
    }
    let mut latest = i64::MIN;
    let later = |time: &i64| {
        latest = latest.max(*time);
        latest
    };
    Cow::Owned(times.iter().map(later).collect())
}

/// The phases of a device: events from the first allocation of each to that of the next.
fn phases(replayed: &ReplayedSnapshot, place: usize) -> Vec<(Range<u32>, Phase)> {
    let Some(((device, _), moments)) = replayed.device(place).zip(replayed.moments(place)) else {
        return Vec::new();
    };
    let last = (device.events.len() as u32).saturating_sub(1);
    let ends = moments.phases.iter().skip(1).map(|(event, _)| *event).chain([last]);
    let phases = moments.phases.iter().zip(ends);
    phases.map(|((start, phase), end)| (*start..end.max(*start), *phase)).collect()
}
