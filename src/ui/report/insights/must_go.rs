//! What must go to fit: of each of the worst tiles the fewest variables that cover what is too much.

use eframe::egui::{self, Label, RichText};

use super::RunPart;
use crate::analysis::insights::Insights;
use crate::analysis::insights::advice::operation_title;
use crate::analysis::insights::must_go::{GoingVariable, MustGo};
use crate::analysis::memory::selection::TileSelection;
use crate::store::{StepId, TileId};
use crate::text::{grouped, shortened};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;
use crate::ui::widget::measured::{Columns, Measured};

/// Variables that are named for a tile.
const MOST_VARIABLES: usize = 6;

pub fn must_go_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, found: &Insights) {
    if found.must_go.is_empty() {
        return;
    }
    card_ui(ui, "What must go to fit", |ui| {
        let about = "The fewest variables, alive at the worst step, that cover what is too much";
        ui.add(Label::new(fonts::caption(about).color(Tokens::now(ui).weak_text)).wrap());
        for (number, worst) in found.must_go.iter().enumerate() {
            ui.push_id(("must go", number), |ui| worst_ui(ui, page, worst));
        }
    });
}

fn worst_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, worst: &MustGo) {
    let units = Units::now(ui);
    let tokens = *Tokens::now(ui);
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        match worst.tile {
            Some(tile) => {
                let link = ui.link(fonts::number(format!("Tile {tile}")).color(tokens.accent));
                if link.accessible_name(format!("Select tile {tile}")).clicked() {
                    page.show_tiles(TileSelection::one(TileId(tile)));
                }
            }
            None => drop(ui.label(fonts::number("All tiles"))),
        }
        let over = fonts::number(format!("+{} over", units.bytes(worst.over_bytes)));
        ui.label(over.color(tokens.over));
        let steps = page.report().steps.get();
        let position = worst.step.and_then(|step| steps?.ids.position(StepId(step)));
        if let (Some(step), Some(position)) = (worst.step, position)
            && ui.link(RichText::new(format!("Step {step}")).size(size::TABLE)).clicked()
        {
            page.show_step(position);
        }
    });
    let shown = worst.variables.iter().take(MOST_VARIABLES);
    let most = shown.clone().map(|variable| variable.bytes).max().unwrap_or(0);
    for (place, variable) in shown.enumerate() {
        ui.push_id(place, |ui| variable_ui(ui, page, variable, most.max(worst.over_bytes)));
    }
    if worst.variables.len() > MOST_VARIABLES {
        ui.weak(format!("and {} more", grouped((worst.variables.len() - MOST_VARIABLES) as u64)));
    }
    if !worst.is_enough {
        let text = "Even all of them do not cover it: gaps and shared addresses take the rest";
        ui.add(Label::new(RichText::new(text).weak()).wrap());
    }
}

fn variable_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, variable: &GoingVariable, whole: u64) {
    let units = Units::now(ui);
    let tokens = *Tokens::now(ui);
    let name = shortened(&variable.name, 80);
    let operation = variable.operation.as_ref().map(operation_title);
    let of = operation.map_or_else(String::new, |title| format!(", of {title}"));
    let hover = shortened(&format!("{}{of}", variable.name), 300).into_owned();
    let color = if variable.is_always_live { tokens.always_live } else { tokens.temporary };
    let row = Measured {
        kind: "",
        name: &name,
        hover: &hover,
        is_link: true,
        swatch: None,
        color,
        size: Some((variable.bytes, whole)),
        value: &units.bytes(variable.bytes),
        percent: None,
        link: None,
    };
    if row.ui(ui, Columns::default()).name {
        page.show_variable(&variable.name);
    }
}
