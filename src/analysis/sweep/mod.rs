//! A sweep: many reports of one program, made with different options.
//!
//! `SweepRun` has the facts of one report, `Sweep` all of them with the options that vary and the
//! fastest run that fits, `heat_map` a figure over two options, `curve` a figure along one. Reports
//! are read one after the other and dropped; nothing here needs them any more.

pub(crate) mod curve;
pub(crate) mod fastest;
pub(crate) mod figure;
pub(crate) mod heat_map;
pub(crate) mod pareto;
mod run;
mod varying;

pub(crate) use curve::{Curve, curve};
pub(crate) use fastest::{FastestThatFits, SpeedMeasure};
pub(crate) use figure::{Figure, FigureValue};
pub(crate) use heat_map::{HeatMap, heat_map};
pub(crate) use run::{RunError, SweepRun};
pub(crate) use varying::VaryingOption;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::analysis::program::report_options::{OptionKind, OptionValue, id, last_part};

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
    /// The numbers that `app.json` has in some run, by name: each may be the figure.
    pub measures: Vec<Measure>,
    pub fastest_that_fits: FastestThatFits,
}

/// A number of `app.json`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Measure {
    /// Its name among those of all kinds, `app.samples_per_second` for example.
    pub id: String,
    /// Its name in the file.
    pub name: String,
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
        varying::complete_those_without_report(&mut runs);
        let (options, options_left_out) = varying::varying_options(&runs);
        runs.sort_by(|a, b| {
            a.error.is_some().cmp(&b.error.is_some()).then_with(|| {
                let of_option =
                    |option: &VaryingOption| compare_values(option.value_of(a), option.value_of(b));
                let differs = options.iter().map(of_option).find(|order| order.is_ne());
                differs.unwrap_or(Ordering::Equal)
            })
        });
        let measures = measures(&mut runs);
        pareto::mark(&mut runs);
        let fastest_that_fits = FastestThatFits::among(&runs);
        Self { runs, options, options_left_out, measures, fastest_that_fits }
    }

    /// All figures that a run of it can have.
    pub fn figures(&self) -> impl Iterator<Item = Figure> + use<> {
        Figure::ALL.into_iter().chain((0..self.measures.len()).map(Figure::Measured))
    }

    /// The name of a figure in JSON and as an argument.
    pub fn figure_key(&self, figure: Figure) -> &str {
        self.measure(figure).map_or(figure.key(), |measure| &measure.id)
    }

    /// The title of a figure's column in a table for programs.
    pub fn figure_column(&self, figure: Figure) -> &str {
        self.measure(figure).map_or(figure.column(), |measure| &measure.id)
    }

    /// The title of a figure for people.
    pub fn figure_title(&self, figure: Figure) -> &str {
        self.measure(figure).map_or(figure.title(), |measure| last_part(&measure.name))
    }

    fn measure(&self, figure: Figure) -> Option<&Measure> {
        match figure {
            Figure::Measured(place) => self.measures.get(place),
            _ => None,
        }
    }

    /// The figure that a text means: its key, else the number of `app.json` that has it as its id, as its name,
    /// as the last part of its name, or alone in its id; whatever their case.
    ///
    /// # Errors
    /// When none is meant, or several.
    pub fn find_figure(&self, text: &str) -> Result<Figure, OptionNotFound> {
        let text = text.to_lowercase();
        if let Some(figure) = Figure::ALL.into_iter().find(|figure| figure.key() == text) {
            return Ok(figure);
        }
        let is_meant: [&dyn Fn(&Measure) -> bool; 4] = [
            &|measure| measure.id.to_lowercase() == text,
            &|measure| measure.name.to_lowercase() == text,
            &|measure| last_part(&measure.name).to_lowercase() == text,
            &|measure| measure.id.to_lowercase().contains(&text),
        ];
        for is_meant in is_meant {
            let measures = self.measures.iter().enumerate();
            let mut meant = measures.filter(|(_, it)| is_meant(it)).map(|(place, _)| place);
            match (meant.next(), meant.next()) {
                (None, _) => {}
                (Some(place), None) => return Ok(Figure::Measured(place)),
                (Some(_), Some(_)) => return Err(OptionNotFound::Several),
            }
        }
        Err(OptionNotFound::None)
    }

    /// Bytes that a tile has, where all runs have the same.
    pub fn bytes_per_tile(&self) -> Option<u64> {
        let mut limits = self.runs.iter().filter_map(|run| run.bytes_per_tile);
        let limit = limits.next()?;
        limits.all(|other| other == limit).then_some(limit)
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

/// Numbers of `app.json` that are listed.
const MOST_MEASURES: usize = 100;

/// The numbers of `app.json` in some run, which each run gets by their positions.
fn measures(runs: &mut [SweepRun]) -> Vec<Measure> {
    let number = |value: &OptionValue| value.as_f64().filter(|number| number.is_finite());
    let mut names = BTreeSet::new();
    for option in runs.iter().flat_map(|run| &run.options) {
        if option.kind == OptionKind::App && number(&option.value).is_some() {
            names.insert(option.name.clone());
        }
    }
    let names: Vec<String> = names.into_iter().take(MOST_MEASURES).collect();
    for run in runs {
        let of = |name: &String| run.option(OptionKind::App, name).and_then(number);
        run.measured = names.iter().map(of).collect();
    }
    names.into_iter().map(|name| Measure { id: id(OptionKind::App, &name), name }).collect()
}

/// Values in their order; an absent one comes last.
fn compare_values(a: Option<&OptionValue>, b: Option<&OptionValue>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.cmp(b),
        _ => b.is_some().cmp(&a.is_some()),
    }
}
