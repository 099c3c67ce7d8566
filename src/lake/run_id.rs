//! The id of a run in a lake: the same for the same report, wherever it lies and whoever exports it.
//!
//! It is a hash of what makes the report another one: its profile, `app.json` and `framework.json`, byte for
//! byte. What is beside those (debug contexts, logs) may be added later without making another run. It begins
//! with a letter, so that no query engine takes the name of a directory for a number.

use std::io::{ErrorKind as IoErrorKind, Read};
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_128;

use crate::files;
use crate::format::Error;
use crate::format::side_files::SIDE_FILE_BYTES;
use crate::format::sqlite::bytes_by_header;
use crate::progress::{Progress, Watched};
use crate::systems::pytorch::files::SnapshotFiles;
use crate::systems::xla::files::{ModuleAt, ProtoKind};

const BLOCK_BYTES: usize = 1 << 20;
const HEADER_BYTES: u64 = 100;
const SIDE_FILES: [&str; 2] = ["app.json", "framework.json"];

/// The id of the report of a profile.
///
/// # Errors
/// When a file cannot be read.
pub(super) fn of_report(profile: &Path, progress: &Progress) -> Result<String, Error> {
    let mut hash = XxHash3_128::new();
    add_file(&mut hash, profile, bytes_of_pages, progress)?;
    add_side_files(&mut hash, &profile.with_file_name(""), progress)?;
    Ok(id(&hash))
}

/// The id of a memory snapshot, or of those of the ranks of one run: then their numbers count as well.
///
/// # Errors
/// When a file cannot be read.
pub(super) fn of_snapshot(files: &SnapshotFiles, progress: &Progress) -> Result<String, Error> {
    let mut hash = XxHash3_128::new();
    match files.ranks.as_slice() {
        [] => {
            add_file(&mut hash, &files.path, |_| u64::MAX, progress)?;
            add_side_files(&mut hash, &files.path.with_file_name(""), progress)?;
        }
        ranks => {
            for (rank, files) in ranks {
                hash.write(&rank.to_le_bytes());
                add_file(&mut hash, &files.path, |_| u64::MAX, progress)?;
            }
            // They lie in one directory.
            if let Some((_, first)) = ranks.first() {
                add_side_files(&mut hash, &first.path.with_file_name(""), progress)?;
            }
        }
    }
    Ok(id(&hash))
}

/// The id of a module of XLA: of its file, or files, and of a profile, which has several, with its place there.
///
/// # Errors
/// When a file cannot be read.
pub(super) fn of_module(at: &ModuleAt, progress: &Progress) -> Result<String, Error> {
    let mut hash = XxHash3_128::new();
    let files = match at {
        ModuleAt::Proto(file, place) => {
            if file.kind == ProtoKind::Profile {
                hash.write(&(*place as u64).to_le_bytes());
            }
            std::slice::from_ref(file)
        }
        ModuleAt::Texts(files) => files.as_slice(),
    };
    for file in files {
        // What was printed into one file is told apart by its place.
        if let Some(part) = file.part {
            hash.write(&part.start.to_le_bytes());
        }
        add_file(&mut hash, &file.path, |_| u64::MAX, progress)?;
    }
    add_side_files(&mut hash, &at.path().with_file_name(""), progress)?;
    Ok(id(&hash))
}

/// The id of a run that left no report: where it was counts, for its side files may be those of others.
///
/// # Errors
/// When a file cannot be read.
pub(super) fn without_report(directory: &Path, progress: &Progress) -> Result<String, Error> {
    let mut hash = XxHash3_128::new();
    hash.write(directory.as_os_str().as_encoded_bytes());
    add_side_files(&mut hash, directory, progress)?;
    Ok(id(&hash))
}

fn id(hash: &XxHash3_128) -> String {
    format!("r{:032x}", hash.finish_128())
}

/// The bytes that the pages of an SQLite file take, by its header; all there are where it does not say.
fn bytes_of_pages(header: &[u8]) -> u64 {
    let is_profile = header.starts_with(b"SQLite format 3\0");
    bytes_by_header(header).filter(|_| is_profile).unwrap_or(u64::MAX)
}

fn add_side_files(
    hash: &mut XxHash3_128,
    directory: &Path,
    progress: &Progress,
) -> Result<(), Error> {
    for name in SIDE_FILES {
        let path: PathBuf = directory.join(name);
        // What is read as a side file elsewhere, too.
        if path.is_file() {
            add_file(hash, &path, |_| SIDE_FILE_BYTES, progress)?;
        } else {
            hash.write(&u64::MAX.to_le_bytes());
        }
    }
    Ok(())
}

/// The bytes of a file up to `most`, and how many they are. What lies behind is read by nobody: a file may say to be
/// longer than any disk.
fn add_file(
    hash: &mut XxHash3_128,
    path: &Path,
    most: impl FnOnce(&[u8]) -> u64,
    progress: &Progress,
) -> Result<(), Error> {
    let unreadable = |error: std::io::Error| Error::io(path, &error);
    let mut file = files::open(path).map_err(unreadable)?;
    let mut head = Vec::new();
    file.by_ref().take(HEADER_BYTES).read_to_end(&mut head).map_err(unreadable)?;
    let most = most(&head);
    progress.expect(file.metadata().map_err(unreadable)?.len().min(most));
    let rest = Read::chain(&*head, file).take(most);
    let mut file = Watched { reader: rest, progress };
    let mut block = vec![0; BLOCK_BYTES];
    let mut length = 0_u64;
    loop {
        match file.read(&mut block) {
            Ok(0) => break,
            Ok(bytes) => {
                hash.write(block.get(..bytes).unwrap_or(&[]));
                length = length.saturating_add(bytes as u64);
            }
            Err(error) if error.kind() == IoErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
    hash.write(&length.to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_report_has_the_same_id_wherever_it_lies() {
        let [first, second] = [0, 1].map(|_| tempfile::tempdir().expect("a directory"));
        let write = |directory: &tempfile::TempDir, name: &str, text: &str| {
            std::fs::write(directory.path().join(name), text).expect("a file");
        };
        let id = |directory: &tempfile::TempDir| {
            of_report(&directory.path().join("profile.pop"), &Progress::default()).expect("an id")
        };
        for directory in [&first, &second] {
            write(directory, "profile.pop", "some bytes");
            write(directory, "app.json", "{}");
        }
        let before = id(&first);
        assert_eq!(before, id(&second));
        assert!(before.starts_with('r') && before.len() == 33, "{before}");
        write(&second, "debug.cbor", "more is known of it");
        assert_eq!(before, id(&second));
        write(&second, "app.json", r#"{"batch":8}"#);
        assert_ne!(before, id(&second), "another setting");
        write(&second, "app.json", "{}");
        write(&second, "framework.json", "");
        assert_ne!(before, id(&second), "an empty file is not an absent one");
        std::fs::rename(second.path().join("framework.json"), second.path().join("profile.pop"))
            .expect("renamed");
        assert_ne!(before, id(&second), "another profile");
        assert!(of_report(&first.path().join("absent.pop"), &Progress::default()).is_err());
        let without = |directory: &tempfile::TempDir| {
            without_report(directory.path(), &Progress::default()).expect("id")
        };
        assert_eq!(without(&first), without(&first));
        write(&second, "app.json", "{}");
        assert_ne!(without(&first), without(&second), "other runs that left nothing");
    }
}
