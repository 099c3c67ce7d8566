//! The state of vertices on some tiles, part by part.
//!
//! Vertex data, edge pointers, copy pointers and padding are the bytes of the categories
//! `vertexInstanceState` and `vertexFieldData`, descriptors those of `copyDescriptor` (both seen on the
//! one real report) and, which it does not have, probably `vectorListDescriptor`. The total is of all
//! five.

use crate::store::vertex::{StateLists, StatePart};

use crate::analysis::memory::over_tiles::sum;
use crate::analysis::memory::selection::TileSelection;

/// Bytes of each of [`StatePart::ALL`]; `None` where a list could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateBytes(pub [Option<u64>; 5]);

impl StateBytes {
    /// The state on the selected tiles, or on all of an empty selection.
    pub fn on(lists: &StateLists, tiles: &TileSelection) -> Self {
        Self(lists.each_ref().map(|list| sum(list.as_ref(), tiles)))
    }

    pub fn part(&self, part: StatePart) -> Option<u64> {
        let parts = StatePart::ALL.iter().zip(self.0);
        parts.filter(|(other, _)| **other == part).find_map(|(_, bytes)| bytes)
    }

    /// Bytes of all parts; `None` where one is not known.
    pub fn total(&self) -> Option<u64> {
        self.0.iter().try_fold(0_u64, |sum, bytes| Some(sum.saturating_add((*bytes)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tile_list::TileList;

    #[test]
    fn a_part_that_is_not_known_makes_the_total_unknown() {
        let list = |value| Some(TileList::from_runs([(4, value)]));
        let mut lists = [list(1), list(10), list(100), list(1000), list(10_000)];
        let tiles: TileSelection = "1-2".parse().unwrap();
        let state = StateBytes::on(&lists, &tiles);
        assert_eq!((state.part(StatePart::CopyPointers), state.total()), (Some(200), Some(22_222)));
        lists[4] = None;
        let state = StateBytes::on(&lists, &TileSelection::default());
        assert_eq!((state.part(StatePart::Descriptors), state.total()), (None, None));
        assert_eq!(state.part(StatePart::VertexData), Some(4));
    }
}
