//! Advice: what to try next, from what a snapshot says. Each file has a technique or two of docs/user/advice.md.
//!
//! A technique is advised only where it has evidence, and where what it is expected to save is worth it. What it saves is
//! worked out by replaying the run with smaller blocks: once as the technique is expected to leave them, and once at
//! best, which gives a bound. Savings of different techniques do not add up.

mod attention;
mod attention_backward;
mod batch;
mod checkpoints;
mod gradients;
pub mod how;
mod loss;
mod offload;
mod optimizer;
mod pieces;
mod precision;
mod references;
mod sharing;
mod weights;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use self::how::how;
use self::loss::LossBlocks;
use self::weights::ParameterSizes;
use super::DeviceInsights;
use super::context::DeviceContext;
use super::what_if::{AfterChange, BlockChange};
use crate::run::{Advice, Evidence, HowTo, NotAdvised, Saving};
use crate::store::snapshot::Frame;
use crate::systems::pytorch::allocator::free_pieces::segment_for;
use crate::systems::pytorch::allocator::peak::OwnedBytes;
use crate::systems::pytorch::allocator::user_frame::{NO_STACK, frame_title, user_frame};
use crate::text::{bytes, counted, words};

/// Rows of evidence of one kind that are given.
const MOST_EVIDENCE: usize = 4;
/// Share of the peak below which nothing is advised, in percent.
const LEAST_PERCENT: u64 = 2;
/// Part of what the process may have that a step may ask for where it is said to fit, in percent.
const SAFE_PERCENT: u64 = 97;
/// Part of the most that is nearly as much, in percent.
const NEARLY_PERCENT: u64 = 87;

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
        /// No cache of autocast.
        CacheOff = "cache-off" | "Switch off autocast's cache",
        /// One kernel for the step of the optimizer.
        FusedOptimizer = "fused-optimizer" | "Use the fused optimizer",
        /// One kernel for attention.
        Sdpa = "sdpa" | "Use fused attention",
        /// Large blocks are not split.
        LimitSplitting = "limit-splitting" | "Limit the splitting of large blocks",
        /// The loss of a part of the batch at a time.
        ChunkedLoss = "chunked-loss" | "Compute the loss in parts",
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
        /// Activations in the memory of the host.
        OffloadActivations = "offload-activations" | "Offload activations to the host",
        /// A part of the parameters for each process.
        FullyShard = "fully-shard" | "Share parameters between devices (FSDP)",
        /// Weights in 16 bits.
        HalfWeights = "half-weights" | "Keep weights in half precision",
        /// A few parameters besides those of the network.
        Lora = "lora" | "Train adapters instead of all parameters (LoRA)",
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
            how: vec![HowTo::code("PyTorch", how(self, context.records_graph))],
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
    // Where a device failed, advice is about those that did: nothing done for another one makes it run.
    let has_failed = devices.iter().any(|device| device.out_of_memory.is_some());
    let concerned = |device: &DeviceInsights| !has_failed || device.out_of_memory.is_some();
    for (context, device) in contexts.iter().zip(devices).filter(|(_, of)| concerned(of)) {
        ranked.extend(references::candidate(context, device));
        ranked.extend(pieces::candidates(context, device));
        not_advised.extend(pieces::not_advised(context, device));
        if context.signs.has_python() {
            let weights = ParameterSizes::of(context);
            let loss = LossBlocks::of(context);
            let gradients = context.most_of_gradients();
            let (checkpoints, already) = checkpoints::candidate(context, &loss);
            let mut candidates = vec![
                batch::candidate(context, device, gradients),
                attention::candidate(context),
                loss.candidate(context),
            ];
            candidates.extend(gradients::candidates(context));
            candidates.extend(optimizer::candidates(context, &weights));
            candidates.extend(precision::candidates(context, &weights, &loss));
            candidates.extend(offload::candidate(context, &loss));
            candidates.extend(sharing::candidates(context, gradients));
            candidates.extend(checkpoints);
            ranked.extend(about_most(context, candidates));
            not_advised.extend(already);
        }
    }
    let mut ranked = ranked_by_gain(ranked, contexts, devices);
    let mut seen = HashSet::new();
    ranked.retain(|(technique, _)| seen.insert(*technique));
    let mut seen = HashSet::new();
    not_advised.retain(|one| seen.insert(one.id));
    (ranked.into_iter().map(|(_, advice)| advice).collect(), not_advised)
}

