//! Rows of variables of both reports side by side, with the operation to which each belongs.
//!
//! Rows belong together as their variables are matched, else by name. The operation of a row is that of
//! all its variables, in both reports ([`super::owners`]); those that have none do not count. Where they
//! belong to different operations the row belongs to several.

use super::attribution::Attribution;
use crate::analysis::figures::difference::Side;
use crate::analysis::figures::joined::joined;
use crate::analysis::liveness::variables::VariableRow;
use crate::store::Report;
use crate::store::liveness::VariableBytes;

/// The variables of a name in one report or in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariablePair {
    /// The name, that of the source where it is there.
    pub name: String,
    /// Bytes in the source; `None` where it does not have the row.
    pub source: Option<u64>,
    /// Bytes in the target; `None` where it does not have the row.
    pub target: Option<u64>,
    /// The operation.
    pub owner: Owner,
}

/// What variables belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Owner {
    /// No operation is known.
    #[default]
    Unknown,
    /// A row of [`Attribution::operations`].
    One(usize),
    /// Several operations.
    Several,
}

/// Joins rows of the source with those of the target; bytes are those of their first columns.
pub fn variable_pairs(
    reports: [&Report; 2],
    attribution: &Attribution,
    [source, target]: [Vec<VariableRow>; 2],
) -> Vec<VariablePair> {
    let [of_source, of_target] = reports;
    let keyed = |side: Side, report: &Report, rows: Vec<VariableRow>| {
        let key = |row: VariableRow| (key(side, report, attribution, &row), (side, row));
        rows.into_iter().map(key).collect()
    };
    let rows: Vec<[Option<(Side, VariableRow)>; 2]> =
        joined(keyed(Side::Source, of_source, source), keyed(Side::Target, of_target, target));
    let pair = |rows: [Option<(Side, VariableRow)>; 2]| {
        let bytes = |row: &Option<(Side, VariableRow)>| row.as_ref()?.1.bytes.first().copied();
        let [source, target] = rows.each_ref().map(bytes);
        let mut owner = Owner::Unknown;
        for (side, row) in rows.iter().flatten() {
            let report = if *side == Side::Source { of_source } else { of_target };
            owner = owner_of(owner, *side, report, attribution, row);
        }
        let (_, row) = rows.into_iter().flatten().next()?;
        Some(VariablePair { name: row.name, source, target, owner })
    };
    rows.into_iter().filter_map(pair).collect()
}

/// What makes rows belong together: the row of the matched variables, or a name that none has.
fn key(
    side: Side,
    report: &Report,
    attribution: &Attribution,
    row: &VariableRow,
) -> Result<usize, String> {
    let place = || {
        let ids = &report.liveness.get()?.variable_ids;
        attribution.variables.row_of(side, ids.position(row.parts.first()?.variable)?)
    };
    place().ok_or_else(|| row.name.clone())
}

fn owner_of(
    mut owner: Owner,
    side: Side,
    report: &Report,
    attribution: &Attribution,
    row: &VariableRow,
) -> Owner {
    let Some(liveness) = report.liveness.get() else { return owner };
    for part in &row.parts {
        let (variable, class, bytes) = (part.variable, part.class, part.bytes);
        let part = VariableBytes { variable, class, bytes };
        let found = attribution.owners(side).variables.of(liveness, &part);
        let found =
            found.and_then(|(found, _)| attribution.operations.row_of(side, found as usize));
        owner = match (owner, found) {
            (owner, None) => owner,
            (Owner::Unknown, Some(found)) => Owner::One(found),
            (Owner::One(known), Some(found)) if known == found => owner,
            _ => return Owner::Several,
        };
    }
    owner
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use super::super::fixture::{contents, matching, report};
    use crate::analysis::liveness::Scope;
    use crate::analysis::liveness::variables::{always_live, not_always_live};

    fn sum(bytes: impl Iterator<Item = Option<u64>>) -> u64 {
        bytes.flatten().sum()
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_owners_are_operations(
            (source, target) in (contents(), contents()),
            wanted in proptest::collection::vec((0..4_usize, 0..4_usize), 0..4),
            steps in (0..6_usize, 0..6_usize),
        ) {
            let reports = [report(&source), report(&target)];
            let [source, target] = &reports;
            let attribution = Attribution::of(source, target, &matching(source, target, &wanted));
            let lists = [
                [always_live(source, Scope::Everything), always_live(target, Scope::Everything)],
                [
                    not_always_live(source, Scope::Everything, &[steps.0], None),
                    not_always_live(target, Scope::Everything, &[steps.1], None),
                ],
            ];
            for list in lists {
                let rows = list.map(|rows| rows.expect("rows"));
                let bytes = |rows: &Vec<VariableRow>| {
                    sum(rows.iter().map(|row| row.bytes.first().copied()))
                };
                let expected = rows.each_ref().map(bytes);
                let most = rows.iter().map(Vec::len).sum::<usize>();
                let found = variable_pairs([source, target], &attribution, rows);
                prop_assert!(found.len() <= most);
                prop_assert!(found.iter().all(|row| row.source.is_some() || row.target.is_some()));
                prop_assert_eq!(sum(found.iter().map(|row| row.source)), expected[0]);
                prop_assert_eq!(sum(found.iter().map(|row| row.target)), expected[1]);
                for row in &found {
                    if let Owner::One(place) = row.owner {
                        let operation = attribution.operations.rows().get(place).expect("a row");
                        prop_assert!(attribution.operation_name(operation).is_some());
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_report_beside_itself_differs_in_nothing(content in contents(), step in 0..6_usize) {
            let report = report(&content);
            let all: Vec<_> = (0..4).map(|place| (place, place)).collect();
            let attribution = Attribution::of(&report, &report, &matching(&report, &report, &all));
            let rows = || not_always_live(&report, Scope::Everything, &[step], None).expect("rows");
            let found = variable_pairs([&report, &report], &attribution, [rows(), rows()]);
            prop_assert!(found.iter().all(|row| row.source == row.target));
        }
    }
}
