//! The data of the page for each run, read and worked out in the background.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::analysis::execution::Executed;
use crate::analysis::execution::memory::{MemoryOfDevice, memory_over_spans};
use crate::analysis::execution::slow::slow_spans;
use crate::analysis::execution::stages::LongestStage;
use crate::analysis::execution::statistics::{CycleStatistics, StatisticsQuery, statistics};
use crate::analysis::execution::sums::SpanSums;
use crate::analysis::program::kinds::Activity;
use crate::progress::Progress;
use crate::store::names::NameId;
use crate::store::{Absence, Report};
use crate::ui::runs::{Run, RunId};

/// Parts of the overview.
const OVERVIEW: usize = 2048;

/// Spans that something was found of.
#[derive(Default)]
pub struct FoundSpans {
    /// In the order of their starts, on whatever IPU.
    pub by_start: Vec<u32>,
    /// By their rows: so those of an IPU lie together, by start.
    pub by_row: Vec<u32>,
}

impl FoundSpans {
    pub fn of(executed: Executed<'_>, mut spans: Vec<u32>) -> Self {
        spans.sort_unstable();
        let by_row = spans.clone();
        let starts = &executed.trace.spans.starts;
        spans.sort_by_key(|span| starts.get(*span as usize).copied());
        Self { by_start: spans, by_row }
    }

    pub fn len(&self) -> usize {
        self.by_start.len()
    }

    pub fn contains(&self, span: usize) -> bool {
        u32::try_from(span).is_ok_and(|span| self.by_row.binary_search(&span).is_ok())
    }
}

/// A run whose steps are read.
pub struct ReadRun {
    pub run: RunId,
    pub report: Arc<Report>,
    /// From the first cycle to the last.
    pub cycles: Range<u64>,
    /// The step of liveness of each step.
    pub liveness_steps: Vec<Option<u32>>,
    /// Steps of liveness and spans, by both: so those of an IPU lie together, by start.
    by_liveness: (Vec<u32>, Vec<u32>),
    pub memory: Vec<MemoryOfDevice>,
    /// Spans that are slow and at the peak.
    pub slow: FoundSpans,
    /// The device on which the others wait.
    pub longest_stage: Option<LongestStage>,
    /// All that are slow, by their rows.
    pub slowest: Vec<u32>,
    /// Kinds that have spans, and what they do.
    pub kinds: Vec<(String, Activity)>,
    /// Tiles' time that is not spent waiting, over all cycles.
    pub overview: Vec<u64>,
    pub clock_hz: Option<u64>,
    /// Whether there are spans on tiles.
    pub has_tiles: bool,
    /// The cycles of each run of the engine.
    pub run_cycles: Vec<Option<Range<u64>>>,
}

impl ReadRun {
    /// Reads the steps of a run, or says why there are none. `None` when it was canceled.
    pub fn of(run: &Run, progress: &Progress) -> Option<Result<Self, Absence>> {
        let report = &run.report;
        let executed = run.derived.executed(progress);
        let go_on = || (!progress.is_cancelled()).then_some(());
        go_on()?;
        let Some(executed) = executed else {
            return Some(Err(report.trace.absence_or(Absence::unexplained)));
        };
        let liveness_steps = executed.liveness_steps();
        let trace = executed.trace;
        let mut by_liveness: Vec<(u32, u32)> = (0_u32..)
            .zip(&trace.spans.steps)
            .filter_map(|(span, step)| Some((liveness_steps.get(*step as usize).copied()??, span)))
            .collect();
        by_liveness.sort_unstable();
        let by_liveness = by_liveness.into_iter().unzip();
        go_on()?;
        let slow = slow_spans(executed, &liveness_steps);
        go_on()?;
        let memory = memory_over_spans(executed, &liveness_steps);
        go_on()?;
        let kinds = trace.kind_names.iter().map(|kind| (kind.to_owned(), Activity::of_kind(kind)));
        let cycles = executed.whole();
        Some(Ok(Self {
            run: run.id,
            report: Arc::clone(report),
            memory,
            overview: overview(executed, &cycles),
            kinds: kinds.collect(),
            clock_hz: executed.clock_hz(),
            has_tiles: !trace.spans.is_empty() && executed.tiles_per_device().is_some(),
            run_cycles: executed.cycles_of_runs(),
            liveness_steps,
            by_liveness,
            slow: FoundSpans::of(executed, slow.at_peak),
            slowest: slow.all,
            longest_stage: LongestStage::of(executed),
            cycles,
        }))
    }

    pub fn executed(&self) -> Option<Executed<'_>> {
        Executed::of(&self.report)
    }

    /// How many cycles it took, as positions of the axis.
    pub fn len(&self) -> usize {
        usize::try_from(self.cycles.end.saturating_sub(self.cycles.start)).unwrap_or(usize::MAX)
    }

    pub fn spans_of(&self, liveness_step: usize) -> &[u32] {
        let (steps, spans) = &self.by_liveness;
        let step = u32::try_from(liveness_step).unwrap_or(u32::MAX);
        let first = steps.partition_point(|other| *other < step);
        let last = steps.partition_point(|other| *other <= step);
        spans.get(first..last).unwrap_or(&[])
    }

    /// Its numbers of kinds by their names.
    pub fn hidden(&self, names: &BTreeSet<String>) -> Vec<NameId> {
        let kinds = (0_u32..).zip(&self.kinds);
        kinds.filter(|(_, (name, _))| names.contains(name)).map(|(kind, _)| NameId(kind)).collect()
    }

    /// What cycles were spent on, of one IPU or of all.
    pub fn statistics(
        &self,
        sums: &SpanSums,
        cycles: Range<u64>,
        device: Option<u32>,
        hidden: &BTreeSet<String>,
    ) -> Option<CycleStatistics> {
        let asked = StatisticsQuery { cycles, device, hidden: self.hidden(hidden) };
        Some(statistics(self.executed()?, sums, &asked))
    }
}

/// Cycles in which IPUs do not wait, in equal parts of all cycles.
fn overview(executed: Executed<'_>, cycles: &Range<u64>) -> Vec<u64> {
    let trace = executed.trace;
    let length = cycles.end.saturating_sub(cycles.start).max(1);
    let part = length.div_ceil(OVERVIEW as u64).max(1);
    let parts = usize::try_from(length.div_ceil(part)).unwrap_or(OVERVIEW);
    let mut sums = vec![0_u64; parts];
    let activities = executed.activities();
    for (span, (start, end)) in trace.spans.starts.iter().zip(&trace.spans.ends).enumerate() {
        if activities.of_span(span).is_waiting() {
            continue;
        }
        let (mut from, to) = (start - cycles.start, end - cycles.start);
        while from < to {
            let place = from / part;
            let next = (place + 1).saturating_mul(part).min(to);
            if let Some(sum) = usize::try_from(place).ok().and_then(|place| sums.get_mut(place)) {
                *sum = sum.saturating_add(next - from);
            }
            from = next;
        }
    }
    sums
}
