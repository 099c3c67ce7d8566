//! Liveness: what is in memory at each step, as a picture, with its peaks and variables below.

mod derived;
mod filter;
mod tables;
mod tooltip;

use eframe::egui;
use eframe::egui::RichText;

use super::{PageContext, head_ui, is_limit_near, part_or_reason, tables_height};
use crate::analysis::liveness::{Scope, replica_note};
use crate::analysis::steps;
use crate::store::Report;
use crate::store::program::Steps;
use crate::text;
use crate::ui::theme::Tokens;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::curve::{Layer, Picture, curve_ui};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::view::View;
use derived::Derived;

/// What the page remembers.
#[derive(Debug)]
pub struct LivenessPage {
    scope: Scope,
    view: View,
    cache: BinCache,
    /// The user's choice; `None` follows the figures.
    is_limit_shown: Option<bool>,
    /// Whether the curve stands on the ground instead of on the always-live bytes.
    is_always_live_hidden: bool,
    derived: Option<Derived>,
    filter: filter::StepFilter,
    tables: tables::Tables,
    tooltip: tooltip::StepTooltip,
}

impl Default for LivenessPage {
    fn default() -> Self {
        Self {
            scope: Scope::Everything,
            view: View::default(),
            cache: BinCache::default(),
            is_limit_shown: None,
            is_always_live_hidden: false,
            derived: None,
            filter: filter::StepFilter::default(),
            tables: tables::Tables::default(),
            tooltip: tooltip::StepTooltip::default(),
        }
    }
}

impl LivenessPage {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let report = page.report;
        let working = page.is_working;
        let found =
            part_or_reason(ui, &report.steps, working, "Liveness", "table depth_first_steps");
        let Some(steps) = found else { return };
        if steps.ids.is_empty() {
            absent_ui(ui, "No steps", "Table depth_first_steps of the profile has no rows");
            return;
        }
        let found = part_or_reason(ui, &report.liveness, working, "Liveness", "table eq_classes");
        let Some(liveness) = found else { return };
        if self.derived.as_ref().is_none_or(|derived| derived.scope != self.scope) {
            self.derived = Derived::new(report, liveness, steps, self.scope);
        }
        if self.derived.is_none() {
            absent_ui(
                ui,
                "The curve is not in this report",
                "The profile has no readable table memory_not_always_live_by_step_and_ipu",
            );
            return;
        }
        self.bar_ui(ui, page);
        self.facts_ui(ui, page, steps);
        let max = (ui.available_height() - 160.0).max(80.0);
        egui::Panel::bottom("liveness tables")
            .resizable(true)
            .default_size(tables_height(ui))
            .size_range(60.0..=max)
            .frame(egui::Frame::new().inner_margin(egui::Margin { top: 6, ..Default::default() }))
            .show(ui, |ui| {
                if let Some(derived) = &self.derived
                    && let Some(step) =
                        self.tables.ui(ui, report, liveness, derived, page.selection)
                {
                    page.selection.select_step(step);
                    self.view.reveal(steps.ids.len(), step);
                }
            });
        egui::CentralPanel::default()
            .frame(
                egui::Frame::new().inner_margin(egui::Margin { bottom: 6, ..Default::default() }),
            )
            .show(ui, |ui| self.picture_ui(ui, page, steps));
    }

    /// Title, legend and choices.
    fn bar_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let Some(derived) = &self.derived else { return };
        let is_limit_shown = self.is_limit_shown(derived);
        let mut is_limit_wanted = is_limit_shown;
        let mut scope = self.scope;
        // A limit says nothing of a part of what is alive.
        let limit = derived.limit.filter(|_| !self.is_always_live_hidden);
        head_ui(ui, "Liveness over steps", |ui| {
            let reset = ui.add_enabled(self.view.is_zoomed(), egui::Button::new("Show all"));
            if reset.on_hover_text("Key 0, or double-click in the picture").clicked() {
                self.view.reset();
            }
            if limit.is_some() {
                ui.checkbox(&mut is_limit_wanted, "Scale to limit");
            }
            let mut is_shown = !self.is_always_live_hidden;
            let response = ui.checkbox(&mut is_shown, "With always live");
            if response.on_hover_text("Without, small changes are visible").changed() {
                self.is_always_live_hidden = !is_shown;
            }
            scope_ui(ui, &mut scope, page.report);
        });
        if is_limit_wanted != is_limit_shown {
            self.is_limit_shown = Some(is_limit_wanted);
        }
        if scope != self.scope
            && let (Some(liveness), Some(steps)) =
                (page.report.liveness.get(), page.report.steps.get())
        {
            self.scope = scope;
            self.is_limit_shown = None;
            self.derived = Derived::new(page.report, liveness, steps, scope);
        }
    }

    /// The filter with what it found, and the selected step.
    fn facts_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, steps: &Steps) {
        let Some(derived) = &self.derived else { return };
        ui.horizontal(|ui| {
            let largest = self.filter.ui(ui, page.report, derived, steps);
            if let Some(step) = largest {
                page.selection.select_step(step);
                self.view.reveal(steps.ids.len(), step);
            }
            ui.separator();
            if let Some(note) = replica_note(page.report.target.get()) {
                ui.weak("Per replica").on_hover_text(note);
                ui.separator();
            }
            if let Some(step) = page.selection.step() {
                let text = format!("Selected: {}", step_text(page.report, derived, step));
                if ui.button("Deselect step").clicked() {
                    page.selection.steps.clear();
                }
                ui.add(egui::Label::new(RichText::new(text).strong()).truncate());
            } else if let Some(peak) = derived.peak {
                let text = format!("Peak: {}", step_text(page.report, derived, peak));
                ui.add(egui::Label::new(text).truncate());
            }
        });
    }

    fn is_limit_shown(&self, derived: &Derived) -> bool {
        self.is_limit_shown.unwrap_or_else(|| {
            derived.limit.is_some_and(|limit| is_limit_near(derived.top(), limit))
        })
    }

    fn picture_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, steps: &Steps) {
        let Some(derived) = &self.derived else { return };
        let tokens = Tokens::now(ui);
        let is_hidden = self.is_always_live_hidden;
        let always_live = derived.always_live.filter(|_| !is_hidden);
        let limit = derived.limit.filter(|_| !is_hidden);
        let top = if is_hidden { derived.highest() } else { derived.top() };
        let shown_limit = limit.filter(|_| self.is_limit_shown(derived)).unwrap_or(0);
        let limit = limit.map(|limit| (limit, format!("Limit {}", text::bytes(limit))));
        let x_text = |row: usize| steps.ids.get(row).map_or(String::new(), |id| id.to_string());
        let at = page.selection.step().or(derived.peak);
        let value = at.map_or(String::new(), |step| step_text(page.report, derived, step));
        let answer = curve_ui(
            ui,
            &mut self.view,
            Picture {
                name: "Liveness curve",
                value,
                x_title: "Step",
                x_text: &x_text,
                version: derived.version(),
                len: derived.curve.len(),
                top: top.max(shown_limit),
                ground: always_live.map(|bytes| (bytes, tokens.base_fill, tokens.base)),
                layers: vec![Layer {
                    values: Values::Known(&derived.curve),
                    base: always_live.unwrap_or(0),
                    is_stacked: false,
                    fill: Some(tokens.top_fill),
                    line: tokens.top,
                    cache: &mut self.cache,
                }],
                limit,
                borders: &[],
                marks: self.filter.matches(),
                lives: &[],
                selected: page
                    .selection
                    .step()
                    .map(|step| (step..step + 1, String::new()))
                    .into_iter()
                    .collect(),
                is_range_selectable: false,
            },
        );
        *page.has_painted_graph = true;
        if let Some(click) = answer.clicked {
            page.selection.select_step(click.position);
        }
        if let Some(step) = answer.hovered {
            self.tooltip.prepare(page.report, derived, step);
            egui::Tooltip::for_widget(&answer.response)
                .at_pointer()
                .show(|ui| self.tooltip.ui(ui, derived));
        }
    }
}

