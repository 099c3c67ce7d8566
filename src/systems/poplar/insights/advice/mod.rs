//! Advice: what to try next, from what this report says.
//!
//! Each file has a technique or two of docs/user/advice.md, with what of a report speaks for it. A technique is
//! advised only where it has evidence and would save something, and ranked by what it would cover of the bytes
//! that tiles are over (`pressure`), what is sure to be enough first; equals by what they cost, cheap ones first.
//!
//! The promise is the saving if the change does least: benches/advice.rs follows advice and says how often that is
//! kept. A value that should be enough leaves a thirty-second of each tile, or a sixteenth, for what cannot be computed
//! beforehand: code of other plans, and gaps. If no value is enough (the batch is then halved, the proportion as low as
//! PopLibs advises), the advice does not claim it.

mod activations;
mod evidence;
mod gaps;
mod half;
mod host;
mod how;
mod imbalance;
mod optimiser;
mod outlining;
mod partials;
mod planned;
mod profiling;
mod proportion;
mod room;
mod spike;
mod split;

use std::cmp::Reverse;

pub(crate) use evidence::operation_title;

use super::OfTiles;
use super::logs::{Warned, planner_at_minimum};
use super::pressure::{Covered, LeftOfRow, Pressure};
use super::timeline::AliveRow;
use super::verdict::{OverCause, TilesVerdict};
use crate::analysis::comparison::owners::Owners;
use crate::analysis::program::step_operations::StepOperations;
use crate::run::advice::Sample;
use crate::run::{Advice, NotAdvised, SavedOf, Saving};
use crate::store::Report;
use crate::text::words;

/// Rows of evidence of one kind that are given.
const MOST_EVIDENCE: usize = 5;

words! {
    /// A technique, those that cost little first; its key is the anchor of its section in docs/user/advice.md, its title
    /// what it is to do, in a few words.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum IpuTechnique by key, title {
        /// A lower `availableMemoryProportion`.
        LowerAvailableMemoryProportion = "lower-available-memory-proportion" | "Lower availableMemoryProportion",
        /// A higher one.
        RaiseAvailableMemoryProportion = "raise-available-memory-proportion" | "Raise availableMemoryProportion",
        /// The same proportion for operations of one kind.
        OneProportionForEqualOperations = "one-proportion-for-equal-operations" | "Keep one proportion for equal operations",
        /// A report without what measures the execution.
        CaptureWithoutProfiling = "capture-without-profiling" | "Do not measure the execution",
        /// Partial sums in half precision.
        HalfPrecisionPartials = "half-precision-partials" | "Keep partial sums in half precision",
        /// A tensor or plan that uses all tiles.
        BalanceTheTiles = "balance-the-tiles" | "Spread variables over all tiles",
        /// One operation in parts.
        MakeOneOperationSmaller = "make-one-operation-smaller" | "Make one operation smaller",
        /// Code that equal parts share.
        OutlineEqualParts = "outline-equal-parts" | "Share the code of equal operations",
        /// Optimizer state off the chip.
        OffloadVariables = "offload-variables" | "Keep the optimizer's state off the chip",
        /// Optimizer state shared by replicas.
        ShardOverReplicas = "shard-over-replicas" | "Share the optimizer's state between replicas",
        /// Smaller streams.
        FewerAndSmallerHostStreams = "fewer-and-smaller-host-streams" | "Stream less to and from the host at once",
        /// Activations computed again.
        RecomputeActivations = "recompute-activations" | "Compute activations again",
        /// Fewer samples at once.
        SmallerBatch = "smaller-batch" | "Compute fewer samples at once",
        /// Another split between IPUs.
        PipelineAndMoveSplitPoints = "pipeline-and-move-split-points" | "Split the model between IPUs in another way",
        /// Variables in half precision.
        HalfPrecision = "half-precision" | "Keep variables in half precision",
        /// Another optimizer.
        OptimiserWithLessState = "optimiser-with-less-state" | "Use an optimizer with less state",
        /// Less that lies before borders of memory.
        LoseLessToGaps = "lose-less-to-gaps" | "Lose less to gaps",
    }
}

