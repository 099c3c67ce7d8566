//! The reference and the run that it is compared with.

use std::sync::Arc;

use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::derived::DerivedPair;
use crate::analysis::figures::difference::Side;
use crate::ui::runs::{Run, Runs};

/// Two of the runs. What the analysis calls the source is the reference.
#[derive(Clone, Copy)]
pub struct PairOfRuns<'a> {
    pub runs: [&'a Run; 2],
    /// The position of the second among all runs.
    place: usize,
    pub derived: &'a Arc<DerivedPair>,
    axis: Option<&'a StepAxis>,
}

impl<'a> PairOfRuns<'a> {
    /// The reference and the run at a position; `None` as long as they are not matched.
    pub fn of(runs: &'a Runs, place: usize) -> Option<Self> {
        let other = runs.get(place)?;
        let derived = other.pair.as_ref()?;
        let axis = runs.axis().map(|axis| &**axis);
        Some(Self { runs: [runs.reference(), other], place, derived, axis })
    }

    pub fn run(&self, side: Side) -> &'a Run {
        side.of(self.runs)
    }

    pub fn titles(&self) -> [&'a str; 2] {
        self.runs.map(|run| &*run.title)
    }

    /// That something is in one of them only.
    pub fn only_in(&self, side: Side) -> String {
        format!("only in {}", self.run(side).title_in_text())
    }

    pub fn slot(&self, side: Side, step: usize) -> Option<usize> {
        self.axis?.slot(side.of([0, self.place]), step)
    }
}
