//! Advice: what to try next, from what a snapshot says. Each file has a technique or two of docs/user/advice.md.
//!
//! A technique is advised only where it has evidence and acts on what is alive at the peak of a device, or on what it has
//! reserved. What it may save is what the peak is less if the blocks that it acts on are taken away, or the part of them
//! that goes at best, and everything else stays: the peak then lies elsewhere, and no more than that can be saved. So
//! savings are bounds, and bounds of different techniques do not add up.

mod batch;
mod checkpoints;
mod gradients;
pub mod how;
mod optimizer;
mod pieces;
mod references;

use std::cmp::Reverse;

use serde::Serialize;

use self::how::how;
use super::DeviceInsights;
use super::context::{Change, Context};
use crate::systems::pytorch::allocator::replay::Peak;
use crate::systems::pytorch::allocator::user_frame::{NO_STACK, frame_title, user_frame};
use crate::text::{bytes, words};

/// Rows of evidence of one kind that are given.
const MOST_EVIDENCE: usize = 4;
/// Share of the peak below which nothing is advised, in percent.
const LEAST_PERCENT: u64 = 5;

words! {
    /// A technique, those that cost little first; its key is the anchor of its section in docs/user/advice.md.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Technique by key, title {
        /// References that grow from step to step.
        DropReferences = "drop-references" | "Drop references that grow from step to step",
        /// Segments that can grow.
        ExpandableSegments = "expandable-segments" | "Use expandable segments",
        /// Gradients that are gone when the forward pass begins.
        SetGradientsToNone = "set-gradients-to-none" | "Set gradients to none",
        /// No graph where none is needed.
        NoGradientsNeeded = "no-gradients-needed" | "Record no graph for inference",
        /// One kernel for the step of the optimizer.
        FusedOptimizer = "fused-optimizer" | "Use the fused optimizer",
        /// Large blocks are not split.
        LimitSplitting = "limit-splitting" | "Limit the splitting of large blocks",
        /// Activations computed again.
        CheckpointActivations = "checkpoint-activations" | "Checkpoint activations",
        /// Half precision where the operation allows it.
        Autocast = "autocast" | "Compute in half precision (autocast)",
        /// Fewer samples at once.
        FewerSamples = "fewer-samples" | "Compute fewer samples at once",
        /// Each gradient is used and freed as soon as it is there.
        StepInBackward = "step-in-backward" | "Step the optimizer during the backward pass",
        /// State of the optimizer in fewer bits, or shared.
        SmallerOptimizerState = "smaller-optimizer-state" | "Keep less optimizer state",
        /// Giving the cache back.
        EmptyCache = "empty-cache" | "Empty the cache",
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// The technique.
    pub id: Technique,
    /// The number of the device that it is about.
    pub device: i64,
    /// What to do and why, in a sentence without its full stop.
    pub what: String,
    /// What it may save; `None` where no honest figure can be given.
    pub saving: Option<Saving>,
    /// What it is based on, never empty.
    pub evidence: Vec<Evidence>,
    /// How it is written.
    pub how: String,
    /// What it costs, and what to mind.
    pub caution: &'static str,
}

words! {
    /// What a saving is a part of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SavedOf by key, title {
        /// The peak of the requested curve.
        RequestedPeak = "requested_peak" | "requested peak",
        /// The peak of the reserved curve.
        ReservedPeak = "reserved_peak" | "reserved peak",
        /// What was reserved when the request failed.
        ReservedAtFailure = "reserved_at_failure" | "memory reserved when it failed",
    }
}

/// What a piece of advice may save.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saving {
    /// No more than this.
    pub at_most_bytes: u64,
    /// What is to be expected, where that can be reasoned.
    pub expected_bytes: Option<u64>,
    /// Of so much.
    pub of_bytes: u64,
    /// What that is.
    pub of: SavedOf,
    /// How it was worked out.
    pub basis: String,
}

