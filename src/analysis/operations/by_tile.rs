//! What an operation has on each tile: code and estimated cycles.

use crate::analysis::comparison::owners::Owners;
use crate::analysis::program::step_operations::StepOperations;
use crate::analysis::program::steps;
use crate::store::Report;
use crate::store::exchange::ExchangeKind;
use crate::store::tile_list::TileList;

/// What is asked of every tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileFigure {
    /// Control code of its programs and code of its internal exchanges, bytes.
    Code,
    /// Estimated cycles, added up over its steps, each of which counts once.
    EstimatedCycles,
}

/// The figure of each tile of an operation, a position in [`Owners::operations`]; `None` where the report does not
/// say.
pub fn by_tile(
    report: &Report,
    (steps, owners): (&StepOperations, &Owners),
    operation: u32,
    figure: TileFigure,
) -> Option<Vec<u64>> {
    let tiles = usize::try_from(report.target.get()?.tiles?).ok()?;
    let mut sums = vec![0_i64; tiles.min(crate::budget::TILES as usize)];
    let mut add = |list: &TileList, sign: i64| {
        let mut tile = 0_usize;
        list.runs_in(0..list.len(), |count, value| {
            let end = tile.saturating_add(count as usize);
            let value = i64::try_from(value).unwrap_or(i64::MAX).saturating_mul(sign);
            let cells = sums.get_mut(tile..end.min(tiles)).unwrap_or_default();
            for cell in cells {
                *cell = cell.saturating_add(value);
            }
            tile = end;
        });
    };
    match figure {
        TileFigure::Code => {
            let programs = report.programs.get()?;
            let control = report.control_code.get()?;
            let exchanges = report.exchanges.get()?;
            let list = |row: usize| control.get(row).and_then(Option::as_ref);
            for (row, owner) in owners.programs.iter().enumerate() {
                if *owner != Some(operation) {
                    continue;
                }
                let Some(with_children) = list(row) else { continue };
                add(with_children, 1);
                let children = programs.children_of(row).iter();
                let children = children.filter_map(|child| programs.ids.position(*child));
                children.filter_map(list).for_each(|child| add(child, -1));
            }
            for (id, code) in exchanges.ids.iter().zip(&exchanges.code) {
                if id.kind == ExchangeKind::Internal
                    && owners.of_exchange(*id) == Some(operation)
                    && let Some(code) = code
                {
                    add(code, 1);
                }
            }
        }
        TileFigure::EstimatedCycles => {
            let sets = report.compute_sets.get()?;
            let of_sets = report.compute_set_tiles.get()?;
            let exchanges = report.exchanges.get()?;
            let mut is_known = false;
            for step in steps.steps_of(operation) {
                let step = *step as usize;
                let list = if let Some(set) = steps::compute_set(report, step) {
                    let row = sets.ids.position(set);
                    row.and_then(|row| of_sets.cycles.get(row)?.as_ref())
                } else {
                    let exchange = steps::exchange(report, step);
                    let row = exchange.and_then(|exchange| exchanges.position(exchange));
                    row.and_then(|row| exchanges.cycles.get(row)?.as_ref())
                };
                if let Some(list) = list {
                    is_known = true;
                    add(list, 1);
                }
            }
            if !is_known {
                return None;
            }
        }
    }
    Some(sums.into_iter().map(|sum| u64::try_from(sum).unwrap_or(0)).collect())
}
