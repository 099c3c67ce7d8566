//! The part of a log that is searched, line by line with what stands before their texts.
//!
//! What a writer wrote next to a message is found by reading the lines there. Where many writers have messages, each would
//! read the lines of all others again: then all are read once, and listed by their writers.

use std::cell::{Cell, OnceCell};
use std::ops::ControlFlow;

use super::lead::{LeadPart, lead};
use super::streams::{Stream, lines};
use crate::work::Work;

/// How often the text is read line by line before its lines are listed.
const MOST_TIMES: usize = 2;

/// The part of a log that is searched.
pub struct LogLines<'a> {
    pub text: &'a [u8],
    /// Bytes of the lines that were read for one message each.
    read: Cell<usize>,
    listed: OnceCell<ListedLines>,
}

/// The lines of a text, read once.
#[derive(Default)]
struct ListedLines {
    /// Where each begins, and the first of its parts.
    lines: Vec<(usize, usize)>,
    parts: Vec<LeadPart>,
    /// The key of each part and its line, in ascending order.
    of_key: Vec<(u64, usize)>,
    /// The lines that begin with no time, level or group, in ascending order.
    unnamed: Vec<usize>,
}

impl<'a> LogLines<'a> {
    /// The lines of a text that begins with one.
    pub fn of(text: &'a [u8]) -> Self {
        Self { text, read: Cell::new(0), listed: OnceCell::new() }
    }

    /// Gives the lines of a stream in a range, with their parts and where their texts begin, until `take` breaks. A line
    /// that is cut by an end of the range is given without the rest of it.
    pub fn each(
        &self,
        stream: &Stream,
        (start, end): (usize, usize),
        mut take: impl FnMut(&[u8], &[LeadPart], usize) -> ControlFlow<()>,
    ) {
        let mut one = |line: &[u8], parts: &[LeadPart]| match stream.text_of(line, parts) {
            Some(text) => take(line, parts, text),
            None => ControlFlow::Continue(()),
        };
        // A break ends the reading, and says no more.
        let _ = if self.read.get() > self.text.len().saturating_mul(MOST_TIMES) {
            self.each_listed(stream, (start, end), &mut one)
        } else {
            self.each_read((start, end), &mut one)
        };
    }

