//! The timeline of a scope: what is alive at each step, its limit, and its peak.
//!
//! Peaks are those of the not-always-live bytes; where the always-live bytes differ from step to step
//! (the worst tile), those of both together.

use std::sync::Arc;

use super::over_limit::{OverLimit, devices_apart};
use super::peaks::far_peaks;
use super::scope_curve::{AlwaysLive, ScopeCurve, scope_curve};
use super::{Scope, peak};
use crate::analysis::memory::cell;
use crate::store::{ArenaId, Report};

/// The curve of a scope and what belongs to it. Steps are positions in
/// [`crate::store::program::Steps`].
#[derive(Debug)]
pub struct Timeline {
    /// Its bytes at each step, and its limit.
    pub curve: ScopeCurve,
    /// The limit that the curve can be held against; none of several devices, which each have their own.
    pub limit: Option<u64>,
    /// Of one tile: its bytes with gaps, up to the end of what is placed there at any step. Where this is
    /// over the limit and no step is, gaps make it so.
    pub including_gaps: Option<u64>,
    /// By how much it is over, where that is known.
    pub over: Option<OverLimit>,
    /// Whether each of several devices is held against its own limit.
    pub is_by_device: bool,
    /// Everything alive at each step, where the always-live bytes differ from step to step.
    pub together: Option<Vec<u64>>,
    /// The step of the highest peak.
    pub peak: Option<usize>,
    /// The most not-always-live bytes at any step.
    pub highest: u64,
    /// The most bytes at any step, always-live ones included.
    pub top: u64,
}

/// A report with its timeline of a scope, where it has one.
#[derive(Clone, Debug)]
pub struct WithTimeline {
    pub report: Arc<Report>,
    pub timeline: Option<Arc<Timeline>>,
}

impl WithTimeline {
    /// The step with the most not-always-live bytes, and these.
    pub fn peak(&self) -> Option<(usize, u64)> {
        let curve = &self.timeline.as_ref()?.curve.not_always_live;
        let step = peak(curve)?;
        Some((step, *curve.get(step)?))
    }
}

impl Timeline {
    /// Works it out; `None` where the report has no curve of the scope, or when it was canceled.
    pub fn of(
        report: &Report,
        scope: Scope,
        said_bytes: Option<u64>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Self> {
        let curve = scope_curve(report, scope, is_cancelled)?.with_limit(report, scope, said_bytes);
        let most = |values: &[u64]| values.iter().max().copied().unwrap_or(0);
        let together = match &curve.always_live {
            AlwaysLive::AtStep(always_live) => {
                let pairs = always_live.iter().zip(&curve.not_always_live);
                Some(pairs.map(|(a, b)| a.saturating_add(*b)).collect::<Vec<u64>>())
            }
            _ => None,
        };
        let peak = peak(together.as_deref().unwrap_or(&curve.not_always_live));
        let highest = most(&curve.not_always_live);
        let top = match (&together, &curve.always_live) {
            (Some(together), _) => most(together),
            (None, AlwaysLive::Level(level)) => highest.saturating_add(*level),
            (None, _) => highest,
        };
        let is_by_device = !devices_apart(report, scope).is_empty();
        let over = OverLimit::of(report, scope, &curve, said_bytes);
        let limit = curve.limit.filter(|_| !is_by_device);
        let including_gaps = including_gaps(report, scope);
        Some(Self {
            curve,
            limit,
            including_gaps,
            over,
            is_by_device,
            together,
            peak,
            highest,
            top,
        })
    }

    /// Whether a picture of the other would lie on that of this one.
    pub fn has_same_curve(&self, other: &Self) -> bool {
        self.curve.not_always_live == other.curve.not_always_live
            && self.curve.always_live == other.curve.always_live
            && !self.is_empty()
    }

    /// The curve that the peaks are of.
    pub fn peak_curve(&self) -> &[u64] {
        self.together.as_deref().unwrap_or(&self.curve.not_always_live)
    }

    /// The steps of the highest peaks, highest first, then by step; of those that lie close together the highest. A
    /// curve that is 0 throughout has none.
    pub fn highest_peaks(&self, most: usize) -> Vec<usize> {
        let peaks = far_peaks(self.peak_curve(), most).into_iter();
        peaks.filter(|(_, bytes)| *bytes > 0).map(|(step, _)| step).collect()
    }

    pub fn len(&self) -> usize {
        self.curve.not_always_live.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn not_always_live_at(&self, step: usize) -> u64 {
        self.curve.not_always_live.get(step).copied().unwrap_or(0)
    }

    /// Always-live bytes at a step, where they are known.
    pub fn always_live_at(&self, step: usize) -> Option<u64> {
        self.curve.always_live.at(step)
    }

    /// All bytes alive at a step, as far as they are known.
    pub fn alive_at(&self, step: usize) -> u64 {
        self.not_always_live_at(step).saturating_add(self.always_live_at(step).unwrap_or(0))
    }

    /// Always-live bytes at a step, percent of the limit.
    pub fn always_live_percent_at(&self, step: usize) -> Option<f64> {
        let limit = self.limit.filter(|limit| *limit > 0)?;
        Some(self.always_live_at(step)? as f64 * 100.0 / limit as f64)
    }

    /// The arena that has the most at a step, in the scope of the worst arenas.
    pub fn worst_arena_at(&self, step: usize) -> Option<ArenaId> {
        self.curve.worst_arenas.as_ref()?.get(step).copied()
    }
}

/// Bytes of the tile of a scope, gaps included.
fn including_gaps(report: &Report, scope: Scope) -> Option<u64> {
    let Scope::Arena(arena) = scope else { return None };
    let memory = report.memory.get()?;
    cell(&memory.including_gaps, memory.tiles.position(arena.tile())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;

    #[test]
    fn a_tile_has_its_bytes_with_gaps_beside_its_curve() {
        let report = fixture::report_of_lives(2, &[vec![0..2], vec![0..1]]);
        report.memory.fill(Some(fixture::memory([(3, Some(900)), (4, None)])));
        report.fill_arenas_with_tiles();
        report
            .tile_variable_bytes
            .fill(Some(fixture::tile_variable_bytes(Vec::<Vec<(u32, u32, u32)>>::new())));
        let of = |scope| Timeline::of(&report, scope, None, &|| false).map(|it| it.including_gaps);
        assert_eq!(of(Scope::Arena(ArenaId(3))), Some(Some(900)));
        assert_eq!(of(Scope::Arena(ArenaId(4))), Some(None));
        assert_eq!(of(Scope::WorstArena).flatten(), None);
    }
}
