//! Comma-separated values, quoted as RFC 4180 says; lines end with a line feed, also those in a cell. Cells may come from a
//! file, so nothing in them is obeyed by a terminal or evaluated by a spreadsheet.

use std::borrow::Cow;

use crate::text::clean;

/// A line of cells, quoted where they need it.
pub fn line<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for (index, cell) in cells.into_iter().enumerate() {
        let cell = &*harmless(cell.as_ref());
        if index > 0 {
            line.push(',');
        }
        if cell.contains([',', '"', '\n']) {
            line.push('"');
            line.push_str(&cell.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(cell);
        }
    }
    line.push('\n');
    line
}

/// What a formula begins with (OWASP, "CSV Injection"), also as East Asian spreadsheets write it.
const FORMULA: [char; 9] = ['=', '+', '-', '@', '\t', '＝', '＋', '－', '＠'];

/// A cell without characters that a terminal obeys, other than line feeds, and with an apostrophe before what a
/// spreadsheet takes for a formula. A carriage return goes before a line feed, and is named elsewhere: a terminal would
/// write over the line, and readers do not agree whether a row ends there.
fn harmless(cell: &str) -> Cow<'_, str> {
    let is_formula = cell.starts_with(FORMULA) && cell.len() > 1 && cell.parse::<f64>().is_err();
    if !is_formula && !cell.contains('\n') {
        return clean(cell);
    }
    let sign = if is_formula { "'" } else { "" };
    let lines = cell.replace("\r\n", "\n");
    let lines = lines.split('\n').map(clean).collect::<Vec<_>>();
    Cow::Owned(format!("{sign}{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads one line as RFC 4180 says.
    fn read(line: &str) -> Vec<String> {
        let (mut cells, mut is_quoted) = (vec![String::new()], false);
        let mut characters = line.strip_suffix('\n').expect("a line").chars().peekable();
        while let Some(character) = characters.next() {
            let cell = cells.last_mut().expect("a cell");
            match character {
                '"' if is_quoted && characters.next_if_eq(&'"').is_some() => cell.push('"'),
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(String::new()),
                other => cell.push(other),
            }
        }
        cells
    }

    #[test]
    fn what_needs_quotes_gets_them() {
        assert_eq!(line(["plain", "", "a,b", "say \"x\""]), "plain,,\"a,b\",\"say \"\"x\"\"\"\n");
        assert_eq!(line(["two\nlines"]), "\"two\nlines\"\n");
        assert_eq!(
            line(["two\r\nlines", "back\rto", "\r"]),
            "\"two\nlines\",back\\u{d}to,\\u{d}\n"
        );
    }

    #[test]
    fn no_cell_is_obeyed() {
        let cells = [
            "=cmd|' /C calc'!A0",
            "+1+2",
            "-2+3",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "＝1+1",
            "\u{1b}[31mred\u{202e}",
        ];
        let read = read(&line(cells));
        for (cell, read) in cells.iter().zip(&read) {
            assert!(!read.starts_with(FORMULA), "{cell} came as {read}");
            assert!(!read.contains(['\u{1b}', '\u{202e}']), "{cell} came as {read}");
        }
        assert_eq!(line(["\u{1b}[2J\n=1"]), "\"\\u{1b}[2J\n=1\"\n");
        let numbers = "-1200,+5.5,-0.25,1e9,-,12 %\n";
        assert_eq!(line(numbers.trim_end().split(',')), numbers, "numbers stay numbers");
    }

    proptest! {
        #[test]
        fn cells_come_back(cells in proptest::collection::vec("[a,\"\n\r ]{0,6}", 1..6)) {
            let kept = |cell: String| cell.replace("\r\n", "\n").replace('\r', "\\u{d}");
            let line = line(&cells);
            prop_assert_eq!(read(&line), cells.into_iter().map(kept).collect::<Vec<_>>());
        }
    }
}
