//! The curves of all runs over the common axis, with their peaks; worked out beside the window.

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::comparison::slot_curves::{in_slots, slots_where};
use crate::analysis::comparison::slot_peaks::slot_peaks;
use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::comparison::time_slots::TimeSlots;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::scope_curve::AlwaysLive;
use crate::analysis::liveness::timeline::Timeline;
use crate::store::DeviceId;
use crate::ui::runs::{PerRun, Run, Runs};
use crate::ui::selection::Selection;
use crate::ui::widget::bins::{BinValues, new_version};

pub struct RunCurve {
    /// The scope in this run.
    pub scope: Scope,
    /// By step.
    pub timeline: Arc<Timeline>,
    /// By slot, where slots are not the steps.
    by_slot: Option<BySlot>,
    /// Of one tile its bytes with gaps, in each slot.
    pub with_gaps: Option<Vec<u64>>,
}

struct BySlot {
    not_always_live: Vec<u64>,
    always_live: Option<Vec<u64>>,
    together: Option<Vec<u64>>,
}

impl BySlot {
    fn new(timeline: &Timeline, slots: usize, step_in: impl Fn(usize) -> Option<usize>) -> Self {
        let in_slots = |curve: &[u64]| in_slots(slots, &step_in, curve);
        let not_always_live = in_slots(&timeline.curve.not_always_live);
        let always_live = match &timeline.curve.always_live {
            AlwaysLive::Unknown => None,
            AlwaysLive::Level(level) => Some(vec![*level; slots]),
            AlwaysLive::AtStep(curve) => Some(in_slots(curve)),
        };
        let add = |(a, b): (&u64, &u64)| a.saturating_add(*b);
        let together = always_live
            .as_ref()
            .map(|always_live| not_always_live.iter().zip(always_live).map(add).collect());
        Self { not_always_live, always_live, together }
    }
}

impl RunCurve {
    /// What is alive in each slot, with what is always live or without, and what is to be added.
    pub fn values(&self, with_always_live: bool) -> (BinValues<'_>, u64) {
        let curve = &self.timeline.curve;
        let (values, base) = match (&self.by_slot, &self.timeline.together) {
            (Some(BySlot { together: Some(together), .. }), _) if with_always_live => (together, 0),
            (Some(by_slot), _) => (&by_slot.not_always_live, 0),
            (None, Some(together)) if with_always_live => (together, 0),
            (None, _) => match curve.always_live {
                AlwaysLive::Level(level) if with_always_live => (&curve.not_always_live, level),
                _ => (&curve.not_always_live, 0),
            },
        };
        (BinValues::Known(values), base)
    }

    /// What is always live in each slot: a level, or values; `None` where it is not known.
    pub fn always_live(&self) -> Option<Result<u64, BinValues<'_>>> {
        match (&self.by_slot, &self.timeline.curve.always_live) {
            (Some(by_slot), _) => {
                by_slot.always_live.as_ref().map(|all| Err(BinValues::Known(all)))
            }
            (None, AlwaysLive::Unknown) => None,
            (None, AlwaysLive::Level(level)) => Some(Ok(*level)),
            (None, AlwaysLive::AtStep(values)) => Some(Err(BinValues::Known(values))),
        }
    }

    /// What is always live, in percent of the limit, where that is the same at every step.
    pub fn always_live_share(&self) -> Option<String> {
        let AlwaysLive::Level(_) = self.timeline.curve.always_live else { return None };
        let percent = self.timeline.always_live_percent_at(0)?;
        Some(format!("{percent:.1} % of the limit"))
    }

    /// The largest figure, with what is always live or without.
    pub fn top(&self, with_always_live: bool) -> u64 {
        if with_always_live { self.timeline.top } else { self.timeline.highest }
    }
}

pub struct SlotTimelines {
    pub scope: Scope,
    pub axis: Arc<StepAxis>,
    /// The slots of equal time, where those are shown; of one run.
    pub time: Option<TimeSlots>,
    /// Whether it is known when the steps of the only run were.
    pub has_times: bool,
    /// For each run its curve; `None` where it has no such curve.
    runs: PerRun<Option<RunCurve>>,
    /// The most of all runs in each slot: without what is always live, and with it; of several.
    highest: Option<[Vec<u64>; 2]>,
    /// The slots of the peaks of all runs, largest first.
    pub peaks: Vec<usize>,
    /// For each run the first before it that has the same curve.
    pub same_as: PerRun<Option<usize>>,
    /// Slots that only one run has, for each run.
    only: PerRun<Vec<Range<u32>>>,
    /// Tells curves apart.
    pub version: u64,
}

