//! The options of synthetic memory snapshots.

use clap::{ArgMatches, Args, FromArgMatches as _};

use super::caching_allocator::{AllocatorOptions, CardMemory};
use super::story::story;
use super::{SnapshotOptions, steps_for_size, write_snapshot};
use crate::format::Progress;
use crate::synth::transformer::TransformerArguments;
use crate::synth::{Synth, ToWrite, WriteError};
use crate::text::size;

/// The smallest size from which on PyTorch lets blocks be kept whole is above this.
const LEAST_SPLIT: u64 = 20 << 20;

/// What memory snapshots have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of PyTorch")]
struct SnapshotArguments {
    /// Steps of the training [default: 3].
    #[arg(long, conflicts_with = "size", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    steps: Option<u64>,
    /// Compute the network again in the backward pass in this many segments, as `checkpoint_sequential` does; 0 turns
    /// this off [default: 0].
    #[arg(long, value_name = "SEGMENTS", value_parser = clap::value_parser!(u64).range(0..=1000))]
    checkpoint_segments: Option<u64>,
    /// Memory of it that other processes use, for example 600MiB.
    #[arg(long, requires = "capacity", value_parser = size::parse)]
    other: Option<u64>,
    /// Go on after a step that ran out of memory, with half the samples.
    #[arg(long, requires = "capacity")]
    go_on: bool,
    /// Streams; all but the first copy the batches [default: 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=16))]
    streams: Option<u32>,
    /// Let each step have a length of its own.
    #[arg(long)]
    varied_lengths: bool,
    /// Keep only the last so many events [default: all].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    max_entries: Option<u64>,
    /// `max_split_size_mb` of the allocator, for example 64MiB.
    #[arg(long, value_parser = split_size)]
    max_split_size: Option<u64>,
    /// `roundup_power2_divisions` of the allocator [default: off].
    #[arg(long, value_name = "DIVISIONS", value_parser = clap::value_parser!(u64).range(1..=64))]
    roundup_power2_divisions: Option<u64>,
    /// Write the six runs of the story into a directory instead: a training run on a card of 8 GiB, with none to 16
    /// segments.
    #[arg(long, conflicts_with_all = ["batch", "layers", "checkpoint_segments", "capacity", "size"])]
    checkpoint_story: bool,
    // Behind the others: what is flattened sets the heading of what follows.
    #[command(flatten)]
    network: TransformerArguments,
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

/// How snapshots are written.
pub fn synth() -> Synth {
    Synth {
        title: "Writing the snapshot",
        what: "A PyTorch snapshot, with the files that lie beside one",
        options: SnapshotArguments::augment_args(clap::Command::default()),
        write,
        story,
        is_usual_demo: true,
    }
}

fn write(given: &ArgMatches, wanted: &ToWrite<'_>, progress: &Progress) -> Result<(), WriteError> {
    let given = SnapshotArguments::from_arg_matches(given)?;
    if given.checkpoint_story {
        return story().write(wanted.output, progress);
    }
    let options = options(&given, wanted);
    progress.expect(options.units());
    write_snapshot(&options, wanted.output, progress).map(drop)
}

/// What a snapshot is made from.
fn options(given: &SnapshotArguments, wanted: &ToWrite<'_>) -> SnapshotOptions {
    let default = SnapshotOptions::default();
    let mut options = SnapshotOptions {
        network: given.network.transformer(wanted.batch),
        steps: given.steps.unwrap_or(default.steps),
        checkpoint_segments: given.checkpoint_segments.unwrap_or(default.checkpoint_segments),
        settings: AllocatorOptions {
            most_split_bytes: given.max_split_size,
            roundup_divisions: given.roundup_power2_divisions.unwrap_or(0),
        },
        card: CardMemory {
            capacity_bytes: given.network.capacity,
            other_bytes: given.other.unwrap_or(0),
        },
        goes_on_after_failure: given.go_on,
        streams: given.streams.unwrap_or(default.streams),
        has_varied_lengths: given.varied_lengths,
        most_events: given.max_entries.unwrap_or(default.most_events),
        seed: wanted.seed,
    };
    if let Some(bytes) = wanted.size {
        options.steps = steps_for_size(&options, bytes);
    }
    options
}
