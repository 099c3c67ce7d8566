//! Gap bytes by reason, on parts of the chip, and why tiles are over the limit.

use eframe::egui::{self, Label, RichText};
use std::sync::Arc;

use super::RunTiles;
use super::all_gaps::{AllGaps, AskForGaps, GapsOfRuns};
use super::read::TileData;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::placement::gaps::{GapReason, GapsByReason};
use crate::analysis::placement::overflow::Overflow;
use crate::text::grouped;
use crate::ui::job::{Made, Same};
use crate::ui::report::PageContext;
use crate::ui::report::figures::{
    Entries, EntryPart, EntryUnit, FigureColumn, FigureEntry, FigureLayout, FigureTable,
    ListedFigures,
};
use crate::ui::runs::{PerRun, Runs};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// Width of a column, points.
const COLUMN: f32 = 128.0;
/// Reasons in the order of the table.
const REASONS: [GapReason; 7] = [
    GapReason::Start,
    GapReason::Alignment,
    GapReason::ElementConstraint,
    GapReason::RegionConstraint,
    GapReason::Interleaving,
    GapReason::NeverUsed,
    GapReason::Unexplained,
];

#[derive(Default)]
pub struct Reasons {
    gaps: AskForGaps,
    table: DataTable,
    figures: FigureTable,
    listed: Made<ListedFor, ListedReasons>,
}

/// What rows are made of: the tile in each run, the selection, the gaps of all tiles.
#[derive(PartialEq)]
struct ListedFor {
    tiles: Vec<Option<Same<TileData>>>,
    selection: TileSelection,
    gaps: Option<Same<PerRun<Option<AllGaps>>>>,
}

enum ListedReasons {
    /// Of one run: bytes and numbers for each part of the chip.
    OfOne(Vec<TableColumn>, Arc<dyn Rows>),
    /// Of several: the bytes of the tile in each run, with those of the other parts of the chip.
    OfRuns(Arc<Entries>),
}

/// Gaps of a part of the chip, for each run.
struct ChipPart {
    title: String,
    gaps: Vec<Option<GapsByReason>>,
}

impl Reasons {
    /// Draws why tiles are over the limit, and the table.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &RunTiles,
        tabs: &mut dyn FnMut(&mut egui::Ui),
    ) {
        let runs = page.runs;
        let (gaps, mut note) = self.gaps.ask(ui, runs);
        if note.is_empty() && tiles.iter().any(|tile| !tile.data.is_complete) {
            "alignments and constraints are not known".clone_into(&mut note);
        }
        let made_for = ListedFor {
            tiles: tiles.same(),
            selection: page.selection.tiles.clone(),
            gaps: gaps.cloned().map(Same),
        };
        let listed = self.listed.of(made_for, |made_for| {
            let parts = chip_parts(tiles, &made_for.selection, gaps, runs.system().arenas);
            ListedReasons::new(runs, parts)
        });
        // With sentences below, the tabs would not stay in their place in the head of the table.
        let mut nothing = |_: &mut egui::Ui| {};
        let mut beside: &mut dyn FnMut(&mut egui::Ui) = tabs;
        let has_overflow = |gaps: &AllGaps| {
            gaps.overflow.as_ref().is_some_and(|overflow| !overflow.tiles.is_empty())
        };
        if let Some(gaps) = gaps.filter(|gaps| gaps.iter().flatten().any(has_overflow)) {
            ui.horizontal(beside);
            beside = &mut nothing;
            overflow_ui(ui, runs, gaps);
        }
        let name = "Gaps by reason";
        match listed {
            ListedReasons::OfOne(columns, rows) => {
                let table = Data { note: &note, ..Data::of(name, columns, Arc::clone(rows)) };
                self.table.ui_with(ui, &table, page.commands, Some(beside), None);
            }
            ListedReasons::OfRuns(entries) => {
                let figures = ListedFigures { name, note: &note, entries, is_selected: &|_| false };
                self.figures.ui(ui, &figures, page.commands, beside);
            }
        }
    }
}

/// This tile, the selected ones where they are several, and all.
fn chip_parts(
    tiles: &RunTiles,
    selection: &TileSelection,
    gaps: Option<&GapsOfRuns>,
    arenas: &str,
) -> Vec<ChipPart> {
    let of_tile = |tile: &Option<super::RunTile>| Some(tile.as_ref()?.data.map.gaps_by_reason());
    let title = |tile: &super::RunTile| tile.data.report.arena_title(tile.data.arena);
    let tile = tiles.iter().next().map_or(String::new(), title);
    let mut parts =
        vec![ChipPart { title: tile, gaps: tiles.of_runs.iter().map(of_tile).collect() }];
    if let Some(gaps) = gaps.filter(|gaps| gaps.iter().any(Option::is_some)) {
        let of_runs = |of_run: &dyn Fn(&AllGaps) -> GapsByReason| {
            gaps.iter().map(|gaps| gaps.as_ref().map(of_run)).collect()
        };
        if selection.count() > 1 {
            let title = format!("{} selected {arenas}", grouped(selection.count()));
            let gaps = of_runs(&|gaps| gaps.totals.of_selection(selection));
            parts.push(ChipPart { title, gaps });
        }
        let gaps = of_runs(&|gaps| gaps.totals.of_everything());
        parts.push(ChipPart { title: format!("All {arenas}"), gaps });
    }
    parts
}

