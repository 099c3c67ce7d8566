//! Advice: what to try next, from what this report says.
//!
//! Each file has a technique or two of docs/user/advice.md, with what of a report speaks for it. A technique is
//! advised only where it has evidence and would save something, and ranked by what it would cover of the bytes
//! that tiles are over (`pressure`), what is sure to be enough first; equals by what they cost, cheap ones first.
//!
//! What is promised is what is left where the change does least: benches/advice.rs follows advice and says how
//! often that is kept. A value that is to be enough leaves a thirty-second of each tile, or a sixteenth, for what
//! nobody can work out beforehand: code of other plans, and gaps. Where no value does (the batch is then halved, the
//! proportion as low as PopLibs advises), what is said of it does not claim so.

mod activations;
mod evidence;
mod gaps;
mod half;
mod host;
pub(crate) mod how;
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

use serde::Serialize;

pub(crate) use evidence::{Evidence, operation_title};
pub(crate) use how::How;

use self::planned::range;
use super::OfTiles;
use super::logs::{Warned, planner_at_minimum};
use super::pressure::{Covered, Left, Pressure};
use super::timeline::AliveRow;
use super::verdict::{Cause, Verdict};
use crate::analysis::comparison::owners::Owners;
use crate::analysis::program::step_operations::StepOperations;
use crate::store::Report;
use crate::text::{grouped, words};

/// Rows of evidence of one kind that are given.
const MOST_EVIDENCE: usize = 5;

words! {
    /// A technique, those that cost little first; its key is the anchor of its section in docs/user/advice.md, its title
    /// what it is to do, in a few words.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Technique by key, title {
        /// A lower `availableMemoryProportion`.
        LowerAvailableMemoryProportion = "lower-available-memory-proportion" | "Lower availableMemoryProportion",
        /// A higher one.
        RaiseAvailableMemoryProportion = "raise-available-memory-proportion" | "Raise availableMemoryProportion",
        /// The same proportion for operations of one kind.
        OneProportionForEqualOperations = "one-proportion-for-equal-operations" | "Keep one proportion for equal operations",
        /// A report without what measures the execution.
        CaptureWithoutProfiling = "capture-without-profiling" | "Leave out what measures the execution",
        /// Partial sums in half precision.
        HalfPrecisionPartials = "half-precision-partials" | "Keep partial sums in half precision",
        /// A tensor or plan that uses all tiles.
        BalanceTheTiles = "balance-the-tiles" | "Spread variables over all tiles",
        /// One operation in parts.
        MakeOneOperationSmaller = "make-one-operation-smaller" | "Make one operation smaller",
        /// Code that equal parts share.
        OutlineEqualParts = "outline-equal-parts" | "Share the code of equal operations",
        /// Optimiser state off the chip.
        OffloadVariables = "offload-variables" | "Keep the optimiser's state off the chip",
        /// Optimiser state shared by replicas.
        ShardOverReplicas = "shard-over-replicas" | "Share the optimiser's state between replicas",
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
        /// Another optimiser.
        OptimiserWithLessState = "optimiser-with-less-state" | "Use an optimiser with less state",
        /// Less that lies before borders of memory.
        LoseLessToGaps = "lose-less-to-gaps" | "Lose less to gaps",
    }
}

/// Which way an option goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    Lower,
    Raise,
    Change,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Advice {
    pub id: Technique,
    /// What to do, in a sentence without its full stop.
    pub what: String,
    /// The option that it is about.
    pub option: Option<&'static str>,
    /// Which way it goes.
    pub direction: Direction,
    /// Its values now, of the operations that the advice is about; ascending.
    pub now: Vec<f64>,
    /// The value to try first; `None` where the report does not tell one.
    pub suggested: Option<f64>,
    /// The value to try next, if that is not enough.
    pub next: Option<f64>,
    /// How it is spelled.
    pub how: Vec<How>,
    /// What it is based on, never empty.
    pub evidence: Vec<Evidence>,
    /// What it would save; `None` where no honest figure can be given.
    pub saving: Option<Saving>,
    /// What it costs, and what to mind.
    pub caution: &'static str,
}

