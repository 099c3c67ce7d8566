//! Column widths of a table: as wide as their content while there is room. Where there is not, texts give way first,
//! those with the most room before the others, down to the least width of their columns. Where some columns are scrolled
//! to all the same, texts get back what the last whole column leaves free.

use eframe::egui::{self, FontId};
use std::borrow::Cow;
use std::sync::Arc;

use super::column_titles::title_width;
use super::data_table_cells::Dragged;
use super::rows::{CellValue, Order, Rows, TableColumn};
use crate::text::{CommonPath, ends_kept, is_told_by_its_end, shortened};
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;

/// At each side of what stands in a cell, points.
const PADDING: f32 = 8.0;
const DENSE_PADDING: f32 = 5.0;
/// The bar of a cell, and what is left free beside it, points.
pub const BAR: f32 = 100.0;
pub const BESIDE_BAR: f32 = 8.0;
/// Most characters of a text that are shown, however much room there is.
pub const MOST_SHOWN: usize = 140;
/// Rows that are measured before they are drawn; later ones are as they come into sight.
const SAMPLE: usize = 200;
/// Least width of any column, and of one of texts that says nothing else.
const LEAST: f32 = 40.0;
const LEAST_TEXT: f32 = 140.0;
/// A column no wider than this holds a word or two, which would say nothing without their middle.
pub const WORDS: f32 = 96.0;
/// The share of the room that names of a table that scrolls get, if they need it.
const NAMES: f32 = 0.35;
/// Least width of a column of pictures.
const LEAST_PAINTED: f32 = 160.0;
/// An opener, a check box, a sign of a verdict.
const OPENER: f32 = 22.0;
const TICK: f32 = 28.0;
pub const SIGN: f32 = 18.0;
/// A level of an outline, a part below its row.
pub const LEVEL: f32 = 22.0;
pub const PART: f32 = 34.0;

#[derive(Default)]
pub struct ColumnWidths {
    titles: Vec<String>,
    /// What the bars of each are of, and whether it is dense: its width goes by these too.
    kinds: Vec<(Option<&'static str>, bool)>,
    units: Units,
    rows: Option<usize>,
    /// The order that was measured.
    order: Option<usize>,
    wanted: Vec<f32>,
    by_hand: Vec<Option<f32>>,
    /// What the paths of each column begin with alike.
    common: Vec<CommonPath>,
    /// Whether a column has numbers, which are never cut.
    has_numbers: Vec<bool>,
}

impl ColumnWidths {
    /// Measures the first rows of an order, once: rows are told apart by their place in memory.
    pub fn measure(
        &mut self,
        ui: &egui::Ui,
        rows: &Arc<dyn Rows>,
        columns: &[TableColumn],
        order: &Arc<Order>,
        has_ticks: bool,
    ) {
        let units = Units::now(ui);
        let place = Arc::as_ptr(rows).cast::<()>().addr();
        let of_order = Some(Arc::as_ptr(order).addr());
        let is_same = |titles: &[String]| {
            titles.iter().eq(columns.iter().map(|column| &column.title)) && !titles.is_empty()
        };
        let are_columns = is_same(&self.titles);
        let kind = |column: &TableColumn| (column.bar.map(|bar| bar.of), column.is_dense);
        let are_kinds = self.kinds.iter().copied().eq(columns.iter().map(kind));
        let are_rows = are_columns && are_kinds && self.units == units && self.rows == Some(place);
        if are_rows && self.order == of_order {
            return;
        }
        if !are_columns {
            self.titles = columns.iter().map(|column| column.title.clone()).collect();
            self.by_hand = vec![None; columns.len()];
        }
        if !are_rows {
            self.kinds = columns.iter().map(kind).collect();
            let title = |column: &TableColumn| {
                (title_width(ui, column) + beside(ui, column) + 2.0 * padding(column)).ceil()
            };
            self.wanted = columns.iter().map(title).collect();
            self.common = vec![CommonPath::default(); columns.len()];
            self.has_numbers = vec![false; columns.len()];
        }
        (self.units, self.rows, self.order) = (units, Some(place), of_order);
        for (index, column) in columns.iter().enumerate() {
            if column.is_painted {
                continue;
            }
            let mut most = match order.totals.get(index) {
                _ if index == 0 => 0.0,
                Some(total) if column.is_summed => {
                    let total = total.clone().shown(units);
                    text_width(ui, &total, &fonts::semibold(size::TABLE))
                }
                _ => 0.0,
            };
            for row in order.rows.iter().take(SAMPLE) {
                let row = *row as usize;
                let outline = rows.outline(row).filter(|_| index == 0);
                let (text, before) = match outline {
                    Some(outline) => {
                        let level = f32::from(outline.level) * LEVEL;
                        (outline.title.into(), level + OPENER)
                    }
                    None => {
                        let value = rows.value(row, index);
                        let sign = if value.sign().is_some() { SIGN } else { 0.0 };
                        if let (CellValue::Id(_), Some(has)) =
                            (&value, self.has_numbers.get_mut(index))
                        {
                            *has = true;
                        }
                        (value.shown(units), sign)
                    }
                };
                let opener = if index == 0 && rows.parts(row) > 0 { OPENER } else { 0.0 };
                if let Some(common) = self.common.get_mut(index).filter(|_| !column.is_number()) {
                    common.add(&text);
                }
                let text = text_width(ui, &shortened(&text, MOST_SHOWN), &cell_font(column));
                most = most.max(text + before + opener);
            }
            let ticks = if has_ticks && index == 0 { TICK } else { 0.0 };
            self.want(index, column, most + ticks + beside(ui, column));
        }
    }

