//! Descriptions of messages: a pattern for each, and the way to read its facts.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex, RegexSet, RegexSetBuilder};

use super::finding::Finding;
use super::lines::regex;
use super::{amount, cuda, gpu, host, ipu, tpu, wrapper};
use crate::text;

/// A message. In the pattern a space stands for white space, a line end included, and `{n}`, `{count}`,
/// `{tiles}`, `{size}`, `{word}` and `{path}` for a number, one that is not 0, a list of tile numbers, an
/// amount, a word and the path of a report.
pub struct Message {
    /// A regular expression.
    pub pattern: &'static str,
    /// Reads the facts.
    pub read: fn(&MessageFound) -> Finding,
}

fn messages() -> impl Iterator<Item = &'static Message> {
    [ipu::MESSAGES, tpu::MESSAGES, cuda::MESSAGES, gpu::MESSAGES, host::MESSAGES, wrapper::MESSAGES]
        .into_iter()
        .flatten()
}

/// A message in the text.
pub struct MessageFound<'a> {
    /// What the pattern captured.
    pub captures: Captures<'a>,
    /// The input before the message, as far back as it may matter.
    pub before: &'a [u8],
    /// The input behind it, as far as it may matter.
    pub after: &'a [u8],
}

impl MessageFound<'_> {
    /// The number or amount of a group, as bytes or a plain number.
    pub fn number(&self, group: &str) -> Option<u64> {
        amount::bytes(&self.word(group)?)
    }

    /// The same of a message that writes units: what has none, and ends where the input does, is cut within its digits.
    pub fn amount(&self, group: &str) -> Option<u64> {
        let is_last = self.captures.name(group)?.end() == self.captures.get_match().end();
        let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b',');
        let is_cut = is_last && self.after.iter().all(is_of_number);
        let word = self.word(group)?;
        let has_unit = word.ends_with(|last: char| last.is_ascii_alphabetic());
        amount::bytes(&word).filter(|_| has_unit || !is_cut)
    }

    /// The text of a group; an empty one is none.
    pub fn word(&self, group: &str) -> Option<String> {
        let bytes = self.captures.name(group)?.as_bytes();
        Some(String::from_utf8_lossy(bytes).trim().to_owned()).filter(|word| !word.is_empty())
    }

    /// The path of a report, which the message may end with.
    pub fn path(&self) -> Option<String> {
        let path = self.word("path")?;
        Some(path.trim_end_matches(['.', ',', ';', ')', ']', '\\']).to_owned())
    }
}

/// Where a pattern matched, and which one.
pub struct Match<'t> {
    pub message: &'static Message,
    pub captures: Captures<'t>,
}

impl Match<'_> {
    /// Where it begins in the text.
    pub fn start(&self) -> usize {
        self.captures.get_match().start()
    }

    /// Where it ends.
    pub fn end(&self) -> usize {
        self.captures.get_match().end()
    }

    /// Whether a group is part of it.
    pub fn has(&self, group: &str) -> bool {
        self.captures.name(group).is_some()
    }
}

/// The words that each message has at least one of; text without them need not be looked at.
pub static TRIGGER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        "emory|MEMORY|Attempting|planner|allocate|Hbm usage|OOM|oom[-_]kill|bad_alloc|bad alloc|ALLOC_FAILED|xhausted|EXHAUSTED",
    )
});

struct Patterns {
    any: RegexSet,
    each: Vec<(&'static Message, Regex)>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let sources: Vec<String> = messages().map(|message| expanded(message.pattern)).collect();
    Patterns {
        any: RegexSetBuilder::new(&sources).unicode(false).build().expect("constant expressions"),
        each: messages().zip(sources.iter().map(|source| regex(source))).collect(),
    }
});

/// A pattern as [`Message`] describes it.
pub fn pattern(pattern: &str) -> Regex {
    regex(&expanded(pattern))
}

fn expanded(pattern: &str) -> String {
    pattern
        .replace(' ', r"\s+")
        .replace("{n}", r"[0-9]+(?:,[0-9]{3})*")
        .replace("{count}", r"[1-9][0-9]*(?:,[0-9]{3})*")
        .replace("{tiles}", r"[0-9]+(?:(?:,\s*(?:and\s+)?|-|\s+and\s+)[0-9]+)*")
        .replace("{size}", r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?:\s*(?:[kKMGTP]i?B?|B|bytes)\b)?")
        .replace("{word}", r"[0-9A-Za-z_]{1,40}")
        .replace("{path}", PATH)
}

/// Up to `.pop` a path may have spaces; without it the first word is taken.
const PATH: &str = r#"['"]?(?<path>[^\s'"]+\.pop\b|[^\r\n'"]{1,300}?\.pop\b|[^\s'"]+)"#;

/// All matches in a text, in no order.
pub fn matches(text: &[u8]) -> impl Iterator<Item = Match<'_>> {
    let which = PATTERNS.any.matches(text);
    which.into_iter().filter_map(|index| PATTERNS.each.get(index)).flat_map(|(message, regex)| {
        regex.captures_iter(text).map(move |captures| Match { message, captures })
    })
}

/// A message as people read it: on one line, at most 2,000 characters.
pub fn readable(message: &[u8]) -> String {
    let message = String::from_utf8_lossy(message);
    let words: Vec<&str> = message.split_whitespace().collect();
    text::shortened(&words.join(" "), 2000).into_owned()
}
