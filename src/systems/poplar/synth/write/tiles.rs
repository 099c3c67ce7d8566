//! Places and writes the variables of every tile, and adds up what is summed over tiles.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rusqlite::{Transaction, params};

use super::insert;
use crate::analysis::placement::recompute::{self, CategorySums, TileSums};
use crate::format::Progress;
use crate::store::liveness::Classes;
use crate::store::names::Names;
use crate::store::placed::{Placed, Placement};
use crate::store::variable::VariableFlags;
use crate::store::{ClassId, TileId};
use crate::synth::WriteError;
use crate::systems::poplar::files::blob::encode_list;
use crate::systems::poplar::synth::allocator::{WantedPlace, place};
use crate::systems::poplar::synth::model::{CATEGORIES, LifeSpan, Model, Symbol};

/// Class of variables that have no place; not listed in `eq_classes`, as in real reports.
const NO_CLASS: u32 = 0;
/// Class of everything that is always live.
const ALWAYS_LIVE: u32 = 1;
/// The data that stands for all data in constraints.
const STACK: &str = "__stack";
/// Tiles that are placed at a time.
const BATCH: u32 = 64;

/// What is summed up over tiles.
pub struct SumsOfTiles {
    /// The classes of all lives that symbols have.
    pub classes: Classes,
    /// Names of the unlowered view, by id.
    pub unlowered: Vec<String>,
    /// Bytes by (unlowered, class), over all tiles.
    pub totals: BTreeMap<(u32, u32), u64>,
    /// Not-always-live bytes at each step, by IPU.
    pub curves: Vec<Vec<u64>>,
    /// By category, by tile.
    pub categories: Vec<Vec<CategorySums>>,
    /// Lowered variables so far.
    pub variables: u32,
    /// Tiles that have more than a tile holds.
    pub tiles_over: u64,
    /// The tiles by how full they are.
    pub fullness: Vec<(u64, u32)>,
}

/// A tile with its variables in their places. Names stay with the symbols.
struct PlacedTile {
    tile: u32,
    symbols: Vec<usize>,
    variables: Placed,
    sums: TileSums,
    categories: BTreeMap<u32, CategorySums>,
    curve: Vec<u64>,
}

pub fn write(
    model: &Model,
    db: &Transaction<'_>,
    progress: &Progress,
) -> Result<SumsOfTiles, WriteError> {
    let tiles = model.tiles();
    let (classes, class_of) = classes(model);
    let mut unlowered: Vec<String> = Vec::new();
    let mut ids: BTreeMap<&str, u32> = BTreeMap::new();
    let unlowered_of: Vec<u32> = model
        .symbols
        .iter()
        .map(|symbol| {
            *ids.entry(&symbol.shown_as).or_insert_with(|| {
                unlowered.push(symbol.shown_as.clone());
                u32::try_from(unlowered.len() - 1).unwrap_or(u32::MAX)
            })
        })
        .collect();
    let mut sums = SumsOfTiles {
        classes,
        unlowered,
        totals: BTreeMap::new(),
        curves: vec![vec![0; model.programs.len()]; model.ipus()],
        categories: vec![Vec::new(); CATEGORIES.len()],
        variables: 0,
        tiles_over: 0,
        fullness: Vec::new(),
    };
    for first in (0..tiles).step_by(BATCH as usize) {
        let batch: Vec<PlacedTile> = (first..tiles.min(first + BATCH))
            .into_par_iter()
            .map(|tile| place_tile(model, &sums.classes, &class_of, tile))
            .collect();
        for placed in &batch {
            if progress.is_cancelled() {
                return Err(WriteError::Cancelled);
            }
            write_tile(model, db, &unlowered_of, placed, &mut sums)?;
            progress.advance(1);
        }
    }
    Ok(sums)
}

