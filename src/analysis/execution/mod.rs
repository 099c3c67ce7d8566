//! Recorded runs of the program: steps on IPUs, their cycles, and the memory that they need.
//!
//! - A *span* is a step on an IPU. It lasts from the cycle at which its first tile begins
//!   (`cycles_base + active_cycles_from_min`) to the one at which its last ends (`cycles_base + active_cycles_to_max`),
//!   by that IPU's counter. Spans of an IPU may overlap: tiles do not march in step.
//! - *Cycles* of kinds are the lengths of spans, *tile cycles* the cycles of all tiles together, which is what
//!   `execution_cycle_totals` sums up.
//! - A span *lies in* a range, whole or in part, that has a cycle of it. One without length lies where it begins: so in
//!   one of two ranges that meet there, the later one. What is at the very end of the trace lies in what ends there.
//! - The *step of liveness* of a step that ran is the visit to its program: of several the first that is not before
//!   that of the step that ran before it, else the first of all.

pub mod chrome;
pub mod lanes;
pub mod memory;
pub mod search;
pub mod slow;
pub mod stages;
pub mod stated;
pub mod statistics;
pub mod sums;
pub mod tile_picture;

use std::collections::HashMap;
use std::ops::Range;

use crate::analysis::liveness::{Scope, curve};
use crate::analysis::program::kinds::Activity;
use crate::store::exchange::ExchangeId;
use crate::store::execution::{ExecutionRun, ExecutionTrace};
use crate::store::names::NameId;
use crate::store::{DeviceId, ProgramId, Report};

/// Spans between two looks at whether anybody still waits.
pub(super) const SPANS_PER_LOOK: usize = 1 << 16;

/// A report with the steps that ran, and what tells what they are.
#[derive(Clone, Copy, Debug)]
pub struct Executed<'a> {
    /// The report.
    pub report: &'a Report,
    /// The steps that ran.
    pub trace: &'a ExecutionTrace,
}

impl<'a> Executed<'a> {
    /// Of a report whose trace is read.
    pub fn of(report: &'a Report) -> Option<Self> {
        Some(Self { report, trace: report.trace.get()? })
    }

    /// The row of a step's span.
    pub fn step_of(self, span: usize) -> usize {
        self.trace.spans.steps.get(span).map_or(usize::MAX, |step| *step as usize)
    }

    /// The program of a step, a position in [`crate::store::program::Programs`].
    pub fn program_row(self, step: usize) -> Option<usize> {
        self.report.programs.get()?.ids.position(self.trace.program(step)?)
    }

    /// The name of a step: that of its compute set, else that of its program; `None` where both are empty.
    pub fn name(self, step: usize) -> Option<&'a str> {
        let row = self.program_row(step);
        let programs = self.report.programs.get();
        let of_program = || *programs?.compute_sets.get(row?)?;
        let set = self.trace.compute_set(step).or_else(of_program);
        let sets = self.report.compute_sets.get();
        let of_set = set.and_then(|set| sets?.names.at(sets?.ids.position(set)?));
        of_set.or_else(|| programs?.names.at(row?)).filter(|name| !name.is_empty())
    }

    /// What a step is called: by name, else by kind.
    pub fn title(self, step: usize) -> &'a str {
        self.name(step).unwrap_or_else(|| self.trace.kind(step))
    }

    /// The exchange that a step runs.
    pub fn exchange(self, step: usize) -> Option<ExchangeId> {
        *self.report.programs.get()?.exchanges.get(self.program_row(step)?)?
    }

    /// The debug context of a step's program; 0 for none.
    pub fn debug_id(self, step: usize) -> u64 {
        let programs = self.report.programs.get();
        let id = self.program_row(step).and_then(|row| programs?.debug_ids.get(row).copied());
        id.unwrap_or(0)
    }

    /// What steps of each kind do.
    pub fn activities(self) -> Activities<'a> {
        let by_kind = self.trace.kind_names.iter().map(Activity::of_kind).collect();
        Activities { executed: self, by_kind }
    }

    /// The kind of a span's step, a row of [`ExecutionTrace::kind_names`].
    pub fn kind_of(self, span: usize) -> NameId {
        self.trace.kinds.get(self.step_of(span)).copied().unwrap_or(NameId::NONE)
    }

    /// Where a span begins and ends.
    pub fn bounds(self, span: usize) -> Option<(u64, u64)> {
        let spans = &self.trace.spans;
        Some((*spans.starts.get(span)?, *spans.ends.get(span)?))
    }

    /// From the first cycle of any IPU to the last; `None` where no step was recorded.
    pub fn cycles(self) -> Option<Range<u64>> {
        let spans = &self.trace.spans;
        Some(*spans.starts.iter().min()?..*spans.ends.iter().max()?)
    }

    /// The same with the blocks of lightweight profiling; an empty range where there is nothing at all.
    pub fn whole(self) -> Range<u64> {
        let blocks = &self.trace.blocks;
        let ends = blocks.starts.iter().min().zip(blocks.ends.iter().max());
        let of_blocks = ends.map(|(start, end)| *start..*end);
        let both = self.cycles().into_iter().chain(of_blocks);
        both.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or_default()
    }

    /// The cycles of each run on all IPUs: as recorded, else by its steps.
    pub fn cycles_of_runs(self) -> Vec<Option<Range<u64>>> {
        let mut found: Vec<_> = self.trace.runs.iter().map(recorded_cycles).collect();
        let Some(rows) = self.trace.steps_of_runs() else { return found };
        let is_recorded: Vec<bool> = found.iter().map(Option::is_some).collect();
        if is_recorded.iter().all(|is_recorded| *is_recorded) {
            return found;
        }
        for (span, step) in self.trace.spans.steps.iter().enumerate() {
            let run = rows.partition_point(|steps| steps.end <= *step as usize);
            let Some((cycles, false)) = found.get_mut(run).zip(is_recorded.get(run).copied())
            else {
                continue;
            };
            let Some((start, end)) = self.bounds(span) else { continue };
            let of_run = cycles.get_or_insert(start..end);
            *of_run = of_run.start.min(start)..of_run.end.max(end);
        }
        found
    }

    /// The clock, Hz.
    pub fn clock_hz(self) -> Option<u64> {
        let of_target = self.report.target.get().and_then(|target| target.clock_hz);
        of_target.filter(|clock| *clock > 0)
    }

    /// Tiles of an IPU.
    pub fn tiles_per_device(self) -> Option<u64> {
        self.report.target.get()?.tiles_per_device
    }

    /// The step of liveness of each step, a position in [`crate::store::program::Steps`]; `None` where the program is
    /// no visit.
    pub fn liveness_steps(self) -> Vec<Option<u32>> {
        let Some(steps) = self.report.steps.get() else {
            return vec![None; self.trace.ids.len()];
        };
        let mut visits: HashMap<ProgramId, Vec<u32>> = HashMap::new();
        for (step, program) in (0_u32..).zip(&steps.programs) {
            visits.entry(*program).or_default().push(step);
        }
        let mut before = 0;
        let mut step_of = |row: usize| {
            let visits = visits.get(&self.trace.program(row)?)?;
            let next = visits.get(visits.partition_point(|step| *step < before));
            let step = next.or(visits.first()).copied()?;
            before = step;
            Some(step)
        };
        (0..self.trace.ids.len()).map(&mut step_of).collect()
    }

    /// Not-always-live bytes at each step of liveness on an IPU, where the report says them by IPU, else of
    /// everything.
    pub fn curve_of_device(self, device: u32) -> Option<Vec<u64>> {
        let device = DeviceId(device);
        let deltas = self.report.deltas.get();
        let is_by_device = deltas.is_some_and(|deltas| deltas.by_device.contains_key(&device));
        let scope = if is_by_device { Scope::Device(device) } else { Scope::Everything };
        curve(self.report, scope)
    }
}

