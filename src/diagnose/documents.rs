//! Lines of a log that are entries of JSON, each by itself or all of them a document of many lines, rows of tables, elements of
//! markup, and exports of journald: their texts take their place.

use memchr::memmem;

use super::entries::{LABELS_END, is_document, lines_of, unfolded};
use super::export::ExportEntry;
use super::line_numbers::{LineMark, LineNumbers};
use super::newest_first::{MovedLines, NewestFirst, WrittenEntry, apart};
use super::runtime_parts::RuntimeParts;
use super::tables::{self, Columns};
use super::{fields, markup, streams};

/// Bytes of an entry that takes several lines.
pub const MOST_OF_ENTRY: usize = 8 << 20;
/// Bytes that say what a log is.
const HEAD: usize = 256;

/// Takes the entries of a text apart, as it comes.
#[derive(Debug, Default)]
pub struct LogEntries {
    /// How far the text is done: whole lines.
    pub done: usize,
    kind: Option<LogKind>,
    /// Whether what is not done may have entries.
    may_have_entries: bool,
    /// The lines so far of an entry that takes several, and the line of the log that it begins in.
    held: Vec<u8>,
    held_line: u64,
    nesting: DocumentNesting,
    columns: Option<Columns>,
    export: ExportEntry,
    parts: RuntimeParts,
    order: NewestFirst,
}

/// What the first line says that the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogKind {
    /// Lines, some of which may be entries.
    Lines,
    /// Entries of JSON, which may take several lines.
    Document,
    /// `journalctl -o export`.
    Export,
    /// Comma-separated values with the names of their columns.
    Table,
}

/// How deep a place of JSON is.
#[derive(Debug, Default)]
struct DocumentNesting {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl DocumentNesting {
    /// Reads on.
    fn read(&mut self, text: &[u8]) {
        for byte in text {
            match (self.is_in_string, *byte) {
                (true, _) if self.is_escaped => self.is_escaped = false,
                (true, b'\\') => self.is_escaped = true,
                (_, b'"') => self.is_in_string = !self.is_in_string,
                (false, b'{' | b'[') => self.depth = self.depth.saturating_add(1),
                (false, b'}' | b']') => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}

/// What becomes of lines.
pub struct UnfoldedLines<'a> {
    text: Vec<u8>,
    marks: &'a mut Vec<LineMark>,
    /// Where the text begins in that of the log.
    from: usize,
    order: NewestFirst,
}

impl UnfoldedLines<'_> {
    /// From here on the text is of this line.
    pub fn mark(&mut self, line: u64, is_one: bool) {
        if self.order.is_empty() {
            self.marks.push(LineMark { place: self.from + self.text.len(), line, is_one });
        } else {
            self.order.next_line = Some((line, is_one));
        }
    }

    /// Adds lines unchanged, after the buffered entries.
    fn add_text(&mut self, lines: &[u8]) {
        self.write_held();
        self.text.extend_from_slice(lines);
    }

    /// Adds the text of one or several entries, all on one line of the log.
    fn add(&mut self, lines: Vec<u8>, line: u64, next: u64) {
        let one = |lines| WrittenEntry { lines, line, next, has_rows: false };
        let Some(several) = apart(&lines) else { return self.add_entry(one(lines)) };
        for lines in several {
            self.add_entry(one(lines.to_vec()));
        }
    }

    /// Adds the text of an entry that has a line for each line of the log.
    pub fn add_rows(&mut self, lines: Vec<u8>, line: u64, next: u64) {
        self.add_entry(WrittenEntry { lines, line, next, has_rows: true });
    }

    fn add_entry(&mut self, entry: WrittenEntry) {
        if self.order.step_to(&entry) {
            self.write_held();
        }
        self.order.next_line = Some((entry.next, false));
        self.order.hold(entry);
    }

    /// Writes the buffered entries.
    fn write_held(&mut self) {
        let next_line = self.order.next_line.take();
        let held = self.order.take();
        for WrittenEntry { lines, line, next, has_rows } in held {
            if has_rows {
                let last = next.saturating_sub(1).max(line);
                for (index, one) in streams::lines(&lines).enumerate() {
                    self.mark(line.saturating_add(index as u64).min(last), true);
                    self.text.extend_from_slice(one);
                }
            } else {
                self.mark(line, true);
                self.text.extend_from_slice(&lines);
            }
        }
        if let Some((line, is_one)) = next_line {
            self.mark(line, is_one);
        }
    }
}

impl LogEntries {
    /// The lines of moved entries; call it when the log is complete.
    pub fn moved_lines(self) -> MovedLines {
        self.order.into_moved()
    }

