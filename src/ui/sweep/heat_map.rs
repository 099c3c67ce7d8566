//! A figure over two options as a grid of cells.

use eframe::egui::{
    self, Align2, Color32, FontId, Painter, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Vec2,
    WidgetInfo,
};

use super::RunClick;
use super::words::{fits_text, option_text, settings, short_text, value_text};
use crate::analysis::sweep::heat_map::HeatCell;
use crate::analysis::sweep::{Figure, HeatMap, Sweep, heat_map};
use crate::ui::theme::{Tokens, text_on};
use crate::ui::units::Units;

/// Smallest cell, points.
const CELL: Vec2 = Vec2::new(54.0, 26.0);
/// Largest cell, points.
const LARGEST: Vec2 = Vec2::new(120.0, 64.0);
/// Room for the values of the rows, points.
const LEFT: f32 = 74.0;
/// Room for the values of the columns and the option's name, points.
const TOP: f32 = 40.0;

pub struct Shown {
    map: HeatMap,
    /// The least and the most of the figure.
    range: (f64, f64),
    columns: Vec<String>,
    rows: Vec<String>,
    titles: [String; 2],
    figure_title: String,
}

impl Shown {
    /// The heat map of two options; `None` when there is no such option.
    pub fn new(sweep: &Sweep, x: usize, y: usize, figure: Figure) -> Option<Self> {
        let map = heat_map(sweep, x, y, figure)?;
        let texts =
            |values: &[Option<_>]| values.iter().map(|it| option_text(it.as_ref())).collect();
        let title = |option: usize| {
            let option = sweep.options.get(option);
            option.map_or(String::new(), |option| option.short_name.clone())
        };
        Some(Self {
            range: map.range().unwrap_or((0.0, 0.0)),
            columns: texts(&map.columns),
            rows: texts(&map.rows),
            titles: [title(x), title(y)],
            figure_title: sweep.figure_title(figure).to_owned(),
            map,
        })
    }

    /// Draws it; returns the run of a cell that was clicked.
    pub fn ui(&self, ui: &mut egui::Ui, sweep: &Sweep, selected: &[usize]) -> Option<RunClick> {
        let mut clicked = None;
        egui::ScrollArea::both().id_salt("heat map").auto_shrink(false).show(ui, |ui| {
            let counts = Vec2::new(self.columns.len().max(1) as f32, self.rows.len().max(1) as f32);
            let room = ui.available_size() - Vec2::new(LEFT + 12.0, TOP + 12.0);
            let cell = (room / counts).clamp(CELL, LARGEST).floor();
            let size = Vec2::new(LEFT + cell.x * counts.x + 4.0, TOP + cell.y * counts.y + 4.0);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            let origin = rect.min + Vec2::new(LEFT, TOP);
            self.axes(ui, rect, origin, cell);
            for found in &self.map.cells {
                let at = Vec2::new(found.column as f32 * cell.x, found.row as f32 * cell.y);
                let place = Rect::from_min_size(origin + at, cell).shrink(1.0);
                let click = self.cell_ui(ui, sweep, found, place, selected.contains(&found.shown));
                clicked = clicked.take().or(click);
            }
        });
        clicked
    }

