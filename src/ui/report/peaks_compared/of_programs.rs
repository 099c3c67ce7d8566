//! Two programs of XLA: what each takes of a memory space, and what is temporary at the peak of each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Compared, FigureRow, PeakRow, PeakTable, PeakWords, PeaksCompared, Said};
use crate::analysis::compared_programs::{
    ComparedFigure, ComparedPrograms, ProgramRow, conclusions,
};
use crate::analysis::compared_snapshots::{Both, Room};
use crate::analysis::derived::Derived;
use crate::systems::xla::buffer_assignment::peaks::NO_OPERATION;
use crate::text::clean;
use crate::ui::runs::Run;

pub const WORDS: PeakWords = PeakWords {
    tabs: ["At the peaks by operation", "By operation, shape and category"],
    at_peaks: "At the temporary peaks",
    adds_up: "what is temporary, at the peak of each; adds up to both peaks",
    no_setting: "No flag of XLA differs",
    no_peaks: "A file does not say when values live, or nothing is temporary",
    device: ["Memory space", "Main memory"],
    capacity: "16GiB",
};

impl PeaksCompared {
    /// Compares a memory space, or the main memory.
    pub(super) fn of_programs(
        both: [&Derived; 2],
        color: Option<i64>,
    ) -> Result<Self, &'static str> {
        let color = color.unwrap_or(0);
        let [Some(source), Some(target)] = both.map(Derived::program) else {
            return Err("One of the runs is no program of XLA");
        };
        let found = ComparedPrograms::of([source, target], color)
            .map_err(|_| "One of the programs does not have this memory space")?;
        let space = source.color_words(color);
        let peaks = found.peaks.as_ref();
        let tables = peaks.map_or_else(Vec::new, |peaks| {
            let by_operation = PeakTable {
                name: "operations at both peaks",
                words: vec!["Operation"],
                counted: Some("values"),
                each: None,
                rows: peaks.by_operation.iter().map(of_operation).collect(),
            };
            let by_value = PeakTable {
                name: "values at both peaks",
                words: vec!["Operation", "In place of", "Shape", "Purpose"],
                counted: Some("values"),
                each: None,
                rows: peaks.rows.iter().map(of_value).collect(),
            };
            [by_operation, by_value].map(Arc::new).into()
        });
        let by_category = peaks.into_iter().flat_map(|peaks| &peaks.by_category);
        Ok(Self {
            words: &WORDS,
            settings: found.flags.clone(),
            figures: found.figures.iter().map(figure).collect(),
            by_category: by_category.map(|(category, both)| (category.title(), *both)).collect(),
            tables,
            compared: Compared::Programs(Box::new(found), space),
        })
    }
}

/// The memory spaces of both, by their colours.
pub fn spaces(both: [&Run; 2]) -> BTreeMap<i64, String> {
    let programs = both.into_iter().filter_map(|run| run.derived.program());
    let title = |color, title: String| (color, title);
    programs
        .flat_map(|of| of.analysed.colors().map(|color| title(color, of.color_title(color))))
        .collect()
}

pub fn said(
    found: &ComparedPrograms,
    room: Room,
    (space, size): (&str, &dyn Fn(u64) -> String),
) -> Vec<Said> {
    let said = conclusions(found, room, space, size);
    said.into_iter().map(|one| (one.text, one.is_better)).collect()
}

fn figure(figure: &ComparedFigure) -> FigureRow {
    let value = |place: usize| figure.values.get(place).copied().flatten();
    FigureRow {
        title: figure.figure.title(),
        is_bytes: figure.figure.is_bytes(),
        values: [value(0), value(1)],
        percent: figure.percent_of_source(1),
    }
}

fn of_operation((operation, both): &(Option<String>, Both)) -> PeakRow {
    let operation = operation.as_deref().unwrap_or(NO_OPERATION);
    PeakRow { words: vec![Cow::Owned(clean(operation).into_owned())], size: None, both: *both }
}

fn of_value(row: &ProgramRow) -> PeakRow {
    let text = |text: &str| Cow::Owned(clean(text).into_owned());
    let category = row.kind().map_or("", |kind| kind.category.title());
    PeakRow {
        words: vec![
            text(row.operation()),
            row.other_operation().map_or(Cow::Borrowed(""), text),
            text(&row.shape()),
            Cow::Borrowed(category),
        ],
        size: None,
        both: row.both,
    }
}
