//! The report that pages and commands share with other systems, of a snapshot: segments are arenas, blocks are placed
//! in them, events are steps.
//!
//! The curve of everything and of a device is that of bytes that were asked for, of blocks until their free is
//! completed; so are the bytes of variables, which are user frames. Placements have the bytes that they take.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::panic::resume_unwind;
use std::sync::Arc;

use super::blocks::{
    ArenaOfDevice, DeviceBlocks, EVENTS_PER_LOOK, FrameVariables, HOST_THROUGHOUT, SegmentReader,
    THROUGHOUT, arenas_of_devices,
};
use super::{ReplayedSnapshot, RunContents, SnapshotRun};
use crate::progress::Progress;
use crate::store::arena::Arenas;
use crate::store::ids::CategoryId;
use crate::store::liveness::{Deltas, Liveness, VariableBytes};
use crate::store::memory_timeline::MemoryTimeline;
use crate::store::options::{About, EngineOption};
use crate::store::program::{Programs, Steps};
use crate::store::report::Categories;
use crate::store::snapshot::{Action, Segment, StackId};
use crate::store::{Absence, ArenaId, DeviceId, IdColumn, ProgramId, Report, StepId, UnloweredId};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::segment_ranges::{SegmentRange, range_of_block};
use crate::systems::pytorch::allocator::settings::is_default;
use crate::systems::pytorch::took::stated_room;
use crate::text::bytes;

impl SnapshotRun {
    /// Fills the parts of the report.
    pub fn fill_report(&self, progress: &Progress) {
        self.fill_report_in_turn(&|| {}, progress);
    }

    /// The same; calls `has_curve` when what curves go by is there, and the rest is not begun.
    pub fn fill_report_in_turn(&self, has_curve: &dyn Fn(), progress: &Progress) {
        let report = &*self.report;
        match &self.allocator.contents {
            RunContents::Snapshot(replayed) => {
                let stated = |place| {
                    let limit = stated_room(&self.allocator, replayed, place).limit_bytes()?;
                    let (_, replay) = replayed.device(place)?;
                    // What it once had, others did not have.
                    Some(limit.max(replay.reserved_peak.bytes))
                };
                let first = self.allocator.end().and_then(|end| end.device).unwrap_or(0);
                fill_of_snapshot(report, (replayed, first), &stated, has_curve, progress);
            }
            RunContents::Timeline(timeline) => fill_of_timeline(report, timeline),
        }
        report.settle_rest(&if progress.is_cancelled() {
            Absence::cancelled()
        } else {
            Absence::unexplained()
        });
    }
}

fn fill_of_snapshot(
    report: &Report,
    (replayed, first): (&Arc<ReplayedSnapshot>, usize),
    stated: &dyn Fn(usize) -> Option<u64>,
    has_curve: &dyn Fn(),
    progress: &Progress,
) {
    let settings = replayed.snapshot.settings.all.iter();
    let option = |(name, value): &(String, String)| EngineOption {
        name: name.clone(),
        value: value.clone(),
        is_default: is_default(name, value),
    };
    report.about.fill(Some(About {
        format: Some("memory snapshot".to_owned()),
        engine_options: settings.map(option).collect(),
        why_no_phases: Some(Absence::unexplained()),
        ..About::default()
    }));
    report.categories.fill(Some(named_categories()));
    let blocks = Arc::new(DeviceBlocks::of(Arc::clone(replayed), FrameVariables::of(replayed)));
    let segments = arenas_of_devices(replayed);
    let mut arenas = arenas(replayed, &segments);
    // What there is for the run is not in the file (formats/pytorch.md 0), but an error text beside it may say it.
    for (place, (device, _)) in replayed.devices().enumerate() {
        let capacity = stated(place).filter(|_| !device.is_host());
        let id = DeviceId::of_number(device.number);
        arenas.device_capacities.extend(capacity.map(|bytes| (id, bytes)));
    }
    // A thread of its own: in the pool, who works on the first picture meanwhile would wait behind it.
    let parts = std::thread::scope(|scope| {
        let changes = || (step_ids(replayed.steps()), deltas(&blocks, progress));
        let named = std::thread::Builder::new().name("changes of a snapshot".to_owned());
        let beside = named.spawn_scoped(scope, changes);
        let programs = programs((replayed, first), &blocks.variables, progress);
        let (ids, changes) = match beside {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => changes(),
        };
        let steps = |(steps, programs)| (Steps { ids, ..steps }, programs);
        programs.map(steps).zip(changes)
    });
    let Some(((steps, programs), deltas)) = parts else { return };
    report.steps.fill(Some(steps));
    report.programs.fill(Some(programs));
    // Who sees the arenas may read one.
    report.set_reader(Box::new(SegmentReader::of(Arc::clone(&blocks), segments)));
    report.arenas.fill(Some(arenas));
    // A curve goes by all of these.
    report.deltas.fill(Some(deltas));
    has_curve();
    let Some(liveness) = liveness(&blocks, progress) else { return };
    report.liveness.fill(Some(liveness));
}

