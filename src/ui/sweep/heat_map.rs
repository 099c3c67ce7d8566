//! A figure over two options as a grid of cells, with the room that each run has on its fullest tile, or by how much
//! it is over.

use eframe::egui::{
    self, Align2, Color32, FontId, Painter, Pos2, Rect, Response, Role, Sense, Stroke, StrokeKind,
    Vec2, WidgetInfo,
};

use super::RunClick;
use super::words::{
    brief_name, fits_text, needed_title, option_text, settings, short_text, value_text,
};
use crate::analysis::sweep::heat_map::HeatCell;
use crate::analysis::sweep::{FigureToSweep, HeatMap, Sweep, SweepRun, heat_map};
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{Tokens, text_on};
use crate::ui::units::Units;
use crate::ui::widget::bar::{Bar, hatch};
use crate::ui::widget::sign::Sign;

/// Smallest cell, points.
const CELL: Vec2 = Vec2::new(58.0, 30.0);
/// Largest cell, points.
const LARGEST: Vec2 = Vec2::new(240.0, 170.0);
/// From this height on there is room for two lines, and for three with a bar, points.
const TWO_LINES: f32 = 46.0;
const THREE_LINES: f32 = 70.0;
/// From this height on the figure is large, points.
const LARGE: f32 = 120.0;
/// Most room for the values of the rows, points.
const LEFT: f32 = 110.0;
/// Room for the values of the columns and the option's name, points.
const TOP: f32 = 40.0;
/// The hatch at the left edge of a cell that is over, points.
const EDGE: f32 = 6.0;

pub struct ShownHeatMap {
    map: HeatMap,
    /// The least and the most of the figure.
    range: (f64, f64),
    columns: Vec<String>,
    rows: Vec<String>,
    titles: [String; 2],
    pub figure_title: String,
}

impl ShownHeatMap {
    /// The heat map of two options; `None` when there is no such option.
    pub fn new(sweep: &Sweep, x: usize, y: usize, figure: FigureToSweep) -> Option<Self> {
        let map = heat_map(sweep, x, y, figure)?;
        let texts =
            |values: &[Option<_>]| values.iter().map(|it| option_text(it.as_ref())).collect();
        let options = &sweep.options;
        Some(Self {
            range: map.range().unwrap_or((0.0, 0.0)),
            columns: texts(&map.columns),
            rows: texts(&map.rows),
            titles: [
                options.get(x).map_or(String::new(), |option| option.short_name.clone()),
                options.get(y).map_or(String::new(), |option| brief_name(options, option)),
            ],
            figure_title: sweep.figure_title(figure).to_owned(),
            map,
        })
    }

    /// What the cells show, at the right of the card's title.
    pub fn legend_ui(ui: &mut egui::Ui, sweep: &Sweep) {
        let tokens = *Tokens::now(ui);
        ui.spacing_mut().item_spacing.x = 5.0;
        ui.label(fonts::caption("over").color(tokens.weak_text));
        Sign::Over.ui(ui, 12.0);
        if let Some(limit) = sweep.limit_bytes() {
            ui.add_space(8.0);
            let of = needed_title(sweep.used_of()).to_lowercase();
            let text = format!("{of} of {}", Units::now(ui).bytes(limit));
            ui.label(fonts::caption(text).color(tokens.weak_text));
            let (rect, _) = ui.allocate_exact_size(Vec2::new(18.0, 5.0), Sense::hover());
            ui.painter().rect_filled(rect, 2, tokens.ink);
        }
    }

    /// Draws it; returns the run of a cell that was clicked.
    pub fn ui(&self, ui: &mut egui::Ui, sweep: &Sweep, selected: &[usize]) -> Option<RunClick> {
        let mut clicked = None;
        egui::ScrollArea::both().id_salt("heat map").auto_shrink(false).show(ui, |ui| {
            let counts = Vec2::new(self.columns.len().max(1) as f32, self.rows.len().max(1) as f32);
            let left = self.left(ui);
            let room = ui.available_size() - Vec2::new(left + 6.0, TOP + 6.0);
            let cell = (room / counts).clamp(CELL, LARGEST).floor();
            let size = Vec2::new(left + cell.x * counts.x + 4.0, TOP + cell.y * counts.y + 4.0);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            let origin = rect.min + Vec2::new(left, TOP);
            self.axes(ui, rect, origin, cell);
            let mut best = None;
            for found in &self.map.cells {
                let at = Vec2::new(found.column as f32 * cell.x, found.row as f32 * cell.y);
                let place = Rect::from_min_size(origin + at, cell).shrink(2.0);
                if !ui.is_rect_visible(place) {
                    continue;
                }
                let is_best = sweep.best.is_ok_and(|best| best.run == found.shown);
                best = best.or(is_best.then_some(place));
                let click = self.cell_ui(ui, sweep, found, place, selected.contains(&found.shown));
                clicked = clicked.take().or(click);
            }
            // Above its neighbors.
            if let Some(place) = best {
                best_mark(ui.painter(), place, Tokens::now(ui));
            }
        });
        clicked
    }

