//! Where the bytes go: by region, by liveness and by category, of all tiles and of the selected ones.

use eframe::egui;
use std::ops::Range;
use std::sync::Arc;

use super::arranged::memories;
use super::tabs::{HeadUi, table_name};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_details::{
    DetailColumns, DetailRow, NOT_ALWAYS_LIVE, TileGroup, TileSet, details_of_all,
};
use crate::analysis::memory::tile_order::selected_rows;
use crate::text::{clean, grouped};
use crate::ui::job::{Made, Same};
use crate::ui::report::PageContext;
use crate::ui::runs::{Needed, Run, Runs, RunsAnswer};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::rows::{CellValue, Outline, Rows, TableColumn};

/// Most tiles that have a column each.
const MOST_COLUMNS: usize = 8;
/// Room for the names of the figures, points.
const NAMES: f32 = 260.0;
/// Least width of a column, points: a difference with its unit.
const LEAST: f32 = 98.0;
/// Widths of columns of source and target, points.
const OF_PAIR: (f32, f32) = (104.0, 136.0);

/// A cell of a figure: places in [`DetailRow::bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DetailCell {
    Bytes(usize),
    Change(usize, usize),
    /// The change in percent of the first.
    Percent(usize, usize),
}

#[derive(Clone)]
struct TileDetails {
    rows: Arc<Vec<DetailRow>>,
    cells: Arc<[DetailCell]>,
    /// Those without a width share what is left.
    columns: Vec<TableColumn>,
    note: String,
}

/// The figures, and the groups that are closed.
type DetailRowsKey = (Same<Vec<DetailRow>>, Vec<TileGroup>);

#[derive(Default)]
pub struct DetailsTab {
    table: DataTable,
    details: RunsAnswer<TileSelection, Option<TileDetails>>,
    closed: Vec<TileGroup>,
    shown: Made<DetailRowsKey, Arc<DetailRows>>,
}

struct DetailRows {
    figures: Arc<Vec<DetailRow>>,
    /// The figures that are shown, with their names and the names of their groups.
    shown: Vec<(usize, String, String)>,
    closed: Vec<TileGroup>,
    cells: Arc<[DetailCell]>,
}

impl DetailRows {
    fn new(details: &TileDetails, closed: Vec<TileGroup>) -> Self {
        let is_shown = |row: &DetailRow| row.title.is_none() || !closed.contains(&row.group);
        let named = |(index, row): (usize, &DetailRow)| {
            let group = group_title(row.group);
            match &row.title {
                None => (index, group.to_owned(), group.to_owned()),
                Some(title) if group.is_empty() => (index, title.clone(), title.clone()),
                Some(title) => (index, clean(title).into_owned(), format!("{group}: {title}")),
            }
        };
        let rows = details.rows.iter().enumerate().filter(|(_, row)| is_shown(row));
        let shown = rows.map(named).collect();
        let (figures, cells) = (Arc::clone(&details.rows), Arc::clone(&details.cells));
        Self { figures, shown, closed, cells }
    }

    /// The group whose head a row is.
    fn head(&self, row: usize) -> Option<TileGroup> {
        self.at(row).filter(|row| row.title.is_none()).map(|row| row.group)
    }

    fn at(&self, row: usize) -> Option<&DetailRow> {
        self.figures.get(self.shown.get(row)?.0)
    }
}

impl Rows for DetailRows {
    fn len(&self) -> usize {
        self.shown.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        match column.checked_sub(1) {
            None => CellValue::text(self.shown.get(row).map_or("", |(_, _, path)| path)),
            Some(column) => {
                let cell = self.at(row).zip(self.cells.get(column));
                cell.map_or(CellValue::Nothing, |(row, cell)| cell.value(row))
            }
        }
    }

