//! Errors of a report.

use serde::Serialize;

use super::facts::RankView;

/// An error.
#[derive(Debug, Serialize)]
pub struct ErrorFacts<'a> {
    operation: Option<u64>,
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    form: Option<&'static str>,
    verdict: &'static str,
    missing_bytes: Option<u64>,
}

/// The errors of a rank.
pub fn error_facts<'a>(view: &RankView<'a>) -> Vec<ErrorFacts<'a>> {
    let errors = view.rank.errors.iter();
    let facts = errors.map(|error| ErrorFacts {
        operation: error.operation.map(|at| view.rank.operations.id(at)),
        name: &error.name,
        kind: &error.kind,
        form: None,
        verdict: "unknown",
        missing_bytes: None,
    });
    facts.collect()
}
