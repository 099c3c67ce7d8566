//! The index of one run: where it is or would be, and what is taken from it.

use std::fs::File;
use std::io::BufWriter;
use std::sync::{Arc, Mutex, PoisonError};

use super::cache::Cache;
use super::file::{ColumnWriter, IndexError, IndexFile};
use super::identity::Identity;
use super::room::ColumnSpace;
use crate::progress::{Progress, Watched};

/// The index of a run.
#[derive(Debug)]
pub struct Indexed {
    cache: Cache,
    identity: Identity,
    /// There, and not found damaged yet.
    file: Mutex<Option<Arc<IndexFile>>>,
}

impl Indexed {
    /// Of the run that files are of, in the state that they are in.
    pub fn of(cache: &Cache, identity: Identity) -> Self {
        let file = cache.open(&identity).map(Arc::new);
        Self { cache: cache.clone(), identity, file: Mutex::new(file) }
    }

    /// What `read` takes from the index; `None` where there is none. One that is found damaged is removed and not
    /// asked again: then the files of the run are read.
    pub fn read<T>(&self, read: impl FnOnce(&IndexFile) -> Result<T, IndexError>) -> Option<T> {
        let file = self.file()?;
        match read(&file) {
            Ok(value) => Some(value),
            Err(error) => {
                tracing::info!("the index of {}: {error}", self.identity.profile().display());
                *self.file.lock().unwrap_or_else(PoisonError::into_inner) = None;
                self.cache.discard(&self.identity);
                None
            }
        }
    }

    /// Whether there is one, and nothing wrong was found with it yet.
    pub fn is_there(&self) -> bool {
        self.file().is_some()
    }

    /// Whether a run of so many rows is worth one.
    pub fn is_worth(&self, rows: usize) -> bool {
        self.cache.is_worth(rows)
    }

    /// Where the columns of a run grow that is read to be indexed, and whose file has so many bytes.
    pub fn room(&self, file_bytes: u64) -> ColumnSpace {
        self.cache.room(file_bytes)
    }

    /// Writes it: `write` adds the columns, which take about `expected_bytes`. Returns its size.
    ///
    /// # Errors
    /// When the files have changed, and as [`Cache::write`].
    pub(crate) fn write(
        &self,
        expected_bytes: u64,
        progress: &Progress,
        write: impl FnOnce(&mut ColumnWriter<BufWriter<Watched<'_, &File>>>) -> Result<(), IndexError>,
    ) -> Result<u64, IndexError> {
        // What was read is what the identity says only if it still is the same.
        if !self.identity.is_as_it_was() {
            return Err(IndexError::NotWritten("the files have changed".to_owned()));
        }
        self.cache.write(&self.identity, expected_bytes, progress, write)
    }

    fn file(&self) -> Option<Arc<IndexFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
