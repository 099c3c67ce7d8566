//! The story of a training run that does not fit: the same network checkpointed in none to sixteen segments, of which
//! neither the fewest nor the most need the least.

use std::path::Path;

use super::caching_allocator::CardMemory;
use super::{SnapshotOptions, write_snapshot};
use crate::format::Progress;
use crate::synth::story::{Story, StoryRun};
use crate::synth::transformer::Transformer;

/// The segments of the story; 0 is without checkpoints.
pub const SEGMENTS: [u64; 6] = [0, 2, 4, 8, 10, 16];
/// The card, with what others have of it.
pub const CARD: CardMemory = CardMemory { capacity_bytes: Some(8 << 30), other_bytes: 600 << 20 };
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

/// The six runs, which are snapshots of one run: the window shows them in a sweep.
pub fn story() -> Story {
    let run = |segments: u64| {
        let options = options(segments);
        let units = options.units();
        let write = move |directory: &Path, progress: &Progress| {
            write_snapshot(&options, &directory.join(FILE), progress).map(drop)
        };
        StoryRun { file: FILE, ..StoryRun::new(directory_name(segments), units, write) }
    };
    Story { demo: "demo-pytorch-1", runs: SEGMENTS.into_iter().map(run).collect(), is_sweep: true }
}
