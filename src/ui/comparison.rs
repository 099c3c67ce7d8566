//! Two reports in one window: how they are arranged, and which of their steps belong together.
//!
//! Pages that show both get a [`Pair`]. Where two reports are open, a selected step is a position on
//! the axis that both share ([`AlignedSteps`]), not a step of either.

use std::sync::Arc;

use eframe::egui;

use super::job::Latest;
use super::selection::{Selection, Selections};
use crate::analysis::comparison::matching::{AlignedSteps, Matching, match_reports};
pub use crate::analysis::figures::difference::Side;
use crate::format::poplar::OpenReport;
use crate::store::Report;

/// How two reports are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrangement {
    /// In one picture.
    #[default]
    Overlaid,
    /// In two pictures whose axes, cursor and selection are linked.
    SideBySide,
}

/// What makes a step of one report that of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepsBy {
    /// Names and order.
    #[default]
    Matching,
    /// Their numbers alone.
    Index,
}

/// Which parts of both reports were there: debug contexts, exchanges.
type Key = [bool; 2];

/// What matching has found.
#[derive(Clone, Debug)]
pub struct Matched {
    /// Which rows belong together.
    pub matching: Arc<Matching>,
    by_matching: Arc<AlignedSteps>,
    by_index: Arc<AlignedSteps>,
}

/// What the window remembers of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// How the reports are shown.
    pub arrangement: Arrangement,
    /// How steps are aligned.
    pub steps_by: StepsBy,
    found: Latest<Key, Option<Matched>>,
    /// The axis of the frame before, on which the selected steps lie.
    axis: Option<Arc<AlignedSteps>>,
}

impl Comparison {
    /// Asks for the matching of two reports, which is made again when more of them is there.
    pub fn ask(&mut self, ctx: &egui::Context, source: &Arc<Report>, target: &Arc<Report>) {
        let both = |is_settled: fn(&Report) -> bool| is_settled(source) && is_settled(target);
        if !both(|report| report.liveness.is_settled()) {
            return;
        }
        let key = [
            both(|report| report.debug.is_settled()),
            both(|report| report.exchanges.is_settled()),
        ];
        let (source, target) = (Arc::clone(source), Arc::clone(target));
        self.found.ask("matching of two reports", ctx, &key, move |cancel| {
            let matching = match_reports(&source, &target, &|| cancel.is_cancelled())?;
            let len = |report: &Report| report.steps.get().map_or(0, |steps| steps.ids.len());
            let (sources, targets) = (len(&source), len(&target));
            let by_matching = AlignedSteps::by_matching(&matching.steps, sources, targets);
            Some(Matched {
                matching: Arc::new(matching),
                by_matching: Arc::new(by_matching),
                by_index: Arc::new(AlignedSteps::by_index(sources, targets)),
            })
        });
    }

    /// What was found last.
    pub fn matched(&self) -> Option<&Matched> {
        self.found.last().and_then(|(_, found)| found.as_ref())
    }

    /// Why there is no matching, when none will come.
    pub fn why_not(&self) -> Option<&str> {
        match self.found.last() {
            Some((_, None)) => Some("One of the reports has no program steps"),
            _ => self.found.failure(),
        }
    }

    /// The axis that the steps of both reports share.
    pub fn axis(&self) -> Option<&Arc<AlignedSteps>> {
        self.matched().map(|matched| match self.steps_by {
            StepsBy::Matching => &matched.by_matching,
            StepsBy::Index => &matched.by_index,
        })
    }

    /// Takes the axis of this frame. Where it has changed, the selected steps move to where they lie
    /// now; without an axis they are steps of the source.
    pub fn follow(&mut self, selections: &mut Selections) {
        let Some(now) = self.axis().cloned() else { return };
        let before = self.axis.replace(Arc::clone(&now));
        match before {
            Some(before) if Arc::ptr_eq(&before, &now) => {}
            Some(before) => selections.map_steps(|slot| {
                let of_source = before.source_at(slot).and_then(|step| now.slot_of_source(step));
                of_source.or_else(|| now.slot_of_target(before.target_at(slot)?))
            }),
            None => selections.map_steps(|step| now.slot_of_source(step)),
        }
    }

    /// Ends the comparison: the selected steps become those of the source again, or of the target where
    /// that is what stays.
    pub fn end(&mut self, stays: Side, selections: &mut Selections) {
        if let Some(axis) = self.axis.take() {
            selections.map_steps(|slot| step_at(&axis, stays, slot));
        }
        *self = Self { arrangement: self.arrangement, steps_by: self.steps_by, ..Self::default() };
    }

    /// Exchanges the reports: what was the target is the source now.
    pub fn swap(&mut self, selections: &mut Selections) {
        self.end(Side::Target, selections);
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
    /// Where single tiles of the target can be read from.
    pub target_files: Option<&'a Arc<OpenReport>>,
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
