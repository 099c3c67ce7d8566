//! A sweep: many reports of one program, made with different options.
//!
//! `SweepRun` has the facts of one report, `Sweep` all of them with the options that vary and the
//! fastest run that fits, `heat_map` a figure over two options, `curve` a figure along one. Reports
//! are read one after the other and dropped; nothing here needs them any more.

pub(crate) mod curve;
pub(crate) mod fastest;
pub(crate) mod figure;
pub(crate) mod heat_map;
mod run;
mod varying;

pub(crate) use curve::{Curve, curve};
pub(crate) use fastest::{FastestThatFits, SpeedMeasure};
pub(crate) use figure::{Figure, FigureValue};
pub(crate) use heat_map::{HeatMap, heat_map};
pub(crate) use run::{RunError, SweepRun};
pub(crate) use varying::VaryingOption;

use std::cmp::Ordering;

use crate::analysis::program::report_options::{OptionKind, OptionValue};

#[cfg(test)]
mod tests;

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Sweep {
    /// The runs, by their options in the order of `options`, then by name; those that could not be read
    /// come last.
    pub runs: Vec<SweepRun>,
    /// The options that vary: proportions, `app.json`, then the others by kind and name.
    pub options: Vec<VaryingOption>,
    /// Options that vary and are not listed, because there are too many.
    pub options_left_out: usize,
    pub fastest_that_fits: FastestThatFits,
}

/// No option, or several, for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionNotFound {
    /// No option that varies is meant.
    None,
    /// Several could be meant, whose values differ.
    Several,
}

impl Sweep {
    pub fn new(mut runs: Vec<SweepRun>) -> Self {
        // By name first: what comes of it does not depend on the order of reading.
        runs.sort_by(|a, b| (a.error.is_some(), &a.name).cmp(&(b.error.is_some(), &b.name)));
        let (options, options_left_out) = varying::varying_options(&runs);
        runs.sort_by(|a, b| {
            a.error.is_some().cmp(&b.error.is_some()).then_with(|| {
                let of_option =
                    |option: &VaryingOption| compare_values(option.value_of(a), option.value_of(b));
                let differs = options.iter().map(of_option).find(|order| order.is_ne());
                differs.unwrap_or(Ordering::Equal)
            })
        });
        let fastest_that_fits = FastestThatFits::among(&runs);
        Self { runs, options, options_left_out, fastest_that_fits }
    }

    /// The option that a text means: its id, else its short name, else a part of its id that no option
    /// with other values has; whatever their case. Of options that always go together the first is
    /// meant.
    ///
    /// # Errors
    /// When none is meant, or several.
    pub fn find_option(&self, text: &str) -> Result<usize, OptionNotFound> {
        let text = text.to_lowercase();
        let is_meant: [&dyn Fn(&VaryingOption) -> bool; 3] = [
            &|option| option.id.to_lowercase() == text,
            &|option| option.short_name.to_lowercase() == text,
            &|option| option.id.to_lowercase().contains(&text),
        ];
        for is_meant in is_meant {
            let options = self.options.iter().enumerate();
            let mut meant = options.filter(|(_, option)| is_meant(option)).map(|(place, _)| place);
            let Some(first) = meant.next() else { continue };
            let is_same = |place| self.group_of(place) == self.group_of(first);
            return if meant.all(is_same) { Ok(first) } else { Err(OptionNotFound::Several) };
        }
        Err(OptionNotFound::None)
    }

    /// The first option that has the same values in all runs as this one.
    fn group_of(&self, option: usize) -> usize {
        self.options.get(option).and_then(|option| option.same_as).unwrap_or(option)
    }

    pub fn id(&self, option: usize) -> &str {
        self.options.get(option).map_or("", |option| &option.id)
    }

    /// What a run is opened by, by its position.
    pub fn path(&self, run: usize) -> &str {
        self.runs.get(run).map_or("", |run| &run.path)
    }

    pub fn value(&self, run: usize, option: usize) -> Option<&OptionValue> {
        self.options.get(option)?.value_of(self.runs.get(run)?)
    }

    /// The options that tell lines of a curve along `option` apart: the first of each group that is not
    /// its own. Left out are the directory, and an option that has another value in each run, for it
    /// would leave one point a line.
    fn others(&self, option: usize) -> Vec<usize> {
        let read = self.runs.iter().filter(|run| run.error.is_none()).count();
        let tells_lines = |place: &usize| {
            self.options.get(*place).is_some_and(|other| {
                other.same_as.is_none()
                    && other.kind != OptionKind::Directory
                    && other.values.len() < read
            })
        };
        let all = 0..self.options.len();
        all.filter(|place| *place != self.group_of(option)).filter(tells_lines).collect()
    }

    /// The positions of the runs that could be read, by the value of an option.
    fn runs_by_value(&self, option: usize) -> Vec<(Option<&OptionValue>, usize)> {
        let read = (0..self.runs.len())
            .filter(|run| self.runs.get(*run).is_some_and(|run| run.error.is_none()));
        read.map(|run| (self.value(run, option), run)).collect()
    }
}

/// Values in their order; an absent one comes last.
fn compare_values(a: Option<&OptionValue>, b: Option<&OptionValue>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.cmp(b),
        _ => b.is_some().cmp(&a.is_some()),
    }
}