impl Saving {
    /// The parts of the whole that are expected, and at most.
    pub fn shares(&self) -> [f64; 2] {
        let share = |bytes: u64| bytes as f64 / self.of_bytes.max(1) as f64;
        [share(self.expected_bytes.unwrap_or(0)), share(self.at_most_bytes)]
    }

    /// The same in percent: `about 40 %`, `up to 74 %`.
    pub fn percent_text(&self) -> String {
        let [expected, most] = self.shares().map(|share| (share * 100.0).floor());
        match self.expected_bytes {
            Some(_) => format!("about {expected} %"),
            None => format!("up to {most} %"),
        }
    }

    /// In a sentence; `size` writes bytes.
    pub fn sentence(&self, size: &dyn Fn(u64) -> String) -> String {
        let of = format!("of the {} {}", size(self.of_bytes), self.of.title());
        let most = size(self.at_most_bytes);
        match self.expected_bytes {
            Some(expected) if expected == self.at_most_bytes => format!("Saves about {most} {of}"),
            Some(expected) => format!("Saves about {}, at most {most}, {of}", size(expected)),
            None => format!("Saves at most {most} {of}"),
        }
    }
}

/// One thing that a snapshot says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// What it is, without the figure.
    pub what: String,
    /// Its bytes.
    pub bytes: Option<u64>,
    /// The event within the device.
    pub event: Option<i64>,
    /// The user frame.
    pub frame: Option<String>,
    /// The address within a segment.
    pub address: Option<String>,
}

impl Evidence {
    /// Something with its bytes.
    pub fn of(what: impl Into<String>, bytes: u64) -> Self {
        Self { what: what.into(), bytes: Some(bytes), ..Self::default() }
    }

    /// At an event.
    #[must_use]
    pub fn at(self, event: i64) -> Self {
        Self { event: Some(event), ..self }
    }
}

/// A technique that one would think of and that does not help here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotAdvised {
    /// The technique.
    pub id: Technique,
    /// Why it does not help, in a sentence without its full stop.
    pub why: String,
    /// What says so.
    pub evidence: Vec<Evidence>,
}

/// What is advised for all devices, what helps most first, and what is not. Of a technique that several devices would
/// have the one is given that has most of it.
pub fn advised(
    contexts: &[Context<'_>],
    devices: &[DeviceInsights],
) -> (Vec<Advice>, Vec<NotAdvised>) {
    let mut advice: Vec<Advice> = Vec::new();
    let mut not_advised: Vec<NotAdvised> = Vec::new();
    for (context, device) in contexts.iter().zip(devices) {
        advice.extend(references::candidate(context, device));
        advice.extend(pieces::candidates(context, device));
        not_advised.extend(pieces::not_advised(context, device));
        if context.signs.has_python() {
            let (checkpoints, already) = checkpoints::candidate(context);
            let candidates = gradients::candidates(context).into_iter();
            let candidates = candidates.chain(batch::candidates(context));
            let candidates = candidates.chain(optimizer::candidates(context)).chain(checkpoints);
            advice.extend(about_peak(context, candidates.collect()));
            not_advised.extend(already);
        }
    }
    advice.sort_by_key(|advice| {
        let saved = advice.saving.as_ref();
        let bytes = saved.map(|saved| saved.expected_bytes.unwrap_or(saved.at_most_bytes));
        (place(advice, devices), Reverse(bytes), advice.id, advice.device)
    });
    let mut seen = Vec::new();
    advice.retain(|advice| {
        let is_new = !seen.contains(&advice.id);
        seen.push(advice.id);
        is_new
    });
    let mut seen = Vec::new();
    not_advised.retain(|one| {
        let is_new = !seen.contains(&one.id);
        seen.push(one.id);
        is_new
    });
    (advice, not_advised)
}

/// What is a mistake, and what failed although enough was free, comes first; last what is meant for another kind of run,
/// where it is not known which it was.
fn place(advice: &Advice, devices: &[DeviceInsights]) -> u8 {
    let failed = devices.iter().any(|device| device.out_of_memory.is_some());
    match advice.id {
        Technique::DropReferences => 0,
        Technique::ExpandableSegments if failed => 0,
        Technique::NoGradientsNeeded if failed => 2,
        _ => 1,
    }
}

/// A technique that acts on blocks which are alive at the peak of the requested curve.
struct Candidate<'a> {
    id: Technique,
    /// The blocks at the peak that speak for it, and what they are.
    rows: Vec<usize>,
    evidence: &'static str,
    /// What it does to blocks, at best.
    change: Change<'a>,
    /// What is to be expected, where that can be reasoned.
    expected_bytes: Option<u64>,
    /// How that, and the bound, are worked out.
    basis: String,
    what: String,
    caution: &'static str,
}

