//! Advice about a finding: at most five sentences, the most helpful first. The techniques, their evidence and their
//! cost are described in docs/user/advice.md.

mod gpu;
mod host;
mod host_buffer;
mod inference;
mod ipu;
mod kernel;
mod pytorch;
mod server;
mod tenstorrent;
mod too_large;
mod tpu;
mod training;
mod unknown;

use std::borrow::Cow;

use super::finding::{Device, Finding, Kind};
use super::run_settings::HostSystem;
use crate::text::{bytes_at_least, capitalised};

/// A sentence; most are the same for each occurrence of a message.
type Sentence = Cow<'static, str>;

/// Sentences of a finding.
pub const MOST: usize = 5;

/// The advice for a finding.
pub fn of(finding: &Finding) -> Vec<Sentence> {
    let is_of_pytorch = finding.text.contains("ried to allocate") || finding.text.contains("MPS ");
    let mut advice = match finding.kind {
        _ if let Some(sentence) = finding.tenstorrent.first() => tenstorrent::of(&sentence.error),
        Kind::HostBuffer => host_buffer::of(finding),
        Kind::GpuOutOfMemory | Kind::GpuMemoryTight | Kind::GpuLibraryOutOfMemory => {
            gpu::of(finding)
        }
        Kind::GpuSharedMemory => kernel::of(finding),
        Kind::ServerStartMemory | Kind::KvCacheTooSmall => server::of(finding),
        Kind::TpuOutOfMemory | Kind::TpuFragmented => tpu::of(finding),
        Kind::RematerializationLimit => tpu::rematerialization(finding),
        Kind::CudaOutOfMemory
        | Kind::CudaFragmented
        | Kind::CudaProcessLimit
        | Kind::CudaRefused
        | Kind::DeprecatedSetting
        | Kind::BlockTooLarge => pytorch::of(finding),
        Kind::AcceleratorOutOfMemory
        | Kind::AcceleratorFragmented
        | Kind::AcceleratorProcessLimit
        | Kind::AcceleratorRefused => {
            if is_of_pytorch || finding.device == Some(Device::Rocm) {
                pytorch::of(finding)
            } else {
                gpu::of_accelerator(finding)
            }
        }
        Kind::HostOutOfMemory => host::of(finding),
        Kind::HostSharedMemory => host::shared(finding),
        Kind::ProcessKilled => host::killed(finding),
        Kind::UnknownMemoryMessage => unknown::of(finding),
        Kind::TileOutOfMemory
        | Kind::TilesOutOfMemory
        | Kind::VariablesDoNotFit
        | Kind::ExchangeTooLarge
        | Kind::CodeTooLarge
        | Kind::OutOfMemory
        | Kind::ProfileNotWritten
        | Kind::PlannerAtMinimum
        | Kind::PlannerOverTarget
        | Kind::PlannerNoPlan => ipu::of(finding),
    };
    advice.truncate(MOST);
    advice
}

/// What shows who has memory of the device.
fn tool(finding: &Finding) -> &'static str {
    match finding.device {
        _ if finding.is_of_unknown_maker() => match finding.run.system {
            Some(HostSystem::Windows) => "the Task Manager",
            _ => "the tool of its driver (`nvidia-smi`, `amd-smi`, `xpu-smi`)",
        },
        Some(Device::Cuda) => "`nvidia-smi`",
        Some(Device::Rocm) => "`amd-smi` or `rocm-smi`",
        Some(Device::Xpu) => "`xpu-smi`",
        Some(Device::Npu) => "`npu-smi info`",
        Some(Device::Hpu) => "`hl-smi`",
        Some(Device::Mps) => "the Activity Monitor",
        Some(Device::Neuron) => "`neuron-top`",
        Some(Device::Tenstorrent) => "a memory report of TT-NN, which names each buffer",
        Some(Device::Tpu) => "`tpu-info`",
        Some(Device::Ipu) => "`gc-monitor`",
        Some(Device::Host) => "`free -m`",
        Some(Device::Accelerator) | None => "the tool of its driver",
    }
}

/// A sentence, mostly with amounts of the finding, before those that are always the same.
fn led_by(
    first: impl Into<Sentence>,
    rest: impl IntoIterator<Item = &'static str>,
) -> Vec<Sentence> {
    std::iter::once(first.into()).chain(rest.into_iter().map(Sentence::from)).collect()
}

/// `Free at least 20.1 KiB (8 % of the limit)`, if the message says how much is too much.
fn free_at_least(finding: &Finding) -> Option<String> {
    let excess = finding.excess_bytes?;
    let share = finding.limit_bytes.map_or_else(String::new, |limit| share(excess, limit));
    Some(format!("Free at least {}{share}", bytes_at_least(excess)))
}

/// What to do, behind how much is missing: `Free at least 2.00 GiB: compute less.`, else `Compute less.`
fn with_amount(finding: &Finding, what: &str) -> Sentence {
    match free_at_least(finding) {
        Some(amount) => format!("{amount}: {what}").into(),
        None => capitalised(what).into(),
    }
}

/// A sentence that ends with the call that shows what is left, if there is one.
fn with_statistics(text: &str, statistics: Option<&str>) -> Sentence {
    match statistics {
        Some(statistics) => format!("{text}; {statistics} shows what is left.").into(),
        None => format!("{text}.").into(),
    }
}

/// ` (8 % of the limit)`; of more than the whole a percentage says nothing.
fn share(part: u64, limit: u64) -> String {
    match percent(part, limit) {
        Some(1) if part < limit.div_ceil(100) => " (less than 1 % of the limit)".to_owned(),
        Some(percent @ 1..=100) => format!(" ({percent} % of the limit)"),
        _ => String::new(),
    }
}

/// A part in percent of a whole, rounded up.
fn percent(part: u64, whole: u64) -> Option<u128> {
    (u128::from(part) * 100)
        .checked_add(u128::from(whole).checked_sub(1)?)?
        .checked_div(whole.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_rounded_up() {
        assert_eq!(percent(1, 1000), Some(1));
        assert_eq!(percent(200, 100), Some(200));
        assert_eq!(percent(1, 0), None);
        assert_eq!(percent(u64::MAX, u64::MAX), Some(100));
    }

    #[test]
    fn a_share_is_said_where_it_says_something() {
        for (part, said) in [
            (7, " (less than 1 % of the limit)"),
            (10, " (1 % of the limit)"),
            (801, " (81 % of the limit)"),
            (1001, ""),
            (0, ""),
        ] {
            assert_eq!(share(part, 1000), said, "{part}");
        }
    }
}
