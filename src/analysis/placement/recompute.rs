//! Recomputes Poplar's own sums from lowered variables (formats/poplar.md 2.4), to check a report
//! and to write one.

use std::collections::BTreeMap;

use crate::store::UnloweredId;
use crate::store::liveness::{Classes, VariableBytes};
use crate::store::memory::Region;
use crate::store::placed::{Placed, Placement};
use crate::store::target::Target;

use crate::analysis::liveness::curve_of_variables;
use crate::analysis::placement::gaps::used_ranges;

/// What `memory_by_tile` says of one tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileSums {
    /// Distinct bytes covered by allocated variables.
    pub total: u64,
    /// The highest end address.
    pub including_gaps: u64,
    /// `total` by region, by address.
    pub by_region: [u64; 3],
    /// Sizes of variables whose class is always live.
    pub always_live: u64,
    /// The most that the sizes of other variables add up to at any step.
    pub not_always_live_max: u64,
}

/// Bytes of one category on one tile by region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CategorySums {
    /// At addresses that one variable uses.
    pub not_overlapped: [u64; 3],
    /// At addresses shared with any other variable.
    pub overlapped: [u64; 3],
}

/// The region of an address, and where that region ends.
fn region_at(address: u64, target: &Target) -> (Region, u64) {
    let end = target.bytes_per_tile.unwrap_or(u64::MAX);
    let interleaved = target.interleaved_start.unwrap_or(end).min(end);
    if address < interleaved {
        (Region::NonInterleaved, interleaved)
    } else if address < end {
        (Region::Interleaved, end)
    } else {
        (Region::Overflowed, u64::MAX)
    }
}

/// Splits a range of addresses at the borders of regions.
fn by_region(mut start: u64, end: u64, target: &Target, mut each: impl FnMut(usize, u64)) {
    while start < end {
        let (region, border) = region_at(start, target);
        let stop = border.min(end);
        each(region as usize, stop - start);
        start = stop;
    }
}

/// Sums of one tile.
pub fn tile_sums(tile: &Placed, target: &Target, classes: &Classes, steps: usize) -> TileSums {
    let mut sums = TileSums::default();
    for range in used_ranges(tile, |_| true) {
        sums.total += range.end - range.start;
        sums.including_gaps = range.end;
        by_region(range.start, range.end, target, |region, bytes| {
            if let Some(sum) = sums.by_region.get_mut(region) {
                *sum += bytes;
            }
        });
    }
    let allocated = || tile.placements.iter().filter(|variable| variable.flags.is_allocated());
    sums.always_live = allocated()
        .filter(|variable| classes.is_always_live(variable.class))
        .map(|variable| variable.bytes)
        .sum();
    sums.not_always_live_max = curve(allocated(), classes, steps).into_iter().max().unwrap_or(0);
    sums
}

/// Not-always-live bytes of lowered variables at each step position.
pub fn curve<'a>(
    variables: impl Iterator<Item = &'a Placement>,
    classes: &Classes,
    steps: usize,
) -> Vec<u64> {
    let row = |Placement { class, bytes, .. }: &Placement| VariableBytes {
        variable: UnloweredId(0),
        class: *class,
        bytes: *bytes,
    };
    curve_of_variables(&variables.map(row).collect::<Vec<_>>(), classes, steps)
}

/// Bytes by category of one tile, by the category's id.
pub fn category_sums(tile: &Placed, target: &Target) -> BTreeMap<u32, CategorySums> {
    sums_by(tile, target, |variable| variable.category.unwrap_or(u32::MAX))
}

/// Bytes of one tile by what `key` says of its variables.
///
/// A sweep over the addresses: between two borders the same variables are there, and their bytes
/// are overlapped when there is more than one.
pub fn sums_by<K: Copy + Ord>(
    tile: &Placed,
    target: &Target,
    key: impl Fn(&Placement) -> K,
) -> BTreeMap<K, CategorySums> {
    let mut borders: Vec<(u64, bool, K)> = Vec::new();
    for row in tile.by_address() {
        let Some(variable) = tile.get(*row) else { continue };
        let key = key(variable);
        borders.push((variable.offset, true, key));
        borders.push((variable.end(), false, key));
    }
    borders.sort_unstable();
    let mut sums: BTreeMap<K, CategorySums> = BTreeMap::new();
    let mut present: BTreeMap<K, u64> = BTreeMap::new();
    let mut count = 0_u64;
    let mut last = 0;
    for (address, begins, key) in borders {
        if address > last && count > 0 {
            for (key, variables) in present.iter().filter(|(_, variables)| **variables > 0) {
                let sums = sums.entry(*key).or_default();
                let parts =
                    if count == 1 { &mut sums.not_overlapped } else { &mut sums.overlapped };
                by_region(last, address, target, |region, bytes| {
                    if let Some(sum) = parts.get_mut(region) {
                        *sum += bytes * variables;
                    }
                });
            }
        }
        last = address;
        let variables = present.entry(key).or_default();
        if begins {
            *variables += 1;
            count += 1;
        } else {
            *variables -= 1;
            count -= 1;
        }
    }
    sums
}
