//! A table of data: filter, sorting by a click on a title, a row of totals, rows that open into their
//! parts, any number of rows, and copies as CSV. Long tables are sorted beside the window.

use eframe::egui::{self, Label, Role, ScrollArea, Sense, TextEdit, Vec2};
use egui_extras::{Column as Width, TableBuilder};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::column_titles::{title_height, title_ui};
use super::column_widths::{ColumnWidths, LEVEL, PART};
use super::data_table_cells::{
    Dragged, aligned, handle_ui, line_below, more_columns_ui, opener_ui, total_ui, value_ui,
};
use super::exports::exports_ui;
use super::place_menu::place_menu_ui;
use super::row_ticks::RowTicks;
use super::rows::{CellValue, Order, Rows, TableColumn, order};
use crate::text::grouped;
use crate::ui::command::{Command, ExportSource, Sheet};
use crate::ui::job::Latest;
use crate::ui::split;
use crate::ui::theme::{ROW_HEIGHT, Tokens, fonts};
use crate::ui::units::Units;

/// Rows that are seen of a table at least, and what its card has below them, points.
const LEAST_ROWS: usize = 4;
const BELOW: f32 = 14.0;
/// Tables up to this length are sorted at once; that takes less than a frame.
const SHORT: usize = 2000;

pub struct Data<'a> {
    /// Its accessible name, which tells tables apart, and the name of its copies.
    pub name: &'a str,
    pub title: &'a str,
    /// What is said beside the number of rows.
    pub note: &'a str,
    /// The columns; the first is never a number.
    pub columns: &'a [TableColumn],
    /// The rows. Other rows are another `Arc`.
    pub rows: Arc<dyn Rows>,
    pub is_selected: &'a dyn Fn(usize) -> bool,
    pub paint: &'a dyn Fn(&egui::Painter, egui::Rect, usize),
}

