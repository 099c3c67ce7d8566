//! Advice about the memory of GPUs and other accelerators under PyTorch.

use super::{
    Finding, Sentence, free_at_least, inference, led_by, server, too_large, tool, training,
};
use crate::diagnose::finding::{Device, Kind};
use crate::diagnose::run_settings::{Framework, InferenceServer};
use crate::text::bytes;

pub fn of(finding: &Finding) -> Vec<Sentence> {
    match finding.kind {
        Kind::CudaProcessLimit | Kind::AcceleratorProcessLimit => return process_limit(finding),
        Kind::CudaRefused | Kind::AcceleratorRefused => return refused(finding),
        Kind::BlockTooLarge => return block_too_large(finding),
        Kind::DeprecatedSetting => return deprecated(),
        _ => {}
    }
    if finding.requested_bytes.is_none() && finding.limit_bytes.is_none() {
        return without_figures(finding);
    }
    if let Some(advice) = too_large::of(finding).or_else(|| training::of_bystander(finding)) {
        return advice;
    }
    let mut advice = Vec::new();
    let others = finding.other_processes_bytes.filter(|others| is_much(*others, finding));
    if let Some(others) = others {
        let used = finding
            .used_bytes
            .map_or_else(String::new, |used| format!(", this process {}", bytes(used)));
        let look = format!(
            "Look at the other processes on this device with {}: they have {}{used}. End what should not be there, or take another device.",
            tool(finding),
            bytes(others)
        );
        advice.push(look.into());
    } else if let Some(outside) = outside_of_pytorch(finding) {
        let look = format!(
            "Look at who else has memory of this device with {}: {} of it are neither free nor held by PyTorch in this process. \
             Other processes have them, or libraries beside PyTorch.",
            tool(finding),
            bytes(outside)
        );
        advice.push(look.into());
    }
    advice.extend(pieces(finding));
    if finding.limit_is_share {
        advice.push(settings_of_share(finding));
    }
    if let Some(pools) = finding.private_pools_bytes.filter(|pools| is_much(*pools, finding)) {
        let fewer = format!(
            "Record fewer graphs, or smaller ones: {} lie in private pools, which only recorded graphs use ({}).",
            bytes(pools),
            settings_of_graphs(finding.run.server)
        );
        advice.push(fewer.into());
    }
    if finding.device == Some(Device::Mps) {
        advice.extend(beside_tensors(finding));
        let raise = "Close other programs: an Apple GPU shares the memory of the machine. \
            `PYTORCH_MPS_HIGH_WATERMARK_RATIO` moves the limit, and 0.0 takes it away, which may make the machine \
            unusable.";
        advice.push(raise.into());
    }
    let statistics = statistics(finding.device);
    let own = || {
        let advice = if finding.run.is_inference() { inference::of } else { training::of };
        advice(finding, statistics.as_deref())
    };
    advice.extend(server::running(finding, free_at_least(finding)).unwrap_or_else(own));
    advice
}

/// What is neither free nor PyTorch's, where the message does not say what this process has; `None` where it is no more
/// than the driver and libraries take in any process.
fn outside_of_pytorch(finding: &Finding) -> Option<u64> {
    const OF_DRIVER: u64 = 2 << 30;
    let reserved = finding.reserved_bytes.filter(|_| !finding.limit_is_share)?;
    let is_said = finding.used_bytes.is_some_and(|used| used > reserved);
    let taken = finding.limit_bytes?.checked_sub(finding.free_bytes?)?;
    taken.checked_sub(reserved).filter(|outside| *outside > OF_DRIVER && !is_said)
}

/// What decides how many graphs are recorded.
fn settings_of_graphs(server: Option<InferenceServer>) -> &'static str {
    match server {
        Some(InferenceServer::Vllm) => "`cudagraph_capture_sizes`, or none with `enforce_eager`",
        Some(InferenceServer::Sglang) => {
            "`--cuda-graph-max-bs`, or none with `--disable-cuda-graph`"
        }
        Some(_) => "see the settings of the server",
        None => "`torch.compile` without `mode=\"reduce-overhead\"`, fewer shapes of inputs",
    }
}

