//! Writes synthetic reports: what Poplar's compiler would have written of a model network.
//!
//! `network` lists layers, `planner` plans convolutions and matmuls, `lowering` makes programs and
//! symbols of them, `allocator` places the variables of a tile, `write` derives all of Poplar's sums
//! from the placement and writes `profile.pop`, `debug_info` writes `debug.cbor`.

mod allocator;
pub mod arguments;
mod debug_info;
mod log;
mod lowering;
pub mod machine;
pub(crate) mod model;
pub mod network;
pub mod planner;
mod schema;
pub mod story;
mod write;

use std::path::Path;

use crate::format::Progress;
use crate::synth::{NewFiles, WriteError};
use machine::Architecture;
use network::{Network, NetworkLayer};

/// What a synthetic report is made from. Equal options give equal reports.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent switches")]
pub struct ReportOptions {
    /// The network.
    pub network: Network,
    /// How often the network is repeated, one copy after the other, to make a report larger.
    pub copies: u32,
    /// Samples at a time.
    pub batch: u64,
    /// `availableMemoryProportion` of convolutions and matmuls.
    pub proportion: f64,
    /// The architecture.
    pub architecture: Architecture,
    /// IPUs, as stages of a pipeline.
    pub ipus: u32,
    /// Tiles of an IPU.
    pub tiles_per_ipu: u32,
    /// What makes tiles differ.
    pub seed: u64,
    /// Whether tensors are kept in single precision in place of half.
    pub single_precision: bool,
    /// Whether the program measures its execution: with what that takes on every tile, also where it is not run.
    pub instrumented: bool,
    /// Whether the compiler estimates the cycles of compute sets.
    pub cycle_estimates: bool,
    /// Whether the program is run when it fits.
    pub execution: bool,
    /// Whether layers are functions that are called, with the programs of an earlier compilation step, in which they
    /// are not.
    pub functions: bool,
    /// What is recorded of it.
    pub recorded: RecordedRuns,
}

/// What is recorded of a program that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRuns {
    /// Calls of `Engine::run`; `autoReport.executionProfileProgramRunCount` is 2 by default.
    pub runs: u32,
    /// Whether transfers with the host go on beside what else an IPU does.
    pub overlapped_io: bool,
    /// Whether lightweight profiling measures blocks on some tiles.
    pub blocks: bool,
}

impl Default for RecordedRuns {
    fn default() -> Self {
        Self { runs: 2, overlapped_io: false, blocks: false }
    }
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            network: Network::Tiny,
            copies: 1,
            batch: 8,
            proportion: 0.6,
            architecture: Architecture::Mk2,
            ipus: 1,
            tiles_per_ipu: 16,
            seed: 1,
            single_precision: false,
            instrumented: false,
            cycle_estimates: false,
            execution: false,
            functions: false,
            recorded: RecordedRuns::default(),
        }
    }
}

impl ReportOptions {
    /// Tiles of all IPUs, the units in which writing advances.
    pub fn tiles(&self) -> u64 {
        u64::from(self.ipus) * u64::from(self.tiles_per_ipu)
    }

    /// The layers of all copies.
    pub fn layers(&self) -> Vec<NetworkLayer> {
        let one = self.network.layers();
        if self.copies <= 1 {
            return one;
        }
        (0..self.copies)
            .flat_map(|copy| {
                one.iter().map(move |layer| NetworkLayer {
                    name: format!("tower{copy}.{}", layer.name),
                    ..layer.clone()
                })
            })
            .collect()
    }
}

/// Writes a report into a directory, which is made when it is not there; `progress` advances by one
/// for each of [`ReportOptions::tiles`].
///
/// # Errors
/// When a profile is there already, or a file cannot be written.
pub fn write_report(
    options: &ReportOptions,
    directory: &Path,
    progress: &Progress,
) -> Result<(), WriteError> {
    std::fs::create_dir_all(directory).map_err(WriteError::io(directory))?;
    let mut files = NewFiles::default();
    let profile = directory.join("profile.pop");
    // SQLite takes an empty file for a new one.
    files.write(&profile, |_| Ok(()))?;
    let model = lowering::lower(options);
    write::write_profile(&model, &profile, progress)?;
    let mut write = |name: &str, bytes: &[u8]| files.replace(&directory.join(name), bytes);
    write("debug.cbor", &debug_info::encode(&model.contexts))?;
    let app = format!("{:#}\n", serde_json::Value::Object(model.app.clone()));
    write("app.json", app.as_bytes())?;
    let framework = serde_json::json!({ "PyTorch": { "Version": "2.0.1" }, "PopTorch": { "Version": "3.3.0" } });
    write("framework.json", format!("{framework:#}\n").as_bytes())?;
    write("compile.log", log::compile_log(&model).as_bytes())?;
    files.keep();
    Ok(())
}

/// Bytes of `profile.pop` for each lowered variable, as measured on reports of the large network.
const BYTES_PER_VARIABLE: u64 = 56;

/// How often the network must be repeated for a profile of at least `bytes`.
pub fn copies_for_size(options: &ReportOptions, bytes: u64) -> u32 {
    let one = lowering::lower(&ReportOptions { copies: 1, ..options.clone() });
    let variables: usize = (0..one.tiles()).map(|tile| one.on_tile(tile).len()).sum();
    let of_one = variables as u64 * BYTES_PER_VARIABLE;
    u32::try_from(bytes.div_ceil(of_one.max(1))).unwrap_or(u32::MAX)
}
