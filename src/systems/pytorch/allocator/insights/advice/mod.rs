//! Advice: what to try next, from what a snapshot says. Each file has a technique or two of docs/user/advice.md.
//!
//! A technique is advised only where it has evidence and acts on what is alive at the peak of a device, or on what it
//! has reserved. Its saving is how much lower the peak is without the blocks that it acts on, or without the part of
//! them that can go at best, everything else unchanged. The peak then lies elsewhere, and no more than that can be
//! saved. So savings are bounds, and bounds of different techniques do not add up.

mod batch;
mod checkpoints;
mod gradients;
pub mod how;
mod optimizer;
mod pieces;
mod references;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use self::how::how;
use super::DeviceInsights;
use super::context::{BlockChange, DeviceContext};
use crate::run::{Advice, Evidence, HowTo, NotAdvised, SavedOf, Saving};
use crate::store::snapshot::Frame;
use crate::systems::pytorch::allocator::free_pieces::segment_for;
use crate::systems::pytorch::allocator::peak::OwnedBytes;
use crate::systems::pytorch::allocator::replay::EventPeak;
use crate::systems::pytorch::allocator::user_frame::{NO_STACK, frame_title, user_frame};
use crate::text::{bytes, counted, words};

/// Rows of evidence of one kind that are given.
const MOST_EVIDENCE: usize = 4;
/// Share of the peak below which nothing is advised, in percent.
const LEAST_PERCENT: u64 = 5;

