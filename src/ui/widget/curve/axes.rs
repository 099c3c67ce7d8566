//! The frame of a picture: ticks and captions, lanes that say what positions belong to, and chips that say where the
//! cursor is.

use eframe::egui::{Align2, Color32, Galley, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2};
use egui_plot::{AxisHints, GridMark, Plot};
use std::ops::Range;
use std::sync::Arc;

use super::paint::CurvePaint;
use super::{CurvePlot, X_TICKS, Y_AXIS_WIDTH, Y_TICKS};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::ticks;

/// Height of a lane below the axis, of the ticks, and of a caption that has no room beside them, points.
const BAND: f32 = 18.0;
const TICKS: f32 = 20.0;
const CAPTION: f32 = 15.0;
/// Longest caption that stands at the left of the ticks.
const SHORT: usize = 9;
/// Narrowest part of a lane with a title, points.
const LEAST_TITLE: f32 = 13.0;
/// A part of a band narrower than this is filled, for its edges would be all of it.
const NARROW: f32 = 3.0;

/// What positions belong to: ranges, ascending, with titles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisBand {
    pub title: &'static str,
    pub spans: Vec<(Range<u32>, String)>,
}

impl AxisBand {
    /// The title of the part that a position belongs to.
    pub fn at(&self, position: u32) -> Option<&str> {
        let at = self.spans.partition_point(|(range, _)| range.end <= position);
        let (range, title) = self.spans.get(at)?;
        range.contains(&position).then_some(title)
    }
}

/// The height of what stands below a picture that has an x axis, points.
pub fn x_axis_height(x_title: &str, bands: usize) -> f32 {
    let caption = if x_title.chars().count() > SHORT { CAPTION } else { 0.0 };
    TICKS + BAND * bands as f32 + caption
}

/// The frame with the axis of bytes.
pub fn plot(name: &str, top: f64, tokens: &Tokens, units: Units) -> Plot<'static> {
    let y_axis = AxisHints::new_y()
        .min_thickness(Y_AXIS_WIDTH)
        .label_spacing(16.0..=20.0)
        .tick_label_color(tokens.third_text)
        .formatter(move |mark: GridMark, range| {
            // A figure at the very top would be cut off by the edge of the picture.
            let is_at_top = (top - mark.value) / (range.end() - range.start()) < 0.02;
            if is_at_top {
                return String::new();
            }
            ticks::bytes_text(mark.value, mark.step_size, top, units)
        });
    Plot::new(name.to_owned())
        .custom_x_axes(Vec::new())
        .custom_y_axes(vec![y_axis])
        // `base_step_size` is the distance of grid lines at 1 point, the least that is set here.
        .grid_spacing(1.0..=2.0)
        .y_grid_spacer(move |input| {
            let step = ticks::bytes_step(input.base_step_size * Y_TICKS, units);
            let mark = |value| GridMark { value, step_size: step };
            ticks::multiples(step, input.bounds).map(mark).collect()
        })
        .show_background(false)
        .show_grid(false)
        .auto_bounds(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_drag(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_x(false)
        .show_y(false)
        // Of many pictures below each other each is low: what is drawn beside them would be overprinted.
        .min_size(Vec2::ZERO)
        .sense(eframe::egui::Sense::click_and_drag())
}

pub struct Axes<'a> {
    /// Not held within the picture.
    pub painter: &'a Painter,
    pub paint: &'a CurvePaint<'a>,
    pub picture: &'a CurvePlot<'a>,
    pub tokens: &'a Tokens,
}

