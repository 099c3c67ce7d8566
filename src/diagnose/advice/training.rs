//! What a program of PyTorch can do that computes too much at once, without what its run does already.

use super::{Finding, Sentence, tool, with_amount, with_statistics};
use crate::diagnose::run_settings::{RunPhase, Sharding};
use crate::text::bytes;

/// Computes less, and keeps less; `statistics` is the call that tells what the device has.
pub fn of(finding: &Finding, statistics: Option<&str>) -> Vec<Sentence> {
    let run = finding.run;
    if run.phase == Some(RunPhase::Optimizer) {
        return optimizer(finding, statistics);
    }
    let less = if run.is_single_sample() {
        "shorten the samples (sequences, images), or compute attention and loss in chunks: a device computes one sample at \
         once already."
    } else {
        "compute fewer samples at once and accumulate gradients over several passes."
    };
    let mut advice = vec![with_amount(finding, less)];
    if !run.has_checkpoints {
        let again = "In training, compute activations again instead of keeping them: \
            `torch.utils.checkpoint.checkpoint`.";
        advice.push(again.into());
    }
    if !run.is_half() {
        let half = "Compute in half precision (`torch.autocast`), and in inference without gradients \
            (`torch.inference_mode()`).";
        advice.push(half.into());
    }
    advice.push(drop_tensors(statistics));
    advice.push(divide(finding).into());
    if run.has_checkpoints {
        let offload = "Move saved activations to the memory of the machine (`torch.autograd.graph.save_on_cpu()`): they are \
            computed again already.";
        advice.push(offload.into());
    }
    advice
}

fn drop_tensors(statistics: Option<&str>) -> Sentence {
    let drop = "Drop tensors that are no longer needed: sum `loss.item()` instead of `loss`, `del` what is done";
    with_statistics(drop, statistics)
}

/// The optimizer makes its state in its first step, when activations are gone.
fn optimizer(finding: &Finding, statistics: Option<&str>) -> Vec<Sentence> {
    let less = if finding.run.has_small_optimizer {
        "train fewer parameters (LoRA)"
    } else {
        "use an optimizer with less state (Adam in 8 bits, Adafactor), or train fewer parameters (LoRA)"
    };
    let first = format!(
        "{less}. It failed in the step of the optimizer, which keeps its state for each parameter: Adam has two values. A \
         smaller batch helps little, because activations are gone by then."
    );
    let each = "Let the optimizer change one parameter after the other (`foreach=False`), or in one kernel (`fused=True`): else \
        it makes copies of many at once.";
    let gradients = "Give gradients back as soon as they are used: `optimizer.zero_grad(set_to_none=True)` behind each step.";
    let spread = match finding.run.sharding {
        Sharding::None if !finding.run.is_offloaded => {
            "Spread its state over several devices (ZeRO, FSDP), or keep it in the memory of the machine (ZeRO \
             `offload_optimizer`)."
        }
        _ => divide(finding),
    };
    let first = with_amount(finding, &first);
    vec![first, spread.into(), each.into(), gradients.into(), drop_tensors(statistics)]
}

fn divide(finding: &Finding) -> &'static str {
    let run = finding.run;
    match run.sharding {
        Sharding::None if run.has_small_optimizer || run.is_offloaded => {
            "Shard parameters over several devices (FSDP, ZeRO), or train fewer of them (LoRA): the optimizer already takes little \
             of this device."
        }
        Sharding::None => {
            "Shard parameters and optimizer state over several devices (FSDP, ZeRO), or use an optimizer with less state."
        }
        Sharding::Optimizer => {
            "Shard the parameters as well (ZeRO stage 3, `FULL_SHARD`): optimizer state and gradients are sharded already."
        }
        Sharding::Parameters if run.is_offloaded => {
            "Shard over more devices: parameters are sharded and offloaded already."
        }
        Sharding::Parameters => {
            "Shard over more devices, or offload optimizer state and parameters to the memory of the machine (ZeRO \
             `offload_optimizer`, FSDP `cpu_offload`): they are sharded already."
        }
    }
}

/// Advice where the process has next to nothing of a device, and would find room if others had not the rest.
pub fn of_bystander(finding: &Finding) -> Option<Vec<Sentence>> {
    let (reserved, limit) = (finding.reserved_bytes?, finding.limit_bytes?);
    let (free, requested) = (finding.free_bytes?, finding.requested_bytes?);
    let is_theirs = reserved <= limit / 50 && requested <= limit / 2 && free < requested;
    if !is_theirs || finding.limit_is_share {
        return None;
    }
    let others = finding.other_processes_bytes.map_or_else(
        || {
            let own = finding.used_bytes.unwrap_or(reserved);
            bytes(limit.saturating_sub(free).saturating_sub(own))
        },
        bytes,
    );
    let look = format!(
        "Look at the other processes on this device with {}: they have {others} of {}, and PyTorch {} in this one. End what should \
         not be there.",
        tool(finding),
        bytes(limit),
        bytes(reserved)
    );
    let another = "Or take another device (`CUDA_VISIBLE_DEVICES` and the like): also check that not every process of the run uses \
        the same one.";
    let wait = "After a run that failed, wait until its processes are gone: their memory is given back when they end.";
    Some(vec![look.into(), another.into(), wait.into()])
}
