//! A picture of bytes over positions (tiles, steps): areas, lines, a limit, marks, a selection.
//!
//! egui_plot draws the axes only. What is inside is painted here, from bins of a pixel column each
//! ([`super::bins`]), and so are zoom, pan and hover, which work on whole positions.

use eframe::egui;
use eframe::egui::epaint::{Mesh, PathShape, Vertex, WHITE_UV};
use eframe::egui::{
    Align2, Color32, EventFilter, Key, Pos2, Rect, Response, Role, Sense, Shape, Stroke,
};
use egui_plot::{AxisHints, GridMark, Plot, PlotBounds, PlotTransform};

use super::bins::{Bin, BinCache, Values, nearest};
use super::ticks;
use super::view::View;
use crate::ui::theme::Tokens;

/// Least distance of ticks, points.
const X_TICKS: f64 = 72.0;
const Y_TICKS: f64 = 34.0;
/// Room for the figures of the y axis, so that pictures below each other line up.
const Y_AXIS_WIDTH: f32 = 66.0;
/// Marks are dots on the curve as long as there are so many at most.
const MAX_DOTS: usize = 300;

/// A series.
#[derive(Debug)]
pub struct Layer<'a> {
    /// The numbers.
    pub values: Values<'a>,
    /// Added to each of them.
    pub base: u64,
    /// Colour of the area between the base and the numbers.
    pub fill: Option<Color32>,
    /// Colour of the line.
    pub line: Color32,
    /// What was computed for the last frame.
    pub cache: &'a mut BinCache,
}

/// What to draw.
pub struct Picture<'a> {
    /// The accessible name, which tells pictures apart.
    pub name: &'a str,
    /// The accessible value.
    pub value: String,
    /// Title of the x axis.
    pub x_title: &'a str,
    /// The text of a position below its tick.
    pub x_text: &'a dyn Fn(usize) -> String,
    /// Changes when the numbers change.
    pub version: u64,
    /// Number of positions.
    pub len: usize,
    /// The largest number to show.
    pub top: u64,
    /// A level below all layers with its area and line.
    pub ground: Option<(u64, Color32, Color32)>,
    /// The series, painted in this order; the pointer finds positions of the last one.
    pub layers: Vec<Layer<'a>>,
    /// A limit and its label.
    pub limit: Option<(u64, String)>,
    /// Positions at which something begins, with its label.
    pub borders: &'a [(usize, String)],
    /// Marked positions, ascending.
    pub marks: &'a [u32],
    /// The selected position.
    pub selected: Option<usize>,
}

/// What the user did.
#[derive(Debug)]
pub struct Answer {
    /// The picture's area.
    pub response: Response,
    /// The position under the pointer.
    pub hovered: Option<usize>,
    /// The position that was clicked, or reached with the keyboard.
    pub clicked: Option<usize>,
}

