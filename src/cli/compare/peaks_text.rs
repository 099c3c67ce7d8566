//! A comparison by what is alive at the peaks as text for people, and as comma-separated values.

use super::By;
use super::conclusions;
use super::peaks::PeakComparison;
use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::Difference;
use crate::cli::output::{aligned, name_cell};
use crate::csv::line;
use crate::run::Conclusion;
use crate::run::compared::amounts::Both;
use crate::run::compared::figures::ComparedFigure;
use crate::run::compared::names::Owner;
use crate::run::compared::rows::{Peaks, Row};
use crate::text::{bytes, clean, grouped, signed, signed_bytes};

/// Rows of a table.
const MOST_ROWS: usize = 20;

/// A table of what is alive at the peaks.
struct Table<'a> {
    by: By,
    title: &'static str,
    /// Titles of the cells before the bytes.
    words: Vec<String>,
    rows: Vec<TableRow<'a>>,
}

/// A row of a table; names are made when they are written, for all rows have far more of them than the files.
#[derive(Clone, Copy)]
enum TableRow<'a> {
    Named(&'a str, &'static str, &'a Both),
    Owner(Option<&'a Owner>, &'a Both),
    Of(&'a Peaks, &'a Row),
}

impl<'a> TableRow<'a> {
    fn both(&self) -> &'a Both {
        match self {
            Self::Named(_, _, both) | Self::Owner(_, both) => both,
            Self::Of(_, row) => &row.both,
        }
    }

    /// Its name among comma-separated values: of a row all calls, and what else describes it.
    fn name(&self, of: &PeakComparison) -> String {
        match self {
            Self::Named(key, ..) => (*key).to_owned(),
            Self::Owner(owner, _) => of.owner_title(*owner),
            Self::Of(peaks, row) => {
                let calls: Vec<String> = peaks.names.owners(row.path).map(Owner::title).collect();
                let name = if calls.is_empty() { of.owner_title(None) } else { calls.join(" < ") };
                match peaks.detail(row) {
                    Some(detail) => format!("{name} {detail}"),
                    None => name,
                }
            }
        }
    }

    fn cells(&self, of: &PeakComparison) -> Vec<String> {
        match self {
            Self::Named(_, title, _) => vec![(*title).to_owned()],
            Self::Owner(owner, _) => vec![name_cell(&of.owner_title(*owner))],
            Self::Of(peaks, row) => {
                let other = peaks.owner_of_source(row).map(|owner| of.owner_title(owner));
                let callers = || peaks.callers(row).collect::<Vec<_>>().join(" < ");
                let mut cells = vec![
                    name_cell(&of.owner_title(peaks.owner(row))),
                    name_cell(&other.unwrap_or_default()),
                    name_cell(&peaks.detail(row).unwrap_or_else(callers)),
                    row.category.title.to_owned(),
                ];
                if of.compared.words.each.is_some() {
                    cells.push(row.size.map_or_else(|| "several".to_owned(), bytes));
                }
                cells.extend([counts_cell(&row.both), row.both.row_change().title().to_owned()]);
                cells
            }
        }
    }
}

/// The tables that are shown.
fn tables(of: &PeakComparison) -> impl Iterator<Item = Table<'_>> {
    let words = of.compared.words;
    let one = || vec!["<".to_owned()];
    let tables = of.compared.peaks.as_ref().map(|peaks| {
        let categories = peaks.by_category.iter();
        let owners = peaks.by_owner.iter();
        let mut titles = vec![
            "<".to_owned(),
            "<in place of".to_owned(),
            format!("<{}", words.detail.to_lowercase()),
            "<".to_owned(),
        ];
        titles.extend(words.each.map(|_| "each".to_owned()));
        titles.extend([words.counted.to_owned(), "<".to_owned()]);
        [
            Table {
                by: By::Category,
                title: "By category",
                words: one(),
                rows: categories
                    .map(|(category, both)| TableRow::Named(category.key, category.title, both))
                    .collect(),
            },
            Table {
                by: of.by_owner(),
                title: words.by_owner,
                words: one(),
                rows: owners.map(|row| TableRow::Owner(row.owner.as_ref(), &row.both)).collect(),
            },
            Table {
                by: By::Variable,
                title: words.by_row,
                words: titles,
                rows: peaks.rows.iter().map(|row| TableRow::Of(peaks, row)).collect(),
            },
        ]
    });
    tables.into_iter().flatten().filter(|table| of.shown.has(table.by))
}

/// Conclusions, one below the other.
fn said(conclusions: &[Conclusion]) -> String {
    let all = conclusions.iter();
    conclusions::text(all.map(|said| (said.is_better, format!("{}.", said.text))))
}

