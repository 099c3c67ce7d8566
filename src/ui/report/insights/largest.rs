//! The largest things of the model, of an IPU, or of the selected tile.

use eframe::egui;
use std::sync::Arc;

use super::ChosenPart;
use crate::analysis::largest::{Largest, LargestExchange, LargestVertex, largest};
use crate::analysis::liveness::{Scope, devices_with_curve, scope_title};
use crate::analysis::memory::category_title;
use crate::store::{DeviceId, Report, StepId, System, TileId};
use crate::text::{readable, shortened};
use crate::ui::command::Sheet;
use crate::ui::job::{Latest, Made, Same};
use crate::ui::report::found_insights::settled;
use crate::ui::report::verdict_banner::used_text;
use crate::ui::runs::{Needed, Needs};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::card::listed_card_ui;
use crate::ui::widget::choice::{choice_ui, segments_ui};
use crate::ui::widget::measured::{Measured, MeasuredColumns};
use crate::ui::widget::rows::{CellValue, TableColumn};

/// Longest name.
const NAME: usize = 300;
/// What of a report the largest things are among.
const NEEDS: Needs = &[Needed::Liveness, Needed::Debug, Needed::TileVariables, Needed::Exchanges];

/// Of what the largest things are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Of {
    #[default]
    Model,
    Device,
    Arena,
}

#[derive(Default)]
pub struct LargestOf {
    of: Of,
    device: Option<DeviceId>,
}

#[derive(Default)]
pub struct LargestThings {
    found: Latest<(Scope, Vec<bool>), Largest>,
    /// Of a report, and of which parts of it.
    devices: Made<(Same<Report>, [bool; 4]), Vec<DeviceId>>,
}

impl LargestThings {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut ChosenPart<'_>, fullest: Option<TileId>) {
        let report = &page.part.run.report;
        let parts = [
            report.liveness.is_settled(),
            report.target.is_settled(),
            report.arenas.is_settled(),
            report.tile_variable_bytes.is_settled(),
        ];
        let key = (Same(Arc::clone(report)), parts);
        let devices = self.devices.of(key, |_| devices_with_curve(report));
        let selected = page.part.selection.tiles.first();
        let arena = selected.or(fullest).map(|tile| Scope::Arena(tile.into()));
        let device = page.choices.largest.device;
        let device = device.filter(|known| devices.contains(known)).or(devices.first().copied());
        let system = page.part.run.report.system;
        let choices = [
            Some((Of::Model, "Model")),
            // One is all of the model.
            (devices.len() > 1).then_some((Of::Device, system.device)),
            arena.is_some().then_some((Of::Arena, system.arena)),
        ];
        let mut of = page.choices.largest.of;
        if !choices.iter().flatten().any(|(choice, _)| *choice == of) {
            of = Of::Model;
        }
        let mut chosen = of;
        let at_right = |ui: &mut egui::Ui| {
            let choices: Vec<_> = choices.into_iter().flatten().collect();
            if choices.len() > 1 {
                segments_ui(ui, "Where the largest things are looked for", &mut chosen, choices);
            }
        };
        let scope = match of {
            Of::Device => device.map(Scope::Device),
            Of::Arena => arena,
            Of::Model => None,
        };
        let of_scope = scope.unwrap_or(Scope::Everything);
        let key = (of_scope, settled(&page.part.run.report, NEEDS));
        let derived = Arc::clone(&page.part.run.derived);
        self.found.ask("largest things", ui.ctx(), &key, move |cancel| {
            largest(&derived, of_scope, &|| cancel.is_cancelled())
        });
        let shown = self.found.last().map(|(_, largest)| largest);
        let mut exports = Vec::new();
        let sheet = || sheet(&system, shown);
        listed_card_ui(ui, "Largest", &mut exports, sheet, at_right, |ui| {
            scope_ui(ui, page, scope, devices);
            match shown {
                Some(largest) => largest_ui(ui, page, largest),
                None => {
                    ui.weak(self.found.failure().unwrap_or("Looking…"));
                }
            }
        });
        page.part.commands.append(&mut exports);
        if chosen != of {
            page.choices.largest.of = chosen;
        }
    }
}

