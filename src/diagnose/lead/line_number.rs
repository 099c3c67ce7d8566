//! What tools that show or search files put before a line: its number (an editor, `cat -n`, `grep -n`, `docker build`), the name
//! of its file.

/// Digits of a number.
const MOST_DIGITS: usize = 7;

/// The bytes of the number with which a text begins, with the sign behind it.
pub fn line_number(text: &[u8]) -> Option<usize> {
    if let Some(step) = text.strip_prefix(b"#") {
        return of_build(step).map(|length| length + 1);
    }
    let number = digits(text);
    let behind = text.get(number..)?;
    if !(1..=MOST_DIGITS).contains(&number) {
        return None;
    }
    match behind {
        // `cat -n`
        [b'\t', ..] => Some(number),
        // `grep -n`; a dash marks the lines around those that it found. A number with a blank behind its colon is a rank.
        [b':' | b'-', next, ..] if is_of_text(*next) => Some(number + 1),
        [b'-', b' ', b' ', ..] => Some(number + 1),
        _ => {
            let blanks = behind.iter().take_while(|byte| **byte == b' ').count();
            let bar = bar(behind.get(blanks..)?)?;
            let end = number + blanks + bar;
            (blanks < 3 && text.get(end).is_none_or(u8::is_ascii_whitespace)).then_some(end)
        }
    }
}

/// The bytes of the name of a log with which a text begins, with the colon behind it: `logs/rank3.log:text`, as `grep` writes it.
pub fn file_name(text: &[u8]) -> Option<usize> {
    const LONGEST: usize = 160;
    const ENDINGS: [&[u8]; 6] = [b".log", b".out", b".err", b".txt", b"stderr", b"stdout"];
    let is_of_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./-+=@".contains(byte);
    let length = text.iter().take(LONGEST).take_while(|byte| is_of_path(byte)).count();
    let name = text.get(..length)?;
    let is_file = ENDINGS.iter().any(|ending| name.ends_with(ending));
    (is_file && text.get(length) == Some(&b':')).then_some(length + 1)
}

fn digits(text: &[u8]) -> usize {
    text.iter().take(MOST_DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether a text may begin with it; a digit is of a time.
fn is_of_text(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'[' | b'(' | b'<' | b'"' | b'\'')
}

/// The bytes of `|`, or of the line of a frame.
fn bar(text: &[u8]) -> Option<usize> {
    ["|", "│"].into_iter().find(|bar| text.starts_with(bar.as_bytes())).map(str::len)
}

/// `14 3.217 `, behind `#`: the number of a step, and the seconds since it began.
fn of_build(text: &[u8]) -> Option<usize> {
    let step = digits(text);
    let seconds = text.get(step..)?.strip_prefix(b" ")?;
    let whole = digits(seconds);
    let decimals = digits(seconds.get(whole..)?.strip_prefix(b".")?);
    let end = step + 1 + whole + 1 + decimals;
    let is_whole = step > 0 && whole > 0 && decimals > 0;
    (is_whole && text.get(end).is_none_or(u8::is_ascii_whitespace)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_ending_of_a_log() {
        for (text, name) in [
            ("a/rank3.log:text", "a/rank3.log:"),
            ("out.txt:  File", "out.txt:"),
            ("0/stderr:x", "0/stderr:"),
        ] {
            assert_eq!(file_name(text.as_bytes()), Some(name.len()), "{text}");
        }
        for text in ["train.py:3", "error:x", "a.log text", "CUDA error: x"] {
            assert_eq!(file_name(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn numbers_of_lines_have_a_sign_behind_them() {
        for (text, number) in [
            ("7 | text", "7 |"),
            ("12| text", "12|"),
            ("120 │ text", "120 │"),
            ("7 |", "7 |"),
            ("41\ttext", "41"),
            ("12:text", "12:"),
            ("12-text", "12-"),
            ("12-  File \"a.py\"", "12-"),
            ("#14 3.217 text", "#14 3.217"),
        ] {
            assert_eq!(line_number(text.as_bytes()), Some(number.len()), "{text}");
        }
        for text in [
            "3: text",
            "12:30:01",
            "2025-07-07",
            "0-0 - 7-7",
            "7 text",
            "12345678 | x",
            "5 || y",
            "# 3",
            "#14 text",
            "",
        ] {
            assert_eq!(line_number(text.as_bytes()), None, "{text}");
        }
    }
}
