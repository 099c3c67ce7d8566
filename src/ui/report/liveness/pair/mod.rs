//! Liveness of two reports over the axis that their steps share: in one picture or in two, with the
//! differences below.

mod choices;
mod compute;
mod derived;
mod filter;
mod lifetimes;
mod marks;
mod peaks;
mod picture;
pub mod places;
mod selected;
mod tables;
mod tooltip;
mod variables;
mod words;

use eframe::egui;
use std::sync::Arc;

use super::scope_choice::scope_title;
use crate::analysis::comparison::attribution::Attribution;
use crate::analysis::comparison::matching::{AlignedSteps, Matching};
use crate::analysis::liveness::{Scope, replica_note, why_no_curve};
use crate::store::Report;
use crate::ui::comparison::{Arrangement, Pair, Side};
use crate::ui::job::{Latest, Same};
use crate::ui::report::differences::variables::Owners;
use crate::ui::report::{PageContext, head_ui, reason_of, unread_ui};
use crate::ui::split;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::overview::Overview;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::View;
use choices::PairChoices;
use derived::PairDerived;
use filter::filter_ui;
use places::Places;
use selected::selected_ui;
use tables::Subject;

/// Both reports, as the parts of the page need them.
#[derive(Debug)]
pub struct Both<'a> {
    /// Source and target.
    pub reports: [&'a Arc<Report>; 2],
    /// The axis that their steps share.
    pub axis: &'a Arc<AlignedSteps>,
    /// What belongs together.
    pub matching: &'a Arc<Matching>,
    /// What variables belong to, as soon as that is known.
    pub attribution: Option<&'a Arc<Attribution>>,
    /// Whether more of one of them is coming.
    pub is_working: bool,
}

impl<'a> Both<'a> {
    /// One of the reports.
    fn report(&self, side: Side) -> &'a Arc<Report> {
        side.of(self.reports)
    }

    /// The reports, for a job.
    fn shared(&self) -> [Arc<Report>; 2] {
        self.reports.map(Arc::clone)
    }

    /// The reports, to look something up.
    fn plain(&self) -> [&'a Report; 2] {
        self.reports.map(|report: &'a Arc<Report>| &**report)
    }
}

/// A scope on an axis, and whether the variables by tile are there.
#[derive(Clone, Debug, PartialEq)]
struct DerivedKey {
    scope: Scope,
    axis: Same<AlignedSteps>,
    has_tiles: [bool; 2],
}

/// What the page remembers.
#[derive(Debug, Default)]
pub struct PairPage {
    choices: PairChoices,
    view: View,
    toolbar: Toolbar,
    caches: picture::Caches,
    derived: Latest<DerivedKey, Option<Arc<PairDerived>>>,
    owners: Owners,
    marks: marks::PairMarks,
    tables: tables::PairTables,
    tooltip: tooltip::PairTooltip,
    /// The slot under the pointer in one of two pictures.
    pointed: Option<(Side, usize)>,
}

