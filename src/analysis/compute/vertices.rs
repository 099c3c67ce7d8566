//! Vertex types on some tiles: instances, code and state; and instances at steps.
//!
//! Instances are vertices of all compute sets, summed over the tiles, as are code and state. Code that
//! several types share counts once a type, so code adds up to less or more than the category
//! `vertexCode`, which also has the code of no type. On a selection of tiles, types that have nothing
//! there are left out. A type that the file does not name is `<vertex type N>`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::store::vertex::VertexTypes;
use crate::store::{Absence, ComputeSetId, Report, VertexTypeId};

use crate::analysis::compute::vertex_state::StateBytes;
use crate::analysis::memory::over_tiles::sum;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::steps;

/// A vertex type. What the file does not say, or what cannot be read, is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexRow {
    /// Its id.
    pub id: VertexTypeId,
    /// Its name.
    pub name: String,
    /// What it is written in, `c++` or `asm`.
    pub source: Option<String>,
    /// Vertices of it on the tiles, of all compute sets.
    pub instances: Option<u64>,
    /// Code on the tiles, bytes.
    pub code: Option<u64>,
    /// State of its vertices on the tiles, bytes.
    pub state: StateBytes,
    /// Size of one vertex, bytes, without what it points to.
    pub size: Option<u64>,
}

impl VertexRow {
    /// Bytes of code and state.
    pub fn total(&self) -> Option<u64> {
        Some(self.code?.saturating_add(self.state.total()?))
    }

    fn is_nothing(&self) -> bool {
        self.instances == Some(0) && self.total() == Some(0)
    }
}

/// The vertex types on the selected tiles, or on all of an empty selection: most bytes first, then by
/// id. `None` where the parts that it needs are absent.
pub fn rows(report: &Report, tiles: &TileSelection) -> Option<Vec<VertexRow>> {
    let types = report.vertex_types.get()?;
    let known = types.ids.as_slice().iter().map(|id| (*id, Some(0)));
    let mut instances: BTreeMap<VertexTypeId, Option<u64>> = known.collect();
    for row in &report.compute_set_tiles.get()?.instances {
        add(instances.entry(row.vertex_type).or_insert(Some(0)), sum(row.by_tile.as_ref(), tiles));
    }
    let rows = instances.into_iter().map(|(id, instances)| {
        let row = types.ids.position(id);
        let source = row.and_then(|row| types.sources.at(row)).filter(|source| !source.is_empty());
        VertexRow {
            id,
            name: type_name(Some(types), id),
            source: source.map(str::to_owned),
            instances,
            code: sum(row.and_then(|row| types.code.get(row)?.as_ref()), tiles),
            state: row
                .and_then(|row| types.state.get(row))
                .map_or_else(StateBytes::default, |lists| StateBytes::on(lists, tiles)),
            size: row.and_then(|row| *types.sizes.get(row)?),
        }
    });
    let mut rows: Vec<_> = rows.filter(|row| tiles.is_empty() || !row.is_nothing()).collect();
    rows.sort_by_key(|row| (Reverse(row.total()), row.id));
    Some(rows)
}

/// Why there are no vertices; `None` where they are there or may still come.
pub fn why_no_vertices(report: &Report) -> Option<&Absence> {
    report.vertex_types.absence().or(report.compute_set_tiles.absence())
}

/// Adds to a sum that is not known as soon as one of its parts is not.
fn add(sum: &mut Option<u64>, part: Option<u64>) {
    *sum = sum.zip(part).map(|(sum, part)| sum.saturating_add(part));
}

/// The name of a type; of one that the file does not name, its number.
pub(crate) fn type_name(types: Option<&VertexTypes>, id: VertexTypeId) -> String {
    let name = types.and_then(|types| types.names.at(types.ids.position(id)?));
    name.filter(|name| !name.is_empty())
        .map_or_else(|| format!("<vertex type {id}>"), str::to_owned)
}

/// The vertices of one type that run at steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepVertexRow {
    /// The type's id.
    pub id: VertexTypeId,
    /// Its name.
    pub name: String,
    /// Size of one vertex, bytes, without what it points to.
    pub size: Option<u64>,
    /// Vertices at each step; `None` where the list could not be read.
    pub instances: Vec<Option<u64>>,
}