    /// Room for the values of the rows.
    fn left(&self, ui: &egui::Ui) -> f32 {
        let font = fonts::semibold(size::TABLE);
        let [_, title] = &self.titles;
        let texts = self.rows.iter().chain([title]);
        let width = |text: &String| {
            let galley = ui.painter().layout_no_wrap(text.clone(), font.clone(), Color32::WHITE);
            galley.size().x
        };
        texts.map(width).fold(0.0, f32::max).min(LEFT) + 14.0
    }

    fn axes(&self, ui: &egui::Ui, rect: Rect, origin: Pos2, cell: Vec2) {
        let (tokens, painter) = (Tokens::now(ui), ui.painter());
        let (caption, value) = (fonts::regular(size::CAPTION), fonts::semibold(size::TABLE));
        let [x, y] = &self.titles;
        let at = Pos2::new(origin.x + 2.0, rect.top() + 2.0);
        painter.text(at, Align2::LEFT_TOP, x, caption.clone(), tokens.third_text);
        let clip = painter
            .with_clip_rect(Rect::from_min_max(rect.min, Pos2::new(origin.x - 4.0, rect.bottom())));
        let at = Pos2::new(origin.x - 10.0, origin.y - 6.0);
        clip.text(at, Align2::RIGHT_BOTTOM, y, caption, tokens.third_text);
        let mut free_from = f32::NEG_INFINITY;
        for (column, text) in self.columns.iter().enumerate() {
            let x = origin.x + (column as f32 + 0.5) * cell.x;
            let galley = painter.layout_no_wrap(text.clone(), value.clone(), tokens.text);
            let at = Align2::CENTER_BOTTOM.anchor_size(Pos2::new(x, origin.y - 5.0), galley.size());
            if at.left() > free_from {
                free_from = at.right() + 4.0;
                painter.galley(at.min, galley, tokens.text);
            }
        }
        for (row, text) in self.rows.iter().enumerate() {
            let y = origin.y + (row as f32 + 0.5) * cell.y;
            let at = Pos2::new(origin.x - 10.0, y);
            clip.text(at, Align2::RIGHT_CENTER, text, value.clone(), tokens.text);
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
        self.paint(ui, sweep, cell, rect);
        let tokens = Tokens::now(ui);
        if is_selected || response.hovered() || response.has_focus() {
            let width = if is_selected { 2.0 } else { 1.0 };
            let stroke = Stroke::new(width, tokens.text);
            ui.painter().rect_stroke(rect, 4, stroke, StrokeKind::Outside);
        }
        self.name_ui(ui, sweep, cell, &response, is_selected)
    }

    /// The name of a cell for those who do not see it and for the pointer, and what a click on it means.
    fn name_ui(
        &self,
        ui: &egui::Ui,
        sweep: &Sweep,
        cell: &HeatCell,
        response: &Response,
        is_selected: bool,
    ) -> Option<RunClick> {
        let (figure, units) = (self.map.figure, Units::now(ui));
        let is_best = sweep.best.is_ok_and(|best| best.run == cell.shown);
        let name = || {
            let value =
                cell.value.map_or("not known".to_owned(), |value| value_text(figure, value, units));
            let fits = if is_best {
                format!(", {}", sweep.best_title().to_lowercase())
            } else {
                fits_text(sweep, cell.shown, units)
            };
            format!("{}: {} {value}{fits}", settings(sweep, cell.shown), self.figure_title)
        };
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, name()));
        if response.hovered() {
            let several = match cell.runs.len() {
                0..=1 => String::new(),
                count => format!("\nThe best of {count} runs with these settings"),
            };
            let text = format!("{}{several}\nDouble-click to open", name());
            response.clone().on_hover_text(text);
        }
        RunClick::of(ui, response, cell.shown)
    }

    fn paint(&self, ui: &egui::Ui, sweep: &Sweep, cell: &HeatCell, rect: Rect) {
        let (tokens, units) = (Tokens::now(ui), Units::now(ui));
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        let Some(run) = sweep.runs.get(cell.shown) else { return };
        let value = cell.value.map(|value| short_text(self.map.figure, value, units));
        let lines = CellLines { painter: &painter, rect, tokens };
        if cell.fits == Some(false) {
            painter.rect_filled(rect, 4, tokens.over_fill);
            let edge = Rect::from_min_size(rect.min, Vec2::new(EDGE, rect.height()));
            painter.rect_filled(edge, 4, tokens.over);
            hatch(&painter, edge, tokens.surface.gamma_multiply(0.5));
            let stroke = Stroke::new(1.0, tokens.over);
            painter.rect_stroke(rect, 4, stroke, StrokeKind::Inside);
            lines.over(run, value, units);
        } else {
            painter.rect_filled(rect, 4, self.color(cell, tokens));
            let unknown = if run.no_report { "no report" } else { "–" };
            let is_known = value.is_some();
            lines.fits(run, value.unwrap_or_else(|| unknown.to_owned()), is_known, units);
        }
    }

    /// The more, the stronger; of what is not known the ground.
    fn color(&self, cell: &HeatCell, tokens: &Tokens) -> Color32 {
        let Some(value) = cell.value else { return tokens.raised };
        let (least, most) = self.range;
        let part = if most > least { (value.as_f64() - least) / (most - least) } else { 0.5 };
        tokens.heat(part as f32)
    }
}

