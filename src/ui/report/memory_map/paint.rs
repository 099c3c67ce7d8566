//! The painting of a tile's map: blocks in their lanes, gaps, borders, the axis.

use eframe::egui::{
    self, Align2, Color32, FontId, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2,
};
use std::ops::Range;

use super::choices::{Choices, Colours, Kind, color};
use super::picture::Hit;
use super::read::{AtStep, Marks, TileData};
use crate::analysis::placement::gaps::{Gap, GapReason};
use crate::analysis::placement::tile_map::{Block, TileMap};
use crate::store::ids::CategoryId;
use crate::text::shortened;
use crate::ui::report::category_colors::CategoryColors;
use crate::ui::theme::{Tokens, text_on};
use crate::ui::units::Units;
use crate::ui::widget::hatch::Hatching;
use crate::ui::widget::picture::text_within;
use crate::ui::widget::ticks;

/// Height of the lane of gaps, points.
pub const GAP_LANE: f32 = 16.0;
/// Room above the picture for labels, points.
const LABELS: f32 = 19.0;
/// Room below it for ticks and a title, points.
const AXIS: f32 = 34.0;
/// Highest lane, points.
const HIGHEST: f32 = 30.0;
/// Narrowest block with its name inside, points.
const NAMED: f32 = 36.0;
/// Lowest lane with names, points.
const NAMED_LANE: f32 = 12.0;
/// Least distance of ticks, points.
const X_TICKS: f64 = 90.0;
/// Least distance of the borders of memory elements, points.
const BORDERS: f32 = 5.0;

#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// Its place among the runs.
    pub place: usize,
    pub colors: &'a CategoryColors,
    pub data: &'a TileData,
    /// What is alive there, as soon as it is known.
    pub at_step: Option<&'a AtStep>,
    pub marks: &'a Marks,
    /// The row of the variable that is chosen.
    pub chosen: Option<u32>,
}

impl Scene<'_> {
    /// The map whose blocks are drawn.
    pub fn map(&self, choices: &Choices) -> &TileMap {
        match self.at_step {
            Some(at_step) if choices.is_packed => &at_step.map,
            _ => &self.data.map,
        }
    }

    pub fn gaps(&self) -> &[Gap] {
        self.at_step.map_or(&self.data.map.gaps, |at_step| &at_step.map.gaps)
    }

    fn interleaved(&self) -> Option<u64> {
        self.data.report.target.get()?.interleaved_start
    }

    pub fn bytes_of(&self, hit: Hit) -> Option<Range<u64>> {
        match hit {
            Hit::Variable(row) => self.data.bytes_of(row),
            Hit::Gap(place) => self.gaps().get(place).map(|gap| gap.bytes.clone()),
            Hit::Ground => None,
        }
    }

    /// Whether a variable lives at the step; `None` over all steps.
    pub fn is_live(&self, row: u32) -> Option<bool> {
        let at_step = self.at_step?;
        Some(at_step.live.get(row as usize) == Some(&true))
    }

    /// What a block is in the legend.
    pub fn kind(&self, choices: &Choices, block: &Block) -> Kind {
        match choices.colours {
            Colours::Category => self.category_kind(block.category),
            Colours::Liveness if block.is_always_live => Kind::AlwaysLive,
            Colours::Liveness if self.is_live(block.row) == Some(false) => Kind::NotLive,
            Colours::Liveness => Kind::Live,
        }
    }

    pub fn category_kind(&self, category: Option<CategoryId>) -> Kind {
        let place = category.and_then(|id| self.colors.place(self.place, id));
        place.map_or(Kind::OtherCategories, Kind::Category)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The picture without labels and axis.
    pub frame: Rect,
    /// The first and last address that are visible; address `a` covers `a - 0.5` to `a + 0.5`.
    pub range: (f64, f64),
    pub lane: f32,
}

impl Layout {
    /// The layout in an area. Lanes are as high as those that have something visible leave room for.
    pub fn new(outer: Rect, range: (f64, f64), map: &TileMap) -> Self {
        let frame = Rect::from_min_max(
            outer.min + Vec2::new(1.0, LABELS),
            outer.max - Vec2::new(1.0, AXIS.min(outer.height() / 3.0)),
        );
        let room = (frame.height() - GAP_LANE).max(1.0);
        let mut layout = Self { frame, range, lane: room };
        let visible = layout.visible();
        let is_used = |lane: &usize| !map.blocks_within(*lane, visible.clone()).is_empty();
        let lanes = (0..map.lanes.len()).rev().find(is_used).map_or(1, |last| last + 1);
        layout.lane = (room / lanes as f32).min(HIGHEST);
        layout
    }

