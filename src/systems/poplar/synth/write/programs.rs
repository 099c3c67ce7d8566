//! Programs, steps, compute sets, exchanges: what the compiler made, with bytes and cycles by tile.

use std::collections::BTreeMap;

use rusqlite::types::Null;
use rusqlite::{Transaction, params};

use super::insert;
use crate::synth::WriteError;
use crate::synth::mix;
use crate::systems::poplar::files::blob::{encode_list, encode_run_length_list};
use crate::systems::poplar::synth::model::{ComputeSet, Detail, Exchange, Model, Program};

/// Kinds of programs and the tables of their details.
const KINDS: [(&str, Option<&str>); 13] = [
    ("Sequence", None),
    ("OnTileExecute", Some("program_type_on_tile_execute")),
    ("Repeat", Some("program_type_repeat")),
    ("DoExchange", Some("program_type_do_exchange")),
    ("GlobalExchange", Some("program_type_global_exchange")),
    ("StreamCopyBegin", None),
    ("StreamCopyMid", Some("program_type_stream_copy")),
    ("StreamCopyEnd", None),
    ("WriteUndef", None),
    ("Sync", Some("program_type_sync")),
    ("Sans", Some("program_type_sans")),
    ("SyncAns", Some("program_type_sync_ans")),
    ("Call", Some("program_type_call")),
];

pub fn write(model: &Model, db: &Transaction<'_>) -> Result<(), WriteError> {
    for (id, (name, table)) in (1_i64..).zip(KINDS) {
        insert(db, "program_types", params![id, name, table])?;
    }
    let mut next_index = [0_i64; KINDS.len()];
    for ((id, program), children) in model.programs.iter().enumerate().zip(&model.children()) {
        let visited = program.again.unwrap_or(id);
        insert(db, "depth_first_steps", params![id, visited, program.parent])?;
        if program.again.is_some() {
            continue;
        }
        let kind = kind_of(program);
        let index = next_index.get_mut(kind).map(|next| std::mem::replace(next, *next + 1));
        let index = index.filter(|_| program.detail != Detail::None);
        write_detail(model, db, index.unwrap_or(0), id, program)?;
        let name = Some(&program.name).filter(|name| !name.is_empty());
        // What a call runs is no child of it.
        let is_call = matches!(program.detail, Detail::Call(_));
        let children: Vec<u64> =
            children.iter().filter(|_| !is_call).map(|child| *child as u64).collect();
        let children = encode_list(&children);
        let row = params![Null, id, kind + 1, index, children, name, program.context, Null];
        insert(db, "programs", row)?;
    }
    insert(db, "control_programs", params![Null, 0, 0])?;
    for (function, program) in model.functions.iter().enumerate() {
        insert(db, "function_programs", params![Null, function, program])?;
    }
    if !model.functions.is_empty() {
        write_earlier_step(model, db)?;
    }
    write_compute_sets(model, db)
}

/// The programs before they became functions: what is called is a child of every program that calls it.
fn write_earlier_step(model: &Model, db: &Transaction<'_>) -> Result<(), WriteError> {
    const STEP: i64 = 0;
    insert(db, "compilation_steps", params![STEP, "before functions"])?;
    for ((id, program), steps) in model.programs.iter().enumerate().zip(&model.children()) {
        if program.again.is_some() {
            continue;
        }
        let called = match program.detail {
            Detail::Call(function) => model.functions.get(function),
            _ => None,
        };
        let steps: Vec<u64> = steps.iter().map(|child| *child as u64).collect();
        let children =
            called.map_or_else(|| encode_list(&steps), |one| encode_list(&[*one as u64]));
        let kind = if called.is_some() { 0 } else { kind_of(program) };
        let name = Some(&program.name).filter(|name| !name.is_empty());
        let row = params![STEP, id, kind + 1, Null, children, name, program.context, Null];
        insert(db, "programs", row)?;
    }
    insert(db, "control_programs", params![STEP, 0, 0])
}

/// The kind of a program, a position in [`KINDS`].
fn kind_of(program: &Program) -> usize {
    KINDS.iter().position(|(name, _)| *name == program.kind).unwrap_or(0)
}

