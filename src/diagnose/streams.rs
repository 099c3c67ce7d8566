//! Some lines of a log, taken apart by who wrote them.
//!
//! A message that is wrapped, and a listing, go on in the next lines of the same writer. What stands before the text of
//! these lines is learned from them: the parts ([`lead`]) of a line, as many as the lines behind it share, are no text. Where
//! the lines allow several ways to read them, each is a [`Stream`], and the one that says most is taken.

use std::collections::HashMap;
use std::ops::ControlFlow;

use memchr::{memchr_iter, memchr2_iter, memrchr_iter};

use super::cut_lines::{columns_of_cut, joint, without_end};
use super::lead::{LeadKind, LeadPart, certain_start, lead, of_message, text_start};
use super::log_lines::{Candidates, LogLines};
use super::pods::{is_certain_pod, shared_pod_and_container};

/// Lines before and behind a word that gives a message away in which lines of the message may lie.
const LINES_BEFORE: usize = 24;
const LINES_BEHIND: usize = 96;
/// The same in bytes, for lines that do not end.
const BYTES_BEFORE: usize = 4096;
pub const BYTES_BEHIND: usize = 12 << 10;
/// Lines of one writer before and behind such a word in which the message lies.
const OWN_BEFORE: usize = 4;
const OWN_BEHIND: usize = 16;
/// Bytes of a writer's lines that are read of what is around a message.
const MOST_AROUND: usize = 1 << 16;
/// Ways to read the lines of a writer that are tried.
const MOST_WAYS: usize = 6;

/// The range of `text` in which the lines of a message lie that a word at `at` gives away.
pub fn around(text: &[u8], at: usize) -> (usize, usize) {
    let least = at.saturating_sub(BYTES_BEFORE);
    let before = text.get(least..at).unwrap_or_default();
    let start = memrchr_iter(b'\n', before).nth(LINES_BEFORE).map_or(least, |end| least + end + 1);
    let most = text.len().min(at.saturating_add(BYTES_BEHIND));
    let behind = text.get(at..most).unwrap_or_default();
    let end = memchr_iter(b'\n', behind).nth(LINES_BEHIND).map_or(most, |end| at + end + 1);
    (start, end)
}

/// Lines of the input that lie together.
pub struct LogRegion<'a> {
    /// The text that is searched.
    pub log: &'a LogLines<'a>,
    lines: Vec<Line>,
    parts: Vec<LeadPart>,
    /// The words that give messages away, in order.
    words: Vec<usize>,
}

struct Line {
    from: usize,
    to: usize,
    /// From 1.
    number: u64,
    /// Its parts, and whether it has a word that gives a message away.
    parts: (usize, usize),
    has_word: bool,
}

/// A way to read the lines of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream<'a> {
    /// How many parts are no text, and their key.
    depth: usize,
    key: u64,
    /// Words behind these parts that each line has and that are no text either.
    words: &'a [u8],
    /// Whether lines that begin with a time, a level or a name of their own are others.
    is_plain: bool,
    /// Whether lines before which nothing stands are of it as well.
    has_bare: bool,
    /// Whether it has all lines, each without what stands before its own text.
    is_each: bool,
    /// The columns at which a terminal cut its lines; 0 where none did.
    cut_at: usize,
}

/// The text of a stream in a region.
pub struct StreamText<'a> {
    pub stream: Stream<'a>,
    /// The lines without what is no text, each with its line end.
    pub text: Vec<u8>,
    /// Where each of them begins, in ascending order: in the text, in the input, and which line of the region it is.
    lines: Vec<(usize, usize, usize)>,
}

