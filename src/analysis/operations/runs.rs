//! Operations of several runs side by side: those of one layer, kind and name belong together.

use std::collections::{HashMap, HashSet};

use super::OperationRow;
use crate::analysis::figures::joined;
use crate::analysis::program::operations::OperationName;

/// An operation in each run, a position in the rows of the run; `None` where the run does not have it.
pub type RunRow = Vec<Option<usize>>;

/// The operations of all runs: first those of the first run in their order, then those that only later ones have.
///
/// `plain` says what of a name of a run, by its place, does not differ from release to release: an operation whose name the
/// first run does not have is that one of it which is plain alike and which this run does not have.
pub fn side_by_side(
    runs: &[&[OperationRow]],
    plain: impl Fn(usize, &str) -> Option<String>,
) -> Vec<RunRow> {
    let name_of = |row: &OperationRow| OperationName::of(&row.operation);
    let plain_of = |run: usize, name: &OperationName| {
        let plain = plain(run, name.name.as_deref()?)?;
        Some(OperationName { name: Some(plain), ..name.clone() })
    };
    let first: Vec<OperationName> =
        runs.first().into_iter().copied().flatten().map(name_of).collect();
    let known: HashSet<&OperationName> = first.iter().collect();
    let keyed = |(run, rows): (usize, &&[OperationRow])| {
        let own: Vec<OperationName> = rows.iter().map(name_of).collect();
        let all: HashSet<&OperationName> = own.iter().collect();
        let only_first: &[OperationName] = if run == 0 { &[] } else { &first };
        let only_first = only_first.iter().filter(|name| !all.contains(name));
        let like = only_first.filter_map(|name| Some((plain_of(0, name)?, name)));
        // Of several the first.
        let like: HashMap<OperationName, &OperationName> =
            like.collect::<Vec<_>>().into_iter().rev().collect();
        let key = |(place, name): (usize, &OperationName)| {
            let is_other = run > 0 && !known.contains(name);
            let found = is_other.then(|| plain_of(run, name)).flatten();
            let found = found.and_then(|plain| like.get(&plain).copied());
            (found.unwrap_or(name).clone(), place)
        };
        own.iter().enumerate().map(key).collect()
    };
    joined::side_by_side(runs.iter().enumerate().map(keyed).collect())
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
