//! The picture of one run: cells of what is visible as one texture, and what pointer and keys do to it.

use eframe::egui::{self, Key, Pos2, Rect, Response, Sense, StrokeKind};
use std::sync::Arc;

use super::KindsByRow;
use super::data::RunData;
use super::kinds::VariableKinds;
use super::paint::{self, BOTTOM, LEFT};
use super::words::chosen_text;
use crate::analysis::placement::address_steps::{
    AddressPicture, AddressSteps, AddressWindow, MOST_CELLS, Rectangle,
};
use crate::text::grouped;
use crate::ui::job::Same;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::picture::{
    ShownImage, describe, focus, message, moved, paint_texture, pressed_keys, to_end,
};
use crate::ui::widget::plane::{Extent, PlacedPlane, Plane};

/// How far from a small rectangle the pointer may be, points.
const NEAR: f32 = 2.0;
/// Rectangles that are told apart by their edges, and the least width and height of those, points.
const MOST_EDGES: usize = 400;
const LEAST_EDGES: f64 = 4.0;

#[derive(Clone, PartialEq)]
struct TileCellsKey {
    of: Same<RunData>,
    window: AddressWindow,
    of_rows: Same<KindsByRow>,
    /// It decides which rectangles have edges.
    per_point: [f64; 2],
    is_dark: bool,
}

/// What is on the screen.
struct Rendered {
    picture: AddressPicture,
    /// Rectangles that are told apart by their edges, positions in [`AddressSteps::rectangles`].
    edged: Vec<usize>,
}

#[derive(Default)]
pub struct RunPicture {
    cells: ShownImage<TileCellsKey, Rendered>,
    /// Where a drag over a part began.
    dragged_from: Option<Pos2>,
}

