//! Graphcore IPU reports: `autoReport.all` with `profile.pop`, written by Poplar.

pub(crate) mod answers;
mod budgets;
mod cards;
pub mod cross_checks;
mod facts;
mod lake;
mod sections;
mod sweep_facts;
pub mod synth;
pub mod system;

#[deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
pub mod files;
#[cfg_attr(
    not(feature = "window"),
    allow(dead_code, reason = "the window asks for more than commands")
)]
pub mod insights;

pub use answers::{PoplarAnswers, derived_of};

use crate::store::System;

/// The words of its reports.
pub const WORDS: System = System {
    name: "poplar",
    producer: "Poplar",
    device: "IPU",
    all_devices: "All IPUs",
    arena: "Tile",
    arena_in_text: "tile",
    an_arena: "a tile",
    arenas: "tiles",
    worst_arena: "Worst tile of each step",
    options: "Engine options",
    variable: "Variable before lowering",
    placed_variable: "Variable as it was lowered",
    ..System::GENERAL
};
