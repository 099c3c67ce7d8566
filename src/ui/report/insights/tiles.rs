//! How full the tiles are: a histogram around the limit, and the fullest.

use eframe::egui::{self, Vec2};
use std::sync::Arc;

use super::ChosenPart;
use crate::analysis::memory::selection::TileSelection;
use crate::store::{Report, TileId};
use crate::systems::poplar::insights::Insights;
use crate::systems::poplar::insights::fullest_tiles::{Bin, histogram_around_limit};
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

#[derive(Default)]
pub struct Tiles {
    around_limit: Latest<(Same<Report>, bool), Vec<Bin>>,
}

impl Tiles {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut ChosenPart<'_>, found: &Insights) {
        if page.report().memory.get().is_none() {
            return;
        }
        let report = Arc::clone(page.report());
        let limit = report.bytes_per_tile();
        let key = (Same(Arc::clone(&report)), limit.is_some());
        let for_job = Arc::clone(&report);
        self.around_limit
            .ask("histogram of tiles", ui.ctx(), &key, move |_| histogram_around_limit(&for_job));
        let around_limit = self.around_limit.get(&key).filter(|bins| !bins.is_empty());
        let mut exports = Vec::new();
        let contents = |ui: &mut egui::Ui| {
            let bins = around_limit.unwrap_or(&found.histogram);
            if bins.iter().any(|bin| bin.tiles > 0) {
                let tiles = grouped(bins.iter().map(|bin| bin.tiles).sum());
                let name = format!("Histogram of {tiles} tiles");
                histogram_ui(ui, &name, (bins, limit), HISTOGRAM, page);
                ui.add_space(6.0);
            }
            fullest_ui(ui, page, found, limit);
        };
        picture_card_ui(ui, "Tiles", &mut exports, |_| {}, contents);
        page.commands.append(&mut exports);
    }
}

fn fullest_ui(ui: &mut egui::Ui, page: &mut ChosenPart<'_>, found: &Insights, limit: Option<u64>) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let most = found.fullest_tiles.iter().map(|tile| tile.bytes).max().unwrap_or(0);
    egui::Grid::new("fullest tiles").num_columns(4).spacing([12.0, 4.0]).show(ui, |ui| {
        for full in &found.fullest_tiles {
            if ui.link(format!("Tile {}", full.tile)).clicked() {
                page.show_tiles(TileSelection::one(TileId(full.tile)));
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