fn write_detail(
    model: &Model,
    db: &Transaction<'_>,
    index: i64,
    id: usize,
    program: &Program,
) -> Result<(), WriteError> {
    match &program.detail {
        Detail::None => {}
        Detail::Execute(compute_set) => {
            insert(db, "program_type_on_tile_execute", params![index, compute_set])?;
        }
        Detail::Repeat(count) => insert(db, "program_type_repeat", params![index, count])?,
        Detail::Call(function) => insert(db, "program_type_call", params![Null, index, function])?,
        Detail::Sync => insert(db, "program_type_sync", params![index, "External"])?,
        Detail::Tiles(tiles) => {
            let list = encode_list(&tiles.clone().map(u64::from).collect::<Vec<_>>());
            let table = if program.kind == "Sans" { "sans" } else { "sync_ans" };
            insert(db, &format!("program_type_{table}"), params![index, list])?;
        }
        Detail::Exchange(exchange) => {
            let Moved { received, sent, code, by_ipu: [to, from, most], variable } =
                Moved::of(model, exchange);
            let cycles = write_cycles(model, db, id, program)?;
            db.prepare_cached(
                "INSERT INTO program_type_do_exchange VALUES (?1, ?2, ?3, ?4, NULL, ?5, ?5, ?6, ?7, \
                 ?8, ?9, NULL, NULL)",
            )?
            .execute(params![index, received, sent, code, variable, to, from, most, cycles])?;
        }
        Detail::GlobalExchange(exchange) => {
            let Moved { received, sent, by_ipu: [to, from, most], variable, .. } =
                Moved::of(model, exchange);
            let cycles = write_cycles(model, db, id, program)?;
            db.execute(
                "INSERT INTO program_type_global_exchange VALUES (?1, ?2, ?3, NULL, ?4, ?4, ?5, ?6, \
                 ?7, ?8, NULL, NULL, 'External')",
                params![index, received, sent, variable, to, from, most, cycles],
            )?;
        }
        Detail::HostExchange(exchange, stream, from_host) => {
            let Moved { received, by_ipu: [to, _, most], variable, .. } =
                Moved::of(model, exchange);
            let cycles = write_cycles(model, db, id, program)?;
            let none = encode_run_length_list(&vec![0; model.tiles() as usize]);
            let none_by_ipu = encode_run_length_list(&vec![0; model.ipus()]);
            // What comes from the host the tiles receive, what goes there they send.
            let mut lists = [(received, to), (none, none_by_ipu)];
            let mut table = "host_exchange_from_host";
            if !from_host {
                lists.reverse();
                table = "host_exchange_to_host";
            }
            let [(received, to), (sent, from)] = lists;
            let row = params![index, received, sent, Null, to, from, most, cycles];
            insert(db, "program_type_stream_copy_mid", row)?;
            insert(db, table, params![index, stream, variable, 0, Null])?;
        }
    }
    Ok(())
}

/// Lists of an exchange, encoded.
struct Moved {
    received: Vec<u8>,
    sent: Vec<u8>,
    code: Vec<u8>,
    /// Received, sent, and the most of both together.
    by_ipu: [Vec<u8>; 3],
    variable: String,
}

impl Moved {
    fn of(model: &Model, exchange: &Exchange) -> Self {
        let received = bytes_by_tile(model, exchange.received);
        let sent: Vec<u64> = received.iter().map(|bytes| bytes / exchange.copies.max(1)).collect();
        let code = bytes_by_tile(model, exchange.code);
        // Equal parts, in whole instructions; what is over goes with the others' code.
        let code: Vec<u64> = code
            .iter()
            .map(|bytes| bytes.div_ceil(exchange.code_parts.max(1)).next_multiple_of(4))
            .collect();
        let per_ipu = (received.len() / model.ipus().max(1)).max(1);
        let by_ipu = |list: &[u64]| {
            list.chunks(per_ipu).map(|tiles| tiles.iter().sum()).collect::<Vec<u64>>()
        };
        let both: Vec<u64> = received.iter().zip(&sent).map(|(in_, out)| in_ + out).collect();
        let most: Vec<u64> =
            both.chunks(per_ipu).map(|tiles| tiles.iter().copied().max().unwrap_or(0)).collect();
        let symbol = model.symbols.get(exchange.received);
        Self {
            by_ipu: [by_ipu(&received), by_ipu(&sent), most]
                .map(|list| encode_run_length_list(&list)),
            received: encode_run_length_list(&received),
            sent: encode_run_length_list(&sent),
            code: encode_run_length_list(&code),
            variable: symbol.map(|symbol| symbol.name.clone()).unwrap_or_default(),
        }
    }
}

fn bytes_by_tile(model: &Model, symbol: usize) -> Vec<u64> {
    let spread = model.symbols.get(symbol).map(|symbol| symbol.spread);
    (0..model.tiles())
        .map(|tile| spread.map_or(0, |spread| spread.bytes_on(tile, symbol as u64, model.seed)))
        .collect()
}

/// Cycles of a program on the tiles of its IPU; groups of tiles are equally busy.
pub fn cycles_by_tile(model: &Model, program: usize, average: u64) -> Vec<u64> {
    let tiles = model.target.tiles_per_device.unwrap_or(0);
    (0..tiles)
        .map(|tile| {
            let share = mix(model.seed ^ ((program as u64) << 20) ^ (tile / 32)) % 120;
            average * (940 + share) / 1000
        })
        .collect()
}

/// The ids of a program's cycles by IPU: 0 for those that have no part in it.
pub fn cycles_ids(model: &Model, id: usize, ipu: u32) -> Vec<u8> {
    let ids = (0..model.ipus()).map(|other| if other == ipu as usize { id as u64 } else { 0 });
    encode_list(&ids.collect::<Vec<_>>())
}

