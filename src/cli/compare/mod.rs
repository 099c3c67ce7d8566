//! `tilescope compare`: what changed between two reports, and what the change consists of.

mod conclusions;
mod csv;
mod document;
mod explained;
mod runs;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

pub use self::document::Comparison;
use super::output;
use crate::analysis::comparison::explanation::GroupedBy;

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
    /// What the text has.
    #[command(flatten)]
    pub shown: Shown,
}

/// What of a comparison is printed as text, and how.
#[derive(Clone, Debug, Default, Args)]
pub struct Shown {
    /// Only the conclusions, and what differs.
    #[arg(long, conflicts_with_all = ["json", "by", "csv"])]
    pub brief: bool,
    /// Which tables say what the changes of the peak and of always-live memory consist of; of two reports.
    #[arg(long, value_enum, value_delimiter = ',', conflicts_with_all = ["json", "more"])]
    pub by: Vec<By>,
    /// Print the figures as comma-separated values; with --by the tables of it.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// What bytes are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// By category of memory.
    Category,
    /// By operation.
    Operation,
    /// By module of the network.
    Module,
    /// By variable before lowering.
    Variable,
    /// The fullest tile; by all of these where none of them is asked for.
    Fullest,
}

impl By {
    /// What it is among what bytes go by; `None` for the fullest tile.
    pub fn grouped(self) -> Option<GroupedBy> {
        Some(match self {
            Self::Category => GroupedBy::Category,
            Self::Operation => GroupedBy::Operation,
            Self::Module => GroupedBy::Module,
            Self::Variable => GroupedBy::Variable,
            Self::Fullest => return None,
        })
    }
}

impl Shown {
    /// Whether a table is asked for; all are where none is.
    fn has(&self, by: By) -> bool {
        let is_asked = self.by.contains(&by);
        match by {
            By::Fullest => is_asked || self.by.is_empty(),
            _ => is_asked || self.by.iter().all(|by| *by == By::Fullest),
        }
    }

    /// Whether only the fullest tile is asked for.
    fn is_fullest_alone(&self) -> bool {
        !self.by.is_empty() && self.by.iter().all(|by| *by == By::Fullest)
    }
}

pub(crate) fn run(arguments: &CompareArguments) -> ExitCode {
    let CompareArguments { source, target, more, json, shown } = arguments;
    let others: Vec<&Path> = std::iter::once(target).chain(more).map(PathBuf::as_path).collect();
    output::answer_of_several(source, &others, *json, |source, others, progress| {
        let comparison = Comparison::of(source, others, progress)?;
        Ok(Comparison { shown: shown.clone(), ..comparison })
    })
}
