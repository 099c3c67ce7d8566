//! Curves of runs on the axis that their steps share
//! ([`StepAxis`](super::step_axis::StepAxis)). In a slot without a step of the run a curve
//! keeps the value of the step before; before the first step it is 0.

use std::ops::Range;

/// A curve by slot; `step_in` is the step of the report in a slot.
pub fn in_slots(slots: usize, step_in: impl Fn(usize) -> Option<usize>, curve: &[u64]) -> Vec<u64> {
    let mut now = 0;
    (0..slots)
        .map(|slot| {
            if let Some(bytes) = step_in(slot).and_then(|step| curve.get(step)) {
                now = *bytes;
            }
            now
        })
        .collect()
}

/// The slots that are wanted, as ranges.
pub fn slots_where(slots: usize, is_wanted: impl Fn(usize) -> bool) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for slot in (0..slots).filter(|slot| is_wanted(*slot)) {
        let Ok(slot) = u32::try_from(slot) else { break };
        match ranges.last_mut() {
            Some(last) if last.end == slot => last.end += 1,
            _ => ranges.push(slot..slot + 1),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_keeps_its_value_where_the_report_has_no_step() {
        let steps = [None, Some(0), None, None, Some(1), Some(9)];
        let curve = in_slots(steps.len(), |slot| steps[slot], &[7, 3]);
        assert_eq!(curve, [0, 7, 7, 7, 3, 3]);
        let without = slots_where(steps.len(), |slot| steps[slot].is_none());
        assert_eq!(without, [0..1, 2..4]);
        assert!(slots_where(0, |_| true).is_empty() && slots_where(3, |_| false).is_empty());
    }
}
