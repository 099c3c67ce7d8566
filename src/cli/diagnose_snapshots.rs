//! Memory snapshots that belong to messages of logs: those beside a log by name, and those of which a request failed that
//! is as large as the message says. The message has what the device has and what others have of it; the snapshot has
//! the rest.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::analysis::allocator::failed_requests::FailedRequest;
use crate::analysis::allocator::stated_failure::StatedFailure;
use crate::analysis::compared_snapshots::ComparedSide;
use crate::analysis::diagnose::Finding;
use crate::format::pytorch::{FileKind, SnapshotFiles, kind_of_file, with_side_files};
use crate::format::{Error, Progress};
use crate::opened::SnapshotRun;
use crate::snapshot_run::stated::stated;
use crate::store::snapshot::device_title;
use crate::text::{bytes, clean, grouped, shortened};

/// Snapshots in the directory of a log that are looked into.
const MOST_BESIDE: usize = 8;
/// Entries of that directory that are looked at.
const MOST_ENTRIES: usize = 1000;
/// Frames that are named of a peak.
const MOST_FRAMES: usize = 3;

/// A snapshot that was looked into.
#[derive(Clone, Debug)]
pub(super) struct FoundSnapshot {
    path: PathBuf,
    /// The text of an error that lies beside it by name.
    error_text: Option<PathBuf>,
    devices: Vec<DeviceOfSnapshot>,
}

#[derive(Clone, Debug)]
struct DeviceOfSnapshot {
    side: ComparedSide,
    frames: Vec<FrameBytes>,
}

/// What is alive at a peak of one user frame.
#[derive(Clone, Debug, Serialize)]
struct FrameBytes {
    frame: String,
    bytes: u64,
}

/// What a snapshot says of a message: the figures of both.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Joined {
    file: String,
    /// How it was found: `name`, or `size` of a request that failed.
    by: &'static str,
    device: i64,
    /// The request that failed; null where the snapshot does not have it.
    event: Option<u32>,
    requested_bytes: Option<u64>,
    free_bytes: Option<u64>,
    /// Of the message.
    capacity_bytes: Option<u64>,
    other_processes_bytes: Option<u64>,
    /// Of the snapshot.
    max_reserved_bytes: u64,
    max_allocated_bytes: u64,
    requested_peak_bytes: u64,
    needed_bytes: u64,
    peak_frames: Vec<FrameBytes>,
}

impl Serialize for FoundSnapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let device = |of: &DeviceOfSnapshot| {
            json!({
                "device": of.side.facts.device,
                "failed": of.side.facts.ended_by,
                "max_reserved_bytes": of.side.took.max_reserved_bytes,
                "needed_bytes": of.side.variant.needed_bytes,
                "peak_frames": of.frames,
            })
        };
        let devices: Value = self.devices.iter().map(device).collect();
        json!({ "file": self.path.display().to_string(), "devices": devices }).serialize(serializer)
    }
}

impl FoundSnapshot {
    /// Opens a snapshot; `None` of a timeline.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn open(path: &Path, progress: &Progress) -> Result<Option<Self>, Error> {
        let files = with_side_files(path.to_owned(), FileKind::Snapshot);
        let Some(run) = SnapshotRun::open(&files, progress)? else { return Ok(None) };
        let Some(replayed) = run.allocator.snapshot() else { return Ok(None) };
        let numbers = replayed.snapshot.devices.iter().map(|device| device.number);
        let devices = numbers.enumerate().filter_map(|(place, number)| {
            let frames = replayed.peak(place)?.by_frame.iter().take(MOST_FRAMES);
            let frames =
                frames.map(|row| FrameBytes { frame: row.name.clone(), bytes: row.all.bytes });
            Some(DeviceOfSnapshot {
                side: ComparedSide::of(&run.allocator, Some(number))?,
                frames: frames.collect(),
            })
        });
        let SnapshotFiles { path, error_text, .. } = files.clone();
        Ok(Some(Self { path, error_text, devices: devices.collect() }))
    }

    /// What it says of a message of a log, if it belongs to it.
    pub(super) fn joined(&self, finding: &Finding, log: Option<&Path>) -> Option<Joined> {
        finding.requested_bytes?;
        let stated = stated("", finding);
        let is_beside = self.error_text.as_deref().is_some_and(|text| log == Some(text));
        let by_size = self.devices.iter().find_map(|of| Some((of, Some(of.failed(&stated)?))));
        let by_number = || {
            let is_named = |of: &&DeviceOfSnapshot| stated.device == Some(of.side.facts.device);
            self.devices.iter().find(is_named)
        };
        let only = || self.devices.first().filter(|_| self.devices.len() == 1);
        let (device, failed) = match (by_size, is_beside) {
            (Some(found), _) => found,
            (None, true) => (by_number().or_else(only)?, None),
            (None, false) => return None,
        };
        Some(device.joined(self, (finding, failed), if is_beside { "name" } else { "size" }))
    }

    /// That it is here, and what failed in it, where no message is of it.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}, a memory snapshot\n", clean(&self.path.display().to_string()));
        let failed = self.devices.iter().filter_map(|of| Some((of, of.side.facts.ended_by?)));
        let mut lines = 0_usize;
        for (of, failed) in failed {
            lines = lines.saturating_add(1);
            text += &format!(
                "  {}: a request of {} failed at event {}{}; {} were reserved at most; \
                 what the device has is in the text of the error alone\n",
                of.side.device_title(),
                bytes(failed.bytes),
                grouped(u64::from(failed.event)),
                failed.device_free.map_or_else(String::new, |free| {
                    format!(", when {} were free on the device", bytes(free))
                }),
                bytes(of.side.took.max_reserved_bytes)
            );
            text += &frames_text(&of.frames);
        }
        if lines == 0 {
            text += "  no request failed at last; tilescope summary says what it has\n";
        }
        text
    }
}

