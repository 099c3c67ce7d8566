//! A comparison of memory snapshots as text for people, and as comma-separated values.

use super::snapshots::{SnapshotComparison, name_of};
use super::{By, conclusions};
use crate::analysis::compared_snapshots::{
    Both, ComparedFigure, ComparedRow, ComparedSide, Function,
};
use crate::analysis::figures::difference::Difference;
use crate::cli::output::{aligned, name_cell};
use crate::csv::line;
use crate::text::{bytes, clean, exact_bytes, grouped, signed, signed_bytes};

/// Rows of a table.
const MOST_ROWS: usize = 20;

/// For people.
pub(super) fn text(comparison: &SnapshotComparison) -> String {
    if !comparison.runs.is_empty() {
        return of_many(comparison);
    }
    let [source, target] = comparison.compared.sides.each_ref();
    let mut text = conclusions::text(&comparison.conclusions);
    for ((title, side), path) in
        [("Source", source), ("Target", target)].iter().zip(&comparison.paths)
    {
        text += &format!(
            "{}{title}  {}, {}\n",
            if *title == "Source" { "\n" } else { "" },
            clean(path),
            side.device_title()
        );
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
        if comparison.room.capacity_bytes.is_none() {
            text += "  What the device has is not in the files: --capacity 16GiB\n";
        }
    }
    text += &peaks(comparison);
    text
}

fn settings(comparison: &SnapshotComparison) -> String {
    if comparison.compared.settings.is_empty() {
        return String::new();
    }
    let value = |value: &Option<String>| match value.as_deref() {
        None => "–".to_owned(),
        Some("") => "none".to_owned(),
        Some(value) => name_cell(value),
    };
    let rows = comparison.compared.settings.iter().map(|setting| {
        let [source, target] = setting.values.each_ref().map(value);
        vec![name_cell(&setting.name), source, target]
    });
    aligned(&["<", "<source", "<target"], rows)
}

fn amount(figure: &ComparedFigure, place: usize) -> String {
    let value = figure.values.get(place).copied().unwrap_or(0);
    let least = if figure.are_at_least.get(place) == Some(&true) { "≥ " } else { "" };
    if figure.figure.is_bytes() { format!("{least}{}", bytes(value)) } else { grouped(value) }
}

fn change_of(difference: &Difference, is_bytes: bool) -> String {
    let change = difference.change().unwrap_or(0);
    if is_bytes { signed_bytes(change) } else { signed(change, grouped) }
}

