//! Of which system a run is, by what is in its files, and the run opened: the one place where that is decided.

use std::path::Path;

use crate::format::poplar::reports_below;
use crate::format::pytorch::{self, SnapshotFiles};
use crate::format::{Error, Progress};
pub use crate::snapshot_run::{
    ReplayedSnapshot, RunContents, SnapshotRun, compare_claims, device_id,
};

/// What a path names.
#[derive(Debug)]
pub enum RunFiles {
    /// A report of Poplar, or nothing that another reader knows.
    Poplar,
    /// A file of PyTorch's.
    Pytorch(Box<SnapshotFiles>),
}

/// Finds out what a path names. Where a directory has a report of Poplar, it is that.
///
/// # Errors
/// When there are several snapshots, or something that no reader takes.
pub fn files_of_run(path: &Path, progress: &Progress) -> Result<RunFiles, Error> {
    if path.is_dir() && reports_below(path).is_ok_and(|reports| !reports.is_empty()) {
        return Ok(RunFiles::Poplar);
    }
    let found = pytorch::find(path, progress)?;
    Ok(found.map_or(RunFiles::Poplar, |files| RunFiles::Pytorch(Box::new(files))))
}