impl Stream<'_> {
    /// Where the text of a line begins, if it is one of the stream.
    pub fn text_of(&self, line: &[u8], parts: &[LeadPart]) -> Option<usize> {
        if self.is_each {
            return Some(certain_start(parts));
        }
        let start = match self.depth.checked_sub(1) {
            None => 0,
            // A progress bar is nobody's.
            Some(_) if self.has_bare && parts.is_empty() && !line.ends_with(b"\r") => 0,
            Some(last) => parts.get(last).filter(|part| part.key == self.key)?.next,
        };
        if !self.words.is_empty() {
            let text = line.get(start..)?;
            let is_empty = || text.trim_ascii() == self.words.trim_ascii();
            return if text.starts_with(self.words) {
                Some(start + self.words.len())
            } else {
                is_empty().then_some(start + text.trim_ascii_end().len())
            };
        }
        let is_other = self.is_plain && parts.get(self.depth).is_some_and(LeadPart::is_of_writer);
        (!is_other).then_some(start)
    }

    /// The lines of the stream in a range of a log that begins within such a line.
    pub fn behind(&self, log: &LogLines, (start, end): (usize, usize)) -> Vec<u8> {
        let rest = log.text.get(start..end).unwrap_or_default();
        let mut text = lines(rest).next().unwrap_or_default().to_vec();
        let next = start.saturating_add(text.len());
        log.each(self, (next, end), |line, parts, from| {
            if text.len() > MOST_AROUND {
                return ControlFlow::Break(());
            }
            self.add_text(line, from, parts, &mut text);
            ControlFlow::Continue(())
        });
        text
    }

    /// The lines of the stream at the end of a range of a log.
    pub fn before(&self, log: &LogLines, (start, end): (usize, usize)) -> Vec<u8> {
        let mut text = Vec::new();
        log.each(self, (start.max(end.saturating_sub(MOST_AROUND)), end), |line, parts, from| {
            self.add_text(line, from, parts, &mut text);
            ControlFlow::Continue(())
        });
        text
    }

    /// The lines that may be of the stream.
    pub fn candidates(&self) -> Candidates {
        match () {
            () if self.is_each => Candidates::All,
            () if self.depth > 0 && self.has_bare => Candidates::OfKeyOrUnnamed(self.key),
            () if self.depth > 0 => Candidates::OfKey(self.key),
            () if self.is_plain && self.words.is_empty() => Candidates::Unnamed,
            () => Candidates::All,
        }
    }

    /// Adds a line from where its text begins.
    fn add_text(&self, line: &[u8], start: usize, parts: &[LeadPart], text: &mut Vec<u8>) {
        let own = line.get(start..).unwrap_or_default();
        if let Some(joint) = joint(line, self.cut_at) {
            text.extend_from_slice(without_end(own));
            text.extend_from_slice(joint);
        } else {
            text.extend_from_slice(without_place(own, parts));
            end_line(text);
        }
    }
}

/// Lines with their ends. A progress bar goes back to the start of its line, and what follows is written over it.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = memchr2_iter(b'\n', b'\r', rest).find(|end| {
            rest.get(*end) == Some(&b'\n') || rest.get(end + 1).is_some_and(|next| *next != b'\n')
        });
        let (line, behind) = rest.split_at_checked(end.map_or(rest.len(), |end| end + 1))?;
        rest = behind;
        (!line.is_empty()).then_some(line)
    })
}

fn end_line(text: &mut Vec<u8>) {
    match text.last_mut() {
        Some(last @ b'\r') => *last = b'\n',
        Some(b' ') => text.push(b'\n'),
        _ => {}
    }
}

/// A line of a logger without the place in the source that some write at its right end.
fn without_place<'a>(text: &'a [u8], parts: &[LeadPart]) -> &'a [u8] {
    let line = text.trim_ascii_end();
    if parts.is_empty() || !line.last().is_some_and(u8::is_ascii_digit) {
        return text;
    }
    let place = line.iter().rposition(|byte| *byte == b' ').map_or(0, |blank| blank + 1);
    let before = line.get(..place).unwrap_or_default();
    let is_place =
        line.get(place..).is_some_and(|place| memchr::memmem::find(place, b".py:").is_some());
    if is_place && before.ends_with(b"  ") { before } else { text }
}

