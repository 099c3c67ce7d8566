//! The picture: arenas on top of one another in the order of their addresses, every block a rectangle of its address and
//! its life; at the right what lies in them after the chosen step, with the largest free pieces named.

use eframe::egui::{
    self, Align2, Color32, ColorImage, Pos2, Rect, Response, Sense, Stroke, StrokeKind, Vec2,
};
use std::borrow::Cow;
use std::sync::Arc;

use crate::analysis::memory::category_title;
use crate::run::arena_map::{
    ArenaAxis, ArenaMap, ArenaMoment, CellKind, MapCells, MapLegend, MapWindow,
};
use crate::store::{Report, System};
use crate::text::capitalised;
use crate::ui::job::{Cancel, Same};
use crate::ui::report::areas::group_color;
use crate::ui::report::category_colors::category_color;
use crate::ui::report::moment::step_id;
use crate::ui::theme::fonts::size;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::picture::{ShownImage, describe, focus, message, paint_texture};
use crate::ui::widget::plane::{Extent, PlacedPlane, Plane};
use crate::ui::widget::ticks;

/// Room for the names of arenas, for the steps below, for the strip and for the names beside it, points.
const LEFT: f32 = 96.0;
const BOTTOM: f32 = 34.0;
const STRIP: f32 = 84.0;
const NAMES: f32 = 118.0;
/// Between picture and strip, points.
const GAP: f32 = 14.0;
/// Width from which the strip is as wide as that, points; beside a narrower picture it takes less of it.
const WIDE: f32 = 480.0;
const NARROW_STRIP: f32 = 28.0;
/// Least distance of names, points.
const NAME: f32 = 13.0;
/// Room for the name of the chosen step beside the axis, points.
const EVENT: f32 = 30.0;
/// Free pieces that are named.
const MOST_NAMED: usize = 8;
/// Pixels of a hatch.
const HATCH: usize = 8;
/// Least strength of the color of a block, so that one that is alone is seen.
const LEAST_SHARE: f32 = 0.25;
/// Most cells along an axis.
const MOST_CELLS: u32 = 4096;

/// What a picture of cells was made of.
#[derive(Clone, PartialEq)]
pub struct ArenaCellsKey {
    map: Same<dyn ArenaMap>,
    window: MapWindow,
    is_dark: bool,
    is_by_layer: bool,
}

type CellsImage = ShownImage<ArenaCellsKey, MapCells>;

/// What is drawn.
pub struct ArenaScene<'a> {
    pub report: &'a Report,
    pub map: &'a Arc<dyn ArenaMap>,
    /// The steps of the axis, which may be that of several maps.
    pub steps: usize,
    /// The chosen step, and what is known of it.
    pub step: usize,
    pub moment: Option<&'a ArenaMoment>,
    pub block: Option<usize>,
    pub arena: Option<usize>,
    /// Whether blocks are colored by layer, else by category.
    pub is_by_layer: bool,
    pub title: String,
    pub value: String,
}

/// What the pointer is over: a step, an arena, a block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointedBlock {
    pub step: usize,
    pub arena: Option<usize>,
    pub address: Option<u64>,
    pub block: Option<usize>,
    pub kind: CellKind,
}

#[derive(Default)]
pub struct ArenaPicture {
    pub plane: Plane,
    cells: CellsImage,
    strip: CellsImage,
}

/// What has happened.
pub struct ArenaResponse {
    pub response: Response,
    pub pointed: Option<PointedBlock>,
}

/// The whole of a device.
pub fn extent(axis: &ArenaAxis, steps: usize) -> Extent {
    Extent { x: steps, y: height(axis) }
}

/// The length of an axis of arenas.
fn height(axis: &ArenaAxis) -> usize {
    usize::try_from(axis.length).unwrap_or(usize::MAX)
}

/// The color of what a size was rounded up by, which stands out on that of its block in either theme.
pub fn rounding_color(of_block: Color32, tokens: &Tokens) -> Color32 {
    of_block.lerp_to_gamma(tokens.ink, 0.55)
}

