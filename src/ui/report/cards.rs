//! Cards of what only one system says: sizes as bars, grouped by what is chosen, and tables, each with the ways to what
//! it is about.

use eframe::egui::{self, Align2, Button, Color32, Grid, Label, RichText, ScrollArea, Vec2};
use std::collections::BTreeMap;

use crate::run::Cell;
use crate::run::card::{
    BarColor, BarList, BarRow, Card, CardBar, CardBody, CardCell, CardNote, CardRow, CardTable,
    Link,
};
use crate::text::{CommonPath, clean, counted, grouped, readable, shortened};
use crate::ui::command::Sheet;
use crate::ui::report::areas::short_frame;
use crate::ui::report::category_colors::category_color;
use crate::ui::report::run_part::RunPart;
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{Tokens, fonts::caption};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::card::listed_card_ui;
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::column_widths::text_width;
use crate::ui::widget::data_table_cells::is_within;
use crate::ui::widget::measured::{Measured, MeasuredColumns};
use crate::ui::widget::rows::{CellValue, TableColumn};
use crate::ui::widget::sign::Sign;

/// Longest sentence.
const TEXT: usize = 400;
/// Longest name that the pointer is told.
const NAME: usize = 300;
/// Width of a way beside a bar, points.
const LINK: f32 = 92.0;
/// Width of a table's bar, and of a card that has room for it, points.
const BAR: f32 = 56.0;
const BARS: f32 = 430.0;
/// About the width of a column of figures and of a letter, points.
const COLUMN: f32 = 84.0;
const LETTER: f32 = 6.6;

/// What is chosen on the cards of a run: by card which of its lists is shown.
#[derive(Clone, Debug, Default)]
pub struct CardChoices(BTreeMap<&'static str, usize>);

/// Draws a card, with so many bars at most.
pub fn run_card_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    choices: &mut CardChoices,
    card: &Card,
    most: usize,
) {
    let mut chosen = choices.0.get(card.id).copied().unwrap_or(0);
    let sheet = |chosen: usize| match &card.body {
        CardBody::Bars(lists) => lists
            .get(chosen)
            .or(lists.first())
            .map_or_else(|| Sheet::of(Vec::new(), Vec::new()), sheet_of_bars),
        CardBody::Table(table) => sheet_of_table(table),
    };
    let (mut exports, before) = (Vec::new(), chosen);
    let contents = |ui: &mut egui::Ui| {
        about_ui(ui, part, card);
        match &card.body {
            CardBody::Bars(lists) => {
                if lists.len() > 1 {
                    let titles = lists.iter().map(|list| list.title).enumerate();
                    segments_ui(ui, "How bytes are grouped", &mut chosen, titles);
                }
                if let Some(list) = lists.get(chosen).or(lists.first()) {
                    bars_ui(ui, part, list, most);
                }
            }
            CardBody::Table(table) => table_ui(ui, part, card.id, table),
        }
        for note in &card.notes {
            note_ui(ui, part, note);
        }
    };
    listed_card_ui(ui, &card.title, &mut exports, || sheet(before), |_| {}, contents);
    part.commands.append(&mut exports);
    choices.0.insert(card.id, chosen);
}

/// What a card is about, and the way there.
fn about_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, card: &Card) {
    let about = caption(shortened(&clean(&card.about), TEXT)).color(Tokens::now(ui).weak_text);
    let Some(link) = &card.link else {
        if !card.about.is_empty() {
            ui.add(Label::new(about).wrap());
        }
        return;
    };
    ui.horizontal_wrapped(|ui| {
        if !card.about.is_empty() {
            ui.label(about);
        }
        link_ui(ui, part, link, caption(&link.title));
    });
}

fn link_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, link: &Link, text: RichText) {
    let way = ui.link(text);
    let way = if link.hover.is_empty() { way } else { way.on_hover_text(&link.hover) };
    if way.clicked() {
        part.show(&link.place, link.is_on_map);
    }
}

