//! Results that need matched steps, as JSON: the parts of changes, spikes, and plans. The text is written from it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::explained::{ExplainedAtMatchedSteps, ExplainedFullestTile, ExplainedPart};
use crate::analysis::comparison::contribution::{LifePart, OperationName};
use crate::analysis::comparison::explanation::Explanation;
use crate::analysis::comparison::fullest_tile::{FullestTiles, gaps_of_fullest};
use crate::analysis::comparison::matching::{MatchCounts, Sureness};
use crate::analysis::comparison::plans::Plan;
use crate::analysis::comparison::slot_peaks::Spike;
use crate::analysis::comparison::variables::{VariableDifference, variables};
use crate::analysis::derived::Derived;
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::matched_reports::MatchedReports;
use crate::analysis::program::steps;
use crate::format::Error;
use crate::store::Report;

/// How many peaks of each report are looked at.
const SPIKES: usize = 20;

/// The keys of a comparison whose steps are matched.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StepsMatched {
    /// How many steps are; null where a run has none.
    pub(super) steps: Option<MatchCounts>,
    pub(super) matched: MatchedParts,
    pub(super) variables: Option<Vec<VariableDifference>>,
    /// Where the peaks are at steps that are not matched with each other: these steps.
    pub(super) peak_moved: Option<PeakMoved>,
    pub(super) explanation_at_matched_steps: Option<ExplainedAtMatchedSteps>,
    pub(super) explanation: Explained,
    pub(super) spikes: Vec<SpikeRow>,
    /// Null where it is not known: where a report does not have whole debug information.
    pub(super) plans: Option<Vec<PlanRow>>,
}

/// The steps of peaks that are not matched with each other.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PeakMoved {
    source: Option<PeakStep>,
    target: Option<PeakStep>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PeakStep {
    step: u32,
    kind: Option<String>,
    name: Option<String>,
    operation: Option<OperationName>,
}

