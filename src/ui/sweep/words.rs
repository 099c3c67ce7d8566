//! Runs and figures in words.

use crate::analysis::program::report_options::{OptionKind, OptionValue};
use crate::analysis::sweep::{
    FigureToSweep, FigureUnit, FigureValue, Sweep, THROUGHPUT, VaryingOption,
};
use crate::run::Outcome;
use crate::text::{capitalised, shortened};
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

/// What one of some options is called where there is little room: `batch`, `proportion`; two never alike.
pub fn brief_name(options: &[VaryingOption], option: &VaryingOption) -> String {
    let name = briefly(option);
    let is_taken = |other: &VaryingOption| {
        other.id != option.id && other.is_column() && briefly(other).eq_ignore_ascii_case(name)
    };
    let name = if options.iter().any(is_taken) { &option.short_name } else { name };
    shortened(name, 24).into_owned()
}

fn briefly(option: &VaryingOption) -> &str {
    match (option.kind, option.short_name.to_lowercase()) {
        (OptionKind::AvailableMemoryProportion, _) => "proportion",
        (_, name) if name.ends_with("availablememoryproportion") => "proportion",
        (_, name) if name.ends_with("available_memory_proportion") => "proportion",
        (_, name) if matches!(&*name, "batch_size" | "batchsize" | "batch-size") => "batch",
        _ => &option.short_name,
    }
}

/// Values of options in a few words: `batch 24 at 0.6`, the proportion last.
pub fn brief<'a>(
    sweep: &Sweep,
    values: impl Iterator<Item = (usize, Option<&'a OptionValue>)>,
) -> String {
    let (mut others, mut proportions) = (Vec::new(), Vec::new());
    for (option, value) in values.take(MOST) {
        let Some(option) = sweep.options.get(option) else { continue };
        let (name, value) = (brief_name(&sweep.options, option), option_text(value));
        if name == "proportion" {
            proportions.push(value);
        } else {
            others.push(format!("{name} {value}"));
        }
    }
    let proportions = proportions.join(", ");
    match (others.is_empty(), proportions.is_empty()) {
        (_, true) => others.join(", "),
        (true, false) => format!("proportion {proportions}"),
        (false, false) => format!("{} at {proportions}", others.join(", ")),
    }
}

/// The options by which a run differs from the others in a few words; those that it does not have are left out.
pub fn brief_settings(sweep: &Sweep, run: usize) -> String {
    let own = sweep.options.iter().enumerate().filter(|(_, option)| option.is_column());
    let values = own.map(|(option, _)| (option, sweep.value(run, option)));
    let text = brief(sweep, values.filter(|(_, value)| value.is_some()));
    shortened(&text, 80).into_owned()
}

/// What decides whether runs fit, as a title: "Fullest tile", where it is a part of them.
pub fn needed_title(used_of: Option<&str>) -> String {
    used_of.map_or_else(|| "Needed".to_owned(), |of| capitalised(of.trim_start_matches("the ")))
}

pub fn value_text(figure: FigureToSweep, value: FigureValue, units: Units) -> String {
    let text = short_text(figure, value, units);
    match figure.unit() {
        FigureUnit::SamplesPerSecond => {
            let by = if figure.is(&THROUGHPUT) { "cycles" } else { "elapsed time" };
            format!("{text} samples/s by {by}")
        }
        _ => text,
    }
}

/// Whether a run fits, and by how much it is over, after its figure: `, 5.9 KiB over the limit`.
pub fn fits_text(sweep: &Sweep, run: usize, units: Units) -> String {
    let Some(run) = sweep.runs.get(run) else { return String::new() };
    let (outcome, over) = (run.verdict.outcome, run.verdict.over_bytes);
    match (outcome, over) {
        _ if run.no_report => ", no report".to_owned(),
        (Outcome::DoesNotFit, Some(over @ 1..)) => {
            format!(", does not fit: {} over the limit", units.bytes(over))
        }
        (Outcome::Unknown, _) => String::new(),
        _ => format!(", {}", outcome.word()),
    }
}

/// A figure as short as a cell needs it.
pub fn short_text(figure: FigureToSweep, value: FigureValue, units: Units) -> String {
    figure.unit().text(value, &|bytes| units.bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_options_have_the_same_brief_name() {
        let option = |name: &str| VaryingOption {
            kind: OptionKind::App,
            id: format!("app.{name}"),
            name: name.to_owned(),
            short_name: name.to_owned(),
            values: Vec::new(),
            same_as: None,
        };
        let both = [option("batch_size"), option("Batch")];
        let names = |options: &[VaryingOption]| -> Vec<String> {
            options.iter().map(|option| brief_name(options, option)).collect()
        };
        assert_eq!(names(&both[..1]), ["batch"]);
        assert_eq!(names(&both), ["batch_size", "Batch"]);
    }

    #[test]
    fn samples_per_second_are_rounded_never_cut() {
        let text = |rate: f64| {
            value_text(FigureToSweep::Known(&THROUGHPUT), FigureValue::Rate(rate), Units::Binary)
        };
        assert_eq!(text(23_590.6), "23,591 samples/s by cycles");
        assert_eq!(text(99.5), "99.50 samples/s by cycles");
        let measured = |number: f64| {
            short_text(FigureToSweep::Measured(0), FigureValue::Rate(number), Units::Binary)
        };
        assert_eq!(measured(23_590.6), "23,591");
        assert_eq!(
            (&*measured(0.75123), &*measured(-2.5), &*measured(16.0)),
            ("0.7512", "-2.50", "16")
        );
    }
}
