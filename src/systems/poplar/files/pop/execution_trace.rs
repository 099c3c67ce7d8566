//! The steps that ran, with their cycles on each IPU, and the blocks of lightweight profiling.
//!
//! Those who wrote the format notes have not seen these tables filled. So every list is decoded by the rule of its
//! name (formats/poplar.md 2.3: run-length where it ends in `_rle`, else plain), the number of its elements is
//! checked, and what does not come out is a warning and left out.

use super::tile_lists::ListSizes;
use crate::format::sqlite::{Cells, NumberedRows, Query, ROW_ID, Tables};
use crate::limits;
use crate::store::execution::{
    ExecutionRun, ExecutionTrace, Span, StatedCycles, TileBlock, TileBlocks,
};
use crate::store::names::{Interner, NameId};
use crate::store::tile_list::TileList;
use crate::store::{ComputeSetId, ProgramId, Report};
use crate::systems::poplar::files::blob;

/// Reads all of it but the lists by tile; `None` where neither steps nor blocks were recorded, or when the reading
/// was canceled.
pub fn read_trace(tables: &Tables<'_>, report: &Report) -> Option<ExecutionTrace> {
    let ipus = report.target.get().and_then(|target| target.devices);
    let mut trace = ExecutionTrace::default();
    trace.runs = read_runs(tables, ipus);
    read_stated(tables, &mut trace);
    read_steps(tables, &mut trace);
    if !trace.ids.is_empty() {
        let spans = read_spans(tables, &trace, ipus);
        trace.set_spans(spans);
        if let Some(sizes) = ListSizes::of(report) {
            trace.lists = read_sums(tables, sizes);
        }
    }
    if tables.has_table("blocks") {
        trace.blocks = read_blocks(tables, report);
    }
    let is_there = !trace.spans.is_empty() || !trace.blocks.is_empty() || !trace.runs.is_empty();
    (is_there && !tables.progress.is_cancelled()).then_some(trace)
}

fn read_runs(tables: &Tables<'_>, ipus: Option<u64>) -> Vec<ExecutionRun> {
    const COLUMNS: [&str; 9] = [
        "id",
        "name",
        "start_epoch_time_microseconds",
        "elapsed_microseconds",
        "num_programs",
        "num_steps",
        "estimated_freq_by_ipu",
        "start_cycles_by_ipu",
        "end_cycles_by_ipu",
    ];
    let mut runs = Vec::new();
    let mut names_left = limits::RUN_NAME_BYTES;
    tables.read("runs", &COLUMNS, "id", |cells| {
        let Some(id) = cells.required(0) else { return };
        let name = cells.word(1).unwrap_or_default();
        let name = if name.len() > names_left { String::new() } else { name.into_owned() };
        names_left = names_left.saturating_sub(name.len());
        let by_ipu = |cells: &mut Cells<'_, '_>, column| {
            let expected = usize::try_from(ipus?).ok()?;
            cells.decode(column, |blob| blob::list_of(blob, expected))
        };
        runs.push(ExecutionRun {
            id,
            name,
            start_microseconds: cells.number_up_to(2, limits::CYCLES),
            elapsed_microseconds: cells.number_up_to(3, limits::CYCLES),
            programs: cells.number(4),
            steps: cells.number(5),
            clock_hz: by_ipu(cells, 6).unwrap_or_default(),
            start_cycles: by_ipu(cells, 7).unwrap_or_default(),
            end_cycles: by_ipu(cells, 8).unwrap_or_default(),
            stated: None,
        });
    });
    runs
}

fn read_stated(tables: &Tables<'_>, trace: &mut ExecutionTrace) {
    const COLUMNS: [&str; 9] = [
        "run_id",
        "cycles",
        "tile_cycles_compute",
        "tile_cycles_internal_exchange",
        "tile_cycles_inter_ipu_exchange",
        "tile_cycles_stream_copy",
        "tile_cycles_stream_copy_begin",
        "tile_cycles_stream_copy_end",
        "tile_cycles_sync",
    ];
    tables.read("execution_cycle_totals", &COLUMNS, "", |cells| {
        // A row without a run is the sum over all of them.
        let Some(id) = cells.number(0) else { return };
        let mut number = |column| cells.required(column);
        let stated = (|| {
            Some(StatedCycles {
                cycles: number(1)?,
                compute: number(2)?,
                internal_exchange: number(3)?,
                global_exchange: number(4)?,
                stream_copy: number(5)?,
                stream_copy_begin: number(6)?,
                stream_copy_end: number(7)?,
                sync: number(8)?,
            })
        })();
        match trace.runs.iter_mut().find(|run| run.id == id) {
            Some(run) => run.stated = stated,
            None => cells.damage(0, "a run expected, table runs has none of this number"),
        }
    });
}

