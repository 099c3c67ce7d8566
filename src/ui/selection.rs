//! The selection, shared by all pages, and earlier selections.

use super::command::Page;
use super::runs::{RunId, Runs, StepAt};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::operations::OperationName;
use crate::store::{DeviceId, TileId};

/// Earlier selections that are remembered.
const MOST_REMEMBERED: usize = 200;
/// Variables that are selected together: as many as can be told apart.
const MOST_VARIABLES: usize = 6;

/// Where one can go from a row of a table or a place of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    /// A step on the curve.
    Step(StepAt),
    /// A tile among the others.
    Tile(TileId),
    Map(TileId),
}

/// A place with the title of the way there.
pub type TitledJump = (String, Jump);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub tiles: TileSelection,
    /// Steps, in the order in which they were selected.
    pub steps: Vec<StepAt>,
    /// The name of a variable before lowering.
    variable: Option<String>,
    /// Others that were selected beside it, in that order.
    other_variables: Vec<String>,
    operation: Option<OperationName>,
    /// Whether the variable was selected after the operation.
    is_variable_newest: bool,
    /// The device whose memory is looked at, where each has its own and another than the first is chosen.
    pub device: Option<DeviceId>,
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

    /// The step of a run that was selected first.
    pub fn step_of(&self, run: RunId) -> Option<usize> {
        self.steps.iter().find(|at| at.run == run).map(|at| at.step)
    }

    /// The names of all selected variables, that which was selected first in front.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variable.iter().chain(&self.other_variables).map(String::as_str)
    }

    /// The variable that was selected first.
    pub fn variable(&self) -> Option<&String> {
        self.variable.as_ref()
    }

    /// Selects a variable in place of all others, or none.
    pub fn select_variable(&mut self, name: Option<String>) {
        self.is_variable_newest = true;
        self.variable = name;
        self.other_variables.clear();
    }

    /// The variable that was selected, where no operation was selected since.
    pub fn newest_variable(&self) -> Option<&String> {
        self.variable.as_ref().filter(|_| self.is_variable_newest)
    }

    /// The operation that is selected.
    pub fn operation(&self) -> Option<&OperationName> {
        self.operation.as_ref()
    }

    /// Selects an operation, or none.
    pub fn select_operation(&mut self, operation: Option<OperationName>) {
        self.operation = operation;
        self.is_variable_newest = false;
    }

    /// Selects an operation, or none where it was selected.
    pub fn toggle_operation(&mut self, operation: OperationName) {
        let is_other = self.operation.as_ref() != Some(&operation);
        self.select_operation(is_other.then_some(operation));
    }

    /// Selects a variable, or nothing where it was selected alone; as one more it joins the others, or
    /// leaves them.
    pub fn toggle_variable(&mut self, name: String, is_added: bool) {
        if !is_added {
            let is_alone = self.variables().eq([name.as_str()]);
            self.select_variable((!is_alone).then_some(name));
            return;
        }
        self.is_variable_newest = true;
        let mut all: Vec<String> = self.variables().map(str::to_owned).collect();
        match all.iter().position(|other| *other == name) {
            Some(place) => drop(all.remove(place)),
            None if all.len() < MOST_VARIABLES => all.push(name),
            None => {}
        }
        let mut all = all.into_iter();
        self.variable = all.next();
        self.other_variables = all.collect();
    }

    /// Selects a place in place of all others of its kind.
    pub fn select(&mut self, place: Jump) {
        match place {
            Jump::Step(step) => self.steps = vec![step],
            Jump::Tile(tile) | Jump::Map(tile) => self.tiles = TileSelection::one(tile),
        }
    }

    /// Forgets steps and tiles that the runs do not have; those of runs that are not shown stay.
    fn forget_absent(&mut self, runs: &Runs) {
        self.steps.retain(|at| {
            let run = runs.position(at.run).and_then(|place| runs.get(place));
            let steps = run.and_then(|run| run.report.steps.get());
            steps.is_none_or(|steps| at.step < steps.ids.len())
        });
        let arenas: Vec<_> = runs.iter().filter_map(|run| run.report.arenas.get()).collect();
        let is_there =
            |tile: TileId| arenas.iter().any(|arenas| arenas.ids.position(tile.into()).is_some());
        if !arenas.is_empty() && self.tiles.first_unknown(is_there).is_some() {
            let known = arenas.iter().flat_map(|arenas| arenas.ids.as_slice());
            let known = known.map(|arena| arena.tile());
            self.tiles = known.filter(|tile| self.tiles.contains(*tile)).collect();
        }
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
    settled: Settled,
    before: Vec<Settled>,
    after: Vec<Settled>,
}

