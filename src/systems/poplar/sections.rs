//! The sections that only an IPU report has, as text.

use super::facts::{ExecutionFacts, MemoryFacts, ReportFacts, TargetFacts};
use super::insights::PoplarInsights;
use super::insights::advice::operation_title;
use super::insights::must_go::MustGo;
use super::insights::sentences::ipu_verdict_word;
use super::insights::verdict::IpuVerdict;
use crate::analysis::liveness::replica_note;
use crate::analysis::memory::{FullestTile, category_title};
use crate::analysis::program::operations::ProportionCount;
use crate::run::{Cell, Section, SectionBody};
use crate::store::Report;
use crate::store::memory::Region;
use crate::store::options::GraphInfo;
use crate::text::{bytes, exact_bytes, grouped, rate};

/// Variables that are named of what must go.
const MOST_VARIABLES: usize = 6;
const NOT_KNOWN: &str = "not known";

pub(super) fn sections_of(
    report: &Report,
    facts: &ReportFacts,
    insights: &PoplarInsights,
) -> Vec<Section> {
    let mut sections = vec![machine(&facts.target, &facts.graph), tiles(&facts.memory)];
    sections.extend(ipus(&insights.ipus));
    sections.extend(insights.must_go.first().map(must_go));
    sections.extend(categories(&facts.memory));
    sections.extend(proportions(&facts.available_memory_proportion));
    sections.extend(facts.execution.as_ref().map(execution));
    sections.extend(replica_note(report.target.get()).map(|note| Section {
        title: "Liveness".to_owned(),
        body: SectionBody::Sentences(vec![note.to_owned()]),
    }));
    sections
}

fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

fn or_unknown<T>(value: Option<T>, write: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NOT_KNOWN.to_owned(), write)
}

fn known(text: Option<&String>) -> String {
    or_unknown(text, Clone::clone)
}

fn machine(target: &TargetFacts, graph: &GraphInfo) -> Section {
    let machine = format!(
        "{} × {} {} ({} tiles of {}, {})",
        or_unknown(target.ipus, grouped),
        known(target.kind.as_ref()),
        known(target.architecture.as_ref()),
        or_unknown(target.tiles, grouped),
        or_unknown(target.bytes_per_tile, bytes),
        or_unknown(target.clock_hz, |hz| format!("{:.2} GHz", hz as f64 / 1e9)),
    );
    let sizes = format!(
        "{} variables, {} vertices, {} edges, {} compute sets",
        or_unknown(graph.variables, grouped),
        or_unknown(graph.vertices, grouped),
        or_unknown(graph.edges, grouped),
        or_unknown(graph.compute_sets, grouped),
    );
    Section::facts("Program", [("Machine", text(machine)), ("Graph", text(sizes))])
}

fn tiles(memory: &MemoryFacts) -> Section {
    let fullest = or_unknown(memory.fullest_tile.as_ref(), |tile: &FullestTile| {
        format!(
            "{}: {} including gaps, {} without",
            tile.tile,
            or_unknown(tile.including_gaps_bytes, exact_bytes),
            or_unknown(tile.bytes, exact_bytes)
        )
    });
    let over = memory.tiles_over_limit.map_or_else(|| text(NOT_KNOWN), Cell::Count);
    let mut facts = vec![("Over the limit", over), ("Fullest tile", text(fullest))];
    for region in Region::ALL {
        let bytes = memory.by_region.get(region.key()).and_then(serde_json::Value::as_u64);
        let bytes = bytes.map_or_else(|| text(NOT_KNOWN), Cell::Bytes);
        facts.push((region.title(), bytes));
    }
    Section::facts("Tiles", facts)
}

/// Each IPU, where there are several.
fn ipus(ipus: &[IpuVerdict]) -> Option<Section> {
    let rows = ipus.iter().map(|ipu| {
        vec![
            text(ipu.ipu.to_string()),
            text(ipu_verdict_word(ipu)),
            Cell::Count(ipu.tiles_over),
            ipu.fullest_tile.and_then(|tile| tile.including_gaps_bytes).into(),
            ipu.peak_bytes.into(),
            Cell::Bytes(ipu.limit_bytes),
            ipu.always_live_bytes.into(),
            ipu.gap_bytes.into(),
        ]
    });
    let columns =
        ["IPU", "verdict", "tiles over", "fullest tile", "peak", "memory", "always live", "gaps"];
    (ipus.len() > 1).then(|| Section::table("IPUs", &columns, rows.collect()))
}

