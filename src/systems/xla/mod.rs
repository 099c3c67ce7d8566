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
pub mod run;
mod sections;
mod sweep_facts;
pub mod synth;
pub mod system;
