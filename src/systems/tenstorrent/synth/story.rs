//! The story of an encoder whose activations lie in DRAM, then in L1, where they leave little room for circular buffers, and
//! then in L1 with twice the batch, which ends in an error.

use super::chip::TensorPlace;
use super::{TtnnReportOptions, write_report};
use crate::synth::story::{Story, StoryRun};
use crate::synth::transformer::Transformer;

/// A run: the name of its directory, where activations lie, and its batch.
pub const VARIANTS: [(&str, TensorPlace, u64); 3] = [
    ("activations-dram", TensorPlace::Dram, 4),
    ("activations-l1", TensorPlace::L1, 4),
    ("activations-l1-batch-8", TensorPlace::L1, 8),
];

/// One run of the story: an encoder of 12 layers and 384 tokens.
pub fn options(place: TensorPlace, batch: u64) -> TtnnReportOptions {
    let default = TtnnReportOptions::default();
    TtnnReportOptions {
        network: Transformer {
            layers: 12,
            width: 768,
            heads: 12,
            sequence: 384,
            batch,
            ..default.network
        },
        activations: place,
        ..default
    }
}

/// The three runs.
pub fn story() -> Story {
    let run = |(name, place, batch): (&str, TensorPlace, u64)| {
        let options = options(place, batch);
        StoryRun::new(name, options.units(), move |directory, progress| {
            write_report(&options, directory, progress).map(drop)
        })
    };
    let runs = VARIANTS.into_iter().map(run).collect();
    Story { demo: "demo-tenstorrent-1", runs, is_sweep: false }
}