/// Which of several devices, or which tile it is.
fn scope_ui(
    ui: &mut egui::Ui,
    page: &mut ChosenPart<'_>,
    scope: Option<Scope>,
    devices: &[DeviceId],
) {
    let report = Arc::clone(&page.part.run.report);
    match scope {
        Some(Scope::Device(mut device)) => {
            let title = |device: &DeviceId| scope_title(&report, Scope::Device(*device));
            let all = devices.iter().copied();
            choice_ui(ui, "Largest of", 110.0, &mut device, all, title);
            page.choices.largest.device = Some(device);
        }
        Some(scope) => {
            let which = if page.part.selection.tiles.is_empty() {
                "the fullest; a selected one takes its place"
            } else {
                "the selected one"
            };
            ui.weak(format!("{}, {which}", scope_title(&report, scope)));
        }
        None => {}
    }
}

/// A thing that is the largest of its kind.
struct LargestThing {
    kind: &'static str,
    name: String,
    bytes: u64,
}

fn sheet(system: &System, largest: Option<&Largest>) -> Sheet {
    let columns =
        vec![TableColumn::rest("Kind"), TableColumn::rest("Name"), TableColumn::bytes("Size", 0.0)];
    let row = |found: LargestThing| {
        let name = CellValue::text(found.name);
        vec![CellValue::text(found.kind), name, CellValue::Bytes(found.bytes)]
    };
    Sheet::of(
        columns,
        largest
            .map_or_else(Vec::new, |largest| all_of(system, largest))
            .into_iter()
            .map(row)
            .collect(),
    )
}

/// What there is, in the order of the list.
fn all_of(system: &System, largest: &Largest) -> Vec<LargestThing> {
    let named = |kind, name: &str, bytes| LargestThing { kind, name: name.to_owned(), bytes };
    let vertex = |kind, vertex: &Option<LargestVertex>| {
        vertex.as_ref().map(|found| named(kind, &found.name, found.bytes))
    };
    let exchange = |kind, exchange: &Option<LargestExchange>| {
        exchange.as_ref().map(|found| named(kind, &found.name, found.bytes))
    };
    let step = largest.step.as_ref().map(|step| {
        let name = step.name.as_deref().or(step.kind.as_deref()).unwrap_or("");
        named(system.step, &format!("{} {name}", step.step), step.bytes)
    });
    let category = largest.category.as_ref().map(|category| {
        named("Category", &category_title(&category.name), category.not_overlapped_bytes)
    });
    let variable = largest.variable.as_ref();
    let variable = variable.map(|found| named(system.item, &found.name, found.bytes));
    let all = [
        step,
        category,
        exchange("Received", &largest.exchange_received),
        variable,
        vertex("Vertex state", &largest.vertex_state),
        vertex("Vertex code", &largest.vertex_code),
        exchange("Exchange code", &largest.exchange_code),
    ];
    all.into_iter().flatten().collect()
}

fn largest_ui(ui: &mut egui::Ui, page: &mut ChosenPart<'_>, largest: &Largest) {
    let units = Units::now(ui);
    let color = Tokens::now(ui).temporary;
    let system = page.part.run.report.system;
    let all = all_of(&system, largest);
    let most = all.iter().map(|found| found.bytes).max().unwrap_or(0);
    for found in &all {
        let hover = shortened(&found.name, NAME);
        let name = readable(&hover);
        let row = Measured {
            kind: found.kind,
            name: &name,
            hover: &hover,
            is_link: [system.step, system.item].contains(&found.kind),
            color,
            size: Some((found.bytes, most)),
            value: &units.bytes(found.bytes),
            ..Measured::default()
        };
        let columns = MeasuredColumns { kind: 96.0, ..MeasuredColumns::default() };
        if !ui.push_id(found.kind, |ui| row.ui(ui, columns)).inner.name {
            continue;
        }
        let steps = page.part.run.report.steps.get();
        let of_step = largest.step.as_ref().filter(|_| found.kind == system.step);
        match of_step.and_then(|step| steps?.ids.position(StepId(step.step))) {
            Some(position) => page.part.show_step(position),
            None if found.kind == system.item => page.part.show_variable(&found.name),
            None => {}
        }
    }
    if let (Some(used), Some(capacity)) = (largest.used_bytes, largest.capacity_bytes) {
        let text = used_text(used, capacity, &|bytes| units.bytes(bytes));
        ui.weak(format!("{text} used"));
    }
}
