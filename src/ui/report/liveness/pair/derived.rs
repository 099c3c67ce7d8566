//! What the page of two reports computes beside the window for a scope: both curves by slot, and their
//! peaks.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::analysis::comparison::slot_curves::{in_slots, slots_where};
use crate::analysis::comparison::spikes::{Spike, spikes};
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::scope_curve::AlwaysLive;
use crate::store::Report;
use crate::ui::legacy::AlignedSteps;
use crate::ui::legacy::Side;
use crate::ui::report::liveness::derived::Derived;
use crate::ui::widget::bins::Values;

/// The curve of one report, by slot.
#[derive(Debug)]
pub struct OfSide {
    /// By step.
    pub derived: Arc<Derived>,
    /// Not-always-live bytes.
    not_always_live: Vec<u64>,
    /// Always-live bytes, where they are known.
    pub always_live: Option<Vec<u64>>,
    /// Both together, where both are known.
    together: Option<Vec<u64>>,
}

impl OfSide {
    fn new(derived: Derived, slots: usize, step_in: impl Fn(usize) -> Option<usize>) -> Self {
        let in_slots = |curve: &[u64]| in_slots(slots, &step_in, curve);
        let not_always_live = in_slots(&derived.curve.not_always_live);
        let always_live = match &derived.curve.always_live {
            AlwaysLive::Unknown => None,
            AlwaysLive::Level(level) => Some(vec![*level; slots]),
            AlwaysLive::AtStep(curve) => Some(in_slots(curve)),
        };
        let add = |(a, b): (&u64, &u64)| a.saturating_add(*b);
        let together = always_live
            .as_ref()
            .map(|always_live| not_always_live.iter().zip(always_live).map(add).collect());
        Self { derived: Arc::new(derived), not_always_live, always_live, together }
    }

    /// What is alive in each slot, with what is always live or without.
    pub fn values(&self, with_always_live: bool) -> &[u64] {
        match &self.together {
            Some(together) if with_always_live => together,
            _ => &self.not_always_live,
        }
    }

    /// The largest of these.
    pub fn top(&self, with_always_live: bool) -> u64 {
        if with_always_live { self.derived.top } else { self.derived.highest }
    }

    /// Not-always-live bytes in a slot.
    pub fn not_always_live_at(&self, slot: usize) -> u64 {
        self.not_always_live.get(slot).copied().unwrap_or(0)
    }

    /// Always-live bytes in a slot, where they are known.
    pub fn always_live_at(&self, slot: usize) -> Option<u64> {
        self.always_live.as_ref()?.get(slot).copied()
    }
}

/// A peak of either report, and its partner in the same slot.
#[derive(Clone, Copy, Debug)]
pub struct SlotPeak {
    /// Its slot.
    pub slot: usize,
    /// Its steps and bytes.
    pub spike: Spike,
}

impl SlotPeak {
    fn new(spike: Spike, axis: &AlignedSteps) -> Option<Self> {
        let of_source = spike.source_step.and_then(|step| axis.slot_of_source(step));
        let slot = of_source.or_else(|| axis.slot_of_target(spike.target_step?))?;
        Some(Self { slot, spike })
    }
}

/// The curves of both reports and what belongs to them.
#[derive(Debug)]
pub struct PairDerived {
    /// The scope.
    pub scope: Scope,
    /// The axis.
    pub axis: Arc<AlignedSteps>,
    /// Source and target; `None` where the report has no such curve.
    pub sides: [Option<OfSide>; 2],
    /// The more of both in each slot: without what is always live, and with it.
    highest: [Vec<u64>; 2],
    /// The peaks of both, largest first.
    pub peaks: Vec<SlotPeak>,
    /// Slots that only the source has, and only the target.
    pub only: [Vec<Range<u32>>; 2],
    /// Tells curves apart.
    pub version: u64,
}

impl PairDerived {
    /// Computes it; `None` when no report has such a curve.
    pub fn new(
        reports: [&Report; 2],
        scope: Scope,
        axis: &Arc<AlignedSteps>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Self> {
        static VERSIONS: AtomicU64 = AtomicU64::new(0);
        let [source, target] = reports;
        let slots = axis.len();
        let of_source = Derived::new(source, scope, is_cancelled)
            .map(|derived| OfSide::new(derived, slots, |slot| axis.source_at(slot)));
        let of_target = Derived::new(target, scope, is_cancelled)
            .map(|derived| OfSide::new(derived, slots, |slot| axis.target_at(slot)));
        let sides = [of_source, of_target];
        if sides.iter().all(Option::is_none) {
            return None;
        }
        let highest = [false, true].map(|with_always_live| {
            let [source, target] = sides
                .each_ref()
                .map(|side| side.as_ref().map_or(&[][..], |side| side.values(with_always_live)));
            let most = |slot: usize| source.get(slot).max(target.get(slot)).copied().unwrap_or(0);
            (0..slots).map(most).collect()
        });
        let [source_curve, target_curve] = sides
            .each_ref()
            .map(|side| side.as_ref().map_or(&[][..], |side| side.derived.peak_curve()));
        let peaks = spikes(source_curve, target_curve, &axis.pairs(0, 1), usize::MAX);
        let peaks = peaks.into_iter().filter_map(|spike| SlotPeak::new(spike, axis)).collect();
        let only = [
            slots_where(slots, |slot| axis.target_at(slot).is_none()),
            slots_where(slots, |slot| axis.source_at(slot).is_none()),
        ];
        let version = VERSIONS.fetch_add(1, Ordering::Relaxed);
        Some(Self { scope, axis: Arc::clone(axis), sides, highest, peaks, only, version })
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.axis.len()
    }

    /// The curve of a report.
    pub fn side(&self, side: Side) -> Option<&OfSide> {
        side.of(self.sides.each_ref()).as_ref()
    }

    /// The more of the not-always-live bytes of both in a slot.
    pub fn highest_at(&self, slot: usize) -> u64 {
        self.highest(false).get(slot).unwrap_or(0)
    }

    /// The more of both in each slot.
    pub fn highest(&self, with_always_live: bool) -> Values<'_> {
        let [without, with] = &self.highest;
        Values::Known(if with_always_live { with } else { without })
    }
}
