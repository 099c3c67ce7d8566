//! A tile's bytes with its regions, its categories and its lives.
//!
//! Categories count overlapped bytes once a variable, at least two of which share each. So the bytes that are not
//! overlapped, and half of those that are, are between them no less than the region; without overlap they are equal.

use super::differences::{Checked, Differences};
use super::nowhere;
use super::tile_bytes::REGIONS;
use crate::analysis::memory::cell;
use crate::store::memory::{CategoryMemory, Region, TileMemory};
use crate::store::{Report, TileId};

const WITH_GAPS: [&str; 3] =
    ["non_interleaved_including_gaps", "interleaved_including_gaps", "overflowed_including_gaps"];

pub fn compare(report: &Report, differences: &mut Differences) {
    let Some(memory) = report.memory.get() else { return };
    if let (Some(last), Some(tiles)) =
        (memory.tiles.as_slice().last(), report.target.get().and_then(|target| target.tiles))
    {
        let kind = ("table memory_by_tile, column tile", "target_info.num_tiles, less one");
        differences.at_most(kind, nowhere, u64::from(last.0), tiles.saturating_sub(1));
    }
    if let Some(known) = report.categories.get().filter(|known| !known.ids.is_empty()) {
        let kind = ("table memory_by_category, column category_id", "var_categories");
        for category in &memory.categories {
            if known.names.iter().all(|name| name != category.name) {
                let place = || format!(", category {}", category.name);
                differences.add(kind, place, "none", "one of its names");
            }
        }
    }
    for (row, tile) in memory.tiles.as_slice().iter().enumerate() {
        compare_tile(memory, row, *tile, differences);
    }
}

fn compare_tile(memory: &TileMemory, row: usize, tile: TileId, differences: &mut Differences) {
    let place = || format!(", tile {tile}");
    let total = cell(&memory.total, row);
    let [a, b, c] = Region::ALL.map(|region| cell(&memory.by_region[region as usize], row));
    let add = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    let kind = ("table memory_by_tile, column total", "the sum of its regions");
    differences.compare(kind, place, total, add(add(a, b), c));
    let lives = add(cell(&memory.always_live, row), cell(&memory.not_always_live_max, row));
    let kind = ("table memory_by_tile, always_live_bytes + not_always_live_max_bytes", "total");
    differences.at_most(kind, place, lives, total);
    for (region, bytes) in [a, b, c].into_iter().enumerate() {
        let (Some(column), Some(by)) = (REGIONS.get(region), WITH_GAPS.get(region)) else { return };
        let with_gaps = memory.including_gaps_by_region.get(region);
        let with_gaps = with_gaps.and_then(|with_gaps| cell(with_gaps, row));
        differences.at_most((column, by), place, bytes, with_gaps);
        let sums = category_bytes(&memory.categories, region, tile);
        let (Some((alone, shared)), Some(bytes)) = (sums, bytes) else { continue };
        let most = alone.saturating_add(shared / 2);
        let kind: Checked = (column, "what memory_by_category has without overlap");
        if bytes < alone || (shared > 0 && bytes == alone) {
            differences.compare(
                kind,
                place,
                bytes,
                if shared > 0 { alone.saturating_add(1) } else { alone },
            );
        }
        differences.at_most((column, "memory_by_category"), place, bytes, most);
    }
}

/// Bytes of all categories on a tile in a region, not overlapped and overlapped; `None` where a list is not known.
fn category_bytes(
    categories: &[CategoryMemory],
    region: usize,
    tile: TileId,
) -> Option<(u64, u64)> {
    if categories.is_empty() {
        return None;
    }
    let bytes =
        |lists: &[Option<Vec<u64>>; 3]| lists.get(region)?.as_ref()?.get(tile.0 as usize).copied();
    categories.iter().try_fold((0_u64, 0_u64), |(alone, shared), category| {
        Some((
            alone.saturating_add(bytes(&category.not_overlapped)?),
            shared.saturating_add(bytes(&category.overlapped)?),
        ))
    })
}
