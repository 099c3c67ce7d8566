//! Lines of XML and HTML, as reports of tests and exports of logs have them: their text without tags, and with the characters
//! that markup writes as names.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::entries::lines_of_fields;

/// Bytes of a name of a character, and of a tag.
const MOST_OF_NAME: usize = 10;
const MOST_OF_TAG: usize = 1 << 14;

/// The lines of the text of a line that is markup, or has characters written as names; `None` where it has nothing of it.
pub fn unfolded(line: &[u8]) -> Option<Vec<u8>> {
    of_element(line.trim_ascii()).or_else(|| {
        let plain = || unescaped(&String::from_utf8_lossy(line)).into_owned().into_bytes();
        has_names(line).then(plain)
    })
}

/// Whether some text has a character that is written as a name.
pub fn has_names(text: &[u8]) -> bool {
    memchr::memchr_iter(b'&', text).any(|at| {
        let name = text.get(at..text.len().min(at + MOST_OF_NAME)).unwrap_or_default();
        character(name).is_some()
    })
}

/// An element that begins and ends on a line, with its attributes as fields.
fn of_element(line: &[u8]) -> Option<Vec<u8>> {
    let is_element = line.starts_with(b"<") && line.ends_with(b">");
    let line = std::str::from_utf8(line).ok().filter(|_| is_element)?;
    let mut fields = Map::new();
    let mut rest = line;
    while let Some((attributes, behind)) = tag(rest) {
        add_attributes(attributes, &mut fields);
        rest = behind.trim_start();
    }
    let text = match rest.strip_prefix("<![CDATA[") {
        Some(text) => Cow::Borrowed(text.split_once("]]>").map_or(text, |(text, _)| text)),
        None => unescaped(without_ends(rest)?),
    };
    let name = if fields.contains_key("message") { "text" } else { "message" };
    fields.insert(name.to_owned(), Value::String(text.into_owned()));
    lines_of_fields(&fields)
}

/// A text before the tags that end elements; `None` where there are none.
fn without_ends(text: &str) -> Option<&str> {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b":_-".contains(&byte);
    let before_end = |text: &'_ str| {
        let (before, name) = text.strip_suffix('>')?.rsplit_once("</")?;
        name.bytes().all(is_of_name).then_some(before.len())
    };
    let mut end = before_end(text)?;
    while let Some(before) = text.get(..end).map(str::trim_end).and_then(before_end) {
        end = before;
    }
    text.get(..end)
}

/// The inside of the tag with which a text begins, and what is behind it.
fn tag(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('<')?;
    let is_tag = inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '?');
    let end = inside.bytes().take(MOST_OF_TAG).position(|byte| byte == b'>').filter(|_| is_tag)?;
    Some((inside.get(..end)?, inside.get(end + 1..)?))
}

/// `level="error" host="n-1"`
fn add_attributes(tag: &str, fields: &mut Map<String, Value>) {
    let mut rest = tag;
    while let Some((before, behind)) = rest.split_once("=\"") {
        let Some((value, next)) = behind.split_once('"') else { break };
        let name = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        fields.insert(name.to_owned(), Value::String(unescaped(value).into_owned()));
        rest = next;
    }
}

/// A text whose characters stand for themselves.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !has_names(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, name) = rest.split_at(at);
        plain.push_str(before);
        let (letter, length) = character(name.as_bytes()).unwrap_or(('&', 1));
        plain.push(letter);
        rest = name.get(length..).unwrap_or_default();
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The character whose name a text begins with, and the bytes of the name: `&lt;`, `&#39;`, `&#x27;`.
fn character(text: &[u8]) -> Option<(char, usize)> {
    let name = text.strip_prefix(b"&")?;
    let end = name.iter().take(MOST_OF_NAME).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(name.get(..end)?).ok()?;
    let letter = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = name.strip_prefix('#')?;
            let number = match number.strip_prefix(['x', 'X']) {
                Some(number) => u32::from_str_radix(number, 16),
                None => number.parse(),
            };
            char::from_u32(number.ok()?)?
        }
    };
    Some((letter, end + 2))
}

#[cfg(test)]
mod tests {
    use super::super::entries::shown;
    use super::*;

    fn lines(line: &str) -> Option<String> {
        unfolded(line.as_bytes()).map(|lines| shown(&lines))
    }

    #[test]
    fn the_text_of_markup_is_found() {
        for (line, expected) in [
            ("<e level=\"error\" time=\"2025\"><![CDATA[a <b> c]]></e>\n", "< time=2025>a <b> c\n"),
            ("<e host=\"n-1\">a &lt;b&gt; &amp; c</e>", "< host=n-1>a <b> & c\n"),
            ("  <p><span class=\"x\">a</span></p>\n", "< class:x>a\n"),
            ("<failure message=\"a &quot;b&quot;&#10;c\"></failure>", "<>a \"b\"\n<>c\n"),
            ("error &#39;a&#x27; &gt; 3\n", "error 'a' > 3\n"),
        ] {
            assert_eq!(lines(line).as_deref(), Some(expected), "{line}");
        }
        for other in [
            "<stdin>:1: error",
            "<module>",
            "a && b",
            "R&D; more",
            "x &unknown; y",
            "<13>1 a",
            "a <b>",
            "",
        ] {
            assert_eq!(lines(other), None, "{other}");
        }
        assert!(has_names(b"a &lt; b") && !has_names(b"a && b & c"));
    }
}
