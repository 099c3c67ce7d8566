//! A table of differences whose rows are made beside the window.

use std::sync::Arc;

use eframe::egui;

use super::super::tabs::Beside;
use crate::ui::command::Command;
use crate::ui::job::{Cancel, Latest};
use crate::ui::report::differences::{DifferenceTable, Differences, Entries, Entry, Unit};
use crate::ui::widget::facts::absent_ui;

/// A figure of a thing that may lack it.
pub type Known = Option<u64>;

/// Things of both reports, or why there are none: a title and a reason.
pub type Found = Result<Things, (String, String)>;

/// Things of both reports.
#[derive(Clone, Debug)]
pub struct Things {
    entries: Arc<Entries>,
    /// Those that are left out, because their figure in a report that has them is not known.
    unknown: usize,
}

impl Things {
    /// Gathers things: their names, and their figures in the reports that have them.
    pub fn new(
        unit: Unit,
        title: &'static str,
        groupings: Vec<&'static str>,
        things: impl Iterator<Item = (String, [Option<Known>; 2], Vec<Arc<str>>)>,
    ) -> Self {
        let mut unknown = 0;
        let mut list = Vec::new();
        for (name, figures, groups) in things {
            if figures.iter().any(|figure| matches!(figure, Some(None))) {
                unknown += 1;
                continue;
            }
            let [source, target] = figures.map(Option::flatten);
            list.push(Entry { name, source, target, groups });
        }
        Self { entries: Arc::new(Entries { unit, title, groupings, list }), unknown }
    }
}

impl From<Entries> for Things {
    fn from(entries: Entries) -> Self {
        Self { entries: Arc::new(entries), unknown: 0 }
    }
}

/// The table.
#[derive(Debug)]
pub struct Listed<K> {
    table: DifferenceTable,
    found: Latest<K, Found>,
}

impl<K> Default for Listed<K> {
    fn default() -> Self {
        Self { table: DifferenceTable::default(), found: Latest::default() }
    }
}

impl<K: Clone + PartialEq> Listed<K> {
    /// Asks for what a key stands for.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        name: &str,
        key: &K,
        work: impl FnOnce(&Cancel) -> Found + Send + 'static,
    ) {
        self.found.ask(name, ctx, key, work);
    }

    /// Draws the table under an accessible name; returns what was clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (name, note): (&str, &str),
        is_selected: &dyn Fn(&Entry) -> bool,
        commands: &mut Vec<Command>,
        beside: Beside<'_>,
    ) -> Option<Entry> {
        let things = match self.found.last() {
            Some((_, Ok(things))) => things,
            Some((_, Err((title, reason)))) => {
                ui.horizontal(beside);
                absent_ui(ui, title, reason);
                return None;
            }
            None => {
                ui.horizontal(beside);
                ui.weak(self.found.failure().unwrap_or("Comparing…"));
                return None;
            }
        };
        let note = match things.unknown {
            0 => note.to_owned(),
            count => format!("{note}; the figure of {count} more is not known"),
        };
        let entries = &things.entries;
        let shown = Differences { name, note: &note, entries, is_selected };
        self.table.ui(ui, &shown, commands, beside)
    }
}
