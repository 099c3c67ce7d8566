//! The painting of a picture: areas, lines, grid, limit, borders, marks, cursors.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::epaint::{Mesh, Vertex, WHITE_UV};
use eframe::egui::{self, Align2, Color32, Pos2, Rect, Shape, Stroke};
use egui_plot::PlotTransform;
use std::ops::Range;

use super::{CurveLane, CurvePlot, Y_TICKS};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bins::PixelBin;
use crate::ui::widget::hatch;
use crate::ui::widget::picture::{grounded_text, label_galley, paint_grounded};
use crate::ui::widget::ticks;

/// Marks are dots on the curve as long as there are so many at most.
const MAX_DOTS: usize = 300;
/// Selected ranges are drawn with cursors as long as so many are visible at most.
const MAX_CURSORS: usize = 24;
/// Where the label of a limit is tried, every so many points.
const TRY: f32 = 12.0;
/// Height of the lane that shows what is selected, points.
const SELECTION_LANE: f32 = 4.0;

/// A painter that knows where positions and bytes lie.
pub struct CurvePaint<'a> {
    pub painter: egui::Painter,
    pub transform: PlotTransform,
    pub tokens: &'a Tokens,
    /// Where 0 lies and the points of one, along x and y: asked for ten thousand times a frame.
    along: [(f64, f64); 2],
}

impl<'a> CurvePaint<'a> {
    pub fn new(painter: egui::Painter, transform: PlotTransform, tokens: &'a Tokens) -> Self {
        let (frame, bounds) = (*transform.frame(), *transform.bounds());
        let x = f64::from(frame.width()) / bounds.width();
        let y = -f64::from(frame.height()) / bounds.height();
        let along = [
            (f64::from(frame.left()) - bounds.min()[0] * x, x),
            (f64::from(frame.bottom()) - bounds.min()[1] * y, y),
        ];
        Self { painter, transform, tokens, along }
    }

    pub fn x(&self, position: f64) -> f32 {
        let [(zero, one), _] = self.along;
        (zero + position * one) as f32
    }

    pub fn y(&self, bytes: u64) -> f32 {
        let [_, (zero, one)] = self.along;
        (zero + bytes as f64 * one) as f32
    }

    pub fn frame(&self) -> Rect {
        *self.transform.frame()
    }

    pub fn ground(&self, picture: &CurvePlot<'_>) {
        let Some((bytes, fill, line)) = picture.ground else { return };
        let x = self.x(-0.5)..=self.x(picture.len as f64 - 0.5);
        let rect = Rect::from_x_y_ranges(x.clone(), self.y(bytes)..=self.y(0));
        self.painter.rect_filled(rect, 0, fill);
        self.painter.hline(x, self.y(bytes), Stroke::new(1.5, line));
    }

    /// What is said of the ground, in it, where there is room.
    pub fn ground_label(&self, picture: &CurvePlot<'_>) {
        let Some((bytes, ..)) = picture.ground.filter(|_| !picture.ground_label.is_empty()) else {
            return;
        };
        let (top, bottom) = (self.y(bytes), self.y(0).min(self.frame().bottom()));
        if top > self.frame().top() && bottom - top > 30.0 {
            let at = Pos2::new(self.frame().right() - 6.0, top + 5.0);
            let (font, color) = (fonts::medium(fonts::size::TABLE), self.tokens.text);
            self.painter.text(at, Align2::RIGHT_TOP, &picture.ground_label, font, color);
        }
    }

    /// What lies beyond a limit, painted again: red, and hatched for those who do not see that.
    pub fn over(&self, bins: &[PixelBin], base: u64, limit: u64) {
        let is_over = |bin: &&PixelBin| bin.max.saturating_add(base) > limit;
        if !bins.iter().any(|bin| is_over(&bin)) {
            return;
        }
        let (mut beyond, line) = (self.frame(), self.y(limit));
        beyond.max.y = beyond.max.y.min(line);
        let above = Self { painter: self.painter.with_clip_rect(beyond), ..*self };
        above.area(bins, base, None, self.tokens.area(self.tokens.over));
        let mut hatched = hatch::begin(self.painter.ctx());
        for bin in bins.iter().filter(is_over) {
            let x = self.x(bin.from as f64 - 0.5)..=self.x(bin.to as f64 - 0.5);
            let y = self.y(bin.max.saturating_add(base))..=line;
            hatched.add(Rect::from_x_y_ranges(x, y), self.tokens.over);
        }
        hatched.paint(&above.painter);
        above.line(bins, base, self.tokens.over);
    }