    /// Replaces entries in what the text has behind what is done by their texts.
    pub fn unfold(
        &mut self,
        text: &mut Vec<u8>,
        marks: &mut Vec<LineMark>,
        mut numbers: LineNumbers,
        may_have_entries: bool,
        is_last: bool,
    ) {
        self.may_have_entries |= may_have_entries;
        let new = text.get(self.done..).unwrap_or_default();
        // The end of a line of Windows has two bytes.
        let ended = if is_last { new } else { new.strip_suffix(b"\r").unwrap_or(new) };
        let last = memchr::memrchr2(b'\n', b'\r', ended).map_or(0, |end| end + 1);
        let whole = if is_last { new.len() } else { last };
        // At the end of the log, buffered entries must still be written.
        if !is_last && (whole == 0 || (self.kind.is_none() && new.len() < HEAD)) {
            return;
        }
        let head = new.get(..new.len().min(HEAD)).unwrap_or_default();
        if self.kind.is_none() {
            self.columns = streams::lines(new).next().and_then(Columns::of);
            let is_table = self.columns.is_some();
            self.kind = Some(if is_table { LogKind::Table } else { LogKind::of(head) });
        }
        let kind = self.kind.unwrap_or(LogKind::Lines);
        let may_have_entries = std::mem::take(&mut self.may_have_entries);
        if kind == LogKind::Lines
            && !may_have_entries
            && self.parts.is_empty()
            && self.order.is_empty()
        {
            self.done += whole;
            return;
        }
        // The lines of buffered entries are counted, although their text is still to come.
        let next_line = self.order.next_line.map(|(line, _)| line);
        let mut line = next_line.unwrap_or_else(|| numbers.at(text, marks, self.done).line);
        let rest = text.split_off(self.done + whole);
        self.may_have_entries = may_have_entries && !rest.is_empty();
        let whole_lines = text.split_off(self.done);
        let mut unfolded = UnfoldedLines {
            text: Vec::with_capacity(whole_lines.len()),
            marks,
            from: self.done,
            order: std::mem::take(&mut self.order),
        };
        for one in streams::lines(&whole_lines) {
            let next = line + u64::from(one.ends_with(b"\n"));
            self.part(one, line, next, &mut unfolded);
            line = next;
        }
        // The lines of an unfinished entry are not in the text, but count.
        unfolded.mark(line, false);
        if is_last {
            let mut parts = std::mem::take(&mut self.parts);
            parts.end(|whole, number| self.whole(whole, number, line, &mut unfolded));
            self.export.end(line, &mut unfolded);
            self.give_up(line, &mut unfolded);
            unfolded.write_held();
        }
        text.append(&mut unfolded.text);
        self.order = unfolded.order;
        self.done = text.len();
        text.extend_from_slice(&rest);
    }

    /// Takes a line that may be a part of one.
    fn part(&mut self, line: &[u8], number: u64, next: u64, unfolded: &mut UnfoldedLines) {
        let may_be_part = matches!(self.kind, Some(LogKind::Lines | LogKind::Document));
        if !may_be_part || !self.held.is_empty() {
            return self.line(line, number, next, unfolded);
        }
        let mut parts = std::mem::take(&mut self.parts);
        let is_taken = parts.take(line, number, |whole, first| {
            if std::ptr::eq(whole, line) {
                self.line(whole, number, next, unfolded);
            } else {
                // The current line is added after it.
                self.whole(whole, first, number, unfolded);
            }
        });
        if is_taken {
            unfolded.mark(next, false);
        }
        self.parts = parts;
    }

