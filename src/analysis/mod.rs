//! Pure functions from the store to figures. Every file begins with its definition.

pub mod breakdown;
pub mod budgets;
pub mod category_order;
pub mod chip_map;
pub mod comparison;
#[cfg(test)]
mod compute_fixture;
pub mod compute_sets;
pub mod control_code;
#[cfg(test)]
mod debug_fixture;
pub mod diagnose;
pub mod estimates;
pub mod exchanges;
pub mod gap_totals;
pub mod gaps;
pub mod joined;
pub mod lifetimes;
pub mod liveness;
pub mod matching;
pub mod memory;
pub mod operations;
pub mod outliers;
pub mod over_tiles;
pub mod overflow;
pub mod paired_tiles;
pub mod peaks;
pub mod phases;
pub mod recompute;
pub mod report_options;
pub mod resident_tile;
pub mod scope_curve;
pub mod selection;
pub mod slot_curves;
mod step_counts;
pub mod step_operations;
pub mod steps;
pub mod sweep;
pub mod tile_details;
pub mod tile_grid;
pub mod tile_map;
pub mod tile_order;
pub mod variable_operations;
pub mod variables;
pub mod vertex_state;
pub mod vertices;
mod worst_tiles;
