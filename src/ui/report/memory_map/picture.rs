//! The picture of a tile's memory: addresses from the left to the right, a rectangle a variable.

use eframe::egui::{self, Key, Response, Sense, Stroke, StrokeKind};

use super::choices::Choices;
use super::paint::{Layout, Paint, Scene, kind_of};
use crate::analysis::placement::tile_map::{Block, TileMap};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::hatch::Hatching;
use crate::ui::widget::navigate::{Axis, navigate, navigate_by_key};
use crate::ui::widget::picture::{describe, focus, moved, pressed_keys};
use crate::ui::widget::view::View;

/// How far from a narrow block the pointer may be, points.
const NEAR: f32 = 2.0;

/// What lies at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// The variable of a row.
    Variable(u32),
    /// A gap, a position in those that are drawn.
    Gap(usize),
    Ground,
}

#[derive(Clone, Copy, Debug)]
pub struct PictureOf<'a> {
    pub name: &'a str,
    pub value: &'a str,
    /// Bytes of its axis.
    pub len: usize,
    /// Whether it follows the keys that zoom. Of pictures that share a view, one does.
    pub has_keys: bool,
    /// The address that the pointer is over in another picture of the same axis.
    pub pointed: Option<u64>,
}

pub struct Answer {
    pub response: Response,
    pub hovered: Option<Hit>,
    pub address: Option<u64>,
    /// What was clicked, or reached with a key.
    pub clicked: Option<Hit>,
    /// What shall fill the picture.
    pub zoomed: Option<Hit>,
}

pub fn picture_ui(
    ui: &mut egui::Ui,
    view: &mut View,
    hatching: &mut Hatching,
    scene: Scene<'_>,
    choices: &Choices,
    of: PictureOf<'_>,
) -> Answer {
    let (tokens, units, len) = (Tokens::now(ui), Units::now(ui), of.len);
    let size = ui.available_size().max(egui::vec2(80.0, 80.0));
    let (outer, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let map = scene.map(choices);
    let layout = Layout::new(outer, view.range(len), map);
    let painter = ui.painter().with_clip_rect(layout.frame.expand2(egui::vec2(0.0, 4.0)));
    let paint = Paint { painter, tokens, layout, scene, choices };
    paint.ground();
    paint.gaps(hatching);
    paint.blocks();
    paint.labels(ui.painter(), units);
    paint.axis(ui.painter(), len, units);

    if let Some(pointed) = of.pointed {
        let stroke = Stroke::new(1.0, tokens.weak_text);
        ui.painter().vline(layout.x(pointed), layout.frame.y_range(), stroke);
    }
    let pointer = response.hover_pos().filter(|at| layout.frame.contains(*at));
    let hovered = pointer.and_then(|at| hit(&scene, choices, &layout, at));
    describe(&response, of.name, || of.value.to_owned());
    let axis = Axis {
        origin: f64::from(layout.frame.left()) - layout.range.0 / layout.per_point(),
        per_point: layout.per_point(),
    };
    let mut moved = navigate(ui, &response, axis, view, len, true);
    moved |= of.has_keys && navigate_by_key(ui, view, len);
    focus(ui, &response, layout.frame, StrokeKind::Inside);
    let (by_key, is_entered) = keys(ui, &response, map, scene.chosen);
    let mut zoomed = scene.chosen.filter(|_| is_entered).map(Hit::Variable);
    if response.double_clicked() {
        zoomed = zoomed.or(hovered);
        if hovered.is_none() {
            view.reset();
            moved = true;
        }
    }
    let by_key = by_key.map(Hit::Variable);
    // Enter counts as a click, but not here.
    let is_clicked = response.clicked_by(egui::PointerButton::Primary);
    let clicked = by_key.or_else(|| is_clicked.then_some(hovered.unwrap_or(Hit::Ground)));
    if moved || clicked.is_some() || zoomed.is_some() {
        ui.request_repaint();
    }
    let hovered = hovered.filter(|_| !response.dragged());
    let address = pointer.map(|at| layout.address(at.x));
    Answer { response, hovered, address, clicked, zoomed }
}

/// What lies at a place: the variable there, else the largest of those that are narrow and near.
fn hit(scene: &Scene<'_>, choices: &Choices, layout: &Layout, at: egui::Pos2) -> Option<Hit> {
    let map = scene.map(choices);
    let address = layout.address(at.x);
    let is_shown = |block: &Block| choices.has(scene.kind(choices, block));
    if let Some(lane) = layout.lane_at(at.y) {
        let near = layout.address(at.x - NEAR)..layout.address(at.x + NEAR).saturating_add(1);
        let exact = map.block_at(address, lane).and_then(|place| map.blocks.get(place));
        let around = map.blocks_within(lane, near).iter();
        let around = around.filter_map(|place| map.blocks.get(*place as usize));
        let found = exact
            .filter(|block| is_shown(block))
            .or_else(|| {
                around.filter(|block| is_shown(block)).max_by_key(|block| block.end - block.offset)
            })
            .map(|block| Hit::Variable(block.row));
        if found.is_some() {
            return found;
        }
    }
    let gaps = scene.gaps();
    let near = layout.address(at.x - NEAR);
    let first = gaps.partition_point(|gap| gap.bytes.end <= near);
    let until = layout.address(at.x + NEAR);
    let around =
        gaps.iter().enumerate().skip(first).take_while(|(_, gap)| gap.bytes.start <= until);
    let around = around.filter(|(_, gap)| choices.has(kind_of(gap)));
    around
        .max_by_key(|(_, gap)| (gap.bytes.contains(&address), gap.size()))
        .map(|(place, _)| Hit::Gap(place))
}

/// Arrows go from variable to variable by address; Enter shows the chosen one.
fn keys(
    ui: &egui::Ui,
    response: &Response,
    map: &TileMap,
    chosen: Option<u32>,
) -> (Option<u32>, bool) {
    if !response.has_focus() || map.blocks.is_empty() {
        return (None, false);
    }
    let pressed = pressed_keys(ui, response, false);
    let now = chosen.and_then(|row| map.block_of(row));
    let place = moved(&pressed, [Key::ArrowRight, Key::ArrowLeft], now, map.blocks.len())
        .or_else(|| pressed(Key::Home).then_some(0))
        .or_else(|| pressed(Key::End).then(|| map.blocks.len() - 1));
    let row = place.and_then(|place| map.blocks.get(place)).map(|block| block.row);
    (row, pressed(Key::Enter))
}
