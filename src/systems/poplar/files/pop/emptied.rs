//! Tables without a row that other tables need: a report that was written whole has rows in them.

use crate::format::sqlite::Tables;
use crate::store::{Report, WarningCode};

/// Says which tables are empty although others need them, once the small tables are read.
pub fn warn_of_emptied(tables: &Tables<'_>, report: &Report) {
    for (emptied, needed_by, rows) in needs(report) {
        if rows > 0 && tables.is_empty(emptied) {
            let message =
                format!("table {emptied}: rows expected by {needed_by}, which has {rows}; 0 found");
            tables.warn(WarningCode::Inconsistent, message);
        }
    }
}

const LIVES: &str = "eq_class_step";
const BYTES: &str = "var_bytes_by_eq_class";

/// A table, what needs it, and how many rows that has, or how many of them.
fn needs(report: &Report) -> Vec<(&'static str, &'static str, u64)> {
    let rows = |rows: usize| rows as u64;
    let tiles = report.memory.get().map_or(0, |memory| rows(memory.tiles.len()));
    let categories = report.memory.get().map_or(0, |memory| rows(memory.categories.len()));
    let variables = report.graph.get().and_then(|graph| graph.variables).unwrap_or(0);
    let sets = report.compute_sets.get();
    let vertices =
        sets.map_or(0, |sets| rows(sets.vertices.iter().flatten().filter(|n| **n > 0).count()));
    let steps = report.steps.get().map_or(0, |steps| rows(steps.ids.len()));
    let (mut programs, mut executes) = (0, 0);
    if let Some(found) = report.programs.get() {
        let all = 0..found.ids.len();
        programs = rows(all.len());
        executes = rows(all.filter(|row| found.kind(*row) == Some("OnTileExecute")).count());
    }
    let (mut classes, mut changing, mut bytes) = (0, 0, 0);
    if let Some(liveness) = report.liveness.get() {
        classes = rows(liveness.classes.ids.len());
        let changes = |memory: &crate::store::memory::TileMemory| {
            memory.not_always_live_max.iter().flatten().any(|bytes| *bytes > 0)
        };
        if report.memory.get().is_none_or(changes) {
            changing = rows(liveness.classes.ranges.len());
        }
        bytes = rows(liveness.variable_bytes.as_ref().map_or(0, Vec::len));
    }
    vec![
        ("target_info", "memory_by_tile", tiles),
        ("memory_by_tile", "graph_info.num_vars", variables),
        ("memory_by_category", "memory_by_tile", tiles),
        ("var_categories", "memory_by_category", categories),
        ("vars_info", "graph_info.num_vars", variables),
        ("vars_string_table", "graph_info.num_vars", variables),
        ("eq_classes", "graph_info.num_vars", variables),
        (LIVES, "eq_classes", classes),
        (BYTES, "eq_classes", classes),
        ("unlowered_vars", BYTES, bytes),
        ("memory_not_always_live_by_step_and_ipu", LIVES, changing),
        ("programs", "depth_first_steps", steps),
        ("depth_first_steps", "programs", programs),
        ("program_types", "programs", programs),
        ("compute_sets", "programs of kind OnTileExecute", executes),
        ("program_type_on_tile_execute", "programs of kind OnTileExecute", executes),
        ("vertex_instances", "compute_sets", vertices),
        ("vertex_types", "compute_sets", vertices),
        ("memory_by_compute_set", "compute_sets", vertices),
        ("memory_by_vertex_type", "compute_sets", vertices),
    ]
}
