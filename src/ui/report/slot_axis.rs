//! The axis of slots below a picture: where its ticks lie, and what they say.

use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::comparison::time_slots::TimeSlots;
use crate::text::time_text;
use crate::ui::report::moment::step_id;
use crate::ui::runs::{Run, Runs};
use crate::ui::widget::ticks;

/// Peaks that are numbered in a picture of memory over steps.
pub const MOST_PEAKS: usize = 5;

/// What a slot is called: the step of the first run that has one there. One of another run than the reference
/// has its letter, unless the steps of all runs lie by their numbers.
pub fn slot_text(runs: &Runs, axis: &StepAxis, slot: usize) -> String {
    let has_letter = !runs.are_by_number();
    let step = |(place, run): (usize, &Run)| {
        let id = step_id(&run.report, axis.step(place, slot)?);
        let letter = run.badge.letter;
        Some(if place == 0 || !has_letter { id } else { format!("{letter} {id}") })
    };
    runs.iter().enumerate().find_map(step).unwrap_or_default()
}

/// Slots of round steps between two places, no closer than so many: of the reference, and behind its end of the run that
/// is the longest.
pub fn round_slots(axis: &StepAxis, (start, end): (f64, f64), least: f64) -> Vec<usize> {
    let (step, last) = (least.max(1.0) as usize, (end.max(0.0) as usize).min(axis.len()));
    let of_run = |run: usize, first: usize| {
        let to = axis.step_at_or_before(run, last.saturating_sub(1));
        let from = axis.step_at_or_before(run, first).unwrap_or(0);
        let steps = to.map(|to| (from.div_ceil(step) * step..=to).step_by(step));
        steps.into_iter().flatten().filter_map(move |step| axis.slot(run, step))
    };
    let mut slots: Vec<usize> = of_run(0, start.max(0.0) as usize).collect();
    let longest = (0..axis.runs()).max_by_key(|run| axis.end(*run)).unwrap_or(0);
    let free_from = slots.last().map_or(0, |slot| slot.saturating_add(step)).max(axis.end(0));
    if longest > 0 && free_from < last {
        let first = free_from.max(start.max(0.0) as usize);
        slots.extend(of_run(longest, first).filter(|slot| *slot >= first));
    }
    slots
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::matching::{Pairs, Sureness};

    #[test]
    fn ticks_go_on_where_another_run_is_longer_than_the_reference() {
        let axis = StepAxis::by_index(&[25, 100, 60]);
        assert_eq!(round_slots(&axis, (0.0, 100.0), 20.0), [0, 20, 40, 60, 80]);
        assert_eq!(round_slots(&axis, (50.0, 100.0), 20.0), [60, 80]);
        assert_eq!(round_slots(&StepAxis::by_index(&[100, 25]), (0.0, 100.0), 50.0), [0, 50]);
        assert!(round_slots(&StepAxis::by_index(&[0, 0]), (0.0, 0.0), 5.0).is_empty());
        // The second run goes on behind what is matched.
        let mut pairs = Pairs::new(4, 9);
        assert!((0..4).all(|step| pairs.pair(step, step, Sureness::Exact)));
        let axis = StepAxis::by_matching(4, &[(&pairs, 9)]);
        assert_eq!(round_slots(&axis, (0.0, 9.0), 2.0), [0, 2, 4, 6, 8]);
    }
}
