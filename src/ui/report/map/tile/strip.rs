//! The strip: a tile from the bottom to the top, at a step or over all steps, with names beside it. It shares the
//! axis of addresses with the picture at its left.

use eframe::egui::{self, Color32, Key, Mesh, Pos2, Rect, Response, Sense, Shape, Stroke};
use std::sync::Arc;

use super::data::RunData;
use super::kinds::VariableKinds;
use super::labels::{LABEL, LEAST_LABELS, Label, TO_LABELS, labels_of};
use super::paint::OverLimitShapes;
use super::picture::next_variable;
use super::read::AtStep;
use super::tooltip::Hit;
use super::words::{chosen_text, pretty_name};
use super::{AT_ONCE, KindsByRow, RunTile};
use crate::analysis::placement::gaps::GapReason;
use crate::analysis::placement::tile_map::{TileMap, TileMapBlock};
use crate::ui::job::{Latest, Same};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::hatch;
use crate::ui::widget::picture::{describe, focus, pressed_keys};
use crate::ui::widget::plane::{Extent, PlacedPlane, Plane};

/// How far from a low block the pointer may be, points.
const NEAR: f32 = 2.0;
/// Blocks of the highest addresses that are looked at for what is over.
const MOST_OVER: usize = 64;

/// All that shapes are made of.
#[derive(Clone, PartialEq)]
pub struct StripKey {
    pub strip: Rect,
    labels: Rect,
    /// The visible addresses.
    range: (f64, f64),
    pub of: Same<RunData>,
    pub at_step: Option<Same<AtStep>>,
    kinds: Same<VariableKinds>,
    of_rows: Same<KindsByRow>,
    pub units: Units,
    is_dark: bool,
    /// The side of a pixel, points.
    pixel: f32,
}

/// What a strip shows: made again when that is another, of many blocks by a job.
#[derive(Default)]
pub struct Strip {
    shown: Latest<StripKey, StripShapes>,
}

#[derive(Default)]
struct StripShapes {
    /// What the labels are of.
    at_step: Option<Same<AtStep>>,
    blocks: Arc<Mesh>,
    labels: Vec<Label>,
}

pub struct StripOf<'a> {
    pub name: &'a str,
    /// Where it is drawn, and the room for labels at its right.
    pub strip: Rect,
    pub labels: Rect,
    pub tile: &'a RunTile,
    pub kinds: &'a Arc<VariableKinds>,
    pub extent: Extent,
    /// Where addresses lie.
    pub placed: PlacedPlane,
    pub chosen: Option<u32>,
}

pub struct StripResponse {
    pub response: Response,
    pub hovered: Option<Hit>,
    /// What was clicked, or reached with a key.
    pub clicked: Option<Hit>,
    pub is_entered: bool,
}

impl Strip {
    pub fn ui(&mut self, ui: &mut egui::Ui, plane: &mut Plane, of: &StripOf<'_>) -> StripResponse {
        let all = of.strip.union(of.labels);
        let response = ui.interact(all, ui.scope_id().with(of.name), Sense::click_and_drag());
        navigate(ui, &response, plane, of);
        // What describes it is asked for while the context is busy.
        let (tokens, units) = (Tokens::now(ui), Units::now(ui));
        let shown = self.shown(ui, of, (units, *tokens));
        paint(ui, shown, of);
        describe(&response, of.name, || value_text(of, units));
        focus(ui, &response, of.strip, egui::StrokeKind::Outside);
        let pointer = response.hover_pos();
        let hovered = pointer.and_then(|at| shown?.hit(of, at, 1.0 / ui.pixels_per_point()));
        let mut clicked = response
            .clicked_by(egui::PointerButton::Primary)
            .then_some(hovered.unwrap_or(Hit::Nothing));
        let mut is_entered = false;
        if response.has_focus() {
            let pressed = pressed_keys(ui, &response, true);
            let row = next_variable(&pressed, &of.tile.of, of.chosen);
            clicked = row.map(Hit::Variable).or(clicked);
            is_entered = pressed(Key::Enter) && of.chosen.is_some();
        }
        let hovered = hovered.filter(|_| !response.dragged());
        StripResponse { response, hovered, clicked, is_entered }
    }

