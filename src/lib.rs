//! Tilescope: memory and execution profiles of AI accelerators, read, analyzed, shown.
//!
//! The layers, each of which uses only those before it:
//!
//! - [`store`]: columns of a report, shared and immutable once filled,
//! - [`index`]: columns that are expensive to read, kept in the user's cache directory and mapped,
//! - [`analysis`] and [`run`]: pure functions from the store to figures, and the answers of a run,
//! - [`systems`]: a folder for each system, with readers that fill the store and the system's own answers,
//! - [`lake`], `html`, [`cli`] and `ui` (with the feature `window`): the same figures as Parquet files, on a page for a
//!   browser, on a terminal and in a window.
//!
//! [`mod@format`] is shared by all readers, `limits` has the limits on what reading may cost, and [`work`] counts what
//! was read. `sweep` reads many runs and keeps the facts of each. [`views`] names what can be drawn without a window.
//! `files::looks_like` recognizes paths that no system opens. `log_file` reads logs, and [`diagnose`] knows the
//! messages in them. `half_written` knows what has to go if the process is ended.

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
pub(crate) mod half_written;
pub(crate) mod html;
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
