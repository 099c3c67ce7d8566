//! `tilescope demo`: the story of one model, written once to the cache and opened.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use super::synth::{first_system, writer, written_systems};
use super::{output, window};
use crate::synth::WriteError;

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// The system of the demo.
    #[arg(long, default_value = first_system(), value_parser = written_systems())]
    pub system: String,
}

/// Writes what is missing of the demo, says where it is, and opens the window on its runs.
pub fn run(arguments: &DemoArguments, started: Instant) -> ExitCode {
    let written = output::with_progress("Writing the demo", |progress| {
        let story = (writer(&arguments.system).ok_or(WriteError::Cancelled)?.story)();
        story.demo(progress).map(|directory| (story.opened(&directory), directory))
    });
    let (runs, directory) = match written {
        Ok(written) => written,
        Err(error) => return output::cannot_write(&error),
    };
    match output::print(&format!("{}\n", directory.display())) {
        Ok(_) => window::run(&runs, started),
        Err(status) => status.into(),
    }
}