    /// What was made last of this tile; nothing as long as there is none, or its step is not known.
    fn shown(
        &mut self,
        ui: &egui::Ui,
        of: &StripOf<'_>,
        (units, tokens): (Units, Tokens),
    ) -> Option<&StripShapes> {
        if of.tile.awaits_step {
            return None;
        }
        let key = StripKey {
            strip: of.strip,
            labels: of.labels,
            range: of.placed.y,
            of: Same(Arc::clone(&of.tile.of)),
            at_step: of.tile.at_step.clone().map(Same),
            kinds: Same(Arc::clone(of.kinds)),
            of_rows: Same(Arc::clone(&of.tile.kinds)),
            units,
            is_dark: ui.visuals().dark_mode,
            pixel: 1.0 / ui.pixels_per_point(),
        };
        let (for_job, placed) = (key.clone(), of.placed);
        let is_little = map(of).blocks.len() <= AT_ONCE;
        self.shown.ask_or_tell("strip of an arena", ui.ctx(), &key, is_little, move |_| {
            StripShapes::new(&for_job, &placed, &tokens)
        });
        let last = self.shown.last().filter(|(made_for, _)| made_for.of == key.of);
        last.map(|(_, shapes)| shapes)
    }
}

/// What is chosen, for those who cannot see the strip.
fn value_text(of: &StripOf<'_>, units: Units) -> String {
    let data = &of.tile.data;
    let chosen = of.chosen.and_then(|row| Some((row, data.bytes_of(row)?)));
    let Some((row, bytes)) = chosen else { return data.report.arena_title(data.arena) };
    chosen_text(&pretty_name(&of.tile.of, row).0, &bytes, units)
}

/// The wheel zooms addresses, a drag moves them, a double-click shows all.
fn navigate(ui: &egui::Ui, response: &Response, plane: &mut Plane, of: &StripOf<'_>) {
    let before = plane.y;
    let (len, [_, per_point]) = (of.extent.y, of.placed.per_point());
    if response.dragged() {
        plane.y.pan(len, f64::from(response.drag_delta().y) * per_point);
    }
    if let Some(pointer) = response.hover_pos() {
        let (wheel, pinch) = ui.input(|input| (input.smooth_scroll_delta(), input.zoom_delta()));
        let factor = f64::from(wheel.y / 200.0).exp() * f64::from(pinch);
        if (factor - 1.0).abs() > 1e-6 {
            plane.y.zoom(len, factor, of.placed.position(pointer).1);
        }
    }
    if response.double_clicked() {
        plane.y.reset();
    }
    if plane.y != before {
        ui.request_repaint();
    }
}

/// The map whose blocks are shown.
fn map<'a>(of: &StripOf<'a>) -> &'a TileMap {
    of.tile.at_step.as_ref().map_or(&of.tile.data.map, |at_step| &at_step.map)
}

/// Where lanes lie: they share the width of the strip, and of those that share a pixel the first is seen.
struct StripLanes {
    strip: Rect,
    lanes: usize,
    columns: usize,
}

impl StripLanes {
    fn of(strip: Rect, map: &TileMap, pixel: f32) -> Self {
        let pixels = (strip.width() / pixel).max(1.0) as usize;
        let lanes = map.lanes.len().max(1);
        Self { strip, lanes, columns: lanes.min(pixels) }
    }

    /// The lane that is seen at a place.
    fn at(&self, x: f32) -> usize {
        let column = (x - self.strip.left()) / self.strip.width() * self.columns as f32;
        let column = (column.max(0.0) as usize).min(self.columns - 1);
        (column * self.lanes).div_ceil(self.columns)
    }

    fn column(&self, lane: u32) -> usize {
        lane as usize * self.columns / self.lanes
    }

    fn is_seen(&self, lane: u32) -> bool {
        lane.checked_sub(1).is_none_or(|before| self.column(before) < self.column(lane))
    }

    /// Where a block lies.
    fn rect_of(&self, placed: &PlacedPlane, block: &TileMapBlock) -> Rect {
        let strip = self.strip;
        let width = strip.width() / self.columns as f32;
        let left = strip.left() + width * self.column(block.lane) as f32;
        let (top, bottom) = (strip.top() - 9.0, strip.bottom() + 9.0);
        let y = |address: u64| placed.y_of(address as f64).clamp(top, bottom);
        Rect::from_x_y_ranges(left..=left + width, y(block.end)..=y(block.offset))
    }
}

