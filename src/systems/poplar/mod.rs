//! Graphcore IPU reports: `autoReport.all` with `profile.pop`, written by Poplar.

pub(crate) mod answers;
mod budgets;
mod cards;
mod facts;
mod lake;
mod sections;
mod sweep_facts;
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
