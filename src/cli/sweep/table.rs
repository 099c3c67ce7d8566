//! The runs of a sweep as a table for people.

use std::path::PathBuf;

use crate::analysis::program::report_options::OptionValue;
use crate::analysis::sweep::{
    FigureKind, FigureToSweep, FigureValue, Percents, Sweep, SweepRun, VaryingOption,
};
use crate::cli::output::{aligned, name_cell};
use crate::run::Outcome;
use crate::text::{bytes, clean, exact_bytes, grouped, shortened};

/// What stands for a run that left no report.
pub const NO_REPORT: &str = "no report";
pub const UNKNOWN: &str = "–";
/// What marks the best run.
pub const BEST: &str = "*";
/// What marks the run that others are compared with.
const REFERENCE: &str = "R";
/// How many options have a column.
const MOST_COLUMNS: usize = 8;
/// How long the value of an option may be.
const MOST_CHARACTERS: usize = 40;

/// The runs with what varies, and which is the best.
pub fn text(sweep: &Sweep, paths: &[PathBuf]) -> String {
    let mut text = head(sweep, paths);
    let (columns, more) = columns(sweep);
    let systems = sweep.systems();
    let figures: Vec<&'static FigureKind> = sweep.columns().collect();
    let has_over = sweep.runs.iter().any(|run| run.verdict.over_bytes.is_some_and(|it| it > 0));
    let mut header = vec!["<".to_owned(), "<run".to_owned()];
    header.extend((systems.len() > 1).then(|| "<system".to_owned()));
    header.extend(columns.iter().map(|option| title(option)));
    header.push("<verdict".to_owned());
    header.extend(has_over.then(|| "over".to_owned()));
    for kind in &figures {
        header.push(kind.column.to_owned());
        header.extend((kind.percents != Percents::No).then(String::new));
        header.extend((kind.percents == Percents::OfBoth).then(|| "of the one before".to_owned()));
    }
    let reference = sweep.reference.filter(|_| sweep.reference_text().is_some());
    let best = sweep.best.ok().map(|best| best.run);
    let rows = (0..).zip(&sweep.runs).map(|(place, run)| {
        let mark =
            |of: Option<usize>, mark: &'static str| if of == Some(place) { mark } else { "" };
        let marks = format!("{}{}", mark(reference, REFERENCE), mark(best, BEST));
        let mut cells = vec![marks, name_cell(&run.name)];
        cells.extend((systems.len() > 1).then(|| run.system.to_owned()));
        cells.extend(columns.iter().map(|option| value_text(option.value_of(run))));
        cells.push(verdict_text(run));
        let over = run.verdict.over_bytes.filter(|over| *over > 0).map(bytes);
        cells.extend(has_over.then(|| over.unwrap_or_default()));
        for kind in &figures {
            let figure = FigureToSweep::Known(kind);
            let least = if figure.is_at_least(run) { "≥ " } else { "" };
            cells.push(match figure.of(run) {
                None => UNKNOWN.to_owned(),
                value => format!("{least}{}", figure_text(value, figure)),
            });
            if kind.percents != Percents::No {
                cells.push(percent_cell(sweep.percent(place, figure)));
            }
            if kind.percents == Percents::OfBoth {
                cells.push(percent_cell(sweep.percent_of_previous(place, figure)));
            }
        }
        cells
    });
    text += &aligned(&header, rows);
    text.push('\n');
    if let Some(reference) = sweep.reference_text() {
        let mark = if sweep.reference.is_some() { "R " } else { "" };
        text += &format!("{mark}{}\n", clean(&reference));
    }
    text += &best_text(sweep);
    text += &pareto_text(sweep);
    text += &together_text(sweep, &columns);
    if more > 0 {
        text +=
            &format!("{} more options vary; --json and --csv have them\n", grouped(more as u64));
    }
    text + &notes(sweep)
}

/// How many runs there are, and how many of them fit or ran.
fn head(sweep: &Sweep, paths: &[PathBuf]) -> String {
    let count = sweep.runs.len() as u64;
    let well = sweep.runs.iter().filter(|run| run.fits() == Some(true)).count() as u64;
    let fit = if well == 1 { "fits" } else { "fit" };
    let did = if sweep.runs.iter().all(|run| run.verdict.outcome != Outcome::Ran) {
        fit.to_owned()
    } else {
        format!("{fit} or ran")
    };
    let below: Vec<_> =
        paths.iter().map(|path| clean(&path.display().to_string()).into_owned()).collect();
    format!(
        "{} {} below {}, {} of them {did}\n\n",
        grouped(count),
        if count == 1 { "run" } else { "runs" },
        below.join(", "),
        grouped(well)
    )
}

