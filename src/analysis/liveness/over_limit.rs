//! The excess over the limit at each step.
//!
//! Over is what is alive, always or not, beyond the limit of the scope. Each device has memory of its
//! own: what one leaves free another cannot use. So everything of several devices has no limit that
//! could be compared with; there each device is held against its own, and what they are over adds up.

use std::collections::BTreeSet;

use super::Scope;
use super::scope_curve::{ScopeCurve, scope_curve};
use crate::store::arena::Arenas;
use crate::store::{DeviceId, Report};

/// Bytes over the limit at each step. Steps are positions in [`crate::store::program::Steps`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverLimit {
    bytes: Vec<u64>,
    /// At each step the device that is over by most, where each was held against its own limit.
    worst_devices: Option<Vec<Option<DeviceId>>>,
}

impl OverLimit {
    /// By how much the curve of a scope is over; `None` where limit or always-live bytes are not known,
    /// of several devices those of any of them.
    pub fn of(
        report: &Report,
        scope: Scope,
        curve: &ScopeCurve,
        said_bytes: Option<u64>,
    ) -> Option<Self> {
        let devices = devices_apart(report, scope);
        if devices.is_empty() {
            return Some(Self { bytes: over(curve)?, worst_devices: None });
        }
        // Changes of all devices together say nothing of one; bytes by tile may come later than this is asked.
        if !report.has_deltas_of_devices() {
            return None;
        }
        let steps = curve.not_always_live.len();
        let (mut bytes, mut most) = (vec![0_u64; steps], vec![(0, None); steps]);
        for device in devices {
            let scope = Scope::Device(device);
            let curve = scope_curve(report, scope, &|| false)?;
            let of_device = over(&curve.with_limit(report, scope, said_bytes))?;
            for ((sum, most), over) in bytes.iter_mut().zip(&mut most).zip(of_device) {
                *sum = sum.saturating_add(over);
                if over > most.0 {
                    *most = (over, Some(device));
                }
            }
        }
        let worst_devices = most.into_iter().map(|(_, device)| device).collect();
        Some(Self { bytes, worst_devices: Some(worst_devices) })
    }

    /// Bytes over the limit at a step; 0 where it is kept.
    pub fn at(&self, step: usize) -> Option<u64> {
        self.bytes.get(step).copied()
    }

    /// Whether it is over at any step.
    pub fn is_anywhere(&self) -> bool {
        self.bytes.iter().any(|bytes| *bytes > 0)
    }

    /// The device that is over by most at a step, the lowest of equals, where there are several that are
    /// each held against their own limit.
    pub fn worst_device_at(&self, step: usize) -> Option<DeviceId> {
        *self.worst_devices.as_ref()?.get(step)?
    }
}

/// The devices that count to everything and each have memory of their own; none where there is one, or where the
/// scope is a part of one.
pub fn devices_apart(report: &Report, scope: Scope) -> BTreeSet<DeviceId> {
    let arenas = report.arenas.get().filter(|_| scope == Scope::Everything);
    let mut devices = arenas.map_or_else(BTreeSet::new, Arenas::device_ids);
    devices.retain(|device| arenas.is_some_and(|arenas| arenas.is_of_everything(Some(*device))));
    if devices.len() > 1 { devices } else { BTreeSet::new() }
}

fn over(curve: &ScopeCurve) -> Option<Vec<u64>> {
    let limit = curve.limit?;
    let over = |(step, bytes): (usize, &u64)| {
        Some(curve.always_live.at(step)?.saturating_add(*bytes).saturating_sub(limit))
    };
    curve.not_always_live.iter().enumerate().map(over).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::analysis::fixture;
    use crate::store::liveness::Deltas;
    use crate::store::memory::TileMemory;
    use crate::store::target::Target;

    /// Two IPUs of one tile each, whose bytes change by these: 10 are always live.
    fn report(by_device: [&[(u32, i64)]; 2], limit: Option<u64>) -> Report {
        let by_device = (0..).map(DeviceId).zip(by_device.map(<[_]>::to_vec)).collect();
        report_of(Deltas { by_device, ..Deltas::default() }, limit)
    }

    fn report_of(deltas: Deltas, limit: Option<u64>) -> Report {
        let report = Report::default();
        report.steps.fill(Some(fixture::steps(3)));
        let memory = fixture::memory([(0, None), (1, None)]);
        report.memory.fill(Some(TileMemory { always_live: vec![Some(10); 2], ..memory }));
        report.target.fill(Some(Target {
            tiles_per_device: Some(1),
            bytes_per_tile: limit,
            ..Target::default()
        }));
        report.fill_arenas_with_tiles();
        report.deltas.fill(Some(deltas));
        report
    }

    fn over_of(report: &Report, scope: Scope) -> Option<OverLimit> {
        let curve = scope_curve(report, scope, &|| false).expect("a curve");
        OverLimit::of(report, scope, &curve, None)
    }

    #[test]
    fn what_one_ipu_leaves_free_another_cannot_use() {
        // 95 + 10 on IPU 1 at step 1; together they never reach 200.
        let report = report([&[(0, 20)], &[(1, 95), (2, -40)]], Some(100));
        let all = over_of(&report, Scope::Everything).expect("limits");
        assert_eq!([0, 1, 2].map(|step| all.at(step)), [Some(0), Some(5), Some(0)]);
        assert_eq!(all.worst_device_at(1), Some(DeviceId(1)));
        assert_eq!((all.worst_device_at(0), all.at(3)), (None, None));
        let [first, second] =
            [0, 1].map(|device| over_of(&report, Scope::Device(DeviceId(device))));
        assert_eq!(first.expect("a limit").at(1), Some(0));
        assert_eq!(second.expect("a limit").at(1), Some(5));
    }

    #[test]
    fn everything_is_of_one_device_where_the_others_are_apart() {
        let report = report([&[(1, 95)], &[]], Some(100));
        assert_eq!(devices_apart(&report, Scope::Everything).len(), 2);
        let mut arenas = report.arenas.get().expect("arenas").clone();
        arenas.apart.insert(DeviceId(1));
        let other = Report::default();
        other.arenas.fill(Some(arenas));
        assert!(devices_apart(&other, Scope::Everything).is_empty());
    }

    #[test]
    fn without_a_limit_nothing_is_known_to_be_over() {
        let report = report([&[(0, 500)], &[]], None);
        assert_eq!(over_of(&report, Scope::Everything), None);
        assert_eq!(over_of(&report, Scope::Device(DeviceId(0))), None);
        // Changes of all together, which do not say on which IPU.
        let deltas = Deltas { everything: vec![(0, 500)], ..Deltas::default() };
        let together = report_of(deltas, Some(100));
        assert_eq!(over_of(&together, Scope::Everything), None);
    }
}
