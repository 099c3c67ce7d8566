//! Memory snapshots that belong to messages of logs: those beside a log by name, and those of which a request failed that
//! is as large as the message says. The message has what the device has and what others have of it; the snapshot has
//! the rest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use crate::diagnose::{Device, Finding, XlaCapture};
use crate::format::{Error, ErrorKind, Progress};
use crate::run::joined_logs::{JoinedLogs, JoinedRun, LogToJoin, RunOfMessage};
use crate::store::snapshot::{RankDevice, device_title};
use crate::store::{Warning, Warnings};
use crate::systems::pytorch::allocator::failed_requests::FailedRequest;
use crate::systems::pytorch::allocator::peak::PeakContents;
use crate::systems::pytorch::allocator::replayed::{AllocatorRun, ReplayedSnapshot};
use crate::systems::pytorch::allocator::stated_failure::StatedFailure;
use crate::systems::pytorch::files::{
    self as pytorch, FileKind, SnapshotFiles, kind_of_file, with_side_files,
};
use crate::systems::pytorch::run::SnapshotRun;
use crate::systems::pytorch::{run::stated::stated, took::SnapshotTook};
use crate::text::{bytes, clean, grouped, shortened};

/// Snapshots in the directory of a log that are looked into.
const MOST_BESIDE: usize = 8;
/// Entries of that directory that are looked at.
const MOST_ENTRIES: usize = 1000;
/// Frames that are named of a peak.
const MOST_FRAMES: usize = 3;

/// A snapshot that was looked into.
#[derive(Clone, Debug, Serialize)]
struct FoundSnapshot {
    file: String,
    devices: Vec<DeviceOfSnapshot>,
    /// The texts of errors that lie beside it by name, each with the rank that it is of, in a run of several.
    #[serde(skip)]
    error_texts: Vec<(PathBuf, Option<u32>)>,
    /// What is to be said of how it was found and read.
    #[serde(skip)]
    warnings: Vec<Warning>,
}

#[derive(Clone, Debug, Serialize)]
struct DeviceOfSnapshot {
    device: i64,
    /// The request at which the run ended.
    failed: Option<FailedRequest>,
    max_reserved_bytes: u64,
    needed_bytes: u64,
    /// The frames that have most at the peak.
    peak_frames: Vec<LoggedFrame>,
    #[serde(flatten)]
    rank: Option<RankDevice>,
    /// The requests that failed, by their bytes.
    #[serde(skip)]
    all_failed: Vec<FailedRequest>,
    #[serde(skip)]
    took: SnapshotTook,
}

/// What is alive at a peak of one user frame.
#[derive(Clone, Debug, Serialize)]
struct LoggedFrame {
    frame: String,
    bytes: u64,
}

/// Which device of a snapshot a message belongs to, and how that was found.
struct DeviceMatch<'a> {
    snapshot: &'a FoundSnapshot,
    device: &'a DeviceOfSnapshot,
    failed: Option<FailedRequest>,
    is_by_name: bool,
}

/// What a snapshot says of a message: the figures of both.
#[derive(Clone, Debug, Serialize)]
struct Joined {
    file: String,
    /// How it was found: `name`, or `size` of a request that failed.
    by: &'static str,
    device: i64,
    /// Which device of which rank that is, in a run of several.
    #[serde(flatten)]
    rank: Option<RankDevice>,
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
    peak_frames: Vec<LoggedFrame>,
}

impl FoundSnapshot {
    /// Opens a snapshot, or those of the ranks of one run; `None` of a timeline.
    ///
    /// # Errors
    /// When it cannot be read.
    fn open(files: &SnapshotFiles, progress: &Progress) -> Result<Option<Self>, Error> {
        let Some(run) = SnapshotRun::open(files, progress)? else { return Ok(None) };
        let Some(replayed) = run.allocator.snapshot() else { return Ok(None) };
        let places = 0..replayed.snapshot.devices.len();
        let devices =
            places.filter_map(|place| DeviceOfSnapshot::of(&run.allocator, replayed, place));
        let devices = devices.collect();
        let of_ranks = files.ranks.iter().map(|(rank, files)| (Some(*rank), files));
        let all = of_ranks.chain([(None, files)]);
        let error_texts = all.filter_map(|(rank, files)| Some((files.error_text.clone()?, rank)));
        let (file, error_texts) = (files.path.display().to_string(), error_texts.collect());
        let warnings = run.report.warnings.list();
        Ok(Some(Self { file, devices, error_texts, warnings }))
    }