/// What the picture is called: `Segments over events`.
pub fn title(system: &System) -> String {
    format!("{} over {}", capitalised(system.arenas), system.steps)
}

impl ArenaPicture {
    /// Shows one arena, over its whole height.
    pub fn show_arena(&mut self, axis: &ArenaAxis, arena: usize) {
        if let Some(placed) = axis.arenas.get(arena) {
            let (start, end) = (placed.start as f64, (placed.start + placed.length) as f64);
            self.plane.y.show(height(axis), start - 0.5, end - 0.5);
        }
    }

    /// Draws it in the space that is left.
    pub fn ui(&mut self, ui: &mut egui::Ui, of: &ArenaScene<'_>) -> ArenaResponse {
        let outer = ui.available_rect_before_wrap();
        let response = ui.allocate_rect(outer, Sense::click_and_drag());
        let wide = if outer.width() < WIDE { NARROW_STRIP } else { STRIP };
        let right = outer.right() - NAMES - wide - GAP;
        let min = outer.min + Vec2::new(LEFT, 4.0);
        let inner = Rect::from_min_max(min, Pos2::new(right, outer.bottom() - BOTTOM).max(min));
        let strip = Rect::from_x_y_ranges(right + GAP..=right + GAP + wide, inner.y_range());
        let extent = extent(of.map.axis(), of.steps);
        if response.hover_pos().is_some_and(|at| inner.contains(at)) || response.dragged() {
            self.plane.navigate(ui, &response, inner, extent);
        }
        let placed = self.plane.placed(inner, extent);
        let mut of_strip = placed;
        (of_strip.rect, of_strip.x) = (strip, strip_x(of.step));
        self.ask(ui, &placed, &of_strip, of);
        let tokens = *Tokens::now(ui);
        let painter = ui.painter();
        painter.rect_filled(inner, 0, tokens.page);
        painter.rect_filled(strip, 0, tokens.page);
        for (cells, placed) in [(&self.cells, &placed), (&self.strip, &of_strip)] {
            paint_cells(ui, cells, placed, of);
        }
        over_ui(ui, &placed, &of_strip, of, &tokens);
        describe(&response, &of.title, || of.value.clone());
        focus(ui, &response, inner, StrokeKind::Outside);
        let pointed = response.hover_pos().and_then(|at| {
            pointed(&self.cells, &placed, of, at).or_else(|| {
                let pointed = pointed(&self.strip, &of_strip, of, at)?;
                Some(PointedBlock { step: of.step, ..pointed })
            })
        });
        if let Some(at) = response.hover_pos().filter(|at| inner.contains(*at)) {
            let line = Stroke::new(1.0, tokens.weak_text.gamma_multiply(0.7));
            ui.painter().vline(at.x, inner.y_range(), line);
        }
        ArenaResponse { response, pointed }
    }

    fn ask(
        &mut self,
        ui: &egui::Ui,
        placed: &PlacedPlane,
        strip: &PlacedPlane,
        of: &ArenaScene<'_>,
    ) {
        for (cells, placed, name) in [
            (&mut self.cells, placed, "map of arenas"),
            (&mut self.strip, strip, "arenas at a step"),
        ] {
            let key = ArenaCellsKey {
                map: Same(Arc::clone(of.map)),
                window: window(ui, placed),
                is_dark: ui.visuals().dark_mode,
                is_by_layer: of.is_by_layer,
            };
            let map = Arc::clone(of.map);
            let (window, is_by_layer, tokens) = (key.window, key.is_by_layer, *Tokens::now(ui));
            cells.ask(ui, name, &key, move |cancel: &Cancel| {
                let cells = map.cells(window, &|| cancel.is_cancelled())?;
                let image = image(&cells, &*map, is_by_layer, &tokens);
                Some((cells, image))
            });
        }
    }
}

