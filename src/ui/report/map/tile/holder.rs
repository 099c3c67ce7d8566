//! The arena that holds the selected variable, looked for beside the window.

use eframe::egui;
use std::sync::Arc;

use crate::store::{ArenaId, Report};
use crate::ui::job::{Cancel, Latest};
use crate::ui::runs::{Run, RunId};
use crate::ui::selection::Selection;

#[derive(Default)]
pub struct HolderOfVariable {
    found: Latest<(RunId, String), Option<ArenaId>>,
    /// The variable whose arena was told last.
    told: Option<(RunId, String)>,
}

impl HolderOfVariable {
    /// The arena of a variable that was selected since it was asked last, once.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        run: &Run,
        selection: &Selection,
    ) -> Option<ArenaId> {
        let Some(name) = selection.variable() else {
            self.told = None;
            return None;
        };
        let key = (run.id, name.clone());
        if self.told.as_ref() == Some(&key) || run.report.liveness.get().is_none() {
            return None;
        }
        let (report, wanted) = (Arc::clone(&run.report), name.clone());
        self.found
            .ask("arena of a variable", ctx, &key, move |cancel| holder(&report, &wanted, cancel));
        let found = *self.found.get(&key)?;
        self.told = Some(key);
        found
    }
}

/// The arena in which most bytes of a variable lie.
fn holder(report: &Report, name: &str, cancel: &Cancel) -> Option<ArenaId> {
    let id = report.liveness.get()?.variable_named(name)?;
    let mut most: Option<(u64, ArenaId)> = None;
    for arena in report.arenas.get()?.ids.as_slice() {
        if cancel.is_cancelled() {
            return None;
        }
        let placed = report.reader()?.read(*arena, cancel.progress()).ok()??;
        let of_variable = placed.placements.iter().filter(|it| it.unlowered == Some(id));
        let bytes = of_variable.map(|placement| placement.bytes).max().unwrap_or(0);
        if bytes > most.map_or(0, |(most, _)| most) {
            most = Some((bytes, *arena));
        }
    }
    most.map(|(_, arena)| arena)
}
