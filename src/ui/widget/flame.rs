//! Ranges within ranges as rows of rectangles: what was done within what, and for how long; what memory consists of.
//!
//! What is drawn is what [`SpanRows`] hands out for the visible part: as many rectangles as there are pixels, whatever
//! the number of ranges, in one mesh, and a name only where there is room for it. A click, or Enter, gives a range the whole width;
//! arrows go to ranges beside, above and below.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{
    self, Button, Color32, Key, Mesh, Painter, Rect, Response, Role, Sense, Shape, Stroke,
    StrokeKind, Vec2, WidgetInfo,
};

use super::picture::{add_outline, pressed_keys, text_within};
use crate::analysis::spans::{Seen, SpanRow, SpanRows};
use crate::ui::theme::{Tokens, text_on};

/// Height of a row, points.
pub const FLAME_ROW: f32 = 20.0;
/// Narrowest range with its name inside, points.
const NAMED: f32 = 34.0;
/// Ranges narrower than this leave no room between them, points.
const NARROW: f32 = 3.0;

/// Where places of an axis lie in a rectangle.
#[derive(Clone, Copy, Debug)]
pub struct Placing {
    pub rect: Rect,
    pub from: f64,
    pub to: f64,
}

impl Placing {
    /// Places of a point.
    pub fn per_point(&self) -> f64 {
        ((self.to - self.from) / f64::from(self.rect.width().max(1.0))).max(f64::MIN_POSITIVE)
    }

    /// The place of a position in the window.
    pub fn place(&self, x: f32) -> f64 {
        self.from + f64::from(x - self.rect.left()) * self.per_point()
    }

    /// Where a place lies, within the rectangle.
    pub fn x(&self, place: u64) -> f32 {
        let along = (place as f64).clamp(self.from, self.to) - self.from;
        self.rect.left() + (along / self.per_point()) as f32
    }
}

pub struct FlameLook<'a> {
    /// Height of a row, points.
    pub row: f32,
    /// The fill of a range, by its tag and its row.
    pub fill: &'a dyn Fn(u8, usize) -> Color32,
    /// Its name, asked for where there is room.
    pub name: &'a dyn Fn(u32) -> String,
    /// The color of names; without one what is read on the fill.
    pub text: Option<Color32>,
    /// Those with a line around them.
    pub chosen: Option<u32>,
    /// The one under the pointer.
    pub hovered: Option<u32>,
}

/// Draws what is visible of all rows, from the top of the rectangle down.
pub fn paint_rows(painter: &Painter, placing: Placing, rows: &SpanRows, look: &FlameLook<'_>) {
    for (depth, row) in rows.rows().iter().enumerate() {
        let top = placing.rect.top() + depth as f32 * look.row;
        let area = Rect::from_x_y_ranges(placing.rect.x_range(), top..=top + look.row - 1.0);
        if area.bottom() < painter.clip_rect().top() || area.top() > painter.clip_rect().bottom() {
            continue;
        }
        paint_row(painter, Placing { rect: area, ..placing }, rows, row, depth, look);
    }
}

fn paint_row(
    painter: &Painter,
    placing: Placing,
    rows: &SpanRows,
    row: &SpanRow,
    depth: usize,
    look: &FlameLook<'_>,
) {
    let pixels = painter.pixels_per_point();
    let pixel = placing.per_point() / f64::from(pixels);
    let on_pixels = Placing { rect: placing.rect.round_to_pixels(pixels), ..placing };
    let tokens = Tokens::of(painter.ctx().theme());
    let mut mesh = Mesh::default();
    let mut names = Vec::new();
    // Narrow ranges that touch each other and have one color are one rectangle.
    let mut joined: Option<(Rect, Color32)> = None;
    row.each_visible((placing.from, placing.to), pixel, |Seen { at, start, end, tag }| {
        let Some(number) = rows.number(depth, at) else { return };
        let Some(rect) = placed(&on_pixels, start, end, pixel) else { return };
        let is_marked = look.chosen == Some(number) || look.hovered == Some(number);
        let fill = if is_marked { tokens.selected } else { (look.fill)(tag, depth) };
        if rect.width() < NARROW {
            match &mut joined {
                Some((before, color)) if *color == fill && rect.left() <= before.right() => {
                    before.max.x = before.max.x.max(rect.right());
                }
                _ => {
                    if let Some((before, color)) = joined.replace((rect, fill)) {
                        mesh.add_colored_rect(before, color);
                    }
                }
            }
            return;
        }
        if let Some((before, color)) = joined.take() {
            mesh.add_colored_rect(before, color);
        }
        mesh.add_colored_rect(rect, fill);
        if look.chosen == Some(number) {
            add_outline(&mut mesh, rect, 2.0_f32.round_to_pixels(pixels), tokens.accent);
        }
        if rect.width() >= NAMED {
            let color = look.text.filter(|_| !is_marked).unwrap_or_else(|| text_on(fill));
            names.push((rect.shrink2(Vec2::new(5.0, 0.0)), number, color));
        }
    });
    if let Some((last, color)) = joined {
        mesh.add_colored_rect(last, color);
    }
    painter.add(Shape::mesh(mesh));
    for (inside, number, color) in names {
        text_within(painter, inside, (look.name)(number), 12.5, color);
    }
}

