//! Writes what is summed up over tiles.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Transaction, params};

use super::integer;
use super::tiles::Sums;
use crate::analysis::placement::recompute::CategorySums;
use crate::format::poplar::blob::encode_list;
use crate::store::ClassId;
use crate::store::liveness::Classes;
use crate::synth::WriteError;
use crate::synth::model::{CATEGORIES, Model};

pub fn write(model: &Model, db: &Transaction<'_>, sums: &Sums) -> Result<(), WriteError> {
    for (class, id) in sums.classes.ids.as_slice().iter().enumerate() {
        let always_live = sums.classes.always_live.get(class) == Some(&true);
        db.execute("INSERT INTO eq_classes VALUES (?1, ?2)", params![id.0, always_live])?;
        for range in sums.classes.ranges_of(class) {
            let row = params![id.0, range.start, range.end];
            db.execute("INSERT INTO eq_class_step VALUES (?1, ?2, ?3)", row)?;
        }
        write_interference(db, &sums.classes, class, *id)?;
    }
    for ((unlowered, class), bytes) in &sums.totals {
        let row = params![unlowered, class, integer(*bytes)];
        db.execute("INSERT INTO var_bytes_by_eq_class VALUES (?1, ?2, ?3, NULL)", row)?;
    }
    let mut contexts: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for symbol in model.symbols.iter().filter(|symbol| symbol.context != 0) {
        contexts.entry(&symbol.shown_as).or_default().insert(symbol.context);
    }
    for (id, name) in sums.unlowered.iter().enumerate() {
        db.execute("INSERT INTO unlowered_vars VALUES (?1, ?2)", params![id, name])?;
        let of_name: Vec<u64> =
            contexts.get(name.as_str()).into_iter().flatten().copied().collect();
        db.execute("INSERT INTO debug_ids VALUES (?1, ?2)", params![id, encode_list(&of_name)])?;
    }
    write_deltas(model, db, sums)?;
    write_categories(db, sums)?;
    // The two fullest tiles are the ones that Poplar singles out.
    let mut fullest = sums.fullness.clone();
    fullest.sort_by_key(|(bytes, tile)| (std::cmp::Reverse(*bytes), *tile));
    for (position, (_, tile)) in fullest.iter().take(2).enumerate() {
        db.execute("INSERT INTO memory_liveness_tiles VALUES (?1, ?2)", params![position, tile])?;
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
    db.prepare_cached("INSERT INTO equivalence_class_interference VALUES (?1, ?2)")?
        .execute(params![id.0, encode_list(&others)])?;
    Ok(())
}

/// Steps at which nothing changes have no row.
fn write_deltas(model: &Model, db: &Transaction<'_>, sums: &Sums) -> Result<(), WriteError> {
    let everything: Vec<u64> = (0..model.programs.len())
        .map(|step| sums.curves.iter().filter_map(|curve| curve.get(step)).sum())
        .collect();
    let by_ipu = sums.curves.iter().enumerate().map(|(ipu, curve)| (Some(ipu), curve));
    for (ipu, curve) in by_ipu.chain([(None, &everything)]) {
        let mut before = 0;
        for (step, bytes) in curve.iter().enumerate() {
            let bytes = integer(*bytes);
            if bytes != before {
                db.prepare_cached(
                    "INSERT INTO memory_not_always_live_by_step_and_ipu VALUES (?1, ?2, ?3)",
                )?
                .execute(params![ipu, step, bytes - before])?;
            }
            before = bytes;
        }
    }
    Ok(())
}

fn write_categories(db: &Transaction<'_>, sums: &Sums) -> Result<(), WriteError> {
    for ((name, _), tiles) in CATEGORIES.iter().zip(&sums.categories) {
        let list = |part: &dyn Fn(&CategorySums) -> [u64; 3], region: usize| {
            let bytes = tiles.iter().map(|sums| part(sums).get(region).copied().unwrap_or(0));
            encode_list(&bytes.collect::<Vec<u64>>())
        };
        let alone = |sums: &CategorySums| sums.not_overlapped;
        let shared = |sums: &CategorySums| sums.overlapped;
        db.execute(
            "INSERT INTO memory_by_category VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                name,
                list(&alone, 1),
                list(&shared, 1),
                list(&alone, 0),
                list(&shared, 0),
                list(&alone, 2),
                list(&shared, 2)
            ],
        )?;
    }
    Ok(())
}
