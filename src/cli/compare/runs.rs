//! Many reports side by side: one row per report with its figures and their change against the first.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::conclusions::{self, Conclusion};
use super::document::{ComparedReport, compared_report, sections};
use super::text::{amount, change, options, rate_change, yes_or_no};
use crate::analysis::comparison::figures::{Figure, KEY_FIGURES, Unit, figures};
use crate::analysis::comparison::options::{OptionDifference, options_that_differ};
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::memory;
use crate::cli::output::{aligned, name_cell, or_unknown};
use crate::systems::poplar::insights::change::ChangeInsight;
use crate::text::run_names::run_names;
use crate::text::{clean, rate};

#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Runs {
    rows: Vec<Row>,
    #[serde(skip)]
    figures: Vec<Figure>,
    #[serde(skip)]
    options: Vec<OptionDifference>,
}

#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    report: ComparedReport,
    /// The options that are not the same in all reports.
    options: Vec<Value>,
    fits: Option<bool>,
    /// The sections of `summary`, with the value of every figure and its change.
    #[serde(flatten)]
    sections: Map<String, Value>,
    /// Against the first.
    conclusions: Vec<Conclusion>,
}

impl Runs {
    /// Of reports whose small tables and debug contexts are read; `insights` are those of each against the first.
    pub fn of(all: &[&Derived], insights: &[Vec<ChangeInsight>]) -> Self {
        let with_timelines: Vec<_> =
            all.iter().map(|of| of.with_timeline(Scope::Everything, &|| false)).collect();
        let figures = figures(&with_timelines);
        let reports: Vec<_> = all.iter().map(|of| &**of.report()).collect();
        let options = options_that_differ(&reports);
        let row = |(place, report): (usize, _)| {
            let report: &crate::store::Report = report;
            let value = |option: &OptionDifference| {
                let value = option.values.get(place);
                json!({ "kind": option.kind, "name": option.name, "value": value })
            };
            let totals = |memory| memory::totals(memory, report.target.get());
            Row {
                report: compared_report(report),
                options: options.iter().map(value).collect(),
                fits: report.memory.get().and_then(|memory| totals(memory).fits),
                sections: sections(&figures, |figure| value_of(figure, place)),
                conclusions: insights
                    .get(place)
                    .map(|insights| insights.iter().map(Conclusion::of).collect())
                    .unwrap_or_default(),
            }
        };
        let rows = reports.iter().copied().enumerate().map(row).collect();
        Self { rows, figures, options }
    }

    /// Whether there are two reports only.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All figures, where there are more than two reports.
    pub fn figures(&self) -> Option<&[Figure]> {
        (!self.is_empty()).then_some(&self.figures)
    }

    /// The conclusions, what differs between the reports, and a table of them, which a brief text has not.
    pub fn text(&self, is_brief: bool) -> String {
        let numbers: Vec<String> = (1..=self.rows.len()).map(|number| number.to_string()).collect();
        let mut text = String::new();
        for (number, row) in numbers.iter().zip(&self.rows) {
            let reference = if text.is_empty() { ", the reference" } else { "" };
            text += &format!("{number}  {}{reference}\n", clean(&row.report.path));
            text += &conclusions::text_of_reports(&row.conclusions);
        }
        text += "\nWhat differs\n";
        text += &options(&self.options, &numbers);
        if is_brief {
            return text;
        }
        text += "\nRuns\n";
        let figures: Vec<(&str, &Figure)> = KEY_FIGURES
            .iter()
            .filter_map(|key| {
                let figure = key.of(&self.figures)?;
                figure.values.iter().any(Option::is_some).then_some((key.short_title, figure))
            })
            .collect();
        let titles = figures.iter().map(|(title, _)| format!("<{title}"));
        let titles: Vec<String> =
            ["<Run".to_owned(), "<Fits".to_owned()].into_iter().chain(titles).collect();
        let names = run_names(self.rows.iter().map(|row| Path::new(&row.report.path)));
        let rows = self.rows.iter().zip(names).enumerate().map(|(place, (row, name))| {
            let name = format!("{} {}", place.saturating_add(1), name_cell(&name));
            let mut cells = vec![name, yes_or_no(row.fits).to_owned()];
            cells.extend(figures.iter().map(|(_, figure)| figure_cell(figure, place)));
            cells
        });
        text += &aligned(&titles, rows);
        text += "\nChanges are against the first; compare two of them to see what a change consists of\n";
        text
    }
}

fn figure_cell(figure: &Figure, place: usize) -> String {
    if let Some(of_rate) = figure.rate_difference(place) {
        let [value, change] = [or_unknown(of_rate.target, rate), rate_change(&of_rate)];
        return if of_rate.change().is_none_or(|by| by == 0.0) {
            value
        } else {
            format!("{value}, {change}")
        };
    }
    let difference = figure.difference(place);
    let value = amount(difference.target, figure.unit);
    match difference.change() {
        None | Some(0) => value,
        Some(_) => format!("{value}, {}", change(&difference, figure.unit)),
    }
}

fn value_of(figure: &Figure, place: usize) -> Value {
    if let Some(rate) = figure.rate_difference(place) {
        let (difference, percent) = (rate.change(), rate.percent());
        return json!({ "value": rate.target, "difference": difference, "percent": percent });
    }
    let difference = figure.difference(place);
    match figure.unit {
        // Where something is has no difference.
        Unit::Place => json!({ "value": difference.target }),
        _ => json!({
            "value": difference.target,
            "difference": difference.change(),
            "percent": difference.percent(),
        }),
    }
}
