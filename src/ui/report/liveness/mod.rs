//! Liveness: what is in memory at each step, as a picture, with its peaks and variables below.

mod choices;
mod compute;
mod derived;
mod filter;
mod lifetimes;
mod marks;
pub mod pair;
mod peaks;
mod scope_choice;
mod selected;
mod tables;
mod tooltip;
mod variables;

use eframe::egui;
use std::sync::Arc;

use super::{PageContext, head_ui, legend_ui, part_or_reason, reason_of, tables_height, unread_ui};
use crate::analysis::liveness::scope_curve::AlwaysLive;
use crate::analysis::liveness::{Scope, replica_note, why_no_curve};
use crate::store::program::Steps;
use crate::ui::job::Latest;
use crate::ui::split;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::curve::{Lane, Layer, Picture, curve_ui};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::legend::Patch;
use crate::ui::widget::overview::Overview;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::View;
use choices::Choices;
use derived::Derived;
use scope_choice::scope_title;
use selected::{selected_ui, step_text};
use tables::{Subject, step_title};

/// Steps that are drawn with a label of their own.
const MOST_LABELS: usize = 12;

/// A scope, and whether its variables by tile are there.
type DerivedKey = (Scope, bool);

/// What the page remembers.
#[derive(Debug, Default)]
pub struct LivenessPage {
    choices: Choices,
    view: View,
    toolbar: Toolbar,
    caches: [BinCache; 2],
    overview: BinCache,
    derived: Latest<DerivedKey, Option<Arc<Derived>>>,
    filter: filter::StepFilter,
    marks: marks::Marks,
    tables: tables::Tables,
    tooltip: tooltip::StepTooltip,
}

