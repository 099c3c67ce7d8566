//! The facts of a report: memory, machine, graph, compilation and execution.

use std::borrow::Cow;

use super::fact_groups::{Statements, TitledFacts, push, sized, words};
use super::facts::Said;
use crate::analysis::liveness::timeline::WithTimeline;
use crate::analysis::liveness::{Scope, always_live_bytes, replica_note};
use crate::analysis::memory::{cell, totals};
use crate::analysis::program::steps;
use crate::store::options::About;
use crate::store::{Absence, Report};
use crate::text::{grouped, shortened};

/// Longest value.
const VALUE: usize = 200;

/// What is known of the report now. A group without facts is there where the report says why it has none.
pub fn groups(of: &WithTimeline) -> Vec<TitledFacts> {
    let report = &*of.report;
    let groups = [
        ("Memory", memory_facts(of), report.memory.absence()),
        ("Machine", target_facts(report), report.target.absence()),
        ("Graph", graph_facts(report), report.graph.absence()),
        ("Compilation and execution", compilation_facts(report), report.about.absence()),
    ];
    let is_told = |facts: &Statements, absence: Option<&Absence>| {
        !facts.is_empty() || absence.is_some_and(Absence::is_explained)
    };
    let told = groups.into_iter().filter(|(_, facts, absence)| is_told(facts, *absence));
    told.map(|(title, facts, _)| (Cow::Borrowed(title), facts)).collect()
}

fn push_known(facts: &mut Statements, name: impl Into<Cow<'static, str>>, said: Option<Said>) {
    if let Some(said) = said {
        push(facts, name, said);
    }
}

fn things(count: u64) -> Said {
    Said::Count(count, String::new())
}

fn text(text: Option<String>) -> Option<Said> {
    text.map(|text| words(shortened(&text, VALUE)))
}

fn memory_facts(of: &WithTimeline) -> Statements {
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
        push(&mut facts, name, bytes.map_or(Said::Unknown, sized));
    }
    push_known(&mut facts, "Fullest tile", fullest(report, totals.fullest));
    let tiles = grouped(memory.tiles.len() as u64);
    let over = totals.tiles_over_limit.map(|over| Said::Count(over, format!(" of {tiles}")));
    push_known(&mut facts, "Tiles over the limit", over);
    push_known(&mut facts, "Liveness peak", liveness_peak(of));
    facts
}

/// Of a system without tiles: what its devices can hold, and the most at any step.
fn arena_facts(of: &WithTimeline) -> Statements {
    let mut facts = Vec::new();
    let report = &of.report;
    let Some(arenas) = report.arenas.get() else { return facts };
    for device in arenas.device_ids() {
        let capacity = arenas.capacity_of_devices(|of| of == Some(device));
        push(&mut facts, report.device_title(device), capacity.map_or(Said::Unknown, sized));
    }
    let always_live = always_live_bytes(Scope::Everything, arenas);
    push_known(&mut facts, "Always live", always_live.map(sized));
    push_known(&mut facts, "Liveness peak", liveness_peak(of));
    facts
}

fn liveness_peak(of: &WithTimeline) -> Option<Said> {
    let (step, bytes) = of.peak()?;
    let facts = steps::facts(&of.report, None, step)?;
    let kind = facts.kind.map_or(String::new(), |kind| format!(", {kind}"));
    let note = replica_note(of.report.target.get()).map_or("", |_| ", per replica");
    let place = format!(" not always live at step {}{kind}{note}", facts.step);
    Some(Said::Bytes(String::new(), bytes, shortened(&place, VALUE).into_owned()))
}

fn fullest(report: &Report, row: Option<usize>) -> Option<Said> {
    let memory = report.memory.get()?;
    let bytes = cell(&memory.including_gaps, row?)?;
    let tile = memory.tiles.get(row?)?;
    Some(Said::Bytes(format!("Tile {tile}, "), bytes, " with gaps".to_owned()))
}