impl Advice {
    /// A technique of which nothing is said yet, and that is about no option.
    fn of(id: Technique) -> Self {
        Self {
            id,
            what: String::new(),
            option: None,
            direction: Direction::Change,
            now: Vec::new(),
            suggested: None,
            next: None,
            how: Vec::new(),
            evidence: Vec::new(),
            saving: None,
            caution: "",
        }
    }

    /// The values that its option has now: `0.6`, `0.2 to 0.6`.
    pub fn now_text(&self) -> Option<String> {
        range(&self.now)
    }
}

/// What a piece of advice would save.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Saving {
    /// Bytes of what tiles are over, on the tiles that are; more than that does not count.
    pub bytes: u64,
    /// As many of them as are promised (docs/user/advice.md, "What advice promises"); 0 where `bytes` is a bound,
    /// and not what is to be expected.
    pub at_least_bytes: u64,
    /// What tiles are over, together.
    pub of_bytes: u64,
    /// Tiles that would be within the limit. `None` where the bytes by tile are absent.
    pub tiles: Option<u64>,
    /// Whether nothing is promised.
    pub is_at_most: bool,
    /// On how many of the tiles that are over it was worked out, where that is not all of them.
    pub from_tiles: Option<u64>,
    /// How many are over, where it was not worked out on all of them.
    pub of_tiles: Option<u64>,
    /// How it was worked out.
    pub basis: String,
}

impl Saving {
    /// The parts of what tiles are over that it covers for sure, and at most.
    pub fn shares(&self) -> [f64; 2] {
        [self.at_least_bytes, self.bytes].map(|bytes| bytes as f64 / self.of_bytes.max(1) as f64)
    }

    /// The same in percent: `100 %`, `45 to 100 %`, `up to 74 %`. All is only said of all.
    pub fn percent_text(&self) -> String {
        let whole = |share: f64| match (share * 100.0).floor() {
            0.0 if share > 0.0 => "under 1".to_owned(),
            percent => percent.to_string(),
        };
        let [sure, most] = self.shares().map(whole);
        match self.at_least_bytes {
            0 => format!("up to {most} %"),
            _ if sure == most => format!("{most} %"),
            _ => format!("{sure} to {most} %"),
        }
    }

    /// What it covers in a sentence, and on how many tiles that was worked out; `size` writes bytes.
    pub fn sentence(&self, size: &dyn Fn(u64) -> String) -> String {
        let sample = self.from_tiles.zip(self.of_tiles).map_or_else(String::new, |(from, all)| {
            format!(" (worked out on {} of these {} tiles)", grouped(from), grouped(all))
        });
        self.covers(size) + &sample
    }

    fn covers(&self, size: &dyn Fn(u64) -> String) -> String {
        let of = size(self.of_bytes);
        let (least, most) = (size(self.at_least_bytes), size(self.bytes));
        let all = self.bytes == self.of_bytes;
        match self.at_least_bytes {
            0 if all => format!("May cover all {of} that tiles are over"),
            0 => format!("Covers at most {most} of the {of} that tiles are over"),
            sure if sure == self.of_bytes => format!("Covers all {of} that tiles are over"),
            sure if sure == self.bytes => format!("Covers {most} of the {of} that tiles are over"),
            _ if all => {
                format!("Covers {least} or more, perhaps all, of the {of} that tiles are over")
            }
            _ => format!("Covers {least} to {most} of the {of} that tiles are over"),
        }
    }
}

/// A technique that one would think of and that does not help here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct NotAdvised {
    pub id: Technique,
    /// Why it does not help, in a sentence without its full stop.
    pub why: String,
    /// What says so.
    pub evidence: Vec<Evidence>,
}

/// What must be left of a place with so many bytes for what nobody can work out: a thirty-second, and twice as much
/// where placement fails already.
fn spare_bytes(verdict: &Verdict, limit_bytes: u64) -> u64 {
    let cause = verdict.failure.as_ref().and_then(|failure| failure.cause);
    limit_bytes / if cause == Some(Cause::Placement) { 16 } else { 32 }
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

struct Context<'a> {
    report: &'a Report,
    verdict: &'a Verdict,
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
        let left: Left<'a> =
            Box::new(move |_, row| if is_meant(row) { part(row.bytes) } else { row.bytes });
        Self { advice, effect: Effect::AtBest(left), basis: basis.to_owned() }
    }
}