/// What lies over the cells: names, ticks, the chosen step, block and arena, free pieces.
fn over_ui(
    ui: &egui::Ui,
    placed: &PlacedPlane,
    strip: &PlacedPlane,
    of: &ArenaScene<'_>,
    tokens: &Tokens,
) {
    let painter = ui.painter();
    let inner = placed.rect;
    let inside = painter.with_clip_rect(inner);
    arena_names(ui, placed, of, tokens);
    step_ticks(ui, placed, of.report, tokens);
    let x = placed.x_of(of.step as f64 + 0.5);
    if inner.x_range().contains(x) {
        let is_failed =
            of.moment.is_some_and(|moment| moment.step == of.step && moment.failed.is_some());
        let color = if is_failed { tokens.over } else { tokens.ink };
        inside.vline(x, inner.y_range(), Stroke::new(1.5, color));
    }
    if let Some(arena) = of.arena.and_then(|at| of.map.axis().arenas.get(at)) {
        let y = [arena.start as f64, (arena.start + arena.length) as f64];
        for (placed, x) in [(placed, placed.x), (strip, strip.x)] {
            let rect = placed.rect_of([x.0 + 0.5, x.1 + 0.5], y);
            let stroke = Stroke::new(1.0, tokens.accent);
            let inside = painter.with_clip_rect(placed.rect);
            inside.rect_stroke(rect, 0, stroke, StrokeKind::Inside);
        }
    }
    if let Some(rect) = of.block.and_then(|row| block_rect(placed, of, row)) {
        let (dark, light) = (Stroke::new(3.0, tokens.surface), Stroke::new(1.5, tokens.ink));
        // Of what is narrower than that its place is to be seen at least.
        let rect = Rect::from_center_size(rect.center(), rect.size().max(Vec2::splat(5.0)));
        inside.rect_stroke(rect, 0, dark, StrokeKind::Outside);
        inside.rect_stroke(rect, 0, light, StrokeKind::Outside);
    }
    let font = fonts::semibold(size::CAPTION);
    let below = Pos2::new(strip.rect.center().x, strip.rect.bottom() + 5.0);
    let text = format!("{} {}", of.report.system.step, step_id(of.report, of.step));
    painter.text(below, Align2::CENTER_TOP, text, font, tokens.text);
    free_names(ui, strip, of, tokens);
}

/// Along x the strip is one step.
fn strip_x(step: usize) -> (f64, f64) {
    (step as f64 - 0.5, step as f64 + 0.5)
}

/// The visible part in pixels; places count from where a position begins.
fn window(ui: &egui::Ui, placed: &PlacedPlane) -> MapWindow {
    let most = MOST_CELLS.min(ui.input(|input| input.max_texture_side) as u32).max(1);
    let pixels = |points: f32| ((points * ui.pixels_per_point()) as u32).clamp(1, most) as usize;
    MapWindow {
        x: (placed.x.0 + 0.5, placed.x.1 + 0.5),
        y: (placed.y.0 + 0.5, placed.y.1 + 0.5),
        columns: pixels(placed.rect.width()),
        rows: pixels(placed.rect.height()),
    }
}

/// What the colors of blocks tell, by layer or by category, with the colors.
pub fn groups<'a>(
    legend: &'a MapLegend,
    is_by_layer: bool,
    tokens: &'a Tokens,
) -> impl Iterator<Item = (Cow<'a, str>, Color32)> {
    let layers = legend.by_layer.iter().filter(move |_| is_by_layer).enumerate();
    let layers =
        layers.map(|(place, of)| (Cow::Borrowed(&*of.title), group_color(of, place, tokens)));
    let categories = legend.categories.iter().filter(move |_| !is_by_layer);
    layers.chain(
        categories.map(|name| (Cow::Owned(category_title(name)), category_color(name, tokens))),
    )
}

