//! Pure functions from the store to figures. Every file begins with its definition.
//!
//! A folder uses only those above it in this list; `tests/suite/architecture.rs` reads these lines and keeps
//! it so. The blank lines keep rustfmt from sorting them.

#![cfg_attr(
    not(feature = "window"),
    allow(dead_code, reason = "the window asks for more than commands")
)]

#[cfg(test)]
pub(crate) mod fixture;

/// The natural order of names.
pub mod natural;
pub mod spans;

pub mod figures;

pub mod memory;

pub mod program;

pub mod throughput;

pub mod liveness;

pub mod placement;

pub mod compute;

pub mod execution;

pub mod comparison;

pub mod operations;

pub mod derived;

pub mod matched_reports;

pub mod areas;

pub(crate) mod consists;

pub(crate) mod module_tree;

pub(crate) mod largest;

pub mod operation_search;

pub mod program_details;

pub mod program_links;

pub mod sweep;
