//! What must go to fit: of each of the worst tiles the fewest variables that cover what is too much.

use eframe::egui::{self, Align, Button, Label, Layout, Rect, RichText, Sense, Stroke, Vec2};

use super::ChosenPart;
use crate::analysis::memory::selection::TileSelection;
use crate::store::{StepId, TileId};
use crate::systems::poplar::insights::Insights;
use crate::systems::poplar::insights::advice::operation_title;
use crate::systems::poplar::insights::must_go::{GoingVariable, MustGo};
use crate::text::{grouped, readable, shortened};
use crate::ui::command::Sheet;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::card::listed_card_ui;
use crate::ui::widget::measured::{HEIGHT, cell_ui, part};
use crate::ui::widget::rows::{Column, Value};

/// Variables that are named for a tile.
const MOST_VARIABLES: usize = 6;

/// Widths of the columns before the name of a variable, and behind it, points.
const TILE: f32 = 48.0;
const OVER: f32 = 84.0;
const STEP: f32 = 78.0;
const FREES: f32 = 78.0;

pub fn must_go_ui(ui: &mut egui::Ui, page: &mut ChosenPart<'_>, found: &Insights) {
    if found.must_go.is_empty() {
        return;
    }
    let (mut exports, sheet) = (Vec::new(), || sheet(&found.must_go));
    listed_card_ui(
        ui,
        "What must go to fit",
        (&mut exports, sheet),
        |_| {},
        |ui| {
            let about =
                "The fewest variables, alive at the worst step, that cover what is too much";
            ui.add(Label::new(fonts::caption(about).color(Tokens::now(ui).weak_text)).wrap());
            head_ui(ui);
            for (number, worst) in found.must_go.iter().enumerate() {
                ui.push_id(("must go", number), |ui| worst_ui(ui, page, worst));
            }
        },
    );
    page.commands.append(&mut exports);
}

/// All of them, a row for each variable.
fn sheet(must_go: &[MustGo]) -> Sheet {
    let columns = vec![
        Column::rest("Tile"),
        Column::bytes("Over the limit", 0.0),
        Column::rest("Step"),
        Column::rest("Variable"),
        Column::rest("Operation"),
        Column::bytes("Frees", 0.0),
    ];
    let id = |id: Option<u32>| id.map_or(Value::Nothing, |id| Value::Id(id.into()));
    let row = |worst: &MustGo, variable: &GoingVariable| {
        let operation = variable.operation.as_ref().map(operation_title);
        vec![
            id(worst.tile),
            Value::Bytes(worst.over_bytes),
            id(worst.step),
            Value::text(variable.name.clone()),
            operation.map_or(Value::Nothing, Value::text),
            Value::Bytes(variable.bytes),
        ]
    };
    let rows =
        must_go.iter().flat_map(|worst| worst.variables.iter().map(move |it| row(worst, it)));
    Sheet::of(columns, rows.collect())
}

/// The parts of a row: tile, over, step, variable, what it frees.
fn row_ui(ui: &mut egui::Ui) -> [Rect; 5] {
    let size = Vec2::new(ui.available_width(), HEIGHT);
    let (row, _) = ui.allocate_exact_size(size, Sense::hover());
    let line = Stroke::new(1.0, Tokens::now(ui).grid);
    ui.painter().hline(row.x_range(), row.bottom() + 1.0, line);
    let mut left = row.left();
    let name = (row.width() - TILE - OVER - STEP - FREES).max(40.0);
    [TILE, OVER, STEP, name, FREES].map(|width| {
        let rect = part(row, left, width);
        left += width;
        rect
    })
}