/// What has to be said beside the figures.
fn notes(sweep: &Sweep) -> String {
    let mut lines: Vec<String> = sweep.capacity_text(&exact_bytes).into_iter().collect();
    let is_unknown = |run: &SweepRun| run.takes_capacity() && run.verdict.capacity_bytes.is_none();
    if sweep.runs.iter().any(is_unknown) {
        lines.push(
            "Not all files state the capacity of the device: --capacity 16GiB sets it".to_owned(),
        );
    }
    lines.extend(sweep.device_texts().map(|text| clean(&text).into_owned()));
    lines.extend(sweep.notes().into_iter().map(str::to_owned));
    lines.into_iter().map(|line| line + "\n").collect()
}

fn percent_cell(percent: Option<f64>) -> String {
    percent.map_or_else(|| UNKNOWN.to_owned(), |percent| format!("{percent:.1} %"))
}

/// How a run came out, in a word or two.
fn verdict_text(run: &SweepRun) -> String {
    match run {
        SweepRun { error: Some(_), .. } => "cannot be read".to_owned(),
        SweepRun { no_report: true, .. } => NO_REPORT.to_owned(),
        run if run.verdict.short.is_empty() => run.verdict.outcome.word().to_owned(),
        run => run.verdict.short.clone(),
    }
}

/// The options that have a column, one of each group, and how many more there are. The directory
/// needs none: it is the name of the run.
fn columns(sweep: &Sweep) -> (Vec<&VaryingOption>, usize) {
    let all: Vec<&VaryingOption> =
        sweep.options.iter().filter(|option| option.is_column()).collect();
    let more = all.len().saturating_sub(MOST_COLUMNS).saturating_add(sweep.options_left_out);
    (all.into_iter().take(MOST_COLUMNS).collect(), more)
}

/// An option's name as a title; one that begins with `<` is no mark of alignment.
pub fn title(option: &VaryingOption) -> String {
    name_cell(option.short_name.trim_start_matches('<'))
}

fn best_text(sweep: &Sweep) -> String {
    let why = match sweep.best {
        Ok(best) => {
            let name = sweep.runs.get(best.run).map_or("", |run| &run.name);
            format!("{BEST} {}: {}", clean(name), sweep.best_figure_text(best, &exact_bytes))
        }
        Err(why) => Sweep::no_best_text(why).to_owned(),
    };
    format!("{}: {why}\n", sweep.best_title())
}

/// The runs that no other beats in memory and in throughput, where they are not the fastest alone.
fn pareto_text(sweep: &Sweep) -> String {
    let best: Vec<_> =
        sweep.runs.iter().filter(|run| run.pareto).map(|run| clean(&run.name)).collect();
    if best.len() < 2 {
        return String::new();
    }
    {
        let of = sweep.used_of().unwrap_or("memory");
        format!(
            "No other run that fits is faster with as little {of} or less: {}\n",
            best.join(", ")
        )
    }
}

/// The options that always go together with one that has a column.
fn together_text(sweep: &Sweep, columns: &[&VaryingOption]) -> String {
    let mut text = String::new();
    for column in columns {
        let same = sweep.options.iter().filter(|option| {
            let first = option.same_as.and_then(|first| sweep.options.get(first));
            first.is_some_and(|first| first.id == column.id)
        });
        let ids: Vec<_> =
            std::iter::once(*column).chain(same).map(|option| clean(&option.id)).collect();
        if ids.len() > 1 {
            let name = clean(&column.short_name);
            text +=
                &format!("{name} stands for settings that change together: {}\n", ids.join(", "));
        }
    }
    text
}

pub fn value_text(value: Option<&OptionValue>) -> String {
    value.map_or_else(
        || UNKNOWN.to_owned(),
        |value| shortened(&value.to_string(), MOST_CHARACTERS).into_owned(),
    )
}

pub fn figure_text(value: Option<FigureValue>, figure: FigureToSweep) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| figure.unit().text(value, &bytes))
}
