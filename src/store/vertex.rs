//! Vertex types and what their vertices and code take on each tile (`vertex_types`,
//! `memory_by_vertex_type`, formats/poplar.md 2.4).

use super::ids::{IdColumn, VertexTypeId};
use super::names::Names;
use super::tile_list::TileList;
use crate::text::words;

words! {
    /// A part of the state of vertices, in the order of [`StateLists`]: the columns that `memory_by_vertex_type` and
    /// `memory_by_compute_set` share.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum StatePart by column, title {
        /// The vertices' own fields.
        VertexData = "vertex_data_bytes" | "Vertex data",
        EdgePointers = "edge_ptr_bytes" | "Edge pointers",
        CopyPointers = "copy_ptr_bytes" | "Copy pointers",
        Padding = "padding_bytes" | "Padding",
        /// Descriptors of copies and vector lists, which are data of their own categories.
        Descriptors = "descriptor_bytes" | "Descriptors",
    }
}

/// State of vertices by tile, bytes, a list for each of [`StatePart::ALL`]; `None` where it could not
/// be read.
pub type StateLists = [Option<TileList>; 5];

/// Columns of `vertex_types` and `memory_by_vertex_type`.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct VertexTypes {
    pub ids: IdColumn<VertexTypeId>,
    /// Their names, `poplin::ConvPartial1x1Out<…>` for example.
    pub names: Names,
    /// Size of one vertex, bytes, without what it points to.
    pub sizes: Vec<Option<u64>>,
    /// What it is written in, `c++` or `asm`; empty where the file does not say.
    pub sources: Names,
    /// Code by tile, bytes; code that several types share counts once a type.
    pub code: Vec<Option<TileList>>,
    pub state: Vec<StateLists>,
}