/// One class for every life.
fn classes(model: &Model) -> (Classes, BTreeMap<LifeSpan, u32>) {
    let steps = u32::try_from(model.programs.len()).unwrap_or(u32::MAX);
    let lives =
        std::iter::once(&LifeSpan::Always).chain(model.symbols.iter().map(|symbol| &symbol.life));
    let mut class_of: BTreeMap<LifeSpan, u32> = BTreeMap::new();
    let mut classes = Classes::default();
    for life in lives {
        let next = ALWAYS_LIVE + u32::try_from(class_of.len()).unwrap_or(u32::MAX);
        if class_of.contains_key(life) {
            continue;
        }
        class_of.insert(life.clone(), next);
        let range = match life {
            LifeSpan::Always => 0..steps,
            LifeSpan::Steps(from, to) => *from..(*to).min(steps),
        };
        classes.push(ClassId(next), *life == LifeSpan::Always, [range]);
    }
    (classes, class_of)
}

fn place_tile(
    model: &Model,
    classes: &Classes,
    class_of: &BTreeMap<LifeSpan, u32>,
    tile: u32,
) -> PlacedTile {
    let on_tile = model.on_tile(tile);
    let known: Vec<(&Symbol, u64)> =
        on_tile.iter().filter_map(|(at, bytes)| Some((model.symbols.get(*at)?, *bytes))).collect();
    let stack = known.iter().position(|(symbol, _)| symbol.name == STACK);
    let wanted: Vec<WantedPlace<'_>> = known
        .iter()
        .map(|(symbol, bytes)| WantedPlace {
            bytes: *bytes,
            alignment: symbol.alignment,
            life: &symbol.life,
            is_code: symbol.is_code,
            is_interleaved: symbol.is_interleaved,
            avoids: stack.filter(|_| symbol.avoids_stack),
        })
        .collect();
    let offsets = place(&wanted, &model.target);
    let variables: Vec<Placement> = known
        .iter()
        .zip(offsets)
        .map(|((symbol, bytes), offset)| Placement {
            id: 0,
            offset,
            bytes: *bytes,
            alignment: symbol.alignment,
            category: u32::try_from(symbol.category).ok(),
            class: ClassId(if *bytes == 0 {
                NO_CLASS
            } else {
                class_of.get(&symbol.life).copied().unwrap_or(NO_CLASS)
            }),
            unlowered: None,
            flags: flags(symbol, *bytes),
        })
        .collect();
    let element_constraints = mutual_constraints(&known, stack, |symbol| symbol.is_code);
    let region_constraints = mutual_constraints(&known, stack, |symbol| symbol.avoids_stack);
    let variables =
        Placed::new(variables, Names::default(), element_constraints, region_constraints);
    let steps = model.programs.len();
    PlacedTile {
        tile,
        symbols: on_tile.iter().map(|(at, _)| *at).collect(),
        sums: recompute::tile_sums(&variables, &model.target, classes, steps),
        categories: recompute::category_sums(&variables, &model.target),
        curve: recompute::curve(variables.placements.iter(), classes, steps),
        variables,
    }
}

/// Constraints between the stack and the symbols that `keeps_away` names, written on both sides: as
/// in real reports, code and data keep out of each other's memory elements, and the stack, the first
/// data, stands for the data.
fn mutual_constraints(
    known: &[(&Symbol, u64)],
    stack: Option<usize>,
    keeps_away: impl Fn(&Symbol) -> bool,
) -> Vec<Vec<u32>> {
    let away = |symbol: &Symbol| stack.is_some() && keeps_away(symbol);
    let of_stack: Vec<u32> =
        (0..).zip(known).filter(|(_, (symbol, _))| away(symbol)).map(|(row, _)| row).collect();
    let of_others: Vec<u32> =
        stack.and_then(|stack| u32::try_from(stack).ok()).into_iter().collect();
    let lists = known.iter().enumerate().map(|(row, (symbol, _))| match Some(row) == stack {
        true => of_stack.clone(),
        false if away(symbol) => of_others.clone(),
        false => Vec::new(),
    });
    lists.collect()
}

/// Constraints as tile-local indexes; none is NULL.
fn encode_constraints(rows: &[u32]) -> Option<Vec<u8>> {
    let rows: Vec<u64> = rows.iter().map(|row| u64::from(*row)).collect();
    (!rows.is_empty()).then(|| encode_list(&rows))
}

