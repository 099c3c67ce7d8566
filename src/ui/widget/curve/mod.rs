//! A picture of bytes over positions (tiles, steps): areas, lines, a limit, marks, a selection.
//!
//! egui_plot draws the axes only. What is inside is painted here, from bins of a pixel column each
//! ([`super::bins`]), and so are zoom, pan, selection and hover, which work on whole positions.

mod input;
mod paint;

use eframe::egui::{self, Color32, Modifiers, Rect, Response, Sense, Stroke, StrokeKind};
use egui_plot::{AxisHints, GridMark, Plot, PlotBounds};
use std::ops::Range;

use super::bins::{Bin, BinCache, Values, nearest};
use super::navigate::{Axis, navigate, navigate_by_key};
use super::picture::{describe, focus};
use super::ticks;
use super::view::View;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
pub use input::{modifiers_of_click, select_by_key};
use paint::Paint;

/// Least distance of ticks, points.
const X_TICKS: f64 = 72.0;
const Y_TICKS: f64 = 34.0;
/// Room for the figures of the y axis, so that pictures below each other line up.
pub const Y_AXIS_WIDTH: f32 = 66.0;

pub struct Layer<'a> {
    pub values: Values<'a>,
    /// Added to each of them.
    pub base: u64,
    /// Whether the area begins where that of the layer before it ends, instead of at the base.
    pub is_stacked: bool,
    pub fill: Option<Color32>,
    pub line: Color32,
    pub cache: &'a mut BinCache,
}

impl<'a> Layer<'a> {
    /// A line without an area, on the ground.
    pub fn line(values: Values<'a>, line: Color32, cache: &'a mut BinCache) -> Self {
        Self { values, base: 0, is_stacked: false, fill: None, line, cache }
    }
}

pub struct Picture<'a> {
    /// The accessible name, which tells pictures apart.
    pub name: &'a str,
    pub value: String,
    pub x_title: &'a str,
    /// The text of a position below its tick.
    pub x_text: &'a dyn Fn(usize) -> String,
    /// Changes when the numbers change.
    pub version: u64,
    pub len: usize,
    /// The largest number to show.
    pub top: u64,
    /// A level below all layers with its area and line.
    pub ground: Option<(u64, Color32, Color32)>,
    /// The series, painted in this order; the pointer finds positions of the last one.
    pub layers: Vec<Layer<'a>>,
    pub limits: Vec<(u64, String)>,
    /// Positions at which something begins, with its label.
    pub borders: &'a [(usize, String)],
    /// Marked positions, ascending.
    pub marks: &'a [u32],
    /// Lanes at the bottom, from the ground up.
    pub lanes: &'a [Lane<'a>],
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

/// A lane that shows where something is the case.
pub struct Lane<'a> {
    /// What it is; may be empty.
    pub label: &'a str,
    /// Where it is the case: ascending, without overlaps.
    pub ranges: &'a [Range<u32>],
    pub color: Color32,
    /// Its height, points.
    pub height: f32,
}

impl<'a> Lane<'a> {
    /// A lane that is high enough for a label.
    pub fn new(ranges: &'a [Range<u32>], color: Color32) -> Self {
        Self { label: "", ranges, color, height: 9.0 }
    }
}

