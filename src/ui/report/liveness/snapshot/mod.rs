//! Liveness of memory snapshots: what is in memory after each event, by what it is for or whose it is, with what is
//! reserved; allocations below.

mod choices;
mod inspector;
mod picture;
mod tables;

use eframe::egui;
use std::sync::Arc;

use crate::text::grouped;
use crate::ui::pages::RunsPage;
use crate::ui::report::PageContext;
use crate::ui::report::head::{Answer, matched_ui, page_head_ui};
use crate::ui::report::snapshot::curves::{Curves, CurvesKey, RunCurves};
use crate::ui::report::snapshot::{prepare, snapshot_of};
use crate::ui::runs::{Needs, Run, Runs, RunsAnswer};
use crate::ui::split;
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::exports::scope_of_exports;
use crate::ui::widget::heights::Heights;
use crate::ui::widget::inspector::{inspector_ui, is_beside};
use crate::ui::widget::picture::Resting;
use crate::ui::widget::sign::Sign;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::View;
use choices::Choices;
use tables::Tables;

/// A snapshot is read and replayed before any part of its report is there.
const NEEDS: Needs = &[];
/// Height of the line below the curve, points.
const TOOLBAR: f32 = 28.0;

#[derive(Default)]
pub struct SnapshotLiveness {
    choices: Choices,
    view: View,
    heights: Heights,
    toolbar: Toolbar,
    caches: picture::Caches,
    curves: RunsAnswer<CurvesKey, Option<Arc<Curves>>>,
    /// What the inspector says of blocks: no picture waits for it.
    prepared: RunsAnswer<(), ()>,
    /// How many slots the axis has that is shown.
    len: usize,
    resting: Resting,
    /// The step under the pointer.
    pointed: Option<usize>,
    tables: Tables,
}

impl RunsPage for SnapshotLiveness {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = Arc::clone(page.runs);
        let Some(replayed) = snapshot_of(runs.reference()) else { return };
        let key = self.choices.key(&replayed.snapshot, runs.is_one());
        let for_job = key.clone();
        let before = self.curves.last(&runs).and_then(|(_, curves)| curves.clone());
        self.curves.ask("memory curves", ui.ctx(), (&runs, NEEDS), &key, move |runs, cancel| {
            Curves::of(runs, &for_job, before.as_deref(), cancel).map(Arc::new)
        });
        let known = self.curves.last(&runs).and_then(|(_, curves)| curves.clone());
        self.head_ui(ui, &runs, known.as_deref());
        let Some(curves) = known else {
            ui.weak(self.curves.failure().unwrap_or("Adding up…"));
            return;
        };
        if runs.is_one() {
            let for_job = Arc::clone(replayed);
            self.prepared.ask("blocks of events", ui.ctx(), (&runs, NEEDS), &(), move |_, _| {
                (0..for_job.replays.len()).for_each(|place| prepare(&for_job, place));
            });
        }
        if self.len != curves.slots.len() {
            // What was looked at closely is elsewhere on another axis.
            self.len = curves.slots.len();
            self.view.reset();
        }
        let is_below = !is_beside(ui);
        inspector_ui(ui, |ui| self.inspect_ui(ui, page, &curves, is_below));
        let step = Self::step(page, &curves);
        let height = ui.available_height();
        let share = if is_below { 0.34 } else { 0.40 };
        let max = (height - 140.0).max(80.0);
        split::below(ui, "allocations", (height * share).clamp(110.0, 460.0), 60.0..=max, |ui| {
            let what = (&curves, step, NEEDS);
            if let Some(shown) = self.tables.ui(ui, page, what, key.devices) {
                self.view.reveal(curves.slots.len(), curves.slots.slot(shown));
            }
        });
        let margin = egui::Margin { top: 6, bottom: 6, ..Default::default() };
        split::rest(ui, margin, |ui| {
            let frame = card_frame(Tokens::now(ui)).inner_margin(egui::Margin::symmetric(12, 8));
            frame.show(ui, |ui| {
                let all = ui.available_rect_before_wrap();
                let line = all.with_min_y(all.bottom() - TOOLBAR);
                let above = all.with_max_y(line.top() - 4.0);
                ui.scope_builder(egui::UiBuilder::new().max_rect(above), |ui| {
                    self.pictures_ui(ui, page, &curves);
                });
                ui.scope_builder(egui::UiBuilder::new().max_rect(line), |ui| {
                    self.toolbar_ui(ui, page, &curves);
                });
                ui.advance_cursor_after_rect(all);
            });
        });
    }
}

impl SnapshotLiveness {
    /// Forgets what was read and worked out; what was chosen and is looked at closely stays.
    pub fn forget(&mut self) {
        self.curves = RunsAnswer::default();
        self.prepared = RunsAnswer::default();
        self.caches = picture::Caches::default();
        self.tables.forget();
    }

    fn head_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, curves: Option<&Curves>) {
        let units = Units::now(ui);
        let answer = curves.and_then(|curves| answer(runs, curves, units));
        let Some(replayed) = snapshot_of(runs.reference()) else { return };
        let snapshot = &replayed.snapshot;
        scope_of_exports(ui, &self.choices.devices(snapshot).title(snapshot));
        let has_times = snapshot.events.time(0).is_some();
        page_head_ui(ui, "Liveness", answer.as_ref(), |ui| {
            self.choices.ui(ui, snapshot, (runs.is_one(), has_times));
        });
        if !runs.is_one() {
            ui.horizontal(|ui| matched_ui(ui, runs));
        }
    }
}

/// The most, where, and how much more is reserved; or what failed.
fn answer(runs: &Runs, curves: &Curves, units: Units) -> Option<Answer> {
    if !runs.is_one() {
        let most = |(run, curve): (&Run, &RunCurves)| {
            let peak = curve.stacked.peak?;
            let bytes = curve.stacked.total().get(peak)?;
            Some(format!("{} {}", run.name, units.bytes(*bytes)))
        };
        let texts: Vec<String> = runs.iter().zip(&curves.runs).filter_map(most).take(4).collect();
        return Some((Sign::Note, format!("Peaks: {}", texts.join(", "))));
    }
    let curve = curves.runs.first()?;
    let peak = curve.stacked.peak?;
    let most = curve.stacked.total().get(peak)?;
    let [most, reserved] = [*most, curve.most_reserved].map(|bytes| units.bytes(bytes));
    let event = grouped(peak as u64);
    let text = format!("{most} at most, at event {event}; {reserved} reserved at most");
    Some(match (&curve.of_devices.ended_by, curve.failed.last()) {
        // It has to have room beside what is chosen; the peak has its mark.
        (Some(failed), _) => {
            let asked = units.bytes(failed.bytes);
            let text = format!("Out of memory, {asked} asked; {most} at most, {reserved} reserved");
            (Sign::Over, text)
        }
        (None, Some(_)) => (Sign::Note, format!("Requests failed, and the run went on; {text}")),
        (None, None) => (Sign::Fits, text),
    })
}
