//! `tilescope demo`: the story of one model, written once to the cache and opened.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use super::synth::{writer, written_systems};
use super::{output, standard_error, window};
use crate::synth::WriteError;
use crate::systems::usual_demo;
use crate::text::clean;

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// The system of the demo.
    #[arg(long, default_value = usual_system(), value_parser = written_systems())]
    pub system: String,
}

/// The system of the demo that is meant where none is named.
fn usual_system() -> &'static str {
    usual_demo().map_or("", |(system, _)| system.words().name)
}

/// Writes what is missing of the demo, says where it is, and opens the window on its runs.
pub fn run(arguments: &DemoArguments, started: Instant) -> ExitCode {
    match written(&arguments.system) {
        Ok((runs, directory)) => match output::print(&format!("{}\n", directory.display())) {
            Ok(_) => window::run(&runs, started),
            Err(status) => status.into(),
        },
        Err(error) => output::cannot_write(&error),
    }
}

/// What the window is opened on, and the directory of the demo.
fn written(system: &str) -> Result<(Vec<PathBuf>, PathBuf), WriteError> {
    let story = (writer(system).ok_or(WriteError::Cancelled)?.story)();
    let directory = story.demo_directory()?;
    if !story.is_written(&directory) {
        let into = directory.display().to_string();
        standard_error::say(format_args!(
            "Writing the demo into {}; this happens once",
            clean(&into)
        ));
    }
    output::with_progress_of("Writing the demo", output::ProgressUnit::Parts, |progress| {
        story.demo(progress)
    })?;
    Ok((story.opened(&directory), directory))
}
