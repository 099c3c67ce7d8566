//! The curves of snapshots as they are drawn: areas, reserved bytes, bands, failed requests, peaks, all folded for the
//! screen beside the window.

use eframe::egui::Color32;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::{group_color, snapshot_of};
use crate::analysis::allocator::bands::run_bands;
use crate::analysis::allocator::curves::{
    BlockCurve, BlocksBy, Devices, StackedCurve, block_curve,
};
use crate::analysis::allocator::event_slots::EventSlots;
use crate::analysis::allocator::failed_requests::{FailedRequest, last_failed};
use crate::analysis::allocator::replayed::ReplayedSnapshot;
use crate::analysis::allocator::timeline_areas::timeline_areas;
use crate::analysis::liveness::peaks::peaks;
use crate::store::memory_timeline::MemoryTimeline;
use crate::store::snapshot::Action;
use crate::ui::job::Cancel;
use crate::ui::report::slot_axis::MOST_PEAKS;
use crate::ui::runs::Runs;
use crate::ui::theme::Tokens;
use crate::ui::widget::bins::{BinCache, FoldedBlocks, Values, new_version};
use crate::ui::widget::curve::{Band, Layer, Peak};

/// Peaks closer than this part of the axis are one.
const APART: usize = 40;
/// Failed requests that are drawn.
const MOST_FAILED: usize = 50;

/// Tells apart what curves are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvesKey {
    pub devices: Devices,
    pub curve: BlockCurve,
    pub by: BlocksBy,
    pub is_over_time: bool,
    pub hidden: BTreeSet<String>,
}

/// The curves of all runs.
pub struct Curves {
    pub runs: Vec<RunCurves>,
    pub slots: EventSlots,
    pub top: u64,
    /// Tells them apart from all others.
    pub version: u64,
}

/// A curve with its areas.
pub struct RunCurves {
    /// By step.
    pub stacked: StackedCurve,
    /// By slot, where slots are no steps.
    in_slots: Option<(Vec<Vec<u64>>, Vec<u64>)>,
    /// Of each layer, and of the reserved bytes.
    pub blocks: Vec<FoldedBlocks>,
    pub reserved_blocks: FoldedBlocks,
    /// The most of what is reserved.
    pub most_reserved: u64,
    /// The three curves of blocks at each step, whatever is hidden.
    pub by_curve: Vec<(BlockCurve, Vec<u64>)>,
    pub bands: Vec<Band>,
    /// Slots at which a request failed, with what is said of it.
    pub failed: Vec<(usize, u64)>,
    /// The request at which the run ended.
    pub ended_by: Option<FailedRequest>,
    pub peaks: Vec<Peak>,
}

impl RunCurves {
    fn of(
        replayed: &ReplayedSnapshot,
        key: &CurvesKey,
        (slots, is_one): (&mut EventSlots, bool),
        cancel: &Cancel,
    ) -> Option<Self> {
        let is_cancelled = || cancel.is_cancelled();
        let snapshot = &replayed.snapshot;
        let devices = match key.devices {
            Devices::At(place) if place < snapshot.all_devices().count() => key.devices,
            _ => Devices::first_of(snapshot),
        };
        let what = (devices, key.curve, key.by);
        let stacked = StackedCurve::of(replayed, what, &key.hidden, &is_cancelled)?;
        if key.is_over_time
            && let Some(by_time) = EventSlots::by_time(replayed, stacked.total())
        {
            *slots = by_time;
        }
        let in_slots = slots.is_by_time().then(|| {
            let layers = stacked
                .layers
                .iter()
                .map(|layer| if layer.is_empty() { Vec::new() } else { slots.in_slots(layer) });
            (layers.collect::<Vec<_>>(), slots.in_slots(&stacked.reserved))
        });
        let by_curve = if is_one {
            let curve = |curve| (curve, block_curve(replayed, devices, curve));
            BlockCurve::ALL.map(curve).into()
        } else {
            Vec::new()
        };
        let mut made = Self {
            stacked,
            in_slots,
            blocks: Vec::new(),
            reserved_blocks: FoldedBlocks::default(),
            most_reserved: 0,
            by_curve,
            bands: Vec::new(),
            failed: failed(replayed, devices, slots),
            ended_by: ended_by(replayed, devices),
            peaks: Vec::new(),
        };
        made.blocks = (0..made.stacked.layers.len())
            .map(|layer| FoldedBlocks::of(Values::Known(made.layer(layer))))
            .collect();
        made.most_reserved = made.stacked.reserved.iter().max().copied().unwrap_or(0);
        made.reserved_blocks = FoldedBlocks::of(Values::Known(made.reserved()));
        made.peaks = distinct_peaks(made.total());
        if is_one {
            let place = match devices {
                Devices::At(place) => place,
                Devices::All => 0,
            };
            let band = |band: crate::analysis::allocator::bands::RunBand| Band {
                title: band.title,
                spans: band
                    .parts
                    .into_iter()
                    .map(|(steps, name)| {
                        let slot = |step: u32| slots.slot(step as usize) as u32;
                        (slot(steps.start)..slot(steps.end.saturating_sub(1)) + 1, name)
                    })
                    .collect(),
            };
            made.bands = run_bands(replayed, place).into_iter().map(band).collect();
        }
        (!cancel.is_cancelled()).then_some(made)
    }

