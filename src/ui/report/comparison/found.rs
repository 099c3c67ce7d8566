//! What the comparison of two reports has found, computed beside the window.

use crate::analysis::comparison::attribution::Attribution;
use crate::analysis::comparison::explanation::{Explanation, explain_peak};
use crate::analysis::comparison::figures::{Figure, figures};
use crate::analysis::comparison::fullest_tile::{
    FullestTiles, explain_fullest_tile, gaps_of_fullest,
};
use crate::analysis::comparison::matching::Matching;
use crate::analysis::comparison::options::{OptionDifference, options};
use crate::analysis::comparison::plans::{Plan, changed_plans};
use crate::analysis::comparison::spikes::{Spike, spikes};
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::scope_curve::scope_curve;
use crate::store::Report;

/// Peaks of each report that are looked at.
const MOST_PEAKS: usize = 1000;

/// The answers, from two reports as far as they were read.
#[derive(Debug)]
pub struct Found {
    /// Options that differ.
    pub options: Vec<OptionDifference>,
    /// All figures.
    pub figures: Vec<Figure>,
    /// What the peaks consist of; `None` where a report has no curve.
    pub peak: Option<Explanation>,
    /// What the fullest tiles consist of.
    pub fullest: Option<FullestTiles>,
    /// The peaks of both.
    pub spikes: Vec<Spike>,
    /// Operations that are computed in another way.
    pub plans: Vec<Plan>,
    /// Operations that both reports have.
    pub operations: usize,
}

impl Found {
    /// Compares two reports.
    pub fn new(
        source: &Report,
        target: &Report,
        matching: &Matching,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let attribution = Attribution::of(source, target, matching);
        let curve = |report: &Report| {
            let curve = scope_curve(report, Scope::Everything, is_cancelled);
            curve.map(|curve| curve.not_always_live)
        };
        let curves = curve(source).zip(curve(target));
        let (mut found_spikes, mut plans) = (Vec::new(), Vec::new());
        if let Some((of_source, of_target)) = &curves {
            found_spikes = spikes(of_source, of_target, &matching.steps, MOST_PEAKS);
            plans = changed_plans((source, of_source), (target, of_target), &attribution, matching);
        }
        let scope = Scope::Everything;
        // What went wrong is among the warnings of the report.
        let gaps = |report: &Report| gaps_of_fullest(report).ok().flatten();
        let gaps = gaps(source).zip(gaps(target));
        Self {
            options: options(source, target),
            figures: figures(source, target),
            peak: explain_peak(source, target, &attribution, scope, is_cancelled),
            fullest: explain_fullest_tile(
                source,
                target,
                &attribution,
                gaps.as_ref().map(|(source, target)| [source, target]),
            ),
            spikes: found_spikes,
            plans,
            operations: matching.operations.matched(),
        }
    }
}
