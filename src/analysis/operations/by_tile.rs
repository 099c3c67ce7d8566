//! The figures of an operation on each tile: code, estimated and measured cycles.

use std::collections::{BTreeMap, HashMap};

use super::operation_of_span;
use super::table::owners_of_vertex_types;
use crate::analysis::comparison::owners::Owners;
use crate::analysis::compute::estimates::{NoEstimate, StepWork};
use crate::analysis::execution::{Executed, SPANS_PER_LOOK};
use crate::analysis::program::step_operations::StepOperations;
use crate::analysis::program::tree::children_at;
use crate::progress::Progress;
use crate::store::Report;
use crate::store::exchange::ExchangeKind;
use crate::store::tile_list::TileList;

/// Lists of cycles by tile that are in memory together.
const LISTS_AT_ONCE: usize = 256;

/// What is asked of every tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FigureByTile {
    /// [`super::OperationFigure::Code`], bytes: of its programs, internal exchanges and vertices, as far as the report has them.
    Code,
    /// Estimated cycles, added up over its steps, each of which counts once; known where they are of all its steps that
    /// compute or exchange.
    EstimatedCycles,
    /// Cycles that were recorded of its steps, added up over all runs; known where they were recorded by tile of all of
    /// them.
    MeasuredCycles,
}

/// Why there is no figure by tile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotByTile {
    /// The machine is not known.
    #[error("The report does not say how many tiles there are")]
    NoTiles,
    /// Neither programs nor exchanges nor vertices say it.
    #[error("The report does not say where code is")]
    NoCode,
    /// No step of it could have an estimate.
    #[error("None of its steps computes or exchanges anything")]
    DoesNothing,
    /// One of its steps has no estimate.
    #[error("{0}")]
    NoEstimate(NoEstimate),
    /// None of its steps is among those that ran.
    #[error("None of its steps is among those that were recorded")]
    DidNotRun,
    /// Of a part of its steps nothing was recorded, or what was is damaged.
    #[error("Cycles by tile were not recorded of all its steps")]
    NotRecorded,
    /// The files cannot be read any more.
    #[error("Cycles by tile cannot be read: {0}")]
    NotRead(String),
    /// Nobody wants it any more.
    #[error("Reading was canceled")]
    Cancelled,
}

/// The figure of each tile of an operation, a position in `Owners::operations`.
///
/// # Errors
/// Why there is none; figures of a part of the operation would look like all.
pub fn by_tile(
    report: &Report,
    steps: &StepOperations,
    owners: &Owners,
    operation: u32,
    figure: FigureByTile,
    progress: &Progress,
) -> Result<Vec<u64>, NotByTile> {
    let target = report.target.get().ok_or(NotByTile::NoTiles)?;
    let in_memory = |count: Option<u64>| usize::try_from(count?).ok();
    let tiles = in_memory(target.tiles).ok_or(NotByTile::NoTiles)?;
    let mut sums = vec![0_i64; tiles.min(crate::limits::TILES as usize)];
    let mut add_from = |first: usize, list: &TileList, times: i64| {
        let mut tile = first;
        list.runs_in(0..list.len(), |count, value| {
            let end = tile.saturating_add(count as usize);
            let value = i64::try_from(value).unwrap_or(i64::MAX).saturating_mul(times);
            let cells = sums.get_mut(tile..end.min(tiles)).unwrap_or_default();
            for cell in cells {
                *cell = cell.saturating_add(value);
            }
            tile = end;
        });
    };
    let mut add = |list: &TileList, times: i64| add_from(0, list, times);
    match figure {
        FigureByTile::Code => {
            let control = report.control_code.get().zip(report.programs.get());
            let vertices = owners_of_vertex_types(report, owners).zip(report.vertex_types.get());
            if control.is_none() && report.exchanges.get().is_none() && vertices.is_none() {
                return Err(NotByTile::NoCode);
            }
            if let Some((control, programs)) = control {
                let list = |row: usize| control.get(row).and_then(Option::as_ref);
                for (row, owner) in owners.programs.iter().enumerate() {
                    let with_children = list(row).filter(|_| *owner == Some(operation));
                    let Some(with_children) = with_children else { continue };
                    add(with_children, 1);
                    let children = children_at(programs, row).filter_map(list);
                    children.for_each(|child| add(child, -1));
                }
            }
            if let Some(exchanges) = report.exchanges.get() {
                for (id, code) in exchanges.ids.iter().zip(&exchanges.code) {
                    if id.kind == ExchangeKind::Internal
                        && owners.of_exchange(*id) == Some(operation)
                        && let Some(code) = code
                    {
                        add(code, 1);
                    }
                }
            }
            if let Some((of_types, types)) = vertices {
                for (owner, code) in of_types.into_iter().zip(&types.code) {
                    if let Some(code) = code.as_ref().filter(|_| owner == Some(operation)) {
                        add(code, 1);
                    }
                }
            }
        }
        FigureByTile::EstimatedCycles => {
            let mut visits: HashMap<StepWork, i64> = HashMap::new();
            for step in steps.steps_of(operation) {
                if let Some(work) = StepWork::of_step(report, *step as usize) {
                    let times = visits.entry(work).or_default();
                    *times = times.saturating_add(1);
                }
            }
            if visits.is_empty() {
                return Err(NotByTile::DoesNothing);
            }
            for (work, times) in visits {
                if progress.is_cancelled() {
                    return Err(NotByTile::Cancelled);
                }
                add(work.cycles(report).map_err(NotByTile::NoEstimate)?, times);
            }
        }
        FigureByTile::MeasuredCycles => {
            let tiles_of_device = in_memory(target.tiles_per_device).ok_or(NotByTile::NoTiles)?;
            let executed = Executed::of(report).ok_or(NotByTile::DidNotRun)?;
            let reader = report.reader().ok_or(NotByTile::NotRecorded)?;
            let spans = lists_of_spans(executed, owners, operation, progress)?;
            let spans: Vec<(u32, Vec<(u32, i64)>)> = spans.into_iter().collect();
            for some in spans.chunks(LISTS_AT_ONCE) {
                let ids: Vec<u32> = some.iter().map(|(list, _)| *list).collect();
                let lists = reader.read_tile_cycles(&ids, progress);
                if progress.is_cancelled() {
                    return Err(NotByTile::Cancelled);
                }
                let lists = lists.map_err(|error| NotByTile::NotRead(error.to_string()))?;
                for ((_, devices), list) in some.iter().zip(lists) {
                    let list = list.ok_or(NotByTile::NotRecorded)?;
                    for (device, times) in devices {
                        add_from(tiles_of_device.saturating_mul(*device as usize), &list, *times);
                    }
                }
            }
        }
    }
    Ok(sums.into_iter().map(|sum| u64::try_from(sum).unwrap_or(0)).collect())
}

