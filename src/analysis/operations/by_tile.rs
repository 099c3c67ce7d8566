//! What an operation has on each tile: code and estimated cycles.

use std::collections::HashMap;

use super::table::owners_of_vertex_types;
use crate::analysis::comparison::owners::Owners;
use crate::analysis::compute::estimates::Work;
use crate::analysis::program::step_operations::StepOperations;
use crate::analysis::program::tree::children_at;
use crate::store::Report;
use crate::store::exchange::ExchangeKind;
use crate::store::tile_list::TileList;

/// What is asked of every tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileFigure {
    /// [`super::Figure::Code`], bytes: of its programs, internal exchanges and vertices, as far as the report has them.
    Code,
    /// Estimated cycles, added up over its steps, each of which counts once; known where they are of all its steps that
    /// compute or exchange.
    EstimatedCycles,
}

/// The figure of each tile of an operation, a position in `Owners::operations`; `None` where the report does not
/// say, or when it was cancelled.
pub fn by_tile(
    report: &Report,
    (steps, owners): (&StepOperations, &Owners),
    operation: u32,
    figure: TileFigure,
    is_cancelled: &dyn Fn() -> bool,
) -> Option<Vec<u64>> {
    let tiles = usize::try_from(report.target.get()?.tiles?).ok()?;
    let mut sums = vec![0_i64; tiles.min(crate::budget::TILES as usize)];
    let mut add = |list: &TileList, times: i64| {
        let mut tile = 0_usize;
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
    match figure {
        TileFigure::Code => {
            let control = report.control_code.get().zip(report.programs.get());
            let vertices = owners_of_vertex_types(report, owners).zip(report.vertex_types.get());
            if control.is_none() && report.exchanges.get().is_none() && vertices.is_none() {
                return None;
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
        TileFigure::EstimatedCycles => {
            let mut visits: HashMap<Work, i64> = HashMap::new();
            for step in steps.steps_of(operation) {
                if let Some(work) = Work::of_step(report, *step as usize) {
                    let times = visits.entry(work).or_default();
                    *times = times.saturating_add(1);
                }
            }
            if visits.is_empty() {
                return None;
            }
            // A part of them would look like all.
            for (work, times) in visits {
                if is_cancelled() {
                    return None;
                }
                add(work.cycles(report).ok()?, times);
            }
        }
    }
    Some(sums.into_iter().map(|sum| u64::try_from(sum).unwrap_or(0)).collect())
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
            by_tile(report, (&steps, &owners), 0, TileFigure::Code, &|| false)
        };
        report.target.fill(Some(Target { tiles: Some(3), ..Target::default() }));
        assert_eq!(code(&report), None, "nothing says where code is");
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
        assert_eq!(code(&report), Some(vec![1, 2, 3]));
        report.control_code.fill(Some(vec![list([10, 20, 30]), list([10, 5, 0])]));
        assert_eq!(code(&report), Some(vec![1, 17, 33]));
    }
}
