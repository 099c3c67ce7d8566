//! The document of `tilescope compare` (`tilescope.compare/1` in cli.md): what changed between two
//! reports, and what the change consists of. The text is written from it.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::Shown;
use super::conclusions::Conclusion;
use super::explained::{ExplainedAtMatchedSteps, ExplainedFullestTile, ExplainedPart};
use super::runs::Runs;
use crate::analysis::comparison::contribution::{OperationName, Part};
use crate::analysis::comparison::explanation::Explanation;
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::analysis::comparison::fullest_tile::{FullestTiles, gaps_of_fullest};
use crate::analysis::comparison::matching::{MatchCounts, Sureness, match_reports};
use crate::analysis::comparison::options::OptionDifference;
use crate::analysis::comparison::plans::Plan;
use crate::analysis::comparison::slot_peaks::Spike;
use crate::analysis::comparison::variables::{VariableDifference, variables};
use crate::analysis::derived::{Derived, DerivedPair};
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::liveness;
use crate::analysis::memory;
use crate::analysis::program::steps;
use crate::cli::output::Answer;
use crate::format::{Error, Progress};
use crate::store::Report;
use crate::systems::poplar::insights::change::ChangeInsight;
use crate::systems::poplar::insights::compared::{Compared, changes};
use crate::systems::system::{LatePart, OpenRun};

/// How many peaks of each report are looked at.
const SPIKES: usize = 20;

/// `tilescope.compare/1` (cli.md).
#[derive(Debug, Serialize)]
pub struct Comparison {
    pub(super) source: ComparedReport,
    pub(super) target: ComparedReport,
    pub(super) options: Options,
    /// The sections of `summary`, with both values of every figure.
    #[serde(flatten)]
    pub(super) sections: Map<String, Value>,
    pub(super) steps: Option<MatchCounts>,
    pub(super) matched: Matched,
    pub(super) variables: Option<Vec<VariableDifference>>,
    pub(super) insights: Vec<ChangeInsight>,
    pub(super) conclusions: Vec<Conclusion>,
    /// Where the peaks are at steps that are not matched with each other: these steps.
    pub(super) peak_moved: Option<PeakMoved>,
    pub(super) explanation_at_matched_steps: Option<ExplainedAtMatchedSteps>,
    pub(super) explanation: Explained,
    pub(super) spikes: Vec<SpikeRow>,
    /// Null where it is not known: where a report does not have whole debug information.
    pub(super) plans: Option<Vec<PlanRow>>,
    /// One row per report, of more than two.
    #[serde(skip_serializing_if = "Runs::is_empty")]
    pub(super) runs: Runs,
    /// For the text.
    #[serde(skip)]
    pub(super) figures: Vec<Figure>,
    #[serde(skip)]
    pub(super) fits: [Option<bool>; 2],
    #[serde(skip)]
    pub(super) note: Option<&'static str>,
    #[serde(skip)]
    pub(super) shown: Shown,
}

/// The steps of peaks that are not matched with each other.
#[derive(Debug, Serialize)]
pub(super) struct PeakMoved {
    source: Option<PeakStep>,
    target: Option<PeakStep>,
}

#[derive(Debug, Serialize)]
struct PeakStep {
    step: u32,
    kind: Option<String>,
    name: Option<String>,
    operation: Option<OperationName>,
}