impl ListedReasons {
    fn new(runs: &Runs, parts: Vec<ChipPart>) -> Self {
        let has = |reason: &GapReason| {
            parts.iter().flat_map(|part| &part.gaps).flatten().any(|gaps| gaps.contains_key(reason))
        };
        let reasons: Vec<GapReason> = REASONS.into_iter().filter(has).collect();
        if !runs.is_one() {
            return Self::OfRuns(Arc::new(entries(runs, &reasons, &parts)));
        }
        let mut columns = vec![TableColumn::rest("Reason")];
        for part in &parts {
            columns.push(TableColumn::bytes(part.title.clone(), COLUMN));
            columns.push(TableColumn::count("Gaps", 76.0));
        }
        let parts = parts.into_iter().map(|part| part.gaps.into_iter().next().flatten());
        let parts = parts.map(Option::unwrap_or_default).collect();
        Self::OfOne(columns, Arc::new(ReasonRows { reasons, parts }))
    }
}

/// The reasons of several runs: the bytes on this tile, which unfold into those of the other parts.
fn entries(runs: &Runs, reasons: &[GapReason], parts: &[ChipPart]) -> Entries {
    let figures = |part: &ChipPart, reason: &GapReason| -> Vec<Option<u64>> {
        let bytes = |gaps: &GapsByReason| gaps.get(reason).map_or(0, |total| total.bytes);
        part.gaps.iter().map(|gaps| gaps.as_ref().map(bytes)).collect()
    };
    let entry = |reason: &GapReason| {
        let mut parts = parts
            .iter()
            .map(|part| EntryPart { name: part.title.clone(), figures: figures(part, reason) });
        FigureEntry {
            name: reason.title().to_owned(),
            figures: parts.next().map(|part| part.figures).unwrap_or_default(),
            parts: parts.collect(),
            ..FigureEntry::default()
        }
    };
    Entries {
        rule: "",
        unit: EntryUnit::Bytes,
        title: "Reason",
        layout: FigureLayout::of(runs),
        columns: FigureColumn::of_runs(runs),
        groupings: Vec::new(),
        has_padding: false,
        list: reasons.iter().map(entry).collect(),
    }
}

/// Why tiles are over; of several runs a sentence each, the others in a tooltip.
fn overflow_ui(ui: &mut egui::Ui, runs: &Runs, gaps: &GapsOfRuns) {
    let units = Units::now(ui);
    for (run, gaps) in runs.iter().zip(gaps.iter()) {
        let overflow = gaps.as_ref().and_then(|gaps| gaps.overflow.as_ref());
        let Some(overflow) = overflow.filter(|overflow| !overflow.tiles.is_empty()) else {
            continue;
        };
        let (head, sentences) = sentences(overflow, units);
        let head = if runs.is_one() { head } else { format!("{}: {head}", run.title) };
        let head = RichText::new(head).strong().color(Tokens::now(ui).over);
        let head = ui.add(Label::new(head).wrap());
        if runs.is_one() {
            for sentence in sentences {
                ui.add(Label::new(sentence).wrap());
            }
        } else {
            head.on_hover_text(sentences.join("\n"));
        }
    }
}

/// Why tiles are over, in sentences: a head, and what explains it.
fn sentences(overflow: &Overflow, units: Units) -> (String, Vec<String>) {
    let all = grouped(overflow.tiles.len() as u64);
    let mut head =
        format!("{all} tiles are over the limit, by {} in all", units.bytes(overflow.over_bytes));
    if overflow.tiles.len() == 1 {
        head = format!("1 tile is over the limit, by {}", units.bytes(overflow.over_bytes));
    } else if let Some((tile, bytes)) = overflow.worst {
        head = format!("{head}; tile {tile} by most, {}", units.bytes(bytes));
    }
    let mut sentences = Vec::new();
    match overflow.need_more_at_one_step {
        Some(0) => sentences.push(
            "Each of them fits at every single step; the overflow comes from placement".to_owned(),
        ),
        Some(tiles) => sentences.push(format!(
            "On {} of them more is alive at one step than fits, however it is placed",
            grouped(tiles)
        )),
        None => {}
    }
    if let Some(bytes) = overflow.not_explained_bytes.filter(|bytes| *bytes > 0) {
        sentences.push(format!(
            "{} more than is alive at any one step: variables that never live together have \
            separate addresses",
            units.bytes(bytes)
        ));
    }
    let mut gaps = format!(
        "Gaps take {}; without any, {} of {all} would fit",
        units.bytes(overflow.gap_bytes),
        grouped(overflow.would_fit_without_gaps)
    );
    if let Some(lost) = overflow.reasons.first() {
        let reason = lost.reason.title().to_lowercase();
        gaps = format!(
            "{gaps}; most is lost to “{reason}”: {}, {} would fit without that",
            units.bytes(lost.bytes),
            grouped(lost.would_fit)
        );
    }
    sentences.push(gaps);
    (head, sentences)
}

struct ReasonRows {
    reasons: Vec<GapReason>,
    parts: Vec<GapsByReason>,
}

impl Rows for ReasonRows {
    fn len(&self) -> usize {
        self.reasons.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some(reason) = self.reasons.get(row) else { return CellValue::Nothing };
        let Some(column) = column.checked_sub(1) else { return CellValue::text(reason.title()) };
        let part = self.parts.get(column / 2).and_then(|part| part.get(reason));
        let total = part.copied().unwrap_or_default();
        if column % 2 == 0 { CellValue::Bytes(total.bytes) } else { CellValue::Count(total.count) }
    }
}
