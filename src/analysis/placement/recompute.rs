//! Recomputes Poplar's own sums from lowered variables (formats/poplar.md 2.4), to check a report
//! and to write one.

use std::collections::BTreeMap;
use std::ops::Range;

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

/// Splits a range of addresses at the borders of regions.
fn by_region(start: u64, end: u64, target: &Target, mut each: impl FnMut(usize, u64)) {
    let limit = target.bytes_per_tile.unwrap_or(u64::MAX);
    let interleaved = target.interleaved_start.unwrap_or(limit).min(limit);
    // Most ranges lie in one region.
    let ends = [interleaved, limit, u64::MAX];
    let mut from = start;
    for (region, border) in Region::ALL.into_iter().zip(ends) {
        let until = end.min(border);
        if from < until {
            each(region as usize, until - from);
            from = until;
        }
        if from >= end {
            return;
        }
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
/// Bytes are overlapped where more than one variable is.
pub fn sums_by<K: Copy + Ord>(
    tile: &Placed,
    target: &Target,
    key: impl Fn(&Placement) -> K,
) -> BTreeMap<K, CategorySums> {
    let mut sums: BTreeMap<K, CategorySums> = BTreeMap::new();
    let variables = tile.by_address().iter().filter_map(|row| tile.get(*row));
    for variable in variables.clone() {
        let sums = sums.entry(key(variable)).or_default();
        add_by_region(&mut sums.overlapped, variable.offset..variable.end(), target);
    }
    sweep(
        variables.map(|variable| (variable.offset..variable.end(), key(variable))),
        |bytes, of| {
            let Some(sums) = of.and_then(|key| sums.get_mut(&key)) else { return };
            by_region(bytes.start, bytes.end, target, |region, bytes| {
                if let (Some(alone), Some(shared)) =
                    (sums.not_overlapped.get_mut(region), sums.overlapped.get_mut(region))
                {
                    *alone += bytes;
                    *shared = shared.saturating_sub(bytes);
                }
            });
        },
    );
    sums
}

/// Adds the bytes of a range to the sums of the regions that it is in.
pub fn add_by_region(sums: &mut [u64; 3], bytes: Range<u64>, target: &Target) {
    by_region(bytes.start, bytes.end, target, |region, bytes| {
        if let Some(sum) = sums.get_mut(region) {
            *sum = sum.saturating_add(bytes);
        }
    });
}

/// Goes over the addresses that variables use, ascending, in ranges without overlap: each with the key of the one
/// variable that uses it, or `None` where there are several. Variables come by their offsets.
pub fn sweep<K: Copy>(
    variables: impl Iterator<Item = (Range<u64>, K)>,
    mut each: impl FnMut(Range<u64>, Option<K>),
) {
    // The two that reach farthest say what there is up to the next variable: both, the first alone, nothing.
    let (mut from, mut farthest, mut second) = (0_u64, (0_u64, None), 0_u64);
    let mut pass_over = |from: u64, until: u64, farthest: (u64, Option<K>), second: u64| {
        let shared = from..second.min(until);
        let alone = from.max(second)..farthest.0.min(until);
        if !shared.is_empty() {
            each(shared, None);
        }
        if !alone.is_empty() {
            each(alone, farthest.1);
        }
    };
    for (bytes, key) in variables {
        pass_over(from, bytes.start, farthest, second);
        from = bytes.start;
        if bytes.end > farthest.0 {
            (second, farthest) = (farthest.0, (bytes.end, Some(key)));
        } else {
            second = second.max(bytes.end);
        }
    }
    pass_over(from, u64::MAX, farthest, second);
}
