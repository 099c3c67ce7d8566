//! Readers: one folder for each family of files. Each knows only its files and the store.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

pub mod error;
pub mod poplar;
pub mod pytorch;
pub(crate) mod side_files;
pub(crate) mod sqlite;
pub mod xla;

pub use crate::progress::Progress;
pub use error::{Error, ErrorKind};
