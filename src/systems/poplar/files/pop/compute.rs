//! Compute sets: names and sizes, and what they have on each tile.

use super::tile_lists::Cycles;
use crate::format::sqlite::{NumberedRows, Query, ROW_ID, Tables};
use crate::limits;
use crate::store::compute::{ComputeSetTiles, ComputeSets, Instances, TypeCount};
use crate::store::vertex::{StateLists, StatePart};
use crate::store::{ComputeSetId, VertexTypeId};
use crate::systems::poplar::files::blob;

pub fn read_compute_sets(tables: &Tables<'_>) -> Option<ComputeSets> {
    const COLUMNS: [&str; 6] =
        ["compute_set", "name", "vertex_counts", "edge_count", "debug_id", "vertex_types"];
    let mut compute_sets = ComputeSets::default();
    let mut numbers_left = limits::ALL_LIST_NUMBERS;
    let found = tables.rows(&NumberedRows::all("compute_sets", &COLUMNS, "compute_set"), |cells| {
        if !cells.next_id(&mut compute_sets.ids, "a compute set comes twice, or out of order") {
            return;
        }
        compute_sets.names.push(&cells.text(1).unwrap_or_default());
        let counts = cells.decode(2, blob::list);
        let types = cells.decode(5, blob::list);
        compute_sets.vertices.push(
            counts
                .as_ref()
                .map(|counts| counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))),
        );
        let by_type = match (types, counts) {
            (Some(_), Some(counts)) if numbers_left < counts.len() => {
                cells.damage(5, "more types than all compute sets of a report have");
                None
            }
            (Some(types), Some(counts)) => {
                numbers_left = numbers_left.saturating_sub(counts.len());
                let by_type = by_type(&types, &counts);
                if by_type.is_none() {
                    cells.damage(5, "a type for each of vertex_counts expected");
                }
                by_type
            }
            _ => None,
        };
        compute_sets.vertices_by_type.push(by_type);
        compute_sets.edges.push(cells.number(3));
        compute_sets.debug_ids.push(cells.number(4).unwrap_or(0));
    });
    found.then_some(compute_sets)
}

/// Reads the lowered variables that the file names for a compute set; `None` where it names none.
pub fn read_compute_set_variables(tables: &Tables<'_>, set: ComputeSetId) -> Option<Vec<u32>> {
    const COLUMN: &str = "var_ids_diff_rle";
    let mut found = None;
    let query = Query {
        table: "compute_sets",
        columns: &["compute_set", COLUMN],
        tail: "WHERE compute_set = ?1",
        needs: &["compute_set"],
    };
    if tables.has_column("compute_sets", COLUMN) {
        tables.query(&query, [set.0], |cells| found = cells.decode(1, blob::ascending));
    }
    found
}

fn by_type(types: &[u64], counts: &[u64]) -> Option<Box<[TypeCount]>> {
    if types.len() != counts.len() {
        return None;
    }
    let pair = |(id, count): (&u64, &u64)| {
        Some(TypeCount { vertex_type: VertexTypeId(u32::try_from(*id).ok()?), count: *count })
    };
    types.iter().zip(counts).map(pair).collect()
}

/// Reads vertices, memory and estimates of compute sets by tile; `None` without any of the tables, or
/// when the reading was canceled.
pub fn read_compute_set_tiles(
    tables: &Tables<'_>,
    sets: &ComputeSets,
    cycles: &Cycles,
) -> Option<ComputeSetTiles> {
    let mut tiles = ComputeSetTiles {
        instances: Vec::new(),
        state: vec![StateLists::default(); sets.ids.len()],
        cycles: vec![None; sets.ids.len()],
        flops: vec![None; sets.ids.len()],
    };
    let has_instances = read_instances(tables, sets, cycles, &mut tiles);
    let has_memory = read_memory(tables, sets, cycles, &mut tiles);
    read_estimates(tables, sets, cycles, &mut tiles);
    ((has_instances || has_memory) && !tables.progress.is_cancelled()).then_some(tiles)
}

fn read_instances(
    tables: &Tables<'_>,
    sets: &ComputeSets,
    cycles: &Cycles,
    tiles: &mut ComputeSetTiles,
) -> bool {
    let columns = ["compute_set", "vertex_type", "instances_by_tile"];
    let found = tables.rows(&NumberedRows::all("vertex_instances", &columns, ROW_ID), |cells| {
        let (Some(set), Some(kind)) = (cells.required32(0), cells.required32(1)) else { return };
        let compute_set = ComputeSetId(set);
        let vertex_type = VertexTypeId(kind);
        let row = sets.ids.position(compute_set);
        if row.is_none() {
            cells.damage(0, "table compute_sets has no such compute set");
        }
        let by_tile = cells.decode(2, |blob| cycles.sizes.run_length(blob));
        let by_type = row.and_then(|row| sets.vertices_by_type.get(row)?.as_deref());
        if let (Some(list), Some(by_type)) = (&by_tile, by_type) {
            let counts = by_type.iter().filter(|count| count.vertex_type == vertex_type);
            let expected = counts.fold(0_u64, |sum, count| sum.saturating_add(count.count));
            let found = list.sum();
            if expected != found {
                let what = format!("{expected} vertices expected by compute_sets, {found} found");
                cells.damage(2, &what);
            }
        }
        tiles.instances.push(Instances { compute_set, vertex_type, by_tile });
    });
    tiles.instances.sort_by_key(|row| (row.compute_set, row.vertex_type));
    found
}

fn read_memory(
    tables: &Tables<'_>,
    sets: &ComputeSets,
    cycles: &Cycles,
    tiles: &mut ComputeSetTiles,
) -> bool {
    let mut columns = vec!["compute_set"];
    columns.extend(StatePart::ALL.map(StatePart::column));
    tables.rows(&NumberedRows::all("memory_by_compute_set", &columns, ROW_ID), |cells| {
        let Some(id) = cells.required32(0) else { return };
        let row = sets.ids.position(ComputeSetId(id));
        let Some(state) = row.and_then(|row| tiles.state.get_mut(row)) else {
            cells.damage(0, "table compute_sets has no such compute set");
            return;
        };
        for (part, column) in state.iter_mut().zip(1..) {
            *part = cells.decode(column, |blob| cycles.sizes.run_length(blob));
        }
    })
}

/// The estimates are of columns that are NULL without `profiler.includeCycleEstimates`.
fn read_estimates(
    tables: &Tables<'_>,
    sets: &ComputeSets,
    cycles: &Cycles,
    tiles: &mut ComputeSetTiles,
) {
    const TABLE: &str = "compute_sets";
    const IDS: &str = "cycles_by_tile_ids";
    let column = Cycles::column(tables, TABLE, IDS, "cycles_by_tile");
    let columns = ["compute_set", column, "estimated_flops_by_tile"];
    tables.rows(&NumberedRows::all(TABLE, &columns, ROW_ID), |cells| {
        // `read_compute_sets` has named what is wrong with the ids.
        let row = cells.number32(0).and_then(|id| sets.ids.position(ComputeSetId(id)));
        let Some(row) = row else { return };
        if let Some(list) = tiles.cycles.get_mut(row) {
            *list = cycles.decode(cells, 1, column == IDS);
        }
        if let Some(list) = tiles.flops.get_mut(row) {
            *list = cells.decode(2, |blob| cycles.sizes.either(blob));
        }
    });
}
