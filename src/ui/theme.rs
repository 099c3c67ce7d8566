//! Design tokens: every colour and size that the window uses, light and dark.
//!
//! Series are told apart by blue and orange, which red-green blind eyes tell apart too, and never by
//! colour alone: lines differ in place, labels and dashes.

use eframe::egui::{
    self, Color32, CornerRadius, FontDefinitions, FontFamily, FontId, Margin, Stroke, TextStyle,
    Theme, Visuals,
};

/// Height of a table row, points.
pub const ROW_HEIGHT: f32 = 19.0;
/// Width of the side menu, points.
pub const MENU_WIDTH: f32 = 168.0;
/// Width of the side menu with icons only, points.
pub const COLLAPSED_MENU_WIDTH: f32 = 46.0;
/// Widest tooltip, points.
pub const TOOLTIP_WIDTH: f32 = 480.0;

#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    /// Background of pages.
    pub page: Color32,
    /// Background of the side menu and of bars.
    pub chrome: Color32,
    /// Background of cards, pictures and text fields.
    pub surface: Color32,
    /// Every second row of a table.
    pub stripe: Color32,
    pub border: Color32,
    pub text: Color32,
    /// Text that explains.
    pub weak_text: Color32,
    /// Links, selection, what is active.
    pub accent: Color32,
    /// Background of what is selected.
    pub selected: Color32,
    /// Line of the base series: memory without gaps, always live.
    pub base: Color32,
    /// Area of the base series.
    pub base_fill: Color32,
    /// Line of the series on top: memory with gaps, not always live.
    pub top: Color32,
    /// Area of the series on top.
    pub top_fill: Color32,
    pub limit: Color32,
    /// Marks of what a filter found.
    pub mark: Color32,
    /// Areas of a stack, from the ground up; neighbours differ in brightness too.
    pub series: [Color32; 10],
    /// Lines from the third run on; the first two have [`Self::base`] and [`Self::top`].
    pub more_runs: [Color32; 6],
    /// What has not changed, between the colours of more and less.
    pub unchanged: Color32,
    /// Hatching of gaps.
    pub gap: Color32,
    /// Hatching of what is free at a step.
    pub free: Color32,
    pub grid: Color32,
    /// Something is over the limit, or failed.
    pub bad: Color32,
    /// Something deserves a look.
    pub warning: Color32,
}

/// The colours of a stack, which both themes share but for the greys of what is left over.
const fn series(others: Color32, rest: Color32) -> [Color32; 10] {
    [
        Color32::from_rgb(0x2f, 0x7d, 0xbd),
        Color32::from_rgb(0xf0, 0xa2, 0x3c),
        Color32::from_rgb(0x1e, 0x8a, 0x7c),
        Color32::from_rgb(0xe7, 0xd2, 0x5a),
        Color32::from_rgb(0x8a, 0x57, 0xa6),
        Color32::from_rgb(0x8c, 0xcb, 0xee),
        Color32::from_rgb(0xbf, 0x4f, 0x2d),
        Color32::from_rgb(0xe3, 0xaf, 0xcb),
        others,
        rest,
    ]
}

