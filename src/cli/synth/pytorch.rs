//! The options of synthetic memory snapshots.

use clap::Args;

use super::{SynthArguments, first_of};
use crate::systems::pytorch::synth::caching_allocator::{Card, Settings};
use crate::systems::pytorch::synth::{SnapshotOptions, steps_for_size};
use crate::text::size;

/// The smallest size from which on PyTorch lets blocks be kept whole is above this.
const LEAST_SPLIT: u64 = 20 << 20;

/// What memory snapshots have. Every value is optional, so that one that is given for another system is told.
#[derive(Debug, Args)]
pub struct SnapshotArguments {
    /// Steps of the training [default: 3].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub steps: Option<u64>,
    /// Compute the network again in the backward pass in so many segments, as `checkpoint_sequential` does; 0 is not at
    /// all [default: 0].
    #[arg(long, value_name = "SEGMENTS", value_parser = clap::value_parser!(u64).range(0..=1000))]
    pub checkpoint_segments: Option<u64>,
    /// What others have of it, for example 600MiB.
    #[arg(long, requires = "capacity", value_parser = size::parse)]
    pub other: Option<u64>,
    /// Go on after a step that ran out of memory, with half the samples.
    #[arg(long, requires = "capacity")]
    pub go_on: bool,
    /// Streams; others than the first copy the batches [default: 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub streams: Option<u32>,
    /// Let each step have a length of its own.
    #[arg(long)]
    pub varied_lengths: bool,
    /// Keep this many events, the last ones [default: all].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_entries: Option<u64>,
    /// `max_split_size_mb` of the allocator, for example 64MiB.
    #[arg(long, value_parser = split_size)]
    pub max_split_size: Option<u64>,
    /// `roundup_power2_divisions` of the allocator [default: off].
    #[arg(long, value_name = "DIVISIONS", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub roundup_power2_divisions: Option<u64>,
    /// Write the six runs of the story into a directory instead: a training run on a card of 8 GiB, with none to 16
    /// segments.
    #[arg(long, conflicts_with_all = ["batch", "layers", "checkpoint_segments", "capacity", "size"])]
    pub checkpoint_story: bool,
}

impl SnapshotArguments {
    /// The first option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        first_of([
            ("--steps", self.steps.is_some()),
            ("--checkpoint-segments", self.checkpoint_segments.is_some()),
            ("--streams", self.streams.is_some()),
            ("--varied-lengths", self.varied_lengths),
            ("--other", self.other.is_some()),
            ("--go-on", self.go_on),
            ("--max-entries", self.max_entries.is_some()),
            ("--max-split-size", self.max_split_size.is_some()),
            ("--roundup-power2-divisions", self.roundup_power2_divisions.is_some()),
            ("--checkpoint-story", self.checkpoint_story),
        ])
    }
}

/// What blocks are kept whole from, whole MiB.
fn split_size(text: &str) -> Result<u64, String> {
    let bytes = size::parse(text)?;
    if bytes > LEAST_SPLIT && bytes.is_multiple_of(1 << 20) {
        Ok(bytes)
    } else {
        Err("whole MiB, more than 20MiB, as PyTorch wants it".to_owned())
    }
}

/// What a snapshot is made from.
pub(super) fn options(arguments: &SynthArguments) -> SnapshotOptions {
    let given = &arguments.pytorch;
    let default = SnapshotOptions::default();
    let mut options = SnapshotOptions {
        network: arguments.network.transformer(arguments.batch),
        steps: given.steps.unwrap_or(default.steps),
        checkpoint_segments: given.checkpoint_segments.unwrap_or(default.checkpoint_segments),
        settings: Settings {
            most_split_bytes: given.max_split_size,
            roundup_divisions: given.roundup_power2_divisions.unwrap_or(0),
        },
        card: Card {
            capacity_bytes: arguments.network.capacity,
            other_bytes: given.other.unwrap_or(0),
        },
        goes_on_after_failure: given.go_on,
        streams: given.streams.unwrap_or(default.streams),
        has_varied_lengths: given.varied_lengths,
        most_events: given.max_entries.unwrap_or(default.most_events),
        seed: arguments.seed,
    };
    if let Some(bytes) = arguments.size {
        options.steps = steps_for_size(&options, bytes);
    }
    options
}
