//! The axis of slots below a picture: where its ticks lie, and what they say.

use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::comparison::time_slots::TimeSlots;
use crate::text::time_text;
use crate::ui::report::moment::step_id;
use crate::ui::runs::{Run, Runs};
use crate::ui::widget::ticks;

/// Peaks that are numbered in a picture of memory over steps.
pub const MOST_PEAKS: usize = 5;

/// What a slot is called: the step of the first run that has one there, of another than the reference with its
/// letter.
pub fn slot_text(runs: &Runs, axis: &StepAxis, slot: usize) -> String {
    let step = |(place, run): (usize, &Run)| {
        let id = step_id(&run.report, axis.step(place, slot)?);
        let letter = run.badge.letter;
        Some(if place == 0 { id } else { format!("{letter} {id}") })
    };
    runs.iter().enumerate().find_map(step).unwrap_or_default()
}

/// Slots of round steps of the reference between two places, no closer than so many.
pub fn round_slots(axis: &StepAxis, (start, end): (f64, f64), least: f64) -> Vec<usize> {
    let (step, last) = (least.max(1.0) as usize, (end.max(0.0) as usize).min(axis.len()));
    let Some(to) = axis.step_at_or_before(0, last.saturating_sub(1)) else { return Vec::new() };
    let from = axis.step_at_or_before(0, start.max(0.0) as usize).unwrap_or(0);
    let steps = (from.div_ceil(step) * step..=to).step_by(step);
    steps.filter_map(|step| axis.slot(0, step)).collect()
}

/// What a slot of time is called.
pub fn time_text_of(time: &TimeSlots, slot: usize) -> String {
    match time.microseconds(slot) {
        0 => "0 s".to_owned(),
        microseconds => time_text(microseconds as f64 * 1e-6),
    }
}

/// Slots at round times.
pub fn time_ticks(time: &TimeSlots, (start, end): (f64, f64), least: f64) -> Vec<usize> {
    let len = time.axis.len();
    let microseconds = |slot: f64| time.microseconds((slot.max(0.0) as usize).min(len)) as f64;
    let (from, to) = (microseconds(start), microseconds(end));
    let per_slot = (to - from) / (end - start).max(1.0);
    let step = ticks::whole_step(least * per_slot);
    let at = ticks::multiples(step, (from, to));
    at.map(|at| time.slot_at(at.max(0.0) as u64)).collect()
}
