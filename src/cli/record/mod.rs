//! `tilescope record -- COMMAND`: runs a command in whose processes Python records the memory of PyTorch.

mod package;

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use serde_json::{Map, Value};

use super::{interrupted, output, standard_error};
use crate::text::clean;

/// What a shell says of a command that is not there.
const NOT_STARTED: u8 = 127;

/// Arguments of `tilescope record`.
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// The directory for the snapshots.
    #[arg(short, long, value_name = "DIRECTORY", default_value = "run")]
    pub output: PathBuf,
    /// Settings that tell this run from others, such as batch=8; `sweep` and `compare` show them.
    #[arg(value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<(String, Value)>,
    /// The command, as it is started without this one.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// A setting; numbers and true or false as such, so that a sweep orders them.
fn setting(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("it is no NAME=VALUE; the command goes behind --, as in: tilescope record -- python train.py")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((name.to_owned(), value))
}

/// Runs the command in place of this process; the exit status is that of the command.
pub fn run(arguments: &RecordArguments) -> ExitCode {
    let Some((program, rest)) = arguments.command.split_first() else {
        return ExitCode::from(NOT_STARTED);
    };
    let variables = package::hook_directory().and_then(|hook| variables(arguments, &hook));
    let variables = match variables {
        Ok(variables) => variables,
        Err(error) => return output::cannot_write(&format!("the recorder: {error}")),
    };
    let mut command = Command::new(program);
    command.args(rest).envs(variables);
    in_place_of_this_process(&mut command).unwrap_or_else(|error| {
        let program = program.to_string_lossy();
        standard_error::say(format_args!("error: {}: {error}", clean(&program)));
        ExitCode::from(NOT_STARTED)
    })
}

/// The variables that make Python record: its `sitecustomize` is the hook, which runs the user's own as well.
fn variables(
    arguments: &RecordArguments,
    hook: &Path,
) -> io::Result<[(&'static str, OsString); 5]> {
    let before = env::var_os("PYTHONPATH").filter(|paths| !paths.is_empty());
    let before = before.iter().flat_map(env::split_paths);
    let paths = [hook.to_owned()].into_iter().chain(before);
    let paths = env::join_paths(paths).map_err(io::Error::other)?;
    let facts: Map<String, Value> = arguments.settings.iter().cloned().collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    Ok([
        ("PYTHONPATH", paths),
        ("TILESCOPE_RECORD", std::path::absolute(&arguments.output)?.into_os_string()),
        ("TILESCOPE_RECORD_FACTS", Value::from(facts).to_string().into()),
        // The command has the number of this process.
        ("TILESCOPE_RECORD_PROCESS", std::process::id().to_string().into()),
        ("TILESCOPE_RECORD_STARTED", now.as_secs_f64().to_string().into()),
    ])
}

/// Becomes the command, so that signals reach it and its parent waits for it.
#[cfg(unix)]
fn in_place_of_this_process(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    interrupted::stop_watching();
    Err(command.exec())
}

#[cfg(not(unix))]
fn in_place_of_this_process(command: &mut Command) -> io::Result<ExitCode> {
    let status = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(status.unwrap_or(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_numbers_words_and_texts() {
        for (text, expected) in [
            ("batch=8", Value::from(8)),
            ("amp=true", Value::from(true)),
            ("name=a b", Value::from("a b")),
            ("equation=a=b", Value::from("a=b")),
            ("empty=", Value::from("")),
        ] {
            let (name, value) = setting(text).expect(text);
            assert!(text.starts_with(&format!("{name}=")));
            assert_eq!(value, expected, "{text}");
        }
        assert!(setting("train.py").is_err_and(|said| said.contains("behind --")));
    }
}
