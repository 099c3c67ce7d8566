//! Entry points and calls of programs, and the programs of earlier compilation steps.

use std::collections::HashMap;

use super::programs::{ProgramsLeft, Variants, read_programs_of};
use crate::format::sqlite::{Cells, Query, Tables};
use crate::limits;
use crate::store::program::{ProgramTree, ProgramTrees, Programs};
use crate::store::{FunctionId, ProgramId};

/// Reads the programs of every compilation step; those of the final one are there already. `None` where
/// the reading was canceled.
pub fn read_program_trees(tables: &Tables<'_>, programs: &Programs) -> Option<ProgramTrees> {
    let variants = Variants::read(tables);
    let details = KindDetails {
        callees: read_numbers(tables, "program_type_call", "function_id"),
        repeat_counts: read_numbers(tables, "program_type_repeat", "repeat_count"),
    };
    let mut steps = vec![read_tree(tables, &variants, &details, None, programs)];
    let mut room = ProgramsLeft::of(limits::EARLIER_PROGRAMS);
    for (id, name) in read_steps(tables) {
        let programs = read_programs_of(tables, &variants, Some(id), &mut room).unwrap_or_default();
        let tree = read_tree(tables, &variants, &details, Some(id), &programs);
        steps.push(ProgramTree { name: Some(name), programs: Some(programs), ..tree });
    }
    (!tables.progress.is_cancelled()).then_some(ProgramTrees { steps })
}

/// What the tables of single kinds say, by their ids.
struct KindDetails {
    callees: HashMap<u64, u64>,
    repeat_counts: HashMap<u64, u64>,
}

/// A column of a table by the id of its rows; empty where the report has no such table.
fn read_numbers(tables: &Tables<'_>, table: &str, column: &str) -> HashMap<u64, u64> {
    let mut numbers = HashMap::new();
    if tables.has_table(table) {
        tables.read(table, &["id", column], "", |cells| {
            if let (Some(id), Some(number)) = (cells.required(0), cells.number(1)) {
                numbers.insert(id, number);
            }
        });
    }
    numbers
}

/// The earlier compilation steps, of which a report has none unless it was asked for them.
fn read_steps(tables: &Tables<'_>) -> Vec<(u32, String)> {
    let mut steps = Vec::new();
    if tables.has_table("compilation_steps") {
        tables.read("compilation_steps", &["id", "name"], "id", |cells| {
            if steps.len() >= limits::COMPILATION_STEPS {
                cells.damage(0, "more compilation steps than a report has");
                return;
            }
            if let (Some(id), Some(name)) = (cells.required32(0), cells.word(1)) {
                steps.push((id, name.into_owned()));
            }
        });
    }
    steps
}

fn read_tree(
    tables: &Tables<'_>,
    variants: &Variants,
    details: &KindDetails,
    step: Option<u32>,
    programs: &Programs,
) -> ProgramTree {
    let mut tree = ProgramTree::default();
    read_roots(tables, "control_programs", step, |cells| {
        if let Some(program) = known_program(cells, programs) {
            tree.control.push(program);
        }
    });
    read_roots(tables, "function_programs", step, |cells| {
        if let Some(program) = known_program(cells, programs)
            && cells.next_id(&mut tree.function_ids, "a function comes twice, or out of order")
        {
            tree.functions.push(program);
        }
    });
    read_details(tables, variants, details, step, &mut tree);
    tree
}

fn known_program(cells: &mut Cells<'_, '_>, programs: &Programs) -> Option<ProgramId> {
    let program = ProgramId(cells.required32(1)?);
    if programs.ids.position(program).is_none() {
        cells.damage(1, &format!("table programs has no program {program}"));
        return None;
    }
    Some(program)
}

fn read_roots(
    tables: &Tables<'_>,
    table: &str,
    step: Option<u32>,
    each: impl FnMut(&mut Cells<'_, '_>),
) {
    let query = Query {
        table,
        columns: &["id", "program"],
        tail: "WHERE compilation_step_id IS ?1 ORDER BY id",
        needs: &["compilation_step_id", "id"],
    };
    if tables.has_table(table) {
        tables.query(&query, [step], each);
    }
}

/// What programs call, and how often they repeat.
fn read_details(
    tables: &Tables<'_>,
    variants: &Variants,
    details: &KindDetails,
    step: Option<u32>,
    tree: &mut ProgramTree,
) {
    let query = Query {
        table: "programs",
        columns: &["id", "variant", "variant_index"],
        tail: "WHERE compilation_step_id IS ?1 AND variant_index IS NOT NULL ORDER BY id",
        needs: &["compilation_step_id", "id", "variant_index"],
    };
    tables.query(&query, [step], |cells| {
        let variant = cells.number(1).and_then(|variant| variants.kinds.by_variant.get(&variant));
        let (Some(variant), Some(index)) = (variant, cells.number(2)) else { return };
        if variant.is_call {
            let function = details.callees.get(&index).and_then(|id| u32::try_from(*id).ok());
            let Some(function) = function.map(FunctionId) else {
                cells.damage(2, "program_type_call does not have this call");
                return;
            };
            if tree.function_ids.position(function).is_none() {
                cells.damage(2, &format!("function_programs has no function {function}"));
            } else if cells.next_id(&mut tree.callers, "a program comes twice, or out of order") {
                tree.callees.push(function);
            }
        } else if variant.is_repeat
            && let Some(count) = details.repeat_counts.get(&index)
            && cells.next_id(&mut tree.repeats, "a program comes twice, or out of order")
        {
            tree.repeat_counts.push(*count);
        }
    });
}
