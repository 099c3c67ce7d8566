//! A sweep: many runs with different settings, of any system, also of several.
//!
//! `SweepRun` has the facts of one run, `Sweep` all of them with the options that vary, what they are compared with,
//! and the best; `heat_map` has a figure over two options, `curve` a figure along one. Runs are read one after the
//! other and dropped; nothing here needs them afterwards.

pub(crate) mod best;
pub(crate) mod curve;
pub(crate) mod figure;
pub(crate) mod heat_map;
pub(crate) mod pareto;
mod run;
mod varying;
mod words;

pub(crate) use best::{Best, BestBy, NoBest};
pub(crate) use curve::{Curve, curve};
pub(crate) use figure::FigureToSweep;
pub use figure::{
    CYCLES, FigureKind, FigureUnit, FigureValue, NEEDED, PEAK, Percents, SweepFigure, THROUGHPUT,
    TOTAL,
};
pub(crate) use heat_map::{HeatMap, heat_map};
pub use run::{NoReference, SweepFacts};
pub(crate) use run::{RunError, SweepRun};
pub(crate) use varying::VaryingOption;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::analysis::figures::difference::percent_of;
use crate::analysis::natural;
use crate::analysis::program::report_options::{OptionKind, OptionValue, id, last_part};
use crate::run::Room;

#[cfg(test)]
mod tests;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sweep {
    /// The runs, by their options in the order of `options`, then in the natural order of their names; those that could
    /// not be read come last.
    pub runs: Vec<SweepRun>,
    /// The options that vary: proportions, `app.json`, then the others by kind and name.
    pub options: Vec<VaryingOption>,
    /// Options that vary and are not listed, because there are too many.
    pub options_left_out: usize,
    /// The kinds of figures that some run has, in the order of their columns.
    pub kinds: Vec<&'static FigureKind>,
    /// The numbers that `app.json` has in some run, by name: each may be the figure.
    pub measures: Vec<Measure>,
    /// The best run, or why none is.
    pub best: Result<Best, NoBest>,
    /// What the others are compared with, a position in `runs`.
    pub reference: Option<usize>,
    /// What the user says of the device.
    pub room: Room,
}

/// A number of `app.json`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Measure {
    /// Its name among those of all kinds, `app.samples_per_second` for example.
    pub id: String,
    /// Its name in the file.
    pub name: String,
}

/// None, or several, for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotFound {
    /// None is meant.
    None,
    /// Several could be meant.
    Several,
}

impl Sweep {
    /// Puts runs side by side, where the user says so much of the device. What others are compared with is the first
    /// that is whole and went well.
    pub fn new(mut runs: Vec<SweepRun>, room: Room) -> Self {
        // By name first: what comes of it does not depend on the order of reading.
        runs.sort_by(|a, b| {
            let order = natural::compare(&a.name, &b.name);
            a.error.is_some().cmp(&b.error.is_some()).then(order)
        });
        varying::complete_those_without_report(&mut runs);
        let (options, options_left_out) = varying::varying_options(&runs);
        let own = |option: &&VaryingOption| option.kind != OptionKind::Directory;
        runs.sort_by(|a, b| {
            a.error.is_some().cmp(&b.error.is_some()).then_with(|| {
                let of_option =
                    |option: &VaryingOption| compare_values(option.value_of(a), option.value_of(b));
                let differs = options.iter().filter(own).map(of_option).find(|order| order.is_ne());
                differs.unwrap_or(Ordering::Equal)
            })
        });
        let measures = measures(&mut runs);
        let mut kinds: Vec<&'static FigureKind> = Vec::new();
        for figure in runs.iter().flat_map(|run| &run.facts.figures) {
            if !kinds.iter().any(|kind| kind.key == figure.kind.key) {
                kinds.push(figure.kind);
            }
        }
        kinds.sort_by_key(|kind| kind.rank.unwrap_or(u8::MAX));
        let best = Err(NoBest::NoneFits);
        let mut sweep =
            Self { runs, options, options_left_out, kinds, measures, best, reference: None, room };
        sweep.judge(room);
        sweep
    }

