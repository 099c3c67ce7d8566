//! The story of a training step that does not fit its card unless parts of the forward pass are computed again: one
//! network compiled four times, with what `jax.checkpoint` and donation make of it.

use super::{DumpOptions, Remat, XlaTarget, write_dump};
use crate::synth::story::{Story, StoryRun};
use crate::synth::transformer::Transformer;

/// A compilation: the name of its directory, what is computed again, and whether parameters are donated.
pub const VARIANTS: [(&str, Remat, bool); 4] = [
    ("checkpoint-none", Remat::None, true),
    ("checkpoint-dots", Remat::Dots, true),
    ("checkpoint-full", Remat::Full, true),
    ("checkpoint-full-not-donated", Remat::Full, false),
];
/// What the card has.
pub const CAPACITY: u64 = 24 << 30;

/// One compilation of the story: a transformer of 24 layers and 8 samples of 1,024 tokens.
pub fn options(remat: Remat, is_donated: bool) -> DumpOptions {
    DumpOptions {
        network: Transformer {
            layers: 24,
            width: 1024,
            heads: 16,
            sequence: 1024,
            vocabulary: 32_768,
            batch: 8,
            ..Transformer::default()
        },
        platform: XlaTarget::Gpu,
        remat,
        is_donated,
        capacity_bytes: Some(CAPACITY),
        ..DumpOptions::default()
    }
}

/// The four compilations.
pub fn story() -> Story {
    let run = |(name, remat, is_donated): (&str, Remat, bool)| {
        let options = options(remat, is_donated);
        StoryRun::new(name, 1, move |directory, progress| {
            write_dump(&options, directory, progress).map(drop)
        })
    };
    Story { demo: "demo-xla-1", runs: VARIANTS.into_iter().map(run).collect(), is_sweep: false }
}