pub struct Answer {
    pub response: Response,
    pub hovered: Option<usize>,
    /// The position that was clicked, or reached with the keyboard.
    pub clicked: Option<Click>,
    /// The first and last position of a range that is being dragged over.
    pub dragged: Option<(usize, usize)>,
    /// Where the picture lies in the window, with its axes.
    pub rect: Rect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Click {
    pub position: usize,
    /// Whether it joins those that are selected: with Shift or Ctrl.
    pub is_added: bool,
    /// Whether all between it and the first that was selected join too: with Shift.
    pub is_range: bool,
}

impl Click {
    pub fn new(position: usize, modifiers: Modifiers) -> Self {
        let is_added = modifiers.shift || modifiers.command;
        Self { position, is_added, is_range: modifiers.shift }
    }
}

/// Draws the picture in all of the space that is left.
pub fn curve_ui(ui: &mut egui::Ui, view: &mut View, mut picture: Picture<'_>) -> Answer {
    let (tokens, units) = (Tokens::now(ui), Units::now(ui));
    let rect = ui.available_rect_before_wrap();
    let (start, end) = view.range(picture.len);
    let top = (picture.top.max(1) as f64) * 1.08;
    let shown = axes(&picture, (start, end), top, tokens, units).show(ui, |plot| {
        plot.set_plot_bounds(PlotBounds::from_min_max([start, 0.0], [end, top]));
    });
    let (response, transform) = (shown.response, shown.transform);
    let columns = (f64::from(transform.frame().width() * ui.pixels_per_point())).max(1.0) as usize;
    let painter = ui.painter().with_clip_rect(*transform.frame());
    let paint = Paint::new(painter, transform, tokens);

    paint.bands(&picture.selected);
    paint.ground(&picture);
    for layer in &mut picture.layers {
        layer.cache.get(picture.version, layer.values, (start, end), columns);
    }
    let mut below: &[Bin] = &[];
    for layer in &picture.layers {
        let bins = layer.cache.bins();
        if let Some(fill) = layer.fill {
            paint.area(bins, layer.base, layer.is_stacked.then_some(below), fill);
        }
        if layer.line != Color32::TRANSPARENT {
            paint.line(bins, layer.base, layer.line);
        }
        below = bins;
    }
    paint.grid((start, end), top, units);
    paint.limits(&picture.limits, top);
    let base = picture.layers.last().map_or(0, |layer| layer.base);
    let value_at = |position: usize| {
        let bytes = picture.layers.last()?.values.get(position)?;
        Some(bytes.saturating_add(base))
    };
    let lanes = paint.lanes(picture.lanes);
    paint.marks(picture.marks, (start, end), lanes, below, value_at);
    paint.selection(&picture.selected, value_at);
    paint.borders(picture.borders);
    let at = |x: f32| {
        let position = transform.value_from_position(egui::pos2(x, 0.0)).x;
        nearest(below, position).map(|bin| bin.highest)
    };
    let pointer = response.hover_pos().filter(|_| picture.len > 0);
    let hovered = pointer.and_then(|pointer| at(pointer.x));
    if let Some(hovered) = hovered.or(picture.pointed) {
        paint.cursor(hovered, value_at(hovered), Stroke::new(1.0, tokens.weak_text));
    }
    let actions = response.is_pointer_button_down_on() || response.hovered();
    describe(&response, picture.name, || picture.value.clone());
    let is_selecting = picture.is_range_selectable && input::is_selecting(ui, *view);
    let per_point = transform.dvalue_dpos()[0];
    let origin = f64::from(transform.position_from_point_x(0.0));
    let axis = Axis { origin, per_point };
    let mut moved = navigate(ui, &response, axis, view, picture.len, !is_selecting);
    if picture.has_x_axis {
        moved |= navigate_by_key(ui, view, picture.len);
    }
    if response.double_clicked() {
        view.reset();
        moved = true;
    }
    // So that the arrows go on from there.
    focus(ui, &response, *transform.frame(), StrokeKind::Inside);
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
        .map(|position| Click::new(position, modifiers_of_click(ui)));
    let dragged = if is_selecting && response.dragged() {
        input::dragged_range(ui, &transform, picture.len)
    } else {
        None
    };
    Answer {
        hovered: hovered.filter(|_| !response.dragged()),
        clicked: by_pointer.or(by_key),
        dragged,
        response,
        rect,
    }
}

fn axes<'a>(
    picture: &Picture<'a>,
    (start, end): (f64, f64),
    top: f64,
    tokens: &Tokens,
    units: Units,
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
            ticks::bytes_text(mark.value, mark.step_size, top, units)
        });
    let marks = |step: f64, bounds: (f64, f64)| -> Vec<GridMark> {
        ticks::multiples(step, bounds).map(|value| GridMark { value, step_size: step }).collect()
    };
    Plot::new(picture.name.to_owned())
        .custom_x_axes(if picture.has_x_axis { vec![x_axis] } else { Vec::new() })
        .custom_y_axes(vec![y_axis])
        // `base_step_size` is the distance of grid lines at 1 point, the least that is set here.
        .grid_spacing(1.0..=2.0)
        .x_grid_spacer(move |input| {
            marks(ticks::whole_step(input.base_step_size * X_TICKS), input.bounds)
        })
        .y_grid_spacer(move |input| {
            marks(ticks::bytes_step(input.base_step_size * Y_TICKS, units), input.bounds)
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
