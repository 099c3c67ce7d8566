//! The maps of all tiles of two reports side by side, which move together.

use std::sync::Arc;

use eframe::egui;

use super::colors::Colors;
use super::half::{Half, HalfOf};
use super::has_variables;
use super::shared::{Extent, Shared};
use crate::analysis::memory::selection::TileSelection;
use crate::store::TileId;
use crate::ui::job::Latest;
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::PageContext;
use crate::ui::report::halves::halves_ui;
use crate::ui::theme::Tokens;

/// What colours were made for: the theme, and which reports had their variables.
type ColorsKey = (bool, [bool; 2]);

/// What the maps remember.
#[derive(Default)]
pub struct ChipMapPair {
    shared: Shared,
    colors: Latest<ColorsKey, [Arc<Colors>; 2]>,
    maps: [Half; 2],
    /// Where the pointer is in one of them.
    pointed: Option<(Side, (TileId, u64))>,
}

impl std::fmt::Debug for ChipMapPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ChipMapPair").field(&self.shared).finish()
    }
}

impl ChipMapPair {
    /// Draws the maps in the space that is left; a click selects a tile.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, pair: &Pair<'_>) {
        let reports = [page.report, pair.target];
        let are_settled = reports.map(|report| report.variables.is_settled());
        let key = (ui.visuals().dark_mode, are_settled);
        let (for_job, tokens) = (reports.map(Arc::clone), *Tokens::now(ui));
        self.colors.ask("colours of both", ui.ctx(), &key, move |_| {
            Colors::of_two(for_job.each_ref().map(|report| &**report), &tokens).map(Arc::new)
        });
        let Some((_, colors)) = self.colors.last() else {
            ui.weak(self.colors.failure().unwrap_or("Looking at the categories…"));
            return;
        };
        let extent = reports.map(|report| Extent::of(report));
        let [source, target] = extent;
        let extent = source.union(target);
        let is_at_step = page.selection.step().is_some() && pair.axis.is_some();
        self.shared.head_ui(ui, &colors[0], extent, is_at_step);
        let (shared, maps, pointed) = (&mut self.shared, &mut self.maps, self.pointed);
        let mut now = None;
        halves_ui(ui, page, pair, |ui, side, page| {
            if !has_variables(ui, page.report, page.is_working) {
                return;
            }
            let of = HalfOf {
                name: side.of(["Map of all tiles of the source", "Map of all tiles of the target"]),
                colors: side.of(colors.each_ref()),
                step: page.selection.step().filter(|_| is_at_step),
                extent,
                has_keys: side == Side::Source,
                pointed: pointed.filter(|(other, _)| *other != side).map(|(_, place)| place),
            };
            let answer = side.of(maps.each_mut()).ui(ui, page, shared, &of);
            now = now.or(answer.pointed.map(|place| (side, place)));
            if let Some(tile) = answer.clicked {
                page.selection.tiles = TileSelection::one(tile);
            }
        });
        if self.pointed != now {
            self.pointed = now;
            // The other map was drawn before this was known.
            ui.request_repaint();
        }
    }
}