    /// The area below the most of each bin, down to the base or to the bins of the layer below.
    pub fn area(&self, bins: &[PixelBin], base: u64, below: Option<&[PixelBin]>, fill: Color32) {
        let mut mesh = Mesh::default();
        mesh.vertices.reserve(bins.len() * 4);
        mesh.indices.reserve(bins.len() * 6);
        let (ground, mut below) = (self.y(base), below.unwrap_or(&[]).iter().peekable());
        for bin in bins {
            while below.next_if(|under| under.from < bin.from).is_some() {}
            let under = below.next_if(|under| under.from == bin.from);
            let bottom = under.map_or(ground, |under| self.y(under.max.saturating_add(base)));
            let (left, right) = (self.x(bin.from as f64 - 0.5), self.x(bin.to as f64 - 0.5));
            let top = self.y(bin.max.saturating_add(base));
            let first = mesh.vertices.len() as u32;
            for (x, y) in [(left, top), (right, top), (right, bottom), (left, bottom)] {
                mesh.vertices.push(Vertex { pos: Pos2::new(x, y), uv: WHITE_UV, color: fill });
            }
            mesh.add_triangle(first, first + 1, first + 2);
            mesh.add_triangle(first, first + 2, first + 3);
        }
        self.painter.add(Shape::mesh(mesh));
    }

    /// A line of steps where there is room, else from the most to the least of each column. All of
    /// it is upright or level, so rectangles draw it, which cost a fraction of a path.
    pub fn line(&self, bins: &[PixelBin], base: u64, color: Color32) {
        let pixels = self.painter.pixels_per_point();
        let thick = (1.3 * pixels).round().max(1.0) / pixels;
        // On whole pixels, for without soft edges a line between two would change its width.
        let snap = |at: f32| (at * pixels).round() / pixels;
        let mut mesh = Mesh::default();
        mesh.reserve_vertices(bins.len() * 8);
        mesh.reserve_triangles(bins.len() * 4);
        // Where the column before ends: its position, and its highest and lowest place.
        let mut before: Option<(usize, f32, f32)> = None;
        // As long as it stays level it is one rectangle.
        let mut level = Rect::NOTHING;
        let mut along = |mesh: &mut Mesh, rect: Rect| {
            if rect.y_range() == level.y_range() && rect.left() <= level.right() {
                level.max.x = rect.right();
                return;
            }
            if level.is_positive() {
                mesh.add_colored_rect(level, color);
            }
            level = rect;
        };
        for bin in bins {
            let (left, right) = (self.x(bin.from as f64 - 0.5), self.x(bin.to as f64 - 0.5));
            let (left, right) = (snap(left), snap(right));
            let high = snap(self.y(bin.max.saturating_add(base)));
            let low = snap(self.y(bin.min.saturating_add(base)));
            let joined = before.filter(|(to, ..)| *to == bin.from);
            if bin.to - bin.from == 1 {
                let line = Rect::from_x_y_ranges(left..=right + thick, high..=high + thick);
                along(&mut mesh, line);
                // Between steps of one height there is no edge.
                if let Some((_, top, bottom)) =
                    joined.filter(|(_, top, bottom)| (*top, *bottom) != (high, high))
                {
                    let upright = high.min(bottom)..=high.max(top) + thick;
                    let rect = Rect::from_x_y_ranges(left..=left + thick, upright);
                    mesh.add_colored_rect(rect, color);
                }
                before = Some((bin.to, high, high));
            } else {
                // Up or down to the column before, so that the line has no holes.
                let (mut top, mut bottom) = (high, low);
                if let Some((_, top_before, bottom_before)) = joined {
                    top = top.min(bottom_before);
                    bottom = bottom.max(top_before);
                }
                let right = right.max(left + thick);
                let rect = Rect::from_x_y_ranges(left..=right, top..=bottom + thick);
                along(&mut mesh, rect);
                before = Some((bin.to, high, low));
            }
        }
        along(&mut mesh, Rect::NOTHING);
        self.painter.add(Shape::mesh(mesh));
    }

