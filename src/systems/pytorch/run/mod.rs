//! An open PyTorch run: its replayed file, the files beside it, and the report that pages and commands share with other
//! systems.

mod ahead;
mod blocks;
mod indexed;
mod ranks;
mod report;
mod snapshot_parts;
pub(crate) mod stated;

use std::path::Path;
use std::sync::Arc;

use self::ahead::replayed_ahead;
use self::indexed::SnapshotIndex;
#[cfg(any(test, fuzzing))]
pub(crate) use self::indexed::read as read_index;

use crate::analysis::derived::Derived;
use crate::files::file_name;
use crate::format::{Error, ErrorKind, Progress};
use crate::index::{self, Cache, IndexError};
use crate::store::report::FileStatus;
use crate::store::snapshot::AllocatorClaims;
#[cfg(any(test, fuzzing))]
use crate::store::snapshot::Snapshot;
use crate::store::{Report, WarningCode, Warnings};
use crate::systems::pytorch::allocator::claims::{ComparedClaim, claimed_device, compared_claims};
use crate::systems::pytorch::allocator::device_facts::DeviceFacts;
pub use crate::systems::pytorch::allocator::replayed::{
    AllocatorRun, ReplayedSnapshot, RunContents,
};
use crate::systems::pytorch::answers::PytorchAnswers;
use crate::systems::pytorch::files::{self as pytorch, PyTorchFile, SnapshotFiles};
use crate::text::bytes;

/// A PyTorch run.
#[derive(Debug)]
pub struct SnapshotRun {
    /// What all systems have.
    pub report: Arc<Report>,
    /// What pages and analysis ask besides.
    pub allocator: AllocatorRun,
    index: Option<SnapshotIndex>,
}

impl SnapshotRun {
    /// Reads and replays a run, from its index where it has one; `None` when that was canceled.
    ///
    /// # Errors
    /// As [`pytorch::read`].
    pub fn open(files: &SnapshotFiles, progress: &Progress) -> Result<Option<Self>, Error> {
        Self::open_with(files, index::of_process(), progress)
    }

    /// The same with an index of one's own, or none. A run of several ranks has none.
    ///
    /// # Errors
    /// As [`pytorch::read`].
    pub fn open_with(
        files: &SnapshotFiles,
        cache: Option<&Cache>,
        progress: &Progress,
    ) -> Result<Option<Self>, Error> {
        if !files.ranks.is_empty() {
            return Self::open_ranks(files, progress);
        }
        let report = Report::of(crate::systems::pytorch::WORDS, files.path.clone());
        report.set_files(files.files.clone());
        report.warnings.add_all(&files.warnings);
        let mut index = cache.and_then(|cache| SnapshotIndex::find(cache, files));
        let contents = match index.as_ref().and_then(SnapshotIndex::read) {
            Some((replayed, warnings)) => {
                report.warnings.add_all(&warnings);
                RunContents::Snapshot(Arc::new(replayed))
            }
            None => {
                let warnings = Warnings::default();
                let bytes = files.files.first().and_then(|file| file.bytes).unwrap_or(0);
                let (read, replayed) = replayed_ahead(bytes, |tell| {
                    pytorch::read(files, &warnings, progress, &mut |events| tell(events))
                });
                let Some((contents, status)) = read? else { return Ok(None) };
                let file = files.files.first().map_or("", |file| file.name.as_str());
                report.set_file_status(file, status);
                let contents = match contents {
                    PyTorchFile::Timeline(timeline) => RunContents::Timeline(Arc::new(timeline)),
                    PyTorchFile::Snapshot(snapshot) => {
                        let replayed = ReplayedSnapshot::of_read(*snapshot, replayed);
                        warn(&replayed, &warnings, files);
                        RunContents::Snapshot(Arc::new(replayed))
                    }
                };
                let warnings = warnings.list();
                report.warnings.add_all(&warnings);
                if status == FileStatus::Ok {
                    index = index.map(|index| index.with(warnings));
                }
                contents
            }
        };
        let claims = pytorch::read_claims(files, &report.warnings, progress);
        let replayed = match &contents {
            RunContents::Snapshot(replayed) => Some(&**replayed),
            RunContents::Timeline(_) => None,
        };
        let stated = stated::stated_of_run(files, replayed);
        let is_cut = report.is_cut();
        let claims = claims.into_iter().collect();
        let allocator = AllocatorRun::new(contents).beside(claims, stated, is_cut);
        Ok(Some(Self { report: Arc::new(report), allocator, index }))
    }

    /// What is worked out of the run once, with its answers.
    pub fn derived(&self) -> Derived {
        let answers = PytorchAnswers::of(self.allocator.clone());
        Derived::new(Arc::clone(&self.report)).with_answers(Arc::new(answers))
    }