impl PeakStep {
    fn of(report: &Report, step: Option<usize>) -> Option<Self> {
        let facts = steps::facts(report, step?)?;
        let operation = facts.operation.as_ref().map(OperationName::of);
        Some(Self { step: facts.step.0, kind: facts.kind, name: facts.name, operation })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ComparedReport {
    pub(super) path: String,
    pub(super) compiled_at: Option<String>,
    pub(super) poplar_version: Option<String>,
}

/// The options that differ, with both values.
#[derive(Debug)]
pub(super) struct Options(pub(super) Vec<OptionDifference>);

impl Serialize for Options {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |option: &OptionDifference| {
            let OptionDifference { kind, name, values } = option;
            let (source, target) = (values.first(), values.get(1));
            json!({ "kind": kind, "name": name, "source": source, "target": target })
        };
        serializer.collect_seq(self.0.iter().map(row))
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Matched {
    pub(super) programs: MatchCounts,
    pub(super) compute_sets: MatchCounts,
    pub(super) exchanges: MatchCounts,
    pub(super) variables: MatchCounts,
    pub(super) operations: MatchCounts,
}

/// What changes consist of; null where a report lacks what that needs.
#[derive(Debug, Serialize)]
pub(super) struct Explained {
    pub(super) peak: Option<ExplainedPart>,
    pub(super) always_live: Option<ExplainedPart>,
    pub(super) not_always_live: Option<ExplainedPart>,
    pub(super) fullest_tile: Option<ExplainedFullestTile>,
}

#[derive(Debug, Serialize)]
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
#[derive(Debug, Serialize)]
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

impl Comparison {
    /// Compares reports whose small tables are read; the rest of the first two is read as it is needed.
    ///
    /// # Errors
    /// When a profile cannot be opened again.
    pub fn of(
        source: &dyn OpenRun,
        others: &[&dyn OpenRun],
        progress: &Progress,
    ) -> Result<Self, Error> {
        let target = others.first().copied().unwrap_or(source);
        let read = |run: &dyn OpenRun| run.read_parts(&LatePart::ALL, progress);
        rayon::join(|| read(source), || others.par_iter().for_each(|other| read(*other)));
        let (of_source, of_target) = (&**source.derived(), &**target.derived());
        let (source, target) = (&**of_source.report(), &**of_target.report());
        let gaps = [gaps_of_fullest(source)?, gaps_of_fullest(target)?];
        let (pair, is_matched) = pair_of(of_source, of_target);
        let compared = Compared::of([of_source, of_target], &pair, &gaps, SPIKES, &|| false);
        let fits = [source, target]
            .map(|report| memory::totals(report.memory.get()?, report.target.get()).fits);
        let mut runs = Runs::default();
        if let Some(more @ [_, ..]) = others.get(1..) {
            let more: Vec<&Derived> = more.iter().map(|run| &**run.derived()).collect();
            let all: Vec<&Derived> =
                [of_source, of_target].into_iter().chain(more.clone()).collect();
            let of_more = more.par_iter().map(|other| {
                let (pair, _) = pair_of(of_source, other);
                changes([of_source, other], &pair, &|| false)
            });
            let mut of_others = vec![Vec::new(), compared.insights.clone()];
            of_others.par_extend(of_more);
            runs = Runs::of(&all, &of_others);
        }
        let matching = &pair.matching;
        let mut sections = sections(&compared.figures, both_values);
        let path = ["memory".to_owned(), "fits".to_owned()];
        put(&mut sections, &path, json!({ "source": fits[0], "target": fits[1] }));
        Ok(Self {
            source: compared_report(source),
            target: compared_report(target),
            options: Options(compared.options),
            sections,
            steps: is_matched.then_some(pair.step_counts),
            matched: Matched {
                programs: matching.programs.counts(),
                compute_sets: matching.compute_sets.counts(),
                exchanges: matching.exchanges.counts(),
                variables: matching.variables.counts(),
                operations: matching.operations.counts(),
            },
            variables: variables(source, target, &pair.attribution(), compared.peak_steps),
            conclusions: compared.insights.iter().map(Conclusion::of).collect(),
            insights: compared.insights,
            peak_moved: compared.moved_peak.as_ref().map(|_| {
                let [of_source, of_target] = compared.peak_steps;
                PeakMoved {
                    source: PeakStep::of(source, of_source),
                    target: PeakStep::of(target, of_target),
                }
            }),
            explanation_at_matched_steps: compared
                .moved_peak
                .as_ref()
                .map(|moved| ExplainedAtMatchedSteps::of([source, target], moved)),
            explanation: Explained::of(
                [source, target],
                compared.peak.as_ref(),
                compared.fullest.as_ref(),
            ),
            spikes: compared
                .spikes
                .iter()
                .map(|spike| spike_row([source, target], spike))
                .collect(),
            plans: compared.plans.map(|plans| plans.changed.into_iter().map(plan_row).collect()),
            runs,
            figures: compared.figures,
            fits,
            note: [source, target]
                .iter()
                .find_map(|report| liveness::replica_note(report.target.get())),
            shown: Shown::default(),
        })
    }
}

/// The matching of a report with the source, and whether they can be matched.
fn pair_of(source: &Derived, other: &Derived) -> (DerivedPair, bool) {
    let matching = match_reports(source.report(), other.report(), &|| false);
    let is_matched = matching.is_some();
    let reports = [source, other].map(|derived| Arc::clone(derived.report()));
    (DerivedPair::new(reports, matching.unwrap_or_default()), is_matched)
}

pub(super) fn compared_report(report: &Report) -> ComparedReport {
    let about = report.about.get();
    ComparedReport {
        path: report.path.display().to_string(),
        compiled_at: about.and_then(|about| about.compiled_at.clone()),
        poplar_version: about.and_then(|about| about.poplar_version.clone()),
    }
}

/// What `value` says of each figure, under its path.
pub(super) fn sections(figures: &[Figure], value: impl Fn(&Figure) -> Value) -> Map<String, Value> {
    let mut sections = Map::new();
    for figure in figures {
        put(&mut sections, &figure.path, value(figure));
    }
    sections
}

fn both_values(figure: &Figure) -> Value {
    if let Some(rate) = figure.rate_difference(1) {
        return serde_json::to_value(rate).unwrap_or(Value::Null);
    }
    let difference = figure.difference(1);
    if figure.unit == Unit::Place {
        // Where something is has no difference.
        return json!({ "source": difference.source, "target": difference.target });
    }
    serde_json::to_value(difference).unwrap_or(Value::Null)
}

fn put(object: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [key] => drop(object.insert(key.clone(), value)),
        [key, rest @ ..] => {
            let inner = object.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
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
            peak: part(Part::All),
            always_live: part(Part::AlwaysLive),
            not_always_live: part(Part::NotAlwaysLive),
            fullest_tile: fullest.map(ExplainedFullestTile::of),
        }
    }
}

fn spike_row(reports: [&Report; 2], spike: &Spike) -> SpikeRow {
    let of_side = |side: Side| steps::facts(side.of(reports), side.of(spike.steps)?);
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

fn plan_row(plan: Plan) -> PlanRow {
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
        operation: plan.name,
    }
}

impl Answer for Comparison {
    const SCHEMA: &'static str = "tilescope.compare/1";

    fn text(&self) -> String {
        if self.shown.csv { super::csv::csv(self) } else { super::text::text(self) }
    }
}