    pub fn grid(&self, y_range: (f64, f64), units: Units) {
        let per_point = self.transform.dvalue_dpos();
        let stroke = Stroke::new(1.0, self.tokens.grid);
        let step = ticks::bytes_step(per_point[1].abs() * Y_TICKS, units);
        for value in ticks::multiples(step, y_range) {
            let y = self.transform.position_from_point_y(value);
            self.painter.hline(self.frame().x_range(), y, stroke);
        }
    }

    /// A line where something begins; the label of what begins before stays at the edge.
    pub fn borders(&self, borders: &[(usize, String)]) {
        let frame = self.frame();
        let x_of = |position: usize| self.x(position as f64 - 0.5);
        let mut free_from = f32::NEG_INFINITY;
        for (index, (position, label)) in borders.iter().enumerate() {
            let x = x_of(*position);
            let end = borders.get(index + 1).map_or(f32::INFINITY, |(next, _)| x_of(*next));
            if end <= frame.left() || x > frame.right() {
                continue;
            }
            self.painter.vline(x, frame.y_range(), Stroke::new(1.0, self.tokens.weak_text));
            let at = Pos2::new(x.max(frame.left()) + 4.0, frame.top() + 3.0);
            let has_room = end - at.x > 8.0 * label.chars().count() as f32;
            if at.x >= free_from && (has_room || x >= frame.left()) {
                let color = self.tokens.weak_text;
                let text = grounded_text(&self.painter, at, Align2::LEFT_TOP, label, color);
                free_from = text.right();
            }
        }
    }

    /// Limits as dashed lines, each with its label above or below it, from the right, in the first place that is free; of
    /// two conditions the second does where nothing meets the first. Returns where the labels lie. Of several limits one
    /// without a place is its line alone.
    pub fn limits(
        &self,
        limits: &[(u64, String)],
        visible: (f64, f64),
        is_free: [&dyn Fn(Rect) -> bool; 2],
    ) -> Vec<Rect> {
        let frame = self.frame();
        let lines: Vec<Option<f32>> =
            limits.iter().map(|(bytes, _)| self.limit_line(*bytes, visible)).collect();
        let mut labels: Vec<Rect> = Vec::new();
        for ((bytes, label), line) in limits.iter().zip(lines) {
            let text = match line {
                Some(_) => label.clone(),
                None if (*bytes as f64) < visible.0 => format!("{label}, below the picture"),
                None => format!("{label}, above the picture"),
            };
            let galley = label_galley(&self.painter, &text, self.tokens.ink);
            let size = galley.size();
            let (highest, lowest) = (frame.top() + 4.0, frame.bottom() - 4.0 - size.y);
            // Without a line there are further rows, where peaks take the first.
            let row = |number: f32| number * (size.y + 6.0);
            let tops = match line {
                Some(y) => [y - 4.0 - size.y, y + 4.0, y + 4.0],
                None if (*bytes as f64) < visible.0 => [0.0, 1.0, 2.0].map(|at| lowest - row(at)),
                None => [0.0, 1.0, 2.0].map(|at| highest + row(at)),
            };
            let tops = tops.into_iter().filter(|top| (frame.top()..=lowest + 3.0).contains(top));
            let columns = ((frame.width() - size.x - 8.0) / TRY).floor();
            let rights = 0..=columns as i32;
            let places = tops.flat_map(|top| {
                rights.clone().map(move |column| {
                    let left = frame.right() - 6.0 - size.x - TRY * column as f32;
                    Rect::from_min_size(Pos2::new(left, top), size)
                })
            });
            let is_apart =
                |place: &Rect| !labels.iter().any(|it| it.expand(7.0).intersects(*place));
            let free = |is_free: &dyn Fn(Rect) -> bool| {
                places.clone().filter(is_apart).find(|place| is_free(*place))
            };
            let place = is_free.into_iter().find_map(free);
            if let Some(place) =
                place.or_else(|| places.clone().next().filter(|_| limits.len() == 1))
            {
                paint_grounded(&self.painter, place, galley);
                labels.push(place);
            }
        }
        labels
    }

