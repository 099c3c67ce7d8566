//! Advice: what to try where memory of a core or of DRAM did not suffice, or nearly so. Each file has a technique of
//! docs/user/advice.md.

mod bfloat8;
mod deallocate;
mod dram;
mod more_cores;
mod reallocate;
mod smaller_blocks;

use std::cmp::Reverse;

use super::decisive::{BufferWithReads, DecisiveMoment};
use super::places::of_largest;
use crate::diagnose::tenstorrent::TenstorrentVerdict;
use crate::run::{Advice, Evidence, HowTo, SavedOf, Saving, Verdict};
use crate::systems::tenstorrent::memory::facts::RankView;
use crate::systems::tenstorrent::memory::scratch_facts::fullest;
use crate::systems::tenstorrent::recorded::BufferSpace;
use crate::text::words;

/// A core of which less than this is taken, in percent, has room: nothing is advised.
const TIGHT_PERCENT: u64 = 75;
/// The share of what is taken, in percent, below which a saving is not worth a piece of advice.
const LEAST_PERCENT: u64 = 5;

words! {
    /// A technique, those that cost little first; its key is the anchor of its section in docs/user/advice.md.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum CoreTechnique by key, title {
        /// Free what is not read any more.
        Deallocate = "deallocate" | "Free tensors after their last use",
        /// Close gaps between buffers.
        Reallocate = "reallocate" | "Move tensors together (ttnn.reallocate)",
        /// Leave what waits in DRAM.
        DramTensors = "dram-tensors" | "Keep tensors that wait in DRAM",
        /// Parts of tensors on more cores.
        MoreCores = "more-cores" | "Spread sharded tensors over more cores",
        /// Smaller circular buffers.
        SmallerBlocks = "smaller-blocks" | "Use smaller blocks in circular buffers",
        /// Weights of one byte.
        Bfloat8Weights = "bfloat8-weights" | "Store weights as bfloat8_b",
    }
}

/// What all techniques are asked about.
struct CoreContext<'a, 'b> {
    view: &'b RankView<'a>,
    moment: &'b DecisiveMoment<'a>,
}

impl CoreContext<'_, '_> {
    /// Bytes of L1 buffers of a core at the moment.
    fn l1_bytes(&self) -> u64 {
        let of_l1 = self.moment.in_space(BufferSpace::L1);
        of_l1.fold(0, |sum, (life, _)| sum.saturating_add(life.bytes))
    }

    /// Bytes of a core with the scratch of the fullest program.
    fn in_use_bytes(&self) -> u64 {
        let known = fullest(self.view).map_or(0, |known| known.in_use_bytes());
        known.max(self.l1_bytes())
    }

    /// The largest of some buffers as evidence.
    fn evidence<'a>(&self, buffers: impl Iterator<Item = BufferWithReads<'a>>) -> Vec<Evidence> {
        of_largest(self.view, (self.moment.device, self.moment.operation), buffers)
    }
}

/// Advice before it is known what the whole is that it saves of.
struct CoreDraft {
    technique: CoreTechnique,
    text: String,
    /// `None` where only a bound is known.
    expected_bytes: Option<u64>,
    at_most_bytes: Option<u64>,
    of_bytes: u64,
    basis: &'static str,
    makes_it_fit: Option<bool>,
    evidence: Vec<Evidence>,
    code: String,
    caution: &'static str,
}

impl CoreDraft {
    fn of(technique: CoreTechnique, context: &CoreContext<'_, '_>) -> Self {
        Self {
            technique,
            text: String::new(),
            expected_bytes: None,
            at_most_bytes: None,
            of_bytes: context.l1_bytes(),
            basis: "",
            makes_it_fit: None,
            evidence: Vec::new(),
            code: String::new(),
            caution: "",
        }
    }

    /// The advice; `None` where nothing speaks for it, or it saves too little.
    fn advice(self, device: i64) -> Option<Advice> {
        let saves = self.expected_bytes.or(self.at_most_bytes)?;
        let is_worth = saves > 0 && saves.saturating_mul(100) / LEAST_PERCENT >= self.of_bytes;
        let has_reason = !self.evidence.is_empty();
        (is_worth && has_reason).then(|| Advice {
            device: Some(device),
            text: self.text,
            saving: Some(Saving {
                expected_bytes: self.expected_bytes,
                at_most_bytes: self.at_most_bytes,
                ..Saving::of(SavedOf::Total, self.of_bytes, self.basis)
            }),
            makes_it_fit: self.makes_it_fit,
            evidence: self.evidence,
            how: vec![HowTo::code("TT-NN", self.code)],
            caution: self.caution,
            ..Advice::of(self.technique.key(), self.technique.title())
        })
    }
}

/// What to try, what is enough first, then what is expected to save most, then what costs little.
pub fn advice(view: &RankView<'_>, moment: &DecisiveMoment<'_>, verdict: &Verdict) -> Vec<Advice> {
    let of_device = verdict.devices.iter().find(|device| device.device == moment.device);
    let is_tight = of_device.is_some_and(|device| {
        let of = device.used_bytes.zip(device.capacity_bytes);
        of.is_some_and(|(used, capacity)| used.saturating_mul(100) / TIGHT_PERCENT >= capacity)
    });
    if !is_tight && moment.said.is_none() {
        return Vec::new();
    }
    let context = CoreContext { view, moment };
    // What is larger than all that there is has no place however much of the rest goes.
    let is_hopeless =
        moment.said.as_ref().is_some_and(|said| said.verdict == TenstorrentVerdict::NeverFits);
    let of_others = (!is_hopeless).then(|| {
        [
            deallocate::deallocate(&context),
            reallocate::reallocate(&context),
            dram::dram_tensors(&context),
            more_cores::more_cores(&context),
        ]
    });
    let own = [smaller_blocks::smaller_blocks(&context), bfloat8::bfloat8_weights(&context)];
    let drafts = of_others.into_iter().flatten().chain(own).flatten();
    let found = drafts.filter_map(|draft| draft.advice(moment.device));
    let mut found: Vec<Advice> = found.collect();
    found.sort_by_key(|one| {
        let saving = one.saving.as_ref();
        (
            one.makes_it_fit != Some(true),
            // Behind those of which a saving is expected, bounds say nothing: what costs little is first.
            Reverse(saving.and_then(|saving| saving.expected_bytes)),
        )
    });
    found
}