impl<'a> Data<'a> {
    /// Without title and note, without painted columns, and nothing is selected.
    pub fn of(name: &'a str, columns: &'a [TableColumn], rows: Arc<dyn Rows>) -> Self {
        let (title, note) = ("", "");
        Self { name, title, note, columns, rows, is_selected: &|_| false, paint: &|_, _, _| {} }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowClick {
    pub row: usize,
    /// Whether it joins those that are selected: with Shift or Ctrl.
    pub is_added: bool,
}

/// What an order was made for: the rows' place in memory, filter, sorting, number of columns.
type OrderKey = (usize, String, Option<(usize, bool)>, usize);

#[derive(Default)]
pub struct DataTable {
    filter: String,
    sort: Option<(usize, bool)>,
    shown: Option<ShownRows>,
    sorting: Latest<OrderKey, Order>,
    open: BTreeSet<u32>,
    /// The row whose menu was opened last.
    menu_of: Option<usize>,
    widths: ColumnWidths,
}

/// What has happened to the rows.
#[derive(Default)]
struct RowEvents {
    clicked: Option<RowClick>,
    toggled: Option<u32>,
    /// A column needs more room than it had.
    grown: bool,
}

struct ShownRows {
    key: OrderKey,
    /// Kept, so that no other rows can come to lie in the same place.
    rows: Arc<dyn Rows>,
    order: Arc<Order>,
    /// Places in the order of rows that are open, with the number of their parts.
    openings: Vec<(usize, usize)>,
}

impl ShownRows {
    /// Number of lines, with the parts of open rows.
    fn len(&self) -> usize {
        self.order.rows.len() + self.openings.iter().map(|(_, parts)| parts).sum::<usize>()
    }

    /// The row of a line, and the part of it.
    fn at(&self, line: usize) -> Option<(usize, Option<usize>)> {
        let mut before = 0;
        for (place, parts) in &self.openings {
            let opened = place + before;
            if line <= opened {
                break;
            }
            if line <= opened + parts {
                let row = *self.order.rows.get(*place)? as usize;
                return Some((row, Some(line - opened - 1)));
            }
            before += parts;
        }
        Some((*self.order.rows.get(line - before)? as usize, None))
    }

    fn find_openings(&mut self, open: &BTreeSet<u32>) {
        let places = self.order.rows.iter().enumerate().filter(|(_, row)| open.contains(row));
        let parts = |row: u32| self.rows.parts(row as usize);
        self.openings = places.map(|(place, row)| (place, parts(*row))).collect();
    }
}

impl DataTable {
    /// A table that is sorted by a column at first, the largest on top.
    pub fn sorted_by(column: usize) -> Self {
        Self { sort: Some((column, true)), ..Self::default() }
    }

    /// Draws the table in the height that is left; returns the row that was clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        data: &Data<'_>,
        commands: &mut Vec<Command>,
    ) -> Option<RowClick> {
        self.ui_with(ui, data, commands, None, None)
    }

    /// The same, with something of the page at the left in place of a title, or a check box before each
    /// row.
    pub fn ui_with(
        &mut self,
        ui: &mut egui::Ui,
        data: &Data<'_>,
        commands: &mut Vec<Command>,
        beside: Option<&mut dyn FnMut(&mut egui::Ui)>,
        mut ticks: Option<RowTicks<'_>>,
    ) -> Option<RowClick> {
        self.arrange(ui, data);
        self.head_ui(ui, data, commands, beside);
        let Some(shown) = &self.shown else {
            ui.weak(self.sorting.failure().unwrap_or("Sorting…"));
            return None;
        };
        if data.rows.len() > 0 && shown.order.rows.is_empty() {
            ui.weak("No row has this text");
            return None;
        }
        self.widths.measure(ui, &data.rows, data.columns, &shown.order, ticks.is_some());
        let seen = ScrollArea::horizontal()
            .id_salt((data.name, "across"))
            .auto_shrink(false)
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing = Vec2::ZERO;
                self.rows_ui(ui, data, commands, &mut ticks)
            })
            .inner;
        if let Some(row) = seen.toggled {
            if !self.open.remove(&row) {
                self.open.insert(row);
            }
            if let Some(shown) = &mut self.shown {
                shown.find_openings(&self.open);
            }
            ui.request_repaint();
        }
        if seen.grown {
            ui.request_repaint();
        }
        seen.clicked
    }

    fn rows_ui(
        &mut self,
        ui: &mut egui::Ui,
        data: &Data<'_>,
        commands: &mut Vec<Command>,
        ticks: &mut Option<RowTicks<'_>>,
    ) -> RowEvents {
        let mut seen = RowEvents::default();
        let Some(shown) = &self.shown else { return seen };
        let (mut sort, mut menu_of) = (self.sort, self.menu_of);
        let is_filtered = !self.filter.trim().is_empty();
        let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
        let room = ui.available_width() - ui.spacing().scroll.allocated_width();
        let widths = self.widths.fit(data.columns, room);
        let seen_columns = ui.clip_rect().x_range();
        let mut by_hand: Option<(usize, f32, Dragged)> = None;
        ui.set_min_width(widths.iter().sum::<f32>() + ui.spacing().scroll.allocated_width());
        let has_totals = data.columns.iter().any(|column| column.is_summed);
        let title = title_height(data.columns);
        let height = if has_totals { title + ROW_HEIGHT } else { title };
        let rows = shown.len().min(LEAST_ROWS) as f32 * ROW_HEIGHT;
        split::reach(ui, ui.cursor().top() + height + rows + BELOW);
        let builder = TableBuilder::new(ui)
            .id_salt(data.name)
            .striped(false)
            .sense(Sense::click())
            .auto_shrink(false)
            .min_scrolled_height(0.0)
            .cell_layout(egui::Layout::left_to_right(egui::Align::Center));
        let builder =
            widths.iter().fold(builder, |builder, width| builder.column(Width::exact(*width)));
        let is_outline = data.rows.outline(0).is_some();
        let table = builder.header(height, |mut header| {
            for (index, (column, width)) in data.columns.iter().zip(&widths).enumerate() {
                header.col(|ui| {
                    ui.vertical(|ui| {
                        ui.spacing_mut().item_spacing.y = 0.0;
                        let sort = (!is_outline).then_some(&mut sort);
                        line_ui(ui, column, title, |ui| title_ui(ui, index, column, sort));
                        if has_totals {
                            let all = data.rows.len();
                            line_ui(ui, column, ROW_HEIGHT, |ui| {
                                total_ui(ui, index, column, &shown.order, all);
                            });
                        }
                    });
                    line_below(ui, tokens.border);
                    if index + 1 < data.columns.len() {
                        more_columns_ui(ui, column, seen_columns, title);
                    }
                    if let Some(by) = handle_ui(ui, index, column) {
                        by_hand = Some((index, *width, by));
                    }
                });
            }
        });
        let (open, measured) = (&self.open, &mut self.widths);
        table.body(|body| {
            body.rows(ROW_HEIGHT, shown.len(), |mut line| {
                let Some((row, part)) = shown.at(line.index()) else { return };
                let mut is_toggled = false;
                let is_selected = part.is_none() && (data.is_selected)(row);
                line.set_selected(is_selected);
                for (index, column) in data.columns.iter().enumerate() {
                    if column.is_painted {
                        line.col(|ui| {
                            line_below(ui, tokens.grid);
                            if part.is_none() {
                                let rect = ui.available_rect_before_wrap();
                                (data.paint)(&ui.painter().with_clip_rect(rect), rect, row);
                            }
                        });
                        continue;
                    }
                    let outline = data.rows.outline(row).filter(|_| index == 0 && !is_filtered);
                    let value = match (part, outline) {
                        (Some(part), _) => data.rows.part(row, part, index),
                        (None, Some(outline)) => CellValue::text(outline.title),
                        (None, None) => data.rows.value(row, index),
                    };
                    line.col(|ui| {
                        line_below(ui, tokens.grid);
                        let needed = aligned(ui, column, |ui| {
                            let left = ui.cursor().left();
                            // Each cell that sets one has a style of its own from then on.
                            if index == 0 {
                                ui.spacing_mut().item_spacing.x = 6.0;
                                ui.spacing_mut().interact_size.y = ROW_HEIGHT - 5.0;
                            }
                            if let (Some(ticks), None, 0) = (ticks.as_mut(), part, index) {
                                ticks.ui(ui, row, &data.rows.value(row, 0).shown(units));
                            }
                            if let Some(outline) = outline {
                                ui.add_space(f32::from(outline.level) * LEVEL);
                                if let Some(is_open) = outline.is_open {
                                    is_toggled |= opener_ui(ui, is_open).clicked();
                                }
                            } else if index == 0 {
                                match part {
                                    Some(_) => ui.add_space(PART),
                                    None if data.rows.parts(row) > 0 => {
                                        let is_open = open.contains(&(row as u32));
                                        if opener_ui(ui, is_open).clicked() {
                                            seen.toggled = Some(row as u32);
                                        }
                                    }
                                    None => {}
                                }
                            }
                            let before =
                                if column.is_number() { 0.0 } else { ui.cursor().left() - left };
                            let common = measured.common(index);
                            before + value_ui(ui, (column, common), value, part.is_some())
                        });
                        seen.grown |= measured.want(index, column, needed);
                    });
                }
                if is_toggled {
                    seen.clicked = Some(RowClick { row, is_added: false });
                }
                let response = line.response();
                let name = || match part {
                    Some(part) => data.rows.part(row, part, 0).shown(units).into_owned(),
                    None => data.rows.value(row, 0).shown(units).into_owned(),
                };
                response.widget_info(|| {
                    egui::WidgetInfo::selected(Role::Row, true, is_selected, name())
                });
                if part.is_none() && response.clicked() {
                    let is_added = response
                        .ctx
                        .input(|input| input.modifiers.shift || input.modifiers.command);
                    seen.clicked = Some(RowClick { row, is_added });
                }
                if response.secondary_clicked() {
                    menu_of = Some(row);
                }
                if let Some(row) = menu_of {
                    response.context_menu(|ui| {
                        let name = name_of(data, row);
                        place_menu_ui(ui, name.as_deref(), &data.rows.places(row), commands);
                    });
                }
                if part.is_none()
                    && response.hovered()
                    && let Some(text) = data.rows.hover(row)
                {
                    response.on_hover_text(text);
                }
            });
        });
        if let Some((index, width, by)) = by_hand {
            self.widths.drag(index, width, by);
        }
        (self.sort, self.menu_of) = (sort, menu_of);
        seen
    }

    /// The column that it is sorted by, and whether the largest is on top.
    pub fn sorting(&self) -> Option<(usize, bool)> {
        self.sort
    }

    pub fn is_filtered(&self) -> bool {
        !self.filter.trim().is_empty()
    }

    /// Finds what is shown, when anything has changed that it depends on.
    fn arrange(&mut self, ui: &egui::Ui, data: &Data<'_>) {
        let place = Arc::as_ptr(&data.rows).cast::<()>().addr();
        let is_same = |shown: &ShownRows| shown.key.0 == place;
        if self.shown.as_ref().is_some_and(|shown| !is_same(shown)) {
            self.open.clear();
            self.shown = None;
        }
        let filter = self.filter.trim().to_owned();
        let is_outline = data.rows.outline(0).is_some();
        let sort = self.sort.filter(|(column, _)| !is_outline && *column < data.columns.len());
        let key: OrderKey = (place, filter, sort, data.columns.len());
        if self.shown.as_ref().is_some_and(|shown| shown.key == key) {
            return;
        }
        let found = if data.rows.len() <= SHORT {
            Some(order(&*data.rows, data.columns, &key.1, key.2))
        } else {
            let (rows, columns) = (Arc::clone(&data.rows), data.columns.to_vec());
            let (filter, sort) = (key.1.clone(), key.2);
            let work = move |_: &_| order(&*rows, &columns, &filter, sort);
            self.sorting.ask("sort table", ui.ctx(), &key, work);
            self.sorting.get(&key).cloned()
        };
        if let Some(found) = found {
            let rows = Arc::clone(&data.rows);
            let mut shown = ShownRows { key, rows, order: Arc::new(found), openings: Vec::new() };
            shown.find_openings(&self.open);
            self.shown = Some(shown);
        }
    }

    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        data: &Data<'_>,
        commands: &mut Vec<Command>,
        beside: Option<&mut dyn FnMut(&mut egui::Ui)>,
    ) {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                exports_ui(ui, "as CSV", data.name, true, commands, || {
                    let (rows, columns) = (Arc::clone(&data.rows), data.columns.to_vec());
                    let order = Arc::clone(&self.shown.as_ref()?.order);
                    Some(ExportSource::Table(Sheet { rows, columns, order }))
                });
                let field = TextEdit::singleline(&mut self.filter)
                    .hint_text("Filter")
                    .desired_width((ui.available_width() * 0.3).clamp(60.0, 170.0));
                ui.add(field).accessible_name(format!("Filter: {}", data.name));
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    let has_title = beside.is_none();
                    if let Some(beside) = beside {
                        beside(ui);
                    }
                    if !data.title.is_empty() {
                        ui.add(Label::new(fonts::card_title(data.title)).truncate());
                    }
                    let all = grouped(data.rows.len() as u64);
                    let shown = self.shown.as_ref().map_or(0, |shown| shown.order.rows.len());
                    let count = if shown == data.rows.len() || self.shown.is_none() {
                        all
                    } else {
                        format!("{} of {all}", grouped(shown as u64))
                    };
                    let count = match data.rows.len() {
                        _ if has_title => count,
                        1 => format!("{count} row"),
                        _ => format!("{count} rows"),
                    };
                    let separator = if data.note.is_empty() { "" } else { ", " };
                    let note = fonts::caption(format!("{count}{separator}{}", data.note));
                    ui.add(Label::new(note.weak()).truncate());
                });
            });
        });
    }
}

/// The name of what stands in a row: that which its rows give it, else its first text.
fn name_of(data: &Data<'_>, row: usize) -> Option<String> {
    data.rows.name(row).or_else(|| {
        (0..data.columns.len()).find_map(|column| match data.rows.value(row, column) {
            CellValue::Text(text) if !text.is_empty() => Some(text.into_owned()),
            _ => None,
        })
    })
}

fn line_ui(ui: &mut egui::Ui, column: &TableColumn, height: f32, add: impl FnOnce(&mut egui::Ui)) {
    let size = Vec2::new(ui.available_width(), height);
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_size(size);
        aligned(ui, column, add);
    });
}