    /// The device that a message of a log belongs to.
    fn matching(&self, finding: &Finding, log: Option<&Path>) -> Option<DeviceMatch<'_>> {
        finding.requested_bytes?;
        let stated = stated("", finding);
        let by_name = self.error_texts.iter().find(|(text, _)| log == Some(text));
        let (is_by_name, rank) = (by_name.is_some(), by_name.and_then(|(_, rank)| *rank));
        let may_be = |of: &&DeviceOfSnapshot| {
            rank.is_none_or(|rank| of.rank.is_some_and(|of| of.rank == rank))
        };
        let devices: Vec<&DeviceOfSnapshot> = self.devices.iter().filter(may_be).collect();
        let by_size = devices.iter().find_map(|of| Some((*of, Some(of.failed(&stated)?))));
        let by_number = || devices.iter().find(|of| stated.device == Some(of.gpu())).copied();
        let only = || devices.first().filter(|_| devices.len() == 1).copied();
        let (device, failed) = match (by_size, is_by_name) {
            (Some(found), _) => found,
            (None, true) => (by_number().or_else(only)?, None),
            (None, false) => return None,
        };
        Some(DeviceMatch { snapshot: self, device, failed, is_by_name })
    }

    /// That it is here, and what failed in it, where no message is of it.
    fn text(&self) -> String {
        let mut text = format!("{}, a memory snapshot\n", clean(&self.file));
        let failed = self.devices.iter().filter_map(|of| Some((of, of.failed?)));
        let mut lines = 0_usize;
        for (of, failed) in failed {
            lines = lines.saturating_add(1);
            text += &format!(
                "  {}: a request of {} failed at event {}{}; {} were reserved at most; only the \
                 text of the error states the device's memory\n",
                device_title(of.device, of.rank),
                bytes(failed.bytes),
                grouped(u64::from(failed.event)),
                failed.device_free.map_or_else(String::new, |free| {
                    format!(", when {} were free on the device", bytes(free))
                }),
                bytes(of.max_reserved_bytes)
            );
            text += &frames_text(&of.peak_frames);
        }
        if lines == 0 {
            text += "  no request failed at the end; tilescope summary shows the rest\n";
        }
        text
    }
}

impl DeviceOfSnapshot {
    fn of(run: &AllocatorRun, replayed: &ReplayedSnapshot, place: usize) -> Option<Self> {
        let (device, replay) = replayed.device(place)?;
        let (_, took) = SnapshotTook::of_run(run, Some(device.number))?;
        // What blocks are for is not asked here, and takes a pass over all events.
        let live = replayed.live_at_peak(place);
        let peak = PeakContents::of(&replayed.snapshot, device, replay, live, &[]);
        let frames = peak.by_frame.into_iter().take(MOST_FRAMES);
        let frames = frames.map(|row| LoggedFrame { frame: row.name, bytes: row.all.bytes });
        Some(Self {
            device: device.number,
            failed: replayed.ended_by(place),
            max_reserved_bytes: took.max_reserved_bytes,
            needed_bytes: took.needed_bytes,
            peak_frames: frames.collect(),
            rank: device.rank,
            all_failed: replayed.failed_by_size(place).to_vec(),
            took,
        })
    }

    /// The last request that failed and that a message is about.
    fn failed(&self, stated: &StatedFailure) -> Option<FailedRequest> {
        stated.request_among(&self.all_failed).filter(|_| stated.may_be_of(self.gpu()))
    }

    /// Its number as its process saw it, which is the one that messages name.
    fn gpu(&self) -> i64 {
        self.rank.map_or(self.device, |of| of.gpu)
    }
}

impl DeviceMatch<'_> {
    /// What the snapshot says of the message.
    fn joined(&self, finding: &Finding) -> Joined {
        let Self { snapshot, device, failed, is_by_name } = self;
        Joined {
            file: snapshot.file.clone(),
            by: if *is_by_name { "name" } else { "size" },
            device: device.device,
            rank: device.rank,
            event: failed.map(|failed| failed.event),
            requested_bytes: failed.map(|failed| failed.bytes),
            free_bytes: failed.and_then(|failed| failed.device_free).or(finding.free_bytes),
            capacity_bytes: finding.limit_bytes,
            other_processes_bytes: finding.other_processes_bytes,
            max_reserved_bytes: device.max_reserved_bytes,
            max_allocated_bytes: device.took.max_allocated_bytes,
            requested_peak_bytes: device.took.requested_peak_bytes,
            needed_bytes: device.needed_bytes,
            peak_frames: device.peak_frames.clone(),
        }
    }
}

impl Joined {
    /// For people, below the message.
    fn text(&self) -> String {
        let place = match self.event {
            Some(event) => format!("the request failed at event {}", grouped(u64::from(event))),
            None => "it lies beside the message, but has no request of that size".to_owned(),
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
            device_title(self.device, self.rank),
            bytes(self.max_reserved_bytes),
            bytes(self.needed_bytes)
        );
        head + &frames_text(&self.peak_frames)
    }
}

fn frames_text(frames: &[LoggedFrame]) -> String {
    let line =
        |row: &LoggedFrame| format!("      {}  {}\n", bytes(row.bytes), shortened(&row.frame, 100));
    let lines: String = frames.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("    at its peak, allocated at\n{lines}") }
}

