//! The story of a training run that does not fit: the same network checkpointed in none to sixteen segments, of which
//! neither the fewest nor the most need the least.

use std::path::{Path, PathBuf};

use super::caching_allocator::Card;
use super::{SnapshotOptions, Transformer, write_snapshot};
use crate::format::Progress;
use crate::synth::WriteError;
use crate::synth::story::write_whole;

/// The segments of the story; 0 is without checkpoints.
pub const SEGMENTS: [u64; 6] = [0, 2, 4, 8, 10, 16];
/// The card, with what others have of it.
pub const CARD: Card = Card { capacity_bytes: Some(8 << 30), other_bytes: 600 << 20 };
/// Changes with the snapshots that the story is made of, so that nobody is shown old ones.
const DEMO: &str = "demo-pytorch-1";
/// The file of a run, in a directory of its own.
const FILE: &str = "snapshot.pickle";

/// The name of a run's directory.
pub fn directory_name(segments: u64) -> String {
    format!("segments-{segments}")
}

/// One run of the story: a transformer of 24 blocks, two steps with 48 samples.
pub fn options(segments: u64) -> SnapshotOptions {
    SnapshotOptions {
        network: Transformer { layers: 24, batch: 48, ..Transformer::default() },
        steps: 2,
        checkpoint_segments: segments,
        card: CARD,
        ..SnapshotOptions::default()
    }
}

fn write_run(segments: u64, directory: &Path, progress: &Progress) -> Result<(), WriteError> {
    write_snapshot(&options(segments), &directory.join(FILE), progress).map(drop)
}

/// Writes the six runs into directories of their own.
///
/// # Errors
/// When one of them is there already, or a file cannot be written.
pub fn write_story(directory: &Path, progress: &Progress) -> Result<(), WriteError> {
    progress.expect(SEGMENTS.iter().map(|segments| options(*segments).units()).sum());
    SEGMENTS.into_iter().try_for_each(|segments| {
        write_run(segments, &directory.join(directory_name(segments)), progress)
    })
}

/// The story in the user's cache directory; runs that are not there yet are written.
///
/// # Errors
/// When there is no cache directory, or a file cannot be written.
pub fn demo(progress: &Progress) -> Result<PathBuf, WriteError> {
    let cache = dirs::cache_dir().ok_or(WriteError::NoCacheDirectory)?;
    let directory = cache.join("tilescope").join(DEMO);
    for segments in SEGMENTS {
        let run = directory.join(directory_name(segments));
        if !run.is_dir() {
            write_whole(&run, |unfinished| write_run(segments, unfinished, progress))?;
        }
    }
    Ok(directory)
}

/// The files of its runs, in the order of the story.
pub fn runs(directory: &Path) -> Vec<PathBuf> {
    let run = |segments: &u64| directory.join(directory_name(*segments)).join(FILE);
    SEGMENTS.iter().map(run).collect()
}
