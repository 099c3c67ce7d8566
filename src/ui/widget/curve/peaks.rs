//! The highest positions: numbered discs on them, and a key where no data lie.

use eframe::egui::{Align2, Color32, Galley, Pos2, Rect, Stroke, StrokeKind, Vec2};
use std::sync::Arc;

use super::CurvePlot;
use super::paint::CurvePaint;
use crate::ui::theme::fonts;
use crate::ui::widget::peak_discs::PeakDiscs;

/// Height of a line of the key, and between its columns, points.
const LINE: f32 = 17.0;
const GAP: f32 = 14.0;
/// Room around the key, points.
const MARGIN: f32 = 9.0;
/// Between the key and the data below and beside it, points.
const TO_DATA: Vec2 = Vec2::new(6.0, 4.0);
/// Where the key is tried, every so many points.
const TRY: f32 = 12.0;
const COLUMNS: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurvePeak {
    pub position: usize,
    pub bytes: u64,
    /// Its line in the key; `None` where the page has a key of its own.
    pub key: Option<PeakKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeakKey {
    /// Name, position, bytes, against the limit.
    pub columns: [String; COLUMNS],
    pub is_over: bool,
}

impl CurvePaint<'_> {
    /// Where the numbered discs lie.
    pub fn discs(&self, picture: &CurvePlot<'_>) -> PeakDiscs {
        let places = picture.peaks.iter().map(|peak| {
            let at = Pos2::new(self.x(peak.position as f64), self.y(peak.bytes));
            (at, picture.selected.iter().any(|(range, _)| range.contains(&peak.position)))
        });
        let limits: Vec<f32> = picture.limits.iter().map(|(bytes, _)| self.y(*bytes)).collect();
        PeakDiscs::of(self.frame(), places, &limits)
    }

    /// Whether a place has no data of any line of the picture, no label and no disc.
    pub fn is_free_for_key(
        &self,
        picture: &CurvePlot<'_>,
        labels: &[Rect],
        discs: &PeakDiscs,
        place: Rect,
    ) -> bool {
        let around = place.expand2(TO_DATA);
        let last = picture.layers.len().saturating_sub(1);
        // The last is the sum of all areas; what is a line may end above it.
        let seen = picture.layers.iter().enumerate();
        let mut seen = seen.filter(|(at, layer)| *at == last || layer.line != Color32::TRANSPARENT);
        !labels.iter().any(|label| label.expand(6.0).intersects(place))
            && !discs.is_over(place)
            && !seen.any(|(_, layer)| self.crosses(layer.cache.bins(), layer.base, true, around))
    }

    /// The key of the peaks, in the first place from the right that is free; none where there is no such. `limits` are the
    /// heights of lines of limits.
    pub fn key(&self, peaks: &[CurvePeak], limits: &[f32], is_free: &dyn Fn(Rect) -> bool) {
        let galley = |text: &str, is_number: bool, color: Color32| {
            let size = fonts::size::CAPTION;
            let font = if is_number { fonts::semibold(size) } else { fonts::regular(size) };
            self.painter.layout_no_wrap(text.to_owned(), font, color)
        };
        let tokens = self.tokens;
        let row = |peak: &CurvePeak| -> Option<[Arc<Galley>; COLUMNS]> {
            let PeakKey { columns: [name, position, bytes, against], is_over } =
                peak.key.as_ref()?;
            let over = if *is_over { tokens.over } else { tokens.weak_text };
            Some([
                galley(name, false, tokens.text),
                galley(position, false, tokens.weak_text),
                galley(bytes, true, tokens.text),
                galley(against, true, over),
            ])
        };
        let rows: Vec<_> = peaks.iter().filter_map(row).collect();
        let mut widths = [0.0_f32; COLUMNS];
        for row in &rows {
            for (width, galley) in widths.iter_mut().zip(row) {
                *width = width.max(galley.size().x);
            }
        }
        let inner = widths.iter().sum::<f32>() + GAP * COLUMNS as f32 + 6.0;
        let size = Vec2::new(inner, LINE * rows.len() as f32) + Vec2::splat(2.0 * MARGIN - 2.0);
        let place = free_place(self.frame(), size, limits, is_free).filter(|_| !rows.is_empty());
        let Some(place) = place else { return };
        let stroke = Stroke::new(1.0, tokens.border);
        self.painter.rect(place, 6, tokens.surface, stroke, StrokeKind::Inside);
        for (number, row) in (1_u8..).zip(rows) {
            let y = place.top() + MARGIN - 1.0 + LINE * (f32::from(number) - 0.5);
            let mut x = place.left() + MARGIN;
            let font = fonts::semibold(fonts::size::CAPTION);
            let at = Pos2::new(x, y);
            self.painter.text(at, Align2::LEFT_CENTER, number, font, tokens.text);
            x += GAP + 4.0;
            for (column, (galley, width)) in row.into_iter().zip(widths).enumerate() {
                // Names begin at the left, numbers end at the right.
                let left = if column >= 2 { x + width - galley.size().x } else { x };
                let top = y - galley.size().y / 2.0;
                self.painter.galley(Pos2::new(left, top), galley, tokens.text);
                x += width + GAP;
            }
        }
    }
}

