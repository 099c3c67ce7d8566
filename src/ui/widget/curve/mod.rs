//! A picture of bytes over positions (tiles, steps): areas, lines, a limit, marks, a selection.
//!
//! egui_plot draws the axes only. The inside is painted here, from bins of a pixel column each ([`super::bins`]), and
//! so are zoom, pan, selection and hover, which work on whole positions.

mod axes;
mod input;
mod moments;
mod paint;
mod peaks;

use eframe::egui::{self, Color32, Modifiers, Rect, Response, Stroke, StrokeKind};
use egui_plot::PlotBounds;
use std::ops::Range;

use super::bins::{BinCache, BinValues, PixelBin, nearest};
use super::heights::Heights;
use super::navigate::{Axis, is_pressed, navigate, navigate_by_key};
use super::picture::{describe, focus};
use super::view::VisibleRange;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
pub use axes::{AxisBand, x_axis_height};
pub use input::{modifiers_of_click, select_by_key};
use paint::CurvePaint;
pub use peaks::{CurvePeak, PeakKey};

/// Least distance of ticks, points.
const X_TICKS: f64 = 72.0;
const Y_TICKS: f64 = 34.0;
/// Room above the line of a limit for its label, points.
const LIMIT_LABEL: f32 = 23.0;
/// How far from a spike a click still means it, points.
const SNAP: f64 = 6.0;
/// Room for the figures of the y axis, so that pictures below each other line up.
pub const Y_AXIS_WIDTH: f32 = 66.0;

pub struct CurveLayer<'a> {
    pub values: BinValues<'a>,
    /// Added to each of them.
    pub base: u64,
    /// Whether the area begins where that of the layer before it ends, instead of at the base.
    pub is_stacked: bool,
    pub fill: Option<Color32>,
    pub line: Color32,
    /// The limit of what it shows: what lies beyond is painted again, as over.
    pub limit: Option<u64>,
    /// Changes when its numbers change, where they do so apart from those of the picture.
    pub version: Option<u64>,
    pub cache: &'a mut BinCache,
}

impl<'a> CurveLayer<'a> {
    /// A line without an area, on the ground.
    pub fn line(values: BinValues<'a>, line: Color32, cache: &'a mut BinCache) -> Self {
        Self {
            values,
            base: 0,
            is_stacked: false,
            fill: None,
            line,
            limit: None,
            version: None,
            cache,
        }
    }
}

/// Positions between two places, no closer than so many.
pub type Ticks<'a> = &'a dyn Fn((f64, f64), f64) -> Vec<usize>;

pub struct CurvePlot<'a> {
    /// The accessible name, which tells pictures apart.
    pub name: &'a str,
    pub value: String,
    pub x_title: &'a str,
    /// The text of a position below its tick.
    pub x_text: &'a dyn Fn(usize) -> String,
    /// Where ticks lie between two places, no closer than so many positions; without it at round positions.
    pub x_ticks: Option<Ticks<'a>>,
    /// Changes when the numbers change.
    pub version: u64,
    pub len: usize,
    /// The largest number to show.
    pub top: u64,
    /// Where the axis begins as long as nobody looks closer.
    pub bottom: u64,
    /// A level below all layers with its area and line.
    pub ground: Option<(u64, Color32, Color32)>,
    /// What is said of it.
    pub ground_label: String,
    /// The series, painted in this order; the pointer finds positions of the last one.
    pub layers: Vec<CurveLayer<'a>>,
    pub limits: Vec<(u64, String)>,
    /// Positions at which something begins, with its label.
    pub borders: &'a [(usize, String)],
    /// Positions at which something happened, ascending, with its label.
    pub moments: &'a [(usize, String)],
    /// What positions belong to, in lanes below the axis.
    pub bands: &'a [AxisBand],
    /// The highest positions, numbered in this order, with a key where there is room for it.
    pub peaks: &'a [CurvePeak],
    /// The color of the curve that they are of, where there are several.
    pub peaks_color: Option<Color32>,
    /// What a position is: `Step`.
    pub x_unit: &'static str,
    /// Marked positions, ascending.
    pub marks: &'a [u32],
    /// Lanes at the bottom, from the ground up.
    pub lanes: &'a [CurveLane<'a>],
    /// Selected positions, with a label where there are several.
    pub selected: Vec<(Range<usize>, String)>,
    /// A position that the pointer is over in another picture of the same axis.
    pub pointed: Option<usize>,
    /// Whether the x axis is this picture's: it has the ticks and follows the keys that zoom. Of
    /// pictures below each other, which share a view, it is the last one's.
    pub has_x_axis: bool,
    /// Whether dragging selects where there is nothing to pan.
    pub is_range_selectable: bool,
}

