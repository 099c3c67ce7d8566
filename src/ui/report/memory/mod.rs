//! Memory: bytes of every tile as a picture, and where they go as a table.

mod details;
mod tooltip;

use eframe::egui;
use eframe::egui::RichText;

use super::{PageContext, head_ui, is_limit_near, part_or_reason, tables_height};
use crate::analysis::memory::{MemoryTotals, Statistics, cell, statistics, totals};
use crate::analysis::selection::TileSelection;
use crate::store::Report;
use crate::store::memory::TileMemory;
use crate::store::target::Target;
use crate::text;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::curve::{Layer, Picture, curve_ui};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::view::View;

/// What the page remembers.
#[derive(Debug, Default)]
pub struct MemoryPage {
    view: View,
    caches: [BinCache; 2],
    /// The user's choice; `None` follows the figures.
    is_limit_shown: Option<bool>,
    derived: Option<Derived>,
    details: details::Details,
}

/// Computed once a report.
#[derive(Debug)]
struct Derived {
    totals: MemoryTotals,
    statistics: Statistics,
    top: u64,
    limit: Option<u64>,
    borders: Vec<(usize, String)>,
}

impl Derived {
    fn new(memory: &TileMemory, target: Option<&Target>) -> Self {
        let rows = 0..memory.tiles.len();
        let most = |values: &[Option<u64>]| Values::Cells(values).max().unwrap_or(0);
        Self {
            totals: totals(memory, target),
            statistics: statistics(memory, rows),
            top: most(&memory.including_gaps).max(most(&memory.total)),
            limit: target.and_then(|target| target.bytes_per_tile),
            borders: borders(memory, target),
        }
    }
}

/// Where each IPU begins, if there are several.
fn borders(memory: &TileMemory, target: Option<&Target>) -> Vec<(usize, String)> {
    let Some(target) = target else { return Vec::new() };
    let mut borders: Vec<(usize, String)> = Vec::new();
    let mut before = None;
    for (row, tile) in memory.tiles.as_slice().iter().enumerate() {
        let ipu = target.ipu_of(*tile);
        if ipu != before {
            before = ipu;
            borders.extend(ipu.map(|ipu| (row, format!("IPU {ipu}"))));
        }
    }
    if borders.len() > 1 { borders } else { Vec::new() }
}

