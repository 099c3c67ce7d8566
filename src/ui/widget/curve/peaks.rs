//! The highest positions: numbered discs on them, and a key where no data lie.

use eframe::egui::{Align2, Color32, Galley, Pos2, Rect, Stroke, StrokeKind, Vec2};
use std::sync::Arc;

use super::CurvePlot;
use super::paint::CurvePaint;
use crate::ui::theme::fonts;
use crate::ui::widget::bins::PixelBin;
use crate::ui::widget::peak_discs::PeakDiscs;

/// Height of a line of the key, and between its columns, points.
const LINE: f32 = 17.0;
const GAP: f32 = 14.0;
/// Room around the key, points.
const MARGIN: f32 = 9.0;
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

    /// The key of the peaks, in the first place from the right beside `labels` and where no data lie: `bins`, which stand
    /// on `base`; none where there is no such.
    pub fn key(
        &self,
        peaks: &[CurvePeak],
        bins: &[PixelBin],
        base: u64,
        labels: &[Rect],
        discs: &PeakDiscs,
    ) {
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
        let Some(place) =
            self.free_place(size, bins, base, labels, discs).filter(|_| !rows.is_empty())
        else {
            return;
        };
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

    /// A place of a size at the top of the picture where no data, no label and no disc lie.
    fn free_place(
        &self,
        size: Vec2,
        bins: &[PixelBin],
        base: u64,
        labels: &[Rect],
        discs: &PeakDiscs,
    ) -> Option<Rect> {
        let frame = self.frame();
        // The label of the limit stands at the right.
        let (mut right, top) = (frame.right() - 110.0, frame.top() + 6.0);
        while right - size.x > frame.left() + 4.0 {
            let place = Rect::from_min_size(Pos2::new(right - size.x, top), size);
            right -= TRY;
            let covers = |bin: &PixelBin| {
                self.y(bin.max.saturating_add(base)) < place.bottom() + 4.0
                    && self.x(bin.from as f64 - 0.5) < place.right() + 6.0
                    && self.x(bin.to as f64 - 0.5) > place.left() - 6.0
            };
            let is_labelled = labels.iter().any(|label| label.expand(6.0).intersects(place));
            if !is_labelled
                && !discs.is_over(place)
                && place.bottom() < frame.bottom()
                && !bins.iter().any(covers)
            {
                return Some(place);
            }
        }
        None
    }
}
