//! Runs and figures in words.

use crate::analysis::program::report_options::OptionValue;
use crate::analysis::sweep::{Figure, FigureValue, Sweep};
use crate::text::{grouped, rate, shortened};
use crate::ui::units::Units;

/// Options of a run that are named.
const MOST: usize = 4;

/// The value of an option; "–" where a run does not have it.
pub fn option_text(value: Option<&OptionValue>) -> String {
    let text = value.map_or_else(|| "–".to_owned(), ToString::to_string);
    shortened(&text, 24).into_owned()
}

/// The options by which a run differs from the others: "batch_size 18, proportion 0.6".
pub fn settings(sweep: &Sweep, run: usize) -> String {
    let own = sweep.options.iter().enumerate().filter(|(_, option)| option.same_as.is_none());
    let texts: Vec<String> = own
        .take(MOST)
        .map(|(place, option)| {
            format!("{} {}", option.short_name, option_text(sweep.value(run, place)))
        })
        .collect();
    shortened(&texts.join(", "), 160).into_owned()
}

pub fn value_text(figure: Figure, value: FigureValue, units: Units) -> String {
    match value {
        FigureValue::Flag(true) => "fits".to_owned(),
        FigureValue::Flag(false) => "does not fit".to_owned(),
        FigureValue::Count(bytes) if figure.is_bytes() => units.bytes(bytes),
        FigureValue::Count(count) => grouped(count),
        FigureValue::Rate(samples) if figure == Figure::ThroughputByElapsedTime => {
            format!("{} samples/s by elapsed time", rate(samples))
        }
        FigureValue::Rate(samples) => format!("{} samples/s by cycles", rate(samples)),
    }
}

/// A figure as short as a cell needs it.
pub fn short_text(figure: Figure, value: FigureValue, units: Units) -> String {
    match value {
        FigureValue::Rate(samples) => rate(samples),
        value => value_text(figure, value, units),
    }
}