impl<'a> LogRegion<'a> {
    /// The lines of the input in a range, each with its number; `words` are those that give messages away in it.
    pub fn of(
        log: &'a LogLines<'a>,
        (start, end): (usize, usize),
        words: Vec<usize>,
        mut number: impl FnMut(usize) -> u64,
    ) -> Self {
        let mut region = Self { log, lines: Vec::new(), parts: Vec::new(), words };
        let bytes = log.text.get(start..end).unwrap_or_default();
        let (mut from, mut word) = (start, 0);
        for line in lines(bytes) {
            let to = from + line.len();
            // The range may begin within a line.
            let is_whole = from == 0 || matches!(log.text.get(from - 1), Some(b'\n' | b'\r'));
            let first = region.parts.len();
            if is_whole {
                lead(line, &mut region.parts);
            }
            let parts = (first, region.parts.len());
            let has_word = region.words.get(word).is_some_and(|word| *word < to);
            while region.words.get(word).is_some_and(|word| *word < to) {
                word += 1;
            }
            region.lines.push(Line { from, to, number: number(from), parts, has_word });
            from = to;
        }
        region
    }

    fn parts(&self, line: usize) -> &[LeadPart] {
        let range = self.lines.get(line).map_or((0, 0), |line| line.parts);
        self.parts.get(range.0..range.1).unwrap_or_default()
    }

    /// The lines with words that give messages away, those of one writer together.
    pub fn writers(&self) -> Vec<Vec<usize>> {
        let mut of_key: HashMap<(u64, Option<&[u8]>), usize> = HashMap::new();
        let mut writers: Vec<Vec<usize>> = Vec::new();
        for (index, _) in self.lines.iter().enumerate().filter(|(_, line)| line.has_word) {
            let own = self.stream(index, self.parts(index).len());
            let key = (own.key, self.shared_words(index, own));
            let writer = *of_key.entry(key).or_insert_with(|| {
                writers.push(Vec::new());
                writers.len() - 1
            });
            if let Some(lines) = writers.get_mut(writer) {
                lines.push(index);
            }
        }
        writers
    }

