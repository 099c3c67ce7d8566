//! Descriptions of messages: a pattern for each, and the way to read its facts.

use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Captures, Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::finding::{Device, FailedProgram, Finding, Kind};
use super::surroundings::Surroundings;
use super::{
    accelerators, amount, cuda, gpu, host, ipu, kernels, killed, libraries, servers, tenstorrent,
    tpu, unknown, wrapper,
};
use crate::text;

/// A message: a row of the table that docs/user/error-messages.md is written from. What to do stands in
/// [`super::advice`], because it depends on the figures.
///
/// In the pattern a space stands for white space, a line end included, and `{n}`, `{count}`, `{tiles}`, `{size}`,
/// `{word}` and `{path}` for a number, one that is not 0, a list of tile numbers, an amount, a word and the path of
/// a report. Groups have meanings by their names:
/// - `terminate`, `wrapper`: an exception, which counts where no message is within it;
/// - `part`: what counts only where no message is just before it;
/// - `requested`, `free`, `used`, `limit` …: the figures, as [`MessageFound::finding`] reads them.
pub struct Message {
    /// A regular expression.
    pub pattern: &'static str,
    /// Reads the facts; `None` where it is no message after all.
    pub read: fn(&MessageFound) -> Option<Finding>,
    /// A message of this kind as a program writes it, with figures of our own.
    pub example: &'static str,
    /// What it says, in a plain sentence.
    pub meaning: &'static str,
}

/// The messages by whose memory they are about.
pub const FAMILIES: [(&str, &[Message]); 12] = [
    ("PyTorch on GPUs and other accelerators", cuda::MESSAGES),
    ("JAX, XLA and TensorFlow on GPUs", gpu::MESSAGES),
    ("TPU", tpu::MESSAGES),
    ("Inference servers", servers::MESSAGES),
    ("Kernels of GPUs", kernels::MESSAGES),
    ("Libraries and programs on GPUs", libraries::MESSAGES),
    ("Tenstorrent", tenstorrent::MESSAGES),
    ("Other accelerators", accelerators::MESSAGES),
    ("Memory of the machine", host::MESSAGES),
    ("Processes that were killed", killed::MESSAGES),
    ("IPU", ipu::MESSAGES),
    ("Exceptions of Poplar", wrapper::MESSAGES),
];

fn messages() -> impl Iterator<Item = &'static Message> {
    FAMILIES.iter().flat_map(|(_, messages)| *messages)
}

