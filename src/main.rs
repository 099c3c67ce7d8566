//! Arguments → window or command; nothing else.

use std::process::ExitCode;
use std::time::Instant;

use tilescope::cli;

fn main() -> ExitCode {
    let started = Instant::now();
    cli::start_logging();
    let arguments = cli::parse();
    if let Ok(arguments) = &arguments {
        arguments.choose_index();
    }
    match arguments {
        Ok(cli::Arguments { command: Some(command), .. }) => cli::run(&command, started),
        Ok(arguments) => cli::window::run(arguments.runs, started),
        Err(status) => status,
    }
}