    /// Takes what the user says of the device for its capacity; the reference is the first that goes well then.
    pub fn judge(&mut self, room: Room) {
        self.room = room;
        // Where only some are of parts of a device, a capacity is that of the others.
        let are_all_of_parts = !self.takes_capacity();
        for run in &mut self.runs {
            let is_meant = are_all_of_parts || run.takes_capacity();
            run.judge(if is_meant { room } else { Room::default() });
        }
        pareto::mark(&mut self.runs);
        self.best = Best::among(&self.runs);
        let has_percents = |run: &SweepRun| {
            run.facts.figures.iter().any(|figure| figure.kind.percents != Percents::No)
        };
        let of = |run: &SweepRun| run.can_be_reference() && has_percents(run);
        let with_percents = self.runs.iter().position(of);
        self.reference =
            with_percents.or_else(|| self.runs.iter().position(SweepRun::can_be_reference));
    }

    /// Compares with the run that a text means: by its name, its path, or its settings (`batch_size=8`).
    ///
    /// # Errors
    /// When none is meant, or it cannot be the reference.
    pub fn compare_with(&mut self, text: &str) -> Result<(), Option<NoReference>> {
        let place = (0..self.runs.len()).find(|run| {
            let of = self.runs.get(*run);
            of.is_some_and(|of| of.name == text || of.path == text)
                || self.settings_text(*run) == text
        });
        let run = place.and_then(|place| self.runs.get(place)).ok_or(None)?;
        if let Some(why_not) = run
            .facts
            .why_no_reference
            .or_else(|| run.error.is_some().then_some(NoReference::NotWhole))
        {
            return Err(Some(why_not));
        }
        self.reference = place;
        Ok(())
    }

    /// The settings of a run by which it differs: `batch_size=8, expandable_segments=true`.
    pub fn settings_text(&self, run: usize) -> String {
        let own = self.options.iter().enumerate().filter(|(_, option)| option.is_column());
        let said = own.filter_map(|(place, option)| {
            Some(format!("{}={}", option.short_name, self.value(run, place)?))
        });
        said.collect::<Vec<_>>().join(", ")
    }

