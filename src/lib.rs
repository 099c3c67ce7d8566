//! Tilescope: memory and execution profiles of AI accelerators, read, analysed, shown.
//!
//! The layers, each of which uses only those before it:
//!
//! - [`store`]: columns of a report, shared and immutable once filled,
//! - [`index`]: what is costly to read, kept in the user's cache directory as columns that are mapped,
//! - [`mod@format`]: readers of report files, which fill the store,
//! - [`analysis`]: pure functions from the store to figures,
//! - [`cli`] and `ui` (with the feature `window`): the same figures on a terminal and in a window.
//!
//! `limits` says what reading may cost at most, [`work`] counts what was read. `sweep` reads many runs of any system
//! and keeps the facts of each, for both; [`lake`] writes the figures of many reports as Parquet files. [`views`] names what can be drawn without
//! a window. [`synth`] writes reports. [`systems`] finds out of which system a run is, and opens it;
//! `files::looks_like` says what a path is that no system takes; `log_file` reads logs, and [`diagnose`] knows the messages in them.

pub mod analysis;
pub mod cli;
pub(crate) mod csv;
#[cfg_attr(
    not(feature = "window"),
    allow(dead_code, reason = "the window asks for more than commands")
)]
pub mod diagnose;
pub(crate) mod files;
pub mod format;
pub mod index;
pub mod lake;
pub(crate) mod limits;
pub(crate) mod log_file;
pub mod progress;
pub mod run;
pub mod store;
pub(crate) mod sweep;
pub mod synth;
pub mod systems;
pub mod text;
#[cfg(feature = "window")]
pub mod ui;
pub mod views;
pub mod work;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use systems::fuzzing;