pub struct TileScene<'a> {
    pub name: &'a str,
    pub data: &'a Arc<RunData>,
    pub kinds: &'a Arc<VariableKinds>,
    /// The kind of each variable, by row.
    pub of_rows: &'a Arc<KindsByRow>,
    /// Steps and addresses of the axes.
    pub extent: Extent,
    /// The step of the strip.
    pub step: Option<usize>,
    /// Steps that are selected beside it.
    pub steps: &'a [usize],
    /// The row of the chosen variable.
    pub chosen: Option<u32>,
    /// What the search found, positions in the blocks of the map.
    pub found: &'a [u32],
    /// Where the pointer is in another picture.
    pub pointed: Option<(usize, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapPoint {
    pub step: usize,
    pub address: u64,
    /// The row of the variable there.
    pub row: Option<u32>,
}

pub struct TileMapResponse {
    pub response: Response,
    pub placed: PlacedPlane,
    pub hovered: Option<MapPoint>,
    pub clicked: Option<MapPoint>,
    /// The variable that was reached with a key.
    pub reached: Option<u32>,
    /// The step that was reached with a key.
    pub step: Option<usize>,
    /// Whether the chosen variable shall fill the picture.
    pub is_entered: bool,
}

impl RunPicture {
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        outer: Rect,
        plane: &mut Plane,
        of: &TileScene<'_>,
    ) -> TileMapResponse {
        let inner = inner(outer);
        let response = ui.interact(inner, ui.scope_id().with(of.name), Sense::click_and_drag());
        let dragged = self.navigate(ui, &response, plane, inner, of.extent);
        let placed = plane.placed(inner, of.extent);
        self.ask(ui, &placed, of);
        self.paint(ui, &placed, of);
        if let Some(dragged) = dragged {
            let tokens = Tokens::now(ui);
            let stroke = egui::Stroke::new(1.0, tokens.accent);
            let fill = tokens.accent.gamma_multiply(0.18);
            ui.painter().rect(dragged, 0, fill, stroke, StrokeKind::Inside);
        }
        let hovered = response.hover_pos().filter(|at| inner.contains(*at));
        let hovered = hovered.map(|at| place_at(&placed, of, at));
        // What describes it is asked for while the context is busy.
        let units = Units::now(ui);
        describe(&response, of.name, || value_text(of, units));
        focus(ui, &response, inner, StrokeKind::Outside);
        let (reached, step, is_entered) = keys(ui, &response, of);
        let clicked = hovered.filter(|_| response.clicked());
        let hovered = hovered.filter(|_| !response.dragged());
        TileMapResponse { response, placed, hovered, clicked, reached, step, is_entered }
    }

    /// A drag shows what it goes over, with Shift or the middle button it moves; the wheel zooms both axes.
    /// Returns what is being dragged over.
    fn navigate(
        &mut self,
        ui: &egui::Ui,
        response: &Response,
        plane: &mut Plane,
        inner: Rect,
        extent: Extent,
    ) -> Option<Rect> {
        let is_moving = response.dragged_by(egui::PointerButton::Middle)
            || (response.dragged() && ui.input(|input| input.modifiers.shift));
        if self.dragged_from.is_none() && (is_moving || !response.dragged()) {
            plane.navigate(ui, response, inner, extent);
            return None;
        }
        let now = response.interact_pointer_pos().map(|at| at.clamp(inner.min, inner.max));
        if self.dragged_from.is_none() {
            self.dragged_from = ui.input(|input| input.pointer.press_origin()).or(now);
        }
        let dragged = self.dragged_from.zip(now).map(|(from, to)| Rect::from_two_pos(from, to));
        if response.dragged() {
            return dragged;
        }
        self.dragged_from = None;
        if let Some(dragged) = dragged.filter(|rect| rect.width() > 6.0 && rect.height() > 6.0) {
            let placed = plane.placed(inner, extent);
            let (left, bottom) = placed.position(dragged.left_bottom());
            let (right, top) = placed.position(dragged.right_top());
            plane.x.show(extent.x, left, right);
            plane.y.show(extent.y, bottom, top);
        }
        ui.request_repaint();
        None
    }

    fn ask(&mut self, ui: &egui::Ui, placed: &PlacedPlane, of: &TileScene<'_>) {
        let key = TileCellsKey {
            of: Same(Arc::clone(of.data)),
            window: window(ui, placed, of),
            of_rows: Same(Arc::clone(of.of_rows)),
            per_point: placed.per_point(),
            is_dark: ui.visuals().dark_mode,
        };
        let (kinds, wanted) = (Arc::clone(of.kinds), key.clone());
        let tokens = *Tokens::now(ui);
        self.cells.ask(ui, "addresses over steps", &key, move |cancel| {
            let TileCellsKey { of: Same(data), window, of_rows: Same(of_rows), per_point, .. } =
                &wanted;
            let is_cancelled = || cancel.is_cancelled();
            let picture = data.rectangles.render(of_rows, window, &is_cancelled)?;
            let edged = edged(&data.rectangles, window, *per_point);
            let image = kinds.image(&picture, &tokens);
            Some((Rendered { picture, edged }, image))
        });
    }

    fn paint(&self, ui: &egui::Ui, placed: &PlacedPlane, of: &TileScene<'_>) {
        let inside = ui.painter().with_clip_rect(placed.rect);
        let mut paint =
            paint::TilePaint { ui, inside, placed, of, tokens: Tokens::now(ui), edged: &[] };
        paint.ground();
        match self.cells.shown() {
            Some((key, shown, texture)) if Arc::ptr_eq(&key.of.0.tile, &of.data.tile) => {
                let Rendered { picture, edged } = &**shown;
                let rect = paint::rect_of(placed, &picture.steps, &picture.bytes);
                paint_texture(&paint.inside, *texture, rect);
                paint.gaps();
                if Arc::ptr_eq(&key.of.0, of.data) {
                    paint.edged = edged;
                }
            }
            _ => {
                let text = self.cells.failure().unwrap_or("Drawing the picture…");
                message(&paint.inside, placed.rect, text);
            }
        }
        paint.all();
    }
}

/// The picture without its axes.
pub fn inner(outer: Rect) -> Rect {
    let min = outer.min + egui::vec2(LEFT, 4.0);
    let max = outer.max - egui::vec2(2.0, BOTTOM);
    Rect::from_min_max(min, max.max(min + egui::vec2(1.0, 1.0)))
}

/// The visible part, in pixels.
fn window(ui: &egui::Ui, placed: &PlacedPlane, of: &TileScene<'_>) -> AddressWindow {
    let most = MOST_CELLS.min(ui.input(|input| input.max_texture_side) as u32);
    let pixels = |points: f32| ((points * ui.pixels_per_point()) as u32).clamp(1, most.max(1));
    let first = |(start, _): (f64, f64)| (start + 0.5).floor().max(0.0) as u64;
    let end = |(_, end): (f64, f64)| (end + 0.5).ceil().max(0.0) as u64;
    let step = |at: u64| u32::try_from(at).unwrap_or(u32::MAX).min(of.data.rectangles.steps);
    AddressWindow {
        steps: step(first(placed.x))..step(end(placed.x)),
        bytes: first(placed.y)..end(placed.y),
        columns: pixels(placed.rect.width()),
        rows: pixels(placed.rect.height()),
    }
}

