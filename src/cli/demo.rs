//! `tilescope demo`: the story of one model, written once to the cache and opened.

use std::process::ExitCode;
use std::time::Instant;

use super::output;
use super::window;
use crate::synth::story;

/// Writes what is missing of the demo, says where it is, and opens the window on its runs.
pub fn run(started: Instant) -> ExitCode {
    match output::with_progress("Writing the demo reports", story::demo) {
        Ok(directory) => {
            let printed = output::print(&format!("{}\n", directory.display()));
            match printed {
                Ok(_) => window::run(story::runs(&directory), started),
                Err(status) => status.into(),
            }
        }
        Err(error) => output::cannot_write(&error),
    }
}