impl PeakStep {
    fn of(report: &Report, step: Option<usize>) -> Option<Self> {
        let facts = steps::facts(report, None, step?)?;
        let operation = facts.operation.as_ref().map(OperationName::of);
        Some(Self { step: facts.step.0, kind: facts.kind, name: facts.name, operation })
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MatchedParts {
    pub(super) programs: MatchCounts,
    pub(super) compute_sets: MatchCounts,
    pub(super) exchanges: MatchCounts,
    pub(super) variables: MatchCounts,
    pub(super) operations: MatchCounts,
}

/// What changes consist of; null where a report lacks what that needs.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Explained {
    pub(super) peak: Option<ExplainedPart>,
    pub(super) always_live: Option<ExplainedPart>,
    pub(super) not_always_live: Option<ExplainedPart>,
    pub(super) fullest_tile: Option<ExplainedFullestTile>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SpikeRow {
    pub(super) source_step: Option<u32>,
    pub(super) target_step: Option<u32>,
    /// Of the source's step where there is one; `target_name` and `target_operation` are those of the target's.
    pub(super) kind: Option<String>,
    pub(super) name: Option<String>,
    pub(super) operation: Option<OperationName>,
    pub(super) target_name: Option<String>,
    pub(super) target_operation: Option<OperationName>,
    pub(super) not_always_live_bytes: Difference,
    pub(super) sureness: Option<Sureness>,
}

/// An operation that is computed in another way.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlanRow {
    pub(super) operation: OperationName,
    pub(super) steps: Difference,
    pub(super) matched_steps: u64,
    pub(super) only_source_steps: u64,
    pub(super) only_target_steps: u64,
    pub(super) peak_bytes: Difference,
    pub(super) exchange_code_bytes: Difference,
    pub(super) control_code_bytes: Difference,
    pub(super) vertices: Difference,
    pub(super) available_memory_proportion: Value,
}

impl StepsMatched {
    /// What follows for two runs that are all in memory; `is_json` says that the variables are wanted, which only JSON has.
    ///
    /// # Errors
    /// When the files of a run cannot be read any more.
    pub fn of(both: [&Derived; 2], found: &MatchedReports, is_json: bool) -> Result<Self, Error> {
        let reports = found.reports();
        let [source, target] = reports;
        let gaps = [gaps_of_fullest(source)?, gaps_of_fullest(target)?];
        let fullest = found.fullest(both, &gaps, &|| false);
        let (pair, matching) = (&found.pair, &found.pair.matching);
        let has_steps =
            |report: &Report| report.steps.get().is_some_and(|steps| !steps.ids.is_empty());
        let moved = found.moved_peak.as_ref();
        let plans = found.plans.as_ref();
        Ok(Self {
            steps: reports.into_iter().all(has_steps).then_some(pair.step_counts),
            matched: MatchedParts {
                programs: matching.programs.counts(),
                compute_sets: matching.compute_sets.counts(),
                exchanges: matching.exchanges.counts(),
                variables: matching.variables.counts(),
                operations: matching.operations.counts(),
            },
            variables: is_json
                .then(|| variables(source, target, &pair.attribution(), found.peak_steps))
                .flatten(),
            peak_moved: moved.map(|_| {
                let [of_source, of_target] = found.peak_steps;
                PeakMoved {
                    source: PeakStep::of(source, of_source),
                    target: PeakStep::of(target, of_target),
                }
            }),
            explanation_at_matched_steps: moved
                .map(|moved| ExplainedAtMatchedSteps::of(reports, moved)),
            explanation: Explained::of(reports, found.peak.as_ref(), fullest.as_ref()),
            spikes: found.spikes(SPIKES).iter().map(|spike| spike_row(reports, spike)).collect(),
            plans: plans.map(|plans| plans.changed.iter().map(plan_row).collect()),
        })
    }
}

impl Explained {
    fn of(
        reports: [&Report; 2],
        peak: Option<&Explanation>,
        fullest: Option<&FullestTiles>,
    ) -> Self {
        let part = |part| peak.map(|peak| ExplainedPart::of(reports, peak, part));
        Self {
            peak: part(LifePart::All),
            always_live: part(LifePart::AlwaysLive),
            not_always_live: part(LifePart::NotAlwaysLive),
            fullest_tile: fullest.map(ExplainedFullestTile::of),
        }
    }
}

fn spike_row(reports: [&Report; 2], spike: &Spike) -> SpikeRow {
    let of_side = |side: Side| steps::facts(side.of(reports), None, side.of(spike.steps)?);
    let both = Side::BOTH.map(of_side);
    let [source_step, target_step] = both.each_ref().map(|facts| Some(facts.as_ref()?.step.0));
    let of_target = both[1].as_ref();
    let target_name = of_target.and_then(|facts| facts.name.clone());
    let target_operation = of_target.and_then(|facts| facts.operation.as_ref());
    let target_operation = target_operation.map(OperationName::of);
    let facts = both.into_iter().flatten().next();
    SpikeRow {
        target_name,
        target_operation,
        source_step,
        target_step,
        kind: facts.as_ref().and_then(|facts| facts.kind.clone()),
        name: facts.as_ref().and_then(|facts| facts.name.clone()),
        operation: facts.and_then(|facts| facts.operation.as_ref().map(OperationName::of)),
        not_always_live_bytes: spike.bytes,
        sureness: spike.sureness,
    }
}

fn plan_row(plan: &Plan) -> PlanRow {
    let [source, target] = plan.proportions;
    PlanRow {
        steps: plan.steps,
        matched_steps: plan.matched_steps,
        only_source_steps: plan.only_source(),
        only_target_steps: plan.only_target(),
        peak_bytes: plan.peak,
        exchange_code_bytes: plan.exchange_code,
        control_code_bytes: plan.control_code,
        vertices: plan.vertices,
        available_memory_proportion: json!({ "source": source, "target": target }),
        operation: plan.name.clone(),
    }
}
