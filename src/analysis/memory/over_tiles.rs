//! A list by tile over some tiles: its sum and its largest number there.
//!
//! An empty selection stands for all tiles. Tiles that the list does not have do not count.

use crate::store::tile_list::TileList;

use crate::analysis::memory::selection::TileSelection;

/// What a list says of some tiles together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverTiles {
    pub sum: u64,
    /// The largest number.
    pub most: u64,
}

/// A list over the selected tiles.
pub fn over_tiles(list: &TileList, tiles: &TileSelection) -> OverTiles {
    let mut over = OverTiles::default();
    let mut add = |count: u32, value: u64| {
        over.sum = over.sum.saturating_add(u64::from(count).saturating_mul(value));
        over.most = over.most.max(value);
    };
    if tiles.is_empty() {
        list.runs_in(0..list.len(), &mut add);
    }
    for range in tiles.ranges() {
        // A list has at most 2³² − 1 tiles, so the last tile number is never in it.
        list.runs_in(*range.start()..range.end().saturating_add(1), &mut add);
    }
    over
}

/// The sum of a list that may not be known.
pub fn sum(list: Option<&TileList>, tiles: &TileSelection) -> Option<u64> {
    Some(over_tiles(list?, tiles).sum)
}

/// The largest number of a list that may not be known.
pub fn most(list: Option<&TileList>, tiles: &TileSelection) -> Option<u64> {
    Some(over_tiles(list?, tiles).most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_tiles_count_and_absent_ones_do_not() {
        let list = TileList::from_runs([(2, 5), (3, 1), (1, u64::MAX)]);
        let of = |text: &str| over_tiles(&list, &text.parse().expect("tiles"));
        assert_eq!(of("1-3"), OverTiles { sum: 7, most: 5 });
        assert_eq!(of("0,2,4"), OverTiles { sum: 7, most: 5 });
        assert_eq!(of("9-4294967295"), OverTiles::default());
        let all = OverTiles { sum: u64::MAX, most: u64::MAX };
        assert_eq!(of("0-4294967295"), all);
        assert_eq!(over_tiles(&list, &TileSelection::default()), all);
        assert_eq!(
            (sum(None, &TileSelection::default()), most(None, &"1".parse().unwrap())),
            (None, None)
        );
    }
}
