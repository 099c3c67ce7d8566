//! Searches a log of any size with bounded memory.
//!
//! UTF-16 is decoded, colors are taken out, and entries of JSON become lines. Then words are searched of which every message
//! has one ([`TRIGGER`]). Only the lines around such a word ([`LogRegion`]) are compared with the messages. What is kept is a
//! piece of the input, what lies before it as far as a message looks back, and what lies behind it as far as a message may go
//! on.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr2;

use super::decode::Decoder;
use super::documents::LogEntries;
use super::escape_codes;
use super::failures::LogWords;
use super::fields;
use super::figures;
use super::finding::{Finding, Kind};
use super::line_numbers::{LineMark, LineNumbers};
use super::log_lines::LogLines;
use super::markup;
use super::message::TRIGGER;
use super::origin;
use super::reading::WriterReading;
use super::retelling::Telling;
use super::runtime_parts;
use super::settings_reader::SettingsReader;
use super::streams::{BYTES_BEHIND, LogRegion, around};
use super::unknown;
use crate::files::packed::{FilePacking, most_in_parts};
use crate::limits;

/// Bytes that are searched at once.
const PIECE: usize = 1 << 20;
/// Bytes whose messages are read together, but for one that goes on behind them.
const STEP: usize = 1 << 17;
/// Bytes before and behind a message in which its facts may lie: a listing of allocations behind,
/// the head of a summary before, also where several processes write at once.
const FAR: usize = 1 << 18;

/// Bytes at the beginning of a log in which it says what it is of.
const HEAD: usize = 1 << 16;

/// Bytes of a line that are read. What writes more without a line end writes no log for people; each of
/// its messages would be a finding. A progress bar goes back to the start of its line and begins a new one.
const LONGEST_LINE: usize = 1 << 20;

/// The most bytes of a word that shows that a line has another form.
const LONGEST_WORDS: usize = 16;

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
    /// Messages read without the lines around them, because the log has too many messages.
    pub less_read: u64,
    /// Why it was not read to its end; `None` where it was.
    pub cut: Option<CutLog>,
}

/// Why a packed log was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutLog {
    /// It unpacks to more than 64 times its bytes.
    Grows,
    /// It is cut or damaged, or still written.
    Damaged,
}

/// Reads a log to its end, also one that gzip or Zstandard packed.
///
/// Of one that grows to more than `most_in_parts` only so much is read.
///
/// # Errors
/// What the reader says.
pub fn diagnose_reader(mut reader: impl Read + Send) -> std::io::Result<Diagnosis> {
    let mut head = Vec::new();
    reader.by_ref().take(4).read_to_end(&mut head)?;
    let packing = FilePacking::of(&head);
    let whole = head.as_slice().chain(reader);
    let Some(packing) = packing else { return diagnose_text(whole, |_| false, || u64::MAX) };
    // What came before the fault is read. Others have no place in the log: a disk that fails, nobody who waits.
    let is_damage = |error: &std::io::Error| {
        use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
    };
    // How much there is of a stream nobody knows before its end, so what came so far counts.
    let packed = AtomicU64::new(0);
    let most = || most_in_parts(packed.load(Ordering::Relaxed));
    diagnose_text(packing.reader(CountedBytes { reader: whole, count: &packed }), is_damage, most)
}

/// Counts what is read.
struct CountedBytes<'a, R> {
    reader: R,
    count: &'a AtomicU64,
}

impl<R: Read> Read for CountedBytes<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

fn diagnose_text(
    mut reader: impl Read,
    is_damage: impl Fn(&std::io::Error) -> bool,
    most: impl Fn() -> u64,
) -> std::io::Result<Diagnosis> {
    let mut scanner = Scanner::default();
    let mut piece = vec![0; PIECE];
    let mut unpacked = 0_u64;
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Ok(scanner.finish()),
            Ok(length) => {
                scanner.push(piece.get(..length).unwrap_or_default());
                unpacked = unpacked.saturating_add(length as u64);
                if unpacked > most() {
                    return Ok(Diagnosis { cut: Some(CutLog::Grows), ..scanner.finish() });
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) if is_damage(&error) => {
                return Ok(Diagnosis { cut: Some(CutLog::Damaged), ..scanner.finish() });
            }
            Err(error) => return Err(error),
        }
    }
}

/// Takes a log piece by piece.
#[derive(Debug, Default)]
pub struct Scanner {
    decoder: Decoder,
    /// Input that may be a sequence of a terminal whose end is still to come.
    cut: Vec<u8>,
    /// Input without colors, and without what long lines have too much.
    text: Vec<u8>,
    /// Bytes of the last line so far, and whether its end is still to come.
    line_length: usize,
    is_line_open: bool,
    /// Whether more of it has come than is read.
    is_cut: bool,
    cut_lines: u64,
    /// Where in it the next message may begin.
    from: usize,
    numbers: LineNumbers,
    marks: Vec<LineMark>,
    entries: LogEntries,
    findings: Vec<Finding>,
    words: LogWords,
    settings: SettingsReader,
    /// Messages beyond the budget.
    further: u64,
    less_read: u64,
    /// Bytes that were read again, in further ways and for clues.
    read_again: usize,
}