    /// Whether it was read from an index, with which nothing is wrong.
    pub fn has_index(&self) -> bool {
        self.index.as_ref().is_some_and(SnapshotIndex::is_there)
    }

    /// Writes the index of a run; returns its size. `None` where there is one already, none is to be used, or the run
    /// is no snapshot.
    ///
    /// # Errors
    /// When the file is cut or has changed, when the index cannot be written, and when it was canceled.
    pub fn write_index(&self, progress: &Progress) -> Result<Option<u64>, IndexError> {
        match (&self.index, &self.allocator.contents) {
            (Some(index), RunContents::Snapshot(replayed)) if !index.is_there() => {
                index.write(replayed, progress).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// That a run at a path has no such device, with those that it has.
pub fn no_such_device(path: &Path, run: &AllocatorRun, number: Option<i64>) -> Error {
    let message = format!("{} {}", path.display(), no_device(number));
    let error = Error::new(ErrorKind::Usage, message).in_file(path);
    let devices = run.snapshot().map(|replayed| &replayed.snapshot.devices);
    match devices.filter(|devices| !devices.is_empty()) {
        None => error,
        Some(devices) => {
            let there: Vec<String> =
                devices.iter().map(|device| device.number.to_string()).collect();
            error.hint(format!("Its devices are: {}.", there.join(", ")))
        }
    }
}

#[cfg(any(test, fuzzing))]
impl SnapshotRun {
    /// A run of a snapshot that is in memory.
    pub fn of_snapshot(snapshot: Snapshot) -> Self {
        Self::of_replayed(ReplayedSnapshot::of(snapshot))
    }

    /// The same of one that was replayed.
    pub fn of_replayed(replayed: ReplayedSnapshot) -> Self {
        Self {
            report: Arc::new(Report::of(crate::systems::pytorch::WORDS, std::path::PathBuf::new())),
            allocator: AllocatorRun::of(replayed),
            index: None,
        }
    }
}

pub(crate) fn no_device(number: Option<i64>) -> String {
    number.map_or_else(|| "has no device".to_owned(), |number| format!("has no device {number}"))
}

/// Says what of a replay is doubtful.
fn warn(replayed: &ReplayedSnapshot, warnings: &Warnings, files: &SnapshotFiles) {
    for (device, replay) in replayed.devices() {
        let title = device.title();
        let of_rank =
            |(rank, _): &&(u32, SnapshotFiles)| device.rank.map(|of| of.rank) == Some(*rank);
        let of_device = files.ranks.iter().find(of_rank).map_or(files, |(_, files)| files);
        let file = file_name(&of_device.path);
        let warn = |message| warnings.add(WarningCode::Inconsistent, &file, message);
        if replay.mismatches > 0 {
            warn(format!(
                "{title}: {} events contradict the state before or after them; lives and peaks are doubtful",
                replay.mismatches
            ));
        }
        if replay.end_mismatches > 0 {
            warn(format!(
                "{title}: {} blocks or segments of the end contradict each other or the events; lives and peaks are \
                 doubtful",
                replay.end_mismatches
            ));
        }
        let beyond = replay.in_use_beyond_reserved();
        if beyond > 0 {
            warn(format!(
                "{title}: {} more are in use at the peak than were ever reserved: blocks lie outside of the segments",
                bytes(beyond)
            ));
        }
        if replay.other_sizes > 0 {
            warn(format!(
                "{title}: {} blocks have another size at the end than the events say; the allocated and active peaks \
                 are doubtful",
                replay.other_sizes
            ));
        }
    }
}

/// What PyTorch itself states, with the device that it is about; contradictions become warnings.
pub fn compare_claims<'a>(
    claims: &AllocatorClaims,
    replayed: &'a ReplayedSnapshot,
    report: &Report,
) -> Option<(&'a DeviceFacts, Vec<ComparedClaim>)> {
    let devices = replayed.device_facts();
    let place = claimed_device(claims, replayed);
    let Some(device) = place.and_then(|place| devices.get(place)) else {
        if devices.is_empty() {
            return None;
        }
        let message =
            "no device has as much reserved at the end as PyTorch states, so nothing is compared";
        report.warnings.add(WarningCode::Inconsistent, &claims.file, message);
        return None;
    };
    let compared = compared_claims(claims, device);
    for claim in compared.iter().filter(|claim| !claim.agrees) {
        let message = format!(
            "{} is stated as {} B, but the snapshot gives {} B: it was taken at another moment, \
             or the statistics were reset",
            claim.name, claim.claimed_bytes, claim.bytes
        );
        report.warnings.add(WarningCode::Inconsistent, &claims.file, message);
    }
    Some((device, compared))
}
