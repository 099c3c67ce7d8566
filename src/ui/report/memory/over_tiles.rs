//! The bytes of the selected variables on the tiles of a picture, asked for beside the window.

use eframe::egui;
use std::sync::Arc;

use super::arranged::ArrangedTiles;
use crate::analysis::liveness::variables::over_tiles;
use crate::ui::runs::{Needed, Needs, PerRun, Run, Runs, RunsAnswer};
use crate::ui::widget::bins::new_version;

const NEEDS: Needs = &[Needed::Liveness, Needed::TileVariables];

/// Bytes of variables on each tile that is shown, with a number of their own.
pub struct BytesOverTiles {
    /// For each variable and each run that has them, bytes by position.
    pub of_variables: Vec<PerRun<Option<Vec<u64>>>>,
    /// Tells answers apart.
    pub version: u64,
}

/// The answer about variables on the tiles of a version.
#[derive(Default)]
pub struct VariableOverTiles(RunsAnswer<(Vec<String>, u64), BytesOverTiles>);

impl VariableOverTiles {
    pub fn ask(
        &mut self,
        ui: &egui::Ui,
        runs: &Arc<Runs>,
        names: &[String],
        tiles: &Arc<ArrangedTiles>,
    ) {
        let key = (names.to_vec(), tiles.axis.version);
        let (wanted, tiles) = (names.to_vec(), Arc::clone(tiles));
        self.0.ask("variables over tiles", ui.ctx(), (runs, NEEDS), &key, move |runs, _| {
            let in_order = tiles.axis.in_order();
            let of_variable = |name: &String| {
                let of_run = |run: &Run| over_tiles(&run.report, name, in_order.iter().copied());
                runs.each(of_run)
            };
            let of_variables = wanted.iter().map(of_variable).collect();
            BytesOverTiles { of_variables, version: new_version() }
        });
    }

    /// Whether bytes by tile are there for these variables, on whichever tiles.
    pub fn has(&self, runs: &Runs, names: &[String]) -> bool {
        let found = self.0.last(runs).filter(|((made_for, _), _)| made_for == names);
        found.is_some_and(|(_, found)| found.of_variables.iter().flatten().any(Option::is_some))
    }

    pub fn get(
        &self,
        runs: &Runs,
        names: &[String],
        tiles: &ArrangedTiles,
    ) -> Option<&BytesOverTiles> {
        let ((made_for, version), found) = self.0.last(runs)?;
        (made_for == names && *version == tiles.axis.version).then_some(found)
    }
}