const LIGHT: Tokens = Tokens {
    page: Color32::from_rgb(0xff, 0xff, 0xff),
    chrome: Color32::from_rgb(0xf2, 0xf5, 0xf8),
    surface: Color32::from_rgb(0xff, 0xff, 0xff),
    stripe: Color32::from_rgb(0xf6, 0xf8, 0xfa),
    border: Color32::from_rgb(0xcf, 0xd6, 0xdd),
    text: Color32::from_rgb(0x1b, 0x22, 0x29),
    weak_text: Color32::from_rgb(0x55, 0x60, 0x6b),
    accent: Color32::from_rgb(0x0a, 0x5c, 0xa8),
    selected: Color32::from_rgb(0xd3, 0xe6, 0xf7),
    base: Color32::from_rgb(0x0a, 0x6a, 0xb0),
    base_fill: Color32::from_rgb(0xc4, 0xdf, 0xf2),
    top: Color32::from_rgb(0xc4, 0x54, 0x00),
    top_fill: Color32::from_rgb(0xfa, 0xd9, 0xb8),
    limit: Color32::from_rgb(0x1b, 0x22, 0x29),
    mark: Color32::from_rgb(0x6b, 0x2f, 0x9c),
    series: series(Color32::from_rgb(0x6c, 0x77, 0x81), Color32::from_rgb(0xc3, 0xca, 0xd1)),
    more_runs: [
        Color32::from_rgb(0x1e, 0x8a, 0x7c),
        Color32::from_rgb(0x8a, 0x57, 0xa6),
        Color32::from_rgb(0x9a, 0x7a, 0x00),
        Color32::from_rgb(0x44, 0x4e, 0x58),
        Color32::from_rgb(0xc2, 0x4a, 0x86),
        Color32::from_rgb(0x3d, 0x9a, 0xd9),
    ],
    unchanged: Color32::from_rgb(0xdf, 0xe3, 0xe7),
    gap: Color32::from_rgb(0x70, 0x7a, 0x84),
    free: Color32::from_rgb(0x0a, 0x5c, 0xa8),
    grid: Color32::from_rgba_premultiplied(0x14, 0x18, 0x1c, 0x2c),
    bad: Color32::from_rgb(0xb3, 0x3a, 0x00),
    warning: Color32::from_rgb(0x8a, 0x5a, 0x00),
};

const DARK: Tokens = Tokens {
    page: Color32::from_rgb(0x17, 0x1b, 0x20),
    chrome: Color32::from_rgb(0x1f, 0x25, 0x2b),
    surface: Color32::from_rgb(0x11, 0x15, 0x19),
    stripe: Color32::from_rgb(0x1c, 0x21, 0x27),
    border: Color32::from_rgb(0x3a, 0x43, 0x4d),
    text: Color32::from_rgb(0xe3, 0xe8, 0xed),
    weak_text: Color32::from_rgb(0xa2, 0xae, 0xba),
    accent: Color32::from_rgb(0x7c, 0xbd, 0xf5),
    selected: Color32::from_rgb(0x1f, 0x45, 0x68),
    base: Color32::from_rgb(0x62, 0xb4, 0xf0),
    base_fill: Color32::from_rgb(0x1d, 0x40, 0x5c),
    top: Color32::from_rgb(0xff, 0x9d, 0x45),
    top_fill: Color32::from_rgb(0x5e, 0x3b, 0x1c),
    limit: Color32::from_rgb(0xf0, 0xf3, 0xf6),
    mark: Color32::from_rgb(0xd2, 0xa4, 0xff),
    series: series(Color32::from_rgb(0x5a, 0x65, 0x70), Color32::from_rgb(0x9a, 0xa4, 0xae)),
    more_runs: [
        Color32::from_rgb(0x4f, 0xc9, 0xb4),
        Color32::from_rgb(0xc7, 0x9a, 0xe6),
        Color32::from_rgb(0xe7, 0xd2, 0x5a),
        Color32::from_rgb(0xb9, 0xc3, 0xcc),
        Color32::from_rgb(0xf0, 0x8c, 0xbe),
        Color32::from_rgb(0x9f, 0xd4, 0xff),
    ],
    unchanged: Color32::from_rgb(0x33, 0x3a, 0x42),
    gap: Color32::from_rgb(0x8a, 0x95, 0xa0),
    free: Color32::from_rgb(0x7c, 0xbd, 0xf5),
    grid: Color32::from_rgba_premultiplied(0x24, 0x26, 0x28, 0x28),
    bad: Color32::from_rgb(0xff, 0x8f, 0x57),
    warning: Color32::from_rgb(0xf0, 0xc0, 0x5a),
};

impl Tokens {
    /// The line of a run, by its place among those that are open.
    pub fn run(&self, place: usize) -> Color32 {
        match place {
            0 => self.base,
            1 => self.top,
            more => {
                self.more_runs.get((more - 2) % self.more_runs.len()).copied().unwrap_or(self.base)
            }
        }
    }