/// Cells as pixels.
fn image(cells: &MapCells, map: &dyn ArenaMap, is_by_layer: bool, tokens: &Tokens) -> ColorImage {
    let colors: Vec<Color32> =
        groups(map.legend(), is_by_layer, tokens).map(|(_, color)| color).collect();
    let color = |block: u32| {
        let group = if is_by_layer { map.layer(block) } else { map.category(block) };
        group.and_then(|place| colors.get(place)).copied().unwrap_or(tokens.gap)
    };
    let free = [tokens.surface, tokens.surface.lerp_to_gamma(tokens.gap, 0.6)];
    // Of cells that many blocks share the color says how much of them is in use.
    let mixed = |block: u32, covered: u8| {
        let share = (f32::from(covered) / 255.0).max(LEAST_SHARE);
        tokens.surface.lerp_to_gamma(color(block), share)
    };
    let pixel = |(at, ((kind, block), covered)): (usize, ((&CellKind, &u32), &u8))| {
        let along = at % cells.columns.max(1) + at / cells.columns.max(1);
        let [ground, line] = free;
        match kind {
            CellKind::None => Color32::TRANSPARENT,
            CellKind::Free if along.is_multiple_of(HATCH) => line,
            CellKind::Free => ground,
            CellKind::Block => mixed(*block, *covered),
            CellKind::Pending if along % 4 < 2 => color(*block),
            CellKind::Pending => color(*block).lerp_to_gamma(tokens.surface, 0.7),
            CellKind::Rounding => rounding_color(color(*block), tokens),
            CellKind::Edge => color(*block).lerp_to_gamma(tokens.surface, 0.5),
        }
    };
    let all = cells.kinds.iter().zip(&cells.blocks).zip(&cells.covered);
    let pixels = all.enumerate().map(pixel).collect();
    ColorImage::new([cells.columns, cells.rows], pixels)
}

fn paint_cells(ui: &egui::Ui, cells: &CellsImage, placed: &PlacedPlane, of: &ArenaScene<'_>) {
    let painter = ui.painter().with_clip_rect(placed.rect);
    match cells.shown() {
        Some((key, _, texture)) if Arc::ptr_eq(&key.map.0, of.map) => {
            let MapWindow { x, y, .. } = key.window;
            // While a new one is made, the one before stands where its part of the axes is now.
            let is_strip = placed.x.1 - placed.x.0 <= 1.0;
            let x = if is_strip { (placed.x.0 + 0.5, placed.x.1 + 0.5) } else { x };
            paint_texture(&painter, *texture, placed.rect_of([x.0, x.1], [y.0, y.1]));
        }
        _ => message(&painter, placed.rect, cells.failure().unwrap_or("Drawing…")),
    }
}

/// What the cells say of a place.
fn pointed(
    cells: &CellsImage,
    placed: &PlacedPlane,
    of: &ArenaScene<'_>,
    at: Pos2,
) -> Option<PointedBlock> {
    if !placed.rect.contains(at) {
        return None;
    }
    let (x, y) = placed.position(at);
    let (x, y) = (x + 0.5, y + 0.5);
    let last = of.map.steps().saturating_sub(1);
    let place = of.map.axis().address(y);
    let mut pointed = PointedBlock {
        step: (x.max(0.0) as usize).min(last),
        arena: place.map(|(arena, _)| arena),
        address: place.map(|(_, address)| address),
        ..PointedBlock::default()
    };
    let (key, cells, _) = cells.shown()?;
    let cell = |at: f64, (start, end): (f64, f64), count: usize| {
        let share = (at - start) / (end - start);
        (0.0..1.0).contains(&share).then_some((share * count as f64) as usize)
    };
    let column = cell(x, key.window.x, cells.columns);
    let row = cell(y, key.window.y, cells.rows);
    if let Some((column, row)) = column.zip(row)
        && let Some((kind, block)) = cells.get(column, cells.rows.saturating_sub(row + 1))
    {
        (pointed.kind, pointed.block) = (kind, block);
    }
    Some(pointed)
}

/// Where a block lies.
fn block_rect(placed: &PlacedPlane, of: &ArenaScene<'_>, row: usize) -> Option<Rect> {
    let block = of.map.place(row)?;
    let y = [block.addresses.start, block.addresses.end];
    let y = y.map(|address| of.map.axis().along(block.arena, address));
    Some(placed.rect_of([block.steps.start, block.steps.end].map(f64::from), y))
}

