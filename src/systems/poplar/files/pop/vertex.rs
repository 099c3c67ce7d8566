//! Vertex types and their memory by tile.

use super::tile_lists::ListSizes;
use crate::format::sqlite::{Cells, Tables};
use crate::store::VertexTypeId;
use crate::store::vertex::{StateLists, StatePart, VertexTypes};

/// Reads `vertex_types` and `memory_by_vertex_type`; `None` without the types, or when the reading was
/// canceled.
pub fn read_vertex_types(tables: &Tables<'_>, sizes: ListSizes) -> Option<VertexTypes> {
    let mut types = VertexTypes::default();
    let columns = ["id", "name", "size", "source"];
    let found = tables.read("vertex_types", &columns, "id", |cells| {
        if !cells.next_id(&mut types.ids, "a vertex type comes twice, or out of order") {
            return;
        }
        types.names.push(&cells.text(1).unwrap_or_default());
        types.sizes.push(cells.required(2));
        types.sources.push(&cells.text(3).unwrap_or_default());
    });
    types.code = vec![None; types.ids.len()];
    types.state = vec![StateLists::default(); types.ids.len()];
    let mut columns = vec!["vertex_type", "code_bytes"];
    columns.extend(StatePart::ALL.map(StatePart::column));
    tables.read("memory_by_vertex_type", &columns, "", |cells| {
        let Some(id) = cells.required32(0) else { return };
        let Some(row) = types.ids.position(VertexTypeId(id)) else {
            cells.damage(0, "table vertex_types has no such type");
            return;
        };
        let list =
            |cells: &mut Cells<'_, '_>, column| cells.decode(column, |blob| sizes.plain(blob));
        if let (Some(code), Some(state)) = (types.code.get_mut(row), types.state.get_mut(row)) {
            *code = list(cells, 1);
            for (part, column) in state.iter_mut().zip(2..) {
                *part = list(cells, column);
            }
        }
    });
    (found && !tables.progress.is_cancelled()).then_some(types)
}