impl Axes<'_> {
    /// Lanes, ticks and the caption; `selected` is the position whose parts of the lanes stand out.
    pub fn x_ui(&self, (start, end): (f64, f64), selected: Option<usize>) {
        let frame = self.paint.frame();
        let mut top = frame.bottom() + 1.0;
        for band in self.picture.bands {
            self.band(band, top, selected);
            top += BAND;
        }
        let font = fonts::regular(fonts::size::CAPTION);
        let color = self.tokens.third_text;
        let step = ticks::whole_step(self.paint.transform.dvalue_dpos()[0].abs() * X_TICKS);
        let positions: Vec<usize> = match self.picture.x_ticks {
            Some(ticks) => ticks((start, end), step),
            None => ticks::multiples(step, (start.max(0.0), end)).map(|at| at as usize).collect(),
        };
        let (mut free_from, mut first) = (f32::NEG_INFINITY, frame.left());
        for position in positions.into_iter().filter(|position| *position < self.picture.len) {
            let x = self.paint.x(position as f64);
            let line = Stroke::new(1.0, self.tokens.border);
            self.painter.vline(x, top..=top + 3.0, line);
            let text = (self.picture.x_text)(position);
            let galley = self.painter.layout_no_wrap(text, font.clone(), color);
            let half = galley.size().x / 2.0;
            if x - half < free_from || x + half > frame.right() + 4.0 {
                continue;
            }
            free_from = x + half + 6.0;
            first = first.min(x - half + 2.0);
            self.painter.galley(Pos2::new(x - half, top + 4.0), galley, color);
        }
        let title = self.picture.x_title;
        if title.chars().count() > SHORT {
            let at = Pos2::new(frame.center().x, top + TICKS);
            self.painter.text(at, Align2::CENTER_TOP, title, font, color);
        } else {
            let at = Pos2::new(first - 8.0, top + 4.0);
            self.painter.text(at, Align2::RIGHT_TOP, title, font, color);
        }
    }

    fn band(&self, band: &AxisBand, top: f32, selected: Option<usize>) {
        let frame = self.paint.frame();
        let font = fonts::regular(fonts::size::CAPTION);
        let weak = self.tokens.third_text;
        let title = self.painter.layout_no_wrap(band.title.to_owned(), font.clone(), weak);
        // A long title is nearer to its lane, so that none of it lies beside the picture.
        let gap = (Y_AXIS_WIDTH - title.size().x).clamp(2.0, 8.0);
        let at = Pos2::new(frame.left() - gap, top + BAND / 2.0);
        let place = Align2::RIGHT_CENTER.anchor_size(at, title.size());
        self.painter.galley(place.min, title, weak);
        let y = top + 1.0..=top + BAND - 2.0;
        let lane = Rect::from_x_y_ranges(frame.x_range(), y.clone());
        let painter = self.painter.with_clip_rect(lane.expand(1.0));
        painter.rect_filled(lane, 3, self.tokens.raised.gamma_multiply(0.6));
        let selected = selected.and_then(|at| u32::try_from(at).ok());
        let is_selected =
            |range: &Range<u32>| selected.is_some_and(|selected| range.contains(&selected));
        let end_of = |range: &Range<u32>| self.paint.x(f64::from(range.end) - 0.5);
        let (mut next, mut drawn_to) = (0, frame.left() - 1.0);
        loop {
            // Of parts that lie in a point that is drawn already there may be very many.
            let rest = band.spans.get(next..).unwrap_or(&[]);
            next += rest.partition_point(|(range, _)| end_of(range) < drawn_to + 1.0);
            let Some((range, title)) = band.spans.get(next) else { break };
            next += 1;
            let left = self.paint.x(f64::from(range.start) - 0.5).max(frame.left());
            if left >= frame.right() {
                break;
            }
            let right = end_of(range).min(frame.right());
            drawn_to = right;
            let part = Rect::from_x_y_ranges(left..=right, y.clone()).shrink2(Vec2::new(0.5, 0.0));
            let is_on = is_selected(range);
            let edge = if is_on { self.tokens.accent } else { self.tokens.border };
            let fill = if is_on { self.tokens.selected } else { Color32::TRANSPARENT };
            if part.width() < NARROW {
                painter.rect_filled(part.expand2(Vec2::new(0.5, 0.0)), 0, edge);
                continue;
            }
            painter.rect(part, 3, fill, Stroke::new(1.0, edge), StrokeKind::Inside);
            let color = if is_on { self.tokens.text } else { self.tokens.weak_text };
            if part.width() < LEAST_TITLE {
                continue;
            }
            let galley = painter.layout_no_wrap(title.clone(), font.clone(), color);
            if galley.size().x + 4.0 <= part.width() {
                painter.galley(part.center() - galley.size() / 2.0, galley, color);
            }
        }
        // A narrow part that is selected would be painted over by its neighbors.
        let of_selected = selected.and_then(|selected| {
            band.spans.get(band.spans.partition_point(|(range, _)| range.end <= selected))
        });
        if let Some((range, _)) = of_selected.filter(|(range, _)| is_selected(range)) {
            let left = self.paint.x(f64::from(range.start) - 0.5);
            let part = Rect::from_x_y_ranges(left..=end_of(range).max(left + 2.0), y);
            let edge = Stroke::new(1.0, self.tokens.accent);
            painter.rect_stroke(part, 3, edge, StrokeKind::Inside);
        }
    }

    /// Where the cursor is: its position below the picture, its bytes at the left of it.
    pub fn chips(&self, at: Option<usize>, value_at: impl Fn(usize) -> Option<u64>, units: Units) {
        let Some(at) = at else { return };
        let frame = self.paint.frame();
        let x = self.paint.x(at as f64);
        if self.picture.has_x_axis && frame.x_range().expand(1.0).contains(x) {
            let below = frame.bottom() + BAND * self.picture.bands.len() as f32;
            let text =
                self.chip_text(format!("{} {}", self.picture.x_unit, (self.picture.x_text)(at)));
            let half = text.size().x / 2.0;
            let x = x.clamp(frame.left() + half, (frame.right() - half).max(frame.left() + half));
            self.chip(Pos2::new(x, below + 4.0), Align2::CENTER_TOP, text);
        }
        let y = value_at(at).map(|bytes| (bytes, self.paint.y(bytes)));
        if let Some((bytes, y)) = y.filter(|(_, y)| frame.y_range().expand(1.0).contains(*y)) {
            let from = Pos2::new(frame.left(), y);
            let line = Stroke::new(1.0, self.tokens.weak_text);
            // The place may be far beyond a picture that is looked at closely.
            let ends = [from, Pos2::new(x.clamp(from.x, frame.right().max(from.x)), y)];
            let dashes = eframe::egui::Shape::dashed_line(&ends, line, 2.0, 3.0);
            self.paint.painter.extend(dashes);
            let text = self.chip_text(units.bytes(bytes));
            self.chip(from - Vec2::new(5.0, 0.0), Align2::RIGHT_CENTER, text);
        }
    }

    fn chip_text(&self, text: String) -> Arc<Galley> {
        let font = fonts::semibold(fonts::size::CAPTION);
        self.painter.layout_no_wrap(text, font, self.tokens.surface)
    }

    fn chip(&self, at: Pos2, align: Align2, text: Arc<Galley>) {
        let rect = align.anchor_size(at, text.size());
        self.painter.rect_filled(rect.expand2(Vec2::new(5.0, 1.5)), 3, self.tokens.ink);
        self.painter.galley(rect.min, text, self.tokens.surface);
    }

    /// An axis that does not begin at 0 says so.
    pub fn not_from_zero(&self, low: f64, units: Units) {
        let frame = self.paint.frame();
        let text = format!("from {}, not from 0", units.bytes(low.max(0.0) as u64));
        let at = frame.left_bottom() + Vec2::new(6.0, -4.0);
        let galley = self.painter.layout_no_wrap(
            text,
            fonts::medium(fonts::size::CAPTION),
            self.tokens.note,
        );
        let rect = Align2::LEFT_BOTTOM.anchor_size(at, galley.size());
        self.painter.rect_filled(rect.expand2(Vec2::new(4.0, 1.0)), 3, self.tokens.surface);
        self.painter.galley(rect.min, galley, self.tokens.note);
    }
}