    /// Addresses of a point.
    pub fn per_point(&self) -> f64 {
        (self.range.1 - self.range.0) / f64::from(self.frame.width().max(1.0))
    }

    pub fn x(&self, address: u64) -> f32 {
        let at = (address as f64 - 0.5 - self.range.0) / self.per_point();
        // What is far outside would lose its place in 32 bits.
        self.frame.left() + at.clamp(-10.0, f64::from(self.frame.width()) + 10.0) as f32
    }

    pub fn address(&self, x: f32) -> u64 {
        let at = self.range.0 + 0.5 + f64::from(x - self.frame.left()) * self.per_point();
        at.max(0.0) as u64
    }

    pub fn visible(&self) -> Range<u64> {
        let end = (self.range.1 + 0.5).ceil().max(0.0) as u64;
        (self.range.0 + 0.5).max(0.0) as u64..end
    }

    pub fn gap_lane(&self) -> Rect {
        let top = Pos2::new(self.frame.left(), self.frame.bottom() - GAP_LANE);
        Rect::from_min_max(top, self.frame.max)
    }

    /// The lane at a height, the lowest first.
    pub fn lane_at(&self, y: f32) -> Option<usize> {
        let above = self.frame.bottom() - GAP_LANE - y;
        (above >= 0.0).then(|| (above / self.lane.max(0.01)) as usize)
    }

    fn block(&self, block: &Block) -> Rect {
        let bottom = self.frame.bottom() - GAP_LANE - block.lane as f32 * self.lane;
        let gap = if self.lane > 5.0 { 1.0 } else { 0.0 };
        let x = self.x(block.offset)..=self.x(block.end);
        Rect::from_x_y_ranges(x, bottom - self.lane + gap..=bottom)
    }
}

pub struct Paint<'a> {
    pub painter: egui::Painter,
    pub tokens: &'a Tokens,
    pub layout: Layout,
    pub scene: Scene<'a>,
    pub choices: &'a Choices,
}

/// Blocks that are narrower than a pixel and lie side by side.
struct Run {
    rect: Rect,
    fill: Color32,
    widest: u64,
}

