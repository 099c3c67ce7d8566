//! What the parts of a capture come to: the same rows that the database of a report has.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::CapturedCall;
use super::parts::{CaptureParts, CapturedDevice};
use crate::limits;
use crate::store::Warnings;
use crate::systems::tenstorrent::files::descriptor;
use crate::systems::tenstorrent::files::discover::SideFiles;
use crate::systems::tenstorrent::files::small_tables::{DEALLOCATE, ERROR_BYTES};
use crate::systems::tenstorrent::recorded::{ArchSource, ErrorRow, TtnnRank, TtnnReport};

/// The number of the rank; one that is not said, or that another capture has, is the next that is free.
pub fn rank_number(parts: &CaptureParts, taken: &[u64]) -> u64 {
    let said = parts.metadata.rank.filter(|rank| !taken.contains(rank));
    // One more number than are taken is enough.
    let numbers = 0..=taken.len() as u64;
    said.or_else(|| numbers.into_iter().find(|rank| !taken.contains(rank))).unwrap_or(0)
}

/// The machine.
pub fn machine(rank: &mut TtnnRank, parts: &CaptureParts, beside: &SideFiles, warnings: &Warnings) {
    let first = parts.devices.iter().min_by_key(|device| device.id);
    rank.machine.device = first.map(|first| first.device);
    rank.machine.device_rows = parts.devices.len() as u64;
    rank.machine.chips = parts.scan.rows.values().map(|tensor| tensor.chips).fold(1, u64::max);
    match &parts.descriptor {
        Some(text) => descriptor::fill_by_text(&mut rank.machine, text),
        None => descriptor::fill_from_folder(rank, beside, warnings),
    }
    let Some(first) = first else { return };
    if rank.machine.arch.from == ArchSource::L1Size && !first.arch.is_empty() {
        rank.machine.arch.name.clone_from(&first.arch);
        rank.machine.arch.from = ArchSource::Devices;
    }
    if first.dram_banks > 0 {
        rank.machine.dram_banks = first.dram_banks;
    }
}

