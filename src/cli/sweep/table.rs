//! The runs of a sweep as a table for people.

use std::path::Path;

use crate::analysis::program::report_options::{OptionKind, OptionValue};
use crate::analysis::sweep::{
    FastestThatFits, Figure, FigureValue, SpeedMeasure, Sweep, SweepRun, VaryingOption,
};
use crate::cli::output::{aligned, name_cell};
use crate::text::{bytes, clean, grouped, rate, shortened};

/// What stands for a run that left no report.
pub const NO_REPORT: &str = "no report";
pub const UNKNOWN: &str = "–";
/// What marks the fastest run that fits.
pub const BEST: &str = "*";
/// How many options have a column.
const MOST_COLUMNS: usize = 8;
/// How long the value of an option may be.
const MOST_CHARACTERS: usize = 40;

/// The runs with what varies, and which is the best.
pub fn text(sweep: &Sweep, folder: &Path) -> String {
    let count = sweep.runs.len() as u64;
    let fitting = sweep.runs.iter().filter(|run| run.fits == Some(true)).count() as u64;
    let runs = if count == 1 { "run" } else { "runs" };
    let fit = if fitting == 1 { "fits" } else { "fit" };
    let folder = folder.display().to_string();
    let mut text = format!(
        "{} {runs} below {}, {} of them {fit}\n\n",
        grouped(count),
        clean(&folder),
        grouped(fitting)
    );
    let (columns, more) = columns(sweep);
    let mut header = vec!["<".to_owned(), "<run".to_owned()];
    header.extend(columns.iter().map(|option| title(option)));
    let titles = [
        "<fits",
        "fullest tile",
        "",
        "total",
        "with gaps",
        "always live",
        "peak",
        "code",
        "cycles",
        "samples/s by cycles",
        "by elapsed time",
        "at minimum",
    ];
    header.extend(titles.map(str::to_owned));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let best = sweep.fastest_that_fits.run();
    let rows = (0..).zip(&sweep.runs).map(|(place, run)| {
        let mark = if best == Some(place) { BEST } else { "" };
        let mut cells = vec![mark.to_owned(), name_cell(&run.name)];
        cells.extend(columns.iter().map(|option| value_text(option.value_of(run))));
        cells.extend(figures(run));
        cells
    });
    text += &aligned(&header, rows);
    text.push('\n');
    text += &best_text(sweep);
    text += &pareto_text(sweep);
    text += &together_text(sweep, &columns);
    if more > 0 {
        text +=
            &format!("{} more options vary; --json and --csv have them\n", grouped(more as u64));
    }
    if let Some(note) = sweep.runs.iter().find_map(|run| run.note) {
        text += &format!("Always live, peak: {note}\n");
    }
    text
}

/// The options that have a column, one of each group, and how many more there are. The directory
/// needs none: it is the name of the run.
fn columns(sweep: &Sweep) -> (Vec<&VaryingOption>, usize) {
    let is_column =
        |option: &&VaryingOption| option.same_as.is_none() && option.kind != OptionKind::Directory;
    let all: Vec<&VaryingOption> = sweep.options.iter().filter(is_column).collect();
    let more = all.len().saturating_sub(MOST_COLUMNS).saturating_add(sweep.options_left_out);
    (all.into_iter().take(MOST_COLUMNS).collect(), more)
}

/// An option's name as a title; one that begins with `<` is no mark of alignment.
pub fn title(option: &VaryingOption) -> String {
    name_cell(option.short_name.trim_start_matches('<'))
}

fn figures(run: &SweepRun) -> Vec<String> {
    let fits = match (run.fits, run.tiles_over_limit) {
        _ if run.error.is_some() => "cannot be read".to_owned(),
        _ if run.no_report => NO_REPORT.to_owned(),
        (Some(true), _) => "yes".to_owned(),
        (Some(false), Some(over)) => format!("no, {} over", grouped(over)),
        (Some(false), None) => "no".to_owned(),
        (None, _) => UNKNOWN.to_owned(),
    };
    let tile = run.fullest_tile.map_or_else(String::new, |tile| format!("on {}", tile.tile));
    let mut cells = vec![fits, figure_text(Figure::FullestTile.of(run), Figure::FullestTile), tile];
    let figures = [
        Figure::Total,
        Figure::IncludingGaps,
        Figure::AlwaysLive,
        Figure::Peak,
        Figure::Code,
        Figure::Cycles,
        Figure::Throughput,
        Figure::ThroughputByElapsedTime,
        Figure::PlannerAtMinimum,
    ];
    cells.extend(figures.map(|figure| figure_text(figure.of(run), figure)));
    cells
}

fn best_text(sweep: &Sweep) -> String {
    let why = match sweep.fastest_that_fits {
        FastestThatFits::Run { run, by } => {
            let Some(run) = sweep.runs.get(run) else { return String::new() };
            let speed = match by {
                SpeedMeasure::Throughput => format!(
                    "{} samples/s by cycles",
                    figure_text(Figure::Throughput.of(run), Figure::Throughput)
                ),
                SpeedMeasure::Cycles => format!(
                    "{} cycles a run, the fewest; no throughput is known",
                    run.cycles_per_run().map_or_else(|| UNKNOWN.to_owned(), rate)
                ),
            };
            format!("{BEST} {}: {speed}", clean(&run.name))
        }
        FastestThatFits::NoneFits => "none, for of no run it is known that it fits".to_owned(),
        FastestThatFits::SpeedUnknown => {
            "not known, for no report of a run that fits says how fast it is".to_owned()
        }
    };
    format!("Fastest that fits: {why}\n")
}

/// The runs that no other beats in memory and in throughput, where they are not the fastest alone.
fn pareto_text(sweep: &Sweep) -> String {
    let best: Vec<_> =
        sweep.runs.iter().filter(|run| run.pareto).map(|run| clean(&run.name)).collect();
    if best.len() < 2 {
        return String::new();
    }
    format!("No other that fits is faster with a fullest tile as small: {}\n", best.join(", "))
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
            text += &format!("{name} stands for what changes together: {}\n", ids.join(", "));
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

pub fn figure_text(value: Option<FigureValue>, figure: Figure) -> String {
    match value {
        None => UNKNOWN.to_owned(),
        Some(FigureValue::Flag(true)) => "yes".to_owned(),
        Some(FigureValue::Flag(false)) => "no".to_owned(),
        Some(FigureValue::Count(count)) if figure.is_bytes() => bytes(count),
        Some(FigureValue::Count(count)) => grouped(count),
        Some(FigureValue::Rate(number)) if matches!(figure, Figure::Measured(_)) => {
            crate::text::number(number)
        }
        Some(FigureValue::Rate(samples)) => rate(samples),
    }
}
