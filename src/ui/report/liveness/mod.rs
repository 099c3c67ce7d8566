//! Liveness: what is in memory at each step of the runs, as pictures, with peaks and variables below.

mod choices;
mod compute;
mod filter;
mod lifetimes;
mod lifetimes_table;
mod marks;
mod picture;
mod scope_choice;
mod selected;
mod step_rows;
mod tables;
mod timelines;
mod tooltip;
mod words;

use eframe::egui;
use std::sync::Arc;

use super::{IS, PageContext, head_ui, part_or_reason, reason_of, unread_ui};
use crate::analysis::liveness::{Scope, replica_note, scope_title, why_no_curve};
use crate::ui::job::Cancel;
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Needed, Needs, Run, RunId, Runs, RunsAnswer};
use crate::ui::split;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::overview::Overview;
use crate::ui::widget::place_menu::PictureMenu;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::View;
use choices::Choices;
use filter::filter_ui;
use selected::selected_ui;
use tables::Subject;
use timelines::SlotTimelines;

/// What curves go by: of a whole, and added up from tiles.
const OF_WHOLE: Needs = &[Needed::Liveness, Needed::Axis];
const OF_ARENAS: Needs = &[Needed::Liveness, Needed::TileVariables, Needed::Axis];

#[derive(Default)]
pub struct LivenessPage {
    choices: Choices,
    view: View,
    toolbar: Toolbar,
    caches: picture::Caches,
    timelines: RunsAnswer<Scope, Option<Arc<SlotTimelines>>>,
    marks: marks::Marks,
    tables: tables::Tables,
    tooltip: tooltip::SlotTooltip,
    /// The slot under the pointer in one of several pictures.
    pointed: picture::Pointed,
    menu: PictureMenu<usize>,
}

impl RunsPage for LivenessPage {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        if !has_steps_ui(ui, runs) {
            return;
        }
        let scope = self.choices.scope.scope;
        let needs = (runs, if scope.needs_arenas() { OF_ARENAS } else { OF_WHOLE });
        let (name, ctx) = ("liveness curves", ui.ctx());
        let work = move |runs: &Runs, cancel: &Cancel| {
            SlotTimelines::of(runs, scope, &|| cancel.is_cancelled()).map(Arc::new)
        };
        // Of tiles even a small report has many rows.
        if scope.needs_arenas() {
            self.timelines.ask(name, ctx, needs, &scope, work);
        } else {
            self.timelines.ask_or_tell(name, ctx, needs, &scope, work);
        }
        let timelines = self.timelines.last(runs).and_then(|(_, timelines)| timelines.clone());
        head_ui(ui, "Liveness over steps", |ui| {
            let selected = page.selection.tiles.first();
            self.choices.ui(ui, runs, timelines.as_deref(), selected);
        });
        let Some(timelines) = timelines else {
            self.waiting_ui(ui, runs);
            return;
        };
        self.marks.update(ui.ctx(), runs, &timelines, page.selection);
        self.filter_ui(ui, page, &timelines);
        selected_ui(ui, page, &timelines, &self.marks);
        self.toolbar_ui(ui, page, &timelines);
        let is_beside = runs.pictures().len() > 1;
        // Pictures below each other need more of the page.
        let (name, least, share) = if is_beside {
            ("tables below two curves", 240.0, 0.34)
        } else {
            ("liveness tables", 140.0, 0.42)
        };
        let height = ui.available_height();
        let max = (height - least).max(80.0);
        split::below(ui, name, (height * share).clamp(100.0, 420.0), 60.0..=max, |ui| {
            let slots = page.selection.slots(runs);
            let range = self.view.range(timelines.len());
            let marks = &self.marks;
            let subject = Subject { timelines: &timelines, slots: &slots, range, marks };
            if let Some((slot, is_added)) = self.tables.ui(ui, page, &subject) {
                if is_added {
                    page.selection.toggle_slot(runs, slot);
                } else {
                    page.selection.select_slot(runs, slot);
                }
                self.view.reveal(timelines.len(), slot);
            }
        });
        let margin = egui::Margin { bottom: 6, ..Default::default() };
        split::rest(ui, margin, |ui| self.pictures_ui(ui, page, &timelines, is_beside));
    }

    fn run_renamed(&mut self, from: RunId, to: RunId) {
        self.choices.rename(from, to);
    }
}

impl LivenessPage {
    fn waiting_ui(&self, ui: &mut egui::Ui, runs: &Runs) {
        let scope = self.choices.scope.scope;
        let (curve, is_are) = if runs.is_one() { ("curve", "is") } else { ("curves", "are") };
        match (self.timelines.last(runs), self.timelines.failure()) {
            (_, Some(failure)) => absent_ui(ui, &format!("No {curve}"), failure),
            (None, None) => absent_ui(ui, &format!("The {curve} {is_are} being computed"), ""),
            (Some(_), None) if scope.needs_arenas() && !runs.is_settled(OF_ARENAS) => {
                let what = format!("Variables by {}", runs.system().arena_in_text);
                unread_ui(ui, &what, runs.is_working());
            }
            (Some(_), None) => {
                let report = &runs.reference().report;
                let reason = reason_of(why_no_curve(report, scope));
                absent_ui(ui, &format!("{} has no curve", scope_title(report, scope)), &reason);
            }
        }
    }

    fn filter_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        timelines: &SlotTimelines,
    ) {
        ui.horizontal(|ui| {
            let note = |run: &Run| replica_note(run.report.target.get());
            if let Some(note) = page.runs.iter().find_map(note) {
                ui.weak("Per replica").on_hover_text(note);
                ui.separator();
            }
            if let Some(slot) = filter_ui(ui, page.runs, timelines, &mut self.marks) {
                page.selection.select_slot(page.runs, slot);
                self.view.reveal(timelines.len(), slot);
            }
        });
    }

    fn toolbar_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        timelines: &SlotTimelines,
    ) {
        let (runs, choices) = (page.runs, &self.choices);
        let (values, base) = picture::followed(choices, runs, timelines);
        let overview = Overview {
            values,
            len: timelines.len(),
            base,
            version: picture::version(choices, timelines),
            top: choices.top(runs, timelines),
            cache: &mut self.caches.overview,
        };
        let name = if runs.is_one() { "liveness curve" } else { "liveness of both" };
        self.toolbar.ui(ui, name, &mut self.view, overview, page.commands);
    }
}

/// Whether any run has steps; says why not where none has.
fn has_steps_ui(ui: &mut egui::Ui, runs: &Runs) -> bool {
    let has_steps = |run: &Run| {
        let steps = run.report.steps.get().is_some_and(|steps| !steps.ids.is_empty());
        steps && run.report.liveness.get().is_some()
    };
    if runs.iter().any(has_steps) {
        return true;
    }
    let (Run { report, is_working, .. }, liveness) = (runs.reference(), ("Liveness", IS));
    let Some(steps) = part_or_reason(ui, &report.steps, *is_working, liveness) else {
        return false;
    };
    if steps.ids.is_empty() {
        absent_ui(ui, "No steps", "The report lists none");
    } else {
        part_or_reason(ui, &report.liveness, *is_working, liveness);
    }
    false
}
