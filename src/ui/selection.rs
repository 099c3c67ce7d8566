//! What is selected, on all pages alike, and what was selected before.

use super::runs::{RunId, Runs, StepAt};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::operations::OperationName;

/// Earlier selections that are remembered.
const MOST_REMEMBERED: usize = 200;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub tiles: TileSelection,
    /// Steps, in the order in which they were selected.
    pub steps: Vec<StepAt>,
    /// The name of a variable before lowering.
    pub variable: Option<String>,
    pub operation: Option<OperationName>,
}

impl Selection {
    /// Where the selected steps lie on the axis, each slot once, in the order of selection.
    pub fn slots(&self, runs: &Runs) -> Vec<usize> {
        let mut slots = Vec::with_capacity(self.steps.len());
        for slot in self.steps.iter().filter_map(|at| runs.slot_of(*at)) {
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
        slots
    }

    /// The slot that was selected first.
    pub fn slot(&self, runs: &Runs) -> Option<usize> {
        self.steps.iter().find_map(|at| runs.slot_of(*at))
    }

    /// Selects one slot in place of all others.
    pub fn select_slot(&mut self, runs: &Runs, slot: usize) {
        self.steps = runs.step_at(slot).into_iter().collect();
    }

    /// Selects one slot more, or takes it out again.
    pub fn toggle_slot(&mut self, runs: &Runs, slot: usize) {
        let before = self.steps.len();
        self.steps.retain(|at| runs.slot_of(*at) != Some(slot));
        if self.steps.len() == before {
            self.steps.extend(runs.step_at(slot));
        }
    }
}

/// The selection with the way back: pages change `now`, and each frame ends with a `settle`.
#[derive(Default)]
pub struct Selections {
    pub now: Selection,
    settled: Selection,
    before: Vec<Selection>,
    after: Vec<Selection>,
}

impl Selections {
    /// Remembers what was selected before, if that has changed.
    pub fn settle(&mut self) {
        if self.now == self.settled {
            return;
        }
        let before = std::mem::replace(&mut self.settled, self.now.clone());
        self.before.push(before);
        if self.before.len() > MOST_REMEMBERED {
            self.before.remove(0);
        }
        self.after.clear();
    }

    /// Goes on with a run under another name, also in earlier selections.
    pub fn rename(&mut self, from: RunId, to: RunId) {
        let all = [&mut self.now, &mut self.settled];
        let all = all.into_iter().chain(&mut self.before).chain(&mut self.after);
        for at in all.flat_map(|selection| &mut selection.steps) {
            if at.run == from {
                at.run = to;
            }
        }
    }

    pub fn can_go_back(&self) -> bool {
        !self.before.is_empty()
    }

    pub fn can_go_forward(&self) -> bool {
        !self.after.is_empty()
    }

    pub fn back(&mut self) {
        self.settle();
        if let Some(before) = self.before.pop() {
            self.after.push(std::mem::replace(&mut self.now, before));
            self.settled = self.now.clone();
        }
    }

    /// The selection that [`Self::back`] left.
    pub fn forward(&mut self) {
        self.settle();
        if let Some(after) = self.after.pop() {
            self.before.push(std::mem::replace(&mut self.now, after));
            self.settled = self.now.clone();
        }
    }
}

/// Selects a thing, or nothing where it was selected.
pub fn toggle<T: PartialEq>(selected: &mut Option<T>, wanted: T) {
    *selected = Some(wanted).filter(|wanted| selected.as_ref() != Some(wanted));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::analysis::comparison::step_axis::StepAxis;
    use crate::analysis::derived::Derived;
    use crate::store::Report;
    use crate::ui::runs::{Arrangement, Run};

    fn runs() -> Runs {
        let report = Arc::new(Report::default());
        let derived = Arc::new(Derived::new(Arc::clone(&report)));
        let list = vec![Run::new(RunId(1), report, derived, 0)];
        let axis = Some(Arc::new(StepAxis::by_index(&[20])));
        Runs::new(list, axis, Arrangement::default(), None).expect("a run")
    }

    #[test]
    fn back_and_forward_walk_through_selections() {
        let (mut selections, runs) = (Selections::default(), runs());
        for step in [3, 7, 9] {
            selections.now.select_slot(&runs, step);
            selections.settle();
            selections.settle();
        }
        selections.back();
        assert_eq!(selections.now.slot(&runs), Some(7));
        selections.back();
        selections.back();
        assert_eq!((selections.now.slot(&runs), selections.can_go_back()), (None, false));
        selections.back();
        selections.forward();
        assert_eq!(selections.now.slot(&runs), Some(3));
        selections.now.toggle_slot(&runs, 5);
        selections.forward();
        assert_eq!(selections.now.slots(&runs), [3, 5], "a new selection ends the way forward");
        selections.back();
        assert_eq!(selections.now.slots(&runs), [3]);
        selections.now.toggle_slot(&runs, 3);
        assert_eq!(selections.now.slot(&runs), None);
        selections.now.select_slot(&runs, 7);
        selections.rename(RunId(1), RunId(2));
        assert_eq!(selections.now.slot(&runs), None, "its run is not shown");
    }
}