fn named_categories() -> Categories {
    let mut categories = Categories::default();
    for category in BlockCategory::ALL {
        categories.ids.push(CategoryId(category as u32));
        categories.names.push(category.title());
    }
    categories
}

fn arenas(replayed: &ReplayedSnapshot, segments: &[ArenaOfDevice]) -> Arenas {
    // Segments come and go.
    let mut arenas = Arenas { come_and_go: true, ..Arenas::default() };
    let devices: Vec<_> = replayed.devices().collect();
    let mut at_end: HashMap<(usize, u64), &Segment> = HashMap::new();
    for (place, (device, _)) in devices.iter().enumerate() {
        let id = DeviceId::of_number(device.number);
        arenas.device_names.insert(id, device.title());
        if device.is_host() {
            arenas.apart.insert(id);
        }
        let segments = replayed.snapshot.segments_of(device);
        at_end.extend(segments.iter().map(|segment| ((place, segment.address), segment)));
    }
    let mut always_live = vec![0_u64; segments.len()];
    for (place, (_, replay)) in devices.iter().enumerate() {
        let first = segments.partition_point(|segment| segment.device < place);
        for row in replay.lives.always_live() {
            let segment = range_of_block(replayed.segments(place), &replay.lives, row);
            let bytes = segment.and_then(|segment| always_live.get_mut(first + segment));
            if let Some(bytes) = bytes {
                *bytes = bytes.saturating_add(replay.lives.requested[row]);
            }
        }
    }
    for ((id, arena), always_live) in (0..).zip(segments).zip(always_live) {
        let Some((device, _)) = devices.get(arena.device) else { continue };
        let of_end = at_end.get(&(arena.device, arena.range.address));
        let name = segment_name(&arena.range, of_end.copied());
        arenas.ids.push(ArenaId(id));
        arenas.names.push(&name);
        arenas.devices.push(Some(DeviceId::of_number(device.number)));
        arenas.capacities.push(Some(arena.range.bytes));
        arenas.always_live.push(Some(always_live));
    }
    arenas
}

/// What a segment is called: where it begins, its bytes, and what is known of it where it is there at the end. Most are
/// of the common pool and the default stream, and it is said of the others.
fn segment_name(range: &SegmentRange, at_end: Option<&Segment>) -> String {
    let mut name = format!("{:#x}, {}", range.address, bytes(range.bytes));
    if range.is_expandable {
        name.push_str(", expandable");
    }
    // What is written to a text cannot fail.
    if let Some(segment) = at_end {
        name.push_str(if segment.is_small { ", small blocks" } else { ", large blocks" });
        if segment.stream != 0 {
            let _ = write!(name, ", stream {:#x}", segment.stream);
        }
        if segment.pool != (0, 0) {
            let _ = write!(name, ", private pool {}.{}", segment.pool.0, segment.pool.1);
        }
    }
    name
}

/// Kinds of programs: actions, and the end of a snapshot without events.
const KINDS: usize = Action::Unknown as usize + 2;

/// A step for each event.
fn step_ids(count: u32) -> IdColumn<StepId> {
    (0..count).map(StepId).collect::<Vec<_>>().try_into().unwrap_or_default()
}

