//! Design tokens: every color, font and size that the window uses, light and dark.

mod colors;
pub mod fonts;
#[cfg(test)]
mod palette_test;

use eframe::egui::{
    self, Color32, CornerRadius, FontId, Margin, Stroke, TextStyle, Theme, Visuals,
};

use colors::{DARK, LIGHT};
pub use colors::{Family, Tokens};
use fonts::size;

/// Height of a table row, points.
pub const ROW_HEIGHT: f32 = 23.0;
/// Width of the rail, points.
pub const MENU_WIDTH: f32 = 168.0;
/// Width of the rail with icons only, points.
pub const COLLAPSED_MENU_WIDTH: f32 = 46.0;
/// Height of a button, a choice or a field, points.
pub const CONTROL_HEIGHT: f32 = 26.0;
/// Between cards, points.
pub const BETWEEN_CARDS: f32 = 12.0;
/// Widest tooltip, points.
pub const TOOLTIP_WIDTH: f32 = 480.0;

impl Tokens {
    pub fn of(theme: Theme) -> &'static Self {
        match theme {
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
        }
    }

    pub fn now(ui: &egui::Ui) -> &'static Self {
        if ui.visuals().dark_mode { &DARK } else { &LIGHT }
    }
}

/// Black or white, whichever is read better on a color.
pub fn text_on(fill: Color32) -> Color32 {
    let [red, green, blue, _] = fill.to_array().map(u32::from);
    let is_bright = red * 299 + green * 587 + blue * 114 > 140_000;
    if is_bright { LIGHT.text } else { LIGHT.surface }
}

/// Gives both themes their colors, fonts and sizes.
pub fn apply(ctx: &egui::Context) {
    ctx.set_fonts(fonts::definitions());
    for theme in [Theme::Light, Theme::Dark] {
        ctx.set_visuals_of(theme, visuals(theme));
        ctx.style_mut_of(theme, |style| {
            style.spacing.tooltip_width = TOOLTIP_WIDTH;
            style.spacing.item_spacing = egui::vec2(8.0, 4.0);
            style.spacing.button_padding = egui::vec2(10.0, 5.0);
            // Lines of text are no higher than text; controls have their padding.
            style.spacing.interact_size.y = 18.0;
            style.spacing.menu_margin = Margin::same(8);
            style.interaction.selectable_labels = true;
            // Animations cost frames on software renderers and tell nothing.
            style.animation_time = 0.0;
            for (text, font) in [
                (TextStyle::Body, fonts::regular(size::BODY)),
                (TextStyle::Button, fonts::medium(size::TABLE)),
                (TextStyle::Small, fonts::regular(size::CAPTION)),
                (TextStyle::Heading, fonts::semibold(size::PAGE_TITLE)),
                (TextStyle::Monospace, FontId::monospace(size::TABLE)),
            ] {
                style.text_styles.insert(text, font);
            }
        });
    }
}

fn visuals(theme: Theme) -> Visuals {
    let tokens = Tokens::of(theme);
    let mut visuals = theme.default_visuals();
    visuals.panel_fill = tokens.page;
    visuals.window_fill = tokens.surface;
    visuals.window_stroke = Stroke::new(1.0, tokens.border);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(8);
    visuals.extreme_bg_color = tokens.page;
    visuals.faint_bg_color = tokens.stripe;
    visuals.code_bg_color = tokens.raised;
    visuals.weak_text_color = Some(tokens.weak_text);
    visuals.hyperlink_color = tokens.accent;
    visuals.warn_fg_color = tokens.note;
    visuals.error_fg_color = tokens.note;
    visuals.selection.bg_fill = tokens.selected;
    visuals.selection.stroke = Stroke::new(1.0, tokens.accent);
    let radius = CornerRadius::same(6);
    let edge = Stroke::new(1.0, tokens.border);
    let text = Stroke::new(1.0, tokens.text);
    let widgets = &mut visuals.widgets;
    widgets.noninteractive.fg_stroke = text;
    widgets.noninteractive.bg_stroke = edge;
    for (state, fill, stroke) in [
        (&mut widgets.inactive, tokens.raised, edge),
        (&mut widgets.hovered, tokens.raised, Stroke::new(1.0, tokens.third_text)),
        (&mut widgets.active, tokens.selected, Stroke::new(1.0, tokens.accent)),
        (&mut widgets.open, tokens.raised, Stroke::new(1.0, tokens.accent)),
    ] {
        state.weak_bg_fill = fill;
        state.bg_fill = fill;
        state.bg_stroke = stroke;
        state.fg_stroke = text;
        state.corner_radius = radius;
        state.expansion = 0.0;
    }
    widgets.noninteractive.corner_radius = radius;
    visuals
}

pub fn page_frame(tokens: &Tokens) -> egui::Frame {
    egui::Frame::new().fill(tokens.page).inner_margin(Margin::symmetric(16, 10))
}

/// The rail and the bars.
pub fn chrome_frame(tokens: &Tokens) -> egui::Frame {
    egui::Frame::new().fill(tokens.chrome).inner_margin(Margin::symmetric(10, 8))
}

pub fn status_frame(tokens: &Tokens) -> egui::Frame {
    egui::Frame::new().fill(tokens.chrome).inner_margin(Margin::symmetric(16, 3))
}

pub fn collapsed_menu_frame(tokens: &Tokens) -> egui::Frame {
    egui::Frame::new().fill(tokens.chrome).inner_margin(Margin::symmetric(5, 8))
}

pub fn card_frame(tokens: &Tokens) -> egui::Frame {
    egui::Frame::new()
        .fill(tokens.surface)
        .stroke(Stroke::new(1.0, tokens.border))
        .corner_radius(8)
        .inner_margin(Margin::same(12))
}