    /// The ways to read the lines of the writer of a line, the likeliest first.
    pub fn ways(&self, line: usize) -> Vec<Stream<'a>> {
        let own = self.parts(line);
        let stream = |depth, is_plain| Stream { is_plain, ..self.stream(line, depth) };
        let mut ways: Vec<Stream> = Vec::new();
        let mut add = |depth| {
            let is_whole = depth == own.len() && depth > 0;
            let plain = (!is_whole).then(|| stream(depth, true));
            for way in [plain, Some(stream(depth, false))].into_iter().flatten() {
                if ways.len() < MOST_WAYS && !ways.contains(&way) {
                    ways.push(way);
                }
            }
        };
        let behind = self.lines.len().min(line.saturating_add(LINES_BEHIND));
        // Lines before it tell less: the message may begin in it.
        let before = line.saturating_sub(4)..line;
        for other in (line + 1..behind).chain(before) {
            let parts = self.parts(other);
            let shared =
                own.iter().zip(parts).take_while(|(one, other)| one.key == other.key).count();
            // A line that begins with a name of its own is of another writer.
            if shared == own.len() || !parts.get(shared).is_some_and(LeadPart::is_of_writer) {
                add(shared);
            }
        }
        add(own.len());
        let near = line + 1..self.lines.len().min(line + OWN_BEHIND);
        if !own.is_empty() && near.into_iter().any(|other| self.parts(other).is_empty()) {
            ways.push(Stream { has_bare: true, ..stream(own.len(), false) });
        }
        // An exception that is printed, and a listing that a logger writes; a writer that writes no other line.
        let is_alone = || {
            let last = own.last().map(|part| part.key);
            !(0..self.lines.len()).any(|other| {
                other != line && self.parts(other).iter().any(|part| Some(part.key) == last)
            })
        };
        if is_alone() {
            ways.extend([Stream { is_each: true, ..stream(0, false) }, stream(0, false)]);
        }
        for depth in [own.len(), 0] {
            let words = self.shared_words(line, stream(depth, false));
            ways.extend(words.map(|words| Stream { words, ..stream(depth, false) }));
        }
        let cut_at = self.cut_at(line);
        if cut_at > 0 {
            ways.push(Stream { cut_at, has_bare: true, ..stream(own.len(), false) });
        }
        // What has the form of a name may be of the message.
        if own.last().is_some_and(|part| part.kind == LeadKind::Name) {
            ways.extend([stream(own.len() - 1, false), stream(0, false)]);
        }
        ways
    }

    /// The columns at which a terminal cut a line, those before it or those behind it; 0 where it did not.
    fn cut_at(&self, line: usize) -> usize {
        let before = line
            .checked_sub(1)
            .map_or(0, |before| columns_of_cut(self.bytes(before), self.bytes(line)));
        before.max(columns_of_cut(self.bytes(line), self.bytes(line + 1)))
    }

    /// The lines that begin with so many parts of a line.
    fn stream(&self, line: usize, depth: usize) -> Stream<'a> {
        let last = depth.checked_sub(1).and_then(|last| self.parts(line).get(last));
        let key = last.map_or(0, |part| part.key);
        Stream {
            depth,
            key,
            words: &[],
            is_plain: false,
            has_bare: false,
            is_each: false,
            cut_at: 0,
        }
    }

    /// The words with which the text of a line begins and those behind it do, where the first has the form of a name:
    /// pod and container, as some tools put them there; or is the `E` of pytest.
    fn shared_words(&self, line: usize, stream: Stream) -> Option<&'a [u8]> {
        let text = |line: usize| {
            let start = stream.text_of(self.bytes(line), self.parts(line))?;
            self.bytes(line).get(start..)
        };
        let own = text(line)?;
        let first = own.iter().position(u8::is_ascii_whitespace)?;
        let word = own.get(..first)?;
        let has = |is: fn(&u8) -> bool| word.iter().any(is);
        let is_name = has(u8::is_ascii_alphabetic)
            && has(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'_' | b'/'));
        // pytest puts it before each line of an exception.
        let is_of_pytest = word == b"E" && own.get(first + 1) == Some(&b' ');
        if first > 100 || of_message(word) {
            return None;
        }
        let near = line.saturating_sub(LINES_BEFORE)..self.lines.len().min(line + LINES_BEHIND);
        let others: Vec<&[u8]> = near
            .filter(|other| *other != line)
            .filter_map(text)
            .filter(|other| other.starts_with(own.get(..=first).unwrap_or_default()))
            .take(2 * OWN_BEHIND)
            .collect();
        let mut length = own.len().min(200);
        for other in &others {
            let other = other.trim_ascii_end();
            let same =
                own.iter().zip(other).take(length).take_while(|(one, other)| one == other).count();
            // The other may have no text.
            let is_end = same == other.len() && own.get(same) == Some(&b' ');
            length = length.min(same + usize::from(is_end));
        }
        let blank = own.get(..length)?.iter().rposition(|byte| matches!(byte, b' ' | b'\t'))?;
        let words = own.get(..=blank)?;
        // `Flow run 'a b' - `
        let is_separated = [&b" - "[..], b": ", b" | "].iter().any(|end| words.ends_with(end));
        let is_lead = is_name || is_of_pytest || is_separated;
        let is_pod = !others.is_empty() && is_certain_pod(words);
        let is_learned = others.len() + usize::from(is_of_pytest) >= 2 && is_lead;
        (is_pod || is_learned).then_some(words)
    }

    /// A line with all that stands before its text.
    pub fn bytes(&self, line: usize) -> &'a [u8] {
        let range = self.lines.get(line).map_or((0, 0), |line| (line.from, line.to));
        self.log.text.get(range.0..range.1).unwrap_or_default()
    }

    /// The text of a stream near some lines of a writer, in ascending order.
    pub fn text_of(&self, stream: Stream<'a>, near: &[usize]) -> StreamText<'a> {
        let mut found = StreamText { stream, text: Vec::new(), lines: Vec::new() };
        let is_own = |line: &usize| stream.text_of(self.bytes(*line), self.parts(*line)).is_some();
        let mut next = 0;
        for line in near {
            let before = (line.saturating_sub(LINES_BEFORE)..*line).rev().filter(is_own);
            let start = before.take(OWN_BEFORE).last().unwrap_or(*line).max(next);
            let most = self.lines.len().min(line.saturating_add(LINES_BEHIND));
            let mut behind = (line + 1..most).filter(is_own);
            let end = behind.nth(OWN_BEHIND - 1).unwrap_or(most.saturating_sub(1)) + 1;
            if start > next && next > 0 {
                // What lies between is not read.
                found.text.extend_from_slice(b"\0\n");
            }
            // What begins with a name of its own may still be where the message begins.
            for own in (start..end).filter(|own| own == line || is_own(own)) {
                self.add(own, stream, &mut found);
            }
            next = next.max(end);
        }
        found
    }

    fn add(&self, index: usize, stream: Stream, found: &mut StreamText) {
        let Some(line) = self.lines.get(index) else { return };
        let depth = stream.depth.checked_sub(1);
        let of_parts =
            || depth.and_then(|last| self.parts(index).get(last)).map_or(0, |part| part.next);
        let start = stream.text_of(self.bytes(index), self.parts(index)).unwrap_or_else(of_parts);
        let from = (line.from + start).min(line.to);
        found.lines.push((found.text.len(), from, index));
        stream.add_text(self.bytes(index), start, self.parts(index), &mut found.text);
    }

    /// The pod and the container of a line, where some tool wrote them before each line.
    pub fn pod(&self, line: usize) -> Option<(&'a [u8], &'a [u8])> {
        let words = self.shared_words(line, self.stream(line, 0))?;
        shared_pod_and_container(words)
    }

    /// The number of a line, from 1.
    pub fn number(&self, line: usize) -> u64 {
        self.lines.get(line).map_or(0, |line| line.number)
    }

    /// The line of a number. Where a progress bar goes back to its start, several have it: then the first that has a word
    /// of messages.
    pub fn line_of(&self, number: u64) -> Option<usize> {
        let first = self.lines.partition_point(|line| line.number < number);
        let lines = (first..).zip(self.lines.get(first..).unwrap_or_default());
        let mut lines = lines.take_while(|(_, line)| line.number == number);
        let with_word = lines.clone().find(|(_, line)| line.has_word);
        with_word.or_else(|| lines.next()).map(|(line, _)| line)
    }

    /// Where a line begins in the input.
    pub fn place(&self, line: usize) -> usize {
        self.lines.get(line).map_or(0, |line| line.from)
    }

    /// A line without what a message cannot begin with, but with the blanks before its text.
    pub fn plain(&self, line: usize) -> &'a [u8] {
        let bytes = self.bytes(line);
        let last = self.parts(line).iter().rev().find(|part| part.is_of_writer());
        let Some(last) = last else { return bytes };
        let text = bytes.get(last.end..).unwrap_or_default();
        let text = text.strip_prefix(b":").unwrap_or(text);
        text.strip_prefix(b" ").unwrap_or(text)
    }

    /// The parts of a line with their texts.
    pub fn names(&self, line: usize) -> impl Iterator<Item = (LeadPart, &'a [u8])> {
        let bytes = self.bytes(line);
        let text = |part: &LeadPart| bytes.get(part.start..part.end).unwrap_or_default();
        self.parts(line).to_vec().into_iter().map(move |part| (part, text(&part)))
    }

    /// What may stand before the text of a line, and the text, where its first word is to be read.
    pub fn bare(
        &self,
        line: usize,
        is_new: impl Fn(usize) -> bool,
    ) -> Option<(&'a [u8], &'a [u8])> {
        let of = self.lines.get(line)?;
        let first = self.words.get(self.words.partition_point(|word| *word < of.from));
        let start = (of.from + text_start(self.parts(line))).min(of.to);
        let before = self.log.text.get(of.from..start).unwrap_or_default();
        let text = self.log.text.get(start..of.to).unwrap_or_default();
        first.is_some_and(|word| is_new(*word)).then_some((before, text))
    }

    /// Whether a range of a stream's text goes on in lines that begin with a time, a level or more of another writer.
    pub fn is_doubtful(&self, of: &StreamText, start: usize, end: usize) -> bool {
        if of.stream.is_each || !of.stream.words.is_empty() {
            return false;
        }
        of.lines_in(start, end).skip(1).any(|(_, _, line)| {
            let others = self.parts(line).get(of.stream.depth..).unwrap_or_default();
            let is_certain =
                |part: &LeadPart| matches!(part.kind, LeadKind::Time | LeadKind::Level);
            others.len() > 1 || others.first().is_some_and(is_certain)
        })
    }

    /// How many names, times and levels of writers are left in a range of a stream's text, whole or in part.
    pub fn names_within(&self, of: &StreamText, start: usize, end: usize) -> usize {
        let mut names = 0_usize;
        let mut lines = of.lines_in(start, end);
        let own = lines.next().map_or(&[][..], |(_, _, first)| self.parts(first));
        for (from, _, index) in lines {
            let line = self.lines.get(index).map_or(0, |line| line.from);
            let parts = self.parts(index);
            let is_left = |part: &&LeadPart| {
                let is_name = part.is_of_writer() || own.iter().any(|own| own.key == part.key);
                is_name && line + part.end > from
            };
            names += parts.iter().filter(is_left).count();
        }
        names
    }

    /// The words that give a message away in a range of a stream's text.
    pub fn words_in(&self, of: &StreamText, (start, end): (usize, usize)) -> Vec<usize> {
        let lines = of.lines_in(start, end);
        let words = lines.flat_map(|(from, to, _)| {
            let first = self.words.partition_point(|word| *word < from);
            let words = self.words.get(first..).unwrap_or_default();
            words.iter().copied().take_while(move |word| *word < to)
        });
        words.collect()
    }

    /// The first word that gives a message away in a range of a stream's text, and its line.
    pub fn word_in(&self, of: &StreamText, (start, end): (usize, usize)) -> Option<(usize, usize)> {
        let mut lines = of.lines_in(start, end);
        lines.find_map(|(from, to, line)| {
            let first = self.words.partition_point(|word| *word < from);
            self.words.get(first).filter(|word| **word < to).map(|word| (*word, line))
        })
    }
}