    fn axes(&self, ui: &egui::Ui, rect: Rect, origin: Pos2, cell: Vec2) {
        let (tokens, painter) = (Tokens::now(ui), ui.painter());
        let font = FontId::proportional(12.5);
        let [x, y] = &self.titles;
        let at = Pos2::new(origin.x, rect.top() + 2.0);
        painter.text(at, Align2::LEFT_TOP, x, font.clone(), tokens.weak_text);
        let at = Pos2::new(rect.left(), origin.y - 6.0);
        let clip = painter
            .with_clip_rect(Rect::from_min_max(rect.min, Pos2::new(origin.x - 4.0, rect.bottom())));
        clip.text(at, Align2::LEFT_BOTTOM, y, font.clone(), tokens.weak_text);
        for (column, text) in self.columns.iter().enumerate() {
            let x = origin.x + (column as f32 + 0.5) * cell.x;
            let at = Pos2::new(x, origin.y - 4.0);
            painter.text(at, Align2::CENTER_BOTTOM, text, font.clone(), tokens.text);
        }
        for (row, text) in self.rows.iter().enumerate() {
            let y = origin.y + (row as f32 + 0.5) * cell.y;
            let at = Pos2::new(origin.x - 6.0, y);
            painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), tokens.text);
        }
    }

    fn cell_ui(
        &self,
        ui: &egui::Ui,
        sweep: &Sweep,
        cell: &HeatCell,
        rect: Rect,
        is_selected: bool,
    ) -> Option<RunClick> {
        let id = ui.scope_id().with(("cell", cell.row, cell.column));
        let response = ui.interact(rect, id, Sense::click());
        let (tokens, units) = (Tokens::now(ui), Units::now(ui));
        let figure = self.map.figure;
        let is_best = sweep.fastest_that_fits.run() == Some(cell.shown);
        let fill = self.color(cell, tokens);
        ui.painter().rect_filled(rect, 2, fill);
        if cell.fits == Some(false) {
            hatch(&ui.painter().with_clip_rect(rect), rect, text_on(fill).gamma_multiply(0.35));
        }
        let facts = sweep.runs.get(cell.shown);
        let has_no_report = facts.is_some_and(|run| run.no_report);
        let unknown = if has_no_report { "no report" } else { "–" };
        let text = cell.value.map_or(unknown.to_owned(), |value| short_text(figure, value, units));
        let is_low = rect.height() < 40.0;
        let middle = if is_low { rect.center() } else { rect.center() - Vec2::new(0.0, 7.0) };
        // On hatching the figure has a ground of its own.
        let label = |text: String, size: f32, at: Pos2| {
            let color = text_on(fill);
            let galley = ui.painter().layout_no_wrap(text, FontId::proportional(size), color);
            let place = Align2::CENTER_CENTER.anchor_size(at, galley.size());
            ui.painter().rect_filled(place.expand2(Vec2::new(3.0, 0.0)), 2, fill);
            ui.painter().galley(place.min, galley, color);
        };
        label(text, 12.5, middle);
        let over = facts.and_then(|run| run.over_limit_bytes).filter(|over| *over > 0);
        let below = match (cell.fits, over) {
            _ if is_best => "fastest".to_owned(),
            (Some(false), Some(over)) => format!("+{}", units.bytes(over)),
            (Some(false), None) => "does not fit".to_owned(),
            _ => String::new(),
        };
        if !is_low && !below.is_empty() {
            label(below, 11.0, rect.center() + Vec2::new(0.0, 9.0));
        }
        if is_best {
            let stroke = Stroke::new(2.5, tokens.accent);
            ui.painter().rect_stroke(rect, 2, stroke, StrokeKind::Inside);
        }
        if is_selected || response.hovered() || response.has_focus() {
            let width = if is_selected { 2.5 } else { 1.0 };
            let stroke = Stroke::new(width, tokens.text);
            ui.painter().rect_stroke(rect.expand(1.0), 2, stroke, StrokeKind::Outside);
        }
        let name = || {
            let value =
                cell.value.map_or("not known".to_owned(), |value| value_text(figure, value, units));
            let fits = if is_best {
                ", fastest that fits".to_owned()
            } else {
                fits_text(sweep, cell.shown, units)
            };
            format!("{}: {} {value}{fits}", settings(sweep, cell.shown), self.figure_title)
        };
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, name()));
        let click = RunClick::of(ui, &response, cell.shown);
        if response.hovered() {
            let several = match cell.runs.len() {
                0..=1 => String::new(),
                count => format!("\nThe best of {count} runs with these settings"),
            };
            response.on_hover_text(format!("{}{several}\nDouble-click to open", name()));
        }
        click
    }

    /// The more, the darker; of what is not known the ground.
    fn color(&self, cell: &HeatCell, tokens: &Tokens) -> Color32 {
        let Some(value) = cell.value else { return tokens.stripe };
        let (least, most) = self.range;
        let part = if most > least { (value.as_f64() - least) / (most - least) } else { 0.5 };
        tokens.heat(part as f32)
    }
}

/// Lines across a cell that does not fit.
fn hatch(painter: &Painter, rect: Rect, color: Color32) {
    let mut x = rect.left() - rect.height();
    while x < rect.right() {
        let ends = [Pos2::new(x, rect.bottom()), Pos2::new(x + rect.height(), rect.top())];
        painter.line_segment(ends, Stroke::new(1.0, color));
        x += 8.0;
    }
}
