//! The facts of reports side by side: memory, machine, graph, compilation and execution, and whether the
//! program fits.

use std::borrow::Cow;

use crate::analysis::figures::joined::side_by_side;
use crate::analysis::liveness::timeline::WithTimeline;
use crate::analysis::liveness::{Scope, always_live_bytes, replica_note};
use crate::analysis::memory::{cell, over_limit_bytes, totals};
use crate::analysis::program::steps;
use crate::store::options::About;
use crate::store::{Absence, Report};
use crate::text::{grouped, shortened};

/// Longest value.
const VALUE: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactGroup {
    pub title: Cow<'static, str>,
    pub facts: Vec<Fact>,
}

/// A fact of all reports; `None` where a report does not have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub name: Cow<'static, str>,
    pub said: Vec<Option<Said>>,
}

/// What a fact says, as a figure where it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Bytes; what the text says beside them comes before and after.
    Bytes(String, u64, String),
    /// Things; the text says of how many.
    Count(u64, String),
    /// Words, clean.
    Words(String),
    Unknown,
}

impl Said {
    fn bytes(bytes: Option<u64>) -> Self {
        bytes.map_or(Self::Unknown, |bytes| Self::Bytes(String::new(), bytes, String::new()))
    }

    fn count(count: u64) -> Self {
        Self::Count(count, String::new())
    }
}

type StatementsOf = fn(&WithTimeline) -> Vec<Statement>;
type WhyNot = fn(&Report) -> Option<&Absence>;

