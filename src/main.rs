//! Arguments → window or command; nothing else.

use std::process::ExitCode;
use std::time::Instant;

use tilescope::cli;

fn main() -> ExitCode {
    let started = Instant::now();
    cli::start_logging();
    match cli::parse() {
        Ok(cli::Arguments { command: Some(command), .. }) => cli::run(&command, started),
        Ok(arguments) => cli::window::run(arguments.runs, started),
        Err(status) => status,
    }
}