impl MemoryPage {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let report = page.report;
        let found =
            part_or_reason(ui, &report.memory, page.is_working, "Memory", "table memory_by_tile");
        let Some(memory) = found else { return };
        if memory.tiles.is_empty() {
            absent_ui(ui, "No tiles", "Table memory_by_tile of the profile has no rows");
            return;
        }
        let target = report.target.get();
        let derived = self.derived.get_or_insert_with(|| Derived::new(memory, target));
        let is_limit_shown = self.is_limit_shown.unwrap_or_else(|| {
            derived.limit.is_some_and(|limit| is_limit_near(derived.top, limit))
        });
        let mut is_limit_wanted = is_limit_shown;
        head_ui(ui, "Memory by tile", |ui| {
            if derived.limit.is_some() {
                ui.checkbox(&mut is_limit_wanted, "Scale to limit");
            }
        });
        if is_limit_wanted != is_limit_shown {
            self.is_limit_shown = Some(is_limit_wanted);
        }
        statistics_ui(ui, derived, memory);
        let max = (ui.available_height() - 160.0).max(80.0);
        egui::Panel::bottom("memory details")
            .resizable(true)
            .default_size(tables_height(ui))
            .size_range(60.0..=max)
            .frame(egui::Frame::new().inner_margin(egui::Margin { top: 6, ..Default::default() }))
            .show(ui, |ui| self.details.ui(ui, report, page.selection));
        egui::CentralPanel::default()
            .frame(
                egui::Frame::new().inner_margin(egui::Margin { bottom: 6, ..Default::default() }),
            )
            .show(ui, |ui| {
                self.picture_ui(ui, memory, page, is_limit_shown);
            });
    }

    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        memory: &TileMemory,
        page: &mut PageContext<'_>,
        is_limit_shown: bool,
    ) {
        let Some(derived) = &self.derived else { return };
        let tokens = Tokens::now(ui);
        let limit = derived.limit.map(|limit| (limit, format!("Limit {}", text::bytes(limit))));
        let top = derived.limit.filter(|_| is_limit_shown).unwrap_or(0).max(derived.top);
        let selected = page.selection.tiles.first().and_then(|tile| memory.tiles.position(tile));
        let tile_text =
            |row: usize| memory.tiles.get(row).map_or(String::new(), |tile| tile.to_string());
        let [base_cache, top_cache] = &mut self.caches;
        let answer = curve_ui(
            ui,
            &mut self.view,
            Picture {
                name: "Memory over tiles",
                value: selected.map_or_else(
                    || format!("{} tiles", text::grouped(memory.tiles.len() as u64)),
                    |row| tile_value(page.report, memory, row, Units::now(ui)),
                ),
                x_title: "Tile",
                x_text: &tile_text,
                version: 0,
                len: memory.tiles.len(),
                top,
                ground: None,
                layers: vec![
                    Layer {
                        values: Values::Cells(&memory.total),
                        base: 0,
                        is_stacked: false,
                        fill: Some(tokens.base_fill),
                        line: tokens.base,
                        cache: base_cache,
                    },
                    Layer {
                        values: Values::Cells(&memory.including_gaps),
                        base: 0,
                        is_stacked: false,
                        fill: None,
                        line: tokens.top,
                        cache: top_cache,
                    },
                ],
                limit,
                borders: &derived.borders,
                marks: &[],
                lives: &[],
                selected: selected.map(|row| (row..row + 1, String::new())).into_iter().collect(),
                is_range_selectable: true,
            },
        );
        *page.has_painted_graph = true;
        if let Some(click) = answer.clicked {
            let tile = memory.tiles.get(click.position);
            page.selection.tiles = tile.map(TileSelection::one).unwrap_or_default();
        }
        if let Some(row) = answer.hovered {
            egui::Tooltip::for_widget(&answer.response)
                .at_pointer()
                .show(|ui| tooltip::tile_ui(ui, page.report, memory, row));
        }
    }
}

fn tile_value(report: &Report, memory: &TileMemory, row: usize, units: Units) -> String {
    let tile = memory.tiles.get(row).map_or(0, |tile| tile.0);
    let bytes = super::bytes_or_dash(cell(&memory.including_gaps, row), units);
    let ipu = memory.tiles.get(row).and_then(|tile| report.target.get()?.ipu_of(tile));
    let ipu = ipu.map_or(String::new(), |ipu| format!(" of IPU {ipu}"));
    format!("Tile {tile}{ipu}, {bytes} with gaps")
}

fn statistics_ui(ui: &mut egui::Ui, derived: &Derived, memory: &TileMemory) {
    let figures = &derived.statistics;
    ui.horizontal_wrapped(|ui| {
        ui.weak("With gaps");
        for (name, bytes) in [
            ("least", figures.min),
            ("median", figures.median),
            ("99th percentile", figures.p99),
            ("most", figures.max),
        ] {
            ui.weak(name);
            let bytes = bytes.map_or_else(|| "–".to_owned(), text::bytes);
            ui.label(RichText::new(bytes).strong());
        }
        if let Some(tile) = derived.totals.fullest.and_then(|row| memory.tiles.get(row)) {
            ui.weak(format!("(tile {tile})"));
        }
        ui.separator();
        let tiles = text::grouped(memory.tiles.len() as u64);
        match derived.totals.tiles_over_limit {
            Some(0) => {
                ui.label(format!("No tile of {tiles} is over the limit"));
            }
            Some(over) => {
                let over = format!("{} of {tiles} tiles are over the limit", text::grouped(over));
                ui.colored_label(Tokens::now(ui).bad, RichText::new(over).strong());
            }
            None if derived.limit.is_some() => {
                ui.weak("Of some tiles the bytes are not known");
            }
            None => {
                ui.weak("The limit of a tile is not known");
            }
        }
    });
}
