//! The tables below the picture, one at a time.

use eframe::egui;
use std::sync::Arc;

use super::arranged::ArrangedTiles;
use super::compute::{LISTINGS, Listings};
use super::details::DetailsTab;
use super::select::Selecting;
use super::tiles::TilesTab;
use super::variables::VariablesTab;
use crate::store::TileId;
use crate::ui::report::PageContext;
use crate::ui::runs::Runs;
use crate::ui::widget::choice::tabs_ui;

/// Below this width the tabs have a row of their own, points.
fn room(runs: &Runs) -> f32 {
    if runs.is_one() { 820.0 } else { 1240.0 }
}

/// The accessible name of a table, which says of what it is.
pub fn table_name(runs: &Runs, table: &str) -> String {
    format!("{table}{}", runs.of_number(["", " of both", " of all"]))
}

/// What stands at the left of a table's head.
pub type HeadUi<'a> = &'a mut dyn FnMut(&mut egui::Ui);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryTab {
    #[default]
    Details,
    Variables,
    Tiles,
    /// One of [`LISTINGS`].
    Listing(usize),
}

#[derive(Default)]
pub struct Tabs {
    tab: MemoryTab,
    details: DetailsTab,
    variables: VariablesTab,
    tiles: TilesTab,
    listings: Listings,
}

impl Tabs {
    /// The same tab of reports that were read again.
    pub fn of_other_figures(self) -> Self {
        Self { tab: self.tab, ..Self::default() }
    }

    /// Draws the tabs and the table of one of them; returns a tile that was chosen there.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &Arc<ArrangedTiles>,
        selecting: &mut Selecting,
    ) -> Option<TileId> {
        let mut tab = self.tab;
        let mut tabs = |ui: &mut egui::Ui| {
            let own = [
                (MemoryTab::Details, "Details"),
                (MemoryTab::Variables, "Variables"),
                (MemoryTab::Tiles, "Tiles"),
            ];
            let listings = (0..).map(MemoryTab::Listing).zip(LISTINGS.iter().map(|it| it.title));
            tabs_ui(ui, &mut tab, own.into_iter().chain(listings));
        };
        let mut nothing = |_: &mut egui::Ui| {};
        let beside: HeadUi<'_> = if ui.available_width() < room(page.runs) {
            ui.horizontal_wrapped(&mut tabs);
            &mut nothing
        } else {
            &mut tabs
        };
        let chosen = match self.tab {
            MemoryTab::Details => {
                self.details.ui(ui, page, beside);
                None
            }
            MemoryTab::Variables => {
                self.variables.ui(ui, page, beside);
                None
            }
            MemoryTab::Tiles => self.tiles.ui(ui, page, tiles, selecting, beside),
            MemoryTab::Listing(listing) => {
                self.listings.ui(ui, page, listing, beside);
                None
            }
        };
        if tab != self.tab {
            self.tab = tab;
            ui.request_repaint();
        }
        chosen
    }
}
