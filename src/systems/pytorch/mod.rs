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
