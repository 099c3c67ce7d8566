//! Advice about the memory of GPUs under PyTorch.

use super::{Finding, free_at_least};
use crate::analysis::diagnose::finding::Kind;
use crate::text::bytes;

/// The advice.
pub fn of(finding: &Finding) -> Vec<String> {
    let mut advice = Vec::new();
    if finding.kind == Kind::CudaFragmented {
        let held = finding.unallocated_bytes.map_or_else(|| "enough".to_owned(), bytes);
        advice.push(format!(
            "Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` (before PyTorch 2.1 \
             `max_split_size_mb:128`): PyTorch holds {held} unallocated, but in pieces that are too small."
        ));
    }
    if let Some(others) = finding.other_processes_bytes.filter(|others| is_much(*others, finding)) {
        advice.push(format!(
            "Look at the other processes on this GPU with `nvidia-smi`: they have {}.",
            bytes(others)
        ));
    }
    let amount = free_at_least(finding).map_or_else(String::new, |amount| amount + ": ");
    let batch = "compute fewer samples at once and accumulate gradients over several passes.";
    advice.push(if amount.is_empty() { capitalised(batch) } else { amount + batch });
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
        .map(str::to_owned),
    );
    advice
}

/// Whether memory of others would have sufficed, or is a tenth of the device.
fn is_much(others: u64, finding: &Finding) -> bool {
    finding.excess_bytes.is_some_and(|excess| others >= excess)
        || finding.limit_bytes.is_some_and(|limit| others >= limit / 10)
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
