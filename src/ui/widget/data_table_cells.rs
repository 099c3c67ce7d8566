//! The cells of a table: texts cut in their middle where there is no room, numbers with bars, signs of verdicts.

use eframe::egui::{
    self, Align, Align2, Color32, CursorIcon, FontId, Label, Layout, Pos2, Rangef, Rect, Response,
    RichText, Role, Sense, Stroke, Vec2, WidgetInfo,
};

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::bar::Bar;
use super::column_widths::{
    BAR, BESIDE_BAR, MOST_SHOWN, SIGN, WORDS, cell_font, fitted, padding, percent_width, text_width,
};
use super::rows::{BarOf, CellValue, Order, TableColumn};
use crate::text::{CommonPath, shortened};
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{ROW_HEIGHT, Tokens};
use crate::ui::units::Units;

/// Longest text in a tooltip.
const HOVER: usize = 1000;
/// Height of the bar in a cell, points.
const BAR_HEIGHT: f32 = 9.0;
/// The whole of a bar, in parts of its track.
const PARTS: f64 = 1e6;
/// Least part of a cell that says that there is more, points.
const LEAST_MORE: f32 = 12.0;
/// Width of what a column is made wider by, points.
const HANDLE: f32 = 6.0;

/// Draws a value of a column, whose paths have something in common; says how much room it needs.
pub fn value_ui(
    ui: &mut egui::Ui,
    (column, common): (&TableColumn, Option<&CommonPath>),
    value: CellValue<'_>,
    is_part: bool,
) -> f32 {
    let tokens = Tokens::now(ui);
    let color = match value {
        CellValue::Change(1..) | CellValue::CountChange(1..) => tokens.more,
        CellValue::RateChange(change) if change > 0.0 => tokens.more,
        CellValue::Change(..=-1) | CellValue::CountChange(..=-1) => tokens.less,
        CellValue::RateChange(change) if change < 0.0 => tokens.less,
        CellValue::Nothing => tokens.third_text,
        _ if is_part => tokens.weak_text,
        _ => tokens.text,
    };
    let mut beside = 0.0;
    if let Some(bar) = &column.bar {
        beside += bar_ui(ui, bar, value.share(bar.whole), value.share(bar.track));
    }
    if let Some(sign) = value.sign() {
        ui.spacing_mut().item_spacing.x = SIGN - 13.0;
        sign.ui(ui, 13.0);
        beside += SIGN;
    }
    beside + text_ui(ui, &value.shown(Units::now(ui)), common, &cell_font(column), color)
}

/// A text in the room that is there; all of it for the pointer, and for those who do not see it. A figure or a word that
/// the edge of the table would cut is not drawn at all, because what is left of it would read as another one.
fn text_ui(
    ui: &mut egui::Ui,
    text: &str,
    common: Option<&CommonPath>,
    font: &FontId,
    color: Color32,
) -> f32 {
    let shown = shortened(text, MOST_SHOWN);
    let (place, seen) = (ui.available_rect_before_wrap().x_range(), ui.clip_rect().x_range());
    let is_figure = ui.layout().prefer_right_to_left();
    let room = if is_figure { place.span() } else { place.max.min(seen.max) - place.min };
    let (mut fitted, needed) = fitted(ui, &shown, font, room);
    if let (Cow::Owned(_), Some(Cow::Owned(rest))) = (&fitted, common.map(|of| of.left_out(text))) {
        fitted = Cow::Owned(self::fitted(ui, &shortened(&rest, MOST_SHOWN), font, room).0.into());
    }
    let width = text_width(ui, &fitted, font);
    let left = if is_figure { place.max - width } else { place.min };
    let is_seen =
        is_within(left..=left + width, seen) && (is_figure || !is_rest(place, seen, needed));
    let is_cut = matches!(fitted, Cow::Owned(_)) || !is_seen;
    let label = RichText::new(fitted).font(font.clone());
    let label = label.color(if is_seen { color } else { Color32::TRANSPARENT });
    let label = ui.add(Label::new(label).extend().selectable(false));
    if !is_seen {
        more_ui(ui, place, seen, label.rect.center().y);
    }
    if is_cut || shown.len() < text.len() {
        let all = shortened(text, HOVER);
        label.widget_info(|| WidgetInfo::labeled(Role::Label, true, &all));
        if label.hovered() {
            label.on_hover_text(all);
        }
    }
    needed
}

/// Whether what lies there is seen as a whole.
pub fn is_within(range: RangeInclusive<f32>, seen: Rangef) -> bool {
    *range.start() > seen.min - 1.5 && *range.end() < seen.max + 1.5
}

/// Whether the edge of the table leaves less of a text than a word or two.
pub fn is_rest(cell: Rangef, seen: Rangef, needed: f32) -> bool {
    cell.max > seen.max + 1.5 && seen.max - cell.min < needed.min(WORDS)
}

/// Says in the part of a cell that is seen that there is more than is seen.
pub fn more_ui(ui: &egui::Ui, cell: Rangef, seen: Rangef, y: f32) {
    let part = Rangef::new(cell.min.max(seen.min), cell.max.min(seen.max));
    if part.span() >= LEAST_MORE {
        let (at, font) = (Pos2::new(part.center(), y), fonts::regular(size::TABLE));
        ui.painter().text(at, Align2::CENTER_CENTER, "…", font, Tokens::now(ui).third_text);
    }
}

