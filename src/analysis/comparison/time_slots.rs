//! An axis of time: slots of equal length, each with the step that has the most among those of its time, so that no
//! spike is lost; a time without steps has the step before it.

use crate::analysis::comparison::step_axis::StepAxis;

/// Slots of an axis of time.
const SLOTS: usize = 16_384;

/// The slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSlots {
    /// Which step each slot is.
    pub axis: StepAxis,
    /// Microseconds from its begin to its end.
    duration: u64,
}

impl TimeSlots {
    /// Of the times of steps, microseconds from the first, never descending; `None` where they are all the same. `curve`
    /// is that of which no spike may be lost.
    pub fn of(times: &[u64], curve: impl Fn(usize) -> u64) -> Option<Self> {
        let (start, end) = (*times.first()?, *times.last()?);
        let duration = end.checked_sub(start).filter(|duration| *duration > 0)?;
        let count = SLOTS.min(usize::try_from(duration).unwrap_or(SLOTS)).max(1);
        let slot_of = |time: u64| {
            let since = u128::from(time.saturating_sub(start));
            ((since * count as u128) / (u128::from(duration) + 1)) as usize
        };
        let mut steps = Vec::with_capacity(count);
        let mut next = 0_usize;
        for slot in 0..count {
            let mut most: Option<(usize, u64)> = None;
            while times.get(next).is_some_and(|time| slot_of(*time) <= slot) {
                let bytes = curve(next);
                if most.is_none_or(|(_, most)| bytes > most) {
                    most = Some((next, bytes));
                }
                next += 1;
            }
            let step = most.map_or(next.saturating_sub(1), |(step, _)| step);
            steps.push(u32::try_from(step).unwrap_or(u32::MAX));
        }
        let slots = times.iter().map(|time| u32::try_from(slot_of(*time)).unwrap_or(u32::MAX));
        let slots = slots.collect();
        Some(Self { axis: StepAxis::of_slots(steps, slots), duration })
    }

    /// Microseconds from the begin of the axis to a slot.
    pub fn microseconds(&self, slot: usize) -> u64 {
        let along = u128::from(self.duration) * slot as u128 / self.axis.len().max(1) as u128;
        u64::try_from(along).unwrap_or(u64::MAX)
    }

    /// The slot of a time, microseconds from the begin of the axis.
    pub fn slot_at(&self, microseconds: u64) -> usize {
        let len = self.axis.len();
        let slot = u128::from(microseconds) * len as u128 / u128::from(self.duration).max(1);
        usize::try_from(slot).unwrap_or(len).min(len.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_its_highest_step_and_without_one_that_before() {
        let curve = [3, 9, 4, 1];
        let slots = TimeSlots::of(&[0, 0, 1, 3], |step| curve[step]).expect("slots");
        let steps: Vec<_> = (0..slots.axis.len()).map(|slot| slots.axis.step(0, slot)).collect();
        assert_eq!(steps, [Some(1), Some(2), Some(3)]);
        assert_eq!((slots.axis.slot(0, 0), slots.axis.slot(0, 3)), (Some(0), Some(2)));
        assert_eq!((slots.microseconds(1), slots.slot_at(3)), (1, 2));
        let slots = TimeSlots::of(&[0, 10], |_| 1).expect("slots");
        assert_eq!(slots.axis.step(0, 5), Some(0), "the step before");
        assert_eq!(TimeSlots::of(&[4, 4], |_| 1), None);
    }
}
