//! What launchers, loggers and collectors put before the text of a line: times, levels, places in the source, names of
//! ranks, hosts and processes.
//!
//! The parts are recognized by their form. Which of them are no part of a message is learned from the lines around it
//! ([`super::streams`]).

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::clock::time_length;
use super::entries::{LABELS, LABELS_END};
use super::message::regex;

mod line_number;
mod place;

use line_number::{file_name, line_number};
use place::place;

/// Parts and bytes of a line that are looked at.
const MOST_PARTS: usize = 12;
const MOST_BYTES: usize = 320;
/// Bytes of a group in brackets, and of a word.
const GROUP: usize = 160;
const WORD: usize = 80;

/// What a part says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeadKind {
    Time,
    Level,
    /// `model.py:12`, and the number of the line itself.
    Place,
    /// Something in brackets.
    Group,
    /// A word with a colon, a bar or a number of a process behind it.
    Name,
}

/// A part of what stands before the text of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeadPart {
    pub kind: LeadKind,
    /// Where it begins and ends in the line.
    pub start: usize,
    pub end: usize,
    /// Where the next part or the text begins.
    pub next: usize,
    /// Of this part and those before it, without what changes from line to line of one writer: time, level and place.
    pub key: u64,
}

impl LeadPart {
    /// Whether a message may begin with it: a word with a colon may be one of its own.
    pub fn is_of_writer(&self) -> bool {
        self.kind != LeadKind::Name
    }
}

/// The parts before the text of a line, in order.
pub fn lead(line: &[u8], parts: &mut Vec<LeadPart>) {
    let first = parts.len();
    let mut at = 0;
    let mut key = 0xcbf2_9ce4_8422_2325_u64;
    // Most lines of a listing are indented, and have none.
    let blanks = line.iter().take_while(|byte| is_blank(**byte)).count();
    if blanks > 0 {
        let is_indented = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'[' | b'(');
        if blanks > 6 || !line.get(blanks).is_some_and(is_indented) {
            return;
        }
        at = blanks;
    }
    let mut most = MOST_BYTES;
    while parts.len() - first < MOST_PARTS && at < most {
        let Some((end, kind)) = part(line, at, parts.get(first..).unwrap_or_default()) else {
            break;
        };
        let text = line.get(at..end).unwrap_or_default();
        // Behind these is the text as it was written; the last letter says whether the line was cut.
        let is_whole = text.starts_with(b"stderr ") || text.starts_with(b"stdout ");
        let own = if is_whole { text.get(..6).unwrap_or_default() } else { text };
        let (is_known, hash) = normalized(own, key);
        key = match kind {
            LeadKind::Time | LeadKind::Level | LeadKind::Place => mixed(key, kind as u64 + 1),
            _ => hash,
        };
        let kind = is_known.filter(|_| kind == LeadKind::Group).unwrap_or(kind);
        let is_labels = text.first() == Some(&LABELS);
        let next = match () {
            () if is_labels => end,
            // One blank is the runtime's: the text of a line that was cut may begin with another.
            () if is_whole => end + usize::from(line.get(end) == Some(&b' ')),
            () => behind_separators(line, end, kind),
        };
        if is_labels {
            // They may be longer than what is looked at of a line.
            most = end + MOST_BYTES;
        }
        parts.push(LeadPart { kind, start: at, end, next, key });
        at = next;
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_blank_or_end(line: &[u8], at: usize) -> bool {
    line.get(at).is_none_or(u8::is_ascii_whitespace)
}

fn skip_blanks(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| is_blank(**byte)).count()
}

/// Behind blanks, colons, bars and dashes.
fn behind_separators(line: &[u8], end: usize, kind: LeadKind) -> usize {
    /// Blanks that fill a column.
    const MOST_BLANKS: usize = 16;
    let mut at = end;
    let mut has_colon = false;
    let last = end.checked_sub(1).and_then(|last| line.get(last));
    let mut is_separated = matches!(last, Some(b':' | b'|'));
    loop {
        let next = skip_blanks(line, at);
        // A text that is indented may begin with a sign.
        if next - at > if is_separated { 1 } else { MOST_BLANKS } {
            return next;
        }
        let rest = line.get(next..).unwrap_or_default();
        let Some(&byte) = rest.first() else { return next };
        // A colon may stand close to the text, the others do not.
        let is_glued = byte == b':' && next == end && kind != LeadKind::Name;
        let run = rest.iter().take_while(|other| **other == byte).count();
        let run = if is_glued { 1 } else { run };
        let is_separator = match byte {
            b':' => run == 1 && !has_colon,
            b'|' | b'-' | b',' => run <= 3,
            _ => false,
        };
        if !is_separator || !(is_glued || is_blank_or_end(line, next + run)) {
            return next;
        }
        has_colon |= byte == b':';
        is_separated = true;
        at = next + run;
        // The text may stand close behind a colon, and begin with a sign.
        if is_glued && !is_blank_or_end(line, at) {
            return at;
        }
    }
}

