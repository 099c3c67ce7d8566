//! Advice about the memory of GPUs under PyTorch.

use super::{Finding, Sentence, free_at_least};
use crate::analysis::diagnose::finding::Kind;
use crate::text::bytes;

pub fn of(finding: &Finding) -> Vec<Sentence> {
    let mut advice = Vec::new();
    if finding.kind == Kind::CudaFragmented {
        let held = finding.unallocated_bytes.map_or_else(|| "enough".to_owned(), bytes);
        let set = format!(
            "Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` (before PyTorch 2.1 \
             `max_split_size_mb:128`): PyTorch holds {held} unallocated, but in pieces that are too small."
        );
        advice.push(set.into());
    }
    if let Some(others) = finding.other_processes_bytes.filter(|others| is_much(*others, finding)) {
        let look = format!(
            "Look at the other processes on this GPU with `nvidia-smi`: they have {}.",
            bytes(others)
        );
        advice.push(look.into());
    }
    advice.push(match free_at_least(finding) {
        Some(amount) => format!(
            "{amount}: compute fewer samples at once and accumulate gradients over several passes."
        )
        .into(),
        None => {
            "Compute fewer samples at once and accumulate gradients over several passes.".into()
        }
    });
    advice.extend(
        [
            "In training, compute activations again instead of keeping them: \
             `torch.utils.checkpoint.checkpoint`. The number of segments has an optimum: of 2, 4, 8, 10 and 16 \
             segments of one network, 8 had the lowest peak.",
            "Compute in half precision (`torch.autocast`), and in inference without gradients \
             (`torch.inference_mode()`).",
            "Drop tensors that are no longer needed: sum `loss.item()` instead of `loss`, `del` what is done; \
             `torch.cuda.memory_summary()` shows what is left.",
            "Shard parameters and optimiser state over several GPUs (FSDP, ZeRO), or use an optimiser with less \
             state.",
        ]
        .map(Sentence::from),
    );
    advice
}

/// Whether memory of others would have sufficed, or is a tenth of the device.
fn is_much(others: u64, finding: &Finding) -> bool {
    finding.excess_bytes.is_some_and(|excess| others >= excess)
        || finding.limit_bytes.is_some_and(|limit| others >= limit / 10)
}
