//! Operations of several runs side by side: those of one layer, kind and name belong together.

use super::OperationRow;
use crate::analysis::figures::joined;
use crate::analysis::program::operations::OperationName;

/// An operation in each run, a position in the rows of the run; `None` where the run does not have it.
pub type RunRow = Vec<Option<usize>>;

/// The operations of all runs: first those of the first run in their order, then those that only later ones have.
pub fn side_by_side(runs: &[&[OperationRow]]) -> Vec<RunRow> {
    let keyed = |rows: &&[OperationRow]| {
        let key = |(place, row): (usize, &OperationRow)| (OperationName::of(&row.operation), place);
        rows.iter().enumerate().map(key).collect()
    };
    joined::side_by_side(runs.iter().map(keyed).collect())
}
