//! A table of texts: rows are only laid out when they are visible.

use eframe::egui;
use std::borrow::Cow;

use eframe::egui::{Align, Label, Layout, RichText, Sense};
use egui_extras::{Column, TableBuilder};

use crate::ui::theme::ROW_HEIGHT;

/// How a column looks.
#[derive(Clone, Debug)]
pub struct ColumnSpec<'a> {
    title: Cow<'a, str>,
    width: Option<f32>,
    is_number: bool,
}

impl<'a> ColumnSpec<'a> {
    /// A column of texts that takes what is left of the width.
    pub fn rest(title: impl Into<Cow<'a, str>>) -> Self {
        Self { title: title.into(), width: None, is_number: false }
    }

    /// A column of texts of a width.
    pub fn text(title: impl Into<Cow<'a, str>>, width: f32) -> Self {
        Self { title: title.into(), width: Some(width), is_number: false }
    }

    /// A column of figures, which end at the same place.
    pub fn number(title: impl Into<Cow<'a, str>>, width: f32) -> Self {
        Self { title: title.into(), width: Some(width), is_number: true }
    }
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub struct Cell<'a> {
    text: Cow<'a, str>,
    hover: Option<Cow<'a, str>>,
    is_strong: bool,
    is_weak: bool,
    indent: u8,
}

impl<'a> Cell<'a> {
    /// A cell with a text, which must be clean.
    pub fn new(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same cell, in strong type or not.
    #[must_use]
    pub fn strong(mut self, is_strong: bool) -> Self {
        self.is_strong = is_strong;
        self
    }

    /// The same cell, in weak type.
    #[must_use]
    pub fn weak(mut self) -> Self {
        self.is_weak = true;
        self
    }

    /// The same cell with a tooltip.
    #[must_use]
    pub fn hover(mut self, text: impl Into<Cow<'a, str>>) -> Self {
        self.hover = Some(text.into());
        self
    }

    /// The same cell, moved to the right by a number of levels.
    #[must_use]
    pub fn indent(mut self, levels: u8) -> Self {
        self.indent = levels;
        self
    }
}

/// A table.
#[derive(Debug)]
pub struct Table<'a> {
    /// Tells tables apart.
    pub id: &'a str,
    /// The columns.
    pub columns: &'a [ColumnSpec<'a>],
    /// Number of rows.
    pub rows: usize,
    /// The selected row.
    pub selected: Option<usize>,
    /// Whether rows can be clicked.
    pub is_clickable: bool,
}

impl Table<'_> {
    /// Draws the table in the height that is left; returns the row that was clicked.
    pub fn ui<'c>(
        self,
        ui: &mut egui::Ui,
        cell: impl Fn(usize, usize) -> Cell<'c>,
    ) -> Option<usize> {
        let mut clicked = None;
        let sense = if self.is_clickable { Sense::click() } else { Sense::hover() };
        let mut builder = TableBuilder::new(ui)
            .id_salt(self.id)
            .striped(true)
            .sense(sense)
            .auto_shrink(false)
            .min_scrolled_height(0.0)
            .cell_layout(Layout::left_to_right(Align::Center));
        for column in self.columns {
            builder = builder.column(match column.width {
                Some(width) => Column::exact(width).clip(true),
                None => Column::remainder().at_least(60.0).clip(true),
            });
        }
        let table = builder.header(ROW_HEIGHT, |mut header| {
            for column in self.columns {
                header.col(|ui| {
                    aligned(ui, column.is_number, |ui| {
                        ui.add(Label::new(RichText::new(&*column.title).strong()).truncate());
                    });
                });
            }
        });
        table.body(|body| {
            body.rows(ROW_HEIGHT, self.rows, |mut row| {
                let index = row.index();
                row.set_selected(self.selected == Some(index));
                for (column, spec) in self.columns.iter().enumerate() {
                    row.col(|ui| cell_ui(ui, &cell(index, column), spec, self.is_clickable));
                }
                if self.is_clickable {
                    let response = row.response();
                    let is_selected = self.selected == Some(index);
                    response.widget_info(|| {
                        let name = cell(index, 0).text.into_owned();
                        egui::WidgetInfo::selected(egui::Role::Button, true, is_selected, name)
                    });
                    if response.clicked() {
                        clicked = Some(index);
                    }
                }
            });
        });
        clicked
    }
}

fn cell_ui(ui: &mut egui::Ui, cell: &Cell<'_>, spec: &ColumnSpec<'_>, is_clickable: bool) {
    aligned(ui, spec.is_number, |ui| {
        ui.add_space(f32::from(cell.indent) * 14.0);
        let mut text = RichText::new(&*cell.text);
        if cell.is_strong {
            text = text.strong();
        }
        if cell.is_weak {
            text = text.weak();
        }
        // A label that can be selected would take the click that is meant for the row.
        let response = ui.add(Label::new(text).truncate().selectable(!is_clickable));
        if let Some(hover) = &cell.hover {
            response.on_hover_text(&**hover);
        }
    });
}

/// Lays out a cell: texts begin and figures end at the same place.
pub fn aligned(ui: &mut egui::Ui, is_number: bool, add: impl FnOnce(&mut egui::Ui)) {
    if is_number {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(8.0);
            add(ui);
        });
    } else {
        ui.add_space(4.0);
        add(ui);
    }
}
