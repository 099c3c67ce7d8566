//! `tilescope compare`: what changed between two reports, and what the change consists of.

mod explained;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};

use self::explained::{ExplainedFullestTile, ExplainedPart};
use super::output::{self, Answer};
use crate::analysis::comparison::attribution::Attribution;
use crate::analysis::comparison::contribution::{OperationName, Part};
use crate::analysis::comparison::explanation::{Explanation, explain_peak};
use crate::analysis::comparison::figures::{Figure, Unit, figures};
use crate::analysis::comparison::fullest_tile::{explain_fullest_tile, gaps_of_fullest};
use crate::analysis::comparison::matching::{MatchCounts, Matching, Sureness, match_reports};
use crate::analysis::comparison::options::{OptionDifference, options};
use crate::analysis::comparison::plans::{Plan, changed_plans};
use crate::analysis::comparison::spikes::{Spike, spikes};
use crate::analysis::comparison::variables::{VariableDifference, variables};
use crate::analysis::figures::difference::Difference;
use crate::analysis::insights::change::{ChangeInsight, change_insights};
use crate::analysis::liveness::scope_curve::scope_curve;
use crate::analysis::liveness::{self, Scope};
use crate::analysis::memory;
use crate::analysis::placement::gaps::GapsByReason;
use crate::analysis::program::steps;
use crate::format::poplar::OpenReport;
use crate::format::{Error, Progress};
use crate::store::{Report, Warning};

/// How many peaks of each report are looked at.
const SPIKES: usize = 20;

/// Arguments of `tilescope compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The report to compare with.
    pub source: PathBuf,
    /// The report whose changes are of interest.
    pub target: PathBuf,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `tilescope.compare/1` (cli.md).
#[derive(Debug, Serialize)]
pub struct Comparison {
    schema: &'static str,
    source: Compared,
    target: Compared,
    options: Vec<OptionDifference>,
    /// The sections of `summary`, with both values of every figure.
    #[serde(flatten)]
    sections: Map<String, Value>,
    steps: Option<MatchCounts>,
    matched: Matched,
    variables: Option<Vec<VariableDifference>>,
    insights: Vec<ChangeInsight>,
    explanation: Explained,
    spikes: Vec<SpikeRow>,
    plans: Vec<PlanRow>,
    warnings: Vec<Warning>,
    /// For the text.
    #[serde(skip)]
    figures: Vec<Figure>,
    #[serde(skip)]
    fits: [Option<bool>; 2],
    #[serde(skip)]
    note: Option<&'static str>,
}

/// A report that is compared.
#[derive(Debug, Serialize)]
struct Compared {
    path: String,
    compiled_at: Option<String>,
    poplar_version: Option<String>,
}

/// How many rows of each list belong together.
#[derive(Debug, Serialize)]
struct Matched {
    programs: MatchCounts,
    compute_sets: MatchCounts,
    exchanges: MatchCounts,
    variables: MatchCounts,
    operations: MatchCounts,
}

/// What changes consist of; null where a report lacks what that needs.
#[derive(Debug, Serialize)]
struct Explained {
    peak: Option<ExplainedPart>,
    always_live: Option<ExplainedPart>,
    not_always_live: Option<ExplainedPart>,
    fullest_tile: Option<ExplainedFullestTile>,
}

/// A step of either report.
#[derive(Debug, Serialize)]
struct SpikeRow {
    source_step: Option<u32>,
    target_step: Option<u32>,
    /// Of the source's step where there is one.
    kind: Option<String>,
    name: Option<String>,
    operation: Option<OperationName>,
    not_always_live_bytes: Difference,
    sureness: Option<Sureness>,
}

/// An operation that is computed in another way.
#[derive(Debug, Serialize)]
struct PlanRow {
    operation: OperationName,
    steps: Difference,
    matched_steps: u64,
    only_source_steps: u64,
    only_target_steps: u64,
    peak_bytes: Difference,
    exchange_code_bytes: Difference,
    control_code_bytes: Difference,
    vertices: Difference,
    available_memory_proportion: Value,
}

/// Compares two reports.
pub fn run(arguments: &CompareArguments) -> ExitCode {
    let CompareArguments { source, target, json } = arguments;
    output::answer_of_two(source, target, *json, Comparison::of)
}

