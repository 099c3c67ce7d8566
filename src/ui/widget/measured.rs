//! A row of a card: a name, its size as a bar on a track, the same as a number, its part of the whole in percent,
//! and the way to it. Rows below each other line up.

use eframe::egui::{self, Align, Color32, Label, Layout, Link, Rect, RichText, UiBuilder, Vec2};

use super::bar::Bar;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};

/// Height of a row, points.
pub const HEIGHT: f32 = 21.0;
/// Of the width of both, what bars have beside names.
const BARS: f32 = 0.38;
const MOST_BAR: f32 = 320.0;
const VALUE: f32 = 84.0;
const PERCENT: f32 = 50.0;
const SWATCH: f32 = 16.0;
/// Of a name, points.
const CHARACTER: f32 = 6.6;
/// Least width of a bar, points.
const LEAST_BAR: f32 = 28.0;

/// Which columns the rows of a card have.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeasuredColumns {
    /// Width of what says what a name is of, before it, points.
    pub kind: f32,
    pub has_swatch: bool,
    pub has_percent: bool,
    /// Width of a link at the right, points.
    pub link: f32,
}

impl MeasuredColumns {
    /// About how many characters of a name there is room for, so that a longer one can keep what says most of it.
    pub fn name_characters(self, ui: &egui::Ui) -> usize {
        let swatch = if self.has_swatch { SWATCH } else { 0.0 };
        let percent = if self.has_percent { PERCENT } else { 0.0 };
        let width = ui.available_width() - self.kind - swatch - percent - self.link - VALUE;
        let (names, _) = names_and_bar(width);
        (names / CHARACTER).max(4.0) as usize
    }
}

/// Of the width of both what names have, and what bars.
fn names_and_bar(for_both: f32) -> (f32, f32) {
    let for_both = (for_both - 8.0).max(0.0);
    let bar = (for_both * BARS).min(MOST_BAR);
    if bar >= LEAST_BAR { (for_both - bar, bar) } else { (for_both, 0.0) }
}

#[derive(Default)]
pub struct Measured<'a> {
    /// What kind of thing it is.
    pub kind: &'a str,
    pub name: &'a str,
    /// What the pointer learns of it.
    pub hover: &'a str,
    pub is_link: bool,
    pub swatch: Option<Color32>,
    pub color: Color32,
    /// Its size, and the whole of which the bar is a part.
    pub size: Option<(u64, u64)>,
    pub value: &'a str,
    /// Its part in percent.
    pub percent: Option<f64>,
    pub link: Option<&'a str>,
}

/// What of a row was clicked.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeasuredClick {
    pub name: bool,
    pub link: bool,
}

impl Measured<'_> {
    pub fn ui(&self, ui: &mut egui::Ui, columns: MeasuredColumns) -> MeasuredClick {
        let tokens = *Tokens::now(ui);
        let (row, _) =
            ui.allocate_exact_size(Vec2::new(ui.available_width(), HEIGHT), egui::Sense::hover());
        let mut clicked = MeasuredClick::default();
        let mut left = row.left();
        if columns.kind > 0.0 {
            let part = part(row, left, columns.kind);
            cell_ui(ui, part, Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(RichText::new(self.kind).size(size::TABLE).weak()).truncate());
            });
            left += columns.kind;
        }
        if columns.has_swatch {
            if let Some(color) = self.swatch {
                let at = egui::pos2(left + 5.0, row.center().y);
                ui.painter().rect_filled(Rect::from_center_size(at, Vec2::splat(10.0)), 2, color);
            }
            left += SWATCH;
        }
        let mut right = row.right() - columns.link;
        if let Some(link) = self.link {
            let part = part(row, right, columns.link);
            cell_ui(ui, part, Layout::right_to_left(Align::Center), |ui| {
                let text = RichText::new(link).size(size::TABLE);
                clicked.link = ui.add(Link::new(text)).clicked();
            });
        }
        if columns.has_percent {
            right -= PERCENT;
            if let Some(percent) = self.percent {
                let part = part(row, right, PERCENT);
                let text = RichText::new(share_text(percent)).size(size::TABLE).weak();
                cell_ui(ui, part, Layout::right_to_left(Align::Center), |ui| ui.label(text));
            }
        }
        right -= VALUE;
        let value = part(row, right, VALUE);
        cell_ui(ui, value, Layout::right_to_left(Align::Center), |ui| {
            ui.add(Label::new(fonts::number(self.value)).truncate());
        });
        let (names, bar) = names_and_bar(right - left);
        cell_ui(ui, part(row, left, names), Layout::left_to_right(Align::Center), |ui| {
            let text = RichText::new(self.name).size(size::TABLE);
            let response = if self.is_link {
                ui.add(egui::Button::new(text.color(tokens.accent)).frame(false).truncate())
            } else {
                ui.add(Label::new(text).truncate())
            };
            clicked.name = self.is_link && response.clicked();
            if !self.hover.is_empty() {
                response.on_hover_text(self.hover);
            }
        });
        if let (Some((size, whole)), true) = (self.size, bar > 0.0) {
            let bar = Rect::from_x_y_ranges(left + names + 8.0..=right, row.y_range())
                .shrink2(Vec2::new(0.0, (HEIGHT - 7.0) / 2.0));
            let parts = [(size, self.color)];
            Bar { parts: &parts, whole, limit: None }.paint(ui.painter(), bar, &tokens);
        }
        clicked
    }
}

/// A part of a whole in percent, without a sign.
pub fn share_text(percent: f64) -> String {
    match percent.abs() {
        size if size > 0.0 && size < 0.05 => "< 0.1 %".to_owned(),
        _ => format!("{percent:.1} %"),
    }
}

pub fn part(row: Rect, left: f32, width: f32) -> Rect {
    Rect::from_x_y_ranges(left..=left + width, row.y_range())
}

/// Draws something in a part of a row, cut there.
pub fn cell_ui<R>(
    ui: &mut egui::Ui,
    rect: Rect,
    layout: Layout,
    add: impl FnOnce(&mut egui::Ui) -> R,
) {
    ui.scope_builder(UiBuilder::new().max_rect(rect).layout(layout), |ui| {
        ui.shrink_clip_rect(rect.expand(2.0));
        add(ui);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_little_is_not_said_to_be_nothing() {
        assert_eq!([0.0, 0.01, 0.4, 99.0].map(share_text), ["0.0 %", "< 0.1 %", "0.4 %", "99.0 %"]);
    }
}
