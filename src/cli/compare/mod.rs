//! `tilescope compare`: what changed between two reports, and what the change consists of.

mod document;
mod explained;
mod runs;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

pub use self::document::Comparison;
use super::output;

/// Arguments of `tilescope compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The report to compare with.
    pub source: PathBuf,
    /// The report whose changes are of interest.
    pub target: PathBuf,
    /// Further reports: then the figures of all stand side by side.
    pub more: Vec<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn run(arguments: &CompareArguments) -> ExitCode {
    let CompareArguments { source, target, more, json } = arguments;
    let others: Vec<&Path> = std::iter::once(target).chain(more).map(PathBuf::as_path).collect();
    output::answer_of_several(source, &others, *json, Comparison::of)
}
