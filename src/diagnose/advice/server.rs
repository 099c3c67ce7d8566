//! Advice about the memory that inference servers plan with.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{Finding, Sentence, led_by, tool};
use crate::diagnose::amount;
use crate::diagnose::finding::{Device, Kind};
use crate::diagnose::message::pattern;
use crate::diagnose::run_settings::InferenceServer;
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

/// A share of a device above which there is nothing to raise, in percent.
const NEARLY_ALL: u8 = 94;

/// A value of a log behind the name of its setting.
fn said(percent: Option<u8>) -> String {
    percent.map_or_else(String::new, |percent| format!(" (0.{percent:02} in this log)"))
}

/// Advice about a server that found no memory, if the log is of one; `free` says how much is missing.
pub fn running(finding: &Finding, free: Option<String>) -> Option<Vec<Sentence>> {
    let run = finding.run;
    let free = free.map_or_else(String::new, |free| format!("{free}: "));
    let lower = if free.is_empty() { "Lower" } else { "lower" };
    let has_graphs = !run.is_eager && finding.device.is_some_and(Device::is_gpu);
    let graphs = |what: &'static str| has_graphs.then_some(what);
    let (first, rest) = match run.server? {
        InferenceServer::Vllm => (
            format!(
                "{free}{lower} `gpu_memory_utilization`{}. Activations, the sampler and recorded graphs need what is outside of that share.",
                said(run.utilization)
            ),
            [
                Some(
                    "Or lower `max_num_batched_tokens` and `max_num_seqs`: activations grow with what is computed at once.",
                ),
                Some(
                    "If it fails while the weights are loaded, spread them (`tensor_parallel_size`), or use a quantized model.",
                ),
                Some("Or lower `max_model_len`: the server tries itself with the longest request."),
                graphs("Or record no graphs: `enforce_eager`."),
            ],
        ),
        InferenceServer::Sglang => (
            format!(
                "{free}{lower} `--mem-fraction-static`{}. Activations and recorded graphs need what is outside of that share.",
                said(run.static_fraction)
            ),
            [
                Some(
                    "Or lower `--chunked-prefill-size` and `--max-running-requests`: activations grow with what is computed at once.",
                ),
                Some(
                    "If it fails while the weights are loaded, spread them (`--tp-size`), or use a quantized model.",
                ),
                Some("Or lower `--context-length`."),
                graphs(
                    "Or record smaller graphs, or none: `--cuda-graph-max-bs`, `--disable-cuda-graph`.",
                ),
            ],
        ),
        InferenceServer::TextGeneration => return Some(text_generation()),
        InferenceServer::TensorRtLlm => {
            return Some(settings_of_tensorrt().map(Sentence::from).into());
        }
        InferenceServer::LmDeploy => (
            format!(
                "{free}{lower} `--cache-max-entry-count`. Activations need what the cache of keys and values leaves."
            ),
            [
                Some("Or lower `--max-batch-size`, `--session-len` and `--max-prefill-token-num`."),
                Some("Or keep keys and values in 8 or 4 bits: `--quant-policy 8`."),
                Some("Or spread the weights (`--tp`), or use a quantized model."),
                None,
            ],
        ),
    };
    Some(
        std::iter::once(first.into())
            .chain(rest.into_iter().flatten().map(Sentence::from))
            .collect(),
    )
}

/// The share of the device that would just do, if it is not much less than the server wants.
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
        tool(finding)
    );
    // The weights have to find room, too.
    let is_far = finding
        .free_bytes
        .zip(finding.requested_bytes)
        .is_some_and(|(free, wanted)| free < wanted / 3);
    let lower: Sentence = match share(finding) {
        _ if is_far => "A smaller share than the server wants does not help: what is free is too little for it.".into(),
        Some(percent) => format!(
            "Or lower `gpu_memory_utilization`, a share of the whole device: with what is free now, 0.{percent:02} at \
             most. Less is left for keys and values then."
        )
        .into(),
        None => "Or lower `gpu_memory_utilization`, a share of the whole device.".into(),
    };
    let wait = "After a restart, wait until the old process is gone: its memory is given back when it ends.";
    vec![look.into(), lower, wait.into()]
}

