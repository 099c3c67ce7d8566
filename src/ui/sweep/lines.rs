//! A figure along an option: a curve for each setting of the others, in its own colour and labelled at its end.

use eframe::egui::{
    self, Align2, FontId, Galley, Pos2, Rect, Role, Sense, Shape, Stroke, Vec2, WidgetInfo,
};
use std::sync::Arc;

use super::RunClick;
use super::axis::FigureAxis;
use super::words::{fits_text, option_text, settings, value_text};
use crate::analysis::program::report_options::OptionValue;
use crate::analysis::sweep::curve::{Line, Point};
use crate::analysis::sweep::{Curve, Figure, Sweep, curve};
use crate::text::shortened;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Room at the left for the figures of the axis, points.
const LEFT: f32 = 66.0;
/// Room above for what the axis shows, points.
const ABOVE: f32 = 22.0;
/// Room below for the values of the option, points.
const BELOW: f32 = 36.0;
/// Widest label at the end of a curve, points.
const LABEL: f32 = 150.0;
/// Between labels, points.
const LABEL_HEIGHT: f32 = 15.0;
/// Curves that are drawn; there are no colours for more.
const MOST_LINES: usize = 8;

pub struct Lines {
    curve: Option<Curve>,
    values: Vec<Option<OptionValue>>,
    title: String,
    /// What the axis shows.
    figure_title: String,
    /// What tells each curve from the others.
    labels: Vec<String>,
    axis: FigureAxis,
    /// Bytes that a tile has, where the figure is of a tile.
    limit: Option<u64>,
    are_left_out: bool,
}

impl Lines {
    pub fn new(sweep: &Sweep, option: usize, figure: Figure) -> Self {
        let mut curve = curve(sweep, option, figure);
        let are_left_out = curve.as_ref().is_some_and(|curve| curve.lines.len() > MOST_LINES);
        if let Some(curve) = &mut curve {
            curve.lines.truncate(MOST_LINES);
        }
        let limit = sweep.bytes_per_tile().filter(|_| figure == Figure::FullestTile);
        let lines = curve.as_ref().map_or(&[][..], |curve| &curve.lines);
        let points = lines.iter().flat_map(|line| &line.points);
        let values = points.filter_map(|point| Some(point.value?.as_f64()));
        let axis = FigureAxis::new(figure, values.chain(limit.map(|limit| limit as f64)));
        let labels = match (&curve, lines) {
            (Some(curve), [_, _, ..]) => {
                lines.iter().map(|line| label(sweep, curve, line)).collect()
            }
            _ => Vec::new(),
        };
        let option = sweep.options.get(option);
        Self {
            values: option.map_or(Vec::new(), |option| option.values.clone()),
            title: option.map_or(String::new(), |option| option.short_name.clone()),
            figure_title: shortened(sweep.figure_title(figure), 60).into_owned(),
            labels,
            axis,
            limit,
            curve,
            are_left_out,
        }
    }