fn figures(figures: &[ComparedFigure]) -> String {
    let rows = figures.iter().map(|figure| {
        let percent = figure.percent_of_source(1);
        vec![
            figure.figure.title().to_owned(),
            amount(figure, 0),
            amount(figure, 1),
            change_of(&figure.difference(1), figure.figure.is_bytes()),
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
fn table(title: &str, rows: Vec<(Vec<String>, Both)>, words: &[&str]) -> String {
    let shown = if rows.len() > MOST_ROWS + 1 { MOST_ROWS } else { rows.len() };
    let mut rest = Both::default();
    for (_, both) in rows.iter().skip(shown) {
        rest.add(both);
    }
    let left = rows.len().saturating_sub(shown);
    let mut cells: Vec<Vec<String>> = rows
        .into_iter()
        .take(shown)
        .map(|(mut cells, both)| {
            cells.extend(both_cells(&both));
            cells
        })
        .collect();
    if left > 0 {
        let mut row = vec![format!("{left} others")];
        row.resize(words.len(), String::new());
        row.extend(both_cells(&rest));
        cells.push(row);
    }
    let header: Vec<&str> = words.iter().copied().chain(["source", "target", "change"]).collect();
    format!("\n{title}\n{}", aligned(&header, cells))
}

fn peaks(comparison: &SnapshotComparison) -> String {
    let (peaks, shown) = (&comparison.compared.peaks, &comparison.shown);
    let [source, target] = comparison.compared.sides.each_ref();
    let at = |side: &ComparedSide| match u64::try_from(side.peak.event) {
        Ok(event) => format!("at event {}", grouped(event)),
        Err(_) => "before the first event".to_owned(),
    };
    let mut text = format!(
        "\nRequested peaks: {} {} of the source, {} {} of the target; events are not aligned\n",
        exact_bytes(source.variant.requested_peak_bytes),
        at(source),
        exact_bytes(target.variant.requested_peak_bytes),
        at(target),
    );
    if shown.has(By::Category) {
        let rows = peaks.by_category.iter();
        let rows = rows.map(|(category, both)| (vec![category.title().to_owned()], *both));
        text += &table("By category", rows.collect(), &["<"]);
    }
    if shown.has(By::Module) {
        let rows = peaks.by_function.iter();
        let rows = rows.map(|function| (vec![name_cell(&name_of(function))], function.both));
        text += &table("By function", rows.collect(), &["<"]);
    }
    if shown.has(By::Variable) {
        let rows = peaks.rows.iter().map(|row| (cells_of(row), row.both)).collect();
        let words = ["<", "<called by", "<", "each", "blocks", "<"];
        text += &table("By user frames and size", rows, &words);
    }
    text
}

fn callers(row: &ComparedRow) -> String {
    let names: Vec<&str> =
        row.frames.iter().skip(1).map(|function| function.name.as_str()).collect();
    match &row.of_source {
        Some(function) => format!("was in {}", function.title()),
        None => names.join(" < "),
    }
}

fn cells_of(row: &ComparedRow) -> Vec<String> {
    let Both { source, target } = row.both;
    vec![
        name_cell(&row.title()),
        name_cell(&callers(row)),
        row.category.title().to_owned(),
        row.size.map_or_else(|| "several".to_owned(), bytes),
        format!("{} → {}", grouped(source.blocks), grouped(target.blocks)),
        row.change().title().to_owned(),
    ]
}

fn of_many(comparison: &SnapshotComparison) -> String {
    let mut text = String::new();
    for (number, (run, path)) in (1..).zip(comparison.runs.iter().zip(&comparison.paths)) {
        let reference = if number == 1 { ", the reference" } else { "" };
        text += &format!("{number}  {}, {}{reference}\n", clean(path), run.side.device_title());
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
        let mut cells = vec![figure.figure.title().to_owned()];
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

/// As comma-separated values: the figures, or with `--by` the tables of it.
pub(super) fn csv(comparison: &SnapshotComparison) -> String {
    if comparison.shown.by.is_empty() {
        return figures_csv(comparison);
    }
    let titles = [
        "by",
        "name",
        "only_blocks_of_bytes",
        "source_blocks",
        "target_blocks",
        "source_bytes",
        "target_bytes",
        "difference_bytes",
    ];
    let mut text = line(titles);
    let mut row = |by: &str, name: &str, size: Option<u64>, both: &Both| {
        let number = |number: i64| number.to_string();
        let Difference { source, target } = both.bytes();
        text += &line([
            by.to_owned(),
            clean(name).into_owned(),
            size.map_or_else(String::new, |size| size.to_string()),
            both.source.blocks.to_string(),
            both.target.blocks.to_string(),
            number(source.unwrap_or(0)),
            number(target.unwrap_or(0)),
            number(both.bytes().change().unwrap_or(0)),
        ]);
    };
    let (peaks, shown) = (&comparison.compared.peaks, &comparison.shown);
    if shown.has(By::Category) {
        for (category, both) in &peaks.by_category {
            row("category", category.as_str(), None, both);
        }
    }
    if shown.has(By::Module) {
        for function in &peaks.by_function {
            row("module", &name_of(function), None, &function.both);
        }
    }
    if shown.has(By::Variable) {
        for compared in &peaks.rows {
            let frames: Vec<String> = compared.frames.iter().map(Function::title).collect();
            let name = if frames.is_empty() { compared.title() } else { frames.join(" < ") };
            row("variable", &name, compared.size, &compared.both);
        }
    }
    text
}

fn figures_csv(comparison: &SnapshotComparison) -> String {
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
        let unit = if figure.figure.is_bytes() { "bytes" } else { "count" };
        let mut cells = vec![figure.figure.key().to_owned(), unit.to_owned()];
        cells.extend(figure.values.iter().map(u64::to_string));
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
