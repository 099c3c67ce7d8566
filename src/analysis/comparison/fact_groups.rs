//! Facts of runs in groups, those of one name in a line.

use std::borrow::Cow;

use super::facts::{Fact, FactGroup, Said};
use crate::analysis::figures::joined::side_by_side;
use crate::analysis::liveness::timeline::WithTimeline;
use crate::analysis::liveness::{Scope, always_live_bytes, replica_note};
use crate::analysis::program::steps;
use crate::text::shortened;

/// Longest text of a place.
const LONGEST_PLACE: usize = 200;

/// Facts with their names.
pub type Statements = Vec<(Cow<'static, str>, Said)>;
/// A group with its title.
pub type Group = (Cow<'static, str>, Statements);

/// The groups of all runs: of one title in one, with a column for each run.
pub fn side_by_side_groups(runs: Vec<Vec<Group>>) -> Vec<FactGroup> {
    let titled = |groups: Vec<Group>| -> Vec<_> {
        groups.into_iter().map(|group| (group.0.clone(), group)).collect()
    };
    let group = |row: Vec<Option<Group>>| {
        let title = row.iter().flatten().next()?.0.clone();
        let facts = |group: Option<Group>| -> Vec<_> {
            let facts = group.map(|(_, facts)| facts).unwrap_or_default();
            facts.into_iter().map(|(name, said)| (name.clone(), (name, said))).collect()
        };
        let fact = |row: Vec<Option<(Cow<'static, str>, Said)>>| {
            let name = row.iter().flatten().next()?.0.clone();
            Some(Fact { name, said: row.into_iter().map(|cell| Some(cell?.1)).collect() })
        };
        let rows = side_by_side(row.into_iter().map(facts).collect());
        Some(FactGroup { title, facts: rows.into_iter().filter_map(fact).collect() })
    };
    let rows = side_by_side(runs.into_iter().map(titled).collect());
    rows.into_iter().filter_map(group).collect()
}

/// What a report itself says: what its devices can hold, and the most at any step.
pub fn groups_of_report(of: &WithTimeline) -> Vec<Group> {
    let report = &of.report;
    let Some(arenas) = report.arenas.get() else { return Vec::new() };
    let mut facts = Vec::new();
    for device in arenas.device_ids() {
        let capacity = arenas.capacity_of_devices(|of| of == Some(device));
        let title = Cow::Owned(report.device_title(device));
        facts.push((title, capacity.map_or(Said::Unknown, sized)));
    }
    if let Some(always_live) = always_live_bytes(Scope::Everything, arenas) {
        push(&mut facts, "Always live", sized(always_live));
    }
    if let Some(peak) = liveness_peak(of) {
        push(&mut facts, "Liveness peak", peak);
    }
    let groups = vec![(Cow::Borrowed("Memory"), facts)];
    groups.into_iter().filter(|(_, facts)| !facts.is_empty()).collect()
}

/// The most at any step, where it is known.
pub fn liveness_peak(of: &WithTimeline) -> Option<Said> {
    let (step, bytes) = of.peak()?;
    let facts = steps::facts(&of.report, step)?;
    let kind = facts.kind.map_or(String::new(), |kind| format!(", {kind}"));
    let note = replica_note(of.report.target.get()).map_or("", |_| ", per replica");
    let place = format!(" not always live at step {}{kind}{note}", facts.step);
    Some(sized_with(bytes, shortened(&place, LONGEST_PLACE)))
}

/// Adds a fact.
pub fn push(facts: &mut Statements, name: &'static str, said: Said) {
    facts.push((Cow::Borrowed(name), said));
}

/// Bytes.
pub fn sized(count: u64) -> Said {
    Said::Bytes(String::new(), count, String::new())
}

/// Bytes, and what is said behind them.
pub fn sized_with(count: u64, after: impl Into<String>) -> Said {
    Said::Bytes(String::new(), count, after.into())
}

/// Things.
pub fn count(count: usize) -> Said {
    Said::Count(count as u64, String::new())
}

/// Words.
pub fn words(text: impl Into<String>) -> Said {
    Said::Words(text.into())
}
