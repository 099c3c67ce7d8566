//! `tilescope summary`: what the memory is made of, where the peak is, whether the program fits.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

use super::insights;
use super::output::{Answer, CsvAnswer, aligned, name_cell, or_unknown};
use super::summary::summary_csv;
use crate::analysis::liveness::{self, NamedBytes, Scope};
use crate::analysis::memory::{self, CategoryBytes, FullestTile};
use crate::analysis::program::operations::{self, Operation, ProportionCount};
use crate::analysis::program::steps;
use crate::analysis::throughput::{Throughput, throughput};
use crate::format::{Error, Progress};
use crate::store::Report;
use crate::store::memory::{Region, TileMemory};
use crate::store::options::GraphInfo;
use crate::store::report::ReportFile;
use crate::store::target::Target;
use crate::systems::poplar::files::OpenReport;
use crate::systems::poplar::insights::Insights;
use crate::text::{bytes, clean, exact_bytes, grouped, rate};

const PEAK_VARIABLES: usize = 10;

/// `tilescope.summary/1` (cli.md).
#[derive(Debug, Serialize)]
pub struct Summary {
    source: Source,
    target: TargetFacts,
    graph: GraphInfo,
    memory: MemoryFacts,
    liveness: LivenessFacts,
    execution: Option<ExecutionFacts>,
    available_memory_proportion: Vec<ProportionCount>,
    insights: Insights,
}

#[derive(Debug, Serialize)]
struct Source {
    path: String,
    compiled_at: Option<String>,
    poplar_version: Option<String>,
    format: Option<String>,
    files: Vec<ReportFile>,
}

#[derive(Debug, Serialize)]
struct TargetFacts {
    kind: Option<String>,
    architecture: Option<String>,
    ipus: Option<u64>,
    replicas: Option<u64>,
    tiles: Option<u64>,
    tiles_per_ipu: Option<u64>,
    bytes_per_tile: Option<u64>,
    clock_hz: Option<u64>,
}

#[derive(Debug, Serialize)]
struct MemoryFacts {
    total_bytes: Option<u64>,
    including_gaps_bytes: Option<u64>,
    gap_bytes: Option<u64>,
    always_live_bytes: Option<u64>,
    by_region: Map<String, Value>,
    by_category: Map<String, Value>,
    fullest_tile: Option<FullestTile>,
    tiles_over_limit: Option<u64>,
    fits: Option<bool>,
}

