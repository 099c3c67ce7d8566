//! The tables of `profile.pop` (formats/poplar.md 2.2 and 2.4), one file for each part of the store.

pub mod about;
pub mod compute;
pub mod emptied;
pub mod exchange;
pub mod execution;
pub mod execution_trace;
pub mod liveness;
pub mod memory;
pub mod program_trees;
pub mod programs;
pub mod tile_bytes;
pub mod tile_lists;
pub mod tiles;
pub mod variables;
pub mod vertex;
