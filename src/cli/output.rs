//! Shared by all commands: read, answer, print, and set the exit status.

pub mod arrow;
mod layout;
mod progress_line;

use std::borrow::Cow;
use std::io::{self, BufWriter, ErrorKind as IoErrorKind, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;

use anstyle::{AnsiColor, Style};
use schemars::JsonSchema;
use serde::Serialize;

use self::arrow::PrintedAs;
pub use self::layout::{aligned, name_cell, or_unknown, wrapped, write_aligned};
pub use self::progress_line::ProgressUnit;
use self::progress_line::show_progress;
use super::Input;
use super::standard_error::say;
use super::standard_input::RunPlace;
use crate::files::file_name;
use crate::format::{Error, ErrorKind, Progress};
use crate::store::{Absence, Report, Warning};
use crate::systems;
use crate::systems::system::{FoundRun, OpenRun};
use crate::text;

/// Exit status when a budget is exceeded.
pub const BUDGET_EXCEEDED: ExitStatus = ExitStatus(1);
/// Exit status when the arguments are wrong, or name several reports.
pub const WRONG_ARGUMENTS: ExitStatus = ExitStatus(2);
/// Exit status when the input cannot be read.
const CANNOT_READ: u8 = 3;
/// Exit status when the output cannot be written.
pub(super) const CANNOT_WRITE: ExitStatus = ExitStatus(4);

/// An exit status that is not 0.
#[derive(Clone, Copy, Debug)]
pub struct ExitStatus(u8);

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.0)
    }
}

/// An answer of a command.
pub trait Answer: Serialize {
    /// The schema of its JSON (cli.md).
    const SCHEMA: &'static str;
    /// The answer as text for people.
    fn text(&self) -> String;
    /// Writes that text; where it is far longer than what it is made of, a part at a time.
    ///
    /// # Errors
    /// Those of `out`.
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.text().as_bytes())
    }
    /// How the command ends once the answer is printed.
    fn exit_code(&self) -> ExitCode {
        ExitCode::SUCCESS
    }
}

/// What is written, as one text.
pub fn as_text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut text = Vec::new();
    // A vector takes everything.
    write(&mut text).unwrap_or_default();
    String::from_utf8(text).unwrap_or_default()
}

/// An answer that is also a table, for programs that read comma-separated values.
pub trait CsvAnswer: Answer {
    /// The table: one line of titles that say the units, numbers plain, what is not known empty.
    fn csv(&self) -> String;
}

/// An answer with what all have in JSON: the schema before it, the warnings that came up behind it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<A> {
    schema: &'static str,
    #[serde(flatten)]
    answer: A,
    warnings: Vec<Warning>,
}

impl<A: Answer> Document<A> {
    /// The document of an answer.
    pub fn new(answer: A, warnings: Vec<Warning>) -> Self {
        Self { schema: A::SCHEMA, answer, warnings }
    }

    /// The warnings that came up.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// As [`Answer::write_text`].
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.answer.write_text(out)
    }
}

/// Why there is no answer, as JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorDocument {
    schema: &'static str,
    error: ErrorBody,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ErrorBody {
    /// What kind of error it is.
    kind: ErrorKind,
    /// The file.
    file: Option<String>,
    /// The place in it.
    at: Option<String>,
    /// What was expected and what was found.
    message: String,
    /// What the user can do.
    hint: Option<String>,
}

impl ErrorDocument {
    /// The schema of its JSON (cli.md).
    pub const SCHEMA: &'static str = "tilescope.error/2";

    fn of(error: &Error) -> Self {
        let Error { kind, file, at, message, hint } = error.clone();
        let file = file.map(|file| file.display().to_string());
        Self { schema: Self::SCHEMA, error: ErrorBody { kind, file, at, message, hint } }
    }
}

