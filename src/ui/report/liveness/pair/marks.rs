//! What is marked on the axis of both reports: the slots of the steps that the filter found in either,
//! and of the selected operation, and the lives of the selected variable.

use eframe::egui;
use std::sync::Arc;

use super::Both;
use super::derived::PairDerived;
use crate::analysis::comparison::matching::Matching;
use crate::analysis::program::step_operations::StepOperations;
use crate::analysis::program::steps::Filter;
use crate::ui::job::{Latest, Same};
use crate::ui::legacy::AlignedSteps;
use crate::ui::legacy::{OperationName, Selection};
use crate::ui::legacy::{Side, slot_of};
use crate::ui::report::liveness::filter::matching_steps;
use crate::ui::report::liveness::marks::{Life, life};

/// The text, and whether the operations of both reports were known.
type Text = (String, [bool; 2]);

/// What a filter found: steps of the source, and of the target.
type Found = [Vec<u32>; 2];

/// What marks are made from.
#[derive(Clone, Debug, PartialEq)]
struct MarkedKey {
    text: Option<Text>,
    operation: Option<OperationName>,
    version: u64,
}

/// Marked slots, and what they are on the curves.
#[derive(Debug, Default)]
pub struct Marked {
    /// All of them, ascending.
    pub slots: Vec<u32>,
    /// The slot with the most bytes that the filter found, the first of equals.
    pub largest: Option<usize>,
    /// Number of peaks that the filter found.
    pub peaks: usize,
    /// How many of the largest peaks it found, one after the other.
    pub largest_peaks: usize,
    /// Steps of the selected operation, of the source and of the target.
    pub of_operation: [usize; 2],
}

/// Marks, made beside the window when anything changes that they depend on.
#[derive(Debug, Default)]
pub struct PairMarks {
    /// The text of the filter.
    pub text: String,
    found: Latest<Text, Arc<Found>>,
    marked: Latest<MarkedKey, Marked>,
    lives: Latest<(String, Same<AlignedSteps>), [Option<Life>; 2]>,
}

impl PairMarks {
    /// Brings the marks up to date with the filter and what is selected.
    pub fn update(
        &mut self,
        ctx: &egui::Context,
        both: &Both<'_>,
        derived: &Arc<PairDerived>,
        selection: &Selection,
    ) {
        if let Some(name) = &selection.variable {
            let key = (name.clone(), Same(Arc::clone(both.axis)));
            let (reports, name, axis) = (both.shared(), name.clone(), Arc::clone(both.axis));
            self.lives.ask("lives of a variable", ctx, &key, move |_| {
                Side::BOTH.map(|side| {
                    let life = life(side.of(reports.each_ref().map(|report| &**report)), &name)?;
                    Some(in_slots(&life, side, &axis))
                })
            });
        }
        let text = self.wanted(both);
        if let Some(text) = &text {
            let (reports, filter) = (both.shared(), Filter::new(&text.0));
            self.found.ask("filter steps", ctx, text, move |cancel| {
                Arc::new(reports.each_ref().map(|report| matching_steps(report, &filter, cancel)))
            });
        }
        let found = text.as_ref().and_then(|text| self.found.get(text)).cloned();
        let key = MarkedKey {
            text: text.filter(|_| found.is_some()),
            operation: selection.operation.clone(),
            version: derived.version,
        };
        let (derived, matching) = (Arc::clone(derived), Arc::clone(both.matching));
        let operation = key.operation.clone();
        self.marked.ask("marked steps", ctx, &key, move |_| {
            let of_operation =
                operation.map(|wanted| steps_of_operation(&matching, &wanted)).unwrap_or_default();
            let found = found.as_deref();
            mark(&derived, found.unwrap_or(&Found::default()), &of_operation)
        });
    }

    fn wanted(&self, both: &Both<'_>) -> Option<Text> {
        let text = self.text.trim();
        let is_known = both.reports.map(|report| report.debug.is_settled());
        (!text.is_empty()).then(|| (text.to_owned(), is_known))
    }

