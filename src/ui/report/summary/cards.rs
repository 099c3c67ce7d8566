//! The facts at the left: memory, machine, graph, compilation.

use crate::analysis::liveness::{Scope, curve, peak, replica_note};
use crate::analysis::memory::{cell, over_limit_bytes, totals};
use crate::analysis::steps;
use crate::store::Report;
use crate::store::options::About;
use crate::text::{grouped, shortened};
use crate::ui::units::Units;
use crate::ui::widget::facts::Fact;

/// Longest value.
const VALUE: usize = 200;

/// A card: its title and its facts.
pub type Card = (&'static str, Vec<Fact>);

/// The cards with what is known now.
pub fn cards(report: &Report, units: Units) -> Vec<Card> {
    vec![
        ("Memory", memory_facts(report, units)),
        ("Target", target_facts(report, units)),
        ("Graph", graph_facts(report)),
        ("Compilation and execution", compilation_facts(report)),
    ]
}

/// Whether the program fits, and in words; `None` where that is not known.
pub fn verdict(report: &Report, units: Units) -> Option<(bool, String)> {
    let memory = report.memory.get()?;
    let target = report.target.get();
    let totals = totals(memory, target);
    if totals.fits? {
        return Some((true, "Fits: no tile is over its limit".to_owned()));
    }
    let over = totals.tiles_over_limit.map_or_else(|| "some".to_owned(), grouped);
    let tiles = grouped(memory.tiles.len() as u64);
    let most = totals.fullest.and_then(|row| over_limit_bytes(memory, target, row));
    let most = most.map_or(String::new(), |most| format!(", by {} at most", units.exact(most)));
    Some((false, format!("Does not fit: {over} of {tiles} tiles over the limit{most}")))
}

fn push(facts: &mut Vec<Fact>, name: &str, value: Option<String>) {
    if let Some(value) = value {
        facts.push((name.to_owned(), shortened(&value, VALUE).into_owned()));
    }
}

fn memory_facts(report: &Report, units: Units) -> Vec<Fact> {
    let mut facts = Vec::new();
    let Some(memory) = report.memory.get() else { return facts };
    let target = report.target.get();
    let totals = totals(memory, target);
    let bytes =
        |bytes: Option<u64>| bytes.map_or_else(|| "–".to_owned(), |bytes| units.exact(bytes));
    facts.push(("Without gaps".to_owned(), bytes(totals.total_bytes)));
    facts.push(("With gaps".to_owned(), bytes(totals.including_gaps_bytes)));
    facts.push(("Gaps".to_owned(), bytes(totals.gap_bytes)));
    facts.push(("Always live".to_owned(), bytes(totals.always_live_bytes)));
    push(&mut facts, "Fullest tile", fullest_text(report, totals.fullest, units));
    let tiles = grouped(memory.tiles.len() as u64);
    push(
        &mut facts,
        "Tiles over the limit",
        totals.tiles_over_limit.map(|over| format!("{} of {tiles}", grouped(over))),
    );
    push(&mut facts, "Liveness peak", peak_text(report, units));
    facts
}

fn fullest_text(report: &Report, row: Option<usize>, units: Units) -> Option<String> {
    let memory = report.memory.get()?;
    let bytes = units.exact(cell(&memory.including_gaps, row?)?);
    Some(format!("Tile {}, {bytes} with gaps", memory.tiles.get(row?)?))
}

fn peak_text(report: &Report, units: Units) -> Option<String> {
    let (liveness, steps) = (report.liveness.get()?, report.steps.get()?);
    let curve = curve(liveness, Scope::Everything, steps.ids.len())?;
    let step = peak(&curve)?;
    let facts = steps::facts(report, step)?;
    let kind = facts.kind.map_or(String::new(), |kind| format!(", {kind}"));
    let note = replica_note(report.target.get()).map_or("", |_| ", per replica");
    let bytes = units.exact(*curve.get(step)?);
    Some(format!("{bytes} not always live at step {}{kind}{note}", facts.step))
}

fn target_facts(report: &Report, units: Units) -> Vec<Fact> {
    let mut facts = Vec::new();
    let Some(target) = report.target.get() else { return facts };
    let exact = |bytes: u64| units.exact(bytes);
    push(&mut facts, "Type", target.kind.clone());
    push(&mut facts, "Architecture", target.architecture.clone());
    push(&mut facts, "IPUs", target.ipus.map(grouped));
    push(&mut facts, "Replicas", target.replicas.map(grouped));
    push(&mut facts, "IPUs per replica", target.ipus_per_replica.map(grouped));
    push(&mut facts, "Tiles", target.tiles.map(grouped));
    push(&mut facts, "Tiles per IPU", target.tiles_per_ipu.map(grouped));
    push(&mut facts, "Memory per tile", target.bytes_per_tile.map(exact));
    push(&mut facts, "Memory per IPU", target.bytes_per_ipu.map(exact));
    push(&mut facts, "Memory per replica", target.bytes_per_replica.map(exact));
    push(&mut facts, "Memory in total", target.total_bytes.map(exact));
    push(&mut facts, "Clock", target.clock_hz.map(|hz| format!("{} MHz", hz as f64 / 1_000_000.0)));
    push(
        &mut facts,
        "Compute instrumentation",
        target.compute_instrumentation.clone().filter(|level| !level.is_empty()),
    );
    let yes_no = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    push(
        &mut facts,
        "External exchange instrumented",
        target.external_exchange_instrumentation.map(yes_no),
    );
    facts
}

fn graph_facts(report: &Report) -> Vec<Fact> {
    let mut facts = Vec::new();
    let Some(graph) = report.graph.get() else { return facts };
    push(&mut facts, "Compute sets", graph.compute_sets.map(grouped));
    push(&mut facts, "Edges", graph.edges.map(grouped));
    push(&mut facts, "Variables", graph.variables.map(grouped));
    push(&mut facts, "Vertices", graph.vertices.map(grouped));
    facts
}

fn compilation_facts(report: &Report) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(about) = report.about.get() {
        push(&mut facts, "Poplar version", about.poplar_version.clone());
        push(&mut facts, "Compiled at", about.compiled_at.clone());
        push(&mut facts, "Compile time", compile_time(about));
        push(&mut facts, "Format", about.format.clone());
        push(&mut facts, "Compilation id", about.compilation_id.clone());
    }
    match report.execution.get() {
        Some(execution) => {
            push(&mut facts, "Runs recorded", Some(grouped(execution.runs)));
            push(&mut facts, "Steps recorded", Some(grouped(execution.steps)));
            push(&mut facts, "Cycles", execution.cycles.map(grouped));
        }
        None if report.execution.is_settled() => {
            push(&mut facts, "Execution", Some("Nothing was recorded".to_owned()));
        }
        None => {}
    }
    facts
}

/// From the first phase's start to the last one's end.
fn compile_time(about: &About) -> Option<String> {
    let start = about.phases.iter().map(|phase| phase.start_microseconds).min()?;
    let ends = about.phases.iter();
    let end = ends
        .map(|phase| phase.start_microseconds.saturating_add(phase.duration_microseconds))
        .max()?;
    Some(format!("{:.2} s", end.saturating_sub(start) as f64 / 1_000_000.0))
}
