//! The facts that only an IPU report has: the section `poplar` of JSON documents.

use serde::Serialize;
use serde_json::{Map, Value};

use super::insights::PoplarInsights;
use super::insights::must_go::MustGo;
use super::insights::verdict::{IpuVerdict, TilesVerdict};
use crate::analysis::largest::Largest;
use crate::analysis::liveness::{self, NamedBytes, Scope};
use crate::analysis::memory::fullest_tiles::{Bin, FullTile};
use crate::analysis::memory::{self, CategoryBytes, FullestTile};
use crate::analysis::program::operations::{self, Operation, ProportionCount};
use crate::analysis::program::steps;
use crate::analysis::throughput::{Throughput, throughput};
use crate::store::Report;
use crate::store::memory::{Region, TileMemory};
use crate::store::options::GraphInfo;
use crate::store::target::Target;

/// The largest variables that are named at the peak.
const PEAK_VARIABLES: usize = 10;

/// What follows from the tables of a report.
#[derive(Debug, Serialize)]
pub(super) struct ReportFacts {
    pub(super) target: TargetFacts,
    pub(super) graph: GraphInfo,
    pub(super) memory: MemoryFacts,
    pub(super) liveness: LivenessSection,
    pub(super) execution: Option<ExecutionFacts>,
    pub(super) available_memory_proportion: Vec<ProportionCount>,
}

/// The section: the tables, and the details of the insights.
#[derive(Debug, Serialize)]
pub(super) struct PoplarSection<'a> {
    #[serde(flatten)]
    pub(super) report: ReportFacts,
    verdict: Option<&'a TilesVerdict>,
    ipus: &'a [IpuVerdict],
    fullest_tiles: &'a [FullTile],
    histogram: &'a [Bin],
    largest: &'a Largest,
    must_go: &'a [MustGo],
}

/// The machine.
#[derive(Debug, Serialize)]
pub(super) struct TargetFacts {
    pub(super) kind: Option<String>,
    pub(super) architecture: Option<String>,
    pub(super) ipus: Option<u64>,
    pub(super) replicas: Option<u64>,
    pub(super) tiles: Option<u64>,
    pub(super) tiles_per_ipu: Option<u64>,
    pub(super) bytes_per_tile: Option<u64>,
    pub(super) clock_hz: Option<u64>,
}

/// Memory of all tiles.
#[derive(Debug, Serialize)]
pub(super) struct MemoryFacts {
    pub(super) total_bytes: Option<u64>,
    pub(super) including_gaps_bytes: Option<u64>,
    pub(super) gap_bytes: Option<u64>,
    pub(super) always_live_bytes: Option<u64>,
    pub(super) by_region: Map<String, Value>,
    pub(super) by_category: Map<String, Value>,
    pub(super) fullest_tile: Option<FullestTile>,
    pub(super) tiles_over_limit: Option<u64>,
    pub(super) fits: Option<bool>,
}

/// Liveness of all tiles together.
#[derive(Debug, Serialize)]
pub(super) struct LivenessSection {
    pub(super) steps: Option<usize>,
    pub(super) peak: Option<NotAlwaysLivePeak>,
}

/// The step at which most is alive that is not always live, with the largest of it.
#[derive(Debug, Serialize)]
pub(super) struct NotAlwaysLivePeak {
    pub(super) step: u32,
    pub(super) kind: Option<String>,
    pub(super) name: Option<String>,
    pub(super) operation: Option<Operation>,
    pub(super) not_always_live_bytes: u64,
    pub(super) always_live_bytes: Option<u64>,
    pub(super) variables: Option<Vec<NamedBytes>>,
}

/// The recorded runs.
#[derive(Debug, Serialize)]
pub(super) struct ExecutionFacts {
    pub(super) runs: u64,
    pub(super) steps: u64,
    pub(super) cycles: Option<u64>,
    pub(super) seconds: Option<f64>,
    pub(super) throughput_by_cycles_samples_per_second: Option<f64>,
    pub(super) throughput_by_elapsed_time_samples_per_second: Option<f64>,
}

