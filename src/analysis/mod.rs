//! Pure functions from the store to figures. Every file begins with its definition.
//!
//! A folder uses only those above it in this list.

pub mod comparison;
pub mod compute;
pub mod derived;
pub mod diagnose;
pub mod insights;
pub mod liveness;
pub mod memory;
pub mod placement;
pub mod program;
pub mod sweep;
