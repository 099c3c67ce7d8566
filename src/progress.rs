//! The progress of a reader, and the request to stop; shared between a job and whoever waits for it.

use std::fmt;
use std::io::{Error, Read, Result, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::work::Work;

/// Progress of one job, in units of work that the job defines (bytes, mostly).
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    /// Shared with what SQLite asks while it works.
    request: Arc<Request>,
}

/// The request to stop.
#[derive(Default)]
pub(crate) struct Request {
    is_made: AtomicBool,
    ask: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

impl Request {
    /// Whether the job shall stop.
    pub(crate) fn is_made(&self) -> bool {
        if self.ask.as_ref().is_some_and(|ask| ask()) {
            self.is_made.store(true, Ordering::Relaxed);
        }
        self.is_made.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.is_made.fmt(formatter)
    }
}

/// Bytes of a file that are read or written between two looks at whether anybody still waits.
const BYTES_AT_ONCE: usize = 1 << 20;

impl Progress {
    /// One that asks at each look whether the job shall stop: so a test can count looks, and stop at any of them.
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let request = Request { ask: Some(Box::new(ask)), ..Request::default() };
        Self { request: Arc::new(request), ..Self::default() }
    }

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

    /// The percentage of the units announced that is done, rounded down. It is never 100: while there is progress to show,
    /// the job goes on.
    pub fn percent(done: u64, total: u64) -> f64 {
        // For very large counts the quotient rounds to 1.
        (done as f64 / total as f64 * 100.0).floor().min(99.0)
    }

    /// Asks the job to stop.
    pub fn cancel(&self) {
        self.request.is_made.store(true, Ordering::Relaxed);
    }

    /// Whether the job shall stop.
    pub fn is_cancelled(&self) -> bool {
        self.request.is_made()
    }

    /// The same question, to be asked from where this cannot be borrowed.
    pub(crate) fn request(&self) -> Arc<Request> {
        Arc::clone(&self.request)
    }
}

/// A reader that reports how far it is, or a writer, and gives an error once nobody wants the rest.
pub(crate) struct Watched<'a, R> {
    /// What is read, or written to.
    pub(crate) reader: R,
    /// Who is told, and says when to stop.
    pub(crate) progress: &'a Progress,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.progress.is_cancelled() {
            return Err(Error::other("cancelled"));
        }
        let end = buffer.len().min(BYTES_AT_ONCE);
        let length = self.reader.read(buffer.get_mut(..end).unwrap_or_default())?;
        Work::Bytes.add(length as u64);
        self.progress.advance(length as u64);
        Ok(length)
    }
}

/// What is written is no progress of reading.
impl<W: Write> Write for Watched<'_, W> {
    fn write(&mut self, buffer: &[u8]) -> Result<usize> {
        if self.progress.is_cancelled() {
            return Err(Error::other("cancelled"));
        }
        let length = self.reader.write(buffer.get(..BYTES_AT_ONCE).unwrap_or(buffer))?;
        Work::Written.add(length as u64);
        Ok(length)
    }

    fn flush(&mut self) -> Result<()> {
        self.reader.flush()
    }
}
