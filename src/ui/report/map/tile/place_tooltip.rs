//! The tooltip of a place: the step, and the variable or the gap there.

use eframe::egui;

use super::data::RunData;
use super::picture::MapPoint;
use super::tooltip::{Hit, hit_ui};
use crate::text::{grouped, shortened};
use crate::ui::report::moment::step_id;

/// Longest name of an operation.
const NAME: usize = 80;

pub fn place_ui(ui: &mut egui::Ui, data: &RunData, place: MapPoint) {
    let report = &data.tile.report;
    let step = step_id(report, place.step);
    ui.weak(format!("{} {step}, address {}", report.system.step, grouped(place.address)));
    if let Some(row) = place.row {
        hit_ui(ui, &data.tile, &[], Hit::Variable(row));
        if let Some(operation) = data.operation(row) {
            ui.label(format!("Operation: {}", shortened(&operation.name, NAME)));
        }
        return;
    }
    let map = &data.tile.map;
    match map.gap_at(place.address) {
        Some(gap) => hit_ui(ui, &data.tile, &map.gaps, Hit::Gap(gap)),
        None if place.address >= map.end => {
            ui.label("Behind the last used byte");
        }
        None => {
            ui.label(format!("Free at this {}, used at others", report.system.step_in_text));
        }
    }
}
