//! The painting of addresses over steps: ground, gaps, what ends above the limit, marks, axes.

use eframe::egui::{self, Align2, Color32, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind};
use std::ops::Range;

use super::picture::TileScene;
use super::words::band_title;
use crate::analysis::placement::address_steps::AddressSteps;
use crate::ui::report::moment::step_id;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::column_widths::text_width;
use crate::ui::widget::hatch::{self, Hatched};
use crate::ui::widget::plane::PlacedPlane;
use crate::ui::widget::ticks;

/// Room for addresses and steps, points.
pub const LEFT: f32 = 64.0;
pub const BOTTOM: f32 = 26.0;
/// Rectangles of the chosen variable that are outlined, and of those that the search found.
const MOST_OUTLINES: usize = 256;
/// Rectangles above the limit that are painted once more.
const MOST_OVER: usize = 4_000;
/// Least height of what is hatched, and of a gap that has a tick, points.
const LEAST_HATCHED: f32 = 3.0;
const LEAST_TICKED: f32 = 0.25;
/// Least distance of ticks of gaps, and of the borders of memory elements, points.
const BETWEEN_TICKS: f32 = 6.0;
const BETWEEN_BORDERS: f32 = 40.0;
/// Lowest band with a title, and narrowest picture with titles, points.
const TITLED_BAND: f32 = 18.0;
const TITLED_PICTURE: f32 = 430.0;
/// Least distance of two lines with a title each between them, points.
const TWO_TITLES: f32 = 46.0;

pub struct TilePaint<'a> {
    pub ui: &'a egui::Ui,
    /// Within the axes.
    pub inside: egui::Painter,
    pub placed: &'a PlacedPlane,
    pub of: &'a TileScene<'a>,
    pub tokens: &'a Tokens,
    /// Rectangles that are told apart by their edges, positions in those of the data.
    pub edged: &'a [usize],
}

pub fn rect_of(placed: &PlacedPlane, steps: &Range<u32>, bytes: &Range<u64>) -> Rect {
    let steps = [f64::from(steps.start), f64::from(steps.end)];
    placed.rect_of(steps, [bytes.start as f64, bytes.end as f64])
}

/// A text on a ground with a line around, as it stands on a picture.
pub fn chip(
    painter: &egui::Painter,
    at: Pos2,
    align: Align2,
    text: &str,
    [ground, line, color]: [Color32; 3],
) -> Rect {
    let galley = painter.layout_no_wrap(text.to_owned(), fonts::medium(11.0), color);
    let size = galley.size() + egui::vec2(12.0, 4.0);
    let rect = align.anchor_size(at, size);
    painter.rect(rect, 3, ground, Stroke::new(1.0, line), StrokeKind::Inside);
    painter.galley(rect.min + egui::vec2(6.0, 2.0), galley, color);
    rect
}