    pub fn run_fill(&self, place: usize) -> Color32 {
        match place {
            0 => self.base_fill,
            1 => self.top_fill,
            more => self.surface.lerp_to_gamma(self.run(more), 0.3),
        }
    }

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

/// Black or white, whichever is read better on a colour.
pub fn text_on(fill: Color32) -> Color32 {
    let [red, green, blue, _] = fill.to_array().map(u32::from);
    let is_bright = red * 299 + green * 587 + blue * 114 > 140_000;
    if is_bright { LIGHT.text } else { LIGHT.page }
}

/// Gives both themes their colours and sizes.
pub fn apply(ctx: &egui::Context) {
    let mut fonts = FontDefinitions::default();
    if let Some(family) = fonts.families.get_mut(&FontFamily::Proportional) {
        // It has arrows and triangles, which the fonts for text lack.
        family.push("Hack".to_owned());
    }
    ctx.set_fonts(fonts);
    for theme in [Theme::Light, Theme::Dark] {
        ctx.set_visuals_of(theme, visuals(theme));
        ctx.style_mut_of(theme, |style| {
            style.spacing.tooltip_width = TOOLTIP_WIDTH;
            style.spacing.item_spacing = egui::vec2(8.0, 4.0);
            style.spacing.button_padding = egui::vec2(8.0, 3.0);
            style.interaction.selectable_labels = true;
            // Animations cost frames on software renderers and tell nothing.
            style.animation_time = 0.0;
            style.text_styles.insert(TextStyle::Body, FontId::proportional(13.5));
            style.text_styles.insert(TextStyle::Button, FontId::proportional(13.5));
            style.text_styles.insert(TextStyle::Small, FontId::proportional(12.0));
            style.text_styles.insert(TextStyle::Heading, FontId::proportional(18.0));
        });
    }
}

fn visuals(theme: Theme) -> Visuals {
    let tokens = Tokens::of(theme);
    let mut visuals = theme.default_visuals();
    visuals.panel_fill = tokens.page;
    visuals.window_fill = tokens.chrome;
    visuals.window_stroke = Stroke::new(1.0, tokens.border);
    visuals.window_corner_radius = CornerRadius::same(6);
    visuals.extreme_bg_color = tokens.surface;
    visuals.faint_bg_color = tokens.stripe;
    visuals.weak_text_color = Some(tokens.weak_text);
    visuals.hyperlink_color = tokens.accent;
    visuals.warn_fg_color = tokens.warning;
    visuals.error_fg_color = tokens.bad;
    visuals.selection.bg_fill = tokens.selected;
    visuals.selection.stroke = Stroke::new(1.0, tokens.text);
    visuals.widgets.noninteractive.fg_stroke.color = tokens.text;
    visuals.widgets.noninteractive.bg_stroke.color = tokens.border;
    visuals.widgets.inactive.fg_stroke.color = tokens.text;
    visuals.widgets.inactive.bg_stroke = Stroke::new(1.0, tokens.border);
    visuals
}

pub fn page_frame(tokens: &Tokens) -> egui::Frame {
    egui::Frame::new().fill(tokens.page).inner_margin(Margin::symmetric(14, 8))
}

pub fn chrome_frame(tokens: &Tokens) -> egui::Frame {
    egui::Frame::new().fill(tokens.chrome).inner_margin(Margin::symmetric(10, 6))
}

pub fn collapsed_menu_frame(tokens: &Tokens) -> egui::Frame {
    egui::Frame::new().fill(tokens.chrome).inner_margin(Margin::symmetric(5, 6))
}

pub fn card_frame(tokens: &Tokens) -> egui::Frame {
    egui::Frame::new()
        .fill(tokens.surface)
        .stroke(Stroke::new(1.0, tokens.border))
        .corner_radius(6)
        .inner_margin(Margin::same(12))
}
