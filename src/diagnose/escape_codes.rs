//! Takes out what commands a terminal: colors, cursor movements, titles and links (ECMA-48).
//!
//! Works on a stream: a sequence that is cut at the end of the input waits for the rest.

use memchr::memchr;

const ESCAPE: u8 = 0x1b;
/// A longer sequence is none, but text after an escape that stands alone.
const LONGEST: usize = 2048;

/// Appends `input` without its sequences to `output`; says how many bytes of `input` are done. The
/// others may be the beginning of a sequence, and must come again with what follows them; with
/// `is_last`, nothing follows and everything is done.
pub fn strip(input: &[u8], is_last: bool, output: &mut Vec<u8>) -> usize {
    let mut rest = input;
    while let Some(at) = memchr(ESCAPE, rest) {
        let (before, sequence) = rest.split_at(at);
        output.extend_from_slice(before);
        let length = match length(sequence) {
            Length::Known(length) => length,
            Length::Cut if !is_last => return input.len() - sequence.len(),
            // The escape goes, what follows is text.
            Length::Cut => 1,
        };
        rest = sequence.get(length..).unwrap_or_default();
    }
    output.extend_from_slice(rest);
    input.len()
}

enum Length {
    Known(usize),
    Cut,
}

/// The length of the sequence that begins with the escape at 0; 1 for an escape without a sequence.
fn length(bytes: &[u8]) -> Length {
    let Some(&second) = bytes.get(1) else { return Length::Cut };
    let body = bytes.get(2..bytes.len().min(LONGEST)).unwrap_or_default();
    let no_end = if bytes.len() < LONGEST { Length::Cut } else { Length::Known(1) };
    match second {
        b'[' => match body.iter().position(|byte| !matches!(byte, 0x20..=0x3f)) {
            Some(end) if matches!(body.get(end), Some(0x40..=0x7e)) => Length::Known(end + 3),
            Some(_) => Length::Known(1),
            None => no_end,
        },
        // Titles, links and what is only for one program end with a bell or with an escape and a backslash, on the same
        // line.
        b']' | b'_' | b'P' | b'^' | b'X' => {
            match body.iter().position(|byte| matches!(*byte, 0x07 | ESCAPE | b'\n')) {
                Some(end) if body.get(end) == Some(&0x07) => Length::Known(end + 3),
                Some(end) if body.get(end) == Some(&ESCAPE) => match body.get(end + 1) {
                    Some(b'\\') => Length::Known(end + 4),
                    Some(_) => Length::Known(1),
                    None => no_end,
                },
                Some(_) => Length::Known(1),
                None => no_end,
            }
        }
        // Character sets, `ESC ( B`, which `tput sgr0` writes.
        b'(' | b')' => match body.first() {
            Some(b'0' | b'A' | b'B') => Length::Known(3),
            Some(_) => Length::Known(1),
            None => Length::Cut,
        },
        _ => Length::Known(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stripped(input: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        assert_eq!(strip(input, true, &mut output), input.len());
        output
    }

    #[test]
    fn sequences_go_and_text_stays() {
        for (input, expected) in [
            ("plain\n", "plain\n"),
            ("\u{1b}[1;31mOut of\u{1b}[0m memory", "Out of memory"),
            ("\u{1b}[38;2;255;0;0mred\u{1b}[K\u{1b}(B", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://host/\u{1b}\\link\u{1b}]8;;\u{1b}\\!", "link!"),
            ("\u{1b}_bk;t=1751901588123\u{7}text", "text"),
            ("\u{1b}\nOut", "\nOut"),
            ("\u{1b}[12\nOut", "[12\nOut"),
            ("\u{1b}]no end\nOut of memory", "]no end\nOut of memory"),
            ("\u{1b}[12", "[12"),
            ("\u{1b}", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(&stripped(input.as_bytes())), expected, "{input:?}");
        }
        let long = format!("\u{1b}]{}", "x".repeat(5000));
        assert_eq!(stripped(long.as_bytes()).len(), 5001);
    }

    proptest! {
        #[test]
        fn a_cut_anywhere_changes_nothing(
            parts in prop::collection::vec("[a-z\n]{0,3}|\u{1b}\\[[0-9;]{0,4}m|\u{1b}\\]8;;x\u{1b}\\\\|\u{1b}", 0..20),
            cut in 0_usize..100,
        ) {
            let input = parts.concat().into_bytes();
            let cut = cut.min(input.len());
            let mut output = Vec::new();
            let done = strip(&input[..cut], false, &mut output);
            strip(&input[done..], true, &mut output);
            prop_assert_eq!(output, stripped(&input));
        }
    }
}