    fn each_read(
        &self,
        (start, end): (usize, usize),
        take: &mut impl FnMut(&[u8], &[LeadPart]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut parts = Vec::new();
        for line in lines(self.text.get(start..end).unwrap_or_default()) {
            self.read.set(self.read.get().saturating_add(line.len()));
            Work::Bytes.add(line.len() as u64);
            parts.clear();
            lead(line, &mut parts);
            take(line, &parts)?;
        }
        ControlFlow::Continue(())
    }

    fn each_listed(
        &self,
        stream: &Stream,
        (start, end): (usize, usize),
        take: &mut impl FnMut(&[u8], &[LeadPart]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let listed = self.listed.get_or_init(|| ListedLines::of(self.text));
        let begin = |line: usize| listed.lines.get(line).map_or(self.text.len(), |(at, _)| *at);
        let first = listed.lines.partition_point(|(at, _)| *at < start);
        // The line in which the range ends is not whole, unless it ends where the line does.
        let beyond = listed.lines.partition_point(|(at, _)| *at <= end);
        let last = if begin(beyond) <= end { beyond } else { beyond.saturating_sub(1) };
        if first > last {
            return self.each_read((start, end), take);
        }
        self.each_read((start, begin(first)), take)?;
        let mut whole = |line: usize| {
            let text = self.text.get(begin(line)..begin(line + 1)).unwrap_or_default();
            Work::Bytes.add(text.len() as u64);
            take(text, listed.parts(line))
        };
        match stream.candidates() {
            Candidates::All => (first..last).try_for_each(&mut whole)?,
            Candidates::Unnamed => listed.unnamed(first, last).try_for_each(&mut whole)?,
            Candidates::OfKey(key) => listed.of_key(key, first, last).try_for_each(&mut whole)?,
            Candidates::OfKeyOrUnnamed(key) => {
                let mut unnamed = listed.unnamed(first, last).peekable();
                for own in listed.of_key(key, first, last) {
                    while let Some(line) = unnamed.next_if(|line| *line < own) {
                        whole(line)?;
                    }
                    unnamed.next_if_eq(&own);
                    whole(own)?;
                }
                unnamed.try_for_each(&mut whole)?;
            }
        }
        self.each_read((begin(last), end), take)
    }
}

/// Which lines may be of a stream.
pub enum Candidates {
    All,
    /// Those that begin with no time, level or group.
    Unnamed,
    /// Those that have a part of a key.
    OfKey(u64),
    OfKeyOrUnnamed(u64),
}

impl ListedLines {
    fn of(text: &[u8]) -> Self {
        let mut listed = Self::default();
        Work::Bytes.add(text.len() as u64);
        let mut from = 0_usize;
        for (index, line) in lines(text).enumerate() {
            let first = listed.parts.len();
            listed.lines.push((from, first));
            lead(line, &mut listed.parts);
            let parts = listed.parts.get(first..).unwrap_or_default();
            listed.of_key.extend(parts.iter().map(|part| (part.key, index)));
            if !parts.first().is_some_and(LeadPart::is_of_writer) {
                listed.unnamed.push(index);
            }
            from = from.saturating_add(line.len());
        }
        listed.of_key.sort_unstable();
        listed.of_key.dedup();
        listed
    }

    fn parts(&self, line: usize) -> &[LeadPart] {
        let first = |line: usize| self.lines.get(line).map_or(self.parts.len(), |(_, part)| *part);
        self.parts.get(first(line)..first(line + 1)).unwrap_or_default()
    }

    fn unnamed(&self, first: usize, last: usize) -> impl Iterator<Item = usize> {
        let at = self.unnamed.partition_point(|line| *line < first);
        let lines = self.unnamed.get(at..).unwrap_or_default();
        lines.iter().copied().take_while(move |line| *line < last)
    }

    fn of_key(&self, key: u64, first: usize, last: usize) -> impl Iterator<Item = usize> {
        let at = self.of_key.partition_point(|line| *line < (key, first));
        let lines = self.of_key.get(at..).unwrap_or_default();
        lines.iter().take_while(move |line| **line < (key, last)).map(|(_, line)| *line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diagnose::streams::LogRegion;

    /// Lines of some writers, among them progress bars, and such that say nothing of who wrote them.
    fn log() -> impl Strategy<Value = String> {
        let lead = prop::sample::select(vec![
            "[0]: ",
            "[1]: ",
            "",
            "    ",
            "2026-01-02 03:04:05 ",
            "a: ",
            "a: b: ",
            "INFO: [0] ",
            "(x) ",
        ]);
        let text = prop::sample::select(vec!["", "Size: 2G", "program 3G", "x-1 y", "\u{e9}"]);
        let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r"]);
        let line = (lead, text, end).prop_map(|(lead, text, end)| format!("{lead}{text}{end}"));
        prop::collection::vec(line, 1..40).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn listed_lines_are_those_that_are_read(
            log in log(),
            (one, other) in any::<(prop::sample::Index, prop::sample::Index)>(),
            most in 1_usize..40,
        ) {
            let text = log.as_bytes();
            let range = (one.index(text.len() + 1), other.index(text.len() + 1));
            let range = (range.0.min(range.1), range.0.max(range.1));
            let whole = LogLines::of(text);
            let region = LogRegion::of(&whole, (0, text.len()), vec![0], |_| 1);
            for line in 0..lines(text).count() {
                for stream in region.ways(line) {
                    let [read, listed] = [0, usize::MAX].map(|before| {
                        let log = LogLines { read: Cell::new(before), ..LogLines::of(text) };
                        let mut found = Vec::new();
                        log.each(&stream, range, |line, parts, text| {
                            found.push((line.to_vec(), parts.to_vec(), text));
                            if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                        });
                        found
                    });
                    prop_assert_eq!(read, listed, "{:?} of {:?}", stream, log);
                }
            }
        }
    }
}
