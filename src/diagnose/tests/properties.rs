//! Whatever stands around a message or within its words, it is found once, with the same facts.

use proptest::prelude::*;
use proptest::sample::Index;

use super::examples;
use crate::diagnose::decode::Decoder;
use crate::diagnose::scan::Scanner;
use crate::diagnose::unknown::is_considered;
use crate::diagnose::{Diagnosis, Finding, diagnose};

fn newlines(log: &[u8]) -> u64 {
    // Also of UTF-16.
    let mut room = Vec::new();
    memchr::memchr_iter(b'\n', Decoder::default().push(log, true, &mut room)).count() as u64
}

/// Facts, without the place and who wrote it.
fn facts(finding: &Finding) -> Finding {
    // What to do follows from the rest of the log, too.
    Finding { origin: None, advice: Vec::new(), ..finding.clone().at_line(0) }
}

fn findings(log: &[u8]) -> Vec<Finding> {
    diagnosis(log, log.len()).findings
}

fn diagnosis(log: &[u8], piece: usize) -> Diagnosis {
    let mut scanner = Scanner::default();
    for piece in log.chunks(piece.max(1)) {
        scanner.push(piece);
    }
    scanner.finish()
}

/// The only finding of a log, without its place.
fn only(log: &[u8]) -> Finding {
    let found = findings(log);
    assert_eq!(found.len(), 1, "{:?}: {found:#?}", String::from_utf8_lossy(log));
    facts(&found[0])
}

/// Bytes of any kind, without escapes, which could take away what follows them.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(b'\n'), Just(b' '), any::<u8>()];
    prop::collection::vec(byte, 0..300).prop_map(|noise| {
        noise.into_iter().map(|byte| if byte == 0x1b { b'?' } else { byte }).collect()
    })
}

/// Whether a message is an exception, whose names stand on one line.
pub fn takes_line(text: &str) -> bool {
    text.contains("_memory_allocation_error")
        || text.contains("popart.")
        || text.starts_with("MemoryError")
}

/// Whether a message that is wrapped at a space loses words in front of those that it must have: a line that begins with a
/// level is one of its own, as is one that begins with the same name as the line before it; and what ended is read only in
/// the line of how it ended.
pub fn ends_line(text: &str, space: usize) -> bool {
    let (before, behind) = text.split_at(space);
    let first = |text: &str| text.split_whitespace().next().map(str::to_owned);
    let is_named_alike =
        first(before) == first(behind) && first(behind).is_some_and(|name| name.ends_with(':'));
    let is_of_level = behind.starts_with(" WARN ");
    is_of_level || is_named_alike || (before.contains(" exits") && behind.contains("return code"))
}

/// What may stand at the end of a message without changing it.
const ENDS: [&str; 6] = ["\n", "\r\n", " ", "\"", "\t", ")\n"];

proptest! {
    #[test]
    fn any_text_is_read(log in prop::collection::vec(any::<u8>(), 0..2000), piece in 1_usize..300) {
        let whole = diagnosis(&log, log.len());
        let newlines = newlines(&log);
        prop_assert!((newlines..=newlines + 1).contains(&whole.lines));
        prop_assert_eq!(whole, diagnosis(&log, piece));
    }

    #[test]
    fn words_of_messages_in_any_order_are_read(
        words in prop::collection::vec((any::<Index>(), any::<Index>(), 0_usize..8), 0..40),
        piece in 1_usize..300,
    ) {
        let examples = examples();
        let mut log = String::new();
        for (example, start, count) in words {
            let words: Vec<&str> = example.get(&examples).text.split(' ').collect();
            let start = start.index(words.len());
            let end = words.len().min(start + count);
            log += &words[start..end].join(" ");
            log += if count.is_multiple_of(3) { "\n" } else { " " };
        }
        let whole = diagnosis(log.as_bytes(), log.len());
        prop_assert!(whole.findings.is_sorted_by_key(|finding| finding.line));
        prop_assert!(whole.findings.iter().all(|finding| (1..=whole.lines).contains(&finding.line)));
        prop_assert_eq!(&whole, &diagnosis(log.as_bytes(), piece));
    }

    #[test]
    fn noise_around_a_message_changes_nothing(
        example in any::<Index>(),
        before in noise(),
        after in noise(),
        end in any::<Index>(),
    ) {
        let examples = examples();
        let text = &example.get(&examples).text;
        let alone = only(text.as_bytes());
        let begins_with_number = text.starts_with(|c: char| c.is_ascii_digit());
        // Behind the sign of a comment or of code, a message without figures is none.
        let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        prop_assume!(!line.iter().any(|byte| b"#*/|+-=(,[\"'".contains(byte)));
        // Nor is it one behind words that only consider the case.
        prop_assume!(!is_considered(line));
        // A message of one word is known only where it begins a line.
        let is_one_word = !text.contains(char::is_whitespace);
        let gap: &[u8] = match () {
            () if is_one_word => b"\n",
            () if begins_with_number => b" ",
            () => b"",
        };
        // The text of an exception whose message is not known goes on to the end of the line.
        let end = if takes_line(text) || is_one_word { "\n" } else { end.get(&ENDS) };
        let log = [&*before, gap, text.as_bytes(), end.as_bytes(), &after].concat();
        let found = findings(&log);
        prop_assert_eq!(found.len(), 1, "{:?}: {:#?}", String::from_utf8_lossy(&log), &found);
        let newlines = newlines(&before);
        prop_assert_eq!(found[0].line, newlines + 1 + u64::from(is_one_word));
        prop_assert_eq!(facts(&found[0]), alone);
    }

    #[test]
    fn colours_in_a_message_change_nothing(
        example in any::<Index>(),
        places in prop::collection::vec((any::<Index>(), any::<Index>()), 1..12),
    ) {
        const COLOURS: [&str; 5] =
            ["\u{1b}[0m", "\u{1b}[1;31m", "\u{1b}[38;5;208m", "\u{1b}[K", "\u{1b}]8;;http://h/\u{1b}\\"];
        let examples = examples();
        let text = &example.get(&examples).text;
        let mut log = text.clone();
        let mut places: Vec<usize> = places.iter().map(|(place, _)| place.index(text.len() + 1)).collect();
        places.sort_unstable();
        for (number, place) in places.iter().enumerate().rev() {
            log.insert_str(*place, COLOURS[number % COLOURS.len()]);
        }
        prop_assert_eq!(only(log.as_bytes()), only(text.as_bytes()));
    }
}