/// The end and the kind of the part that begins at a place, behind others.
fn part(line: &[u8], at: usize, parts: &[LeadPart]) -> Option<(usize, LeadKind)> {
    let rest = line.get(at..)?;
    let before = parts.last();
    match *rest.first()? {
        LABELS => {
            let end = memchr::memchr(LABELS_END, rest)?;
            return Some((at + end + 1, LeadKind::Group));
        }
        // `(raylet)` begins a line; else it is of a sentence, where nothing more is said.
        b'(' if before.is_some() => {
            let end = group(line, at)?;
            return line.get(at..end)?.contains(&b'=').then_some((end, LeadKind::Group));
        }
        b'[' | b'(' | b'{' | b'<' => return group(line, at).map(|end| (end, LeadKind::Group)),
        // A command of GitHub's or Azure's runner, and a quotation.
        b'#' if rest.starts_with(b"##[") => {
            return group(line, at + 2).map(|end| (end, LeadKind::Group));
        }
        b'>' if is_blank_or_end(rest, 1) && before.is_none_or(|part| is_quote(line, part)) => {
            return Some((at + 1, LeadKind::Group));
        }
        _ => {}
    }
    if let Some(length) = time_length(rest) {
        return Some((at + length, LeadKind::Time));
    }
    let is_after = |kind| before.is_some_and(|part| part.kind == kind);
    if let Some(length) = level(rest) {
        let is_letter = length == 1;
        let behind = line.get(at + length);
        let is_end =
            is_blank_or_end(line, at + length) || matches!(behind, Some(b':' | b'|' | b']'));
        // In small letters, with a colon, it may be of the message.
        let is_large = rest.get(1).is_none_or(|second| !second.is_ascii_lowercase());
        if is_end && (!is_letter || is_after(LeadKind::Time)) {
            return Some((at + length, if is_large { LeadKind::Level } else { LeadKind::Name }));
        }
    }
    if let Some(length) = place(rest) {
        return Some((at + length, LeadKind::Place));
    }
    if before.is_none() {
        if let Some(length) = line_number(rest) {
            return Some((at + length, LeadKind::Place));
        }
        if let Some(length) = file_name(rest) {
            return Some((at + length, LeadKind::Group));
        }
    }
    if is_after(LeadKind::Time) {
        // Of a container's log, and of GitLab's.
        let is_stream = |name: &[u8]| {
            rest.starts_with(name)
                && matches!(rest.get(6..8), Some(b" F" | b" P"))
                && is_blank_or_end(rest, 8)
        };
        if is_stream(b"stdout") || is_stream(b"stderr") {
            return Some((at + 8, LeadKind::Group));
        }
        let is_gitlab = matches!(rest, [b'0'..=b'9', b'0'..=b'9', b'O' | b'E', ..]);
        let plus = usize::from(rest.get(3) == Some(&b'+'));
        if is_gitlab && (plus == 1 || is_blank_or_end(rest, 3)) {
            return Some((at + 3 + plus, LeadKind::Group));
        }
    }
    if let Some(end) = name(line, at, before) {
        return Some((end, LeadKind::Name));
    }
    // `ERROR trainer - `, `ERROR [main] trainer - `
    let is_of_entry = match parts {
        [.., part] if matches!(part.kind, LeadKind::Time | LeadKind::Level) => true,
        [.., level, thread] => {
            level.kind == LeadKind::Level
                && thread.kind == LeadKind::Group
                && line.get(thread.start) == Some(&b'[')
        }
        _ => false,
    };
    let words = if is_of_entry { words_before_name(line, at) } else { None };
    // GitHub's job and step have a tab between them.
    let is_begin = match parts {
        [] => true,
        [job] => line.get(job.end) == Some(&b'\t'),
        _ => false,
    };
    let words = words.or_else(|| words_before_time(line, at).filter(|_| is_begin));
    words.map(|end| (end, LeadKind::Name))
}

