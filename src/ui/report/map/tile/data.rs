//! A tile as it was read, its rectangles over steps, what ends above the limit, and the operation of each of its
//! variables.

use eframe::egui;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::read::{TileData, TileReading};
use crate::analysis::derived::Derived;
use crate::analysis::placement::address_steps::{AddressSteps, Rectangle};
use crate::analysis::placement::always_live::{Band, bands};
use crate::run::arena_layers::layers_of_run;
use crate::store::placed::Placement;
use crate::store::{ArenaId, Report, WarningCode};
use crate::ui::job::{Latest, Same};
use crate::ui::runs::Run;

/// Parts of the addresses in which always-live memory is looked at.
const PARTS: u64 = 48;

pub struct OperationOnTile {
    pub name: String,
    /// The layer of the model that it is in, where its name says that.
    pub layer: Option<String>,
    /// Bytes × steps.
    pub size: u128,
    /// Its value of `availableMemoryProportion`.
    pub proportion: Option<f64>,
}

pub struct RunData {
    pub tile: Arc<TileData>,
    pub rectangles: AddressSteps,
    /// Whether the report says when variables live.
    pub has_steps: bool,
    /// The step at which memory ends highest, the first of equals; without a limit of its own the peak.
    pub highest_step: Option<usize>,
    /// The steps at which something ends above the limit.
    pub over_steps: Vec<Range<u32>>,
    /// The rectangles that end above the limit.
    pub over: Vec<usize>,
    /// The rows of the variables that end above the limit, highest end first.
    pub over_rows: Vec<u32>,
    /// Where others lie at addresses of what had no room: of each the addresses and steps that both have.
    pub clashes: Vec<Rectangle>,
    /// What always-live memory consists of.
    pub bands: Vec<Band>,
    /// The operations that own something, with most first, then by name.
    pub operations: Vec<OperationOnTile>,
    /// Whether the layer of any is known.
    pub has_layers: bool,
    /// The layers of the run, the largest first.
    pub layers: Vec<String>,
    /// The operation of each variable by row, a position in `operations`.
    operation_of: Vec<Option<usize>>,
}

#[derive(Default)]
pub struct RunReading {
    /// What of the tile is read and looked for.
    pub of_tile: TileReading,
    found: Latest<(Same<TileData>, bool), Arc<RunData>>,
}

impl RunReading {
    /// Asks for a tile; returns what was last found, which may be another tile meanwhile.
    pub fn tile(&mut self, ctx: &egui::Context, run: &Run, arena: ArenaId) -> Option<Arc<RunData>> {
        let data = self.of_tile.tile(ctx, run, arena)?;
        let key = (Same(Arc::clone(&data)), run.report.debug.is_settled());
        let derived = Arc::clone(&run.derived);
        self.found.ask("addresses over steps", ctx, &key, move |_| {
            Arc::new(RunData::new(data, &derived))
        });
        self.found.last().map(|(_, found)| Arc::clone(found))
    }

    /// Why there is nothing; `None` while it is being found.
    pub fn why_not(&self, report: &Report) -> Option<String> {
        self.found.failure().map(str::to_owned).or_else(|| self.of_tile.why_not(report))
    }
}

impl RunData {
    fn new(tile: Arc<TileData>, derived: &Derived) -> Self {
        let over_steps = AddressSteps::new(&tile.placed, &tile.report);
        let has_steps = over_steps.is_some();
        if let Some(simplified) = over_steps.as_ref().map(|it| it.simplified).filter(|it| *it > 0) {
            let message = format!(
                "{}: {simplified} placements live too often together; over steps they are drawn from \
                 their first step to their last",
                tile.report.arena_title(tile.arena)
            );
            let file = tile.report.path.display().to_string();
            tile.report.warnings.add(WarningCode::Inconsistent, &file, message);
        }
        let rectangles = over_steps.unwrap_or_else(|| AddressSteps::without_steps(&tile.placed));
        let mut sizes = vec![0_u128; tile.placed.placements.len()];
        for rectangle in &rectangles.rectangles {
            let bytes = rectangle.bytes.end.saturating_sub(rectangle.bytes.start);
            let steps = rectangle.steps.end.saturating_sub(rectangle.steps.start);
            if let Some(size) = sizes.get_mut(rectangle.row as usize) {
                *size += u128::from(bytes) * u128::from(steps);
            }
        }
        let limit = tile.map.limit.unwrap_or(u64::MAX);
        let all = rectangles.rectangles.iter().enumerate();
        let over = all.filter(|(_, one)| one.bytes.end > limit).map(|(place, _)| place).collect();
        let highest = rectangles.highest().filter(|_| has_steps);
        let highest = highest.map(|one| one.steps.start as usize);
        let goes_by_peak =
            tile.map.limit.is_none() || tile.is_device_limited || tile.map.is_filled_from_both_ends;
        let (operations, operation_of) = operations(&tile, derived, &sizes);
        let without_room = without_room(&tile, &rectangles);
        let failed = without_room.first().filter(|_| has_steps).map(|it| it.steps.start as usize);
        Self {
            highest_step: failed.or(tile.peak.filter(|_| goes_by_peak)).or(highest),
            clashes: clashes(without_room, &rectangles.rectangles),
            over_steps: rectangles.steps_above(limit),
            over,
            over_rows: over_rows(&tile),
            bands: bands(&tile.map.blocks, (tile.map.end / PARTS).max(1)),
            has_steps,
            rectangles,
            layers: layers_of_run(derived),
            has_layers: operations.iter().any(|operation| operation.layer.is_some()),
            operations,
            operation_of,
            tile,
        }
    }

