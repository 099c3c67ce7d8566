//! Writes what runs of the program would have recorded.

use rusqlite::types::Null;
use rusqlite::{Transaction, params};

use super::facts::compilation_id;
use super::insert;
use super::programs::{cycles_by_tile, cycles_ids};
use crate::synth::WriteError;
use crate::systems::poplar::files::blob::{encode_list, encode_run_length_list};
use crate::systems::poplar::synth::model::{Detail, Model, Program};

/// 1 January 2026, 00:00:10 UTC, microseconds since 1970.
const FIRST_RUN_MICROSECONDS: u64 = 1_767_225_610_000_000;

/// What cycles over all tiles are spent on, in the order of the columns of `execution_cycle_totals`:
/// programs of these kinds, then syncs, which are all others.
const SPENT_ON: [&str; 6] = [
    "OnTileExecute",
    "DoExchange",
    "GlobalExchange",
    "StreamCopyMid",
    "StreamCopyBegin",
    "StreamCopyEnd",
];

pub fn write(model: &Model, db: &Transaction<'_>) -> Result<(), WriteError> {
    write_cycles(model, db)?;
    let order = execution_order(model);
    let ipus = model.ipus();
    let clock_hz = model.target.clock_hz.unwrap_or(1).max(1);
    // The time of each IPU; they wait for each other at syncs.
    let mut now = vec![0_u64; ipus];
    // That of its transfers with the host, where these go on beside the rest.
    let mut of_host = vec![0_u64; ipus];
    let mut step = 0_i64;
    let mut start_microseconds = FIRST_RUN_MICROSECONDS;
    for run in 0..u64::from(model.recorded.runs) {
        let start = now.clone();
        let mut totals = [0_u64; SPENT_ON.len() + 1];
        for id in &order {
            let Some(program) = model.programs.get(*id) else { continue };
            if matches!(program.detail, Detail::Sync | Detail::GlobalExchange(_)) {
                let latest = now.iter().copied().max().unwrap_or(0);
                now.fill(latest);
            }
            let is_beside = model.recorded.overlapped_io && program.kind.starts_with("StreamCopy");
            let ipu = program.ipu as usize;
            let Some(clock) = (if is_beside { &mut of_host } else { &mut now }).get_mut(ipu) else {
                continue;
            };
            let cycles = cycles_by_tile(model, *id, program.cycles);
            if model.recorded.blocks {
                write_blocks(model, db, *id, *clock, &cycles)?;
            }
            let longest = write_step(db, step, *id, program, *clock, &cycles)?;
            let column = SPENT_ON.iter().position(|kind| *kind == program.kind);
            if let Some(total) = totals.get_mut(column.unwrap_or(SPENT_ON.len())) {
                *total += cycles.iter().sum::<u64>();
            }
            *clock += longest;
            insert(db, "program_trace", params![step, id])?;
            step += 1;
        }
        let latest = now.iter().chain(&of_host).copied().max().unwrap_or(0);
        now.fill(latest);
        of_host.fill(latest);
        let cycles = latest - start.iter().copied().max().unwrap_or(0);
        // The host takes its own time beside that of the chip.
        let elapsed =
            u64::try_from(u128::from(cycles) * 1_000_000 / u128::from(clock_hz)).unwrap_or(0) + 150;
        let (clocks, from, to) =
            (encode_list(&vec![clock_hz; ipus]), encode_list(&start), encode_list(&now));
        let steps = order.len();
        let row = params![run, start_microseconds, elapsed, "main", steps, steps, clocks, from, to];
        insert(db, "runs", row)?;
        let [compute, exchange, global, copy, begin, end, sync] = totals;
        db.execute(
            "INSERT INTO execution_cycle_totals VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, \
             0, 0, 0, 0, 0, 0, 0, 0)",
            params![run, cycles, compute, exchange, global, copy, begin, end, sync],
        )?;
        start_microseconds += elapsed + 2_000;
    }
    for (name, value, is_default) in &model.options {
        insert(db, "execution_parameters", params![name, value, is_default, 0])?;
    }
    insert(db, "execution_info", params![compilation_id(model)])
}

/// Tiles of each IPU that lightweight profiling measures on.
const MEASURED_TILES: u32 = 4;

/// Writes what a program takes on the tiles that are measured: a block for a compute set, with its number, and for
/// a transfer with the host.
fn write_blocks(
    model: &Model,
    db: &Transaction<'_>,
    id: usize,
    base: u64,
    cycles: &[u64],
) -> Result<(), WriteError> {
    let Some(program) = model.programs.get(id) else { return Ok(()) };
    let (block, kind) = match program.detail {
        Detail::Execute(compute_set) => (Some(compute_set), 0),
        Detail::HostExchange(..) => (None, 1),
        _ => return Ok(()),
    };
    let first = program.ipu * u32::try_from(cycles.len()).unwrap_or(0);
    for (tile, cycles) in (first..).zip(cycles).take(MEASURED_TILES as usize) {
        insert(db, "blocks", params![tile, base, base + cycles, block, kind])?;
    }
    Ok(())
}

/// Programs in the order in which they run: those that take time, loops as often as they repeat.
fn execution_order(model: &Model) -> Vec<usize> {
    let children = model.children();
    let mut order = Vec::new();
    // What is still to run, last first.
    let mut waiting = vec![0_usize];
    while let Some(id) = waiting.pop() {
        let Some(program) = model.programs.get(id) else { continue };
        let times = if let Detail::Repeat(count) = program.detail { count } else { 1 };
        for _ in 0..times {
            waiting.extend(children.get(id).into_iter().flatten().rev());
        }
        if program.cycles > 0 {
            order.push(id);
        }
    }
    order
}

/// Cycles by tile of every program that takes any, under the program's number.
fn write_cycles(model: &Model, db: &Transaction<'_>) -> Result<(), WriteError> {
    for (id, program) in model.programs.iter().enumerate().filter(|(_, program)| program.cycles > 0)
    {
        let list = encode_run_length_list(&cycles_by_tile(model, id, program.cycles));
        insert(db, "cycles_by_tile", params![id + 1, list])?;
        if let Detail::Execute(compute_set) = program.detail {
            let ids = cycles_ids(model, id + 1, program.ipu);
            insert(db, "compute_set_cycles_by_tile", params![compute_set, ids])?;
        }
    }
    Ok(())
}

/// Writes one step and returns the cycles of its longest tile.
fn write_step(
    db: &Transaction<'_>,
    step: i64,
    id: usize,
    program: &Program,
    base: u64,
    cycles: &[u64],
) -> Result<u64, WriteError> {
    let compute_set =
        if let Detail::Execute(compute_set) = program.detail { Some(compute_set) } else { None };
    insert(db, "steps", params![step, program.kind, id, Null, Null, Null, Null, compute_set])?;
    let longest = cycles.iter().copied().max().unwrap_or(0);
    let shortest = cycles.iter().copied().min().unwrap_or(0);
    let mean = cycles.iter().sum::<u64>() / (cycles.len() as u64).max(1);
    let balance = if longest == 0 { 1.0 } else { mean as f64 / longest as f64 };
    db.prepare_cached(
        "INSERT INTO steps_by_ipu VALUES (?1, ?2, ?3, 0, 0, 0, ?4, ?5, ?6, ?4, ?5, ?6, ?4, ?7, ?8, \
         NULL, ?8, ?9)",
    )?
    .execute(params![
        step,
        program.ipu,
        base,
        longest,
        mean,
        shortest,
        cycles.len(),
        balance,
        id + 1
    ])?;
    Ok(longest)
}
