//! The axis of a figure: its range, where its ticks lie and what they say.

use eframe::egui::{self, Align2, Pos2, Rect, Stroke};

use crate::text::grouped;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::picture::limit_line;
use crate::ui::widget::ticks;

/// Room above the highest value, a share of the range.
const ABOVE: f64 = 0.08;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureAxis {
    is_bytes: bool,
    low: f64,
    high: f64,
}

impl FigureAxis {
    /// The axis of some values; it begins at 0 where none is below.
    pub fn new(is_bytes: bool, values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(0.0, f64::min);
        let high = values.fold(low, f64::max);
        let size = if high > low { high - low } else { 1.0 };
        Self { is_bytes, low, high: low + size * (1.0 + ABOVE) }
    }

    pub fn share(&self, value: f64) -> f32 {
        ((value - self.low) / (self.high - self.low)) as f32
    }

    /// The height of a value in a frame.
    pub fn y(&self, frame: Rect, value: f64) -> f32 {
        frame.bottom() - frame.height() * self.share(value)
    }

    /// Lines across a frame at the ticks, which stand at its left.
    pub fn grid_ui(&self, ui: &egui::Ui, frame: Rect) {
        let (font, tokens) = (fonts::regular(size::CAPTION), Tokens::now(ui));
        for (value, text) in self.ticks(frame.height(), 30.0, Units::now(ui)) {
            let y = self.y(frame, value);
            ui.painter().hline(frame.x_range(), y, Stroke::new(1.0, tokens.grid));
            let at = Pos2::new(frame.left() - 8.0, y);
            ui.painter().text(at, Align2::RIGHT_CENTER, text, font.clone(), tokens.weak_text);
        }
    }

    /// A line across a frame at bytes that there are, with its label where nothing that is `taken` lies.
    pub fn limit_ui(
        &self,
        ui: &egui::Ui,
        frame: Rect,
        (title, limit): (&str, u64),
        taken: &[Rect],
    ) {
        let is_free = |place: Rect| !taken.iter().any(|it| it.expand(3.0).intersects(place));
        let text = format!("{title} {}", Units::now(ui).bytes(limit));
        limit_line(ui.painter(), frame, self.y(frame, limit as f64), &text, is_free);
    }

    /// The values with ticks, at least `distance` points apart on so many points, and what they say.
    pub fn ticks(&self, points: f32, distance: f64, units: Units) -> Vec<(f64, String)> {
        let least = (self.high - self.low) / f64::from(points.max(1.0)) * distance;
        let is_bytes = self.is_bytes;
        let step = if is_bytes { ticks::bytes_step(least, units) } else { round_step(least) };
        let text = |value: f64| {
            if is_bytes {
                ticks::bytes_text(value, step, self.high, units)
            } else {
                number_text(value, step)
            }
        };
        ticks::multiples(step, (self.low, self.high)).map(|value| (value, text(value))).collect()
    }
}

/// 1, 2 or 5 times a power of ten, `least` or more.
fn round_step(least: f64) -> f64 {
    if !least.is_finite() || least <= f64::MIN_POSITIVE {
        return 1.0;
    }
    let power = 10_f64.powf(least.log10().floor());
    ticks::whole_step(least / power * 1000.0) * power / 1000.0
}

/// A number with as many decimals as the step between ticks needs.
fn number_text(value: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    if decimals > 0 {
        return format!("{value:.decimals$}");
    }
    let sign = if value <= -0.5 { "−" } else { "" };
    format!("{sign}{}", grouped(value.abs().round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(is_bytes: bool, values: &[f64]) -> Vec<String> {
        let axis = FigureAxis::new(is_bytes, values.iter().copied());
        axis.ticks(120.0, 34.0, Units::Binary).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_whatever_the_figure_and_its_size() {
        assert_eq!(texts(true, &[600_000.0]), ["0", "256 KiB", "512 KiB"]);
        assert_eq!(texts(false, &[2060.0]), ["0", "1,000", "2,000"]);
        assert_eq!(texts(false, &[0.87, 0.2]), ["0.0", "0.5"]);
        assert_eq!(texts(false, &[-300.0, 300.0]), ["−200", "0", "200"]);
        assert_eq!(texts(true, &[]), ["0", "1 B"], "nothing is known");
        let axis = FigureAxis::new(false, [50.0, 100.0].into_iter());
        assert!((axis.share(54.0) - 0.5).abs() < 1e-6 && axis.share(0.0).abs() < 1e-6);
    }
}
