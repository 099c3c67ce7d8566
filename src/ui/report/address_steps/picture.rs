//! The picture of one run: cells of what is visible as one texture, and what pointer and keys do to it.

use eframe::egui;
use eframe::egui::{
    Align2, Color32, EventFilter, FontId, Key, Pos2, Rect, Response, Sense, Stroke, StrokeKind,
    TextureHandle,
};
use std::sync::Arc;

use super::colors::Kinds;
use super::data::RunData;
use crate::analysis::placement::address_steps::{MOST_CELLS, Picture, Rectangle, Window};
use crate::text::grouped;
use crate::ui::job::Latest;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
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

#[derive(Clone, Debug, PartialEq)]
struct CellsKey {
    version: u64,
    window: Window,
    kinds: Kinds,
    is_dark: bool,
}

#[derive(Clone, Debug)]
struct Drawn {
    picture: Arc<Picture>,
    image: Arc<egui::ColorImage>,
}

#[derive(Default)]
pub struct RunPicture {
    drawn: Latest<CellsKey, Option<Drawn>>,
    /// What is on the screen: earlier cells stay, at their place, until the next ones are there.
    texture: Option<(CellsKey, Arc<Picture>, TextureHandle)>,
}

pub struct PictureOf<'a> {
    /// Its accessible name.
    pub name: &'a str,
    pub data: &'a Arc<RunData>,
    pub kinds: &'a Kinds,
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
        plane: &mut Plane,
        of: &PictureOf<'_>,
    ) -> Answer {
        let inner = inner(outer);
        let response = ui.interact(inner, ui.scope_id().with(of.name), Sense::click_and_drag());
        plane.navigate(ui, &response, inner, of.extent);
        let placed = plane.placed(inner, of.extent);
        self.ask(ui, &placed, of);
        self.paint(ui, &placed, of);
        let hovered = response.hover_pos().filter(|at| inner.contains(*at));
        let hovered = hovered.map(|at| place_at(&placed, of, at));
        describe(&response, of);
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        if response.has_focus() {
            let stroke = Stroke::new(1.0, Tokens::now(ui).accent);
            ui.painter().rect_stroke(inner, 0, stroke, StrokeKind::Inside);
        }
        let (reached, step, is_entered) = keys(ui, &response, of);
        let clicked = hovered.filter(|_| response.clicked());
        let hovered = hovered.filter(|_| !response.dragged());
        Answer { response, hovered, clicked, reached, step, is_entered }
    }

    fn ask(&mut self, ui: &egui::Ui, placed: &Placed, of: &PictureOf<'_>) {
        let key = CellsKey {
            version: of.data.tile.version,
            window: window(ui, placed, of),
            kinds: of.kinds.clone(),
            is_dark: ui.visuals().dark_mode,
        };
        let (data, wanted) = (Arc::clone(of.data), key.clone());
        let tokens = *Tokens::now(ui);
        self.drawn.ask("picture of addresses over steps", ui.ctx(), &key, move |cancel| {
            let kinds = wanted.kinds.of_rows(&data);
            let is_cancelled = || cancel.is_cancelled();
            let picture = data.rectangles.render(&kinds, &wanted.window, &is_cancelled)?;
            let image = Arc::new(wanted.kinds.image(&picture, &tokens));
            Some(Drawn { picture: Arc::new(picture), image })
        });
        let Some((shown, Some(drawn))) = self.drawn.last() else { return };
        if self.texture.as_ref().is_some_and(|(key, ..)| key == shown) {
            return;
        }
        let (image, options) = (Arc::clone(&drawn.image), egui::TextureOptions::NEAREST);
        let picture = Arc::clone(&drawn.picture);
        match &mut self.texture {
            Some((key, old, texture)) => {
                texture.set(image, options);
                (*key, *old) = (shown.clone(), picture);
            }
            None => {
                let texture = ui.load_texture("addresses over steps", image, options);
                self.texture = Some((shown.clone(), picture, texture));
            }
        }
        if *shown != key {
            // Those that are wanted have been asked for, and wake the window.
            ui.request_repaint();
        }
    }

    fn paint(&self, ui: &egui::Ui, placed: &Placed, of: &PictureOf<'_>) {
        let (tokens, inner) = (Tokens::now(ui), placed.rect);
        let stroke = Stroke::new(1.0, tokens.border);
        ui.painter().rect(inner, 0, tokens.surface, stroke, StrokeKind::Outside);
        let inside = ui.painter().with_clip_rect(inner);
        match &self.texture {
            Some((key, picture, texture)) if key.version == of.data.tile.version => {
                let rect = Rect::from_min_max(
                    Pos2::new(
                        placed.x_of(f64::from(picture.steps.start)),
                        placed.y_of(picture.bytes.end as f64),
                    ),
                    Pos2::new(
                        placed.x_of(f64::from(picture.steps.end)),
                        placed.y_of(picture.bytes.start as f64),
                    ),
                );
                let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
                inside.image(texture.id(), rect, whole, Color32::WHITE);
            }
            _ => {
                let text = self.drawn.failure().unwrap_or("Drawing the picture…");
                let font = FontId::proportional(14.0);
                inside.text(inner.center(), Align2::CENTER_CENTER, text, font, tokens.weak_text);
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
            let stroke = Stroke::new(2.0, tokens.limit);
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

fn rect_of(placed: &Placed, rectangle: &Rectangle) -> Rect {
    let min = Pos2::new(
        placed.x_of(f64::from(rectangle.steps.start)),
        placed.y_of(rectangle.bytes.end as f64),
    );
    let max = Pos2::new(
        placed.x_of(f64::from(rectangle.steps.end)),
        placed.y_of(rectangle.bytes.start as f64),
    );
    Rect::from_min_max(min, max)
}

/// Tells neighbours of one colour apart, where few rectangles are visible.
fn edges(painter: &egui::Painter, placed: &Placed, of: &PictureOf<'_>, tokens: &Tokens) {
    let all = of.data.rectangles.rectangles.iter();
    let large = all.map(|one| rect_of(placed, one)).filter(|rect| {
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

/// Outlines the chosen variable as long as it lives.
fn outlines(painter: &egui::Painter, placed: &Placed, of: &PictureOf<'_>, tokens: &Tokens) {
    let Some(row) = of.chosen else { return };
    let chosen = of.data.rectangles.rectangles.iter().filter(|one| one.row == row);
    for rectangle in chosen.take(MOST_OUTLINES) {
        let rect = rect_of(placed, rectangle);
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
        painter.text(
            Pos2::new(inner.left() - 7.0, y),
            Align2::RIGHT_CENTER,
            text,
            font.clone(),
            color,
        );
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
    painter.text(at, Align2::CENTER_BOTTOM, "Step; addresses within the tile go up", font, color);
}

fn describe(response: &Response, of: &PictureOf<'_>) {
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::labeled(egui::Role::Canvas, true, of.name);
        let chosen = of.chosen.map(|row| of.data.tile.name(row)).filter(|name| !name.is_empty());
        info.current_text_value = Some(match chosen {
            Some(name) => crate::text::shortened(name, 100).into_owned(),
            None => format!(
                "Tile {}, {} steps",
                of.data.tile.tile,
                grouped(of.data.rectangles.steps.into())
            ),
        });
        info
    });
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
    let filter =
        EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed = |key: Key| ui.input(|input| input.modifiers.is_none() && input.key_pressed(key));
    let last = (of.data.rectangles.steps as usize).checked_sub(1);
    let now = of.steps.first().copied();
    let step = match last {
        Some(last) if pressed(Key::ArrowRight) => Some(now.map_or(0, |now| (now + 1).min(last))),
        Some(last) if pressed(Key::ArrowLeft) => {
            Some(now.map_or(last, |now| now.saturating_sub(1)))
        }
        _ => None,
    };
    let map = &of.data.tile.map;
    let place = of.chosen.and_then(|row| map.block_of(row));
    let place = match map.blocks.len().checked_sub(1) {
        Some(last) if pressed(Key::ArrowUp) => Some(place.map_or(0, |now| (now + 1).min(last))),
        Some(last) if pressed(Key::ArrowDown) => {
            Some(place.map_or(last, |now| now.saturating_sub(1)))
        }
        _ => None,
    };
    let row = place.and_then(|place| map.blocks.get(place)).map(|block| block.row);
    (row, step, pressed(Key::Enter) && of.chosen.is_some())
}
