//! The story of a training step that does not fit its card unless parts of the forward pass are computed again: one
//! network compiled four times, with what `jax.checkpoint` and donation make of it.

use std::path::{Path, PathBuf};

use super::{DumpOptions, Platform, Remat, Transformer, write_dump};
use crate::format::Progress;
use crate::synth::WriteError;
use crate::synth::story::write_whole;

/// A compilation: the name of its directory, what is computed again, and whether parameters are donated.
pub const VARIANTS: [(&str, Remat, bool); 4] = [
    ("checkpoint-none", Remat::None, true),
    ("checkpoint-dots", Remat::Dots, true),
    ("checkpoint-full", Remat::Full, true),
    ("checkpoint-full-not-donated", Remat::Full, false),
];
/// What the card has.
pub const CAPACITY: u64 = 24 << 30;
/// Changes with the dumps that the story is made of, so that nobody is shown old ones.
const DEMO: &str = "demo-xla-1";

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
        platform: Platform::Gpu,
        remat,
        is_donated,
        capacity_bytes: Some(CAPACITY),
        ..DumpOptions::default()
    }
}

/// Writes the four compilations into directories of their own.
///
/// # Errors
/// When one of them is there already, or a file cannot be written.
pub fn write_story(directory: &Path, progress: &Progress) -> Result<(), WriteError> {
    progress.expect(VARIANTS.len() as u64);
    VARIANTS.into_iter().try_for_each(|(name, remat, is_donated)| {
        write_dump(&options(remat, is_donated), &directory.join(name), progress).map(drop)
    })
}

/// The story in the user's cache directory; compilations that are not there yet are written.
///
/// # Errors
/// When there is no cache directory, or a file cannot be written.
pub fn demo(progress: &Progress) -> Result<PathBuf, WriteError> {
    let cache = dirs::cache_dir().ok_or(WriteError::NoCacheDirectory)?;
    let directory = cache.join("tilescope").join(DEMO);
    for (name, remat, is_donated) in VARIANTS {
        let run = directory.join(name);
        if !run.is_dir() {
            write_whole(&run, |unfinished| {
                write_dump(&options(remat, is_donated), unfinished, progress).map(drop)
            })?;
        }
    }
    Ok(directory)
}

/// The directories of its compilations, in the order of the story.
pub fn runs(directory: &Path) -> Vec<PathBuf> {
    VARIANTS.iter().map(|(name, ..)| directory.join(name)).collect()
}
