//! Where things lie: addresses, gaps, memory maps.

pub(crate) mod address_steps;
pub mod chip_map;
pub mod gap_totals;
pub mod gaps;
pub mod overflow;
pub mod placed_lifetimes;
pub mod read;
pub mod recompute;
pub(crate) mod resident_tile;
pub mod tile_map;
