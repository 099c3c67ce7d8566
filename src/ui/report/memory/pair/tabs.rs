//! The tables of differences below the pictures, one at a time.

use std::sync::Arc;

use eframe::egui;

use super::super::select::Selecting;
use super::super::tabs::{Beside, Tab, tabs_ui};
use super::compute::PairListings;
use super::details::PairDetails;
use super::made::PairShown;
use super::tiles::PairTiles;
use super::variables::PairVariables;
use crate::store::TileId;
use crate::ui::legacy::Pair;
use crate::ui::report::PageContext;

/// Below this width the tabs have a row of their own, points.
const ROOM: f32 = 1240.0;

/// The tables.
#[derive(Debug, Default)]
pub struct PairTabs {
    tab: Tab,
    details: PairDetails,
    variables: PairVariables,
    tiles: PairTiles,
    listings: PairListings,
}

impl PairTabs {
    /// Draws the tabs and the table of one of them; returns a tile that was chosen there.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (page, pair): (&mut PageContext<'_>, &Pair<'_>),
        shown: &Arc<PairShown>,
        selecting: &mut Selecting,
    ) -> Option<TileId> {
        let mut tab = self.tab;
        let mut tabs = |ui: &mut egui::Ui| tabs_ui(ui, &mut tab);
        let mut nothing = |_: &mut egui::Ui| {};
        let beside: Beside<'_> = if ui.available_width() < ROOM {
            ui.horizontal_wrapped(&mut tabs);
            &mut nothing
        } else {
            &mut tabs
        };
        let both = (page, pair);
        let chosen = match self.tab {
            Tab::Details => {
                self.details.ui(ui, both, beside);
                None
            }
            Tab::Variables => {
                self.variables.ui(ui, both, beside);
                None
            }
            Tab::Tiles => self.tiles.ui(ui, both, shown, selecting, beside),
            Tab::Listing(listing) => {
                self.listings.ui(ui, both, listing, beside);
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