/// Says at the edge of what is seen of a table that there are columns beyond this one, where neither a number that is
/// cut nor the next column says so.
pub fn more_columns_ui(ui: &egui::Ui, column: &TableColumn, seen: Rangef, height: f32) {
    let cell = ui.max_rect();
    let is_cut = cell.right() > seen.max + 1.5;
    let is_last = cell.left() + LEAST_MORE < seen.max && cell.right() + LEAST_MORE > seen.max;
    if is_last && !(is_cut && column.is_number()) {
        let at = Pos2::new(cell.right().min(seen.max), cell.top() + height / 2.0);
        let font = fonts::semibold(size::TABLE);
        ui.painter().text(at, Align2::RIGHT_CENTER, "›", font, Tokens::now(ui).weak_text);
    }
}

/// The bar of a number and its percentage, from the right to the left.
fn bar_ui(ui: &mut egui::Ui, bar: &BarOf, of_whole: Option<f64>, of_track: Option<f64>) -> f32 {
    let width = percent_width(ui, bar.of);
    let tokens = Tokens::now(ui);
    ui.spacing_mut().item_spacing.x = BESIDE_BAR;
    let size = Vec2::new(width, ROW_HEIGHT);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_size(size);
        if let Some(share) = of_whole {
            let text = match share {
                10.0.. => format!("×{share:.1}"),
                _ => format!("{:.1} %", share * 100.0),
            };
            let text = RichText::new(text).size(size::TABLE);
            ui.add(Label::new(text.color(tokens.weak_text)).extend().selectable(false));
        }
    });
    let part = of_track.unwrap_or(0.0).clamp(0.0, 1.0) * PARTS;
    let limit = bar.limit.map(|limit| (limit / bar.track.max(f64::MIN_POSITIVE) * PARTS) as u64);
    let parts = [(part as u64, tokens.temporary)];
    let painted = Bar { parts: &parts, whole: PARTS as u64, limit };
    painted.ui(ui, Vec2::new(BAR, BAR_HEIGHT));
    BAR + 2.0 * BESIDE_BAR + width
}

pub fn total_ui(ui: &mut egui::Ui, index: usize, column: &TableColumn, order: &Order, all: usize) {
    let units = Units::now(ui);
    let text = match order.totals.get(index) {
        _ if index == 0 && order.rows.len() < all => "Total of those shown".to_owned(),
        _ if index == 0 => "Total".to_owned(),
        Some(total) if column.is_summed => total.clone().shown(units).into_owned(),
        _ => return,
    };
    if let Some(bar) = &column.bar {
        ui.add_space(BAR + 2.0 * BESIDE_BAR + percent_width(ui, bar.of));
    }
    let color = Tokens::now(ui).text;
    text_ui(ui, &text, None, &fonts::semibold(size::TABLE), color);
}

/// The triangle before a row that opens.
pub fn opener_ui(ui: &mut egui::Ui, is_open: bool) -> Response {
    let (_, response) = ui.allocate_exact_size(Vec2::splat(14.0), Sense::click());
    paint_opener(ui, &response, is_open);
    response
}

pub fn paint_opener(ui: &egui::Ui, opener: &Response, is_open: bool) {
    let color = if opener.hovered() { Tokens::now(ui).accent } else { Tokens::now(ui).weak_text };
    let at = opener.rect.center();
    let points = if is_open {
        [(-4.0, -2.0), (4.0, -2.0), (0.0, 4.0)]
    } else {
        [(-2.0, -4.0), (4.0, 0.0), (-2.0, 4.0)]
    };
    let points = points.map(|(x, y)| at + Vec2::new(x, y)).to_vec();
    ui.painter().add(egui::Shape::convex_polygon(points, color, Stroke::NONE));
    let name = if is_open { "Close row" } else { "Open row" };
    opener.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
}

/// What was done to the right edge of a column.
#[derive(Clone, Copy, Debug)]
pub enum Dragged {
    By(f32),
    /// It is to be as wide as its content again.
    Back,
}

/// The right edge of a column, which makes it wider or narrower.
pub fn handle_ui(ui: &egui::Ui, index: usize, column: &TableColumn) -> Option<Dragged> {
    let cell = ui.max_rect();
    let place = Rect::from_x_y_ranges(cell.right() - HANDLE..=cell.right(), cell.y_range());
    let handle = ui.interact(place, ui.scope_id().with(("width", index)), Sense::click_and_drag());
    handle.widget_info(|| {
        WidgetInfo::labeled(Role::Splitter, true, format!("Width of {}", column.title))
    });
    let handle = handle.on_hover_cursor(CursorIcon::ResizeHorizontal);
    if handle.hovered() || handle.dragged() {
        let stroke = Stroke::new(1.0, Tokens::now(ui).third_text);
        ui.painter().vline(cell.right() - 1.0, cell.y_range(), stroke);
    }
    if handle.double_clicked() {
        Some(Dragged::Back)
    } else {
        handle.dragged().then(|| Dragged::By(handle.drag_delta().x))
    }
}

/// Lays out a cell: texts begin and figures end at the same place.
pub fn aligned<R>(
    ui: &mut egui::Ui,
    column: &TableColumn,
    add: impl FnOnce(&mut egui::Ui) -> R,
) -> R {
    let layout = if column.is_number() {
        Layout::right_to_left(Align::Center)
    } else {
        Layout::left_to_right(Align::Center)
    };
    let rect = ui.available_rect_before_wrap().shrink2(Vec2::new(padding(column), 0.0));
    let cell = egui::UiBuilder::new().max_rect(rect).layout(layout);
    ui.scope_builder(cell, add).inner
}

pub fn line_below(ui: &egui::Ui, color: Color32) {
    let cell = ui.max_rect();
    ui.painter().hline(cell.x_range(), cell.bottom() - 0.5, Stroke::new(1.0, color));
}