/// The bitset of `vars_info` (formats/poplar.md 2.4).
fn flags(symbol: &Symbol, bytes: u64) -> VariableFlags {
    let bits = [
        (bytes > 0, 0),
        (symbol.is_constant, 1),
        (symbol.life == LifeSpan::Always, 2),
        (symbol.is_code, 3),
        (symbol.is_code && symbol.name.starts_with(".text.__runCodelet"), 4),
        (symbol.name == ".text.poplar_start", 6),
        (symbol.is_interleaved, 7),
        (!symbol.is_code && symbol.is_lowered_from, 8),
    ];
    VariableFlags(bits.iter().map(|(is_set, bit)| u16::from(*is_set) << bit).sum())
}

fn write_tile(
    model: &Model,
    db: &Transaction<'_>,
    unlowered_of: &[u32],
    placed: &PlacedTile,
    sums: &mut SumsOfTiles,
) -> Result<(), WriteError> {
    let first = sums.variables;
    let tile = placed.tile;
    let suffix = tile.to_string();
    let mut by_class: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut rows_of_tile = db.prepare_cached(
        "INSERT INTO vars_info VALUES (?1, ?2, ?3, NULL, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    let rows = placed.symbols.iter().zip(&placed.variables.placements);
    let constraints =
        placed.variables.element_constraints.iter().zip(&placed.variables.region_constraints);
    for ((id, (at, variable)), (elements, regions)) in (first..).zip(rows).zip(constraints) {
        let Some(symbol) = model.symbols.get(*at) else { continue };
        let unlowered = unlowered_of.get(*at).copied().unwrap_or(0);
        *by_class.entry((unlowered, variable.class.0)).or_default() += variable.bytes;
        rows_of_tile.execute(params![
            id,
            tile,
            at,
            suffix,
            variable.bytes,
            variable.alignment,
            variable.offset,
            variable.category,
            variable.class.0,
            encode_constraints(elements),
            encode_constraints(regions),
            symbol.is_lowered_from.then_some(unlowered),
            variable.flags.0
        ])?;
    }
    for ((unlowered, class), bytes) in by_class {
        insert(db, "var_bytes_by_eq_class", params![unlowered, class, bytes, tile])?;
        *sums.totals.entry((unlowered, class)).or_default() += bytes;
    }
    let count = u32::try_from(placed.symbols.len()).unwrap_or(u32::MAX);
    sums.variables += count;
    let order: Vec<u64> = (first..first + count).map(u64::from).collect();
    insert(db, "allocation_order_by_tile", params![tile, encode_list(&order)])?;
    write_sums_of_tile(model, db, placed, sums)
}

fn write_sums_of_tile(
    model: &Model,
    db: &Transaction<'_>,
    placed: &PlacedTile,
    sums: &mut SumsOfTiles,
) -> Result<(), WriteError> {
    let target = &model.target;
    let [non_interleaved, interleaved, overflowed] = placed.sums.by_region;
    // The end of each region's part counts from the region's start.
    let limit = target.bytes_per_tile.unwrap_or(u64::MAX);
    let border = target.interleaved_start.unwrap_or(limit).min(limit);
    let end = placed.sums.including_gaps;
    let row = params![
        placed.tile,
        interleaved,
        end.min(limit).saturating_sub(border),
        non_interleaved,
        end.min(border),
        overflowed,
        end.saturating_sub(limit),
        placed.sums.total,
        end,
        placed.sums.always_live,
        placed.sums.not_always_live_max
    ];
    insert(db, "memory_by_tile", row)?;
    sums.tiles_over += u64::from(end > limit);
    sums.fullness.push((end, placed.tile));
    let ipu = target.device_of(TileId(placed.tile)).unwrap_or(0) as usize;
    if let Some(curve) = sums.curves.get_mut(ipu) {
        curve.iter_mut().zip(&placed.curve).for_each(|(sum, bytes)| *sum += bytes);
    }
    for (category, list) in (0_u32..).zip(&mut sums.categories) {
        list.push(placed.categories.get(&category).copied().unwrap_or_default());
    }
    Ok(())
}
