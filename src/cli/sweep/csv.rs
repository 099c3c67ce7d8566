//! A sweep as comma-separated values.

use crate::analysis::program::report_options::OptionValue;
use crate::analysis::sweep::{
    Curve, FigureKind, FigureToSweep, FigureValue, HeatMap, Percents, Sweep,
};
use crate::csv::line;
use crate::text::clean;

/// A line for each run: where it is, the settings that vary, the verdict, the figures with their percents, why it could
/// not be read.
pub fn of_runs(sweep: &Sweep) -> String {
    let mut header = ["path", "name", "system"].map(str::to_owned).to_vec();
    header.extend(sweep.options.iter().map(|option| clean(&option.id).into_owned()));
    header.extend(
        ["outcome", "cause", "used_bytes", "capacity_bytes", "over_bytes"].map(str::to_owned),
    );
    for kind in &sweep.kinds {
        header.push(kind.key.to_owned());
        let name = kind.key.trim_end_matches("_bytes");
        header.extend(percents_of(kind).map(|suffix| format!("{name}_{suffix}")));
    }
    header.extend(["best", "reference", "pareto", "no_report", "error"].map(str::to_owned));
    let mut text = line(header);
    let best = sweep.best.ok().map(|best| best.run);
    for (place, run) in (0..).zip(&sweep.runs) {
        let verdict = &run.verdict;
        let mut cells = vec![clean(&run.path).into_owned(), clean(&run.name).into_owned()];
        cells.push(run.system.to_owned());
        cells.extend(sweep.options.iter().map(|option| option_cell(option.value_of(run))));
        let is_known = run.is_read();
        cells.push(if is_known { verdict.outcome.key().to_owned() } else { String::new() });
        cells.push(verdict.cause.filter(|_| is_known).unwrap_or_default().to_owned());
        let bytes = [verdict.used_bytes, verdict.capacity_bytes, verdict.over_bytes];
        cells.extend(bytes.map(|count| count.map_or_else(String::new, |count| count.to_string())));
        for kind in &sweep.kinds {
            let figure = FigureToSweep::Known(kind);
            cells.push(figure_cell(figure.of(run)));
            let percents = [sweep.percent(place, figure), sweep.percent_of_previous(place, figure)];
            let shown = percents_of(kind).zip(percents);
            cells.extend(shown.map(|(_, percent)| {
                percent.map_or_else(String::new, |percent| format!("{percent:.1}"))
            }));
        }
        let flags =
            [best == Some(place), sweep.reference == Some(place), run.pareto, run.no_report];
        cells.extend(flags.map(|flag| flag.to_string()));
        let error = run.error.as_ref();
        cells.push(error.map_or_else(String::new, |error| clean(&error.message).into_owned()));
        text += &line(cells);
    }
    text
}

/// What stands behind the figures of a kind in percent.
fn percents_of(kind: &FigureKind) -> impl Iterator<Item = &'static str> + use<> {
    let count = match kind.percents {
        Percents::No => 0,
        Percents::OfReference => 1,
        Percents::OfBoth => 2,
    };
    ["percent", "percent_of_previous"].into_iter().take(count)
}

/// A line for each cell in which there are runs.
pub fn of_heat_map(sweep: &Sweep, map: &HeatMap) -> String {
    let mut header = vec![id(sweep, map.y), id(sweep, map.x)];
    header.extend(figure_titles(sweep, map.figure));
    header.extend(["runs", "path"].map(str::to_owned));
    let mut text = line(header);
    for cell in &map.cells {
        let value = |values: &[Option<OptionValue>], place: usize| {
            option_cell(values.get(place).and_then(Option::as_ref))
        };
        let mut cells = vec![value(&map.rows, cell.row), value(&map.columns, cell.column)];
        cells.extend(figure_cells(cell.value, cell.fits));
        cells.extend([cell.runs.len().to_string(), path(sweep, cell.shown)]);
        text += &line(cells);
    }
    text
}

/// A line for each point.
pub fn of_curve(sweep: &Sweep, curve: &Curve) -> String {
    let mut header: Vec<String> = curve.others.iter().map(|option| id(sweep, *option)).collect();
    header.push(id(sweep, curve.option));
    header.extend(figure_titles(sweep, curve.figure));
    header.push("path".to_owned());
    let mut text = line(header);
    for one in &curve.lines {
        for point in &one.points {
            let mut cells: Vec<String> =
                one.settings.iter().map(|value| option_cell(value.as_ref())).collect();
            cells.push(option_cell(point.at.as_ref()));
            cells.extend(figure_cells(point.value, point.fits));
            cells.push(path(sweep, point.run));
            text += &line(cells);
        }
    }
    text
}

fn id(sweep: &Sweep, option: usize) -> String {
    clean(sweep.id(option)).into_owned()
}

fn path(sweep: &Sweep, run: usize) -> String {
    clean(sweep.path(run)).into_owned()
}

fn option_cell(value: Option<&OptionValue>) -> String {
    value.map_or_else(String::new, |value| clean(&value.to_string()).into_owned())
}

/// The figure, and whether the run fits.
fn figure_titles(sweep: &Sweep, figure: FigureToSweep) -> [String; 2] {
    [clean(sweep.figure_key(figure)).into_owned(), "fits".to_owned()]
}

fn figure_cells(value: Option<FigureValue>, fits: Option<bool>) -> [String; 2] {
    [figure_cell(value), fits.map_or_else(String::new, |fits| fits.to_string())]
}

fn figure_cell(value: Option<FigureValue>) -> String {
    match value {
        None => String::new(),
        Some(FigureValue::Count(count)) => count.to_string(),
        Some(FigureValue::Rate(rate)) => rate.to_string(),
    }
}
