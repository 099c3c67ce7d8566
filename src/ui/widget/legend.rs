//! The legend of a picture: a patch and a word for each series, which switch it on and off.

use std::sync::Arc;

use eframe::egui::{
    self, Color32, Galley, Pos2, Rect, Response, RichText, Role, Sense, Stroke, StrokeKind,
    TextStyle, TextWrapMode, Vec2, WidgetText,
};

use crate::ui::theme::{Tokens, fonts};

#[derive(Clone, Copy, Debug)]
pub enum Patch {
    /// An area with a line.
    Area(Color32, Color32),
    Line(Color32),
    Dashes(Color32),
    /// Lines that rise across an area.
    Hatch(Color32),
    /// The same as of the entry before, whose patch stands for both.
    Same,
}

/// Width of a patch, points.
const PATCH: f32 = 18.0;
/// Width of the dot between two names of one color, points.
const DOT: f32 = 4.0;
/// Between patch and word, points.
const GAP: f32 = 5.0;

impl Patch {
    /// Its width, points, where other patches have that.
    fn width(self, of_others: f32) -> f32 {
        if matches!(self, Self::Same) { DOT } else { of_others }
    }
}

/// Entries with their patches by their colors, those of one color beside each other.
pub fn by_color<T>(entries: impl IntoIterator<Item = (T, Color32)>) -> Vec<(T, Patch)> {
    let mut groups: Vec<(Color32, Vec<(T, Patch)>)> = Vec::new();
    for (entry, color) in entries {
        match groups.iter_mut().find(|(other, _)| *other == color) {
            Some((_, group)) => group.push((entry, Patch::Same)),
            None => groups.push((color, vec![(entry, Patch::Area(color, color))])),
        }
    }
    groups.into_iter().flat_map(|(_, group)| group).collect()
}

pub fn entry_ui(ui: &mut egui::Ui, patch: Patch, title: &str, is_on: &mut bool) -> Response {
    let text = RichText::new(title);
    let text = if *is_on { text } else { text.weak().strikethrough() };
    let text = WidgetText::from(text);
    let galley = text.into_galley(ui, Some(TextWrapMode::Extend), f32::INFINITY, TextStyle::Body);
    let height = galley.size().y.max(ui.spacing().interact_size.y);
    let width = patch.width(PATCH);
    let size = Vec2::new(width + GAP + galley.size().x, height);
    let (rect, mut response) = ui.allocate_exact_size(size, Sense::click());
    let patch_rect =
        Rect::from_min_size(Pos2::new(rect.left(), rect.center().y - 6.0), Vec2::new(width, 12.0));
    paint_patch(ui, patch_rect, patch, *is_on);
    let at = Pos2::new(rect.left() + width + GAP, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, ui.visuals().text_color());
    if response.clicked() {
        *is_on = !*is_on;
        response.mark_changed();
    }
    if response.has_focus() || response.hovered() {
        let stroke = ui.visuals().widgets.hovered.bg_stroke;
        let around = response.rect.expand2(Vec2::new(3.0, 0.0));
        ui.painter().rect_stroke(around, 3, stroke, StrokeKind::Inside);
    }
    let is_on = *is_on;
    response.widget_info(|| egui::WidgetInfo::selected(Role::CheckBox, true, is_on, title));
    response.on_hover_text(if is_on { "Click to hide" } else { "Click to show" })
}

/// The width of an entry, points.
pub fn entry_width(ui: &egui::Ui, title: &str) -> f32 {
    let (font, color) = (TextStyle::Body.resolve(ui.style()), Color32::PLACEHOLDER);
    PATCH + GAP + ui.painter().layout_no_wrap(title.to_owned(), font, color).size().x
}

/// Draws an entry that switches nothing, as one widget, so that entries wrap as words do.
pub fn label_ui(ui: &mut egui::Ui, patch: Patch, title: &str) {
    let color = Tokens::now(ui).text;
    let font = TextStyle::Body.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(title.to_owned(), font, color);
    beside_patch_ui(ui, (patch, Vec2::new(16.0, 12.0)), galley, title);
}

/// The same in small, with a size beside its name.
pub fn sized_label_ui(ui: &mut egui::Ui, patch: Patch, title: &str, size: &str) {
    let tokens = Tokens::now(ui);
    let galley = ui.painter().layout_job(fonts::line([
        (title, fonts::regular(12.0), tokens.weak_text),
        ("  ", fonts::regular(12.0), tokens.weak_text),
        (size, fonts::semibold(12.0), tokens.text),
    ]));
    let said = format!("{title}: {}", galley.text().trim_start_matches(title).trim());
    beside_patch_ui(ui, (patch, Vec2::splat(10.0)), galley, &said);
}

/// Draws a patch of a size and a text, which a screen reader is told in these words.
fn beside_patch_ui(ui: &mut egui::Ui, patch: (Patch, Vec2), galley: Arc<Galley>, said: &str) {
    let (patch, mut of) = patch;
    of.x = patch.width(of.x);
    let size = Vec2::new(of.x + GAP + galley.size().x, galley.size().y.max(of.x));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let at = rect.left_center() - Vec2::new(0.0, of.y / 2.0);
    paint_patch(ui, Rect::from_min_size(at, of), patch, true);
    let at = Pos2::new(rect.left() + of.x + GAP, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, Tokens::now(ui).text);
    response.widget_info(|| egui::WidgetInfo::labeled(Role::Label, true, said));
}

fn paint_patch(ui: &egui::Ui, rect: Rect, patch: Patch, is_on: bool) {
    let painter = ui.painter();
    let middle = rect.center().y;
    let thin = |color| Stroke::new(1.0, color);
    match patch {
        // An outline stays of what is switched off.
        Patch::Area(_, line) | Patch::Line(line) | Patch::Dashes(line) | Patch::Hatch(line)
            if !is_on =>
        {
            let line = line.gamma_multiply(0.6);
            let flat = rect.shrink2(Vec2::new(0.0, 2.0));
            painter.rect_stroke(flat, 2, thin(line), StrokeKind::Inside);
        }
        Patch::Same => {
            painter.circle_filled(rect.center(), 1.5, Tokens::now(ui).third_text);
        }
        Patch::Area(fill, line) => {
            painter.rect(rect, 2, fill, thin(line), StrokeKind::Inside);
        }
        Patch::Line(line) => {
            painter.hline(rect.x_range(), middle, Stroke::new(2.0, line));
        }
        Patch::Hatch(line) => {
            painter.rect_stroke(rect, 2, thin(line), StrokeKind::Inside);
            let painter = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
            for place in 0..3_u8 {
                let left = rect.left() + f32::from(place) * 6.0;
                let ends = [Pos2::new(left, rect.bottom()), Pos2::new(left + 6.0, rect.top())];
                painter.line_segment(ends, thin(line));
            }
        }
        Patch::Dashes(line) => {
            let stroke = Stroke::new(2.0, line);
            painter.hline(rect.left()..=rect.left() + 7.0, middle, stroke);
            painter.hline(rect.right() - 7.0..=rect.right(), middle, stroke);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_color_stand_together_behind_one_patch() {
        let (red, blue) = (Color32::RED, Color32::BLUE);
        let entries = by_color([("a", red), ("b", blue), ("c", red)]);
        let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["a", "c", "b"]);
        let is_own = |patch: &Patch| matches!(patch, Patch::Area(..));
        let own: Vec<bool> = entries.iter().map(|(_, patch)| is_own(patch)).collect();
        assert_eq!(own, [true, false, true]);
    }
}
