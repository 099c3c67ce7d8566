//! The picture of one run: cells of what is visible as one texture, and what pointer and keys do to it.

use eframe::egui::{
    self, Align2, Color32, FontId, Key, Pos2, Rect, Response, Sense, Stroke, StrokeKind,
};
use std::ops::Range;
use std::sync::Arc;

use super::colors::Kinds;
use super::data::RunData;
use crate::analysis::placement::address_steps::{AddressSteps, MOST_CELLS, Picture, Window};
use crate::text::{grouped, shortened};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::hatch::Hatching;
use crate::ui::widget::picture::{
    ShownImage, describe, focus, message, moved, paint_texture, pressed_keys,
};
use crate::ui::widget::plane::{Extent, Placed, Plane};
use crate::ui::widget::ticks;

/// Room for addresses and steps, points.
const LEFT: f32 = 64.0;
const BOTTOM: f32 = 34.0;
/// How far from a small rectangle the pointer may be, points.
const NEAR: f32 = 2.0;
/// Rectangles of the chosen variable that are outlined.
const MOST_OUTLINES: usize = 256;
/// Rectangles that are told apart by their edges, and the least width and height of those, points.
const MOST_EDGES: usize = 400;
const LEAST_EDGES: f32 = 4.0;
/// Least height of what is hatched, points.
const LEAST_HATCHED: f32 = 3.0;

#[derive(Clone, Debug, PartialEq)]
struct CellsKey {
    version: u64,
    window: Window,
    kinds: Arc<Kinds>,
    is_dark: bool,
}

#[derive(Default)]
pub struct RunPicture(ShownImage<CellsKey, Picture>);

pub struct PictureOf<'a> {
    pub name: &'a str,
    pub data: &'a Arc<RunData>,
    pub kinds: &'a Arc<Kinds>,
    /// Steps and addresses of the axes.
    pub extent: Extent,
    pub steps: &'a [usize],
    /// The row of the chosen variable.
    pub chosen: Option<u32>,
    /// Where the pointer is in another picture.
    pub pointed: Option<(usize, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub step: usize,
    pub address: u64,
    /// The row of the variable there.
    pub row: Option<u32>,
}

pub struct Answer {
    pub response: Response,
    pub hovered: Option<Place>,
    pub clicked: Option<Place>,
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
        (plane, hatching): (&mut Plane, &mut Hatching),
        of: &PictureOf<'_>,
    ) -> Answer {
        let inner = inner(outer);
        let response = ui.interact(inner, ui.scope_id().with(of.name), Sense::click_and_drag());
        plane.navigate(ui, &response, inner, of.extent);
        let placed = plane.placed(inner, of.extent);
        self.ask(ui, &placed, of);
        self.paint(ui, &placed, of, hatching);
        let hovered = response.hover_pos().filter(|at| inner.contains(*at));
        let hovered = hovered.map(|at| place_at(&placed, of, at));
        describe(&response, of.name, || value_text(of));
        focus(ui, &response, inner, StrokeKind::Inside);
        let (reached, step, is_entered) = keys(ui, &response, of);
        let clicked = hovered.filter(|_| response.clicked());
        let hovered = hovered.filter(|_| !response.dragged());
        Answer { response, hovered, clicked, reached, step, is_entered }
    }

    fn ask(&mut self, ui: &egui::Ui, placed: &Placed, of: &PictureOf<'_>) {
        let key = CellsKey {
            version: of.data.tile.version,
            window: window(ui, placed, of),
            kinds: Arc::clone(of.kinds),
            is_dark: ui.visuals().dark_mode,
        };
        let (data, wanted) = (Arc::clone(of.data), key.clone());
        let tokens = *Tokens::now(ui);
        self.0.ask(ui, "addresses over steps", &key, move |cancel| {
            let kinds = wanted.kinds.of_rows(&data);
            let is_cancelled = || cancel.is_cancelled();
            let picture = data.rectangles.render(&kinds, &wanted.window, &is_cancelled)?;
            let image = wanted.kinds.image(&picture, &tokens);
            Some((picture, image))
        });
    }

    fn paint(&self, ui: &egui::Ui, placed: &Placed, of: &PictureOf<'_>, hatching: &mut Hatching) {
        let (tokens, inner) = (Tokens::now(ui), placed.rect);
        let stroke = Stroke::new(1.0, tokens.border);
        ui.painter().rect(inner, 0, tokens.surface, stroke, StrokeKind::Outside);
        let inside = ui.painter().with_clip_rect(inner);
        match self.0.shown() {
            Some((key, picture, texture)) if key.version == of.data.tile.version => {
                let rect = rect_of(placed, &picture.steps, &picture.bytes);
                paint_texture(&inside, *texture, rect);
                hatch(&inside, placed, of, hatching, tokens.gap);
            }
            _ => {
                message(&inside, inner, self.0.failure().unwrap_or("Drawing the picture…"));
            }
        }
        edges(&inside, placed, of, tokens);
        for step in of.steps {
            let x = placed.x_of(*step as f64 + 0.5);
            inside.vline(x, inner.y_range(), Stroke::new(1.5, tokens.accent));
        }
        outlines(&inside, placed, of, tokens);
        if let Some(limit) = of.data.tile.map.limit {
            let y = placed.y_of(limit as f64);
            let line = [Pos2::new(inner.left(), y), Pos2::new(inner.right(), y)];
            let stroke = Stroke::new(2.0, tokens.ink);
            inside.extend(egui::Shape::dashed_line(&line, stroke, 8.0, 4.0));
        }
        if let Some((step, address)) = of.pointed {
            let stroke = Stroke::new(1.0, tokens.weak_text);
            inside.vline(placed.x_of(step as f64 + 0.5), inner.y_range(), stroke);
            inside.hline(inner.x_range(), placed.y_of(address as f64 + 0.5), stroke);
        }
        axes(ui, placed, of);
    }
}