    /// What the paths of a column begin with alike.
    pub fn common(&self, index: usize) -> Option<&CommonPath> {
        self.common.get(index)
    }

    /// A cell came into sight that needs more; says whether its column grows by that.
    pub fn want(&mut self, index: usize, column: &TableColumn, width: f32) -> bool {
        let width = (width + 2.0 * padding(column)).ceil();
        match self.wanted.get_mut(index) {
            Some(wanted) if *wanted < width => {
                *wanted = width;
                self.by_hand.get(index).is_some_and(Option::is_none)
            }
            _ => false,
        }
    }

    /// Makes a column as wide as its content again, or wider or narrower by hand.
    pub fn drag(&mut self, index: usize, now: f32, dragged: Dragged) {
        if let Some(by_hand) = self.by_hand.get_mut(index) {
            *by_hand = match dragged {
                Dragged::By(by) => Some((now + by).max(LEAST)),
                Dragged::Back => None,
            };
        }
    }

    /// The widths in so much room; together they may be more.
    pub fn fit(&self, columns: &[TableColumn], room: f32) -> Vec<f32> {
        let by_hand = |index: usize| self.by_hand.get(index).copied().flatten();
        let wanted = |index: usize| self.wanted.get(index).copied().unwrap_or(LEAST).max(LEAST);
        let mut widths: Vec<f32> = (0..columns.len())
            .map(|index| by_hand(index).unwrap_or_else(|| wanted(index)))
            .collect();
        let floors: Vec<f32> = columns
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(index, (column, width))| match column.width {
                _ if by_hand(index).is_some() || column.is_number() => *width,
                _ if self.has_numbers.get(index) == Some(&true) => *width,
                _ if column.is_painted => LEAST_PAINTED,
                _ if *width <= WORDS => *width,
                least => least.unwrap_or(LEAST_TEXT).min(*width),
            })
            .collect();
        let painted: Vec<usize> = (0..columns.len())
            .filter(|index| columns.get(*index).is_some_and(|it| it.is_painted))
            .collect();
        for index in &painted {
            if let (Some(width), None) = (widths.get_mut(*index), by_hand(*index)) {
                *width = width.max(LEAST_PAINTED);
            }
        }
        shrink(&mut widths, &floors, room);
        let names = if by_hand(0).is_none() { wanted(0) } else { 0.0 };
        let is_text = |index: usize| {
            let column = columns.get(index);
            by_hand(index).is_none() && column.is_some_and(|it| !it.is_number() && !it.is_painted)
        };
        give_back(&mut widths, names.min(room * NAMES), room, |index| {
            if is_text(index) { wanted(index) } else { 0.0 }
        });
        let free = room - widths.iter().sum::<f32>();
        let share = free.max(0.0) / painted.len().max(1) as f32;
        for index in painted {
            if let (Some(width), None) = (widths.get_mut(index), by_hand(index)) {
                *width += share;
            }
        }
        widths
    }
}

