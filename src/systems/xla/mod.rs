//! XLA modules with their buffer assignments: dumps and profiles of JAX, TensorFlow and PyTorch/XLA.

pub mod buffer_assignment;
#[deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
pub mod files;
pub mod run;
pub mod synth;
