//! Lines of fields: `level=error msg="…"`, and rows of tables whose last field is the text.

use memchr::memmem;

use super::entries::add_labelled;

/// Bytes of a line before its text, and fields.
const MOST_BEFORE: usize = 1024;
const MOST_FIELDS: usize = 12;

/// The lines of the text of a line that ends with a quotation mark, or has pairs with a text; `None` where it has no such form.
pub fn unfolded(line: &[u8]) -> Option<Vec<u8>> {
    let whole = line.trim_ascii_end();
    let of_row = || {
        let (before, text) = of_row(whole.strip_suffix(b"\"")?)?;
        Some((before.to_vec(), text))
    };
    let (before, text) = of_pairs(whole).or_else(of_row)?;
    let plain = |byte: &u8| if byte.is_ascii_control() { b' ' } else { *byte };
    let labels: Vec<u8> = before.iter().map(plain).collect();
    let mut lines = Vec::new();
    add_labelled(&labels, &text, &mut lines);
    Some(lines)
}

/// What stands before the text of pairs.
const TEXTS_OF_PAIRS: [&[u8]; 2] = [b" msg=\"", b" message=\""];

/// Whether some text may have lines of pairs.
pub fn may_have_pairs(text: &[u8]) -> bool {
    // One search for what both names end with takes half the time of two.
    const END: &[u8] = b"=\"";
    memmem::find_iter(text, END).any(|at| {
        let until = text.get(..at.saturating_add(END.len())).unwrap_or_default();
        TEXTS_OF_PAIRS.iter().any(|name| until.ends_with(name))
    })
}

/// The pairs and the text of `time=… level=error msg="…" rank=3`.
fn of_pairs(line: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let head = line.get(..line.len().min(MOST_BEFORE))?;
    // All before the text is of this form.
    let first = head.split(|byte| *byte == b' ').next()?;
    (first.contains(&b'=') && !first.starts_with(b"=")).then_some(())?;
    let found = |name: &&'static [u8]| Some((memmem::find(head, name)?, *name));
    let (at, name) = TEXTS_OF_PAIRS.iter().find_map(found)?;
    let (before, text) = (line.get(..at)?, line.get(at + name.len()..)?);
    let (text, behind) = text.split_at_checked(quotation(text)?)?;
    let behind = behind.strip_prefix(b"\"")?;
    (behind.is_empty() || behind.starts_with(b" ")).then_some(())?;
    let text: String = serde_json::from_slice(&[b"\"", text, b"\""].concat()).ok()?;
    Some(([before, behind].concat(), text.into_bytes()))
}

/// Where the quotation mark is that ends a text in which others have a backslash before them.
fn quotation(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        if text.get(at + found) == Some(&b'"') {
            return Some(at + found);
        }
        at += found + 2;
    }
    None
}

/// `2025-…,node,"…`, in which quotation marks are doubled.
fn of_row(line: &[u8]) -> Option<(&[u8], Vec<u8>)> {
    let mut at = 0;
    for _ in 0..MOST_FIELDS {
        let rest = line.get(at..)?;
        let separator = |byte: &u8| matches!(byte, b',' | b'\t' | b';');
        if let Some(text) = rest.strip_prefix(b"\"") {
            let mut end = None;
            let mut index = 0;
            while let Some(found) = text.get(index..).and_then(|rest| memchr::memchr(b'"', rest)) {
                let quote = index + found;
                if text.get(quote + 1) != Some(&b'"') {
                    end = Some(quote);
                    break;
                }
                index = quote + 2;
            }
            let Some(end) = end else {
                let text = String::from_utf8_lossy(text).replace("\"\"", "\"");
                return (at > 0).then(|| (line.get(..at).unwrap_or_default(), text.into_bytes()));
            };
            separator(text.get(end + 1)?).then_some(())?;
            at += end + 3;
        } else {
            let field = rest.get(..rest.len().min(MOST_BEFORE))?;
            let end = field.iter().position(separator)?;
            // A sentence with commas is no row.
            field.get(..end)?.iter().filter(|byte| **byte == b' ').nth(2).is_none().then_some(())?;
            at += end + 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::entries::shown;
    use super::*;

    fn lines(line: &str) -> Option<String> {
        unfolded(line.as_bytes()).map(|lines| shown(&lines))
    }

    #[test]
    fn the_text_of_fields_is_found() {
        for (line, expected) in [
            (
                "time=1 level=error rank=3 msg=\"a \\\"b\\\"\\nc\"",
                "<time=1 level=error rank=3>a \"b\"\n<time=1 level=error rank=3>c\n",
            ),
            ("time=1 msg=\"a b\" rank=3", "<time=1 rank=3>a b\n"),
            ("2025-07-07,node1,\"a \"\"b\"\" c\"", "<2025-07-07,node1,>a \"b\" c\n"),
            ("\"2025\",\"n\",\"\"", "<\"2025\",\"n\",>\n"),
        ] {
            assert_eq!(lines(line).as_deref(), Some(expected), "{line}");
        }
        for other in [
            "print(\"a\", \"b\"",
            "  File \"a.py\"",
            "He said, and this is long, \"no\"",
            "Operator: op_name=\"x\"",
            "x=1 msg=\"a\"b",
            "\"\"",
            "\"",
        ] {
            assert_eq!(lines(other), None, "{other}");
        }
    }
}
