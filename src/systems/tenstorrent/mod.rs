//! TT-NN on chips of Tenstorrent: memory reports.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod answers;
mod areas;
mod budgets;
mod call_list;
mod cards;
mod compared;
mod cores;
mod figures;
pub mod files;
pub mod insights;
mod joined_logs;
mod lake;
pub mod memory;
pub mod recorded;
mod run;
mod sections;
mod step_said;
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "it writes what it made up itself"
)]
pub mod synth;
pub mod system;
mod verdict;

use crate::store::System;

/// The words of its reports.
pub const WORDS: System = System {
    name: "tenstorrent",
    producer: "TT-NN",
    device: "Chip",
    all_devices: "All chips",
    arena: "Bank",
    arena_in_text: "bank",
    an_arena: "a bank",
    arenas: "banks",
    worst_arena: "Fullest bank at each operation",
    step: "Operation",
    step_in_text: "operation",
    steps: "operations",
    are_steps_matched: false,
    options: "Settings",
    options_in_text: "settings",
    program: "Operation",
    programs: "operations",
    control_programs: "Operations",
    variable: "Buffer",
    placed_variable: "Buffer",
    item: "Buffer",
    item_in_text: "buffer",
    an_item: "a buffer",
    items: "buffers",
    ..System::GENERAL
};
