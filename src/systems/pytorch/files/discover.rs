//! Finds a snapshot, or a memory timeline of torch.profiler, from a path: by what is in a file, whatever its name.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::ranks;
use crate::files::packed::{FilePacking, unpacked_name};
use crate::files::{self, directory_of, file_name};
use crate::format::{Error, ErrorKind, Progress};
use crate::store::report::{FileStatus, ReportFile};
use crate::store::{Warning, Warnings};
use crate::systems::below::each_file_below;

/// Bytes of a file by which it is told.
const HEAD: usize = 256;
/// Bytes of a snapshot that has one of its keys among them.
const HEAD_WITH_KEYS: usize = 1 << 16;

/// Keys of which every snapshot has one; the last is of a segment, for there are snapshots that are a list of these.
const KEYS: [&str; 3] = ["segments", "device_traces", "segment_type"];
/// Keys that may come before them, with much in them.
const OTHER_KEYS: [&str; 4] =
    ["external_annotations", "allocator_settings", "host_segments", "host_traces"];
/// Bytes of the longest key that is looked for.
const LONGEST_KEY: usize = 16;
/// Bytes of a file that are looked through at a time.
const BLOCK: usize = 1 << 20;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A pickle of plain containers.
    Snapshot,
    /// A memory timeline: a list of lists in JSON.
    Timeline,
    /// The same, compressed.
    CompressedTimeline,
}

/// The files of one run.
#[derive(Clone, Debug)]
pub struct SnapshotFiles {
    /// The snapshot, or the timeline.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// PyTorch's own totals beside it.
    pub statistics: Option<PathBuf>,
    /// Text of an out-of-memory error beside it.
    pub error_text: Option<PathBuf>,
    /// Values that vary between runs.
    pub app: Option<PathBuf>,
    /// Every file that was found, by its name.
    pub files: Vec<ReportFile>,
    /// Whether other snapshots were found in its directory: a text there that is not called like it may be of them.
    pub has_others: bool,
    /// What there is to say of how it was found.
    pub warnings: Vec<Warning>,
    /// The files of a run of several processes by their ranks, ascending; empty of any other run.
    pub ranks: Vec<(u32, SnapshotFiles)>,
}

/// What a file is by what is in it; `None` for what is nothing of PyTorch's.
pub fn kind_of_file(path: &Path) -> Option<FileKind> {
    kind_of_open_file(&files::open(path).ok()?)
}

fn kind_of_open_file(file: &File) -> Option<FileKind> {
    let mut head = [0; HEAD];
    let read = files::read_up_to_at(file, &mut head, 0).ok()?;
    let head = head.get(..read)?;
    if let Some(packing) = FilePacking::of(head) {
        let plain = packing.beginning(&head_of(file)?, HEAD);
        return match kind_of_head(&plain)? {
            FileKind::Timeline => Some(FileKind::CompressedTimeline),
            kind => Some(kind),
        };
    }
    kind_of_head(head)
}

/// What a file is that is not packed, or once it is unpacked.
fn kind_of_head(head: &[u8]) -> Option<FileKind> {
    match head {
        _ if files::looks_like::is_of_other_library(head) => None,
        // That others than 2 to 5 cannot be read is said when it is.
        [0x80, _, ..] => Some(FileKind::Snapshot),
        _ if is_of_old_protocol(head) => Some(FileKind::Snapshot),
        _ => begins_with_lists(head).then_some(FileKind::Timeline),
    }
}

/// Whether a file begins as a dict or a list of pickle protocol 0 or 1, which say no number: the first thing is kept
/// under the number 0.
fn is_of_old_protocol(head: &[u8]) -> bool {
    let begins = [&b"(dp0\n"[..], b"(lp0\n", b"}q\0", b"]q\0"];
    begins.iter().any(|begin| head.starts_with(begin))
}

/// Whether JSON begins with a list of lists of numbers.
fn begins_with_lists(text: &[u8]) -> bool {
    let mut letters = text.iter().filter(|letter| !letter.is_ascii_whitespace());
    let first = [letters.next(), letters.next()];
    first == [Some(&b'['), Some(&b'[')]
        && letters
            .next()
            .is_some_and(|letter| letter.is_ascii_digit() || matches!(letter, b'-' | b']'))
}

