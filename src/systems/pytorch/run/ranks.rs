//! A run of several processes, each of which has written a snapshot: read one after the other, and opened as one.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{AllocatorRun, ReplayedSnapshot, RunContents, SnapshotRun, stated, warn};
use crate::files::file_name;
use crate::format::{Error, Progress};
use crate::store::joined_ranks::JoinedRanks;
use crate::store::report::FileStatus;
use crate::store::snapshot::{AllocatorClaims, RankDevice, Snapshot};
use crate::store::{Report, WarningCode};
use crate::systems::pytorch::allocator::stated_failure::StatedFailure;
use crate::systems::pytorch::files::{self as pytorch, SnapshotFiles};

impl SnapshotRun {
    /// Reads and replays the ranks of a run; `None` when that was canceled. Of a rank that cannot be read there is a
    /// warning, and the run counts as cut.
    ///
    /// # Errors
    /// As [`pytorch::read`] of the first rank, where none can be read.
    pub(super) fn open_ranks(
        files: &SnapshotFiles,
        progress: &Progress,
    ) -> Result<Option<Self>, Error> {
        let report = Report::of(crate::systems::pytorch::WORDS, files.path.clone());
        report.set_files(files.files.clone());
        report.warnings.add_all(&files.warnings);
        let (mut joined, mut first_error) = (JoinedRanks::default(), None);
        let mut are_there = BTreeSet::new();
        for (rank, files) in &files.ranks {
            let name = file_name(&files.path);
            let warn = |message| report.warnings.add(WarningCode::Inconsistent, &name, message);
            let read = pytorch::read_snapshot(&files.path, &report.warnings, progress);
            let (snapshot, status) = match read {
                Ok(Some(read)) => read,
                Ok(None) => return Ok(None),
                Err(error) => {
                    warn(format!(
                        "rank {rank} is not shown because it cannot be read: {}",
                        error.message
                    ));
                    report.set_file_status(&name, FileStatus::Invalid);
                    first_error.get_or_insert(error);
                    continue;
                }
            };
            report.set_file_status(&name, status);
            match joined.push(*rank, snapshot) {
                Ok(true) => {}
                Ok(false) => warn(format!(
                    "the allocator of rank {rank} has other settings than that of the first rank; \
                     those of the first rank are shown and determine the sizes of blocks"
                )),
                Err(_) => {
                    warn(format!(
                        "rank {rank} is not shown: there are more events than there is room for"
                    ));
                    report.set_file_status(&name, FileStatus::Unsupported);
                    continue;
                }
            }
            are_there.insert(*rank);
        }
        if let Some(error) = first_error.filter(|_| are_there.is_empty()) {
            return Err(error);
        }
        let is_cut = report.is_cut() || are_there.len() < files.ranks.len();
        let snapshot = joined.into_snapshot();
        let (mut claims, mut stated) = (Vec::new(), Vec::new());
        for (rank, files) in &files.ranks {
            let of_rank = stated::stated_failures(files).into_iter();
            if are_there.contains(rank) {
                let said = pytorch::read_claims(files, &report.warnings, progress);
                claims.extend(said.map(|claims| AllocatorClaims { rank: Some(*rank), ..claims }));
                stated.extend(of_rank.map(|text| of_run(text, *rank, &snapshot)));
            } else {
                let rank_not_there = Some(*rank);
                stated.extend(of_rank.map(|text| StatedFailure { rank_not_there, ..text }));
            }
        }
        let replayed = ReplayedSnapshot::of(snapshot);
        warn(&replayed, &report.warnings, files);
        let contents = RunContents::Snapshot(Arc::new(replayed));
        let allocator = AllocatorRun::new(contents).beside(claims, stated, is_cut);
        Ok(Some(Self { report: Arc::new(report), allocator, index: None }))
    }
}

/// What an error text beside a rank says, of the device as the run numbers it. It is that of its number; of a rank with
/// a single device it is that one in any case.
fn of_run(text: StatedFailure, rank: u32, snapshot: &Snapshot) -> StatedFailure {
    let of_rank = |gpu: Option<i64>| {
        let is_it = move |of: &RankDevice| of.rank == rank && gpu.is_none_or(|gpu| of.gpu == gpu);
        let devices = snapshot.devices.iter();
        devices.filter(move |device| device.rank.as_ref().is_some_and(is_it))
    };
    let only = || {
        let mut all = of_rank(None);
        all.next().filter(|_| all.next().is_none())
    };
    let named = text.device.and_then(|gpu| of_rank(Some(gpu)).next());
    StatedFailure { device: named.or_else(only).map(|device| device.number), ..text }
}
