//! Gap bytes and numbers of gaps by reason: of every tile, and added up over an IPU, a selection or
//! all tiles.
//!
//! Gaps are those of [`crate::analysis::placement::gaps`] over all steps. On every tile the reasons add up to its gap bytes.

use crate::store::TileId;
use crate::store::ids::IdColumn;

use crate::analysis::memory::selection::TileSelection;
use crate::analysis::placement::gaps::GapsByReason;

/// Gaps of tiles by reason.
#[derive(Clone, Debug, Default)]
pub struct GapTotals {
    tiles: IdColumn<TileId>,
    by_tile: Vec<GapsByReason>,
}

impl GapTotals {
    /// The gaps of tiles, which ascend; a tile that does not is left out.
    pub fn new(tiles: impl IntoIterator<Item = (TileId, GapsByReason)>) -> Self {
        let mut totals = Self::default();
        for (tile, gaps) in tiles {
            if totals.tiles.push(tile) {
                totals.by_tile.push(gaps);
            }
        }
        totals
    }

    /// The tiles and their gaps, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (TileId, &GapsByReason)> {
        self.tiles.as_slice().iter().copied().zip(&self.by_tile)
    }

    /// The gaps of a tile; `None` where nothing is known of it.
    pub fn of_tile(&self, tile: TileId) -> Option<&GapsByReason> {
        self.by_tile.get(self.tiles.position(tile)?)
    }

    /// The gaps of all tiles.
    pub fn of_everything(&self) -> GapsByReason {
        self.sum(|_| true)
    }

    /// The gaps of the selected tiles.
    pub fn of_selection(&self, selection: &TileSelection) -> GapsByReason {
        self.sum(|tile| selection.contains(tile))
    }

    fn sum(&self, is_wanted: impl Fn(TileId) -> bool) -> GapsByReason {
        let mut sums = GapsByReason::new();
        for (_, gaps) in self.iter().filter(|(tile, _)| is_wanted(*tile)) {
            for (reason, total) in gaps {
                let sum = sums.entry(*reason).or_default();
                sum.bytes = sum.bytes.saturating_add(total.bytes);
                sum.count = sum.count.saturating_add(total.count);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::placement::gaps::{GapReason, GapTotal};

    #[test]
    fn tiles_are_added_up() {
        let total = |bytes, count| GapTotal { bytes, count };
        let alignment = |bytes| GapsByReason::from([(GapReason::Alignment, total(bytes, 1))]);
        let start = GapsByReason::from([(GapReason::Start, total(16, 1))]);
        let totals = GapTotals::new([
            (TileId(1), alignment(4)),
            (TileId(2), start.clone()),
            (TileId(2), alignment(99)),
            (TileId(5), alignment(8)),
        ]);
        assert_eq!(totals.of_tile(TileId(2)), Some(&start));
        assert_eq!(totals.of_tile(TileId(3)), None);
        let all = totals.of_everything();
        assert_eq!(all[&GapReason::Alignment], total(12, 2));
        assert_eq!(all[&GapReason::Start], total(16, 1));
        assert_eq!(totals.of_selection(&TileSelection::one(TileId(1))), alignment(4));
    }
}
