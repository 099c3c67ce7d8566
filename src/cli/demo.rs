//! `tilescope demo`: the story of one model, written once to the cache and opened.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use super::output;
use super::synth::WrittenSystem;
use super::window;
use crate::synth::story;
use crate::systems::{pytorch::synth as pytorch, xla::synth as xla};

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// The system of the demo.
    #[arg(long, default_value = "poplar")]
    pub system: WrittenSystem,
}

/// Writes what is missing of the demo, says where it is, and opens the window on its runs.
pub fn run(arguments: &DemoArguments, started: Instant) -> ExitCode {
    let written = output::with_progress("Writing the demo", |progress| match arguments.system {
        WrittenSystem::Poplar => story::demo(progress),
        WrittenSystem::Pytorch => pytorch::story::demo(progress),
        WrittenSystem::Xla => xla::story::demo(progress),
    });
    let directory = match written {
        Ok(directory) => directory,
        Err(error) => return output::cannot_write(&error),
    };
    let runs = match arguments.system {
        WrittenSystem::Poplar => story::runs(&directory),
        // Several snapshots of one run: the window shows them in a sweep.
        WrittenSystem::Pytorch => vec![directory.clone()],
        WrittenSystem::Xla => xla::story::runs(&directory),
    };
    match output::print(&format!("{}\n", directory.display())) {
        Ok(_) => window::run(&runs, started),
        Err(status) => status.into(),
    }
}
