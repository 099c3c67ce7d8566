//! Machine, versions, options, names: the tables that do not depend on the placement.

use rusqlite::{Transaction, params};

use super::integer;
use crate::format::poplar::blob::encode_list;
use crate::store::target::Target;
use crate::synth::WriteError;
use crate::synth::model::{CATEGORIES, Model};

pub fn write(model: &Model, db: &Transaction<'_>) -> Result<(), WriteError> {
    write_target(db, &model.target)?;
    let id = compilation_id(model);
    db.execute("INSERT INTO version_info VALUES (3, 8, 0, 0, 'graph_profile')", [])?;
    db.execute(
        "INSERT INTO poplar_version VALUES ('3.3.0 (tilescope)', 'synthetic', 3, 3, 0)",
        [],
    )?;
    db.execute("INSERT INTO date_time VALUES ('2026-01-01 00:00:00')", [])?;
    db.execute("INSERT INTO compilation_info VALUES (?1)", [&id])?;
    let level = model.has_execution.then_some("Tile");
    db.execute(
        "INSERT INTO instrumentation_settings VALUES (?1, ?2, ?1, ?1)",
        params![model.has_execution, level],
    )?;
    for (name, value, is_default) in &model.options {
        db.execute(
            "INSERT INTO compilation_parameters VALUES (?1, ?2, ?3)",
            params![name, value, is_default],
        )?;
    }
    db.execute("INSERT INTO target_parameters VALUES ('IpuLinkDomainSize', '64', 1)", [])?;
    db.execute("INSERT INTO optimization_info VALUES ('Merged uniform constants count', 0)", [])?;
    for (id, (name, description)) in CATEGORIES.iter().enumerate() {
        let row = params![id, name, description];
        db.execute("INSERT INTO var_categories VALUES (?1, ?2, ?3)", row)?;
    }
    for (start, duration, name) in [
        (0, 9_000_000, "compile"),
        (10_000, 2_900_000, "lowerGraph"),
        (2_920_000, 1_400_000, "createPrograms"),
        (4_330_000, 4_100_000, "allocateVarStorage"),
        (8_440_000, 540_000, "linkObjs"),
    ] {
        let row = params![duration, name, start];
        db.execute("INSERT INTO compilation_trace VALUES (?1, ?2, ?3)", row)?;
    }
    for (id, symbol) in model.symbols.iter().enumerate() {
        let row = params![id, format!("{}#", symbol.name)];
        db.execute("INSERT INTO vars_string_table VALUES (?1, ?2)", row)?;
    }
    for (id, vertex_type) in model.vertex_types.iter().enumerate() {
        let row = params![id, vertex_type.name, integer(vertex_type.bytes)];
        db.execute("INSERT INTO vertex_types VALUES (?1, ?2, ?3, 'c++')", row)?;
    }
    Ok(())
}

/// The same for the compilation and its runs.
pub fn compilation_id(model: &Model) -> String {
    format!("synthetic-{:016x}", crate::synth::model::mix(model.seed))
}

fn write_target(db: &Transaction<'_>, target: &Target) -> Result<(), WriteError> {
    db.execute(
        "INSERT INTO target_info VALUES (?1, ?2, ?3, 10, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
         64, ?14, ?15, ?16, ?17, 2, 6, 4, 8, 4, 1, 600, 256, 5, 5, 10, 64, 4, 4, 4, 8, 4, 2, 16, 8, \
         16, 0, 16, 64, 262144, 65535, 4)",
        params![
            target.bytes_per_ipu,
            target.bytes_per_tile,
            target.clock_hz,
            target.ipus,
            target.tiles,
            target.tiles_per_ipu,
            target.total_bytes,
            target.replicas,
            target.ipus_per_replica,
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
    let tiles = target.tiles_per_ipu.unwrap_or(0);
    for tile in 0..tiles {
        let from_end = tile.min(tiles - tile);
        let delay = integer(from_end * 58 / (tiles / 2).max(1));
        db.execute(
            "INSERT INTO relative_sync_delay VALUES (?1, ?2)",
            params![integer(tile), delay],
        )?;
    }
    Ok(())
}
