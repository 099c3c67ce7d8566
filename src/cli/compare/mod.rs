//! `tilescope compare`: what changed between two runs, and what the change consists of.

mod csv;
mod document;
mod explained;
mod schema;
mod steps;
mod tables;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

pub use self::document::{Comparison, document};
use super::output;
use super::room::RoomArguments;
use crate::analysis::comparison::explanation::GroupedBy;
use crate::format::{Error, ErrorKind, Progress};
use crate::run::Room;
use crate::systems::several::runs_to_compare;
use crate::systems::system::FoundRun;

/// Arguments of `tilescope compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The run to compare with.
    pub source: PathBuf,
    /// The run whose changes are shown.
    pub target: PathBuf,
    /// Further runs; the figures of all stand side by side.
    pub more: Vec<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
    /// The module to compare where runs have several: a part of its name or of its file's name.
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Which device, and what it has.
    #[command(flatten)]
    pub device: DeviceArguments,
    /// What the text has.
    #[command(flatten)]
    pub shown: Shown,
}

/// The device that figures are of, and what it has.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DeviceArguments {
    /// The number of the device. By default the one that failed, else the one with most memory in use, else the main one.
    #[arg(long, value_name = "N")]
    pub device: Option<i64>,
    /// What it has.
    #[command(flatten)]
    pub room: RoomArguments,
}

impl DeviceArguments {
    /// Refuses a device where runs are compared as a whole.
    ///
    /// # Errors
    /// `usage` where one is given.
    pub fn check_not_given(&self) -> Result<(), Error> {
        match self.device {
            None => Ok(()),
            Some(_) => {
                let message = "--device is for runs that are compared by their peaks; these are \
                    compared as a whole, step by step";
                Err(Error::new(ErrorKind::Usage, message).hint("Leave it out."))
            }
        }
    }

    /// What the device has, as the user says.
    pub fn room(&self) -> Room {
        self.room.room()
    }
}

/// What of a comparison is printed as text, and how.
#[derive(Clone, Debug, Default, Args)]
pub struct Shown {
    /// Print only the conclusions and what differs.
    #[arg(long, conflicts_with_all = ["json", "by", "csv"])]
    pub brief: bool,
    /// Which tables explain the changes of the peak and of always-live memory; for two runs.
    #[arg(long, value_enum, value_delimiter = ',', conflicts_with_all = ["json", "more"])]
    pub by: Vec<By>,
    /// Print the figures as comma-separated values instead of text; with --by its tables.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

impl By {
    /// What it is called in JSON and as a value of the option.
    pub fn key(self) -> &'static str {
        self.grouped().map_or("fullest", GroupedBy::key)
    }
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
    /// By all of these on the fullest tile; for IPU reports.
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
    let CompareArguments { source, target, more, json, module, device, .. } = arguments;
    let paths: Vec<&Path> =
        [source, target].into_iter().chain(more).map(PathBuf::as_path).collect();
    match runs_of(&paths, module.as_deref(), device) {
        Err(error) => output::fail(&error, *json),
        Ok(runs) => document::run(&runs, arguments),
    }
}

/// Whether steps of the runs belong together by what they do; else they are compared by their peaks.
fn are_steps_matched(runs: &[Box<dyn FoundRun>]) -> bool {
    runs.iter().all(|run| run.system().words().are_steps_matched)
}

/// The runs that paths name, which are to be compared. Which module of several is taken is said on standard error.
///
/// # Errors
/// As [`runs_to_compare`], and when a device is named of runs that are compared as a whole.
pub fn runs_of(
    paths: &[&Path],
    module: Option<&str>,
    device: &DeviceArguments,
) -> Result<Vec<Box<dyn FoundRun>>, Error> {
    let runs = runs_to_compare(paths, module, &Progress::default())?;
    if are_steps_matched(&runs) {
        device.check_not_given()?;
    }
    for run in &runs {
        output::say_choice_at(run.path(), &**run);
    }
    Ok(runs)
}