fn head_of(file: &File) -> Option<Vec<u8>> {
    let mut head = vec![0; HEAD_WITH_KEYS];
    let read = files::read_up_to_at(file, &mut head, 0).ok()?;
    head.truncate(read);
    Some(head)
}

/// What a file is where many are looked through: of pickles only those that say that they are snapshots, soon after
/// their beginning, or anywhere if they begin with something else that a snapshot has.
fn kind_by_keys(path: &Path) -> Option<FileKind> {
    let file = files::open(path).ok()?;
    let kind = kind_of_open_file(&file)?;
    if kind != FileKind::Snapshot {
        return Some(kind);
    }
    let head = head_of(&file)?;
    let packing = FilePacking::of(&head);
    let head =
        packing.map_or_else(|| head.clone(), |packing| packing.beginning(&head, HEAD_WITH_KEYS));
    // What is packed is not looked through.
    let has_more = || packing.is_some() || has_keys_behind_head(&file);
    let is_snapshot = has_any(&head, &KEYS) || (has_any(&head, &OTHER_KEYS) && has_more());
    is_snapshot.then_some(kind)
}

fn has_any(bytes: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| memchr::memmem::find(bytes, word.as_bytes()).is_some())
}

/// Whether a file has a key of all snapshots somewhere behind its head.
fn has_keys_behind_head(file: &File) -> bool {
    let mut block = vec![0; BLOCK];
    // One may lie across the end of a block.
    let step = BLOCK.saturating_sub(LONGEST_KEY) as u64;
    let mut offset = HEAD_WITH_KEYS.saturating_sub(LONGEST_KEY) as u64;
    while let Ok(read) = files::read_up_to_at(file, &mut block, offset) {
        if has_any(block.get(..read).unwrap_or_default(), &KEYS) {
            return true;
        }
        if read < BLOCK {
            return false;
        }
        offset = offset.saturating_add(step);
    }
    false
}

/// The run that a path names: a file of PyTorch's, or a directory with one such file in it or below it, or with those
/// of the ranks of one run, which a name with `*` in place of the rank names, too; `None` where there is nothing of
/// PyTorch's. `warnings` says where not all of a directory was looked into.
///
/// # Errors
/// `several-reports` with their list, and `not-a-report` for a picture of a timeline.
pub fn find(
    path: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<SnapshotFiles>, Error> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(ranks::of_pattern(path, warnings)) };
    if metadata.is_file() {
        if let Some(kind) = kind_of_file(path) {
            return Ok(Some(with_side_files(path.to_owned(), kind)));
        }
        if is_picture_of_timeline(path) {
            let message = format!("{} is a picture of a memory timeline", path.display());
            return Err(Error::new(ErrorKind::NotAReport, message)
                .in_file(path)
                .hint("Export it as JSON: prof.export_memory_timeline(\"timeline.json\")."));
        }
        return Ok(None);
    }
    if !metadata.is_dir() {
        return Ok(None);
    }
    let mut found = runs_below(path, warnings, progress);
    match found.as_slice() {
        [] | [_] => Ok(found.pop().map(|run| match run.ranks.as_slice() {
            [] => run,
            // It is called as it was named.
            [..] => SnapshotFiles { path: path.to_owned(), ..run },
        })),
        several => {
            let list: Vec<_> =
                several.iter().map(|files| format!("  {}", files.path.display())).collect();
            let message =
                format!("{} holds several snapshots:\n{}", path.display(), list.join("\n"));
            Err(Error::new(ErrorKind::SeveralReports, message).of_several(path))
        }
    }
}

/// The runs in a directory and a few levels below it, by path: each snapshot and timeline, but snapshots that are the
/// ranks of one run together. `warnings` says what was not looked into.
pub fn runs_below(root: &Path, warnings: &Warnings, progress: &Progress) -> Vec<SnapshotFiles> {
    let found = snapshots_below(root, warnings, progress);
    let mut runs = ranks::runs_of_ranks(&found, warnings);
    let of_ranks = runs.iter().flat_map(|run| &run.ranks).map(|(_, files)| files.path.clone());
    let of_ranks: HashSet<PathBuf> = of_ranks.collect();
    let mut counts: HashMap<PathBuf, usize> = HashMap::new();
    for (path, _) in found.iter().filter(|(_, kind)| *kind == FileKind::Snapshot) {
        let count = counts.entry(directory_of(path)).or_default();
        *count = count.saturating_add(1);
    }
    let others = found.into_iter().filter(|(path, _)| !of_ranks.contains(path));
    runs.extend(others.map(|(path, kind)| {
        let has_others = counts.get(&directory_of(&path)).is_some_and(|count| *count > 1);
        SnapshotFiles { has_others, ..with_side_files(path, kind) }
    }));
    runs.sort_by(|a, b| a.path.cmp(&b.path));
    runs
}