    /// Bytes of a group and all below it, by slot; empty of a group that is hidden.
    pub fn layer(&self, layer: usize) -> &[u64] {
        let layers = self.in_slots.as_ref().map_or(&self.stacked.layers, |(layers, _)| layers);
        layers.get(layer).map_or(&[], Vec::as_slice)
    }

    /// Bytes of segments, by slot.
    pub fn reserved(&self) -> &[u64] {
        self.in_slots.as_ref().map_or(&self.stacked.reserved, |(_, reserved)| reserved)
    }

    /// Gives a cache what is folded of all that is shown.
    pub fn prepare_total(&self, cache: &mut BinCache, version: u64) {
        let layers = (0..self.blocks.len()).rev();
        let shown = layers.into_iter().find(|layer| !self.layer(*layer).is_empty());
        if let Some(blocks) = shown.and_then(|layer| self.blocks.get(layer)) {
            cache.take(version, self.total().len(), blocks);
        }
    }

    /// All that is shown, by slot.
    pub fn total(&self) -> &[u64] {
        let layers = (0..self.stacked.layers.len()).rev().map(|layer| self.layer(layer));
        layers.into_iter().find(|layer| !layer.is_empty()).unwrap_or_else(|| self.stacked.total())
    }
}

impl Curves {
    /// Of a memory timeline, a slot for each row.
    pub fn of_timeline(timeline: &MemoryTimeline) -> Self {
        let stacked = timeline_areas(timeline);
        let layers = stacked.layers.iter();
        let blocks = layers.map(|layer| FoldedBlocks::of(Values::Known(layer))).collect();
        let curves = RunCurves {
            peaks: distinct_peaks(stacked.total()),
            stacked,
            in_slots: None,
            blocks,
            reserved_blocks: FoldedBlocks::default(),
            most_reserved: 0,
            by_curve: Vec::new(),
            bands: Vec::new(),
            failed: Vec::new(),
            ended_by: None,
        };
        let top = curves.total().iter().max().copied().unwrap_or(0);
        let slots = EventSlots::by_event(timeline.bytes.len());
        Self { runs: vec![curves], slots, top, version: new_version() }
    }

    /// Of one snapshot.
    pub fn of_one(replayed: &ReplayedSnapshot, key: &CurvesKey, cancel: &Cancel) -> Option<Self> {
        let mut slots = EventSlots::by_event(replayed.axis().len() as usize);
        let mut curves = RunCurves::of(replayed, key, (&mut slots, true), cancel)?;
        // At a glance nobody asks for the others.
        curves.by_curve = Vec::new();
        let of = |curve: &[u64]| curve.iter().max().copied().unwrap_or(0);
        let top = of(curves.total()).max(of(curves.reserved()));
        Some(Self { runs: vec![curves], slots, top, version: new_version() })
    }