/// Finds the run at the path, of whatever system, opens it, answers, prints. `module` names one of several modules.
/// `partial` answers where the path is no run, and a part of one at most.
pub fn answer_of_run<A: CsvAnswer>(
    input: &Input,
    module: Option<&str>,
    printed: PrintedAs<A>,
    answer: impl FnOnce(&dyn OpenRun, &Progress) -> Result<A, Error>,
    partial: impl FnOnce(&Path) -> Option<A>,
) -> ExitCode {
    let result = with_progress("Reading the run", |progress| {
        let place = RunPlace::of(&input.path, progress)?;
        let found = match systems::find(systems::of_process(), &place.path, module, progress) {
            Err(error) if error.kind == ErrorKind::NotAReport => {
                return partial(&place.path)
                    .map(|answer| with_warnings(answer, Vec::new()))
                    .ok_or(error);
            }
            found => found?,
        };
        answer_about(&*found, progress, answer)
    });
    finish_as(&result, input.json, printed)
}

/// The same where runs of some systems have no answer: then it is said what to use in place of `command`.
pub fn answer_or_instead<A: CsvAnswer>(
    input: &Input,
    printed: PrintedAs<A>,
    command: &str,
    answer: impl FnOnce(&dyn OpenRun, &Progress) -> Result<A, Error>,
) -> ExitCode {
    let result = with_progress("Reading the run", |progress| {
        let place = RunPlace::of(&input.path, progress)?;
        let found = found_for(&place.path, command, progress)?;
        answer_about(&*found, progress, answer)
    });
    finish_as(&result, input.json, printed)
}

/// Opens a run and answers.
fn answer_about<A: CsvAnswer>(
    found: &dyn FoundRun,
    progress: &Progress,
    answer: impl FnOnce(&dyn OpenRun, &Progress) -> Result<A, Error>,
) -> Result<Document<A>, Error> {
    say_choice(found);
    let run = opened(found, progress)?;
    let answer = answer(&*run, progress)?;
    Ok(with_warnings(answer, run.warnings(progress)))
}

/// Says which of several modules was chosen.
pub fn say_choice(found: &dyn FoundRun) {
    if let Some(choice) = found.choice() {
        say(format_args!("{choice}; --module chooses another"));
    }
}

/// Says which of several modules of one of several runs was chosen.
pub fn say_choice_at(path: &Path, found: &dyn FoundRun) {
    if let Some(choice) = found.choice() {
        say(format_args!("{}: {choice}", text::clean(&path.display().to_string())));
    }
}

/// Reads what the first answers of a run need.
///
/// # Errors
/// When it cannot be read, and when that was canceled.
pub fn opened(found: &dyn FoundRun, progress: &Progress) -> Result<Box<dyn OpenRun>, Error> {
    let run = found.open(progress)?;
    run.ok_or_else(|| Error::new(ErrorKind::Unreadable, "reading was canceled"))
}

/// Finds the run at a path for a command; where runs of its system have no answer to it, says what to use in place.
///
/// # Errors
/// As [`systems::find`], and of a run without an answer.
fn found_for(path: &Path, command: &str, progress: &Progress) -> Result<Box<dyn FoundRun>, Error> {
    let found = systems::find(systems::of_process(), path, None, progress)?;
    let (file, system) = (found.path(), found.system());
    match system.instead_of(command) {
        "" => Ok(found),
        instead => {
            let message = format!(
                "{} is a run of {}, and `tilescope {command}` does not take those",
                file.display(),
                system.title()
            );
            Err(Error::new(ErrorKind::Usage, message).in_file(file).hint(instead))
        }
    }
}

/// That a run has not what a command is about: as its reader says, else that it has none of it.
pub fn lacks(report: &Report, absence: Option<&Absence>, what: &str) -> Error {
    let error = match absence.filter(|absence| absence.is_explained()) {
        Some(Absence { what, hint, .. }) => {
            Error::new(ErrorKind::Damaged, what.as_str()).hint(hint.as_str())
        }
        None => Error::new(ErrorKind::Usage, format!("this run has no {what}")),
    };
    error.in_file(&report.path)
}

/// Opens the run at a path for a command.
///
/// # Errors
/// When it cannot be read, and where runs of its system have no answer to the command.
pub fn open_for(
    path: &Path,
    command: &str,
    progress: &Progress,
) -> Result<Box<dyn OpenRun>, Error> {
    opened(&*found_for(path, command, progress)?, progress)
}