/// Whether a message may be of PyTorch's allocator: XLA's have modules.
fn wants_snapshot(finding: &Finding) -> bool {
    let is_of_gpu = finding.device.is_some_and(Device::is_gpu) && finding.requested_bytes.is_some();
    is_of_gpu && XlaCapture::of(finding).is_none()
}

/// Joins messages with the snapshots that were named, else with those beside the logs.
///
/// # Errors
/// When one that was named cannot be read.
pub fn join_logs(
    named: &[&SnapshotFiles],
    logs: &[LogToJoin<'_>],
    progress: &Progress,
) -> Result<JoinedLogs, Error> {
    let snapshots = named.iter().map(|files| FoundSnapshot::open(files, progress));
    let snapshots: Vec<FoundSnapshot> =
        snapshots.filter_map(Result::transpose).collect::<Result<_, Error>>()?;
    let warnings = snapshots.iter().flat_map(|one| one.warnings.clone()).collect();
    let mut is_joined = vec![false; snapshots.len()];
    // Logs of one directory have the same snapshots beside them.
    let mut opened: BTreeMap<PathBuf, Option<FoundSnapshot>> = BTreeMap::new();
    let mut messages = Vec::new();
    for log in logs {
        let wants_one = || log.findings.iter().any(wants_snapshot);
        // What lies beside a log and cannot be read is no reason to say nothing of the log.
        let beside: Vec<PathBuf> = match log.file {
            Some(log) if snapshots.is_empty() && wants_one() => beside(log),
            _ => Vec::new(),
        };
        for path in &beside {
            if !opened.contains_key(path) {
                let files = with_side_files(path.clone(), FileKind::Snapshot);
                let found = FoundSnapshot::open(&files, progress).ok().flatten();
                opened.insert(path.clone(), found);
            }
        }
        let beside: Vec<&FoundSnapshot> =
            beside.iter().filter_map(|path| opened.get(path)?.as_ref()).collect();
        let join = |finding: &Finding| {
            let all = snapshots.iter().chain(beside.iter().copied()).enumerate();
            let wanted = all.filter(|_| wants_snapshot(finding));
            let matching =
                wanted.filter_map(|(place, one)| Some((place, one.matching(finding, log.file)?)));
            // A name says more than a size, which requests of other runs have too. The first of equals.
            let found = matching.min_by_key(|(_, one)| !one.is_by_name);
            let place = found.as_ref().map(|(place, _)| *place);
            if let Some(is_joined) = place.and_then(|place| is_joined.get_mut(place)) {
                *is_joined = true;
            }
            let joined = found.map(|(_, one)| one.joined(finding));
            JoinedRun {
                of: joined.as_ref().map(|joined| RunOfMessage {
                    path: PathBuf::from(&joined.file),
                    module: None,
                    device: Some(joined.device),
                }),
                text: joined.as_ref().map(Joined::text).unwrap_or_default(),
                keys: [("snapshot".to_owned(), json!(joined))].into_iter().collect(),
            }
        };
        messages.push(log.findings.iter().map(join).collect());
    }
    let alone = snapshots.into_iter().zip(is_joined).filter(|(_, is_joined)| !is_joined);
    let alone: Vec<FoundSnapshot> = alone.map(|(snapshot, _)| snapshot).collect();
    let keys = (!alone.is_empty()).then(|| ("snapshots".to_owned(), json!(alone)));
    let text = alone.iter().map(FoundSnapshot::text).collect();
    let alone = JoinedRun { keys: keys.into_iter().collect(), text, of: None };
    Ok(JoinedLogs { messages, alone, warnings })
}

/// Whether a file is a snapshot.
fn is_snapshot(path: &Path) -> bool {
    kind_of_file(path) == Some(FileKind::Snapshot)
}

/// The snapshot that an argument names, or the run of several ranks, with what is to be said of how it was found; `None` of
/// everything else.
///
/// # Errors
/// When the path holds several snapshots that are no run.
pub fn named_snapshot(path: &Path, progress: &Progress) -> Result<Option<SnapshotFiles>, Error> {
    if path.is_file() && !is_snapshot(path) {
        return Ok(None);
    }
    let warnings = Warnings::default();
    let found = match pytorch::find(path, &warnings, progress) {
        Err(error) if error.kind == ErrorKind::SeveralReports => return Err(error),
        // What is no snapshot is read as a log, which says what is wrong with it.
        found => found.ok().flatten(),
    };
    let found = found.filter(|files| files.kind == FileKind::Snapshot);
    Ok(found.map(|files| SnapshotFiles { warnings: warnings.list(), ..files }))
}

/// The snapshots in the directory of a log: the one that it lies beside by name, then others, as far as they are few.
fn beside(log: &Path) -> Vec<PathBuf> {
    let directory = crate::files::directory_of(log);
    let Ok(entries) = crate::files::listed(&directory) else { return Vec::new() };
    let entries = entries.take(MOST_ENTRIES).map(|entry| directory.join(entry.file_name()));
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
