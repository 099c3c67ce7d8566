//! Writes what two runs of the program would have recorded.

use rusqlite::{Transaction, params};

use super::facts::compilation_id;
use super::integer;
use super::programs::{cycles_by_tile, cycles_ids};
use crate::format::poplar::blob::{encode_list, encode_run_length_list};
use crate::synth::WriteError;
use crate::synth::model::{Detail, Model, Program};

/// Runs that are recorded, as `autoReport.executionProfileProgramRunCount` has it by default.
const RUNS: u64 = 2;
/// 1 January 2026, 00:00:10 UTC, microseconds since 1970.
const FIRST_RUN_MICROSECONDS: u64 = 1_767_225_610_000_000;

/// Cycles over all tiles by what they were spent on, the columns of `execution_cycle_totals`.
#[derive(Default)]
struct Totals {
    compute: u64,
    exchange: u64,
    global_exchange: u64,
    stream_copy: u64,
    stream_copy_begin: u64,
    stream_copy_end: u64,
    sync: u64,
}

pub fn write(model: &Model, db: &Transaction<'_>) -> Result<(), WriteError> {
    write_cycles(model, db)?;
    let order = execution_order(model);
    let ipus = model.ipus();
    let clock_hz = model.target.clock_hz.unwrap_or(1).max(1);
    // The time of each IPU; they wait for each other at syncs.
    let mut now = vec![0_u64; ipus];
    let mut step = 0_i64;
    let mut start_microseconds = FIRST_RUN_MICROSECONDS;
    for run in 0..RUNS {
        let start = now.clone();
        let mut totals = Totals::default();
        for id in &order {
            let Some(program) = model.programs.get(*id) else { continue };
            if matches!(program.detail, Detail::Sync | Detail::GlobalExchange(_)) {
                let latest = now.iter().copied().max().unwrap_or(0);
                now.fill(latest);
            }
            let Some(clock) = now.get_mut(program.ipu as usize) else { continue };
            let cycles = cycles_by_tile(model, *id, program.cycles);
            let longest = write_step(db, step, *id, program, *clock, &cycles)?;
            totals.add(program.kind, cycles.iter().sum());
            *clock += longest;
            db.prepare_cached("INSERT INTO program_trace VALUES (?1, ?2)")?
                .execute(params![step, id])?;
            step += 1;
        }
        let latest = now.iter().copied().max().unwrap_or(0);
        now.fill(latest);
        let cycles = latest - start.iter().copied().max().unwrap_or(0);
        // The host takes its own time beside that of the chip.
        let elapsed =
            u64::try_from(u128::from(cycles) * 1_000_000 / u128::from(clock_hz)).unwrap_or(0) + 150;
        db.execute(
            "INSERT INTO runs VALUES (?1, ?2, ?3, 'main', ?4, ?5, ?6, ?7, ?8)",
            params![
                integer(run),
                integer(start_microseconds),
                integer(elapsed),
                order.len(),
                order.len(),
                encode_list(&vec![clock_hz; ipus]),
                encode_list(&start),
                encode_list(&now)
            ],
        )?;
        totals.write(db, run, cycles)?;
        start_microseconds += elapsed + 2_000;
    }
    for (name, value, is_default) in &model.options {
        let row = params![name, value, is_default];
        db.execute("INSERT INTO execution_parameters VALUES (?1, ?2, ?3, 0)", row)?;
    }
    db.execute("INSERT INTO execution_info VALUES (?1)", [compilation_id(model)])?;
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
        db.prepare_cached("INSERT INTO cycles_by_tile VALUES (?1, ?2)")?
            .execute(params![id + 1, list])?;
        if let Detail::Execute(compute_set) = program.detail {
            let ids = cycles_ids(model, id + 1, program.ipu);
            db.prepare_cached("INSERT INTO compute_set_cycles_by_tile VALUES (?1, ?2)")?
                .execute(params![compute_set, ids])?;
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
    db.prepare_cached("INSERT INTO steps VALUES (?1, ?2, ?3, NULL, NULL, NULL, NULL, ?4)")?
        .execute(params![step, program.kind, id, compute_set])?;
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
        integer(base),
        integer(longest),
        integer(mean),
        integer(shortest),
        cycles.len(),
        balance,
        id + 1
    ])?;
    Ok(longest)
}

impl Totals {
    fn add(&mut self, kind: &str, cycles: u64) {
        let part = match kind {
            "OnTileExecute" => &mut self.compute,
            "DoExchange" => &mut self.exchange,
            "GlobalExchange" => &mut self.global_exchange,
            "StreamCopyMid" => &mut self.stream_copy,
            "StreamCopyBegin" => &mut self.stream_copy_begin,
            "StreamCopyEnd" => &mut self.stream_copy_end,
            _ => &mut self.sync,
        };
        *part += cycles;
    }

    fn write(&self, db: &Transaction<'_>, run: u64, cycles: u64) -> Result<(), WriteError> {
        db.execute(
            "INSERT INTO execution_cycle_totals VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, \
             0, 0, 0, 0, 0, 0, 0, 0)",
            params![
                integer(run),
                integer(cycles),
                integer(self.compute),
                integer(self.exchange),
                integer(self.global_exchange),
                integer(self.stream_copy),
                integer(self.stream_copy_begin),
                integer(self.stream_copy_end),
                integer(self.sync)
            ],
        )?;
        Ok(())
    }
}
