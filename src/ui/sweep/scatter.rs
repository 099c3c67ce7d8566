//! Memory against throughput: a point for each run; those that no other beats in both are joined.

use eframe::egui::{
    self, Align2, FontId, Pos2, Rect, Role, Sense, Shape, Stroke, Vec2, WidgetInfo,
};

use super::RunClick;
use super::axis::FigureAxis;
use super::words::{fits_text, settings, value_text};
use crate::analysis::sweep::pareto::memory_and_throughput;
use crate::analysis::sweep::{Figure, FigureValue, Sweep};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Room at the left, above and below, points.
const LEFT: f32 = 66.0;
const ABOVE: f32 = 22.0;
const BELOW: f32 = 36.0;

struct Dot {
    run: usize,
    bytes: u64,
    throughput: f64,
    is_best: bool,
    fits: Option<bool>,
}

pub struct Scatter {
    dots: Vec<Dot>,
    x: FigureAxis,
    y: FigureAxis,
    limit: Option<u64>,
}

impl Scatter {
    pub fn new(sweep: &Sweep) -> Self {
        let dot = |(run, facts): (usize, &crate::analysis::sweep::SweepRun)| {
            let (bytes, throughput) = memory_and_throughput(facts)?;
            Some(Dot { run, bytes, throughput, is_best: facts.pareto, fits: facts.fits })
        };
        let dots: Vec<Dot> = sweep.runs.iter().enumerate().filter_map(dot).collect();
        let limit = sweep.bytes_per_tile();
        let bytes = dots.iter().map(|dot| dot.bytes).chain(limit).map(|bytes| bytes as f64);
        Self {
            x: FigureAxis::new(Figure::FullestTile, bytes),
            y: FigureAxis::new(Figure::Throughput, dots.iter().map(|dot| dot.throughput)),
            limit,
            dots,
        }
    }

    /// Draws them; returns the run of a point that was clicked.
    pub fn ui(&self, ui: &mut egui::Ui, sweep: &Sweep, selected: &[usize]) -> Option<RunClick> {
        let tokens = *Tokens::now(ui);
        let size = ui.available_size().max(Vec2::new(160.0, 100.0));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let frame =
            Rect::from_min_max(rect.min + Vec2::new(LEFT, ABOVE), rect.max - Vec2::new(8.0, BELOW));
        self.axes(ui, frame, &tokens);
        let place = |dot: &Dot| {
            Pos2::new(
                frame.left() + frame.width() * self.x.share(dot.bytes as f64),
                frame.bottom() - frame.height() * self.y.share(dot.throughput),
            )
        };
        let best = self.dots.iter().filter(|dot| dot.is_best);
        let mut path: Vec<Pos2> = best.clone().map(place).collect();
        path.sort_by(|a, b| a.x.total_cmp(&b.x));
        ui.painter().add(Shape::line(path, Stroke::new(1.3, tokens.accent)));
        let pointer = response.hover_pos();
        let mut nearest: Option<(f32, Pos2, &Dot)> = None;
        for dot in &self.dots {
            let at = place(dot);
            let color = if dot.is_best { tokens.accent } else { tokens.temporary };
            let is_selected = selected.contains(&dot.run);
            let radius = if is_selected || dot.is_best { 5.0 } else { 3.5 };
            let fill = if dot.fits == Some(false) { tokens.surface } else { color };
            let edge = if is_selected { tokens.text } else { color };
            ui.painter().circle(at, radius, fill, Stroke::new(1.5, edge));
            let distance = pointer.map_or(f32::INFINITY, |pointer| pointer.distance(at));
            if distance < 24.0 && nearest.is_none_or(|(other, ..)| distance < other) {
                nearest = Some((distance, at, dot));
            }
        }
        let names: Vec<String> = best.map(|dot| settings(sweep, dot.run)).collect();
        let name = format!("Memory against throughput; no other is better: {}", names.join("; "));
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, name.clone()));
        let (_, at, dot) = nearest?;
        ui.painter().circle_stroke(at, 6.5, Stroke::new(1.5, tokens.text));
        let click = RunClick::of(ui, &response, dot.run);
        let units = Units::now(ui);
        let speed = value_text(Figure::Throughput, FigureValue::Rate(dot.throughput), units);
        let fits = fits_text(sweep, dot.run, units);
        let best = if dot.is_best { "\nNo other is better in both" } else { "" };
        let (settings, bytes) = (settings(sweep, dot.run), units.bytes(dot.bytes));
        response.on_hover_text_at_pointer(format!("{settings}\n{bytes}, {speed}{fits}{best}"));
        click
    }

    fn axes(&self, ui: &egui::Ui, frame: Rect, tokens: &Tokens) {
        let (painter, units) = (ui.painter(), Units::now(ui));
        let font = FontId::proportional(12.5);
        painter.rect_stroke(frame, 0, Stroke::new(1.0, tokens.border), egui::StrokeKind::Inside);
        let title = if self.dots.is_empty() {
            "Of no run memory and throughput are both known"
        } else {
            "Samples per second; joined: no other is better in both; hollow: does not fit"
        };
        let at = Pos2::new(frame.left(), frame.top() - 5.0);
        painter.text(at, Align2::LEFT_BOTTOM, title, font.clone(), tokens.weak_text);
        for (value, text) in self.y.ticks(frame.height(), 34.0, units) {
            let y = frame.bottom() - frame.height() * self.y.share(value);
            painter.hline(frame.x_range(), y, Stroke::new(1.0, tokens.grid));
            let at = Pos2::new(frame.left() - 6.0, y);
            painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), tokens.weak_text);
        }
        for (value, text) in self.x.ticks(frame.width(), 70.0, units) {
            let x = frame.left() + frame.width() * self.x.share(value);
            painter.vline(x, frame.y_range(), Stroke::new(1.0, tokens.grid));
            let at = Pos2::new(x, frame.bottom() + 3.0);
            painter.text(at, Align2::CENTER_TOP, text, font.clone(), tokens.weak_text);
        }
        if let Some(limit) = self.limit {
            let x = frame.left() + frame.width() * self.x.share(limit as f64);
            painter.vline(x, frame.y_range(), Stroke::new(1.5, tokens.ink));
            let at = Pos2::new(x - 4.0, frame.top() + 2.0);
            let text = format!("limit {}", units.bytes(limit));
            painter.text(at, Align2::RIGHT_TOP, text, font.clone(), tokens.ink);
        }
        let at = Pos2::new(frame.center().x, frame.bottom() + BELOW - 2.0);
        painter.text(at, Align2::CENTER_BOTTOM, Figure::FullestTile.title(), font, tokens.text);
    }
}
