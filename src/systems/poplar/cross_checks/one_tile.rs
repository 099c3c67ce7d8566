//! A tile that is read alone, with its sums and with itself.

use super::differences::Differences;
use super::tile_bytes::{TileBytes, compare_bytes, known_categories};
use crate::analysis::memory::cell;
use crate::analysis::placement::recompute;
use crate::store::placed::Placed;
use crate::store::{Report, TileId};

/// What contradicts itself in the variables of a tile and in what is said of it elsewhere.
pub fn contradictions_of_tile(report: &Report, tile: TileId, placed: &Placed) -> Vec<String> {
    let mut differences = Differences::default();
    for variable in placed.placements.iter().filter(|variable| variable.flags.is_allocated()) {
        let place = || format!(", variable {}", variable.id);
        if variable.alignment > 0 && !variable.alignment.is_power_of_two() {
            let kind = ("table vars_info, column alignment", "its meaning");
            differences.add(kind, place, variable.alignment, "a power of two");
        } else if variable.alignment > 0 && !variable.offset.is_multiple_of(variable.alignment) {
            let kind = ("table vars_info, column offset", "its alignment");
            let expected = format!("a multiple of {}", variable.alignment);
            differences.add(kind, place, variable.offset, expected);
        }
    }
    let row = report.memory.get().and_then(|memory| memory.tiles.position(tile));
    if let (Some(memory), Some(row), Some(target), Some(liveness), Some(steps)) =
        (report.memory.get(), row, report.target.get(), report.liveness.get(), report.steps.get())
    {
        let sums = recompute::tile_sums(placed, target, &liveness.classes, steps.ids.len());
        let by_category = recompute::category_sums(placed, target);
        let bytes = TileBytes {
            total: sums.total,
            end: sums.including_gaps,
            by_region: sums.by_region,
            of_category: &|id| by_category.get(&id).copied().unwrap_or_default(),
        };
        compare_bytes(memory, &known_categories(report), row, tile, &bytes, &mut differences);
        let place = || format!(", tile {tile}");
        let kind = ("table memory_by_tile, column always_live_bytes", "vars_info");
        differences.compare(kind, place, cell(&memory.always_live, row), sums.always_live);
        let kind = ("table memory_by_tile, column not_always_live_max_bytes", "vars_info");
        let found = cell(&memory.not_always_live_max, row);
        differences.compare(kind, place, found, sums.not_always_live_max);
    }
    differences.into_messages()
}
