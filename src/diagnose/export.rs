//! Exports of journald (`journalctl -o export`): a field on each line, an empty line behind each entry. A message with several
//! lines, or with colors, is written as its bytes, behind a line with the name alone and eight bytes with their count.

use super::documents::{MOST_OF_ENTRY, UnfoldedLines};
use super::entries::add_labelled;

/// Bytes of a count.
const COUNT: usize = 8;

/// An entry, as far as it has come.
#[derive(Debug, Default)]
pub struct ExportEntry {
    /// Who wrote it: ` _PID=7 …`
    labels: Vec<u8>,
    text: Vec<u8>,
    /// The line of the log on which its text begins; 0 where it has none.
    line: u64,
    place: ExportPlace,
}

/// Where in an entry its next line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ExportPlace {
    #[default]
    Fields,
    /// Before the end of the count of a message.
    Count,
    /// In a message of several lines.
    Text,
}

impl ExportEntry {
    /// Takes the next line of the log.
    pub fn add(&mut self, line: &[u8], number: u64, unfolded: &mut UnfoldedLines) {
        let field = line.trim_ascii_end();
        match self.place {
            // Without its zeros a count cannot be told from text; the next field ends the message.
            ExportPlace::Count if !is_field(field) => return self.add_behind_count(line, number),
            // Colors were taken out of it, so that the count says no more where it ends.
            ExportPlace::Text if !is_field(field) => return self.add_text(line),
            _ => self.place = ExportPlace::Fields,
        }
        if field.is_empty() || field.starts_with(b"__CURSOR=") {
            self.end(number.saturating_add(u64::from(field.is_empty())), unfolded);
        } else if let Some(text) = field.strip_prefix(b"MESSAGE=") {
            self.line = number;
            self.add_text(text);
        } else if field == b"MESSAGE" {
            self.place = ExportPlace::Count;
        } else if self.labels.len() < MOST_OF_ENTRY
            && let Some(time) = field.strip_prefix(b"__REALTIME_TIMESTAMP=")
        {
            self.labels.extend_from_slice(b" time=");
            self.labels.extend_from_slice(time);
        } else if self.labels.len() < MOST_OF_ENTRY
            && [&b"_HOSTNAME="[..], b"_PID=", b"SYSLOG_IDENTIFIER="]
                .iter()
                .any(|name| field.starts_with(name))
        {
            self.labels.push(b' ');
            self.labels.extend_from_slice(field.strip_prefix(b"_").unwrap_or(field));
        }
    }

    /// A count ends with zeros; a byte of it may look like the end of a line.
    fn add_behind_count(&mut self, line: &[u8], number: u64) {
        let count = line.iter().take(COUNT).rposition(|byte| *byte == 0);
        if let Some(last) = count {
            (self.place, self.line) = (ExportPlace::Text, number);
            self.add_text(line.get(last + 1..).unwrap_or_default());
        }
    }

    fn add_text(&mut self, text: &[u8]) {
        if self.text.len().saturating_add(text.len()) < MOST_OF_ENTRY {
            self.text.extend_from_slice(text);
        }
    }

    /// Nothing more comes of the entry, whose end is before a line of the log.
    pub fn end(&mut self, next: u64, unfolded: &mut UnfoldedLines) {
        let Self { labels, text, line, .. } = std::mem::take(self);
        if line == 0 {
            return unfolded.mark(next, false);
        }
        let mut lines = Vec::new();
        add_labelled(&labels, text.trim_ascii_end(), &mut lines);
        unfolded.add_rows(lines, line, next);
    }
}

/// Whether a line is a field: `_PID=7`.
fn is_field(line: &[u8]) -> bool {
    let name = line.iter().take_while(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'));
    let name = name.count();
    name > 1 && line.get(name) == Some(&b'=')
}

#[cfg(test)]
mod tests {
    use super::super::diagnose_pieces;

    #[test]
    fn a_message_of_several_lines_is_read() {
        const TEXT: &str = "Traceback (most recent call last):\n\nRuntimeError: CUDA error: \u{1b}[31mout of memory\u{1b}[0m";
        for filled in ["", "....................", &".".repeat(200)] {
            let text = format!("{filled}\n{TEXT}");
            let count = (text.len() as u64).to_le_bytes();
            let head = b"__CURSOR=a\nMESSAGE=step 1\n\n__CURSOR=b\n_HOSTNAME=n-1\nMESSAGE\n";
            let log = [&head[..], &count, text.as_bytes(), b"\n_PID=7\n\n"].concat();
            let found = diagnose_pieces(&[&log]).findings;
            let newlines = memchr::memchr_iter(b'\n', &log).count() as u64;
            assert_eq!(found.len(), 1, "{}", text.len());
            // Two lines follow.
            assert_eq!(found[0].line, newlines - 2, "{}", text.len());
            let origin = found[0].origin.as_deref();
            assert_eq!(origin.and_then(|origin| origin.host.as_deref()), Some("n-1"));
        }
    }

    #[test]
    fn a_message_without_the_zeros_of_its_count_takes_no_other_away() {
        let log = b"__CURSOR=a\nMESSAGE\nstep 1\n_PID=7\n\n__CURSOR=b\nMESSAGE=CUDA error: out of memory\n\n";
        assert_eq!(diagnose_pieces(&[&log[..]]).findings.len(), 1);
    }
}