/// Whether a part is the sign of a quotation.
fn is_quote(line: &[u8], part: &LeadPart) -> bool {
    line.get(part.start..part.end) == Some(b">")
}

/// The end of a few words with which a line begins, where a date and a time of day follow: pod and container, or the
/// names of a job and its step.
fn words_before_time(line: &[u8], at: usize) -> Option<usize> {
    const WORDS_AT_MOST: usize = 6;
    let rest = line.get(at..line.len().min(at + GROUP))?;
    let blanks = rest.iter().enumerate().filter(|(_, byte)| is_blank(**byte)).take(WORDS_AT_MOST);
    for (blank, _) in blanks {
        let start = at + blank + 1;
        let length = time_length(line.get(start..)?).unwrap_or(0);
        if length >= 19 {
            return (!of_message(rest.get(..blank)?)).then_some(at + blank);
        }
    }
    None
}

/// The end of what a bracket opens, where it is a name or a time, not a part of a sentence.
fn group(line: &[u8], at: usize) -> Option<usize> {
    let rest = line.get(at..line.len().min(at + GROUP))?;
    let open = *rest.first()?;
    let close = match open {
        b'[' => b']',
        b'(' => b')',
        b'{' => b'}',
        _ => b'>',
    };
    let mut depth = 0_usize;
    let mut end = None;
    for (index, byte) in rest.iter().enumerate() {
        match *byte {
            b'\n' | b'\r' | b';' => return None,
            byte if byte == open => depth += 1,
            byte if byte == close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    end = Some(index);
                    break;
                }
            }
            _ => {}
        }
    }
    let end = end?;
    let content = rest.get(1..end)?;
    let is_name = content.first().is_some_and(|first| match open {
        b'(' => {
            first.is_ascii_alphabetic() && (content.contains(&b'=') || !content.contains(&b' '))
        }
        b'{' => *first != b'"',
        b'[' => *first != b'(',
        // A path.
        b'<' => *first != b'/',
        _ => true,
    });
    if !is_name || WORDS.is_match(content) {
        return None;
    }
    let behind = at + end + 1;
    let is_end = is_blank_or_end(line, behind)
        || matches!(line.get(behind), Some(b':' | b'[' | b'(' | b'{' | b'<' | b'-' | b'|'))
        // The priority of syslog, and a command of a runner.
        || (open == b'<' && content.iter().all(u8::is_ascii_digit))
        || (at > 0 && line.get(at - 1) == Some(&b'#'))
        // `[15:19:48]W:`
        || matches!(line.get(behind..), Some([b'A'..=b'Z', b':', ..]));
    let may_be_glued = open == b'<' || matches!(line.get(behind), Some(b'E' | b'W'));
    let is_before_time = || time_length(line.get(behind..).unwrap_or_default()).is_some();
    if !(is_end || may_be_glued && is_before_time()) {
        return None;
    }
    // `<13>1 2025-…`
    let version =
        line.get(behind).is_some_and(u8::is_ascii_digit) && line.get(behind + 1) == Some(&b' ');
    Some(if open == b'<' && version { behind + 1 } else { behind })
}

/// Words of messages about memory: what has one is no name.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i:memory|exhaust|killed|alloc|oom|out of|size=)|\A\[?(?:[0-9]+-[0-9]+ -|\(x=[0-9])")
});
/// The same, and words of exceptions and listings.
static WORDS_OF_MESSAGES: LazyLock<Regex> = LazyLock::new(|| {
    regex("(?i:memory|exhaust|killed|alloc|oom|out of|exception|error|failure|size)")
});

/// Whether a word may be one of a message.
pub fn of_message(word: &[u8]) -> bool {
    WORDS_OF_MESSAGES.is_match(word) && level(word) != Some(word.len())
}

const LEVELS: [&[u8]; 18] = [
    b"DEBUG",
    b"INFO",
    b"NOTICE",
    b"WARNING",
    b"WARN",
    b"ERROR",
    b"ERR",
    b"CRITICAL",
    b"CRIT",
    b"FATAL",
    b"TRACE",
    b"SEVERE",
    b"SUCCESS",
    b"EMERG",
    b"ALERT",
    b"VERBOSE",
    b"STDERR",
    b"STDOUT",
];