impl<'a> CurvePlot<'a> {
    /// Nothing yet, over positions of which each has a text.
    pub fn of(name: &'a str, len: usize, x_text: &'a dyn Fn(usize) -> String) -> Self {
        Self {
            name,
            value: String::new(),
            x_title: "",
            x_text,
            x_ticks: None,
            version: 0,
            len,
            top: 0,
            bottom: 0,
            ground: None,
            ground_label: String::new(),
            layers: Vec::new(),
            limits: Vec::new(),
            borders: &[],
            moments: &[],
            bands: &[],
            peaks: &[],
            peaks_color: None,
            x_unit: "",
            marks: &[],
            lanes: &[],
            selected: Vec::new(),
            pointed: None,
            has_x_axis: true,
            is_range_selectable: false,
        }
    }
}

/// A lane that shows where something is the case.
pub struct CurveLane<'a> {
    /// What it is; may be empty.
    pub label: &'a str,
    /// Where it is the case: ascending, without overlaps.
    pub ranges: &'a [Range<u32>],
    pub color: Color32,
    /// Its height, points.
    pub height: f32,
}

impl<'a> CurveLane<'a> {
    /// A lane that is high enough for a label.
    pub fn new(ranges: &'a [Range<u32>], color: Color32) -> Self {
        Self { label: "", ranges, color, height: 9.0 }
    }
}

