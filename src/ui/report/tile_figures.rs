//! Names of tiles and of their figures.

use crate::analysis::memory::category_title;
use crate::analysis::memory::tile_grid::TileFigure;
use crate::store::TileId;
use crate::store::target::Target;
use crate::text::shortened;

pub fn figure_title(figure: &TileFigure) -> String {
    match figure {
        TileFigure::IncludingGaps => "With gaps".to_owned(),
        TileFigure::Total => "Without gaps".to_owned(),
        TileFigure::Gaps => "Gaps".to_owned(),
        TileFigure::OverLimit => "Over the limit".to_owned(),
        TileFigure::AlwaysLive => "Always live".to_owned(),
        TileFigure::NotAlwaysLiveMax => "Not always live, at most".to_owned(),
        TileFigure::Category(name) => category_title(&shortened(name, 60)),
    }
}

/// The name of a tile, with its IPU where that is known.
pub fn tile_text(target: Option<&Target>, tile: TileId) -> String {
    match target.and_then(|target| target.device_of(tile)) {
        Some(ipu) => format!("Tile {tile} of IPU {ipu}"),
        None => format!("Tile {tile}"),
    }
}
