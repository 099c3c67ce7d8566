//! Arguments → window or command; nothing else.

use std::process::ExitCode;
use std::time::Instant;

use tilescope::cli;

fn main() -> ExitCode {
    let started = Instant::now();
    cli::interrupted::watch();
    cli::start_logging();
    let arguments = match cli::parse() {
        Ok(arguments) => arguments,
        Err(status) => return cli::end(status),
    };
    arguments.choose_index();
    let status = match &arguments.command {
        Some(command) => cli::run(command, started),
        None => cli::window::run(&arguments.runs, started),
    };
    arguments.say_work();
    cli::end(status)
}