/// Warnings with the path of their run before their files, for an answer about several.
pub fn named(path: &Path, warnings: Vec<Warning>) -> Vec<Warning> {
    let named = |warning: Warning| Warning {
        file: format!("{}: {}", path.display(), warning.file),
        ..warning
    };
    warnings.into_iter().map(named).collect()
}

fn with_warnings<A: Answer>(answer: A, warnings: Vec<Warning>) -> Document<A> {
    warnings.iter().for_each(print_warning);
    Document::new(answer, warnings)
}

/// Prints the answer or the error, and says how the command ends.
pub fn finish<A: Answer>(
    result: &Result<Document<A>, Error>,
    json: bool,
    text: impl FnOnce(&A) -> String,
) -> ExitCode {
    let exit_code = |document: &Document<A>| document.answer.exit_code();
    print_result(result, json, |document| text(&document.answer), exit_code)
}

/// As [`finish`], with text, comma-separated values or an Arrow stream.
pub fn finish_as<A: CsvAnswer>(
    result: &Result<Document<A>, Error>,
    json: bool,
    printed: PrintedAs<A>,
) -> ExitCode {
    match printed {
        PrintedAs::Text => finish_in_parts(result, json),
        PrintedAs::Csv => finish(result, json, A::csv),
        PrintedAs::Arrow(write) => {
            let print = |document: &Document<A>| print_by(|out| write(&document.answer, out));
            print_result_by(result, json, print, |document| document.answer.exit_code())
        }
    }
}

/// As [`finish`], with the text for people a part at a time.
pub fn finish_in_parts<A: Answer>(result: &Result<Document<A>, Error>, json: bool) -> ExitCode {
    let exit_code = |document: &Document<A>| document.answer.exit_code();
    let print = |document: &Document<A>| print_by(|out| document.write_text(out));
    print_result_by(result, json, print, exit_code)
}

/// Prints an answer, as JSON or as text, or why there is none; says how the command ends.
pub fn print_result<A: Serialize>(
    result: &Result<A, Error>,
    json: bool,
    text: impl FnOnce(&A) -> String,
    exit_code: impl FnOnce(&A) -> ExitCode,
) -> ExitCode {
    print_result_by(result, json, |answer| print(&text(answer)), exit_code)
}

fn print_result_by<A: Serialize>(
    result: &Result<A, Error>,
    json: bool,
    print: impl FnOnce(&A) -> Result<ExitCode, ExitStatus>,
    exit_code: impl FnOnce(&A) -> ExitCode,
) -> ExitCode {
    let answer = match result {
        Ok(answer) => answer,
        Err(error) => return fail(error, json),
    };
    let printed = if json { print_json(answer) } else { print(answer) };
    match printed {
        Ok(_) => exit_code(answer),
        Err(cannot_write) => cannot_write.into(),
    }
}

fn print_json(document: &impl Serialize) -> Result<ExitCode, ExitStatus> {
    // Not as one text first: an answer about many steps is long.
    print_by(|out| {
        serde_json::to_writer_pretty(TerminalSafe(&mut *out), document)?;
        out.write_all(b"\n")
    })
}

/// Writes JSON so that no terminal obeys it: what may be in a text and is not for eyes becomes an escape, which means
/// the same character. Below 128 JSON escapes such characters itself, but for the last.
struct TerminalSafe<W>(W);

