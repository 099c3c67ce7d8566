//! Compute sets on some tiles: vertices, their state, cycles, and how often they are run.
//!
//! Vertices and state are summed over the tiles, the cycle estimate is that of the busiest of them.
//! Edges are those of the whole compute set: the report does not have them by tile. Steps are visits
//! of the step list to a program that runs the compute set. On a selection of tiles, compute sets that
//! have nothing there are left out.

use std::cmp::Reverse;

use crate::store::{ComputeSetId, Report, VertexTypeId};

use crate::analysis::compute::vertex_state::StateBytes;
use crate::analysis::compute::vertices::{of_compute_set, type_name};
use crate::analysis::memory::over_tiles::most;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::step_counts::step_counts;

/// A compute set. What the file does not say, or what cannot be read, is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputeSetRow {
    /// Its id.
    pub id: ComputeSetId,
    /// Its name, not unique.
    pub name: String,
    /// Vertices on the tiles.
    pub vertices: Option<u64>,
    /// Edges on all tiles.
    pub edges: Option<u64>,
    /// Its vertices on the tiles by type, most first; without those that have none there.
    pub types: Vec<SetVertices>,
    /// State of the vertices on the tiles, bytes.
    pub state: StateBytes,
    /// Estimated cycles of the busiest of the tiles.
    pub cycles: Option<u64>,
    /// Steps that run it.
    pub steps: Option<u64>,
    /// The position of the first of them.
    pub first_step: Option<u32>,
}

/// The vertices of one type in a compute set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetVertices {
    /// The name of the type.
    pub name: String,
    /// Their number; `None` where it cannot be read.
    pub count: Option<u64>,
}

impl ComputeSetRow {
    fn is_nothing(&self) -> bool {
        self.vertices == Some(0) && self.state.total() == Some(0)
    }
}

/// The compute sets on the selected tiles, or on all of an empty selection: most state first, then by
/// id. `None` where the parts that it needs are absent.
pub fn rows(report: &Report, tiles: &TileSelection) -> Option<Vec<ComputeSetRow>> {
    let sets = report.compute_sets.get()?;
    let lists = report.compute_set_tiles.get()?;
    let steps = step_counts(report, |programs| &programs.compute_sets);
    let visits = |id: &ComputeSetId| Some(steps.as_ref()?.get(id).copied().unwrap_or_default());
    let row = |(row, id): (usize, &ComputeSetId)| {
        let of_types = of_compute_set(report, *id, tiles).unwrap_or_default();
        ComputeSetRow {
            id: *id,
            name: sets.names.at(row).unwrap_or("").to_owned(),
            vertices: if tiles.is_empty() {
                sets.vertices.get(row).copied().flatten()
            } else {
                of_types.iter().map(|(_, count)| *count).sum()
            },
            types: named(report, of_types),
            edges: sets.edges.get(row).copied().flatten(),
            state: lists
                .state
                .get(row)
                .map_or_else(StateBytes::default, |lists| StateBytes::on(lists, tiles)),
            cycles: most(lists.cycles.get(row).and_then(Option::as_ref), tiles),
            steps: visits(id).map(|visits| visits.count),
            first_step: visits(id).and_then(|visits| visits.first),
        }
    };
    let rows = sets.ids.as_slice().iter().enumerate().map(row);
    let mut rows: Vec<_> = rows.filter(|row| tiles.is_empty() || !row.is_nothing()).collect();
    rows.sort_by_key(|row| (Reverse(row.state.total()), row.id));
    Some(rows)
}

fn named(report: &Report, of_types: Vec<(VertexTypeId, Option<u64>)>) -> Vec<SetVertices> {
    let types = of_types.into_iter().filter(|(_, count)| *count != Some(0));
    let named = |(id, count)| SetVertices { name: type_name(report.vertex_types.get(), id), count };
    let mut types: Vec<SetVertices> = types.map(named).collect();
    types.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::fixture::report;

    fn found(tiles: &str) -> Vec<ComputeSetRow> {
        let tiles = if tiles.is_empty() { Ok(TileSelection::default()) } else { tiles.parse() };
        rows(&report(), &tiles.expect("tiles")).expect("rows")
    }

    #[test]
    fn all_tiles_and_some() {
        let all = found("");
        assert_eq!(all.iter().map(|row| row.id.0).collect::<Vec<_>>(), [3, 5]);
        // Each opens into its vertex types, as many as it has vertices.
        let types = |row: &ComputeSetRow| {
            row.types.iter().map(|it| (it.name.clone(), it.count)).collect::<Vec<_>>()
        };
        let second = "<vertex type 2>".to_owned();
        assert_eq!(types(&all[0]), [("Add".to_owned(), Some(10)), (second.clone(), Some(4))]);
        assert_eq!(types(&found("0")[0]), [(second, Some(4)), ("Add".to_owned(), Some(1))]);
        assert_eq!(all[0].first_step, Some(0));
        let (add, reduce) = (&all[0], &all[1]);
        assert_eq!((&*add.name, add.vertices, add.edges), ("add", Some(14), Some(7)));
        assert_eq!(add.state.0, [Some(32), Some(1), Some(0), Some(0), Some(0)]);
        assert_eq!((add.state.total(), add.cycles, add.steps), (Some(33), Some(60), Some(2)));
        assert_eq!((reduce.state.total(), reduce.cycles, reduce.steps), (None, None, Some(1)));

        let some = found("0,3");
        assert_eq!((some[0].vertices, some[0].cycles, some[0].steps), (Some(9), Some(50), Some(2)));
        assert_eq!((some[1].vertices, some[1].state.0[0]), (Some(6), Some(40)));
        // What is not known stays, for it may be there.
        assert_eq!(found("1").len(), 2);
        assert!(found("9").iter().all(|row| row.id.0 == 5));
        assert_eq!(rows(&Report::default(), &TileSelection::default()), None);
    }
}
