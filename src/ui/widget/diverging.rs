//! Colors of changes: blue for less, gray for the same, orange for more, which red-green blind eyes tell
//! apart; the figures stand beside the scale.

use eframe::egui::{self, Color32, Rect, Response, RichText, Sense, Vec2};

use super::choice::choice_ui;
use super::rows::CellValue;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Steps of color in the legend.
const STEPS: u8 = 40;

/// How changes become colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangeScale {
    /// In proportion to the largest.
    Linear,
    /// By the square root, so that small changes are seen beside large ones.
    #[default]
    Root,
}

impl ChangeScale {
    pub fn title(self) -> &'static str {
        match self {
            Self::Linear => "Linear scale",
            Self::Root => "Root scale",
        }
    }

    /// Where a change lies between none (0) and the most (1), or the most with the other sign (−1).
    pub fn share(self, change: i64, most: u64) -> f32 {
        let share = (change as f64 / most.max(1) as f64).clamp(-1.0, 1.0);
        (match self {
            Self::Linear => share,
            Self::Root => share.abs().sqrt().copysign(share),
        }) as f32
    }
}

pub fn diverging(share: f32, tokens: &Tokens) -> Color32 {
    let end = if share < 0.0 { tokens.less } else { tokens.more };
    tokens.raised.lerp_to_gamma(end, share.abs().min(1.0))
}

/// A bar of colors, in steps from the left to the right.
pub fn color_bar_ui(
    ui: &mut egui::Ui,
    width: f32,
    steps: u8,
    color: impl Fn(f32) -> Color32,
) -> Response {
    let (rect, bar) = ui.allocate_exact_size(Vec2::new(width, 12.0), Sense::hover());
    let width = rect.width() / f32::from(steps);
    for step in (0..steps).map(f32::from) {
        let left = rect.left() + step * width;
        let part = Rect::from_x_y_ranges(left..=left + width, rect.y_range());
        ui.painter().rect_filled(part, 0, color(step));
    }
    bar
}

/// The choice of a scale and its colors; without figures where the ends are not the same everywhere.
pub fn change_scale_ui(ui: &mut egui::Ui, scale: &mut ChangeScale, most: Option<u64>) {
    let scales = [ChangeScale::Linear, ChangeScale::Root];
    choice_ui(ui, "Color scale", 96.0, scale, scales, |scale| scale.title())
        .on_hover_text("A root scale shows small changes beside large ones");
    let (tokens, units) = (Tokens::now(ui), Units::now(ui));
    let end = |from, to| CellValue::change(from, to).shown(units).into_owned();
    let [least, largest] = match most {
        Some(most) => [end(most, 0), end(0, most)],
        None => ["▼ most".to_owned(), "▲ most".to_owned()],
    };
    ui.label(RichText::new(least).color(tokens.less));
    let place = |step: f32| (step + 0.5) / f32::from(STEPS) * 2.0 - 1.0;
    let bar = color_bar_ui(ui, 120.0, STEPS, |step| diverging(place(step), tokens));
    let half = match scale {
        ChangeScale::Linear => 2,
        ChangeScale::Root => 4,
    };
    let half = most.map(|most| format!("; half of the color: {}", units.bytes(most / half)));
    bar.on_hover_text(format!("Gray: unchanged{}", half.unwrap_or_default()));
    ui.label(RichText::new(largest).color(tokens.more));
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::Theme;

    #[test]
    fn more_and_less_have_colours_of_their_own() {
        for theme in [Theme::Light, Theme::Dark] {
            let tokens = Tokens::of(theme);
            assert_eq!(diverging(0.0, tokens), tokens.raised);
            assert_eq!(diverging(-1.0, tokens), tokens.less);
            assert_eq!(diverging(7.0, tokens), tokens.more);
        }
    }

    #[test]
    fn small_changes_are_seen_on_a_root_scale() {
        let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
        assert!(near(ChangeScale::Linear.share(-25, 100), -0.25));
        assert!(near(ChangeScale::Root.share(-25, 100), -0.5));
        assert!(near(ChangeScale::Root.share(900, 100), 1.0));
        assert!(near(ChangeScale::Root.share(0, 0), 0.0));
    }
}