impl Comparison {
    /// Compares two reports whose small tables are read; the rest is read as it is needed.
    ///
    /// # Errors
    /// When a profile cannot be opened again.
    pub fn of(
        source: &OpenReport,
        target: &OpenReport,
        progress: &Progress,
    ) -> Result<Self, Error> {
        rayon::join(|| read(source, progress), || read(target, progress));
        let gaps = [gaps_of_fullest(&source.report)?, gaps_of_fullest(&target.report)?];
        let (source, target) = (&*source.report, &*target.report);
        let matching = match_reports(source, target, &|| false);
        let steps = matching.as_ref().map(|matching| matching.steps.counts());
        let matching = matching.unwrap_or_default();
        let attribution = Attribution::of(source, target, &matching);
        let peak = explain_peak(source, target, &attribution, Scope::Everything, &|| false);
        let figures = figures(source, target);
        let fits = [source, target]
            .map(|report| memory::totals(report.memory.get()?, report.target.get()).fits);
        Ok(Self {
            schema: "tilescope.compare/1",
            source: compared(source),
            target: compared(target),
            options: options(source, target),
            sections: sections(&figures, fits),
            steps,
            matched: Matched {
                programs: matching.programs.counts(),
                compute_sets: matching.compute_sets.counts(),
                exchanges: matching.exchanges.counts(),
                variables: matching.variables.counts(),
                operations: matching.operations.counts(),
            },
            variables: variables(source, target, &attribution),
            insights: change_insights(source, target, peak.as_ref()),
            explanation: explained(source, target, &attribution, peak.as_ref(), &gaps),
            spikes: spike_rows(source, target, &matching),
            plans: plan_rows(source, target, &attribution, &matching),
            warnings: Vec::new(),
            figures,
            fits,
            note: [source, target]
                .iter()
                .find_map(|report| liveness::replica_note(report.target.get())),
        })
    }
}

/// Reads what goes by variable, by tile and by operation.
fn read(open: &OpenReport, progress: &Progress) {
    open.read_debug_info(progress);
    open.read_variables(progress);
    open.read_tile_variable_bytes(progress);
    open.read_compute(progress);
}

fn compared(report: &Report) -> Compared {
    let about = report.about.get();
    Compared {
        path: report.path.display().to_string(),
        compiled_at: about.and_then(|about| about.compiled_at.clone()),
        poplar_version: about.and_then(|about| about.poplar_version.clone()),
    }
}

/// The figures under their paths.
fn sections(figures: &[Figure], fits: [Option<bool>; 2]) -> Map<String, Value> {
    let mut sections = Map::new();
    for figure in figures {
        let mut value = serde_json::to_value(figure.value).unwrap_or(Value::Null);
        if figure.unit == Unit::Place {
            // Where something is has no difference.
            let Difference { source, target } = figure.value;
            value = json!({ "source": source, "target": target });
        }
        put(&mut sections, &figure.path, value);
    }
    let [source, target] = fits;
    let path = ["memory".to_owned(), "fits".to_owned()];
    put(&mut sections, &path, json!({ "source": source, "target": target }));
    sections
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

fn explained(
    source: &Report,
    target: &Report,
    attribution: &Attribution,
    peak: Option<&Explanation>,
    gaps: &[Option<GapsByReason>; 2],
) -> Explained {
    let part = |part| peak.map(|peak| ExplainedPart::of(source, target, peak, part));
    let gaps = match gaps {
        [Some(of_source), Some(of_target)] => Some([of_source, of_target]),
        _ => None,
    };
    Explained {
        peak: part(Part::All),
        always_live: part(Part::AlwaysLive),
        not_always_live: part(Part::NotAlwaysLive),
        fullest_tile: explain_fullest_tile(source, target, attribution, gaps)
            .map(|tiles| ExplainedFullestTile::of(&tiles)),
    }
}

fn curve(report: &Report) -> Vec<u64> {
    let curve = scope_curve(report, Scope::Everything, &|| false);
    curve.map(|curve| curve.not_always_live).unwrap_or_default()
}

fn spike_rows(source: &Report, target: &Report, matching: &Matching) -> Vec<SpikeRow> {
    let row = |spike: &Spike| {
        let facts = |report, step: Option<usize>| steps::facts(report, step?);
        let (of_source, of_target) =
            (facts(source, spike.source_step), facts(target, spike.target_step));
        let (source_step, target_step) = (
            of_source.as_ref().map(|facts| facts.step.0),
            of_target.as_ref().map(|facts| facts.step.0),
        );
        let facts = of_source.or(of_target);
        SpikeRow {
            source_step,
            target_step,
            kind: facts.as_ref().and_then(|facts| facts.kind.clone()),
            name: facts.as_ref().and_then(|facts| facts.name.clone()),
            operation: facts.and_then(|facts| facts.operation.as_ref().map(OperationName::of)),
            not_always_live_bytes: spike.bytes,
            sureness: spike.sureness,
        }
    };
    let found = spikes(&curve(source), &curve(target), &matching.steps, SPIKES);
    found.iter().map(row).collect()
}

fn plan_rows(
    source: &Report,
    target: &Report,
    attribution: &Attribution,
    matching: &Matching,
) -> Vec<PlanRow> {
    let row = |plan: Plan| {
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
    };
    let (source_curve, target_curve) = (curve(source), curve(target));
    let plans =
        changed_plans((source, &source_curve), (target, &target_curve), attribution, matching);
    plans.into_iter().map(row).collect()
}

impl Answer for Comparison {
    fn set_warnings(&mut self, warnings: Vec<Warning>) {
        self.warnings = warnings;
    }

    fn text(&self) -> String {
        text::text(self)
    }
}