/// Draws the picture in all of the space that is left.
pub fn curve_ui(ui: &mut egui::Ui, view: &mut View, mut picture: Picture<'_>) -> Answer {
    let tokens = Tokens::now(ui);
    let (start, end) = view.range(picture.len);
    let top = (picture.top.max(1) as f64) * 1.08;
    let shown = axes(&picture, (start, end), top, tokens).show(ui, |plot| {
        plot.set_plot_bounds(PlotBounds::from_min_max([start, 0.0], [end, top]));
    });
    let (response, transform) = (shown.response, shown.transform);
    let columns = (f64::from(transform.frame().width() * ui.pixels_per_point())).max(1.0) as usize;
    let painter = ui.painter().with_clip_rect(*transform.frame());
    let paint = Paint { painter, transform, tokens };

    paint.ground(&picture);
    let mut tops: Vec<Bin> = Vec::new();
    let version = picture.version;
    let last = picture.layers.len().saturating_sub(1);
    for (index, layer) in picture.layers.iter_mut().enumerate() {
        let bins = layer.cache.get(version, layer.values, (start, end), columns);
        if let Some(fill) = layer.fill {
            paint.area(bins, layer.base, fill);
        }
        paint.line(bins, layer.base, layer.line);
        if index == last {
            tops.extend_from_slice(bins);
        }
    }
    paint.grid((start, end), top);
    paint.borders(picture.borders);
    paint.limit(picture.limit.as_ref(), top);
    let base = picture.layers.last().map_or(0, |layer| layer.base);
    let value_at = |position: usize| {
        picture.layers.last().and_then(|layer| layer.values.get(position)).map(|bytes| bytes + base)
    };
    paint.marks(picture.marks, (start, end), value_at);
    if let Some(selected) = picture.selected {
        paint.cursor(selected, value_at(selected), Stroke::new(1.5, tokens.text));
    }
    let hovered = response.hover_pos().filter(|_| picture.len > 0).and_then(|pointer| {
        let position = transform.value_from_position(pointer).x;
        nearest(&tops, position).map(|bin| bin.highest)
    });
    if let Some(hovered) = hovered {
        paint.cursor(hovered, value_at(hovered), Stroke::new(1.0, tokens.weak_text));
    }
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::labeled(Role::Canvas, true, picture.name);
        info.current_text_value = Some(picture.value.clone());
        info
    });
    let moved = navigate(ui, &response, &transform, view, picture.len);
    let by_key = select_by_key(ui, &response, &picture);
    if let Some(position) = by_key {
        view.reveal(picture.len, position);
    }
    if moved || by_key.is_some() {
        ui.request_repaint();
    }
    let clicked = hovered.filter(|_| response.clicked()).or(by_key);
    Answer { hovered: hovered.filter(|_| !response.dragged()), clicked, response }
}

fn axes<'a>(
    picture: &Picture<'a>,
    (start, end): (f64, f64),
    top: f64,
    tokens: &Tokens,
) -> Plot<'a> {
    let (len, x_text) = (picture.len, picture.x_text);
    let x_axis = AxisHints::new_x()
        .label(picture.x_title)
        .label_spacing(30.0..=40.0)
        .tick_label_color(tokens.weak_text)
        .formatter(move |mark: GridMark, _| {
            // A figure at the very end would be cut off by the edge of the window.
            let is_at_end = (end - mark.value) / (end - start) < 0.012;
            if mark.value < start || is_at_end || mark.value >= len as f64 {
                return String::new();
            }
            x_text(mark.value.max(0.0) as usize)
        });
    let y_axis = AxisHints::new_y()
        .min_thickness(Y_AXIS_WIDTH)
        .label_spacing(16.0..=20.0)
        .tick_label_color(tokens.weak_text)
        .formatter(move |mark: GridMark, _| {
            // A figure at the very top would be cut off by the edge of the picture.
            let is_at_top = (top - mark.value) / top < 0.02;
            if is_at_top {
                return String::new();
            }
            ticks::bytes_text(mark.value, mark.step_size, top)
        });
    let marks = |step: f64, bounds: (f64, f64)| -> Vec<GridMark> {
        ticks::multiples(step, bounds).map(|value| GridMark { value, step_size: step }).collect()
    };
    Plot::new(picture.name.to_owned())
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis])
        // `base_step_size` is the distance of grid lines at 1 point, the least that is set here.
        .grid_spacing(1.0..=2.0)
        .x_grid_spacer(move |input| {
            marks(ticks::whole_step(input.base_step_size * X_TICKS), input.bounds)
        })
        .y_grid_spacer(move |input| {
            marks(ticks::bytes_step(input.base_step_size * Y_TICKS), input.bounds)
        })
        .show_grid(false)
        .auto_bounds(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_drag(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_x(false)
        .show_y(false)
        .sense(Sense::click_and_drag())
}

/// Wheel and keys zoom, drag pans, double-click and 0 reset. Says whether anything moved.
fn navigate(
    ui: &egui::Ui,
    response: &Response,
    transform: &PlotTransform,
    view: &mut View,
    len: usize,
) -> bool {
    let before = *view;
    let per_point = transform.dvalue_dpos()[0];
    if response.dragged() {
        view.pan(len, -f64::from(response.drag_delta().x) * per_point);
    }
    if let Some(pointer) = response.hover_pos() {
        let center = transform.value_from_position(pointer).x;
        let (wheel, pinch) = ui.input(|input| (input.smooth_scroll_delta(), input.zoom_delta()));
        if wheel.y != 0.0 {
            view.zoom(len, f64::from(wheel.y / 200.0).exp(), center);
        }
        if wheel.x != 0.0 {
            view.pan(len, -f64::from(wheel.x) * per_point);
        }
        if (pinch - 1.0).abs() > f32::EPSILON {
            view.zoom(len, f64::from(pinch), center);
        }
    }
    if response.double_clicked() {
        view.reset();
    }
    if !ui.text_edit_focused() {
        let (start, end) = view.range(len);
        let middle = f64::midpoint(start, end);
        ui.input(|input| {
            // With Ctrl these keys change the size of everything.
            if input.modifiers.command || input.modifiers.alt {
                return;
            }
            if input.key_pressed(Key::Num0) {
                view.reset();
            }
            if input.key_pressed(Key::Plus) || input.key_pressed(Key::Equals) {
                view.zoom(len, 1.5, middle);
            }
            if input.key_pressed(Key::Minus) {
                view.zoom(len, 1.0 / 1.5, middle);
            }
        });
    }
    *view != before
}

/// Arrows, Home and End move the selection while the picture has the focus.
fn select_by_key(ui: &egui::Ui, response: &Response, picture: &Picture<'_>) -> Option<usize> {
    if !response.has_focus() || picture.len == 0 {
        return None;
    }
    let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let last = picture.len - 1;
    let now = picture.selected;
    ui.input(|input| {
        if input.key_pressed(Key::ArrowRight) {
            Some(now.map_or(0, |now| (now + 1).min(last)))
        } else if input.key_pressed(Key::ArrowLeft) {
            Some(now.map_or(last, |now| now.saturating_sub(1)))
        } else if input.key_pressed(Key::Home) {
            Some(0)
        } else if input.key_pressed(Key::End) {
            Some(last)
        } else {
            None
        }
    })
}

struct Paint<'a> {
    painter: egui::Painter,
    transform: PlotTransform,
    tokens: &'a Tokens,
}