/// What brings most first; of those that bring nearly as much as the most the one that costs least.
fn ranked_by_gain(
    mut left: Vec<Ranked>,
    contexts: &[DeviceContext<'_>],
    devices: &[DeviceInsights],
) -> Vec<Ranked> {
    let failed = devices.iter().any(|device| device.out_of_memory.is_some());
    let trains = contexts.iter().any(DeviceContext::is_training);
    let gain = |advice: &Advice| match &advice.saving {
        Some(saving) => saving.expected_bytes.unwrap_or(saving.ranking_bytes() / 2),
        None => 0,
    };
    let mut ranked = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let place = |one: &Ranked| match one.0 {
            // What grows with every step makes any memory too small.
            SnapshotTechnique::DropReferences => 0,
            _ if one.1.makes_it_fit == Some(false) => 4,
            // For inference: it is not known that the run was that.
            SnapshotTechnique::NoGradientsNeeded if failed => 3,
            // They change what is trained, or take much time.
            SnapshotTechnique::HalfWeights if trains => 2,
            SnapshotTechnique::OffloadActivations
            | SnapshotTechnique::FullyShard
            | SnapshotTechnique::Lora => 2,
            _ => 1,
        };
        let first = left.iter().map(place).min().unwrap_or(0);
        let of_place = || left.iter().enumerate().filter(|(_, one)| place(one) == first);
        let most = of_place().map(|(_, one)| gain(&one.1)).max().unwrap_or(0);
        let least = most / 100 * NEARLY_PERCENT;
        let best = of_place().filter(|(_, one)| gain(&one.1) >= least).min_by_key(|(_, one)| {
            let (technique, advice) = one;
            (*technique, Reverse(gain(advice)), advice.device)
        });
        let Some((place, _)) = best else { break };
        ranked.push(left.remove(place));
    }
    ranked
}

/// A technique that acts on blocks which are alive at the peak of the requested curve.
struct BlockCandidate<'a> {
    technique: SnapshotTechnique,
    /// The blocks at the peak that speak for it, and what they are.
    rows: Vec<usize>,
    evidence: &'static str,
    /// What it is expected to do to blocks, where that can be reasoned.
    expected: Option<BlockChange<'a>>,
    /// What it does at best.
    best: BlockChange<'a>,
    /// How both were chosen.
    basis: String,
    text: String,
    caution: &'static str,
}

/// Advice about the most that is asked for at once: of the candidates those that save enough.
fn about_most(context: &DeviceContext<'_>, mut candidates: Vec<BlockCandidate<'_>>) -> Vec<Ranked> {
    let most = context.most;
    let least = most.bytes / 100 * LEAST_PERCENT;
    // No more can go than what is alive there.
    candidates.retain(|one| !one.rows.is_empty() && context.bytes_of(&one.rows) >= least);
    let expected = candidates.iter().filter_map(|one| one.expected.as_ref());
    let changes: Vec<&BlockChange<'_>> =
        candidates.iter().map(|one| &one.best).chain(expected).collect();
    let mut at_best = context.after_changes(&changes);
    let mut expected = at_best.split_off(candidates.len()).into_iter();
    let saved = |then: AfterChange| most.bytes.saturating_sub(then.most.bytes);
    let advised = |(one, best): (BlockCandidate<'_>, AfterChange)| {
        let then = one.expected.as_ref().and_then(|_| expected.next());
        let at_most_bytes = saved(best);
        let expected_bytes = then.map(|then| saved(then).min(at_most_bytes));
        let brings = expected_bytes.unwrap_or(at_most_bytes);
        if brings == 0 || brings < least {
            return None;
        }
        let rows = &one.rows;
        let mut evidence = vec![context.evidence(one.evidence, context.bytes_of(rows), most.event)];
        evidence.extend(frames_of(context, rows));
        let fits = makes_it_fit(context, &one.best, then, best);
        let then = then.unwrap_or(best).most;
        if then.event != most.event {
            evidence.push(context.evidence("The peak is then elsewhere", then.bytes, then.event));
        }
        let advice = Advice {
            saving: Some(Saving {
                at_most_bytes: Some(at_most_bytes),
                expected_bytes,
                ..Saving::of(context.most_is_of(), most.bytes, one.basis)
            }),
            makes_it_fit: fits,
            evidence,
            caution: one.caution,
            ..one.technique.advice(context, one.text)
        };
        Some((one.technique, advice))
    };
    candidates.into_iter().zip(at_best).filter_map(advised).collect()
}