pub struct CurveResponse {
    pub response: Response,
    pub hovered: Option<usize>,
    /// The position that was clicked, or reached with the keyboard.
    pub clicked: Option<CurveClick>,
    /// The first and last position of a range that is being dragged over.
    pub dragged: Option<(usize, usize)>,
    /// Where the picture lies in the window, with its axes.
    pub rect: Rect,
    /// Where its data lie.
    pub frame: Rect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurveClick {
    pub position: usize,
    /// Whether it joins those that are selected: with Shift or Ctrl.
    pub is_added: bool,
    /// Whether all between it and the first that was selected join too: with Shift.
    pub is_range: bool,
}

impl CurveClick {
    pub fn new(position: usize, modifiers: Modifiers) -> Self {
        let is_added = modifiers.shift || modifiers.command;
        Self { position, is_added, is_range: modifiers.shift }
    }
}

/// Draws the picture in all of the space that is left.
pub fn curve_ui(
    ui: &mut egui::Ui,
    view: &mut VisibleRange,
    heights: &mut Heights,
    mut picture: CurvePlot<'_>,
) -> CurveResponse {
    let (tokens, units) = (Tokens::now(ui), Units::now(ui));
    let rect = ui.available_rect_before_wrap();
    let (start, end) = view.range(picture.len);
    // The discs of peaks need some of it.
    let room = if picture.peaks.is_empty() { 1.08 } else { 1.16 };
    let mut inside = rect;
    if picture.has_x_axis {
        inside.max.y -= x_axis_height(picture.x_title, picture.bands.len());
    }
    let bottom = picture.bottom as f64;
    let mut top = (picture.top.max(1) as f64) * room;
    // The label of a limit stands above its line.
    let share = f64::from((LIMIT_LABEL / inside.height().max(1.0)).min(0.25));
    let limits = picture.limits.iter().map(|(bytes, _)| *bytes as f64);
    if let Some(limit) = limits.filter(|limit| *limit <= top).max_by(f64::total_cmp) {
        top = top.max((limit - bottom * share) / (1.0 - share));
    }
    let usual = (bottom, top);
    let (low, high) = heights.range(usual);
    let builder = egui::UiBuilder::new().max_rect(inside);
    let shown = ui.scope_builder(builder, |ui| {
        let caption = fonts::regular(fonts::size::CAPTION);
        ui.style_mut().text_styles.insert(egui::TextStyle::Body, caption);
        axes::plot(picture.name, high, tokens, units).show(ui, |plot| {
            plot.set_plot_bounds(PlotBounds::from_min_max([start, low], [end, high]));
        })
    });
    ui.advance_cursor_after_rect(rect);
    let (response, transform) = (shown.inner.response, shown.inner.transform);
    let frame = *transform.frame();
    let columns = (f64::from(frame.width() * ui.pixels_per_point())).max(1.0) as usize;
    let painter = ui.painter().with_clip_rect(frame);
    let paint = CurvePaint::new(painter, transform, tokens);

    paint.bands(&picture.selected);
    paint.grid((low, high), units);
    paint.ground(&picture);
    for layer in &mut picture.layers {
        let version = layer.version.unwrap_or(picture.version);
        layer.cache.get(version, layer.values, (start, end), columns);
    }
    let mut below: &[PixelBin] = &[];
    for layer in &picture.layers {
        let bins = layer.cache.bins();
        let under = layer.is_stacked.then_some(below);
        if let Some(fill) = layer.fill {
            paint.area(bins, layer.base, under, fill);
        }
        if layer.line != Color32::TRANSPARENT {
            paint.line(bins, layer.base, layer.line);
        }
        if let Some(limit) = layer.limit {
            paint.over(bins, layer.base, limit);
        }
        below = bins;
    }
    paint.ground_label(&picture);
    let base = picture.layers.last().map_or(0, |layer| layer.base);
    let value_at = |position: usize| {
        let bytes = picture.layers.last()?.values.get(position)?;
        Some(bytes.saturating_add(base))
    };
    let discs = paint.discs(&picture);
    let mut labels = paint.moments(picture.moments, &discs);
    let moments: Vec<f32> = picture.moments.iter().map(|(at, _)| paint.x(*at as f64)).collect();
    let has_no_mark = |place: Rect| {
        let around = place.expand2(egui::vec2(5.0, 1.0));
        !discs.is_over(around)
            && !labels.iter().any(|label| label.intersects(around))
            && !moments.iter().any(|x| around.x_range().contains(*x))
    };
    let is_free = |place: Rect| {
        let last = picture.layers.len().saturating_sub(1);
        let crosses = |(number, layer): (usize, &CurveLayer<'_>)| {
            let is_last = number == last;
            (is_last || layer.line != Color32::TRANSPARENT)
                && paint.crosses(layer.cache.bins(), layer.base, is_last, place)
        };
        has_no_mark(place) && !picture.layers.iter().enumerate().any(crosses)
    };
    let of_limits = paint.limits(&picture.limits, (low, high), [&is_free, &has_no_mark]);
    labels.extend(of_limits);
    let lanes = paint.lanes(picture.lanes);
    paint.marks(picture.marks, (start, end), lanes, below, value_at);
    paint.selection(&picture.selected, value_at);
    paint.borders(picture.borders);
    discs.paint(&paint.painter, tokens, picture.peaks_color.unwrap_or(tokens.ink));
    let is_free = |place| paint.is_free_for_key(&picture, &labels, &discs, place);
    let limits: Vec<f32> = picture.limits.iter().map(|(bytes, _)| paint.y(*bytes)).collect();
    paint.key(picture.peaks, &limits, &is_free);
    let per_point = transform.dvalue_dpos()[0];
    let at = |x: f32| {
        let position = transform.value_from_position(egui::pos2(x, 0.0)).x;
        input::snapped(below, position, SNAP * per_point).or_else(|| {
            let bin = nearest(below, position)?;
            Some(bin.highest)
        })
    };
    let pointer = response.hover_pos().filter(|_| picture.len > 0);
    let on_disc = |pointer| Some(picture.peaks.get(discs.at(pointer)?)?.position);
    let hovered = pointer.and_then(|pointer| on_disc(pointer).or_else(|| at(pointer.x)));
    if let Some(hovered) = hovered.or(picture.pointed) {
        paint.cursor(hovered, value_at(hovered), Stroke::new(1.0, tokens.weak_text));
    }
    let axes = axes::Axes { painter: ui.painter(), paint: &paint, picture: &picture, tokens };
    let selected = picture.selected.last().filter(|(range, _)| range.len() == 1);
    let selected = selected.map(|(range, _)| range.start);
    if picture.has_x_axis {
        axes.x_ui((start, end), selected);
    }
    axes.chips(hovered.or(selected), value_at, units);
    if low > 0.5 {
        axes.not_from_zero(low, units);
    }
    let actions = response.is_pointer_button_down_on() || response.hovered();
    describe(&response, picture.name, || picture.value.clone());
    let is_selecting = picture.is_range_selectable && input::is_selecting(ui, *view);
    let origin = f64::from(transform.position_from_point_x(0.0));
    let axis = Axis { origin, per_point };
    let before = *heights;
    let mut moved = navigate(ui, &response, axis, view, picture.len, !is_selecting);
    input::navigate_heights(ui, &response, &transform, heights, usual, !is_selecting);
    if picture.has_x_axis {
        moved |= navigate_by_key(ui, view, picture.len);
        if is_pressed(ui, egui::Key::Num0) {
            heights.reset();
        }
    }
    if response.double_clicked() {
        view.reset();
        heights.reset();
        moved = true;
    }
    moved |= before != *heights;
    // So that the arrows go on from there.
    focus(ui, &response, frame, StrokeKind::Inside);
    let last = picture.selected.last().map(|(range, _)| range.start);
    let by_key = select_by_key(ui, &response, picture.len, last);
    if let Some(click) = by_key {
        view.reveal(picture.len, click.position);
    }
    if moved || by_key.is_some() {
        ui.request_repaint();
    }
    let by_pointer = hovered
        .filter(|_| actions && response.clicked())
        .map(|position| CurveClick::new(position, modifiers_of_click(ui)));
    let dragged = if is_selecting && response.dragged() {
        input::dragged_range(ui, &transform, picture.len)
    } else {
        None
    };
    CurveResponse {
        hovered: hovered.filter(|_| !response.dragged()),
        clicked: by_pointer.or(by_key),
        dragged,
        response,
        rect,
        frame,
    }
}
