//! The place that the page is about: a selected slot, or the peak of each report.

use crate::store::Report;
use crate::ui::legacy::AlignedSteps;
use crate::ui::legacy::{Side, step_at};

use super::derived::PairDerived;

/// A step of each report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// The slot; `None` where each report is at its own peak.
    pub slot: Option<usize>,
    /// The steps of source and target; where a report has none in the slot, the one before.
    pub steps: [Option<usize>; 2],
    /// Whether the report really has a step there.
    is_there: [bool; 2],
}

impl Places {
    /// The steps in a slot.
    pub fn at_slot(axis: &AlignedSteps, slot: usize) -> Self {
        Self {
            slot: Some(slot),
            steps: Side::BOTH.map(|side| step_at(axis, side, slot)),
            is_there: [axis.source_at(slot).is_some(), axis.target_at(slot).is_some()],
        }
    }

    /// The highest step of each report.
    pub fn at_peaks(derived: &PairDerived) -> Self {
        let steps = Side::BOTH.map(|side| derived.side(side)?.derived.peak);
        Self { slot: None, steps, is_there: [true; 2] }
    }

    /// The selected slot, the first of several, else the peaks.
    pub fn selected(derived: &PairDerived, slots: &[usize]) -> Self {
        match slots.first() {
            Some(slot) => Self::at_slot(&derived.axis, *slot),
            None => Self::at_peaks(derived),
        }
    }

    /// The step of a report; where it has none there, the one before.
    pub fn step(&self, side: Side) -> Option<usize> {
        side.of(self.steps)
    }

    /// The step of a report, where it has one there.
    pub fn step_there(&self, side: Side) -> Option<usize> {
        self.step(side).filter(|_| self.only_in().is_none_or(|only| only == side))
    }

    /// The report that alone has a step there.
    pub fn only_in(&self) -> Option<Side> {
        match self.is_there {
            [true, false] => Some(Side::Source),
            [false, true] => Some(Side::Target),
            _ => None,
        }
    }

    /// The steps for people: `step 82 → 61`.
    pub fn title(&self, reports: [&Report; 2]) -> String {
        let [source, target] = Side::BOTH.map(|side| {
            let step = self.step_there(side);
            step.map_or("–".to_owned(), |step| step_id(side.of(reports), step))
        });
        match self.only_in() {
            Some(Side::Source) => format!("step {source}, only in source"),
            Some(Side::Target) => format!("step {target}, only in target"),
            None if self.slot.is_none() => {
                format!("step {source} of the source, step {target} of the target")
            }
            None => format!("step {source} → {target}"),
        }
    }

    /// What is said where a report has no step there: which one it is after.
    pub fn absence(&self, reports: [&Report; 2]) -> Option<String> {
        let side = match self.only_in()? {
            Side::Source => Side::Target,
            Side::Target => Side::Source,
        };
        let report = side.of(reports);
        let name = side.title().to_lowercase();
        Some(match self.step(side) {
            Some(step) => format!("the {name} is still as after step {}", step_id(report, step)),
            None => format!("the {name} has not begun"),
        })
    }
}

/// The number of a step.
pub fn step_id(report: &Report, step: usize) -> String {
    let id = report.steps.get().and_then(|steps| steps.ids.get(step));
    id.map_or_else(|| step.to_string(), |id| id.to_string())
}
