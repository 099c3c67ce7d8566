//! Cycles against memory: a point for each operation, so that what is dear in both stands at the top right.

use eframe::egui::{self, Align2, Pos2, Rect, Role, Sense, Stroke, Vec2, WidgetInfo};

use super::found::OperationsOfRuns;
use crate::analysis::operations::OperationFigure;
use crate::analysis::program::operation_text::operation_text;
use crate::text::{grouped, shortened};
use crate::ui::runs::Runs;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::ticks::{bytes_step, bytes_text, multiples, whole_step};

/// Room at the left, above and below, points.
const LEFT: f32 = 64.0;
const ABOVE: f32 = 8.0;
const BELOW: f32 = 34.0;
/// Between ticks, points.
const TICKS: f32 = 34.0;
const TICKS_ACROSS: f32 = 90.0;
/// From this distance on the pointer means no point.
const NEAR: f32 = 18.0;
/// Points that are named.
const NAMED: usize = 5;
/// Points that are drawn: the largest in memory.
const MOST: usize = 2000;

struct OperationDot {
    row: usize,
    run: usize,
    cycles: f64,
    bytes: f64,
}

/// The points of all runs, made once for what was found.
pub struct OperationScatter {
    dots: Vec<OperationDot>,
    cycles: OperationFigure,
    top: [f64; 2],
}

impl OperationScatter {
    /// `None` where no cycles are known.
    pub fn new(found: &OperationsOfRuns, memory: OperationFigure) -> Option<Self> {
        let cycles = found.cycles()?;
        let mut dots = Vec::new();
        for row in 0..found.rows.len() {
            for run in 0..found.runs.len() {
                let Some(operation) = found.operation(row, run) else { continue };
                let number = |figure| operation.figures.get(figure).filter(|number| *number >= 0);
                if let (Some(cycles), Some(bytes)) = (number(cycles), number(memory)) {
                    dots.push(OperationDot {
                        row,
                        run,
                        cycles: cycles as f64,
                        bytes: bytes as f64,
                    });
                }
            }
        }
        // Those that are named are the largest.
        dots.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
        dots.truncate(MOST);
        let most = |of: fn(&OperationDot) -> f64| dots.iter().map(of).fold(1.0, f64::max) * 1.06;
        let top = [most(|dot| dot.cycles), most(|dot| dot.bytes)];
        Some(Self { dots, cycles, top })
    }

    /// Draws them; returns the row of a point that was clicked.
    pub fn ui(
        &self,
        ui: &mut egui::Ui,
        runs: &Runs,
        found: &OperationsOfRuns,
        selected: Option<usize>,
    ) -> Option<usize> {
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        let size = ui.available_size().max(Vec2::new(160.0, 90.0));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let frame = Rect::from_min_max(
            rect.min + Vec2::new(LEFT, ABOVE),
            rect.max - Vec2::new(10.0, BELOW),
        );
        self.axes_ui(ui, frame);
        let [most_cycles, most_bytes] = self.top;
        let place = |dot: &OperationDot| {
            let x = frame.width() * (dot.cycles / most_cycles) as f32;
            let y = frame.height() * (dot.bytes / most_bytes) as f32;
            Pos2::new(frame.left() + x, frame.bottom() - y)
        };
        let pointer = response.hover_pos();
        let mut nearest: Option<(f32, &OperationDot)> = None;
        let mut taken: Vec<Rect> = Vec::new();
        for (rank, dot) in self.dots.iter().enumerate() {
            let at = place(dot);
            let color = match runs.get(dot.run) {
                Some(run) if !runs.is_one() => run.color(ui),
                _ => tokens.temporary,
            };
            ui.painter().circle_filled(at, 3.5, color);
            if selected == Some(dot.row) {
                ui.painter().circle_stroke(at, 6.5, Stroke::new(1.5, tokens.accent));
            }
            if rank < NAMED && runs.is_one() {
                name_ui(ui, found, dot, at, frame, &mut taken);
            }
            let distance = pointer.map_or(f32::INFINITY, |pointer| pointer.distance(at));
            if distance < NEAR && nearest.is_none_or(|(other, _)| distance < other) {
                nearest = Some((distance, dot));
            }
        }
        let count = grouped(self.dots.len() as u64);
        let name = format!("Cycles against memory of {count} operations");
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, name.clone()));
        let (_, dot) = nearest?;
        ui.painter().circle_stroke(place(dot), 6.5, Stroke::new(1.5, tokens.text));
        let is_clicked = response.clicked();
        if let Some(row) = found.operation(dot.row, dot.run) {
            let title = row.operation.name_or_none();
            let kind = operation_text(&row.operation);
            let of = runs.get(dot.run).filter(|_| !runs.is_one());
            let of = of.map_or(String::new(), |run| format!("{}: ", run.title));
            response.on_hover_text_at_pointer(format!(
                "{of}{} · {}\n{}, {} cycles",
                shortened(title, 80),
                shortened(&kind, 60),
                units.bytes(dot.bytes as u64),
                grouped(dot.cycles as u64)
            ));
        }
        is_clicked.then_some(dot.row)
    }

    fn axes_ui(&self, ui: &egui::Ui, frame: Rect) {
        let (painter, units, tokens) = (ui.painter(), Units::now(ui), Tokens::now(ui));
        let font = fonts::regular(size::CAPTION);
        let [most_cycles, most_bytes] = self.top;
        let step = bytes_step(most_bytes * f64::from(TICKS / frame.height().max(1.0)), units);
        for bytes in multiples(step, (0.0, most_bytes)) {
            let y = frame.bottom() - frame.height() * (bytes / most_bytes) as f32;
            painter.hline(frame.x_range(), y, Stroke::new(1.0, tokens.grid));
            let text = bytes_text(bytes, step, most_bytes, units);
            let at = Pos2::new(frame.left() - 8.0, y);
            painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), tokens.weak_text);
        }
        let step = whole_step(most_cycles * f64::from(TICKS_ACROSS / frame.width().max(1.0)));
        for cycles in multiples(step, (0.0, most_cycles)) {
            let x = frame.left() + frame.width() * (cycles / most_cycles) as f32;
            let at = Pos2::new(x, frame.bottom() + 4.0);
            let text = grouped(cycles as u64);
            painter.text(at, Align2::CENTER_TOP, text, font.clone(), tokens.weak_text);
        }
        let at = Pos2::new(frame.right(), frame.bottom() + BELOW);
        painter.text(at, Align2::RIGHT_BOTTOM, self.cycles.title(), font, tokens.third_text);
    }
}

/// The name of a point beside it, where it meets no other.
fn name_ui(
    ui: &egui::Ui,
    found: &OperationsOfRuns,
    dot: &OperationDot,
    at: Pos2,
    frame: Rect,
    taken: &mut Vec<Rect>,
) {
    let operation = found.operation(dot.row, dot.run);
    let Some(name) = operation.and_then(|row| row.operation.name.as_deref()) else { return };
    let color = Tokens::now(ui).weak_text;
    let text = shortened(name, 28).into_owned();
    let galley = ui.painter().layout_no_wrap(text, fonts::regular(size::CAPTION), color);
    let right = Align2::LEFT_CENTER.anchor_size(at + Vec2::new(9.0, 0.0), galley.size());
    let left = Align2::RIGHT_CENTER.anchor_size(at - Vec2::new(9.0, 0.0), galley.size());
    let place = if right.right() < frame.right() { right } else { left };
    if taken.iter().all(|other| !other.intersects(place)) {
        taken.push(place);
        ui.painter().galley(place.min, galley, color);
    }
}
