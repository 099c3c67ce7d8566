//! Advice: what to try next, from what a module says (docs/user/advice.md, XLA).
//!
//! A saving is what the rules of a technique say of the main memory, worked out at every position: what it acts on goes or
//! shrinks, and what is needed in its place comes. Where evidence is missing for a part of them it is a bound. Other
//! memories are the compiler's to fill. Savings do not add up.

mod again;
mod batch;
mod donate;
mod precision;
pub mod scan;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use self::batch::WeightShapes;
use super::SpaceInsights;
use super::paths::Passes;
use crate::run::{Advice, Evidence, HowTo, SavedOf, Saving, Verdict};
use crate::store::hlo::InstructionId;
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::in_use::PlacedValue;
use crate::systems::xla::buffer_assignment::peaks::NO_OPERATION;
use crate::systems::xla::buffer_assignment::program::AnalysedModule;
use crate::text::{path_parts, words};

/// Rows of evidence.
const MOST_EVIDENCE: usize = 6;
/// Share of the main memory below which nothing is advised, in percent, and least bytes.
const LEAST_PERCENT: u64 = 5;
const LEAST_BYTES: u64 = 64 << 10;

words! {
    /// A technique; its key is the anchor of its section in docs/user/advice.md.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ModuleTechnique by key, title {
        /// Results in the memory of parameters.
        DonateArguments = "donate-arguments" | "Donate arguments",
        /// Values of the forward pass computed again.
        Rematerialise = "jax-checkpoint" | "Compute values again in the backward pass (jax.checkpoint)",
        /// Layers in a loop.
        ScanLayers = "scan-layers" | "Run the layers in a loop (jax.lax.scan)",
        /// Half precision.
        HalfPrecision = "bfloat16" | "Compute in bfloat16",
        /// Gradients of parts of a batch, summed.
        AccumulateGradients = "gradient-accumulation" | "Sum the gradients of parts of the batch",
        /// Fewer samples a step.
        SmallerBatch = "smaller-batch" | "Use a smaller batch",
        /// Shapes that fill tiles.
        FillTiles = "fill-tiles" | "Choose shapes that fill tiles",
    }
}

/// What is asked of a program by all techniques.
struct ModuleAdviceContext<'a> {
    program: &'a AnalysedModule,
    analysed: &'a Analysed,
    main: &'a SpaceInsights,
    passes: Passes,
    weights: WeightShapes,
}

impl ModuleAdviceContext<'_> {
    /// The peak of what is temporary, bytes.
    fn peak(&self) -> u64 {
        self.main.peak.as_ref().map_or(0, |peak| peak.at.bytes)
    }

    /// What is saved if so much is left at the peak, bytes.
    fn saved(&self, left: u64) -> u64 {
        self.peak().saturating_sub(left)
    }

    /// The values that share the memory of one: the row of the one that stands for them.
    fn group(&self, one: &PlacedValue) -> u32 {
        let value = one.assigned.value;
        self.analysed.group(value).unwrap_or(value.0)
    }

    /// Whether a saving is worth a piece of advice.
    fn is_worth(&self, saves: u64) -> bool {
        saves >= LEAST_BYTES && saves.saturating_mul(100) / LEAST_PERCENT >= self.main.total_bytes
    }

    /// The instructions that multiply matrices or convolve, also within fusions, and calls of libraries that do.
    fn products(&self) -> impl Iterator<Item = InstructionId> {
        let module = &self.analysed.module;
        let is_product = |id: &InstructionId| match module.opcode(*id) {
            "dot" | "convolution" => true,
            "custom-call" => {
                let path = module.op_name(*id).unwrap_or_default();
                let last = path_parts(path).next_back().unwrap_or_default();
                last.starts_with("dot_general") || last.starts_with("conv_general")
            }
            _ => false,
        };
        (0..module.instructions.len() as u32).map(InstructionId).filter(is_product)
    }

    /// Whether matrices are multiplied at all.
    fn multiplies(&self) -> bool {
        self.products().next().is_some()
    }
}

/// Advice before it is known what the whole is that it saves of.
struct AdviceDraft {
    id: ModuleTechnique,
    text: String,
    expected_bytes: Option<u64>,
    at_most_bytes: Option<u64>,
    basis: &'static str,
    evidence: Vec<Evidence>,
    code: &'static str,
    caution: &'static str,
}

