//! A sweep as comma-separated values.

use crate::analysis::program::report_options::OptionValue;
use crate::analysis::sweep::{Curve, Figure, FigureValue, HeatMap, Sweep};
use crate::csv::line;
use crate::text::clean;

/// A line for each run: where it is, the options that vary, the figures, why it could not be read.
pub fn of_runs(sweep: &Sweep) -> String {
    let mut header = vec!["path".to_owned(), "name".to_owned()];
    header.extend(sweep.options.iter().map(|option| clean(&option.id).into_owned()));
    header.extend(Figure::ALL.map(|figure| figure.column().to_owned()));
    header.extend(
        [
            "fullest_tile",
            "recorded_runs",
            "batch_size",
            "bytes_per_tile",
            "over_limit_bytes",
            "fastest_that_fits",
            "pareto",
            "no_report",
            "error",
        ]
        .map(str::to_owned),
    );
    let mut text = line(header);
    let best = sweep.fastest_that_fits.run();
    for (place, run) in (0..).zip(&sweep.runs) {
        let mut cells = vec![clean(&run.path).into_owned(), clean(&run.name).into_owned()];
        cells.extend(sweep.options.iter().map(|option| option_cell(option.value_of(run))));
        cells.extend(Figure::ALL.map(|figure| figure_cell(figure.of(run))));
        let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
        cells.push(count(run.fullest_tile.map(|tile| u64::from(tile.tile))));
        let counts = [run.recorded_runs, run.batch_size, run.bytes_per_tile, run.over_limit_bytes];
        cells.extend(counts.map(count));
        let flags = [best == Some(place), run.pareto, run.no_report];
        cells.extend(flags.map(|flag| flag.to_string()));
        let error = run.error.as_ref();
        cells.push(error.map_or_else(String::new, |error| clean(&error.message).into_owned()));
        text += &line(cells);
    }
    text
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
        cells.extend(figure_cells(map.figure, cell.value, cell.fits));
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
            cells.extend(figure_cells(curve.figure, point.value, point.fits));
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

/// The figure, and whether the run fits where that is not the figure.
fn figure_titles(sweep: &Sweep, figure: Figure) -> impl Iterator<Item = String> {
    let fits = (figure != Figure::Fits).then_some(Figure::Fits);
    std::iter::once(figure)
        .chain(fits)
        .map(|figure| clean(sweep.figure_column(figure)).into_owned())
}

fn figure_cells(
    figure: Figure,
    value: Option<FigureValue>,
    fits: Option<bool>,
) -> impl Iterator<Item = String> {
    let fits = (figure != Figure::Fits).then_some(fits.map(FigureValue::Flag));
    std::iter::once(value).chain(fits).map(figure_cell)
}

fn figure_cell(value: Option<FigureValue>) -> String {
    match value {
        None => String::new(),
        Some(FigureValue::Flag(flag)) => flag.to_string(),
        Some(FigureValue::Count(count)) => count.to_string(),
        Some(FigureValue::Rate(rate)) => rate.to_string(),
    }
}
