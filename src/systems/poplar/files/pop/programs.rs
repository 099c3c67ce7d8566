//! Programs and steps.

use std::collections::HashMap;

use super::tile_lists::ListSizes;
use crate::format::sqlite::{NumberedRows, Query, Tables};
use crate::limits;
use crate::store::exchange::{ExchangeId, ExchangeKind};
use crate::store::ids::{ComputeSetId, ProgramId, StepId};
use crate::store::names::{NameId, Names};
use crate::store::program::{Programs, Steps};
use crate::store::tile_list::TileList;
use crate::systems::poplar::files::blob;

/// Reads the programs of the final compilation step, with their kinds and compute sets.
pub fn read_programs(tables: &Tables<'_>) -> Option<Programs> {
    read_programs_of(tables, &Variants::read(tables), None, &mut ProgramsLeft::of(usize::MAX))
}

/// How many programs, and children of them, there is still room for.
pub(super) struct ProgramsLeft {
    programs: usize,
    children: usize,
}

impl ProgramsLeft {
    pub fn of(programs: usize) -> Self {
        Self { programs, children: limits::ALL_LIST_NUMBERS }
    }
}

/// Reads the programs of a compilation step that there is room for; the final one has no number.
pub(super) fn read_programs_of(
    tables: &Tables<'_>,
    variants: &Variants,
    step: Option<u32>,
    room: &mut ProgramsLeft,
) -> Option<Programs> {
    let mut programs = Programs::default();
    let Variants { kinds, executes } = variants;
    let found = tables.query(
        &Query {
            table: "programs",
            columns: &["id", "variant", "variant_index", "children", "name", "debug_id"],
            tail: "WHERE compilation_step_id IS ?1 ORDER BY id",
            needs: &["compilation_step_id", "id"],
        },
        [step],
        |cells| {
            if room.programs == 0 {
                cells.damage(0, "more programs than all compilation steps of a report have");
                return;
            }
            if !cells.next_id(&mut programs.ids, "a program comes twice, or out of order") {
                return;
            }
            room.programs = room.programs.saturating_sub(1);
            let variant = cells.required(1);
            let kind = variant.and_then(|variant| kinds.by_variant.get(&variant));
            if kind.is_none() && variant.is_some() && !kinds.by_variant.is_empty() {
                cells.damage(1, "program_types does not have this type");
            }
            programs.kinds.push(kind.map(|kind| kind.name));
            let index = cells.number32(2);
            let is_execute = kind.is_some_and(|kind| kind.is_execute);
            let executed = index.filter(|_| is_execute).and_then(|index| executes.get(&index));
            programs.compute_sets.push(executed.copied());
            let exchange = kind.and_then(|kind| kind.exchange).zip(index);
            let exchange = exchange.map(|(kind, number)| ExchangeId { kind, number });
            programs.exchanges.push(exchange);
            let has_room = room.children > 0;
            if !has_room && !cells.is_null(3) {
                cells.damage(3, "more children than all programs of a report have");
            }
            let children = has_room.then(|| cells.decode(3, blob::list)).flatten();
            let children = children.unwrap_or_default();
            room.children = room.children.saturating_sub(children.len());
            for child in children {
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
    programs.kind_names = kinds.names.clone();
    found.then_some(programs)
}

/// Reads the control code of programs by tile; `None` when no program has any, or the reading was
/// canceled.
pub fn read_control_code(
    tables: &Tables<'_>,
    programs: &Programs,
    lists: ListSizes,
) -> Option<Vec<Option<TileList>>> {
    const COLUMN: &str = "control_code_bytes_by_tile";
    let mut by_program = vec![None; programs.ids.len()];
    let query = Query {
        table: "programs",
        columns: &["id", COLUMN],
        tail: "WHERE compilation_step_id IS NULL AND control_code_bytes_by_tile IS NOT NULL",
        needs: &["compilation_step_id", COLUMN],
    };
    tables.query(&query, [], |cells| {
        let Some(id) = cells.required32(0) else { return };
        let code = cells.decode(1, |blob| lists.run_length(blob));
        let position = programs.ids.position(ProgramId(id));
        if let Some(place) = position.and_then(|position| by_program.get_mut(position)) {
            *place = code;
        }
    });
    let is_there = by_program.iter().any(Option::is_some);
    (is_there && !tables.progress.is_cancelled()).then_some(by_program)
}

/// What `variant` and `variant_index` of a program lead to.
pub(super) struct Variants {
    pub kinds: ProgramKinds,
    executes: HashMap<u32, ComputeSetId>,
}

impl Variants {
    pub fn read(tables: &Tables<'_>) -> Self {
        Self { kinds: read_kinds(tables), executes: read_on_tile_executes(tables) }
    }
}

pub(super) struct ProgramKind {
    name: NameId,
    is_execute: bool,
    exchange: Option<ExchangeKind>,
    pub is_call: bool,
    pub is_repeat: bool,
}

/// `program_types`.
#[derive(Default)]
pub(super) struct ProgramKinds {
    names: Names,
    pub by_variant: HashMap<u64, ProgramKind>,
}

fn read_kinds(tables: &Tables<'_>) -> ProgramKinds {
    let mut kinds = ProgramKinds::default();
    let columns = ["id", "name", "program_type_table"];
    tables.read("program_types", &columns, "id", |cells| {
        let (Some(id), Some(name)) = (cells.required(0), cells.word(1)) else { return };
        let table = cells.text(2);
        let table = table.as_deref();
        let exchange = match table {
            Some("program_type_do_exchange") => Some(ExchangeKind::Internal),
            Some("program_type_global_exchange") => Some(ExchangeKind::Global),
            // The file names a table that it does not have; the real one is the second.
            Some("program_type_stream_copy" | "program_type_stream_copy_mid") => {
                Some(ExchangeKind::Host)
            }
            _ => None,
        };
        let is_execute = name == "OnTileExecute";
        let is_call = table == Some("program_type_call");
        let is_repeat = table == Some("program_type_repeat");
        let kind =
            ProgramKind { name: kinds.names.push(&name), is_execute, exchange, is_call, is_repeat };
        kinds.by_variant.insert(id, kind);
    });
    kinds
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
    let found = tables.rows(&NumberedRows::all("depth_first_steps", &columns, "id"), |cells| {
        if !cells.next_id(&mut steps.ids, "a step comes twice, or out of order") {
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
