//! Reads a log for its messages about memory, or says what a file is that is no log. The command and the window share it.

use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;

use crate::diagnose::{Diagnosis, diagnose_reader};
use crate::files::WithoutHoles;
use crate::files::looks_like::{self, Form, Look};
use crate::format::{Error, ErrorKind, Progress};
use crate::progress::Watched;

/// The messages in a file, which `open` opens.
///
/// # Errors
/// When it cannot be read, and when it is a directory or not text.
pub(crate) fn diagnose_file(
    path: &Path,
    open: impl FnOnce(&Path) -> io::Result<File>,
    progress: &Progress,
) -> Result<Diagnosis, Error> {
    let fail = |error| Error::io(path, &error);
    let name = path.display().to_string();
    let about = std::fs::metadata(path).map_err(fail)?;
    let look = if about.is_file() || about.is_dir() {
        looks_like::look(path).map_err(fail)?
    } else {
        looks_like::look_at_stream(b"")
    };
    if matches!(look.form, Form::Binary | Form::Directory) {
        return Err(not_a_log(&name, look).in_file(path));
    }
    let file = open(path).map_err(fail)?;
    progress.expect(about.len());
    let diagnosis =
        diagnose_reader(Watched { reader: WithoutHoles(file), progress }).map_err(fail)?;
    check_has_text(&name, look, diagnosis).map_err(|error| error.in_file(path))
}

/// The messages in a stream, of which only the beginning says whether it is a log.
///
/// # Errors
/// When it cannot be read, and when it is not text.
pub(crate) fn diagnose_stream(
    name: &str,
    mut stream: impl BufRead + Send,
) -> Result<Diagnosis, Error> {
    let fail = |error| Error::io(Path::new(name), &error);
    let look = looks_like::look_at_stream(stream.fill_buf().map_err(fail)?);
    if look.form == Form::Binary {
        return Err(not_a_log(name, look));
    }
    check_has_text(name, look, diagnose_reader(stream).map_err(fail)?)
}

/// A log may begin with anything, so messages in bytes of an unknown kind are shown.
fn check_has_text(name: &str, look: Look, diagnosis: Diagnosis) -> Result<Diagnosis, Error> {
    if look.form == Form::Unknown && diagnosis.findings.is_empty() {
        return Err(not_a_log(name, look));
    }
    Ok(diagnosis)
}

fn not_a_log(name: &str, look: Look) -> Error {
    let error = Error::new(ErrorKind::Unreadable, look.not_a_log(name));
    match look.form {
        Form::Directory => {
            error.hint("Name the log files themselves: `tilescope diagnose DIRECTORY/*.log`.")
        }
        _ => error.hint(look.hint),
    }
}
