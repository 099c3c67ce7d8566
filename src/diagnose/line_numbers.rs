//! The numbers of a log's lines. A line of the log may have become several of the text, or several lines one.

use memchr::memchr_iter;

/// Where a text has another line than the one before it and one.
#[derive(Clone, Copy, Debug)]
pub struct LineMark {
    /// From here on.
    pub place: usize,
    /// The line, from 1.
    pub line: u64,
    /// Whether all that follows, until the next mark, is of this line.
    pub is_one: bool,
}

/// How far the lines of a text are counted.
#[derive(Clone, Copy, Debug)]
pub struct LineNumbers {
    /// In the text.
    place: usize,
    /// The line there, from 1.
    pub line: u64,
    is_one: bool,
    /// The first mark behind it.
    next: usize,
}

impl Default for LineNumbers {
    fn default() -> Self {
        Self { place: 0, line: 1, is_one: false, next: 0 }
    }
}

impl LineNumbers {
    /// Counts on to a place that is not before the last one.
    pub fn at(&mut self, text: &[u8], marks: &[LineMark], place: usize) -> Self {
        while let Some(mark) = marks.get(self.next).filter(|mark| mark.place <= place) {
            (self.place, self.line, self.is_one) = (mark.place, mark.line, mark.is_one);
            self.next += 1;
        }
        if !self.is_one {
            let between = text.get(self.place..place).unwrap_or_default();
            self.line += memchr_iter(b'\n', between).count() as u64;
        }
        self.place = self.place.max(place);
        *self
    }

    /// The same, where what is before the place is dropped.
    pub fn forget(&mut self, text: &[u8], marks: &mut Vec<LineMark>, done: usize) {
        self.at(text, marks, done);
        self.place -= done;
        marks.drain(..self.next.min(marks.len()));
        self.next = 0;
        for mark in marks {
            mark.place = mark.place.saturating_sub(done);
        }
    }
}