/// The bytes of a level, with which a text begins; lower case has a colon or a blank and a bracket behind it.
fn level(text: &[u8]) -> Option<usize> {
    let word = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let name = text.get(..word)?;
    if word == 1 {
        return matches!(name, b"D" | b"I" | b"W" | b"E" | b"F").then_some(1);
    }
    if LEVELS.contains(&name) {
        return Some(word);
    }
    let is_lower = LEVELS.contains(&&*name.to_ascii_uppercase()) && word < 9;
    let is_alone = word == text.len() || matches!(text.get(word), Some(b':' | b']'));
    let is_padded = text.get(word..)?.iter().all(|byte| *byte == b' ');
    (is_lower && (is_alone || is_padded)).then_some(word)
}

fn word_length(text: &[u8]) -> usize {
    let is_of_word = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'.' | b'@' | b'/' | b'#' | b'%' | b'+' | b'-' | b'$')
    };
    text.iter().take(WORD + 1).take_while(|byte| is_of_word(byte)).count()
}

const KINDS_OF_WRITERS: [&[u8]; 8] =
    [b"rank", b"worker", b"process", b"task", b"node", b"host", b"replica", b"proc"];

/// The end of a word that names a writer: with a colon, a bar, a tab, or the number of a process behind it.
fn name(line: &[u8], at: usize, before: Option<&LeadPart>) -> Option<usize> {
    let rest = line.get(at..)?;
    let length = word_length(rest);
    let word = rest.get(..length).filter(|word| !word.is_empty() && length <= WORD)?;
    let is_address = word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        && memchr::memchr_iter(b'.', word).count() == 3;
    let is_number = word.iter().all(u8::is_ascii_digit) && length <= 6;
    let has_letter = word.iter().any(u8::is_ascii_alphabetic);
    if !(has_letter || is_address || is_number) || of_message(word) || word.starts_with(b"-") {
        return None;
    }
    let behind = rest.get(length..)?;
    // `python[4242]:`
    if has_letter && behind.first() == Some(&b'[') {
        let process = word_length(behind.get(1..)?);
        let inside = behind.get(1..=process)?;
        let is_closed =
            inside.last().is_some_and(u8::is_ascii_digit) && behind.get(process + 1) == Some(&b']');
        let end = at + length + process + 2;
        let is_number = inside.iter().all(u8::is_ascii_digit);
        let is_end = line.get(end) == Some(&b':') || (is_number && is_blank_or_end(line, end));
        return (is_closed && is_end)
            .then(|| if line.get(end) == Some(&b':') { end + 1 } else { end });
    }
    let is_first = before.is_none();
    // `rank 3: `
    if behind.first() == Some(&b' ') && KINDS_OF_WRITERS.contains(&&*word.to_ascii_lowercase()) {
        let number = behind.get(1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = at + length + 1 + number;
        let is_named = number > 0 && line.get(end) == Some(&b':') && is_blank_or_end(line, end + 1);
        return is_named.then_some(end + 1);
    }
    match behind.first() {
        Some(b':') => {
            let end = at + length + 1;
            let next = line.get(end);
            let is_glued = before.is_some_and(|part| {
                part.kind == LeadKind::Level
                    && part.next == at
                    && line.get(at.wrapping_sub(1)) == Some(&b':')
            }) && next != Some(&b':');
            let is_end = is_blank_or_end(line, end) || matches!(next, Some(b'[' | b'('));
            (is_end || is_glued).then_some(end).filter(|_| !is_number || is_first)
        }
        Some(b' ' | b'|') => {
            let bar = skip_blanks(line, at + length);
            let is_bar = line.get(bar) == Some(&b'|') && is_blank_or_end(line, bar + 1);
            let is_colon =
                !is_first && line.get(bar) == Some(&b':') && is_blank_or_end(line, bar + 1);
            ((is_bar || is_colon) && has_letter).then_some(bar + 1)
        }
        Some(b'\t') => (is_first && has_letter || before.is_some_and(LeadPart::is_of_writer))
            .then_some(at + length),
        _ => None,
    }
}

/// The end of plain words behind a time, at most four, that lead to something that has the form of a name: the host
/// before syslog's program, the fields of RFC 5424, a thread before a place in the source.
fn words_before_name(line: &[u8], at: usize) -> Option<usize> {
    let mut at = at;
    for count in 1..=4 {
        let rest = line.get(at..)?;
        let length = word_length(rest);
        let word = rest.get(..length)?;
        let next = skip_blanks(line, at + length);
        if length == 0 || length > WORD || next == at + length || of_message(word) {
            return None;
        }
        let rest = line.get(next..)?;
        let dashes = rest.iter().take_while(|byte| matches!(byte, b'-' | b'|')).count();
        let is_dash = matches!(dashes, 1..=3) && is_blank_or_end(rest, dashes);
        let is_level =
            level(rest).is_some_and(|length| length > 1 && is_blank_or_end(rest, length));
        let is_program = || {
            let length = word_length(rest);
            let behind = rest.get(length..).unwrap_or_default();
            let is_process = matches!(behind, [b'[', b'0'..=b'9', ..]);
            let is_named =
                count == 1 && behind.first() == Some(&b':') && is_blank_or_end(behind, 1);
            let program = rest.get(..length).unwrap_or_default();
            length > 0
                && (is_process || is_named)
                && !of_message(program)
                && level(program).is_none()
        };
        let is_group = || rest.first() == Some(&b'[') && group(line, next).is_some();
        if is_dash || is_level || place(rest).is_some() || is_program() || is_group() {
            return Some(at + length);
        }
        at = next;
    }
    None
}

fn mixed(key: u64, with: u64) -> u64 {
    (key ^ with).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
}

/// A key of a text without times, levels and places, and which of them it is, if nothing else.
fn normalized(text: &[u8], key: u64) -> (Option<LeadKind>, u64) {
    let mut key = mixed(key, 7);
    let (mut kinds, mut others) = (None, 0_usize);
    let mut at = 0;
    let mut is_in_word = false;
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let known = if is_in_word {
            None
        } else {
            let of = |length: Option<usize>, kind| length.map(|length| (length, kind));
            let is_word = |length: &usize| {
                *length > 1 && rest.get(*length).is_none_or(|next| !next.is_ascii_alphanumeric())
            };
            of(time_length(rest), LeadKind::Time)
                .or_else(|| of(seconds(rest), LeadKind::Time))
                .or_else(|| of(level(rest).filter(is_word), LeadKind::Level))
                .or_else(|| of(place_in_group(rest), LeadKind::Place))
        };
        if let Some((length, kind)) = known.filter(|(length, _)| *length > 0) {
            key = mixed(key, kind as u64 + 1);
            kinds = kinds.or(Some(kind));
            at += length;
            continue;
        }
        is_in_word = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if !is_blank(byte) {
            key = mixed(key, u64::from(byte) + 16);
            others += usize::from(!matches!(
                byte,
                b'[' | b']' | b'(' | b')' | b'{' | b'}' | b'#' | b'<' | b'>'
            ));
        }
        at += 1;
    }
    (kinds.filter(|_| others == 0), key)
}

