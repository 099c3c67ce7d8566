//! The curve of a snapshot or a memory timeline as areas, what is drawn beside it, and what its events did.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::allocator::bands::run_bands;
use super::allocator::curves::{BlockCurve, Devices, block_curve, reserved_curve, stacked_areas};
use super::allocator::failed_requests::failed_requests;
use super::allocator::landmarks::landmarks;
use super::allocator::pools::has_pools;
use super::allocator::replayed::{ReplayedSnapshot, RunContents};
use super::allocator::timeline_areas::timeline_areas;
use crate::analysis::comparison::landmarks::axis_by_landmarks;
use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::scope_curve::scope_curve;
use crate::run::areas::{AreaGroup, AreasBy, AreasOf, StackedAreas};
use crate::run::beside_curve::{BesideCurve, CurveLine, StepMoment};
use crate::store::DeviceId;
use crate::store::memory_timeline::{MemoryTimeline, TimelineForm};
use crate::store::snapshot::SnapshotDevice;

/// Other devices whose curves are drawn.
const MOST_OTHERS: usize = 7;

/// Failed requests that are drawn.
const MOST_FAILED: usize = 50;

/// What the curve can be split by, the usual one first.
pub fn groupings(contents: &RunContents, scope: Scope) -> Vec<AreasBy> {
    match contents {
        RunContents::Snapshot(replayed) if devices_of(replayed, scope).is_some() => {
            let mut all = vec![AreasBy::Category, AreasBy::Line, AreasBy::Function, AreasBy::File];
            all.extend(has_pools(&replayed.snapshot).then_some(AreasBy::Pool));
            all.push(AreasBy::Liveness);
            all
        }
        RunContents::Timeline(_) => vec![AreasBy::Category],
        RunContents::Snapshot(_) => vec![AreasBy::Liveness],
    }
}

