//! The bytes of the selected variable on the tiles of a picture, asked for beside the window.

use eframe::egui;
use std::sync::Arc;

use super::arranged::ArrangedTiles;
use crate::analysis::liveness::variables::over_tiles;
use crate::ui::runs::{Needed, Needs, Run, Runs, RunsAnswer};
use crate::ui::widget::bins::new_version;

const NEEDS: Needs = &[Needed::Liveness, Needed::TileVariables];

/// Bytes of a variable on each tile that is shown, with a number of their own.
pub struct OverTiles {
    /// For each run that has them, bytes by position.
    pub of_runs: Vec<Option<Vec<u64>>>,
    /// Tells answers apart.
    pub version: u64,
}

/// The answer about a variable on the tiles of a version.
#[derive(Default)]
pub struct VariableOverTiles(RunsAnswer<(String, u64), OverTiles>);

impl VariableOverTiles {
    pub fn ask(&mut self, ui: &egui::Ui, runs: &Arc<Runs>, name: &str, tiles: &Arc<ArrangedTiles>) {
        let key = (name.to_owned(), tiles.axis.version);
        let (wanted, tiles) = (name.to_owned(), Arc::clone(tiles));
        self.0.ask("variable over tiles", ui.ctx(), (runs, NEEDS), &key, move |runs, _| {
            let in_order = tiles.axis.in_order();
            let of_run = |run: &Run| over_tiles(&run.report, &wanted, in_order.iter().copied());
            OverTiles { of_runs: runs.iter().map(of_run).collect(), version: new_version() }
        });
    }

    /// Whether a variable has bytes by tile, on whichever tiles.
    pub fn has(&self, runs: &Runs, name: &str) -> bool {
        let found = self.0.last(runs).filter(|((made_for, _), _)| made_for == name);
        found.is_some_and(|(_, found)| found.of_runs.iter().any(Option::is_some))
    }

    pub fn get(&self, runs: &Runs, name: &str, tiles: &ArrangedTiles) -> Option<&OverTiles> {
        let ((made_for, version), found) = self.0.last(runs)?;
        (made_for == name && *version == tiles.axis.version).then_some(found)
    }
}
