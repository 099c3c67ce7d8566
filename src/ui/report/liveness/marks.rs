//! Marks on the axis: matches of the filter, the selected operation, lives of the variable.

use eframe::egui;
use std::sync::Arc;

use super::timelines::SlotTimelines;
use crate::analysis::liveness::lifetimes::{VariableLife, life_of_name};
use crate::analysis::program::operations::OperationName;
use crate::analysis::program::steps::{Filter, matching_steps};
use crate::ui::runs::{Needed, Needs, PerRun, Run, Runs, RunsAnswer};
use crate::ui::selection::Selection;

/// What a filter goes by: operations as far as they are known.
const OF_FILTER: Needs = &[Needed::Debug];
const OF_MARKS: Needs = &[Needed::Debug, Needed::Axis];
const OF_LIVES: Needs = &[Needed::Liveness, Needed::Axis];

/// What a filter found: steps of each run, ascending.
type FoundSteps = Arc<PerRun<Vec<u32>>>;

#[derive(Clone, Debug, PartialEq)]
struct MarksOf {
    text: Option<String>,
    operation: Option<OperationName>,
    version: u64,
}

pub struct MarkedSlots {
    /// All of them, ascending.
    pub slots: Vec<u32>,
    /// Those that the filter found, ascending.
    pub found: Arc<Vec<u32>>,
    /// The slot with the most bytes that the filter found, the first of equals.
    pub largest: Option<usize>,
    /// Number of peaks that the filter found.
    pub peaks: usize,
    /// How many of the largest peaks it found, one after the other.
    pub largest_peaks: usize,
    /// Steps of the selected operation in each run.
    pub of_operation: PerRun<usize>,
}

/// Marks, made beside the window when anything changes that they depend on.
#[derive(Default)]
pub struct StepMarks {
    pub text: String,
    found: RunsAnswer<String, FoundSteps>,
    marked: RunsAnswer<MarksOf, MarkedSlots>,
    lives: RunsAnswer<String, PerRun<Option<VariableLife>>>,
}

impl StepMarks {
    /// Brings the marks up to date with the filter and what is selected.
    pub fn update(
        &mut self,
        ctx: &egui::Context,
        runs: &Arc<Runs>,
        timelines: &Arc<SlotTimelines>,
        selection: &Selection,
    ) {
        if let Some(name) = selection.variable() {
            let wanted = name.clone();
            self.lives.ask("lives of a variable", ctx, (runs, OF_LIVES), name, move |runs, _| {
                lives(runs, &wanted)
            });
        }
        let text = self.wanted();
        if let Some(text) = &text {
            let (filter, scope) = (Filter::new(text), timelines.scope);
            self.found.ask("filter steps", ctx, (runs, OF_FILTER), text, move |runs, cancel| {
                let is_cancelled = || cancel.is_cancelled();
                Arc::new(runs.each(|run| {
                    matching_steps(&run.report, scope.device(&run.report), &filter, &is_cancelled)
                }))
            });
        }
        let found = text.as_ref().and_then(|text| self.found.get((runs, OF_FILTER), text)).cloned();
        let key = MarksOf {
            text: text.filter(|_| found.is_some()),
            operation: selection.operation().cloned(),
            version: timelines.version,
        };
        let (timelines, operation) = (Arc::clone(timelines), key.operation.clone());
        self.marked.ask("marked steps", ctx, (runs, OF_MARKS), &key, move |runs, _| {
            let of_operation =
                operation.map(|wanted| steps_of_operation(runs, &wanted)).unwrap_or_default();
            mark(&timelines, found.as_deref(), &of_operation, runs.len())
        });
    }

