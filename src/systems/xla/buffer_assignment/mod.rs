//! Analysis of XLA's buffer assignment: when values live, what is in use, what the peak consists of (formats/xla.md 4,
//! 5).

pub mod analysed;
pub(crate) mod categories;
pub(crate) mod claims;
pub(crate) mod donations;
pub mod facts;
#[cfg(test)]
pub(crate) mod hand_made;
pub(crate) mod heap_trace;
pub(crate) mod held_values;
pub mod in_use;
pub mod insights;
pub mod live_ranges;
pub(crate) mod makers;
pub(crate) mod peaks;
pub(crate) mod program;
pub(crate) mod schedule;
pub(crate) mod shares;
pub(crate) mod space;
pub(crate) mod trace_lives;