/// For people.
pub(super) fn text(comparison: &PeakComparison) -> String {
    if !comparison.runs.is_empty() {
        return of_many(comparison);
    }
    let compared = &comparison.compared;
    let mut text = said(&comparison.conclusions);
    text.push('\n');
    let sides = ["Source", "Target"].iter().zip(&compared.sides);
    for ((title, side), path) in sides.zip(&comparison.paths) {
        text += &format!("{title}  {}, {}\n", clean(path), clean(&side.title));
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
        if !comparison.is_room_known {
            text += "  What the device has is not in the files: --capacity 16GiB\n";
        }
    }
    let [source, target] = compared.sides.each_ref().map(|side| &side.peak_text);
    text += &format!(
        "\n{}: {source} of the source, {target} of the target; {} are not aligned\n",
        compared.words.peaks, compared.words.steps
    );
    text.extend(tables(comparison).map(|one| table(comparison, &one)));
    text
}

fn settings(comparison: &PeakComparison) -> String {
    let settings = &comparison.compared.settings;
    if settings.is_empty() {
        return String::new();
    }
    let value = |value: Option<&str>| match value {
        None => "–".to_owned(),
        Some("") => "none".to_owned(),
        Some(value) => name_cell(value),
    };
    let rows = settings.iter().map(|setting| {
        let [source, target] = setting.values().map(value);
        vec![name_cell(&setting.name), source, target]
    });
    aligned(&["<", "<source", "<target"], rows)
}

fn amount(figure: &ComparedFigure, place: usize) -> String {
    let Some(value) = figure.value(place) else { return "–".to_owned() };
    let least = if figure.are_at_least.get(place) == Some(&true) { "≥ " } else { "" };
    if figure.unit == Unit::Bytes { format!("{least}{}", bytes(value)) } else { grouped(value) }
}

fn change_of(difference: &Difference, is_bytes: bool) -> String {
    let Some(change) = difference.change() else { return String::new() };
    if is_bytes { signed_bytes(change) } else { signed(change, grouped) }
}

fn figures(figures: &[ComparedFigure]) -> String {
    let rows = figures.iter().map(|figure| {
        let percent = figure.percent_of_source(1);
        vec![
            figure.title.to_owned(),
            amount(figure, 0),
            amount(figure, 1),
            change_of(&figure.difference(1), figure.unit == Unit::Bytes),
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
fn table(of: &PeakComparison, table: &Table<'_>) -> String {
    let rows = &table.rows;
    let shown = if rows.len() > MOST_ROWS + 1 { MOST_ROWS } else { rows.len() };
    let (first, others) = rows.split_at(shown);
    let mut rest = Both::default();
    for row in others {
        rest.add(row.both());
    }
    let cells = first.iter().map(|row| [row.cells(of), both_cells(row.both())].concat());
    let mut cells: Vec<Vec<String>> = cells.collect();
    if !others.is_empty() {
        let mut row = vec![format!("{} others", others.len())];
        row.resize(table.words.len(), String::new());
        row.extend(both_cells(&rest));
        cells.push(row);
    }
    let words = table.words.iter().map(String::as_str);
    let header: Vec<&str> = words.chain(["source", "target", "change"]).collect();
    format!("\n{}\n{}", table.title, aligned(&header, cells))
}

/// How many of each side a row has: `1 → 2`.
fn counts_cell(both: &Both) -> String {
    format!("{} → {}", grouped(both.source.count), grouped(both.target.count))
}

fn of_many(comparison: &PeakComparison) -> String {
    let mut text = String::new();
    for (number, (run, path)) in (1..).zip(comparison.runs.iter().zip(&comparison.paths)) {
        let reference = if number == 1 { ", the reference" } else { "" };
        let device = clean(&run.title);
        text += &format!("{number}  {}, {device}{reference}\n", clean(path));
        text += &said(&run.conclusions);
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
pub(super) fn csv(comparison: &PeakComparison) -> Box<dyn Iterator<Item = String> + '_> {
    if comparison.shown.by.is_empty() {
        Box::new(std::iter::once(figures_csv(comparison)))
    } else {
        Box::new(tables_csv(comparison))
    }
}

fn tables_csv(comparison: &PeakComparison) -> impl Iterator<Item = String> {
    let counted = comparison.compared.words.counted;
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
    let rows =
        tables(comparison).flat_map(|table| table.rows.into_iter().map(move |row| (table.by, row)));
    let row_line = move |(by, row): (By, TableRow<'_>)| {
        let (both, difference) = (row.both(), row.both().bytes());
        let size = match row {
            TableRow::Of(_, row) => row.size,
            TableRow::Named(..) | TableRow::Owner(..) => None,
        };
        line([
            by.key().to_owned(),
            clean(&row.name(comparison)).into_owned(),
            size.map_or_else(String::new, |size| size.to_string()),
            both.source.count.to_string(),
            both.target.count.to_string(),
            difference.source.unwrap_or(0).to_string(),
            difference.target.unwrap_or(0).to_string(),
            difference.change().unwrap_or(0).to_string(),
        ])
    };
    std::iter::once(line(titles)).chain(rows.map(row_line))
}

fn figures_csv(comparison: &PeakComparison) -> String {
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
        let mut cells = vec![figure.key.to_owned(), figure.unit.key().to_owned()];
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
