//! Arguments → window or command; nothing else.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser as _;
use tilescope::cli;

fn main() -> ExitCode {
    let started = Instant::now();
    cli::start_logging();
    let arguments = cli::Arguments::parse();
    match arguments.command {
        Some(command) => cli::run(&command),
        None => cli::window::run(arguments.source, started),
    }
}
