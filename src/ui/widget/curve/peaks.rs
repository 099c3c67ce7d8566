//! The highest positions: numbered discs on them, and a key where no data lie.

use eframe::egui::{Align2, Color32, Galley, Pos2, Rect, Stroke, StrokeKind, Vec2};
use std::ops::Range;
use std::sync::Arc;

use super::paint::Paint;
use crate::ui::theme::fonts;
use crate::ui::widget::bins::Bin;

/// Radius of a disc, and what lies between it and its peak, points.
const DISC: f32 = 8.0;
const ABOVE: f32 = 4.0;
/// Height of a line of the key, and between its columns, points.
const LINE: f32 = 17.0;
const GAP: f32 = 14.0;
/// Room around the key, points.
const MARGIN: f32 = 9.0;
/// Where the key is tried, every so many points.
const TRY: f32 = 12.0;
const COLUMNS: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak {
    pub position: usize,
    pub bytes: u64,
    /// Its columns in the key: name, position, bytes, against the limit.
    pub key: [String; COLUMNS],
    pub is_over: bool,
}

impl Paint<'_> {
    pub fn peaks(
        &self,
        peaks: &[Peak],
        bins: &[Bin],
        base: u64,
        selected: &[(Range<usize>, String)],
    ) {
        let frame = self.frame();
        let mut taken: Vec<Rect> = Vec::with_capacity(peaks.len() + 1);
        for (number, peak) in (1_u8..).zip(peaks) {
            let top = self.y(peak.bytes);
            let x = self.x(peak.position as f64);
            if !frame.x_range().contains(x) || top < frame.top() - 1.0 || top > frame.bottom() {
                continue;
            }
            let mut at = Pos2::new(x, (top - DISC - ABOVE).max(frame.top() + DISC + 1.0));
            // Beside a disc that is there already.
            let size = Vec2::splat(2.0 * DISC + 1.0);
            let is_free = |at: Pos2, taken: &[Rect]| {
                !taken.iter().any(|other| other.intersects(Rect::from_center_size(at, size)))
            };
            for shift in [0.0, 2.0, -2.0, 4.0, -4.0].map(|discs: f32| discs * (DISC + 0.6)) {
                if is_free(Pos2::new(x + shift, at.y), &taken) {
                    at.x = x + shift;
                    break;
                }
            }
            let is_selected = selected.iter().any(|(range, _)| range.contains(&peak.position));
            let (fill, text) = if is_selected {
                (self.tokens.ink, self.tokens.surface)
            } else {
                (self.tokens.surface, self.tokens.text)
            };
            self.painter.circle(at, DISC, fill, Stroke::new(1.2, self.tokens.ink));
            let font = fonts::semibold(fonts::size::CAPTION);
            self.painter.text(at, Align2::CENTER_CENTER, number, font, text);
            taken.push(Rect::from_center_size(at, size));
        }
        self.key(peaks, bins, base, &taken);
    }

    /// The key, in the first place from the right where nothing lies below it; none where there is no such.
    fn key(&self, peaks: &[Peak], bins: &[Bin], base: u64, taken: &[Rect]) {
        let galley = |text: &str, is_number: bool, color: Color32| {
            let size = fonts::size::CAPTION;
            let font = if is_number { fonts::semibold(size) } else { fonts::regular(size) };
            self.painter.layout_no_wrap(text.to_owned(), font, color)
        };
        let tokens = self.tokens;
        let row = |peak: &Peak| -> [Arc<Galley>; COLUMNS] {
            let [name, position, bytes, against] = &peak.key;
            let over = if peak.is_over { tokens.over } else { tokens.weak_text };
            [
                galley(name, false, tokens.text),
                galley(position, false, tokens.weak_text),
                galley(bytes, true, tokens.text),
                galley(against, true, over),
            ]
        };
        let rows: Vec<_> = peaks.iter().map(row).collect();
        let mut widths = [0.0_f32; COLUMNS];
        for row in &rows {
            for (width, galley) in widths.iter_mut().zip(row) {
                *width = width.max(galley.size().x);
            }
        }
        let inner = widths.iter().sum::<f32>() + GAP * COLUMNS as f32 + 6.0;
        let size = Vec2::new(inner, LINE * rows.len() as f32) + Vec2::splat(2.0 * MARGIN - 2.0);
        let Some(place) = self.free_place(size, bins, base, taken).filter(|_| !rows.is_empty())
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

    /// A place of a size at the top of the picture where no data and no disc lie.
    fn free_place(&self, size: Vec2, bins: &[Bin], base: u64, taken: &[Rect]) -> Option<Rect> {
        let frame = self.frame();
        // The label of the limit stands at the right.
        let (mut right, top) = (frame.right() - 110.0, frame.top() + 6.0);
        while right - size.x > frame.left() + 4.0 {
            let place = Rect::from_min_size(Pos2::new(right - size.x, top), size);
            right -= TRY;
            let covers = |bin: &Bin| {
                self.y(bin.max.saturating_add(base)) < place.bottom() + 4.0
                    && self.x(bin.from as f64 - 0.5) < place.right() + 6.0
                    && self.x(bin.to as f64 - 0.5) > place.left() - 6.0
            };
            let is_taken = taken.iter().any(|disc| disc.intersects(place));
            if !is_taken && place.bottom() < frame.bottom() && !bins.iter().any(covers) {
                return Some(place);
            }
        }
        None
    }
}
