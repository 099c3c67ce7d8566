//! Shared by the readers of all systems: errors, JSON beside a file, and SQLite files read by position.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

pub mod error;
pub(crate) mod json_pieces;
pub(crate) mod side_files;
pub(crate) mod sqlite;

pub use crate::progress::Progress;
pub use error::{Error, ErrorKind};
