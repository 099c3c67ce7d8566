//! What is selected, on all pages alike, and what was selected before.

use crate::analysis::memory::selection::TileSelection;

/// Earlier selections that are remembered.
const MOST_REMEMBERED: usize = 200;

/// An operation as people know it: what it does and what it is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationName {
    /// What it does, `convolution` for example.
    pub kind: Option<String>,
    /// Its debug name.
    pub name: Option<String>,
}

/// The selected things of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Tiles.
    pub tiles: TileSelection,
    /// Positions of steps, in the order in which they were selected.
    pub steps: Vec<usize>,
    /// The name of a variable before lowering.
    pub variable: Option<String>,
    /// An operation.
    pub operation: Option<OperationName>,
}

impl Selection {
    /// The step that was selected first.
    pub fn step(&self) -> Option<usize> {
        self.steps.first().copied()
    }

    /// Selects one step in place of all others.
    pub fn select_step(&mut self, step: usize) {
        self.steps = vec![step];
    }

    /// Selects one step more, or takes it out again.
    pub fn toggle_step(&mut self, step: usize) {
        match self.steps.iter().position(|selected| *selected == step) {
            Some(place) => drop(self.steps.remove(place)),
            None => self.steps.push(step),
        }
    }
}

/// The selection with the way back. Pages change `now` as they like; the window calls
/// [`Selections::settle`] once a frame.
#[derive(Debug, Default)]
pub struct Selections {
    /// What is selected.
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

    /// Moves all selected steps, also those of earlier selections, to another axis. Those that have no
    /// place there are no longer selected.
    pub fn map_steps(&mut self, place: impl Fn(usize) -> Option<usize>) {
        let all = [&mut self.now, &mut self.settled];
        for selection in all.into_iter().chain(&mut self.before).chain(&mut self.after) {
            selection.steps = selection.steps.iter().filter_map(|step| place(*step)).collect();
        }
    }

    /// Whether there is a way back.
    pub fn can_go_back(&self) -> bool {
        !self.before.is_empty()
    }

    /// Whether there is a way forward.
    pub fn can_go_forward(&self) -> bool {
        !self.after.is_empty()
    }

    /// The selection before this one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_and_forward_walk_through_selections() {
        let mut selections = Selections::default();
        for step in [3, 7, 9] {
            selections.now.select_step(step);
            selections.settle();
            selections.settle();
        }
        selections.back();
        assert_eq!(selections.now.step(), Some(7));
        selections.back();
        selections.back();
        assert_eq!((selections.now.step(), selections.can_go_back()), (None, false));
        selections.back();
        selections.forward();
        assert_eq!(selections.now.step(), Some(3));
        selections.now.toggle_step(5);
        selections.forward();
        assert_eq!(selections.now.steps, [3, 5], "a new selection ends the way forward");
        selections.back();
        assert_eq!(selections.now.steps, [3]);
        selections.now.toggle_step(3);
        assert_eq!(selections.now.step(), None);
    }
}
