//! What gaps take by reason, on this tile, on the selected ones and on the whole chip, and why tiles are
//! over the limit. All tiles are gone through in the background.

use eframe::egui;
use eframe::egui::{Label, RichText};
use std::sync::Arc;

use super::read::TileData;
use super::words::reason_title;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::placement::gap_totals::GapTotals;
use crate::analysis::placement::gaps::{GapReason, GapsByReason};
use crate::analysis::placement::overflow::{Overflow, why_it_overflows};
use crate::analysis::placement::read::gaps_of_all;
use crate::progress::Progress;
use crate::store::Report;
use crate::text::grouped;
use crate::ui::job::Latest;
use crate::ui::report::PageContext;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::rows::{Column, Rows, Value};

/// Width of a column, points.
const COLUMN: f32 = 128.0;
/// Reasons in the order of the table.
const REASONS: [GapReason; 6] = [
    GapReason::Start,
    GapReason::Alignment,
    GapReason::ElementConstraint,
    GapReason::RegionConstraint,
    GapReason::Interleaving,
    GapReason::Unexplained,
];

/// What the table remembers.
#[derive(Default)]
pub struct Reasons {
    table: DataTable,
    totals: Latest<bool, Option<Arc<ChipGaps>>>,
    progress: Stop,
    rows: Option<(RowsKey, Vec<Column>, Arc<dyn Rows>)>,
}

/// What rows are made of: the tile as it was read, the selection, whether the chip is known.
type RowsKey = (u64, TileSelection, bool);

/// The progress of the job; the job ends with the page.
#[derive(Default)]
struct Stop(Arc<Progress>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The gaps of all tiles.
struct ChipGaps {
    totals: GapTotals,
    overflow: Option<Overflow>,
}

impl ChipGaps {
    fn new(report: &Report, progress: &Progress) -> Option<Self> {
        // What went wrong is among the report's warnings.
        let totals = gaps_of_all(report, progress).ok()??;
        let (memory, target) = (report.memory.get(), report.target.get());
        let overflow = memory.and_then(|memory| why_it_overflows(memory, target, &totals));
        Some(Self { totals, overflow })
    }
}

impl Reasons {
    /// Draws why tiles are over the limit, and the table.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        data: &TileData,
        tabs: &mut dyn FnMut(&mut egui::Ui),
    ) {
        let is_there = page.report.variables.is_settled();
        if is_there {
            let of = Arc::clone(page.report);
            let progress = Arc::clone(&self.progress.0);
            self.totals.ask("gaps of all tiles", ui.ctx(), &is_there, move |_| {
                ChipGaps::new(&of, &progress).map(Arc::new)
            });
        }
        let chip = self.totals.get(&true);
        let note = match (chip, self.totals.failure()) {
            (_, Some(failure)) => failure.to_owned(),
            (Some(None), _) => "the gaps of other tiles cannot be read".to_owned(),
            (Some(Some(_)), _) if data.is_complete => String::new(),
            (Some(Some(_)), _) => "alignments and constraints are not known".to_owned(),
            (None, _) if !is_there && !page.is_working => {
                "the gaps of all tiles were not read: reading was cancelled".to_owned()
            }
            (None, _) if !is_there => "the variables of all tiles are being read…".to_owned(),
            (None, _) => {
                let progress = &self.progress.0;
                // The job wakes the window only when it ends.
                ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
                match progress.now() {
                    (_, 0) => "the gaps of all tiles are being read…".to_owned(),
                    (done, total) => {
                        let percent = (done * 100 / total).min(100);
                        format!("the gaps of all tiles are being read… {percent} %")
                    }
                }
            }
        };
        let chip = chip.and_then(Option::as_ref);
        let tiles = &page.selection.tiles;
        let key: RowsKey = (data.version, tiles.clone(), chip.is_some());
        if self.rows.as_ref().is_none_or(|(made_for, ..)| *made_for != key) {
            let (columns, rows) = rows(data, tiles, chip.map(|chip| &chip.totals));
            self.rows = Some((key, columns, rows));
        }
        let overflow = chip.and_then(|chip| chip.overflow.as_ref());
        let Some((_, columns, rows)) = &self.rows else { return };
        // With sentences below, the tabs would not stay in their place in the head of the table.
        let mut nothing = |_: &mut egui::Ui| {};
        let mut beside: &mut dyn FnMut(&mut egui::Ui) = tabs;
        if let Some(overflow) = overflow.filter(|overflow| !overflow.tiles.is_empty()) {
            ui.horizontal(beside);
            beside = &mut nothing;
            overflow_ui(ui, overflow);
        }
        let table = Data {
            name: "Gaps by reason",
            title: "",
            note: &note,
            columns,
            rows,
            is_selected: &|_| false,
            paint: &no_paint,
        };
        self.table.ui_beside(ui, &table, page.commands, Some(beside));
    }
}