impl PairPage {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, pair: &Pair<'_>) {
        let is_working = page.is_working || pair.is_target_working;
        let reports = [page.report, pair.target];
        let (Some(axis), Some(matching)) = (pair.axis, pair.matching) else {
            let title = pair.why_not.unwrap_or("The steps of both reports are being matched");
            absent_ui(
                ui,
                title,
                "The curves appear here as soon as it is known what belongs together",
            );
            return;
        };
        let attribution = self.owners.ask(ui.ctx(), reports, matching);
        let attribution = attribution.as_ref();
        let both = Both { reports, axis, matching, attribution, is_working };
        self.derive(ui, &both);
        let derived = self.answer(&both).and_then(|(_, derived)| derived.clone());
        head_ui(ui, "Liveness over steps", |ui| {
            let selected = page.selection.tiles.first();
            self.choices.ui(ui, &both.plain(), derived.as_deref(), selected);
        });
        let Some(derived) = derived else {
            self.waiting_ui(ui, &both);
            return;
        };
        self.marks.update(ui.ctx(), &both, &derived, page.selection);
        self.filter_ui(ui, page, &both, &derived);
        selected_ui(ui, page, &both, &derived, &self.marks);
        self.toolbar_ui(ui, page, &derived);
        let is_beside = pair.arrangement == Arrangement::SideBySide;
        // Two pictures below each other need more of the page.
        let (name, least, share) = if is_beside {
            ("tables below two curves", 240.0, 0.34)
        } else {
            ("tables below both curves", 140.0, 0.42)
        };
        let height = ui.available_height();
        let max = (height - least).max(80.0);
        split::below(ui, name, (height * share).clamp(100.0, 420.0), 60.0..=max, |ui| {
            let subject = Subject {
                both: &both,
                derived: &derived,
                places: Places::selected(&derived, &page.selection.steps),
                range: self.view.range(derived.len()),
            };
            if let Some((slot, is_added)) = self.tables.ui(ui, page, &subject) {
                select(page, slot, is_added);
                self.view.reveal(derived.len(), slot);
            }
        });
        let frame =
            egui::Frame::new().inner_margin(egui::Margin { bottom: 6, ..Default::default() });
        egui::CentralPanel::default()
            .frame(frame)
            .show(ui, |ui| self.pictures_ui(ui, page, &both, &derived, is_beside));
    }

    /// Forgets what is the other way round now; choices stay.
    pub fn swapped(&mut self) {
        let Self { mut choices, .. } = std::mem::take(self);
        choices.shown.reverse();
        *self = Self { choices, ..Self::default() };
    }

    /// Asks for the curves of the scope.
    fn derive(&mut self, ui: &egui::Ui, both: &Both<'_>) {
        let scope = self.choices.scope.scope;
        let has_tiles = both
            .reports
            .map(|report| needs_tiles(scope) && report.tile_variable_bytes.is_settled());
        let key = DerivedKey { scope, axis: Same(Arc::clone(both.axis)), has_tiles };
        let (reports, axis) = (both.shared(), Arc::clone(both.axis));
        self.derived.ask("curves of both", ui.ctx(), &key, move |cancel| {
            let reports = reports.each_ref().map(|report| &**report);
            PairDerived::new(reports, scope, &axis, &|| cancel.is_cancelled()).map(Arc::new)
        });
    }

    /// The last curves, unless they are on another axis: the selected slots are not theirs.
    fn answer(&self, both: &Both<'_>) -> Option<&(DerivedKey, Option<Arc<PairDerived>>)> {
        self.derived.last().filter(|(key, _)| Arc::ptr_eq(&key.axis.0, both.axis))
    }

    /// What is said in place of the curves.
    fn waiting_ui(&self, ui: &mut egui::Ui, both: &Both<'_>) {
        let scope = self.choices.scope.scope;
        match (self.answer(both), self.derived.failure()) {
            (_, Some(failure)) => absent_ui(ui, "No curves", failure),
            (None, None) => absent_ui(ui, "The curves are being computed", ""),
            (Some((key, _)), None) if needs_tiles(scope) && key.has_tiles != [true; 2] => {
                unread_ui(ui, "Variables by tile", both.is_working);
            }
            (Some(_), None) => absent_ui(
                ui,
                &format!(
                    "{}: no report has a curve",
                    scope_title(&both.report(Side::Source).system, scope)
                ),
                &reason_of(both.reports.into_iter().find_map(|report| why_no_curve(report, scope))),
            ),
        }
    }

    fn filter_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        both: &Both<'_>,
        derived: &PairDerived,
    ) {
        ui.horizontal(|ui| {
            let note =
                both.reports.into_iter().find_map(|report| replica_note(report.target.get()));
            if let Some(note) = note {
                ui.weak("Per replica").on_hover_text(note);
                ui.separator();
            }
            if let Some(slot) = filter_ui(ui, both, derived, &mut self.marks) {
                page.selection.select_step(slot);
                self.view.reveal(derived.len(), slot);
            }
        });
    }

    fn toolbar_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, derived: &PairDerived) {
        let overview = Overview {
            values: picture::followed(&self.choices, derived),
            len: derived.len(),
            base: 0,
            version: picture::version(&self.choices, derived),
            top: self.choices.top(derived),
            cache: &mut self.caches.overview,
        };
        self.toolbar.ui(ui, "liveness of both", &mut self.view, overview, page.commands);
    }
}

fn needs_tiles(scope: Scope) -> bool {
    matches!(scope, Scope::Tile(_) | Scope::WorstTile)
}

fn select(page: &mut PageContext<'_>, slot: usize, is_added: bool) {
    if is_added {
        page.selection.toggle_step(slot);
    } else {
        page.selection.select_step(slot);
    }
}
