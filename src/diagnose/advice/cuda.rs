//! Advice about the memory of GPUs under PyTorch.

use super::{Finding, Sentence, free_at_least, led_by};
use crate::diagnose::finding::Kind;
use crate::text::bytes;

pub fn of(finding: &Finding) -> Vec<Sentence> {
    match finding.kind {
        Kind::CudaProcessLimit => return process_limit(finding),
        Kind::CudaRefused => return refused(finding),
        _ => {}
    }
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
            "Shard parameters and optimizer state over several GPUs (FSDP, ZeRO), or use an optimizer with less \
             state.",
        ]
        .map(Sentence::from),
    );
    advice
}

/// The process is over its own share, however much of the GPU is free.
fn process_limit(finding: &Finding) -> Vec<Sentence> {
    let share =
        finding.limit_bytes.map_or_else(String::new, |limit| format!(" of {}", bytes(limit)));
    let missing = finding.excess_bytes.map_or_else(String::new, |excess| {
        format!(": with this request PyTorch would have {} more than that", bytes(excess))
    });
    let free = finding.free_bytes.map_or_else(String::new, |free| {
        format!(" The {} that are free on the GPU do not count.", bytes(free))
    });
    let raise = format!(
        "Raise the share that the process may have of the GPU, a limit{share}{missing}.{free}"
    );
    let rest = [
        "Look for `torch.cuda.set_per_process_memory_fraction`, `per_process_memory_fraction` in \
         `PYTORCH_CUDA_ALLOC_CONF`, and the options of a server that sets them (several models on one GPU).",
        "If the share is meant to stay, compute fewer samples at once, or free what PyTorch holds: \
         `torch.cuda.empty_cache()`, `torch.cuda.memory_summary()`.",
    ];
    led_by(raise, rest)
}

/// There was enough, so it is no matter of how much the program needs.
fn refused(finding: &Finding) -> Vec<Sentence> {
    let amounts = match (finding.free_bytes, finding.requested_bytes) {
        (Some(free), Some(requested)) => {
            format!("{} are free and {} were asked for", bytes(free), bytes(requested))
        }
        _ => "more is free than was asked for".to_owned(),
    };
    let look = format!(
        "Look for another limit than the size of the GPU: {amounts}. Fewer samples or less fragmentation \
         change nothing about that."
    );
    let rest = [
        "Look at who else is on the GPU at that moment (`nvidia-smi -l 1`): what is free is asked after the \
         failure, and another process may have given memory back since.",
        "Look for limits of the process: a share of the GPU (MIG, vGPU, MPS `CUDA_MPS_PINNED_DEVICE_MEM_LIMIT`, \
         `torch.cuda.set_per_process_memory_fraction`), and of the machine's memory and addresses, which CUDA \
         needs as well (`ulimit -v`, the container's memory).",
        "Rule out an earlier error: run with `CUDA_LAUNCH_BLOCKING=1`, look at `dmesg` for `Xid`, restart the \
         process.",
    ];
    led_by(look, rest)
}

/// Whether memory of others would have sufficed, or is a tenth of the device.
fn is_much(others: u64, finding: &Finding) -> bool {
    finding.excess_bytes.is_some_and(|excess| others >= excess)
        || finding.limit_bytes.is_some_and(|limit| others >= limit / 10)
}
