//! Lines of a log without what a launcher or a logger puts before each of them, so that a message that
//! was wrapped, or that has several lines, reads as it was written.

use std::sync::LazyLock;

use memchr::{memchr_iter, memrchr};
use regex::bytes::{Regex, RegexBuilder};

/// Lines before and after a word that gives a message away in which the message must lie.
const LINES_BEFORE: usize = 1;
const LINES_AFTER: usize = 8;
/// The same in bytes, for lines that do not end.
const BYTES_BEFORE: usize = 1024;
const BYTES_AFTER: usize = 8192;

/// What stands before every line: mpirun's rank, a rank of PyTorch, the time of a container's log, a
/// service of docker compose, a logger of C++, syslog's time and program, a quotation. A bare number is none: a wrapped
/// message may go on with one.
static PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    let kinds = [
        r"\[\d+,\d+\]<std(?:out|err|diag)>:",
        r"\[?rank ?\d+\]?:",
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[ \t]",
        // A logger of C++: its letter, the thread, and where it was said.
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?: [DIWEF][ \t]+(?:\d+[ \t]+)?[^\s\]]{1,200}:\d+\]",
        r"[DIWEF]\d{4} \d\d:\d\d:\d\d(?:[.,]\d+)?[ \t]+\d+[ \t]+[^\s\]]{1,200}:\d+\]",
        r"std(?:out|err) [FP] ",
        r"[\w.-]{1,64}[ \t]*\|[ \t]",
        r"[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [^\s:]{1,64}: ",
        r"> ",
    ];
    regex(&format!(r"\A(?:(?:{})[ \t]*){{1,3}}", kinds.join("|")))
});

/// A regular expression on bytes. The expressions are constants of this program.
pub fn regex(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("a constant expression")
}

/// A line without its prefixes.
pub fn bare(line: &[u8]) -> &[u8] {
    // Many lines are indented; a test of one byte is faster than the expression.
    if line.first().is_none_or(u8::is_ascii_whitespace) {
        return line;
    }
    let start = PREFIX.find(line).map_or(0, |prefix| prefix.end());
    line.get(start..).unwrap_or_default()
}

/// The range of `text` in which a message must lie that a word at `at` gives away.
pub fn around(text: &[u8], at: usize) -> (usize, usize) {
    let least = at.saturating_sub(BYTES_BEFORE);
    let mut start = at;
    for _ in 0..=LINES_BEFORE {
        let before = text.get(least..start.saturating_sub(1)).unwrap_or_default();
        start = memrchr(b'\n', before).map_or(least, |newline| least + newline + 1);
    }
    let most = text.len().min(at.saturating_add(BYTES_AFTER));
    let after = text.get(at..most).unwrap_or_default();
    let end = memchr_iter(b'\n', after).nth(LINES_AFTER).map_or(most, |newline| at + newline + 1);
    (start, end)
}

/// Some lines of the input, bare.
pub struct BareLines {
    /// The bare lines, each with its line end.
    pub text: Vec<u8>,
    /// Where each of them begins, in ascending order.
    lines: Vec<Bare>,
}

struct Bare {
    /// In the region's text.
    at: usize,
    /// In the input.
    from: usize,
    /// From 1.
    number: u64,
    is_whole: bool,
}

/// A line of a region.
pub struct BareLine<'a> {
    /// Without its prefixes, with its line end.
    pub text: &'a [u8],
    /// Where it begins in the region's text.
    pub at: usize,
    /// Where it begins in the input.
    pub from: usize,
    /// From 1.
    pub number: u64,
    /// Whether the region has it from its beginning.
    pub is_whole: bool,
}

impl BareLine<'_> {
    /// Where it ends in the region's text.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

impl BareLines {
    /// The lines of `text` in a range, the first of which has the number `number`.
    pub fn of(text: &[u8], (start, end): (usize, usize), number: u64) -> Self {
        let bytes = text.get(start..end).unwrap_or_default();
        let mut region = Self { text: Vec::with_capacity(bytes.len()), lines: Vec::new() };
        let mut from = start;
        for (line, number) in bytes.split_inclusive(|byte| *byte == b'\n').zip(number..) {
            // The range may begin within a line.
            let is_whole = from == 0 || text.get(from - 1) == Some(&b'\n');
            let bare = if is_whole { bare(line) } else { line };
            let at = region.text.len();
            region.lines.push(Bare { at, from: from + line.len() - bare.len(), number, is_whole });
            region.text.extend_from_slice(bare);
            from += line.len();
        }
        region
    }

    /// The lines, in order.
    pub fn lines(&self) -> impl Iterator<Item = BareLine<'_>> {
        let ends = self.lines.iter().skip(1).map(|next| next.at).chain([self.text.len()]);
        self.lines.iter().zip(ends).map(|(line, end)| BareLine {
            text: self.text.get(line.at..end).unwrap_or_default(),
            at: line.at,
            from: line.from,
            number: line.number,
            is_whole: line.is_whole,
        })
    }

    /// Where a place of the region's text is in the input, and its line.
    pub fn place(&self, at: usize) -> (usize, u64) {
        let line = self.lines.partition_point(|line| line.at <= at).saturating_sub(1);
        self.lines.get(line).map_or((0, 0), |line| (line.from + at - line.at, line.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_launchers_and_loggers_go() {
        for (line, expected) in [
            ("[1,0]<stderr>:  what():  Out", "what():  Out"),
            ("[rank3]: CUDA", "CUDA"),
            ("12: 270336 bytes used", "12: 270336 bytes used"),
            ("2024-04-03T08:27:22.916100Z stderr F Out", "Out"),
            ("2024-04-03 08:27:22,916 Out", "Out"),
            ("worker-1_1  | [1,0]<stderr>:Out", "Out"),
            (
                "2020-05-04 09:05:40.721128: E    1578 tensorflow/a/b.cc:76]     program   1G",
                "program   1G",
            ),
            ("2020-05-04 09:05:40.721128: W tensorflow/a/b.cc:76] Out", "Out"),
            ("E0504 09:05:40.721128    1578 b.cc:76] Out", "Out"),
            ("Apr  3 08:27:22 host python[4242]: Out", "Out"),
            ("> Tried to", "Tried to"),
            ("Tile 0 receives", "Tile 0 receives"),
            ("  indented", "  indented"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(bare(line.as_bytes())), expected);
        }
    }

    #[test]
    fn a_region_knows_the_places_of_its_lines() {
        let text = b"one\n[1,0]<stderr>:two\nthree\nfour";
        let (start, end) = around(text, 19);
        assert_eq!((start, end), (0, text.len()), "one line before, few after");
        let region = BareLines::of(text, (start, end), 1);
        assert_eq!(region.text, b"one\ntwo\nthree\nfour");
        assert_eq!(region.place(0), (0, 1));
        assert_eq!(region.place(5), (19, 2));
        assert_eq!(region.place(8), (22, 3));
        let from_third = BareLines::of(text, (around(text, 30).0, text.len()), 3);
        assert_eq!(from_third.text, b"three\nfour");
        assert_eq!(from_third.place(7), (29, 4));
    }

    #[test]
    fn a_long_line_gives_a_short_region() {
        let text = vec![b'x'; 100_000];
        assert_eq!(around(&text, 50_000), (50_000 - BYTES_BEFORE, 50_000 + BYTES_AFTER));
        assert_eq!(around(&text, 0), (0, BYTES_AFTER));
        assert_eq!(around(b"", 0), (0, 0));
    }
}
