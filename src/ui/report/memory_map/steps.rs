//! All steps, or one: a slider, a number, and the way to the peak of the tile.

use eframe::egui;
use eframe::egui::{DragValue, Pos2, Shape, Slider, Stroke};

use crate::analysis::steps::name;
use crate::store::program::Steps;
use crate::text::{grouped, shortened};
use crate::ui::report::PageContext;
use crate::ui::theme::Tokens;

/// Width of the slider, points.
const SLIDER: f32 = 340.0;

/// Draws the choice of a step; the selection follows it everywhere.
pub fn steps_ui(ui: &mut egui::Ui, page: &mut PageContext<'_>, peak: Option<usize>) {
    let Some(steps) = page.report.steps.get().filter(|steps| !steps.ids.is_empty()) else {
        return;
    };
    let last = steps.ids.len() - 1;
    let now = page.selection.step().map(|step| step.min(last));
    ui.horizontal(|ui| {
        if ui.selectable_label(now.is_none(), "All steps").clicked() {
            page.selection.steps.clear();
        }
        let one = ui.selectable_label(now.is_some(), "At a step");
        if one.clicked() && now.is_none() {
            page.selection.select_step(peak.unwrap_or(0));
        }
        let mut step = now.or(peak).unwrap_or(0);
        ui.spacing_mut().slider_width = SLIDER.min(ui.available_width() * 0.5);
        let slider = ui.add(Slider::new(&mut step, 0..=last).step_by(1.0).show_value(false));
        let slider = slider.accessible_name("Step").on_hover_text("Arrow keys go step by step");
        if let Some(peak) = peak {
            peak_mark(ui, slider.rect, peak as f32 / last.max(1) as f32);
        }
        let drag = ui.add(
            DragValue::new(&mut step)
                .range(0..=last)
                .custom_formatter(|step, _| id(steps, step as usize))
                .custom_parser(|text| {
                    let wanted = text.trim().parse::<u32>().ok()?;
                    let ids = &steps.ids;
                    ids.position(crate::store::StepId(wanted)).map(|step| step as f64)
                }),
        );
        let drag = drag.accessible_name("Step number").on_hover_text("Click to type a step");
        if slider.changed() || drag.changed() {
            page.selection.select_step(step);
        }
        let button = ui.add_enabled(peak.is_some(), egui::Button::new("Peak"));
        let hover = "The step at which most is alive on this tile";
        if let (true, Some(peak)) = (button.on_hover_text(hover).clicked(), peak) {
            page.selection.select_step(peak);
        }
        let text = match now {
            None => format!("{} steps", grouped(steps.ids.len() as u64)),
            Some(step) => {
                let title = name(page.report, step).unwrap_or("");
                let peak = if Some(step) == peak { ", the peak of this tile" } else { "" };
                format!("Step {}{peak}: {}", id(steps, step), shortened(title, 80))
            }
        };
        ui.add(egui::Label::new(egui::RichText::new(text).weak()).truncate());
    });
}

fn id(steps: &Steps, step: usize) -> String {
    steps.ids.get(step).map_or_else(String::new, |id| id.to_string())
}

/// A triangle above the place of the peak on the slider.
fn peak_mark(ui: &egui::Ui, slider: egui::Rect, share: f32) {
    // As far from its ends as the middle of egui's handle is.
    let ends = slider.x_range().shrink(slider.height() / 2.5);
    let x = ends.min + (ends.max - ends.min) * share;
    let top = slider.top() - 1.0;
    let points = vec![Pos2::new(x - 4.0, top), Pos2::new(x + 4.0, top), Pos2::new(x, top + 5.0)];
    ui.painter().add(Shape::convex_polygon(points, Tokens::now(ui).mark, Stroke::NONE));
}
