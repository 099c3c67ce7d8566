//! Peak, always-live and code bytes along an option.

use eframe::egui::{
    self, Align2, Color32, FontId, Pos2, Rect, Role, Sense, Shape, Stroke, Vec2, WidgetInfo,
};

use super::RunClick;
use super::words::{option_text, settings, value_text};
use crate::analysis::program::report_options::OptionValue;
use crate::analysis::sweep::curve::Point;
use crate::analysis::sweep::{Curve, Figure, Sweep, curve};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::legend::{Patch, entry_ui};
use crate::ui::widget::ticks;

const FIGURES: [Figure; 3] = [Figure::Peak, Figure::AlwaysLive, Figure::Code];
/// Room at the left for the figures of the axis, points.
const LEFT: f32 = 66.0;
/// Room below for the values of the option, points.
const BELOW: f32 = 36.0;
/// Lines of one figure that are drawn; more could not be told apart.
const MOST_LINES: usize = 12;

pub struct Lines {
    curves: Vec<Curve>,
    values: Vec<Option<OptionValue>>,
    title: String,
    top: f64,
    are_left_out: bool,
}

impl Lines {
    pub fn new(sweep: &Sweep, option: usize) -> Self {
        let mut curves: Vec<Curve> =
            FIGURES.iter().filter_map(|figure| curve(sweep, option, *figure)).collect();
        let are_left_out = curves.iter().any(|curve| curve.lines.len() > MOST_LINES);
        for curve in &mut curves {
            curve.lines.truncate(MOST_LINES);
        }
        let points = curves.iter().flat_map(|curve| &curve.lines).flat_map(|line| &line.points);
        let top = points.filter_map(|point| Some(point.value?.as_f64())).fold(1.0, f64::max);
        let option = sweep.options.get(option);
        Self {
            values: option.map_or(Vec::new(), |option| option.values.clone()),
            title: option.map_or(String::new(), |option| option.short_name.clone()),
            curves,
            top: top * 1.08,
            are_left_out,
        }
    }

    /// Draws them; returns the run of a point that was clicked.
    pub fn ui(&self, ui: &mut egui::Ui, sweep: &Sweep, selected: &[usize]) -> Option<RunClick> {
        let tokens = *Tokens::now(ui);
        ui.horizontal_wrapped(|ui| {
            ui.add_space(LEFT);
            for (place, figure) in FIGURES.iter().enumerate() {
                let mut is_on = true;
                entry_ui(ui, Patch::Line(color(place, &tokens)), figure.title(), &mut is_on);
            }
            ui.weak("hollow: does not fit");
            if self.are_left_out {
                ui.weak(format!("the first {MOST_LINES} settings"));
            }
        });
        let size = ui.available_size().max(Vec2::new(120.0, 80.0));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let frame =
            Rect::from_min_max(rect.min + Vec2::new(LEFT, 4.0), rect.max - Vec2::new(8.0, BELOW));
        self.axes(ui, frame, &tokens);
        let pointer = response.hover_pos();
        let mut nearest: Option<(f32, Pos2, usize, &Point)> = None;
        for (place, curve) in self.curves.iter().enumerate() {
            let color = color(place, &tokens);
            for line in &curve.lines {
                let places: Vec<(Pos2, &Point)> = line
                    .points
                    .iter()
                    .filter_map(|point| Some((self.place(frame, point)?, point)))
                    .collect();
                let path: Vec<Pos2> = places.iter().map(|(at, _)| *at).collect();
                ui.painter().add(Shape::line(path, Stroke::new(1.3, color)));
                for (at, point) in places {
                    let is_selected = selected.contains(&point.run);
                    let radius = if is_selected { 5.0 } else { 3.5 };
                    let fill = if point.fits == Some(false) { tokens.surface } else { color };
                    let edge = if is_selected { tokens.text } else { color };
                    ui.painter().circle(at, radius, fill, Stroke::new(1.5, edge));
                    let distance = pointer.map_or(f32::INFINITY, |pointer| pointer.distance(at));
                    if distance < 24.0 && nearest.is_none_or(|(other, ..)| distance < other) {
                        nearest = Some((distance, at, place, point));
                    }
                }
            }
        }
        let name = format!("Peak, always live and code by {}", self.title);
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, name.clone()));
        let (_, at, place, point) = nearest?;
        ui.painter().circle_stroke(at, 6.5, Stroke::new(1.5, tokens.text));
        let click = RunClick::of(ui, &response, point.run);
        if let (Some(figure), Some(value)) = (FIGURES.get(place), point.value) {
            let value = value_text(*figure, value, Units::now(ui));
            let fits = match point.fits {
                Some(true) => ", fits",
                Some(false) => ", does not fit",
                None => "",
            };
            let settings = settings(sweep, point.run);
            let text = format!("{settings}\n{}: {value}{fits}", figure.title());
            response.on_hover_text_at_pointer(text);
        }
        click
    }

    /// Where a point lies, if its figure is known. Values of the option stand at equal distances.
    fn place(&self, frame: Rect, point: &Point) -> Option<Pos2> {
        let column = self.values.iter().position(|value| *value == point.at)?;
        let value = point.value?.as_f64();
        Some(Pos2::new(
            self.x(frame, column),
            frame.bottom() - frame.height() * (value / self.top) as f32,
        ))
    }

    fn x(&self, frame: Rect, column: usize) -> f32 {
        let count = self.values.len().max(1) as f32;
        frame.left() + frame.width() * (column as f32 + 0.5) / count
    }

    fn axes(&self, ui: &egui::Ui, frame: Rect, tokens: &Tokens) {
        let (painter, units) = (ui.painter(), Units::now(ui));
        let font = FontId::proportional(12.5);
        painter.rect_stroke(frame, 0, Stroke::new(1.0, tokens.border), egui::StrokeKind::Inside);
        let step = ticks::bytes_step(self.top / f64::from(frame.height().max(1.0)) * 34.0, units);
        for value in ticks::multiples(step, (0.0, self.top)) {
            let y = frame.bottom() - frame.height() * (value / self.top) as f32;
            painter.hline(frame.x_range(), y, Stroke::new(1.0, tokens.grid));
            let text = ticks::bytes_text(value, step, self.top, units);
            let at = Pos2::new(frame.left() - 6.0, y);
            painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), tokens.weak_text);
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

fn color(place: usize, tokens: &Tokens) -> Color32 {
    match place {
        0 => tokens.top,
        1 => tokens.base,
        _ => tokens.mark,
    }
}