/// Advice about the peak of the requested curve: of the candidates those that save enough.
fn about_peak(context: &Context<'_>, mut candidates: Vec<Candidate<'_>>) -> Vec<Advice> {
    let peak = context.peak.bytes;
    let least = peak / 100 * LEAST_PERCENT;
    // No more can go than what is alive there.
    candidates.retain(|one| !one.rows.is_empty() && context.bytes_of(&one.rows) >= least);
    let changes: Vec<&Change<'_>> = candidates.iter().map(|one| &one.change).collect();
    let peaks = context.peaks_left(&changes);
    let advice = |(one, then): (Candidate<'_>, Peak)| {
        let at_most_bytes = peak.saturating_sub(then.bytes);
        if at_most_bytes == 0 || at_most_bytes < least {
            return None;
        }
        let rows = &one.rows;
        let of_rows = Evidence::of(one.evidence, context.bytes_of(rows));
        let mut evidence = vec![of_rows.at(context.peak.event)];
        evidence.extend(frames_of(context, rows));
        if then.event != context.peak.event {
            evidence.push(Evidence::of("The peak is then elsewhere", then.bytes).at(then.event));
        }
        Some(Advice {
            id: one.id,
            device: context.device.number,
            what: one.what,
            saving: Some(Saving {
                at_most_bytes,
                expected_bytes: one.expected_bytes.map(|bytes| bytes.min(at_most_bytes)),
                of_bytes: peak,
                of: SavedOf::RequestedPeak,
                basis: one.basis,
            }),
            evidence,
            how: how(one.id).to_owned(),
            caution: one.caution,
        })
    };
    candidates.into_iter().zip(peaks).filter_map(advice).collect()
}

/// The user frames that have most of some blocks.
fn frames_of(context: &Context<'_>, rows: &[usize]) -> Vec<Evidence> {
    let mut sums: Vec<(Option<String>, u64, u64)> = Vec::new();
    let mut by_stack: std::collections::HashMap<_, (u64, u64)> = std::collections::HashMap::new();
    let lives = context.lives();
    for row in rows {
        let frame = user_frame(context.snapshot, lives.stacks[*row]).copied();
        let sum = by_stack.entry(frame).or_default();
        *sum = (sum.0.saturating_add(lives.requested[*row]), sum.1 + 1);
    }
    sums.extend(by_stack.into_iter().map(|(frame, (bytes, blocks))| {
        (frame.map(|frame| frame_title(context.snapshot, &frame)), bytes, blocks)
    }));
    sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let evidence = sums.into_iter().take(MOST_EVIDENCE).map(|(name, bytes, blocks)| Evidence {
        frame: Some(name.clone().unwrap_or_else(|| NO_STACK.to_owned())),
        ..Evidence::of(
            format!(
                "{}, {}",
                name.as_deref().unwrap_or(NO_STACK),
                crate::text::counted(blocks, "block")
            ),
            bytes,
        )
    });
    evidence.collect()
}

/// So many bytes of the peak, with their share.
fn of_peak(context: &Context<'_>, rows: &[usize]) -> String {
    let (part, peak) = (context.bytes_of(rows), context.peak.bytes);
    let percent = part as f64 * 100.0 / peak.max(1) as f64;
    let window =
        if context.replay.is_complete { "the peak" } else { "the peak of the recorded window" };
    format!("{} of the {} at {window} ({percent:.0} %)", bytes(part), bytes(peak))
}
