//! The bytes of the selected variable on the tiles of a picture, asked for beside the window.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use eframe::egui;

use super::axis::TileAxis;
use crate::analysis::liveness::variables::over_tiles;
use crate::store::{Report, TileId};
use crate::ui::job::Latest;

/// Numbers the answers, so that caches can tell them apart.
static ANSWERS: AtomicU64 = AtomicU64::new(1);

/// Bytes of a variable on each tile that is shown, with a number of their own.
#[derive(Debug)]
pub struct OverTiles {
    /// Bytes by position.
    pub bytes: Vec<u64>,
    /// Tells answers apart.
    pub version: u64,
}

/// The answer to the latest question.
#[derive(Debug, Default)]
pub struct VariableOverTiles(Latest<(String, u64, bool), Option<OverTiles>>);

impl VariableOverTiles {
    /// Asks for the bytes of a variable on the tiles of the axis with this version, which `tiles` lists
    /// beside the window.
    pub fn ask(
        &mut self,
        ui: &egui::Ui,
        report: &Arc<Report>,
        name: &str,
        version: u64,
        tiles: impl FnOnce() -> Vec<TileId> + Send + 'static,
    ) {
        let key = (name.to_owned(), version, report.tile_variable_bytes.is_settled());
        let (report, wanted) = (Arc::clone(report), key.0.clone());
        self.0.ask("variable over tiles", ui.ctx(), &key, move |_| {
            let bytes = over_tiles(&report, &wanted, tiles().into_iter())?;
            Some(OverTiles { bytes, version: ANSWERS.fetch_add(1, Ordering::Relaxed) })
        });
    }

    /// Whether a variable has bytes by tile, on whichever tiles.
    pub fn has(&self, name: &str) -> bool {
        matches!(self.0.last(), Some(((made_for, ..), Some(_))) if made_for == name)
    }

    /// The bytes of a variable on the tiles of an axis, if they have come.
    pub fn get(&self, name: &str, axis: &TileAxis) -> Option<&OverTiles> {
        let ((made_for, version, _), found) = self.0.last()?;
        found.as_ref().filter(|_| made_for == name && *version == axis.version)
    }
}
