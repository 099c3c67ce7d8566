//! Writes what is summed up over tiles.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::Null;
use rusqlite::{Transaction, params};

use super::insert;
use super::tiles::SumsOfTiles;
use crate::analysis::placement::recompute::CategorySums;
use crate::store::ClassId;
use crate::store::liveness::Classes;
use crate::synth::WriteError;
use crate::systems::poplar::files::blob::encode_list;
use crate::systems::poplar::synth::model::{CATEGORIES, Model};

pub fn write(model: &Model, db: &Transaction<'_>, sums: &SumsOfTiles) -> Result<(), WriteError> {
    for (class, id) in sums.classes.ids.as_slice().iter().enumerate() {
        let always_live = sums.classes.always_live.get(class) == Some(&true);
        insert(db, "eq_classes", params![id.0, always_live])?;
        for range in sums.classes.ranges_of(class) {
            insert(db, "eq_class_step", params![id.0, range.start, range.end])?;
        }
        write_interference(db, &sums.classes, class, *id)?;
    }
    for ((unlowered, class), bytes) in &sums.totals {
        insert(db, "var_bytes_by_eq_class", params![unlowered, class, bytes, Null])?;
    }
    let mut contexts: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for symbol in model.symbols.iter().filter(|symbol| symbol.context != 0) {
        contexts.entry(&symbol.shown_as).or_default().insert(symbol.context);
    }
    for (id, name) in sums.unlowered.iter().enumerate() {
        insert(db, "unlowered_vars", params![id, name])?;
        let of_name: Vec<u64> =
            contexts.get(name.as_str()).into_iter().flatten().copied().collect();
        insert(db, "debug_ids", params![id, encode_list(&of_name)])?;
    }
    write_deltas(model, db, sums)?;
    write_categories(db, sums)?;
    // The two fullest tiles are the ones that Poplar singles out.
    let mut fullest = sums.fullness.clone();
    fullest.sort_by_key(|(bytes, tile)| (std::cmp::Reverse(*bytes), *tile));
    for (position, (_, tile)) in fullest.iter().take(2).enumerate() {
        insert(db, "memory_liveness_tiles", params![position, tile])?;
    }
    db.execute("UPDATE graph_info SET num_vars = ?1", [sums.variables])?;
    Ok(())
}

/// Classes interfere when their live ranges intersect; each does with itself.
fn write_interference(
    db: &Transaction<'_>,
    classes: &Classes,
    class: usize,
    id: ClassId,
) -> Result<(), WriteError> {
    let ranges = classes.ranges_of(class);
    let overlaps = |other: usize| {
        let others = classes.ranges_of(other).iter();
        others.clone().any(|a| ranges.iter().any(|b| a.start < b.end && b.start < a.end))
    };
    let ids = classes.ids.as_slice();
    let others: Vec<u64> = (0..ids.len())
        .filter(|other| overlaps(*other))
        .filter_map(|other| ids.get(other).map(|id| u64::from(id.0)))
        .collect();
    insert(db, "equivalence_class_interference", params![id.0, encode_list(&others)])
}

/// Steps at which nothing changes have no row.
fn write_deltas(model: &Model, db: &Transaction<'_>, sums: &SumsOfTiles) -> Result<(), WriteError> {
    let everything: Vec<u64> = (0..model.programs.len())
        .map(|step| sums.curves.iter().filter_map(|curve| curve.get(step)).sum())
        .collect();
    let by_ipu = sums.curves.iter().enumerate().map(|(ipu, curve)| (Some(ipu), curve));
    for (ipu, curve) in by_ipu.chain([(None, &everything)]) {
        let mut before = 0;
        for (step, bytes) in curve.iter().enumerate() {
            let bytes = i64::try_from(*bytes).unwrap_or(i64::MAX);
            if bytes != before {
                let row = params![ipu, step, bytes - before];
                insert(db, "memory_not_always_live_by_step_and_ipu", row)?;
            }
            before = bytes;
        }
    }
    Ok(())
}

fn write_categories(db: &Transaction<'_>, sums: &SumsOfTiles) -> Result<(), WriteError> {
    for ((name, _), tiles) in CATEGORIES.iter().zip(&sums.categories) {
        let lists = |region: usize| {
            let list = |bytes: fn(&CategorySums) -> &[u64; 3]| {
                let bytes = tiles.iter().map(|sums| bytes(sums).get(region).copied().unwrap_or(0));
                encode_list(&bytes.collect::<Vec<u64>>())
            };
            [list(|sums| &sums.not_overlapped), list(|sums| &sums.overlapped)]
        };
        let [high, low, over] = [1, 0, 2].map(lists);
        let row = params![name, high[0], high[1], low[0], low[1], over[0], over[1]];
        insert(db, "memory_by_category", row)?;
    }
    Ok(())
}
