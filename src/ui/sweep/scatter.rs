//! Memory against throughput: a point for each run, and a line along those that no other beats in memory and
//! throughput.

use eframe::egui::{self, Align2, Pos2, Rect, Role, Sense, Shape, Stroke, Vec2, WidgetInfo};

use super::RunClick;
use super::axis::FigureAxis;
use super::lines::MOST_LINES;
use super::marks::{best_ring, cross};
use super::words::{brief_settings, fits_text, needed_title, settings, value_text};
use crate::analysis::sweep::pareto::memory_and_throughput;
use crate::analysis::sweep::{
    FigureToSweep, FigureValue, Sweep, SweepRun, THROUGHPUT, curve, same,
};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;

/// Room at the left, above and below, points.
const LEFT: f32 = 62.0;
const ABOVE: f32 = 18.0;
const BELOW: f32 = 38.0;
/// Names beside points of the line, as long as they do not meet.
const MOST_NAMES: usize = 6;

struct SweepDot {
    run: usize,
    bytes: u64,
    /// `None` of what does not fit, which was not run.
    throughput: Option<f64>,
    is_best: bool,
    fits: Option<bool>,
    /// The curve that it belongs to.
    line: Option<usize>,
    name: String,
}

pub struct SweepScatter {
    dots: Vec<SweepDot>,
    x: FigureAxis,
    y: FigureAxis,
    limit: Option<u64>,
    title: String,
}

impl SweepScatter {
    /// `option` is the one along which the curves beside it run.
    pub fn new(sweep: &Sweep, option: usize) -> Self {
        let curve = curve(sweep, option, FigureToSweep::Known(&THROUGHPUT));
        let lines = curve.as_ref().map_or(&[][..], |curve| &curve.lines);
        let mut line_of = vec![None; sweep.runs.len()];
        for (place, line) in lines.iter().enumerate().take(MOST_LINES) {
            for point in &line.points {
                if let Some(line) = line_of.get_mut(point.run) {
                    *line = Some(place);
                }
            }
        }
        let dot = |(run, facts): (usize, &SweepRun)| {
            let known = memory_and_throughput(facts).map(|(bytes, speed)| (bytes, Some(speed)));
            let over = || {
                let bytes = facts.needed_bytes()?;
                (facts.fits() == Some(false)).then_some((bytes, None))
            };
            let (bytes, throughput) = known.or_else(over)?;
            Some(SweepDot {
                run,
                bytes,
                throughput,
                is_best: facts.pareto,
                fits: facts.fits(),
                line: line_of.get(run).copied().flatten(),
                name: if facts.pareto { brief_settings(sweep, run) } else { String::new() },
            })
        };
        let dots: Vec<SweepDot> = sweep.runs.iter().enumerate().filter_map(dot).collect();
        // Runs of other systems may have no speed, and no dot.
        let shown = || dots.iter().filter_map(|dot| sweep.runs.get(dot.run));
        let limit = same(shown().map(|it| it.limit_bytes)).flatten();
        let part = same(shown().map(|it| it.verdict.used_of)).flatten();
        let bytes = dots.iter().map(|dot| dot.bytes).chain(limit).map(|bytes| bytes as f64);
        let speeds = dots.iter().filter_map(|dot| dot.throughput);
        Self {
            x: FigureAxis::new(true, bytes),
            y: FigureAxis::new(false, speeds),
            limit,
            dots,
            title: needed_title(part),
        }
    }

    /// Whether memory and throughput are both known of a run.
    pub fn has_throughput(&self) -> bool {
        self.dots.iter().any(|dot| dot.throughput.is_some())
    }

