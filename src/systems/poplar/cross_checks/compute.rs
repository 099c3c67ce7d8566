//! Compute sets with their vertices on tiles, vertex types with compute sets.

use super::differences::Differences;
use super::nowhere;
use crate::store::Report;
use crate::store::tile_list::TileList;
use crate::store::vertex::StatePart;

pub fn compare(report: &Report, differences: &mut Differences) {
    let Some(tiles) = report.compute_set_tiles.get() else { return };
    if let Some(sets) = report.compute_sets.get() {
        for (id, vertices) in sets.ids.as_slice().iter().zip(&sets.vertices) {
            let instances = tiles.instances_of(*id).iter().map(|row| row.by_tile.as_ref());
            let kind = ("table vertex_instances", "compute_sets.vertex_counts");
            let place = || format!(", compute set {id}");
            differences.compare(kind, place, sum(instances), *vertices);
        }
    }
    let Some(types) = report.vertex_types.get() else { return };
    // Neither table has a row of what has no vertices.
    for part in StatePart::ALL {
        let kind = match part {
            StatePart::VertexData => "table memory_by_vertex_type, column vertex_data_bytes",
            StatePart::EdgePointers => "table memory_by_vertex_type, column edge_ptr_bytes",
            StatePart::CopyPointers => "table memory_by_vertex_type, column copy_ptr_bytes",
            StatePart::Padding => "table memory_by_vertex_type, column padding_bytes",
            StatePart::Descriptors => "table memory_by_vertex_type, column descriptor_bytes",
        };
        let of = |state: &[[Option<TileList>; 5]]| {
            let lists = state.iter().filter_map(|lists| lists.get(part as usize));
            sum(lists.map(Option::as_ref))
        };
        let kind = (kind, "memory_by_compute_set");
        differences.compare(kind, nowhere, of(&types.state), of(&tiles.state));
    }
}

/// The sum of lists, `None` where one is not known.
fn sum<'a>(mut lists: impl Iterator<Item = Option<&'a TileList>>) -> Option<u64> {
    lists.try_fold(0_u64, |sum, list| Some(sum.saturating_add(list?.sum())))
}