/// The picture without its axes.
fn inner(outer: Rect) -> Rect {
    let min = outer.min + egui::vec2(LEFT, 4.0);
    let max = outer.max - egui::vec2(2.0, BOTTOM);
    Rect::from_min_max(min, max.max(min + egui::vec2(1.0, 1.0)))
}

/// The visible part, in pixels.
fn window(ui: &egui::Ui, placed: &Placed, of: &PictureOf<'_>) -> Window {
    let most = MOST_CELLS.min(ui.input(|input| input.max_texture_side) as u32);
    let pixels = |points: f32| ((points * ui.pixels_per_point()) as u32).clamp(1, most.max(1));
    let first = |(start, _): (f64, f64)| (start + 0.5).floor().max(0.0) as u64;
    let end = |(_, end): (f64, f64)| (end + 0.5).ceil().max(0.0) as u64;
    let step = |at: u64| u32::try_from(at).unwrap_or(u32::MAX).min(of.data.rectangles.steps);
    Window {
        steps: step(first(placed.x))..step(end(placed.x)),
        bytes: first(placed.y)..end(placed.y),
        columns: pixels(placed.rect.width()),
        rows: pixels(placed.rect.height()),
    }
}

/// The step and the address at a place, and the variable there: else the largest of those near.
fn place_at(placed: &Placed, of: &PictureOf<'_>, at: Pos2) -> Place {
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
    Place { step: usize::try_from(step).unwrap_or(usize::MAX), address, row }
}

fn rect_of(placed: &Placed, steps: &Range<u32>, bytes: &Range<u64>) -> Rect {
    let steps = [f64::from(steps.start), f64::from(steps.end)];
    placed.rect_of(steps, [bytes.start as f64, bytes.end as f64])
}

/// Hatches what is never used, where it is high enough.
fn hatch(
    painter: &egui::Painter,
    placed: &Placed,
    of: &PictureOf<'_>,
    hatching: &mut Hatching,
    color: Color32,
) {
    let AddressSteps { gaps, steps, .. } = &of.data.rectangles;
    let mut hatched = hatching.begin(painter.ctx(), false);
    let first = gaps.partition_point(|gap| (gap.end as f64) < placed.y.0);
    for gap in gaps.iter().skip(first).take_while(|gap| gap.start as f64 <= placed.y.1) {
        let rect = rect_of(placed, &(0..*steps), gap);
        if rect.height() >= LEAST_HATCHED {
            // What is far outside would lose its place in 32 bits.
            hatched.add(rect.intersect(placed.rect), color);
        }
    }
    hatched.paint(painter);
}