/// The numbers that a database has in place of these ids: devices count from 0 by their ids.
pub fn mesh_ids(meshes: &BTreeSet<u64>, devices: &[CapturedDevice]) -> Vec<u64> {
    let ids: BTreeSet<u64> = devices.iter().map(|device| device.id).collect();
    let numbers: BTreeMap<u64, u64> = ids.into_iter().zip(0..).collect();
    let mut found: Vec<u64> =
        meshes.iter().map(|mesh| numbers.get(mesh).copied().unwrap_or(*mesh)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Calls with their arguments, and the tensors that they take and give.
pub fn calls(rank: &mut TtnnRank, report: &mut TtnnReport, parts: &CaptureParts) {
    let deallocate = report.names.find(DEALLOCATE);
    for (id, call) in (1_u64..).zip(&parts.scan.calls) {
        rank.operations.push(id, call.name, call.nanoseconds, call.name == deallocate);
    }
    let sides: Vec<[Vec<u64>; 2]> =
        parts.scan.calls.iter().map(|call| tensors_of(call, parts)).collect();
    tensors(rank, &sides, parts);
    for (at, (call, [inputs, outputs])) in (0_u32..).zip(parts.scan.calls.iter().zip(&sides)) {
        for tensor in inputs.iter().copied() {
            if rank_has(rank, tensor) {
                rank.add_input(tensor, at);
            }
        }
        for tensor in outputs.iter().copied() {
            if rank_has(rank, tensor) {
                rank.tensors.add_output(tensor, at);
            }
        }
        let recorded = parts.recorded(call);
        let own = recorded.map(|recorded| &recorded.arguments).filter(|own| !own.is_empty());
        for (name, value) in own.unwrap_or(&call.arguments) {
            rank.calls.add_argument(at, *name, *value);
        }
        if let Some(stack) = recorded.and_then(|recorded| recorded.stack) {
            rank.calls.add_stack(at, stack);
        }
    }
}

fn rank_has(rank: &TtnnRank, tensor: u64) -> bool {
    rank.tensors.get(tensor).is_some_and(|facts| facts.row.is_some())
}

/// The tensors that a call takes and gives: as Python has them, else as its nodes do.
fn tensors_of(call: &CapturedCall, parts: &CaptureParts) -> [Vec<u64>; 2] {
    let recorded = parts.recorded(call);
    let inputs = recorded.map(|recorded| &recorded.inputs).filter(|own| !own.is_empty());
    let outputs = recorded.map(|recorded| &recorded.outputs).filter(|own| !own.is_empty());
    [
        inputs.cloned().unwrap_or_else(|| call.inputs(&parts.scan)),
        outputs.cloned().unwrap_or_else(|| call.outputs(&parts.scan)),
    ]
}

/// Rows of tensors: those of devices, and those of the host that a call takes or gives. A tensor that only Python has is
/// what the call gives that made it.
fn tensors(rank: &mut TtnnRank, sides: &[[Vec<u64>; 2]], parts: &CaptureParts) {
    let scan = &parts.scan;
    let named: BTreeSet<u64> = sides.iter().flatten().flatten().copied().collect();
    for (tensor, found) in &scan.rows {
        if found.is_on_device || named.contains(tensor) {
            rank.tensors.add_row(*tensor, found.row);
        }
    }
    for (call, [_, outputs]) in scan.calls.iter().zip(sides) {
        let made = call.outputs(scan);
        for (tensor, same) in outputs.iter().zip(made) {
            let row = scan.rows.get(&same).map(|found| found.row);
            if let Some(row) = row.filter(|_| !rank_has(rank, *tensor)) {
                rank.tensors.add_row(*tensor, row);
            }
        }
    }
}

/// What ended calls: exceptions as Python or the graph has them, else only that a call did not come to its end. Of a capture
/// that is cut nobody knows that.
pub fn errors(rank: &mut TtnnRank, report: &TtnnReport, parts: &CaptureParts) {
    let is_cut = rank.is_incomplete;
    let mut told: BTreeSet<usize> = BTreeSet::new();
    for (place, call) in parts.scan.calls.iter().enumerate() {
        let of_python = parts.recorded(call).and_then(|recorded| recorded.error.as_ref());
        // Errors stand in the order of their calls.
        let errors = &parts.scan.errors;
        let first = errors.partition_point(|error| error.call < Some(place));
        let of_graph = errors.get(first).filter(|error| error.call == Some(place));
        let name = report.names.get(call.name).to_owned();
        let (kind, message) = match (of_python, of_graph) {
            (Some((kind, message)), _) => (kind.clone(), message.clone()),
            (None, Some(error)) => (error.kind.clone(), error.message.clone()),
            (None, None) if call.is_aborted || !call.has_ended && !is_cut => {
                let message =
                    format!("Operation '{name}' started but never completed (likely crashed)");
                ("incomplete_operation".to_owned(), message)
            }
            (None, None) => continue,
        };
        told.insert(place);
        add_error(rank, u32::try_from(place).ok(), name, kind, &message);
    }
    for error in &parts.scan.errors {
        if error.call.is_none_or(|call| !told.contains(&call)) {
            let (name, kind) = (error.operation.clone(), error.kind.clone());
            add_error(rank, None, name, kind, &error.message);
        }
    }
}

fn add_error(
    rank: &mut TtnnRank,
    operation: Option<u32>,
    name: String,
    kind: String,
    message: &str,
) {
    let failed = operation.and_then(|at| rank.operations.has_error.get_mut(at as usize));
    if let Some(has_error) = failed {
        *has_error = true;
    }
    let message = limits::cut(message, ERROR_BYTES).into_owned();
    rank.errors.push(ErrorRow { operation, name, kind, message });
}
