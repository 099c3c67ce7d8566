//! The identity of an index: the state of the files that it was made from, and the version of the readers.

use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::files;

/// Version of what stands in the columns and how they are named. The source of the readers counts beside it.
const FORMAT: u32 = 1;
/// SQLite counts the changes of a file in its first bytes.
const HEAD_BYTES: u64 = 100;

/// What an index was made from. Where anything differs, it is another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    format: u32,
    /// The version of the program, of its readers (a number that changes with their source), and of the machine.
    program: String,
    files: Vec<FileState>,
    /// Which part of the files it is of, where they have several.
    part: String,
}

/// A file that an index was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileState {
    /// Without links, as bytes: not every path is text.
    path: Vec<u8>,
    bytes: u64,
    /// Nanoseconds since 1970 of the last change of its contents, and of all that the system knows of it.
    modified: Option<i128>,
    changed: Option<i128>,
    /// The file system and the file's number there.
    number: Option<(u64, u64)>,
    head: Vec<u8>,
}

impl Identity {
    /// Of the files of a report, its profile first; `None` where one of them cannot be looked at.
    pub fn of<'a>(files: impl IntoIterator<Item = &'a Path>) -> Option<Self> {
        let files = files.into_iter().map(FileState::of).collect::<Option<Vec<_>>>()?;
        Some(Self { format: FORMAT, program: program(), files, part: String::new() })
    }

    /// The same of a part of the files alone.
    #[must_use]
    pub fn of_part(self, part: String) -> Self {
        Self { part, ..self }
    }

    /// The version of the program that made it.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Whether it was made by this version of the program.
    pub fn is_current(&self) -> bool {
        (self.format, &*self.program) == (FORMAT, &*program())
    }

    /// The profile that it is of.
    pub fn profile(&self) -> PathBuf {
        self.files.first().map(|file| path_of(&file.path)).unwrap_or_default()
    }

    /// Whether its files are as they were.
    pub fn is_as_it_was(&self) -> bool {
        self.files.iter().all(|file| FileState::of(&path_of(&file.path)).as_ref() == Some(file))
    }

    /// The name of the file that an index of this report, or of this part of it, has, whatever state the report is in.
    pub(super) fn file_name(&self) -> String {
        let path = self.files.first().map_or(&[][..], |file| &file.path);
        let seed = XxHash3_64::oneshot(self.part.as_bytes());
        let [low, high] = [seed, !seed].map(|seed| XxHash3_64::oneshot_with_seed(seed, path));
        format!("{high:016x}{low:016x}")
    }
}

/// The version of the program and what else makes the bytes of an index what they are.
fn program() -> String {
    let order = if cfg!(target_endian = "little") { "little" } else { "big" };
    let version = env!("CARGO_PKG_VERSION");
    format!("{version} {} {order}-endian {} bits", env!("TILESCOPE_READERS"), usize::BITS)
}

impl FileState {
    fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let file = files::open(&path).ok()?;
        let metadata = file.metadata().ok()?;
        let mut head = Vec::new();
        file.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
        Some(Self {
            path: path_bytes(&path),
            bytes: metadata.len(),
            modified: modified(&metadata),
            changed: changed(&metadata),
            number: number(&metadata),
            head,
        })
    }
}

fn modified(metadata: &Metadata) -> Option<i128> {
    let nanoseconds = |time: std::time::Duration| i128::try_from(time.as_nanos()).ok();
    match metadata.modified().ok()?.duration_since(UNIX_EPOCH) {
        Ok(after) => nanoseconds(after),
        Err(before) => nanoseconds(before.duration())?.checked_neg(),
    }
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> Option<i128> {
    use std::os::unix::fs::MetadataExt as _;
    let seconds = i128::from(metadata.ctime()).checked_mul(1_000_000_000)?;
    seconds.checked_add(i128::from(metadata.ctime_nsec()))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
fn number(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Option<i128> {
    None
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec()
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn whatever_changes_in_a_file_makes_another_identity() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("profile.pop");
        std::fs::write(&path, "some bytes").expect("a file");
        let of = || Identity::of([&*path]).expect("an identity");
        let first = of();
        assert_eq!(first, of());
        assert!(first.is_as_it_was() && first.is_current());
        std::fs::write(&path, "same bytes").expect("a file");
        assert!(!first.is_as_it_was(), "other contents of the same size");
        let second = of();
        let file = std::fs::File::options().append(true).open(&path).expect("a file");
        file.set_modified(SystemTime::now() - Duration::from_mins(1)).expect("a time");
        assert_ne!(second, of(), "another time");
        assert_eq!(first.file_name(), of().file_name(), "the same report");
        let third = of();
        let copy = directory.path().join("copy");
        std::fs::copy(&path, &copy).expect("a copy");
        std::fs::rename(&copy, &path).expect("renamed");
        assert_ne!(third, of(), "another file of the same name");
        std::fs::remove_file(&path).expect("removed");
        assert!(Identity::of([&*path]).is_none() && !third.is_as_it_was());
        let [one, two] = ["1", "2"].map(|part| third.clone().of_part(part.to_owned()));
        assert!(one != two && one.file_name() != two.file_name(), "each part has its own");
        let other = Identity { program: "0.0.0".to_owned(), ..third.clone() };
        assert!(!other.is_current());
        assert_ne!(other, third);
    }
}
