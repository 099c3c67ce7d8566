//! Machine, versions, options, names: the tables that do not depend on the placement.

use rusqlite::{Transaction, params};

use super::insert;
use crate::store::target::Target;
use crate::synth::WriteError;
use crate::systems::poplar::files::blob::encode_list;
use crate::systems::poplar::synth::model::{CATEGORIES, Model};

pub fn write(model: &Model, db: &Transaction<'_>) -> Result<(), WriteError> {
    write_target(db, &model.target)?;
    insert(db, "version_info", params![3, 8, 0, 0, "graph_profile"])?;
    insert(db, "poplar_version", params!["3.3.0 (tilescope)", "synthetic", 3, 3, 0])?;
    insert(db, "date_time", params!["2026-01-01 00:00:00"])?;
    insert(db, "compilation_info", params![compilation_id(model)])?;
    let (is_on, level) = (model.is_instrumented, model.is_instrumented.then_some("Tile"));
    insert(db, "instrumentation_settings", params![is_on, level, is_on, is_on])?;
    for (name, value, is_default) in &model.options {
        insert(db, "compilation_parameters", params![name, value, is_default])?;
    }
    insert(db, "target_parameters", params!["IpuLinkDomainSize", "64", 1])?;
    insert(db, "optimization_info", params!["Merged uniform constants count", 0])?;
    for (id, (name, description)) in CATEGORIES.iter().enumerate() {
        insert(db, "var_categories", params![id, name, description])?;
    }
    for (start, duration, name) in [
        (0, 9_000_000, "compile"),
        (10_000, 2_900_000, "lowerGraph"),
        (2_920_000, 1_400_000, "createPrograms"),
        (4_330_000, 4_100_000, "allocateVarStorage"),
        (8_440_000, 540_000, "linkObjs"),
    ] {
        insert(db, "compilation_trace", params![duration, name, start])?;
    }
    for (id, symbol) in model.symbols.iter().enumerate() {
        insert(db, "vars_string_table", params![id, format!("{}#", symbol.name)])?;
    }
    for (id, vertex_type) in model.vertex_types.iter().enumerate() {
        insert(db, "vertex_types", params![id, vertex_type.name, vertex_type.bytes, "c++"])?;
    }
    Ok(())
}

/// The same for the compilation and its runs.
pub fn compilation_id(model: &Model) -> String {
    format!("synthetic-{:016x}", crate::synth::mix(model.seed))
}

fn write_target(db: &Transaction<'_>, target: &Target) -> Result<(), WriteError> {
    db.execute(
        "INSERT INTO target_info VALUES (?1, ?2, ?3, 10, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
         64, ?14, ?15, ?16, ?17, 2, 6, 4, 8, 4, 1, 600, 256, 5, 5, 10, 64, 4, 4, 4, 8, 4, 2, 16, 8, \
         16, 0, 16, 64, 262144, 65535, 4)",
        params![
            target.bytes_per_device,
            target.bytes_per_tile,
            target.clock_hz,
            target.devices,
            target.tiles,
            target.tiles_per_device,
            target.total_bytes,
            target.replicas,
            target.devices_per_replica,
            target.tiles_per_replica,
            target.bytes_per_replica,
            target.architecture,
            target.kind,
            encode_list(&target.element_offsets),
            target.interleaved_start,
            encode_list(&target.region_offsets),
            target.tile_base_address
        ],
    )?;
    // Signals take longer to tiles in the middle of a chip's two columns.
    let tiles = target.tiles_per_device.unwrap_or(0);
    for tile in 0..tiles {
        let from_end = tile.min(tiles - tile);
        let delay = from_end * 58 / (tiles / 2).max(1);
        insert(db, "relative_sync_delay", params![tile, delay])?;
    }
    Ok(())
}
