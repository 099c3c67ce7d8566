//! The axis of slots below a picture: where its ticks lie, and what they say.

use crate::analysis::comparison::step_axis::StepAxis;
use crate::ui::report::moment::step_id;
use crate::ui::runs::{Run, Runs};

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
