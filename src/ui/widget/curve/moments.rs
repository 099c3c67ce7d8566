//! Moments: lines where something happened, with labels that stay in the picture.

use eframe::egui::{Pos2, Rect, Stroke, Vec2};

use super::paint::CurvePaint;
use crate::ui::widget::peak_discs::PeakDiscs;
use crate::ui::widget::picture::{label_galley, paint_grounded};

/// Between a line and its label, points: the disc of a peak has room there.
const BESIDE: f32 = 12.0;
/// How much further away a label may stand, and once more, points.
const FURTHER: f32 = 40.0;
/// Between labels, points.
const APART: f32 = 8.0;

impl CurvePaint<'_> {
    /// A line at each moment, with its label behind it, or before it where there is no room. Labels stand beside one
    /// another and beside discs; one that has no place is left out. Returns where they lie.
    pub fn moments(&self, moments: &[(usize, String)], discs: &PeakDiscs) -> Vec<Rect> {
        let mut labels: Vec<Rect> = Vec::new();
        let (frame, color) = (self.frame(), self.tokens.weak_text);
        let lines = moments.iter().map(|(position, label)| (self.x(*position as f64), label));
        let visible = || lines.clone().filter(|(x, _)| frame.x_range().contains(*x));
        for (x, _) in visible() {
            self.painter.vline(x, frame.y_range(), Stroke::new(1.0, color));
        }
        for (x, label) in visible() {
            let galley = label_galley(&self.painter, label, color);
            let free = places(x, galley.size(), frame).into_iter().flatten().find(|place| {
                let around = place.expand2(Vec2::new(APART, 0.0));
                !discs.is_over(around) && !labels.iter().any(|label| label.intersects(around))
            });
            if let Some(place) = free {
                labels.push(place);
                paint_grounded(&self.painter, place, galley);
            }
        }
        labels
    }
}

/// Where the label of a line can stand: behind it where that is in the picture, then before it, then further away.
fn places(x: f32, size: Vec2, frame: Rect) -> [Option<Rect>; 4] {
    let place = |left: f32| Rect::from_min_size(Pos2::new(left, frame.top() + 3.0), size);
    let before = |by: f32| place((x - BESIDE - by - size.x).max(frame.left()));
    let behind = Some(place(x + BESIDE)).filter(|place| place.right() <= frame.right());
    [behind, Some(before(0.0)), Some(before(FURTHER)), Some(before(2.0 * FURTHER))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_stands_behind_its_line_as_long_as_it_is_in_the_picture() {
        let frame = Rect::from_min_max(Pos2::new(50.0, 10.0), Pos2::new(250.0, 110.0));
        let lefts = |x| {
            let [behind, before, ..] = places(x, Vec2::new(80.0, 14.0), frame);
            [behind, before].map(|it| it.map(|it| it.left()))
        };
        assert_eq!(lefts(150.0), [Some(162.0), Some(58.0)]);
        assert_eq!(lefts(158.0), [Some(170.0), Some(66.0)]);
        assert_eq!(lefts(159.0), [None, Some(67.0)]);
        assert_eq!(lefts(250.0), [None, Some(158.0)]);
        assert_eq!(lefts(60.0), [Some(72.0), Some(50.0)], "not before the picture");
    }
}
