//! Opens the window, where this program was built with one and there is a display.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use super::output;
use crate::format::{Error, ErrorKind, Progress};
use crate::systems;
use crate::text::clean;
#[cfg(feature = "window")]
pub use crate::ui::runs::MOST_RUNS;

/// Most runs that are open together.
#[cfg(not(feature = "window"))]
pub const MOST_RUNS: usize = 8;

/// Opens the window on the reports, the first of which is the reference, or on the home page, and
/// returns when it is closed.
#[cfg(feature = "window")]
pub fn run(paths: &[PathBuf], started: Instant) -> ExitCode {
    if !crate::ui::has_display() {
        return without_window(
            paths,
            "there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set)",
        );
    }
    // A window is no place to learn that a path on the command line is mistyped.
    if let Err(error) = check_there(paths) {
        return output::fail(&error, false);
    }
    match crate::ui::run(paths.to_vec(), started) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => output::cannot_write(&message),
    }
}

/// Says that there is no window.
#[cfg(not(feature = "window"))]
pub fn run(paths: &[PathBuf], _started: Instant) -> ExitCode {
    without_window(paths, "this program was built without the window (cargo feature `window`)")
}

fn check_there(paths: &[PathBuf]) -> Result<(), Error> {
    let absent = paths.iter().find(|path| matches!(path.try_exists(), Ok(false)));
    let not_found = || std::io::Error::from(std::io::ErrorKind::NotFound);
    absent.map_or(Ok(()), |path| Err(Error::io(path, &not_found())))
}

/// Says why there is no window, and which command answers on a terminal; of a path that no command can open what it is.
fn without_window(paths: &[PathBuf], why: &str) -> ExitCode {
    match command_instead(paths) {
        Ok(command) => {
            let hint = format!("`{command}` gives the same figures on a terminal");
            output::fail(&Error::new(ErrorKind::CannotWrite, why).hint(hint), false)
        }
        Err(error) => output::fail(&error, false),
    }
}

/// The command that answers for some paths.
///
/// # Errors
/// When one of them cannot be opened.
fn command_instead(paths: &[PathBuf]) -> Result<String, Error> {
    check_there(paths)?;
    let name = |path: &PathBuf| format!(" {}", clean(&path.display().to_string()));
    for path in paths {
        match systems::find(systems::of_process(), path, None, &Progress::default()) {
            Err(error) if error.kind == ErrorKind::SeveralReports => {
                return Ok(format!("tilescope sweep{}", name(path)));
            }
            other => drop(other?),
        }
    }
    let names: String = paths.iter().map(name).collect();
    Ok(match paths {
        [] => "tilescope summary PATH".to_owned(),
        [_] => format!("tilescope summary{names}"),
        [..] => format!("tilescope compare{names}"),
    })
}