    fn outline(&self, row: usize) -> Option<Outline<'_>> {
        let (at, (_, title, _)) = (self.at(row)?, self.shown.get(row)?);
        let is_head = at.title.is_none();
        Some(Outline {
            level: u8::from(at.group != TileGroup::Whole && !is_head),
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
            TileGroup::RegionGaps => {
                "As Poplar counts them in each region: some bytes a tile more than in all, so that \
                 regions may add up to more"
            }
            TileGroup::NotOverlapped => "At addresses that one variable uses",
            TileGroup::Overlapped => {
                "At addresses that several variables use. A byte counts once here, and once for each \
                 variable in the categories below, so these add up to more"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}

fn group_title(group: TileGroup) -> &'static str {
    match group {
        TileGroup::Whole => "",
        TileGroup::Region => "By region",
        TileGroup::RegionGaps => "Gaps by region",
        TileGroup::Liveness => "By liveness",
        TileGroup::NotOverlapped => "By category, not overlapped",
        TileGroup::Overlapped => "By category, overlapped",
    }
}

impl DetailCell {
    fn value(self, row: &DetailRow) -> CellValue<'static> {
        let bytes = |place: usize| row.bytes.get(place).copied().flatten();
        match self {
            Self::Bytes(place) => CellValue::bytes(bytes(place)),
            Self::Change(from, to) => CellValue::change_if_known(bytes(from), bytes(to)),
            Self::Percent(from, to) => match (bytes(from), bytes(to)) {
                (Some(from), Some(to)) => CellValue::percent(from, to),
                _ => CellValue::Nothing,
            },
        }
    }
}

fn column(
    title: impl Into<String>,
    cell: DetailCell,
    width: Option<f32>,
) -> (DetailCell, TableColumn) {
    let unit = if matches!(cell, DetailCell::Percent(..)) { "percent" } else { "bytes" };
    (cell, TableColumn { width, unit, ..TableColumn::rest(title) })
}

/// The same of a run, whose badge stands before `after`.
fn of_run(
    (cell, column): (DetailCell, TableColumn),
    run: &Run,
    after: impl Into<String>,
) -> (DetailCell, TableColumn) {
    (cell, column.of_run(Some(run.badge), after))
}

impl TileDetails {
    fn new(runs: &Runs, selection: &TileSelection) -> Option<Self> {
        let memories = memories(runs)?;
        let rows: Vec<Vec<Range<usize>>> =
            memories.iter().map(|memory| selected_rows(&memory.tiles, selection)).collect();
        let count = |rows: &Vec<Range<usize>>| rows.iter().map(Range::len).sum::<usize>();
        let count = rows.iter().map(count).max().unwrap_or(0);
        let selected = match (count, selection.first()) {
            (0, _) => None,
            (1, Some(tile)) => Some(format!("Tile {tile}")),
            _ => Some(format!("{} tiles", grouped(count as u64))),
        };
        let mut notes = Vec::new();
        let mut titles: Vec<String> =
            std::iter::once("All tiles".to_owned()).chain(selected.clone()).collect();
        let mut tiles: Vec<Vec<TileSet>> = Vec::new();
        for rows in &rows {
            let selected = selected.is_some().then(|| TileSet::Rows(rows.clone()));
            tiles.push(std::iter::once(TileSet::All).chain(selected).collect());
        }
        if let ([memory], [rows], [columns]) = (&memories[..], &rows[..], &mut tiles[..])
            && count > 1
        {
            for row in rows.iter().cloned().flatten().take(MOST_COLUMNS) {
                columns.push(TileSet::Rows(std::iter::once(row..row + 1).collect()));
                titles.extend(memory.tiles.get(row).map(|tile| format!("Tile {tile}")));
            }
            if count > MOST_COLUMNS {
                let count = grouped(count as u64);
                notes.push(format!("{MOST_COLUMNS} of {count} tiles shown"));
            }
        }
        notes.extend(note(runs, selected.is_some()));
        if let [memory] = memories[..] {
            notes.extend(memory.why_no_categories.as_ref().map(|absence| absence.what.clone()));
        }
        let (cells, columns): (Vec<DetailCell>, _) =
            columns(runs, &titles, selected.as_deref()).into_iter().unzip();
        let targets = runs.iter().map(|run| run.report.target.get());
        let reports: Vec<_> = (memories.into_iter().zip(targets).zip(tiles))
            .map(|((memory, target), columns)| DetailColumns { memory, target, columns })
            .collect();
        Some(Self {
            rows: Arc::new(details_of_all(&reports)),
            cells: cells.into(),
            columns,
            note: notes.join(", "),
        })
    }
}

/// What tiles the columns are of, where their titles do not say it.
fn note(runs: &Runs, is_selected: bool) -> Option<String> {
    let note = match (runs.len(), is_selected) {
        (1, _) => return None,
        (_, false) => "of all tiles",
        (2, true) => "of all tiles and of the selected ones",
        (_, true) => "of the selected tiles",
    };
    Some(note.to_owned())
}

/// The columns: of one run some of its tiles, of two the tiles of both with the differences, of more all
/// tiles or the selected ones, each run with its difference to the reference.
fn columns(
    runs: &Runs,
    titles: &[String],
    selected: Option<&str>,
) -> Vec<(DetailCell, TableColumn)> {
    match runs.len() {
        1 => {
            let titles = titles.iter().enumerate();
            titles.map(|(place, title)| column(title, DetailCell::Bytes(place), None)).collect()
        }
        2 => {
            let (width, wide) = (Some(OF_PAIR.0), Some(OF_PAIR.1));
            let whole = |(place, run): (usize, &Run)| {
                of_run(column(&*run.title, DetailCell::Bytes(place), width), run, &*run.title)
            };
            let mut columns: Vec<_> = runs.iter().enumerate().map(whole).collect();
            columns.push(column("Difference", DetailCell::Change(0, 1), width));
            columns.push(column("Of the source", DetailCell::Percent(0, 1), width));
            if let Some(selected) = selected {
                for (place, run) in (2..).zip(runs.iter()) {
                    let title = format!("{selected}: {}", run.title_in_text());
                    columns.push(of_run(
                        column(title, DetailCell::Bytes(place), width),
                        run,
                        selected,
                    ));
                }
                let title = format!("{selected}: difference");
                columns.push(column(title, DetailCell::Change(2, 3), wide));
            }
            columns
        }
        count => {
            let first = if selected.is_some() { count } else { 0 };
            let reference = runs.reference();
            let mut columns = Vec::new();
            for (place, run) in (first..).zip(runs.iter()) {
                columns.push(of_run(
                    column(&*run.title, DetailCell::Bytes(place), None),
                    run,
                    &*run.title,
                ));
                if place > first {
                    let title = format!("{} − {}", run.title, reference.title);
                    let after = format!("− {}", reference.badge.letter);
                    columns.push(of_run(
                        column(title, DetailCell::Change(first, place), None),
                        run,
                        after,
                    ));
                }
            }
            columns
        }
    }
}

impl DetailsTab {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, beside: HeadUi<'_>) {
        let (runs, selection) = (page.runs, page.selection.tiles.clone());
        let key = selection.clone();
        let needs = (runs, &[Needed::Memory][..]);
        self.details.ask("details of tiles", ui.ctx(), needs, &key, move |runs, _| {
            TileDetails::new(runs, &selection)
        });
        let Some((_, Some(details))) = self.details.last(runs) else {
            ui.horizontal(beside);
            ui.weak(self.details.failure().unwrap_or(""));
            return;
        };
        let count = details.columns.len() as f32;
        let width = ((ui.available_width() - NAMES) / count - 8.0).clamp(LEAST, 132.0);
        let column = |column: &TableColumn| TableColumn {
            width: column.width.or(Some(width)),
            ..column.clone()
        };
        let columns: Vec<TableColumn> = std::iter::once(TableColumn::rest("Bytes"))
            .chain(details.columns.iter().map(column))
            .collect();
        // What a filter looks for may be in any group.
        let closed = if self.table.is_filtered() { Vec::new() } else { self.closed.clone() };
        let shown = self.shown.of((Same(Arc::clone(&details.rows)), closed), |(_, closed)| {
            Arc::new(DetailRows::new(details, closed.clone()))
        });
        let name = table_name(runs, "Memory details");
        let data = Data { note: &details.note, ..Data::of(&name, &columns, shown.clone()) };
        let click = self.table.ui_with(ui, &data, page.commands, Some(beside), None);
        if let Some(group) = click.and_then(|click| shown.head(click.row)) {
            match self.closed.iter().position(|closed| *closed == group) {
                Some(place) => drop(self.closed.remove(place)),
                None => self.closed.push(group),
            }
            ui.request_repaint();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_bytes_or_differences() {
        let bytes = [Some(200), Some(300), None, Some(0)].to_vec();
        let row = DetailRow { group: TileGroup::Whole, title: None, bytes };
        assert_eq!(DetailCell::Bytes(1).value(&row), CellValue::Bytes(300));
        assert_eq!(DetailCell::Change(1, 0).value(&row), CellValue::Change(-100));
        assert_eq!(DetailCell::Percent(0, 1).value(&row), CellValue::Percent(50.0));
        assert_eq!(DetailCell::Change(0, 2).value(&row), CellValue::Nothing);
        assert_eq!(DetailCell::Percent(3, 1).value(&row), CellValue::Nothing);
    }
}