fn must_go(worst: &MustGo) -> Section {
    let place = worst.tile.map_or_else(|| "all tiles".to_owned(), |tile| format!("tile {tile}"));
    let step = worst.step.map_or_else(String::new, |step| format!(" (step {step})"));
    let shown = worst.variables.iter().take(MOST_VARIABLES).map(|variable| {
        let operation = variable.operation.as_ref().map(operation_title);
        let operation = operation.map_or(Cell::Empty, text);
        vec![text(variable.name.clone()), Cell::Bytes(variable.bytes), operation]
    });
    let mut rows: Vec<Vec<Cell>> = shown.collect();
    let rest = worst.variables.get(MOST_VARIABLES..).unwrap_or_default();
    if !rest.is_empty() {
        let bytes = rest.iter().fold(0_u64, |sum, variable| sum.saturating_add(variable.bytes));
        let more = format!("{} more", grouped(rest.len() as u64));
        rows.push(vec![text(more), Cell::Bytes(bytes), Cell::Empty]);
    }
    let title = format!("What must be freed to fit, on {place}{step}");
    Section::table(title, &["Variable", "bytes", "of operation"], rows)
}

/// Categories that have bytes, most first.
fn categories(memory: &MemoryFacts) -> Option<Section> {
    let rows = memory.by_category.iter().map(|(name, value)| {
        let part = |key: &str| value.get(key).and_then(serde_json::Value::as_u64);
        (name, part("not_overlapped"), part("overlapped"))
    });
    let all = |(_, alone, shared): &(_, Option<u64>, Option<u64>)| {
        alone.unwrap_or(0).saturating_add(shared.unwrap_or(0))
    };
    let is_empty = |row: &(_, Option<u64>, Option<u64>)| row.1 == Some(0) && row.2 == Some(0);
    let mut rows: Vec<_> = rows.filter(|row| !is_empty(row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(all(row)));
    let cells = |(name, alone, shared): (&String, Option<u64>, Option<u64>)| {
        vec![text(category_title(name)), alone.into(), shared.into()]
    };
    let rows: Vec<Vec<Cell>> = rows.into_iter().map(cells).collect();
    let columns = ["Category", "not overlapped", "overlapped"];
    (!rows.is_empty()).then(|| Section::table("By category", &columns, rows))
}

fn proportions(proportions: &[ProportionCount]) -> Option<Section> {
    let rows = proportions.iter().map(|row| {
        let operation = row.operation.as_deref().unwrap_or(NOT_KNOWN);
        let value = or_unknown(row.value, |value| value.to_string());
        vec![text(operation), text(value), Cell::Count(row.count)]
    });
    let columns = ["Operation", "proportion", "contexts"];
    (!proportions.is_empty())
        .then(|| Section::table("availableMemoryProportion", &columns, rows.collect()))
}

fn execution(execution: &ExecutionFacts) -> Section {
    let seconds = or_unknown(execution.seconds, |seconds| format!("{seconds:.6} s"));
    let mut facts = vec![
        ("Runs", Cell::Count(execution.runs)),
        ("Steps", Cell::Count(execution.steps)),
        ("Cycles", execution.cycles.map_or_else(|| text(NOT_KNOWN), Cell::Count)),
        ("Elapsed", text(seconds)),
    ];
    let samples = [
        (execution.throughput_by_cycles_samples_per_second, "by cycles"),
        (execution.throughput_by_elapsed_time_samples_per_second, "by elapsed time"),
    ];
    for (samples, by) in samples {
        let fact = samples.map(|samples| text(format!("{} {by}", rate(samples))));
        facts.extend(fact.map(|fact| ("Samples/second", fact)));
    }
    Section::facts("Execution", facts)
}