/// A message in the text.
pub struct MessageFound<'a> {
    /// What the pattern captured.
    pub captures: Captures<'a>,
    /// The input before the message, as far back as it may matter.
    pub before: &'a Surroundings<'a>,
    /// The input behind it, as far as it may matter.
    pub after: &'a Surroundings<'a>,
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
        let is_cut = || is_last && self.after.nearest(64).iter().all(is_of_number);
        let word = self.word(group)?;
        let has_unit = word.ends_with(|last: char| last.is_ascii_alphabetic());
        amount::bytes(&word).filter(|_| has_unit || !is_cut())
    }

    /// A finding with the figures of the groups that have the names of figures. `gpu` is the number of a GPU, `ordinal`
    /// that of any device, `instance` its name.
    pub fn finding(&self, kind: Kind) -> Finding {
        let index = self.number("gpu").or_else(|| self.number("ordinal"));
        let named = self.word("instance");
        let instance = named.or_else(|| Some(format!("GPU {}", self.word("gpu")?)));
        Finding {
            requested_bytes: self.number("requested"),
            free_bytes: self.number("free"),
            used_bytes: self.number("used"),
            limit_bytes: self.number("limit"),
            excess_bytes: self.number("excess"),
            contiguous_bytes: self.number("contiguous"),
            instance: instance.or_else(|| Some(format!("device {}", self.word("ordinal")?))),
            device_index: index,
            failed_program: FailedProgram {
                program_name: self.word("program"),
                kernel: self.word("kernel"),
                ..FailedProgram::default()
            }
            .if_any(),
            ..Finding::new(kind)
        }
    }

    /// The text of a group; an empty one is none.
    pub fn word(&self, group: &str) -> Option<String> {
        let bytes = self.captures.name(group)?.as_bytes();
        Some(String::from_utf8_lossy(bytes).trim().to_owned()).filter(|word| !word.is_empty())
    }

    /// Whether an expression finds something in the kilobytes around the message, whoever wrote them.
    pub fn is_near(&self, words: &Regex) -> bool {
        const NEAR: usize = 2048;
        words.is_match(self.before.nearest(NEAR)) || words.is_match(self.after.nearest(NEAR))
    }

    /// Which replica and partition of its program XLA says behind the message that it ran.
    fn part_that_ran(&self) -> Option<(u64, u64)> {
        const BEHIND: usize = 400;
        static RUNNING: LazyLock<Regex> = LazyLock::new(|| {
            pattern("\\A[^\r\n]{0,300}?while running replica ({n}) and partition ({n}) of")
        });
        let running = RUNNING.captures(self.after.nearest(BEHIND))?;
        let number = |group| amount::of_bytes(running.get(group)?.as_bytes());
        Some((number(1)?, number(2)?))
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
    /// What it says, with the input before and behind it; `None` where it is only considered, in code or a sentence.
    pub fn finding(
        self,
        line: &[u8],
        before: &Surroundings<'_>,
        after: &Surroundings<'_>,
    ) -> Option<Finding> {
        let text = readable(self.captures.get_match().as_bytes());
        let is_part = self.has("part");
        let is_exception = self.has("terminate") || self.has("wrapper");
        let found = MessageFound { captures: self.captures, before, after };
        let mut finding = Finding { text, is_part, ..(self.message.read)(&found)? };
        if let Some((replica, partition)) = found.part_that_ran() {
            let program = finding.failed_program.get_or_insert_default();
            (program.replica, program.partition) = (Some(replica), Some(partition));
        }
        // Nobody writes figures into a sentence about what may be.
        let figures =
            [finding.requested_bytes, finding.used_bytes, finding.free_bytes, finding.excess_bytes];
        let is_bare =
            figures.iter().all(Option::is_none) && finding.kind.device() != Some(Device::Ipu);
        let is_considered = is_bare
            && !is_exception
            && (unknown::is_considered(line) || unknown::is_asked(after.nearest(300)));
        (!is_considered).then_some(finding)
    }

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
    let words = [
        "emory",
        "MEMORY",
        "Attempting",
        "planner",
        "allocate",
        "(?:Hbm|HBM) usage",
        "OOM",
        "oom[-_]kill",
        "bad_alloc",
        "bad alloc",
        "ALLOC",
        "xhausted",
        "EXHAUSTED",
        "Killed",
        "killed",
        "KILL",
        "xit[cC]ode",
        "xit[_ ][cC]ode",
        "return code",
        "ode:? ?-9",
        "xit status",
        "xited (?:with|on|unexpectedly)",
        "of resource",
        "max seq len",
        "exceeded scoped",
        "pool is full",
        "preempted by",
        "uses too much",
        "CUDA [cm]alloc",
        "upper bound \\(",
        "/dev/shm",
        "paging file",
        "rror 1455",
        "nvalid buffer size",
        "L1 size",
        "unreserved",
        "Dst tensor",
        "AllocFailed",
        "OUT_OF_RESOURCES",
        "Error 137",
        "signal: 9",
        "signal 9",
        "available RAM",
        "MEMLIMIT",
        "lloc(?:ation)? failed",
        "lloc of size",
        "SIGTERM to process",
        "alloc fail",
        "Failed to alloc",
        "lloc(?:ation)? of ",
        "rror allocating",
        "ENOMEM",
        "OUT_OF_ME",
        "VRAM",
        "(?:of|enough|GPU) RAM",
        "RESULT_ERROR",
        "heap exhausted",
        "enough space for",
        "h_vmem",
        "xecutable batch size",
        "byte size of input",
        "OutOfMem",
        "torch_[0-9]+_",
        "L1 buffers",
    ];
    // What begins one of several words, where the line ends: the others stand on the next.
    let begun = [
        "bad",
        "return",
        "exit",
        "xited",
        "xited with",
        "out of",
        "max",
        "max seq",
        "exceeded",
        "pool",
        "pool is",
        "preempted",
        "uses",
        "uses too",
        "upper",
        "upper bound",
        "paging",
        "nvalid",
        "nvalid buffer",
        "Dst",
        "Error",
        "signal:?",
        "available",
        "lloc",
        "llocation",
        "Failed",
        "Failed to",
        "CUDA",
        "L1",
    ];
    regex(&format!("{}|(?:{})\r?\n", words.join("|"), begun.join("|")))
});

struct Patterns {
    any: RegexSet,
    /// Each by itself, made when it is found for the first time: most logs have few of them.
    each: Vec<(&'static Message, OnceLock<Regex>)>,
}

/// Bytes of the automaton that searches for all patterns at once; it grows with what the texts have.
const AUTOMATON_BYTES: usize = 32 << 20;

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let sources: Vec<String> = messages().map(|message| expanded(message.pattern)).collect();
    Patterns {
        any: RegexSetBuilder::new(&sources)
            .unicode(false)
            // Beyond it a search goes on without its automaton, hundreds of times slower.
            .dfa_size_limit(AUTOMATON_BYTES)
            .build()
            .expect("constant expressions"),
        each: messages().map(|message| (message, OnceLock::new())).collect(),
    }
});

/// A regular expression on bytes. The expressions are constants of this program.
pub fn regex(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("a constant expression")
}

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
        .replace(
            "{size}",
            r"[0-9]+(?:[.,][0-9]+)*(?:[eE]\+?[0-9]+)?(?:\s*(?:[kKMGTPE]i?[bB]?|[mgt]i?[bB]|B|[bB]ytes?)\b)?",
        )
        .replace("{word}", r"[0-9A-Za-z_]{1,40}")
        .replace("{path}", PATH)
}

/// Up to `.pop` a path may have spaces; without it the first word is taken.
const PATH: &str = r#"['"]?(?<path>[^\s'"]+\.pop\b|[^\r\n'"]{1,300}?\.pop\b|[^\s'"]+)"#;

/// All matches in a text, in no order.
pub fn matches(text: &[u8]) -> impl Iterator<Item = Match<'_>> {
    let which = PATTERNS.any.matches(text);
    which.into_iter().filter_map(|index| PATTERNS.each.get(index)).flat_map(|(message, own)| {
        let own = own.get_or_init(|| pattern(message.pattern));
        own.captures_iter(text).map(move |captures| Match { message, captures })
    })
}

/// A message as people read it: on one line, at most 2,000 characters.
pub fn readable(message: &[u8]) -> String {
    let message = String::from_utf8_lossy(message);
    let words: Vec<&str> = message.split_whitespace().collect();
    text::shortened(&words.join(" "), 2000).into_owned()
}
