//! Advice about the buffers for streams in the memory of the host. None of it frees memory of tiles.

use super::{Finding, Sentence, led_by};
use crate::text::bytes;

pub fn of(finding: &Finding) -> Vec<Sentence> {
    let amount = match (finding.requested_bytes, finding.free_bytes) {
        (Some(needed), Some(free)) => format!(
            "Make the streams between host and IPU smaller: their buffer needs {}, and {} are left. ",
            bytes(needed),
            bytes(free)
        ),
        (Some(needed), None) => {
            format!("Make the stream of {} between host and IPU smaller. ", bytes(needed))
        }
        _ => "Make the streams between host and IPU smaller. ".into(),
    };
    let smaller = amount
        + "This is memory of the host: availableMemoryProportion, recomputation and the like do not help.";
    let rest = [
        "Return less from the device: PopTorch `opts.outputMode(poptorch.OutputMode.Final)`, PopART \
         `popart.AnchorReturnType(\"Final\")`; reduce or slice large outputs before they are returned.",
        "Send smaller tensors: fewer samples at once, 8-bit or half-precision inputs that are converted on the \
         device.",
        "Buffer fewer transfers in advance: PopTorch \
         `opts._Popart.set(\"defaultPrefetchBufferingDepth\", 1)`, TensorFlow `prefetch_depth=1`, PopART \
         `opts.defaultBufferingDepth = 1`.",
        "Run fewer iterations a call where they add to the buffer: PopTorch `opts.deviceIterations(n)`, \
         TensorFlow `steps_per_execution=n`, PopART `popart.DataFlow(n, …)`.",
    ];
    led_by(smaller, rest)
}
