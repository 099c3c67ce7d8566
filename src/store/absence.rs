//! Why something is not in a report, and what the user can do about it, said by the reader that looked
//! for it: only readers know tables, files and options.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum AbsenceKind {
    Explained,
    Cancelled,
    Unexplained,
}

/// Why something is not there.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Absence {
    kind: AbsenceKind,
    /// In words of the files: "The profile has no readable table …".
    pub what: String,
    /// What would bring it, or what the user can do; may be empty.
    pub hint: String,
}

impl Absence {
    /// Something that is not there, and what would bring it.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: AbsenceKind::Explained, what: what.into(), hint: hint.into() }
    }

    /// What was not read, or only in part, which would give wrong figures.
    pub fn cancelled() -> Self {
        let kind = AbsenceKind::Cancelled;
        Self { kind, ..Self::new("Reading was canceled", "Reload reads again") }
    }

    /// Whether it may be in the report all the same: the reading was canceled.
    pub fn is_cancelled(&self) -> bool {
        self.kind == AbsenceKind::Cancelled
    }

    /// Where nobody gave a reason.
    pub fn unexplained() -> Self {
        Self { kind: AbsenceKind::Unexplained, ..Self::new("This run does not have it", "") }
    }

    /// Whether somebody gave a reason: what a system does not have at all needs none.
    pub fn is_explained(&self) -> bool {
        self.kind != AbsenceKind::Unexplained
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "; {}", self.hint) }
    }
}
