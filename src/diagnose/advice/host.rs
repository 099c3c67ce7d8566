//! Advice about the memory of the machine. None of it frees memory of a device.

use super::{Finding, Sentence, led_by};
use crate::text::bytes;

pub fn of(finding: &Finding) -> Vec<Sentence> {
    let amount = match (finding.requested_bytes, finding.used_bytes) {
        (Some(requested), _) => format!(" {} were asked for.", bytes(requested)),
        (None, Some(used)) => format!(" The process that was ended had {} in use.", bytes(used)),
        _ => String::new(),
    };
    let give = format!(
        "Give the job more memory of the machine, or see what else fills it: this is not device \
         memory, so batch size on the device, availableMemoryProportion and the like do not help \
         by themselves.{amount}"
    );
    let rest = [
        "Look at what limits the process: `ulimit -v`, the memory of the container (`docker run --memory`), of \
         the job (Slurm `--mem`); `dmesg` names the processes that the kernel ended.",
        "Load less at once: fewer worker processes and a shorter prefetch of the data loader, \
         files that are mapped instead of read, one copy of a data set instead of one per worker.",
        "If it happens while compiling, compile on a machine with more memory, or fewer programs at the same \
         time, and keep what was compiled: Poplar `engine.saveExecutable`, PopTorch \
         `opts.enableExecutableCaching(path)`, JAX `jax_compilation_cache_dir`.",
        "Load the weights once: not in every process of a node at the same time, and in their final precision.",
    ];
    led_by(give, rest)
}
