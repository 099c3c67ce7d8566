//! Errors: why a report cannot be opened at all, and what the user can do.

use std::path::{Path, PathBuf};

use crate::store::placed::ReadError;
use crate::text::words;

words! {
    /// The kinds of errors (definitions.md, "Error kinds").
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ErrorKind by as_str {
        /// The path does not exist.
        NotFound = "not-found",
        /// The path holds no report.
        NotAReport = "not-a-report",
        /// The path holds more than one report.
        SeveralReports = "several-reports",
        /// The report is of a format that is not read here.
        UnsupportedVersion = "unsupported-version",
        /// The report is damaged beyond use.
        Damaged = "damaged",
        /// The operating system does not let us read it.
        Unreadable = "unreadable",
        /// The arguments do not fit this report.
        Usage = "usage",
        /// The output cannot be written.
        CannotWrite = "cannot-write",
    }
}

/// An error with the place, what was expected and found, and what to do next.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What kind of error.
    pub kind: ErrorKind,
    /// The file or directory.
    pub file: Option<PathBuf>,
    /// Table, row or offset in the file.
    pub at: Option<String>,
    /// What was expected and what was found.
    pub message: String,
    /// What the user can do.
    pub hint: Option<String>,
}

impl From<ReadError> for Error {
    /// Readers of arenas here give errors of this kind.
    fn from(error: ReadError) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(other) => Self::new(ErrorKind::Damaged, other.to_string()),
        }
    }
}

impl Error {
    /// An error without place or hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, file: None, at: None, message: message.into(), hint: None }
    }

    /// That nobody waits any more.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Unreadable, "cancelled")
    }

    /// The same error about a file.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    /// The same error at a table, row or offset.
    #[must_use]
    pub fn at(mut self, at: impl Into<String>) -> Self {
        self.at = Some(at.into());
        self
    }

    /// The same error with what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error about a directory with several runs.
    #[must_use]
    pub fn of_several(self, directory: &Path) -> Self {
        let hint = format!(
            "Name one of them, or put all side by side: `tilescope sweep {}`.",
            directory.display()
        );
        self.in_file(directory).hint(hint)
    }

    /// What the operating system said of a file: not there, or not readable.
    pub fn io(file: &Path, error: &std::io::Error) -> Self {
        let (kind, hint) = match error.kind() {
            std::io::ErrorKind::NotFound => (ErrorKind::NotFound, "Check the path."),
            std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof => {
                (ErrorKind::Unreadable, "The file may be cut or damaged: copy it again.")
            }
            _ => (ErrorKind::Unreadable, "Check the permissions of the file and its directories."),
        };
        Self::new(kind, format!("{}: {error}", file.display())).in_file(file).hint(hint)
    }
}
