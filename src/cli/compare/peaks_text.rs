//! A comparison by what is alive at the peaks as text for people, and as comma-separated values.

use super::By;
use super::conclusions;
use super::peaks::{FigureRow, PeakComparison, PeakRow, PeakTable};
use crate::analysis::compared_snapshots::Both;
use crate::analysis::figures::difference::Difference;
use crate::cli::output::{aligned, name_cell};
use crate::csv::line;
use crate::text::{bytes, clean, grouped, signed, signed_bytes};

/// Rows of a table.
const MOST_ROWS: usize = 20;

/// For people.
pub(super) fn text<S>(comparison: &PeakComparison<S>) -> String {
    if !comparison.runs.is_empty() {
        return of_many(comparison);
    }
    let mut text = conclusions::text(&comparison.conclusions);
    text.push('\n');
    let sides = ["Source", "Target"].iter().zip(&comparison.sides);
    for ((title, side), path) in sides.zip(&comparison.paths) {
        text += &format!("{title}  {}, {}\n", clean(path), clean(&side.device_title));
    }
    let settings = settings(comparison);
    if !settings.is_empty() {
        text += &format!("\nWhat differs\n{settings}");
    }
    if comparison.shown.brief {
        return text;
    }
    if comparison.shown.by.is_empty() {
        text += &format!("\nFigures\n{}", figures(&comparison.figures));
        for note in &comparison.notes {
            text += &format!("  {note}\n");
        }
    }
    text += &format!("\n{}\n", comparison.peaks);
    for one in comparison.tables.iter().filter(|one| comparison.shown.has(one.by)) {
        text += &table(one);
    }
    text
}

fn settings<S>(comparison: &PeakComparison<S>) -> String {
    let (_, settings) = &comparison.settings;
    if settings.is_empty() {
        return String::new();
    }
    let value = |value: &Option<String>| match value.as_deref() {
        None => "–".to_owned(),
        Some("") => "none".to_owned(),
        Some(value) => name_cell(value),
    };
    let rows = settings.iter().map(|setting| {
        let [source, target] = setting.values.each_ref().map(value);
        vec![name_cell(&setting.name), source, target]
    });
    aligned(&["<", "<source", "<target"], rows)
}

fn amount(figure: &FigureRow, place: usize) -> String {
    let Some(value) = figure.value(place) else { return "–".to_owned() };
    let least = if figure.are_at_least.get(place) == Some(&true) { "≥ " } else { "" };
    if figure.is_bytes { format!("{least}{}", bytes(value)) } else { grouped(value) }
}

fn change_of(difference: &Difference, is_bytes: bool) -> String {
    let Some(change) = difference.change() else { return String::new() };
    if is_bytes { signed_bytes(change) } else { signed(change, grouped) }
}

fn figures(figures: &[FigureRow]) -> String {
    let rows = figures.iter().map(|figure| {
        let percent = figure.percent_of_source(1);
        vec![
            figure.title.to_owned(),
            amount(figure, 0),
            amount(figure, 1),
            change_of(&figure.difference(1), figure.is_bytes),
            percent.map_or_else(String::new, |percent| format!("{percent:.1} %")),
        ]
    });
    aligned(&["<", "source", "target", "change", "of the source"], rows)
}

fn both_cells(both: &Both) -> Vec<String> {
    let difference = both.bytes();
    vec![bytes(both.source.bytes), bytes(both.target.bytes), change_of(&difference, true)]
}

/// A table of as many rows as are shown, and what the others add up to: its columns add up to the peaks.
fn table(table: &PeakTable) -> String {
    let rows = &table.rows;
    let shown = if rows.len() > MOST_ROWS + 1 { MOST_ROWS } else { rows.len() };
    let (first, others) = rows.split_at(shown);
    let mut rest = Both::default();
    for row in others {
        rest.add(&row.both);
    }
    let cells = first.iter().map(|row| [row.cells.clone(), both_cells(&row.both)].concat());
    let mut cells: Vec<Vec<String>> = cells.collect();
    if !others.is_empty() {
        let mut row = vec![format!("{} others", others.len())];
        row.resize(table.words.len(), String::new());
        row.extend(both_cells(&rest));
        cells.push(row);
    }
    let words = table.words.iter().copied();
    let header: Vec<&str> = words.chain(["source", "target", "change"]).collect();
    format!("\n{}\n{}", table.title, aligned(&header, cells))
}

