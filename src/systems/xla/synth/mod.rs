//! Writes synthetic XLA dumps: what its compiler would have written of a training step of a transformer.
//!
//! `step` puts the program together as `program` has it, of the `tensors` of a layer, with `source` for where operations
//! come from and `shape` for what arrays take; `placement` decides when values live and where they are; `write` makes the proto of it with
//! `message`, `texts` the texts beside it. Equal options give equal files.

pub mod arguments;
mod message;
mod placement;
mod program;
mod shape;
mod source;
mod step;
pub mod story;
mod tensors;
mod texts;
mod write;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::format::Progress;
use crate::synth::transformer::Transformer;
use crate::synth::{NewFiles, WriteError};
use placement::HeapPlan;
use program::{DraftModule, Home};
pub use shape::XlaTarget;
use tensors::NetworkSizes;
pub use tensors::Remat;

/// What a synthetic dump is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpOptions {
    /// The network and how it is fed; its layers are a multiple of [`Self::unroll`].
    pub network: Transformer,
    /// For what it is compiled.
    pub platform: XlaTarget,
    /// Layers in one turn of a loop.
    pub unroll: u64,
    /// What is computed again.
    pub remat: Remat,
    /// Whether weights and their states are donated.
    pub is_donated: bool,
    /// What a graphics card has.
    pub capacity_bytes: Option<u64>,
    /// Whether the texts of the assignment are written, too.
    pub has_texts: bool,
}

impl Default for DumpOptions {
    fn default() -> Self {
        Self {
            network: Transformer::default(),
            platform: XlaTarget::Gpu,
            unroll: 1,
            remat: Remat::None,
            is_donated: false,
            capacity_bytes: None,
            has_texts: false,
        }
    }
}

/// What a written program has, as whoever put it together counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenModule {
    /// The proto.
    pub file: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// Instructions of all computations.
    pub instructions: u64,
    /// Values that have a place.
    pub values: u64,
    /// Instructions in order.
    pub steps: u32,
    /// Bytes of all allocations, and of temporary ones.
    pub total_bytes: u64,
    /// Of the temporary allocation.
    pub temporary_bytes: u64,
    /// The most that values take of it at once, without tables of tuples.
    pub peak_bytes: u64,
    /// The first position at which they do.
    pub peak_position: u32,
    /// Name of each value as XLA writes it, with the first and last position at which it lives.
    pub lives: Vec<(String, (u32, u32))>,
}

/// The name of the module.
const MODULE: &str = "jit_train_step";

/// Writes a dump into a directory, which is made when it is not there. `progress` advances by one.
///
/// # Errors
/// When one of its files is there already, or cannot be written.
pub fn write_dump(
    options: &DumpOptions,
    directory: &Path,
    progress: &Progress,
) -> Result<WrittenModule, WriteError> {
    if let Some(error) = options.too_large() {
        return Err(error);
    }
    std::fs::create_dir_all(directory).map_err(WriteError::io(directory))?;
    let (program, placement) = put_together(options);
    if progress.is_cancelled() {
        return Err(WriteError::Cancelled);
    }
    let stem = format!("module_0001.{MODULE}");
    let stage = options.platform.stage();
    let mut files = NewFiles::default();
    let mut write = |name: String, bytes: &[u8]| {
        let path = directory.join(name);
        files.write(&path, |file| file.write_all(bytes)).map(|()| path)
    };
    let proto = write::proto(&program, &placement);
    let file = write(format!("{stem}.{stage}.hlo.pb"), &proto)?;
    if options.has_texts {
        let text = texts::assignment(&program, &placement);
        write(format!("{stem}.{stage}-buffer-assignment.txt"), text.as_bytes())?;
        let text = texts::live_ranges(&program, &placement);
        write(format!("{stem}.{stage}-live-range.txt"), text.as_bytes())?;
    }
    if let (XlaTarget::Gpu, Some(bytes)) = (options.platform, options.capacity_bytes) {
        let text = format!(
            "gpu_device_info {{\n  device_memory_size: {bytes}\n}}\nplatform_name: \"CUDA\"\n\
             device_description_str: \"Synthetic GPU\"\n"
        );
        write(format!("{stem}.gpu_target_config.pbtxt"), text.as_bytes())?;
    }
    files.keep();
    progress.advance(1);
    Ok(written(&program, &placement, file, proto.len() as u64))
}

fn put_together(options: &DumpOptions) -> (DraftModule, HeapPlan) {
    let program = step::training_step(options);
    let placement = HeapPlan::of(&program);
    (program, placement)
}

fn written(
    program: &DraftModule,
    placement: &HeapPlan,
    file: PathBuf,
    bytes: u64,
) -> WrittenModule {
    let of = |is_wanted: fn(Home) -> bool| {
        let wanted = placement.allocations.iter().filter(|one| is_wanted(one.home));
        wanted.map(|one| one.bytes).sum()
    };
    let lives = (0..).zip(&placement.lives);
    WrittenModule {
        file,
        bytes,
        instructions: program.instructions.len() as u64,
        values: program.values.len() as u64,
        steps: program.order.len() as u32,
        total_bytes: of(|_| true),
        temporary_bytes: of(|home| home == Home::Temporary),
        peak_bytes: placement.peak.0,
        peak_position: placement.peak.1,
        lives: lives
            .filter_map(|(row, life)| Some((texts::value_name(program, row), (*life)?)))
            .collect(),
    }
}

/// How many layers a turn must have for so much of something, which `of` counts.
fn unroll_for(options: &DumpOptions, wanted: u64, of: impl Fn(&DumpOptions) -> u64) -> u64 {
    let unrolled = |unroll| {
        let network = Transformer { layers: unroll, ..options.network };
        of(&DumpOptions { network, unroll, ..options.clone() })
    };
    let (few, more) = (unrolled(2), unrolled(6));
    let of_four = more.saturating_sub(few).max(1);
    2 + wanted.saturating_sub(few).saturating_mul(4).div_ceil(of_four)
}

impl DumpOptions {
    /// With as many layers in a turn.
    #[must_use]
    pub fn unrolled(self, unroll: u64) -> Self {
        let layers = self.network.layers.next_multiple_of(unroll);
        Self { unroll, network: Transformer { layers, ..self.network }, ..self }
    }

    /// What is wrong with options whose sizes would be too large to be added up.
    fn too_large(&self) -> Option<WriteError> {
        NetworkSizes::of(&self.network).too_large(self.platform)
    }

    /// With as many layers in a turn as give so many instructions.
    #[must_use]
    pub fn with_instructions(self, instructions: u64) -> Self {
        let unroll = unroll_for(&self, instructions, |options| {
            step::training_step(options).instructions.len() as u64
        });
        self.unrolled(unroll)
    }

    /// With as many layers in a turn as give a proto of so many bytes.
    #[must_use]
    pub fn with_size(self, bytes: u64) -> Self {
        if self.too_large().is_some() {
            // Whoever writes it says so.
            return self;
        }
        let unroll = unroll_for(&self, bytes, |options| {
            let (program, placement) = put_together(options);
            write::proto(&program, &placement).len() as u64
        });
        self.unrolled(unroll)
    }
}
