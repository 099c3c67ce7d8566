//! What was recorded of the program's runs: steps on IPUs, their cycles, and what memory they need.
//!
//! - A *span* is a step on an IPU. It lasts from the cycle at which its first tile begins
//!   (`cycles_base + active_cycles_from_min`) to the one at which its last ends (`cycles_base + active_cycles_to_max`),
//!   by that IPU's counter. Spans of an IPU may overlap: tiles do not march in step.
//! - *Cycles* of kinds are the lengths of spans, *tile cycles* the cycles of all tiles together, which is what
//!   `execution_cycle_totals` sums up.
//! - The *step of liveness* of a step that ran is the visit to its program: of several the first that is not before
//!   that of the step that ran before it, else the first of all.

pub mod chrome;
pub mod lanes;
pub mod search;
pub mod slow;
pub mod stated;
pub mod statistics;
pub mod tile_picture;

use std::collections::HashMap;
use std::ops::Range;

use crate::analysis::liveness::{Scope, curve};
use crate::analysis::program::kinds::Activity;
use crate::store::exchange::ExchangeId;
use crate::store::execution::ExecutionTrace;
use crate::store::{DeviceId, ProgramId, Report};

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

    fn program_row(self, step: usize) -> Option<usize> {
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

    /// What steps of each kind do, by the rows of [`ExecutionTrace::kind_names`].
    pub fn activities(self) -> Vec<Activity> {
        self.trace.kind_names.iter().map(Activity::of_kind).collect()
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

    /// The cycles of a run on all IPUs: as recorded, else by its steps.
    pub fn cycles_of_run(self, run: usize) -> Option<Range<u64>> {
        let recorded = self.trace.runs.get(run)?;
        let ends = (recorded.start_cycles.iter().min(), recorded.end_cycles.iter().max());
        if let (Some(start), Some(end)) = ends
            && start <= end
        {
            return Some(*start..*end);
        }
        let rows = self.trace.steps_of_runs()?.get(run)?.clone();
        let spans = &self.trace.spans;
        let all = spans.steps.iter().zip(spans.starts.iter().zip(&spans.ends));
        let of_run = all.filter(|(step, _)| rows.contains(&(**step as usize)));
        of_run.fold(None, |found: Option<Range<u64>>, (_, (start, end))| {
            let found = found.unwrap_or(*start..*end);
            Some(found.start.min(*start)..found.end.max(*end))
        })
    }

    /// The clock, Hz.
    pub fn clock_hz(self) -> Option<u64> {
        let of_target = self.report.target.get().and_then(|target| target.clock_hz);
        of_target.filter(|clock| *clock > 0)
    }

    /// Tiles of an IPU.
    pub fn tiles_per_ipu(self) -> Option<u64> {
        self.report.target.get()?.tiles_per_ipu
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
    pub fn curve_of_ipu(self, ipu: u32) -> Option<Vec<u64>> {
        let liveness = self.report.liveness.get()?;
        let count = self.report.steps.get()?.ids.len();
        let device = DeviceId(ipu);
        let is_by_ipu =
            liveness.deltas.as_ref().is_some_and(|deltas| deltas.by_device.contains_key(&device));
        let scope = if is_by_ipu { Scope::Device(device) } else { Scope::Everything };
        curve(liveness, scope, count)
    }
}
