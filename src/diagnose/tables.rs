//! Tables of comma-separated values with the names of their columns, as Grafana, CloudWatch, Datadog and others export logs.

use serde_json::{Map, Value};

use super::entries::{is_text_name, lines_of_fields};

/// Columns of a table, and bytes of a name.
const MOST_COLUMNS: usize = 64;
const MOST_OF_NAME: usize = 80;

/// The columns of a table.
#[derive(Debug)]
pub struct Columns {
    names: Vec<String>,
    separator: char,
}

impl Columns {
    /// Those that the first line of a log names, if one of them has the text.
    pub fn of(line: &[u8]) -> Option<Self> {
        let line = line.get(..line.len().min(MOST_COLUMNS * MOST_OF_NAME))?;
        let line = std::str::from_utf8(line).ok()?.trim_end();
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || " _.@-/()".contains(c);
        let is_name = |name: &String| {
            (1..=MOST_OF_NAME).contains(&name.len())
                && name.chars().all(is_of_name)
                && name.contains(|c: char| c.is_ascii_alphabetic())
        };
        let columns = [',', '\t', ';'].map(|separator| (separator, cells(line, separator)));
        let (separator, names) = columns.into_iter().max_by_key(|(_, names)| names.len())?;
        let is_header = (2..=MOST_COLUMNS).contains(&names.len())
            && names.iter().all(is_name)
            && names.iter().any(|name| is_text_name(name));
        is_header.then_some(Self { names, separator })
    }

    /// The lines of the text of a row; `None` where it has other columns.
    pub fn lines_of(&self, row: &[u8]) -> Option<Vec<u8>> {
        let row = String::from_utf8_lossy(row);
        let row = row.strip_suffix('\n').unwrap_or(&row);
        let cells = cells(row.strip_suffix('\r').unwrap_or(row), self.separator);
        if cells.len() != self.names.len() {
            return None;
        }
        let fields = self.names.iter().cloned().zip(cells.into_iter().map(Value::String));
        lines_of_fields(&fields.collect::<Map<_, _>>())
    }
}

/// Whether lines are whole rows: no quotation is open.
pub fn is_whole(lines: &[u8]) -> bool {
    memchr::memchr_iter(b'"', lines).count().is_multiple_of(2)
}

/// The cells of a row, without the quotation marks around them.
fn cells(row: &str, separator: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = row.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(cell) = cells.last_mut() else { break };
        if letter == '"' && (is_quoted || cell.is_empty()) {
            // Two of them are one in the text.
            if is_quoted && letters.next_if_eq(&'"').is_some() {
                cell.push('"');
            } else {
                is_quoted = !is_quoted;
            }
        } else if letter == separator && !is_quoted {
            cells.push(String::new());
        } else {
            cell.push(letter);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::super::entries::shown;
    use super::*;

    fn lines(header: &str, row: &str) -> Option<String> {
        Some(shown(&Columns::of(header.as_bytes())?.lines_of(row.as_bytes())?))
    }

    #[test]
    fn the_columns_say_what_the_cells_are() {
        for (header, row, expected) in [
            ("Id,Pod Name,Content", "1,p-0,a", "< pod_name=p-0>a\n"),
            (
                "\"@timestamp\",\"@message\"",
                "\"2025\",\"a \"\"b\"\", c\"\r\n",
                "< time=2025>a \"b\", c\n",
            ),
            ("Time\thost\tLine", "1\tn-1\ta, b", "< time=1 host=n-1>a, b\n"),
            ("host,message", "n-1,\"a\nb\"", "< host=n-1>a\n< host=n-1>b\n"),
            ("Time,labels,Line", "1,\"{\"\"pod\"\":\"\"p\"\"}\",a", "< time=1 pod=p>a\n"),
        ] {
            assert_eq!(lines(header, row).as_deref(), Some(expected), "{header}");
        }
        assert_eq!(lines("host,message", "a,b,c"), None);
        for header in ["message", "step,loss", "2025-07-07 11:02:03,123 message", "a: b, log", ""] {
            assert!(Columns::of(header.as_bytes()).is_none(), "{header}");
        }
        assert!(is_whole(b"1,\"a\"") && !is_whole(b"1,\"a\n"));
    }
}
