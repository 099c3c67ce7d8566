//! Programs, steps and compute sets.

use std::collections::HashMap;

use crate::format::poplar::blob;
use crate::format::poplar::table::{Query, Tables};
use crate::store::compute::ComputeSets;
use crate::store::ids::{ComputeSetId, ProgramId, StepId};
use crate::store::names::{NameId, Names};
use crate::store::program::{Programs, Steps};

/// Reads the programs of the final compilation step, with their kinds and compute sets.
pub fn read_programs(tables: &Tables<'_>) -> Option<Programs> {
    let mut programs = Programs::default();
    let (kind_names, kinds, execute_variant) = read_kinds(tables);
    programs.kind_names = kind_names;
    let executes = read_on_tile_executes(tables);
    let found = tables.query(
        &Query {
            table: "programs",
            columns: &["id", "variant", "variant_index", "children", "name", "debug_id"],
            tail: "WHERE compilation_step_id IS NULL ORDER BY id",
            needs: &["compilation_step_id", "id"],
        },
        [],
        |cells| {
            let Some(id) = cells.required32(0) else { return };
            if !programs.ids.push(ProgramId(id)) {
                cells.damage(0, "a program comes twice, or out of order");
                return;
            }
            let variant = cells.required(1);
            let kind = variant.and_then(|variant| kinds.get(&variant).copied());
            if kind.is_none() && variant.is_some() && !kinds.is_empty() {
                cells.damage(1, "program_types does not have this type");
            }
            programs.kinds.push(kind);
            let index = cells.number32(2);
            let is_execute = variant.is_some() && variant == execute_variant;
            let compute_set =
                if is_execute { index.and_then(|index| executes.get(&index)) } else { None };
            programs.compute_sets.push(compute_set.copied());
            for child in cells.decode(3, blob::list).unwrap_or_default() {
                match u32::try_from(child) {
                    Ok(child) => programs.children.push(ProgramId(child)),
                    Err(_) => cells.damage(3, &format!("a program id expected, {child} found")),
                }
            }
            programs.children_ends.push(programs.children.len());
            programs.names.push(&cells.text(4).unwrap_or_default());
            programs.debug_ids.push(cells.number(5).unwrap_or(0));
        },
    );
    found.then_some(programs)
}

/// `program_types`: names, by type id, and which of them is `OnTileExecute`.
fn read_kinds(tables: &Tables<'_>) -> (Names, HashMap<u64, NameId>, Option<u64>) {
    let (mut names, mut kinds, mut execute) = (Names::default(), HashMap::new(), None);
    tables.read("program_types", &["id", "name"], "id", |cells| {
        let (Some(id), Some(name)) = (cells.required(0), cells.text(1)) else { return };
        if name == "OnTileExecute" {
            execute = Some(id);
        }
        kinds.insert(id, names.push(&name));
    });
    (names, kinds, execute)
}

fn read_on_tile_executes(tables: &Tables<'_>) -> HashMap<u32, ComputeSetId> {
    let mut executes = HashMap::new();
    tables.read("program_type_on_tile_execute", &["id", "compute_set"], "", |cells| {
        if let (Some(id), Some(compute_set)) = (cells.required32(0), cells.required32(1)) {
            executes.insert(id, ComputeSetId(compute_set));
        }
    });
    executes
}

/// Reads the step list. A step that names an absent program stays, and is damage.
pub fn read_steps(tables: &Tables<'_>, programs: Option<&Programs>) -> Option<Steps> {
    let mut steps = Steps::default();
    let columns = ["id", "program_id", "parent_step_id"];
    let found = tables.read("depth_first_steps", &columns, "id", |cells| {
        let Some(id) = cells.required32(0) else { return };
        if !steps.ids.push(StepId(id)) {
            cells.damage(0, "a step comes twice, or out of order");
            return;
        }
        let program = cells.required32(1);
        if let (Some(program), Some(programs)) = (program, programs)
            && programs.ids.position(ProgramId(program)).is_none()
        {
            cells.damage(1, &format!("table programs has no program {program}"));
        }
        steps.programs.push(ProgramId(program.unwrap_or(u32::MAX)));
        steps.parents.push(cells.number32(2).map(StepId));
    });
    found.then_some(steps)
}

/// Reads names and sizes of compute sets.
pub fn read_compute_sets(tables: &Tables<'_>) -> Option<ComputeSets> {
    let mut compute_sets = ComputeSets::default();
    let columns = ["compute_set", "name", "vertex_counts", "edge_count", "debug_id"];
    let found = tables.read("compute_sets", &columns, "compute_set", |cells| {
        let Some(id) = cells.required32(0) else { return };
        if !compute_sets.ids.push(ComputeSetId(id)) {
            cells.damage(0, "a compute set comes twice, or out of order");
            return;
        }
        compute_sets.names.push(&cells.text(1).unwrap_or_default());
        let counts = cells.decode(2, blob::list);
        compute_sets
            .vertices
            .push(counts.map(|counts| counts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n))));
        compute_sets.edges.push(cells.number(3));
        compute_sets.debug_ids.push(cells.number(4).unwrap_or(0));
    });
    found.then_some(compute_sets)
}