impl SlotTimelines {
    /// Works them out; `None` where no run has such a curve.
    pub fn of(
        runs: &Runs,
        (scope, is_over_time): (Scope, bool),
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Self> {
        let derived = &runs.reference().derived;
        let times = if runs.is_one() { derived.answers().step_times(derived, scope) } else { None };
        let time = times.as_ref().filter(|_| is_over_time).and_then(|times| {
            let timeline = derived.timeline(scope, is_cancelled)?;
            TimeSlots::of(times, |step| timeline.alive_at(step))
        });
        let axis = match &time {
            Some(time) => Arc::new(time.axis.clone()),
            None => runs.axis_of(scope)?,
        };
        let slots = axis.len();
        let curve = |(place, run): (usize, &Run)| {
            let scope = runs.matched_scope(place, scope)?;
            let timeline = run.derived.timeline(scope, is_cancelled)?;
            // A curve ends with its run.
            let (end, step_in) = (axis.end(place), |slot| axis.step(place, slot));
            let by_slot =
                (!runs.is_one() || time.is_some()).then(|| BySlot::new(&timeline, end, step_in));
            let with_gaps = timeline.including_gaps.map(|bytes| vec![bytes; end]);
            Some(RunCurve { scope, timeline, by_slot, with_gaps })
        };
        let curves: PerRun<Option<RunCurve>> = runs.iter().enumerate().map(curve).collect();
        if curves.iter().all(Option::is_none) {
            return None;
        }
        let highest = (!runs.is_one()).then(|| {
            [false, true].map(|with_always_live| {
                let mut highest = vec![0; slots];
                for curve in curves.iter().flatten() {
                    let (values, base) = curve.values(with_always_live);
                    for (slot, highest) in highest.iter_mut().enumerate() {
                        let bytes = values.get(slot).map_or(0, |bytes| bytes.saturating_add(base));
                        *highest = bytes.max(*highest);
                    }
                }
                highest
            })
        });
        let peak_curves: Vec<&[u64]> = curves
            .iter()
            .map(|curve| curve.as_ref().map_or(&[][..], |curve| curve.timeline.peak_curve()))
            .collect();
        let peaks = slot_peaks(&peak_curves, &axis, usize::MAX);
        let only = |run: usize| {
            let has = |other: usize, slot: usize| axis.step(other, slot).is_some();
            let others = || (0..axis.runs()).filter(|other| *other != run);
            slots_where(if runs.is_one() { 0 } else { slots }, |slot| {
                has(run, slot) && !others().any(|other| has(other, slot))
            })
        };
        let only = (0..runs.len()).map(only).collect();
        let same_as = |(place, own): (usize, &Option<RunCurve>)| {
            let same = |other: &Option<RunCurve>| {
                let both = own.as_ref().zip(other.as_ref());
                both.is_some_and(|(own, other)| own.timeline.has_same_curve(&other.timeline))
            };
            curves.iter().take(place).position(same)
        };
        let same_as = curves.iter().enumerate().map(same_as).collect();
        let (has_times, version, runs) = (times.is_some(), new_version(), curves);
        Some(Self { scope, axis, time, has_times, runs, highest, peaks, same_as, only, version })
    }

    /// The run, by its place, whose highest step is looked at first: the reference, or where it never has anything the one
    /// with most.
    pub fn highest_run(&self) -> usize {
        let most = |place: &usize| self.run(*place).map_or(0, |curve| curve.timeline.top);
        let is_empty = most(&0) == 0;
        let highest = (0..self.runs.len()).rev().max_by_key(most).filter(|_| is_empty);
        highest.unwrap_or(0)
    }

    /// The device of a run whose steps they are, where each has its own.
    pub fn device(&self, run: &Run) -> Option<DeviceId> {
        self.scope.device(&run.report)
    }

    pub fn len(&self) -> usize {
        self.axis.len()
    }

    pub fn selected(&self, selection: &Selection, runs: &Runs) -> Vec<usize> {
        let mut slots = selection.slots(runs);
        if self.time.is_none() {
            // A device may have fewer steps than others.
            slots.retain(|slot| *slot < self.len());
            return slots;
        }
        let mut of_time: Vec<usize> =
            slots.into_iter().filter_map(|step| self.axis.slot(0, step)).collect();
        of_time.dedup();
        of_time
    }

    /// Selects a slot in place of the others, or as well.
    pub fn select(&self, selection: &mut Selection, runs: &Runs, slot: usize, is_added: bool) {
        let slot = self.common_slot(slot);
        if is_added {
            selection.toggle_slot(runs, slot);
        } else {
            selection.select_slot(runs, slot);
        }
    }

    /// The slot on the axis that all pages share.
    pub fn common_slot(&self, slot: usize) -> usize {
        self.time.as_ref().and_then(|time| time.axis.step(0, slot)).unwrap_or(slot)
    }

    pub fn run(&self, run: usize) -> Option<&RunCurve> {
        self.runs.get(run)?.as_ref()
    }

    /// All bytes of a run alive at one of its steps, as far as they are known.
    pub fn alive_at(&self, run: usize, step: usize) -> Option<u64> {
        Some(self.run(run)?.timeline.alive_at(step))
    }

    pub fn only(&self, run: usize) -> &[Range<u32>] {
        self.only.get(run).map_or(&[], |only| only)
    }

    /// The most of all runs in each slot, and what is to be added.
    pub fn highest(&self, with_always_live: bool) -> (BinValues<'_>, u64) {
        match (&self.highest, self.run(0)) {
            (Some([without, with]), _) => {
                (BinValues::Known(if with_always_live { with } else { without }), 0)
            }
            (None, Some(curve)) => curve.values(with_always_live),
            (None, None) => (BinValues::Known(&[]), 0),
        }
    }

    /// Bytes in a slot of the curve that the peaks are of, the most of all runs.
    pub fn peak_bytes_at(&self, slot: usize) -> u64 {
        let bytes = |(run, curve): (usize, &Option<RunCurve>)| {
            let step = self.axis.step_until_end(run, slot)?;
            curve.as_ref()?.timeline.peak_curve().get(step).copied()
        };
        self.runs.iter().enumerate().filter_map(bytes).max().unwrap_or(0)
    }
}