impl StreamText<'_> {
    /// The line of the region in which a place of the text is.
    pub fn line(&self, at: usize) -> usize {
        self.lines.get(self.index(at)).map_or(0, |(_, _, line)| *line)
    }

    fn index(&self, at: usize) -> usize {
        self.lines.partition_point(|(start, ..)| *start <= at).saturating_sub(1)
    }

    /// Where a place of the text is in the input.
    pub fn place(&self, at: usize) -> usize {
        self.lines.get(self.index(at)).map_or(0, |(start, from, _)| from + at - start)
    }

    /// Where in the input a range of the text ends.
    pub fn end_place(&self, start: usize, end: usize) -> usize {
        self.lines_in(start, end).last().map_or(0, |(_, to, _)| to)
    }

    /// The ranges of the input that make up a range of the text, with their lines.
    pub fn lines_in(
        &self,
        start: usize,
        end: usize,
    ) -> impl Iterator<Item = (usize, usize, usize)> {
        let (first, last) = (self.index(start), self.index(end.saturating_sub(1).max(start)));
        (first..=last).filter_map(move |index| {
            let (at, from, line) = *self.lines.get(index)?;
            let next = self.lines.get(index + 1).map_or(self.text.len(), |(next, ..)| *next);
            let begin = start.max(at);
            Some((from + begin - at, from + end.min(next).max(begin) - at, line))
        })
    }
}
