//! What is said on standard error beside an answer: warnings, errors, choices. Where it cannot be written nothing panics, and
//! the exit status says so.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::adapter::strip_str;

use super::workflow_commands::without_commands;

/// Whether something was lost.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Writes a line on standard error.
pub fn say(line: impl Display) {
    write(format_args!("{line}\n"));
}

/// Writes a text on standard error; on GitHub's runners without colors, between whose codes a command could be hidden.
pub fn write(text: impl Display) {
    let mut text = text.to_string();
    if std::env::var_os("GITHUB_ACTIONS").is_some() {
        text = without_commands(&strip_str(&text).to_string());
    }
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
