//! Error texts beside a snapshot about requests that failed.

use std::path::{Path, PathBuf};

use crate::diagnose::{Device, Finding, Kind, diagnose_reader};
use crate::files::{self, directory_of};
use crate::systems::pytorch::allocator::failed_requests::FailedRequest;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::stated_failure::StatedFailure;
use crate::systems::pytorch::files::{FileKind, SnapshotFiles, kind_of_file};

/// Entries of a directory that are opened to see whether they are snapshots; of one that has more it is not known.
const MOST_OPENED: usize = 1000;

/// What error texts say of a run: the one that is called like its snapshot; where there is none, what a text of its
/// directory says of the request at which it ended, if that is one and the same, and no other snapshot lies there that
/// it could be of.
pub(super) fn stated_of_run(
    files: &SnapshotFiles,
    replayed: Option<&ReplayedSnapshot>,
) -> Vec<StatedFailure> {
    match replayed {
        Some(_) if files.error_text.is_none() && files.has_others => Vec::new(),
        Some(replayed) if files.error_text.is_none() => {
            nearby(files, replayed).into_iter().collect()
        }
        _ => stated_failures(files),
    }
}

fn nearby(files: &SnapshotFiles, replayed: &ReplayedSnapshot) -> Option<StatedFailure> {
    let devices = replayed.snapshot.devices.iter().enumerate();
    let ended: Vec<(i64, FailedRequest)> = devices
        .filter_map(|(place, device)| Some((device.number, replayed.ended_by(place)?)))
        .collect();
    if ended.is_empty() {
        return None;
    }
    let directory = directory_of(&files.path);
    let is_other_snapshot = |path: PathBuf| {
        path.file_name() != files.path.file_name()
            && kind_of_file(&path) == Some(FileKind::Snapshot)
    };
    let fits = |text: &StatedFailure| {
        ended.iter().any(|(device, failed)| text.may_be_of(*device) && text.is_of(failed))
    };
    let texts = files::small_texts(&directory, |_| false).into_iter();
    let found: Vec<StatedFailure> = texts.flat_map(|path| said_in(&path)).filter(fits).collect();
    let (first, others) = found.split_first()?;
    // A log and what it was copied to say the same.
    let is_same = |other: &StatedFailure| {
        StatedFailure { file: first.file.clone(), ..other.clone() } == *first
    };
    let is_one = others.iter().all(is_same);
    let is_alone = || {
        let mut entries = files::entries(&directory);
        !entries.by_ref().take(MOST_OPENED).any(is_other_snapshot) && entries.next().is_none()
    };
    (is_one && is_alone()).then(|| first.clone())
}

/// What the error text beside a snapshot says; nothing where there is none, or it cannot be read.
pub fn stated_failures(files: &SnapshotFiles) -> Vec<StatedFailure> {
    files.error_text.as_deref().map(said_in).unwrap_or_default()
}

/// What a text says of requests that failed; nothing where it cannot be read.
fn said_in(path: &Path) -> Vec<StatedFailure> {
    let Ok(file) = files::open(path) else { return Vec::new() };
    let Ok(found) = diagnose_reader(std::io::Read::take(file, files::MOST_OF_TEXT)) else {
        return Vec::new();
    };
    let name = path.file_name().unwrap_or(Path::new("").as_os_str()).to_string_lossy();
    let of_gpus =
        found.findings.iter().filter(|finding| finding.device.is_some_and(Device::is_gpu));
    of_gpus.map(|finding| stated(&name, finding)).collect()
}

/// What a message says of a request that failed.
pub(crate) fn stated(file: &str, finding: &Finding) -> StatedFailure {
    let number = finding.instance.as_deref().and_then(|name| name.strip_prefix("GPU "));
    StatedFailure {
        file: file.to_owned(),
        device: number.and_then(|number| number.parse().ok()),
        requested_bytes: finding.requested_bytes,
        capacity_bytes: finding.limit_bytes,
        is_share: finding.limit_is_share || finding.kind == Kind::CudaProcessLimit,
        free_bytes: finding.free_bytes,
        unallocated_bytes: finding.unallocated_bytes,
        other_processes_bytes: finding.other_processes_bytes,
        rank_not_there: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::snapshot::{Action, Snapshot, SnapshotDevice, StackId};
    use crate::systems::pytorch::files::with_side_files;

    const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 has a total \
                           capacity of 100.00 MiB of which 5.00 MiB is free.\n";

    /// A run that ended when it asked for so many MiB, and 5 MiB were free.
    fn ended_at(mebibytes: u64) -> ReplayedSnapshot {
        let mut snapshot = Snapshot::default();
        snapshot.push_event(Action::OutOfMemory, 5 << 20, mebibytes << 20, StackId::NONE);
        snapshot.devices.push(SnapshotDevice { events: 0..1, ..SnapshotDevice::default() });
        ReplayedSnapshot::of(snapshot)
    }

    #[test]
    fn a_text_of_the_directory_counts_where_it_fits_alone() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            std::fs::write(directory.path().join(name), text).unwrap();
        };
        write("run.pickle", b"\x80\x04}.");
        let stated = |mebibytes| {
            let path = directory.path().join("run.pickle");
            let files = with_side_files(path, FileKind::Snapshot);
            let said = stated_of_run(&files, Some(&ended_at(mebibytes)));
            said.iter().map(|text| text.capacity_bytes).collect::<Vec<_>>()
        };
        assert_eq!(stated(31), []);
        write("train.log", MESSAGE.as_bytes());
        assert_eq!(stated(31), [Some(100 << 20)]);
        assert_eq!(stated(50), [], "it is about another request");
        write("train.err", MESSAGE.as_bytes());
        assert_eq!(stated(31), [Some(100 << 20)], "the same once more");
        write("other.txt", MESSAGE.replace("100.00", "200.00").as_bytes());
        assert_eq!(stated(31), [], "another one");
        write("other.txt", b"");
        std::fs::rename(directory.path().join("train.err"), directory.path().join("slurm.OUT"))
            .unwrap();
        std::fs::remove_file(directory.path().join("train.log")).unwrap();
        assert_eq!(stated(31), [Some(100 << 20)], "whatever it is called, as long as it is a text");
        for number in 0..MOST_OPENED {
            write(&format!("{number}.csv"), b"");
        }
        assert_eq!(stated(31), [], "there may be other snapshots");
        for number in 0..MOST_OPENED {
            std::fs::remove_file(directory.path().join(format!("{number}.csv"))).unwrap();
        }
        assert_eq!(stated(31), [Some(100 << 20)]);
        write("other.pickle", b"\x80\x04}.");
        assert_eq!(stated(31), [], "it may be of the other snapshot");
        write("run.pickle.oom.txt", MESSAGE.replace("100.00", "300.00").as_bytes());
        assert_eq!(stated(31), [Some(300 << 20)], "the name says it");
    }
}