#[test]
fn a_message_may_be_wrapped_at_any_space() {
    let mut wrong = Vec::new();
    for example in examples() {
        // A path with a space stands on one line.
        if example.text.contains("run 7") || takes_line(&example.text) {
            continue;
        }
        let alone = only(example.text.as_bytes());
        let log_line = example.text.find("W: Warning").or(example.text.find("[W]")).unwrap_or(0);
        let spaces = example.text.match_indices(' ').map(|(space, _)| space);
        for space in spaces.filter(|space| *space > log_line && !ends_line(&example.text, *space)) {
            for wrap in ["\n", "\r\n    ", "\n[1,7]<stderr>:", "\n2026-01-01T00:00:00.5Z stderr F "]
            {
                let (head, tail) = example.text.split_at(space);
                let log = format!("[1,7]<stderr>:{head}{wrap}{}", &tail[1..]);
                let found = findings(log.as_bytes());
                if found.iter().map(facts).ne([alone.clone()]) {
                    wrong.push(log);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_message_may_lie_where_pieces_meet() {
    let text =
        "Out of memory on tile 12: 270336 bytes used but tiles only have 262144 bytes of memory";
    let piece = 1 << 20;
    let mut log = vec![b'.'; 3 * piece];
    for line in log.chunks_mut(100) {
        line[0] = b'\n';
    }
    for place in (piece - 100..piece + 10).chain(2 * piece - 65_636..2 * piece - 65_500).step_by(7)
    {
        let mut log = log.clone();
        log[place..place + text.len()].copy_from_slice(text.as_bytes());
        let before = newlines(&log[..place]);
        let found = findings(&log);
        assert_eq!(found.len(), 1, "at {place}");
        assert_eq!((found[0].line, &*found[0].text), (before + 1, text));
    }
}

#[test]
fn of_a_line_without_end_the_first_mebibyte_is_read() {
    let text =
        "Out of memory on tile 12: 270336 bytes used but tiles only have 262144 bytes of memory";
    let mut log = vec![b'x'; 2_500_000];
    for place in [0, 1_000_000, 1_048_600, 2_400_000] {
        log[place..place + text.len()].copy_from_slice(text.as_bytes());
    }
    log.extend_from_slice(format!("\n{text}\n").as_bytes());
    for piece in [1 << 20, 1 << 12, log.len()] {
        let whole = diagnosis(&log, piece);
        let lines: Vec<_> = whole.findings.iter().map(|finding| finding.line).collect();
        assert_eq!((&lines[..], whole.lines, whole.cut_lines), (&[1, 1, 2][..], 2, 1));
        assert!(whole.findings.iter().all(|finding| finding.text == text));
    }
    assert_eq!(diagnose(&String::from_utf8_lossy(&log)), findings(&log));
}

#[test]
fn many_messages_on_one_line_take_no_more_than_a_mebibyte_of_it() {
    let log = "Out of memory on tile 1. ".repeat(200_000);
    let found = findings(log.as_bytes());
    assert_eq!(found.len(), (1 << 20) / 25);
}

#[test]
fn a_progress_bar_before_a_message_is_no_long_line() {
    let mut log = "Graph compilation: 50%|#####     | 50/100\r".repeat(60_000);
    log += "RuntimeError: CUDA error: out of memory\n";
    let whole = diagnosis(log.as_bytes(), 1 << 16);
    assert_eq!((whole.findings.len(), whole.lines, whole.cut_lines), (1, 1, 0));
}