/// A selection, and the page on which it was made; of the first one, which nobody made, none.
#[derive(Default)]
struct Settled {
    selection: Selection,
    page: Option<Page>,
}

impl Selections {
    /// Remembers what was selected before, if that has changed on this page.
    pub fn settle(&mut self, page: Page) {
        if self.now == self.settled.selection {
            return;
        }
        let now = Settled { selection: self.now.clone(), page: Some(page) };
        self.before.push(std::mem::replace(&mut self.settled, now));
        if self.before.len() > MOST_REMEMBERED {
            self.before.remove(0);
        }
        self.after.clear();
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Selection> {
        let kept = std::iter::once(&mut self.settled);
        let kept = kept.chain(&mut self.before).chain(&mut self.after);
        std::iter::once(&mut self.now).chain(kept.map(|settled| &mut settled.selection))
    }

    /// Goes on with a run under another name, also in earlier selections.
    pub fn rename(&mut self, from: RunId, to: RunId) {
        for at in self.all().flat_map(|selection| &mut selection.steps) {
            if at.run == from {
                at.run = to;
            }
        }
    }

    /// Forgets steps and tiles that the runs do not have, also in earlier selections.
    pub fn forget_absent(&mut self, runs: &Runs) {
        self.all().for_each(|selection| selection.forget_absent(runs));
    }

    pub fn can_go_back(&self) -> bool {
        !self.before.is_empty()
    }

    pub fn can_go_forward(&self) -> bool {
        !self.after.is_empty()
    }

    /// Returns the page on which the selection before was made; before the first, that on which the first was made.
    pub fn back(&mut self, page: Page) -> Option<Page> {
        self.settle(page);
        let left = std::mem::replace(&mut self.settled, self.before.pop()?);
        self.now = self.settled.selection.clone();
        let shown = self.settled.page.or(left.page);
        self.after.push(left);
        shown
    }

    /// Returns to the selection that [`Self::back`] left, with its page.
    pub fn forward(&mut self, page: Page) -> Option<Page> {
        self.settle(page);
        let left = std::mem::replace(&mut self.settled, self.after.pop()?);
        self.now = self.settled.selection.clone();
        self.before.push(left);
        self.settled.page
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
    use crate::ui::runs::{Arrangement, Badge, Run};

    fn runs() -> Runs {
        let report = Arc::new(Report::default());
        let derived = Arc::new(Derived::new(Arc::clone(&report)));
        let list = vec![Run::new(RunId(1), derived, Badge::of(0, 0))];
        let axis = Some(Arc::new(StepAxis::by_index(&[20])));
        Runs::new(list, axis, Arrangement::default(), None).expect("a run")
    }

    #[test]
    fn a_variable_that_is_selected_alone_leaves_no_others() {
        let mut selection = Selection::default();
        let names = |selection: &Selection| selection.variables().collect::<Vec<_>>().join(" ");
        for name in ["a", "b"] {
            selection.toggle_variable(name.to_owned(), true);
        }
        assert_eq!(names(&selection), "a b");
        selection.select_variable(Some("b".to_owned()));
        assert_eq!(names(&selection), "b");
        selection.toggle_variable("a".to_owned(), true);
        selection.toggle_variable("b".to_owned(), false);
        assert_eq!(names(&selection), "b", "of several one alone");
        selection.toggle_variable("b".to_owned(), false);
        assert_eq!(names(&selection), "");
        selection.toggle_variable("c".to_owned(), false);
        assert_eq!(
            (names(&selection), selection.variable().cloned()),
            ("c".into(), Some("c".into()))
        );
        selection.select_variable(None);
        selection.toggle_variable("d".to_owned(), false);
        assert_eq!(names(&selection), "d", "no other comes back");
    }

    #[test]
    fn steps_and_tiles_that_are_gone_fall_out() {
        let report = Report::default();
        report.steps.fill(Some(crate::analysis::fixture::steps(5)));
        let memory = crate::analysis::fixture::memory((0..16).map(|tile| (tile, None)));
        report.memory.fill(Some(memory));
        report.fill_arenas_with_tiles();
        let report = Arc::new(report);
        let derived = Arc::new(Derived::new(Arc::clone(&report)));
        let list = vec![Run::new(RunId(1), derived, Badge::of(0, 0))];
        let runs = Runs::new(list, None, Arrangement::default(), None).expect("a run");
        let mut selections = Selections::default();
        let at = |run, step| StepAt { run: RunId(run), step };
        selections.now.steps = vec![at(1, 4), at(1, 5), at(2, 99)];
        selections.now.tiles = "3,12-20,40".parse().expect("tiles");
        selections.settle(Page::Liveness);
        selections.now.tiles = "15".parse().expect("tiles");
        selections.forget_absent(&runs);
        assert_eq!(selections.now.steps, [at(1, 4), at(2, 99)], "another run is not known");
        assert_eq!(selections.now.tiles.to_string(), "15");
        selections.back(Page::Liveness);
        assert_eq!(selections.now.tiles.to_string(), "3,12-15");
    }

    #[test]
    fn several_variables_are_selected_one_by_one() {
        let mut selection = Selection::default();
        let mut click = |name: &str, is_added| {
            selection.toggle_variable(name.to_owned(), is_added);
            selection.variables().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(click("a", true), "a");
        assert_eq!(click("b", true), "a b");
        assert_eq!(click("c", true), "a b c");
        assert_eq!(click("a", true), "b c", "the next one is the first then");
        assert_eq!(click("c", false), "c", "alone");
        assert_eq!(click("c", false), "");
        for name in ["1", "2", "3", "4", "5", "6", "7"] {
            click(name, true);
        }
        assert_eq!(click("6", true), "1 2 3 4 5");
    }

    #[test]
    fn back_and_forward_lead_to_the_pages_of_the_selections() {
        let (mut selections, runs) = (Selections::default(), runs());
        selections.now.select_slot(&runs, 3);
        selections.settle(Page::Liveness);
        selections.now.select_variable(Some("a".to_owned()));
        selections.settle(Page::Map);
        assert_eq!(selections.back(Page::Map), Some(Page::Liveness));
        assert_eq!(selections.now.variable(), None);
        assert_eq!(
            selections.back(Page::Summary),
            Some(Page::Liveness),
            "where the first one was made"
        );
        assert_eq!(selections.now.slot(&runs), None);
        assert_eq!(selections.back(Page::Summary), None);
        assert_eq!(selections.forward(Page::Summary), Some(Page::Liveness));
        assert_eq!(selections.forward(Page::Liveness), Some(Page::Map));
        assert_eq!(selections.now.variable().map(String::as_str), Some("a"));
        assert_eq!(selections.forward(Page::Map), None);
    }

    #[test]
    fn back_and_forward_walk_through_selections() {
        let (mut selections, runs) = (Selections::default(), runs());
        for step in [3, 7, 9] {
            selections.now.select_slot(&runs, step);
            selections.settle(Page::Liveness);
            selections.settle(Page::Liveness);
        }
        selections.back(Page::Liveness);
        assert_eq!(selections.now.slot(&runs), Some(7));
        selections.back(Page::Liveness);
        selections.back(Page::Liveness);
        assert_eq!((selections.now.slot(&runs), selections.can_go_back()), (None, false));
        selections.back(Page::Liveness);
        selections.forward(Page::Liveness);
        assert_eq!(selections.now.slot(&runs), Some(3));
        selections.now.toggle_slot(&runs, 5);
        selections.forward(Page::Liveness);
        assert_eq!(selections.now.slots(&runs), [3, 5], "a new selection ends the way forward");
        selections.back(Page::Liveness);
        assert_eq!(selections.now.slots(&runs), [3]);
        selections.now.toggle_slot(&runs, 3);
        assert_eq!(selections.now.slot(&runs), None);
        selections.now.select_slot(&runs, 7);
        selections.rename(RunId(1), RunId(2));
        assert_eq!(selections.now.slot(&runs), None, "its run is not shown");
    }
}
