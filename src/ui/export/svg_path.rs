//! Outlines as the data of an SVG path, in few bytes: tenths of a point, relative to the place before, and steps that lie
//! side by side as one outline.

use eframe::egui::{Pos2, Rect};

/// Data of a path of upright and level edges.
#[derive(Default)]
pub struct PathData {
    text: String,
    /// Where the last outline begins, tenths of a point.
    at: (i64, i64),
}

/// A rectangle in tenths of a point.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Step {
    left: i64,
    right: i64,
    top: i64,
    bottom: i64,
}

impl PathData {
    /// Rectangles. Those that continue one another from left to right share an outline; what is too thin to be seen is
    /// left out. With the width of a pixel column, points, steps end where columns end, and of what shares one the highest
    /// is drawn.
    pub fn of_rects(rects: &[Rect], column: Option<u8>) -> Self {
        let column = column.map(|points| i64::from(points.max(1)) * 10);
        let mut data = Self::default();
        let mut steps: Vec<Step> = Vec::new();
        for step in rects.iter().map(Step::of).filter(Step::is_seen) {
            match steps.last_mut() {
                // Of a line with edges between level parts, the edges lie within what is drawn already.
                Some(last) if last.has(&step) => {}
                Some(last) if last.is_continued_by(&step) => last.right = step.right,
                Some(last) if last.touches(&step) => steps.push(step),
                _ => {
                    data.run(&steps, column);
                    steps.clear();
                    steps.push(step);
                }
            }
        }
        data.run(&steps, column);
        data
    }

    fn run(&mut self, steps: &[Step], column: Option<i64>) {
        match column.filter(|_| steps.len() > 1) {
            Some(column) => self.outline(&in_columns(steps, column)),
            None => self.outline(steps),
        }
    }

    /// Writes the outline of steps that lie side by side.
    fn outline(&mut self, steps: &[Step]) {
        let Some(first) = steps.first() else { return };
        self.moved_to((first.left, first.top));
        let tops = steps.iter().map(|step| (step.top, step.right - step.left));
        let bottoms = steps.iter().rev().map(|step| (step.bottom, step.left - step.right));
        // Level as long as the height stays. The last edge is the one that closes the outline.
        let (mut height, mut along) = (first.top, 0);
        for (next, by) in tops.chain(bottoms) {
            if next != height {
                self.by('h', along);
                self.by('v', next - height);
                (height, along) = (next, 0);
            }
            along += by;
        }
        self.by('h', along);
        self.text.push('z');
    }

    /// Adds a triangle or another closed shape.
    pub fn polygon(&mut self, corners: impl IntoIterator<Item = Pos2>) {
        let mut corners = corners.into_iter().map(|corner| (tenths(corner.x), tenths(corner.y)));
        let Some(first) = corners.next() else { return };
        self.moved_to(first);
        let mut before = first;
        for corner in corners {
            self.pair('l', (corner.0 - before.0, corner.1 - before.1));
            before = corner;
        }
        self.text.push('z');
    }

    fn moved_to(&mut self, place: (i64, i64)) {
        // The first of them counts from the corner of the picture.
        self.pair('m', (place.0 - self.at.0, place.1 - self.at.1));
        self.at = place;
    }

    fn pair(&mut self, command: char, (x, y): (i64, i64)) {
        self.text.push(command);
        push(&mut self.text, x);
        if y >= 0 {
            self.text.push(' ');
        }
        push(&mut self.text, y);
    }