/// The program of each step of each device, and the programs: one for each action at a user frame. `None` when it was
/// canceled.
fn programs(
    (replayed, first): (&ReplayedSnapshot, usize),
    variables: &FrameVariables,
    progress: &Progress,
) -> Option<(Steps, Programs)> {
    let events = &replayed.snapshot.events;
    let mut programs = Programs::default();
    let mut kinds = [None; KINDS];
    // By variable and kind.
    let mut known = vec![None; variables.names.len().saturating_mul(KINDS)];
    let mut program = |row: Option<usize>| {
        let action = row.and_then(|row| events.actions.get(row)).copied();
        let stack = row.and_then(|row| events.stacks.get(row)).copied().unwrap_or(StackId::NONE);
        let variable = variables.of_stack(stack);
        let kind = action.map_or(KINDS - 1, |action| action as usize);
        let make = || {
            let program = ProgramId(programs.ids.len() as u32);
            let word = action.map_or("end", Action::as_str);
            let kind = *kinds[kind].get_or_insert_with(|| programs.kind_names.push(word));
            let has_frame = stack != StackId::NONE;
            let name = variables.names.at(variable.0 as usize).filter(|_| has_frame);
            programs.ids.push(program);
            programs.kinds.push(Some(kind));
            programs.names.push(name.unwrap_or_default());
            programs.debug_ids.push(0);
            programs.compute_sets.push(None);
            programs.exchanges.push(None);
            programs.children_ends.push(0);
            program
        };
        let known = known.get_mut(variable.0 as usize * KINDS + kind);
        known.map_or(ProgramId(0), |known| *known.get_or_insert_with(make))
    };
    let mut by_device = BTreeMap::new();
    for device in replayed.snapshot.all_devices().filter(|device| !device.events.is_empty()) {
        let mut of_steps = Vec::with_capacity(device.events.len());
        for row in device.events.clone() {
            if row.is_multiple_of(EVENTS_PER_LOOK) && progress.is_cancelled() {
                return None;
            }
            of_steps.push(program(Some(row)));
        }
        by_device.insert(DeviceId::of_number(device.number), of_steps);
    }
    let first = replayed.device(first).map(|(device, _)| DeviceId::of_number(device.number));
    let of_first = first.and_then(|first| by_device.remove(&first)).unwrap_or_default();
    let mut all = of_first.clone();
    // What comes after its last step is of others.
    for of_others in by_device.values() {
        all.extend(of_others.get(all.len()..).unwrap_or_default());
    }
    if all.is_empty() {
        all.push(program(None));
    }
    if let Some(first) = first.filter(|_| !by_device.is_empty()) {
        by_device.insert(first, of_first);
    }
    let steps = Steps { programs: all, by_device, ..Steps::default() };
    Some((steps, programs))
}

/// What changes at each step; `None` when it was canceled.
fn deltas(blocks: &DeviceBlocks, progress: &Progress) -> Option<Deltas> {
    let mut deltas = Deltas::default();
    for (place, device, lives) in blocks.devices() {
        let id = DeviceId::of_number(device.number);
        if let Some(mut levels) = blocks.replayed().take_requested_curve(place) {
            let always_live = lives.always_live_bytes();
            for bytes in &mut levels {
                *bytes = bytes.saturating_sub(always_live);
            }
            deltas.levels.insert(id, levels);
            continue;
        }
        // Of its own events alone: a run of many devices has many more steps.
        let mut changes = EventChanges::new(device.events.len().saturating_add(1));
        for row in 0..lives.len() {
            if row.is_multiple_of(EVENTS_PER_LOOK) && progress.is_cancelled() {
                return None;
            }
            if lives.is_always_live(row) {
                continue;
            }
            let change = i64::try_from(lives.requested[row]).unwrap_or(i64::MAX);
            changes.add(lives.allocation(row).map_or(0, |event| event.saturating_add(1)), change);
            changes.add(lives.freed_at[row].saturating_add(1), -change);
        }
        deltas.by_device.insert(id, at_steps(changes));
    }
    Some(deltas)
}

