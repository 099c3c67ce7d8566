//! The largest things of the model, of an IPU, or of the selected tile.

use eframe::egui::{self, ComboBox};
use std::sync::Arc;

use super::{RunPart, card_ui, settled};
use crate::analysis::insights::Insights;
use crate::analysis::insights::largest::{Largest, LargestExchange, LargestVertex, largest};
use crate::analysis::liveness::{Scope, devices_with_curve, scope_title};
use crate::analysis::memory::category_title;
use crate::store::StepId;
use crate::text::shortened;
use crate::ui::job::Latest;
use crate::ui::runs::{Needed, Needs};
use crate::ui::units::Units;

/// Longest name.
const NAME: usize = 56;
/// What of a report the largest things are among.
const NEEDS: Needs = &[Needed::Liveness, Needed::Debug, Needed::TileVariables, Needed::Exchanges];

#[derive(Default)]
pub struct LargestThings {
    found: Latest<(Scope, Vec<bool>), Largest>,
}

impl LargestThings {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut RunPart<'_>, found: &Insights) {
        card_ui(ui, "Largest", |ui| {
            scope_ui(ui, page);
            let scope = page.choices.largest_of.unwrap_or(Scope::Everything);
            if scope == Scope::Everything {
                largest_ui(ui, page, &found.largest);
                return;
            }
            let key = (scope, settled(page.report(), NEEDS));
            let derived = Arc::clone(&page.run.derived);
            self.found.ask("largest things", ui.ctx(), &key, move |cancel| {
                largest(&derived, scope, &|| cancel.is_cancelled())
            });
            match self.found.last() {
                Some((_, largest)) => largest_ui(ui, page, largest),
                None => {
                    ui.weak(self.found.failure().unwrap_or("Looking…"));
                }
            }
        });
    }
}

fn scope_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>) {
    let report = Arc::clone(page.report());
    let title = |scope: Scope| match scope {
        Scope::Everything | Scope::WorstArena => "The model".to_owned(),
        scope => scope_title(&report, scope),
    };
    let tile = page.selection.tiles.first().map(|tile| Scope::Arena(tile.into()));
    let mut scope = page.choices.largest_of.unwrap_or(Scope::Everything);
    let combo = ComboBox::from_id_salt("largest of").selected_text(title(scope)).width(110.0);
    let combo = combo.show_ui(ui, |ui| {
        ui.selectable_value(&mut scope, Scope::Everything, "The model");
        for device in devices_with_curve(page.report()).into_iter().map(Scope::Device) {
            ui.selectable_value(&mut scope, device, title(device));
        }
        match tile {
            Some(tile) => drop(ui.selectable_value(&mut scope, tile, title(tile))),
            None => {
                let one = report.system.an_arena;
                ui.weak(format!("Select {one} on the Memory page to have it here"));
            }
        }
    });
    combo.response.accessible_name("Largest of");
    page.choices.largest_of = Some(scope);
}

fn largest_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, largest: &Largest) {
    let units = Units::now(ui);
    egui::Grid::new("largest").num_columns(3).spacing([12.0, 3.0]).show(ui, |ui| {
        let mut row = |what: &str, found: Option<(String, u64)>| {
            if let Some((name, bytes)) = found {
                ui.weak(what);
                ui.label(units.bytes(bytes));
                ui.label(shortened(&name, NAME));
                ui.end_row();
            }
        };
        let vertex = |vertex: &LargestVertex| (vertex.name.clone(), vertex.bytes);
        row("Vertex state", largest.vertex_state.as_ref().map(vertex));
        row("Vertex code", largest.vertex_code.as_ref().map(vertex));
        let exchange = |exchange: &LargestExchange| (exchange.name.clone(), exchange.bytes);
        row("Exchange code", largest.exchange_code.as_ref().map(exchange));
        row("Exchange received", largest.exchange_received.as_ref().map(exchange));
        let category = largest.category.as_ref();
        let category = category
            .map(|category| (category_title(&category.name), category.not_overlapped_bytes));
        row("Category", category);
        if let Some(variable) = &largest.variable {
            ui.weak("Variable");
            ui.label(units.bytes(variable.bytes));
            if ui.link(shortened(&variable.name, NAME)).clicked() {
                page.show_variable(&variable.name);
            }
            ui.end_row();
        }
        if let Some(step) = &largest.step {
            ui.weak("Program step");
            ui.label(units.bytes(step.bytes));
            let name = step.name.as_deref().or(step.kind.as_deref()).unwrap_or("");
            let link = ui.link(format!("{} {}", step.step, shortened(name, NAME)));
            let position =
                page.report().steps.get().and_then(|it| it.ids.position(StepId(step.step)));
            if let (true, Some(position)) = (link.clicked(), position) {
                page.show_step(position);
            }
            ui.end_row();
        }
        if let (Some(used), Some(capacity)) = (largest.used_bytes, largest.capacity_bytes) {
            ui.weak("Used of capacity");
            ui.label(format!("{:.1} %", used as f64 * 100.0 / capacity.max(1) as f64));
            ui.label(format!("{} of {}", units.bytes(used), units.bytes(capacity)));
            ui.end_row();
        }
    });
}