/// Where a range is drawn, in a rectangle on whole pixels and on such, each of which is `pixel` places long; `None` when
/// it is outside of what is shown.
fn placed(placing: &Placing, start: u64, end: u64, pixel: f64) -> Option<Rect> {
    if (end as f64) < placing.from || start as f64 > placing.to {
        return None;
    }
    let pixels = (placing.per_point() / pixel) as f32;
    // Pixels from the left; adding a half and cutting is rounding, for they are not below 0.
    let along = |place: u64| (place as f64).clamp(placing.from, placing.to) - placing.from;
    let (left, right) = (along(start) / pixel, along(end) / pixel);
    let is_narrow = right - left < f64::from(NARROW * pixels);
    // A range beside the one that is shown touches it in one point only.
    let is_beside = end as f64 <= placing.from || start as f64 >= placing.to;
    if is_narrow && end > start && is_beside {
        return None;
    }
    let point = ((pixels + 0.5) as u32).max(1);
    let gap = if is_narrow { 0 } else { point };
    let left = (left + 0.5) as u32;
    let right = ((right + 0.5) as u32).saturating_sub(gap).max(left + point);
    let x = |from_left: u32| placing.rect.left() + from_left as f32 / pixels;
    Some(Rect::from_x_y_ranges(x(left)..=x(right), placing.rect.y_range()))
}

/// The range at a position in the window.
pub fn range_at(placing: Placing, rows: &SpanRows, row: f32, at: egui::Pos2) -> Option<u32> {
    if !placing.rect.contains(at) {
        return None;
    }
    let depth = ((at.y - placing.rect.top()) / row).floor() as usize;
    // What is narrower than a point is met by its pixel.
    let place = placing.place(at.x).max(0.0);
    let near = place + placing.per_point();
    rows.at(depth, place as u64).or_else(|| {
        let found = rows.rows().get(depth)?;
        let next = found.begun_before(place as u64);
        found.get(next).filter(|(start, _)| (*start as f64) < near)?;
        rows.number(depth, next)
    })
}

#[derive(Default)]
pub struct Flame {
    /// What the whole width stands for at least, so that pictures below each other have one scale.
    pub span: u64,
    /// The range that has the whole width.
    pub zoomed: Option<u32>,
    /// The range that was clicked last, or that arrows went to.
    pub chosen: Option<u32>,
}

