//! Searches a log of any size with bounded memory.
//!
//! Colors are taken out, then words that every message has one of are searched ([`TRIGGER`]). Only the
//! lines around such a word ([`BareLines`]) are compared with the messages. What is kept is a piece of the
//! input, what lies before it as far as a message looks back, and what lies behind it as far as a
//! message may go on.

use std::io::Read;

use memchr::{memchr_iter, memchr2};

use super::escape_codes;
use super::failures::LogWords;
use super::finding::Finding;
use super::lines::{BareLines, around};
use super::message::{TRIGGER, matches};
use super::unknown;
use super::wrapper::those_that_count;
use crate::limits;

/// Bytes that are searched at once.
const PIECE: usize = 1 << 20;
/// Bytes before and behind a message in which its facts may lie: a listing of allocations behind,
/// the head of a summary before.
const FAR: usize = 1 << 16;

/// Bytes at the beginning of a log in which it says what it is of.
const HEAD: usize = 1 << 16;

/// Bytes of a line that are read. What writes more without a line end writes no log for people; each of
/// its messages would be a finding. A progress bar goes back to the start of its line and begins a new one.
const LONGEST_LINE: usize = 1 << 20;

/// What a log says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// One for each occurrence of a message, in the order of the log.
    pub findings: Vec<Finding>,
    /// Lines of the log.
    pub lines: u64,
    /// Lines of which only the first MiB is read.
    pub cut_lines: u64,
    /// Messages beyond those that are listed.
    pub further: u64,
}

