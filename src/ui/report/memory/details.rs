//! Where the bytes go: by region, by liveness and by category, of all tiles and of the selected ones.

use eframe::egui;
use std::ops::Range;
use std::sync::Arc;

use super::tabs::Beside;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_details::{DetailRow, Group, NOT_ALWAYS_LIVE, Tiles, details};
use crate::analysis::memory::tile_order::selected_rows;
use crate::store::Absence;
use crate::store::Report;
use crate::store::memory::TileMemory;
use crate::text::{clean, grouped};
use crate::ui::job::Latest;
use crate::ui::report::PageContext;
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::rows::{Column, Outline, Rows, Value};

/// Most tiles that have a column each.
const MOST_COLUMNS: usize = 8;
/// Groups that open and close.
const GROUPS: [Group; 4] =
    [Group::Region, Group::Liveness, Group::NotOverlapped, Group::Overlapped];
/// Room for the names of the figures, points.
const NAMES: f32 = 260.0;

/// What the table remembers.
#[derive(Debug, Default)]
pub struct Details {
    table: DetailTable,
    found: Latest<TileSelection, Option<Found>>,
}

/// A cell of a figure, in a column after that of its name.
pub type Cell = fn(&DetailRow, usize) -> Value<'static>;

/// A table of figures whose groups open and close.
#[derive(Debug, Default)]
pub struct DetailTable {
    table: DataTable,
    /// Groups that are closed.
    closed: Vec<Group>,
    shown: Option<Shown>,
}

/// The figures of some tiles.
#[derive(Clone, Debug)]
struct Found {
    rows: Arc<Vec<DetailRow>>,
    titles: Arc<Vec<String>>,
    /// Selected tiles without a column.
    more: usize,
    why_no_categories: Option<Absence>,
}

/// The rows that are shown, made again when the figures change or a group is opened.
struct Shown {
    figures: Arc<Vec<DetailRow>>,
    closed: Vec<Group>,
    rows: Arc<dyn Rows>,
    groups: Vec<Option<Group>>,
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shown").field("closed", &self.closed).finish_non_exhaustive()
    }
}

/// The figures as the table sees them.
struct DetailRows {
    figures: Arc<Vec<DetailRow>>,
    /// The figures that are shown, with their names and the names of their groups.
    shown: Vec<(usize, String, String)>,
    closed: Vec<Group>,
    cell: Cell,
}

impl DetailRows {
    fn at(&self, row: usize) -> Option<&DetailRow> {
        self.figures.get(self.shown.get(row)?.0)
    }
}

impl Rows for DetailRows {
    fn len(&self) -> usize {
        self.shown.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        match column.checked_sub(1) {
            None => Value::text(self.shown.get(row).map_or("", |(_, _, path)| path)),
            Some(column) => self.at(row).map_or(Value::Nothing, |row| (self.cell)(row, column)),
        }
    }