fn read_steps(tables: &Tables<'_>, trace: &mut ExecutionTrace) {
    const COLUMNS: [&str; 4] = ["id", "type", "program", "compute_set"];
    let mut kinds = Interner::default();
    let mut kinds_left = limits::STEP_KINDS;
    tables.rows(&NumberedRows::all("steps", &COLUMNS, "id"), |cells| {
        let Some(id) = cells.required32(0) else { return };
        if trace.ids.last().is_some_and(|last| *last >= id) {
            cells.damage(0, "a step comes twice, or out of order");
            return;
        }
        let kind = cells.word(1).unwrap_or_default();
        let before = kinds.len();
        let kind = if kinds_left > 0 { kinds.intern(&kind) } else { kinds.find(&kind) };
        kinds_left = kinds_left.saturating_sub(kinds.len().saturating_sub(before));
        if kind == NameId::NONE {
            cells.damage(1, "more kinds than there are");
        }
        let program = cells.number32(2).map(ProgramId);
        let compute_set = cells.number32(3).map(ComputeSetId);
        trace.push_step(id, kind, program, compute_set);
    });
    trace.kind_names = kinds.into_names();
}

fn read_spans(tables: &Tables<'_>, trace: &ExecutionTrace, ipus: Option<u64>) -> Vec<Span> {
    const COLUMNS: [&str; 9] = [
        "step_id",
        "ipu",
        "cycles_base",
        "active_cycles_from_min",
        "active_cycles_to_max",
        "cycles",
        "active_tiles",
        "tile_balance",
        "tile_cycles_id",
    ];
    let last_ipu = ipus.unwrap_or(limits::TILES).saturating_sub(1);
    let mut spans = Vec::new();
    tables.rows(&NumberedRows::all("steps_by_ipu", &COLUMNS, ROW_ID), |cells| {
        let span = (|| {
            let step = cells.required32(0)?;
            let Ok(step) = trace.ids.binary_search(&step) else {
                cells.damage(0, "a step expected, table steps has none of this number");
                return None;
            };
            let ipu = cells.required_up_to(1, last_ipu)?;
            let base = cells.required_up_to(2, limits::CYCLES)?;
            let from = cells.required_up_to(3, limits::CYCLES)?;
            let to = cells.required_up_to(4, limits::CYCLES)?;
            if to < from {
                cells.damage(4, &format!("not before {from} expected, {to} found"));
                return None;
            }
            let balance = cells.real(7);
            let is_share = |balance: &f64| (0.0..=1.0).contains(balance);
            if let Some(balance) = balance.filter(|balance| !is_share(balance)) {
                cells.damage(7, &format!("0 to 1 expected, {balance} found"));
            }
            Some(Span {
                device: u32::try_from(ipu).ok()?,
                step: u32::try_from(step).ok()?,
                start: base.saturating_add(from),
                end: base.saturating_add(to),
                cycles: cells.required_up_to(5, limits::CYCLES)?,
                active_tiles: cells.required32(6)?,
                balance: balance.filter(is_share).map(|balance| balance as f32),
                list: cells.number32(8),
            })
        })();
        spans.extend(span);
    });
    spans
}

/// The sum of each list of cycles by tile, by its number.
fn read_sums(tables: &Tables<'_>, sizes: ListSizes) -> Vec<(u32, u64)> {
    let mut sums: Vec<(u32, u64)> = Vec::new();
    let columns = ["id", "cycles_by_tile_rle"];
    tables.rows(&NumberedRows::all("cycles_by_tile", &columns, "id"), |cells| {
        let Some(id) = cells.required32(0) else { return };
        if sums.last().is_some_and(|(last, _)| *last >= id) {
            cells.damage(0, "a list comes twice, or out of order");
            return;
        }
        if let Some(list) = cells.decode(1, |blob| sizes.run_length_of_ipu(blob)) {
            sums.push((id, list.sum()));
        }
    });
    sums
}

/// The lists of cycles by tile with these numbers, in their order; `None` for one that is not there or is damaged.
pub fn read_lists(tables: &Tables<'_>, sizes: ListSizes, ids: &[u32]) -> Vec<Option<TileList>> {
    let columns = ["id", "cycles_by_tile_rle"];
    let read = |id: &u32| {
        let mut found = None;
        let query = Query {
            table: "cycles_by_tile",
            columns: &columns,
            tail: "WHERE id = ?1",
            needs: &columns[..1],
        };
        tables.query(&query, [*id], |cells| {
            found = cells.decode(1, |blob| sizes.run_length_of_ipu(blob));
        });
        found
    };
    ids.iter().map(|id| if tables.progress.is_cancelled() { None } else { read(id) }).collect()
}

fn read_blocks(tables: &Tables<'_>, report: &Report) -> TileBlocks {
    let tiles = report.target.get().and_then(|target| target.tiles).unwrap_or(limits::TILES);
    let columns = ["tile", "cycles_from", "cycles_to", "block_id", "type"];
    let mut blocks = Vec::new();
    tables.rows(&NumberedRows::all("blocks", &columns, ROW_ID), |cells| {
        let block = (|| {
            let tile = cells.required_up_to(0, tiles.saturating_sub(1))?;
            let start = cells.required_up_to(1, limits::CYCLES)?;
            let end = cells.required_up_to(2, limits::CYCLES)?;
            if end < start {
                cells.damage(2, &format!("not before {start} expected, {end} found"));
                return None;
            }
            let id = cells.number32(3);
            let kind = cells.required(4)?;
            let tile = u32::try_from(tile).ok()?;
            Some(TileBlock { tile, start, end, id, kind: u8::try_from(kind).unwrap_or(u8::MAX) })
        })();
        blocks.extend(block);
    });
    TileBlocks::of(blocks)
}