    /// Draws them; returns the run of a point that was clicked.
    pub fn ui(&self, ui: &mut egui::Ui, sweep: &Sweep, selected: &[usize]) -> Option<RunClick> {
        let tokens = *Tokens::now(ui);
        let size = ui.available_size().max(Vec2::new(160.0, 80.0));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let frame =
            Rect::from_min_max(rect.min + Vec2::new(LEFT, ABOVE), rect.max - Vec2::new(8.0, BELOW));
        self.axes(ui, frame, &tokens);
        let place = |dot: &SweepDot| {
            let y = dot.throughput.map_or(frame.bottom() - 8.0, |speed| self.y.y(frame, speed));
            let x = frame.width() * self.x.share(dot.bytes as f64);
            Pos2::new(frame.left() + x, y)
        };
        let mut best: Vec<(Pos2, &SweepDot)> =
            self.dots.iter().filter(|dot| dot.is_best).map(|dot| (place(dot), dot)).collect();
        best.sort_by(|(a, _), (b, _)| a.x.total_cmp(&b.x).then(b.y.total_cmp(&a.y)));
        self.staircase(ui, frame, &best, &tokens);
        let pointer = response.hover_pos();
        let mut nearest: Option<(f32, Pos2, &SweepDot)> = None;
        let fastest = sweep.best.ok().map(|best| best.run);
        for dot in &self.dots {
            let at = place(dot);
            let color = dot.line.map_or(tokens.temporary, |line| tokens.run(Some(line)));
            let is_selected = selected.contains(&dot.run);
            if dot.fits == Some(false) {
                cross(ui.painter(), at, &tokens);
                ui.painter().circle_filled(at - Vec2::new(0.0, 9.0), 2.5, color);
            } else if dot.is_best {
                ui.painter().circle(at, 5.0, color, Stroke::new(1.5, tokens.text));
            } else {
                ui.painter().circle_filled(at, 3.5, color);
            }
            if fastest == Some(dot.run) {
                best_ring(ui.painter(), at, &tokens);
            } else if is_selected {
                ui.painter().circle_stroke(at, 6.5, Stroke::new(1.5, tokens.text));
            }
            let distance = pointer.map_or(f32::INFINITY, |pointer| pointer.distance(at));
            if distance < 24.0 && nearest.is_none_or(|(other, ..)| distance < other) {
                nearest = Some((distance, at, dot));
            }
        }
        names(ui, frame, &best, fastest, &tokens);
        let names: Vec<String> = best.iter().map(|(_, dot)| settings(sweep, dot.run)).collect();
        let name = format!("Memory against throughput; no other is better: {}", names.join("; "));
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, name.clone()));
        let (_, at, dot) = nearest?;
        ui.painter().circle_stroke(at, 6.5, Stroke::new(1.5, tokens.text));
        let click = RunClick::of(ui, &response, dot.run);
        let units = Units::now(ui);
        let speed = dot.throughput.map_or("not run".to_owned(), |speed| {
            value_text(FigureToSweep::Known(&THROUGHPUT), FigureValue::Rate(speed), units)
        });
        let fits = fits_text(sweep, dot.run, units);
        let best = if dot.is_best { "\nNo other is better in both" } else { "" };
        let (settings, bytes) = (settings(sweep, dot.run), units.bytes(dot.bytes));
        response.on_hover_text_at_pointer(format!("{settings}\n{bytes}, {speed}{fits}{best}"));
        click
    }

    /// What so much memory buys at most: level until the next run that is faster.
    fn staircase(&self, ui: &egui::Ui, frame: Rect, best: &[(Pos2, &SweepDot)], tokens: &Tokens) {
        let Some((first, _)) = best.first() else { return };
        let mut path = vec![Pos2::new(first.x, frame.bottom())];
        let mut y = frame.bottom();
        for (at, _) in best {
            path.extend([Pos2::new(at.x, y), *at]);
            y = at.y;
        }
        let end = self.limit.map_or(1.0, |limit| self.x.share(limit as f64).clamp(0.0, 1.0));
        path.push(Pos2::new(frame.left() + frame.width() * end, y));
        ui.painter().add(Shape::line(path, Stroke::new(1.3, tokens.weak_text)));
    }

    fn axes(&self, ui: &egui::Ui, frame: Rect, tokens: &Tokens) {
        let (painter, units) = (ui.painter(), Units::now(ui));
        let font = fonts::regular(size::CAPTION);
        let x_of = |bytes: u64| frame.left() + frame.width() * self.x.share(bytes as f64);
        if let Some(limit) = self.limit {
            let beyond = Rect::from_x_y_ranges(x_of(limit)..=frame.right(), frame.y_range());
            painter.rect_filled(beyond, 0, tokens.over_fill);
            let text = "does not fit";
            let galley = painter.layout_no_wrap(text.to_owned(), font.clone(), tokens.over);
            if galley.size().x + 12.0 < beyond.width() {
                let at = beyond.left_top() + Vec2::new(8.0, 4.0);
                painter.galley(at, galley, tokens.over);
            }
        }
        self.y.grid_ui(ui, frame);
        for (value, text) in self.x.ticks(frame.width(), 80.0, units) {
            let x = frame.left() + frame.width() * self.x.share(value);
            let at = Pos2::new(x, frame.bottom() + 5.0);
            painter.text(at, Align2::CENTER_TOP, text, font.clone(), tokens.weak_text);
        }
        if let Some(limit) = self.limit {
            let ends =
                [Pos2::new(x_of(limit), frame.top()), Pos2::new(x_of(limit), frame.bottom())];
            painter.extend(Shape::dashed_line(&ends, Stroke::new(1.5, tokens.ink), 5.0, 4.0));
            let text = format!("Limit {}", units.bytes(limit));
            let font = fonts::semibold(size::CAPTION);
            let galley = painter.layout_no_wrap(text, font, tokens.ink);
            let at = Pos2::new(x_of(limit), frame.top() - 2.0);
            let place = Align2::CENTER_BOTTOM.anchor_size(at, galley.size());
            painter.galley(place.min, galley, tokens.ink);
        }
        let at = Pos2::new(frame.right(), frame.bottom() + BELOW);
        painter.text(at, Align2::RIGHT_BOTTOM, &self.title, font.clone(), tokens.third_text);
        let at = Pos2::new(frame.left(), frame.bottom() + BELOW);
        let text = "upwards: samples per second";
        painter.text(at, Align2::LEFT_BOTTOM, text, font, tokens.third_text);
    }
}

/// Names of the runs on the line, at the left of them, where they meet no other; that of the fastest first.
fn names(
    ui: &egui::Ui,
    frame: Rect,
    best: &[(Pos2, &SweepDot)],
    fastest: Option<usize>,
    tokens: &Tokens,
) {
    let mut taken: Vec<Rect> = Vec::new();
    let is_fastest = |dot: &SweepDot| fastest == Some(dot.run);
    let first = best.iter().rev().filter(|(_, dot)| is_fastest(dot));
    let others = best.iter().rev().filter(|(_, dot)| !is_fastest(dot));
    for (at, dot) in first.chain(others).take(MOST_NAMES) {
        let (font, color) = if is_fastest(dot) {
            (fonts::semibold(size::CAPTION), tokens.text)
        } else {
            (fonts::regular(size::CAPTION), tokens.weak_text)
        };
        let galley = ui.painter().layout_no_wrap(dot.name.clone(), font, color);
        let corner = *at - Vec2::new(9.0, 3.0);
        let place = Align2::RIGHT_BOTTOM.anchor_size(corner, galley.size());
        let is_free = taken.iter().all(|other| !other.intersects(place));
        if is_free && place.left() > frame.left() {
            taken.push(place);
            ui.painter().galley(place.min, galley, color);
        }
    }
}
