//! Every tile's sums, classes and curve with its lowered variables and its bytes by class.
//!
//! Both tables are gone through once, tile by tile and in parallel: 0.1 µs a variable. Sums over tiles (bytes of a
//! class on an IPU, of a variable before lowering) are compared at the end.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::differences::{Checked, Differences};
use super::lives::{SignedChanges, add_changes, bytes_by_class, changes, compare_curves};
use super::tile_bytes::{CATEGORIES, KnownCategory, TileBytes, compare_bytes, known_categories};
use super::{is_of_all_tiles, nowhere};
use crate::analysis::memory::cell;
use crate::analysis::placement::recompute::{CategorySums, add_by_region, sweep};
use crate::limits::Lives;
use crate::progress::Progress;
use crate::store::ids::DeviceId;
use crate::store::liveness::{Liveness, TileVariableBytes};
use crate::store::memory::TileMemory;
use crate::store::program::Steps;
use crate::store::variable::LoweredVariables;
use crate::store::{Report, TileId};

/// Sums by class that are kept of each IPU, for each thread.
const MOST_SUMS: usize = 1 << 20;

pub fn compare(report: &Report, progress: &Progress, differences: &mut Differences) {
    let (lowered, table) = (report.variables.get(), report.tile_variable_bytes.get());
    if lowered.is_none() && table.is_none() {
        return;
    }
    let (Some(memory), Some(liveness), Some(steps)) =
        (report.memory.get(), report.liveness.get(), report.steps.get())
    else {
        return;
    };
    let devices = devices(report, liveness);
    let categories = known_categories(report);
    let devices = &*devices;
    let tiles =
        LoweredTiles { report, lowered, table, memory, liveness, steps, devices, categories };
    for (known, kind) in [
        (lowered.map(|lowered| &lowered.tiles), ("table vars_info, column tile", "memory_by_tile")),
        (
            table.map(|table| &table.tiles),
            ("table var_bytes_by_eq_class, column tile", "memory_by_tile"),
        ),
    ] {
        for tile in known.map_or(&[][..], |tiles| tiles.as_slice()) {
            if memory.tiles.position(*tile).is_none() {
                let expected = format!("one of {} tiles", memory.tiles.len());
                differences.add(kind, nowhere, tile, expected);
            }
        }
    }
    // A few parts for each thread, for tiles are not alike.
    let parts = rayon::current_num_threads().max(1) * 2;
    let rows: Vec<usize> = (0..memory.tiles.len()).collect();
    let sums: Vec<CheckedSums> = rows
        .par_chunks(rows.len().div_ceil(parts).max(1))
        .map(|rows| {
            let mut sums = CheckedSums::new(&tiles, parts);
            for row in rows.iter().take_while(|_| !progress.is_cancelled()) {
                sums.add_tile(&tiles, *row);
            }
            sums
        })
        .collect();
    let mut all = CheckedSums::new(&tiles, 1);
    for part in sums {
        all.add(part);
    }
    differences.append(std::mem::take(&mut all.differences));
    if let Some(table) = table.filter(|table| !table.is_empty()) {
        all.compare_totals(&tiles, table, differences);
    }
}

/// The IPUs that have changes of their own; none where they are too many to keep sums of each.
fn devices(report: &Report, liveness: &Liveness) -> Vec<DeviceId> {
    let deltas = report.deltas.get().filter(|_| is_of_all_tiles(report));
    let devices: Vec<DeviceId> =
        deltas.map_or_else(Vec::new, |deltas| deltas.by_device.keys().copied().collect());
    let sums = devices.len().saturating_mul(liveness.classes.ids.len());
    if sums <= MOST_SUMS { devices } else { Vec::new() }
}

/// What is compared.
struct LoweredTiles<'a> {
    report: &'a Report,
    lowered: Option<&'a LoweredVariables>,
    table: Option<&'a TileVariableBytes>,
    memory: &'a TileMemory,
    liveness: &'a Liveness,
    steps: &'a Steps,
    devices: &'a [DeviceId],
    categories: Vec<KnownCategory<'a>>,
}

/// What was found of some tiles.
struct CheckedSums {
    differences: Differences,
    /// Bytes by class, of each IPU and then of all others, by the table of bytes.
    by_class: Vec<u64>,
    /// Bytes by variable before lowering, by the same table.
    by_variable: Vec<u64>,
    /// Ranges of steps that the classes of tiles may still have.
    lives: Lives,
    scratch: Scratch,
}

