//! `tilescope completions` and `tilescope man`: shell completions and manual pages, generated from clap's definition.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;

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
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if arguments.shell == Shell::Zsh {
        script = with_command_first(&script);
    }
    output::print(&script).unwrap_or_else(ExitCode::from)
}

/// The script for zsh with the command as the first word: clap counts the runs of a line without a command as a word before
/// it, so that no option of a command would be completed. Where a command can stand, a run can, too.
fn with_command_first(script: &str) -> String {
    let lines = script.split_inclusive('\n').filter(|line| !line.starts_with("'::runs"));
    lines
        .collect::<String>()
        .replace("$line[2]", "$line[1]")
        .replace("\":: :_tilescope_commands\"", "': :{_tilescope_commands; _files}'")
}

/// Writes the pages of the manual.
pub fn write_manual(arguments: &ManArguments) -> ExitCode {
    let directory = &arguments.directory;
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(directory)?;
        let mut program = Arguments::command().disable_help_subcommand(true);
        program.build();
        for command in std::iter::once(&program).chain(program.get_subcommands()) {
            let version = format!("tilescope {}", env!("TILESCOPE_VERSION"));
            Man::new(command.clone()).source(version).generate_to(directory)?;
        }
        Ok(())
    };
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::cannot_write(&format!("{}: {error}", directory.display())),
    }
}
