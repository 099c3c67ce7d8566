//! The formats of `tilescope check`, for answers and errors.

use clap::ValueEnum;

use super::{CheckReport, github, junit, markdown};
use crate::cli::output::Answer as _;
use crate::format::Error;

/// How the answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Text for people.
    #[default]
    Text,
    /// Workflow commands: GitHub shows each budget that is not kept as an annotation.
    Github,
    /// A JUnit report for GitLab, Jenkins and others: one test case for each budget.
    Junit,
    /// A table for the summary of a job, such as $GITHUB_STEP_SUMMARY.
    Markdown,
}

impl CheckFormat {
    /// The answer about the run of this name.
    pub(super) fn of_answer(self, run: &str, report: &CheckReport) -> String {
        match self {
            Self::Text => report.text(),
            Self::Github => github::of_answer(report),
            Self::Junit => junit::of_answer(run, report),
            Self::Markdown => markdown::of_answer(run, report),
        }
    }

    /// The error in this format; empty for text, whose errors go to standard error.
    pub(super) fn of_error(self, run: &str, error: &Error) -> String {
        match self {
            Self::Text => String::new(),
            Self::Github => github::of_error(error),
            Self::Junit => junit::of_error(run, error),
            Self::Markdown => markdown::of_error(run, error),
        }
    }
}
