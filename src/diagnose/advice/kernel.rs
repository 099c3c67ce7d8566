//! Advice about the memory on the chip of a GPU that a kernel needs.

use super::{Finding, Sentence, led_by};
use crate::text::{bytes, shortened};

pub fn of(finding: &Finding) -> Vec<Sentence> {
    let space = finding.memory_space.as_deref().unwrap_or("shared memory");
    let kernel = finding.kernel().map_or_else(
        || "the kernel".to_owned(),
        |kernel| format!("the kernel `{}`", shortened(kernel, 80)),
    );
    let amounts = match (finding.requested_bytes, finding.limit_bytes) {
        (Some(needed), Some(limit)) => format!(
            ": a block of threads needs {} of {space}, and the GPU has {} for one",
            bytes(needed),
            bytes(limit)
        ),
        (Some(needed), None) => format!(": a block of threads needs {} of {space}", bytes(needed)),
        _ => String::new(),
    };
    let smaller = format!(
        "Make {kernel} smaller{amounts}. Use smaller blocks, or fewer stages of the pipeline (`num_stages`)."
    );
    let rest = [
        "This is memory on the chip, not the main memory of the GPU: a smaller batch or another GPU of the same kind \
         does not help.",
        "If the kernel is not yours, look for its table of tuned sizes: it was made for a GPU with more shared memory \
         (A100 and H100 have 163 and 227 KiB for a block, RTX cards 99, AMD's MI300 64). A newer release of the library, \
         another attention backend, or a smaller head dimension chooses others.",
        "With `torch.compile`, leave that configuration out: without `max_autotune`, or with \
         `torch._inductor.config.max_autotune_gemm_backends` that do not have it.",
    ];
    led_by(smaller, rest)
}
