//! The figures that tiles have.

use crate::analysis::memory::category_title;
use crate::analysis::memory::tile_grid::TileFigure;
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
