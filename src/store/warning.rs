//! Warnings: what is damaged or absent in a report that can be read all the same.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::text::words;

words! {
    /// The kinds of warnings (cli.md).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum WarningCode by as_str {
        /// A file of the report is not there.
        MissingFile = "missing-file",
        /// A file ends before its contents do.
        Truncated = "truncated",
        /// A part is written in a format that is not known here.
        UnsupportedVersion = "unsupported-version",
        /// Two parts contradict each other, or a part has not the shape that it should have.
        Inconsistent = "inconsistent",
        /// The execution tables are empty.
        NoExecution = "no-execution",
        /// No debug context could be read.
        NoDebugInfo = "no-debug-info",
        /// The report was still being written, or its writer was interrupted.
        Unfinished = "unfinished",
        /// A value is none of those that are known.
        UnknownValue = "unknown-value",
    }
}

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something that a reader could do without.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Warning {
    /// What kind of thing it is.
    pub code: WarningCode,
    /// The file's name.
    pub file: String,
    /// Where in the file, what was expected and what was found.
    pub message: String,
}

/// Collects warnings from readers on several threads; handed down, never returned.
#[derive(Debug, Default)]
pub struct Warnings {
    list: Mutex<Vec<Warning>>,
}

impl Warnings {
    /// Adds a warning, unless the same one is there.
    pub fn add(&self, code: WarningCode, file: &str, message: impl Into<String>) {
        let warning = Warning { code, file: file.to_owned(), message: message.into() };
        let mut list = self.locked();
        if !list.contains(&warning) {
            list.push(warning);
        }
    }

    /// All warnings so far, in the order in which they came.
    pub fn list(&self) -> Vec<Warning> {
        self.locked().clone()
    }

    /// How many there are so far.
    pub fn count(&self) -> usize {
        self.locked().len()
    }

    /// Whether there is one of a kind.
    pub fn has(&self, code: WarningCode) -> bool {
        self.locked().iter().any(|warning| warning.code == code)
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Warning>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
