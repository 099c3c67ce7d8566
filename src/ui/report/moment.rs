//! A moment: a slot of the common axis of steps, or the peak of each run, and how it is written.

use crate::analysis::comparison::step_axis::StepAxis;
use crate::store::Report;
use crate::text::grouped;
use crate::ui::runs::{PerRun, Run, Runs};

/// A step of each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The slot; `None` where each run is at its own peak.
    pub slot: Option<usize>,
    /// The steps of the runs; where a run has none in the slot, the one before, and none behind its last.
    steps: PerRun<Option<usize>>,
    /// Whether the run really has a step there.
    is_there: PerRun<bool>,
    has_ended: PerRun<bool>,
}

impl Moment {
    pub fn at_slot(axis: &StepAxis, slot: usize) -> Self {
        let runs = 0..axis.runs();
        Self {
            slot: Some(slot),
            steps: runs.clone().map(|run| axis.step_until_end(run, slot)).collect(),
            is_there: runs.clone().map(|run| axis.step(run, slot).is_some()).collect(),
            has_ended: runs.map(|run| slot >= axis.end(run)).collect(),
        }
    }

    pub fn of_steps(steps: PerRun<Option<usize>>) -> Self {
        let all = |of: bool| steps.iter().map(|_| of).collect();
        Self { slot: None, is_there: all(true), has_ended: all(false), steps }
    }

    /// The step of a run; where it has none there, the one before, unless it has ended.
    pub fn step(&self, run: usize) -> Option<usize> {
        self.steps.get(run).copied().flatten()
    }

    pub fn step_there(&self, run: usize) -> Option<usize> {
        self.step(run).filter(|_| self.is_there.get(run) == Some(&true))
    }

    /// The runs that have a step there, and those that have none.
    fn divided<'a>(&self, runs: &'a Runs) -> (Vec<&'a Run>, Vec<&'a Run>) {
        let placed: Vec<(usize, &Run)> = runs.iter().enumerate().collect();
        let (there, absent): (Vec<_>, Vec<_>) =
            placed.into_iter().partition(|(place, _)| self.is_there.get(*place) == Some(&true));
        let runs = |list: Vec<(usize, &'a Run)>| list.into_iter().map(|(_, run)| run).collect();
        (runs(there), runs(absent))
    }

    /// `In both`, `Only in source`, `Not in amp-0.6`.
    pub fn presence(&self, runs: &Runs) -> String {
        let (there, absent) = self.divided(runs);
        match (&*there, &*absent) {
            (_, []) if runs.len() > 2 => "In all".to_owned(),
            (_, []) => "In both".to_owned(),
            ([only], _) => format!("Only in {}", only.title_in_text()),
            (_, absent) => {
                let titles: Vec<String> = absent.iter().map(|run| run.title_in_text()).collect();
                format!("Not in {}", titles.join(", "))
            }
        }
    }

    /// The steps for people: `step 82`, of two runs `step 82 → 61`.
    pub fn title(&self, runs: &Runs) -> String {
        let id = |(place, run): (usize, &Run)| match self.step_there(place) {
            Some(step) => step_id(&run.report, step),
            None => "–".to_owned(),
        };
        let ids: Vec<String> = runs.iter().enumerate().map(id).collect();
        let (there, absent) = self.divided(runs);
        let word = runs.system().step_in_text;
        match (&*ids, &*there, self.slot) {
            ([id], ..) => format!("{word} {id}"),
            ([source, target], _, None) => {
                format!("{word} {source} of the source, {word} {target} of the target")
            }
            (_, _, None) => "each at its own peak".to_owned(),
            (_, [only], _) if !absent.is_empty() => {
                let id = ids.iter().find(|id| *id != "–").map_or("–", |id| &**id);
                format!("{word} {id}, only in {}", only.title_in_text())
            }
            ([first, others @ ..], ..) if others.iter().all(|id| id == first) => {
                format!("{word} {first} of {}", runs.of_number(["", "both", "all"]))
            }
            ([_, _], ..) => format!("{word} {}", ids.join(" → ")),
            _ => {
                let mut of: Vec<(&str, String)> = Vec::new();
                for (id, run) in ids.iter().zip(runs.iter()).filter(|(id, _)| *id != "–") {
                    match of.iter_mut().find(|(other, _)| other == id) {
                        Some((_, letters)) => letters.extend([',', ' ', run.badge.letter]),
                        None => of.push((id, run.badge.letter.to_string())),
                    }
                }
                let of: Vec<_> = of.iter().map(|(id, of)| format!("{id} of {of}")).collect();
                format!("{word} {}", of.join("; "))
            }
        }
    }

    /// What is said of the runs that have no step there: which one each is after.
    pub fn absence(&self, runs: &Runs) -> Option<String> {
        let text = |(place, run): (usize, &Run)| {
            if self.step_there(place).is_some() || self.slot.is_none() {
                return None;
            }
            Some(match self.step(place) {
                Some(step) => {
                    let word = runs.system().step_in_text;
                    format!("{} is still as after {word} {}", run.the(), step_id(&run.report, step))
                }
                None if self.has_ended.get(place) == Some(&true) => {
                    format!("{} has ended", run.the())
                }
                None => format!("{} has not begun", run.the()),
            })
        };
        let texts: Vec<String> = runs.iter().enumerate().filter_map(text).collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// What the figures of a table are of.
    pub fn note(&self, runs: &Runs) -> String {
        let absence = self.absence(runs).map_or(String::new(), |text| format!(" ({text})"));
        match (self.slot, runs.len()) {
            (None, 1) => "at the peak".to_owned(),
            (None, 2) => format!("each at its own peak: {}", self.title(runs)),
            (None, _) => "each at its own peak".to_owned(),
            (Some(_), 1) => String::new(),
            (Some(_), _) => format!("at {}{absence}", self.title(runs)),
        }
    }
}

pub fn step_id(report: &Report, step: usize) -> String {
    let id = report.steps.get().and_then(|steps| steps.ids.get(step));
    grouped(id.map_or(step as u64, |id| id.0.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_has_ended_has_no_step() {
        let axis = StepAxis::by_index(&[2, 5]);
        let moment = |slot| Moment::at_slot(&axis, slot);
        assert_eq!([moment(1).step(0), moment(1).step(1)], [Some(1); 2]);
        assert_eq!([moment(3).step(0), moment(3).step(1)], [None, Some(3)]);
        assert_eq!([true, false], [0, 1].map(|run| moment(3).has_ended[run]));
    }
}