/// What helps where PyTorch holds memory in pieces.
fn pieces(finding: &Finding) -> Option<Sentence> {
    if !matches!(finding.kind, Kind::CudaFragmented | Kind::AcceleratorFragmented) {
        return None;
    }
    let held = finding.unallocated_bytes.map_or_else(|| "enough".to_owned(), bytes);
    let setting = match finding.device {
        _ if finding.is_expandable => None,
        // Such a message is of a version that has no segments that expand.
        Some(Device::Cuda) if finding.text.contains("already allocated") => Some(
            "`PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128` (since PyTorch 2.1 `expandable_segments:True`)",
        ),
        Some(Device::Cuda) => Some(
            "`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` (since PyTorch 2.9 also `PYTORCH_ALLOC_CONF`, before 2.1 \
             `max_split_size_mb:128`)",
        ),
        Some(Device::Rocm) => Some("`PYTORCH_HIP_ALLOC_CONF=expandable_segments:True`"),
        Some(Device::Xpu) => {
            Some("`PYTORCH_ALLOC_CONF=expandable_segments:True` (since PyTorch 2.9)")
        }
        Some(Device::Npu) => Some("`PYTORCH_NPU_ALLOC_CONF=expandable_segments:True`"),
        _ => None,
    };
    let text = match setting {
        Some(setting) => format!(
            "Set {setting}: PyTorch holds {held} unallocated, but in pieces that are too small."
        ),
        None => {
            let already =
                if finding.is_expandable { ", although the segments are expandable" } else { "" };
            let empty = module(finding.device).map_or_else(String::new, |module| {
                format!(", and call `{module}.empty_cache()` between phases")
            });
            format!(
                "Keep the sizes of tensors few (the same batch and length in each step){empty}: PyTorch holds {held} \
                 unallocated, but in pieces that are too small{already}."
            )
        }
    };
    Some(text.into())
}

/// The module of PyTorch for a device.
fn module(device: Option<Device>) -> Option<&'static str> {
    Some(match device? {
        Device::Cuda | Device::Rocm => "torch.cuda",
        Device::Xpu => "torch.xpu",
        Device::Npu => "torch.npu",
        Device::Mps => "torch.mps",
        Device::Hpu => "torch.hpu",
        _ => return None,
    })
}

/// What tells how much a program has of a device; not every module has all of these functions.
fn statistics(device: Option<Device>) -> Option<String> {
    let function = match device? {
        Device::Mps => "driver_allocated_memory",
        Device::Xpu => "memory_stats",
        _ => "memory_summary",
    };
    Some(format!("`{}.{function}()`", module(device)?))
}

/// What Metal has for this process beside the tensors of PyTorch: what it keeps for later, and its graphs.
fn beside_tensors(finding: &Finding) -> Option<Sentence> {
    let others = finding.breakdown.iter().find(|part| part.name == "other allocations")?.bytes;
    let text = format!(
        "Call `torch.mps.empty_cache()` between phases, and keep the shapes of inputs few: {} are other allocations of this \
         process, what Metal keeps for later and the graphs that it compiled for each shape.",
        bytes(others)
    );
    is_much(others, finding).then(|| text.into())
}

/// CUDA itself had nothing: the pool of PyTorch need not be large.
fn without_figures(finding: &Finding) -> Vec<Sentence> {
    let look = format!(
        "Look at who has the memory of the device with {}, also when your program does not run: the message has no \
         figures, and another process, or one that did not end, may have all of it.",
        tool(finding)
    );
    let mut advice: Vec<Sentence> = vec![look.into()];
    if !matches!(finding.run.framework, Some(Framework::LlamaCpp | Framework::Other)) {
        let before = "Look for the line before it in which an allocator says how much was asked for and how much was free.";
        advice.push(before.into());
    }
    if finding.device.is_some_and(Device::is_gpu) {
        let variable = visible_devices(finding.device);
        let early = format!(
            "If it happens when the program starts, a process of another user or a server has the GPU; choose another with \
             `{variable}`."
        );
        advice.push(early.into());
    }
    if let Some(of_server) = server::running(finding, None) {
        advice.extend(of_server);
        return advice;
    }
    advice.push(if finding.run.is_single_sample() {
        "Shorten the samples, if your own process has most of it: one at once is computed already."
            .into()
    } else {
        "Compute fewer samples at once, if your own process has most of it.".into()
    });
    advice
}

