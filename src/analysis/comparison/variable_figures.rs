//! Variables of several runs side by side, with a figure for each moment and the operation to which each
//! belongs.
//!
//! Rows belong together as their variables are matched with those of the reference, else by name. The
//! operation of a row is that of all its variables, in all runs ([`super::owners`]), by the name that it
//! has in the reference; those that have none do not count. Where they belong to different operations
//! the row belongs to several.

use std::collections::HashMap;

use super::attribution::Attribution;
use super::contribution::OperationName;
use crate::analysis::figures::difference::Side;
use crate::analysis::liveness::variables::{VariablePart, VariableRow};
use crate::store::Report;
use crate::store::liveness::VariableBytes;

#[derive(Debug)]
pub struct RunVariables<'a> {
    pub report: &'a Report,
    /// What its bytes and those of the reference belong to; of the reference itself, or where nothing is
    /// matched, nothing.
    pub attribution: Option<&'a Attribution>,
    pub rows: Vec<VariableRow>,
    /// The columns of the table that the columns of its rows are.
    pub columns: Vec<usize>,
}

/// The variables of a name in one run or in several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableFigures {
    /// The name, that of the first run that has it.
    pub name: String,
    /// Bytes in each column; `None` where the run of the column does not have the row.
    pub bytes: Vec<Option<u64>>,
    pub owner: VariableOwner,
    /// What the rows of the runs are of, with the position of the run.
    pub parts: Vec<(usize, VariablePart)>,
}

/// What variables belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VariableOwner {
    #[default]
    Unknown,
    One(OperationName),
    Several,
}

/// What makes rows belong together: a variable of the reference, or a name that it does not have; of
/// several the first with the first.
type RowKey = (Result<usize, String>, usize);

/// Joins the rows of the runs, the reference first: its rows in their order, then those that it does not
/// have.
pub fn variable_figures(runs: Vec<RunVariables<'_>>, columns: usize) -> Vec<VariableFigures> {
    let of_reference = runs.iter().skip(1).find_map(|run| run.attribution);
    let mut places: HashMap<RowKey, usize> = HashMap::new();
    let mut joined: Vec<VariableFigures> = Vec::new();
    for (number, run) in runs.into_iter().enumerate() {
        let side = if number == 0 { Side::Source } else { Side::Target };
        let attribution = if number == 0 { of_reference } else { run.attribution };
        let known =
            attribution.map(|attribution| AttributedSide { report: run.report, attribution, side });
        let mut seen: HashMap<Result<usize, String>, usize> = HashMap::new();
        for row in run.rows {
            let place = known.as_ref().and_then(|known| known.place(&row));
            let key = place.ok_or_else(|| row.name.clone());
            let times = seen.entry(key.clone()).or_default();
            let place = *places.entry((key, *times)).or_insert_with(|| {
                let (name, bytes) = (row.name.clone(), vec![None; columns]);
                joined.push(VariableFigures { name, bytes, ..VariableFigures::default() });
                joined.len() - 1
            });
            *times += 1;
            let Some(figures) = joined.get_mut(place) else { continue };
            for (column, bytes) in run.columns.iter().zip(&row.bytes) {
                if let Some(figure) = figures.bytes.get_mut(*column) {
                    *figure = Some(*bytes);
                }
            }
            if let Some(known) = &known {
                known.add_owners(&mut figures.owner, &row);
            }
            figures.parts.extend(row.parts.into_iter().map(|part| (number, part)));
        }
    }
    joined
}

struct AttributedSide<'a> {
    report: &'a Report,
    attribution: &'a Attribution,
    side: Side,
}

impl AttributedSide<'_> {
    /// The first variable of the reference that a row is matched with.
    fn place(&self, row: &VariableRow) -> Option<usize> {
        let ids = &self.report.liveness.get()?.variable_ids;
        let variables = &self.attribution.variables;
        let place = variables.row_of(self.side, ids.position(row.parts.first()?.variable)?)?;
        variables.rows().get(place).filter(|row| row.side == Side::Source).map(|row| row.item)
    }

    fn add_owners(&self, owner: &mut VariableOwner, row: &VariableRow) {
        let Some(liveness) = self.report.liveness.get() else { return };
        let operations = &self.attribution.operations;
        for part in &row.parts {
            let (variable, class, bytes) = (part.variable, part.class, part.bytes);
            let part = VariableBytes { variable, class, bytes };
            let found = self.attribution.owners(self.side).variables.of(liveness, &part);
            let place = found.and_then(|(found, _)| operations.row_of(self.side, found as usize));
            let name = place.and_then(|place| operations.rows().get(place));
            let Some(name) = name.and_then(|row| self.attribution.operation_name(row)) else {
                continue;
            };
            match owner {
                VariableOwner::Unknown => *owner = VariableOwner::One(name),
                VariableOwner::One(known) if *known == name => {}
                _ => *owner = VariableOwner::Several,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use super::super::fixture::{contents, matching, report};
    use crate::analysis::liveness::Scope;
    use crate::analysis::liveness::variables::{always_live, not_always_live};

    fn run<'a>(
        report: &'a Report,
        attribution: Option<&'a Attribution>,
        rows: &[VariableRow],
        column: usize,
    ) -> RunVariables<'a> {
        RunVariables { report, attribution, rows: rows.to_vec(), columns: vec![column] }
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
            let attribution = Attribution::of([source, target], &matching(source, target, &wanted));
            let lists = [
                [always_live(source, Scope::Everything), always_live(target, Scope::Everything)],
                [
                    not_always_live(source, Scope::Everything, &[steps.0], None),
                    not_always_live(target, Scope::Everything, &[steps.1], None),
                ],
            ];
            for list in lists {
                let [of_source, of_target] = list.map(|rows| rows.expect("rows"));
                let runs = vec![
                    run(source, None, &of_source, 0),
                    run(target, Some(&attribution), &of_target, 1),
                ];
                let found = variable_figures(runs, 2);
                let sum = |column: usize| -> u64 {
                    found.iter().filter_map(|row| row.bytes[column]).sum()
                };
                let expected = [&of_source, &of_target]
                    .map(|rows| rows.iter().map(|row| row.bytes[0]).sum::<u64>());
                prop_assert_eq!([sum(0), sum(1)], expected);
                prop_assert!(found.iter().all(|row| row.bytes.iter().any(Option::is_some)));
                prop_assert!(found.len() <= of_source.len() + of_target.len());
                for row in &found {
                    if let VariableOwner::One(name) = &row.owner {
                        let operations = attribution.operations.rows();
                        let mut names =
                            operations.iter().filter_map(|row| attribution.operation_name(row));
                        prop_assert!(names.any(|known| known == *name));
                    }
                }
            }
        }

        #[test]
        fn a_report_beside_itself_differs_in_nothing(content in contents(), step in 0..6_usize) {
            let report = report(&content);
            let all: Vec<_> = (0..4).map(|place| (place, place)).collect();
            let attribution = Attribution::of([&report; 2], &matching(&report, &report, &all));
            let rows = not_always_live(&report, Scope::Everything, &[step], None).expect("rows");
            let runs = (0..3).map(|number| {
                let attribution = (number > 0).then_some(&attribution);
                run(&report, attribution, &rows, number)
            });
            for row in variable_figures(runs.collect(), 3) {
                prop_assert!(row.bytes.iter().all(|bytes| *bytes == row.bytes[0]));
            }
        }
    }
}
