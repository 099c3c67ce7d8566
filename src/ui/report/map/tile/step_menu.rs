//! The step that the strip shows: below it, as a menu.

use eframe::egui::{self, Align, DragValue, Layout, Rect, RichText};

use super::RunTile;
use crate::store::StepId;
use crate::text::grouped;
use crate::ui::report::PageContext;
use crate::ui::report::moment::step_id;
use crate::ui::runs::{Run, StepAt};
use crate::ui::theme::fonts;

/// Below a strip that is narrower the menu has no room for the word for a step, points.
const NARROW: f32 = 100.0;

/// Draws the menu in a rectangle; a step that is chosen is selected.
pub fn step_menu_ui(
    ui: &mut egui::Ui,
    rect: Rect,
    page: &mut PageContext<'_>,
    run: &Run,
    tile: &RunTile,
    is_of_all_steps: &mut bool,
) {
    if !tile.of.has_steps {
        return;
    }
    let step = tile.at_step.as_ref().map(|at_step| at_step.step);
    let id = |step: usize| step_id(&run.report, step);
    let is_narrow = rect.width() < NARROW;
    let words = run.report.system;
    let title = match step.map(id) {
        // The label of the step at the axis of the picture is beside it.
        Some(id) if is_narrow => format!("{id} ▾"),
        Some(id) => format!("{} {id} ▾", words.step),
        None if is_narrow => "All ▾".to_owned(),
        None => format!("All {} ▾", words.steps),
    };
    let of_run = if page.runs.is_one() { String::new() } else { format!(" of {}", run.the()) };
    let mut wanted = None;
    // Below a narrow strip it reaches to the left, not beyond the card.
    let layout = if is_narrow { Layout::right_to_left(Align::Min) } else { *ui.layout() };
    let place = egui::UiBuilder::new().max_rect(rect).layout(layout).id_salt(("step", run.id));
    ui.scope_builder(place, |ui| {
        ui.spacing_mut().button_padding = egui::vec2(4.0, 1.0);
        ui.spacing_mut().interact_size.y = rect.height();
        let title = RichText::new(title).font(fonts::medium(11.0));
        let button = egui::Button::new(title).frame_when_inactive(false);
        let menu = egui::containers::menu::MenuButton::from_button(button).ui(ui, |ui| {
            if ui.button(format!("All {}", run.report.system.steps)).clicked() {
                (wanted, *is_of_all_steps) = (Some(None), true);
            }
            if let Some(highest) = tile.of.highest_step
                && ui
                    .button(format!(
                        "Highest end, {} {}",
                        run.report.system.step_in_text,
                        id(highest)
                    ))
                    .clicked()
            {
                wanted = Some(Some(highest));
            }
            if let Some(peak) = tile.data.peak
                && ui
                    .button(format!("Peak, {} {}", run.report.system.step_in_text, id(peak)))
                    .clicked()
            {
                wanted = Some(Some(peak));
            }
            let last = (tile.of.rectangles.steps as usize).saturating_sub(1);
            let mut now = step.or(tile.of.highest_step).unwrap_or(0);
            let ids = run.report.steps.get().map(|steps| &steps.ids);
            let number = DragValue::new(&mut now)
                .range(0..=last)
                .custom_formatter(|step, _| id(step as usize))
                .custom_parser(|text| {
                    let id = text.trim().replace(',', "").parse().ok().map(StepId)?;
                    ids?.position(id).map(|step| step as f64)
                });
            let number = ui.add(number).accessible_name("Step number");
            let hover = format!("Click to type a number, drag to go through {}", words.steps);
            if number.on_hover_text(hover).changed() {
                wanted = Some(Some(now));
            }
        });
        let steps = grouped(tile.of.rectangles.steps.into());
        menu.0
            .accessible_name(format!("Step of the map{of_run}"))
            .on_hover_text(format!("What the strip shows, of {steps} {}", words.steps));
    });
    match wanted {
        Some(Some(step)) => page.selection.steps = vec![StepAt { run: run.id, step }],
        Some(None) => page.selection.steps.clear(),
        None => {}
    }
}