impl Paint<'_> {
    fn x(&self, position: f64) -> f32 {
        self.transform.position_from_point_x(position)
    }

    fn y(&self, bytes: u64) -> f32 {
        self.transform.position_from_point_y(bytes as f64)
    }

    fn frame(&self) -> Rect {
        *self.transform.frame()
    }

    fn ground(&self, picture: &Picture<'_>) {
        let Some((bytes, fill, line)) = picture.ground else { return };
        let x = self.x(-0.5)..=self.x(picture.len as f64 - 0.5);
        let rect = Rect::from_x_y_ranges(x.clone(), self.y(bytes)..=self.y(0));
        self.painter.rect_filled(rect, 0, fill);
        self.painter.hline(x, self.y(bytes), Stroke::new(1.5, line));
    }

    fn area(&self, bins: &[Bin], base: u64, fill: Color32) {
        let mut mesh = Mesh::default();
        mesh.vertices.reserve(bins.len() * 4);
        mesh.indices.reserve(bins.len() * 6);
        let bottom = self.y(base);
        for bin in bins {
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

    /// A line of steps where there is room, else from the most to the least of each column.
    fn line(&self, bins: &[Bin], base: u64, color: Color32) {
        for run in bins.chunk_by(|a, b| a.to == b.from) {
            let mut points = Vec::with_capacity(run.len() * 2);
            for bin in run {
                let (left, right) = (self.x(bin.from as f64 - 0.5), self.x(bin.to as f64 - 0.5));
                let most = self.y(bin.max.saturating_add(base));
                if bin.to - bin.from == 1 {
                    points.extend([Pos2::new(left, most), Pos2::new(right, most)]);
                } else {
                    let middle = f32::midpoint(left, right);
                    let least = self.y(bin.min.saturating_add(base));
                    points.extend([Pos2::new(middle, most), Pos2::new(middle, least)]);
                }
            }
            self.painter.add(PathShape::line(points, Stroke::new(1.25, color)));
        }
    }

    fn grid(&self, x_range: (f64, f64), top: f64) {
        let per_point = self.transform.dvalue_dpos();
        let stroke = Stroke::new(1.0, self.tokens.grid);
        for value in ticks::multiples(ticks::whole_step(per_point[0].abs() * X_TICKS), x_range) {
            self.painter.vline(self.x(value), self.frame().y_range(), stroke);
        }
        for value in ticks::multiples(ticks::bytes_step(per_point[1].abs() * Y_TICKS), (0.0, top)) {
            let y = self.transform.position_from_point_y(value);
            self.painter.hline(self.frame().x_range(), y, stroke);
        }
    }

    fn borders(&self, borders: &[(usize, String)]) {
        let mut free_from = f32::NEG_INFINITY;
        for (position, label) in borders {
            let x = self.x(*position as f64 - 0.5);
            self.painter.vline(x, self.frame().y_range(), Stroke::new(1.0, self.tokens.weak_text));
            if x >= free_from {
                let at = Pos2::new(x + 4.0, self.frame().top() + 3.0);
                free_from = self.label(at, Align2::LEFT_TOP, label, self.tokens.weak_text).right();
            }
        }
    }

    fn limit(&self, limit: Option<&(u64, String)>, top: f64) {
        let Some((bytes, label)) = limit else { return };
        let right = self.frame().right() - 6.0;
        if *bytes as f64 > top {
            let at = Pos2::new(right, self.frame().top() + 4.0);
            let text = format!("{label}, above the picture");
            self.label(at, Align2::RIGHT_TOP, &text, self.tokens.limit);
            return;
        }
        let y = self.y(*bytes);
        let ends = [Pos2::new(self.frame().left(), y), Pos2::new(self.frame().right(), y)];
        let stroke = Stroke::new(1.5, self.tokens.limit);
        self.painter.extend(Shape::dashed_line(&ends, stroke, 8.0, 4.0));
        let is_high = y - self.frame().top() > 22.0;
        let (at, align) = if is_high {
            (Pos2::new(right, y - 4.0), Align2::RIGHT_BOTTOM)
        } else {
            (Pos2::new(right, y + 4.0), Align2::RIGHT_TOP)
        };
        self.label(at, align, label, self.tokens.limit);
    }

    fn label(&self, at: Pos2, align: Align2, text: &str, color: Color32) -> Rect {
        let font = egui::FontId::proportional(12.5);
        let galley = self.painter.layout_no_wrap(text.to_owned(), font, color);
        let rect = align.anchor_size(at, galley.size());
        self.painter.rect_filled(rect.expand2(egui::vec2(3.0, 1.0)), 2, self.tokens.surface);
        self.painter.galley(rect.min, galley, color);
        rect
    }

    fn marks(
        &self,
        marks: &[u32],
        (start, end): (f64, f64),
        value_at: impl Fn(usize) -> Option<u64>,
    ) {
        let first = marks.partition_point(|mark| f64::from(*mark) < start);
        let last = marks.partition_point(|mark| f64::from(*mark) <= end);
        let visible = marks.get(first..last).unwrap_or(&[]);
        let has_dots = visible.len() <= MAX_DOTS;
        let (mut drawn_to, bottom) = (f32::NEG_INFINITY, self.frame().bottom());
        for mark in visible {
            let x = self.x(f64::from(*mark));
            if x - drawn_to < 1.0 {
                continue;
            }
            drawn_to = x;
            self.painter.vline(x, bottom - 10.0..=bottom, Stroke::new(2.0, self.tokens.mark));
            if let Some(bytes) = value_at(*mark as usize).filter(|_| has_dots) {
                self.painter.circle_filled(Pos2::new(x, self.y(bytes)), 3.0, self.tokens.mark);
            }
        }
    }

    fn cursor(&self, position: usize, bytes: Option<u64>, stroke: Stroke) {
        let x = self.x(position as f64);
        self.painter.vline(x, self.frame().y_range(), stroke);
        if let Some(bytes) = bytes {
            let at = Pos2::new(x, self.y(bytes));
            self.painter.circle(at, 3.5, self.tokens.surface, Stroke::new(1.5, stroke.color));
        }
    }
}