/// The rectangles of a window that are large enough for edges; none where they are too many. `per_point` has steps
/// and bytes per point.
fn edged(all: &AddressSteps, window: &AddressWindow, per_point: [f64; 2]) -> Vec<usize> {
    let [least_steps, least_bytes] = per_point.map(|of_point| of_point * LEAST_EDGES);
    let is_large = |one: &Rectangle| {
        f64::from(one.steps.end.saturating_sub(one.steps.start)) >= least_steps
            && one.bytes.end.saturating_sub(one.bytes.start) as f64 >= least_bytes
    };
    let within = all.places_within(&window.bytes, &window.steps);
    let large = within.filter(|(_, one)| is_large(one)).map(|(place, _)| place);
    let large: Vec<usize> = large.take(MOST_EDGES + 1).collect();
    if large.len() > MOST_EDGES { Vec::new() } else { large }
}

/// The step and the address at a place, and the variable there: else the largest of those near.
fn place_at(placed: &PlacedPlane, of: &TileScene<'_>, at: Pos2) -> MapPoint {
    let number = |at: f64| (at + 0.5).floor().max(0.0) as u64;
    let (x, y) = placed.position(at);
    let [step_near, byte_near] = placed.per_point().map(|per_point| per_point * f64::from(NEAR));
    let (step, address) = (number(x), number(y));
    let step32 = |step: u64| u32::try_from(step).unwrap_or(u32::MAX);
    let rectangles = &of.data.rectangles;
    let exact = rectangles.most_of(
        &(address..address.saturating_add(1)),
        &(step32(step)..step32(step.saturating_add(1))),
    );
    let row = exact.or_else(|| {
        let steps = number(x - step_near)..number(x + step_near).saturating_add(1);
        let bytes = number(y - byte_near)..number(y + byte_near).saturating_add(1);
        rectangles.most_of(&bytes, &(step32(steps.start)..step32(steps.end)))
    });
    MapPoint { step: usize::try_from(step).unwrap_or(usize::MAX), address, row }
}

fn value_text(of: &TileScene<'_>, units: Units) -> String {
    let tile = &of.data.tile;
    let chosen = of.chosen.and_then(|row| Some((row, tile.bytes_of(row)?)));
    match chosen {
        Some((row, bytes)) => chosen_text(tile.name(row), &bytes, units),
        None => {
            let arena = tile.report.arena_title(tile.arena);
            let steps = tile.report.system.steps;
            format!("{arena}, {} {steps}", grouped(of.data.rectangles.steps.into()))
        }
    }
}

/// Left and right go from step to step, up and down from variable to variable by address; Enter shows the
/// chosen one.
fn keys(
    ui: &egui::Ui,
    response: &Response,
    of: &TileScene<'_>,
) -> (Option<u32>, Option<usize>, bool) {
    if !response.has_focus() {
        return (None, None, false);
    }
    let pressed = pressed_keys(ui, response, true);
    let steps = of.data.rectangles.steps as usize;
    let across = [Key::ArrowRight, Key::ArrowLeft];
    let step = moved(&pressed, across, of.step, steps).filter(|_| of.data.has_steps);
    let row = next_variable(&pressed, of.data, of.chosen);
    (row, step, pressed(Key::Enter) && of.chosen.is_some())
}

/// The variable above or below the chosen one, by address.
pub fn next_variable(
    pressed: impl Fn(Key) -> bool,
    data: &RunData,
    chosen: Option<u32>,
) -> Option<u32> {
    let map = &data.tile.map;
    let place = chosen.and_then(|row| map.block_of(row, &data.tile.bytes_of(row)?));
    let place = moved(&pressed, [Key::ArrowUp, Key::ArrowDown], place, map.blocks.len())
        .or_else(|| to_end(&pressed, map.blocks.len()));
    place.and_then(|place| map.blocks.get(place)).map(|block| block.row)
}
