//! Fill of the tiles: a histogram with the limit, and the fullest.

use eframe::egui::{self, Vec2};
use std::sync::Arc;

use super::ChosenPart;
use crate::analysis::memory::fullest_tiles::{Bin, DRAWN_BINS, FullTile, fullest_tiles, histogram};
use crate::analysis::memory::selection::TileSelection;
use crate::store::{Report, TileId};
use crate::text::grouped;
use crate::ui::job::{Latest, Same};
use crate::ui::report::tile_histogram::histogram_ui;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::card::picture_card_ui;

/// Height of the histogram, points.
const HISTOGRAM: f32 = 124.0;
/// Tiles that are named.
const MOST_TILES: usize = 5;

#[derive(Default)]
pub struct TilesCard(Latest<(Same<Report>, [bool; 3], u64), TilesOfReport>);

struct TilesOfReport {
    bins: Vec<Bin>,
    fullest: Vec<FullTile>,
}

impl TilesOfReport {
    fn of(report: &Report, up_to: u64) -> Self {
        let bins = histogram(report, DRAWN_BINS, up_to.max(report.bytes_per_tile().unwrap_or(0)));
        Self { bins, fullest: fullest_tiles(report, MOST_TILES) }
    }
}

impl TilesCard {
    /// Draws the card of a report whose tiles are known; returns the fullest.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut ChosenPart<'_>) -> Option<TileId> {
        let report = Arc::clone(&page.part.run.report);
        report.memory.get()?;
        let parts =
            [report.memory.is_settled(), report.target.is_settled(), report.arenas.is_settled()];
        let key = (Same(Arc::clone(&report)), parts, page.fullest);
        let (for_job, up_to) = (Arc::clone(&report), page.fullest);
        self.0.ask("tiles", ui.ctx(), &key, move |_| TilesOfReport::of(&for_job, up_to));
        let TilesOfReport { bins, fullest } = self.0.get(&key)?;
        let limit = report.bytes_per_tile();
        let mut exports = Vec::new();
        let contents = |ui: &mut egui::Ui| {
            if bins.iter().any(|bin| bin.tiles > 0) {
                let tiles = grouped(bins.iter().map(|bin| bin.tiles).sum());
                let name = format!("Histogram of {tiles} tiles");
                histogram_ui(ui, &name, bins, limit, HISTOGRAM, &mut page.part);
                ui.add_space(6.0);
            }
            fullest_ui(ui, page, fullest, limit);
        };
        picture_card_ui(ui, "Tiles", &mut exports, |_| {}, contents);
        page.part.commands.append(&mut exports);
        fullest.first().map(|full| TileId(full.tile))
    }
}

fn fullest_ui(
    ui: &mut egui::Ui,
    page: &mut ChosenPart<'_>,
    fullest: &[FullTile],
    limit: Option<u64>,
) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let most = fullest.iter().map(|tile| tile.bytes).max().unwrap_or(0);
    egui::Grid::new("fullest tiles").num_columns(4).spacing([12.0, 4.0]).show(ui, |ui| {
        for full in fullest {
            if ui.link(format!("Tile {}", full.tile)).clicked() {
                page.part.show_tiles(TileSelection::one(TileId(full.tile)));
            }
            let whole = limit.map_or(most, |limit| limit.saturating_add(limit / 8).max(most));
            let bar = Bar { parts: &[(full.bytes, tokens.temporary)], whole, limit };
            bar.ui(ui, Vec2::new(110.0, 7.0));
            ui.label(fonts::number(units.beside(full.bytes, limit.unwrap_or(full.bytes))));
            match full.over_limit_bytes {
                Some(over @ 1..) => {
                    let text = format!("+{} over", units.bytes(over));
                    ui.label(fonts::number(text).color(tokens.over));
                }
                Some(_) => {
                    let free = limit.unwrap_or(0).saturating_sub(full.bytes);
                    ui.weak(format!("{} free", units.bytes(free)));
                }
                None => drop(ui.weak("limit not known")),
            }
            ui.end_row();
        }
    });
}
