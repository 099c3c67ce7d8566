//! Advice about a finding: at most five sentences, the most helpful first. The techniques, their evidence and their
//! cost are described in docs/user/advice.md.

mod cuda;
mod gpu;
mod host;
mod host_buffer;
mod ipu;
mod tpu;
mod unknown;

use std::borrow::Cow;

use super::finding::{Device, Finding, Kind};
use crate::text::bytes;

/// A sentence; most are the same for each occurrence of a message.
type Sentence = Cow<'static, str>;

const MOST: usize = 5;

/// The advice for a finding.
pub fn of(finding: &Finding) -> Vec<Sentence> {
    let mut advice = match (finding.kind, finding.kind.device()) {
        (Kind::HostBuffer, _) => host_buffer::of(finding),
        (Kind::GpuOutOfMemory | Kind::GpuMemoryTight, _) => gpu::of(finding),
        (_, Some(Device::Ipu)) => ipu::of(finding),
        (_, Some(Device::Tpu)) => tpu::of(finding),
        (_, Some(Device::Cuda)) => cuda::of(finding),
        (_, Some(Device::Host)) => host::of(finding),
        (_, None) => unknown::of(finding),
    };
    advice.truncate(MOST);
    advice
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
    let share = finding.limit_bytes.and_then(|limit| percent(excess, limit));
    let share = share.map_or_else(String::new, |percent| format!(" ({percent} % of the limit)"));
    Some(format!("Free at least {}{share}", bytes(excess)))
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
}
