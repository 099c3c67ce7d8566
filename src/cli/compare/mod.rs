//! `tilescope compare`: what changed between two reports, and what the change consists of.

mod conclusions;
mod csv;
mod document;
mod explained;
mod peaks;
mod peaks_text;
mod programs;
mod runs;
mod snapshots;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

pub use self::document::Comparison;
pub use self::snapshots::document as document_of_snapshots;
use super::output;
use crate::analysis::compared_programs::common_module;
use crate::analysis::compared_snapshots::Room;
use crate::analysis::comparison::explanation::GroupedBy;
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{RunFiles, XlaFiles, files_of_module};
use crate::systems::pytorch::files::{FileKind, SnapshotFiles};
use crate::systems::system::FoundRun as _;
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
    /// The module of dumps of XLA that is meant: a part of its name or of its file's.
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Of memory snapshots and programs of XLA: which device, and what it has.
    #[command(flatten)]
    pub device: DeviceArguments,
    /// What the text has.
    #[command(flatten)]
    pub shown: Shown,
}

/// The device that memory snapshots and programs of XLA are of, which do not say what it has.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DeviceArguments {
    /// Of memory snapshots: the number of the device, in place of the one that failed or had most. Of programs of
    /// XLA: the number of the memory space, in place of the main one.
    #[arg(long, value_name = "N")]
    pub device: Option<i64>,
    /// Of memory snapshots and programs of XLA: what the device has, for example 16GiB.
    #[arg(long, value_parser = size::parse, value_name = "BYTES")]
    pub capacity: Option<u64>,
    /// Of memory snapshots and programs of XLA: what others have of the device, for example 600MiB.
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
                let message = format!(
                    "{option} is of memory snapshots and programs of XLA, and this is a report of Poplar"
                );
                Err(Error::new(ErrorKind::Usage, message)
                    .hint("Reports of Poplar know what their devices have."))
            }
        }
    }

    /// What the device has, as the user says.
    pub fn room(&self) -> Room {
        Room {
            capacity_bytes: self.capacity,
            other_bytes: self.other.unwrap_or(0),
            is_other_said: self.other.is_some(),
        }
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

impl By {
    /// What it is called in JSON and as a value of the option.
    pub fn key(self) -> &'static str {
        match self {
            Self::Category => "category",
            Self::Operation => "operation",
            Self::Module => "module",
            Self::Variable => "variable",
            Self::Fullest => "fullest",
        }
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
    let CompareArguments { source, target, more, json, module, shown, device } = arguments;
    let others: Vec<&Path> = std::iter::once(target).chain(more).map(PathBuf::as_path).collect();
    let paths: Vec<&Path> = std::iter::once(source.as_path()).chain(others.clone()).collect();
    match runs_of(&paths, module.as_deref(), device) {
        Err(error) => output::fail(&error, *json),
        Ok(RunsToCompare::Pytorch(files)) => snapshots::run(&files, arguments),
        Ok(RunsToCompare::Xla(files)) => programs::run(&files, arguments),
        Ok(RunsToCompare::Poplar) => {
            output::answer_of_several(source, &others, *json, |source, others, progress| {
                let comparison = Comparison::of(source, others, progress)?;
                Ok(Comparison { shown: shown.clone(), ..comparison })
            })
        }
    }
}

/// Runs that are put beside each other: of one system, one for each path.
#[derive(Debug)]
pub enum RunsToCompare {
    /// Reports of Poplar, or nothing that another reader knows.
    Poplar,
    /// Memory snapshots.
    Pytorch(Vec<SnapshotFiles>),
    /// Programs of XLA: of each path the module that is meant comes first.
    Xla(Vec<XlaFiles>),
}

/// The runs that paths name. Of dumps of XLA it is the first module of the first path that all others have; which one is
/// said on standard error.
///
/// # Errors
/// When they are of several systems, and as [`files_of_module`].
pub fn runs_of(
    paths: &[&Path],
    module: Option<&str>,
    device: &DeviceArguments,
) -> Result<RunsToCompare, Error> {
    let (mut snapshots, mut programs) = (Vec::<SnapshotFiles>::new(), Vec::<XlaFiles>::new());
    let mut of_poplar: Vec<&Path> = Vec::new();
    for path in paths {
        match files_of_module(path, module, &Progress::default())? {
            RunFiles::Poplar(_) => of_poplar.push(path),
            RunFiles::Pytorch(files) => snapshots.push(*files),
            RunFiles::Xla(files) => programs.push(*files),
        }
    }
    let first = snapshots.first().map(|files| ("PyTorch", files.path.as_path()));
    let of_xla = programs.first().map(|files| ("XLA", files.path.as_path()));
    let says = |other: &Path, says: &str| format!("{} is {says}", other.display());
    match (first.or(of_xla), of_xla.filter(|_| first.is_some()), of_poplar.first()) {
        (None, ..) => {
            device.check_not_given()?;
            return Ok(RunsToCompare::Poplar);
        }
        (Some(first), Some((_, other)), _) => {
            return Err(of_several_systems(first, other, &says(other, "of XLA")));
        }
        (Some(first), None, Some(other)) => {
            return Err(of_several_systems(first, other, &says(other, "not")));
        }
        (Some(_), None, None) => {}
    }
    if !programs.is_empty() {
        if module.is_none() {
            prefer_common_module(&mut programs);
        }
        say_modules(&programs);
        return Ok(RunsToCompare::Xla(programs));
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
    Ok(RunsToCompare::Pytorch(snapshots))
}

/// Says which modules are taken, where there are others.
fn say_modules(programs: &[XlaFiles]) {
    for program in programs {
        if let Some(said) = program.choice() {
            anstream::eprintln!("{}: {said}", program.path.display());
        }
    }
}

/// That runs are of several systems, or that one is not there.
fn of_several_systems((system, first): (&str, &Path), other: &Path, says: &str) -> Error {
    if let Err(error) = std::fs::metadata(other) {
        return Error::io(other, &error);
    }
    let message = format!(
        "{} is of {system}, and {says}: what a caching allocator did on a GPU, what XLA placed in its allocations and \
         what Poplar placed on tiles have neither steps nor variables in common",
        first.display(),
    );
    Error::new(ErrorKind::Usage, message).hint(
        "Compare snapshots with snapshots, programs of XLA with such, and reports of Poplar with reports of Poplar.",
    )
}

/// Puts the module that is compared first, where none is named. Where they have none in common each keeps its own, and
/// that is said.
fn prefer_common_module(programs: &mut [XlaFiles]) {
    let lists = programs.iter().map(|files| files.modules.iter().map(|one| &one.listed).collect());
    let places = common_module(&lists.collect::<Vec<Vec<_>>>()).unwrap_or_default();
    for (program, place) in programs.iter_mut().zip(places) {
        if let Some(modules) = program.modules.get_mut(..=place) {
            modules.rotate_right(1);
        }
    }
}