/// The vertices on `tiles`, or on all of them, that run at `steps` (step positions), with a column for
/// each; by the first column, most first, then by id. A step that runs no compute set has none.
/// `None` where the parts that it needs are absent.
pub fn at_steps(
    report: &Report,
    tiles: Option<RangeInclusive<u32>>,
    steps: &[usize],
) -> Option<Vec<StepVertexRow>> {
    let types = report.vertex_types.get()?;
    let tiles = TileSelection::of_scope(tiles);
    let mut columns: BTreeMap<VertexTypeId, Vec<Option<u64>>> = BTreeMap::new();
    for (column, step) in steps.iter().enumerate() {
        let Some(set) = steps::compute_set(report, *step) else { continue };
        for (id, count) in of_compute_set(report, set, &tiles)? {
            let cells = columns.entry(id).or_insert_with(|| vec![Some(0); steps.len()]);
            if let Some(cell) = cells.get_mut(column) {
                add(cell, count);
            }
        }
    }
    let rows = columns.into_iter().filter(|(_, cells)| cells.iter().any(|cell| *cell != Some(0)));
    let mut rows: Vec<StepVertexRow> = rows
        .map(|(id, instances)| StepVertexRow {
            id,
            name: type_name(Some(types), id),
            size: types.ids.position(id).and_then(|row| *types.sizes.get(row)?),
            instances,
        })
        .collect();
    rows.sort_by_key(|row| (Reverse(row.instances.first().copied()), row.id));
    Some(rows)
}

/// The vertices of a compute set on the selected tiles, or on all of an empty selection, by type.
pub(crate) fn of_compute_set(
    report: &Report,
    set: ComputeSetId,
    tiles: &TileSelection,
) -> Option<Vec<(VertexTypeId, Option<u64>)>> {
    if tiles.is_empty() {
        let sets = report.compute_sets.get()?;
        let row = sets.ids.position(set);
        if let Some(counts) = row.and_then(|row| sets.vertices_by_type.get(row)?.as_ref()) {
            return Some(counts.iter().map(|row| (row.vertex_type, Some(row.count))).collect());
        }
    }
    let instances = report.compute_set_tiles.get()?.instances_of(set).iter();
    Some(instances.map(|row| (row.vertex_type, sum(row.by_tile.as_ref(), tiles))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::fixture::report;

    #[test]
    fn all_tiles_and_some() {
        let all = rows(&report(), &TileSelection::default()).expect("rows");
        let names: Vec<&str> = all.iter().map(|row| &*row.name).collect();
        assert_eq!(names, ["Add", "<vertex type 2>"]);
        assert_eq!((all[0].instances, all[0].code, all[0].size), (Some(10), Some(200), Some(8)));
        assert_eq!((all[0].total(), all[0].source.as_deref()), (Some(232), Some("asm")));
        assert_eq!((all[1].instances, all[1].total(), all[1].size), (Some(10), None, None));
        let some = rows(&report(), &"0,3".parse().unwrap()).expect("rows");
        assert_eq!((some[0].instances, some[0].code), (Some(5), Some(100)));
        assert_eq!((some[0].state.total(), some[1].instances), (Some(16), Some(10)));
        assert_eq!(rows(&report(), &"9".parse().unwrap()).expect("rows").len(), 1);
        assert_eq!(rows(&Report::default(), &TileSelection::default()), None);
    }

    #[test]
    fn vertices_at_steps_are_those_of_their_compute_sets() {
        let of = |tiles, steps: &[usize]| {
            let rows = at_steps(&report(), tiles, steps).expect("rows");
            let cells = rows.into_iter().map(|row| (row.id.0, row.instances));
            cells.collect::<Vec<_>>()
        };
        let some = |numbers: &[u64]| numbers.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(of(None, &[0, 2]), [(1, some(&[10, 0])), (2, some(&[4, 6]))]);
        assert_eq!(of(None, &[2, 1]), [(2, some(&[6, 0]))]);
        assert_eq!(of(Some(1..=2), &[0, 2]), [(1, some(&[5, 0]))]);
        assert_eq!(of(Some(0..=0), &[3]), [(2, some(&[4])), (1, some(&[1]))]);
        assert_eq!(of(None, &[1, 99]), []);
        assert_eq!(at_steps(&Report::default(), None, &[0]), None);
    }

    #[test]
    fn vertices_of_all_tiles_are_the_sums_of_those_of_each() {
        let report = report();
        let all = at_steps(&report, None, &[0, 2]).expect("rows");
        let on_all = at_steps(&report, Some(0..=3), &[0, 2]).expect("rows");
        assert_eq!(all, on_all);
    }
}