/// Writes the cycles of a program and returns their ids by IPU.
fn write_cycles(
    model: &Model,
    db: &Transaction<'_>,
    id: usize,
    program: &Program,
) -> Result<Vec<u8>, WriteError> {
    let list = encode_run_length_list(&cycles_by_tile(model, id, program.cycles));
    let key = id + 1;
    insert(db, "compilation_cycles_by_tile", params![key, list])?;
    Ok(cycles_ids(model, key, program.ipu))
}

/// Vertices of a compute set on a tile, and the bytes of its state there that are not the vertices
/// themselves but pointers to their edges.
fn vertices_on(model: &Model, compute_set: &ComputeSet, state: u64) -> (u64, u64) {
    let parts = compute_set.state_parts.max(1);
    // The last compute set of a layer takes what does not divide.
    let share = if compute_set.state_part + 1 == parts {
        state - state / parts * (parts - 1)
    } else {
        state / parts
    };
    let bytes = model.vertex_types.get(compute_set.vertex_type).map_or(1, |kind| kind.bytes);
    let vertices = share * 3 / 4 / bytes;
    (vertices, share - vertices * bytes)
}

fn write_compute_sets(model: &Model, db: &Transaction<'_>) -> Result<(), WriteError> {
    let tiles = model.tiles() as usize;
    let mut by_type = vec![(vec![0_u64; tiles], vec![0_u64; tiles]); model.vertex_types.len()];
    let none = encode_run_length_list(&vec![0; tiles]);
    let (mut all_vertices, mut all_edges) = (0, 0);
    let executes = programs_of_compute_sets(model);
    for (id, compute_set) in model.compute_sets.iter().enumerate() {
        let executed = executes.get(&id).filter(|_| model.has_cycle_estimates);
        let cycles = executed.map(|(at, program)| write_cycles(model, db, *at, program));
        let bytes = model.vertex_types.get(compute_set.vertex_type).map_or(1, |kind| kind.bytes);
        let state = bytes_by_tile(model, compute_set.state);
        let (vertices, pointers): (Vec<u64>, Vec<u64>) =
            state.iter().map(|state| vertices_on(model, compute_set, *state)).unzip();
        let data: Vec<u64> = vertices.iter().map(|vertices| vertices * bytes).collect();
        if let Some((of_data, of_pointers)) = by_type.get_mut(compute_set.vertex_type) {
            of_data.iter_mut().zip(&data).for_each(|(sum, bytes)| *sum += bytes);
            of_pointers.iter_mut().zip(&pointers).for_each(|(sum, bytes)| *sum += bytes);
        }
        let count: u64 = vertices.iter().sum();
        all_vertices += count;
        all_edges += count * 3;
        db.prepare_cached(
            "INSERT INTO compute_sets (compute_set, name, vertex_types, vertex_counts, edge_count, \
             debug_id, cycles_by_tile_ids) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            id,
            compute_set.name,
            encode_list(&[compute_set.vertex_type as u64]),
            encode_list(&[count]),
            count * 3,
            compute_set.context,
            cycles.transpose()?
        ])?;
        let [vertices, pointers, data] =
            [vertices, pointers, data].map(|list| encode_run_length_list(&list));
        insert(db, "vertex_instances", params![id, compute_set.vertex_type, vertices])?;
        insert(db, "memory_by_compute_set", params![id, none, none, pointers, none, data])?;
    }
    let none = encode_list(&vec![0; tiles]);
    for (id, (data, pointers)) in by_type.iter().enumerate() {
        let name = model.vertex_types.get(id).map_or("", |kind| kind.name);
        let code = encode_list(&code_bytes_by_tile(model, name));
        let (pointers, data) = (encode_list(pointers), encode_list(data));
        let row = params![id, code, none, none, pointers, none, data];
        insert(db, "memory_by_vertex_type", row)?;
    }
    insert(db, "graph_info", params![model.compute_sets.len(), all_edges, 0, all_vertices])
}

/// The program that executes each compute set, with its number.
fn programs_of_compute_sets(model: &Model) -> BTreeMap<usize, (usize, &Program)> {
    let programs = model.programs.iter().enumerate();
    let executes = programs.filter_map(|(at, program)| match program.detail {
        Detail::Execute(compute_set) => Some((compute_set, (at, program))),
        _ => None,
    });
    executes.collect()
}

/// Bytes of a codelet on every tile: the symbol whose name is the type's, as a linker writes it.
fn code_bytes_by_tile(model: &Model, vertex_type: &str) -> Vec<u64> {
    let linked =
        vertex_type.replace("::", "__").replace('<', "___").replace(',', "_").replace('>', "");
    let name = format!(".text.__runCodelet_{linked}");
    let mut sums = vec![0; model.tiles() as usize];
    for (at, _) in model.symbols.iter().enumerate().filter(|(_, symbol)| symbol.name == name) {
        sums.iter_mut().zip(bytes_by_tile(model, at)).for_each(|(sum, bytes)| *sum += bytes);
    }
    sums
}