    /// The rectangles of a variable, by its row.
    pub fn rectangles_of(&self, row: u32) -> &[Rectangle] {
        let bytes = self.tile.bytes_of(row);
        bytes.map_or(&[], |bytes| self.rectangles.of_row(row, &bytes))
    }

    /// The operation of a variable, by its row.
    pub fn operation(&self, row: u32) -> Option<&OperationOnTile> {
        self.operations.get(self.place_of_operation(row)?)
    }

    /// The same as a position in `operations`.
    pub fn place_of_operation(&self, row: u32) -> Option<usize> {
        self.operation_of.get(row as usize).copied().flatten()
    }
}

/// The rectangles of what had no room.
fn without_room<'a>(tile: &TileData, all: &'a AddressSteps) -> &'a [Rectangle] {
    let row = tile.placed.without_room;
    let of_row = row.and_then(|row| Some((row, tile.bytes_of(row)?)));
    of_row.map_or(&[], |(row, bytes)| all.of_row(row, &bytes))
}

/// What others have of the addresses and steps of these.
fn clashes(wanted: &[Rectangle], all: &[Rectangle]) -> Vec<Rectangle> {
    let common = |one: &Rectangle, other: &Rectangle| {
        let bytes = one.bytes.start.max(other.bytes.start)..one.bytes.end.min(other.bytes.end);
        let steps = one.steps.start.max(other.steps.start)..one.steps.end.min(other.steps.end);
        let is_one = one.row != other.row && !bytes.is_empty() && !steps.is_empty();
        is_one.then_some(Rectangle { row: other.row, bytes, steps })
    };
    wanted.iter().flat_map(|one| all.iter().filter_map(move |other| common(one, other))).collect()
}

/// The rows of the variables that end above the limit, highest end first.
fn over_rows(tile: &TileData) -> Vec<u32> {
    let limit = tile.map.limit.unwrap_or(u64::MAX);
    let over = tile.map.blocks.iter().filter(|block| block.end > limit);
    let mut rows: Vec<u32> = over.map(|block| block.row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(tile.bytes_of(*row).map(|bytes| bytes.end)));
    rows
}

/// The operations by bytes × steps, and which of them each variable belongs to.
fn operations(
    tile: &TileData,
    derived: &Derived,
    sizes: &[u128],
) -> (Vec<OperationOnTile>, Vec<Option<usize>>) {
    let nothing = || (Vec::new(), vec![None; tile.placed.placements.len()]);
    let (Some(liveness), Some(_)) = (tile.report.liveness.get(), derived.operations()) else {
        return nothing();
    };
    let owners = derived.owners();
    let of_row = |placement: &Placement| -> Option<(&str, Option<f64>)> {
        let operation = owners.variables.of_placement(liveness, placement)?;
        let operation = owners.operations().get(operation as usize)?;
        Some((operation.name.as_deref()?, operation.available_memory_proportion))
    };
    let found: Vec<_> = tile.placed.placements.iter().map(of_row).collect();
    let mut by_name: HashMap<&str, (u128, Option<f64>)> = HashMap::new();
    for (found, size) in found.iter().zip(sizes) {
        if let Some((name, proportion)) = found {
            let entry = by_name.entry(name).or_default();
            *entry = (entry.0.saturating_add(*size), entry.1.or(*proportion));
        }
    }
    let mut list: Vec<_> = by_name.into_iter().filter(|(_, (size, _))| *size > 0).collect();
    list.sort_by(|a, b| b.1.0.cmp(&a.1.0).then_with(|| a.0.cmp(b.0)));
    let places: HashMap<&str, usize> =
        list.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
    let of = found.iter().map(|found| places.get(found.as_ref()?.0).copied()).collect();
    let operation = |(name, (size, proportion)): (&str, (u128, Option<f64>))| OperationOnTile {
        layer: derived.answers().model_place(name).layer,
        name: name.to_owned(),
        size,
        proportion,
    };
    (list.into_iter().map(operation).collect(), of)
}