fn note_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, note: &CardNote) {
    let tokens = *Tokens::now(ui);
    let text = clean(&note.text);
    let text = shortened(&text, TEXT);
    if let Some((place, hover)) = &note.leads {
        if ui.link(caption(text)).on_hover_text(*hover).clicked() {
            part.show(place, false);
        }
        return;
    }
    let color = if note.is_caution { tokens.note } else { tokens.weak_text };
    ui.add(Label::new(caption(text).color(color)).wrap());
}

/// The color of a bar, and whether it is that of a category.
fn color_of(color: &BarColor, tokens: &Tokens) -> (Color32, bool) {
    let color = match color {
        BarColor::Temporary => tokens.temporary,
        BarColor::Throughout => tokens.always_live,
        BarColor::Gap => tokens.gap,
        BarColor::Over => tokens.over,
        BarColor::Free => tokens.fits,
        BarColor::Others => tokens.third_text,
        BarColor::Category(name) => return (category_color(name, tokens), true),
    };
    (color, false)
}

fn bars_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, list: &BarList, most: usize) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let is_category = |row: &BarRow| matches!(row.color, BarColor::Category(_));
    let columns = MeasuredColumns {
        has_swatch: list.rows.iter().any(is_category),
        has_percent: list.whole_bytes.is_some(),
        link: if list.rows.iter().any(|row| row.link.is_some()) { LINK } else { 0.0 },
        ..MeasuredColumns::default()
    };
    let largest = list.rows.iter().map(|row| row.bytes).max().unwrap_or(0);
    let whole = |row: Option<&BarRow>| row.and_then(|row| row.whole_bytes).or(list.whole_bytes);
    let percent = |bytes: u64, whole: u64| bytes as f64 * 100.0 / whole.max(1) as f64;
    let (shown, others) = list.rows.split_at(list.rows.len().min(most));
    let common = CommonPath::of(shown.iter().map(|row| &*row.name));
    for (place, row) in shown.iter().enumerate() {
        let (color, is_category) = color_of(&row.color, &tokens);
        let whole = whole(Some(row));
        let name = clean(&row.name);
        let short = short_frame(&name);
        // Of a place in the source the end is cut off, else the middle.
        let room = if short.len() < name.len() { NAME } else { columns.name_characters(ui) };
        let measured = Measured {
            name: &common.shortened(short, room),
            hover: if row.hover.is_empty() { &name } else { &row.hover },
            is_link: row.leads.is_some(),
            swatch: is_category.then_some(color),
            color,
            size: Some((row.bytes, whole.unwrap_or(largest))),
            value: &units.bytes(row.bytes),
            percent: whole.map(|whole| percent(row.bytes, whole)),
            link: row.link.as_ref().map(|link| &*link.title),
            ..Measured::default()
        };
        let clicked = ui.push_id(("bar", place), |ui| measured.ui(ui, columns)).inner;
        if let Some(leads) = row.leads.as_ref().filter(|_| clicked.name) {
            part.show(leads, false);
        }
        if let Some(link) = row.link.as_ref().filter(|_| clicked.link) {
            part.show(&link.place, link.is_on_map);
        }
    }
    let more = others.len().saturating_add(list.more);
    if more > 0 {
        let sum =
            |rows: &[BarRow]| rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
        let rest =
            whole(None).map_or_else(|| sum(others), |whole| whole.saturating_sub(sum(shown)));
        let measured = Measured {
            name: &counted(more as u64, "other"),
            color: tokens.third_text,
            size: Some((rest, whole(None).unwrap_or(largest))),
            value: &units.bytes(rest),
            percent: whole(None).map(|whole| percent(rest, whole)),
            ..Measured::default()
        };
        measured.ui(ui, columns);
    }
}

