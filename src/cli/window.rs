//! Opens the window, where this program was built with one.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

#[cfg(feature = "window")]
use crate::format::Error;
#[cfg(feature = "window")]
pub use crate::ui::runs::MOST_RUNS;

/// Most runs that are open together.
#[cfg(not(feature = "window"))]
pub const MOST_RUNS: usize = 8;

/// Opens the window on the reports, the first of which is the reference, or on the home page, and
/// returns when it is closed.
#[cfg(feature = "window")]
pub fn run(paths: Vec<PathBuf>, started: Instant) -> ExitCode {
    // A window is no place to learn that a path on the command line is mistyped.
    if let Some(absent) = paths.iter().find(|path| matches!(path.try_exists(), Ok(false))) {
        let error = std::io::Error::from(std::io::ErrorKind::NotFound);
        return super::output::fail(&Error::io(absent, &error), false);
    }
    match crate::ui::run(paths, started) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => super::output::cannot_write(&message),
    }
}

/// Says that there is no window.
#[cfg(not(feature = "window"))]
pub fn run(_paths: Vec<PathBuf>, _started: Instant) -> ExitCode {
    super::output::cannot_write(
        &"this program was built without the window (cargo feature `window`)\n  \
          hint: `tilescope summary PATH` answers on the terminal",
    )
}
