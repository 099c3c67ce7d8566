//! Operations grouped by the module of the network that they are in, by the path in their names
//! ([`OperationName::module`]).

use super::{Figures, OperationRow, RunRow};
use crate::analysis::program::operations::{OperationName, modules_of};

/// A module with its operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Its path: `model.layer3.5`.
    pub name: String,
    /// Its operations, positions in the rows that were given.
    pub rows: Vec<usize>,
    /// Their sums in each run, `None` of one that has none of them; of figures that do not add up, `None`.
    pub figures: Vec<Option<Figures>>,
}

/// The modules of several runs in the order in which they first run, by rows of operations and their names.
pub fn by_module(
    runs: &[&[OperationRow]],
    rows: &[RunRow],
    names: impl Iterator<Item = OperationName>,
) -> Vec<Module> {
    let (modules, module_of) = modules_of(names);
    let new = |name| Module { name, rows: Vec::new(), figures: vec![None; runs.len()] };
    let mut modules: Vec<Module> = modules.into_iter().map(new).collect();
    for ((place, row), module) in rows.iter().enumerate().zip(module_of) {
        let Some(module) = modules.get_mut(module) else { continue };
        module.rows.push(place);
        for ((at, list), sums) in row.iter().zip(runs).zip(&mut module.figures) {
            if let Some(operation) = at.and_then(|at| list.get(at)) {
                sums.get_or_insert_default().add_all(&operation.figures);
            }
        }
    }
    for sums in modules.iter_mut().flat_map(|module| &mut module.figures).flatten() {
        sums.keep_sums();
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::super::{OperationFigure, side_by_side};
    use super::*;
    use crate::analysis::program::operations::Operation;

    fn row(name: &str, bytes: u64) -> OperationRow {
        let mut figures = Figures::default();
        figures.add(OperationFigure::Variables, bytes);
        figures.add(OperationFigure::WorstLive, bytes);
        let operation = Operation { name: Some(name.to_owned()), ..Operation::default() };
        OperationRow {
            operation,
            partials_type: None,
            figures,
            worst_step: None,
            steps: Vec::new(),
            context: None,
        }
    }

    #[test]
    fn modules_have_the_sums_of_their_operations_in_each_run() {
        let first = [row("model.a.conv1", 3), row("model.b.conv", 5), row("model.a.conv2", 4)];
        let second = [row("model.a.conv2", 6)];
        let runs = [&first[..], &second[..]];
        let rows = side_by_side(&runs, |_, _| None);
        let names = first.iter().map(|row| OperationName::of(&row.operation));
        let found = by_module(&runs, &rows, names);
        let names: Vec<_> = found.iter().map(|module| (&*module.name, &*module.rows)).collect();
        assert_eq!(names, [("model.a", &[0, 2][..]), ("model.b", &[1])]);
        let sum =
            |module: usize, run: usize, figure| found[module].figures[run].as_ref()?.get(figure);
        assert_eq!(
            (sum(0, 0, OperationFigure::Variables), sum(0, 1, OperationFigure::Variables)),
            (Some(7), Some(6))
        );
        assert_eq!(sum(0, 0, OperationFigure::WorstLive), None, "at different steps");
        assert_eq!(sum(0, 0, OperationFigure::Cycles), None);
        assert_eq!(found[1].figures[1], None, "the second run does not have it");
    }
}