fn table_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, id: &'static str, table: &CardTable) {
    let has_bars = ui.available_width() >= BARS && table.rows.iter().any(|row| row.bar.is_some());
    let shown = || table.columns.iter().enumerate().filter(|(_, column)| column.shown.is_some());
    let figures = shown().filter(|(_, column)| !column.is_wide).count() as f32;
    let characters = ((ui.available_width() - figures * COLUMN) / LETTER).max(12.0) as usize;
    let area = ScrollArea::horizontal().id_salt(id).show(ui, |ui| {
        Grid::new(id).spacing([10.0, 5.0]).show(ui, |ui| {
            for (place, column) in shown() {
                let title = column.shown.unwrap_or_default();
                let color = seen_color(ui, title, Tokens::now(ui).third_text);
                ui.label(caption(title).color(color));
                if place == 0 && has_bars {
                    ui.label("");
                }
            }
            ui.end_row();
            let mut above: Option<&CardRow> = None;
            for row in table.rows.iter().filter(|row| !row.is_folded) {
                let first = |row: &CardRow| row.cells.first().map(|cell| cell.cell.clone());
                let is_of_group = above.is_some_and(|above| first(above) == first(row));
                above = Some(row);
                for (place, column) in shown() {
                    match row.cells.get(place) {
                        Some(cell) if !(is_of_group && column.is_of_group) => {
                            cell_ui(ui, part, cell, if column.is_wide { characters } else { NAME });
                        }
                        _ => drop(ui.label("")),
                    }
                    if place == 0 && has_bars {
                        bar_ui(ui, row.bar);
                    }
                }
                ui.end_row();
                if let Some(note) = &row.note {
                    for (_, column) in shown() {
                        ui.label(caption(if column.is_wide { note } else { "" }).weak());
                    }
                    ui.end_row();
                }
            }
        });
    });
    let seen = area.inner_rect;
    if area.content_size.x - area.state.clamped_offset().x > seen.width() + 1.5 {
        let font = fonts::semibold(size::TABLE);
        let color = Tokens::now(ui).weak_text;
        ui.painter().text(seen.right_top(), Align2::RIGHT_TOP, "›", font, color);
    }
}

/// The color of a text that begins here: what the edge of the card would cut is not drawn, as a part of a value reads as
/// another one.
fn seen_color(ui: &egui::Ui, text: &str, color: Color32) -> Color32 {
    let left = ui.cursor().left();
    let right = left + text_width(ui, text, &fonts::semibold(size::TABLE));
    if is_within(left..=right, ui.clip_rect().x_range()) { color } else { Color32::TRANSPARENT }
}

fn bar_ui(ui: &mut egui::Ui, bar: Option<CardBar>) {
    let Some(CardBar { used, unused, whole, limit }) = bar else {
        ui.label("");
        return;
    };
    let tokens = *Tokens::now(ui);
    let parts = [(used, tokens.temporary), (unused, tokens.gap)];
    Bar { parts: &parts, whole, limit }.ui(ui, Vec2::new(BAR, 8.0));
}

fn cell_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, cell: &CardCell, characters: usize) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let text = match (&cell.link, &cell.cell) {
        (Some(link), _) if !link.title.is_empty() => link.title.clone(),
        (_, Cell::Text(text)) => shortened(&readable(text), characters).into_owned(),
        (_, Cell::Bytes(bytes)) if cell.is_over => format!("+{}", units.bytes(*bytes)),
        (_, Cell::Bytes(bytes)) => units.bytes(*bytes),
        (_, Cell::Count(count)) => grouped(*count),
        (_, Cell::Empty) => String::new(),
    };
    if let Some(link) = &cell.link {
        let variable = link.place.variable.is_some();
        let text = RichText::new(text).size(size::TABLE);
        let way = if variable { ui.add(Button::new(text).frame(false)) } else { ui.link(text) };
        let hover = shortened(&clean(&link.hover), NAME).into_owned();
        let way = if hover.is_empty() { way } else { way.on_hover_text(hover) };
        if way.clicked() {
            part.show(&link.place, link.is_on_map);
        }
        return;
    }
    match (cell.fits, &cell.cell) {
        (Some(fits), _) => {
            ui.horizontal(|ui| {
                Sign::of(Some(fits)).ui(ui, 13.0);
                ui.label(text);
            });
        }
        (None, Cell::Text(_) | Cell::Empty) => drop(ui.label(text)),
        (None, _) => {
            let color = if cell.is_over { tokens.over } else { tokens.text };
            let color = seen_color(ui, &text, color);
            ui.label(fonts::number(text).color(color));
        }
    }
}

