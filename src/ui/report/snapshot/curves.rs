//! The curves of snapshots as they are drawn: areas, reserved bytes, bands, failed requests, peaks, all folded for the
//! screen beside the window.

use eframe::egui::Color32;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::{group_color, snapshot_of};
use crate::analysis::liveness::peaks::distinct_peaks;
use crate::store::memory_timeline::MemoryTimeline;
use crate::store::snapshot::{Action, SnapshotDevice};
use crate::systems::pytorch::allocator::bands::{RunBand, run_bands};
use crate::systems::pytorch::allocator::curves::{
    BlockCurve, BlocksBy, Devices, StackedCurve, block_curve,
};
use crate::systems::pytorch::allocator::event_slots::EventSlots;
use crate::systems::pytorch::allocator::failed_requests::{FailedRequest, last_failed};
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::timeline_areas::timeline_areas;
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
    /// What stays whichever curve is shown.
    pub of_devices: Arc<OfDevices>,
    pub bands: Vec<Band>,
    /// Slots at which a request failed, with what is said of it.
    pub failed: Vec<(usize, u64)>,
    pub peaks: Vec<Peak>,
}

/// What of devices does not depend on the curve, its areas and its axis.
#[derive(Default)]
pub struct OfDevices {
    /// Which they are; `None` of a timeline.
    devices: Option<Devices>,
    /// The three curves of blocks at each step, whatever is hidden.
    pub by_curve: Vec<(BlockCurve, Vec<u64>)>,
    bands: Vec<RunBand>,
    /// Steps at which a request failed, with what was asked for.
    failed: Vec<(usize, u64)>,
    /// The request at which the run ended.
    pub ended_by: Option<FailedRequest>,
    /// The time of the first event that has one, of each device of the snapshot, microseconds.
    pub first_times: Vec<Option<i64>>,
}

/// What is wanted beside the areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// Of one of several runs: nothing.
    Others,
    /// At a glance: the bands.
    Bands,
    /// The bands, and what an inspector says of an event.
    BandsAndCurves,
}

impl OfDevices {
    fn of(replayed: &ReplayedSnapshot, devices: Devices, beside: Beside) -> Self {
        let events = &replayed.snapshot.events;
        let first_time =
            |device: &SnapshotDevice| device.events.clone().find_map(|row| events.time(row));
        let place = match devices {
            Devices::At(place) => place,
            Devices::All => 0,
        };
        let mut by_curve = Vec::new();
        if beside == Beside::BandsAndCurves {
            let curve = |curve| (curve, block_curve(replayed, devices, curve));
            by_curve.extend(BlockCurve::ALL.map(curve));
        }
        let bands = match beside {
            Beside::Others => Vec::new(),
            Beside::Bands | Beside::BandsAndCurves => run_bands(replayed, place),
        };
        Self {
            devices: Some(devices),
            by_curve,
            bands,
            failed: failed(replayed, devices),
            ended_by: ended_by(replayed, devices),
            first_times: replayed.snapshot.all_devices().map(first_time).collect(),
        }
    }
}