    fn wanted(&self) -> Option<String> {
        let text = self.text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// How many steps of each run the filter found; `None` while it looks.
    pub fn counts(&self, runs: &Runs) -> Option<Vec<usize>> {
        let found = self.found.get((runs, OF_FILTER), &self.wanted()?)?;
        Some(found.iter().map(Vec::len).collect())
    }

    /// The marks; those before while new ones are made.
    pub fn marked(&self, runs: &Runs) -> Option<&MarkedSlots> {
        self.marked.last(runs).map(|(_, marked)| marked)
    }

    /// The slots that the filter found, `None` of all of them where there is no filter; fails with what
    /// to say while it looks.
    pub fn found(&self, runs: &Runs) -> Result<Option<Arc<Vec<u32>>>, &str> {
        let Some(wanted) = self.wanted() else { return Ok(None) };
        match self.marked.last(runs) {
            Some((of, marked)) if of.text.as_ref() == Some(&wanted) => {
                Ok(Some(Arc::clone(&marked.found)))
            }
            _ => Err(self.failure().unwrap_or("Looking…")),
        }
    }

    pub fn failure(&self) -> Option<&str> {
        self.found.failure().or(self.marked.failure())
    }

    /// The lives of the selected variable in each run, by slot, as soon as they are known.
    pub fn lives(
        &self,
        runs: &Runs,
        selection: &Selection,
    ) -> Option<&PerRun<Option<VariableLife>>> {
        let (name, lives) = self.lives.last(runs)?;
        (selection.variable() == Some(name)).then_some(lives)
    }
}

/// The lives of the variables of a name, with slots for steps.
fn lives(runs: &Runs, name: &str) -> PerRun<Option<VariableLife>> {
    let Some(axis) = runs.axis() else { return runs.each(|_| None) };
    let life = |(place, run): (usize, &Run)| {
        let mut life = life_of_name(&run.report, name)?;
        let slot = |step: u32| {
            let slot = axis.slot_or_end(place, step as usize);
            u32::try_from(slot).unwrap_or(u32::MAX)
        };
        for range in &mut life.ranges {
            *range = slot(range.start)..slot(range.end);
        }
        Some(life)
    };
    runs.iter().enumerate().map(life).collect()
}

/// The steps of an operation in each run, and of what is matched with it.
fn steps_of_operation(runs: &Runs, wanted: &OperationName) -> Vec<Vec<u32>> {
    let reference = runs.reference().derived.operations();
    // What it is called in any run that is matched with the reference.
    let mut of_reference: Vec<usize> = reference.map_or(Vec::new(), |all| all.named(wanted));
    for pair in runs.iter().filter_map(|run| run.pair.as_ref()) {
        let named = pair.matching.step_operations[1].named(wanted);
        of_reference.extend(named.iter().filter_map(|at| pair.matching.operations.source_of(*at)));
    }
    let of_reference = ascending(of_reference);
    let steps = |run: &Run| {
        let Some(operations) = run.derived.operations() else { return Vec::new() };
        let places = match &run.pair {
            None if run.id == runs.reference().id => of_reference.clone(),
            None => operations.named(wanted),
            Some(pair) => {
                let matched = of_reference.iter();
                let matched = matched.filter_map(|at| pair.matching.operations.target_of(*at));
                ascending(matched.chain(operations.named(wanted)).collect())
            }
        };
        let numbers = places.into_iter().filter_map(|place| u32::try_from(place).ok());
        let mut steps: Vec<u32> =
            numbers.flat_map(|place| operations.steps_of(place)).copied().collect();
        steps.sort_unstable();
        steps
    };
    runs.iter().map(steps).collect()
}

/// In order, each once.
fn ascending<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list.dedup();
    list
}

fn mark(
    timelines: &SlotTimelines,
    found: Option<&PerRun<Vec<u32>>>,
    of_operation: &[Vec<u32>],
    runs: usize,
) -> MarkedSlots {
    let axis = &timelines.axis;
    let slots_of = |steps: &[Vec<u32>]| {
        let slot = |(run, step): (usize, u32)| axis.slot(run, step as usize)?.try_into().ok();
        let steps = steps.iter().enumerate();
        let steps = steps.flat_map(|(run, steps)| steps.iter().map(move |step| (run, *step)));
        ascending(steps.filter_map(slot).collect::<Vec<u32>>())
    };
    let mut slots = slots_of(found.map_or(&[], PerRun::as_slice));
    let bytes = |slot: &u32| timelines.peak_bytes_at(*slot as usize);
    let is_found =
        |slot: usize| u32::try_from(slot).is_ok_and(|slot| slots.binary_search(&slot).is_ok());
    let peaks = timelines.peaks.iter().map(|slot| is_found(*slot));
    let largest = slots.iter().rev().max_by_key(|slot| bytes(slot)).map(|slot| *slot as usize);
    let largest_peaks = peaks.clone().take_while(|is_found| *is_found).count();
    let peaks = peaks.filter(|is_found| *is_found).count();
    let count = |run| of_operation.get(run).map_or(0, Vec::len);
    let of_operation_counts = (0..runs).map(count).collect();
    let found = Arc::new(slots.clone());
    slots.extend(slots_of(of_operation));
    let slots = ascending(slots);
    MarkedSlots { slots, found, largest, peaks, largest_peaks, of_operation: of_operation_counts }
}
