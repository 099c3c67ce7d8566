//! `tilescope completions` and `tilescope man`: what a shell and a manual know of the command line, from its own definition.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Arguments, output};

/// Arguments of `tilescope completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell that reads the script.
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Arguments of `tilescope man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The directory that gets a page for the program and one for each command; it is made where it is absent.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Prints the script that completes command lines in a shell.
pub fn print_completions(arguments: &CompletionsArguments) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tilescope", &mut script);
    match output::print(&String::from_utf8_lossy(&script)) {
        Ok(status) => status,
        Err(cannot_write) => cannot_write.into(),
    }
}

/// Writes the pages of the manual.
pub fn write_manual(arguments: &ManArguments) -> ExitCode {
    let directory = &arguments.directory;
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(directory)?;
        clap_mangen::generate_to(Arguments::command(), directory)
    };
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::cannot_write(&format!("{}: {error}", directory.display())),
    }
}