words! {
    /// A technique, those that cost little first; its key is the anchor of its section in docs/user/advice.md.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum SnapshotTechnique by key, title {
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

impl SnapshotTechnique {
    /// Advice to use it on the device of a context, without its evidence and saving.
    fn advice(self, context: &DeviceContext<'_>, text: String) -> Advice {
        Advice {
            device: Some(context.device.number),
            device_name: context.device_name(),
            text,
            how: vec![HowTo::code("PyTorch", how(self))],
            ..Advice::of(self.key(), self.title())
        }
    }
}

/// Advice with the technique that ranks it among others.
type Ranked = (SnapshotTechnique, Advice);

/// What is advised for all devices, what helps most first, and what is not. Of a technique that several devices would
/// have the one is given that has most of it.
pub fn advised(
    contexts: &[DeviceContext<'_>],
    devices: &[DeviceInsights],
) -> (Vec<Advice>, Vec<NotAdvised>) {
    let mut ranked: Vec<Ranked> = Vec::new();
    let mut not_advised: Vec<NotAdvised> = Vec::new();
    for (context, device) in contexts.iter().zip(devices) {
        ranked.extend(references::candidate(context, device));
        ranked.extend(pieces::candidates(context, device));
        not_advised.extend(pieces::not_advised(context, device));
        if context.signs.has_python() {
            let (checkpoints, already) = checkpoints::candidate(context);
            let candidates = gradients::candidates(context).into_iter();
            let candidates = candidates.chain(batch::candidates(context));
            let candidates = candidates.chain(optimizer::candidates(context)).chain(checkpoints);
            ranked.extend(about_peak(context, candidates.collect()));
            not_advised.extend(already);
        }
    }
    ranked.sort_by_key(|(technique, advice)| {
        let bytes = advice.saving.as_ref().map(Saving::ranking_bytes);
        (place(*technique, devices), Reverse(bytes), *technique, advice.device)
    });
    let mut seen = HashSet::new();
    ranked.retain(|(technique, _)| seen.insert(*technique));
    let mut seen = HashSet::new();
    not_advised.retain(|one| seen.insert(one.id));
    (ranked.into_iter().map(|(_, advice)| advice).collect(), not_advised)
}

/// Mistakes come first, and what failed although enough was free; techniques for inference come last where it is not
/// known that the run was one.
fn place(technique: SnapshotTechnique, devices: &[DeviceInsights]) -> u8 {
    let failed = devices.iter().any(|device| device.out_of_memory.is_some());
    match technique {
        SnapshotTechnique::DropReferences => 0,
        SnapshotTechnique::ExpandableSegments if failed => 0,
        SnapshotTechnique::NoGradientsNeeded if failed => 2,
        _ => 1,
    }
}

/// A technique that acts on blocks which are alive at the peak of the requested curve.
struct BlockCandidate<'a> {
    technique: SnapshotTechnique,
    /// The blocks at the peak that speak for it, and what they are.
    rows: Vec<usize>,
    evidence: &'static str,
    /// What it does to blocks, at best.
    change: BlockChange<'a>,
    /// What is to be expected, where that can be reasoned.
    expected_bytes: Option<u64>,
    /// How that, and the bound, are worked out.
    basis: String,
    text: String,
    caution: &'static str,
}

/// Advice about the peak of the requested curve: of the candidates those that save enough.
fn about_peak(context: &DeviceContext<'_>, mut candidates: Vec<BlockCandidate<'_>>) -> Vec<Ranked> {
    let peak = context.peak.bytes;
    let least = peak / 100 * LEAST_PERCENT;
    // No more can go than what is alive there.
    candidates.retain(|one| !one.rows.is_empty() && context.bytes_of(&one.rows) >= least);
    let changes: Vec<&BlockChange<'_>> = candidates.iter().map(|one| &one.change).collect();
    let peaks = context.peaks_left(&changes);
    let advised = |(one, then): (BlockCandidate<'_>, EventPeak)| {
        let at_most_bytes = peak.saturating_sub(then.bytes);
        if at_most_bytes == 0 || at_most_bytes < least {
            return None;
        }
        let rows = &one.rows;
        let mut evidence =
            vec![context.evidence(one.evidence, context.bytes_of(rows), context.peak.event)];
        evidence.extend(frames_of(context, rows));
        if then.event != context.peak.event {
            evidence.push(context.evidence("The peak is then elsewhere", then.bytes, then.event));
        }
        let expected_bytes = one.expected_bytes.map(|bytes| bytes.min(at_most_bytes));
        let advice = Advice {
            saving: Some(Saving {
                at_most_bytes: Some(at_most_bytes),
                expected_bytes,
                ..Saving::of(SavedOf::RequestedPeak, peak, one.basis)
            }),
            makes_it_fit: makes_it_fit(context, &one.change, expected_bytes),
            evidence,
            caution: one.caution,
            ..one.technique.advice(context, one.text)
        };
        Some((one.technique, advice))
    };
    candidates.into_iter().zip(peaks).filter_map(advised).collect()
}

/// Whether the request at which the run of a device ended fits after a change; `None` where none failed, or where that
/// cannot be told. It does where what is expected to be saved is what the request lacked. It does not where all that was
/// free, together with all that the change takes from the blocks then alive, is less than what was requested.
fn makes_it_fit(
    context: &DeviceContext<'_>,
    change: &BlockChange<'_>,
    expected_bytes: Option<u64>,
) -> Option<bool> {
    let (failed, state) = (context.ended_by?, context.at_failure.as_ref()?);
    let device_free = context.left_at_failure?;
    let lives = context.lives();
    let taken = |row: usize| {
        let requested = lives.requested.get(row).copied().unwrap_or(0);
        requested.saturating_sub(change.left.of(requested))
    };
    let alive = lives.live_after(failed.event.into()).filter(|row| (change.acts_on)(*row));
    let taken = alive.map(taken).fold(0, u64::saturating_add);
    let all_free = [state.free_bytes(), device_free, taken, state.rounding_bytes];
    if all_free.into_iter().fold(0, u64::saturating_add) < failed.bytes {
        return Some(false);
    }
    // Where the device had enough and gave none, nobody knows what it would have taken.
    let lacked = segment_for(failed.bytes).saturating_sub(device_free);
    (lacked > 0 && expected_bytes? >= lacked && taken >= lacked).then_some(true)
}

/// The user frames that have most of some blocks.
fn frames_of(context: &DeviceContext<'_>, rows: &[usize]) -> Vec<Evidence> {
    let mut by_frame: HashMap<Option<Frame>, OwnedBytes> = HashMap::new();
    let lives = context.lives();
    for row in rows {
        let frame = user_frame(context.snapshot, lives.stacks[*row]).copied();
        by_frame.entry(frame).or_default().add(lives.requested[*row]);
    }
    let named = by_frame
        .into_iter()
        .map(|(frame, owned)| (frame.map(|frame| frame_title(context.snapshot, &frame)), owned));
    let mut named: Vec<(Option<String>, OwnedBytes)> = named.collect();
    named.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then_with(|| a.0.cmp(&b.0)));
    let evidence = named.into_iter().take(MOST_EVIDENCE).map(|(name, owned)| {
        let title = name.as_deref().unwrap_or(NO_STACK);
        let text = format!("{title}, {}", counted(owned.blocks, "block"));
        context.evidence_of_frame(text, owned.bytes, name)
    });
    evidence.collect()
}

/// So many bytes of the peak, with their share.
fn of_peak(context: &DeviceContext<'_>, rows: &[usize]) -> String {
    let (part, peak) = (context.bytes_of(rows), context.peak.bytes);
    let percent = part as f64 * 100.0 / peak.max(1) as f64;
    let window =
        if context.replay.is_complete { "the peak" } else { "the peak of the recorded window" };
    format!("{} of the {} at {window} ({percent:.0} %)", bytes(part), bytes(peak))
}
