//! The signs of a verdict: an octagon with a cross for what is over, a disc with a tick for what fits, a disc with
//! an exclamation mark for what deserves a look, a gray one with an i for what is merely said. Shapes, so that they are told apart without colors and in any font.

use std::borrow::Cow;

use eframe::egui::{
    self, Align2, Atom, Color32, FontId, Frame, Painter, Pos2, Response, RichText, Role, Sense,
    Shape, Stroke, Vec2, WidgetInfo,
};

use super::column_widths::text_width;
use crate::ui::theme::{Tokens, fonts};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Over,
    Fits,
    /// Deserves a look.
    Note,
    /// Says what is, neither good nor bad; also that nobody knows which.
    Plain,
}

impl Sign {
    pub fn of(fits: Option<bool>) -> Self {
        match fits {
            Some(true) => Self::Fits,
            Some(false) => Self::Over,
            None => Self::Plain,
        }
    }

    pub fn color(self, tokens: &Tokens) -> Color32 {
        match self {
            Self::Over => tokens.over,
            Self::Fits => tokens.fits,
            Self::Note => tokens.note,
            Self::Plain => tokens.text,
        }
    }

    /// The ground of a box that says it.
    fn fill(self, tokens: &Tokens) -> Color32 {
        match self {
            Self::Over => tokens.over_fill,
            Self::Fits => tokens.fits_fill,
            Self::Note | Self::Plain => tokens.raised,
        }
    }

    /// A box that says it, in its colors.
    pub fn frame(self, tokens: &Tokens) -> Frame {
        let edge = if self == Self::Plain { tokens.border } else { self.color(tokens) };
        Frame::new().fill(self.fill(tokens)).stroke(Stroke::new(1.0, edge))
    }

    /// Paints it in a circle.
    pub fn paint(self, painter: &Painter, center: Pos2, radius: f32, tokens: &Tokens) {
        let at = |x: f32, y: f32| center + Vec2::new(x, y) * radius;
        let color = self.color(tokens);
        let stroke = Stroke::new((radius * 0.24).max(1.2), tokens.surface);
        match self {
            Self::Over => {
                let corners = (0..8_u8).map(|corner| {
                    let angle = (f32::from(corner) + 0.5) * std::f32::consts::FRAC_PI_4;
                    center + Vec2::angled(angle) * radius * 1.05
                });
                painter.add(Shape::convex_polygon(corners.collect(), color, Stroke::NONE));
                painter.line_segment([at(-0.36, -0.36), at(0.36, 0.36)], stroke);
                painter.line_segment([at(-0.36, 0.36), at(0.36, -0.36)], stroke);
            }
            Self::Fits => {
                painter.circle_filled(center, radius, color);
                painter.line(vec![at(-0.42, 0.02), at(-0.1, 0.34), at(0.44, -0.3)], stroke);
            }
            Self::Plain => {
                painter.circle_filled(center, radius, tokens.third_text);
                painter.line_segment([at(0.0, -0.12), at(0.0, 0.5)], stroke);
                painter.circle_filled(at(0.0, -0.46), stroke.width * 0.6, tokens.surface);
            }
            Self::Note => {
                painter.circle_filled(center, radius, color);
                painter.line_segment([at(0.0, -0.5), at(0.0, 0.12)], stroke);
                painter.circle_filled(at(0.0, 0.46), stroke.width * 0.6, tokens.surface);
            }
        }
    }

    /// The sign as a part of a button.
    pub fn atom(self, diameter: f32) -> Atom<'static> {
        Atom::paint(Vec2::splat(diameter), move |ui: &egui::Ui, args| {
            let center = args.rect.center();
            self.paint(ui.painter(), center, diameter * 0.46, Tokens::now(ui));
        })
    }

    /// The sign in a line of text.
    pub fn ui(self, ui: &mut egui::Ui, diameter: f32) -> Response {
        let (rect, response) = ui.allocate_exact_size(Vec2::splat(diameter), Sense::hover());
        self.paint(ui.painter(), rect.center(), diameter * 0.46, Tokens::now(ui));
        response
    }
}

/// The diameter of an answer's sign, and what is free behind it, points.
const ANSWER_SIGN: f32 = 14.0;
const BEHIND_SIGN: f32 = 6.0;

/// The answer of a page: a sign and a sentence.
pub fn answer_ui(ui: &mut egui::Ui, sign: Sign, text: &str) -> Response {
    ui.spacing_mut().item_spacing.x = BEHIND_SIGN;
    sign.ui(ui, ANSWER_SIGN);
    let shown = whole_parts(ui, text, ui.available_width());
    let is_cut = matches!(shown, Cow::Owned(_));
    let label = RichText::new(shown).font(answer_font()).color(sign.color(Tokens::now(ui)));
    let label = ui.add(egui::Label::new(label).truncate());
    if !is_cut {
        return label;
    }
    label.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    label.on_hover_text(text)
}

/// What separates parts of an answer; then what separates parts of parts.
const BETWEEN: [&[&str]; 2] = [&["; ", " · "], &[", "]];

/// As many whole parts of an answer as there is room for: a part of a value would read as another value.
fn whole_parts<'a>(ui: &egui::Ui, text: &'a str, room: f32) -> Cow<'a, str> {
    let width = |text: &str| text_width(ui, text, &answer_font());
    if width(text) <= room {
        return text.into();
    }
    let longest = |between: &&[&str]| {
        let ends = between.iter().flat_map(|between| {
            text.match_indices(between).map(|(at, found)| at + found.trim_end().len())
        });
        let parts = ends.filter_map(|end| text.get(..end)).map(|part| format!("{part} …"));
        parts.filter(|part| width(part) <= room).max_by_key(String::len)
    };
    BETWEEN.iter().find_map(longest).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// How much room an answer takes.
pub fn answer_width(ui: &egui::Ui, text: &str) -> f32 {
    ANSWER_SIGN + BEHIND_SIGN + text_width(ui, text, &answer_font())
}

fn answer_font() -> FontId {
    fonts::semibold(13.0)
}

/// A number in a disc: of a piece of advice, or of a peak.
pub fn numbered_disc(painter: &Painter, center: Pos2, number: usize, tokens: &Tokens) {
    painter.circle_filled(center, 11.0, tokens.selected);
    let font = fonts::semibold(12.0);
    painter.text(center, Align2::CENTER_CENTER, number, font, tokens.text);
}