/// Takes from the widest what there is too much, then from the two widest, and so on.
fn shrink(widths: &mut [f32], floors: &[f32], room: f32) {
    for _ in 0..=widths.len() {
        let excess = widths.iter().sum::<f32>() - room;
        if excess <= 0.5 {
            return;
        }
        let can_give = |(width, floor): (&f32, &f32)| (*width > *floor + 0.5).then_some(*width);
        let givers = || widths.iter().zip(floors).filter_map(can_give);
        let widest = givers().fold(0.0, f32::max);
        let next = givers().filter(|width| *width < widest - 0.5).fold(0.0, f32::max);
        let count = givers().filter(|width| *width >= widest - 0.5).count();
        if count == 0 {
            return;
        }
        let to = (widest - excess / count as f32).max(next);
        for (width, floor) in widths.iter_mut().zip(floors) {
            if *width > *floor + 0.5 && *width >= widest - 0.5 {
                *width = to.max(*floor);
            }
        }
    }
}

/// Gives names and other texts of a table that scrolls the room that the columns seen whole leave free.
fn give_back(widths: &mut [f32], names: f32, room: f32, wanted: impl Fn(usize) -> f32) {
    if widths.iter().sum::<f32>() <= room + 0.5 {
        return;
    }
    if let Some(first) = widths.first_mut() {
        *first = first.max(names);
    }
    let mut free = room;
    let whole = widths.iter().take_while(|width| {
        let fits = **width <= free;
        free -= if fits { **width } else { 0.0 };
        fits
    });
    let whole = whole.count();
    // Of texts a part says something, too.
    if free >= WORDS && wanted(whole) > 0.0 {
        return;
    }
    for (index, width) in widths.iter_mut().enumerate().take(whole) {
        let more = (wanted(index) - *width).clamp(0.0, free);
        *width += more;
        free -= more;
    }
}

/// What a column needs beside its texts.
fn beside(ui: &egui::Ui, column: &TableColumn) -> f32 {
    column.bar.as_ref().map_or(0.0, |bar| BAR + 2.0 * BESIDE_BAR + percent_width(ui, bar.of))
}

/// Room for a percentage and for what it is of.
pub fn percent_width(ui: &egui::Ui, of: &str) -> f32 {
    let of = text_width(ui, of, &fonts::medium(size::CAPTION));
    of.max(text_width(ui, "100.0 %", &fonts::regular(size::TABLE)))
}

/// What is free at each side of what stands in the cells of a column, points.
pub fn padding(column: &TableColumn) -> f32 {
    if column.is_dense { DENSE_PADDING } else { PADDING }
}

/// The font of a column's cells: what has a bar is what the table is about.
pub fn cell_font(column: &TableColumn) -> FontId {
    if column.bar.is_some() { fonts::semibold(size::TABLE) } else { fonts::regular(size::TABLE) }
}

/// How much room a text takes in a line.
pub fn text_width(ui: &egui::Ui, text: &str, font: &FontId) -> f32 {
    ui.fonts_mut(|all| text.chars().map(|character| all.glyph_width(font, character)).sum())
}

/// A text, or both ends of it where there is no room for all; and how much room all of it takes.
pub fn fitted<'a>(ui: &egui::Ui, text: &'a str, font: &FontId, room: f32) -> (Cow<'a, str>, f32) {
    let needed = text_width(ui, text, font);
    if needed > room + 0.5 {
        (Cow::Owned(middle_left_out(ui, text, font, room)), needed)
    } else {
        (Cow::Borrowed(text), needed)
    }
}