    /// How many steps of each report the filter found; `None` while it looks.
    pub fn counts(&self, both: &Both<'_>) -> Option<[usize; 2]> {
        let found = self.found.get(&self.wanted(both)?)?;
        Some(found.each_ref().map(Vec::len))
    }

    /// The marks; those before while new ones are made.
    pub fn marked(&self) -> Option<&Marked> {
        self.marked.last().map(|(_, marked)| marked)
    }

    /// Why there are none.
    pub fn failure(&self) -> Option<&str> {
        self.found.failure().or(self.marked.failure())
    }

    /// The lives of the selected variable, by slot, as soon as they are known.
    pub fn lives(&self, both: &Both<'_>, selection: &Selection) -> Option<&[Option<Life>; 2]> {
        let ((name, axis), lives) = self.lives.last()?;
        let is_it = selection.variable.as_ref() == Some(name) && Arc::ptr_eq(&axis.0, both.axis);
        is_it.then_some(lives)
    }
}

/// A life whose ranges are slots.
fn in_slots(life: &Life, side: Side, axis: &AlignedSteps) -> Life {
    let slot = |step: u32| {
        let slot = slot_of(axis, side, step as usize);
        // The end of the last step.
        u32::try_from(slot.unwrap_or(axis.len())).unwrap_or(u32::MAX)
    };
    let ranges = life.ranges.iter().map(|range| slot(range.start)..slot(range.end)).collect();
    Life { ranges, most_bytes: life.most_bytes, steps: life.steps }
}

/// The steps of an operation in both reports; that of one counts as the one that is matched with it.
fn steps_of_operation(matching: &Matching, wanted: &OperationName) -> Found {
    let sides = [&matching.source_operations, &matching.target_operations];
    let is_named = |operations: &StepOperations, place: usize| {
        operations
            .operations
            .get(place)
            .is_some_and(|operation| operation.kind == wanted.kind && operation.name == wanted.name)
    };
    let of_side = |side: Side| {
        let (operations, [source, target]) = (side.of(sides), sides);
        let is_wanted = |place: usize| {
            is_named(operations, place)
                || match side {
                    Side::Source => matching
                        .operations
                        .target_of(place)
                        .is_some_and(|partner| is_named(target, partner)),
                    Side::Target => matching
                        .operations
                        .source_of(place)
                        .is_some_and(|partner| is_named(source, partner)),
                }
        };
        let places = (0..operations.operations.len()).filter(|place| is_wanted(*place));
        let numbers = places.filter_map(|place| u32::try_from(place).ok());
        numbers.flat_map(|number| operations.steps_of(number)).copied().collect()
    };
    Side::BOTH.map(of_side)
}

fn mark(derived: &PairDerived, found: &Found, of_operation: &Found) -> Marked {
    let axis = &derived.axis;
    let slots_of = |[source, target]: &Found| {
        let of_source = source.iter().filter_map(|step| axis.slot_of_source(*step as usize));
        let of_target = target.iter().filter_map(|step| axis.slot_of_target(*step as usize));
        let slots = of_source.chain(of_target).filter_map(|slot| u32::try_from(slot).ok());
        let mut slots: Vec<u32> = slots.collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    };
    let found = slots_of(found);
    let bytes = |slot: &u32| derived.highest_at(*slot as usize);
    let is_found =
        |slot: usize| u32::try_from(slot).is_ok_and(|slot| found.binary_search(&slot).is_ok());
    let peaks = derived.peaks.iter().map(|peak| is_found(peak.slot));
    let mut marked = Marked {
        largest: found.iter().rev().max_by_key(|slot| bytes(slot)).map(|slot| *slot as usize),
        peaks: peaks.clone().filter(|is_found| *is_found).count(),
        largest_peaks: peaks.take_while(|is_found| *is_found).count(),
        of_operation: of_operation.each_ref().map(Vec::len),
        slots: Vec::new(),
    };
    marked.slots = found;
    marked.slots.extend(slots_of(of_operation));
    marked.slots.sort_unstable();
    marked.slots.dedup();
    marked
}