impl TilePaint<'_> {
    /// What is free below the limit, or below the last byte, is faintly hatched.
    pub fn ground(&self) {
        let (rect, tokens) = (self.placed.rect, self.tokens);
        let stroke = Stroke::new(1.0, tokens.border);
        self.ui.painter().rect(rect, 0, tokens.page, stroke, StrokeKind::Outside);
        let top = self.limit().unwrap_or(self.of.data.rectangles.end);
        let free = rect_of(self.placed, &(0..self.of.data.rectangles.steps), &(0..top));
        let mut hatched = hatch::begin(self.inside.ctx());
        hatched.add(free.intersect(rect), tokens.gap.gamma_multiply(0.3));
        hatched.paint(&self.inside);
    }

    fn limit(&self) -> Option<u64> {
        self.of.data.tile.map.limit
    }

    /// Hatches what is never used, where it is high enough; else it is a tick at the left.
    pub fn gaps(&self) {
        let AddressSteps { gaps, steps, end, .. } = &self.of.data.rectangles;
        let rect = self.placed.rect;
        // What is filled from both ends has free bytes between them, also where nothing lies at the upper one.
        let limit = self.limit().filter(|_| self.of.data.tile.map.is_filled_from_both_ends);
        let above = limit.filter(|limit| limit > end).map(|limit| *end..limit);
        let mut hatched = hatch::begin(self.inside.ctx());
        let first = gaps.partition_point(|gap| (gap.end as f64) < self.placed.y.0);
        let visible = gaps.iter().skip(first).chain(&above);
        let visible = visible.take_while(|gap| gap.start as f64 <= self.placed.y.1);
        let mut ticked = f32::INFINITY;
        for gap in visible {
            let of_gap = rect_of(self.placed, &(0..*steps), gap);
            if of_gap.height() >= LEAST_HATCHED {
                // What is far outside would lose its place in 32 bits.
                let seen = of_gap.intersect(rect);
                self.inside.rect_filled(seen, 0, self.tokens.surface);
                hatched.add(seen, self.tokens.gap);
            } else if of_gap.height() >= LEAST_TICKED && ticked - of_gap.center().y > BETWEEN_TICKS
            {
                ticked = of_gap.center().y;
                let tip = Pos2::new(rect.left() - 1.0, ticked);
                let back = [tip + egui::vec2(-6.0, -4.0), tip + egui::vec2(-6.0, 4.0)];
                let shape = vec![tip, back[0], back[1]];
                self.ui.painter().add(Shape::convex_polygon(shape, self.tokens.ink, Stroke::NONE));
            }
        }
        hatched.paint(&self.inside);
    }

    /// All that lies above the cells.
    pub fn all(&self) {
        self.borders();
        self.edges();
        self.over();
        self.bands();
        self.marks();
        self.cursor();
        self.limit_line();
        self.axes();
    }

    /// Where memory elements and the interleaved region begin.
    fn borders(&self) {
        let Some(target) = self.of.data.tile.report.target.get() else { return };
        let rect = self.placed.rect;
        let elements = &target.element_offsets;
        let first = elements.partition_point(|element| (*element as f64) < self.placed.y.0);
        let visible = elements.iter().skip(first);
        let visible = visible.take_while(|element| (**element as f64) <= self.placed.y.1);
        let stroke = Stroke::new(1.0, self.tokens.ink.gamma_multiply(0.25));
        let mut drawn = f32::INFINITY;
        for element in visible {
            let y = self.placed.y_of(*element as f64);
            if drawn - y >= BETWEEN_BORDERS {
                self.inside.hline(rect.x_range(), y, stroke);
            }
            drawn = y;
        }
        if let Some(start) = target.interleaved_start {
            let y = self.placed.y_of(start as f64);
            self.inside.hline(rect.x_range(), y, Stroke::new(1.0, self.tokens.ink));
            // The limit has its title above this one, and comes first where there is room for one.
            let limit = self.limit().map(|limit| self.placed.y_of(limit as f64));
            let has_room = limit.is_none_or(|limit| (y - limit).abs() >= TWO_TITLES);
            if rect.width() >= TITLED_PICTURE && has_room {
                let at = Pos2::new(rect.right() - 6.0, y - 3.0);
                let text = format!("Interleaved from {}", Units::now(self.ui).bytes(start));
                self.chip(at, Align2::RIGHT_BOTTOM, &text);
            }
        }
    }

    /// Tells neighbors of one color apart, where few rectangles are visible.
    fn edges(&self) {
        let rectangles = &self.of.data.rectangles.rectangles;
        let stroke = Stroke::new(1.0, self.tokens.surface.gamma_multiply(0.7));
        for one in self.edged.iter().filter_map(|place| rectangles.get(*place)) {
            let rect = rect_of(self.placed, &one.steps, &one.bytes);
            self.inside.rect_stroke(rect, 0, stroke, StrokeKind::Inside);
        }
    }

    /// What lies above the limit, and where others lie at addresses of what had no room, once more in red with a hatch.
    fn over(&self) {
        let limit = self.limit().unwrap_or(u64::MAX);
        let rectangles = &self.of.data.rectangles.rectangles;
        let over = self.of.data.over.iter().filter_map(|place| rectangles.get(*place));
        let over = over.map(|one| (&one.steps, limit.max(one.bytes.start)..one.bytes.end));
        let clashes = self.of.data.clashes.iter().map(|one| (&one.steps, one.bytes.clone()));
        let mut painted = OverLimitShapes::begin(self.inside.ctx());
        for (steps, bytes) in over.chain(clashes).take(MOST_OVER) {
            let rect = rect_of(self.placed, steps, &bytes);
            let least = egui::vec2(2.0, 3.0);
            let top_left = Pos2::new(rect.left(), rect.top().min(rect.bottom() - least.y));
            let bottom_right = Pos2::new(rect.right().max(rect.left() + least.x), rect.bottom());
            let rect = Rect::from_min_max(top_left, bottom_right).intersect(self.placed.rect);
            if rect.is_positive() {
                painted.add(rect, self.tokens);
            }
        }
        painted.paint(&self.inside);
    }

    /// What always-live memory consists of.
    fn bands(&self) {
        let rect = self.placed.rect;
        if rect.width() < TITLED_PICTURE {
            return;
        }
        for band in &self.of.data.bands {
            let [top, bottom] = [band.bytes.end, band.bytes.start]
                .map(|address| self.placed.y_of(address as f64).clamp(rect.top(), rect.bottom()));
            if bottom - top < TITLED_BAND {
                continue;
            }
            let at = Pos2::new(rect.left() + 14.0, f32::midpoint(top, bottom));
            let report = &self.of.data.tile.report;
            let (title, live) = (band_title(report, band), report.system.always_live_in_text);
            self.chip(at, Align2::LEFT_CENTER, &format!("{title}, {live}"));
        }
    }

    fn chip(&self, at: Pos2, align: Align2, text: &str) {
        let colors = [self.tokens.surface, self.tokens.border, self.tokens.text];
        chip(&self.inside, at, align, text, colors);
    }

    /// The chosen variable, what the search found, where the pointer is in another picture.
    fn marks(&self) {
        let tokens = self.tokens;
        let blocks = &self.of.data.tile.map.blocks;
        let found = self.of.found.iter().filter_map(|place| blocks.get(*place as usize));
        let found = found.flat_map(|block| self.of.data.rectangles_of(block.row));
        for one in found.take(MOST_OUTLINES) {
            self.outline(&one.steps, &one.bytes, Stroke::new(1.5, tokens.accent));
        }
        if let Some(row) = self.of.chosen {
            for one in self.of.data.rectangles_of(row).iter().take(MOST_OUTLINES) {
                self.outline(&one.steps, &one.bytes, Stroke::new(2.0, tokens.ink));
            }
        }
        if let Some((step, address)) = self.of.pointed {
            let (stroke, rect) = (Stroke::new(1.0, tokens.weak_text), self.placed.rect);
            let y = self.placed.y_of(address as f64 + 0.5);
            self.inside.vline(self.placed.x_of(step as f64 + 0.5), rect.y_range(), stroke);
            self.inside.hline(rect.x_range(), y, stroke);
        }
    }

    fn outline(&self, steps: &Range<u32>, bytes: &Range<u64>, stroke: Stroke) {
        let rect = rect_of(self.placed, steps, bytes);
        let rect = Rect::from_min_max(rect.min, rect.max.max(rect.min + egui::vec2(2.0, 2.0)));
        self.inside.rect_stroke(rect.expand(1.0), 0, stroke, StrokeKind::Outside);
    }

    /// The step of the strip with its number below, and others that are selected.
    fn cursor(&self) {
        let (rect, tokens) = (self.placed.rect, self.tokens);
        for step in self.of.steps {
            let x = self.placed.x_of(*step as f64 + 0.5);
            self.inside.vline(x, rect.y_range(), Stroke::new(1.0, tokens.accent));
        }
        let Some(step) = self.of.step else { return };
        let x = self.placed.x_of(step as f64 + 0.5);
        self.inside.vline(x, rect.y_range(), Stroke::new(3.0, tokens.surface.gamma_multiply(0.6)));
        self.inside.vline(x, rect.y_range(), Stroke::new(1.5, tokens.ink));
    }

    fn limit_line(&self) {
        let Some(limit) = self.limit() else { return };
        let (rect, tokens, units) = (self.placed.rect, self.tokens, Units::now(self.ui));
        let y = self.placed.y_of(limit as f64);
        let line = [Pos2::new(rect.left(), y), Pos2::new(rect.right(), y)];
        self.inside.extend(Shape::dashed_line(&line, Stroke::new(2.0, tokens.ink), 7.0, 4.0));
        let (_, room) = self.of.data.tile.room(limit, units);
        let text = format!("Limit {}, {room}", units.bytes(limit));
        let at = Pos2::new(rect.right() - 6.0, y + 4.0);
        self.chip(at, Align2::RIGHT_TOP, &text);
    }

    fn axes(&self) {
        let (placed, tokens, units) = (self.placed, self.tokens, Units::now(self.ui));
        let (inner, painter) = (placed.rect, self.ui.painter());
        let (font, color) = (fonts::regular(11.0), tokens.third_text);
        let stroke = Stroke::new(1.0, tokens.border);
        let [per_x, per_y] = placed.per_point();
        let step = ticks::bytes_step(per_y * 44.0, units);
        for address in ticks::multiples(step, (placed.y.0.max(0.0), placed.y.1)) {
            let y = placed.y_of(address);
            painter.hline(inner.left() - 4.0..=inner.left(), y, stroke);
            let text = ticks::bytes_text(address, step, placed.y.1, units);
            let at = Pos2::new(inner.left() - 8.0, y);
            painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), color);
        }
        if !self.of.data.has_steps {
            return;
        }
        let id = |position: usize| step_id(&self.of.data.tile.report, position);
        let chip_at = self.of.step.map(|step| {
            let x = placed.x_of(step as f64 + 0.5);
            let colors = [tokens.ink, tokens.ink, tokens.surface];
            let is_visible = inner.x_range().expand(1.0).contains(x);
            is_visible.then(|| {
                let text = format!("{} {}", self.of.data.tile.report.system.step, id(step));
                // Within the picture: what is beside it has its own chip there.
                let half = text_width(self.ui, &text, &fonts::medium(11.0)) / 2.0 + 6.0;
                let x = x.min(inner.right() - half).max(inner.left());
                let at = Pos2::new(x, inner.bottom() + 5.0);
                chip(painter, at, Align2::CENTER_TOP, &text, colors)
            })
        });
        let chip_at = chip_at.flatten().unwrap_or(Rect::NOTHING);
        let every = ticks::whole_step(per_x * 64.0);
        for position in ticks::multiples(every, (placed.x.0.max(0.0), placed.x.1)) {
            let x = placed.x_of(position + 0.5);
            if x > inner.right() - 12.0 {
                break;
            }
            painter.vline(x, inner.bottom()..=inner.bottom() + 4.0, stroke);
            let at = Pos2::new(x, inner.bottom() + 7.0);
            if !chip_at.expand(16.0).contains(at + egui::vec2(0.0, 4.0)) {
                let text = id(position as usize);
                painter.text(at, Align2::CENTER_TOP, text, font.clone(), color);
            }
        }
    }
}

/// What is over the limit, red and, where there is room, hatched. Hundreds of blocks may be, so all of them are two shapes.
pub struct OverLimitShapes {
    red: Mesh,
    hatched: Hatched,
}

impl OverLimitShapes {
    pub fn begin(ctx: &egui::Context) -> Self {
        Self { red: Mesh::default(), hatched: hatch::begin(ctx) }
    }

    pub fn add(&mut self, rect: Rect, tokens: &Tokens) {
        self.red.add_colored_rect(rect, tokens.over);
        if rect.height() >= LEAST_HATCHED && rect.width() >= LEAST_HATCHED {
            self.hatched.add(rect, tokens.surface.gamma_multiply(0.5));
        }
    }

    pub fn paint(self, painter: &egui::Painter) {
        if !self.red.is_empty() {
            painter.add(Shape::mesh(self.red));
            self.hatched.paint(painter);
        }
    }
}
