//! A report compared with the reference: all that the comparison of two has to say, worked out from what
//! is kept of each and of the pair.

use super::change::{ChangeInsight, Known, change_insights};
use crate::analysis::comparison::both;
use crate::analysis::comparison::explanation::{Explanation, explain};
use crate::analysis::comparison::figures::{Figure, figures};
use crate::analysis::comparison::fullest_tile::{FullestTiles, explain_fullest_tile, fullest_tile};
use crate::analysis::comparison::moment::{AliveAt, Moment};
use crate::analysis::comparison::options::{OptionDifference, options_that_differ};
use crate::analysis::comparison::peak_move::peaks_of_two;
use crate::analysis::comparison::plans::{Plans, plans};
use crate::analysis::comparison::slot_peaks::{Spike, spikes};
use crate::analysis::derived::{Derived, DerivedPair};
use crate::analysis::figures::difference::Side;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::timeline::WithTimeline;
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
    /// Where the peak has moved, what changed at the source's peak and at the target's, at the steps that are
    /// matched with them; `None` of a peak whose step has no partner.
    pub moved_peak: Option<[Option<Explanation>; 2]>,
    /// What the fullest tiles consist of.
    pub fullest: Option<FullestTiles>,
    /// The peaks of both.
    pub spikes: Vec<Spike>,
    /// Operations that are computed in another way; `None` where a report does not have whole debug information.
    pub plans: Option<Plans>,
    /// What the change brought.
    pub insights: Vec<ChangeInsight>,
}

/// The peak of a scope, where the report has such a curve.
fn peak(of: &Derived, scope: Scope, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Option<AliveAt> {
    Moment::peak(&of.timeline(scope, is_cancelled)?.curve, scope)
}

/// What a change between two reports brought.
pub fn changes(
    reports: [&Derived; 2],
    pair: &DerivedPair,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Vec<ChangeInsight> {
    Concluded::of(reports, pair, is_cancelled).insights
}

/// The conclusions, and what they are drawn from.
struct Concluded {
    runs: [WithTimeline; 2],
    options: Vec<OptionDifference>,
    peak_steps: [Option<usize>; 2],
    peak: Option<Explanation>,
    moved_peak: Option<[Option<Explanation>; 2]>,
    plans: Option<Plans>,
    insights: Vec<ChangeInsight>,
}

impl Concluded {
    fn of(
        reports: [&Derived; 2],
        pair: &DerivedPair,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        const SCOPE: Scope = Scope::Everything;
        let (attribution, matching) = (pair.attribution(), &*pair.matching);
        let runs = reports.map(|of| of.with_timeline(SCOPE, is_cancelled));
        let reports = reports.map(|of| &**of.report());
        let curves = runs.each_ref().map(|run| Some(&run.timeline.as_ref()?.curve));
        let peaks = both(curves).and_then(|curves| peaks_of_two(curves, SCOPE, &matching.steps));
        let explain = |alive: [AliveAt; 2]| explain(reports, &attribution, alive);
        let peak = peaks.map(|found| explain(found.peaks));
        let moved = peaks.and_then(|found| found.moved);
        let moved_peak = moved.map(|at| [at.at_source.map(explain), at.at_target.map(explain)]);
        let own_peaks = curves.map(|curve| Moment::peak(curve?, SCOPE));
        let peaks = peaks.map_or(own_peaks, |found| found.peaks.map(Some));
        let plans = plans(reports, not_always_live(&runs), &attribution, matching);
        let options = options_that_differ(&reports);
        let known = Known {
            peak: peak.as_ref(),
            moved: moved_peak.as_ref(),
            plans: plans.as_ref(),
            options: &options,
        };
        let insights = change_insights(reports[0], reports[1], &known);
        let peak_steps = peaks.map(|peak| peak.map(|peak| peak.moment.step));
        Self { runs, options, peak_steps, peak, moved_peak, plans, insights }
    }
}

/// The curves of both, empty where they are not known.
fn not_always_live(runs: &[WithTimeline; 2]) -> [&[u64]; 2] {
    runs.each_ref().map(|run| match &run.timeline {
        Some(timeline) => &timeline.curve.not_always_live[..],
        None => &[],
    })
}

impl Compared {
    /// Where the peak has moved what changed at the step of the one of a side, if that has a partner.
    pub fn moved(&self, side: Side) -> Option<&Explanation> {
        side.of(self.moved_peak.as_ref()?.each_ref()).as_ref()
    }

    /// Compares two reports: `gaps` are those of the fullest tile of each, as far as it was read, and
    /// `most_peaks` how many peaks of each are looked at.
    pub fn of(
        reports: [&Derived; 2],
        pair: &DerivedPair,
        gaps: &[Option<GapsByReason>; 2],
        most_peaks: usize,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let Concluded { runs, options, peak_steps, peak: of_peaks, moved_peak, plans, insights } =
            Concluded::of(reports, pair, is_cancelled);
        let tile_peaks = reports.map(|of| {
            let tile = fullest_tile(of.report())?;
            peak(of, Scope::Arena(tile.into()), is_cancelled)
        });
        let gaps = both(gaps.each_ref().map(Option::as_ref));
        let reports = reports.map(|of| &**of.report());
        Self {
            options,
            figures: figures(&runs),
            peak_steps,
            peak: of_peaks,
            moved_peak,
            fullest: explain_fullest_tile(reports, &pair.attribution(), gaps, both(tile_peaks)),
            spikes: spikes(not_always_live(&runs), &pair.matching.steps, most_peaks),
            plans,
            insights,
        }
    }
}