/// What is known of the reports now. A group without facts is there where a report says why it has none.
pub fn fact_groups(reports: &[WithTimeline]) -> Vec<FactGroup> {
    let groups: [(&'static str, StatementsOf, WhyNot); 4] = [
        ("Memory", memory_facts, |report| report.memory.absence()),
        ("Machine", |of| target_facts(&of.report), |report| report.target.absence()),
        ("Graph", |of| graph_facts(&of.report), |report| report.graph.absence()),
        (
            "Compilation and execution",
            |of| compilation_facts(&of.report),
            |report| report.about.absence(),
        ),
    ];
    let group = |(title, facts, why_not): (&'static str, StatementsOf, WhyNot)| {
        let keyed = |of: &WithTimeline| -> Vec<_> {
            facts(of).into_iter().map(|row| (row.0.clone(), row)).collect()
        };
        let fact = |row: Vec<Option<Statement>>| {
            let name = row.iter().flatten().next()?.0.clone();
            Some(Fact { name, said: row.into_iter().map(|said| Some(said?.1)).collect() })
        };
        let rows = side_by_side(reports.iter().map(keyed).collect());
        let facts: Vec<Fact> = rows.into_iter().filter_map(fact).collect();
        let is_missed = |of: &WithTimeline| why_not(&of.report).is_some_and(Absence::is_explained);
        let is_told = !facts.is_empty() || reports.iter().any(is_missed);
        is_told.then_some(FactGroup { title: title.into(), facts })
    };
    groups.into_iter().filter_map(group).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Whether no tile is over its limit.
    pub fits: bool,
    pub tiles: u64,
    pub tiles_over: Option<u64>,
    /// By how much the fullest is over.
    pub most_over: Option<u64>,
}

impl Fit {
    /// Of a report; `None` where it is not known.
    pub fn of(report: &Report) -> Option<Self> {
        let memory = report.memory.get()?;
        let target = report.target.get();
        let totals = totals(memory, target);
        Some(Self {
            fits: totals.fits?,
            tiles: memory.tiles.len() as u64,
            tiles_over: totals.tiles_over_limit,
            most_over: totals.fullest.and_then(|row| over_limit_bytes(memory, target, row)),
        })
    }
}

type Statement = (Cow<'static, str>, Said);

fn push(facts: &mut Vec<Statement>, name: &'static str, said: Option<Said>) {
    facts.extend(said.map(|said| (Cow::Borrowed(name), said)));
}

fn words(text: Option<String>) -> Option<Said> {
    text.map(|text| Said::Words(shortened(&text, VALUE).into_owned()))
}

fn memory_facts(of: &WithTimeline) -> Vec<Statement> {
    let mut facts = Vec::new();
    let report = &of.report;
    let Some(memory) = report.memory.get() else { return arena_facts(of) };
    let target = report.target.get();
    let totals = totals(memory, target);
    for (name, bytes) in [
        ("Without gaps", totals.total_bytes),
        ("With gaps", totals.including_gaps_bytes),
        ("Gaps", totals.gap_bytes),
        ("Always live", totals.always_live_bytes),
    ] {
        push(&mut facts, name, Some(Said::bytes(bytes)));
    }
    push(&mut facts, "Fullest tile", fullest(report, totals.fullest));
    let tiles = grouped(memory.tiles.len() as u64);
    let over = totals.tiles_over_limit.map(|over| Said::Count(over, format!(" of {tiles}")));
    push(&mut facts, "Tiles over the limit", over);
    push(&mut facts, "Liveness peak", liveness_peak(of));
    facts
}

/// Of a system without tiles: what its devices can hold, and the most at any step.
fn arena_facts(of: &WithTimeline) -> Vec<Statement> {
    let mut facts = Vec::new();
    let report = &of.report;
    let Some(arenas) = report.arenas.get() else { return facts };
    for device in arenas.device_ids() {
        let capacity = arenas.capacity_of_devices(|of| of == Some(device));
        facts.push((report.device_title(device).into(), Said::bytes(capacity)));
    }
    let always_live = always_live_bytes(Scope::Everything, arenas);
    push(&mut facts, "Always live", always_live.map(|bytes| Said::bytes(Some(bytes))));
    push(&mut facts, "Liveness peak", liveness_peak(of));
    facts
}

fn fullest(report: &Report, row: Option<usize>) -> Option<Said> {
    let memory = report.memory.get()?;
    let bytes = cell(&memory.including_gaps, row?)?;
    let tile = memory.tiles.get(row?)?;
    Some(Said::Bytes(format!("Tile {tile}, "), bytes, " with gaps".to_owned()))
}

fn liveness_peak(of: &WithTimeline) -> Option<Said> {
    let (step, bytes) = of.peak()?;
    let facts = steps::facts(&of.report, step)?;
    let kind = facts.kind.map_or(String::new(), |kind| format!(", {kind}"));
    let note = replica_note(of.report.target.get()).map_or("", |_| ", per replica");
    let place = format!(" not always live at step {}{kind}{note}", facts.step);
    Some(Said::Bytes(String::new(), bytes, shortened(&place, VALUE).into_owned()))
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
        None if report.execution.absence().is_some_and(Absence::is_explained) => {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::store::target::Target;

    #[test]
    fn facts_of_all_share_their_lines() {
        let report = |target: Target| {
            let report = Report::default();
            report.target.fill(Some(target));
            WithTimeline { report: Arc::new(report), timeline: None }
        };
        let source =
            report(Target { tiles: Some(4), kind: Some("IPU".into()), ..Target::default() });
        let target = report(Target {
            tiles: Some(8),
            clock_hz: Some(1_000_000),
            kind: Some("CPU".into()),
            ..Target::default()
        });
        let groups = fact_groups(&[source, target]);
        let [FactGroup { title, facts }] = &groups[..] else { panic!("one group: {groups:?}") };
        let names: Vec<_> = facts.iter().map(|fact| &*fact.name).collect();
        assert_eq!((&**title, &names[..]), ("Machine", &["Type", "Tiles", "Clock"][..]));
        let count = |count| Some(Said::Count(count, String::new()));
        assert_eq!(facts[1].said, [count(4), count(8)]);
        assert_eq!(facts[2].said, [None, Some(Said::Words("1 MHz".into()))]);
    }
}