/// Seconds since the machine started, as the kernel writes them.
fn seconds(text: &[u8]) -> Option<usize> {
    let whole = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let decimals = text.get(whole + 1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (whole > 0 && text.get(whole) == Some(&b'.') && decimals >= 3).then_some(whole + 1 + decimals)
}

/// `launch.py:325:main` or `trainer:42` in brackets.
fn place_in_group(text: &[u8]) -> Option<usize> {
    let end =
        text.iter().take_while(|byte| !matches!(byte, b']' | b')' | b'}' | b' ' | b'\t')).count();
    let whole = text.get(..end)?;
    let colon = whole.iter().position(|byte| *byte == b':')?;
    let name = whole.get(..colon)?;
    let line = whole.get(colon + 1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_file = name.contains(&b'.') && name.iter().any(u8::is_ascii_alphabetic);
    let is_word =
        name.len() > 2 && name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let is_writer = || {
        let lower = name.to_ascii_lowercase();
        KINDS_OF_WRITERS.iter().any(|kind| memchr::memmem::find(&lower, kind).is_some())
    };
    (line > 0 && (is_file || (is_word && colon + 1 + line == end && !is_writer()))).then_some(end)
}

/// Where the text of a line begins behind what a message cannot begin with.
pub fn certain_start(parts: &[LeadPart]) -> usize {
    parts.iter().rev().find(|part| part.is_of_writer()).map_or(0, |part| part.next)
}

/// Where the text of a line begins behind all that may be before it.
pub fn text_start(parts: &[LeadPart]) -> usize {
    parts.last().map_or(0, |part| part.next)
}

#[cfg(test)]
mod tests;
