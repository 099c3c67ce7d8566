//! Always-live memory from the bottom to the top, as bands that a picture can name.
//!
//! Thousands of small placements lie there in turns. The addresses are divided evenly; a part of which half is
//! always live is made of the categories that have at least a fifth of that, and neighbors that are made of the
//! same categories are one band.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::analysis::placement::tile_map::TileMapBlock;
use crate::store::ids::CategoryId;

/// A range of addresses with the categories that make it up, most bytes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// The addresses.
    pub bytes: Range<u64>,
    /// The categories; `None` for what the file does not name.
    pub categories: Vec<Option<CategoryId>>,
}

type BandSums = BTreeMap<Option<CategoryId>, u64>;

/// The bands of blocks, which come by offset, in parts of so many bytes.
pub fn bands(blocks: &[TileMapBlock], part: u64) -> Vec<Band> {
    let part = part.max(1);
    let mut sums: BTreeMap<u64, BandSums> = BTreeMap::new();
    for block in blocks.iter().filter(|block| block.is_always_live) {
        let mut at = block.offset;
        while at < block.end {
            let end = block.end.min((at / part).saturating_add(1).saturating_mul(part));
            let sum = sums.entry(at / part).or_default().entry(block.category).or_default();
            *sum = sum.saturating_add(end - at);
            at = end;
        }
    }
    let mut bands: Vec<(Range<u64>, BandSums)> = Vec::new();
    for (place, mut sums) in sums {
        let all = sums.values().fold(0_u64, |all, bytes| all.saturating_add(*bytes));
        if all.saturating_mul(2) < part {
            continue;
        }
        sums.retain(|_, bytes| bytes.saturating_mul(5) >= all);
        let bytes = place.saturating_mul(part)..place.saturating_add(1).saturating_mul(part);
        match bands.last_mut() {
            Some((before, of_before))
                if before.end == bytes.start && of_before.keys().eq(sums.keys()) =>
            {
                before.end = bytes.end;
                for (id, bytes) in sums {
                    let sum = of_before.entry(id).or_default();
                    *sum = sum.saturating_add(bytes);
                }
            }
            _ => bands.push((bytes, sums)),
        }
    }
    let band = |(bytes, sums): (Range<u64>, BandSums)| {
        let mut categories: Vec<_> = sums.into_iter().collect();
        categories.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        Band { bytes, categories: categories.into_iter().map(|(id, _)| id).collect() }
    };
    bands.into_iter().map(band).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ClassId;

    #[test]
    fn what_lies_in_turns_is_one_band() {
        let block = |(offset, end, category, is_always_live)| TileMapBlock {
            row: 0,
            offset,
            end,
            lane: 0,
            category: Some(CategoryId(category)),
            class: ClassId(0),
            is_always_live,
        };
        // Parts of ten bytes: code; code and state in turns twice; a sliver; temporary.
        let blocks = [
            (0, 10, 1, true),
            (10, 14, 1, true),
            (14, 20, 2, true),
            (20, 26, 1, true),
            (26, 29, 2, true),
            (29, 30, 3, true),
            (30, 34, 3, true),
            (40, 50, 4, false),
        ]
        .map(block);
        let found = bands(&blocks, 10);
        let ids = |ids: &[u32]| ids.iter().map(|id| Some(CategoryId(*id))).collect::<Vec<_>>();
        assert_eq!(
            found,
            [
                Band { bytes: 0..10, categories: ids(&[1]) },
                Band { bytes: 10..30, categories: ids(&[1, 2]) },
            ]
        );
        assert_eq!(bands(&blocks, 0).first().map(|band| band.bytes.clone()), Some(0..14));
        assert_eq!(bands(&[], 10), []);
        // A damaged report may place much at the end of all addresses.
        let far = [(0, u64::MAX, 1, true); 4].map(block);
        assert!(!bands(&far, u64::MAX / 48).is_empty());
    }
}