/// Reads a log to its end.
///
/// # Errors
/// What the reader says.
pub fn diagnose_reader(mut reader: impl Read) -> std::io::Result<Diagnosis> {
    let mut scanner = Scanner::default();
    let mut piece = vec![0; PIECE];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Ok(scanner.finish()),
            Ok(length) => scanner.push(piece.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes a log piece by piece.
#[derive(Debug, Default)]
pub struct Scanner {
    /// Input that may be a sequence of a terminal whose end is still to come.
    cut: Vec<u8>,
    /// Input without colors, and without what long lines have too much.
    text: Vec<u8>,
    /// Bytes of the last line so far.
    line_length: usize,
    /// Whether more of it has come than is read.
    is_cut: bool,
    cut_lines: u64,
    /// Where in it the next message may begin.
    from: usize,
    /// How far its lines are counted, and the number of the line there, from 0.
    counted: usize,
    line: u64,
    findings: Vec<Finding>,
    words: LogWords,
    /// Messages beyond the budget.
    further: u64,
}

impl Scanner {
    /// Takes the next bytes of the log.
    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE) {
            let new = self.text.len();
            if self.cut.is_empty() {
                let done = escape_codes::strip(piece, false, &mut self.text);
                self.cut.extend_from_slice(piece.get(done..).unwrap_or_default());
            } else {
                self.cut.extend_from_slice(piece);
                let done = escape_codes::strip(&self.cut, false, &mut self.text);
                self.cut.drain(..done);
            }
            self.cut_long_lines(new);
            if self.text.len() >= self.from.saturating_add(PIECE + FAR) {
                self.search(self.text.len() - FAR);
                self.forget();
            }
        }
    }

    /// The log is complete.
    pub fn finish(mut self) -> Diagnosis {
        let cut = std::mem::take(&mut self.cut);
        let new = self.text.len();
        escape_codes::strip(&cut, true, &mut self.text);
        self.cut_long_lines(new);
        self.search(self.text.len());
        let text = std::mem::take(&mut self.text);
        let has_open_line = text.last().is_some_and(|last| *last != b'\n');
        let lines = self.count_to(&text, text.len()) + u64::from(has_open_line);
        let Self { findings, words, cut_lines, further, .. } = self;
        Diagnosis { findings: words.failures(findings), lines, cut_lines, further }
    }

    /// Takes out of the text behind `new` what lines have beyond [`LONGEST_LINE`].
    fn cut_long_lines(&mut self, new: usize) {
        let (mut from, mut to) = (new, new);
        while let Some(rest) = self.text.get(from..).filter(|rest| !rest.is_empty()) {
            let line_end = memchr2(b'\n', b'\r', rest);
            let length = line_end.unwrap_or(rest.len());
            let kept = length.min(LONGEST_LINE - self.line_length);
            self.cut_lines += u64::from(kept < length && !self.is_cut);
            self.is_cut |= kept < length;
            self.text.copy_within(from..from + kept, to);
            self.line_length += kept;
            (from, to) = (from + length, to + kept);
            if line_end.is_some() {
                self.text.copy_within(from..=from, to);
                (from, to) = (from + 1, to + 1);
                (self.line_length, self.is_cut) = (0, false);
            }
        }
        self.text.truncate(to);
    }

    /// Finds the messages that begin before `limit`.
    fn search(&mut self, limit: usize) {
        let text = std::mem::take(&mut self.text);
        if self.line == 0 && self.counted == 0 {
            self.words.look(text.get(..text.len().min(HEAD)).unwrap_or_default());
        }
        let mut next = self.from;
        let mut triggers = TRIGGER.find_iter(text.get(self.from..).unwrap_or_default()).peekable();
        let offset = self.from;
        while let Some(trigger) = triggers.next() {
            let (start, mut end) = around(&text, offset + trigger.start());
            // Words close to each other have one region, so that no message is in two.
            let mut last = None;
            loop {
                while let Some(close) = triggers.next_if(|close| offset + close.start() < end) {
                    last = Some(offset + close.start());
                }
                let Some(close) = last.take() else { break };
                end = end.max(around(&text, close).1);
            }
            let start = start.max(next);
            if start >= limit {
                break;
            }
            let number = self.count_to(&text, start) + 1;
            self.words.look(text.get(start..end).unwrap_or_default());
            let region = BareLines::of(&text, (start, end), number);
            next = self.read(&text, &region, (next, limit)).max(next);
        }
        self.from = next.max(limit);
        self.text = text;
    }

    /// Drops the text before which no message looks back.
    fn forget(&mut self) {
        let done = self.from.saturating_sub(FAR);
        let mut text = std::mem::take(&mut self.text);
        self.count_to(&text, done);
        text.drain(..done);
        self.text = text;
        self.from -= done;
        self.counted -= done;
    }

    /// Reads the messages of a region that begin in a range of the text; says where the last ends.
    fn read(&mut self, text: &[u8], region: &BareLines, (from, limit): (usize, usize)) -> usize {
        let mut end = from;
        let first = self.findings.len();
        let matches: Vec<_> = matches(&region.text).collect();
        let mut known: Vec<_> = matches.iter().map(|one| (one.start(), one.end())).collect();
        known.sort_unstable();
        for one in those_that_count(matches, &region.text) {
            let (place, line) = region.place(one.start());
            if !(from..limit).contains(&place) {
                continue;
            }
            end = region.place(one.end()).0;
            let before = text.get(place.saturating_sub(FAR)..place).unwrap_or_default();
            let after = text.get(end..text.len().min(end.saturating_add(FAR))).unwrap_or_default();
            let own = region.text.get(..one.start()).unwrap_or_default();
            let own = own.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            let finding = one.finding(own, before, after);
            self.findings.extend(finding.map(|finding| Finding { line, ..finding }));
        }
        let mut known = known.into_iter().peekable();
        let mut known_to = 0;
        for line in region.lines() {
            // What stands on a line of a known message belongs to it.
            while let Some((_, end)) = known.next_if(|(start, _)| *start < line.end()) {
                known_to = known_to.max(end);
            }
            // The rest of a line that has been read before is no line.
            let is_new = (from..limit).contains(&line.from) && (line.is_whole || line.from > from);
            if known_to > line.at || !is_new {
                continue;
            }
            if let Some(mut finding) = unknown::read(line.text) {
                end = end.max(line.from + line.text.len());
                finding.line = line.number;
                self.findings.push(finding);
            }
        }
        if let Some(found) = self.findings.get_mut(first..) {
            found.sort_by_key(|finding| finding.line);
        }
        let beyond = self.findings.len().saturating_sub(limits::FINDINGS);
        self.findings.truncate(limits::FINDINGS);
        self.further += beyond as u64;
        end
    }

    /// The number of line ends before a place that is not before the last one asked for.
    fn count_to(&mut self, text: &[u8], place: usize) -> u64 {
        let lines = memchr_iter(b'\n', text.get(self.counted..place).unwrap_or_default()).count();
        self.line += lines as u64;
        self.counted = self.counted.max(place);
        self.line
    }
}
