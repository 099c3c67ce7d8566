//! The id of a run in a lake: the same for the same run, wherever it lies and whoever exports it.
//!
//! It is a hash of what makes the run another one: what its system tells it from others by, `app.json` and
//! `framework.json`, byte for byte. Other files (debug contexts, logs) may be added later without making another run.
//! It begins with a letter, so that no query engine takes the name of a directory for a number.

use std::collections::HashMap;
use std::io::{ErrorKind as IoErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use twox_hash::XxHash3_128;

use crate::files;
use crate::format::Error;
use crate::format::side_files::SIDE_FILE_BYTES;
use crate::format::sqlite::bytes_by_header;
use crate::progress::{Progress, Watched};
use crate::systems::system::{FoundRun, IdPart};

const BLOCK_BYTES: usize = 1 << 20;
const HEADER_BYTES: u64 = 100;
const SIDE_FILES: [&str; 2] = ["app.json", "framework.json"];

/// The ids of runs, each worked out once.
#[derive(Debug, Default)]
pub(super) struct RunIds(Mutex<HashMap<(PathBuf, Vec<IdPart>), String>>);

impl RunIds {
    /// The id of a run.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(super) fn of_run(&self, run: &dyn FoundRun, progress: &Progress) -> Result<String, Error> {
        let parts = run.id_parts();
        let key = (run.path().to_owned(), parts.clone());
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = known().get(&key) {
            return Ok(id.clone());
        }
        let id = of_parts(&parts, run.path(), progress)?;
        known().insert(key, id.clone());
        Ok(id)
    }
}

/// The side files are those beside the first file; without one, those in the directory of the run.
fn of_parts(parts: &[IdPart], path: &Path, progress: &Progress) -> Result<String, Error> {
    let (mut hash, mut directory) = (XxHash3_128::new(), None);
    for part in parts {
        match part {
            IdPart::Bytes(bytes) => hash.write(bytes),
            IdPart::File(file) => {
                add_file(&mut hash, file, bytes_of_pages, progress)?;
                directory.get_or_insert_with(|| file.with_file_name(""));
            }
        }
    }
    add_side_files(&mut hash, directory.as_deref().unwrap_or(path), progress)?;
    Ok(format!("r{:032x}", hash.finish_128()))
}

/// The bytes that the pages of an SQLite file take, by its header; all there are where it does not say.
fn bytes_of_pages(header: &[u8]) -> u64 {
    let is_database = header.starts_with(b"SQLite format 3\0");
    bytes_by_header(header).filter(|_| is_database).unwrap_or(u64::MAX)
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
        let of = |directory: &tempfile::TempDir, part: IdPart| {
            of_parts(&[part], directory.path(), &Progress::default())
        };
        let file =
            |directory: &tempfile::TempDir, name: &str| IdPart::File(directory.path().join(name));
        let id = |directory: &tempfile::TempDir| {
            of(directory, file(directory, "profile.pop")).expect("an id")
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
        assert!(of(&first, file(&first, "absent.pop")).is_err());
        let without = |directory: &tempfile::TempDir| {
            let path = directory.path().as_os_str().as_encoded_bytes().to_vec();
            of(directory, IdPart::Bytes(path)).expect("an id")
        };
        assert_eq!(without(&first), without(&first));
        write(&second, "app.json", "{}");
        assert_ne!(without(&first), without(&second), "other runs that left nothing");
    }
}