/// What is made for each tile anew.
#[derive(Default)]
struct Scratch {
    /// Bytes of each class by lowered variables and by the table, and the classes that have any.
    of_class: Vec<[u64; 2]>,
    touched: Vec<usize>,
    order: Vec<u64>,
    other_order: Vec<u64>,
    changes: SignedChanges,
    categories: Vec<CategorySums>,
}

impl CheckedSums {
    fn new(tiles: &LoweredTiles<'_>, parts: usize) -> Self {
        let classes = tiles.liveness.classes.ids.len();
        let scratch = Scratch { of_class: vec![[0; 2]; classes], ..Scratch::default() };
        let groups = tiles.devices.len().saturating_add(1);
        Self {
            differences: Differences::default(),
            by_class: vec![0; classes.saturating_mul(groups)],
            by_variable: vec![0; tiles.liveness.variable_ids.len()],
            lives: Lives::of_part(parts),
            scratch,
        }
    }

    fn add(&mut self, other: Self) {
        self.differences.append(other.differences);
        let columns =
            [(&mut self.by_class, other.by_class), (&mut self.by_variable, other.by_variable)];
        for (sums, others) in columns {
            for (sum, bytes) in sums.iter_mut().zip(others) {
                *sum = sum.saturating_add(bytes);
            }
        }
    }

    fn add_tile(&mut self, tiles: &LoweredTiles<'_>, row: usize) {
        let Some(tile) = tiles.memory.tiles.get(row) else { return };
        let classes = &tiles.liveness.classes;
        if let Some(lowered) = tiles.lowered {
            let rows = lowered.rows_of(tile);
            // Of a replicated program only the tiles of one replica may have variables.
            if !rows.is_empty() || is_of_all_tiles(tiles.report) {
                self.add_lowered(tiles, lowered, rows.clone(), row, tile);
            }
        }
        if let Some(table) = tiles.table {
            for bytes in table.iter(table.rows_of(tile)) {
                self.scratch.add_class(classes.ids.position(bytes.class), 1, bytes.bytes);
                let variable = tiles.liveness.variable_ids.position(bytes.variable);
                if let Some(sum) = variable.and_then(|at| self.by_variable.get_mut(at)) {
                    *sum = sum.saturating_add(bytes.bytes);
                }
            }
        }
        self.compare_classes(tiles, row, tile);
        self.finish_classes(tiles, tile);
    }

    /// The bytes of a tile and of its categories, by its variables in the order of their places.
    fn add_lowered(
        &mut self,
        tiles: &LoweredTiles<'_>,
        lowered: &LoweredVariables,
        rows: Range<usize>,
        row: usize,
        tile: TileId,
    ) {
        let scratch = &mut self.scratch;
        scratch.order.clear();
        let classes = &tiles.liveness.classes;
        let first = rows.start;
        let columns = (
            lowered.flags.get(rows.clone()),
            lowered.classes.get(rows.clone()),
            lowered.offsets.get(rows.clone()),
            lowered.categories.get(rows),
        );
        let (Some(flags), Some(of_class), Some(offsets), Some(categories)) = columns else {
            return;
        };
        for (at, ((flags, class), offset)) in (0_u32..).zip(flags.iter().zip(of_class).zip(offsets))
        {
            let bytes = lowered.size(first.saturating_add(at as usize)).unwrap_or(0);
            if flags.is_allocated() && bytes > 0 {
                scratch.add_class(classes.ids.position(*class), 0, bytes);
                scratch.order.push(u64::from(*offset) << 32 | u64::from(at));
            }
        }
        let Some(target) = tiles.report.target.get() else { return };
        sort_by_offset(&mut scratch.order, &mut scratch.other_order);
        let at = |key: u64| (key & u64::from(u32::MAX)) as usize;
        if !lowered.wide.is_empty() {
            // The keys have no room for what is beyond 32 bits.
            scratch.order.sort_by_key(|key| lowered.offset(first.saturating_add(at(*key))));
        }
        scratch.categories.clear();
        scratch.categories.resize(CATEGORIES, CategorySums::default());
        let by_category = &mut scratch.categories;
        let placed = scratch.order.iter().filter_map(|key| {
            let at = at(*key);
            let row = first.saturating_add(at);
            let offset = lowered.offset(row)?;
            let end = offset.saturating_add(lowered.size(row)?);
            Some((offset..end, usize::from(*categories.get(at)?)))
        });
        for (bytes, category) in placed.clone() {
            if let Some(sums) = by_category.get_mut(category) {
                add_by_region(&mut sums.overlapped, bytes, target);
            }
        }
        let (mut total, mut end, mut by_region) = (0_u64, 0_u64, [0; 3]);
        sweep(placed, |bytes, category| {
            total = total.saturating_add(bytes.end.saturating_sub(bytes.start));
            end = bytes.end;
            add_by_region(&mut by_region, bytes.clone(), target);
            if let Some(sums) = category.and_then(|category| by_category.get_mut(category)) {
                add_by_region(&mut sums.not_overlapped, bytes, target);
            }
        });
        for CategorySums { not_overlapped, overlapped } in by_category.iter_mut() {
            for (alone, all) in not_overlapped.iter().zip(overlapped) {
                *all = all.saturating_sub(*alone);
            }
        }
        let of_category = |id: u32| by_category.get(id as usize).copied().unwrap_or_default();
        let bytes = TileBytes { total, end, by_region, of_category: &of_category };
        let differences = &mut self.differences;
        compare_bytes(tiles.memory, &tiles.categories, row, tile, &bytes, differences);
    }

