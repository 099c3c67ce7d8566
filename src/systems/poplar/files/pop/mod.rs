//! The tables of `profile.pop` (formats/poplar.md 2.2 and 2.4), one file for each part of the store.

pub(crate) mod about;
pub(crate) mod compute;
pub(crate) mod emptied;
pub(crate) mod exchange;
pub(crate) mod execution;
pub(crate) mod execution_trace;
pub(crate) mod liveness;
pub(crate) mod memory;
pub(crate) mod program_trees;
pub(crate) mod programs;
pub(crate) mod tile_bytes;
pub(crate) mod tile_lists;
pub(crate) mod tiles;
pub(crate) mod variables;
pub(crate) mod vertex;