/// How many of each side a row has: `1 → 2`.
pub(super) fn counts_cell(both: &Both) -> String {
    format!("{} → {}", grouped(both.source.blocks), grouped(both.target.blocks))
}

fn of_many<S>(comparison: &PeakComparison<S>) -> String {
    let mut text = String::new();
    for (number, (run, path)) in (1..).zip(comparison.runs.iter().zip(&comparison.paths)) {
        let reference = if number == 1 { ", the reference" } else { "" };
        let device = clean(&run.device_title);
        text += &format!("{number}  {}, {device}{reference}\n", clean(path));
        text += &conclusions::text(&run.conclusions);
    }
    if comparison.shown.brief {
        return text;
    }
    let mut header = vec!["<".to_owned()];
    for (place, run) in comparison.runs.iter().enumerate() {
        header.push(format!("{} {}", place.saturating_add(1), run.name));
        if place > 0 {
            header.push("of the first".to_owned());
        }
    }
    let rows = comparison.figures.iter().map(|figure| {
        let mut cells = vec![figure.title.to_owned()];
        for place in 0..comparison.runs.len() {
            cells.push(amount(figure, place));
            if place > 0 {
                let percent = figure.percent_of_source(place);
                cells.push(percent.map_or_else(String::new, |percent| format!("{percent:.1} %")));
            }
        }
        cells
    });
    text += &format!("\nRuns\n{}", aligned(&header, rows));
    text + "\nPercent are of the first; compare two of them to see what a change consists of\n"
}

/// Lines of comma-separated values: the figures, or with `--by` the tables of it.
pub(super) fn csv<S>(comparison: &PeakComparison<S>) -> Box<dyn Iterator<Item = String> + '_> {
    if comparison.shown.by.is_empty() {
        Box::new(std::iter::once(figures_csv(comparison)))
    } else {
        Box::new(tables_csv(comparison))
    }
}

fn tables_csv<S>(comparison: &PeakComparison<S>) -> impl Iterator<Item = String> {
    let counted = comparison.counted;
    let titles = [
        "by".to_owned(),
        "name".to_owned(),
        format!("only_{counted}_of_bytes"),
        format!("source_{counted}"),
        format!("target_{counted}"),
        "source_bytes".to_owned(),
        "target_bytes".to_owned(),
        "difference_bytes".to_owned(),
    ];
    let tables = comparison.tables.iter().filter(|table| comparison.shown.has(table.by));
    let rows = tables.flat_map(|table| table.rows.iter().map(move |row| (table.by, row)));
    let row_line = |(by, row): (By, &PeakRow)| {
        let number = |number: i64| number.to_string();
        let Difference { source, target } = row.both.bytes();
        line([
            by.key().to_owned(),
            clean(&row.csv_name()).into_owned(),
            row.size.map_or_else(String::new, |size| size.to_string()),
            row.both.source.blocks.to_string(),
            row.both.target.blocks.to_string(),
            number(source.unwrap_or(0)),
            number(target.unwrap_or(0)),
            number(row.both.bytes().change().unwrap_or(0)),
        ])
    };
    std::iter::once(line(titles)).chain(rows.map(row_line))
}

fn figures_csv<S>(comparison: &PeakComparison<S>) -> String {
    let runs = comparison.figures.first().map_or(0, |figure| figure.values.len());
    let mut titles = vec!["figure".to_owned(), "unit".to_owned()];
    if runs <= 2 {
        let words = ["source", "target", "difference", "percent", "percent_of_source"];
        titles.extend(words.map(str::to_owned));
    } else {
        titles.extend((1..=runs).map(|run| format!("run_{run}")));
    }
    let mut text = line(titles);
    let share = |percent: Option<f64>| percent.map_or_else(String::new, |one| format!("{one:.1}"));
    for figure in &comparison.figures {
        let unit = if figure.is_bytes { "bytes" } else { "count" };
        let mut cells = vec![figure.key.to_owned(), unit.to_owned()];
        let number = |value: &Option<u64>| value.map_or_else(String::new, |one| one.to_string());
        cells.extend(figure.values.iter().map(number));
        if runs <= 2 {
            let difference = figure.difference(1);
            let change = difference.change();
            cells.push(change.map_or_else(String::new, |change| change.to_string()));
            cells.extend([share(difference.percent()), share(figure.percent_of_source(1))]);
        }
        text += &line(cells);
    }
    text
}