    /// Takes a line that was put together of parts.
    fn whole(&mut self, line: &[u8], number: u64, next: u64, unfolded: &mut UnfoldedLines) {
        unfolded.mark(number, true);
        self.line(line, number, next, unfolded);
        unfolded.mark(next, false);
    }

    fn line(&mut self, line: &[u8], number: u64, next: u64, unfolded_lines: &mut UnfoldedLines) {
        match self.kind {
            Some(LogKind::Export) => return self.export.add(line, number, unfolded_lines),
            Some(LogKind::Table) => return self.row(line, number, next, unfolded_lines),
            _ => {}
        }
        if self.held.is_empty() {
            let lines = unfolded(line).or_else(|| fields::unfolded(line));
            if let Some(lines) = lines.or_else(|| markup::unfolded(line)) {
                return unfolded_lines.add(lines, number, next);
            }
            let first = line.trim_ascii_start().first();
            if self.kind == Some(LogKind::Document) {
                match first {
                    Some(b'{') => {
                        self.nesting = DocumentNesting::default();
                        self.held_line = number;
                    }
                    // Between entries.
                    Some(b'[' | b']' | b',') if line.trim_ascii().len() <= 2 => {
                        return unfolded_lines.mark(next, false);
                    }
                    _ => return unfolded_lines.add_text(line),
                }
            } else {
                return unfolded_lines.add_text(line);
            }
        }
        self.nesting.read(line);
        self.held.extend_from_slice(line);
        if self.nesting.depth == 0 {
            let entry = self.held.trim_ascii_end();
            let entry = entry.strip_suffix(b",").unwrap_or(entry);
            match lines_of(b"", entry) {
                Some(lines) => {
                    let line = self.line_of_text(&lines);
                    unfolded_lines.add(lines, line, next);
                }
                None => return self.give_up(next, unfolded_lines),
            }
            self.held.clear();
        } else if self.held.len() > MOST_OF_ENTRY {
            self.kind = Some(LogKind::Lines);
            self.give_up(next, unfolded_lines);
        }
    }

    /// The line of the log on which the text of what is held stands.
    fn line_of_text(&self, lines: &[u8]) -> u64 {
        let text = lines.iter().position(|byte| *byte == LABELS_END).map_or(0, |end| end + 1);
        let text = lines.get(text..).unwrap_or_default();
        // As JSON writes it, as far as it has nothing that JSON writes in other ways.
        let is_plain =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'.' | b':' | b'_');
        let plain = text.iter().take(80).take_while(|byte| is_plain(byte)).count();
        let words = [b"\"", text.get(..plain).unwrap_or_default()].concat();
        let place = memmem::find(&self.held, &words).unwrap_or(0);
        let before = self.held.get(..place).unwrap_or_default();
        self.held_line + memchr::memchr_iter(b'\n', before).count() as u64
    }

    /// What is held is no entry: its lines stay as they are.
    fn give_up(&mut self, next: u64, unfolded_lines: &mut UnfoldedLines) {
        if !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            unfolded_lines.write_held();
            unfolded_lines.mark(self.held_line, false);
            unfolded_lines.add_text(&held);
            unfolded_lines.mark(next, false);
        }
    }

    /// A line of a table, which may be a part of a row.
    fn row(&mut self, line: &[u8], number: u64, next: u64, unfolded_lines: &mut UnfoldedLines) {
        let is_open = !self.held.is_empty();
        if !is_open {
            self.held_line = number;
        }
        self.held.extend_from_slice(line);
        if self.held.len() > MOST_OF_ENTRY {
            self.kind = Some(LogKind::Lines);
            return self.give_up(next, unfolded_lines);
        }
        // What is held has an open quotation: a line that closes it ends the row.
        if tables::is_whole(line) != is_open {
            match self.columns.as_ref().and_then(|columns| columns.lines_of(&self.held)) {
                Some(lines) => unfolded_lines.add_rows(lines, self.held_line, next),
                None => return self.give_up(next, unfolded_lines),
            }
            self.held.clear();
        }
    }
}

impl LogKind {
    fn of(text: &[u8]) -> Self {
        if text.starts_with(b"__CURSOR=") {
            return Self::Export;
        }
        if is_document(text) { Self::Document } else { Self::Lines }
    }
}