/// A list as a table: name, further texts, bytes, further figures.
fn sheet_of_bars(list: &BarList) -> Sheet {
    let cells = |row: &BarRow| -> Vec<Cell> {
        let is_text = |cell: &&Cell| matches!(cell, Cell::Text(_));
        let texts = row.cells.iter().filter(is_text).cloned();
        let figures = row.cells.iter().filter(|cell| !is_text(cell)).cloned();
        let name = std::iter::once(Cell::Text(row.name.clone()));
        name.chain(texts).chain([Cell::Bytes(row.bytes)]).chain(figures).collect()
    };
    let rows: Vec<Vec<Cell>> = list.rows.iter().map(cells).collect();
    let first = rows.first();
    let column = |(place, title): (usize, &&'static str)| {
        column_of(title, first.and_then(|row| row.get(place)))
    };
    let columns = list.columns.iter().enumerate().map(column).collect();
    Sheet::of(columns, rows.iter().map(|row| row.iter().map(value).collect()).collect())
}

fn sheet_of_table(table: &CardTable) -> Sheet {
    let cell_of = |place: usize| {
        let cells = table.rows.iter().filter_map(|row| row.cells.get(place));
        cells.map(|cell| &cell.cell).find(|cell| **cell != Cell::Empty)
    };
    let columns = table.columns.iter().enumerate();
    let columns = columns.map(|(place, column)| column_of(column.title, cell_of(place)));
    let row = |row: &CardRow| row.cells.iter().map(|cell| value(&cell.cell)).collect();
    Sheet::of(columns.collect(), table.rows.iter().map(row).collect())
}

fn column_of(title: &'static str, cell: Option<&Cell>) -> TableColumn {
    match cell {
        Some(Cell::Bytes(_)) => TableColumn::bytes(title, 0.0),
        Some(Cell::Count(_)) => TableColumn::count(title, 0.0),
        Some(Cell::Text(_) | Cell::Empty) | None => TableColumn::rest(title),
    }
}

fn value(cell: &Cell) -> CellValue<'static> {
    match cell {
        Cell::Text(text) => CellValue::text(text.clone()),
        Cell::Bytes(bytes) => CellValue::Bytes(*bytes),
        Cell::Count(count) => CellValue::Count(*count),
        Cell::Empty => CellValue::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::card::CardCell;

    #[test]
    fn a_list_as_a_table_has_its_texts_before_the_bytes() {
        let row = |cells| BarRow { name: "a".to_owned(), bytes: 7, cells, ..BarRow::default() };
        let cells = vec![Cell::Count(3), Cell::Text("Gradient".to_owned())];
        let columns = vec!["What", "Category", "Size", "Blocks"];
        let list = BarList { rows: vec![row(cells)], columns, ..BarList::default() };
        let sheet = sheet_of_bars(&list);
        let units: Vec<&str> = sheet.columns.iter().map(|column| column.unit).collect();
        assert_eq!(units, ["", "", "bytes", "number"]);
    }

    #[test]
    fn a_column_is_of_the_first_cell_that_says_something() {
        let row = |cell: Cell| CardRow { cells: vec![CardCell::from(cell)], ..CardRow::default() };
        let rows = vec![row(Cell::Empty), row(Cell::Bytes(7))];
        let columns = vec![crate::run::card::CardColumn { title: "Size", ..Default::default() }];
        let sheet = sheet_of_table(&CardTable { columns, rows });
        assert_eq!(sheet.columns[0].unit, "bytes");
    }
}
