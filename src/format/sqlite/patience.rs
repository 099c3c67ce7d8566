//! Limits the work of SQLite on one query: it asks here every few steps whether to go on, also where it passes over
//! rows and hands none out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use crate::format::Progress;
use crate::limits;
use crate::work::Work;

/// What is left for the question that a connection works on.
#[derive(Debug)]
pub struct Patience {
    file_bytes: u64,
    /// Of the question.
    steps_left: AtomicU64,
    is_new_question: AtomicBool,
    /// Whether rows have come since SQLite asked last.
    has_rows: AtomicBool,
    /// Of the file: a question took more than there is. Then others get little.
    is_at_end: Arc<AtomicBool>,
}

impl Patience {
    /// Lets a connection to a file of some bytes ask. `is_at_end` is of all connections to it.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn of(
        connection: &mut Connection,
        file_bytes: u64,
        is_at_end: &Arc<AtomicBool>,
        progress: &Progress,
    ) -> Result<Arc<Self>, rusqlite::Error> {
        let patience = Arc::new(Self {
            file_bytes,
            steps_left: AtomicU64::new(0),
            is_new_question: AtomicBool::new(true),
            has_rows: AtomicBool::new(false),
            is_at_end: Arc::clone(is_at_end),
        });
        patience.begin();
        let (asked, request) = (Arc::clone(&patience), progress.request());
        let mut clock = Clock::start();
        let steps = limits::SQLITE_STEPS_AT_ONCE;
        let stop = move || request.is_made() || asked.has_ended(&mut clock);
        connection.progress_handler(steps, Some(stop))?;
        Ok(patience)
    }

    /// A new question.
    pub fn begin(&self) {
        let most = limits::sqlite_steps(self.file_bytes);
        let is_at_end = self.is_at_end.load(Ordering::Relaxed);
        let most = if is_at_end { most / LESS } else { most };
        self.steps_left.store(most, Ordering::Relaxed);
        self.is_new_question.store(true, Ordering::Relaxed);
    }

    /// A row has come.
    #[inline]
    pub fn row(&self) {
        self.has_rows.store(true, Ordering::Relaxed);
    }

    /// What SQLite says of a question that was stopped, or something else was wrong with.
    pub fn words(&self, error: &rusqlite::Error) -> String {
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => {
                let steps = limits::sqlite_steps(self.file_bytes);
                let time = limits::sqlite_time(self.file_bytes).as_secs();
                format!(
                    "SQLite was stopped: a query on a file of this size may take at most {steps} \
                     steps and {time} s; pages of the table may refer to each other"
                )
            }
            Some(ErrorCode::OutOfMemory) => {
                let most = limits::SQLITE_BYTES;
                format!("SQLite was stopped: it needs more than {most} bytes of memory")
            }
            _ => error.to_string(),
        }
    }

    fn has_ended(&self, clock: &mut Clock) -> bool {
        if self.is_new_question.swap(false, Ordering::Relaxed) {
            *clock = Clock::start();
        }
        let now = Instant::now();
        if self.has_rows.swap(false, Ordering::Relaxed) {
            clock.last_row = now;
        }
        let steps = u64::from(limits::SQLITE_STEPS_AT_ONCE.unsigned_abs());
        Work::Steps.add(steps);
        let left = self.steps_left.load(Ordering::Relaxed).saturating_sub(steps);
        self.steps_left.store(left, Ordering::Relaxed);
        let is_at_end = self.is_at_end.load(Ordering::Relaxed);
        let part = if is_at_end { LESS_TIME } else { 1 };
        let less = |time: Duration| time.checked_div(part).unwrap_or_default();
        let is_late = now.duration_since(clock.last_row) > less(limits::TIME_WITHOUT_ROW)
            || now.duration_since(clock.start) > less(limits::sqlite_time(self.file_bytes));
        let has_ended = left == 0 || is_late;
        if has_ended {
            self.is_at_end.store(true, Ordering::Relaxed);
        }
        has_ended
    }
}

/// By how much less there is for questions to a file of which one was stopped.
const LESS: u64 = 64;
const LESS_TIME: u32 = 64;

/// When the question began, and when the last row came.
struct Clock {
    start: Instant,
    last_row: Instant,
}

impl Clock {
    fn start() -> Self {
        let now = Instant::now();
        Self { start: now, last_row: now }
    }
}
