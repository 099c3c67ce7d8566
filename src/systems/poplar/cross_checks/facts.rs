//! The machine with itself, counts with rows, and programs with the steps that walk them.

use super::differences::Differences;
use super::nowhere;
use crate::store::Report;
use crate::store::exchange::ExchangeKind;
use crate::store::ids::{ProgramId, StepId};
use crate::store::program::{Programs, Steps};

pub fn compare(report: &Report, differences: &mut Differences) {
    compare_target(report, differences);
    compare_counts(report, differences);
    compare_references(report, differences);
    if let (Some(programs), Some(steps)) = (report.programs.get(), report.steps.get()) {
        compare_steps(programs, steps, differences);
    }
}

fn compare_target(report: &Report, differences: &mut Differences) {
    let Some(target) = report.target.get() else { return };
    let product = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_mul(b?));
    let mut compare = |kind, found, a, b| differences.compare(kind, nowhere, found, product(a, b));
    let tiles = "table target_info, column num_tiles";
    let by_ipus = (tiles, "num_ipus × tiles_per_ipu");
    compare(by_ipus, target.tiles, target.devices, target.tiles_per_device);
    let by_replicas = (tiles, "num_replicas × tiles_per_replica");
    compare(by_replicas, target.tiles, target.replicas, target.tiles_per_replica);
    let ipus = ("table target_info, column num_ipus", "num_replicas × ipus_per_replica");
    compare(ipus, target.devices, target.replicas, target.devices_per_replica);
    let of_ipu = ("table target_info, column bytes_per_ipu", "bytes_per_tile × tiles_per_ipu");
    compare(of_ipu, target.bytes_per_device, target.bytes_per_tile, target.tiles_per_device);
    let of_replica =
        ("table target_info, column memory_per_replica", "bytes_per_tile × tiles_per_replica");
    compare(of_replica, target.bytes_per_replica, target.bytes_per_tile, target.tiles_per_replica);
    let of_all = ("table target_info, column total_memory", "bytes_per_tile × num_tiles");
    compare(of_all, target.total_bytes, target.bytes_per_tile, target.tiles);
}

fn compare_counts(report: &Report, differences: &mut Differences) {
    let Some(graph) = report.graph.get() else { return };
    if let Some(sets) = report.compute_sets.get() {
        let kind = ("table graph_info, column num_compute_sets", "the rows of compute_sets");
        differences.compare(kind, nowhere, graph.compute_sets, sets.ids.len() as u64);
        let sum = |numbers: &[Option<u64>]| {
            numbers.iter().try_fold(0_u64, |sum, number| Some(sum.saturating_add((*number)?)))
        };
        let kind = ("table graph_info, column num_vertices", "compute_sets.vertex_counts");
        differences.compare(kind, nowhere, graph.vertices, sum(&sets.vertices));
        let kind = ("table graph_info, column num_edges", "compute_sets.edge_count");
        differences.compare(kind, nowhere, graph.edges, sum(&sets.edges));
    }
    if let Some(variables) = report.variables.get() {
        let kind = ("table graph_info, column num_vars", "the rows of vars_info");
        differences.compare(kind, nowhere, graph.variables, variables.len() as u64);
    }
}

/// Programs that execute a compute set, or an exchange within IPUs, name one that is there.
fn compare_references(report: &Report, differences: &mut Differences) {
    let Some(programs) = report.programs.get() else { return };
    let (sets, exchanges) = (report.compute_sets.get(), report.exchanges.get());
    for (row, program) in programs.ids.as_slice().iter().enumerate() {
        let place = || format!(", program {program}");
        if programs.kind(row) == Some("OnTileExecute")
            && let Some(sets) = sets
        {
            let set = programs.compute_sets.get(row).copied().flatten();
            if set.is_none_or(|set| sets.ids.position(set).is_none()) {
                let kind = (
                    "table programs, column variant_index",
                    "program_type_on_tile_execute and compute_sets",
                );
                let expected = format!("one of {} compute sets", sets.ids.len());
                let found = set.map_or("none".to_owned(), |set| set.to_string());
                differences.add(kind, place, found, expected);
            }
        }
        let exchange = programs.exchanges.get(row).copied().flatten();
        let exchange = exchange.filter(|exchange| exchange.kind == ExchangeKind::Internal);
        if let (Some(exchange), Some(exchanges)) = (exchange, exchanges)
            && exchanges.position(exchange).is_none()
        {
            let kind = ("table programs, column variant_index", "program_type_do_exchange");
            differences.add(kind, place, exchange.number, "one of its rows");
        }
    }
}

/// A step lies in the one before it whose program has it among its children; where a step has as many as its program,
/// they come in the same order. A `Call` has none: what it calls is elsewhere.
fn compare_steps(programs: &Programs, steps: &Steps, differences: &mut Differences) {
    // A root may have as many children as there are steps.
    let rows = 0..programs.ids.len();
    let mut children: Vec<(usize, ProgramId)> = rows
        .flat_map(|row| programs.children_of(row).iter().map(move |child| (row, *child)))
        .collect();
    children.sort_unstable();
    let row_of_parent = |parent: &Option<StepId>| steps.ids.position((*parent)?);
    let mut counts = vec![0_usize; steps.ids.len()];
    for row in steps.parents.iter().filter_map(row_of_parent) {
        if let Some(count) = counts.get_mut(row) {
            *count = count.saturating_add(1);
        }
    }
    let mut seen = vec![0_usize; steps.ids.len()];
    for ((step, program), parent) in
        steps.ids.as_slice().iter().zip(&steps.programs).zip(&steps.parents)
    {
        if programs.ids.position(*program).is_none() {
            let kind = ("table depth_first_steps, column program_id", "programs");
            let expected = format!("one of {} programs", programs.ids.len());
            differences.add(kind, || format!(", step {step}"), program, expected);
        }
        let Some(parent) = *parent else { continue };
        let of_row = steps.ids.position(parent).filter(|_| parent < *step);
        let Some(of_parent) = of_row.and_then(|row| steps.programs.get(row)) else {
            let kind = ("table depth_first_steps, column parent_step_id", "the order of the steps");
            differences.add(kind, || format!(", step {step}"), parent, "an earlier step");
            continue;
        };
        let Some(row) = programs.ids.position(*of_parent) else { continue };
        let count = programs.children_of(row).len();
        if count > 0 && children.binary_search(&(row, *program)).is_err() {
            let kind = ("table depth_first_steps, column program_id", "the children in programs");
            let expected = format!("one of {count} children of program {of_parent}");
            differences.add(kind, || format!(", step {step}"), program, expected);
            continue;
        }
        let Some((place, all)) =
            of_row.and_then(|row| Some((seen.get_mut(row)?, *counts.get(row)?)))
        else {
            continue;
        };
        let expected = programs.children_of(row).get(*place).filter(|_| all == count);
        *place = place.saturating_add(1);
        if let Some(expected) = expected.filter(|expected| *expected != program) {
            let kind = ("table depth_first_steps, order of program_id", "the children in programs");
            differences.add(kind, || format!(", step {step}"), program, expected);
        }
    }
}
