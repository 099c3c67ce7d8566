//! Below the map: its gaps, what gaps take by reason and why tiles are over the limit, its variables.

use eframe::egui;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::RunTiles;
use super::over_table::OverTable;
use super::read::{AtStep, TileData};
use super::reasons::Reasons;
use super::variables::{BYTES, TileVariableTable};
use super::words::{reason_text, reason_title};
use crate::analysis::placement::gaps::Gap;
use crate::text::capitalised;
use crate::ui::job::{Made, Same};
use crate::ui::report::PageContext;
use crate::ui::report::machines::has_tiles;
use crate::ui::runs::{RunId, Runs};
use crate::ui::widget::choice::counted_segments_ui;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TileTab {
    Gaps,
    Reasons,
    Variables,
    Over,
}

#[derive(Clone)]
pub enum ChosenInTile {
    /// Bytes that are free.
    Bytes(Range<u64>),
    /// A variable, by its row in each run.
    Variable(Vec<(RunId, u32)>),
}

#[derive(Default)]
pub struct TileTables {
    tab: Option<TileTab>,
    gaps: DataTable,
    gap_rows: Made<Vec<TileAtStep>, Arc<GapRows>>,
    reasons: Reasons,
    variables: TileVariableTable,
    over: OverTable,
}

impl TileTables {
    /// Draws the tabs and one of the tables; returns what was chosen there.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &RunTiles,
        chosen: &BTreeMap<RunId, u32>,
    ) -> Option<ChosenInTile> {
        // Several runs are compared by their variables.
        let first = if page.runs.is_one() { TileTab::Gaps } else { TileTab::Variables };
        let before = self.tab.unwrap_or(first);
        let tabs = tabs(page.runs, tiles);
        let before = if tabs.iter().any(|(tab, ..)| *tab == before) { before } else { first };
        let mut tab = before;
        let mut tabs = |ui: &mut egui::Ui| {
            let tabs = tabs.iter().map(|(tab, title, count)| (*tab, &**title, *count));
            counted_segments_ui(ui, "", &mut tab, tabs);
        };
        let clicked = match before {
            TileTab::Gaps => self.gaps_ui(ui, page, tiles, &mut tabs).map(ChosenInTile::Bytes),
            TileTab::Reasons => {
                self.reasons.ui(ui, page, tiles, &mut tabs);
                None
            }
            TileTab::Variables => {
                let rows = self.variables.ui(ui, page, tiles, chosen, &mut tabs);
                rows.map(ChosenInTile::Variable)
            }
            TileTab::Over => {
                let row = self.over.ui(ui, page, tiles, chosen, &mut tabs);
                row.map(|row| ChosenInTile::Variable(vec![row]))
            }
        };
        if tab != before {
            self.tab = Some(tab);
            ui.request_repaint();
        }
        clicked
    }

    fn gaps_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &RunTiles,
        tabs: &mut dyn FnMut(&mut egui::Ui),
    ) -> Option<Range<u64>> {
        let tile =
            |tile: &super::RunTile| (Same(Arc::clone(&tile.data)), tile.at_step.clone().map(Same));
        let gaps = self.gap_rows.of(tiles.iter().map(tile).collect(), |of_runs| {
            let titles = run_titles(page.runs, tiles);
            Arc::new(GapRows { of_runs: of_runs.clone(), titles })
        });
        // What only tiles record says more than the reason.
        let (has_why, item) = (has_tiles(page.runs), page.runs.system().item);
        let mut columns = with_run(
            page.runs,
            [
                TableColumn::text("Address", BYTES),
                TableColumn::bytes("Bytes", BYTES),
                TableColumn::text("Reason", if has_why { 150.0 } else { 230.0 }),
                TableColumn::text(format!("{item} after it"), 200.0),
                TableColumn::text(format!("{item} before it"), 200.0),
                TableColumn::rest("Why"),
            ],
        );
        if !has_why {
            columns.pop();
        }
        let is_complete = tiles.iter().all(|tile| tile.data.is_complete);
        let note = if is_complete { "" } else { "alignments and constraints are not known" };
        let name = format!("Gaps of the {}", page.runs.system().arena_in_text);
        let table = Data { note, ..Data::of(&name, &columns, gaps.clone()) };
        let click = self.gaps.ui_with(ui, &table, page.commands, Some(tabs), None)?;
        gaps.at(click.row).map(|(.., gap)| gap.bytes.clone())
    }
}

