//! What must go to fit; the fullest tiles, and how full the others are.

use eframe::egui::{self, Align2, FontId, Rect, Sense, Vec2};

use super::{RunPart, card_ui};
use crate::analysis::insights::Insights;
use crate::analysis::insights::advice::operation_title;
use crate::analysis::insights::must_go::MustGo;
use crate::analysis::memory::selection::TileSelection;
use crate::store::{StepId, TileId};
use crate::text::{grouped, shortened};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Variables that are named for a tile.
const MOST_VARIABLES: usize = 8;
/// Height of the histogram, points.
const HISTOGRAM: f32 = 96.0;

pub fn must_go_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, found: &Insights) {
    if found.must_go.is_empty() {
        return;
    }
    card_ui(ui, "What must go to fit", |ui| {
        ui.weak("The fewest variables, alive at the worst step, that cover what is too much");
        for (number, worst) in found.must_go.iter().enumerate() {
            worst_ui(ui, page, number, worst);
        }
    });
}

fn worst_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, number: usize, worst: &MustGo) {
    let units = Units::now(ui);
    ui.horizontal_wrapped(|ui| {
        let place = worst.tile.map_or("All tiles".to_owned(), |tile| format!("Tile {tile}"));
        ui.strong(format!("{place}, over by {}", units.bytes(worst.over_bytes)));
        if let Some(tile) = worst.tile
            && ui.small_button("Select").accessible_name(format!("Select tile {tile}")).clicked()
        {
            page.show_tiles(TileSelection::one(TileId(tile)));
        }
        let steps = page.report().steps.get();
        let position = worst.step.and_then(|step| steps?.ids.position(StepId(step)));
        if let (Some(step), Some(position)) = (worst.step, position)
            && ui.small_button(format!("Step {step}")).clicked()
        {
            page.show_step(position);
        }
    });
    let grid = egui::Grid::new(("must go", number)).num_columns(3).spacing([12.0, 2.0]);
    grid.show(ui, |ui| {
        for variable in worst.variables.iter().take(MOST_VARIABLES) {
            ui.label(units.bytes(variable.bytes));
            let name = ui.link(shortened(&variable.name, 48));
            if name.clicked() {
                page.show_variable(&variable.name);
            }
            let operation = variable.operation.as_ref().map(operation_title);
            ui.weak(shortened(operation.as_deref().unwrap_or(""), 44));
            ui.end_row();
        }
    });
    if worst.variables.len() > MOST_VARIABLES {
        ui.weak(format!("and {} more", grouped((worst.variables.len() - MOST_VARIABLES) as u64)));
    }
    if !worst.is_enough {
        ui.weak("Even all of them do not cover it: gaps and shared addresses take the rest");
    }
    ui.add_space(4.0);
}

pub fn tiles_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, found: &Insights) {
    if page.report().memory.get().is_none() {
        return;
    }
    card_ui(ui, "Tiles", |ui| {
        let units = Units::now(ui);
        histogram_ui(ui, page, found, units);
        ui.add_space(4.0);
        egui::Grid::new("fullest tiles").num_columns(3).spacing([12.0, 2.0]).show(ui, |ui| {
            for full in &found.fullest_tiles {
                if ui.link(format!("Tile {}", full.tile)).clicked() {
                    page.show_tiles(TileSelection::one(TileId(full.tile)));
                }
                ui.label(units.bytes(full.bytes));
                match full.over_limit_bytes {
                    Some(over @ 1..) => {
                        let text = format!("{} over the limit", units.bytes(over));
                        ui.colored_label(Tokens::now(ui).over, text);
                    }
                    _ => {
                        ui.weak("within the limit");
                    }
                }
                ui.end_row();
            }
        });
    });
}

fn histogram_ui(ui: &mut egui::Ui, page: &RunPart<'_>, found: &Insights, units: Units) {
    let most = found.histogram.iter().map(|bin| bin.tiles).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let tokens = *Tokens::now(ui);
    let limit = page.report().bytes_per_tile();
    let size = Vec2::new(ui.available_width(), HISTOGRAM);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let frame = Rect::from_min_max(rect.min, rect.max - Vec2::new(0.0, 18.0));
    let width = frame.width() / found.histogram.len().max(1) as f32;
    let mut hovered = None;
    for (place, bin) in found.histogram.iter().enumerate() {
        let left = frame.left() + width * place as f32;
        let height = frame.height() * bin.tiles as f32 / most as f32;
        // One tile among thousands is still to be seen.
        let height = if bin.tiles > 0 { height.max(2.0) } else { 0.0 };
        let x = left + 1.0..=left + width - 1.0;
        let bar = Rect::from_x_y_ranges(x, frame.bottom() - height..=frame.bottom());
        let is_over = limit.is_some_and(|limit| bin.above_bytes >= limit);
        ui.painter().rect_filled(bar, 1, if is_over { tokens.over } else { tokens.temporary });
        let column = Rect::from_x_y_ranges(left..=left + width, frame.y_range());
        if response.hover_pos().is_some_and(|at| column.contains(at)) {
            hovered = Some(bin);
        }
    }
    ui.painter().hline(frame.x_range(), frame.bottom(), egui::Stroke::new(1.0, tokens.border));
    let font = FontId::proportional(12.0);
    let ends = [found.histogram.first(), found.histogram.last()];
    if let [Some(first), Some(last)] = ends {
        let (from, to) = (units.bytes(first.above_bytes), units.bytes(last.to_bytes));
        let weak = tokens.weak_text;
        ui.painter().text(rect.left_bottom(), Align2::LEFT_BOTTOM, from, font.clone(), weak);
        ui.painter().text(rect.right_bottom(), Align2::RIGHT_BOTTOM, to, font.clone(), weak);
        let middle = rect.center_bottom();
        let text = "tiles by their bytes with gaps; orange is over the limit";
        ui.painter().text(middle, Align2::CENTER_BOTTOM, text, font, weak);
    }
    let name = format!(
        "Histogram of {} tiles",
        grouped(page.report().memory.get().map_or(0, |memory| memory.tiles.len() as u64))
    );
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, name.clone()));
    if let Some(bin) = hovered {
        let (from, to) = (units.bytes(bin.above_bytes), units.bytes(bin.to_bytes));
        response.on_hover_text(format!("{} tiles have {from} to {to}", grouped(bin.tiles)));
    }
}
