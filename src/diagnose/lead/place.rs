//! Places in the source, as loggers write them before a text.

/// The bytes of `file.cc:76]` or `train.py:12 `, with which a text begins.
pub fn place(text: &[u8]) -> Option<usize> {
    place_in_file(text).or_else(|| place_in_module(text))
}

/// `__main__:train:42 `
fn place_in_module(text: &[u8]) -> Option<usize> {
    let is_of_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'<' | b'>');
    let mut at = 0;
    for _ in 0..2 {
        let length =
            text.get(at..)?.iter().take(super::WORD).take_while(|byte| is_of_name(byte)).count();
        (length > 0 && text.get(at + length) == Some(&b':')).then_some(())?;
        at += length + 1;
    }
    let line = text.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (line > 0 && super::is_blank_or_end(text, at + line)).then_some(at + line)
}

fn place_in_file(text: &[u8]) -> Option<usize> {
    let is_of_path = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'<' | b'>')
    };
    let path = text.iter().take(200).take_while(|byte| is_of_path(byte)).count();
    let name = text.get(..path)?;
    let ending = name.rsplit(|byte| *byte == b'.').next()?;
    let is_file = ending.len() < name.len()
        && ending.first().is_some_and(u8::is_ascii_alphabetic)
        && ending.len() < 6;
    let line = text.get(path + 1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !is_file || text.get(path) != Some(&b':') || line == 0 {
        return None;
    }
    let end = path + 1 + line;
    match text.get(end) {
        Some(b']') => Some(end + 1),
        Some(b':' | b' ' | b'\t' | b'\n') | None => Some(end),
        _ => None,
    }
}
