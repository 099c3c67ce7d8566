//! Operations grouped by the module of the network that they are in, by the path in their names
//! ([`OperationName::module`]).

use std::collections::HashMap;

use super::{Figure, Figures, OperationRow};
use crate::analysis::program::operations::OperationName;

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
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut modules: Vec<Module> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let name = OperationName::of(&row.operation).module().to_owned();
        let new = || Module { name: name.clone(), rows: Vec::new(), figures: Figures::default() };
        let at = *places.entry(name.clone()).or_insert_with(|| {
            modules.push(new());
            modules.len().saturating_sub(1)
        });
        if let Some(module) = modules.get_mut(at) {
            module.rows.push(place);
            module.figures.add_all(&row.figures);
        }
    }
    for module in &mut modules {
        for figure in Figure::ALL.into_iter().filter(|figure| !figure.adds_up()) {
            module.figures.set(figure, None);
        }
    }
    modules
}

#[cfg(test)]
mod tests {
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
