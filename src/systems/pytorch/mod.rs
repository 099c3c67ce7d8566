//! PyTorch memory snapshots, and memory timelines of `torch.profiler`.

#[cfg_attr(
    not(feature = "window"),
    allow(dead_code, reason = "the window asks for more than commands")
)]
mod alive;
pub mod allocator;
pub(crate) mod answers;
pub mod areas;
mod arena_map;
pub(crate) mod blocks;
mod budgets;
mod cards;
pub mod compared;
pub(crate) mod event_said;
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
pub mod run;
mod sweep_facts;
pub mod synth;
pub mod system;
pub(crate) mod took;

pub use answers::PytorchAnswers;

use crate::store::System;

/// The words of its snapshots.
pub const WORDS: System = System {
    name: "pytorch",
    producer: "PyTorch",
    device: "GPU",
    arena: "Segment",
    arena_in_text: "segment",
    an_arena: "a segment",
    arenas: "segments",
    worst_arena: "Worst segment of each event",
    step: "Event",
    step_in_text: "event",
    steps: "events",
    are_steps_matched: false,
    options: "Settings",
    options_in_text: "settings",
    always_live: "Live throughout",
    always_live_in_text: "live throughout",
    not_always_live: "Not live throughout",
    not_always_live_in_text: "not live throughout",
    program: "Event",
    programs: "events",
    control_programs: "Events",
    variable: "Frame of the allocation",
    placed_variable: "Block",
    item: "Block",
    item_in_text: "block",
    an_item: "a block",
    items: "blocks",
    ..System::GENERAL
};
