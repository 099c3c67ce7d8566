//! A conclusion: a sentence that follows from the figures, with what it is based on.

use serde::Serialize;

use super::evidence::Evidence;

/// A sentence that follows from the figures of a run, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Conclusion {
    /// What it is about: a fixed key.
    pub id: &'static str,
    /// A sentence without its full stop.
    pub text: String,
    /// Whether the change is for the better; `None` of a single run, and where it is neither.
    pub is_better: Option<bool>,
    /// What it is based on.
    pub evidence: Vec<Evidence>,
}

impl Conclusion {
    /// A sentence about a single run.
    pub fn new(id: &'static str, text: impl Into<String>) -> Self {
        Self { id, text: text.into(), ..Self::default() }
    }
}