#[derive(Debug, Serialize)]
struct LivenessFacts {
    steps: Option<usize>,
    peak: Option<Peak>,
    #[serde(skip)]
    note: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Peak {
    step: u32,
    kind: Option<String>,
    name: Option<String>,
    operation: Option<Operation>,
    not_always_live_bytes: u64,
    always_live_bytes: Option<u64>,
    variables: Option<Vec<NamedBytes>>,
}

#[derive(Debug, Serialize)]
struct ExecutionFacts {
    runs: u64,
    steps: u64,
    cycles: Option<u64>,
    seconds: Option<f64>,
    throughput_by_cycles_samples_per_second: Option<f64>,
    throughput_by_elapsed_time_samples_per_second: Option<f64>,
}

impl Summary {
    /// Sums up a report whose small tables are read. `logs` count as those beside the profile.
    ///
    /// # Errors
    /// When the profile cannot be opened again, or one of the logs cannot be opened.
    pub fn of(open: &OpenReport, logs: &[PathBuf], progress: &Progress) -> Result<Self, Error> {
        open.read_debug_info(progress);
        let report = &*open.report;
        let debug_and_programs = report.debug.get().zip(report.programs.get());
        Ok(Self {
            source: source(report),
            target: target_facts(report.target.get()),
            graph: report.graph.get().copied().unwrap_or_default(),
            memory: memory_facts(report.memory.get(), report.target.get()),
            liveness: liveness_facts(report),
            execution: report.execution.get().map(|totals| {
                let Throughput { by_cycles, by_elapsed_time } = throughput(report);
                ExecutionFacts {
                    runs: totals.runs,
                    steps: totals.steps,
                    cycles: totals.cycles,
                    seconds: totals.elapsed_microseconds.map(|elapsed| elapsed as f64 / 1e6),
                    throughput_by_cycles_samples_per_second: by_cycles,
                    throughput_by_elapsed_time_samples_per_second: by_elapsed_time,
                }
            }),
            available_memory_proportion: debug_and_programs
                .map(|(debug, programs)| operations::proportions(debug, programs))
                .unwrap_or_default(),
            insights: insights::of(open, logs, progress)?,
        })
    }
}

fn source(report: &Report) -> Source {
    let about = report.about.get().cloned().unwrap_or_default();
    Source {
        path: report.path.display().to_string(),
        compiled_at: about.compiled_at,
        poplar_version: about.poplar_version,
        format: about.format,
        files: report.files(),
    }
}

fn target_facts(target: Option<&Target>) -> TargetFacts {
    let target = target.cloned().unwrap_or_default();
    // `IPU_MODEL` in the file is `ipu-model` here.
    let kind = target.kind.map(|kind| kind.to_lowercase().replace('_', "-"));
    TargetFacts {
        kind,
        architecture: target.architecture,
        ipus: target.ipus,
        replicas: target.replicas,
        tiles: target.tiles,
        tiles_per_ipu: target.tiles_per_ipu,
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

fn liveness_facts(report: &Report) -> LivenessFacts {
    let steps = report.steps.get().map(|steps| steps.ids.len());
    let note = liveness::replica_note(report.target.get());
    LivenessFacts { steps, peak: peak(report), note }
}

fn peak(report: &Report) -> Option<Peak> {
    let liveness = report.liveness.get()?;
    let curve = liveness::curve(liveness, Scope::Everything, report.steps.get()?.ids.len())?;
    let step = liveness::peak(&curve)?;
    let facts = steps::facts(report, step)?;
    let rows = liveness.variable_bytes.as_deref();
    Some(Peak {
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

impl Answer for Summary {
    const SCHEMA: &'static str = "tilescope.summary/1";

    fn text(&self) -> String {
        let mut text = String::new();
        let mut section = |title: &str, body: String| {
            text += title;
            text.push('\n');
            text += &body;
            text.push('\n');
        };
        section("Report", self.report_text());
        section("Memory", self.memory_text());
        let insights = insights::text(&self.insights);
        if !insights.is_empty() {
            section("Insights", insights);
        }
        let categories = self.category_rows();
        if !categories.is_empty() {
            let header = ["<Category", "not overlapped", "overlapped"];
            section("By category", aligned(&header, categories));
        }
        section("Liveness", self.liveness_text());
        if !self.available_memory_proportion.is_empty() {
            let rows = self.available_memory_proportion.iter().map(|row| {
                let operation = row.operation.as_deref().unwrap_or("not known");
                let value = or_unknown(row.value, |value| value.to_string());
                vec![name_cell(operation), value, grouped(row.count)]
            });
            let header = ["<Operation", "proportion", "contexts"];
            section("availableMemoryProportion", aligned(&header, rows));
        }
        if let Some(execution) = &self.execution {
            let mut rows = vec![
                ("Runs", grouped(execution.runs)),
                ("Steps", grouped(execution.steps)),
                ("Cycles", or_unknown(execution.cycles, grouped)),
                ("Elapsed", or_unknown(execution.seconds, |seconds| format!("{seconds:.6} s"))),
            ];
            let samples = [
                (execution.throughput_by_cycles_samples_per_second, "by cycles"),
                (execution.throughput_by_elapsed_time_samples_per_second, "by elapsed time"),
            ];
            rows.extend(samples.into_iter().filter_map(|(samples, by)| {
                Some(("Samples/second", format!("{} {by}", rate(samples?))))
            }));
            section("Execution", pairs(rows));
        }
        text.pop();
        text
    }
}

impl CsvAnswer for Summary {
    fn csv(&self) -> String {
        summary_csv(self)
    }
}

impl Summary {
    fn report_text(&self) -> String {
        let known = |text: &Option<String>| {
            text.as_deref().map_or_else(|| "not known".to_owned(), |text| clean(text).into_owned())
        };
        let target = &self.target;
        let machine = format!(
            "{} × {} {} ({} tiles of {}, {})",
            or_unknown(target.ipus, grouped),
            known(&target.kind),
            known(&target.architecture),
            or_unknown(target.tiles, grouped),
            or_unknown(target.bytes_per_tile, bytes),
            or_unknown(target.clock_hz, |hz| format!("{:.2} GHz", hz as f64 / 1e9)),
        );
        let graph = &self.graph;
        let sizes = format!(
            "{} variables, {} vertices, {} edges, {} compute sets",
            or_unknown(graph.variables, grouped),
            or_unknown(graph.vertices, grouped),
            or_unknown(graph.edges, grouped),
            or_unknown(graph.compute_sets, grouped),
        );
        let files: Vec<_> = self
            .source
            .files
            .iter()
            .filter(|file| file.bytes.is_some())
            .map(|file| match file.status {
                crate::store::report::FileStatus::Ok => file.name.clone(),
                status => format!("{} ({})", file.name, status.as_str()),
            })
            .collect();
        pairs([
            ("Path", clean(&self.source.path).into_owned()),
            ("Files", clean(&files.join(", ")).into_owned()),
            ("Compiled", known(&self.source.compiled_at)),
            ("Poplar", known(&self.source.poplar_version)),
            ("Format", known(&self.source.format)),
            ("Machine", machine),
            ("Graph", sizes),
        ])
    }

    fn memory_text(&self) -> String {
        let memory = &self.memory;
        let verdict = match (memory.fits, memory.tiles_over_limit) {
            (Some(true), _) => "yes".to_owned(),
            (Some(false), over) => {
                format!("no: {} tiles over the limit", or_unknown(over, grouped))
            }
            (None, _) => "not known".to_owned(),
        };
        let fullest = memory.fullest_tile.as_ref().map_or("not known".to_owned(), |tile| {
            format!(
                "{}: {} including gaps, {} without",
                tile.tile,
                or_unknown(tile.including_gaps_bytes, exact_bytes),
                or_unknown(tile.bytes, exact_bytes)
            )
        });
        let mut rows = vec![
            ("Fits", verdict),
            ("Total", or_unknown(memory.total_bytes, exact_bytes)),
            ("Including gaps", or_unknown(memory.including_gaps_bytes, exact_bytes)),
            ("Gaps", or_unknown(memory.gap_bytes, exact_bytes)),
            ("Always live", or_unknown(memory.always_live_bytes, exact_bytes)),
        ];
        for region in Region::ALL {
            let bytes = memory.by_region.get(region.key()).and_then(Value::as_u64);
            rows.push((region.title(), or_unknown(bytes, exact_bytes)));
        }
        rows.push(("Fullest tile", fullest));
        pairs(rows)
    }

    fn category_rows(&self) -> Vec<Vec<String>> {
        let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
        for (name, value) in &self.memory.by_category {
            let part = |key: &str| value.get(key).and_then(Value::as_u64);
            let (alone, shared) = (part("not_overlapped"), part("overlapped"));
            if alone == Some(0) && shared == Some(0) {
                continue;
            }
            let cells = vec![
                clean(&memory::category_title(name)).into_owned(),
                or_unknown(alone, exact_bytes),
                or_unknown(shared, exact_bytes),
            ];
            rows.push((alone.unwrap_or(0).saturating_add(shared.unwrap_or(0)), cells));
        }
        rows.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        rows.into_iter().map(|(_, cells)| cells).collect()
    }

    fn liveness_text(&self) -> String {
        let mut rows = vec![("Steps", or_unknown(self.liveness.steps, |n| grouped(n as u64)))];
        let Some(peak) = &self.liveness.peak else {
            rows.push(("Peak", "not known".to_owned()));
            return pairs(rows);
        };
        let what = [peak.kind.as_deref(), peak.name.as_deref()];
        let what: Vec<_> = what.into_iter().flatten().map(name_cell).collect();
        rows.push(("Peak", format!("step {}: {}", peak.step, what.join(" "))));
        if let Some(operation) = &peak.operation {
            rows.push(("Operation", super::liveness::operation_text(operation)));
        }
        rows.push(("Not always live", exact_bytes(peak.not_always_live_bytes)));
        rows.push(("Always live", or_unknown(peak.always_live_bytes, exact_bytes)));
        rows.extend(self.liveness.note.map(|note| ("Note", note.to_owned())));
        let mut text = pairs(rows);
        if let Some(variables) = peak.variables.as_ref().filter(|variables| !variables.is_empty()) {
            text.push('\n');
            let rows = variables
                .iter()
                .map(|variable| vec![name_cell(&variable.name), exact_bytes(variable.bytes)]);
            text += &aligned(&["<Largest at the peak", "bytes"], rows);
        }
        text
    }
}

/// Keys and values, one pair a line.
fn pairs<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    rows.into_iter().map(|(key, value)| format!("  {key:<16}{value}\n")).collect()
}