fn profiling(finding: &Finding) -> Vec<Sentence> {
    let look = format!(
        "Start one server after the other: another process gave memory of the device back while this one measured \
         ({} shows who is there).",
        tool(finding)
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
    let run = finding.run;
    let is_all = run.utilization.is_some_and(|percent| percent >= NEARLY_ALL);
    // Where nothing at all is left, no request is short enough.
    let has_none = finding.text.contains("No available memory for the cache blocks");
    let shorter = (!has_none).then(|| format!("Lower `max_model_len`{amounts}.{length}"));
    let raise = (!is_all).then(|| {
        let why = if has_none {
            ": weights and activations fill that share, and nothing is left for keys and values. It helps"
        } else {
            ","
        };
        format!(
            "Raise `gpu_memory_utilization`{why} if {} shows that the device is otherwise empty.",
            tool(finding)
        )
    });
    let rest = [
        (!run.has_small_cache && !has_none)
            .then_some("Keep keys and values in 8 bits: `kv_cache_dtype=\"fp8\"`."),
        Some("Make the weights smaller or spread them: a quantized model, `tensor_parallel_size`."),
        Some(if run.is_eager {
            "Leave out what takes memory besides: a lower `max_num_seqs` and `max_num_batched_tokens`."
        } else {
            "Leave out what takes memory besides: `enforce_eager` (no recorded graphs), a lower `max_num_seqs` and \
             `max_num_batched_tokens`."
        }),
    ];
    let rest = rest.into_iter().flatten().map(str::to_owned);
    alternatives(shorter.into_iter().chain(raise).chain(rest))
}

/// Sentences of which one is enough: those behind the first begin with "Or".
fn alternatives(sentences: impl Iterator<Item = String>) -> Vec<Sentence> {
    let all = sentences.enumerate().map(|(place, mut sentence)| {
        if place > 0 {
            if let Some(first) = sentence.get_mut(..1) {
                first.make_ascii_lowercase();
            }
            sentence.insert_str(0, "Or ");
        }
        Sentence::from(sentence)
    });
    all.collect()
}

/// SGLang counts in GiB, and writes no unit.
static UNBALANCED: LazyLock<Regex> =
    LazyLock::new(|| pattern("pre_model_load_memory=([0-9.]+), local_gpu_memory=([0-9.]+)"));

fn sglang(finding: &Finding) -> Vec<Sentence> {
    if finding.text.contains("unbalanced") {
        let amounts = UNBALANCED.captures(finding.text.as_bytes()).and_then(|found| {
            let amount = |group: usize| {
                let number = String::from_utf8_lossy(found.get(group)?.as_bytes());
                amount::bytes(&format!("{number} GiB"))
            };
            Some(format!(" ({}, and {} here)", bytes(amount(1)?), bytes(amount(2)?)))
        });
        let look = format!(
            "Look at who has memory of the devices with {}: one of them has much less free than the others{}.",
            tool(finding),
            amounts.unwrap_or_default()
        );
        return led_by(
            look,
            ["Choose devices that are empty: `CUDA_VISIBLE_DEVICES`, `--base-gpu-id`."],
        );
    }
    let run = finding.run;
    let is_all = run.static_fraction.is_some_and(|percent| percent >= NEARLY_ALL);
    let first: Sentence = if is_all && finding.text.contains("fraction-static") {
        format!(
            "Use a quantized model, or spread the weights: they leave nothing of `--mem-fraction-static`{}, which is nearly all of \
             the device already.",
            said(run.static_fraction)
        )
        .into()
    } else if finding.text.contains("fraction-static") {
        "Raise `--mem-fraction-static`, if the device is otherwise empty: weights and cache of keys and values have to fit \
         into that share, and the weights leave nothing."
            .into()
    } else {
        "Lower the number of requests and tokens at once: `--max-running-requests`, `--chunked-prefill-size`."
            .into()
    };
    // Here the share is too small.
    let is_start = finding.text.contains("increase --mem-fraction-static");
    let lower = (!is_start).then_some(
        "Lower `--mem-fraction-static` instead if it fails later, while it records graphs or serves: activations need \
         what is outside of that share.",
    );
    let rest = [
        Some("Or spread the weights: `--tp-size`; or use a quantized model."),
        Some(if run.has_small_cache {
            "Or lower `--context-length` and `--max-running-requests`."
        } else {
            "Or lower `--context-length` and `--max-running-requests`, or keep keys and values in 8 bits: \
             `--kv-cache-dtype fp8_e5m2`."
        }),
        lower,
    ];
    led_by(first, rest.into_iter().flatten())
}

fn tensorrt() -> Vec<Sentence> {
    led_by(
        "Read the list behind the message: it names the part that found no room (weights, cache of keys and values, \
         graphs, workspace) with the memory before and after.",
        settings_of_tensorrt(),
    )
}

fn settings_of_tensorrt() -> [&'static str; 3] {
    [
        "Lower what the cache may take: `kv_cache_config.free_gpu_memory_fraction`, or `max_tokens` in it.",
        "Lower `max_batch_size`, `max_num_tokens` and `max_seq_len`: buffers are as large as these allow.",
        "Spread the weights (`tensor_parallel_size`), or use a quantized model.",
    ]
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
