//! The facts at the left: memory, machine, graph, compilation.

use crate::analysis::liveness::{Scope, curve, peak, replica_note};
use crate::analysis::memory::{cell, over_limit_bytes, totals};
use crate::analysis::program::steps;
use crate::store::Report;
use crate::store::options::About;
use crate::text::{grouped, shortened};
use crate::ui::units::Units;
use crate::ui::widget::facts::Fact;

/// Longest value.
const VALUE: usize = 200;

/// A card: its title and its facts.
pub type Card = (&'static str, Vec<Fact>);

/// What a fact says, as a figure where it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Bytes; what the text says beside them comes before and after.
    Bytes(String, u64, String),
    /// Things; the text says of how many.
    Count(u64, String),
    /// Words, clean.
    Words(String),
    /// Not known.
    Unknown,
}

impl Said {
    fn bytes(bytes: Option<u64>) -> Self {
        bytes.map_or(Self::Unknown, |bytes| Self::Bytes(String::new(), bytes, String::new()))
    }

    fn count(count: u64) -> Self {
        Self::Count(count, String::new())
    }

    /// All of it, for people.
    pub fn text(&self, units: Units) -> String {
        match self {
            Self::Bytes(before, bytes, after) => format!("{before}{}{after}", units.exact(*bytes)),
            Self::Count(count, after) => format!("{}{after}", grouped(*count)),
            Self::Words(words) => words.clone(),
            Self::Unknown => "–".to_owned(),
        }
    }
}

/// A fact: its name and what it says.
pub type Statement = (&'static str, Said);

/// The cards with what is known now.
pub fn cards(report: &Report, units: Units) -> Vec<Card> {
    let facts = |statements: Vec<Statement>| {
        let facts = statements.iter();
        facts.map(|(name, said)| ((*name).to_owned(), said.text(units))).collect()
    };
    statements(report).into_iter().map(|(title, list)| (title, facts(list))).collect()
}

/// What the cards say.
pub fn statements(report: &Report) -> Vec<(&'static str, Vec<Statement>)> {
    vec![
        ("Memory", memory_facts(report)),
        ("Target", target_facts(report)),
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

fn push(facts: &mut Vec<Statement>, name: &'static str, said: Option<Said>) {
    facts.extend(said.map(|said| (name, said)));
}

fn words(text: Option<String>) -> Option<Said> {
    text.map(|text| Said::Words(shortened(&text, VALUE).into_owned()))
}

fn memory_facts(report: &Report) -> Vec<Statement> {
    let mut facts = Vec::new();
    let Some(memory) = report.memory.get() else { return facts };
    let target = report.target.get();
    let totals = totals(memory, target);
    facts.push(("Without gaps", Said::bytes(totals.total_bytes)));
    facts.push(("With gaps", Said::bytes(totals.including_gaps_bytes)));
    facts.push(("Gaps", Said::bytes(totals.gap_bytes)));
    facts.push(("Always live", Said::bytes(totals.always_live_bytes)));
    push(&mut facts, "Fullest tile", fullest(report, totals.fullest));
    let tiles = grouped(memory.tiles.len() as u64);
    let over = totals.tiles_over_limit.map(|over| Said::Count(over, format!(" of {tiles}")));
    push(&mut facts, "Tiles over the limit", over);
    push(&mut facts, "Liveness peak", liveness_peak(report));
    facts
}

fn fullest(report: &Report, row: Option<usize>) -> Option<Said> {
    let memory = report.memory.get()?;
    let bytes = cell(&memory.including_gaps, row?)?;
    let tile = memory.tiles.get(row?)?;
    Some(Said::Bytes(format!("Tile {tile}, "), bytes, " with gaps".to_owned()))
}

fn liveness_peak(report: &Report) -> Option<Said> {
    let (liveness, steps) = (report.liveness.get()?, report.steps.get()?);
    let curve = curve(liveness, Scope::Everything, steps.ids.len())?;
    let step = peak(&curve)?;
    let facts = steps::facts(report, step)?;
    let kind = facts.kind.map_or(String::new(), |kind| format!(", {kind}"));
    let note = replica_note(report.target.get()).map_or("", |_| ", per replica");
    let place = format!(" not always live at step {}{kind}{note}", facts.step);
    Some(Said::Bytes(String::new(), *curve.get(step)?, shortened(&place, VALUE).into_owned()))
}

fn target_facts(report: &Report) -> Vec<Statement> {
    let mut facts = Vec::new();
    let Some(target) = report.target.get() else { return facts };
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| Said::bytes(Some(bytes)));
    push(&mut facts, "Type", words(target.kind.clone()));
    push(&mut facts, "Architecture", words(target.architecture.clone()));
    push(&mut facts, "IPUs", target.ipus.map(Said::count));
    push(&mut facts, "Replicas", target.replicas.map(Said::count));
    push(&mut facts, "IPUs per replica", target.ipus_per_replica.map(Said::count));
    push(&mut facts, "Tiles", target.tiles.map(Said::count));
    push(&mut facts, "Tiles per IPU", target.tiles_per_ipu.map(Said::count));
    push(&mut facts, "Memory per tile", bytes(target.bytes_per_tile));
    push(&mut facts, "Memory per IPU", bytes(target.bytes_per_ipu));
    push(&mut facts, "Memory per replica", bytes(target.bytes_per_replica));
    push(&mut facts, "Memory in total", bytes(target.total_bytes));
    let clock = target.clock_hz.map(|hz| format!("{} MHz", hz as f64 / 1_000_000.0));
    push(&mut facts, "Clock", words(clock));
    push(
        &mut facts,
        "Compute instrumentation",
        words(target.compute_instrumentation.clone().filter(|level| !level.is_empty())),
    );
    let yes_no = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    push(
        &mut facts,
        "External exchange instrumented",
        words(target.external_exchange_instrumentation.map(yes_no)),
    );
    facts
}

fn graph_facts(report: &Report) -> Vec<Statement> {
    let mut facts = Vec::new();
    let Some(graph) = report.graph.get() else { return facts };
    push(&mut facts, "Compute sets", graph.compute_sets.map(Said::count));
    push(&mut facts, "Edges", graph.edges.map(Said::count));
    push(&mut facts, "Variables", graph.variables.map(Said::count));
    push(&mut facts, "Vertices", graph.vertices.map(Said::count));
    facts
}

fn compilation_facts(report: &Report) -> Vec<Statement> {
    let mut facts = Vec::new();
    if let Some(about) = report.about.get() {
        push(&mut facts, "Poplar version", words(about.poplar_version.clone()));
        push(&mut facts, "Compiled at", words(about.compiled_at.clone()));
        push(&mut facts, "Compile time", words(compile_time(about)));
        push(&mut facts, "Format", words(about.format.clone()));
        push(&mut facts, "Compilation id", words(about.compilation_id.clone()));
    }
    match report.execution.get() {
        Some(execution) => {
            push(&mut facts, "Runs recorded", Some(Said::count(execution.runs)));
            push(&mut facts, "Steps recorded", Some(Said::count(execution.steps)));
            push(&mut facts, "Cycles", execution.cycles.map(Said::count));
        }
        None if report.execution.is_settled() => {
            push(&mut facts, "Execution", words(Some("Nothing was recorded".to_owned())));
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
