//! The inspector of one tile: the one under the pointer, else the one that was selected last; of every run whether it
//! fits there, its bytes, and what they are by category.

use eframe::egui::{self, Align, Label, Layout, RichText, Vec2};
use std::cmp::Reverse;
use std::sync::Arc;

use super::arranged::ArrangedTiles;
use crate::analysis::memory::tile_details::{OVERLAPPED, categories_of_tile};
use crate::store::TileId;
use crate::ui::command::Command;
use crate::ui::job::{Made, Same};
use crate::ui::report::category_colors::tile_category;
use crate::ui::report::room::{room_box_ui, room_of};
use crate::ui::report::{PageContext, change_color, tile_places};
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::{PerRun, Run, Runs};
use crate::ui::selection::Jump;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::inspector::{fact_ui, inspector_ui, part_ui, title_ui};
use crate::ui::widget::rows::CellValue;

/// How much longer a bar is than the limit, as a share of it.
const BEYOND_LIMIT: f64 = 1.12;

struct CategoryBytesAt {
    name: String,
    bytes: Vec<Option<u64>>,
}

struct KnownTile {
    /// [`ArrangedTiles::figures_at`] it.
    figures: Vec<(&'static str, PerRun<Option<u64>>)>,
    /// The largest first, last what several variables share.
    categories: Vec<CategoryBytesAt>,
}

impl KnownTile {
    fn new(runs: &Runs, tiles: &ArrangedTiles, tile: TileId) -> Self {
        let position = tiles.axis.position(tile);
        let row = |place: usize| tiles.row(place, position?);
        let mut categories: Vec<CategoryBytesAt> = Vec::new();
        for (place, run) in runs.iter().enumerate() {
            let Some((memory, row)) = run.report.memory.get().zip(row(place)) else { continue };
            for (name, bytes) in categories_of_tile(memory, row) {
                let known = categories.iter().position(|known| known.name == name);
                let known = known.unwrap_or_else(|| {
                    let bytes = vec![None; runs.len()];
                    categories.push(CategoryBytesAt { name: name.to_owned(), bytes });
                    categories.len() - 1
                });
                let cell = categories.get_mut(known).and_then(|it| it.bytes.get_mut(place));
                if let Some(cell) = cell {
                    *cell = Some(bytes);
                }
            }
        }
        categories.sort_by_key(|category| {
            let most = category.bytes.iter().flatten().max().copied();
            (category.name == OVERLAPPED, Reverse(most))
        });
        Self { figures: tiles.figures_at(runs, position), categories }
    }
}

#[derive(Default)]
pub struct TileInspector {
    known: Made<(Same<Runs>, u64, TileId), KnownTile>,
}

impl TileInspector {
    /// Docks it; what is drawn afterwards has the rest of the page.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &ArrangedTiles,
        tile: Option<TileId>,
    ) {
        let runs = page.runs;
        let key = |tile| (Same(Arc::clone(runs)), tiles.axis.version, tile);
        let known = tile.map(|tile| {
            (tile, self.known.of(key(tile), |(_, _, tile)| KnownTile::new(runs, tiles, *tile)))
        });
        inspector_ui(ui, |ui| {
            let Some((tile, known)) = known else {
                hint_ui(ui);
                return;
            };
            let ipu = runs.machine().and_then(|machine| machine.device_of(tile));
            let of = ipu.map_or(String::new(), |ipu| format!("IPU {ipu}"));
            title_ui(ui, "Tile", &tile.to_string(), &of);
            verdicts_ui(ui, runs, known);
            figures_ui(ui, runs, known);
            categories_ui(ui, runs, known);
            ui.add_space(6.0);
            for (title, place) in tile_places(runs.system(), tile) {
                if matches!(place, Jump::Map(_)) && ui.link(title).clicked() {
                    page.commands.push(Command::GoTo(place));
                }
            }
            if page.selection.tiles.is_empty() {
                ui.add_space(6.0);
                hint_ui(ui);
            }
        });
    }
}

fn hint_ui(ui: &mut egui::Ui) {
    let text = "Click a tile in the picture or drag over some; Shift extends, Ctrl adds";
    ui.add(Label::new(fonts::caption(text).weak()).wrap());
}

