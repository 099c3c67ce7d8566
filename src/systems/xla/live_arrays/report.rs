//! The report of a profile: one step, at which everything is alive.

use std::collections::HashMap;

use super::OpenProfile;
use crate::store::arena::Arenas;
use crate::store::liveness::{Deltas, Liveness, VariableBytes};
use crate::store::options::About;
use crate::store::program::{Programs, Steps};
use crate::store::{Absence, ArenaId, ClassId, DeviceId, ProgramId, Report, StepId, UnloweredId};

/// What the form of a profile is called.
pub(super) const FORMAT: &str = "device memory profile";
/// The class of all that is alive.
const ALIVE: ClassId = ClassId(0);

/// The number of the device at a place.
pub(super) fn device_at(place: usize) -> DeviceId {
    DeviceId::of_number(i64::try_from(place).unwrap_or(i64::MAX))
}

/// Fills all parts of the report.
pub(super) fn fill(report: &Report, open: &OpenProfile) {
    report.about.fill(Some(About {
        format: Some(FORMAT.to_owned()),
        why_no_phases: Some(Absence::unexplained()),
        ..About::default()
    }));
    let mut arenas = Arenas { come_and_go: true, ..Arenas::default() };
    for (place, name) in open.devices.iter().enumerate() {
        let id = device_at(place);
        arenas.ids.push(ArenaId(u32::try_from(place).unwrap_or(u32::MAX)));
        arenas.names.push(name);
        arenas.devices.push(Some(id));
        arenas.capacities.push(None);
        arenas.always_live.push(Some(0));
        arenas.device_names.insert(id, name.clone());
    }
    report.arenas.fill(Some(arenas));
    let (mut steps, mut programs) = (Steps::default(), Programs::default());
    let kind = programs.kind_names.push("moment");
    programs.ids.push(ProgramId(0));
    programs.kinds.push(Some(kind));
    programs.names.push("save_device_memory_profile");
    programs.debug_ids.push(0);
    programs.compute_sets.push(None);
    programs.exchanges.push(None);
    programs.children_ends.push(0);
    steps.ids.push(StepId(0));
    steps.programs.push(ProgramId(0));
    steps.parents.push(None);
    report.steps.fill(Some(steps));
    report.programs.fill(Some(programs));
    let alive = |bytes: u64| vec![(0, i64::try_from(bytes).unwrap_or(i64::MAX))];
    let by_device = (0..open.devices.len())
        .map(|place| (device_at(place), alive(open.sum_of_device(place).0)))
        .collect();
    let everything = alive(open.sum(None).0);
    report.deltas.fill(Some(Deltas { everything, by_device, ..Deltas::default() }));
    report.liveness.fill(Some(liveness(open)));
    report.settle_rest(&Absence::unexplained());
}

/// What is alive, by the code that made it; on several devices each has its own.
fn liveness(open: &OpenProfile) -> Liveness {
    let mut liveness = Liveness::default();
    liveness.classes.push(ALIVE, false, [0..1]);
    let mut variables: HashMap<String, UnloweredId> = HashMap::new();
    let mut rows = Vec::new();
    for (sample, (owner, device)) in open.profile.samples.iter().zip(&open.owners) {
        if sample.bytes == 0 {
            continue;
        }
        let name = match device.and_then(|place| open.devices.get(place)) {
            Some(device) if open.devices.len() > 1 => format!("{owner} on {device}"),
            Some(_) => owner.clone(),
            None => format!("{owner}, {}", open.kind(sample)),
        };
        let variable = *variables.entry(name).or_insert_with_key(|name| {
            let id = UnloweredId(u32::try_from(liveness.variable_names.len()).unwrap_or(u32::MAX));
            liveness.variable_ids.push(id);
            liveness.variable_names.push(name);
            liveness.debug_id_ends.push(0);
            id
        });
        let row = VariableBytes { variable, class: ALIVE, bytes: sample.bytes };
        if let Some(place) = *device {
            let of_device = &mut liveness.counted_bytes_of_devices;
            of_device.entry(device_at(place)).or_default().push(row);
        }
        rows.push(row);
    }
    liveness.variable_bytes = Some(rows);
    liveness
}