impl LivenessPage {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let report = page.report;
        let working = page.is_working;
        let Some(steps) = part_or_reason(ui, &report.steps, working, "Liveness") else { return };
        if steps.ids.is_empty() {
            absent_ui(ui, "No steps", "The report lists none");
            return;
        }
        if part_or_reason(ui, &report.liveness, working, "Liveness").is_none() {
            return;
        }
        self.derive(ui, page);
        let derived = self.derived.last().and_then(|(_, derived)| derived.clone());
        head_ui(ui, "Liveness over steps", |ui| {
            let selected = page.selection.tiles.first();
            self.choices.ui(ui, report, derived.as_deref(), selected);
        });
        let Some(derived) = derived else {
            self.waiting_ui(ui, page);
            return;
        };
        self.marks.update(ui.ctx(), report, page.selection);
        self.filter_ui(ui, page, &derived, steps);
        selected_ui(ui, page, &derived, &self.marks);
        self.toolbar_ui(ui, page, &derived);
        let max = (ui.available_height() - 140.0).max(80.0);
        split::below(ui, "liveness tables", tables_height(ui), 60.0..=max, |ui| {
            let peak: Vec<usize> = derived.peak.into_iter().collect();
            let chosen = page.selection.steps.clone();
            let steps = if chosen.is_empty() { &peak } else { &chosen };
            let range = self.view.range(derived.len());
            let subject = Subject { derived: &derived, steps, range };
            if let Some((step, is_added)) = self.tables.ui(ui, page, &subject) {
                select(page, step, is_added);
                self.view.reveal(derived.len(), step);
            }
        });
        egui::CentralPanel::default()
            .frame(
                egui::Frame::new().inner_margin(egui::Margin { bottom: 6, ..Default::default() }),
            )
            .show(ui, |ui| self.picture_ui(ui, page, steps, &derived));
    }

    /// Asks for the curve of the scope.
    fn derive(&mut self, ui: &egui::Ui, page: &PageContext<'_>) {
        let scope = self.choices.scope.scope;
        let needs_tiles = matches!(scope, Scope::Tile(_) | Scope::WorstTile);
        let key = (scope, needs_tiles && page.report.tile_variable_bytes.is_settled());
        let report = Arc::clone(page.report);
        self.derived.ask("liveness curve", ui.ctx(), &key, move |cancel| {
            Derived::new(&report, scope, &|| cancel.is_cancelled()).map(Arc::new)
        });
    }

    /// What is said in place of a curve.
    fn waiting_ui(&self, ui: &mut egui::Ui, page: &PageContext<'_>) {
        let scope = self.choices.scope.scope;
        let needs_tiles = matches!(scope, Scope::Tile(_) | Scope::WorstTile);
        match (self.derived.last(), self.derived.failure()) {
            (_, Some(failure)) => absent_ui(ui, "No curve", failure),
            (None, None) => absent_ui(ui, "The curve is being computed", ""),
            (Some(((_, is_settled), _)), None) if needs_tiles && !is_settled => {
                unread_ui(ui, "Variables by tile", page.is_working);
            }
            (Some(_), None) => {
                let reason = reason_of(why_no_curve(page.report, scope));
                absent_ui(
                    ui,
                    &format!("{} has no curve", scope_title(&page.report.system, scope)),
                    &reason,
                );
            }
        }
    }

    fn filter_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        derived: &Derived,
        steps: &Steps,
    ) {
        ui.horizontal(|ui| {
            let largest = self.filter.ui(ui, page.report, derived, steps);
            if let Some(step) = largest {
                page.selection.select_step(step);
                self.view.reveal(derived.len(), step);
            }
            if let Some(note) = replica_note(page.report.target.get()) {
                ui.separator();
                ui.weak("Per replica").on_hover_text(note);
            }
        });
    }

    fn toolbar_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, derived: &Derived) {
        let (values, base) = self.top_values(derived);
        let overview = Overview {
            values,
            len: derived.len(),
            base,
            version: derived.version() * 4 + self.variant(),
            top: derived.top,
            cache: &mut self.overview,
        };
        let name = "liveness curve";
        self.toolbar.ui(ui, name, &mut self.view, overview, page.commands);
    }

    /// Tells curves apart that are drawn differently.
    fn variant(&self) -> u64 {
        u64::from(self.choices.is_stacked && self.choices.has_always_live)
    }

    /// The series on top, and what it stands on.
    fn top_values<'a>(&self, derived: &'a Derived) -> (Values<'a>, u64) {
        let is_stacked = self.choices.is_stacked && self.choices.has_always_live;
        match (&derived.curve.always_live, &derived.together) {
            (AlwaysLive::Level(level), _) if is_stacked => {
                (Values::Known(&derived.curve.not_always_live), *level)
            }
            (AlwaysLive::AtStep(_), Some(together)) if is_stacked => (Values::Known(together), 0),
            _ => (Values::Known(&derived.curve.not_always_live), 0),
        }
    }

    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        steps: &Steps,
        derived: &Arc<Derived>,
    ) {
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        let choices = &mut self.choices;
        let mut entries = vec![(
            Patch::Area(tokens.top_fill, tokens.top),
            "Not always live",
            &mut choices.has_not_always_live,
        )];
        if !matches!(derived.curve.always_live, AlwaysLive::Unknown) {
            let patch = Patch::Area(tokens.base_fill, tokens.base);
            entries.push((patch, "Always live", &mut choices.has_always_live));
        }
        if derived.curve.limit.is_some() {
            entries.push((Patch::Dashes(tokens.limit), "Limit", &mut choices.has_limit));
        }
        let legend = legend_ui(ui, &mut entries);
        let choices = &self.choices;
        let limit = choices.limit(derived);
        let is_stacked = choices.is_stacked && choices.has_always_live;
        let (values, base) = self.top_values(derived);
        let variant = self.variant();
        let top = match (choices.has_always_live, choices.has_not_always_live) {
            (true, true) if choices.is_stacked => derived.top,
            (true, _) => derived.highest.max(derived.top.saturating_sub(derived.highest)),
            (false, _) => derived.highest,
        };
        let shown_limit = limit.filter(|_| choices.is_limit_in_sight(derived)).unwrap_or(0);
        let [below, above] = &mut self.caches;
        let mut ground = None;
        let mut layers = Vec::with_capacity(2);
        match &derived.curve.always_live {
            AlwaysLive::Level(level) if choices.has_always_live => {
                ground = Some((*level, tokens.base_fill, tokens.base));
            }
            AlwaysLive::AtStep(values) if choices.has_always_live => layers.push(Layer {
                values: Values::Known(values),
                base: 0,
                is_stacked: false,
                fill: Some(tokens.base_fill),
                line: tokens.base,
                cache: below,
            }),
            _ => {}
        }
        let is_shown = choices.has_not_always_live;
        // What is switched off is still what the pointer follows.
        layers.push(Layer {
            values,
            base,
            is_stacked: is_stacked && ground.is_none(),
            fill: Some(tokens.top_fill)
                .filter(|_| is_shown && (is_stacked || !choices.has_always_live)),
            line: if is_shown { tokens.top } else { egui::Color32::TRANSPARENT },
            cache: above,
        });
        let at = page.selection.step().or(derived.peak);
        let value = at.map_or(String::new(), |step| step_text(page.report, derived, step, units));
        let has_labels = (2..=MOST_LABELS).contains(&page.selection.steps.len());
        let selected = page.selection.steps.iter().map(|step| {
            let label = if has_labels { step_title(page.report, *step) } else { String::new() };
            (*step..*step + 1, label)
        });
        let version = self.filter.version();
        self.marks.join(self.filter.matches(), version);
        let life = self.marks.life(page.selection).filter(|life| !life.ranges.is_empty());
        let lanes: Vec<Lane<'_>> =
            life.map(|life| Lane::new(&life.ranges, tokens.mark)).into_iter().collect();
        let answer = curve_ui(
            ui,
            &mut self.view,
            Picture {
                name: "Liveness curve",
                value,
                x_title: "Step",
                x_text: &|row| steps.ids.get(row).map_or(String::new(), |id| id.to_string()),
                version: derived.version() * 4 + variant,
                len: derived.len(),
                top: top.max(shown_limit),
                ground,
                layers,
                limits: limit
                    .map(|limit| (limit, format!("Limit {}", units.bytes(limit))))
                    .into_iter()
                    .collect(),
                borders: &[],
                marks: self.marks.joined(),
                lanes: &lanes,
                selected: selected.collect(),
                pointed: None,
                has_x_axis: true,
                is_range_selectable: false,
            },
        );
        *page.has_painted_graph = true;
        self.toolbar.picture = Some(legend.union(answer.rect));
        if let Some(click) = answer.clicked {
            select(page, click.position, click.is_added);
        }
        if let Some(step) = answer.hovered {
            self.tooltip.prepare(ui.ctx(), page.report, derived, step);
            egui::Tooltip::for_widget(&answer.response)
                .at_pointer()
                .show(|ui| self.tooltip.ui(ui, page.report, derived));
        }
    }
}

fn select(page: &mut PageContext<'_>, step: usize, is_added: bool) {
    if is_added {
        page.selection.toggle_step(step);
    } else {
        page.selection.select_step(step);
    }
}
