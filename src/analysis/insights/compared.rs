//! A report compared with the reference: all that the comparison of two has to say, worked out from what
//! is kept of each and of the pair.

use super::change::{ChangeInsight, change_insights};
use crate::analysis::comparison::both;
use crate::analysis::comparison::explanation::{Explanation, explain};
use crate::analysis::comparison::figures::{Figure, figures};
use crate::analysis::comparison::fullest_tile::{FullestTiles, explain_fullest_tile, fullest_tile};
use crate::analysis::comparison::moment::{AliveAt, Moment};
use crate::analysis::comparison::options::{OptionDifference, options_that_differ};
use crate::analysis::comparison::plans::{Plan, changed_plans};
use crate::analysis::comparison::slot_peaks::{Spike, spikes};
use crate::analysis::derived::{Derived, DerivedPair};
use crate::analysis::liveness::Scope;
use crate::analysis::placement::gaps::GapsByReason;

/// What the comparison of two reports has found.
#[derive(Debug)]
pub struct Compared {
    /// Options that differ.
    pub options: Vec<OptionDifference>,
    /// All figures.
    pub figures: Vec<Figure>,
    /// The steps of the peaks, as far as the reports have curves.
    pub peak_steps: [Option<usize>; 2],
    /// What the peaks consist of.
    pub peak: Option<Explanation>,
    /// What the fullest tiles consist of.
    pub fullest: Option<FullestTiles>,
    /// The peaks of both.
    pub spikes: Vec<Spike>,
    /// Operations that are computed in another way.
    pub plans: Vec<Plan>,
    /// Operations that both reports have.
    pub operations: usize,
    /// What the change brought.
    pub insights: Vec<ChangeInsight>,
}

/// The peak of a scope, where the report has such a curve.
fn peak(of: &Derived, scope: Scope, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Option<AliveAt> {
    Moment::peak(&of.timeline(scope, is_cancelled)?.curve, scope)
}

/// What the change of the peak of everything consists of; `None` where a report has no such curve.
fn explain_peaks(
    reports: [&Derived; 2],
    pair: &DerivedPair,
    peaks: [Option<AliveAt>; 2],
) -> Option<Explanation> {
    let reports = reports.map(|of| &**of.report());
    Some(explain(reports, &pair.attribution(), both(peaks)?))
}

/// What a change between two reports brought.
pub fn changes(
    reports: [&Derived; 2],
    pair: &DerivedPair,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Vec<ChangeInsight> {
    let peaks = reports.map(|of| peak(of, Scope::Everything, is_cancelled));
    let [source, target] = reports.map(|of| &**of.report());
    change_insights(source, target, explain_peaks(reports, pair, peaks).as_ref())
}

impl Compared {
    /// Compares two reports: `gaps` are those of the fullest tile of each, as far as it was read, and
    /// `most_peaks` how many peaks of each are looked at.
    pub fn of(
        reports: [&Derived; 2],
        pair: &DerivedPair,
        gaps: &[Option<GapsByReason>; 2],
        most_peaks: usize,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let (attribution, matching) = (pair.attribution(), &*pair.matching);
        let runs = reports.map(|of| of.with_timeline(Scope::Everything, is_cancelled));
        let curves = runs.each_ref().map(|run| match &run.timeline {
            Some(timeline) => &timeline.curve.not_always_live[..],
            None => &[],
        });
        let peaks = reports.map(|of| peak(of, Scope::Everything, is_cancelled));
        let tile_peaks = reports.map(|of| {
            let tile = fullest_tile(of.report())?;
            peak(of, Scope::Arena(tile.into()), is_cancelled)
        });
        let explained = explain_peaks(reports, pair, peaks);
        let gaps = gaps.each_ref().map(Option::as_ref);
        let reports = reports.map(|of| &**of.report());
        let [source, target] = reports;
        Self {
            options: options_that_differ(&reports),
            figures: figures(&runs),
            peak_steps: peaks.map(|peak| peak.map(|peak| peak.moment.step)),
            fullest: explain_fullest_tile(reports, &attribution, both(gaps), both(tile_peaks)),
            spikes: spikes(curves, &matching.steps, most_peaks),
            plans: changed_plans(reports, curves, &attribution, matching),
            operations: matching.operations.matched(),
            insights: change_insights(source, target, explained.as_ref()),
            peak: explained,
        }
    }
}
