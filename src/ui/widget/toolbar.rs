//! The row above a picture: magnification, panning, the overview strip, copy and save.

use eframe::egui::{self, Button, Key, Rect, TextEdit};

use super::exports::{is_taken_out, picture_exports_ui};
use super::heights::Heights;
use super::overview::{Overview, overview_ui};
use super::view::VisibleRange;
use crate::ui::command::Command;

/// What a click on + makes larger.
const ZOOM: f64 = 1.5;

#[derive(Default)]
pub struct Toolbar {
    /// The magnification as it is being typed.
    typed: Option<String>,
    /// Where the picture was in the last frame.
    pub picture: Option<Rect>,
}

impl Toolbar {
    /// Draws the row; `name` is that of the picture, `others` are further controls, which say whether "Show all" has
    /// something to reset there. Says whether all shall be shown.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        name: &str,
        view: &mut VisibleRange,
        overview: Overview<'_>,
        commands: &mut Vec<Command>,
        others: impl FnOnce(&mut egui::Ui) -> bool,
    ) -> bool {
        let (len, mut is_all) = (overview.len, false);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 3.0;
            if is_taken_out(ui.ctx()) {
                ui.set_opacity(0.0);
            }
            let is_zoomed = view.is_zoomed();
            let (start, end) = view.range(len);
            if key_ui(ui, "−", "Zoom out", "Zoom out (−)", is_zoomed) {
                view.magnify(len, view.magnification(len) / ZOOM);
            }
            self.magnification_ui(ui, view, len);
            if key_ui(ui, "+", "Zoom in", "Zoom in (+)", true) {
                view.magnify(len, view.magnification(len) * ZOOM);
            }
            if key_ui(ui, "«", "Previous part", "The previous part (Page up)", is_zoomed) {
                view.pan(len, start - end);
            }
            if key_ui(ui, "»", "Next part", "The next part (Page down)", is_zoomed) {
                view.pan(len, end - start);
            }
            let can_reset = others(ui) || is_zoomed;
            let all = ui.add_enabled(can_reset, Button::new("Show all"));
            if all.on_hover_text("Key 0, or double-click in the picture").clicked() {
                view.reset();
                is_all = true;
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                picture_exports_ui(ui, name, false, self.picture, commands);
                ui.add_space(6.0);
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    ui.add_space(6.0);
                    overview_ui(ui, view, overview);
                });
            });
        });
        is_all
    }

    /// The same without the strip and without the parts before and after, from the right to the left: for a
    /// picture that has little room above it. `is_other_zoomed` says whether another axis has something to reset.
    pub fn buttons_ui(
        &mut self,
        ui: &mut egui::Ui,
        name: &str,
        view: &mut VisibleRange,
        is_other_zoomed: bool,
        len: usize,
        commands: &mut Vec<Command>,
    ) -> bool {
        ui.spacing_mut().item_spacing.x = 3.0;
        if is_taken_out(ui.ctx()) {
            ui.set_opacity(0.0);
        }
        picture_exports_ui(ui, name, false, self.picture, commands);
        let is_zoomed = view.is_zoomed();
        let can_reset = is_zoomed || is_other_zoomed;
        let all = ui.add_enabled(can_reset, Button::new("Show all"));
        let is_all = all.on_hover_text("Key 0, or double-click in the picture").clicked();
        if key_ui(ui, "+", "Zoom in", "Zoom in", true) {
            view.magnify(len, view.magnification(len) * ZOOM);
        }
        self.magnification_ui(ui, view, len);
        if key_ui(ui, "−", "Zoom out", "Zoom out", is_zoomed) {
            view.magnify(len, view.magnification(len) / ZOOM);
        }
        is_all
    }

    fn magnification_ui(&mut self, ui: &mut egui::Ui, view: &mut VisibleRange, len: usize) {
        let now = view.magnification(len);
        let mut text = self.typed.clone().unwrap_or_else(|| magnification_text(now));
        let field = ui.add(
            TextEdit::singleline(&mut text).desired_width(62.0).align(egui::Align2::CENTER_CENTER),
        );
        let field = field.accessible_name("Magnification");
        if field.changed() {
            self.typed = Some(text);
        }
        if field.lost_focus()
            && let Some(typed) = self.typed.take()
            && ui.input(|input| input.key_pressed(Key::Enter))
            && let Some(percent) = percent(&typed)
        {
            view.magnify(len, percent);
        }
        field.on_hover_text("Magnification in percent: type a number and press Enter");
    }
}

/// A button with a sign, its accessible name, and what it says to the pointer.
fn key_ui(ui: &mut egui::Ui, sign: &str, name: &str, hover: &str, is_on: bool) -> bool {
    let button = ui.add_enabled(is_on, Button::new(sign).min_size([24.0, 22.0].into()));
    button.accessible_name(name).on_hover_text(hover).clicked()
}

/// The button that shows the bytes around a limit; says whether they are zoomed.
pub fn around_limit_ui(
    ui: &mut egui::Ui,
    heights: &mut Heights,
    limit: Option<u64>,
    top: u64,
) -> bool {
    let button = ui.add_enabled(limit.is_some(), Button::new("Around the limit"));
    let button = button
        .on_hover_text("Shows the bytes around it; Ctrl and the wheel zoom bytes, key 0 shows all");
    if let Some(limit) = limit.filter(|_| button.clicked()) {
        heights.around(limit, top);
    }
    heights.is_zoomed()
}

/// A magnification in the room that its field has: `12.5 %`, `2453%`, `×321`.
fn magnification_text(percent: f64) -> String {
    let decimals = usize::from(percent < 99.5 && (percent - percent.round()).abs() > 0.05);
    match percent {
        ..999.5 => format!("{percent:.decimals$} %"),
        ..10_000.0 => format!("{percent:.0}%"),
        _ => format!("×{:.0}", percent / 100.0),
    }
}

/// A magnification that was typed: `250`, `250 %`, `1,000%`.
fn percent(text: &str) -> Option<f64> {
    let number = text.trim().trim_end_matches('%').trim_end().replace(',', "");
    number.parse().ok().filter(|percent: &f64| percent.is_finite() && *percent > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnifications_are_read_as_people_type_them() {
        assert_eq!(percent("250"), Some(250.0));
        assert_eq!(percent(" 1,000 %"), Some(1000.0));
        assert_eq!(percent("12.5%"), Some(12.5));
        let shown = [12.5, 100.0, 999.6, 2453.0, 32_100.0].map(magnification_text);
        assert_eq!(shown, ["12.5 %", "100 %", "1000%", "2453%", "×321"]);
        for nonsense in ["", "%", "-3", "0", "nan", "inf", "much"] {
            assert_eq!(percent(nonsense), None, "{nonsense}");
        }
    }
}