    /// The systems of the runs, in their order.
    pub fn systems(&self) -> Vec<&'static str> {
        let mut systems: Vec<&'static str> = Vec::new();
        for run in &self.runs {
            if !systems.contains(&run.system) {
                systems.push(run.system);
            }
        }
        systems
    }

    /// All figures that a run of it can have.
    pub fn figures(&self) -> impl Iterator<Item = FigureToSweep> + use<> {
        let known = self.kinds.clone().into_iter().map(FigureToSweep::Known);
        known.chain((0..self.measures.len()).map(FigureToSweep::Measured))
    }

    /// The kinds that tables have a column for: those that some run knows.
    pub fn columns(&self) -> impl Iterator<Item = &'static FigureKind> + use<'_> {
        let is_known = |kind: &&&'static FigureKind| {
            self.runs.iter().any(|run| FigureToSweep::Known(kind).of(run).is_some())
        };
        self.kinds.iter().filter(|kind| kind.rank.is_some()).filter(is_known).copied()
    }

    /// The figure that is shown where none is chosen: the speed where it is known, else what is needed.
    pub fn first_figure(&self) -> FigureToSweep {
        let has = |kind: &FigureKind| {
            self.runs
                .iter()
                .any(|run| run.figure(kind).is_some_and(|figure| figure.value.is_some()))
        };
        FigureToSweep::Known(if has(&THROUGHPUT) { &THROUGHPUT } else { &NEEDED })
    }

    /// The name of a figure in JSON, and the title of its column in a table for programs.
    pub fn figure_key(&self, figure: FigureToSweep) -> &str {
        match figure {
            FigureToSweep::Known(kind) => kind.key,
            FigureToSweep::Measured(_) => self.measure(figure).map_or("app", |measure| &measure.id),
        }
    }

    /// The name of a figure as an argument.
    pub fn figure_word(&self, figure: FigureToSweep) -> &str {
        match figure {
            FigureToSweep::Known(kind) => kind.word,
            FigureToSweep::Measured(_) => self.figure_key(figure),
        }
    }

    /// The title of a figure for people.
    pub fn figure_title(&self, figure: FigureToSweep) -> &str {
        match figure {
            FigureToSweep::Known(kind) => kind.title,
            FigureToSweep::Measured(_) => {
                self.measure(figure).map_or("Number of app.json", |it| last_part(&it.name))
            }
        }
    }

    fn measure(&self, figure: FigureToSweep) -> Option<&Measure> {
        match figure {
            FigureToSweep::Measured(place) => self.measures.get(place),
            FigureToSweep::Known(_) => None,
        }
    }

    /// The figure that a text means: its name as an argument or in JSON, else the number of `app.json` that has it as its
    /// id, as its name, as the last part of its name, or alone in its id; whatever their case.
    ///
    /// # Errors
    /// When none is meant, or several.
    pub fn find_figure(&self, text: &str) -> Result<FigureToSweep, NotFound> {
        let text = text.to_lowercase();
        let is_kind = |kind: &&&'static FigureKind| kind.word == text || kind.key == text;
        if let Some(kind) = self.kinds.iter().find(is_kind) {
            return Ok(FigureToSweep::Known(kind));
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
                (Some(place), None) => return Ok(FigureToSweep::Measured(place)),
                (Some(_), Some(_)) => return Err(NotFound::Several),
            }
        }
        Err(NotFound::None)
    }

    /// Bytes that there are, where all runs have the same.
    pub fn capacity_bytes(&self) -> Option<u64> {
        same(self.runs.iter().filter_map(|run| run.verdict.capacity_bytes))
    }

    /// The same without what others have.
    pub fn limit_bytes(&self) -> Option<u64> {
        same(self.runs.iter().filter_map(|run| run.limit_bytes))
    }

    /// Whether a figure is what decides whether runs fit.
    pub fn is_what_is_needed(&self, figure: FigureToSweep) -> bool {
        let mut known = self.runs.iter().filter_map(|run| Some((figure.of(run)?, run)));
        let is_it = |(value, run): (FigureValue, &SweepRun)| {
            figure.is_bytes() && value.count() == run.needed_bytes()
        };
        known.clone().next().is_some() && known.all(is_it)
    }

    /// What is used and the capacity are of, where that is a part of each run: "the fullest tile".
    pub fn used_of(&self) -> Option<&'static str> {
        let read = self.runs.iter().filter(|run| run.is_read());
        same(read.map(|run| run.verdict.used_of)).flatten()
    }

    /// Whether the user can say of some run what its device has.
    pub fn takes_capacity(&self) -> bool {
        self.runs.iter().any(SweepRun::takes_capacity)
    }

    /// A figure of a run in percent of the reference's, with one decimal, half up; `None` of one that is not whole, has
    /// failed, or is of another system.
    pub fn percent(&self, run: usize, figure: FigureToSweep) -> Option<f64> {
        self.percent_between(run, self.reference?, figure)
    }

    /// The same of the run before it; `None` where that is not whole.
    pub fn percent_of_previous(&self, run: usize, figure: FigureToSweep) -> Option<f64> {
        let previous = run.checked_sub(1)?;
        self.runs.get(previous).filter(|previous| previous.facts.is_whole)?;
        self.percent_between(run, previous, figure)
    }

    fn percent_between(&self, run: usize, of: usize, figure: FigureToSweep) -> Option<f64> {
        let run = self.runs.get(run).filter(|run| run.facts.is_whole)?;
        let of = self.runs.get(of).filter(|of| of.system == run.system)?;
        percent_of(figure.of(run)?.count()?, figure.of(of)?.count()?)
    }

    /// The option that a text means: its id, else its short name, else a part of its id that no option
    /// with other values has; whatever their case. Of options that always go together the first is
    /// meant.
    ///
    /// # Errors
    /// When none is meant, or several.
    pub fn find_option(&self, text: &str) -> Result<usize, NotFound> {
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
            return if meant.all(is_same) { Ok(first) } else { Err(NotFound::Several) };
        }
        Err(NotFound::None)
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
            let other = self.options.get(*place);
            other.is_some_and(|other| other.is_column() && other.values.len() < read)
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
    for option in runs.iter().flat_map(|run| &run.facts.options) {
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
/// What all are, if they are the same; `None` where there is none.
pub fn same<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}
