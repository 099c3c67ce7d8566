//! Every tile with a figure in both reports.

use std::sync::Arc;

use eframe::egui;
use eframe::egui::ComboBox;

use super::super::select::Selecting;
use super::super::tabs::Beside;
use super::listed::{Listed, Things};
use super::made::{PairShown, machine};
use crate::analysis::memory::cell;
use crate::analysis::memory::tile_grid::{TileFigure, values};
use crate::store::{Report, TileId};
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::PageContext;
use crate::ui::report::differences::Unit;
use crate::ui::report::tile_grid::figure_title;

/// The figures to choose from.
const FIGURES: [TileFigure; 6] = [
    TileFigure::IncludingGaps,
    TileFigure::Total,
    TileFigure::Gaps,
    TileFigure::AlwaysLive,
    TileFigure::NotAlwaysLiveMax,
    TileFigure::OverLimit,
];

/// What the table remembers.
#[derive(Debug)]
pub struct PairTiles {
    listed: Listed<(u64, TileFigure)>,
    figure: TileFigure,
}

impl Default for PairTiles {
    fn default() -> Self {
        Self { listed: Listed::default(), figure: TileFigure::IncludingGaps }
    }
}

impl PairTiles {
    /// Draws the table; returns the tile that was chosen.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (page, pair): (&mut PageContext<'_>, &Pair<'_>),
        shown: &Arc<PairShown>,
        selecting: &mut Selecting,
        beside: Beside<'_>,
    ) -> Option<TileId> {
        let reports = [page.report, pair.target];
        let key = (shown.axis.version, self.figure.clone());
        let (for_job, shown, figure) =
            (reports.map(Arc::clone), Arc::clone(shown), self.figure.clone());
        self.listed.ask(ui.ctx(), "tiles of both", &key, move |_| {
            let reports = for_job.each_ref().map(|report| &**report);
            Ok(things(reports, &shown, &figure))
        });
        let mut figure = self.figure.clone();
        let mut beside = |ui: &mut egui::Ui| {
            beside(ui);
            let combo = ComboBox::from_id_salt("figure of tiles of both").width(150.0);
            let combo = combo.selected_text(figure_title(&figure)).show_ui(ui, |ui| {
                for choice in FIGURES {
                    let title = figure_title(&choice);
                    ui.selectable_value(&mut figure, choice, title);
                }
            });
            combo.response.accessible_name("Figure");
        };
        let tiles = &mut page.selection.tiles;
        let tile = |name: &str| name.parse().ok().map(TileId);
        let clicked = self.listed.ui(
            ui,
            ("Tiles of both", ""),
            &|entry| tile(&entry.name).is_some_and(|tile| tiles.contains(tile)),
            page.commands,
            &mut beside,
        );
        self.figure = figure;
        let chosen = tile(&clicked?.name)?;
        selecting.choose(chosen, false, tiles);
        Some(chosen)
    }
}

/// The tiles that are shown, with a figure.
fn things(reports: [&Report; 2], shown: &PairShown, figure: &TileFigure) -> Things {
    let targets = reports.map(|report| report.target.get());
    let machine = machine(targets);
    let groups: Vec<Arc<str>> =
        shown.axis.ipus.iter().map(|ipu| Arc::from(format!("IPU {ipu}"))).collect();
    let has_groups = groups.len() > 1;
    let group = |tile: TileId| -> Vec<Arc<str>> {
        let ipu = machine.and_then(|machine| machine.ipu_of(tile));
        let place = ipu.and_then(|ipu| shown.axis.ipus.iter().position(|other| *other == ipu));
        place
            .and_then(|place| groups.get(place))
            .filter(|_| has_groups)
            .cloned()
            .into_iter()
            .collect()
    };
    let values = Side::BOTH.map(|side| {
        let memory = side.of(reports).memory.get()?;
        Some((memory, values(memory, side.of(targets), figure)))
    });
    let things = (0..shown.axis.len()).filter_map(|position| {
        let tile = shown.axis.tile(position)?;
        let figures = Side::BOTH.map(|side| {
            let (memory, values) = side.of(values.each_ref()).as_ref()?;
            Some(cell(values, shown.row(memory, side, position)?))
        });
        Some((tile.to_string(), figures, group(tile)))
    });
    let groupings = if has_groups { vec!["IPU"] } else { vec![] };
    Things::new(Unit::Bytes, "Tile", groupings, things)
}
