//! What each variant needs, as bars beside each other below the line of what the card has.

use eframe::egui::{
    self, Align2, Pos2, Rect, Role, Sense, Shape, Stroke, StrokeKind, Vec2, WidgetInfo,
};

use crate::analysis::sweep::Figure;
use crate::analysis::variants::{Variant, VariantColumn, VariantTable, ran};
use crate::text::{capitalised, shortened};
use crate::ui::sweep::RunClick;
use crate::ui::sweep::axis::FigureAxis;
use crate::ui::sweep::marks::cross;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;

/// Room at the left for the figures of the axis, points.
const LEFT: f32 = 62.0;
/// Room above for the highest figure, points.
const ABOVE: f32 = 20.0;
/// Room below for the names, points.
const BELOW: f32 = 22.0;
/// Widest bar, points.
const BAR: f32 = 72.0;
/// Letters of a name that a point of width has room for, about.
const LETTERS_PER_POINT: f32 = 0.16;

/// Draws the bars; returns the variant of one that was clicked.
pub fn bars_ui(ui: &mut egui::Ui, table: &VariantTable, selected: &[usize]) -> Option<RunClick> {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let size = ui.available_size().max(Vec2::new(160.0, 80.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let frame =
        Rect::from_min_max(rect.min + Vec2::new(LEFT, ABOVE), rect.max - Vec2::new(8.0, BELOW));
    let needed = table.rows.iter().map(|row| row.needed_bytes.saturating_add(table.other_bytes));
    let axis =
        FigureAxis::new(Figure::Peak, needed.chain(table.capacity_bytes).map(|it| it as f64));
    let y = |bytes: u64| frame.bottom() - frame.height() * axis.share(bytes as f64);
    axis_ui(ui, frame, &axis, &tokens);
    let slot = frame.width() / table.rows.len().max(1) as f32;
    let least = table.least_needed();
    let pointer = response.hover_pos();
    let mut hovered = None;
    for (place, row) in table.rows.iter().enumerate() {
        let middle = frame.left() + slot * (place as f32 + 0.5);
        let half = (slot * 0.66).min(BAR) / 2.0;
        let bar = |from: u64, to: u64| {
            Rect::from_min_max(Pos2::new(middle - half, y(to)), Pos2::new(middle + half, y(from)))
        };
        let all = row.needed_bytes.saturating_add(table.other_bytes);
        let color = if table.fits(row) == Some(true) { tokens.temporary } else { tokens.over };
        let own = bar(0, row.needed_bytes);
        let fill = if row.is_comparable() { color } else { color.gamma_multiply(0.35) };
        ui.painter().rect(own, 2, fill, Stroke::new(1.0, color), StrokeKind::Inside);
        ui.painter().rect_filled(bar(row.needed_bytes, all), 0, tokens.gap);
        let (of_all, top) = (bar(0, all), Pos2::new(middle, y(all)));
        if selected.contains(&place) {
            let stroke = Stroke::new(2.0, tokens.text);
            ui.painter().rect_stroke(of_all, 2, stroke, StrokeKind::Outside);
        }
        let star = if least == Some(place) { "★ " } else { "" };
        let text = format!("{star}{}", needed_text(row, units));
        let font = fonts::semibold(size::CAPTION);
        let written = ui.painter().text(
            top - Vec2::new(0.0, 2.0),
            Align2::CENTER_BOTTOM,
            text,
            font.clone(),
            tokens.text,
        );
        if !row.is_comparable() {
            cross(ui.painter(), Pos2::new(written.left() - 8.0, written.center().y), &tokens);
        }
        let letters = (slot * LETTERS_PER_POINT) as usize;
        let name = shortened(&row.name, letters.max(3));
        let below = Pos2::new(middle, frame.bottom() + 5.0);
        let font = fonts::regular(size::CAPTION);
        ui.painter().text(below, Align2::CENTER_TOP, name, font, tokens.weak_text);
        let column =
            Rect::from_x_y_ranges(middle - slot / 2.0..=middle + slot / 2.0, rect.y_range());
        if pointer.is_some_and(|pointer| column.contains(pointer)) {
            hovered = Some((place, row));
        }
    }
    capacity_ui(ui, frame, table, &axis, &tokens);
    let name = format!(
        "What each variant needs{}",
        if table.capacity_bytes.is_some() { ", with the capacity" } else { "" }
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, name.clone()));
    let (place, row) = hovered?;
    let click = RunClick::of(ui, &response, place);
    response.on_hover_text_at_pointer(hover_text(table, row, units));
    click
}

fn needed_text(row: &Variant, units: Units) -> String {
    let at_least = if VariantColumn::Needed.is_at_least(row) { "≥ " } else { "" };
    format!("{at_least}{}", units.bytes(row.needed_bytes))
}

fn hover_text(table: &VariantTable, row: &Variant, units: Units) -> String {
    let mut text = format!(
        "{}\n{}: {}\nNeeded: {}",
        shortened(&row.name, 200),
        capitalised(table.state_title()),
        ran(row),
        needed_text(row, units)
    );
    if table.other_bytes > 0 {
        text += &format!("\nOther memory: {}", units.bytes(table.other_bytes));
    }
    match table.oversubscription_bytes(row) {
        Some(0) if table.fits(row) == Some(true) => text += "\nFits",
        Some(over) if over > 0 => text += &format!("\nOver capacity: {}", units.bytes(over)),
        _ => {}
    }
    text
}

fn axis_ui(ui: &egui::Ui, frame: Rect, axis: &FigureAxis, tokens: &Tokens) {
    let font = fonts::regular(size::CAPTION);
    for (value, text) in axis.ticks(frame.height(), 30.0, Units::now(ui)) {
        let y = frame.bottom() - frame.height() * axis.share(value);
        ui.painter().hline(frame.x_range(), y, Stroke::new(1.0, tokens.grid));
        let at = Pos2::new(frame.left() - 8.0, y);
        ui.painter().text(at, Align2::RIGHT_CENTER, text, font.clone(), tokens.weak_text);
    }
}

fn capacity_ui(
    ui: &egui::Ui,
    frame: Rect,
    table: &VariantTable,
    axis: &FigureAxis,
    tokens: &Tokens,
) {
    let Some(capacity) = table.capacity_bytes else { return };
    let y = frame.bottom() - frame.height() * axis.share(capacity as f64);
    let ends = [Pos2::new(frame.left(), y), Pos2::new(frame.right(), y)];
    let painter = ui.painter();
    painter.extend(Shape::dashed_line(&ends, Stroke::new(1.5, tokens.ink), 5.0, 4.0));
    let text = format!("Capacity {}", Units::now(ui).bytes(capacity));
    let at = Pos2::new(frame.right() - 4.0, y - 2.0);
    painter.text(at, Align2::RIGHT_BOTTOM, text, fonts::semibold(size::CAPTION), tokens.ink);
}