    /// Draws them; returns the run of a point that was clicked.
    pub fn ui(&self, ui: &mut egui::Ui, sweep: &Sweep, selected: &[usize]) -> Option<RunClick> {
        let tokens = *Tokens::now(ui);
        let labels = self.galleys(ui);
        let widest = labels.iter().map(|label| label.size().x).fold(0.0, f32::max);
        let size = ui.available_size().max(Vec2::new(160.0, 100.0));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let right = if widest > 0.0 { widest + 12.0 } else { 8.0 };
        let frame = Rect::from_min_max(
            rect.min + Vec2::new(LEFT, ABOVE),
            rect.max - Vec2::new(right, BELOW),
        );
        self.axes(ui, frame, &tokens);
        let lines = self.curve.as_ref().map_or(&[][..], |curve| &curve.lines);
        let pointer = response.hover_pos();
        let mut nearest: Option<(f32, Pos2, &Point)> = None;
        let mut ends: Vec<(f32, usize)> = Vec::new();
        for (place, line) in lines.iter().enumerate() {
            let color = tokens.run(Some(place));
            let places: Vec<(Pos2, &Point)> = line
                .points
                .iter()
                .filter_map(|point| Some((self.place(frame, point)?, point)))
                .collect();
            let path: Vec<Pos2> = places.iter().map(|(at, _)| *at).collect();
            ends.extend(path.last().map(|at| (at.y, place)));
            ui.painter().add(Shape::line(path, Stroke::new(1.3, color)));
            for (at, point) in places {
                let is_selected = selected.contains(&point.run);
                let radius = if is_selected { 5.0 } else { 3.5 };
                let fill = if point.fits == Some(false) { tokens.surface } else { color };
                let edge = if is_selected { tokens.text } else { color };
                ui.painter().circle(at, radius, fill, Stroke::new(1.5, edge));
                let distance = pointer.map_or(f32::INFINITY, |pointer| pointer.distance(at));
                if distance < 24.0 && nearest.is_none_or(|(other, ..)| distance < other) {
                    nearest = Some((distance, at, point));
                }
            }
        }
        end_labels(ui, frame, ends, &labels);
        let name = self.name();
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, name.clone()));
        let (_, at, point) = nearest?;
        ui.painter().circle_stroke(at, 6.5, Stroke::new(1.5, tokens.text));
        let click = RunClick::of(ui, &response, point.run);
        if let (Some(curve), Some(value)) = (&self.curve, point.value) {
            let value = value_text(curve.figure, value, Units::now(ui));
            let fits = fits_text(sweep, point.run, Units::now(ui));
            let settings = settings(sweep, point.run);
            let text = format!("{settings}\n{}: {value}{fits}", self.figure_title);
            response.on_hover_text_at_pointer(text);
        }
        click
    }

    /// What the picture shows, for those who do not see it.
    fn name(&self) -> String {
        let mut name = format!("{} by {}", self.figure_title, self.title);
        if !self.labels.is_empty() {
            name += &format!(", a curve each for {}", self.labels.join(", "));
        }
        if self.limit.is_some() {
            name += ", with the limit";
        }
        name
    }

    fn galleys(&self, ui: &egui::Ui) -> Vec<Arc<Galley>> {
        let tokens = Tokens::now(ui);
        let galley = |(place, label): (usize, &String)| {
            let font = FontId::proportional(12.0);
            ui.painter().layout(label.clone(), font, tokens.run(Some(place)), LABEL)
        };
        self.labels.iter().enumerate().map(galley).collect()
    }

    /// Where a point lies, if its figure is known. Values of the option stand at equal distances.
    fn place(&self, frame: Rect, point: &Point) -> Option<Pos2> {
        let column = self.values.iter().position(|value| *value == point.at)?;
        Some(Pos2::new(self.x(frame, column), self.y(frame, point.value?.as_f64())))
    }

    fn x(&self, frame: Rect, column: usize) -> f32 {
        let count = self.values.len().max(1) as f32;
        frame.left() + frame.width() * (column as f32 + 0.5) / count
    }

    fn y(&self, frame: Rect, value: f64) -> f32 {
        frame.bottom() - frame.height() * self.axis.share(value)
    }

    fn axes(&self, ui: &egui::Ui, frame: Rect, tokens: &Tokens) {
        let (painter, units) = (ui.painter(), Units::now(ui));
        let font = FontId::proportional(12.5);
        painter.rect_stroke(frame, 0, Stroke::new(1.0, tokens.border), egui::StrokeKind::Inside);
        let mut title = format!("{}; hollow: does not fit", self.figure_title);
        if self.are_left_out {
            title += &format!("; the first {MOST_LINES} settings");
        }
        let at = Pos2::new(frame.left(), frame.top() - 5.0);
        painter.text(at, Align2::LEFT_BOTTOM, title, font.clone(), tokens.weak_text);
        for (value, text) in self.axis.ticks(frame.height(), 34.0, units) {
            let y = self.y(frame, value);
            painter.hline(frame.x_range(), y, Stroke::new(1.0, tokens.grid));
            let at = Pos2::new(frame.left() - 6.0, y);
            painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), tokens.weak_text);
        }
        if let Some(limit) = self.limit {
            let y = self.y(frame, limit as f64);
            painter.hline(frame.x_range(), y, Stroke::new(1.5, tokens.ink));
            let at = Pos2::new(frame.left() + 4.0, y - 2.0);
            let text = format!("limit {}", units.bytes(limit));
            painter.text(at, Align2::LEFT_BOTTOM, text, font.clone(), tokens.ink);
        }
        let mut free_from = f32::NEG_INFINITY;
        for (column, value) in self.values.iter().enumerate() {
            let at = Pos2::new(self.x(frame, column), frame.bottom() + 3.0);
            let text = option_text(value.as_ref());
            let galley = painter.layout_no_wrap(text, font.clone(), tokens.weak_text);
            let place = Align2::CENTER_TOP.anchor_size(at, galley.size());
            if place.left() > free_from {
                free_from = place.right() + 6.0;
                painter.galley(place.min, galley, tokens.weak_text);
            }
        }
        let at = Pos2::new(frame.center().x, frame.bottom() + BELOW - 2.0);
        painter.text(at, Align2::CENTER_BOTTOM, &self.title, font, tokens.text);
    }
}

/// What tells a curve from the others: "batch_size 16".
fn label(sweep: &Sweep, curve: &Curve, line: &Line) -> String {
    let settings = curve.others.iter().zip(&line.settings).map(|(option, value)| {
        let name = sweep.options.get(*option).map_or("", |option| &*option.short_name);
        format!("{} {}", shortened(name, 24), option_text(value.as_ref()))
    });
    settings.collect::<Vec<_>>().join(", ")
}

/// Writes what each curve is beside its end, one below the other where ends lie close together.
fn end_labels(ui: &egui::Ui, frame: Rect, mut ends: Vec<(f32, usize)>, labels: &[Arc<Galley>]) {
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free_from = f32::NEG_INFINITY;
    for (y, place) in ends {
        let Some(label) = labels.get(place) else { continue };
        let top = (y - label.size().y / 2.0).max(free_from);
        free_from = top + label.size().y.max(LABEL_HEIGHT);
        let at = Pos2::new(frame.right() + 6.0, top);
        ui.painter().galley(at, Arc::clone(label), Tokens::now(ui).run(Some(place)));
    }
}
