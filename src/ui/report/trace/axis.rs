//! The axis of cycles, or of time by the clock: its ticks and what they say, and the selected part of it.

use eframe::egui::{self, Align2, Pos2, Rect, Stroke};

use crate::text::{grouped, time_text};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::widget::flame::Placing;
use crate::ui::widget::ticks::{multiples, whole_step};

/// Height of the ruler, points.
pub const RULER: f32 = 22.0;
/// Least distance of ticks, points.
const TICKS: f64 = 110.0;

/// What places on the axis are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AxisUnit {
    #[default]
    Cycles,
    Time,
}

/// How many cycles as people read them: in cycles, or in time where the clock is known.
pub fn length_text(cycles: u64, unit: AxisUnit, clock_hz: Option<u64>) -> String {
    match (unit, clock_hz) {
        (AxisUnit::Time, Some(clock)) => time_text(cycles as f64 / clock as f64),
        _ => format!("{} cycles", grouped(cycles)),
    }
}

/// Draws the ruler of one run over what is visible.
pub fn ruler_ui(ui: &egui::Ui, placing: Placing, unit: AxisUnit, clock_hz: Option<u64>) {
    let tokens = Tokens::now(ui);
    let painter = ui.painter_at(placing.rect.expand2(egui::vec2(30.0, 0.0)));
    let rect = placing.rect;
    painter.hline(rect.x_range(), rect.bottom(), Stroke::new(1.0, tokens.border));
    for (at, text) in ticks((placing.from, placing.to), TICKS * placing.per_point(), unit, clock_hz)
    {
        let x = rect.left() + ((at - placing.from) / placing.per_point()) as f32;
        painter.vline(x, rect.bottom() - 5.0..=rect.bottom(), Stroke::new(1.0, tokens.third_text));
        let font = fonts::regular(fonts::size::CAPTION);
        let galley = painter.layout_no_wrap(text, font, tokens.third_text);
        let at = Pos2::new(x, rect.bottom() - 6.0);
        let place = Align2::CENTER_BOTTOM.anchor_size(at, galley.size());
        // A number that the edge would cut reads as another one.
        if painter.clip_rect().x_range().contains(place.right()) {
            painter.galley(place.min, galley, tokens.third_text);
        }
    }
}

/// Where ticks lie, in cycles from the start, and what they say.
fn ticks(
    (from, to): (f64, f64),
    least: f64,
    unit: AxisUnit,
    clock_hz: Option<u64>,
) -> Vec<(f64, String)> {
    match (unit, clock_hz) {
        (AxisUnit::Time, Some(clock)) => {
            // Round numbers of picoseconds.
            let per_cycle = 1e12 / clock as f64;
            let step = whole_step(least * per_cycle);
            let range = (from * per_cycle, to * per_cycle);
            multiples(step, range)
                .map(|time| (time / per_cycle, tick_text(time * 1e-12, step * 1e-12)))
                .collect()
        }
        _ => multiples(whole_step(least), (from, to))
            .map(|cycle| (cycle, grouped(cycle.max(0.0).round() as u64)))
            .collect(),
    }
}

/// A tick of time with as many digits as tell it from the next.
fn tick_text(seconds: f64, step: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    let found = units.into_iter().find(|(size, _)| step >= *size * 0.009_99);
    let (size, name) = found.unwrap_or((1e-9, "ns"));
    let steps = step / size;
    let decimals = usize::from(steps < 0.999) + usize::from(steps < 0.0999);
    format!("{:.decimals$} {name}", seconds / size)
}

/// Paints the selected part over a picture.
pub fn selected_range_ui(ui: &egui::Ui, placing: Placing, range: Option<(u64, u64)>) {
    let Some((from, to)) = range else { return };
    let tokens = Tokens::now(ui);
    let area = Rect::from_x_y_ranges(placing.x(from)..=placing.x(to), placing.rect.y_range());
    let painter = ui.painter_at(placing.rect);
    painter.rect_filled(area, 0, tokens.accent.gamma_multiply(0.14));
    for x in [area.left(), area.right()] {
        painter.vline(x, area.y_range(), Stroke::new(1.0, tokens.accent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_in_time_where_the_clock_is_known() {
        assert_eq!(length_text(1850, AxisUnit::Time, Some(1_850_000_000)), "1.00 µs");
        assert_eq!(length_text(1850, AxisUnit::Time, None), "1,850 cycles");
    }

    #[test]
    fn ticks_fall_on_round_numbers_of_what_is_shown() {
        let texts = |unit, range, least| -> Vec<String> {
            ticks(range, least, unit, Some(2_000_000_000))
                .into_iter()
                .map(|(_, text)| text)
                .collect()
        };
        assert_eq!(texts(AxisUnit::Cycles, (0.0, 5000.0), 1500.0), ["0", "2,000", "4,000"]);
        assert_eq!(texts(AxisUnit::Time, (0.0, 5000.0), 1500.0), ["0 µs", "1 µs", "2 µs"]);
        assert_eq!(texts(AxisUnit::Time, (0.0, 500.0), 150.0), ["0.0 µs", "0.1 µs", "0.2 µs"]);
    }
}
