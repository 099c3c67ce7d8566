//! Two reports whose steps are matched, compared: all that follows from what is kept of each and of the pair.

use std::sync::Arc;

use super::comparison::both;
use super::comparison::explanation::{Explanation, explain};
use super::comparison::fullest_tile::{FullestTiles, explain_fullest_tile, fullest_tile};
use super::comparison::moment::{AliveAt, ScopeStep};
use super::comparison::peak_move::peaks_of_two;
use super::comparison::plans::{Plans, plans};
use super::comparison::slot_peaks::{Spike, spikes};
use super::derived::{Derived, DerivedPair};
use super::figures::difference::Side;
use super::liveness::Scope;
use super::liveness::timeline::WithTimeline;
use super::placement::gaps::GapsByReason;
use crate::store::Report;

/// What the comparison of two reports has found.
#[derive(Clone, Debug)]
pub struct MatchedReports {
    /// Which rows of both belong together.
    pub pair: Arc<DerivedPair>,
    /// Source and target, with their curves.
    pub runs: [WithTimeline; 2],
    /// The steps of the peaks, as far as the reports have curves.
    pub peak_steps: [Option<usize>; 2],
    /// What the peaks consist of.
    pub peak: Option<Explanation>,
    /// Where the peak has moved, what changed at the source's peak and at the target's, at the steps that are
    /// matched with them; `None` of a peak whose step has no partner.
    pub moved_peak: Option<[Option<Explanation>; 2]>,
    /// Operations that are computed in another way; `None` where a report does not have whole debug information.
    pub plans: Option<Plans>,
}

impl MatchedReports {
    /// Compares two reports whose steps are matched as `pair` says.
    pub fn of(
        both_of: [&Derived; 2],
        pair: &Arc<DerivedPair>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        const SCOPE: Scope = Scope::Everything;
        let (attribution, matching) = (pair.attribution(), &*pair.matching);
        let runs = both_of.map(|of| of.with_timeline(SCOPE, is_cancelled));
        let reports = both_of.map(|of| &**of.report());
        let curves = runs.each_ref().map(|run| Some(&run.timeline.as_ref()?.curve));
        let peaks = both(curves).and_then(|curves| peaks_of_two(curves, SCOPE, &matching.steps));
        let explain = |alive: [AliveAt; 2]| explain(reports, &attribution, alive);
        let moved = peaks.and_then(|found| found.moved);
        let own_peaks = curves.map(|curve| ScopeStep::peak(curve?, SCOPE));
        let peaks_found = peaks.map_or(own_peaks, |found| found.peaks.map(Some));
        Self {
            peak_steps: peaks_found.map(|peak| peak.map(|peak| peak.moment.step)),
            peak: peaks.map(|found| explain(found.peaks)),
            moved_peak: moved.map(|at| [at.at_source.map(explain), at.at_target.map(explain)]),
            plans: plans(reports, not_always_live(&runs), &attribution, matching),
            pair: Arc::clone(pair),
            runs,
        }
    }

    /// Source and target.
    pub fn reports(&self) -> [&Report; 2] {
        self.runs.each_ref().map(|run| &*run.report)
    }

    /// Where the peak has moved what changed at the step of the one of a side, if that has a partner.
    pub fn moved(&self, side: Side) -> Option<&Explanation> {
        side.of(self.moved_peak.as_ref()?.each_ref()).as_ref()
    }

    /// The peaks of both curves, `most` of each.
    pub fn spikes(&self, most: usize) -> Vec<Spike> {
        spikes(not_always_live(&self.runs), &self.pair.matching.steps, most)
    }

    /// What the fullest tiles consist of; `gaps` are those of the fullest tile of each, as far as it was read.
    pub fn fullest(
        &self,
        both_of: [&Derived; 2],
        gaps: &[Option<GapsByReason>; 2],
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<FullestTiles> {
        let peaks = both_of.map(|of| {
            let scope = Scope::Arena(fullest_tile(of.report())?.into());
            ScopeStep::peak(&of.timeline(scope, is_cancelled)?.curve, scope)
        });
        let gaps = both(gaps.each_ref().map(Option::as_ref));
        explain_fullest_tile(self.reports(), &self.pair.attribution(), gaps, both(peaks))
    }
}

/// The curves of both, empty where they are not known.
fn not_always_live(runs: &[WithTimeline; 2]) -> [&[u64]; 2] {
    runs.each_ref().map(|run| match &run.timeline {
        Some(timeline) => &timeline.curve.not_always_live[..],
        None => &[],
    })
}