/// The lists of cycles by tile of the spans of an operation: for each list how often it is that of an IPU.
fn lists_of_spans(
    executed: Executed<'_>,
    owners: &Owners,
    operation: u32,
    progress: &Progress,
) -> Result<BTreeMap<u32, Vec<(u32, i64)>>, NotByTile> {
    let trace = executed.trace;
    let mut found: BTreeMap<u32, Vec<(u32, i64)>> = BTreeMap::new();
    for device in &trace.devices {
        for span in device.rows.clone() {
            if span.is_multiple_of(SPANS_PER_LOOK) && progress.is_cancelled() {
                return Err(NotByTile::Cancelled);
            }
            if operation_of_span(executed, owners, span) != Some(operation) {
                continue;
            }
            let list = trace.spans.list(span).ok_or(NotByTile::NotRecorded)?;
            let of_list = found.entry(list).or_default();
            match of_list.last_mut().filter(|(last, _)| *last == device.device) {
                Some((_, times)) => *times = times.saturating_add(1),
                None => of_list.push((device.device, 1)),
            }
        }
    }
    if found.is_empty() { Err(NotByTile::DidNotRun) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ProgramId;
    use crate::store::exchange::{ExchangeId, Exchanges};
    use crate::store::program::Programs;
    use crate::store::target::Target;

    #[test]
    fn code_of_children_and_of_others_does_not_count() {
        let report = Report::default();
        let code = |report: &Report| {
            let debug = crate::analysis::fixture::contexts([("convolution", "a"), ("matMul", "b")]);
            let _ = report.debug.get().is_none().then(|| report.debug.fill(Some(debug)));
            let steps = StepOperations::default();
            let owners = Owners::of(report, &steps);
            by_tile(report, &steps, &owners, 0, FigureByTile::Code, &Progress::default())
        };
        report.target.fill(Some(Target { tiles: Some(3), ..Target::default() }));
        assert_eq!(code(&report), Err(NotByTile::NoCode));
        let exchange = |number| ExchangeId { kind: ExchangeKind::Internal, number };
        let mut programs = Programs::default();
        for (id, debug_id, children) in [(0, 1, vec![1]), (1, 2, vec![])] {
            assert!(programs.ids.push(ProgramId(id)));
            programs.debug_ids.push(debug_id);
            programs.exchanges.push(Some(exchange(id)));
            programs.children.extend(children.into_iter().map(ProgramId));
            programs.children_ends.push(programs.children.len());
        }
        let list = |runs: [u64; 3]| Some(TileList::from_runs(runs.map(|bytes| (1, bytes))));
        report.programs.fill(Some(programs));
        report.exchanges.fill(Some(Exchanges {
            ids: vec![exchange(0), exchange(1)],
            code: vec![list([1, 2, 3]), list([50, 50, 50])],
            ..Exchanges::default()
        }));
        assert_eq!(code(&report), Ok(vec![1, 2, 3]));
        report.control_code.fill(Some(vec![list([10, 20, 30]), list([10, 5, 0])]));
        assert_eq!(code(&report), Ok(vec![1, 17, 33]));
    }
}
