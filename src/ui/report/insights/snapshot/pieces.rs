//! Fragmentation: what is reserved and in use, free in pieces, and lost to rounding, at each moment.

use eframe::egui::{self, Label, ScrollArea};

use super::SnapshotPart;
use crate::systems::pytorch::allocator::insights::DeviceInsights;
use crate::systems::pytorch::allocator::insights::fragmentation::FreeAt;
use crate::text::grouped;
use crate::ui::command::Sheet;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::card::listed_card_ui;
use crate::ui::widget::rows::{Column, Value};

const TITLES: [&str; 5] = ["", "Reserved", "Free", "Pieces", "Largest"];
/// Width of the card from which there is room for bars, points.
const BARS: f32 = 430.0;

pub fn pieces_ui(ui: &mut egui::Ui, page: &mut SnapshotPart<'_>, device: &DeviceInsights) {
    let found = &device.fragmentation;
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let (mut exports, sheet) = (Vec::new(), || sheet(&found.moments));
    let mut shown = None;
    let most = found.moments.iter().map(|at| at.reserved_bytes).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let most = most.max(device.reserved_peak.bytes);
    listed_card_ui(
        ui,
        "Fragmentation",
        (&mut exports, sheet),
        |_| {},
        |ui| {
            let text = match found.expandable_segments {
                Some(true) => "Expandable segments are on",
                Some(false) => "Expandable segments are off",
                None => "Whether segments are expandable is not recorded",
            };
            ui.label(fonts::caption(text).color(tokens.weak_text));
            let has_bars = ui.available_width() >= BARS;
            ScrollArea::horizontal().id_salt("fragmentation").show(ui, |ui| {
                egui::Grid::new("fragmentation").spacing([10.0, 5.0]).show(ui, |ui| {
                    for (column, title) in TITLES.into_iter().enumerate() {
                        ui.label(fonts::caption(title).color(tokens.third_text));
                        if column == 0 && has_bars {
                            ui.label("");
                        }
                    }
                    ui.end_row();
                    for at in &found.moments {
                        let hover = format!(
                            "{} in use, {} of it lost to rounding. Shows the segments then",
                            units.bytes(at.active_bytes),
                            units.bytes(at.rounding_bytes)
                        );
                        if ui.link(at.title()).on_hover_text(hover).clicked() {
                            shown = Some(at.event);
                        }
                        let parts =
                            [(at.active_bytes, tokens.temporary), (at.free_bytes, tokens.gap)];
                        let bar = Bar { parts: &parts, whole: most, limit: None };
                        if has_bars {
                            bar.ui(ui, egui::vec2(56.0, 8.0));
                        }
                        for bytes in [at.reserved_bytes, at.free_bytes] {
                            ui.label(fonts::number(units.bytes(bytes)));
                        }
                        ui.label(fonts::number(grouped(at.pieces as u64)));
                        ui.label(fonts::number(units.bytes(at.largest_piece_bytes)));
                        ui.end_row();
                    }
                });
            });
            if let Some(saved) = found.most_saved_bytes {
                let saved = format!(
                    "{} were reserved at most beyond the most that was in use",
                    units.bytes(saved)
                );
                ui.add(Label::new(fonts::caption(saved).color(tokens.weak_text)).wrap());
            }
            let rounding = found.moments.iter().map(|at| at.rounding_bytes).max().unwrap_or(0);
            if rounding > 0 {
                let text =
                    format!("Rounding of blocks takes {} at most then", units.bytes(rounding));
                ui.add(Label::new(fonts::caption(text).color(tokens.weak_text)).wrap());
            }
        },
    );
    page.part.commands.append(&mut exports);
    if let Some(event) = shown {
        page.show_segments(device.device, event);
    }
}

fn sheet(moments: &[FreeAt]) -> Sheet {
    let mut columns = vec![Column::rest("Moment"), Column::rest("Event")];
    let of_bytes = [
        "Reserved",
        "In use",
        "Free",
        "In small segments",
        "In empty segments",
        "Largest piece",
        "Rounding",
    ];
    columns.extend(of_bytes.map(|title| Column::bytes(title, 0.0)));
    columns.push(Column::count("Pieces", 0.0));
    let row = |at: &FreeAt| {
        let mut row = vec![Value::text(at.title()), Value::text(at.event.to_string())];
        let bytes = [
            at.reserved_bytes,
            at.active_bytes,
            at.free_bytes,
            at.in_small_segments_bytes,
            at.in_empty_segments_bytes,
            at.largest_piece_bytes,
            at.rounding_bytes,
        ];
        row.extend(bytes.map(Value::Bytes));
        row.push(Value::Count(at.pieces as u64));
        row
    };
    Sheet::of(columns, moments.iter().map(row).collect())
}
