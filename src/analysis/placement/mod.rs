//! Where things lie: addresses, gaps, memory maps.

pub(crate) mod address_steps;
pub(crate) mod always_live;
pub mod chip_map;
pub(crate) mod counted;
pub mod gap_totals;
pub mod gaps;
pub mod overflow;
pub mod placed_lifetimes;
pub mod read;
pub mod recompute;
pub(crate) mod resident_tile;
pub(crate) mod step_use;
pub mod tile_map;
