//! How far a reader is, and the request to stop; shared between a job and whoever waits for it.

use std::io::{Error, Read, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Progress of one job, in units of work that the job defines (bytes, mostly).
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    /// Shared with what SQLite asks while it works.
    cancelled: Arc<AtomicBool>,
}

impl Progress {
    /// Announces work.
    pub fn expect(&self, units: u64) {
        self.total.fetch_add(units, Ordering::Relaxed);
    }

    /// Reports work done.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    /// Units done and units announced so far.
    pub fn now(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Asks the job to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the job shall stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The same question, to be asked from where this cannot be borrowed.
    pub(crate) fn cancelled(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }
}

/// A reader that reports how far it is, and gives an error once nobody wants the rest.
pub(crate) struct Watched<'a, R> {
    /// What is read.
    pub(crate) reader: R,
    /// Who is told, and says when to stop.
    pub(crate) progress: &'a Progress,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.progress.is_cancelled() {
            return Err(Error::other("cancelled"));
        }
        let length = self.reader.read(buffer)?;
        self.progress.advance(length as u64);
        Ok(length)
    }
}