/// Which way an option goes.
const LOWER: &str = "lower";
const RAISE: &str = "raise";
const CHANGE: &str = "change";

fn advice_of(technique: IpuTechnique) -> Advice {
    Advice::of(technique.key(), technique.title())
}

/// What must be left of a place with so many bytes for what nobody can work out: a thirty-second, and twice as much
/// where placement fails already.
fn spare_bytes(verdict: &TilesVerdict, limit_bytes: u64) -> u64 {
    let cause = verdict.failure.as_ref().and_then(|failure| failure.cause);
    limit_bytes / if cause == Some(OverCause::Placement) { 16 } else { 32 }
}

/// Says that [`spare_bytes`] are left for something, at the end of a basis; nothing where they are not.
fn spare_text(is_left: bool, what: &str) -> String {
    let share = "a thirty-second of a tile, or a sixteenth where placement fails";
    if is_left { format!("; {share}, is left for {what}") } else { String::new() }
}

/// What is advised, most bytes first, and what is not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AdviceList {
    pub advice: Vec<Advice>,
    pub not_advised: Vec<NotAdvised>,
}

struct AdviceContext<'a> {
    report: &'a Report,
    verdict: &'a TilesVerdict,
    steps: &'a StepOperations,
    owners: &'a Owners,
    pressure: &'a Pressure<'a>,
    of_tiles: OfTiles<'a>,
    at_minimum: Vec<Warned>,
}

/// A piece of advice before it is known what it saves.
struct Candidate<'a> {
    advice: Advice,
    effect: Effect<'a>,
    basis: String,
}

impl<'a> Candidate<'a> {
    /// Advice by which of some rows only `part` is left at best.
    fn at_best(
        advice: Advice,
        basis: &str,
        is_meant: impl Fn(&AliveRow) -> bool + Sync + 'a,
        part: impl Fn(u64) -> u64 + Sync + 'a,
    ) -> Self {
        let left: LeftOfRow<'a> =
            Box::new(move |_, row| if is_meant(row) { part(row.bytes) } else { row.bytes });
        Self { advice, effect: Effect::AtBest(left), basis: basis.to_owned() }
    }
}

enum Effect<'a> {
    /// What is left of each row, and what is left of it at most: the difference is what is not sure.
    Left(LeftOfRow<'a>, LeftOfRow<'a>),
    /// What is left of each row at best; nothing is promised.
    AtBest(LeftOfRow<'a>),
    /// What is saved at best.
    Known(Covered),
    Unknown,
}

/// Advice for a report that does not fit.
pub(crate) fn advice_to_fit(
    report: &Report,
    verdict: &TilesVerdict,
    steps: &StepOperations,
    owners: &Owners,
    pressure: &Pressure<'_>,
    of_tiles: OfTiles<'_>,
) -> AdviceList {
    let at_minimum = planner_at_minimum(report);
    let context = AdviceContext { report, verdict, steps, owners, pressure, of_tiles, at_minimum };
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    let (lower, not_advised) = proportion::lower(&context);
    candidates.extend(lower);
    candidates.extend(imbalance::candidates(&context));
    candidates.extend(profiling::candidate(&context));
    candidates.extend(partials::candidate(&context));
    candidates.extend(half::candidate(&context));
    candidates.extend(spike::candidate(&context));
    candidates.extend(activations::smaller_batch(&context));
    candidates.extend(activations::recompute(&context));
    candidates.extend(optimiser::candidates(&context));
    candidates.extend(outlining::candidates(&context));
    candidates.extend(split::candidate(&context));
    candidates.extend(host::candidate(&context));
    candidates.extend(gaps::candidate(&context));
    AdviceList { advice: ranked(candidates, pressure), not_advised }
}

/// Advice for a report that fits: what to do with much room.
pub(crate) fn advice_on_room(
    report: &Report,
    verdict: &TilesVerdict,
    steps: &StepOperations,
    owners: &Owners,
) -> AdviceList {
    let advice = room::advice(report, verdict, steps, owners).into_iter().collect();
    AdviceList { advice, not_advised: Vec::new() }
}