    /// Classes of a tile by both tables, and what is alive by one of them with the tile's sums.
    fn compare_classes(&mut self, tiles: &LoweredTiles<'_>, row: usize, tile: TileId) {
        let (classes, differences) = (&tiles.liveness.classes, &mut self.differences);
        let scratch = &mut self.scratch;
        let (of_lowered, of_table) = (tiles.lowered.is_some(), tiles.table.is_some());
        if of_lowered && of_table && (is_of_all_tiles(tiles.report) || !scratch.touched.is_empty())
        {
            for class in &scratch.touched {
                let Some([lowered, table]) = scratch.of_class.get(*class) else { continue };
                let kind = ("table var_bytes_by_eq_class, column bytes", "vars_info");
                let id = || classes.ids.get(*class).map_or("?".to_owned(), |id| id.to_string());
                let place = || format!(", tile {tile}, class {}", id());
                differences.compare(kind, place, *table, *lowered);
            }
        }
        if scratch.touched.is_empty() && !is_of_all_tiles(tiles.report) {
            return;
        }
        let (side, by) = if of_lowered { (0, "vars_info") } else { (1, "var_bytes_by_eq_class") };
        let mut always_live = 0_u64;
        let mut is_whole = true;
        scratch.changes.clear();
        for class in &scratch.touched {
            let bytes = scratch.of_class.get(*class).and_then(|bytes| bytes.get(side));
            let bytes = bytes.copied().unwrap_or(0);
            if classes.always_live.get(*class) == Some(&true) {
                always_live = always_live.saturating_add(bytes);
            } else if self.lives.take(classes.ranges_of(*class).len()) {
                add_changes(classes, *class, bytes, tiles.steps.ids.len(), &mut scratch.changes);
            } else {
                is_whole = false;
            }
        }
        let place = || format!(", tile {tile}");
        let kind = ("table memory_by_tile, column always_live_bytes", by);
        let found = cell(&tiles.memory.always_live, row);
        differences.compare(kind, place, found, always_live);
        let kind = ("table memory_by_tile, column not_always_live_max_bytes", by);
        let found = cell(&tiles.memory.not_always_live_max, row).filter(|_| is_whole);
        differences.compare(kind, place, found, peak(&mut scratch.changes));
    }

    /// Adds the classes of a tile to those of its IPU, and forgets them.
    fn finish_classes(&mut self, tiles: &LoweredTiles<'_>, tile: TileId) {
        let target = tiles.report.target.get();
        let device = target.and_then(|target| target.device_of(tile)).map(DeviceId);
        let group = device.and_then(|device| tiles.devices.binary_search(&device).ok());
        let classes = tiles.liveness.classes.ids.len();
        let start = group.unwrap_or(tiles.devices.len()).saturating_mul(classes);
        for class in self.scratch.touched.drain(..) {
            let Some(bytes) = self.scratch.of_class.get_mut(class) else { continue };
            if let Some(sum) = self.by_class.get_mut(start.saturating_add(class)) {
                *sum = sum.saturating_add(bytes[1]);
            }
            *bytes = [0; 2];
        }
    }

