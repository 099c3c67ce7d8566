//! Files of PyTorch (formats/pytorch.md): memory snapshots of `torch.cuda.memory._dump_snapshot`, memory timelines of
//! torch.profiler, and what lies beside them.

mod ahead;
mod allocator_settings;
mod assemble;
mod claims;
mod cycles;
mod discover;
mod events;
mod intern;
mod known_lists;
mod machine;
mod objects;
#[cfg(test)]
pub(crate) mod pickle_fixture;
mod ranks;
mod reading;
mod rows;
#[cfg(test)]
mod tests;
mod timeline;
mod usual_events;
mod values;
mod word;

pub use self::discover::{
    FileKind, SnapshotFiles, find, kind_of_file, runs_below, with_side_files,
};
use crate::files::file_name;
use crate::format::{Error, Progress};
use crate::store::Warnings;
use crate::store::memory_timeline::MemoryTimeline;
use crate::store::report::FileStatus;
use crate::store::snapshot::{AllocatorClaims, Snapshot, ToldEvents};

/// What a file of PyTorch's holds.
#[derive(Debug)]
pub enum PyTorchFile {
    /// A snapshot.
    Snapshot(Box<Snapshot>),
    /// A timeline.
    Timeline(MemoryTimeline),
}

/// Reads the file of a run, and says what state it is in; `None` when that was canceled. Of the events of a snapshot it
/// tells while it reads.
///
/// # Errors
/// When the file cannot be read, is damaged beyond use, or would run code.
pub fn read(
    files: &SnapshotFiles,
    warnings: &Warnings,
    progress: &Progress,
    tell: &mut impl FnMut(ToldEvents),
) -> Result<Option<(PyTorchFile, FileStatus)>, Error> {
    if files.kind != FileKind::Snapshot {
        let timeline = timeline::read_timeline(&files.path, progress)?;
        return Ok(timeline.map(|timeline| (PyTorchFile::Timeline(timeline), FileStatus::Ok)));
    }
    let read = read_and_tell(&files.path, warnings, progress, tell)?;
    Ok(read.map(|(snapshot, status)| (PyTorchFile::Snapshot(Box::new(snapshot)), status)))
}

/// Reads one snapshot, without what lies beside it; `None` when that was canceled.
///
/// # Errors
/// As [`read`].
pub fn read_snapshot(
    path: &std::path::Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<(Snapshot, FileStatus)>, Error> {
    read_and_tell(path, warnings, progress, &mut |_| {})
}

fn read_and_tell(
    path: &std::path::Path,
    warnings: &Warnings,
    progress: &Progress,
    tell: &mut impl FnMut(ToldEvents),
) -> Result<Option<(Snapshot, FileStatus)>, Error> {
    let read = reading::read_snapshot(path, &file_name(path), warnings, progress, tell)?;
    Ok(read.map(|mut read| {
        let is_cut = read.status != FileStatus::Ok;
        let snapshot = &mut read.snapshot;
        let devices = snapshot.devices.iter_mut().chain(&mut snapshot.pinned_hosts);
        devices.for_each(|device| device.is_cut = is_cut);
        (read.snapshot, read.status)
    }))
}

/// PyTorch's own totals beside the file of a run.
pub fn read_claims(
    files: &SnapshotFiles,
    warnings: &Warnings,
    progress: &Progress,
) -> Option<AllocatorClaims> {
    let path = files.statistics.as_ref()?;
    claims::read_claims(path, &file_name(path), warnings, progress)
}
