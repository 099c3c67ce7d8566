//! Graphcore IPU reports: `autoReport.all` with `profile.pop`, written by Poplar.

#[deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
pub mod files;
pub mod insights;