/// Why tiles are over, in sentences.
fn overflow_ui(ui: &mut egui::Ui, overflow: &Overflow) {
    let units = Units::now(ui);
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
            "On none of them more lives at one step than fits: it is a matter of placement"
                .to_owned(),
        ),
        Some(tiles) => sentences.push(format!(
            "On {} of them more lives at one step than fits, however it is placed",
            grouped(tiles)
        )),
        None => {}
    }
    if let Some(bytes) = overflow.not_explained_bytes.filter(|bytes| *bytes > 0) {
        sentences.push(format!(
            "{} more than lives at any one step: variables that never live together have addresses of their own",
            units.bytes(bytes)
        ));
    }
    let mut gaps = format!(
        "Gaps take {}; without any, {} of {all} would fit",
        units.bytes(overflow.gap_bytes),
        grouped(overflow.would_fit_without_gaps)
    );
    if let Some(lost) = overflow.reasons.first() {
        let reason = reason_title(lost.reason).to_lowercase();
        gaps = format!(
            "{gaps}; most is lost to “{reason}”: {}, {} would fit without that",
            units.bytes(lost.bytes),
            grouped(lost.would_fit)
        );
    }
    sentences.push(gaps);
    let head = RichText::new(head).strong().color(Tokens::now(ui).bad);
    ui.add(Label::new(head).wrap());
    for sentence in sentences {
        ui.add(Label::new(sentence).wrap());
    }
}

/// Columns and rows of the table.
fn rows(
    data: &TileData,
    tiles: &TileSelection,
    chip: Option<&GapTotals>,
) -> (Vec<Column>, Arc<dyn Rows>) {
    let mut parts = vec![(format!("Tile {}", data.tile), data.map.gaps_by_reason())];
    if let Some(chip) = chip {
        if tiles.count() > 1 {
            let title = format!("{} selected tiles", grouped(tiles.count()));
            parts.push((title, chip.of_selection(tiles)));
        }
        parts.push(("All tiles".to_owned(), chip.of_everything()));
    }
    let mut columns = vec![Column::rest("Reason")];
    for (title, _) in &parts {
        columns.push(Column::bytes(title.clone(), COLUMN));
        columns.push(Column::count("Gaps", 76.0));
    }
    let parts: Vec<GapsByReason> = parts.into_iter().map(|(_, part)| part).collect();
    let has = |reason: &GapReason| parts.iter().any(|part| part.contains_key(reason));
    let reasons = REASONS.into_iter().filter(has).collect();
    (columns, Arc::new(ReasonRows { reasons, parts }))
}

struct ReasonRows {
    reasons: Vec<GapReason>,
    parts: Vec<GapsByReason>,
}

impl Rows for ReasonRows {
    fn len(&self) -> usize {
        self.reasons.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(reason) = self.reasons.get(row) else { return Value::Nothing };
        let Some(column) = column.checked_sub(1) else { return Value::text(reason_title(*reason)) };
        let part = self.parts.get(column / 2).and_then(|part| part.get(reason));
        let total = part.copied().unwrap_or_default();
        if column % 2 == 0 { Value::Bytes(total.bytes) } else { Value::Count(total.count) }
    }
}
