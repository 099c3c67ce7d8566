//! Operations of several runs side by side: those of one layer, kind and name belong together.

use super::OperationRow;
use crate::analysis::figures::joined;
use crate::analysis::program::operations::OperationName;

/// An operation in each run, a position in the rows of the run; `None` where the run does not have it.
pub type RunRow = Vec<Option<usize>>;

/// The operations of all runs: first those of the first run in their order, then those that only later ones have.
///
/// `plain` says what of a name of a run, by its place, does not differ from release to release: operations that one of two
/// runs alone has are matched by it (`joined::matched_by_plain`).
pub fn side_by_side(
    runs: &[&[OperationRow]],
    plain: impl Fn(usize, &str) -> Option<String>,
) -> Vec<RunRow> {
    let name_of = |row: &OperationRow| OperationName::of(&row.operation);
    let names: Vec<Vec<OperationName>> =
        runs.iter().map(|rows| rows.iter().map(name_of).collect()).collect();
    let with_plain = |(run, names): (usize, &Vec<OperationName>)| -> Vec<_> {
        let plain_of = |name: &OperationName| {
            let plain = plain(run, name.name.as_deref()?)?;
            Some((name.clone(), OperationName { name: Some(plain), ..name.clone() }))
        };
        names.iter().filter_map(plain_of).collect()
    };
    let first = names.iter().enumerate().next().map(with_plain).unwrap_or_default();
    let keyed = |(run, names): (usize, &Vec<OperationName>)| {
        let own = if run == 0 { Vec::new() } else { with_plain((run, names)) };
        let matched = joined::matched_by_plain(&first, &own);
        let key = |name: &OperationName| (*matched.get(name).unwrap_or(&name)).clone();
        names.iter().map(key).zip(0..).collect()
    };
    joined::side_by_side(names.iter().enumerate().map(keyed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::program::operations::Operation;

    #[test]
    fn operations_are_matched_by_name_and_then_by_what_is_plain_of_it() {
        let rows = |names: &[&str]| -> Vec<OperationRow> {
            let row = |name: &&str| OperationRow {
                operation: Operation { name: Some((*name).to_owned()), ..Operation::default() },
                partials_type: None,
                figures: crate::analysis::operations::Figures::default(),
                worst_step: None,
                steps: Vec::new(),
                context: None,
            };
            names.iter().map(row).collect()
        };
        let (old, new) = (rows(&["main/a", "main/b", "c"]), rows(&["c", "a", "main/b", "b", "d"]));
        let plain = |_: usize, name: &str| Some(name.trim_start_matches("main/").to_owned());
        let found = side_by_side(&[&old, &new], plain);
        let expected = [
            [Some(0), Some(1)],
            [Some(1), Some(2)],
            [Some(2), Some(0)],
            [None, Some(3)],
            [None, Some(4)],
        ];
        assert_eq!(found, expected.map(Vec::from));
        assert_eq!(side_by_side(&[&old, &new], |_, _| None).len(), 6);
    }
}
