//! The operation that makes the selected variable, looked for beside the window.

use eframe::egui;
use std::sync::Arc;

use super::found::OperationsOfRuns;
use crate::analysis::derived::Derived;
use crate::analysis::program::operations::OperationName;
use crate::ui::job::{Latest, Same};
use crate::ui::runs::{Run, RunId};

#[derive(Default)]
pub struct MakerOfVariable(Latest<(Same<OperationsOfRuns>, RunId, String), Option<usize>>);

impl MakerOfVariable {
    /// Its row among those that were found; `None` while that is not known.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        run: &Run,
        variable: Option<&String>,
        found: &Arc<OperationsOfRuns>,
    ) -> Option<usize> {
        let key = (Same(Arc::clone(found)), run.id, variable?.clone());
        let (derived, for_job) = (Arc::clone(&run.derived), key.clone());
        self.0.ask("operation of a variable", ctx, &key, move |_| {
            let (Same(found), _, name) = for_job;
            row_of_maker(&derived, &name, &found)
        });
        *self.0.get(&key)?
    }
}

fn row_of_maker(derived: &Derived, name: &str, found: &OperationsOfRuns) -> Option<usize> {
    let liveness = derived.report().liveness.get()?;
    let id = liveness.variable_named(name)?;
    let brief = derived.answers().variable_briefs(derived, &[id]).into_iter().next();
    let of_path = brief.and_then(|brief| {
        let path = brief.operation?;
        found.names.iter().position(|name| name.name.as_ref() == Some(&path))
    });
    of_path.or_else(|| {
        let owners = derived.owners();
        let mut rows = liveness.variable_bytes.iter().flatten().filter(|row| row.variable == id);
        let (operation, _) = rows.find_map(|row| owners.variables.of(liveness, row))?;
        found.position(&OperationName::of(owners.operations().get(operation as usize)?))
    })
}