/// The snapshots and timelines in a directory and a few levels below it, by path; `warnings` says what was not looked
/// into.
pub(super) fn snapshots_below(
    root: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Vec<(PathBuf, FileKind)> {
    let mut found = Vec::new();
    each_file_below(root, warnings, progress, |path| {
        found.extend(kind_by_keys(&path).map(|kind| (path, kind)));
    });
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

/// Whether it is a page that torch.profiler writes: a title, and a picture within the page.
fn is_picture_of_timeline(path: &Path) -> bool {
    let head = files::open(path).ok().and_then(|file| head_of(&file)).unwrap_or_default();
    let has = |word: &[u8]| memchr::memmem::find(&head, word).is_some();
    has(b"Memory Timeline") && has(b"data:image/png;base64")
}

/// A file with what lies beside it by name.
pub fn with_side_files(path: PathBuf, kind: FileKind) -> SnapshotFiles {
    let name = file_name(&path);
    let beside = |name: String| {
        let path = path.with_file_name(name);
        path.is_file().then_some(path)
    };
    let name = unpacked_name(&name);
    let stem = Path::new(name).file_stem();
    let stem = stem.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let statistics = beside(format!("{name}.memory_stats.json"))
        .or_else(|| beside(format!("{stem}.memory_stats.json")));
    let error_text =
        beside(format!("{name}.oom.txt")).or_else(|| beside(format!("{stem}.oom.txt")));
    let app = Some(directory_of(&path).join("app.json")).filter(|path| path.is_file());
    let all = [Some(path.clone()), statistics.clone(), error_text.clone(), app.clone()];
    let file = |path: PathBuf| ReportFile {
        name: file_name(&path),
        bytes: fs::metadata(&path).ok().map(|metadata| metadata.len()),
        status: FileStatus::Ok,
    };
    let files = all.into_iter().flatten().map(file).collect();
    let (warnings, ranks) = (Vec::new(), Vec::new());
    SnapshotFiles {
        path,
        kind,
        statistics,
        error_text,
        app,
        files,
        has_others: false,
        warnings,
        ranks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_behind_what_else_a_snapshot_has() {
        let directory = tempfile::tempdir().unwrap();
        let kind = |begin: &[u8], between: usize, end: &[u8]| {
            let path = directory.path().join("file");
            let bytes = [b"\x80\x04}", begin, &vec![b'.'; between], end].concat();
            fs::write(&path, bytes).unwrap();
            kind_by_keys(&path)
        };
        let is_snapshot = Some(FileKind::Snapshot);
        assert_eq!(kind(b"", 10, b"segments"), is_snapshot);
        assert_eq!(kind(b"", HEAD_WITH_KEYS, b"segments"), None, "nothing says that it is one");
        // Across the end of the head, and of each block.
        let begin = b"external_annotations";
        for end in [HEAD_WITH_KEYS, BLOCK, HEAD_WITH_KEYS + BLOCK, 2 * BLOCK] {
            for between in end - 50..end {
                assert_eq!(kind(begin, between, b"device_traces"), is_snapshot, "{between}");
            }
        }
        assert_eq!(kind(begin, 3 * BLOCK, b"device"), None);
    }

    #[test]
    fn a_pickle_of_any_protocol_is_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let kind = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            kind_of_file(&path)
        };
        for begin in [&b"\x80\x04}"[..], b"\x80\x06}", b"(dp0\nVa", b"}q\0(X"] {
            assert_eq!(kind(begin), Some(FileKind::Snapshot));
        }
        for begin in [&b"(do it)"[..], b"{}", b"\x80"] {
            assert_eq!(kind(begin), None);
        }
    }
}
