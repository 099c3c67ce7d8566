//! A sweep in words that the command and the window share.

use super::{Best, BestBy, FigureUnit, NoBest, Sweep};
use crate::run::Outcome;
use crate::text::{grouped, rate};

impl Sweep {
    /// What percents are of; `None` where no figure has any.
    pub fn reference_text(&self) -> Option<String> {
        let has_percents = self.columns().any(|kind| kind.percents != super::Percents::No);
        has_percents.then(|| match self.reference.and_then(|place| self.runs.get(place)) {
            Some(run) => format!("reference, 100 %: {}", run.name),
            None => "No complete run fits, so there are no percentages".to_owned(),
        })
    }

    /// What the best run is the best at, and how much that is; `size` writes bytes.
    pub fn best_figure_text(&self, best: Best, size: &dyn Fn(u64) -> String) -> String {
        let Some(run) = self.runs.get(best.run) else { return String::new() };
        let at_least = |is: bool| if is { "at least " } else { "" };
        match best.by {
            BestBy::Throughput => {
                format!("{} samples/s by cycles", run.throughput().map_or_else(String::new, rate))
            }
            BestBy::Cycles => format!(
                "{} cycles a run, the fewest; no throughput is known",
                run.cycles_per_run().map_or_else(String::new, rate)
            ),
            BestBy::Needed => {
                let is_least = run.figure(best.by.figure()).is_some_and(|it| it.is_at_least);
                let of = run.verdict.on_what();
                let needed = run.needed_bytes().map_or_else(String::new, size);
                format!("{}{needed}{of}", at_least(is_least))
            }
        }
    }

    /// What the best run is called for: the fastest that fits, or the least that is needed.
    pub fn best_title(&self) -> &'static str {
        match self.best {
            Err(_) => "Best",
            Ok(Best { by: BestBy::Needed, .. }) => "Least needed",
            _ if self.runs.iter().all(|run| run.verdict.outcome != Outcome::Ran) => {
                "Fastest that fits"
            }
            _ => "Fastest that fits or ran",
        }
    }

    /// Why no run is the best.
    pub fn no_best_text(why: NoBest) -> &'static str {
        match why {
            NoBest::NoneFits => "none: no run is known to fit or to have run",
            NoBest::NothingKnown => "not known: no run that fits states its speed or its memory",
            NoBest::SeveralSystems => {
                "not known: no run states its speed, and bytes of different systems cannot be compared"
            }
        }
    }

    /// How many fit what the user says that the device has; `None` where he says nothing.
    pub fn capacity_text(&self, size: &dyn Fn(u64) -> String) -> Option<String> {
        let capacity = size(self.room.capacity_bytes?);
        let other = match self.room.other_bytes {
            0 => String::new(),
            other => format!(", of which others have {}", size(other)),
        };
        let fit = self.runs.iter().filter(|run| run.fits() == Some(true)).count();
        Some(format!("Capacity {capacity}{other}: {fit} of {} fit", self.runs.len()))
    }

    /// Of which of its devices the figures of each run are that has several.
    pub fn device_texts(&self) -> impl Iterator<Item = String> {
        let text = |run: &super::SweepRun| {
            let of = run.facts.of.as_ref()?;
            Some(format!(
                "{}: its figures are those of {of}, one of {} devices.",
                run.name,
                run.facts.devices.len()
            ))
        };
        self.runs.iter().filter_map(text)
    }

    /// What has to be said of runs whose figures are not all that they took.
    pub fn notes(&self) -> Vec<&'static str> {
        let mut notes: Vec<&str> =
            self.runs.iter().flat_map(|run| run.facts.notes.clone()).collect();
        notes.sort_unstable();
        notes.dedup();
        notes
    }
}

impl FigureUnit {
    /// A figure of this unit; `size` writes bytes.
    pub fn text(self, value: super::FigureValue, size: &dyn Fn(u64) -> String) -> String {
        use super::FigureValue::{Count, Rate};
        match (self, value) {
            (Self::Bytes, Count(bytes)) => size(bytes),
            (Self::Number, Rate(number)) => crate::text::number(number),
            (_, Count(count)) => grouped(count),
            (_, Rate(samples)) => rate(samples),
        }
    }
}