impl AdviceDraft {
    fn of(id: ModuleTechnique) -> Self {
        Self {
            id,
            text: String::new(),
            expected_bytes: None,
            at_most_bytes: None,
            basis: "",
            evidence: Vec::new(),
            code: "",
            caution: "",
        }
    }

    /// With a saving that is expected where that is known, else a bound.
    fn saving(id: ModuleTechnique, bytes: u64, is_known: bool) -> Self {
        Self {
            expected_bytes: is_known.then_some(bytes),
            at_most_bytes: (!is_known).then_some(bytes),
            ..Self::of(id)
        }
    }

    /// The advice; `None` where nothing speaks for it, or it saves too little.
    fn advice(
        self,
        context: &ModuleAdviceContext<'_>,
        has_several: bool,
        verdict: &Verdict,
    ) -> Option<Advice> {
        let saves = self.expected_bytes.or(self.at_most_bytes)?;
        if !context.is_worth(saves) || self.evidence.is_empty() {
            return None;
        }
        let main = context.main;
        let advice = Advice {
            device: Some(main.color),
            device_name: has_several.then(|| main.title.clone()),
            text: self.text,
            saving: Some(Saving {
                expected_bytes: self.expected_bytes,
                at_most_bytes: self.at_most_bytes,
                ..Saving::of(SavedOf::Total, main.total_bytes, self.basis)
            }),
            evidence: self.evidence,
            how: vec![HowTo::code("JAX", self.code)],
            caution: self.caution,
            ..Advice::of(self.id.key(), self.id.title())
        };
        Some(Advice { makes_it_fit: advice.fits_where(verdict), ..advice })
    }
}

/// What to try, what is expected to save most first, and behind that what is only known to save so much at most.
pub(super) fn advice(
    program: &AnalysedModule,
    verdict: &Verdict,
    spaces: &[SpaceInsights],
) -> Vec<Advice> {
    let Some(main) = spaces.iter().find(|space| space.color == 0) else { return Vec::new() };
    let analysed = &program.analysed;
    let passes = Passes::of(analysed);
    // What a program replaces that trains nothing is no weight, but a cache.
    let weights =
        if passes.is_training { WeightShapes::of(analysed) } else { WeightShapes::default() };
    let context = ModuleAdviceContext { program, analysed, main, passes, weights };
    let all = [
        Some(donate::donate(&context)),
        again::again(&context),
        scan::scan_layers(&context),
        precision::half_precision(&context),
        batch::accumulate(&context),
        batch::smaller_batch(&context),
        precision::fill_tiles(&context),
    ];
    let found = all.into_iter().flatten();
    let found = found.filter_map(|one| one.advice(&context, spaces.len() > 1, verdict));
    let mut found: Vec<Advice> = found.collect();
    found.sort_by_key(|one| {
        let saving = one.saving.as_ref();
        (
            saving.is_none_or(|saving| saving.expected_bytes.is_none()),
            Reverse(saving.map(Saving::ranking_bytes)),
        )
    });
    found
}

/// What lives at the peak, by operation, with what `bytes` says of each value and the bytes that count to it, largest first.
fn by_operation(
    context: &ModuleAdviceContext<'_>,
    bytes: impl Fn(&PlacedValue, u64) -> Option<u64>,
) -> Vec<Evidence> {
    let Some(peak) = &context.main.peak else { return Vec::new() };
    let analysed = context.analysed;
    let mut found: BTreeMap<&str, (u64, u32)> = BTreeMap::new();
    for (one, counted) in analysed.shares_at(0, peak.at.position) {
        let Some(bytes) = bytes(one, counted).filter(|bytes| *bytes > 0) else { continue };
        let path = analysed.operation(one.assigned.value);
        let path = path.unwrap_or(NO_OPERATION);
        let (sum, first) = found.entry(path).or_insert((0, one.range.start));
        *sum = sum.saturating_add(bytes);
        *first = one.range.start.min(*first);
    }
    let evidence = found.into_iter().map(|(path, (bytes, step))| {
        let evidence = Evidence::of(path, bytes).at_step(step);
        evidence.at(|place| place.operation = Some(path.to_owned()))
    });
    largest(evidence.collect())
}

/// The largest rows of evidence, as many as are given.
fn largest(mut evidence: Vec<Evidence>) -> Vec<Evidence> {
    evidence.sort_by_key(|one| Reverse(one.bytes));
    evidence.truncate(MOST_EVIDENCE);
    evidence
}