impl RunCurves {
    /// `before` is the answer to the question before about the same run.
    fn of(
        replayed: &ReplayedSnapshot,
        key: &CurvesKey,
        (slots, beside): (&mut EventSlots, Beside),
        before: Option<&Self>,
        cancel: &Cancel,
    ) -> Option<Self> {
        let is_cancelled = || cancel.is_cancelled();
        let snapshot = &replayed.snapshot;
        let devices = match key.devices {
            Devices::At(place) if place < snapshot.all_devices().count() => key.devices,
            _ => Devices::first_of(snapshot),
        };
        let what = (devices, key.curve, key.by);
        let known = before.map(|before| &before.of_devices);
        let known = known.filter(|known| known.devices == Some(devices)).map(Arc::clone);
        let (stacked, of_devices) = rayon::join(
            || StackedCurve::of(replayed, what, &key.hidden, &is_cancelled),
            || known.unwrap_or_else(|| Arc::new(OfDevices::of(replayed, devices, beside))),
        );
        let stacked = stacked?;
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
        let failed = of_devices.failed.iter().map(|(step, bytes)| (slots.slot(*step), *bytes));
        let mut made = Self {
            stacked,
            in_slots,
            blocks: Vec::new(),
            reserved_blocks: FoldedBlocks::default(),
            most_reserved: 0,
            bands: of_devices.bands.iter().map(|band| band_in_slots(band, slots)).collect(),
            failed: failed.collect(),
            of_devices: Arc::clone(&of_devices),
            peaks: Vec::new(),
        };
        let fold = |values: &[u64]| FoldedBlocks::of(Values::Known(values));
        let layers = 0..made.stacked.layers.len();
        (made.blocks, (made.reserved_blocks, made.most_reserved)) = rayon::join(
            || layers.into_par_iter().map(|layer| fold(made.layer(layer))).collect(),
            || (fold(made.reserved()), made.stacked.reserved.iter().max().copied().unwrap_or(0)),
        );
        made.peaks = shown_peaks(made.total());
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
            peaks: shown_peaks(stacked.total()),
            stacked,
            in_slots: None,
            blocks,
            reserved_blocks: FoldedBlocks::default(),
            most_reserved: 0,
            of_devices: Arc::default(),
            bands: Vec::new(),
            failed: Vec::new(),
        };
        let top = curves.total().iter().max().copied().unwrap_or(0);
        let slots = EventSlots::by_event(timeline.bytes.len());
        Self { runs: vec![curves], slots, top, version: new_version() }
    }

    /// Of one snapshot, with bands or without.
    pub fn of_one(
        replayed: &ReplayedSnapshot,
        key: &CurvesKey,
        has_bands: bool,
        cancel: &Cancel,
    ) -> Option<Self> {
        let beside = if has_bands { Beside::Bands } else { Beside::Others };
        let mut slots = EventSlots::by_event(replayed.axis().len() as usize);
        let curves = RunCurves::of(replayed, key, (&mut slots, beside), None, cancel)?;
        let of = |curve: &[u64]| curve.iter().max().copied().unwrap_or(0);
        let top = of(curves.total()).max(of(curves.reserved()));
        Some(Self { runs: vec![curves], slots, top, version: new_version() })
    }

    /// Works them out; `None` when it was cancelled. `before` is the answer to the question before about the same runs.
    pub fn of(
        runs: &Runs,
        key: &CurvesKey,
        before: Option<&Self>,
        cancel: &Cancel,
    ) -> Option<Self> {
        let beside = if runs.is_one() { Beside::BandsAndCurves } else { Beside::Others };
        let len = |run| snapshot_of(run).map_or(0, |replayed| replayed.axis().len() as usize);
        let len = runs.iter().map(len).max().unwrap_or(0);
        let mut slots = EventSlots::by_event(len);
        let mut made = Vec::with_capacity(runs.len());
        for (place, run) in runs.iter().enumerate() {
            let replayed = snapshot_of(run)?;
            let before = before.and_then(|before| before.runs.get(place));
            made.push(RunCurves::of(replayed, key, (&mut slots, beside), before, cancel)?);
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
fn shown_peaks(curve: &[u64]) -> Vec<Peak> {
    let found = distinct_peaks(curve, curve.len() / APART, MOST_PEAKS);
    found.into_iter().map(|(position, bytes)| Peak { position, bytes, key: None }).collect()
}

/// The request at which a run ended, of the first device that has one.
fn ended_by(replayed: &ReplayedSnapshot, devices: Devices) -> Option<FailedRequest> {
    let snapshot = &replayed.snapshot;
    let all = snapshot.all_devices().enumerate();
    let mut meant = all.filter(|(place, _)| devices.has(snapshot, *place));
    meant.find_map(|(_, device)| last_failed(snapshot, device))
}

/// A band on the axis of a picture.
fn band_in_slots(band: &RunBand, slots: &EventSlots) -> Band {
    let slot = |step: u32| slots.slot(step as usize) as u32;
    let span = |(steps, name): &(Range<u32>, String)| {
        (slot(steps.start)..slot(steps.end.saturating_sub(1)) + 1, name.clone())
    };
    Band { title: band.title, spans: band.parts.iter().map(span).collect() }
}

/// Steps of failed requests with the bytes that were asked for.
fn failed(replayed: &ReplayedSnapshot, devices: Devices) -> Vec<(usize, u64)> {
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
                failed.push((step, bytes));
            }
        }
    }
    failed.sort_unstable();
    failed
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
