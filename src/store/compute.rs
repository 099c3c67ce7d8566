//! Compute sets, their vertices, and what these take on each tile (`compute_sets`,
//! `vertex_instances`, `memory_by_compute_set`, formats/poplar.md 2.4).

use super::ids::{ComputeSetId, IdColumn, VertexTypeId};
use super::names::Names;
use super::tile_list::{self, TileList};
use super::vertex::StateLists;

/// Columns of `compute_sets` that do not go by tile.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ComputeSets {
    /// The compute sets.
    pub ids: IdColumn<ComputeSetId>,
    /// Their names, not unique.
    pub names: Names,
    /// Vertices in each; `None` where the list could not be decoded.
    pub vertices: Vec<Option<u64>>,
    /// The vertices of each by type; `None` where the lists could not be decoded.
    pub vertices_by_type: Vec<Option<Box<[TypeCount]>>>,
    /// Edges of each.
    pub edges: Vec<Option<u64>>,
    /// Debug context of each, 0 for none.
    pub debug_ids: Vec<u64>,
}

/// So many vertices of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TypeCount {
    /// The type.
    pub vertex_type: VertexTypeId,
    /// Vertices of it.
    pub count: u64,
}

/// Vertices of one type in one compute set (a row of `vertex_instances`).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Instances {
    /// The compute set.
    pub compute_set: ComputeSetId,
    /// The type.
    pub vertex_type: VertexTypeId,
    /// Vertices on each tile; `None` where the list could not be decoded.
    pub by_tile: Option<TileList>,
}

/// What compute sets have on each tile. All columns but `instances` have a row for each of
/// [`ComputeSets::ids`]. A compute set takes 224 bytes, each of its vertex types 40, to which
/// comes what their lists do not say in one number.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ComputeSetTiles {
    /// Vertices, by compute set, then by type.
    pub instances: Vec<Instances>,
    /// State of the vertices.
    pub state: Vec<StateLists>,
    /// Estimated cycles; `None` where the compiler made no estimate.
    pub cycles: Vec<Option<TileList>>,
    /// Estimated floating point operations; `None` where the compiler made no estimate.
    pub flops: Vec<Option<TileList>>,
}

impl ComputeSetTiles {
    /// The vertices of a compute set, by type.
    pub fn instances_of(&self, compute_set: ComputeSetId) -> &[Instances] {
        let start = self.instances.partition_point(|row| row.compute_set < compute_set);
        let rest = self.instances.get(start..).unwrap_or(&[]);
        let end = rest.partition_point(|row| row.compute_set == compute_set);
        rest.get(..end).unwrap_or(&[])
    }

    /// Resident bytes of all columns.
    pub fn resident_bytes(&self) -> usize {
        let of_instances = self.instances.iter().map(|row| {
            let inside = size_of::<TileList>();
            let list = row.by_tile.as_ref();
            size_of::<Instances>() + list.map_or(0, |list| list.resident_bytes() - inside)
        });
        let of_state = self.state.iter().map(|lists| tile_list::resident_bytes(lists));
        of_instances.sum::<usize>()
            + of_state.sum::<usize>()
            + tile_list::resident_bytes(&self.cycles)
            + tile_list::resident_bytes(&self.flops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_are_found_by_compute_set() {
        let row = |compute_set, vertex_type| Instances {
            compute_set: ComputeSetId(compute_set),
            vertex_type: VertexTypeId(vertex_type),
            by_tile: None,
        };
        let instances = vec![row(1, 4), row(1, 9), row(3, 4)];
        let tiles = ComputeSetTiles { instances, ..ComputeSetTiles::default() };
        assert_eq!(tiles.instances_of(ComputeSetId(1)), &tiles.instances[..2]);
        assert_eq!(tiles.instances_of(ComputeSetId(3)), &tiles.instances[2..]);
        assert!(tiles.instances_of(ComputeSetId(2)).is_empty());
        assert!(tiles.instances_of(ComputeSetId(4)).is_empty());
    }
}