impl<'a> PoplarSection<'a> {
    pub(super) fn of(report: &Report, insights: &'a PoplarInsights) -> Self {
        Self {
            report: ReportFacts::of(report),
            verdict: insights.verdict.as_ref(),
            ipus: &insights.ipus,
            fullest_tiles: &insights.fullest_tiles,
            histogram: &insights.histogram,
            largest: &insights.largest,
            must_go: &insights.must_go,
        }
    }
}

impl ReportFacts {
    /// Of a report whose small tables and debug information are read.
    pub(super) fn of(report: &Report) -> Self {
        let debug_and_programs = report.debug.get().zip(report.programs.get());
        Self {
            target: target_facts(report.target.get()),
            graph: report.graph.get().copied().unwrap_or_default(),
            memory: memory_facts(report.memory.get(), report.target.get()),
            liveness: liveness_facts(report),
            execution: execution_facts(report),
            available_memory_proportion: debug_and_programs
                .map(|(debug, programs)| operations::proportions(debug, programs))
                .unwrap_or_default(),
        }
    }
}

fn execution_facts(report: &Report) -> Option<ExecutionFacts> {
    let totals = report.execution.get()?;
    let Throughput { by_cycles, by_elapsed_time } = throughput(report);
    Some(ExecutionFacts {
        runs: totals.runs,
        steps: totals.steps,
        cycles: totals.cycles,
        seconds: totals.elapsed_microseconds.map(|elapsed| elapsed as f64 / 1e6),
        throughput_by_cycles_samples_per_second: by_cycles,
        throughput_by_elapsed_time_samples_per_second: by_elapsed_time,
    })
}

fn target_facts(target: Option<&Target>) -> TargetFacts {
    let target = target.cloned().unwrap_or_default();
    // `IPU_MODEL` in the file is `ipu-model` here.
    let kind = target.kind.map(|kind| kind.to_lowercase().replace('_', "-"));
    TargetFacts {
        kind,
        architecture: target.architecture,
        ipus: target.devices,
        replicas: target.replicas,
        tiles: target.tiles,
        tiles_per_ipu: target.tiles_per_device,
        bytes_per_tile: target.bytes_per_tile,
        clock_hz: target.clock_hz,
    }
}

fn memory_facts(memory: Option<&TileMemory>, target: Option<&Target>) -> MemoryFacts {
    let totals = memory.map(|memory| memory::totals(memory, target)).unwrap_or_default();
    let json = |value: CategoryBytes| serde_json::to_value(value).unwrap_or(Value::Null);
    MemoryFacts {
        total_bytes: totals.total_bytes,
        including_gaps_bytes: totals.including_gaps_bytes,
        gap_bytes: totals.gap_bytes,
        always_live_bytes: totals.always_live_bytes,
        by_region: Region::ALL
            .iter()
            .zip(totals.by_region)
            .map(|(region, bytes)| (region.key().to_owned(), bytes.into()))
            .collect(),
        by_category: memory
            .map(|memory| memory.categories.as_slice())
            .unwrap_or_default()
            .iter()
            .map(|category| (category.name.clone(), json(memory::category_total(category))))
            .collect(),
        fullest_tile: memory
            .zip(totals.fullest)
            .and_then(|(memory, row)| FullestTile::of(memory, row)),
        tiles_over_limit: totals.tiles_over_limit,
        fits: totals.fits,
    }
}

fn liveness_facts(report: &Report) -> LivenessSection {
    let steps = report.steps.get().map(|steps| steps.ids.len());
    LivenessSection { steps, peak: peak(report) }
}

fn peak(report: &Report) -> Option<NotAlwaysLivePeak> {
    let liveness = report.liveness.get()?;
    let curve = liveness::curve(report, Scope::Everything)?;
    let step = liveness::peak(&curve)?;
    let facts = steps::facts(report, None, step)?;
    let rows = liveness.variable_bytes.as_deref();
    Some(NotAlwaysLivePeak {
        step: facts.step.0,
        kind: facts.kind,
        name: facts.name,
        operation: facts.operation,
        not_always_live_bytes: curve.get(step).copied().unwrap_or(0),
        always_live_bytes: report
            .arenas
            .get()
            .and_then(|arenas| liveness::always_live_bytes(Scope::Everything, arenas)),
        variables: rows.map(|rows| {
            let mut variables = liveness::variables_at(rows, liveness, step);
            variables.truncate(PEAK_VARIABLES);
            variables
        }),
    })
}
