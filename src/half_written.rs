//! Files and directories that are there only while something is written or read: known for the whole process, so that
//! a signal that ends it takes them away first.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::{NamedTempFile, TempDir};

static PATHS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn paths() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that goes if the process is ended before this is dropped.
#[derive(Debug)]
pub(crate) struct HalfWritten(PathBuf);

impl HalfWritten {
    /// Makes a file or a directory, which is known as soon as it is there: no signal comes between.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn made<T>(
        make: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> PathBuf,
    ) -> io::Result<(T, Self)> {
        let mut known = paths();
        let made = make()?;
        let path = path(&made);
        let path = std::path::absolute(&path).unwrap_or(path);
        known.insert(path.clone());
        Ok((made, Self(path)))
    }

    /// Makes a temporary file in the same way.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn temporary(
        make: impl FnOnce() -> io::Result<NamedTempFile>,
    ) -> io::Result<(NamedTempFile, Self)> {
        Self::made(make, |file| file.path().to_owned())
    }
}

impl Drop for HalfWritten {
    fn drop(&mut self) {
        paths().remove(&self.0);
    }
}

/// A directory that goes when this is dropped, or before that when the process is ended.
#[derive(Debug)]
pub(crate) struct HalfWrittenDirectory {
    directory: TempDir,
    _known: HalfWritten,
}

impl HalfWrittenDirectory {
    /// Makes one with a name that begins so.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn new(prefix: &str, parent: &Path) -> io::Result<Self> {
        let make = || tempfile::Builder::new().prefix(prefix).tempdir_in(parent);
        let (directory, known) = HalfWritten::made(make, |made| made.path().to_owned())?;
        Ok(Self { directory, _known: known })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// It is whole, and has another name: it stays.
    pub(crate) fn keep(self) {
        drop(self.directory.keep());
    }
}

/// Does something that no signal may end in the middle. The job makes and drops no [`HalfWritten`]: the lock is held.
pub(crate) fn undisturbed<T>(job: impl FnOnce() -> T) -> T {
    let _held = paths();
    job()
}

/// Takes away what is half written, before the process ends: nothing new becomes known any more.
pub(crate) fn take_away() {
    /// Others may be writing into a directory, so that it is not empty at once.
    const TRIES: usize = 500;
    let known = paths();
    for path in &*known {
        for _ in 0..TRIES {
            let removed = match fs::symlink_metadata(path) {
                Err(_) => break,
                Ok(found) if found.is_dir() => fs::remove_dir_all(path),
                Ok(_) => fs::remove_file(path),
            };
            if removed.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(4));
        }
    }
    // Whoever waits for this waits until the end.
    std::mem::forget(known);
}
