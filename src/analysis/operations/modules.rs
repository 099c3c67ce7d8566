//! Operations grouped by the module of the network that they are in, by the path in their names
//! ([`OperationName::module`]).

use super::{Figures, OperationRow};
use crate::analysis::program::operations::{OperationName, modules_of};

/// A module with its operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Its path: `model.layer3.5`.
    pub name: String,
    /// Its operations, positions in [`super::OperationTable::rows`].
    pub rows: Vec<usize>,
    /// Their sums; of figures that do not add up, `None`.
    pub figures: Figures,
}

/// The modules in the order in which they first run.
pub fn by_module(rows: &[OperationRow]) -> Vec<Module> {
    let names = rows.iter().map(|row| OperationName::of(&row.operation));
    let (modules, module_of) = modules_of(names);
    let new = |name| Module { name, rows: Vec::new(), figures: Figures::default() };
    let mut modules: Vec<Module> = modules.into_iter().map(new).collect();
    for ((place, row), module) in rows.iter().enumerate().zip(module_of) {
        if let Some(module) = modules.get_mut(module) {
            module.rows.push(place);
            module.figures.add_all(&row.figures);
        }
    }
    for module in &mut modules {
        module.figures.keep_sums();
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::super::Figure;
    use super::*;
    use crate::analysis::program::operations::Operation;

    fn row(name: &str, bytes: u64) -> OperationRow {
        let mut figures = Figures::default();
        figures.add(Figure::Variables, bytes);
        figures.add(Figure::WorstLive, bytes);
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
    fn modules_have_the_sums_of_their_operations() {
        let rows = [row("model.a.conv1", 3), row("model.b.conv", 5), row("model.a.conv2", 4)];
        let found = by_module(&rows);
        let names: Vec<_> = found.iter().map(|module| (&*module.name, &*module.rows)).collect();
        assert_eq!(names, [("model.a", &[0, 2][..]), ("model.b", &[1])]);
        assert_eq!(found[0].figures.get(Figure::Variables), Some(7));
        assert_eq!(found[0].figures.get(Figure::WorstLive), None, "at different steps");
        assert_eq!(found[0].figures.get(Figure::Cycles), None);
    }
}