    fn outline(&self, row: usize) -> Option<Outline<'_>> {
        let (at, (_, title, _)) = (self.at(row)?, self.shown.get(row)?);
        let is_head = at.title.is_none();
        Some(Outline {
            level: u8::from(at.group != Group::Whole && !is_head),
            title,
            is_open: is_head.then(|| !self.closed.contains(&at.group)),
        })
    }

    fn hover(&self, row: usize) -> Option<String> {
        let at = self.at(row)?;
        if at.title.as_deref() == Some(NOT_ALWAYS_LIVE) {
            return Some("The most at any step, each tile at its own".to_owned());
        }
        if at.title.is_some() {
            return None;
        }
        let text = match at.group {
            Group::NotOverlapped => "At addresses that one variable uses",
            Group::Overlapped => {
                "At addresses that several variables use. A byte counts once here, and once for each \
                 variable in the categories below, so these add up to more"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}

fn group_title(group: Group) -> &'static str {
    match group {
        Group::Whole => "",
        Group::Region => "By region",
        Group::Liveness => "By liveness",
        Group::NotOverlapped => "By category, not overlapped",
        Group::Overlapped => "By category, overlapped",
    }
}

impl Found {
    fn new(report: &Report, memory: &TileMemory, selection: &TileSelection) -> Self {
        let rows = selected_rows(&memory.tiles, selection);
        let count: usize = rows.iter().map(Range::len).sum();
        let mut columns = vec![Tiles::All];
        let mut titles = vec!["All tiles".to_owned()];
        if count > 1 {
            titles.push(format!("{} tiles", grouped(count as u64)));
            columns.push(Tiles::Rows(rows.clone()));
        }
        for row in rows.into_iter().flatten().take(MOST_COLUMNS) {
            columns.push(Tiles::Rows(std::iter::once(row..row + 1).collect()));
            titles.extend(memory.tiles.get(row).map(|tile| format!("Tile {tile}")));
        }
        Self {
            rows: Arc::new(details(memory, report.target.get(), &columns)),
            titles: Arc::new(titles),
            more: count.saturating_sub(MOST_COLUMNS),
            why_no_categories: memory.why_no_categories.clone(),
        }
    }

    fn note(&self) -> String {
        let mut notes = Vec::new();
        match self.more {
            0 => {}
            1 => notes.push("one more selected tile has no column".to_owned()),
            more => {
                let more = grouped(more as u64);
                notes.push(format!("{more} more selected tiles have no column"));
            }
        }
        notes.extend(self.why_no_categories.as_ref().map(|absence| absence.what.clone()));
        notes.join(", ")
    }
}

impl Shown {
    fn new(figures: &Arc<Vec<DetailRow>>, closed: &[Group], cell: Cell) -> Self {
        let is_shown = |row: &DetailRow| row.title.is_none() || !closed.contains(&row.group);
        let named = |row: &DetailRow| {
            let group = group_title(row.group);
            match &row.title {
                None => (group.to_owned(), group.to_owned()),
                Some(title) if group.is_empty() => (title.clone(), title.clone()),
                Some(title) => (clean(title).into_owned(), format!("{group}: {title}")),
            }
        };
        let shown: Vec<_> = figures
            .iter()
            .enumerate()
            .filter(|(_, row)| is_shown(row))
            .map(|(index, row)| {
                let (title, path) = named(row);
                (index, title, path)
            })
            .collect();
        let head = |index: usize| {
            let row = figures.get(index).filter(|row| row.title.is_none());
            row.map(|row| row.group)
        };
        let groups = shown.iter().map(|(index, _, _)| head(*index)).collect();
        let (figures, closed) = (Arc::clone(figures), closed.to_vec());
        let rows =
            DetailRows { figures: Arc::clone(&figures), shown, closed: closed.clone(), cell };
        Self { figures, closed, rows: Arc::new(rows), groups }
    }
}

impl Details {
    /// Draws the table.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, beside: Beside<'_>) {
        let (for_job, selection) = (Arc::clone(page.report), page.selection.tiles.clone());
        let work = move |_: &_| Some(Found::new(&for_job, for_job.memory.get()?, &selection));
        self.found.ask("details of tiles", ui.ctx(), &page.selection.tiles, work);
        let Some((_, Some(found))) = self.found.last() else {
            ui.horizontal(beside);
            ui.weak(self.found.failure().unwrap_or(""));
            return;
        };
        let count = found.titles.len() as f32;
        let width = ((ui.available_width() - NAMES) / count - 8.0).clamp(72.0, 132.0);
        let mut columns = vec![Column::rest("Bytes")];
        let titles = found.titles.iter();
        columns.extend(titles.map(|title| Column::bytes(title.as_str(), width).not_summed()));
        let cell: Cell = |row, column| Value::bytes(row.bytes.get(column).copied().flatten());
        let figures = (&found.rows, cell);
        self.table.ui(ui, "Memory details", figures, (&columns, &found.note()), page, beside);
    }
}

impl DetailTable {
    /// Draws the table under an accessible name.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        name: &str,
        (figures, cell): (&Arc<Vec<DetailRow>>, Cell),
        (columns, note): (&[Column], &str),
        page: &mut PageContext<'_>,
        beside: Beside<'_>,
    ) {
        // What a filter looks for may be in any group.
        let closed = if self.table.is_filtered() { Vec::new() } else { self.closed.clone() };
        let is_current =
            |shown: &Shown| Arc::ptr_eq(&shown.figures, figures) && shown.closed == closed;
        let shown = match self.shown.take().filter(is_current) {
            Some(shown) => shown,
            None => Shown::new(figures, &closed, cell),
        };
        let shown = self.shown.insert(shown);
        let data = Data {
            name,
            title: "",
            note,
            columns,
            rows: &shown.rows,
            is_selected: &|_| false,
            paint: &no_paint,
        };
        let click = self.table.ui_beside(ui, &data, page.commands, Some(beside));
        let group = click.and_then(|click| shown.groups.get(click.row).copied().flatten());
        if let Some(group) = group.filter(|group| GROUPS.contains(group)) {
            match self.closed.iter().position(|closed| *closed == group) {
                Some(place) => drop(self.closed.remove(place)),
                None => self.closed.push(group),
            }
            ui.request_repaint();
        }
    }
}
