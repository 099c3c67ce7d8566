//! The report of a record: the allocator is an arena of its device, events are steps.

use std::collections::HashMap;

use super::OpenRecord;
use crate::store::arena::Arenas;
use crate::store::liveness::{Deltas, Liveness, VariableBytes};
use crate::store::options::About;
use crate::store::program::{Programs, Steps};
use crate::store::{Absence, ArenaId, ClassId, DeviceId, ProgramId, Report, StepId, UnloweredId};

/// The only device.
pub(super) const DEVICE: i64 = 0;
/// The class of what is in use throughout.
const THROUGHOUT: ClassId = ClassId(0);

/// What the form of a record is called.
pub(super) const FORMAT: &str = "record of an allocator in a profile";

/// Fills all parts of the report.
pub(super) fn fill(report: &Report, open: &OpenRecord) {
    report.about.fill(Some(About {
        format: Some(FORMAT.to_owned()),
        why_no_phases: Some(Absence::unexplained()),
        ..About::default()
    }));
    let always_live = open.always_live_bytes();
    report.arenas.fill(Some(arenas(open, always_live)));
    let (steps, programs) = steps(open);
    report.steps.fill(Some(steps));
    report.programs.fill(Some(programs));
    report.deltas.fill(Some(deltas(open, always_live)));
    report.liveness.fill(Some(liveness(open, always_live)));
    report.settle_rest(&Absence::unexplained());
}

fn arenas(open: &OpenRecord, always_live: u64) -> Arenas {
    let (record, id) = (&open.record, DeviceId::of_number(DEVICE));
    // Blocks lie anywhere in what the allocator holds.
    let mut arenas = Arenas { come_and_go: true, main: Some(id), ..Arenas::default() };
    arenas.ids.push(ArenaId(0));
    arenas.names.push(&record.name);
    arenas.devices.push(Some(id));
    arenas.capacities.push(record.limit_bytes);
    arenas.always_live.push(Some(always_live));
    arenas.device_names.insert(id, record.name.clone());
    arenas.device_capacities =
        record.capacity_bytes().map(|bytes| (id, bytes)).into_iter().collect();
    arenas
}

/// A step for each event, and a program for each kind of event with its name.
fn steps(open: &OpenRecord) -> (Steps, Programs) {
    let (mut steps, mut programs) = (Steps::default(), Programs::default());
    let kinds = ["deallocation", "allocation"].map(|kind| programs.kind_names.push(kind));
    let mut known: HashMap<(bool, &str), ProgramId> = HashMap::new();
    for (place, event) in (0..).zip(&open.record.events) {
        let title = open.record.title(event).unwrap_or_default();
        let program = *known.entry((event.is_allocation, title)).or_insert_with(|| {
            let id = ProgramId(u32::try_from(programs.kinds.len()).unwrap_or(u32::MAX));
            programs.ids.push(id);
            programs.kinds.push(kinds.get(usize::from(event.is_allocation)).copied());
            programs.names.push(title);
            programs.debug_ids.push(0);
            programs.compute_sets.push(None);
            programs.exchanges.push(None);
            programs.children_ends.push(0);
            id
        });
        steps.ids.push(StepId(place));
        steps.programs.push(program);
        steps.parents.push(None);
    }
    (steps, programs)
}

/// What is in use, as events state it.
fn deltas(open: &OpenRecord, always_live: u64) -> Deltas {
    let (mut everything, mut before) = (Vec::new(), 0_i64);
    for (place, event) in (0..).zip(&open.record.events) {
        let now = i64::try_from(event.in_use_bytes.saturating_sub(always_live)).unwrap_or(i64::MAX);
        if now != before {
            everything.push((place, now.saturating_sub(before)));
        }
        before = now;
    }
    let by_device = [(DeviceId::of_number(DEVICE), everything.clone())].into_iter().collect();
    Deltas { everything, by_device, ..Deltas::default() }
}

/// Blocks by what they are called.
fn liveness(open: &OpenRecord, always_live: u64) -> Liveness {
    let mut liveness = Liveness::default();
    let Some(blocks) = &open.blocks else {
        let what = "Events of the profile do not say where blocks lie, so it is not known which of them are alive";
        liveness.why_no_variable_bytes = Some(Absence::new(what, ""));
        return liveness;
    };
    let events = u32::try_from(open.record.events.len()).unwrap_or(u32::MAX);
    liveness.classes.push(THROUGHOUT, true, [0..events]);
    let mut variables: HashMap<&str, UnloweredId> = HashMap::new();
    let mut rows = Vec::with_capacity(blocks.len());
    let mut variable = |liveness: &mut Liveness, title| {
        *variables.entry(title).or_insert_with(|| {
            let id = UnloweredId(u32::try_from(liveness.variable_names.len()).unwrap_or(u32::MAX));
            liveness.variable_ids.push(id);
            liveness.variable_names.push(title);
            liveness.debug_id_ends.push(0);
            id
        })
    };
    if always_live > 0 {
        let variable = variable(&mut liveness, super::BEFORE);
        rows.push(VariableBytes { variable, class: THROUGHOUT, bytes: always_live });
    }
    for (class, block) in (1..).map(ClassId).zip(blocks) {
        let steps = block.events();
        if steps.is_empty() {
            continue;
        }
        let variable = variable(&mut liveness, open.title(block));
        liveness.classes.push(class, false, [steps]);
        rows.push(VariableBytes { variable, class, bytes: block.bytes });
    }
    liveness.counted_bytes_of_devices.insert(DeviceId::of_number(DEVICE), rows.clone());
    liveness.variable_bytes = Some(rows);
    liveness
}
