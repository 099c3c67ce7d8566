//! `tilescope compare`: what changed between two reports, and what the change consists of.

mod conclusions;
mod csv;
mod document;
mod explained;
mod runs;
mod snapshots;
mod snapshots_text;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

pub use self::document::Comparison;
use super::output;
use crate::analysis::compared_snapshots::Room;
use crate::analysis::comparison::explanation::GroupedBy;
use crate::format::pytorch::{FileKind, SnapshotFiles};
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{RunFiles, files_of_run};
use crate::text::size;

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
    /// Of memory snapshots: which device, and what it has.
    #[command(flatten)]
    pub device: DeviceArguments,
    /// What the text has.
    #[command(flatten)]
    pub shown: Shown,
}

/// The device that memory snapshots are of, which do not say what it has.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DeviceArguments {
    /// Of memory snapshots: the number of the device, in place of the one that failed or had most.
    #[arg(long, value_name = "N")]
    pub device: Option<i64>,
    /// Of memory snapshots: what the device has, for example 16GiB.
    #[arg(long, value_parser = size::parse, value_name = "BYTES")]
    pub capacity: Option<u64>,
    /// Of memory snapshots: what others have of the device, for example 600MiB.
    #[arg(long, value_parser = size::parse, value_name = "BYTES")]
    pub other: Option<u64>,
}

impl DeviceArguments {
    /// Refuses them where a report is of Poplar.
    ///
    /// # Errors
    /// `usage` for the first that is given.
    pub fn check_not_given(&self) -> Result<(), Error> {
        let given = [
            ("--device", self.device.is_some()),
            ("--capacity", self.capacity.is_some()),
            ("--other", self.other.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((option, _)) => {
                let message =
                    format!("{option} is of memory snapshots, and this is a report of Poplar");
                Err(Error::new(ErrorKind::Usage, message)
                    .hint("Reports of Poplar know what their devices have."))
            }
        }
    }

    /// What the device has, as the user says.
    pub fn room(&self) -> Room {
        Room { capacity_bytes: self.capacity, other_bytes: self.other.unwrap_or(0) }
    }
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
    let CompareArguments { source, target, more, json, shown, device } = arguments;
    let others: Vec<&Path> = std::iter::once(target).chain(more).map(PathBuf::as_path).collect();
    let paths: Vec<&Path> = std::iter::once(source.as_path()).chain(others.clone()).collect();
    match snapshots_of(&paths, device) {
        Err(error) => output::fail(&error, *json),
        Ok(Some(files)) => snapshots::run(&files, arguments),
        Ok(None) => {
            output::answer_of_several(source, &others, *json, |source, others, progress| {
                let comparison = Comparison::of(source, others, progress)?;
                Ok(Comparison { shown: shown.clone(), ..comparison })
            })
        }
    }
}

/// The snapshots that all paths name; `None` where all are reports of Poplar.
///
/// # Errors
/// When one is of XLA, or they are of several systems, and as [`files_of_run`].
pub fn snapshots_of(
    paths: &[&Path],
    device: &DeviceArguments,
) -> Result<Option<Vec<SnapshotFiles>>, Error> {
    let (mut snapshots, mut of_poplar) = (Vec::new(), Vec::new());
    for path in paths {
        match files_of_run(path, &Progress::default())? {
            RunFiles::Poplar(_) => of_poplar.push(*path),
            RunFiles::Xla(files) => return Err(output::of_xla(&files)),
            RunFiles::Pytorch(files) => snapshots.push(*files),
        }
    }
    let Some(first) = snapshots.first() else {
        device.check_not_given()?;
        return Ok(None);
    };
    if let Some(other) = of_poplar.first() {
        std::fs::metadata(other).map_err(|error| Error::io(other, &error))?;
        let message = format!(
            "{} is of PyTorch, and {} is not: what a caching allocator did on a GPU and what a compiler placed on \
             tiles have neither steps nor variables in common",
            first.path.display(),
            other.display()
        );
        return Err(Error::new(ErrorKind::Usage, message).hint(
            "Compare snapshots with snapshots, and reports of Poplar with reports of Poplar.",
        ));
    }
    if let Some(timeline) = snapshots.iter().find(|files| files.kind != FileKind::Snapshot) {
        let message = format!(
            "{} is a memory timeline: bytes by category, without blocks that could be compared",
            timeline.path.display()
        );
        return Err(Error::new(ErrorKind::Usage, message)
            .in_file(&timeline.path)
            .hint("torch.cuda.memory._dump_snapshot writes a snapshot that has them."));
    }
    Ok(Some(snapshots))
}
