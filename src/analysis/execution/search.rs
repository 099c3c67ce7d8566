//! Steps that a text is found in: their names, kinds and operations, whatever the case.

use std::collections::HashMap;

use super::{Executed, SPANS_PER_LOOK};
use crate::analysis::program::operations::operation_of_program;
use crate::analysis::program::steps::Filter;
use crate::progress::Progress;

/// The spans whose step has the text, ascending; none for a text without a word. `None` when it was canceled.
pub fn matching_spans(executed: Executed<'_>, text: &str, progress: &Progress) -> Option<Vec<u32>> {
    let trace = executed.trace;
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let filter = Filter::new(text.trim());
    // Steps of the same program are alike.
    let mut found = HashMap::new();
    let mut is_match = |step: usize| {
        let key = (trace.program(step), trace.compute_set(step), trace.kinds.get(step).copied());
        *found.entry(key).or_insert_with(|| {
            filter.is_in(trace.kind(step))
                || executed.name(step).is_some_and(|name| filter.is_in(name))
                || is_in_operation(executed, step, &filter)
        })
    };
    let mut matches = Vec::new();
    for span in 0..trace.spans.len() {
        if span.is_multiple_of(SPANS_PER_LOOK) && progress.is_cancelled() {
            return None;
        }
        if is_match(executed.step_of(span)) {
            matches.extend(u32::try_from(span).ok());
        }
    }
    Some(matches)
}

fn is_in_operation(executed: Executed<'_>, step: usize, filter: &Filter) -> bool {
    let (debug, programs) = (executed.report.debug.get(), executed.report.programs.get());
    let row = executed.program_row(step);
    let operation =
        programs.zip(row).and_then(|(programs, row)| operation_of_program(debug, programs, row));
    operation.is_some_and(|operation| {
        [operation.kind.as_deref(), operation.name.as_deref()]
            .into_iter()
            .flatten()
            .any(|text| filter.is_in(text))
    })
}
