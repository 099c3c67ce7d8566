//! The fullest tiles against the limit, and how many tiles are how full. Bytes include gaps.

use std::cmp::Reverse;

use serde::Serialize;

use crate::analysis::memory::{cell, over_limit_bytes};
use crate::store::Report;

/// Bins up to the limit: in answers, and in a histogram that is drawn.
pub const BINS_TO_LIMIT: u64 = 16;
pub const DRAWN_BINS: u64 = 32;
/// Bins at most: tiles far above the limit make bins wider.
const MOST_BINS: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FullTile {
    pub tile: u32,
    #[serde(rename = "ipu")]
    pub device: Option<u32>,
    pub bytes: u64,
    /// Bytes over the limit; `None` where the limit is not known.
    pub over_limit_bytes: Option<u64>,
}

/// The `most` fullest tiles, fullest first, then by number. Tiles whose bytes are not known are left
/// out; without the table of tiles there are none.
pub fn fullest_tiles(report: &Report, most: usize) -> Vec<FullTile> {
    let Some(memory) = report.memory.get() else { return Vec::new() };
    let target = report.target.get();
    let tiles = memory.tiles.as_slice().iter().enumerate();
    let mut tiles: Vec<FullTile> = tiles
        .filter_map(|(row, tile)| {
            Some(FullTile {
                tile: tile.0,
                device: target.and_then(|target| target.device_of(*tile)),
                bytes: cell(&memory.including_gaps, row)?,
                over_limit_bytes: over_limit_bytes(memory, target, row),
            })
        })
        .collect();
    tiles.sort_by_key(|tile| (Reverse(tile.bytes), tile.tile));
    tiles.truncate(most);
    tiles
}

/// So many tiles have bytes in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// The range is what is above this; of the first bin also 0.
    pub above_bytes: u64,
    /// And what is at most this.
    pub to_bytes: u64,
    pub tiles: u64,
}

/// The bytes of the fullest tile of some reports.
pub fn fullest_of<'a>(reports: impl Iterator<Item = &'a Report>) -> u64 {
    let of = |report: &Report| report.memory.get()?.including_gaps.iter().flatten().max().copied();
    reports.filter_map(of).max().unwrap_or(0)
}

/// The histogram of tiles, with `bins_to_limit` bins below the limit. It ends with the bin of the fullest tile, or with that
/// of `up_to` if that is higher. Bins are equally wide and the limit, where it is known, is the end of one, so that a bin is
/// of tiles that are over or of others; only the last bin of tiles that are many times over the limit is wider.
pub fn histogram(report: &Report, mut bins_to_limit: u64, up_to: u64) -> Vec<Bin> {
    let Some(memory) = report.memory.get() else { return Vec::new() };
    let bytes: Vec<u64> = memory.including_gaps.iter().copied().flatten().collect();
    let Some(most) = bytes.iter().copied().max() else { return Vec::new() };
    let most = most.max(up_to);
    let limit = report.bytes_per_tile().unwrap_or(most).max(1);
    while bins_to_limit > 1 && most / limit >= MOST_BINS / bins_to_limit {
        bins_to_limit /= 2;
    }
    let edge = |bin: u64| {
        let edge = u128::from(limit) * u128::from(bin) / u128::from(bins_to_limit);
        u64::try_from(edge).unwrap_or(u64::MAX)
    };
    let mut ends: Vec<u64> = (1..=MOST_BINS).map(edge).collect();
    let last = ends.partition_point(|end| *end < most).min(ends.len() - 1);
    ends.truncate(last + 1);
    if let Some(end) = ends.last_mut() {
        *end = most.max(*end);
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let bin =
        |(above_bytes, to_bytes): (u64, &u64)| Bin { above_bytes, to_bytes: *to_bytes, tiles: 0 };
    let mut bins: Vec<Bin> = starts.zip(&ends).map(bin).collect();
    for bytes in bytes {
        if let Some(bin) = bins.get_mut(ends.partition_point(|end| *end < bytes)) {
            bin.tiles += 1;
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::analysis::fixture::memory;
    use crate::store::target::Target;

    fn report(limit: Option<u64>, bytes: &[u64]) -> Report {
        let report = Report::default();
        let cells = bytes.iter().map(|bytes| Some(*bytes));
        report.memory.fill(Some(memory((0..).zip(cells))));
        let target =
            Target { bytes_per_tile: limit, tiles_per_device: Some(2), ..Target::default() };
        report.target.fill(Some(target));
        report.fill_arenas_with_tiles();
        report
    }

    #[test]
    fn the_fullest_come_first_and_equals_by_number() {
        let report = report(Some(100), &[90, 130, 7, 130]);
        let tiles = fullest_tiles(&report, 3);
        let found: Vec<_> = tiles.iter().map(|tile| (tile.tile, tile.device, tile.bytes)).collect();
        assert_eq!(found, [(1, Some(0), 130), (3, Some(1), 130), (0, Some(0), 90)]);
        assert_eq!((tiles[0].over_limit_bytes, tiles[2].over_limit_bytes), (Some(30), Some(0)));
        assert!(fullest_tiles(&Report::default(), 3).is_empty());
        assert!(histogram(&Report::default(), BINS_TO_LIMIT, 0).is_empty());
    }

    proptest! {
        #[test]
        fn every_tile_is_in_one_bin_and_the_limit_parts_them(
            limit in 0..5000_u64,
            knows_limit in any::<bool>(),
            bytes in proptest::collection::vec(0..400_000_u64, 1..40),
            up_to in 0..500_000_u64,
        ) {
            let report = report(knows_limit.then_some(limit), &bytes);
            let most = bytes.iter().max().copied().unwrap_or(0);
            let drawn = histogram(&report, DRAWN_BINS, up_to);
            prop_assert_eq!(drawn.iter().map(|bin| bin.tiles).sum::<u64>(), bytes.len() as u64);
            prop_assert_eq!(drawn[0].above_bytes, 0);
            let last = drawn[drawn.len() - 1];
            prop_assert!(last.to_bytes >= most.max(up_to) && drawn.len() as u64 <= MOST_BINS);
            prop_assert!(last.above_bytes <= most.max(up_to), "no more than is asked for");
            let bins = histogram(&report, BINS_TO_LIMIT, 0);
            prop_assert_eq!(bins.iter().map(|bin| bin.tiles).sum::<u64>(), bytes.len() as u64);
            prop_assert!(bins.len() as u64 <= MOST_BINS);
            prop_assert!(bins.last().is_some_and(|bin| bin.tiles > 0), "it ends with the fullest");
            prop_assert!(bins.windows(2).all(|pair| pair[0].to_bytes == pair[1].above_bytes));
            for (at, bin) in bins.iter().enumerate() {
                let is_in = |bytes: &&u64| {
                    (**bytes > bin.above_bytes || at == 0) && **bytes <= bin.to_bytes
                };
                prop_assert_eq!(bytes.iter().filter(is_in).count() as u64, bin.tiles);
            }
            if knows_limit && limit > 0 && bytes.iter().any(|bytes| *bytes > limit) {
                prop_assert!(bins.iter().any(|bin| bin.to_bytes == limit));
            }
        }
    }
}
