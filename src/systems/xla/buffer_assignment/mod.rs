//! What XLA's buffer assignment says: when values live, what is in use, what the peak consists of (formats/xla.md 4, 5).

pub mod analysed;
pub mod categories;
pub mod claims;
pub mod donations;
pub mod facts;
pub mod heap_trace;
pub mod held_values;
pub mod in_use;
pub mod insights;
pub mod live_ranges;
pub mod peaks;
pub mod program;
pub mod schedule;
pub mod space;
pub mod trace_lives;