/// Whether it fits, in a box for each run.
fn verdicts_ui(ui: &mut egui::Ui, runs: &Runs, known: &KnownTile) {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let with_gaps = known.figures.first().map_or(&[][..], |(_, bytes)| bytes);
    // They lie below each other, so they have one scale.
    let limits = runs.iter().filter_map(|run| run.report.bytes_per_tile());
    let most = with_gaps.iter().flatten().copied().chain(limits).max().unwrap_or(0);
    let track = (most as f64 * BEYOND_LIMIT) as u64;
    for (run, bytes) in runs.iter().zip(with_gaps) {
        let Some((bytes, limit)) = bytes.zip(run.report.bytes_per_tile()) else { continue };
        room_box_ui(ui, run, !runs.is_one(), room_of(bytes, limit, units), |ui| {
            let parts = [(bytes, tokens.temporary)];
            let bar = Bar { parts: &parts, whole: track, limit: Some(limit) };
            ui.add_space(2.0);
            bar.ui(ui, Vec2::new(ui.available_width(), 6.0));
            ui.add_space(2.0);
        });
    }
}

fn figures_ui(ui: &mut egui::Ui, runs: &Runs, known: &KnownTile) {
    let units = Units::now(ui);
    for (name, bytes) in &known.figures {
        match bytes.as_slice() {
            [bytes] => fact_ui(ui, name, &CellValue::bytes(*bytes).shown(units)),
            bytes => {
                ui.label(RichText::new(*name).size(size::TABLE).weak());
                let first = bytes.first().copied().flatten();
                for (place, (run, bytes)) in runs.iter().zip(bytes).enumerate() {
                    let change = first.zip(*bytes).filter(|_| place > 0);
                    run_ui(ui, run, *bytes, change);
                }
            }
        }
    }
}

/// What a run has, and the change against the reference.
fn run_ui(ui: &mut egui::Ui, run: &Run, bytes: Option<u64>, change: Option<(u64, u64)>) {
    let units = Units::now(ui);
    ui.horizontal(|ui| {
        badge_ui(ui, run.badge);
        ui.label(fonts::number(CellValue::bytes(bytes).shown(units)));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let Some((from, to)) = change else { return };
            let third = Tokens::now(ui).third_text;
            let color = if from == to { third } else { change_color(ui, from, to) };
            let text = CellValue::change(from, to).shown(units).into_owned();
            ui.label(RichText::new(text).size(size::TABLE).color(color));
        });
    });
}

fn categories_ui(ui: &mut egui::Ui, runs: &Runs, known: &KnownTile) {
    if known.categories.is_empty() {
        return;
    }
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    ui.add_space(6.0);
    ui.label(fonts::card_title("By category"));
    // They are parts of what there is without gaps.
    let whole = known.figures.get(1).and_then(|(_, all)| all.iter().flatten().max());
    let whole = whole.copied().unwrap_or(1);
    let mut height: Option<f32> = None;
    for category in &known.categories {
        let top = ui.cursor().top();
        // Of many runs most is below what is seen, and is as high as what is not.
        if let Some(height) = height.filter(|_| top > ui.clip_rect().bottom()) {
            ui.add_space(height);
            continue;
        }
        let (color, title) = tile_category(&category.name, &tokens);
        if let [bytes] = *category.bytes {
            let parts = [(bytes.unwrap_or(0), color)];
            let bar = Bar { parts: &parts, whole, limit: None };
            part_ui(ui, &title, &CellValue::bytes(bytes).shown(units), &bar);
            continue;
        }
        ui.label(RichText::new(title).size(size::TABLE).weak());
        for (run, bytes) in runs.iter().zip(category.bytes.iter().copied()) {
            ui.horizontal(|ui| {
                badge_ui(ui, run.badge);
                let parts = [(bytes.unwrap_or(0), color)];
                let bar = Bar { parts: &parts, whole, limit: None };
                bar.ui(ui, Vec2::new((ui.available_width() - 84.0).max(40.0), 6.0));
                ui.label(fonts::number(CellValue::bytes(bytes).shown(units)));
            });
        }
        height = Some(ui.cursor().top() - top);
    }
}
