//! The story of one model: the same network at six values of `availableMemoryProportion`.

use super::machine::Architecture;
use super::network::Network;
use super::{ReportOptions, write_report};
use crate::synth::story::{Story, StoryRun};

/// The proportions of the story.
pub const PROPORTIONS: [f64; 6] = [0.8, 0.75, 0.6, 0.35, 0.01, 0.005];

/// The name of a run's directory.
pub fn directory_name(proportion: f64) -> String {
    format!("amp-{proportion}")
}

/// One run of the story: a ResNeXt-101, batch 8, on one Mk2 IPU.
pub fn options(proportion: f64) -> ReportOptions {
    ReportOptions {
        network: Network::Resnext101,
        proportion,
        tiles_per_ipu: Architecture::Mk2.tiles_per_ipu(),
        cycle_estimates: true,
        execution: true,
        ..ReportOptions::default()
    }
}

/// The six runs.
pub fn story() -> Story {
    let run = |proportion: f64| {
        let options = options(proportion);
        StoryRun::new(directory_name(proportion), options.tiles(), move |directory, progress| {
            write_report(&options, directory, progress)
        })
    };
    Story { demo: "demo-2", runs: PROPORTIONS.into_iter().map(run).collect(), is_sweep: false }
}