impl Flame {
    /// Draws the picture; its value is the text of the chosen range. Returns the range under the pointer.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        name: &str,
        rows: &SpanRows,
        title: &dyn Fn(u32) -> String,
        text: &dyn Fn(u32) -> String,
    ) -> (Response, Option<u32>) {
        let size = Vec2::new(ui.available_width(), rows.rows().len().max(1) as f32 * FLAME_ROW);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let hovered = response
            .hover_pos()
            .and_then(|pointer| range_at(self.placing(rows, rect), rows, FLAME_ROW, pointer));
        if response.clicked()
            && let Some(clicked) = hovered
        {
            self.chosen = Some(clicked);
            self.zoomed = Some(clicked);
        }
        if response.double_clicked() {
            self.zoomed = None;
        }
        self.keys(ui, &response, rows);
        let tokens = Tokens::now(ui);
        // Contained ranges are told apart from what contains them by place, not by color alone.
        let fill = |_: u8, depth: usize| {
            tokens.area(if depth.is_multiple_of(2) { tokens.always_live } else { tokens.temporary })
        };
        let look = FlameLook {
            row: FLAME_ROW,
            fill: &fill,
            name: title,
            text: Some(tokens.text),
            chosen: self.chosen,
            hovered,
        };
        paint_rows(&ui.painter_at(rect), self.placing(rows, rect), rows, &look);
        if response.has_focus() {
            let stroke = Stroke::new(1.0, tokens.accent);
            ui.painter().rect_stroke(rect, 2, stroke, StrokeKind::Inside);
        }
        response.widget_info(|| {
            let chosen = self.chosen.or(self.zoomed);
            let value = chosen.map_or_else(|| format!("{} spans", rows.len()), text);
            let mut info = WidgetInfo::labeled(Role::Image, true, name);
            info.current_text_value = Some(value);
            info
        });
        (response, hovered)
    }

    fn placing(&self, rows: &SpanRows, rect: Rect) -> Placing {
        let (from, to) = match self.zoomed.and_then(|zoomed| rows.get(zoomed)) {
            Some(range) => range,
            None => {
                let extent = rows.extent().unwrap_or_default();
                (extent.start, extent.end.max(extent.start.saturating_add(self.span)))
            }
        };
        Placing { rect, from: from as f64, to: to.max(from.saturating_add(1)) as f64 }
    }

    /// Arrows, Enter and 0, while the picture has the focus.
    fn keys(&mut self, ui: &egui::Ui, response: &Response, rows: &SpanRows) {
        if !response.has_focus() || rows.is_empty() {
            return;
        }
        let pressed = pressed_keys(ui, response, true);
        let arrows = [Key::ArrowRight, Key::ArrowLeft, Key::ArrowDown, Key::ArrowUp];
        if let Some(key) = arrows.into_iter().find(|key| pressed(*key)) {
            let moved = match self.chosen {
                Some(now) => neighbour(rows, now, key),
                None => matches!(key, Key::ArrowRight | Key::ArrowDown).then_some(0),
            };
            self.chosen = moved.or(self.chosen);
        }
        if pressed(Key::Enter) {
            self.zoomed = self.chosen;
        }
        if pressed(Key::Num0) {
            self.zoomed = None;
        }
    }
}

/// Draws one of several pictures. What is chosen or zoomed in it then becomes so in the others: there `partner` says, by
/// their place, what a range is.
pub fn linked_ui(
    ui: &mut egui::Ui,
    flames: &mut [Flame],
    place: usize,
    name: &str,
    rows: &SpanRows,
    texts: (&dyn Fn(u32) -> String, &dyn Fn(u32) -> String),
    partner: impl Fn(usize, u32) -> Option<u32>,
) -> Option<(Response, Option<u32>)> {
    let flame = flames.get_mut(place)?;
    let before = (flame.zoomed, flame.chosen);
    let drawn = flame.ui(ui, name, rows, texts.0, texts.1);
    let (zoomed, chosen) = (flame.zoomed, flame.chosen);
    if (zoomed, chosen) != before {
        for (other, flame) in flames.iter_mut().enumerate().filter(|(other, _)| *other != place) {
            let same = |range: Option<u32>| partner(other, range?);
            (flame.zoomed, flame.chosen) = (same(zoomed), same(chosen));
        }
        ui.request_repaint();
    }
    Some(drawn)
}

/// The button that shows all of linked pictures again.
pub fn show_all_ui(ui: &mut egui::Ui, flames: &mut [Flame], title: &str) {
    let is_zoomed = flames.iter().any(|flame| flame.zoomed.is_some());
    let all = ui.add_enabled(is_zoomed, Button::new(title));
    if all.on_hover_text("Double-click, or key 0").clicked() {
        for flame in flames {
            flame.zoomed = None;
        }
    }
}

/// The range beside, above or below another.
fn neighbour(rows: &SpanRows, now: u32, key: Key) -> Option<u32> {
    let (row, at) = rows.place(now)?;
    let (start, end) = rows.get(now)?;
    match key {
        Key::ArrowRight => rows.number(row, at + 1),
        Key::ArrowLeft => rows.number(row, at.checked_sub(1)?),
        Key::ArrowUp => rows.at(row.checked_sub(1)?, start),
        _ => {
            let below = rows.rows().get(row + 1)?;
            let first = below.begun_before(start);
            below.get(first).filter(|(start, _)| *start < end)?;
            rows.number(row + 1, first)
        }
    }
}
