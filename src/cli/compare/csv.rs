//! A comparison as comma-separated values: the figures, or what the changes consist of.

use super::document::Comparison;
use super::tables::wholes;
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::csv::line;
use crate::text::clean;

/// What `--csv` prints: the figures, or with `--by` the tables of it.
pub(super) fn csv(comparison: &Comparison) -> Box<dyn Iterator<Item = String> + '_> {
    if comparison.shown.by.is_empty() {
        Box::new(std::iter::once(figures(&comparison.figures)))
    } else {
        Box::new(contributions(comparison))
    }
}

fn number<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// A line for each figure: its key in JSON, its unit, its values; of two runs the change.
fn figures(figures: &[Figure]) -> String {
    let runs = figures.first().map_or(0, |figure| figure.values.len());
    let mut titles = vec!["figure".to_owned(), "unit".to_owned()];
    match runs {
        0..=2 => {
            let words = ["source", "target", "difference", "percent", "percent_of_source"];
            titles.extend(words.map(str::to_owned));
        }
        _ => titles.extend((1..=runs).map(|run| format!("run_{run}"))),
    }
    let rows = figures.iter().map(|figure| {
        let mut cells = vec![clean(&figure.key).into_owned(), figure.unit.key().to_owned()];
        if figure.unit == Unit::SamplesPerSecond {
            cells.extend(figure.rates.iter().map(|rate| number(*rate)));
        } else {
            cells.extend(figure.values.iter().map(|value| number(*value)));
        }
        if runs <= 2 {
            let json = figure.json(1);
            let change = ["difference", "percent", "percent_of_source"].map(|key| &json[key]);
            cells.extend(change.map(|value| number(value.as_number())));
        }
        line(cells)
    });
    line(titles) + &rows.collect::<String>()
}

/// A line for each row of the tables that are asked for.
fn contributions(comparison: &Comparison) -> impl Iterator<Item = String> {
    let titles = [
        "change_of",
        "by",
        "contributor",
        "name",
        "kind",
        "only",
        "source_bytes",
        "target_bytes",
        "difference_bytes",
        "percent",
        "source_count",
        "target_count",
        "each_bytes",
    ];
    let wholes = wholes(comparison).into_iter().filter(|whole| !whole.key.is_empty());
    let rows = wholes.flat_map(|whole| {
        let key = whole.key;
        let tables = whole.tables.into_iter();
        tables.flat_map(move |table| table.rows.into_iter().map(move |row| (key, table.by, row)))
    });
    let row_line = move |(key, by, row): (&str, _, super::tables::PartRow<'_>)| {
        let (bytes, [source, target]) = (row.bytes(), row.counts());
        let [contributor, name, kind] = row.key_and_name(comparison, by);
        line([
            key.to_owned(),
            by.key().to_owned(),
            contributor.into_owned(),
            clean(&name).into_owned(),
            clean(&kind).into_owned(),
            row.only().unwrap_or_default().to_owned(),
            number(bytes.source),
            number(bytes.target),
            number(bytes.change()),
            number(bytes.percent()),
            number(source),
            number(target),
            number(row.size()),
        ])
    };
    std::iter::once(line(titles.map(str::to_owned))).chain(rows.map(row_line))
}