impl StripShapes {
    fn new(key: &StripKey, placed: &PlacedPlane, tokens: &Tokens) -> Self {
        let StripKey { strip, of: Same(of), of_rows: Same(of_rows), pixel, .. } = key;
        let (strip, pixel) = (*strip, *pixel);
        let map = key.at_step.as_ref().map_or(&of.tile.map, |Same(at_step)| &at_step.map);
        let lanes = StripLanes::of(strip, map, pixel);
        let mut mesh = Mesh::default();
        // Blocks lower than a pixel become one with those beside them, in the color of the largest.
        let mut thin: Vec<Option<(Rect, Color32, u64)>> = vec![None; lanes.columns];
        let flush = |mesh: &mut Mesh, thin: &mut Option<(Rect, Color32, u64)>| {
            if let Some((rect, fill, _)) = thin.take() {
                let top = rect.top().min(rect.bottom() - pixel);
                mesh.add_colored_rect(rect.with_min_y(top), fill);
            }
        };
        for block in map.blocks.iter().filter(|block| lanes.is_seen(block.lane)) {
            let kind = of_rows.get(block.row as usize).copied().flatten();
            let Some(thin) = thin.get_mut(lanes.column(block.lane)) else { continue };
            let rect = lanes.rect_of(placed, block);
            let Some(kind) = kind.filter(|_| rect.intersects(strip)) else { continue };
            let (fill, bytes) = (key.kinds.0.fill(tokens, kind), block.end - block.offset);
            if rect.height() >= pixel {
                flush(&mut mesh, thin);
                let edge = if rect.height() > 4.0 { pixel } else { 0.0 };
                let rect = rect.with_min_y(rect.top() + edge).intersect(strip);
                mesh.add_colored_rect(rect, fill);
                continue;
            }
            match thin {
                Some((before, color, most)) if before.bottom() - rect.top() < pixel * 1.5 => {
                    before.min.y = before.min.y.min(rect.top());
                    if bytes > *most {
                        (*color, *most) = (fill, bytes);
                    }
                }
                _ => {
                    flush(&mut mesh, thin);
                    *thin = Some((rect.intersect(strip), fill, bytes));
                }
            }
        }
        for thin in &mut thin {
            flush(&mut mesh, thin);
        }
        let has_labels = key.labels.width() >= LEAST_LABELS;
        let labels = if has_labels { labels_of(key, placed) } else { Vec::new() };
        Self { at_step: key.at_step.clone(), blocks: Arc::new(mesh), labels }
    }

    /// What lies at a place of the strip, or what the label there is of.
    fn hit(&self, of: &StripOf<'_>, at: Pos2, pixel: f32) -> Option<Hit> {
        let strip = of.strip;
        if at.x > strip.right() + TO_LABELS {
            let near = |label: &&Label| (label.at - at.y).abs() <= LABEL / 2.0;
            // Gaps of an earlier step have other places.
            let is_now = self.at_step == of.tile.at_step.clone().map(Same);
            let is_there = |hit: &Hit| is_now || !matches!(hit, Hit::Gap(_));
            return self.labels.iter().find(near)?.hit.filter(is_there);
        }
        let map = map(of);
        let lane = StripLanes::of(strip, map, pixel).at(at.x);
        let address = |y: f32| {
            let (_, address) = of.placed.position(Pos2::new(at.x, y));
            (address + 0.5).floor().max(0.0) as u64
        };
        let around = address(at.y + NEAR)..address(at.y - NEAR).saturating_add(1);
        let exact = map.block_at(address(at.y), lane);
        let block = exact.and_then(|place| map.blocks.get(place)).or_else(|| {
            let near = map.blocks_within(lane, around.clone()).iter();
            let near = near.filter_map(|place| map.blocks.get(*place as usize));
            near.max_by_key(|block| block.end - block.offset)
        });
        let gap = map.gap_at(address(at.y));
        // A gap that is there exactly comes before a variable that is only near.
        match (exact, gap, block) {
            (None, Some(gap), _) => Some(Hit::Gap(gap)),
            (_, _, Some(block)) => Some(Hit::Variable(block.row)),
            _ => None,
        }
    }
}

