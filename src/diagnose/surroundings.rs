//! What a writer wrote next to a message.

use std::cell::OnceCell;
use std::ops::Deref;

use super::log_lines::LogLines;
use super::streams::Stream;

/// What a writer wrote before or behind a message, read when it is asked for.
pub struct Surroundings<'a> {
    log: &'a LogLines<'a>,
    stream: Stream<'a>,
    /// What of the input is read.
    range: (usize, usize),
    is_before: bool,
    text: OnceCell<Vec<u8>>,
}

impl<'a> Surroundings<'a> {
    /// What stands behind a message that ends at a place, up to a limit.
    pub fn behind(log: &'a LogLines<'a>, stream: Stream<'a>, place: usize, limit: usize) -> Self {
        let range = (place, limit.max(place));
        Self { log, stream, range, is_before: false, text: OnceCell::new() }
    }

    /// What stands before one that begins there, from a limit on.
    pub fn before(log: &'a LogLines<'a>, stream: Stream<'a>, place: usize, limit: usize) -> Self {
        let range = (limit.min(place), place);
        Self { log, stream, range, is_before: true, text: OnceCell::new() }
    }

    /// The bytes of the log next to the message, whoever wrote them and however far the limit is.
    pub fn nearest(&self, most: usize) -> &'a [u8] {
        let (start, end) = self.range;
        let range = if self.is_before {
            end.saturating_sub(most)..end
        } else {
            start..self.log.text.len().min(start.saturating_add(most))
        };
        self.log.text.get(range).unwrap_or_default()
    }
}

impl Deref for Surroundings<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.text.get_or_init(|| {
            let read = if self.is_before { Stream::before } else { Stream::behind };
            read(&self.stream, self.log, self.range)
        })
    }
}
