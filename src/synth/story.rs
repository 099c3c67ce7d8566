//! The story of one model: the same network at six values of `availableMemoryProportion`.

use std::path::Path;

use super::machine::Architecture;
use super::network::Network;
use super::{Options, WriteError, write_report};
use crate::format::Progress;

/// The proportions of the story.
pub const PROPORTIONS: [f64; 6] = [0.8, 0.75, 0.6, 0.35, 0.01, 0.005];

/// The name of a run's directory.
pub fn directory_name(proportion: f64) -> String {
    format!("amp-{proportion}")
}

/// One run of the story: a ResNeXt-101, batch 8, on one Mk2 IPU.
pub fn options(proportion: f64) -> Options {
    Options {
        network: Network::Resnext101,
        proportion,
        tiles_per_ipu: Architecture::Mk2.tiles_per_ipu(),
        execution: true,
        ..Options::default()
    }
}

/// Writes the six runs into directories of their own.
///
/// # Errors
/// When one of them is there already, or a file cannot be written.
pub fn write_story(directory: &Path, progress: &Progress) -> Result<(), WriteError> {
    for proportion in PROPORTIONS {
        write_report(&options(proportion), &directory.join(directory_name(proportion)), progress)?;
    }
    Ok(())
}
