//! Files beside a snapshot: PyTorch's own totals, the values that vary between runs, and the text of an error.

use serde_json::json;

use super::SnapshotOptions;
use super::caching_allocator::{AllocatorOptions, CardMemory, Refused};
use super::training::TrainingOutcome;

const MIB: u64 = 1 << 20;
/// What PyTorch advises.
const ADVICE: &str = "If reserved but unallocated memory is large try setting \
                      PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See \
                      documentation for Memory Management  \
                      (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)";

impl AllocatorOptions {
    /// `PYTORCH_CUDA_ALLOC_CONF`.
    pub(super) fn as_text(&self) -> String {
        let most_split =
            self.most_split_bytes.map(|bytes| format!("max_split_size_mb:{}", bytes / MIB));
        let divisions = (self.roundup_divisions > 0)
            .then(|| format!("roundup_power2_divisions:{}", self.roundup_divisions));
        let all: Vec<String> = most_split.into_iter().chain(divisions).collect();
        all.join(",")
    }
}

/// `torch.cuda.memory_stats()`.
pub(super) fn statistics(options: &SnapshotOptions, outcome: &TrainingOutcome) -> String {
    let all = outcome.statistics.as_pytorch(options.settings.most_split_bytes);
    format!("{:#}\n", serde_json::Value::Object(all))
}

/// What varies between runs, and what nvidia-smi would say where it is known what others have.
pub(super) fn app(options: &SnapshotOptions, outcome: &TrainingOutcome) -> String {
    let mut app = json!({
        "batch": options.network.batch,
        "checkpoint_segments": options.checkpoint_segments,
        "layers": options.network.layers,
        "precision": if options.network.element_bytes == 2 { "half" } else { "single" },
        "steps": options.steps,
    });
    if options.card.other_bytes > 0 {
        let reserved = outcome.statistics.reserved_bytes.all.current;
        app["smi_mib"] = json!((reserved + options.card.other_bytes) / MIB);
    }
    format!("{app:#}\n")
}

/// A size as PyTorch writes it.
fn size(bytes: u64) -> String {
    let of = |unit: u64, name| format!("{:.2} {name}", bytes as f64 / unit as f64);
    if bytes <= 1 << 10 {
        format!("{bytes} bytes")
    } else if bytes <= 1 << 20 {
        of(1 << 10, "KiB")
    } else if bytes <= 1 << 30 {
        of(1 << 20, "MiB")
    } else {
        of(1 << 30, "GiB")
    }
}

/// The error of PyTorch 2 that ends a run.
pub(super) fn error_text(failure: &Refused, card: &CardMemory) -> String {
    let capacity = size(card.capacity());
    let others = match card.other_bytes {
        0 => String::new(),
        other => format!(
            " Including non-PyTorch memory, this process has {} memory in use.",
            size(failure.reserved_bytes + other)
        ),
    };
    format!(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of {capacity} of \
         which {} is free.{others} Of the allocated memory {} is allocated by PyTorch, and {} is reserved by PyTorch but \
         unallocated. {ADVICE}\n",
        size(failure.asked_bytes),
        size(failure.free_bytes),
        size(failure.allocated_bytes),
        size(failure.reserved_bytes - failure.allocated_bytes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_error_is_pytorchs() {
        // The error of a real run (splits_0 of the notes' series) had these figures.
        let failure = Refused {
            asked_bytes: 301_989_888,
            free_bytes: 34 * MIB,
            allocated_bytes: 7_660_708_352,
            reserved_bytes: 7_677_673_472,
        };
        let card = CardMemory { capacity_bytes: Some(7956 * MIB), other_bytes: 0 };
        let text = error_text(&failure, &card);
        let said = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 288.00 MiB. GPU 0 has a total \
                    capacity of 7.77 GiB of which 34.00 MiB is free. Of the allocated memory 7.13 GiB is allocated by \
                    PyTorch, and 16.18 MiB is reserved by PyTorch but unallocated. If reserved";
        assert!(text.starts_with(said), "{text}");
        let with_others = error_text(&failure, &CardMemory { other_bytes: 600 * MIB, ..card });
        assert!(with_others.contains(
            "is free. Including non-PyTorch memory, this process has 7.74 GiB memory in use. Of"
        ));
        assert_eq!([size(1024), size(1 << 30)], ["1024 bytes", "1024.00 MiB"]);
    }
}
