//! Numbered discs above the highest places of a picture, pushed apart; the pointer on one means its peak.

use eframe::egui::{Align2, Color32, Painter, Pos2, Rect, Stroke, Vec2};

use super::spread::spread;
use crate::ui::theme::{Tokens, fonts};

/// Radius of a disc, what lies between it and its peak, and between the middles of two, points.
const DISC: f32 = 8.0;
const ABOVE: f32 = 4.0;
const APART: f32 = 2.0 * DISC + 1.2;

/// Where the discs lie, in the order of their numbers; a peak that is not visible has none.
pub struct PeakDiscs {
    discs: Vec<Option<Rect>>,
    /// Where each peak lies, and whether it is selected.
    peaks: Vec<(Pos2, bool)>,
}

impl PeakDiscs {
    /// Of peaks, each by where it lies, and whether it is selected, beside the lines of limits.
    pub fn of(frame: Rect, peaks: impl Iterator<Item = (Pos2, bool)>, limits: &[f32]) -> Self {
        let peaks: Vec<(Pos2, bool)> = peaks.collect();
        Self { discs: places(peaks.iter().map(|(peak, _)| *peak), frame, limits), peaks }
    }

    /// Paints them, with rings of a color.
    pub fn paint(&self, painter: &Painter, tokens: &Tokens, ring: Color32) {
        let seen = || {
            let numbered = (1_u8..).zip(self.discs.iter().zip(&self.peaks));
            numbered.filter_map(|(number, (disc, peak))| Some((number, (*disc)?, peak)))
        };
        for (_, disc, (peak, _)) in seen() {
            // One that gave way says where it belongs.
            if (disc.center().x - peak.x).abs() > 1.0 {
                let stroke = Stroke::new(1.0, tokens.weak_text);
                painter.line_segment([disc.center(), *peak], stroke);
            }
        }
        for (number, disc, (_, is_selected)) in seen() {
            let (fill, text) = if *is_selected {
                (tokens.ink, tokens.surface)
            } else {
                (tokens.surface, tokens.text)
            };
            painter.circle(disc.center(), DISC, fill, Stroke::new(1.2, ring));
            let font = fonts::semibold(fonts::size::CAPTION);
            painter.text(disc.center(), Align2::CENTER_CENTER, number, font, text);
        }
    }

    /// The peak whose disc is at a place.
    pub fn at(&self, place: Pos2) -> Option<usize> {
        self.discs.iter().position(|disc| disc.is_some_and(|disc| disc.contains(place)))
    }

    pub fn is_over(&self, place: Rect) -> bool {
        self.discs.iter().flatten().any(|disc| disc.intersects(place))
    }
}

/// A place for the disc of each peak that is visible, beside one another in the order of the peaks: above it, or below it
/// where it would lie on a limit that its peak is below.
fn places(peaks: impl Iterator<Item = Pos2>, frame: Rect, limits: &[f32]) -> Vec<Option<Rect>> {
    let is_visible = |peak: &Pos2| {
        frame.x_range().contains(peak.x) && peak.y >= frame.top() - 1.0 && peak.y <= frame.bottom()
    };
    let peaks: Vec<Option<Pos2>> = peaks.map(|peak| Some(peak).filter(is_visible)).collect();
    let all = peaks.iter().enumerate();
    let mut along: Vec<(f32, usize)> =
        all.filter_map(|(number, peak)| Some(((*peak)?.x, number))).collect();
    along.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted: Vec<f32> = along.iter().map(|(x, _)| *x).collect();
    // With its ring.
    let room = (frame.left() + DISC + 1.0, frame.right() - DISC - 1.0);
    let mut places = vec![None; peaks.len()];
    for ((_, number), x) in along.into_iter().zip(spread(&wanted, APART, room)) {
        let (Some(Some(peak)), Some(place)) = (peaks.get(number), places.get_mut(number)) else {
            continue;
        };
        let y = (peak.y - DISC - ABOVE).max(frame.top() + DISC + 1.0);
        let is_on = |limit: &f32| (y - DISC..=peak.y).contains(limit);
        let y = if limits.iter().any(is_on) { peak.y + DISC + ABOVE } else { y };
        *place = Some(Rect::from_center_size(Pos2::new(x, y), Vec2::splat(2.0 * DISC + 1.0)));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discs_stand_above_their_peaks_or_beside_one_another_in_their_order() {
        let frame = Rect::from_min_max(Pos2::ZERO, Pos2::new(300.0, 100.0));
        let peaks = [(200.0, 50.0), (104.0, 60.0), (98.0, 60.0), (400.0, 50.0), (1.0, 2.0)];
        let of = |limits: &[f32]| {
            PeakDiscs::of(frame, peaks.into_iter().map(|at| (Pos2::from(at), false)), limits)
        };
        let discs = of(&[]);
        let center = |number: usize| discs.discs[number].map(|disc| disc.center());
        // A limit just above the first: its disc does not stand beyond it, those of the others are far.
        let below = of(&[45.0]).discs[0].map(|disc| disc.center());
        assert_eq!(below, Some(Pos2::new(200.0, 50.0 + DISC + ABOVE)));
        assert_eq!(of(&[55.0]).discs[0], discs.discs[0], "it is beyond that limit");
        assert_eq!(center(0), Some(Pos2::new(200.0, 50.0 - DISC - ABOVE)));
        let (right, left) = (center(1).expect("a disc"), center(2).expect("a disc"));
        assert!((right.x - left.x - APART).abs() < 0.01, "{left} {right}");
        assert!((f32::midpoint(left.x, right.x) - 101.0).abs() < 0.01);
        assert_eq!(center(3), None, "it is not visible");
        // One at the edge stays within the picture.
        let corner = center(4).expect("a disc");
        assert!(corner.x >= DISC && corner.y > DISC);
        assert_eq!((discs.at(right), discs.at(Pos2::new(150.0, 38.0))), (Some(1), None));
        assert!(discs.is_over(Rect::from_center_size(left, Vec2::splat(4.0))));
    }
}