fn head_ui(ui: &mut egui::Ui) {
    let [tile, over, step, variable, frees] = row_ui(ui);
    let color = Tokens::now(ui).third_text;
    let caption = |text: &str| fonts::caption(text).color(color);
    let left = Layout::left_to_right(Align::Center);
    let right = Layout::right_to_left(Align::Center);
    cell_ui(ui, tile, left, |ui| ui.label(caption("Tile")));
    cell_ui(ui, over, right, |ui| ui.label(caption("Over")));
    cell_ui(ui, step, right, |ui| ui.label(caption("At")));
    cell_ui(ui, behind(variable), left, |ui| ui.label(caption("Variable")));
    cell_ui(ui, frees, right, |ui| ui.label(caption("Frees")));
}

/// A cell without what keeps it apart from the one before.
fn behind(mut cell: Rect) -> Rect {
    cell.min.x += 10.0;
    cell
}

fn worst_ui(ui: &mut egui::Ui, page: &mut ChosenPart<'_>, worst: &MustGo) {
    let shown = worst.variables.iter().take(MOST_VARIABLES);
    if worst.variables.is_empty() {
        let cells = row_ui(ui);
        place_ui(ui, page, worst, cells);
    }
    for (place, variable) in shown.enumerate() {
        ui.push_id(place, |ui| {
            let cells = row_ui(ui);
            if place == 0 {
                place_ui(ui, page, worst, cells);
            }
            variable_ui(ui, page, variable, cells);
        });
    }
    if worst.variables.len() > MOST_VARIABLES {
        ui.weak(format!("and {} more", grouped((worst.variables.len() - MOST_VARIABLES) as u64)));
    }
    if !worst.is_enough {
        let text = "Even all of them do not cover it: gaps and shared addresses take the rest";
        ui.add(Label::new(fonts::caption(text).weak()).wrap());
    }
}

/// The tile, by how much it is over, and the way to its worst step.
fn place_ui(
    ui: &mut egui::Ui,
    page: &mut ChosenPart<'_>,
    worst: &MustGo,
    [tile, over, step, ..]: [Rect; 5],
) {
    let units = Units::now(ui);
    let tokens = *Tokens::now(ui);
    let right = Layout::right_to_left(Align::Center);
    cell_ui(ui, tile, Layout::left_to_right(Align::Center), |ui| match worst.tile {
        Some(tile) => {
            let link = ui.link(fonts::number(tile.to_string()).color(tokens.text));
            if link.accessible_name(format!("Select tile {tile}")).clicked() {
                page.show_tiles(TileSelection::one(TileId(tile)));
            }
        }
        None => drop(ui.label(fonts::number("All"))),
    });
    cell_ui(ui, over, right, |ui| {
        let text = format!("+{}", units.bytes(worst.over_bytes));
        ui.label(fonts::number(text).color(tokens.over));
    });
    let steps = page.report().steps.get();
    let position = worst.step.and_then(|step| steps?.ids.position(StepId(step)));
    if let (Some(number), Some(position)) = (worst.step, position) {
        cell_ui(ui, step, right, |ui| {
            if ui.link(RichText::new(format!("Step {number}")).size(size::TABLE)).clicked() {
                page.show_step(position);
            }
        });
    }
}

fn variable_ui(
    ui: &mut egui::Ui,
    page: &mut ChosenPart<'_>,
    variable: &GoingVariable,
    [.., name, frees]: [Rect; 5],
) {
    let units = Units::now(ui);
    let operation = variable.operation.as_ref().map(operation_title);
    let of = operation.map_or_else(String::new, |title| format!(", of {title}"));
    let hover = shortened(&format!("{}{of}", variable.name), 300).into_owned();
    cell_ui(ui, behind(name), Layout::left_to_right(Align::Center), |ui| {
        let readable = readable(&variable.name);
        let text = RichText::new(shortened(&readable, 100)).size(size::TABLE);
        let button = Button::new(text).frame(false).truncate();
        if ui.add(button).on_hover_text(hover).clicked() {
            page.show_variable(&variable.name);
        }
    });
    cell_ui(ui, frees, Layout::right_to_left(Align::Center), |ui| {
        ui.label(fonts::number(units.bytes(variable.bytes)));
    });
}