/// Whether a run that ended for want of memory goes on after a change, with what its whole step asks for as expected and at
/// best; `None` where none ended, or where that cannot be told.
///
/// It does where the whole step, as the one before it went, asks for less than the process may have, with as much lost in
/// pieces as was then. It does not where the step asks for more even at best, nor where all that was free, together with
/// all that the change takes from the blocks then alive, is less than what was requested.
fn makes_it_fit(
    context: &DeviceContext<'_>,
    change: &BlockChange<'_>,
    expected: Option<AfterChange>,
    best: AfterChange,
) -> Option<bool> {
    let (failed, state) = (context.ended_by?, context.at_failure.as_ref()?);
    let left_free = context.left_at_failure?;
    let lives = context.lives();
    let left = |row: usize| change.left_of(row, context.requested(row));
    let taken = |row: usize| context.requested(row).saturating_sub(left(row));
    let alive = lives.live_after(failed.event.into()).chain([lives.len()]);
    let taken = alive.map(taken).fold(0, u64::saturating_add);
    let all_free = [state.free_bytes(), left_free, taken, state.rounding_bytes];
    if all_free.into_iter().fold(0, u64::saturating_add) < failed.bytes {
        return Some(false);
    }
    // Where the device had enough and gave none, nobody knows what it would have given.
    let may_have = state.reserved_bytes.saturating_add(left_free);
    if left_free >= segment_for(failed.bytes) {
        return None;
    }
    if best.unfinished_step.is_some_and(|bytes| bytes > may_have) {
        return Some(false);
    }
    let whole = expected?.unfinished_step?;
    let in_use = state.active_bytes.saturating_sub(state.rounding_bytes).max(1);
    let with_pieces = u128::from(whole) * u128::from(state.reserved_bytes) / u128::from(in_use);
    (with_pieces <= u128::from(may_have / 100 * SAFE_PERCENT)).then_some(true)
}

/// The user frames that have most of some blocks.
fn frames_of(context: &DeviceContext<'_>, rows: &[usize]) -> Vec<Evidence> {
    let mut by_frame: HashMap<Option<Frame>, OwnedBytes> = HashMap::new();
    for row in rows {
        let frame = user_frame(context.snapshot, context.stack(*row)).copied();
        by_frame.entry(frame).or_default().add(context.requested(*row));
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

/// So many bytes of the most that is asked for at once, with their share.
fn of_most(context: &DeviceContext<'_>, rows: &[usize]) -> String {
    let (part, most) = (context.bytes_of(rows), context.most.bytes);
    let percent = part as f64 * 100.0 / most.max(1) as f64;
    let when = match () {
        () if context.has_failed_at_most() => "that were wanted when memory ended",
        () if context.replay.is_complete => "at the peak",
        () => "at the peak of the recorded window",
    };
    format!("{} of the {} {when} ({percent:.0} %)", bytes(part), bytes(most))
}