/// When blocks live; `None` when it was canceled.
fn liveness(blocks: &DeviceBlocks, progress: &Progress) -> Option<Liveness> {
    let mut liveness = Liveness::default();
    for (id, name) in (0..).zip(blocks.variables.names.iter()) {
        liveness.variable_ids.push(UnloweredId(id));
        liveness.variable_names.push(name);
        liveness.debug_id_ends.push(0);
    }
    let count = blocks.replayed().steps();
    for throughout in [THROUGHOUT, HOST_THROUGHOUT] {
        liveness.classes.push(throughout, true, [0..count]);
    }
    let mut of_everything = Vec::new();
    for (place, device, lives) in blocks.devices() {
        let throughout = DeviceBlocks::throughout(device);
        let mut of_throughout: BTreeMap<UnloweredId, u64> = BTreeMap::new();
        let mut rows = Vec::with_capacity(lives.len());
        for row in 0..lives.len() {
            if row.is_multiple_of(EVENTS_PER_LOOK) && progress.is_cancelled() {
                return None;
            }
            let class = blocks.class(place, device, lives, row);
            let variable = blocks.variables.of_stack(lives.stacks[row]);
            let size = lives.requested[row];
            if class == throughout {
                let sum = of_throughout.entry(variable).or_default();
                *sum = sum.saturating_add(size);
                continue;
            }
            liveness.classes.push(class, false, [blocks.steps(lives, row)]);
            rows.push(VariableBytes { variable, class, bytes: size });
        }
        rows.extend(of_throughout.into_iter().map(|(variable, bytes)| VariableBytes {
            variable,
            class: throughout,
            bytes,
        }));
        // Memory of the host is none of the devices'.
        if !device.is_host() {
            of_everything.extend_from_slice(&rows);
        }
        liveness.counted_bytes_of_devices.insert(DeviceId::of_number(device.number), rows);
    }
    liveness.variable_bytes = Some(of_everything);
    Some(liveness)
}

/// The steps at which something changes on a device, of what changes before its first event and at each of its events.
fn at_steps(changes: EventChanges) -> Vec<(u32, i64)> {
    let mut at_steps: Vec<(u32, i64)> = Vec::new();
    for (number, change) in changes.list() {
        let step = number.saturating_sub(1);
        match at_steps.last_mut().filter(|(last, _)| *last == step) {
            Some((_, sum)) => *sum = sum.saturating_add(change),
            None => at_steps.push((step, change)),
        }
    }
    at_steps.retain(|(_, change)| *change != 0);
    at_steps
}

/// What changes at each step, or at each event of a device.
struct EventChanges(Vec<i64>);

impl EventChanges {
    fn new(count: usize) -> Self {
        Self(vec![0; count])
    }

    /// What ends behind the last step does not change.
    fn add(&mut self, step: u32, change: i64) {
        if let Some(sum) = self.0.get_mut(step as usize) {
            *sum = sum.saturating_add(change);
        }
    }

    /// The steps at which something changes, ascending.
    fn list(self) -> Vec<(u32, i64)> {
        let count = self.0.iter().filter(|change| **change != 0).count();
        let mut list = Vec::with_capacity(count);
        list.extend((0..).zip(self.0).filter(|(_, change)| *change != 0));
        list
    }
}

/// A curve alone: there are no blocks.
fn fill_of_timeline(report: &Report, timeline: &MemoryTimeline) {
    report.about.fill(Some(About {
        format: Some("memory timeline of torch.profiler".to_owned()),
        why_no_phases: Some(Absence::unexplained()),
        ..About::default()
    }));
    let mut steps = Steps::default();
    let (mut everything, mut before) = (Vec::new(), 0_i64);
    for (step, total) in (0..).zip(timeline.totals()) {
        steps.ids.push(StepId(step));
        steps.programs.push(ProgramId(0));
        steps.parents.push(None);
        if total != before {
            everything.push((step, total.saturating_sub(before)));
        }
        before = total;
    }
    report.steps.fill(Some(steps));
    let why = || {
        Absence::new(
            "A memory timeline has bytes by category alone: no blocks, no addresses, no stacks",
            "torch.cuda.memory._dump_snapshot writes a snapshot that has them",
        )
    };
    let deltas = Deltas { everything, ..Deltas::default() };
    report.deltas.fill(Some(deltas));
    report
        .liveness
        .fill(Some(Liveness { why_no_variable_bytes: Some(why()), ..Liveness::default() }));
    report.arenas.settle(Err(why()));
    report.categories.settle(Err(why()));
    report.programs.settle(Err(why()));
    report.variables.settle(Err(why()));
}
