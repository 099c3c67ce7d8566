//! The table of figures: things with a figure for each moment or run, and the differences to the first.

mod rows;
pub mod variables;

use eframe::egui;
use std::sync::Arc;

use crate::ui::command::Command;
use crate::ui::job::{Latest, Same};
use crate::ui::units::Units;
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::data_table::{Data, DataTable, RowClick};
pub use rows::{
    Entries, EntryPart, EntryUnit, FigureChoice, FigureColumn, FigureEntry, FigureLayout,
    FigureRows,
};

/// Thresholds to choose from, bytes.
const BYTES: [u64; 6] = [0, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20];
/// Thresholds to choose from, numbers.
const COUNTS: [u64; 4] = [0, 10, 100, 1000];

#[derive(Default)]
pub struct FigureTable {
    table: DataTable,
    choice: FigureChoice,
    rows: Latest<(Same<Entries>, FigureChoice), Arc<FigureRows>>,
}

pub struct ListedFigures<'a> {
    /// The accessible name of the table, and the name of its copies.
    pub name: &'a str,
    /// What is said beside the number of rows.
    pub note: &'a str,
    /// The things. Others are another `Arc`.
    pub entries: &'a Arc<Entries>,
    pub is_selected: &'a dyn Fn(&FigureEntry) -> bool,
}

pub struct FigureClick {
    pub entry: FigureEntry,
    /// Whether it joins what is selected.
    pub is_added: bool,
}

impl FigureTable {
    /// Draws the table with something of the page in its head; returns what was clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        shown: &ListedFigures<'_>,
        commands: &mut Vec<Command>,
        beside: &mut dyn FnMut(&mut egui::Ui),
    ) -> Option<FigureClick> {
        let entries = shown.entries;
        if self.choice.grouping.is_some_and(|grouping| grouping >= entries.groupings.len()) {
            self.choice.grouping = None;
        }
        let mut choice = self.choice;
        let mut head = |ui: &mut egui::Ui| {
            beside(ui);
            if entries.is_compared() {
                choices_ui(ui, entries, &mut choice);
            }
        };
        let key = (Same(Arc::clone(entries)), self.choice);
        let (for_job, chosen) = (Arc::clone(entries), self.choice);
        self.rows.ask("rows of figures", ui.ctx(), &key, move |_| {
            Arc::new(FigureRows::new(&for_job, chosen))
        });
        let Some(((Same(entries), _), made)) = self.rows.last() else {
            ui.horizontal(head);
            ui.weak(self.rows.failure().unwrap_or("Comparing…"));
            return None;
        };
        let columns = entries.table_columns();
        let entry = |row: usize| made.entry(row);
        let data = Data {
            note: shown.note,
            is_selected: &|row| entry(row).is_some_and(|entry| (shown.is_selected)(entry)),
            ..Data::of(shown.name, &columns, made.clone())
        };
        let click = self.table.ui_with(ui, &data, commands, Some(&mut head), None);
        let clicked = click.and_then(|RowClick { row, is_added }| {
            entry(row).map(|entry| FigureClick { entry: entry.clone(), is_added })
        });
        if choice != self.choice {
            self.choice = choice;
            ui.request_repaint();
        }
        clicked
    }
}

fn choices_ui(ui: &mut egui::Ui, entries: &Entries, choice: &mut FigureChoice) {
    let units = Units::now(ui);
    let figure = |least: u64| match (least, entries.unit) {
        (0, _) => "All changes".to_owned(),
        (least, EntryUnit::Bytes) => format!("From {}", units.bytes(least)),
        (least, EntryUnit::Count) => format!("From {least}"),
    };
    let steps: &[u64] = if entries.unit == EntryUnit::Bytes { &BYTES } else { &COUNTS };
    let steps = steps.iter().copied();
    choice_ui(ui, "Least change", 104.0, &mut choice.least, steps, |least| figure(*least))
        .on_hover_text("Smaller changes are combined");
    if entries.groupings.is_empty() {
        return;
    }
    let title = |grouping: &Option<usize>| {
        let title = grouping.and_then(|grouping| entries.groupings.get(grouping));
        title.map_or("Not grouped".to_owned(), |title| format!("By {}", title.to_lowercase()))
    };
    let groupings = std::iter::once(None).chain((0..entries.groupings.len()).map(Some));
    choice_ui(ui, "Grouping", 118.0, &mut choice.grouping, groupings, title)
        .on_hover_text("What a row groups");
}
