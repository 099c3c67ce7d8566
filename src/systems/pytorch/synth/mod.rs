//! Writes synthetic memory snapshots: what PyTorch would have recorded while a transformer was trained.
//!
//! `transformer` has the sizes, `block` and `training` the order in which tensors come and go, `caching_allocator`
//! hands out memory for them by PyTorch's rules, `frames` says where in the program, `snapshot` writes it with `pickle`,
//! `beside` what lies beside it. A run is made twice, once for its end, which comes first in the file, and once for its
//! events, so that nothing grows with their number.

pub mod arguments;
mod beside;
mod block;
pub mod caching_allocator;
mod frames;
mod pickle;
mod snapshot;
pub mod story;
pub mod training;

use std::io::{BufWriter, Write};
use std::path::Path;

use crate::format::Progress;
use crate::synth::transformer::Transformer;
use crate::synth::{NewFiles, WriteError};
use caching_allocator::{AllocatorOptions, CardMemory, Event};
pub use frames::CallStack;
use snapshot::SnapshotWriter;
use training::{Tape, TrainingOutcome};

/// What a synthetic snapshot is made from. Equal options give equal files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// The network and how it is fed.
    pub network: Transformer,
    /// Steps of the training.
    pub steps: u64,
    /// Segments of `checkpoint_sequential`; 0 or 1 is none.
    pub checkpoint_segments: u64,
    /// What the allocator is told.
    pub settings: AllocatorOptions,
    /// What the device has.
    pub card: CardMemory,
    /// Whether the run goes on after a step that ran out of memory, with half the samples.
    pub goes_on_after_failure: bool,
    /// Streams, at least one; others than the first copy the batches.
    pub streams: u32,
    /// Whether the batch of each step has a length of its own.
    pub has_varied_lengths: bool,
    /// Events that are kept, the last ones.
    pub most_events: u64,
    /// What lengths, times and the ends of other streams follow from.
    pub seed: u64,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self {
            network: Transformer::default(),
            steps: 3,
            checkpoint_segments: 0,
            settings: AllocatorOptions::default(),
            card: CardMemory::default(),
            goes_on_after_failure: false,
            streams: 1,
            has_varied_lengths: false,
            most_events: u64::MAX,
            seed: 1,
        }
    }
}

impl SnapshotOptions {
    /// The units in which writing advances: each step is made twice.
    pub fn units(&self) -> u64 {
        self.steps.saturating_mul(2)
    }
}

/// Counts events, or hands each of those that are kept to a writer.
struct Recorder<'a, W: Write> {
    progress: &'a Progress,
    /// Events that were cut off and are still to come.
    to_skip: u64,
    writer: Option<SnapshotWriter<W>>,
}

impl<W: Write> Tape for Recorder<'_, W> {
    fn event(&mut self, event: &Event, time: u64) {
        let Some(writer) = &mut self.writer else { return };
        match self.to_skip.checked_sub(1) {
            Some(to_skip) => self.to_skip = to_skip,
            None => writer.event(event, time),
        }
    }

    fn goes_on(&mut self) -> bool {
        self.progress.advance(1);
        let has_failed = self.writer.as_ref().is_some_and(SnapshotWriter::has_failed);
        !has_failed && !self.progress.is_cancelled()
    }
}

/// Writes a snapshot to `out`; returns what came out of the run, and the bytes that were written.
///
/// # Errors
/// When it was canceled, or `out` took no more.
pub fn write_to<W: Write>(
    options: &SnapshotOptions,
    out: W,
    progress: &Progress,
) -> Result<(TrainingOutcome, u64), std::io::Error> {
    let cancelled = || std::io::Error::other("cancelled");
    let mut counted: Recorder<'_, W> = Recorder { progress, to_skip: 0, writer: None };
    let outcome = training::run(options, &mut counted);
    if progress.is_cancelled() {
        return Err(cancelled());
    }
    let writer = Some(SnapshotWriter::begin(out, &outcome.segments));
    let to_skip = outcome.events.saturating_sub(options.most_events);
    let mut recorder = Recorder { progress, to_skip, writer };
    training::run(options, &mut recorder);
    let finished = recorder.writer.map(|writer| writer.finish(&options.settings, &outcome));
    if progress.is_cancelled() {
        return Err(cancelled());
    }
    let bytes = finished.unwrap_or(Ok(0))?;
    Ok((outcome, bytes))
}

/// Writes a snapshot and what lies beside it: PyTorch's own totals, `app.json`, and the text of the error if it ran out
/// of memory. `progress` advances by one for each of [`SnapshotOptions::units`].
///
/// # Errors
/// When one of the files is there already with other contents, or cannot be written.
pub fn write_snapshot(
    options: &SnapshotOptions,
    file: &Path,
    progress: &Progress,
) -> Result<TrainingOutcome, WriteError> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory).map_err(WriteError::io(directory))?;
    let app = directory.join("app.json");
    if app.exists() {
        return Err(WriteError::Exists(app));
    }
    let mut files = NewFiles::default();
    let written = files
        .write(file, |out| write_to(options, BufWriter::with_capacity(1 << 20, out), progress));
    let (outcome, _) = written.map_err(|error| match error {
        WriteError::Io { .. } if progress.is_cancelled() => WriteError::Cancelled,
        error => error,
    })?;
    let mut write =
        |path: &Path, text: &str| files.write(path, |file| file.write_all(text.as_bytes()));
    let beside = |ending: &str| {
        let mut path = file.as_os_str().to_owned();
        path.push(ending);
        std::path::PathBuf::from(path)
    };
    let statistics = beside::statistics(options, &outcome);
    write(&beside(".memory_stats.json"), &statistics)?;
    if let Some(failure) = &outcome.failure {
        write(&beside(".oom.txt"), &beside::error_text(failure, &options.card))?;
    }
    write(&app, &beside::app(options, &outcome))?;
    files.keep();
    Ok(outcome)
}

/// How many steps a snapshot of at least `bytes` takes; as many as the options say where steps add nothing.
pub fn steps_for_size(options: &SnapshotOptions, bytes: u64) -> u64 {
    let of = |steps| {
        let options = SnapshotOptions { steps, ..options.clone() };
        write_to(&options, std::io::sink(), &Progress::default()).map_or(0, |(_, bytes)| bytes)
    };
    let (few, more) = (of(2), of(6));
    let of_four = more.saturating_sub(few);
    match bytes.saturating_sub(few).saturating_mul(4).checked_div(of_four) {
        Some(further) => 3 + further,
        None => options.steps,
    }
}
