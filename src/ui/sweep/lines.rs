//! A figure along an option: a curve for each setting of the others, in its own color and labelled at its end.

use eframe::egui::{
    self, Align2, Galley, Pos2, Rect, Role, Sense, Shape, Stroke, Vec2, WidgetInfo,
};
use std::sync::Arc;

use super::RunClick;
use super::axis::FigureAxis;
use super::marks::{best_ring, cross};
use super::words::{brief, fits_text, option_text, settings, value_text};
use crate::analysis::program::report_options::OptionValue;
use crate::analysis::sweep::curve::{OptionLine, Point};
use crate::analysis::sweep::{Curve, FigureToSweep, Sweep, curve};
use crate::text::shortened;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;

/// Room at the left for the figures of the axis, points.
const LEFT: f32 = 62.0;
/// Room below for the values of the option and its name, points.
const BELOW: f32 = 38.0;
/// Widest label at the end of a curve, points.
const LABEL: f32 = 150.0;
/// Between labels, points.
const LABEL_HEIGHT: f32 = 15.0;
/// Between what does not fit and has no figure, above the axis, points.
const CROSSES: f32 = 11.0;
/// Parts of a line between two points that are looked at for a label.
const PATH: u8 = 24;
/// Curves that are drawn; there are no colors for more.
pub const MOST_LINES: usize = 7;

pub struct SweepLines {
    curve: Option<Curve>,
    values: Vec<Option<OptionValue>>,
    title: String,
    /// What the axis shows.
    pub figure_title: String,
    /// What tells each curve from the others: all of it, and in a few words.
    labels: Vec<(String, String)>,
    axis: FigureAxis,
    /// Bytes that there are, where the figure is held against them.
    limit: Option<u64>,
    are_left_out: bool,
}

