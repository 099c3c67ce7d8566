//! The axis of a picture of events: a slot for each step, or slots of equal time, each with the step that has the most
//! among those of its time, so that no spike is lost; a time without events has the step before it.

use super::replayed::ReplayedSnapshot;

/// Slots of an axis of time.
const SLOTS: usize = 16_384;

/// The steps of the slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventSlots {
    len: usize,
    by_time: Option<ByTime>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ByTime {
    /// By slot the step that stands for it.
    steps: Vec<u32>,
    /// By slot the first step of it, or of those after it.
    firsts: Vec<u32>,
    /// Microseconds from its begin to its end.
    duration: u64,
}

impl EventSlots {
    /// A slot for each step.
    pub fn by_event(len: usize) -> Self {
        Self { len, by_time: None }
    }

    /// Slots of equal time; `None` where events have no times. `curve` is that of which no spike may be lost.
    pub fn by_time(replayed: &ReplayedSnapshot, curve: &[u64]) -> Option<Self> {
        let axis = replayed.axis();
        let events = &replayed.snapshot.events;
        let mut latest = i64::MIN;
        let mut times = Vec::with_capacity(curve.len());
        for step in 0..axis.len() {
            let time = axis.row(step).and_then(|row| events.time(row));
            // Time may stand still or step back.
            latest = latest.max(time?);
            times.push(latest);
        }
        let (start, end) = (*times.first()?, *times.last()?);
        let duration = end.checked_sub(start).filter(|duration| *duration > 0)?.unsigned_abs();
        let count = SLOTS.min(usize::try_from(duration).unwrap_or(SLOTS)).max(1);
        let slot_of = |time: i64| {
            let since = u128::from(time.saturating_sub(start).unsigned_abs());
            ((since * count as u128) / (u128::from(duration) + 1)) as usize
        };
        let (mut steps, mut firsts) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut next = 0_usize;
        for slot in 0..count {
            firsts.push(next as u32);
            let mut most: Option<usize> = None;
            while next < times.len() && slot_of(times[next]) <= slot {
                if most.is_none_or(|most| curve.get(next) > curve.get(most)) {
                    most = Some(next);
                }
                next += 1;
            }
            let step = most.unwrap_or(next.saturating_sub(1));
            steps.push(step as u32);
        }
        let by_time = ByTime { steps, firsts, duration };
        Some(Self { len: count, by_time: Some(by_time) })
    }

    /// Number of slots.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether they are of equal time.
    pub fn is_by_time(&self) -> bool {
        self.by_time.is_some()
    }

    /// The step that stands for a slot.
    pub fn step(&self, slot: usize) -> usize {
        match &self.by_time {
            None => slot,
            Some(by_time) => by_time.steps.get(slot).copied().unwrap_or(0) as usize,
        }
    }

    /// The slot of a step.
    pub fn slot(&self, step: usize) -> usize {
        match &self.by_time {
            None => step,
            Some(by_time) => {
                let upto = by_time.firsts.partition_point(|first| *first as usize <= step);
                upto.saturating_sub(1)
            }
        }
    }

    /// Microseconds from the begin of the axis to a slot.
    pub fn microseconds(&self, slot: usize) -> Option<u64> {
        let by_time = self.by_time.as_ref()?;
        let along = u128::from(by_time.duration) * slot as u128 / self.len.max(1) as u128;
        u64::try_from(along).ok()
    }

    /// The slot of a time, microseconds from the begin of the axis.
    pub fn slot_at(&self, microseconds: u64) -> Option<usize> {
        let by_time = self.by_time.as_ref()?;
        let slot =
            u128::from(microseconds) * self.len as u128 / u128::from(by_time.duration).max(1);
        Some((slot as usize).min(self.len.saturating_sub(1)))
    }

    /// A curve over steps, over slots.
    pub fn in_slots(&self, curve: &[u64]) -> Vec<u64> {
        let at = |slot| curve.get(self.step(slot)).copied().unwrap_or(0);
        (0..self.len).map(at).collect()
    }
}
