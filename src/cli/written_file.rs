//! A file that a command writes beside what it prints.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::files::{directory_of, is_below, new_file};
use crate::format::{Error, ErrorKind};
use crate::half_written::HalfWritten;

/// Writes a file as a whole or not at all, and not into the directory of a run; returns what `write` does, and the bytes of
/// the file. `what` is what is written, within a sentence: "the trace".
///
/// # Errors
/// `usage` of a file in one of the directories, `cannot-write` where it cannot be written.
pub fn write_file<T>(
    file: &Path,
    what: &str,
    directories: &[PathBuf],
    write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> Result<(T, u64), Error> {
    if directories.iter().any(|directory| is_below(file, directory)) {
        let message = format!(
            "{} lies in the directory of the run, where nothing is written",
            file.display()
        );
        return Err(Error::new(ErrorKind::Usage, message)
            .in_file(file)
            .hint("Choose another file."));
    }
    let failed = |error: &io::Error| {
        Error::new(ErrorKind::CannotWrite, format!("{what} cannot be written: {error}"))
            .in_file(file)
    };
    // A link stays, and what it leads to is replaced.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let made = HalfWritten::temporary(|| new_file(&directory_of(&target)));
    let (mut to, _half_written) = made.map_err(|error| failed(&error))?;
    let mut buffered = BufWriter::new(&mut to);
    let written = write(&mut buffered);
    let written = written.and_then(|written| buffered.flush().map(|()| written));
    let written = written.map_err(|error| failed(&error))?;
    drop(buffered);
    let bytes = to.as_file().metadata().map_or(0, |metadata| metadata.len());
    to.persist(&target).map_err(|error| failed(&error.error))?;
    Ok((written, bytes))
}
