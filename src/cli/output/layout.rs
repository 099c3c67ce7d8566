//! Layout of text on a terminal: tables, and lines wrapped to its width.

use std::io::{self, IsTerminal as _, Write};

use comfy_table::{CellAlignment, ColumnConstraint, Table, Width};

use super::as_text;
use crate::text;

/// A table of text, as [`write_aligned`] writes it.
pub fn aligned<T: AsRef<str>>(
    header: &[T],
    rows: impl IntoIterator<IntoIter: Iterator<Item = Vec<String>> + Clone>,
) -> String {
    as_text(|out| write_aligned(out, header, rows))
}

/// Writes a table. Columns whose title begins with `<` hold words and are aligned to the left, the
/// others hold figures and are aligned to the right.
///
/// Rows are made again for each pass over them, because a long table is laid out in parts.
///
/// # Errors
/// Those of `out`.
pub fn write_aligned<T: AsRef<str>>(
    out: &mut dyn Write,
    header: &[T],
    rows: impl IntoIterator<IntoIter: Iterator<Item = Vec<String>> + Clone>,
) -> io::Result<()> {
    /// Rows that are laid out at once.
    const AT_ONCE: usize = 4096;
    let rows = rows.into_iter();
    let mut others = rows.clone().peekable();
    let first = table_of(header, true, others.by_ref().take(AT_ONCE));
    if others.peek().is_none() {
        return out.write_all(lines_of(&first).as_bytes());
    }
    drop((first, others));
    let tables = || {
        let (mut rows, mut is_first) = (rows.clone().peekable(), true);
        std::iter::from_fn(move || {
            let is_any = std::mem::take(&mut is_first);
            if !is_any && rows.peek().is_none() {
                return None;
            }
            Some(table_of(header, is_any, rows.by_ref().take(AT_ONCE)))
        })
    };
    let mut widths = vec![0_u16; header.len()];
    for table in tables() {
        for (width, own) in widths.iter_mut().zip(table.column_max_content_widths()) {
            *width = own.max(*width);
        }
    }
    for mut table in tables() {
        for (column, width) in table.column_iter_mut().zip(&widths) {
            let width = Width::Fixed(width.saturating_add(column.padding_width()));
            column.set_constraint(ColumnConstraint::Absolute(width));
        }
        out.write_all(lines_of(&table).as_bytes())?;
    }
    Ok(())
}

fn lines_of(table: &Table) -> String {
    table.lines().fold(String::new(), |lines, line| lines + "  " + line.trim_end() + "\n")
}

fn table_of<T: AsRef<str>>(
    header: &[T],
    has_titles: bool,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    // Whoever fills it need not know which titles and cells are from a file.
    let cleaned = |cell: &str| text::clean(cell).into_owned();
    let title = |title: &T| cleaned(title.as_ref().trim_start_matches('<'));
    let titles: Vec<String> = header.iter().map(title).collect();
    if has_titles && titles.iter().any(|title| !title.is_empty()) {
        table.set_header(titles);
    }
    for row in rows {
        table.add_row(row.iter().map(|cell| cleaned(cell)));
    }
    for (column, title) in table.column_iter_mut().zip(header) {
        let is_words = title.as_ref().starts_with('<');
        column.set_padding((0, 2));
        column.set_cell_alignment(if is_words {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table
}

/// A figure that may not be known.
pub fn or_unknown<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "not known".to_owned(), show)
}

/// A name for a table cell; of a long path its end.
pub fn name_cell(name: &str) -> String {
    text::path_end(name, 80).into_owned()
}

/// The width of text: that of the terminal, or what reads well where there is none.
fn text_width() -> usize {
    const WIDTH: usize = 100;
    const LEAST: usize = 40;
    let is_terminal = std::io::stdout().is_terminal();
    let of_terminal = is_terminal.then(terminal_size::terminal_size).flatten();
    of_terminal.map_or(WIDTH, |(width, _)| usize::from(width.0).max(LEAST))
}

/// A text in lines as wide as the terminal, without one of at most 100 characters, where its words allow it; the
/// first comes after `first` and the others are as far from the left.
pub fn wrapped(first: &str, words: &str) -> String {
    wrapped_to(text_width(), first, words)
}

fn wrapped_to(most: usize, first: &str, words: &str) -> String {
    let indent = first.chars().count();
    let (mut lines, mut line, mut width) = (String::new(), first.to_owned(), indent);
    for word in words.split_whitespace().map(text::clean) {
        let length = word.chars().count();
        if width > indent && width + 1 + length > most {
            lines += &line;
            lines.push('\n');
            line = " ".repeat(indent);
            width = indent;
        }
        if width > indent {
            line.push(' ');
            width += 1;
        }
        line += &word;
        width += length;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_laid_out() {
        let obeyed = "a\u{1b}[2J\u{202e}\r\nb";
        let table = aligned(&[&*format!("<{obeyed}"), obeyed], [vec![obeyed.to_owned(); 2]]);
        assert_eq!(table.lines().count(), 2, "{table}");
        for text in [table, wrapped("- ", obeyed)] {
            assert!(!text.replace('\n', "").chars().any(text::is_obeyed), "{text}");
            assert!(text.contains("a\\u{1b}[2J\\u{202e}"), "{text}");
        }
    }

    #[test]
    fn rows_in_parts_are_laid_out_as_those_of_one_table() {
        for count in [0, 1, 4096, 4097, 10_000] {
            let rows = (0..count).map(|row: usize| {
                let wide = if row == 5000 { "as wide as no other, 宽" } else { "a" };
                vec![row.to_string(), wide.to_owned(), String::new()]
            });
            let header = ["number", "<name", "<"];
            let expected = lines_of(&table_of(&header, true, rows.clone()));
            assert!(aligned(&header, rows) == expected, "{count} rows");
        }
    }

    #[test]
    fn lines_break_between_words_and_stay_below_each_other() {
        let text = wrapped_to(100, "  7. ", &"word ".repeat(40));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("  7. word word") && lines[1].starts_with("     word"));
        assert!(lines.iter().all(|line| line.chars().count() <= 100));
        assert_eq!(text.split_whitespace().filter(|word| *word == "word").count(), 40);
        let long = "x".repeat(200);
        assert_eq!(wrapped("- ", &format!("{long} y")), format!("- {long}\n  y\n"));
        assert_eq!(wrapped("- ", ""), "- \n");
        let narrow = wrapped_to(40, "  ", &"word ".repeat(40));
        assert!(
            narrow.lines().count() > 5 && narrow.lines().all(|line| line.chars().count() <= 40)
        );
    }
}
