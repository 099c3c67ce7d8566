//! Facts of runs in groups, those of one name in a line.

use std::borrow::Cow;

use super::facts::{ComparedFact, FactGroup, Said};
use crate::analysis::figures::joined::side_by_side;

/// Facts with their names.
pub type Statements = Vec<(Cow<'static, str>, Said)>;
/// A group with its title.
pub type TitledFacts = (Cow<'static, str>, Statements);

/// The groups of all runs: of one title in one, with a column for each run.
pub fn side_by_side_groups(runs: Vec<Vec<TitledFacts>>) -> Vec<FactGroup> {
    let titled = |groups: Vec<TitledFacts>| -> Vec<_> {
        groups.into_iter().map(|group| (group.0.clone(), group)).collect()
    };
    let group = |row: Vec<Option<TitledFacts>>| {
        let title = row.iter().flatten().next()?.0.clone();
        let facts = |group: Option<TitledFacts>| -> Vec<_> {
            let facts = group.map(|(_, facts)| facts).unwrap_or_default();
            facts.into_iter().map(|(name, said)| (name.clone(), (name, said))).collect()
        };
        let fact = |row: Vec<Option<(Cow<'static, str>, Said)>>| {
            let name = row.iter().flatten().next()?.0.clone();
            Some(ComparedFact { name, said: row.into_iter().map(|cell| Some(cell?.1)).collect() })
        };
        let rows = side_by_side(row.into_iter().map(facts).collect());
        Some(FactGroup { title, facts: rows.into_iter().filter_map(fact).collect() })
    };
    let rows = side_by_side(runs.into_iter().map(titled).collect());
    rows.into_iter().filter_map(group).collect()
}

/// Adds a fact.
pub fn push(facts: &mut Statements, name: impl Into<Cow<'static, str>>, said: Said) {
    facts.push((name.into(), said));
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