/// A place of a size that is free: at the top of a picture, or below the line of a limit, rather than on one.
fn free_place(
    frame: Rect,
    size: Vec2,
    limits: &[f32],
    is_free: &dyn Fn(Rect) -> bool,
) -> Option<Rect> {
    let at = |line: &f32| {
        // The label of the limit stands at the right.
        let (mut right, top) = (frame.right() - 110.0, line + 6.0);
        while right - size.x > frame.left() + 4.0 {
            let place = Rect::from_min_size(Pos2::new(right - size.x, top), size);
            right -= TRY;
            if place.bottom() < frame.bottom() && is_free(place) {
                return Some(place);
            }
        }
        None
    };
    let is_on_line = |place: &Rect| limits.iter().any(|limit| place.y_range().contains(*limit));
    // One above the picture, or below, has no room beside it.
    let is_seen = |limit: &&f32| frame.y_range().contains(**limit);
    let top = at(&frame.top());
    let beside_lines = top.filter(|place| !is_on_line(place));
    // On a line it lies only where it would lie nowhere else: a part of that is still to be seen at both sides.
    let below = || limits.iter().filter(is_seen).filter_map(at).find(|place| !is_on_line(place));
    beside_lines.or_else(below).or(top)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::widget::bins::{BinCache, BinValues};
    use crate::ui::widget::curve::{CurveLayer, curve_ui};
    use crate::ui::widget::heights::Heights;
    use crate::ui::widget::view::VisibleRange;
    use eframe::egui::{Context, RawInput, Shape};

    /// Where the key lies beside a curve that is low throughout and a line over it.
    fn key_beside(line: &[u64]) -> Option<Rect> {
        let (ctx, size) = (Context::default(), Vec2::new(900.0, 300.0));
        crate::ui::theme::apply(&ctx);
        let columns = ["a name", "step 3", "1 B", "9 B below"].map(str::to_owned);
        let key = Some(PeakKey { columns, is_over: false });
        let peaks = [CurvePeak { position: 3, bytes: 1, key }];
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, size));
        let input = RawInput { screen_rect, ..RawInput::default() };
        let mut output = ctx.run_ui(input, |ui| {
            let low = vec![1; line.len()];
            let (mut above, mut total) = (BinCache::default(), BinCache::default());
            let over = CurveLayer::line(BinValues::Known(line), Color32::BLACK, &mut above);
            let all = BinValues::Known(&low);
            let sum = CurveLayer::line(all, Color32::TRANSPARENT, &mut total);
            let picture = CurvePlot {
                layers: vec![over, sum],
                peaks: &peaks,
                top: 100,
                version: 1,
                ..CurvePlot::of("curve", line.len(), &|position| position.to_string())
            };
            let (mut view, mut heights) = (VisibleRange::default(), Heights::default());
            curve_ui(ui, &mut view, &mut heights, picture);
        });
        let shapes = std::mem::take(&mut output.shapes);
        output.drop_without_applying_deltas();
        let is_key = |rect: &Rect| (LINE..3.0 * LINE).contains(&rect.height());
        let rects = shapes.into_iter().filter_map(|clipped| match clipped.shape {
            Shape::Rect(rect) if rect.corner_radius == 6.into() => Some(rect.rect),
            _ => None,
        });
        rects.into_iter().find(is_key)
    }

    #[test]
    fn the_key_gives_way_to_a_line_that_is_above_the_curve() {
        let free = key_beside(&[1; 100]).expect("a key");
        let mut line = [1; 100];
        line[50..].fill(110);
        let beside = key_beside(&line).expect("a key");
        assert!(beside.right() < free.left(), "{beside:?} {free:?}");
        assert_eq!(key_beside(&[110; 100]), None, "no place is free");
    }
}
