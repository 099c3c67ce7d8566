//! Pages of one report and of two that were not rewritten over runs yet.
#![allow(missing_docs, reason = "goes away")]

use std::sync::Arc;

use super::command::Command;
pub use super::runs::Arrangement;
use super::runs::{Runs, StepAt};
use super::selection::Selection as RunsSelection;
use crate::analysis::comparison::matching::Matching;
use crate::analysis::comparison::step_axis::StepAxis;
pub use crate::analysis::comparison::step_axis::StepAxis as AlignedSteps;
pub use crate::analysis::figures::difference::Side;
use crate::analysis::memory::selection::TileSelection;
pub use crate::analysis::program::operations::OperationName;
use crate::store::Report;

impl StepAxis {
    pub fn source_at(&self, slot: usize) -> Option<usize> {
        self.step(0, slot)
    }
    pub fn target_at(&self, slot: usize) -> Option<usize> {
        self.step(1, slot)
    }
    pub fn source_at_or_before(&self, slot: usize) -> Option<usize> {
        self.step_at_or_before(0, slot)
    }
    pub fn target_at_or_before(&self, slot: usize) -> Option<usize> {
        self.step_at_or_before(1, slot)
    }
    pub fn slot_of_source(&self, step: usize) -> Option<usize> {
        self.slot(0, step)
    }
    pub fn slot_of_target(&self, step: usize) -> Option<usize> {
        self.slot(1, step)
    }
}

/// What a page gets.
#[derive(Debug)]
pub struct PageContext<'a> {
    pub report: &'a Arc<Report>,
    pub is_working: bool,
    pub selection: &'a mut Selection,
    pub has_painted_graph: &'a mut bool,
    pub commands: &'a mut Vec<Command>,
}

/// The selected things; steps are slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub tiles: TileSelection,
    pub steps: Vec<usize>,
    pub variable: Option<String>,
    pub operation: Option<OperationName>,
}

impl Selection {
    pub fn of(selection: &RunsSelection, runs: &Runs) -> Self {
        Self {
            tiles: selection.tiles.clone(),
            steps: selection.slots(runs),
            variable: selection.variable.clone(),
            operation: selection.operation.clone(),
        }
    }

    pub fn give_back(self, before: &Self, runs: &Runs, selection: &mut RunsSelection) {
        if self.steps != before.steps {
            let at = |slot: &usize| runs.step_at(*slot);
            selection.steps = self.steps.iter().filter_map(at).collect::<Vec<StepAt>>();
        }
        selection.tiles = self.tiles;
        selection.variable = self.variable;
        selection.operation = self.operation;
    }
}

/// The step of a report at a position of the shared axis; where it has none there, the one before.
pub fn step_at(axis: &AlignedSteps, side: Side, slot: usize) -> Option<usize> {
    match side {
        Side::Source => axis.source_at_or_before(slot),
        Side::Target => axis.target_at_or_before(slot),
    }
}

/// The position of a step of a report on the shared axis.
pub fn slot_of(axis: &AlignedSteps, side: Side, step: usize) -> Option<usize> {
    match side {
        Side::Source => axis.slot_of_source(step),
        Side::Target => axis.slot_of_target(step),
    }
}

/// The second report of a page, and how it belongs to the first.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The target; the page's own report is the source.
    pub target: &'a Arc<Report>,
    /// Whether more of the target is coming.
    pub is_target_working: bool,
    /// Which rows belong together, as soon as that is known.
    pub matching: Option<&'a Arc<Matching>>,
    /// The axis that the steps of both share, as soon as it is known. Selected steps are positions on
    /// it.
    pub axis: Option<&'a Arc<AlignedSteps>>,
    /// Why there will be no matching.
    pub why_not: Option<&'a str>,
    /// How the reports are shown.
    pub arrangement: Arrangement,
}

impl Pair<'_> {
    /// The selection as one of the reports sees it: its own steps.
    pub fn selection_of(&self, side: Side, selection: &Selection) -> Selection {
        let step = |slot: &usize| match (self.axis, side) {
            (Some(axis), _) => step_at(axis, side, *slot),
            (None, Side::Source) => Some(*slot),
            (None, Side::Target) => None,
        };
        let mut steps: Vec<usize> = Vec::new();
        for step in selection.steps.iter().filter_map(step) {
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        Selection { steps, ..selection.clone() }
    }

    /// Takes what a page of one report has selected into the selection of both.
    pub fn take_selection(
        &self,
        side: Side,
        before: &Selection,
        after: Selection,
        selection: &mut Selection,
    ) {
        let steps = std::mem::take(&mut selection.steps);
        let is_same = before.steps == after.steps;
        let slot = |step: usize| match (self.axis, side) {
            (Some(axis), _) => slot_of(axis, side, step),
            (None, Side::Source) => Some(step),
            (None, Side::Target) => None,
        };
        let slots = after.steps.iter().filter_map(|step| slot(*step)).collect();
        *selection = Selection { steps: if is_same { steps } else { slots }, ..after };
    }
}
