//! A comparison as comma-separated values: the figures, or what the changes consist of.

use super::document::Comparison;
use super::explained::{Groupings, Row};
use super::{By, Shown};
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::analysis::figures::difference::{Difference, Side};
use crate::csv::line;
use crate::text::clean;

/// What `--csv` prints.
pub fn csv(comparison: &Comparison) -> String {
    if comparison.shown.by.is_empty() {
        figures(comparison.runs.figures().unwrap_or(&comparison.figures))
    } else {
        contributions(comparison, &comparison.shown)
    }
}

fn number<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// A line for each figure: its path in JSON, its unit, its values; of two reports the change.
fn figures(figures: &[Figure]) -> String {
    let reports = figures.first().map_or(0, |figure| figure.values.len());
    let mut titles = vec!["figure".to_owned(), "unit".to_owned()];
    match reports {
        0..=2 => titles.extend(["source", "target", "difference", "percent"].map(str::to_owned)),
        _ => titles.extend((1..=reports).map(|run| format!("run_{run}"))),
    }
    let rows = figures.iter().map(|figure| {
        let mut cells =
            vec![clean(&figure.path.join(".")).into_owned(), figure.unit.key().to_owned()];
        let rates = figure.rates.iter().map(|rate| number(*rate));
        let values = figure.values.iter().map(|value| number(*value));
        if figure.unit == Unit::SamplesPerSecond {
            cells.extend(rates);
        } else {
            cells.extend(values);
        }
        if reports <= 2 {
            let rate = figure.rate_difference(1);
            let of_rate = rate.map(|rate| [number(rate.change()), number(rate.percent())]);
            let difference = figure.difference(1);
            let of_number = || match figure.unit {
                // Where something is has no difference.
                Unit::Place => [String::new(), String::new()],
                _ => [number(difference.change()), number(difference.percent())],
            };
            cells.extend(of_rate.unwrap_or_else(of_number));
        }
        line(cells)
    });
    line(titles) + &rows.collect::<String>()
}

/// A line for each contribution of the tables that are asked for.
fn contributions(comparison: &Comparison, shown: &Shown) -> String {
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
    ];
    let mut text = line(titles.map(str::to_owned));
    let explanation = &comparison.explanation;
    let mut add = |of: &str, groupings: &Groupings| {
        for (by, title, rows) in groupings.all() {
            if shown.has(by) {
                let rows = rows.iter().flat_map(|rows| rows.iter());
                text.extend(rows.map(|row| contribution(of, title, row)));
            }
        }
    };
    if !shown.is_fullest_alone() {
        if let Some(matched) = &comparison.explanation_at_matched_steps {
            for (of, part) in
                [("source_peak", &matched.source_peak), ("target_peak", &matched.target_peak)]
            {
                if let Some(part) = part {
                    add(of, &part.peak.groupings);
                }
            }
        }
        for (of, part) in [
            ("peak", &explanation.peak),
            ("always_live", &explanation.always_live),
            ("not_always_live", &explanation.not_always_live),
        ] {
            if let Some(part) = part {
                add(of, &part.groupings);
            }
        }
    }
    if let Some(tile) = explanation.fullest_tile.as_ref().filter(|_| shown.has(By::Fullest)) {
        add("fullest_tile", &tile.groupings);
    }
    text
}

fn contribution(of: &str, by: &str, row: &Row) -> String {
    let (contributor, name) = row.key_and_name();
    let Difference { source, target } = row.bytes;
    let only = match row.only {
        Some(Side::Source) => "source",
        Some(Side::Target) => "target",
        None => "",
    };
    line([
        of.to_owned(),
        by.to_owned(),
        contributor.to_owned(),
        clean(name.unwrap_or_default()).into_owned(),
        clean(row.operation_kind().unwrap_or_default()).into_owned(),
        only.to_owned(),
        number(source),
        number(target),
        number(row.bytes.change()),
        number(row.bytes.percent()),
    ])
}