/// What chooses the devices of a process.
fn visible_devices(device: Option<Device>) -> &'static str {
    match device {
        Some(Device::Rocm) => "HIP_VISIBLE_DEVICES",
        _ => "CUDA_VISIBLE_DEVICES",
    }
}

fn deprecated() -> Vec<Sentence> {
    led_by(
        "Rename the variable to `PYTORCH_ALLOC_CONF` where every program of the run has PyTorch 2.9 or later: older ones \
         do not know that name.",
        ["Leave it otherwise: the settings are read under the old name, and nothing failed."],
    )
}

/// The driver has a largest block.
fn block_too_large(finding: &Finding) -> Vec<Sentence> {
    let asked = finding
        .requested_bytes
        .map_or_else(String::new, |requested| format!(" of {}", bytes(requested)));
    let most = finding.contiguous_bytes.map_or_else(String::new, |most| {
        format!(", of which the driver gives {} at once", bytes(most))
    });
    let split = format!(
        "Divide the tensor{asked} into several{most}: it is too large in one piece, however much memory is free."
    );
    let compute = "Compute fewer samples at once, or attention and loss in chunks, so that no single tensor is that large.";
    let newer = match finding.device {
        Some(Device::Xpu) => {
            "Try a newer PyTorch and driver: older ones give no block above 4 GiB, unless \
             `UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1` is set."
        }
        _ => "Compute in half precision: the tensor has half the size.",
    };
    led_by(split, [compute, newer])
}

/// What sets the share.
fn settings_of_share(finding: &Finding) -> Sentence {
    let module = module(finding.device).unwrap_or("torch.accelerator");
    format!(
        "Look for `{module}.set_per_process_memory_fraction`, `per_process_memory_fraction` in the settings of the \
         allocator, and the options of a server that sets them (several models on one device)."
    )
    .into()
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
    let statistics = statistics(finding.device)
        .map_or_else(String::new, |statistics| format!(", which {statistics} shows"));
    let module = module(finding.device).unwrap_or("torch.accelerator");
    let keep = format!(
        "If the share is meant to stay, compute fewer samples at once, or free what PyTorch holds: \
         `{module}.empty_cache()`{statistics}."
    );
    vec![raise.into(), settings_of_share(finding), keep.into()]
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
    let who = format!(
        "Look at who else is on the GPU at that moment with {}, repeatedly: what is free is asked after the failure, and \
         another process may have given memory back since.",
        tool(finding)
    );
    let limits = match finding.device {
        Some(Device::Cuda) => {
            "Look for limits of the process: a share of the GPU (MIG, vGPU, MPS `CUDA_MPS_PINNED_DEVICE_MEM_LIMIT`, \
             `torch.cuda.set_per_process_memory_fraction`), and of the machine's memory and addresses, which CUDA \
             needs as well (`ulimit -v`, the container's memory)."
        }
        _ => {
            "Look for limits of the process: a share of the device, a largest block of the driver, and the machine's \
             memory and addresses, which the driver needs as well (`ulimit -v`, the container's memory)."
        }
    };
    let earlier = match finding.device {
        Some(Device::Cuda) => {
            "Rule out an earlier error: run with `CUDA_LAUNCH_BLOCKING=1`, look at `dmesg` for `Xid`, restart the process."
        }
        _ => "Rule out an earlier error: look at `dmesg`, and restart the process.",
    };
    vec![look.into(), who.into(), limits.into(), earlier.into()]
}

/// Whether memory would have sufficed, or is a tenth of the device.
fn is_much(part: u64, finding: &Finding) -> bool {
    finding.excess_bytes.is_some_and(|excess| part >= excess)
        || finding.limit_bytes.is_some_and(|limit| part >= limit / 10)
}