impl DeviceOfSnapshot {
    /// The last request that failed and that a message is about.
    fn failed(&self, stated: &StatedFailure) -> Option<FailedRequest> {
        let failed = self.side.facts.oom.iter().rev();
        let mut failed = failed.filter(|_| stated.may_be_of(self.side.facts.device)).copied();
        failed.find(|failed| stated.is_of(failed))
    }

    fn joined(
        &self,
        snapshot: &FoundSnapshot,
        (finding, failed): (&Finding, Option<FailedRequest>),
        by: &'static str,
    ) -> Joined {
        let took = &self.side.took;
        Joined {
            file: snapshot.path.display().to_string(),
            by,
            device: self.side.facts.device,
            event: failed.map(|failed| failed.event),
            requested_bytes: failed.map(|failed| failed.bytes),
            free_bytes: failed.and_then(|failed| failed.device_free).or(finding.free_bytes),
            capacity_bytes: finding.limit_bytes,
            other_processes_bytes: finding.other_processes_bytes,
            max_reserved_bytes: took.max_reserved_bytes,
            max_allocated_bytes: took.max_allocated_bytes,
            requested_peak_bytes: took.requested_peak_bytes,
            needed_bytes: self.side.variant.needed_bytes,
            peak_frames: self.frames.clone(),
        }
    }
}

impl Joined {
    /// Whether it was found by name: that says more than a size, which requests of other runs have too.
    pub(super) fn is_by_name(&self) -> bool {
        self.by == "name"
    }

    /// For people, below the message.
    pub(super) fn text(&self) -> String {
        let place = match self.event {
            Some(event) => format!("the request failed at event {}", grouped(u64::from(event))),
            None => "it lies beside the message, and has no request of that size".to_owned(),
        };
        let of = match self.capacity_bytes {
            Some(capacity) => format!(" of the {} that the message states", bytes(capacity)),
            None => String::new(),
        };
        let others = match self.other_processes_bytes {
            Some(others @ 1..) => format!(", others have {}", bytes(others)),
            _ => String::new(),
        };
        let head = format!(
            "    snapshot {}, {}: {place}; PyTorch had {} reserved at most, and needs {} at least{of}{others}\n",
            shortened(&self.file, 200),
            device_title(self.device, None),
            bytes(self.max_reserved_bytes),
            bytes(self.needed_bytes)
        );
        head + &frames_text(&self.peak_frames)
    }
}

fn frames_text(frames: &[FrameBytes]) -> String {
    let line =
        |row: &FrameBytes| format!("      {}  {}\n", bytes(row.bytes), shortened(&row.frame, 100));
    let lines: String = frames.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("    at its peak, allocated at\n{lines}") }
}

/// Whether a file is a snapshot.
pub(super) fn is_snapshot(path: &Path) -> bool {
    kind_of_file(path) == Some(FileKind::Snapshot)
}

/// The snapshots in the directory of a log: the one that it lies beside by name, then others, as far as they are few.
pub(super) fn beside(log: &Path) -> Vec<PathBuf> {
    let directory = crate::files::directory_of(log);
    let Ok(entries) = std::fs::read_dir(&directory) else { return Vec::new() };
    let entries =
        entries.flatten().take(MOST_ENTRIES).map(|entry| directory.join(entry.file_name()));
    let mut found: Vec<PathBuf> = entries.filter(|path| is_snapshot(path)).collect();
    found.sort();
    let is_beside = |path: &PathBuf| {
        let files = with_side_files(path.clone(), FileKind::Snapshot);
        files.error_text.as_deref() == Some(log)
    };
    match found.iter().find(|path| is_beside(path)) {
        Some(one) => vec![one.clone()],
        None if found.len() <= MOST_BESIDE => found,
        None => Vec::new(),
    }
}
