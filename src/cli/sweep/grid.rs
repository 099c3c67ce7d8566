//! One figure of a sweep by one option or two, as a grid for people.

use super::table::{BEST, NO_REPORT, figure_text, title, value_text};
use crate::analysis::program::report_options::OptionValue;
use crate::analysis::sweep::curve::{OptionLine, Point};
use crate::analysis::sweep::{Curve, FigureToSweep, FigureValue, HeatMap, Sweep};
use crate::cli::output::aligned;
use crate::text::{bytes, clean, grouped};

/// What marks a run that does not fit.
const DOES_NOT_FIT: &str = "!";

/// What the marks say.
fn legend(sweep: &Sweep) -> String {
    format!(
        "{BEST} {}   {DOES_NOT_FIT} does not fit   – not known\n",
        sweep.best_title().to_lowercase()
    )
}

/// A heat map: a row for each value of one option, a column for each of the other.
pub fn heat_map_text(sweep: &Sweep, map: &HeatMap) -> String {
    let (by, and) = (short_name(sweep, map.y), short_name(sweep, map.x));
    let mut text =
        format!("{} by {by} (down) and {and} (across)\n\n", sweep.figure_title(map.figure));
    let mut header = vec![by];
    header.extend(map.columns.iter().map(|value| value_text(value.as_ref())));
    let rows = map.rows.iter().enumerate().map(|(row, value)| {
        let mut cells = vec![value_text(value.as_ref())];
        cells.extend((0..map.columns.len()).map(|column| {
            let Some(cell) = map.cell(row, column) else { return String::new() };
            let shown = cell_text(sweep, map.figure, cell.shown, cell.value, cell.fits);
            match cell.runs.len() {
                1 => shown,
                runs => format!("{shown} (of {})", grouped(runs as u64)),
            }
        }));
        cells
    });
    text += &table(&header, rows);
    text.push('\n');
    text += &legend(sweep);
    if map.cells.iter().any(|cell| cell.runs.len() > 1) {
        text += "A cell with several runs shows the best: one that fits, then the faster\n";
    }
    text + &unread_text(sweep)
}

/// A figure along an option: a row for each value, a column for each setting of the others.
pub fn curve_text(sweep: &Sweep, curve: &Curve) -> String {
    let by = short_name(sweep, curve.option);
    let mut text = format!("{} by {by}\n\n", sweep.figure_title(curve.figure));
    let mut header = vec![by];
    header.extend(curve.lines.iter().map(|line| line_title(sweep, curve, line)));
    let values = sweep.options.get(curve.option).map(|option| option.values.as_slice());
    let rows = values.unwrap_or_default().iter().map(|value| {
        let mut cells = vec![value_text(value.as_ref())];
        cells.extend(
            curve.lines.iter().map(|line| points_text(sweep, curve.figure, line, value.as_ref())),
        );
        cells
    });
    text += &table(&header, rows);
    text.push('\n');
    text + &legend(sweep) + &unread_text(sweep)
}

fn table(header: &[String], rows: impl Iterator<Item = Vec<String>> + Clone) -> String {
    // Values may begin with what marks the alignment of a title.
    let header: Vec<&str> = header.iter().map(|title| title.trim_start_matches('<')).collect();
    aligned(&header, rows)
}

fn short_name(sweep: &Sweep, option: usize) -> String {
    sweep.options.get(option).map_or_else(String::new, title)
}

fn line_title(sweep: &Sweep, curve: &Curve, line: &OptionLine) -> String {
    let settings: Vec<String> = curve
        .others
        .iter()
        .zip(&line.settings)
        // What a run does not have says nothing of it.
        .filter(|(_, value)| value.is_some())
        .map(|(option, value)| {
            format!("{} {}", short_name(sweep, *option), value_text(value.as_ref()))
        })
        .collect();
    if settings.is_empty() {
        sweep.figure_title(curve.figure).to_owned()
    } else {
        settings.join(", ")
    }
}

fn points_text(
    sweep: &Sweep,
    figure: FigureToSweep,
    line: &OptionLine,
    value: Option<&OptionValue>,
) -> String {
    let here = line.points.iter().filter(|point| point.at.as_ref() == value);
    let cell = |point: &Point| cell_text(sweep, figure, point.run, point.value, point.fits);
    here.map(cell).collect::<Vec<String>>().join(", ")
}

fn cell_text(
    sweep: &Sweep,
    figure: FigureToSweep,
    run: usize,
    value: Option<FigureValue>,
    fits: Option<bool>,
) -> String {
    let facts = sweep.runs.get(run);
    if facts.is_some_and(|run| run.no_report) {
        return NO_REPORT.to_owned();
    }
    let shown = figure_text(value, figure);
    let over = facts.and_then(|run| run.verdict.over_bytes).filter(|over| *over > 0);
    if sweep.best.is_ok_and(|best| best.run == run) {
        format!("{BEST} {shown}")
    } else if fits == Some(false) {
        let over = over.map_or_else(String::new, |over| format!(", {} over", bytes(over)));
        format!("{DOES_NOT_FIT} {shown}{over}")
    } else {
        shown
    }
}

/// Runs that could not be read are in no cell.
fn unread_text(sweep: &Sweep) -> String {
    let unread = sweep.runs.iter().filter(|run| run.error.is_some());
    let names: Vec<_> = unread.map(|run| clean(&run.name)).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!("Not read, and in no cell: {}\n", names.join(", ")),
    }
}
