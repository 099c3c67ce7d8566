//! A table below the pictures, of one run or of several; its rows are made beside the window.

use eframe::egui;
use std::sync::Arc;

use super::tabs::{HeadUi, table_name};
use crate::store::Absence;
use crate::ui::report::figures::{
    Entries, EntryUnit, FigureClick, FigureColumn, FigureEntry, FigureLayout, FigureTable,
    ListedFigures,
};
use crate::ui::report::{PageContext, reason_of};
use crate::ui::runs::{Needs, Run, Runs, RunsAnswer};
use crate::ui::selection::TitledJump;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::{Rows, TableColumn};

pub enum TabRows {
    One {
        columns: Vec<TableColumn>,
        rows: Arc<dyn Rows>,
        note: Option<String>,
    },
    Several {
        entries: Arc<Entries>,
        unknown: usize,
    },
    /// Nothing, and a text that says so.
    Nothing(&'static str),
    /// Why there is nothing to list: a title and a reason.
    Absent(String, String),
}

impl TabRows {
    pub fn absent(runs: &Runs, run: &Run, what: &str, absence: Option<&Absence>) -> Self {
        let title = match absence {
            Some(absence) if absence.is_cancelled() => format!("{what} were not read"),
            _ if runs.is_one() => format!("{what} are not in this run"),
            _ => format!("{what} are not in {}", run.the()),
        };
        Self::Absent(title, reason_of(absence))
    }

    /// Things of several runs under a title; `None` is one with a figure that is not known.
    pub fn of_several(
        runs: &Runs,
        title: &'static str,
        unit: EntryUnit,
        groupings: Vec<&'static str>,
        things: impl Iterator<Item = Option<FigureEntry>>,
    ) -> Self {
        let mut unknown = 0;
        let count = |thing: &Option<FigureEntry>| unknown += usize::from(thing.is_none());
        let list = things.inspect(count).flatten().collect();
        let (layout, columns) = (FigureLayout::of(runs), FigureColumn::of_runs(runs));
        let (rule, has_padding) = ("", false);
        let entries = Entries { unit, title, layout, columns, groupings, rule, has_padding, list };
        let entries = Arc::new(entries);
        Self::Several { entries, unknown }
    }
}

pub struct TableText<'a> {
    pub name: &'static str,
    pub note: &'a str,
    /// What stands there until there is something to list.
    pub waiting: &'static str,
    /// By the name of a row and where one can go from it.
    pub is_selected: &'a dyn Fn(&str, JumpsOfRow<'_>) -> bool,
}

/// Where one can go from a row; asked for only where it counts.
type JumpsOfRow<'a> = &'a dyn Fn() -> Vec<TitledJump>;

pub struct ClickedThing {
    pub name: String,
    /// Whether it joins what is selected.
    pub is_added: bool,
    /// Where one can go from it.
    pub places: Vec<TitledJump>,
}

#[derive(Default)]
pub struct ListedTable<K> {
    of_one: DataTable,
    of_several: FigureTable,
    listed: RunsAnswer<K, TabRows>,
}

impl<K: Clone + Default + PartialEq> ListedTable<K> {
    /// A table that of one run is sorted by a column at first.
    pub fn sorted_by(column: usize) -> Self {
        Self { of_one: DataTable::sorted_by(column), ..Self::default() }
    }

    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        runs: (&Arc<Runs>, Needs),
        key: &K,
        work: impl FnOnce(&Runs) -> TabRows + Send + 'static,
    ) {
        self.listed.ask("rows on tiles", ctx, runs, key, move |runs, _| work(runs));
    }

    /// Draws the table; returns what was clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        text: &TableText<'_>,
        beside: HeadUi<'_>,
    ) -> Option<ClickedThing> {
        let name = table_name(page.runs, text.name);
        match self.listed.last(page.runs) {
            Some((_, TabRows::One { columns, rows, note })) => {
                let row_name = |row: usize| rows.value(row, 0).plain();
                let data = Data {
                    note: note.as_deref().unwrap_or(text.note),
                    is_selected: &|row| (text.is_selected)(&row_name(row), &|| rows.places(row)),
                    ..Data::of(&name, columns, Arc::clone(rows))
                };
                let click = self.of_one.ui_with(ui, &data, page.commands, Some(beside), None)?;
                let (name, places) = (row_name(click.row).into(), rows.places(click.row));
                Some(ClickedThing { name, is_added: click.is_added, places })
            }
            Some((_, TabRows::Several { entries, unknown })) => {
                let note = match unknown {
                    0 => text.note.to_owned(),
                    count => format!("{}; the figure of {count} more is not known", text.note),
                };
                let is_selected =
                    |entry: &FigureEntry| (text.is_selected)(&entry.name, &|| entry.places.clone());
                let figures =
                    ListedFigures { name: &name, note: &note, entries, is_selected: &is_selected };
                let FigureClick { entry, is_added } =
                    self.of_several.ui(ui, &figures, page.commands, beside)?;
                Some(ClickedThing { name: entry.name, is_added, places: entry.places })
            }
            Some((_, TabRows::Nothing(text))) => {
                ui.horizontal(beside);
                ui.weak(*text);
                None
            }
            Some((_, TabRows::Absent(title, reason))) => {
                ui.horizontal(beside);
                absent_ui(ui, title, reason);
                None
            }
            None => {
                ui.horizontal(beside);
                ui.weak(self.listed.failure().unwrap_or(text.waiting));
                None
            }
        }
    }
}