/// The lines of text in a cell, as many as there is room for.
struct CellLines<'a> {
    painter: &'a Painter,
    rect: Rect,
    tokens: &'a Tokens,
}

impl CellLines<'_> {
    /// A text in the middle, so far from the cell's, if it is no wider than the cell.
    fn text(&self, text: String, font: FontId, color: Color32, below_middle: f32) {
        let galley = self.painter.layout_no_wrap(text, font, color);
        if galley.size().x <= self.rect.width() - 4.0 {
            let at = self.rect.center() + Vec2::new(0.0, below_middle);
            let place = Align2::CENTER_CENTER.anchor_size(at, galley.size());
            self.painter.galley(place.min, galley, color);
        }
    }

    fn fits(&self, run: &SweepRun, value: String, is_known: bool, units: Units) {
        let (tokens, height) = (self.tokens, self.rect.height());
        let color = if is_known { tokens.text } else { tokens.weak_text };
        let font = fonts::semibold(match height {
            ..THREE_LINES => size::BODY,
            ..LARGE => size::CARD_TITLE,
            _ => size::KEY_FIGURE,
        });
        let bytes = run.needed_bytes();
        let of = bytes.zip(run.limit_bytes).filter(|_| height >= TWO_LINES);
        let Some((bytes, limit)) = of else { return self.text(value, font, color, 0.0) };
        let free = format!("{} free", units.bytes(limit.saturating_sub(bytes)));
        let is_high = height >= THREE_LINES;
        self.text(value, font, color, if is_high { -height * 0.2 } else { -8.0 });
        let caption = fonts::regular(size::CAPTION);
        self.text(free, caption, tokens.text, height / 2.0 - 12.0);
        if is_high {
            let middle = self.rect.center().x;
            let half = self.rect.width() * 0.4;
            let bottom = self.rect.bottom() - 23.0;
            let place = Rect::from_x_y_ranges(middle - half..=middle + half, bottom - 5.0..=bottom);
            let parts = [(bytes, tokens.ink)];
            Bar { parts: &parts, whole: limit, limit: None }.paint(self.painter, place, tokens);
        }
    }

    fn over(&self, run: &SweepRun, value: Option<String>, units: Units) {
        let (tokens, height) = (self.tokens, self.rect.height());
        let over = run.verdict.over_bytes.filter(|over| *over > 0);
        let by = over.map_or("over".to_owned(), |over| format!("+{}", units.bytes(over)));
        let short = &run.verdict.short;
        let why = (short != run.verdict.outcome.word()).then(|| short.clone());
        let caption = fonts::regular(size::CAPTION);
        let font = fonts::semibold(if height < THREE_LINES { size::TABLE } else { size::BODY });
        if height < TWO_LINES {
            self.text(by, font, tokens.over, 0.0);
            return;
        }
        let below = [value, why].into_iter().flatten().collect::<Vec<_>>().join(" · ");
        self.text(below, caption, tokens.text, height / 2.0 - 12.0);
        if height < THREE_LINES {
            self.text(by, font, tokens.over, -8.0);
            return;
        }
        self.text(by, font, tokens.over, 0.0);
        let at = self.rect.center() - Vec2::new(0.0, height * 0.3);
        Sign::Over.paint(self.painter, at, 7.5, tokens);
    }
}

/// A ring around the best cell, and what it is on its upper edge.
fn best_mark(painter: &Painter, rect: Rect, tokens: &Tokens) {
    painter.rect_stroke(rect, 5, Stroke::new(2.5, tokens.fits), StrokeKind::Outside);
    let color = text_on(tokens.fits);
    let whole = "★ Best that fits".to_owned();
    let font = fonts::semibold(size::CAPTION);
    let galley = painter.layout_no_wrap(whole, font.clone(), color);
    let galley = if galley.size().x + 10.0 > rect.width() {
        painter.layout_no_wrap("★".to_owned(), font, color)
    } else {
        galley
    };
    let at = Pos2::new(rect.center().x, rect.top());
    let place = Align2::CENTER_CENTER.anchor_size(at, galley.size());
    painter.rect_filled(place.expand2(Vec2::new(5.0, 1.0)), 6, tokens.fits);
    painter.galley(place.min, galley, color);
}
