//! The resources of a program: vertices, transfers, code, variables.

use eframe::egui::{self, Label, Rect, RichText, Sense, Vec2};

use crate::analysis::liveness::variable_kind::pretty_name;
use crate::analysis::program_details::{
    ByTile, Moves, ProgramDetails, TypeOfVertices, VariableOfProgram,
};
use crate::store::exchange::ExchangeKind;
use crate::text::{grouped, shortened};
use crate::ui::command::Command;
use crate::ui::report::category_colors::{category_color, variable_color};
use crate::ui::report::more_ui;
use crate::ui::report::run_part::RunPart;
use crate::ui::selection::Jump;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::inspector::{fact_ui, section_ui, words_ui};

/// Rows of a list; of others there is the number.
const MOST_ROWS: usize = 12;
/// Longest name.
const NAME: usize = 200;
/// Height of a picture over tiles, points.
const PICTURE: f32 = 34.0;

/// Draws all that it uses.
pub fn usage_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, details: &ProgramDetails) {
    for failure in &details.failures {
        ui.colored_label(ui.visuals().error_fg_color, failure);
    }
    if !details.vertices.is_empty() {
        section_ui(ui, "Vertices");
        vertices_ui(ui, &details.vertices);
    }
    if let Some(moves) = &details.moves {
        moves_ui(ui, part, moves);
    }
    let is_exchange = details.moves.as_ref().is_some_and(|it| it.kind == ExchangeKind::Internal);
    if let Some(cycles) = &details.cycles {
        let title = if is_exchange { "Cycles, as scheduled" } else { "Cycles, estimated" };
        section_ui(ui, title);
        by_tile_ui(ui, part, cycles, false);
    }
    if let Some(code) = &details.control_code {
        section_ui(ui, "Control code");
        let units = Units::now(ui);
        if let Some(own) = details.own_control_code {
            fact_ui(ui, "Its own", &units.exact(own));
        }
        by_tile_ui(ui, part, code, true);
    }
    if let Some(variables) = &details.of_compute_set {
        section_ui(ui, "Variables of its compute set");
        variables_ui(ui, part, variables);
    }
    if !details.of_operation.is_empty() {
        section_ui(ui, "Variables of its operation");
        variables_ui(ui, part, &details.of_operation);
    }
}

fn vertices_ui(ui: &mut egui::Ui, vertices: &[TypeOfVertices]) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let whole = vertices.iter().filter_map(|row| row.bytes).max().unwrap_or(0);
    for row in vertices.iter().take(MOST_ROWS) {
        words_ui(ui, RichText::new(shortened(&row.name, NAME)).size(12.0));
        let count = match row.count {
            Some(1) => "1 vertex".to_owned(),
            Some(count) => format!("{} vertices", grouped(count)),
            None => "–".to_owned(),
        };
        let bytes = row.bytes.map(|bytes| format!(", {}", units.bytes(bytes)));
        let color = category_color("vertexInstanceState", &tokens);
        let parts = [(row.bytes.unwrap_or(0), color)];
        let bar = Bar { parts: &parts, whole, limit: None };
        ui.horizontal(|ui| {
            bar.ui(ui, Vec2::new(ui.available_width() * 0.4, 5.0));
            ui.label(fonts::number(format!("{count}{}", bytes.unwrap_or_default())));
        });
    }
    more_ui(ui, vertices.len(), MOST_ROWS);
}

fn moves_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, moves: &Moves) {
    for (title, list) in [("Bytes received", &moves.received), ("Bytes sent", &moves.sent)] {
        if let Some(list) = list {
            section_ui(ui, title);
            by_tile_ui(ui, part, list, true);
        }
    }
    if let Some(code) = &moves.code {
        section_ui(ui, "Exchange code");
        by_tile_ui(ui, part, code, true);
    }
    if !moves.routes.is_empty() {
        section_ui(ui, "What moves where");
        for route in moves.routes.iter().take(MOST_ROWS) {
            words_ui(ui, RichText::new(shortened(route, NAME)).size(12.0));
        }
        more_ui(ui, moves.routes.len(), MOST_ROWS);
    }
}

/// A number over tiles as a picture, with its sum, and where most of it is.
fn by_tile_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, list: &ByTile, is_bytes: bool) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let shown = |number: u64| if is_bytes { units.exact(number) } else { grouped(number) };
    let system = &part.run.report.system;
    if is_bytes {
        let on = match list.tiles {
            1 => format!("On one {}", system.arena_in_text),
            tiles => format!("On {} {}", grouped(tiles), system.arenas),
        };
        fact_ui(ui, &on, &shown(list.sum));
    }
    let (most, tile) = list.most;
    if most == 0 {
        return;
    }
    let size = Vec2::new(ui.available_width(), PICTURE);
    let (rect, picture) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter().rect_filled(rect, 2, tokens.raised);
    let width = rect.width() / list.bins.len().max(1) as f32;
    for (place, value) in list.bins.iter().enumerate().filter(|(_, value)| **value > 0) {
        let height = (*value as f64 / most as f64) as f32 * rect.height();
        let left = rect.left() + width * place as f32;
        let x = left..=left + (width - 0.5).max(0.5);
        let bar = Rect::from_x_y_ranges(x, rect.bottom() - height.max(1.0)..=rect.bottom());
        ui.painter().rect_filled(bar, 0, tokens.temporary);
    }
    let arenas = system.arenas;
    picture.on_hover_text(format!(
        "Over all {arenas}, in their order: the largest number of each part"
    ));
    ui.horizontal(|ui| {
        ui.label(RichText::new("Most").size(12.0).weak());
        let text = format!("{} {tile}", system.arena);
        if ui.link(text).on_hover_text("Shows its map").clicked() {
            part.commands.push(Command::GoTo(Jump::Map(tile)));
        }
        ui.label(fonts::number(shown(most)));
    });
}

/// Variables with their bytes; a click shows one in Liveness.
fn variables_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, variables: &[VariableOfProgram]) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let whole = variables.first().map_or(0, |variable| variable.bytes);
    let mut shown = None;
    for variable in variables.iter().take(MOST_ROWS) {
        ui.horizontal(|ui| {
            let bytes = fonts::number(units.bytes(variable.bytes));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(bytes);
                if variable.is_always_live {
                    let always = part.run.report.system.always_live_in_text;
                    ui.label(RichText::new(always).size(11.0).weak());
                }
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    let name = pretty_name(&variable.name);
                    let name = RichText::new(shortened(&name, NAME)).size(12.0);
                    let label = ui.add(Label::new(name).truncate().sense(Sense::click()));
                    let label = label.on_hover_cursor(egui::CursorIcon::PointingHand);
                    if label.on_hover_text("Shows its lives in Liveness").clicked() {
                        shown = Some(variable.name.clone());
                    }
                });
            });
        });
        let color = variable_color(&part.run.report, &variable.name, &tokens);
        let parts = [(variable.bytes, color)];
        let bar = Bar { parts: &parts, whole, limit: None };
        bar.ui(ui, Vec2::new(ui.available_width(), 4.0));
    }
    if variables.is_empty() {
        ui.weak("None");
    }
    more_ui(ui, variables.len(), MOST_ROWS);
    if let Some(name) = shown {
        part.show_variable(&name);
    }
}
