//! Advice about the memory that inference servers plan with.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{Finding, Sentence, led_by, tool};
use crate::diagnose::amount;
use crate::diagnose::finding::Kind;
use crate::diagnose::message::pattern;
use crate::text::{bytes, grouped};

pub fn of(finding: &Finding) -> Vec<Sentence> {
    let says = |word: &str| finding.text.contains(word);
    if says("fraction-static")
        || says("Prefill out")
        || says("Decode out")
        || says("capacity is unbalanced")
    {
        return sglang(finding);
    }
    if says("Executor creation") {
        return tensorrt();
    }
    if says("prefill tokens") || says("total tokens") || says("Not enough memory to handle") {
        return text_generation();
    }
    match finding.kind {
        Kind::KvCacheTooSmall => cache(finding),
        _ if says("warming up") => warm_up(),
        _ if says("memory profiling") => profiling(finding),
        _ => start_up(finding),
    }
}

/// The share of the device that would just do.
fn share(finding: &Finding) -> Option<u64> {
    let (free, limit) = (finding.free_bytes?, finding.limit_bytes?);
    let percent = u128::from(free).checked_mul(100)?.checked_div(u128::from(limit))?;
    u64::try_from(percent).ok().filter(|percent| (1..100).contains(percent))
}

fn start_up(finding: &Finding) -> Vec<Sentence> {
    let wanted = match (finding.free_bytes, finding.requested_bytes) {
        (Some(free), Some(wanted)) => {
            format!(": {} are free, and the server wants {}", bytes(free), bytes(wanted))
        }
        _ => String::new(),
    };
    let look = format!(
        "Look at who has memory of the device with {}{wanted}. Another process, or a worker that did not end, holds the \
         rest; end it, or take another device.",
        tool(finding.device)
    );
    let lower = match share(finding) {
        Some(percent) => format!(
            "Or lower `gpu_memory_utilization`, a share of the whole device: with what is free now, 0.{percent:02} at \
             most. Less is left for keys and values then."
        ),
        None => "Or lower `gpu_memory_utilization`, a share of the whole device.".to_owned(),
    };
    let wait = "After a restart, wait until the old process is gone: its memory is given back when it ends.";
    vec![look.into(), lower.into(), wait.into()]
}

fn profiling(finding: &Finding) -> Vec<Sentence> {
    let look = format!(
        "Start one server after the other: another process gave memory of the device back while this one measured \
         ({} shows who is there).",
        tool(finding.device)
    );
    let lower = "If several servers share the device, give each a `gpu_memory_utilization` whose sum stays below 1.";
    led_by(look, [lower])
}

fn warm_up() -> Vec<Sentence> {
    led_by(
        "Lower `max_num_seqs`: the sampler was tried with that many requests at once, and their logits found no room.",
        [
            "Or lower `gpu_memory_utilization`: the cache of keys and values takes less, and leaves room for the sampler.",
            "Or lower `max_num_batched_tokens`, if activations are what is large.",
        ],
    )
}

static FITS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?:estimated maximum model length is|stored in KV cache \\() ?({n})|KV cache \\(({n})\\)",
    )
});

/// The length that would do, as the message says.
fn fitting_length(finding: &Finding) -> Option<u64> {
    let found = FITS.captures(finding.text.as_bytes())?;
    let number = found.get(1).or_else(|| found.get(2))?;
    amount::of_bytes(number.as_bytes())
}

fn cache(finding: &Finding) -> Vec<Sentence> {
    let amounts = match (finding.requested_bytes, finding.free_bytes) {
        (Some(needed), Some(free)) => format!(
            ": one request of the greatest length needs {} for keys and values, and {} are left",
            bytes(needed),
            bytes(free)
        ),
        _ => String::new(),
    };
    let length = fitting_length(finding).map_or_else(String::new, |tokens| {
        format!(" The message says that {} tokens would fit.", grouped(tokens))
    });
    let shorter = format!("Lower `max_model_len`{amounts}.{length}");
    let raise = format!(
        "Or raise `gpu_memory_utilization`, if {} shows that the device is otherwise empty.",
        tool(finding.device)
    );
    let rest = [
        "Or keep keys and values in 8 bits: `kv_cache_dtype=\"fp8\"`.",
        "Or make the weights smaller or spread them: a quantized model, `tensor_parallel_size`.",
        "Or leave out what takes memory besides: `enforce_eager` (no recorded graphs), a lower `max_num_seqs` and \
         `max_num_batched_tokens`.",
    ];
    let rest = rest.map(Sentence::from);
    [Sentence::from(shorter), raise.into()].into_iter().chain(rest).collect()
}

fn sglang(finding: &Finding) -> Vec<Sentence> {
    if finding.text.contains("unbalanced") {
        let look = format!(
            "Look at who has memory of the devices with {}: one of them has much less free than the others.",
            tool(finding.device)
        );
        return led_by(
            look,
            ["Choose devices that are empty: `CUDA_VISIBLE_DEVICES`, `--base-gpu-id`."],
        );
    }
    let first = if finding.text.contains("fraction-static") {
        "Raise `--mem-fraction-static`, if the device is otherwise empty: weights and cache of keys and values have to fit \
         into that share, and the weights leave nothing."
    } else {
        "Lower the number of requests and tokens at once: `--max-running-requests`, `--chunked-prefill-size`."
    };
    led_by(
        first,
        [
            "Or spread the weights: `--tp-size`; or use a quantized model.",
            "Or lower `--context-length` and `--max-running-requests`, or keep keys and values in 8 bits: \
             `--kv-cache-dtype fp8_e5m2`.",
            "Lower `--mem-fraction-static` instead if it fails later, while it records graphs or serves: activations need \
             what is outside of that share.",
        ],
    )
}

fn tensorrt() -> Vec<Sentence> {
    led_by(
        "Read the list behind the message: it names the part that found no room (weights, cache of keys and values, \
         graphs, workspace) with the memory before and after.",
        [
            "Lower what the cache may take: `kv_cache_config.free_gpu_memory_fraction`, or `max_tokens` in it.",
            "Lower `max_batch_size`, `max_num_tokens` and `max_seq_len`: buffers are as large as these allow.",
            "Spread the weights (`tensor_parallel_size`), or use a quantized model.",
        ],
    )
}

fn text_generation() -> Vec<Sentence> {
    led_by(
        "Lower `--max-batch-prefill-tokens`: the server tried itself with that many tokens, and there was no memory for \
         them.",
        [
            "Or lower `--max-input-tokens` and `--max-total-tokens`.",
            "Or spread the weights (`--num-shard`), or quantize them (`--quantize`).",
        ],
    )
}