fn paint(ui: &egui::Ui, shown: Option<&StripShapes>, of: &StripOf<'_>) {
    let (tokens, map, strip) = (Tokens::now(ui), map(of), of.strip);
    let lanes = StripLanes::of(strip, map, 1.0 / ui.pixels_per_point());
    let inside = ui.painter().with_clip_rect(strip);
    let stroke = Stroke::new(1.0, tokens.border);
    ui.painter().rect(strip, 0, tokens.page, stroke, egui::StrokeKind::Outside);
    let y = |address: u64| of.placed.y_of(address as f64).clamp(strip.top(), strip.bottom());
    let part = |start: u64, end: u64| Rect::from_x_y_ranges(strip.x_range(), y(end)..=y(start));
    let top = map.limit.unwrap_or(map.end);
    let mut hatched = hatch::begin(ui.ctx());
    hatched.add(part(0, top), tokens.gap.gamma_multiply(0.3));
    hatched.paint(&inside);
    let Some(shown) = shown else { return };
    inside.add(Shape::mesh(Arc::clone(&shown.blocks)));
    let end = gaps_end(map, of.tile.at_step.as_deref());
    gaps(&inside, map, end, &part, tokens);
    let step = of.tile.at_step.as_ref().and_then(|at_step| u32::try_from(at_step.step).ok());
    let clashes = &of.tile.of.clashes;
    let mut painted = OverLimitShapes::begin(ui.ctx());
    for clash in clashes.iter().filter(|one| step.is_none_or(|step| one.steps.contains(&step))) {
        painted.add(part(clash.bytes.start, clash.bytes.end).intersect(strip), tokens);
    }
    painted.paint(&inside);
    if let Some(limit) = map.limit {
        let highest = map.blocks.iter().rev().take(MOST_OVER);
        let mut painted = OverLimitShapes::begin(ui.ctx());
        for block in highest.filter(|block| block.end > limit) {
            let rect = lanes.rect_of(&of.placed, block);
            let over = rect.with_max_y(rect.bottom().min(y(limit)));
            let over = over.with_min_y(over.top().min(over.bottom() - 3.0)).intersect(strip);
            if over.is_positive() {
                painted.add(over, tokens);
            }
        }
        painted.paint(&inside);
        // A limit that the axis does not reach is not in the picture.
        let at = of.placed.y_of(limit as f64);
        let line = [Pos2::new(strip.left(), at), Pos2::new(strip.right(), at)];
        inside.extend(Shape::dashed_line(&line, Stroke::new(2.0, tokens.ink), 7.0, 4.0));
    }
    let chosen = of.chosen.and_then(|row| {
        let bytes = of.tile.data.bytes_of(row)?;
        map.blocks.get(map.block_of(row, &bytes)?)
    });
    if let Some(block) = chosen {
        let rect = lanes.rect_of(&of.placed, block);
        let rect = rect.with_min_y(rect.top().min(rect.bottom() - 2.0));
        let stroke = Stroke::new(2.0, tokens.ink);
        ui.painter().with_clip_rect(strip.expand(3.0)).rect_stroke(
            rect,
            0,
            stroke,
            egui::StrokeKind::Outside,
        );
    }
    for label in &shown.labels {
        let is_chosen = of.chosen.is_some_and(|row| label.hit == Some(Hit::Variable(row)));
        label.paint(ui.painter(), strip.right(), of.labels, is_chosen, tokens);
    }
}

/// The address above which there are no gaps: the end of what is placed, or the limit of an arena that is filled from both
/// ends.
pub fn gaps_end(map: &TileMap, at_step: Option<&AtStep>) -> u64 {
    let end = at_step.map_or(map.end, |at_step| at_step.used.end);
    let limit = map.limit.filter(|_| map.is_filled_from_both_ends);
    limit.map_or(end, |limit| limit.max(end))
}

/// Gaps are hatched, low ones a line.
fn gaps(
    painter: &egui::Painter,
    map: &TileMap,
    end: u64,
    part: &dyn Fn(u64, u64) -> Rect,
    tokens: &Tokens,
) {
    let mut hatched = hatch::begin(painter.ctx());
    for gap in map.gaps.iter().take_while(|gap| gap.bytes.end <= end) {
        let rect = part(gap.bytes.start, gap.bytes.end);
        if rect.height() >= 3.0 {
            hatched.add(rect, tokens.gap);
        } else if rect.height() >= 0.5 && gap.reason != GapReason::FreeAtStep {
            painter.hline(rect.x_range(), rect.center().y, Stroke::new(2.0, tokens.ink));
        }
    }
    hatched.paint(painter);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_lanes_than_pixels_one_a_pixel_is_seen() {
        let strip = Rect::from_min_size(Pos2::ZERO, egui::vec2(10.0, 100.0));
        let of = |lanes: usize| {
            let map = TileMap { lanes: vec![Vec::new(); lanes], ..TileMap::default() };
            StripLanes::of(strip, &map, 0.5)
        };
        let seen = |lanes: u32| -> Vec<u32> {
            let of = of(lanes as usize);
            (0..lanes).filter(|lane| of.is_seen(*lane)).collect()
        };
        assert_eq!((of(3).columns, seen(3)), (3, vec![0, 1, 2]));
        assert_eq!((of(100_000).columns, seen(100_000).len()), (20, 20));
        assert_eq!(of(100_000).column(99_999), 19);
    }
}
