//! Pure functions from the store to figures. Every file begins with its definition.

pub mod breakdown;
pub mod category_order;
pub mod chip_map;
pub mod gap_totals;
pub mod gaps;
pub mod lifetimes;
pub mod liveness;
pub mod memory;
pub mod operations;
pub mod outliers;
pub mod overflow;
pub mod peaks;
pub mod phases;
pub mod recompute;
pub mod resident_tile;
pub mod scope_curve;
pub mod selection;
pub mod step_operations;
pub mod steps;
pub mod tile_details;
pub mod tile_map;
pub mod tile_order;
pub mod variables;
mod worst_tiles;