/// The titles of the runs of tiles, where they are shown: of several runs.
pub fn run_titles(runs: &Runs, tiles: &RunTiles) -> Vec<String> {
    if runs.is_one() {
        return Vec::new();
    }
    let run = |id: RunId| runs.get(runs.position(id)?);
    let title = |id: RunId| run(id).map_or(String::new(), |run| run.title.to_string());
    tiles.iter().map(|tile| title(tile.run)).collect()
}

/// Columns, after that of the run where there are several.
pub fn with_run<const N: usize>(runs: &Runs, columns: [TableColumn; N]) -> Vec<TableColumn> {
    let run = (!runs.is_one()).then(|| TableColumn::text("Run", 120.0));
    run.into_iter().chain(columns).collect()
}

/// The tables, with how many rows each has where that is known.
fn tabs(runs: &Runs, tiles: &RunTiles) -> Vec<(TileTab, Cow<'static, str>, Option<usize>)> {
    let sum = |count: &dyn Fn(&super::RunTile) -> usize| Some(tiles.iter().map(count).sum());
    let gaps = |tile: &super::RunTile| {
        tile.at_step.as_ref().map_or(&tile.data.map, |at_step| &at_step.map).gaps.len()
    };
    let mut variables = sum(&|tile| tile.data.map.blocks.len());
    if tiles.iter().count() > 1 {
        // The same in several runs is one row.
        variables = None;
    }
    let mut tabs = vec![
        (TileTab::Gaps, "Gaps".into(), sum(&gaps)),
        (TileTab::Variables, capitalised(runs.system().items).into(), variables),
        (TileTab::Reasons, "By reason".into(), None),
    ];
    if tiles.iter().any(|tile| tile.data.map.limit.is_some()) {
        let over = sum(&|tile| tile.of.over_rows.len());
        tabs.insert(2, (TileTab::Over, "Over the limit".into(), over));
    }
    tabs
}

/// The tile of a run, as it was read and at a step.
type TileAtStep = (Same<TileData>, Option<Same<AtStep>>);

/// The gaps of one run after the other, as the table sees them.
struct GapRows {
    of_runs: Vec<TileAtStep>,
    /// The titles of the runs, where they are shown.
    titles: Vec<String>,
}

impl GapRows {
    fn gaps((Same(data), at_step): &TileAtStep) -> &[Gap] {
        at_step.as_ref().map_or(&data.map.gaps, |Same(at_step)| &at_step.map.gaps)
    }

    /// The run, its tile, and the gap of a row.
    fn at(&self, row: usize) -> Option<(usize, &TileData, &Gap)> {
        let mut before = 0_usize;
        self.of_runs.iter().enumerate().find_map(|(run, tile)| {
            let gaps = Self::gaps(tile);
            let gap = row.checked_sub(before).and_then(|row| gaps.get(row));
            before = before.saturating_add(gaps.len());
            Some((run, &*tile.0.0, gap?))
        })
    }
}

impl Rows for GapRows {
    fn len(&self) -> usize {
        self.of_runs.iter().map(|tile| Self::gaps(tile).len()).sum()
    }

    /// The variable after the gap, which is what makes it.
    fn name(&self, row: usize) -> Option<String> {
        let (_, data, gap) = self.at(row)?;
        data.placed.names.at(gap.after?).map(str::to_owned)
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some((run, data, gap)) = self.at(row) else { return CellValue::Nothing };
        let title = self.titles.get(run);
        let name = |row: Option<usize>| {
            let name = row.and_then(|row| data.placed.names.at(row));
            name.map_or(CellValue::Nothing, CellValue::text)
        };
        match (column.checked_sub(usize::from(title.is_some())), title) {
            (None, title) => {
                title.map_or(CellValue::Nothing, |title| CellValue::text(title.as_str()))
            }
            (Some(0), _) => CellValue::Id(gap.bytes.start),
            (Some(1), _) => CellValue::Bytes(gap.size()),
            (Some(2), _) => CellValue::text(reason_title(gap.reason, &data.report.system)),
            (Some(3), _) => name(gap.after),
            (Some(4), _) => name(gap.before),
            _ => CellValue::text(reason_text(data, gap)),
        }
    }
}