impl SweepLines {
    pub fn new(sweep: &Sweep, option: usize, figure: FigureToSweep) -> Self {
        let mut curve = curve(sweep, option, figure);
        let are_left_out = curve.as_ref().is_some_and(|curve| curve.lines.len() > MOST_LINES);
        if let Some(curve) = &mut curve {
            curve.lines.truncate(MOST_LINES);
        }
        let limit = sweep.limit_bytes().filter(|_| sweep.is_what_is_needed(figure));
        let lines = curve.as_ref().map_or(&[][..], |curve| &curve.lines);
        let points = lines.iter().flat_map(|line| &line.points);
        let values = points.filter_map(|point| Some(point.value?.as_f64()));
        let axis =
            FigureAxis::new(figure.is_bytes(), values.chain(limit.map(|limit| limit as f64)));
        let labels = match (&curve, lines) {
            (Some(curve), [_, _, ..]) => {
                let both = |line| (label(sweep, curve, line), short_label(sweep, curve, line));
                lines.iter().map(both).collect()
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

    /// What is said at the right of the card's title.
    pub fn note(&self) -> String {
        if self.are_left_out { format!("the first {MOST_LINES} settings") } else { String::new() }
    }

    /// Draws them; returns the run of a point that was clicked.
    pub fn ui(&self, ui: &mut egui::Ui, sweep: &Sweep, selected: &[usize]) -> Option<RunClick> {
        let tokens = *Tokens::now(ui);
        let labels = self.galleys(ui);
        let widest = labels.iter().map(|label| label.size().x).fold(0.0, f32::max);
        let size = ui.available_size().max(Vec2::new(160.0, 80.0));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let right = if widest > 0.0 { widest + 16.0 } else { 8.0 };
        let frame =
            Rect::from_min_max(rect.min + Vec2::new(LEFT, 8.0), rect.max - Vec2::new(right, BELOW));
        let lines = self.curve.as_ref().map_or(&[][..], |curve| &curve.lines);
        self.axes(ui, frame, &tokens);
        let pointer = response.hover_pos();
        let mut nearest: Option<(f32, Pos2, &Point)> = None;
        let mut ends: Vec<(f32, usize)> = Vec::new();
        let mut unknown = vec![0_u8; self.values.len()];
        let best = sweep.best.ok().map(|best| best.run);
        let (mut has_crosses, mut marks) = (false, Vec::new());
        for (place, line) in lines.iter().enumerate() {
            let color = tokens.run(Some(place));
            let placed = line.points.iter().filter_map(|point| {
                let column = self.values.iter().position(|value| *value == point.at)?;
                Some((point, column, self.place(frame, column, point)))
            });
            let placed: Vec<(&Point, usize, Option<Pos2>)> = placed.collect();
            let path: Vec<Pos2> = placed.iter().filter_map(|(_, _, at)| *at).collect();
            ends.extend(path.last().map(|at| (at.y, place)));
            // A label on the path would hide it.
            for (from, to) in path.iter().zip(path.iter().skip(1)) {
                let at = |part: u8| from.lerp(*to, f32::from(part) / f32::from(PATH));
                let at = (0..=PATH).map(|part| Rect::from_center_size(at(part), Vec2::splat(2.0)));
                marks.extend(at);
            }
            ui.painter().add(Shape::line(path, Stroke::new(1.6, color)));
            for (point, column, known) in placed {
                let is_over = point.fits == Some(false);
                let unknown = unknown.get_mut(column).filter(|_| is_over);
                let unknown_place = || Some(self.unknown_place(frame, column, unknown?));
                let Some(at) = known.or_else(unknown_place) else { continue };
                marks.push(Rect::from_center_size(at, Vec2::splat(14.0)));
                let is_selected = selected.contains(&point.run);
                if is_over {
                    has_crosses = true;
                    cross(ui.painter(), at, &tokens);
                    ui.painter().circle_filled(at + Vec2::new(8.0, 0.0), 2.5, color);
                } else {
                    ui.painter().circle_filled(at, if is_selected { 5.0 } else { 3.5 }, color);
                }
                if best == Some(point.run) {
                    best_ring(ui.painter(), at, &tokens);
                } else if is_selected {
                    ui.painter().circle_stroke(at, 6.5, Stroke::new(1.5, tokens.text));
                }
                let distance = pointer.map_or(f32::INFINITY, |pointer| pointer.distance(at));
                if distance < 24.0 && nearest.is_none_or(|(other, ..)| distance < other) {
                    nearest = Some((distance, at, point));
                }
            }
        }
        end_labels(ui, frame, ends, &labels);
        if let Some(limit) = self.limit {
            self.axis.limit_ui(ui, frame, ("Limit", limit), &marks);
        }
        if has_crosses {
            let at = Pos2::new(rect.left() + 6.0, rect.bottom() - 8.0);
            cross(ui.painter(), at, &tokens);
            let (at, font) = (at + Vec2::new(8.0, 0.0), fonts::regular(size::CAPTION));
            let text = "does not fit";
            ui.painter().text(at, Align2::LEFT_CENTER, text, font, tokens.weak_text);
        }
        let name = self.name();
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, name.clone()));
        let (_, at, point) = nearest?;
        ui.painter().circle_stroke(at, 6.5, Stroke::new(1.5, tokens.text));
        let click = RunClick::of(ui, &response, point.run);
        if let Some(curve) = &self.curve {
            let units = Units::now(ui);
            let value = point
                .value
                .map_or("not known".to_owned(), |value| value_text(curve.figure, value, units));
            let fits = fits_text(sweep, point.run, units);
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
            let labels: Vec<&str> = self.labels.iter().map(|(label, _)| &**label).collect();
            name += &format!(", a curve each for {}", labels.join(", "));
        }
        if self.limit.is_some() {
            name += ", with the limit";
        }
        name
    }

    fn galleys(&self, ui: &egui::Ui) -> Vec<Arc<Galley>> {
        let tokens = Tokens::now(ui);
        let galley = |(_, label): &(String, String)| {
            let font = fonts::semibold(size::CAPTION);
            ui.painter().layout(label.clone(), font, tokens.text, LABEL)
        };
        self.labels.iter().map(galley).collect()
    }

    /// Where a point of a column lies, if its figure is known.
    fn place(&self, frame: Rect, column: usize, point: &Point) -> Option<Pos2> {
        let y = self.axis.y(frame, point.value?.as_f64());
        Some(Pos2::new(self.x(frame, column), y))
    }

    /// Where a run stands that does not fit and was not run: above its value of the option, one above the other.
    fn unknown_place(&self, frame: Rect, column: usize, count: &mut u8) -> Pos2 {
        let y = frame.bottom() - 8.0 - f32::from(*count) * CROSSES;
        *count = count.saturating_add(1);
        Pos2::new(self.x(frame, column), y)
    }

    /// Values of the option stand at equal distances.
    fn x(&self, frame: Rect, column: usize) -> f32 {
        let count = self.values.len().max(1) as f32;
        frame.left() + frame.width() * (column as f32 + 0.5) / count
    }

    fn axes(&self, ui: &egui::Ui, frame: Rect, tokens: &Tokens) {
        let (painter, font) = (ui.painter(), fonts::regular(size::CAPTION));
        self.axis.grid_ui(ui, frame);
        let mut free_from = f32::NEG_INFINITY;
        for (column, value) in self.values.iter().enumerate() {
            let at = Pos2::new(self.x(frame, column), frame.bottom() + 5.0);
            let text = option_text(value.as_ref());
            let galley = painter.layout_no_wrap(text, font.clone(), tokens.weak_text);
            let place = Align2::CENTER_TOP.anchor_size(at, galley.size());
            if place.left() > free_from {
                free_from = place.right() + 6.0;
                painter.galley(place.min, galley, tokens.weak_text);
            }
        }
        let at = Pos2::new(frame.right(), frame.bottom() + BELOW);
        painter.text(at, Align2::RIGHT_BOTTOM, &self.title, font, tokens.third_text);
    }
}

/// What tells a curve from the others: "batch_size 16".
fn label(sweep: &Sweep, curve: &Curve, line: &OptionLine) -> String {
    // What a run does not have says nothing of it.
    let known = curve.others.iter().zip(&line.settings).filter(|(_, value)| value.is_some());
    let settings = known.map(|(option, value)| {
        let name = sweep.options.get(*option).map_or("", |option| &*option.short_name);
        format!("{} {}", shortened(name, 24), option_text(value.as_ref()))
    });
    settings.collect::<Vec<_>>().join(", ")
}

/// The same in a few words: "batch 16".
fn short_label(sweep: &Sweep, curve: &Curve, line: &OptionLine) -> String {
    let values = line.settings.iter().map(Option::as_ref);
    let known = curve.others.iter().copied().zip(values).filter(|(_, value)| value.is_some());
    brief(sweep, known)
}

/// Writes what each curve is beside its end, one below the other where ends lie close together.
fn end_labels(ui: &egui::Ui, frame: Rect, mut ends: Vec<(f32, usize)>, labels: &[Arc<Galley>]) {
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free_from = f32::NEG_INFINITY;
    for (y, place) in ends {
        let Some(label) = labels.get(place) else { continue };
        let top = (y - label.size().y / 2.0).max(free_from);
        free_from = top + label.size().y.max(LABEL_HEIGHT);
        let at = Pos2::new(frame.right() + 10.0, top);
        ui.painter().galley(at, Arc::clone(label), Tokens::now(ui).text);
    }
}
