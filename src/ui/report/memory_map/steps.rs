//! All steps, or one: a slider, a number, and the way to the peak of the tile.

use eframe::egui;
use eframe::egui::{DragValue, Pos2, Shape, Slider, Stroke};

use crate::analysis::program::steps::name;
use crate::store::program::Steps;
use crate::text::{grouped, shortened};
use crate::ui::legacy::Selection;
use crate::ui::report::PageContext;
use crate::ui::theme::Tokens;

/// Width of the slider, points.
const SLIDER: f32 = 340.0;

/// The steps to choose from, positions from 0 on.
pub struct StepChoice<'a> {
    /// Number of positions.
    pub len: usize,
    /// Buttons that go to a position: their title, what they say, the position where it is known.
    pub peaks: &'a [(&'a str, &'a str, Option<usize>)],
    /// The number of a step for people.
    pub id: &'a dyn Fn(usize) -> String,
    /// The position of a number that was typed.
    pub parse: &'a dyn Fn(&str) -> Option<usize>,
    /// What a step is.
    pub title: &'a dyn Fn(usize) -> String,
}

/// Draws the choice of a step; the selection follows it everywhere.
pub fn steps_ui(ui: &mut egui::Ui, page: &mut PageContext<'_>, peak: Option<usize>) {
    let Some(steps) = page.report.steps.get() else { return };
    let report = page.report;
    let hover = "The step at which most is alive on this tile";
    let choice = StepChoice {
        len: steps.ids.len(),
        peaks: &[("Peak", hover, peak)],
        id: &|step| id(steps, step),
        parse: &|text| steps.ids.position(crate::store::StepId(text.trim().parse().ok()?)),
        title: &|step| {
            let title = name(report, step).unwrap_or("");
            let peak = if Some(step) == peak { ", the peak of this tile" } else { "" };
            format!("Step {}{peak}: {}", id(steps, step), shortened(title, 80))
        },
    };
    choice_ui(ui, page.selection, &choice);
}

/// The same over any positions.
pub fn choice_ui(ui: &mut egui::Ui, selection: &mut Selection, choice: &StepChoice<'_>) {
    let Some(last) = choice.len.checked_sub(1) else { return };
    let first_peak = choice.peaks.iter().find_map(|(.., peak)| *peak);
    let now = selection.step().map(|step| step.min(last));
    ui.horizontal(|ui| {
        if ui.selectable_label(now.is_none(), "All steps").clicked() {
            selection.steps.clear();
        }
        let one = ui.selectable_label(now.is_some(), "At a step");
        if one.clicked() && now.is_none() {
            selection.select_step(first_peak.unwrap_or(0));
        }
        let mut step = now.or(first_peak).unwrap_or(0);
        ui.spacing_mut().slider_width = SLIDER.min(ui.available_width() * 0.5);
        let slider = ui.add(Slider::new(&mut step, 0..=last).step_by(1.0).show_value(false));
        let slider = slider.accessible_name("Step").on_hover_text("Arrow keys go step by step");
        for (.., peak) in choice.peaks {
            if let Some(peak) = peak {
                peak_mark(ui, slider.rect, *peak as f32 / last.max(1) as f32);
            }
        }
        let drag = ui.add(
            DragValue::new(&mut step)
                .range(0..=last)
                .custom_formatter(|step, _| (choice.id)(step as usize))
                .custom_parser(|text| (choice.parse)(text).map(|step| step as f64)),
        );
        let drag = drag.accessible_name("Step number").on_hover_text("Click to type a step");
        if slider.changed() || drag.changed() {
            selection.select_step(step);
        }
        for (title, hover, peak) in choice.peaks {
            let button = ui.add_enabled(peak.is_some(), egui::Button::new(*title));
            if let (true, Some(peak)) = (button.on_hover_text(*hover).clicked(), peak) {
                selection.select_step(*peak);
            }
        }
        let text = match now {
            None => format!("{} steps", grouped(choice.len as u64)),
            Some(step) => (choice.title)(step),
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