impl Paint<'_> {
    /// Ground, interleaved memory, the borders of memory elements.
    pub fn ground(&self) {
        let (frame, tokens) = (self.layout.frame, self.tokens);
        self.painter.rect_filled(frame, 0, tokens.surface);
        if let Some(start) = self.scene.interleaved() {
            let x = self.layout.x(start)..=frame.right();
            self.painter.rect_filled(Rect::from_x_y_ranges(x, frame.y_range()), 0, tokens.stripe);
        }
        let stroke = Stroke::new(1.0, tokens.grid);
        let visible = self.layout.visible();
        let elements = &self.scene.data.map.elements;
        let first = elements.partition_point(|element| *element < visible.start);
        let mut drawn = f32::NEG_INFINITY;
        for element in elements.iter().skip(first).take_while(|element| **element < visible.end) {
            let x = self.layout.x(*element);
            if x - drawn >= BORDERS {
                drawn = x;
                self.painter.vline(x, frame.y_range(), stroke);
            }
        }
    }

    /// Gaps in a lane of their own, and faintly over all lanes.
    pub fn gaps(&self, hatching: &mut Hatching) {
        let (visible, lane) = (self.layout.visible(), self.layout.gap_lane());
        let gaps = self.scene.gaps();
        let first = gaps.partition_point(|gap| gap.bytes.end <= visible.start);
        let mut hatched =
            [false, true].map(|is_falling| hatching.begin(self.painter.ctx(), is_falling));
        let mut narrow = Mesh::default();
        let mut drawn = [f32::NEG_INFINITY; 2];
        let pixel = 1.0 / self.painter.pixels_per_point();
        for gap in gaps.iter().skip(first).take_while(|gap| gap.bytes.start < visible.end) {
            let kind = kind_of(gap);
            if !self.choices.has(kind) {
                continue;
            }
            let index = usize::from(kind == Kind::Free);
            let (left, right) = (self.layout.x(gap.bytes.start), self.layout.x(gap.bytes.end));
            let Some(drawn) = drawn.get_mut(index) else { continue };
            // Of gaps in one pixel the first is drawn.
            if right <= *drawn {
                continue;
            }
            let right = right.max(left + pixel);
            *drawn = right;
            let fill = color(self.tokens, self.scene.colors, kind);
            let rect = Rect::from_x_y_ranges(left..=right, lane.y_range());
            if right - left < 3.0 {
                narrow.add_colored_rect(rect, fill);
            } else {
                narrow.add_colored_rect(rect, fill.gamma_multiply(0.18));
            }
            let Some(hatched) = hatched.get_mut(index) else { continue };
            hatched.add(rect, fill);
            if kind == Kind::Gaps && right - left >= 3.0 {
                let above =
                    Rect::from_x_y_ranges(left..=right, self.layout.frame.top()..=lane.top());
                hatched.add(above, fill.gamma_multiply(0.45));
            }
        }
        self.painter.add(Shape::mesh(narrow));
        for hatched in hatched {
            hatched.paint(&self.painter);
        }
        let stroke = Stroke::new(1.0, self.tokens.border);
        self.painter.hline(lane.x_range(), lane.top(), stroke);
    }

    /// The visible blocks; narrow ones that lie side by side become one.
    pub fn blocks(&self) {
        let map = self.scene.map(self.choices);
        let visible = self.layout.visible();
        let (mut mesh, mut names, mut outlines) = (Mesh::default(), Vec::new(), Vec::new());
        let pixel = 1.0 / self.painter.pixels_per_point();
        for lane in 0..map.lanes.len() {
            let mut run: Option<Run> = None;
            for position in map.blocks_within(lane, visible.clone()) {
                let Some(block) = map.blocks.get(*position as usize) else { continue };
                let Some((fill, is_pale)) = self.fill(block) else { continue };
                let rect = self.layout.block(block);
                self.mark(block, rect, pixel, &mut outlines);
                if rect.width() >= pixel {
                    run = flush(run, &mut mesh, pixel);
                    let gap = if rect.width() > 3.0 { pixel } else { 0.0 };
                    mesh.add_colored_rect(rect.with_max_x(rect.right() - gap), fill);
                    if rect.width() >= NAMED && self.layout.lane >= NAMED_LANE {
                        names.push((rect, block.row, fill, is_pale));
                    }
                    continue;
                }
                let bytes = block.end - block.offset;
                match &mut run {
                    Some(run) if rect.left() - run.rect.left() < pixel => {
                        run.rect.max.x = run.rect.max.x.max(rect.right());
                        if bytes > run.widest {
                            (run.widest, run.fill) = (bytes, fill);
                        }
                    }
                    _ => {
                        flush(run, &mut mesh, pixel);
                        run = Some(Run { rect, fill, widest: bytes });
                    }
                }
            }
            flush(run, &mut mesh, pixel);
        }
        self.painter.add(Shape::mesh(mesh));
        for (rect, row, fill, is_pale) in names {
            let color = if is_pale { self.tokens.weak_text } else { text_on(fill) };
            self.name(rect, row, color);
        }
        for (rect, stroke) in outlines {
            self.painter.rect_stroke(rect, 0, stroke, StrokeKind::Outside);
        }
    }

    /// The colour of a block and whether it is pale; `None` where it is not drawn.
    fn fill(&self, block: &Block) -> Option<(Color32, bool)> {
        let kind = self.scene.kind(self.choices, block);
        if !self.choices.has(kind) {
            return None;
        }
        let fill = color(self.tokens, self.scene.colors, kind);
        let is_pale = self.scene.is_live(block.row) == Some(false);
        Some((if is_pale { fill.gamma_multiply(0.22) } else { fill }, is_pale))
    }

    fn mark(&self, block: &Block, rect: Rect, pixel: f32, outlines: &mut Vec<(Rect, Stroke)>) {
        let row = block.row as usize;
        let is = |marks: &[bool]| marks.get(row) == Some(&true);
        let tokens = self.tokens;
        let stroke = if self.scene.chosen == Some(block.row) {
            Stroke::new(2.0, tokens.text)
        } else if is(&self.scene.marks.found) {
            Stroke::new(1.5, tokens.accent)
        } else if is(&self.scene.marks.selected) {
            Stroke::new(1.5, tokens.text)
        } else {
            return;
        };
        // Of marks in one pixel of a lane the first is drawn.
        let is_same = |(before, _): &(Rect, Stroke)| {
            (before.top() - rect.top()).abs() < 0.1 && rect.right() - before.right() < pixel
        };
        if self.scene.chosen != Some(block.row) && outlines.last().is_some_and(is_same) {
            return;
        }
        outlines.push((rect.with_max_x(rect.right().max(rect.left() + pixel)), stroke));
    }

    fn name(&self, rect: Rect, row: u32, color: Color32) {
        let inside = rect.intersect(self.layout.frame).shrink2(Vec2::new(4.0, 0.0));
        if inside.width() < NAMED - 8.0 {
            return;
        }
        let size = (self.layout.lane - 2.0).clamp(9.0, 12.5);
        let text = shortened(self.scene.data.name(row), 100).into_owned();
        text_within(&self.painter, inside, text, size, color);
    }

    /// The limit and the beginning of interleaved memory, with labels above the picture.
    pub fn labels(&self, outer: &egui::Painter, units: Units) {
        let (frame, tokens) = (self.layout.frame, self.tokens);
        let visible = self.layout.visible();
        let mut free_to = frame.right();
        let mut label = |address: u64, text: String, color: Color32, is_dashed: bool| {
            if !(visible.start..=visible.end).contains(&address) {
                return;
            }
            let x = self.layout.x(address).min(frame.right() - 0.5);
            let ends = [Pos2::new(x, frame.top() - 4.0), Pos2::new(x, frame.bottom())];
            let stroke = Stroke::new(1.5, color);
            if is_dashed {
                self.painter.extend(Shape::dashed_line(&ends, stroke, 8.0, 4.0));
            } else {
                self.painter.line_segment(ends, stroke);
            }
            let font = FontId::proportional(12.5);
            let galley = outer.layout_no_wrap(text, font, color);
            let width = galley.size().x;
            let left = (x + 4.0).min(free_to - width);
            if left >= frame.left() {
                outer.galley(Pos2::new(left, frame.top() - LABELS + 1.0), galley, color);
                free_to = left - 10.0;
            }
        };
        if let Some(limit) = self.scene.data.map.limit {
            label(limit, format!("Limit {}", units.bytes(limit)), tokens.ink, true);
        }
        if let Some(start) = self.scene.interleaved() {
            let text = format!("Interleaved memory from {}", units.bytes(start));
            label(start, text, tokens.weak_text, false);
        }
    }

    pub fn axis(&self, outer: &egui::Painter, len: usize, units: Units) {
        let (frame, tokens) = (self.layout.frame, self.tokens);
        self.painter.hline(frame.x_range(), frame.bottom(), Stroke::new(1.0, tokens.border));
        let step = ticks::bytes_step(self.layout.per_point() * X_TICKS, units);
        let font = FontId::proportional(12.5);
        let range = (self.layout.range.0.max(0.0), self.layout.range.1);
        for value in ticks::multiples(step, range) {
            let x = self.layout.x(value as u64);
            outer.vline(x, frame.bottom()..=frame.bottom() + 4.0, Stroke::new(1.0, tokens.border));
            let text = ticks::bytes_text(value, step, len as f64, units);
            let at = Pos2::new(x, frame.bottom() + 4.0);
            let galley = outer.layout_no_wrap(text, font.clone(), tokens.weak_text);
            let half = galley.size().x / 2.0;
            let left = (at.x - half).clamp(frame.left(), frame.right() - 2.0 * half);
            outer.galley(Pos2::new(left, at.y), galley, tokens.weak_text);
        }
        let at = Pos2::new(frame.center().x, frame.bottom() + 18.0);
        outer.text(at, Align2::CENTER_TOP, "Address", font, tokens.text);
    }
}

/// What a gap is in the legend.
pub fn kind_of(gap: &Gap) -> Kind {
    if gap.reason == GapReason::FreeAtStep { Kind::Free } else { Kind::Gaps }
}

fn flush(run: Option<Run>, mesh: &mut Mesh, pixel: f32) -> Option<Run> {
    if let Some(run) = run {
        let right = run.rect.right().max(run.rect.left() + pixel);
        mesh.add_colored_rect(run.rect.with_max_x(right), run.fill);
    }
    None
}
