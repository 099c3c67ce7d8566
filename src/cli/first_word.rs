//! Words that are neither a command nor a path: told before anything is read or opened.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _};

use super::Arguments;

/// Commands that are described and not there yet.
const NOT_YET: [&str; 1] = ["view"];

/// Checks the first word of a command line.
///
/// # Errors
/// When it must be meant as a command, and there is none of that name.
pub fn check(word: &OsStr) -> Result<(), clap::Error> {
    let mut program = Arguments::command();
    program.build();
    let is_option = word.as_encoded_bytes().starts_with(b"-");
    if is_option || program.find_subcommand(word).is_some() || !is_missing_word(Path::new(word)) {
        return Ok(());
    }
    let word = word.to_string_lossy();
    let message = match nearest(&program, &word) {
        _ if NOT_YET.contains(&&*word) => {
            format!("this version does not have the command '{word}' yet")
        }
        Some(command) => {
            format!("'{word}' is neither a command nor an existing path; did you mean '{command}'?")
        }
        None => format!("'{word}' is neither a command nor an existing path"),
    };
    Err(program.error(ErrorKind::InvalidSubcommand, message))
}

/// Checks a word that is to be the path of a run.
///
/// # Errors
/// When it does not exist and does not look like a path either.
pub fn check_run(run: &Path) -> Result<(), clap::Error> {
    if !is_missing_word(run) {
        return Ok(());
    }
    let message = format!("there is no '{}' to open", run.display());
    Err(Arguments::command().error(ErrorKind::InvalidValue, message))
}

/// Whether it is a bare word, such as a command is, and no file or directory has that name.
fn is_missing_word(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let looks_like_path = bytes.starts_with(b".")
        || bytes.iter().any(|byte| std::path::is_separator(char::from(*byte)));
    !looks_like_path && matches!(path.try_exists(), Ok(false))
}

/// The command that is written most alike, if one is: what clap finds.
fn nearest(program: &Command, word: &str) -> Option<String> {
    // The command that helps is clap's own, which it adds again.
    let own = program.get_subcommands().filter(|command| command.get_name() != "help");
    let commands = Command::new("tilescope").subcommands(own.cloned());
    let line = [OsString::from("tilescope"), OsString::from(word)];
    let error = commands.try_get_matches_from(line).err()?;
    match error.get(ContextKind::SuggestedSubcommand)? {
        ContextValue::String(command) => Some(command.clone()),
        ContextValue::Strings(commands) => commands.first().cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(word: &str) -> Option<String> {
        check(OsStr::new(word)).err().map(|error| error.to_string())
    }

    #[test]
    fn a_first_word_is_a_command_or_a_path() {
        for word in ["summary", "help", "--version", "-", "src", "./absent", "/absent", "a/absent"]
        {
            assert_eq!(said(word), None, "{word}");
        }
        for (word, expected) in [
            ("summry", "did you mean 'summary'?"),
            ("liveliness", "did you mean 'liveness'?"),
            ("view", "does not have the command 'view' yet"),
            ("xyzzy", "neither a command nor an existing path\n"),
        ] {
            let message = said(word).unwrap_or_default();
            assert!(message.contains(expected) && message.contains("Usage:"), "{message}");
        }
    }

    #[test]
    fn no_command_that_is_there_is_said_not_to_be() {
        let program = Arguments::command();
        for word in NOT_YET {
            assert!(program.find_subcommand(word).is_none(), "{word}");
        }
    }
}
