//! Advice about the memory of GPUs under XLA (JAX) and TensorFlow.

use super::{Finding, Sentence, free_at_least, led_by};
use crate::diagnose::finding::Kind;
use crate::text::bytes;

const BATCH: &str = "Compute less at once: a smaller batch, shorter sequences, accumulated gradients; in training \
    compute activations again instead of keeping them (JAX `jax.checkpoint(f)`, TensorFlow \
    `tf.recompute_grad(f)`).";

const PRECISION: &str = "Compute in half precision (`bfloat16`; Keras \
    `mixed_precision.set_global_policy(\"mixed_float16\")`).";

const OTHERS: &str = "Look at who else has memory of this GPU with `nvidia-smi`: JAX and TensorFlow take most of \
    a GPU when they start, so two of them hardly run on one. JAX `XLA_PYTHON_CLIENT_MEM_FRACTION=.45` or \
    `XLA_PYTHON_CLIENT_PREALLOCATE=false`, TensorFlow `tf.config.experimental.set_memory_growth(gpu, True)`.";

const PIECES: &str = "Try another allocator if much is free but in pieces: TensorFlow \
    `TF_GPU_ALLOCATOR=cuda_malloc_async`, JAX `XLA_PYTHON_CLIENT_ALLOCATOR=platform` (slow).";

const KEEP: &str = "Let results take the place of arguments: `jax.jit(f, donate_argnums=(0,))` for the state that \
    a step replaces; drop references to arrays that are no longer needed.";

pub fn of(finding: &Finding) -> Vec<Sentence> {
    let amount = finding.requested_bytes.map(bytes);
    if finding.kind == Kind::GpuMemoryTight {
        let wanted =
            amount.map_or_else(String::new, |amount| format!(" with {amount} of scratch memory"));
        let leave = format!(
            "Leave it unless it is slow: nothing failed. The operation has a faster way{wanted} and took \
             another one."
        );
        let later = "If the run fails later for want of memory, it is that message that matters.";
        return led_by(leave, [later]);
    }
    let room = match (free_at_least(finding), amount) {
        (Some(free), _) => format!("{free}."),
        (None, Some(amount)) => format!(
            "Make room for {amount} in one piece: the message does not say how much is free. Where a listing \
             of the allocator follows (`Limit`, `InUse`, `MaxInUse`), it does."
        ),
        _ => "Free memory of the GPU: the message does not say how much is missing.".to_owned(),
    };
    let pieces = if finding.breakdown.is_empty() { PIECES } else { KEEP };
    led_by(room, [BATCH, OTHERS, pieces, PRECISION])
}