fn ranked(candidates: Vec<Candidate<'_>>, pressure: &Pressure<'_>) -> Vec<Advice> {
    let changes: Vec<&LeftOfRow<'_>> =
        candidates.iter().flat_map(|one| one.effect.changes()).collect();
    let mut computed = pressure.covered(&changes).into_iter();
    let mut savings = Vec::with_capacity(candidates.len());
    for candidate in &candidates {
        savings.push(candidate.effect.saved(&mut computed));
    }
    let advice = candidates.into_iter().zip(savings).map(|(candidate, saved)| {
        let Candidate { advice, basis, .. } = candidate;
        let saving = saved.map(|saved| saving(&saved, basis, pressure));
        let makes_it_fit = saving.as_ref().and_then(makes_it_fit);
        Advice { saving, makes_it_fit, ..advice }
    });
    let bytes = |advice: &Advice| advice.saving.as_ref().map(Saving::ranking_bytes);
    let mut advice: Vec<Advice> = advice.filter(|advice| bytes(advice) != Some(0)).collect();
    let cost = |advice: &Advice| IpuTechnique::ALL.iter().position(|of| of.key() == advice.id);
    advice.sort_by_key(|advice| {
        let is_enough = advice.makes_it_fit == Some(true);
        (Reverse(is_enough), Reverse(bytes(advice)), cost(advice))
    });
    advice
}

/// What a piece of advice saves of what tiles are over.
fn saving(saved: &AdviceSaving, basis: String, pressure: &Pressure<'_>) -> Saving {
    let bytes = saved.covered.bytes;
    let at_least_bytes = saved.at_least_bytes.map(|sure| sure.min(bytes));
    Saving {
        expected_bytes: at_least_bytes.map(|_| bytes),
        at_most_bytes: Some(bytes),
        at_least_bytes: at_least_bytes.filter(|sure| *sure > 0),
        arenas: pressure.tiles.is_some().then_some(saved.covered.places),
        sample: pressure.sampled().map(|(looked_at, of)| Sample { looked_at, of, things: "tiles" }),
        ..Saving::of(SavedOf::OverLimit, pressure.over_bytes, basis)
    }
}

/// Whether a report fits after a saving: it does where all of what is over is guaranteed to go, and does not where
/// even the bound leaves some of it.
fn makes_it_fit(saving: &Saving) -> Option<bool> {
    if saving.at_least_bytes == Some(saving.of_bytes) {
        return Some(true);
    }
    saving.at_most_bytes.filter(|most| *most < saving.of_bytes).map(|_| false)
}

impl<'a> Effect<'a> {
    /// What must be worked out of it, in the order in which [`Self::saved`] takes the answers.
    fn changes(&self) -> impl Iterator<Item = &LeftOfRow<'a>> {
        let (first, second) = match self {
            Self::Left(left, at_most) => (Some(left), Some(at_most)),
            Self::AtBest(left) => (Some(left), None),
            Self::Known(_) | Self::Unknown => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// What it saves.
    fn saved(&self, computed: &mut impl Iterator<Item = Covered>) -> Option<AdviceSaving> {
        let (covered, at_least_bytes) = match self {
            Self::Left(..) => (computed.next()?, Some(computed.next()?.bytes)),
            Self::AtBest(_) => (computed.next()?, None),
            Self::Known(covered) => (*covered, None),
            Self::Unknown => return None,
        };
        Some(AdviceSaving { covered, at_least_bytes })
    }
}

struct AdviceSaving {
    /// What it is worked out to save, or at most saves where nothing is promised.
    covered: Covered,
    /// Bytes of that which are sure; `None` where the other is only a bound.
    at_least_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_short_and_tell_techniques_apart() {
        for technique in IpuTechnique::ALL {
            let same = IpuTechnique::ALL.iter().filter(|other| other.title() == technique.title());
            assert_eq!(same.count(), 1, "{technique:?}");
            assert!(technique.title().len() < 50, "{technique:?}");
        }
    }
}