fn middle_left_out(ui: &egui::Ui, text: &str, font: &FontId, room: f32) -> String {
    // A letter or two say nothing.
    if room < LEAST - 2.0 * PADDING {
        return "…".to_owned();
    }
    let room = room - text_width(ui, "…", font) - 1.0;
    // Where each character begins, and what all before it take.
    let mut before = 0.0;
    let mut places: Vec<(usize, f32)> = ui.fonts_mut(|all| {
        let place = |(at, character)| {
            let place = (at, before);
            before += all.glyph_width(font, character);
            place
        };
        text.char_indices().map(place).collect()
    });
    places.push((text.len(), before));
    let whole = before;
    let head_in = |room: f32| {
        let fits = places.iter().rev().find(|(_, before)| *before <= room);
        fits.copied().unwrap_or_default()
    };
    let (head, of_head) = if is_told_by_its_end(text) { (0, 0.0) } else { head_in(room / 2.0) };
    let tail = places.iter().find(|(_, before)| whole - before <= room - of_head);
    let tail = tail.map_or(text.len(), |(at, _)| *at);
    let [head, tail] = ends_kept(text, [head, tail], head_in(room).0);
    [text.get(..head), Some("…"), text.get(tail..)].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(wanted: &[f32], columns: &[TableColumn], room: f32) -> Vec<f32> {
        let widths = ColumnWidths {
            wanted: wanted.to_vec(),
            by_hand: vec![None; wanted.len()],
            ..ColumnWidths::default()
        };
        widths.fit(columns, room)
    }

    #[test]
    fn columns_are_as_wide_as_their_content_and_texts_give_way_first() {
        let columns = [
            TableColumn::rest("Name"),
            TableColumn::text("Kind", 60.0),
            TableColumn::bytes("Bytes", 80.0),
        ];
        let content = [400.0, 200.0, 90.0];
        assert_eq!(widths(&content, &columns, 1000.0), content, "spare width stays empty");
        assert_eq!(widths(&content, &columns, 590.0), [300.0, 200.0, 90.0]);
        assert_eq!(widths(&content, &columns, 390.0), [150.0, 150.0, 90.0]);
        let words = [400.0, 90.0, 90.0];
        assert_eq!(widths(&words, &columns, 340.0), [160.0, 90.0, 90.0], "a word is left whole");
        let least = [140.0, 60.0, 90.0];
        assert_eq!(widths(&content, &columns, 100.0), least, "the rest is scrolled to");
        assert_eq!(widths(&content, &columns, 280.0), [220.0, 60.0, 90.0], "no gap is left");
    }

    #[test]
    fn names_of_a_table_that_scrolls_have_the_room_that_is_left() {
        let mut columns = vec![TableColumn::rest("Name"), TableColumn::rest("Operation")];
        columns.extend(["A", "B", "C"].map(|title| TableColumn::bytes(title, 80.0)));
        let content = [400.0, 200.0, 150.0, 150.0, 150.0];
        let found = widths(&content, &columns, 700.0);
        assert_eq!(found, [260.0, 140.0, 150.0, 150.0, 150.0], "the last is scrolled to");
        let found = widths(&content, &columns, 1500.0);
        assert_eq!(found, content);
        let found = widths(&[300.0, 145.0, 150.0, 150.0, 150.0], &columns, 600.0);
        assert_eq!(found[..2], [300.0, 145.0], "names before others");
    }

    #[test]
    fn pictures_take_what_is_left() {
        let columns = [TableColumn::rest("Name"), TableColumn::painted("Life")];
        assert_eq!(widths(&[100.0, 50.0], &columns, 500.0), [100.0, 400.0]);
        assert_eq!(widths(&[100.0, 50.0], &columns, 200.0), [100.0, 160.0]);
    }
}
