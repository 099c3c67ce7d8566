//! XLA modules with their buffer assignments: dumps and profiles of JAX, TensorFlow and PyTorch/XLA.

mod alive;
pub(crate) mod answers;
pub(crate) mod areas;
mod budgets;
#[cfg_attr(
    not(feature = "window"),
    allow(dead_code, reason = "the window asks for more than commands")
)]
pub mod buffer_assignment;
mod cards;
pub(crate) mod compared;
pub(crate) mod error_text_answers;
mod fact_groups;
#[deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
pub mod files;
pub(crate) mod joined_logs;
mod lake;
mod layers;
mod live_arrays;
mod record;
pub mod run;
mod sections;
mod sweep_facts;
pub mod synth;
pub mod system;
mod variables;

use crate::store::System;

/// The words of its modules.
pub const WORDS: System = System {
    name: "xla",
    producer: "XLA",
    device: "Memory",
    all_devices: "All memory spaces",
    arena: "Allocation",
    arena_in_text: "allocation",
    an_arena: "an allocation",
    arenas: "allocations",
    worst_arena: "Worst allocation of each step",
    are_steps_matched: false,
    options: "Flags",
    options_in_text: "flags",
    always_live: "Reserved throughout",
    always_live_in_text: "reserved throughout",
    not_always_live: "Temporary",
    not_always_live_in_text: "temporary",
    program: "Instruction",
    programs: "instructions and computations",
    control_programs: "Instructions of the module",
    variable: "Value",
    placed_variable: "Value",
    item: "Value",
    item_in_text: "value",
    an_item: "a value",
    items: "values",
    ..System::GENERAL
};