/// A step in a line: its number, what it does, how much is alive.
fn step_text(report: &Report, derived: &Derived, step: usize) -> String {
    let facts = steps::facts(report, step);
    let id = facts.as_ref().map_or(step as u64, |facts| u64::from(facts.step.0));
    let kind = facts.as_ref().and_then(|facts| facts.kind.as_deref()).unwrap_or("unknown kind");
    let name = facts.as_ref().and_then(|facts| facts.name.as_deref()).unwrap_or("");
    let bytes = derived.curve.get(step).copied().unwrap_or(0);
    let name =
        if name.is_empty() { String::new() } else { format!(" {}", text::shortened(name, 60)) };
    let not_always = text::exact_bytes(bytes);
    format!("step {id}, {}{name}, {not_always} not always live", text::shortened(kind, 40))
}

/// Everything, or one of the IPUs.
fn scope_ui(ui: &mut egui::Ui, scope: &mut Scope, report: &Report) {
    let title = |scope: Scope| match scope {
        Scope::Everything => "All IPUs".to_owned(),
        Scope::Ipu(ipu) => format!("IPU {ipu}"),
        Scope::Tile(tile) => format!("Tile {tile}"),
    };
    let ipus: Vec<u32> = report
        .liveness
        .get()
        .and_then(|liveness| liveness.deltas.as_ref())
        .map_or(Vec::new(), |deltas| deltas.by_ipu.keys().copied().collect());
    let combo =
        egui::ComboBox::from_id_salt("scope").selected_text(title(*scope)).show_ui(ui, |ui| {
            ui.selectable_value(scope, Scope::Everything, title(Scope::Everything));
            for ipu in ipus {
                ui.selectable_value(scope, Scope::Ipu(ipu), title(Scope::Ipu(ipu)));
            }
        });
    combo.response.accessible_name("Scope").on_hover_text("The part of the machine in the picture");
}
