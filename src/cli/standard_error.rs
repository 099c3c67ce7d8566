//! What is said on standard error beside an answer: warnings, errors, choices. Where it cannot be written nothing panics, and
//! the exit status says so.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether something was lost.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Writes a line on standard error.
pub fn say(line: impl Display) {
    write(format_args!("{line}\n"));
}

/// Writes a text on standard error.
pub fn write(text: impl Display) {
    let written = write!(anstream::stderr().lock(), "{text}");
    // Nobody who has gone away misses anything.
    if written.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
        IS_LOST.store(true, Ordering::Relaxed);
    }
}

/// Whether something that was said could not be written.
pub fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}