/// Tells neighbours of one colour apart, where few rectangles are visible.
fn edges(painter: &egui::Painter, placed: &Placed, of: &PictureOf<'_>, tokens: &Tokens) {
    let all = of.data.rectangles.rectangles.iter();
    let large = all.map(|one| rect_of(placed, &one.steps, &one.bytes)).filter(|rect| {
        rect.width() >= LEAST_EDGES && rect.height() >= LEAST_EDGES && rect.intersects(placed.rect)
    });
    let large: Vec<Rect> = large.take(MOST_EDGES + 1).collect();
    if large.len() <= MOST_EDGES {
        let stroke = Stroke::new(1.0, tokens.surface.gamma_multiply(0.7));
        for rect in large {
            painter.rect_stroke(rect, 0, stroke, StrokeKind::Inside);
        }
    }
}

fn outlines(painter: &egui::Painter, placed: &Placed, of: &PictureOf<'_>, tokens: &Tokens) {
    let Some(row) = of.chosen else { return };
    let chosen = of.data.rectangles.rectangles.iter().filter(|one| one.row == row);
    for rectangle in chosen.take(MOST_OUTLINES) {
        let rect = rect_of(placed, &rectangle.steps, &rectangle.bytes);
        let rect = Rect::from_min_max(rect.min, rect.max.max(rect.min + egui::vec2(2.0, 2.0)));
        let stroke = Stroke::new(2.0, tokens.text);
        painter.rect_stroke(rect.expand(1.0), 0, stroke, StrokeKind::Outside);
    }
}

fn axes(ui: &egui::Ui, placed: &Placed, of: &PictureOf<'_>) {
    let (tokens, units, inner) = (Tokens::now(ui), Units::now(ui), placed.rect);
    let (painter, font) = (ui.painter(), FontId::proportional(12.0));
    let (stroke, color) = (Stroke::new(1.0, tokens.weak_text), tokens.weak_text);
    let [per_x, per_y] = placed.per_point();
    let step = ticks::bytes_step(per_y * 30.0, units);
    for address in ticks::multiples(step, (placed.y.0.max(0.0), placed.y.1)) {
        let y = placed.y_of(address);
        painter.hline(inner.left() - 4.0..=inner.left(), y, stroke);
        let text = ticks::bytes_text(address, step, placed.y.1, units);
        let at = Pos2::new(inner.left() - 7.0, y);
        painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), color);
    }
    let ids = of.data.tile.report.steps.get().map(|steps| &steps.ids);
    let every = ticks::whole_step(per_x * 70.0);
    for position in ticks::multiples(every, (placed.x.0.max(0.0), placed.x.1)) {
        let x = placed.x_of(position + 0.5);
        if x > inner.right() - 16.0 {
            break;
        }
        painter.vline(x, inner.bottom()..=inner.bottom() + 4.0, stroke);
        let id = ids.and_then(|ids| ids.get(position as usize));
        let text = id.map_or_else(|| format!("{position}"), |id| grouped(id.0.into()));
        let at = Pos2::new(x, inner.bottom() + 5.0);
        painter.text(at, Align2::CENTER_TOP, text, font.clone(), color);
    }
    let at = Pos2::new(inner.center().x, inner.bottom() + BOTTOM - 1.0);
    let arena = of.data.tile.report.system.arena_in_text;
    let text = format!("Step; addresses within the {arena} go up");
    painter.text(at, Align2::CENTER_BOTTOM, text, font, color);
}

fn value_text(of: &PictureOf<'_>) -> String {
    let tile = &of.data.tile;
    match of.chosen.map(|row| tile.name(row)).filter(|name| !name.is_empty()) {
        Some(name) => shortened(name, 100).into_owned(),
        None => {
            let arena = tile.report.arena_title(tile.arena);
            format!("{arena}, {} steps", grouped(of.data.rectangles.steps.into()))
        }
    }
}

/// Left and right go from step to step, up and down from variable to variable by address; Enter shows the
/// chosen one.
fn keys(
    ui: &egui::Ui,
    response: &Response,
    of: &PictureOf<'_>,
) -> (Option<u32>, Option<usize>, bool) {
    if !response.has_focus() {
        return (None, None, false);
    }
    let pressed = pressed_keys(ui, response, true);
    let steps = of.data.rectangles.steps as usize;
    let (now, across) = (of.steps.first().copied(), [Key::ArrowRight, Key::ArrowLeft]);
    let step = moved(&pressed, across, now, steps);
    let map = &of.data.tile.map;
    let place = of.chosen.and_then(|row| map.block_of(row));
    let place = moved(&pressed, [Key::ArrowUp, Key::ArrowDown], place, map.blocks.len());
    let row = place.and_then(|place| map.blocks.get(place)).map(|block| block.row);
    (row, step, pressed(Key::Enter) && of.chosen.is_some())
}