/// The areas; the whole curve is that of the report.
pub fn areas(
    derived: &Derived,
    contents: &RunContents,
    of: AreasOf,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<StackedAreas> {
    match contents {
        RunContents::Timeline(timeline) => Some(timeline_areas(timeline)),
        RunContents::Snapshot(_) if of.by == AreasBy::Whole => {
            let found = scope_curve(derived.report(), of.scope, is_cancelled)?;
            let mut curve = found.not_always_live;
            let always_live = found.always_live.at(0).unwrap_or(0);
            for bytes in &mut curve {
                *bytes = bytes.saturating_add(always_live);
            }
            let groups = vec![AreaGroup::placed(BlockCurve::Requested.title())];
            Some(StackedAreas { groups, layers: vec![curve] })
        }
        RunContents::Snapshot(replayed) => {
            if matches!(of.by, AreasBy::Liveness | AreasBy::Operation | AreasBy::Module) {
                return None;
            }
            let devices = devices_of(replayed, of.scope)?;
            stacked_areas(replayed, devices, BlockCurve::Requested, of.by, is_cancelled)
        }
    }
}

/// The devices of a scope; `None` of a segment.
pub(super) fn devices_of(replayed: &ReplayedSnapshot, scope: Scope) -> Option<Devices> {
    match scope {
        Scope::Everything => Some(Devices::All),
        Scope::Device(id) => {
            let mut devices = replayed.snapshot.all_devices();
            devices.position(|device| DeviceId::of_number(device.number) == id).map(Devices::At)
        }
        Scope::Arena(_) | Scope::WorstArena => None,
    }
}

/// The lines, bands and failed requests beside the curve.
pub fn beside_curve(contents: &RunContents, scope: Scope, has_all_lines: bool) -> BesideCurve {
    let RunContents::Snapshot(replayed) = contents else { return BesideCurve::default() };
    let Some(devices) = devices_of(replayed, scope) else { return BesideCurve::default() };
    let reserved = || CurveLine {
        title: "Reserved".into(),
        rule: "Bytes of segments taken from the device; the space between the areas and this line \
               is reserved and not in use",
        is_usual: true,
        other: None,
        bytes: reserved_curve(replayed, devices),
    };
    let counted = |curve: BlockCurve| CurveLine {
        title: curve.title().into(),
        rule: curve.rule(),
        is_usual: false,
        other: None,
        bytes: block_curve(replayed, devices, curve),
    };
    let place = match devices {
        Devices::At(place) => place,
        Devices::All => 0,
    };
    let (reserved, bands) = rayon::join(reserved, || run_bands(replayed, place));
    let mut lines = vec![reserved];
    if has_all_lines {
        lines.extend([BlockCurve::Active, BlockCurve::Allocated].map(counted));
    }
    BesideCurve { lines, bands, moments: moments(replayed, devices) }
}

/// The curves of other devices than that of a scope over the steps of this one: of those that failed first, then by what
/// they had most. Those that are not drawn are counted.
pub fn other_curves(contents: &RunContents, scope: Scope) -> Vec<CurveLine> {
    let RunContents::Snapshot(replayed) = contents else { return Vec::new() };
    let Some(Devices::At(shown)) = devices_of(replayed, scope) else { return Vec::new() };
    let Some((device, _)) = replayed.device(shown).filter(|(of, _)| !of.is_host()) else {
        return Vec::new();
    };
    let steps = device.steps() as usize;
    let marks = landmarks(replayed, shown);
    let mut others: Vec<_> = (replayed.devices().enumerate())
        .filter(|(place, (of, _))| *place != shown && !of.is_host())
        .map(|(place, (of, replay))| (place, of, replay, replayed.ended_by(place).is_some()))
        .collect();
    others.sort_by_key(|(_, _, replay, failed)| Reverse((*failed, replay.requested_peak.bytes)));
    let more = others.len().saturating_sub(MOST_OTHERS);
    others.truncate(MOST_OTHERS);
    let last = others.len().saturating_sub(1);
    let line = |(number, (place, of, _, failed)): (usize, &(usize, &SnapshotDevice, _, bool))| {
        let bytes = block_curve(replayed, Devices::At(*place), BlockCurve::Requested);
        let own = landmarks(replayed, *place);
        let axis = axis_by_landmarks(&[steps, bytes.len()], &[&marks, &own]);
        let axis = axis.unwrap_or_else(|| StepAxis::by_index(&[steps, bytes.len()]));
        let bytes = beside_steps(&bytes, &axis, steps);
        let failed = if *failed { ", out of memory" } else { "" };
        let more = if number == last && more > 0 {
            format!(" ({more} more are not drawn)")
        } else {
            String::new()
        };
        CurveLine {
            title: format!("{}{failed}{more}", of.title()).into(),
            rule: "What was requested on another device, from its own first event on; passes, steps of \
                   the optimizer and named parts that both have begin at the same place",
            is_usual: true,
            other: Some(number),
            bytes,
        }
    };
    others.par_iter().enumerate().map(line).collect()
}

/// The curve of the second run of an axis over the steps of the first: at each the most of what lies beside it, so that no
/// spike is lost; it ends where the second does.
fn beside_steps(curve: &[u64], axis: &StepAxis, steps: usize) -> Vec<u64> {
    let at = |step: usize| {
        let (from, to) = (axis.slot(0, step)?, axis.slot_or_end(0, step.saturating_add(1)));
        if from >= axis.end(1) {
            return None;
        }
        let Some(first) = axis.step_at_or_before(1, from) else { return Some(0) };
        let last = axis.step_at_or_before(1, to.saturating_sub(1)).unwrap_or(first);
        curve.get(first..=last.max(first))?.iter().max().copied()
    };
    (0..steps).map_while(at).collect()
}

/// The last requests that failed.
fn moments(replayed: &ReplayedSnapshot, devices: Devices) -> Vec<StepMoment> {
    let snapshot = &replayed.snapshot;
    let mut moments = Vec::new();
    for (place, device) in snapshot.all_devices().enumerate() {
        if devices.has(snapshot, place) {
            moments.extend(failed_requests(snapshot, device).into_iter().map(|failed| {
                StepMoment {
                    step: failed.event as usize,
                    title: "Out of memory",
                    bytes: Some((failed.bytes, "asked")),
                }
            }));
        }
    }
    moments.sort_unstable_by_key(|moment| moment.step);
    let more = moments.len().saturating_sub(MOST_FAILED);
    moments.drain(..more);
    moments
}

/// When each event of a scope or point was, microseconds from the first; `None` of several devices together.
pub fn step_times(contents: &RunContents, scope: Scope) -> Option<Vec<u64>> {
    match contents {
        RunContents::Snapshot(replayed) => {
            let snapshot = &replayed.snapshot;
            let device = match devices_of(replayed, scope)? {
                Devices::At(place) => replayed.device(place)?.0,
                Devices::All => match &*snapshot.devices {
                    [only] if only.steps() == replayed.steps() => only,
                    _ => return None,
                },
            };
            let row_time = |step| snapshot.events.time(device.row(step)?);
            since_first((0..device.steps() as usize).map(row_time))
        }
        RunContents::Timeline(timeline) => timeline_times(timeline),
    }
}

fn timeline_times(timeline: &MemoryTimeline) -> Option<Vec<u64>> {
    let per_microsecond = match timeline.form {
        TimelineForm::Curve => 1,
        TimelineForm::Raw => 1000,
    };
    // What was there before the first has no time of its own.
    let first = timeline.times.iter().find(|time| **time >= 0).copied()?;
    since_first(timeline.times.iter().map(|time| Some((*time).max(first) / per_microsecond)))
}

/// Times from the first on; time may stand still or step back.
fn since_first(times: impl Iterator<Item = Option<i64>>) -> Option<Vec<u64>> {
    let (mut first, mut latest) = (None, i64::MIN);
    let since = |time: Option<i64>| {
        latest = latest.max(time?);
        let first = *first.get_or_insert(latest);
        Some(latest.saturating_sub(first).unsigned_abs())
    };
    times.map(since).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_beside_another_keeps_its_spikes_and_ends_with_its_device() {
        let curve = [1, 5, 2, 9, 3, 4];
        let by_number = StepAxis::by_index(&[4, 6]);
        assert_eq!(beside_steps(&curve, &by_number, 4), [1, 5, 2, 9]);
        let shorter = StepAxis::by_index(&[4, 2]);
        assert_eq!(beside_steps(&curve[..2], &shorter, 4), [1, 5]);
        // Two steps of one lie beside four of the other: each has the most of two.
        let axis = StepAxis::by_landmarks(&[4, 6], &[vec![1, 1], vec![3, 5]]);
        assert_eq!(beside_steps(&curve, &axis, 4), [1, 5, 9, 4]);
    }
}