    /// Whether a line of bins runs through a place, or, of what is filled, ends above its bottom.
    pub fn crosses(&self, bins: &[PixelBin], base: u64, is_filled: bool, place: Rect) -> bool {
        let left = |bin: &PixelBin| self.x(bin.from as f64 - 0.5);
        let from = bins.partition_point(|bin| self.x(bin.to as f64 - 0.5) < place.left());
        let near = bins.get(from..).unwrap_or(&[]).iter();
        near.take_while(|bin| left(bin) <= place.right()).any(|bin| {
            let [high, low] = [bin.max, bin.min].map(|bytes| self.y(bytes.saturating_add(base)));
            high < place.bottom() && (is_filled || low > place.top())
        })
    }

    /// The line of a limit, where that is visible; returns its height.
    fn limit_line(&self, bytes: u64, (low, top): (f64, f64)) -> Option<f32> {
        let y = (low..=top).contains(&(bytes as f64)).then(|| self.y(bytes))?;
        let ends = [Pos2::new(self.frame().left(), y), Pos2::new(self.frame().right(), y)];
        // The ground shows it where the curve is close.
        self.painter.line_segment(ends, Stroke::new(3.0, self.tokens.surface.gamma_multiply(0.6)));
        let stroke = Stroke::new(1.5, self.tokens.ink);
        self.painter.extend(Shape::dashed_line(&ends, stroke, 8.0, 4.0));
        Some(y)
    }

    /// Ticks at the bottom for marked positions; dots on the curve, of many only at its spikes.
    pub fn marks(
        &self,
        marks: &[u32],
        (start, end): (f64, f64),
        lane: f32,
        tops: &[PixelBin],
        value_at: impl Fn(usize) -> Option<u64>,
    ) {
        let first = marks.partition_point(|mark| f64::from(*mark) < start);
        let last = marks.partition_point(|mark| f64::from(*mark) <= end);
        let visible = marks.get(first..last).unwrap_or(&[]);
        let (mut drawn_to, bottom) = (f32::NEG_INFINITY, self.frame().bottom() - lane);
        for mark in visible {
            let x = self.x(f64::from(*mark));
            if x - drawn_to < 1.0 {
                continue;
            }
            drawn_to = x;
            self.painter.vline(x, bottom - 10.0..=bottom, Stroke::new(2.0, self.tokens.accent));
        }
        let dot = |position: usize| {
            if let Some(bytes) = value_at(position) {
                let at = Pos2::new(self.x(position as f64), self.y(bytes));
                self.painter.circle_filled(at, 3.0, self.tokens.accent);
            }
        };
        if visible.len() <= MAX_DOTS {
            for mark in visible {
                dot(*mark as usize);
            }
            return;
        }
        let is_marked = |position: usize| {
            u32::try_from(position).is_ok_and(|position| visible.binary_search(&position).is_ok())
        };
        // Two columns of pixels on either side: a dot is as wide as that.
        let spikes = tops.iter().enumerate().filter(|(place, bin)| {
            let near = tops.get(place.saturating_sub(2)..(place + 3).min(tops.len()));
            let is_highest = |other: &PixelBin| other.max < bin.max || other.highest >= bin.highest;
            near.is_some_and(|near| {
                near.iter().all(|other| other.max <= bin.max && is_highest(other))
                    && near.iter().any(|other| other.min < bin.max)
            }) && is_marked(bin.highest)
        });
        for (_, bin) in spikes {
            dot(bin.highest);
        }
    }

    /// Tints ranges of several positions, below everything else.
    pub fn bands(&self, selected: &[(Range<usize>, String)]) {
        for (range, _) in selected.iter().filter(|(range, _)| range.len() > 1) {
            self.painter.rect_filled(self.column(range), 0, self.tokens.selected);
        }
    }