impl Scanner {
    /// Takes the next bytes of the log.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut room = Vec::new();
        for piece in bytes.chunks(PIECE) {
            let mut decoder = std::mem::take(&mut self.decoder);
            self.take(decoder.push(piece, false, &mut room), false);
            self.decoder = decoder;
            let limit = self.entries.done.min(self.text.len().saturating_sub(FAR));
            if limit >= self.from.saturating_add(PIECE) {
                self.search_in_steps(limit);
                self.forget();
            }
        }
    }

    /// Takes text of the log.
    fn take(&mut self, text: &[u8], is_last: bool) {
        let new = self.text.len();
        if self.cut.is_empty() {
            let done = escape_codes::strip(text, is_last, &mut self.text);
            self.cut.extend_from_slice(text.get(done..).unwrap_or_default());
        } else {
            self.cut.extend_from_slice(text);
            let done = escape_codes::strip(&self.cut, is_last, &mut self.text);
            self.cut.drain(..done);
        }
        let may_have_entries = self.cut_long_lines(new);
        if let Some(last) = self.text.get(new..).and_then(<[u8]>::last) {
            self.is_line_open = *last != b'\n';
        }
        let Self { text, marks, numbers, .. } = self;
        self.entries.unfold(text, marks, *numbers, may_have_entries, is_last);
    }

    /// The log is complete.
    pub fn finish(mut self) -> Diagnosis {
        let mut room = Vec::new();
        let mut decoder = std::mem::take(&mut self.decoder);
        self.take(decoder.push(&[], true, &mut room), true);
        self.search_in_steps(self.text.len());
        let text = std::mem::take(&mut self.text);
        let lines =
            self.numbers.at(&text, &self.marks, text.len()).line - u64::from(!self.is_line_open);
        let Self { findings, words, cut_lines, further, less_read, entries, .. } = self;
        let mut findings = words.failures(findings);
        origin::find_first(&mut findings);
        let moved = entries.moved_lines();
        for finding in &mut findings {
            finding.move_lines(|line| moved.own_line(line));
        }
        findings.sort_by_key(|finding| finding.line);
        Diagnosis { findings, lines, cut_lines, further, less_read, cut: None }
    }

    /// Takes out of the text behind `new` what lines have beyond [`LONGEST_LINE`]; says whether lines may be
    /// entries of another form.
    fn cut_long_lines(&mut self, new: usize) -> bool {
        let (mut from, mut to) = (new, new);
        let mut has_ends = false;
        while let Some(rest) = self.text.get(from..).filter(|rest| !rest.is_empty()) {
            let line_end = memchr2(b'\n', b'\r', rest);
            let length = line_end.unwrap_or(rest.len());
            let kept = length.min(LONGEST_LINE - self.line_length);
            self.cut_lines += u64::from(kept < length && !self.is_cut);
            self.is_cut |= kept < length;
            self.text.copy_within(from..from + kept, to);
            self.line_length += kept;
            (from, to) = (from + length, to + kept);
            let last = to.checked_sub(1).and_then(|last| self.text.get(last));
            has_ends |= match last {
                Some(b'}' | b']' | b'"') => true,
                // Not of `in <module>`.
                Some(b'>') => {
                    let start = to.saturating_sub(self.line_length);
                    self.text
                        .get(start..to)
                        .is_some_and(|line| line.trim_ascii_start().starts_with(b"<"))
                }
                _ => false,
            };
            if line_end.is_some() {
                self.text.copy_within(from..=from, to);
                (from, to) = (from + 1, to + 1);
                (self.line_length, self.is_cut) = (0, false);
            }
        }
        self.text.truncate(to);
        // What came before may end within such words.
        let text = self.text.get(new.saturating_sub(LONGEST_WORDS)..).unwrap_or_default();
        has_ends
            || fields::may_have_pairs(text)
            || markup::has_names(text)
            || runtime_parts::may_have_parts(text)
    }

    /// The same as [`Self::search`], with no more to remember than a step has messages.
    fn search_in_steps(&mut self, limit: usize) {
        let text = std::mem::take(&mut self.text);
        let log = LogLines::of(&text);
        while self.from < limit {
            self.search(&log, limit.min(self.from.saturating_add(STEP)));
        }
        self.text = text;
    }

    /// Finds the messages whose first word is before `limit`.
    fn search(&mut self, log: &LogLines, limit: usize) {
        let text = log.text;
        if self.from == 0 {
            self.words.look(text.get(..text.len().min(HEAD)).unwrap_or_default());
        }
        // Regions go no further than this behind the last word.
        let most = limit.saturating_add(2 * BYTES_BEHIND).min(text.len());
        let words = words_from(text.get(..most).unwrap_or_default(), self.from);
        let mut words = words.peekable();
        while let Some(first) = words.next_if(|word| *word < limit) {
            let (start, mut end) = around(text, first);
            let mut close = vec![first];
            // Words close to each other have one region, so that no message is in two.
            loop {
                let before = close.len();
                close.extend(std::iter::from_fn(|| words.next_if(|word| *word < end)));
                let Some(last) = close.last().filter(|_| close.len() > before) else { break };
                if *last >= limit {
                    break;
                }
                end = end.max(around(text, *last).1);
            }
            let start = start.max(self.from.saturating_sub(FAR));
            // Of a message that began before the words may be elsewhere.
            if start < self.from {
                let before = words_from(text, start).take_while(|word| *word < self.from);
                close.splice(..0, before);
            }
            self.words.look(text.get(start..end).unwrap_or_default());
            let mut numbers = self.numbers.at(text, &self.marks, start);
            let number = |from| numbers.at(text, &self.marks, from).line;
            let region = LogRegion::of(log, (start, end), close, number);
            self.read(&region, limit);
        }
        self.settings.read_head(text, limit);
        self.from = limit.max(self.from);
    }

    /// Drops the text before which no message looks back.
    fn forget(&mut self) {
        let done = self.from.saturating_sub(FAR);
        let mut text = std::mem::take(&mut self.text);
        self.numbers.forget(&text, &mut self.marks, done);
        self.entries.done = self.entries.done.saturating_sub(done);
        text.drain(..done);
        self.settings.forget(done);
        self.text = text;
        self.from -= done;
    }

    /// Reads the messages of a region whose first word is before `limit`, and was not read before.
    fn read(&mut self, region: &LogRegion, limit: usize) {
        let first = self.findings.len();
        let is_new = |word: usize| (self.from..limit).contains(&word);
        let mut known = BTreeSet::new();
        let mut words = BTreeSet::new();
        let writers = region.writers();
        for near in &writers {
            // A message of one writer may go on in lines that do not say whose they are.
            let is_new = |word| is_new(word) && !words.contains(&word);
            let room = limits::FINDINGS.saturating_sub(self.findings.len());
            let again = &mut self.read_again;
            let reading = WriterReading::best(region, near, is_new, room, again);
            known.extend(reading.lines);
            words.extend(reading.words);
            make_room(&mut self.findings, reading.findings.len());
            self.findings.extend(reading.findings);
            self.further += reading.further;
            self.less_read += reading.less_read;
        }
        // What stands on a line of a known message belongs to it.
        let mut others: Vec<usize> = writers.into_iter().flatten().collect();
        others.retain(|line| !known.contains(line));
        let known: Vec<usize> = known.into_iter().collect();
        for line in others {
            if let Some(mut finding) = region.bare(line, is_new).and_then(unknown::read) {
                finding.line = region.number(line);
                finding.origin = origin::of(region, line);
                self.findings.push(finding);
            }
        }
        if let Some(found) = self.findings.get_mut(first..) {
            found.sort_by_key(|finding| finding.line);
            let lines: Vec<u64> = found.iter().map(|finding| finding.line).collect();
            for finding in found {
                figures::take_nearby(finding, region, &known, &lines);
            }
        }
        for index in first..self.findings.len() {
            let (before, rest) = self.findings.split_at_mut(index);
            let Some(finding) = rest.first_mut() else { break };
            finding.telling = Telling::of(region, &known, finding, before.last());
            let place = region.line_of(finding.line).map_or(0, |line| region.place(line));
            let is_failure =
                !matches!(finding.kind, Kind::GpuMemoryTight | Kind::DeprecatedSetting);
            finding.run = self.settings.before(region.log.text, place, is_failure);
        }
        let beyond = self.findings.len().saturating_sub(limits::FINDINGS);
        self.findings.truncate(limits::FINDINGS);
        self.further += beyond as u64;
    }
}

/// Makes room for more findings. A list that doubles would be there twice, and half of it empty: one that grew long gets
/// all the room that there may be.
fn make_room(findings: &mut Vec<Finding>, more: usize) {
    let count = findings.len().saturating_add(more);
    if count > findings.capacity() && count > limits::FINDINGS / 4 {
        findings.reserve_exact(count.max(limits::FINDINGS) - findings.len());
    }
}

/// The words of messages in a text from a place on.
fn words_from(text: &[u8], from: usize) -> impl Iterator<Item = usize> {
    let words = TRIGGER.find_iter(text.get(from..).unwrap_or_default());
    words.map(move |word| from + word.start())
}