    /// Sums over tiles with what the file has of all tiles, and the curve of each IPU with its changes.
    fn compare_totals(
        &self,
        tiles: &LoweredTiles<'_>,
        table: &TileVariableBytes,
        differences: &mut Differences,
    ) {
        let (liveness, classes) = (tiles.liveness, &tiles.liveness.classes);
        let groups = || self.by_class.chunks_exact(classes.ids.len().max(1));
        if let Some(rows) = &liveness.variable_bytes
            && table
                .tiles
                .as_slice()
                .iter()
                .all(|tile| tiles.memory.tiles.position(*tile).is_some())
        {
            let mut of_class = vec![0_u64; classes.ids.len()];
            for group in groups() {
                for (sum, bytes) in of_class.iter_mut().zip(group) {
                    *sum = sum.saturating_add(*bytes);
                }
            }
            let stored = bytes_by_class(classes, rows);
            let kind = ("table var_bytes_by_eq_class, rows of all tiles", "its rows by tile");
            for ((id, found), expected) in classes.ids.as_slice().iter().zip(stored).zip(of_class) {
                differences.compare(kind, || format!(", class {id}"), found, expected);
            }
            let mut of_variable: HashMap<usize, u64> = HashMap::new();
            for row in rows {
                if let Some(at) = liveness.variable_ids.position(row.variable) {
                    let sum = of_variable.entry(at).or_default();
                    *sum = sum.saturating_add(row.bytes);
                }
            }
            let variables = liveness.variable_ids.as_slice().iter().zip(&self.by_variable);
            for (at, (id, expected)) in variables.enumerate() {
                let found = of_variable.get(&at).copied().unwrap_or(0);
                differences.compare(kind, || format!(", variable {id}"), found, *expected);
            }
        }
        let Some(deltas) = tiles.report.deltas.get() else { return };
        let mut lives = Lives::of_part(1);
        for (device, by_class) in tiles.devices.iter().zip(groups()) {
            if !lives.take(classes.ranges.len()) {
                return;
            }
            let Some(found) = deltas.by_device.get(device) else { continue };
            let kind: Checked = (
                "table memory_not_always_live_by_step_and_ipu",
                "the rows by tile of var_bytes_by_eq_class, and eq_class_step",
            );
            let expected = changes(classes, by_class, tiles.steps);
            let place = |step| format!(", IPU {device}, step {step}");
            compare_curves(kind, found, expected, tiles.steps, place, differences);
        }
    }
}

impl Scratch {
    /// Adds bytes of a class; a variable without a place has a class that is in no list.
    fn add_class(&mut self, class: Option<usize>, side: usize, bytes: u64) {
        let Some(class) = class.filter(|_| bytes > 0) else { return };
        let Some(sums) = self.of_class.get_mut(class) else { return };
        if *sums == [0; 2] {
            self.touched.push(class);
        }
        if let Some(sum) = sums.get_mut(side) {
            *sum = sum.saturating_add(bytes);
        }
    }
}

/// Sorts keys by their upper halves, digit by digit: three times as fast as by comparing. Most tiles need two digits.
fn sort_by_offset(keys: &mut Vec<u64>, other: &mut Vec<u64>) {
    const BITS: u32 = 11;
    const DIGITS: usize = 1 << BITS;
    let most = keys.iter().copied().max().unwrap_or(0) >> 32;
    let mut shift = 32;
    while shift < u64::BITS && (most << 32) >> shift > 0 {
        let digit = |key: u64| (key >> shift) as usize % DIGITS;
        let mut starts = [0_usize; DIGITS];
        for key in &*keys {
            if let Some(count) = starts.get_mut(digit(*key)) {
                *count += 1;
            }
        }
        let mut start = 0;
        for count in &mut starts {
            start += std::mem::replace(count, start);
        }
        other.resize(keys.len(), 0);
        for key in &*keys {
            if let Some(start) = starts.get_mut(digit(*key)) {
                if let Some(place) = other.get_mut(*start) {
                    *place = *key;
                }
                *start += 1;
            }
        }
        std::mem::swap(keys, other);
        shift += BITS;
    }
}

/// The highest level that changes lead to.
fn peak(changes: &mut SignedChanges) -> u64 {
    changes.sort_unstable();
    let (mut level, mut peak) = (0_i64, 0_i64);
    for at_step in changes.chunk_by(|a, b| a.0 == b.0) {
        level = at_step.iter().fold(level, |level, (_, bytes)| level.saturating_add(*bytes));
        peak = peak.max(level);
    }
    u64::try_from(peak).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_sorted_by_their_upper_halves(
            offsets in proptest::collection::vec(
                prop_oneof![0..9_u32, 0..700_000_u32, any::<u32>()], 0..200),
        ) {
            let keys = || offsets.iter().zip(0_u64..).map(|(offset, row)| u64::from(*offset) << 32 | row);
            let (mut sorted, mut expected): (Vec<u64>, Vec<u64>) = (keys().collect(), keys().collect());
            sort_by_offset(&mut sorted, &mut Vec::new());
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }
}