enum Effect<'a> {
    /// What is left of each row, and what is left of it at most: the difference is what is not sure.
    Left(Left<'a>, Left<'a>),
    /// What is left of each row at best; nothing is promised.
    AtBest(Left<'a>),
    /// What is saved at best.
    Known(Covered),
    Unknown,
}

/// Advice for a report that does not fit.
pub(crate) fn advice_to_fit(
    report: &Report,
    verdict: &Verdict,
    (steps, owners): (&StepOperations, &Owners),
    pressure: &Pressure<'_>,
    of_tiles: OfTiles<'_>,
) -> AdviceList {
    let at_minimum = planner_at_minimum(report);
    let context = Context { report, verdict, steps, owners, pressure, of_tiles, at_minimum };
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
    verdict: &Verdict,
    steps: &StepOperations,
    owners: &Owners,
) -> AdviceList {
    let advice = room::advice(report, verdict, steps, owners).into_iter().collect();
    AdviceList { advice, not_advised: Vec::new() }
}

fn ranked(candidates: Vec<Candidate<'_>>, pressure: &Pressure<'_>) -> Vec<Advice> {
    let changes: Vec<&Left<'_>> = candidates.iter().flat_map(|one| one.effect.changes()).collect();
    let mut computed = pressure.covered(&changes).into_iter();
    let mut savings = Vec::with_capacity(candidates.len());
    for candidate in &candidates {
        savings.push(candidate.effect.saving(&mut computed));
    }
    let by_tile = pressure.tiles.is_some();
    let mut advice: Vec<Advice> = candidates
        .into_iter()
        .zip(savings)
        .map(|(Candidate { advice, basis, .. }, saving)| Advice {
            saving: saving.map(|(covered, at_least_bytes)| Saving {
                bytes: covered.bytes,
                at_least_bytes: at_least_bytes.min(covered.bytes),
                of_bytes: pressure.over_bytes,
                tiles: by_tile.then_some(covered.places),
                is_at_most: at_least_bytes == 0,
                from_tiles: pressure.sampled().map(|(looked_at, _)| looked_at),
                of_tiles: pressure.sampled().map(|(_, all)| all),
                basis,
            }),
            ..advice
        })
        .filter(|advice| advice.saving.as_ref().is_none_or(|saving| saving.bytes > 0))
        .collect();
    advice.sort_by_key(|advice| {
        let saving = advice.saving.as_ref();
        let is_enough = saving.is_some_and(|saving| saving.at_least_bytes == saving.of_bytes);
        (Reverse(is_enough), Reverse(saving.map(|saving| saving.bytes)), advice.id)
    });
    advice
}

impl<'a> Effect<'a> {
    /// What must be worked out of it, in the order in which [`Self::saving`] takes the answers.
    fn changes(&self) -> impl Iterator<Item = &Left<'a>> {
        let (first, second) = match self {
            Self::Left(left, at_most) => (Some(left), Some(at_most)),
            Self::AtBest(left) => (Some(left), None),
            Self::Known(_) | Self::Unknown => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// What it saves, and how many bytes of that are sure.
    fn saving(&self, computed: &mut impl Iterator<Item = Covered>) -> Option<(Covered, u64)> {
        match self {
            Self::Left(..) => Some((computed.next()?, computed.next()?.bytes)),
            Self::AtBest(_) => Some((computed.next()?, 0)),
            Self::Known(covered) => Some((*covered, 0)),
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_only_said_of_what_covers_all() {
        let percent = |at_least_bytes, bytes| {
            let saving = Saving {
                bytes,
                at_least_bytes,
                of_bytes: 1000,
                tiles: None,
                is_at_most: at_least_bytes == 0,
                from_tiles: None,
                of_tiles: None,
                basis: String::new(),
            };
            saving.percent_text()
        };
        assert_eq!(percent(1000, 1000), "100 %");
        assert_eq!(percent(0, 999), "up to 99 %");
        assert_eq!(percent(450, 1000), "45 to 100 %");
        assert_eq!(percent(3, 3), "under 1 %");
    }

    #[test]
    fn titles_are_short_and_tell_techniques_apart() {
        for technique in Technique::ALL {
            let same = Technique::ALL.iter().filter(|other| other.title() == technique.title());
            assert_eq!(same.count(), 1, "{technique:?}");
            assert!(technique.title().len() < 50, "{technique:?}");
        }
    }
}