    /// Selected positions as cursors, ranges between two lines; of many only a lane at the bottom.
    pub fn selection(
        &self,
        selected: &[(Range<usize>, String)],
        value_at: impl Fn(usize) -> Option<u64>,
    ) {
        let frame = self.frame();
        let is_visible = |range: &Range<usize>| {
            let column = self.column(range);
            column.right() >= frame.left() && column.left() <= frame.right()
        };
        let visible = || selected.iter().filter(|(range, _)| is_visible(range));
        let are_many = visible().nth(MAX_CURSORS).is_some();
        let lane = frame.bottom() - SELECTION_LANE..=frame.bottom();
        for (range, _) in visible().filter(|(range, _)| are_many || range.len() > 1) {
            let column = self.column(range);
            let x = column.left()..=column.right().max(column.left() + 1.0);
            let rect = Rect::from_x_y_ranges(x, lane.clone());
            self.painter.rect_filled(rect, 0, self.tokens.text);
        }
        // The last one is where the keyboard goes on from.
        let skipped = if are_many { selected.len() - 1 } else { 0 };
        for (range, label) in selected.iter().skip(skipped).filter(|(range, _)| is_visible(range)) {
            self.selected(range, label, &value_at);
        }
    }

    fn column(&self, range: &Range<usize>) -> Rect {
        let x = self.x(range.start as f64 - 0.5)..=self.x(range.end as f64 - 0.5);
        Rect::from_x_y_ranges(x, self.frame().y_range())
    }

    /// A selected position as a cursor, a range between two lines.
    fn selected(&self, range: &Range<usize>, label: &str, value_at: impl Fn(usize) -> Option<u64>) {
        let stroke = Stroke::new(1.5, self.tokens.text);
        let column = self.column(range);
        if range.len() > 1 {
            for x in [column.left(), column.right()] {
                self.painter.vline(x, self.frame().y_range(), stroke);
            }
        } else {
            self.cursor(range.start, value_at(range.start), stroke);
        }
        if !label.is_empty() {
            let at = Pos2::new(column.center().x + 5.0, self.frame().top() + 3.0);
            grounded_text(&self.painter, at, Align2::LEFT_TOP, label, self.tokens.text);
        }
    }

    /// Lanes at the bottom that show where something is the case; returns how high they are together.
    pub fn lanes(&self, lanes: &[CurveLane<'_>]) -> f32 {
        let bottom = self.frame().bottom();
        let mut top = bottom;
        for lane in lanes {
            self.lane(lane, top);
            top -= lane.height;
        }
        bottom - top
    }

    fn lane(&self, lane: &CurveLane<'_>, bottom: f32) {
        let frame = self.frame();
        let y = bottom - lane.height..=bottom;
        let whole = Rect::from_x_y_ranges(frame.x_range(), y.clone());
        self.painter.rect_filled(whole, 0, self.tokens.surface);
        let end_of = |range: &Range<u32>| self.x(f64::from(range.end) - 0.5);
        // One shape for what may be a thousand.
        let (mut mesh, pixels) = (Mesh::default(), self.painter.pixels_per_point());
        let mut drawn_to = frame.left();
        let mut next = 0;
        loop {
            // Of ranges that would lie in a pixel that is drawn already there may be very many.
            let rest = lane.ranges.get(next..).unwrap_or(&[]);
            next += rest.partition_point(|range| end_of(range) < drawn_to + 0.5);
            let Some(range) = lane.ranges.get(next) else { break };
            let left = self.x(f64::from(range.start) - 0.5).max(drawn_to);
            if left >= frame.right() {
                break;
            }
            // Where it is narrower than a pixel it is still to be seen.
            drawn_to = end_of(range).min(frame.right()).max(left + 1.0);
            let rect = Rect::from_x_y_ranges(left..=drawn_to, y.clone());
            mesh.add_colored_rect(rect.round_to_pixels(pixels), lane.color);
        }
        self.painter.add(Shape::mesh(mesh));
        self.painter.hline(frame.x_range(), *y.start(), Stroke::new(1.0, self.tokens.border));
        if !lane.label.is_empty() {
            let at = Pos2::new(frame.left() + 4.0, whole.center().y);
            grounded_text(&self.painter, at, Align2::LEFT_CENTER, lane.label, self.tokens.text);
        }
    }

    pub fn cursor(&self, position: usize, bytes: Option<u64>, stroke: Stroke) {
        let x = self.x(position as f64);
        self.painter.vline(x, self.frame().y_range(), stroke);
        if let Some(bytes) = bytes {
            let at = Pos2::new(x, self.y(bytes));
            self.painter.circle(at, 3.5, self.tokens.surface, Stroke::new(1.5, stroke.color));
        }
    }
}
