//! What is known of one variable: its layout, what makes and what uses it; worked out beside the window for the one that is
//! shown.

use std::sync::Arc;

use eframe::egui;

use crate::run::{Cell, VariableDetails};
use crate::store::{Report, UnloweredId};
use crate::text::grouped;
use crate::ui::job::Latest;
use crate::ui::runs::{Run, RunId};
use crate::ui::widget::inspector::{exact_fact_ui, fact_ui};

/// The variable that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedVariable {
    Named(String),
    Numbered(UnloweredId),
}

impl WantedVariable {
    fn id(&self, report: &Report) -> Option<UnloweredId> {
        match self {
            Self::Numbered(id) => Some(*id),
            Self::Named(wanted) => report.liveness.get()?.variable_named(wanted),
        }
    }
}

#[derive(Default)]
pub struct ShownDetails(Latest<(RunId, bool, WantedVariable), Option<VariableDetails>>);

impl ShownDetails {
    /// Draws what is known of a variable of a run; nothing where its system says nothing of it.
    pub fn ui(&mut self, ui: &mut egui::Ui, run: &Run, wanted: WantedVariable) {
        self.ui_but(ui, run, wanted, &[]);
    }

    /// The same but for facts of these names, which stand there already.
    pub fn ui_but(&mut self, ui: &mut egui::Ui, run: &Run, wanted: WantedVariable, said: &[&str]) {
        let (derived, for_job) = (Arc::clone(&run.derived), wanted.clone());
        // Names are those of lives, which may still be read.
        let key = (run.id, run.report.liveness.get().is_some(), wanted);
        self.0.ask("details of a variable", ui.ctx(), &key, move |_| {
            let id = for_job.id(derived.report())?;
            derived.answers().variable_details(&derived, &[id]).into_iter().next()
        });
        let Some(Some(details)) = self.0.get(&key) else { return };
        let facts = details.facts();
        for (name, value) in facts.into_iter().filter(|(name, _)| !said.contains(name)) {
            match value {
                Cell::Bytes(bytes) => exact_fact_ui(ui, name, bytes),
                Cell::Count(count) => fact_ui(ui, name, &grouped(count)),
                Cell::Text(text) => fact_ui(ui, name, &text),
                Cell::Empty => {}
            }
        }
    }
}