/// The cycles of a run on all IPUs, as recorded.
fn recorded_cycles(run: &ExecutionRun) -> Option<Range<u64>> {
    let ends = run.start_cycles.iter().min().zip(run.end_cycles.iter().max());
    ends.filter(|(start, end)| start <= end).map(|(start, end)| *start..*end)
}

/// What steps of each kind do.
#[derive(Clone, Debug)]
pub struct Activities<'a> {
    executed: Executed<'a>,
    by_kind: Vec<Activity>,
}

impl Activities<'_> {
    /// How many kinds there are.
    pub fn kinds(&self) -> usize {
        self.by_kind.len()
    }

    /// What steps of a kind do.
    pub fn of_kind(&self, kind: NameId) -> Activity {
        self.by_kind.get(kind.0 as usize).copied().unwrap_or(Activity::Other)
    }

    /// What a span does.
    pub fn of_span(&self, span: usize) -> Activity {
        self.of_kind(self.executed.kind_of(span))
    }
}

/// Whether a span lies in a range, of a trace that ends with the cycle `last`.
pub fn lies_in((start, end): (u64, u64), range: &Range<u64>, last: u64) -> bool {
    if start < end {
        return start < range.end && end > range.start;
    }
    range.contains(&start) || start == last && range.end == last && range.start <= last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::execution::Span;

    fn trace(runs: Vec<ExecutionRun>, spans: &[(u32, u64, u64)]) -> Report {
        let mut trace = ExecutionTrace::default();
        trace.runs = runs;
        for (step, ..) in spans {
            if trace.ids.last() != Some(step) {
                trace.push_step(*step, NameId::NONE, None, None);
            }
        }
        let span = |(at, (_, start, end)): (usize, &(u32, u64, u64))| Span {
            device: 0,
            step: u32::try_from(at).unwrap_or(0),
            start: *start,
            end: *end,
            cycles: end - start,
            active_tiles: 1,
            balance: None,
            list: None,
        };
        trace.set_spans(spans.iter().enumerate().map(span).collect());
        let report = Report::default();
        report.trace.fill(Some(trace));
        report
    }

    #[test]
    fn cycles_of_runs_are_those_recorded_else_those_of_their_steps() {
        let run = |steps, cycles: Option<(u64, u64)>| ExecutionRun {
            steps: Some(steps),
            start_cycles: cycles.iter().map(|cycles| cycles.0).collect(),
            end_cycles: cycles.iter().map(|cycles| cycles.1).collect(),
            ..ExecutionRun::default()
        };
        let spans = [(0, 10, 20), (1, 15, 40), (2, 50, 60), (3, 70, 90), (4, 65, 80)];
        let runs = vec![run(2, None), run(0, None), run(1, Some((45, 62))), run(2, Some((9, 3)))];
        let report = trace(runs, &spans);
        let found = Executed::of(&report).map(Executed::cycles_of_runs);
        assert_eq!(found, Some(vec![Some(10..40), None, Some(45..62), Some(65..90)]));
    }

    #[test]
    fn what_has_no_length_lies_in_one_of_the_parts_of_a_whole() {
        for at in [0, 4, 10] {
            let parts = [0..4, 4..10];
            let lies = parts.map(|part| lies_in((at, at), &part, 10));
            assert_eq!(lies.iter().filter(|lies| **lies).count(), 1, "at {at}: {lies:?}");
            assert!(lies_in((at, at), &(0..10), 10));
        }
        assert!(lies_in((10, 10), &(10..10), 10) && !lies_in((4, 4), &(4..4), 10));
        assert!(lies_in((2, 6), &(5..9), 10) && !lies_in((2, 5), &(5..9), 10));
    }
}