fn target_facts(report: &Report) -> Statements {
    let mut facts = Vec::new();
    let Some(target) = report.target.get() else { return facts };
    let device = report.system.device;
    let bytes = |bytes: Option<u64>| bytes.map(sized);
    push_known(&mut facts, "Type", text(target.kind.clone()));
    push_known(&mut facts, "Architecture", text(target.architecture.clone()));
    push_known(&mut facts, format!("{device}s"), target.devices.map(things));
    push_known(&mut facts, "Replicas", target.replicas.map(things));
    push_known(
        &mut facts,
        format!("{device}s per replica"),
        target.devices_per_replica.map(things),
    );
    push_known(&mut facts, "Tiles", target.tiles.map(things));
    push_known(&mut facts, format!("Tiles per {device}"), target.tiles_per_device.map(things));
    push_known(&mut facts, "Memory per tile", bytes(target.bytes_per_tile));
    push_known(&mut facts, format!("Memory per {device}"), bytes(target.bytes_per_device));
    push_known(&mut facts, "Memory per replica", bytes(target.bytes_per_replica));
    push_known(&mut facts, "Memory in total", bytes(target.total_bytes));
    let clock = target.clock_hz.map(|hz| format!("{} MHz", hz as f64 / 1_000_000.0));
    push_known(&mut facts, "Clock", text(clock));
    push_known(
        &mut facts,
        "Compute instrumentation",
        text(target.compute_instrumentation.clone().filter(|level| !level.is_empty())),
    );
    let yes_no = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    push_known(
        &mut facts,
        "External exchange instrumented",
        text(target.external_exchange_instrumentation.map(yes_no)),
    );
    facts
}

fn graph_facts(report: &Report) -> Statements {
    let mut facts = Vec::new();
    let Some(graph) = report.graph.get() else { return facts };
    push_known(&mut facts, "Compute sets", graph.compute_sets.map(things));
    push_known(&mut facts, "Edges", graph.edges.map(things));
    push_known(&mut facts, "Variables", graph.variables.map(things));
    push_known(&mut facts, "Vertices", graph.vertices.map(things));
    facts
}

fn compilation_facts(report: &Report) -> Statements {
    let mut facts = Vec::new();
    if let Some(about) = report.about.get() {
        let version = format!("{} version", report.system.producer);
        push_known(&mut facts, version, text(about.producer_version.clone()));
        push_known(&mut facts, "Compiled at", text(about.compiled_at.clone()));
        push_known(&mut facts, "Compile time", text(compile_time(about)));
        push_known(&mut facts, "Format", text(about.format.clone()));
        push_known(&mut facts, "Compilation id", text(about.compilation_id.clone()));
    }
    match report.execution.get() {
        Some(execution) => {
            push_known(&mut facts, "Runs recorded", Some(things(execution.runs)));
            push_known(&mut facts, "Steps recorded", Some(things(execution.steps)));
            push_known(&mut facts, "Cycles", execution.cycles.map(things));
        }
        None if report.execution.absence().is_some_and(Absence::is_explained) => {
            push_known(&mut facts, "Execution", text(Some("Nothing was recorded".to_owned())));
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

    use crate::analysis::comparison::fact_groups::side_by_side_groups;
    use crate::store::target::Target;

    #[test]
    fn facts_of_all_share_their_lines() {
        let of = |target: Target| {
            let report = Report::default();
            report.target.fill(Some(target));
            groups(&WithTimeline { report: Arc::new(report), timeline: None })
        };
        let source = of(Target { tiles: Some(4), kind: Some("IPU".into()), ..Target::default() });
        let target = of(Target {
            tiles: Some(8),
            clock_hz: Some(1_000_000),
            kind: Some("CPU".into()),
            ..Target::default()
        });
        let groups = side_by_side_groups(vec![source, target]);
        let [group] = &groups[..] else { panic!("one group: {groups:?}") };
        let names: Vec<_> = group.facts.iter().map(|fact| &*fact.name).collect();
        assert_eq!((&*group.title, &names[..]), ("Machine", &["Type", "Tiles", "Clock"][..]));
        assert_eq!(group.facts[1].said, [4, 8].map(|count| Some(things(count))));
        assert_eq!(group.facts[2].said, [None, Some(words("1 MHz"))]);
    }
}