    fn by(&mut self, command: char, distance: i64) {
        self.text.push(command);
        push(&mut self.text, distance);
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl std::fmt::Display for PathData {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Step {
    fn of(rect: &Rect) -> Self {
        let [left, right, top, bottom] =
            [rect.left(), rect.right(), rect.top(), rect.bottom()].map(tenths);
        Self { left, right, top, bottom }
    }

    fn is_seen(&self) -> bool {
        self.left < self.right && self.top < self.bottom
    }

    fn is_continued_by(&self, next: &Self) -> bool {
        self.right == next.left && self.top == next.top && self.bottom == next.bottom
    }

    /// Whether the next stands beside it, so that both are one shape.
    fn touches(&self, next: &Self) -> bool {
        self.right == next.left && self.top <= next.bottom && next.top <= self.bottom
    }

    fn has(&self, other: &Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}

/// Steps side by side whose ends are those of columns; each column has the highest of what is in it.
fn in_columns(steps: &[Step], column: i64) -> Vec<Step> {
    let mut found: Vec<Step> = Vec::with_capacity(steps.len());
    let mut add = |step: Step| match found.last_mut() {
        Some(last) if last.is_continued_by(&step) => last.right = step.right,
        _ => found.push(step),
    };
    let begin = |place: i64| place.div_euclid(column) * column;
    // The column in which the step before ended.
    let mut shared: Option<Step> = None;
    for step in steps {
        let (mut left, right) = (begin(step.left), begin(step.right));
        if let Some(mut before) = shared.take() {
            before.top = before.top.min(step.top);
            before.bottom = before.bottom.min(step.bottom);
            if step.right < before.right {
                shared = Some(before);
                continue;
            }
            left = before.right;
            add(before);
        }
        if left < right {
            add(Step { left, right, ..*step });
        }
        if right < step.right {
            shared = Some(Step { left: right, right: right + column, ..*step });
        }
    }
    shared.into_iter().for_each(add);
    found
}

/// The points of a line: of those that share a pixel column the first, the highest, the lowest and the last.
pub fn thinned(points: &[Pos2], column: u8) -> Vec<Pos2> {
    let column_of = |point: &Pos2| (point.x / f32::from(column.max(1))).floor();
    let mut kept = Vec::new();
    for shared in points.chunk_by(|a, b| column_of(a).total_cmp(&column_of(b)).is_eq()) {
        let numbered = || shared.iter().enumerate();
        let by_height = |a: &(usize, &Pos2), b: &(usize, &Pos2)| a.1.y.total_cmp(&b.1.y);
        let ends = [numbered().next(), numbered().next_back()];
        let heights = [numbered().min_by(by_height), numbered().max_by(by_height)];
        let mut places: Vec<(usize, &Pos2)> = ends.into_iter().chain(heights).flatten().collect();
        places.sort_by_key(|(number, _)| *number);
        places.dedup_by_key(|(number, _)| *number);
        kept.extend(places.into_iter().map(|(_, point)| *point));
    }
    kept
}

/// A place in tenths of a point, the nearest; far outside of any picture it is held.
fn tenths(place: f32) -> i64 {
    (place * 10.0).round().clamp(-1e9, 1e9) as i64
}

/// Writes tenths as a number.
fn push(text: &mut String, tenths: i64) {
    if tenths < 0 {
        text.push('-');
    }
    let (whole, rest) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
    if whole > 0 || rest == 0 {
        text.push_str(&whole.to_string());
    }
    if rest > 0 {
        text.push('.');
        text.push_str(&rest.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::pos2;

    fn data_in(column: Option<u8>, rects: &[[f32; 4]]) -> String {
        let rect = |[left, top, right, bottom]: &[f32; 4]| {
            Rect::from_min_max(pos2(*left, *top), pos2(*right, *bottom))
        };
        PathData::of_rects(&rects.iter().map(rect).collect::<Vec<_>>(), column).to_string()
    }

    fn data(rects: &[[f32; 4]]) -> String {
        data_in(None, rects)
    }

    #[test]
    fn of_steps_that_share_a_column_the_highest_is_drawn() {
        let level = |left: f32, right: f32, top: f32| [left, top, right, 9.0];
        let steps = [level(0.0, 2.5, 5.0), level(2.5, 2.7, 1.0), level(2.7, 6.0, 6.0)];
        assert_eq!(data_in(Some(1), &steps), "m0 5h2v-4h1v5h3v3h-6z");
        assert_eq!(data_in(Some(2), &steps), "m0 5h2v-4h2v5h2v3h-6z");
        let narrow = [level(0.0, 0.4, 5.0), level(0.4, 0.8, 4.0), level(0.8, 1.0, 6.0)];
        assert_eq!(data_in(Some(1), &narrow), "m0 4h1v5h-1z");
        assert_eq!(data_in(Some(1), &narrow[..2]), "m0 4h1v5h-1z");
    }

    #[test]
    fn of_points_that_share_a_column_four_stay() {
        let points = [0.0, 3.0, 9.0, 2.0, 1.0, 4.0].map(|y| pos2(y / 100.0 + 5.0, y));
        let heights = |points: &[Pos2]| points.iter().map(|point| point.y).collect::<Vec<_>>();
        assert_eq!(heights(&thinned(&points, 1)), [0.0, 9.0, 4.0]);
        let (mut last_lowest, apart) = (points, [pos2(0.0, 1.0), pos2(1.0, 1.0), pos2(2.0, 1.0)]);
        last_lowest[2].y = -1.0;
        assert_eq!(heights(&thinned(&last_lowest, 1)), [0.0, -1.0, 4.0]);
        assert_eq!(thinned(&apart, 1), apart);
        assert_eq!(thinned(&[], 1), []);
    }

    #[test]
    fn steps_side_by_side_are_one_outline() {
        let steps = [[1.0, 5.0, 2.5, 10.0], [2.5, 5.0, 4.0, 10.0], [4.0, 0.04, 5.0, 9.96]];
        assert_eq!(data(&steps), "m1 5h3v-5h1v10h-4z");
        let apart = [[0.0, 0.0, 1.0, 1.0], [2.0, 0.0, 3.0, 1.0]];
        assert_eq!(data(&apart), "m0 0h1v1h-1zm2 0h1v1h-1z");
        // The lower one, narrower than a column, is drawn all the same.
        let other_height = [[0.0, 0.0, 2.5, 1.0], [2.5, 5.0, 2.8, 6.0]];
        assert_eq!(data_in(Some(1), &other_height), "m0 0h2.5v1h-2.5zm2.5 5h.3v1h-.3z");
    }

    #[test]
    fn what_cannot_be_seen_is_left_out() {
        assert_eq!(data(&[[0.0, 3.0, 1.0, 3.0], [0.0, 3.0, 0.04, 4.0]]), "");
        let within = [[0.0, 0.0, 9.0, 1.0], [3.0, 0.0, 4.0, 1.0]];
        assert_eq!(data(&within), "m0 0h9v1h-9z");
        assert!(data(&[[f32::NAN; 4], [f32::INFINITY; 4]]).is_empty());
        let endless = [f32::NEG_INFINITY, 0.0, f32::INFINITY, 1.0];
        assert_eq!(data(&[endless]), "m-100000000 0h200000000v1h-200000000z");
    }

    #[test]
    fn numbers_are_short() {
        let text = |number| {
            let mut text = String::new();
            push(&mut text, number);
            text
        };
        assert_eq!([0, 7, -7, 10, -123].map(text), ["0", ".7", "-.7", "1", "-12.3"]);
    }

    #[test]
    fn triangles_are_relative() {
        let mut data = PathData::default();
        data.polygon([pos2(1.0, 1.0), pos2(2.0, 0.5), pos2(1.0, 2.0)]);
        data.polygon([pos2(2.0, 1.0), pos2(2.0, 1.0), pos2(2.0, 1.0)]);
        assert_eq!(data.to_string(), "m1 1l1-.5l-1 1.5zm1 0l0 0l0 0z");
    }
}
