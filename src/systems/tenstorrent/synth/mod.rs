//! Writes synthetic reports of TT-NN: an encoder on a chip of Wormhole, captured while it runs.
//!
//! `encoder` calls the operations, `capture` runs them: it takes buffers from the banks of `bank`, has `scratch` say what
//! programs need, and `graph` write the graphs. `database` makes rows of it. Figures are counted at the allocators, so tests
//! can hold the readers against them. Equal options give equal files.
//!
//! All programs record their circular buffers when they are built, as releases before 0.81 do.

pub mod arguments;
mod bank;
mod capture;
pub mod chip;
mod database;
mod encoder;
mod failure;
mod graph;
mod scratch;
pub mod story;

use std::path::Path;

use serde_json::json;

use crate::format::Progress;
use crate::synth::transformer::Transformer;
use crate::synth::{NewFiles, WriteError};
use capture::{DraftOperation, EndedEarly, NetworkCapture};
use chip::TensorPlace;
use database::estimated_bytes;
use encoder::LoadedEncoder;
pub use failure::WrittenFailure;

/// The version of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportSchema {
    /// One rank, a row for each page of each core.
    #[value(name = "2")]
    V2,
    /// Ranks, a row for each buffer and core.
    #[value(name = "3.3")]
    V3_3,
    /// Operations that failed have rows.
    #[value(name = "3.5")]
    V3_5,
}

impl ReportSchema {
    /// Whether an operation that failed is recorded as one.
    fn records_failures(self) -> bool {
        self == Self::V3_5
    }
}

/// What a synthetic report is made from.
#[derive(Clone, Copy, Debug)]
pub struct TtnnReportOptions {
    /// The network and its batch; of its vocabulary nothing is used.
    pub network: Transformer,
    /// Where what layers hand on lies.
    pub activations: TensorPlace,
    /// Whether each layer keeps a tensor that nobody reads again.
    pub is_leaking: bool,
    /// Batches that go through the network.
    pub passes: u64,
    /// Processes, each with its part of the layers on a chip of its own.
    pub ranks: u64,
    /// The version of the tables.
    pub schema: ReportSchema,
    /// What host times follow from.
    pub seed: u64,
}

impl Default for TtnnReportOptions {
    fn default() -> Self {
        Self {
            network: Transformer { element_bytes: 2, ..Transformer::default() },
            activations: TensorPlace::L1,
            is_leaking: false,
            passes: 1,
            ranks: 1,
            schema: ReportSchema::V3_5,
            seed: 1,
        }
    }
}

/// The most bytes of a bank at the ends of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenPeak {
    /// Bytes.
    pub bytes: u64,
    /// The first operation that reaches them.
    pub operation: u64,
}

/// A tensor that was kept after it was last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptTensor {
    /// Its address in L1 or DRAM.
    pub address: u64,
    /// Its bytes on a bank.
    pub bytes: u64,
    /// The last operation that reads it.
    pub last_read_by: u64,
}

/// What the report of a rank has, as its allocators count it.
#[derive(Clone, Debug, Default)]
pub struct WrittenRank {
    /// Operations.
    pub operations: u64,
    /// The most at the ends of operations, of DRAM and of L1.
    pub peaks: [WrittenPeak; 2],
    /// The largest free range of L1 at its peak, bytes.
    pub largest_free_bytes: u64,
    /// The most of L1 at any moment, bytes.
    pub l1_transient_bytes: u64,
    /// The most of L1 together with the circular buffers of a program, bytes.
    pub in_use_bytes: u64,
    /// Tensors that were kept.
    pub kept: Vec<KeptTensor>,
    /// Why it ended early.
    pub failure: Option<WrittenFailure>,
}

impl TtnnReportOptions {
    /// Ranks, the units in which writing advances.
    pub fn units(&self) -> u64 {
        self.ranks
    }

    /// Layers of a rank: the first ones have one more where they cannot be dealt evenly.
    fn layers_of(&self, rank: u64) -> u64 {
        let (layers, ranks) = (self.network.layers, self.ranks);
        layers / ranks + u64::from(rank < layers % ranks)
    }

    /// Runs the network of a rank, and hands over its operations.
    fn run(
        &self,
        rank: u64,
        write: &mut dyn FnMut(&DraftOperation<'_>) -> Result<(), WriteError>,
    ) -> Result<WrittenRank, WriteError> {
        let mut run = NetworkCapture::new(rank, self.schema, self.seed, write);
        let encoder = LoadedEncoder::load(&mut run, self, self.layers_of(rank))?;
        match encoder.run(&mut run, self.passes) {
            Ok(()) | Err(EndedEarly::Failed) => Ok(run.written),
            Err(EndedEarly::Unwritten(error)) => Err(error),
        }
    }

    /// With as many batches as give a database of so many bytes.
    ///
    /// # Errors
    /// When the network does not fit.
    pub fn with_size(self, bytes: u64) -> Result<Self, WriteError> {
        let of = |passes| -> Result<u64, WriteError> {
            let (options, mut sum) = (Self { passes, ..self }, 0);
            for rank in 0..options.ranks {
                let written = options.run(rank, &mut |operation| {
                    sum += estimated_bytes(operation, options.schema);
                    Ok(())
                })?;
                if written.failure.is_some() {
                    return Err(WriteError::Conflict(
                        "the network does not fit into memory, so its report cannot have the size of --size: choose a smaller \
                         network, or --activations dram",
                    ));
                }
            }
            Ok(sum)
        };
        let (first, both) = (of(1)?, of(2)?);
        let further = both.saturating_sub(first).max(1);
        Ok(Self { passes: 1 + bytes.saturating_sub(first).div_ceil(further), ..self })
    }
}

/// Writes a report into a directory, which is made when it is not there; `progress` advances by one for
/// each of [`TtnnReportOptions::units`].
///
/// # Errors
/// When a report is there already, weights do not fit, or a file cannot be written.
pub fn write_report(
    options: &TtnnReportOptions,
    directory: &Path,
    progress: &Progress,
) -> Result<Vec<WrittenRank>, WriteError> {
    std::fs::create_dir_all(directory).map_err(WriteError::io(directory))?;
    let mut files = NewFiles::default();
    let path = directory.join("db.sqlite");
    // SQLite takes an empty file for a new one.
    files.write(&path, |_| Ok(()))?;
    let written = database::write(options, &path, progress)?;
    let settings = json!({
        "enable_detailed_buffer_report": true, "enable_fast_runtime_mode": false, "enable_graph_python_stack_traces": true,
        "enable_graph_report": true, "report_name": "encoder",
    });
    files.replace(&directory.join("config.json"), format!("{settings:#}\n").as_bytes())?;
    for rank in 1..=options.ranks {
        let name = match options.ranks {
            1 => "cluster_descriptor.yaml".to_owned(),
            ranks => format!("cluster_descriptor_{rank}_of_{ranks}.yaml"),
        };
        files.replace(&directory.join(name), DESCRIPTOR.as_bytes())?;
    }
    files.keep();
    Ok(written)
}

/// What is said of the chip of each rank.
const DESCRIPTOR: &str = "arch:
  0: wormhole_b0
harvesting:
  0:
    dram_harvesting_mask: 0
boards:
  -
    - board_type: n150
    - chips:
        - 0
";
