//! Keeps names from giving commands to GitHub's runner, which looks for them in all that a step prints, on standard error too.

/// Escapes one character of each `##[`, and of each `::` that begins a line (after blanks).
pub fn without_commands(text: &str) -> String {
    let lines = text.split_inclusive(['\n', '\r']).map(|line| {
        let is_command = line.trim_start().starts_with("::");
        // The first two colons are those at its beginning.
        if is_command { line.replacen("::", "\\u{3a}:", 1) } else { line.to_owned() }
    });
    lines.collect::<String>().replace("##[", "##\\u{5b}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_form_of_a_command_is_left() {
        for (text, expected) in [
            ("a::b: #[x] ::\n", "a::b: #[x] ::\n"),
            ("::a::b\r\t ::c\n::d", "\\u{3a}:a::b\r\t \\u{3a}:c\n\\u{3a}:d"),
            ("a ##[b]##[c] ###[d]", "a ##\\u{5b}b]##\\u{5b}c] ###\\u{5b}d]"),
            ("\u{a0}:::", "\u{a0}\\u{3a}::"),
            ("", ""),
        ] {
            assert_eq!(without_commands(text), expected);
        }
    }
}