/// The number and the size of each arena beside it, as far as there is room.
fn arena_names(ui: &egui::Ui, placed: &PlacedPlane, of: &ArenaScene<'_>, tokens: &Tokens) {
    let (painter, units) = (ui.painter(), Units::now(ui));
    let font = fonts::regular(size::CAPTION);
    let mut free_below = f32::INFINITY;
    let (low, high) = placed.y;
    let visible = of.map.axis().arenas.iter().enumerate().filter(|(_, arena)| {
        (arena.start + arena.length) as f64 >= low && arena.start as f64 <= high
    });
    for (place, arena) in visible {
        let top = placed.y_of((arena.start + arena.length) as f64).max(placed.rect.top());
        let bottom = placed.y_of(arena.start as f64).min(placed.rect.bottom());
        let y = f32::midpoint(top, bottom);
        if y > free_below {
            continue;
        }
        free_below = y - NAME;
        let at = Pos2::new(placed.rect.left() - 6.0, y);
        let text = format!("{} · {}", arena.number, units.bytes(arena.bytes));
        let is_chosen = of.arena == Some(place);
        let color = if is_chosen { tokens.text } else { tokens.third_text };
        painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), color);
    }
}

fn step_ticks(ui: &egui::Ui, placed: &PlacedPlane, report: &Report, tokens: &Tokens) {
    let painter = ui.painter();
    let font = fonts::regular(size::CAPTION);
    let bottom = placed.rect.bottom();
    let step = ticks::whole_step(placed.per_point()[0] * 80.0);
    for at in ticks::multiples(step, (placed.x.0.max(0.0), placed.x.1)) {
        let x = placed.x_of(at + 0.5);
        painter.vline(x, bottom..=bottom + 3.0, Stroke::new(1.0, tokens.border));
        // There the chosen step has its name.
        if x > placed.rect.right() - EVENT {
            continue;
        }
        let at = step_id(report, at as usize);
        painter.text(
            Pos2::new(x, bottom + 5.0),
            Align2::CENTER_TOP,
            at,
            font.clone(),
            tokens.third_text,
        );
    }
    let at = Pos2::new(placed.rect.left() - 6.0, bottom + 5.0);
    painter.text(at, Align2::RIGHT_TOP, report.system.step, font, tokens.third_text);
}

/// The largest free pieces, named beside the strip and pushed apart.
fn free_names(ui: &egui::Ui, strip: &PlacedPlane, of: &ArenaScene<'_>, tokens: &Tokens) {
    let Some(moment) = of.moment else { return };
    let units = Units::now(ui);
    let mut pieces: Vec<(u64, f32)> = Vec::new();
    for (place, arena) in moment.at.arenas.iter().enumerate() {
        let (address, bytes) = arena.largest;
        if bytes > 0 {
            let middle = of.map.axis().along(place, address.saturating_add(bytes / 2));
            let y = strip.y_of(middle);
            if strip.rect.y_range().contains(y) {
                pieces.push((bytes, y));
            }
        }
    }
    pieces.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    // As many as have room below each other.
    pieces.truncate(MOST_NAMED.min((strip.rect.height() / NAME) as usize));
    pieces.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut places: Vec<f32> = Vec::with_capacity(pieces.len());
    for (_, y) in &pieces {
        let least = places.last().map_or(strip.rect.top() + 6.0, |before| before + NAME);
        places.push(y.max(least));
    }
    // Those at the bottom are pushed up again.
    let mut most = strip.rect.bottom() - 4.0;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - NAME;
    }
    let font = fonts::semibold(size::CAPTION);
    let largest = pieces.iter().map(|(bytes, _)| *bytes).max();
    for ((bytes, y), place) in pieces.iter().zip(places) {
        let right = strip.rect.right();
        let line = Stroke::new(1.0, tokens.third_text);
        let points = [Pos2::new(right + 1.0, *y), Pos2::new(right + 8.0, place)];
        ui.painter().line_segment(points, line);
        let text = format!("Free {}", units.bytes(*bytes));
        let color = if Some(*bytes) == largest { tokens.text } else { tokens.weak_text };
        let at = Pos2::new(right + 11.0, place);
        ui.painter().text(at, Align2::LEFT_CENTER, text, font.clone(), color);
    }
}
