//! Comma-separated values, quoted as RFC 4180 says; lines end with a line feed.

/// A line of cells, quoted where they need it.
pub fn line<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for (index, cell) in cells.into_iter().enumerate() {
        let cell = cell.as_ref();
        if index > 0 {
            line.push(',');
        }
        if cell.contains([',', '"', '\n', '\r']) {
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
    }

    proptest! {
        #[test]
        fn cells_come_back(cells in proptest::collection::vec("[a,\"\n\r ]{0,6}", 1..6)) {
            prop_assert_eq!(read(&line(&cells)), cells);
        }
    }
}