    /// Works them out; `None` when it was cancelled.
    pub fn of(runs: &Runs, key: &CurvesKey, cancel: &Cancel) -> Option<Self> {
        let len = |run| snapshot_of(run).map_or(0, |replayed| replayed.axis().len() as usize);
        let len = runs.iter().map(len).max().unwrap_or(0);
        let mut slots = EventSlots::by_event(len);
        let mut made = Vec::with_capacity(runs.len());
        for run in runs.iter() {
            let replayed = snapshot_of(run)?;
            made.push(RunCurves::of(replayed, key, (&mut slots, runs.is_one()), cancel)?);
        }
        let most = |curves: &RunCurves| {
            let of = |curve: &[u64]| curve.iter().max().copied().unwrap_or(0);
            of(curves.total()).max(of(curves.reserved()))
        };
        let top = made.iter().map(most).max().unwrap_or(0);
        Some(Self { runs: made, slots, top, version: new_version() })
    }
}

/// The highest peaks, of those that lie close together the highest.
fn distinct_peaks(curve: &[u64]) -> Vec<Peak> {
    let apart = curve.len() / APART;
    let mut found: Vec<Peak> = Vec::new();
    for peak in peaks(curve) {
        if found.len() >= MOST_PEAKS {
            break;
        }
        if found.iter().all(|other| other.position.abs_diff(peak.step) > apart) {
            found.push(Peak { position: peak.step, bytes: peak.bytes, key: None });
        }
    }
    found
}

/// The request at which a run ended, of the first device that has one.
fn ended_by(replayed: &ReplayedSnapshot, devices: Devices) -> Option<FailedRequest> {
    let snapshot = &replayed.snapshot;
    let all = snapshot.all_devices().enumerate();
    let mut meant = all.filter(|(place, _)| devices.has(snapshot, *place));
    meant.find_map(|(_, device)| last_failed(snapshot, device))
}

/// Slots of failed requests with the bytes that were asked for.
fn failed(replayed: &ReplayedSnapshot, devices: Devices, slots: &EventSlots) -> Vec<(usize, u64)> {
    let snapshot = &replayed.snapshot;
    let mut failed = Vec::new();
    for (place, device) in snapshot.all_devices().enumerate() {
        if !devices.has(snapshot, place) {
            continue;
        }
        for (event, row) in (0_u32..).zip(device.events.clone()) {
            if snapshot.events.actions.get(row) == Some(&Action::OutOfMemory)
                && failed.len() < MOST_FAILED
            {
                let step = replayed.axis().step(device, event) as usize;
                let bytes = snapshot.events.sizes.get(row).copied().unwrap_or(0);
                failed.push((slots.slot(step), bytes));
            }
        }
    }
    failed.sort_unstable();
    failed
}

/// What inspectors and tables look at beside the curves: which block each event is about.
pub fn prepare(replayed: &Arc<ReplayedSnapshot>) {
    for place in 0..replayed.replays.len() {
        replayed.index(place);
    }
}

/// Bins of the areas of a run, from the ground up.
pub type AreaCaches = Vec<BinCache>;

/// The areas of a run, each on the one before.
pub fn area_layers<'a>(
    curve: &'a RunCurves,
    (by, version): (BlocksBy, u64),
    caches: &'a mut AreaCaches,
    tokens: &Tokens,
) -> Vec<Layer<'a>> {
    caches.resize_with(curve.stacked.groups.len(), BinCache::default);
    let mut layers: Vec<Layer<'a>> = Vec::with_capacity(caches.len() + 3);
    for (place, cache) in caches.iter_mut().enumerate() {
        let values = curve.layer(place);
        let Some(group) = curve.stacked.groups.get(place).filter(|_| !values.is_empty()) else {
            continue;
        };
        if let Some(blocks) = curve.blocks.get(place) {
            cache.take(version, values.len(), blocks);
        }
        let color = group_color(group, place, tokens);
        let (fill, line) = match by {
            BlocksBy::Nothing => (tokens.area(tokens.temporary), tokens.temporary),
            _ => (tokens.surface.lerp_to_gamma(color, 0.82), Color32::TRANSPARENT),
        };
        layers.push(Layer {
            fill: Some(fill),
            is_stacked: !layers.is_empty(),
            ..Layer::line(Values::Known(values), line, cache)
        });
    }
    layers
}

/// The line of what is reserved.
pub fn reserved_layer<'a>(
    curve: &'a RunCurves,
    (color, version): (Color32, u64),
    cache: &'a mut BinCache,
) -> Layer<'a> {
    cache.take(version, curve.reserved().len(), &curve.reserved_blocks);
    Layer::line(Values::Known(curve.reserved()), color, cache)
}
