//! What is marked on the curve: the steps that the filter found and those of the selected operation,
//! and the life of the selected variable.

use eframe::egui;
use std::ops::Range;
use std::sync::Arc;

use crate::analysis::liveness::lifetimes::life_of;
use crate::analysis::program::step_operations::{StepOperations, step_operations};
use crate::store::Report;
use crate::ui::job::Latest;
use crate::ui::legacy::{OperationName, Selection};

/// When the selected variable is alive, and how large it is then.
#[derive(Debug, Default)]
pub struct Life {
    /// Ranges of steps.
    pub ranges: Vec<Range<u32>>,
    /// The most bytes at any of them.
    pub most_bytes: u64,
    /// Number of steps.
    pub steps: u64,
}

/// When the variables of a name are alive.
pub fn life(report: &Report, name: &str) -> Option<Life> {
    let pieces = life_of(report, name)?;
    let most_bytes = pieces.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for (range, _) in pieces {
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range),
        }
    }
    let length = |range: &Range<u32>| u64::from(range.end.saturating_sub(range.start));
    let steps = ranges.iter().map(length).sum();
    Some(Life { ranges, most_bytes, steps })
}

/// Marks, made beside the window when the selection changes.
#[derive(Debug, Default)]
pub struct Marks {
    operations: Latest<bool, Option<Arc<StepOperations>>>,
    of_operation: Option<(OperationName, Vec<u32>)>,
    lives: Latest<String, Option<Life>>,
    /// What the filter and the operation marked, joined.
    joined: Vec<u32>,
    joined_from: (usize, usize, Option<OperationName>),
}

impl Marks {
    /// Brings the marks up to date with what is selected.
    pub fn update(&mut self, ctx: &egui::Context, report: &Arc<Report>, selection: &Selection) {
        let is_settled = report.debug.is_settled();
        if is_settled {
            let of = Arc::clone(report);
            self.operations.ask("operations of steps", ctx, &is_settled, move |_| {
                step_operations(&of).map(Arc::new)
            });
        }
        if let Some(name) = &selection.variable {
            let (of, wanted) = (Arc::clone(report), name.clone());
            self.lives.ask("life of a variable", ctx, name, move |_| life(&of, &wanted));
        }
        let Some(Some(operations)) = self.operations.get(&true) else { return };
        if self.of_operation.as_ref().map(|(name, _)| name) != selection.operation.as_ref() {
            self.of_operation = selection.operation.as_ref().map(|wanted| {
                let is_wanted = |index: &u32| {
                    let operation = operations.operations.get(*index as usize);
                    operation.is_some_and(|operation| {
                        operation.kind == wanted.kind && operation.name == wanted.name
                    })
                };
                let count = u32::try_from(operations.operations.len()).unwrap_or(u32::MAX);
                // The same operation may stand in several layers.
                let found = (0..count).filter(is_wanted);
                let mut steps: Vec<u32> =
                    found.flat_map(|index| operations.steps_of(index)).copied().collect();
                steps.sort_unstable();
                (wanted.clone(), steps)
            });
        }
    }

    /// The life of the selected variable, as soon as it is known.
    pub fn life(&self, selection: &Selection) -> Option<&Life> {
        self.lives.get(selection.variable.as_ref()?)?.as_ref()
    }

    /// The steps of the selected operation.
    pub fn steps_of_operation(&self) -> Option<&[u32]> {
        self.of_operation.as_ref().map(|(_, steps)| &**steps)
    }

    /// Joins the steps that the filter found, whose `version` changes with them, with those of the
    /// selected operation.
    pub fn join(&mut self, found: &[u32], version: usize) {
        let operation = self.of_operation.as_ref().map(|(name, _)| name.clone());
        let made_from = (version, found.len(), operation);
        if self.joined_from != made_from {
            let of_operation = self.of_operation.as_ref().map_or(&[][..], |(_, steps)| &**steps);
            self.joined = found.iter().chain(of_operation).copied().collect();
            self.joined.sort_unstable();
            self.joined.dedup();
            self.joined_from = made_from;
        }
    }

    /// All marked steps, ascending.
    pub fn joined(&self) -> &[u32] {
        &self.joined
    }
}