impl<W: std::io::Write> std::io::Write for TerminalSafe<W> {
    /// Whole texts come, which are cut between characters.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut rest = std::str::from_utf8(bytes).map_err(std::io::Error::other)?;
        let is_obeyed = |character: char| character >= '\u{7f}' && text::is_obeyed(character);
        while let Some((before, after)) = rest.split_once(is_obeyed) {
            self.0.write_all(before.as_bytes())?;
            let obeyed = rest.get(before.len()..rest.len() - after.len()).unwrap_or_default();
            for unit in obeyed.encode_utf16() {
                write!(self.0, "\\u{unit:04x}")?;
            }
            rest = after;
        }
        self.0.write_all(rest.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Prints on standard output. A reader that has seen enough and closed the pipe is no error.
///
/// # Errors
/// The exit status for output that cannot be written, after saying so.
pub fn print(text: &str) -> Result<ExitCode, ExitStatus> {
    print_by(|out| out.write_all(text.as_bytes()))
}

/// Prints what clap says of the arguments.
///
/// # Errors
/// As [`print`].
pub(super) fn print_help(text: &clap::builder::StyledStr) -> Result<(), ExitStatus> {
    let mut out = anstream::stdout().lock();
    write!(out, "{}", text.ansi()).and_then(|()| out.flush()).or_else(|error| not_written(&error))
}

fn print_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<ExitCode, ExitStatus> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).or_else(|error| not_written(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// A reader that has seen enough and closed the pipe is no error; anything else is, after saying so.
fn not_written(error: &std::io::Error) -> Result<(), ExitStatus> {
    if error.kind() == IoErrorKind::BrokenPipe {
        return Ok(());
    }
    say(format_args!("error: standard output cannot be written: {error}"));
    Err(CANNOT_WRITE)
}

/// Says that an output cannot be written.
pub fn cannot_write(error: &dyn std::fmt::Display) -> ExitCode {
    say(format_args!("error: {}", text::clean(&error.to_string())));
    CANNOT_WRITE.into()
}

pub(crate) fn print_warning(warning: &Warning) {
    let style = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    say(format_args!(
        "{style}warning{style:#}: {}: {}: {}",
        warning.code,
        text::shortened(&warning.file, 200),
        text::shortened(&warning.message, 1000)
    ));
}

/// The exit status for an error.
pub fn status_of(error: &Error) -> ExitStatus {
    match error.kind {
        ErrorKind::SeveralReports | ErrorKind::Usage => WRONG_ARGUMENTS,
        ErrorKind::CannotWrite => CANNOT_WRITE,
        _ => ExitStatus(CANNOT_READ),
    }
}

/// Prints an error, on standard output as JSON, else on standard error.
pub fn fail(error: &Error, json: bool) -> ExitCode {
    let status = status_of(error);
    if json {
        return match print_json(&ErrorDocument::of(error)) {
            Ok(_) => status.into(),
            Err(cannot_write) => cannot_write.into(),
        };
    }
    let style = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
    say(format_args!("{style}error{style:#}: {}", error_lines(error).join("\n")));
    status.into()
}

/// An error as people read it: its message, behind the path of its file where it does not name that, where it is, and what
/// they can do.
pub(super) fn error_lines(error: &Error) -> Vec<String> {
    let is_named = |file: &&PathBuf| error.message.contains(&file_name(file));
    let file = error.file.as_ref().filter(|file| !is_named(file));
    let message = match file {
        Some(file) => Cow::from(format!("{}: {}", file.display(), error.message)),
        None => Cow::from(&error.message),
    };
    let message = message.lines().map(|line| text::clean(line).into_owned());
    let rest = [("at", &error.at), ("hint", &error.hint)];
    let rest = rest.into_iter().filter_map(|(title, text)| Some((title, text.as_ref()?)));
    message.chain(rest.map(|(title, text)| format!("  {title}: {}", text::clean(text)))).collect()
}

/// Runs a job that counts bytes, and on a terminal shows how far it is when it takes longer than a second.
pub fn with_progress<T>(what: &'static str, job: impl FnOnce(&Progress) -> T) -> T {
    with_progress_of(what, ProgressUnit::Bytes, job)
}

/// The same of a job that says what it counts.
pub fn with_progress_of<T>(
    what: &'static str,
    counted: ProgressUnit,
    job: impl FnOnce(&Progress) -> T,
) -> T {
    let progress = Progress::default();
    if !std::io::stderr().is_terminal() {
        return job(&progress);
    }
    let (finished, waits) = sync_channel::<()>(1);
    std::thread::scope(|scope| {
        let shown = &progress;
        let watcher = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn_scoped(scope, move || show_progress(what, counted, shown, &waits));
        // Without a thread to show it, the work goes on all the same.
        drop(watcher);
        let result = job(&progress);
        drop(finished);
        result
    })
}
