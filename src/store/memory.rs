//! Memory of every tile, as the compiler summed it up (`memory_by_tile`, `memory_by_category`).

use super::absence::Absence;
use super::ids::{IdColumn, TileId};
use crate::text::words;

/// One number a tile; a cell that the file does not have is `None`.
pub type TileColumn = Vec<Option<u64>>;

/// Columns of `memory_by_tile`, all in bytes, one row a tile.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TileMemory {
    /// The tiles.
    pub tiles: IdColumn<TileId>,
    /// Distinct bytes in use, gaps excluded.
    pub total: TileColumn,
    /// The last used byte + 1.
    pub including_gaps: TileColumn,
    /// Bytes in each [`Region`], gaps excluded.
    pub by_region: [TileColumn; 3],
    /// Bytes of each [`Region`] up to the last used one. Poplar counts up to a few bytes a tile more there
    /// than in `including_gaps`.
    pub including_gaps_by_region: [TileColumn; 3],
    /// Bytes of variables that live as long as the program.
    pub always_live: TileColumn,
    /// The most that other variables take at any step.
    pub not_always_live_max: TileColumn,
    /// `memory_by_category`, in the order of the file.
    pub categories: Vec<CategoryMemory>,
    /// Why there are none.
    pub why_no_categories: Option<Absence>,
}

words! {
    /// A memory region of a tile, in the order of addresses. Its key in JSON is also its column's name in the file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Region by key, title {
        /// Below the interleaved region.
        NonInterleaved = "non_interleaved" | "Non-interleaved",
        /// Where two memory elements are interleaved.
        Interleaved = "interleaved" | "Interleaved",
        /// Above what the tile has.
        Overflowed = "overflowed" | "Overflowed",
    }
}

/// Bytes of one category on every tile. Position in a column = tile number. A column that could
/// not be decoded is `None`.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct CategoryMemory {
    /// The category as in the file, `vertexCode` for example.
    pub name: String,
    /// Bytes at addresses that one variable uses, by [`Region`].
    pub not_overlapped: [Option<Vec<u64>>; 3],
    /// Bytes of the category's variables at addresses shared with any other variable, counted once
    /// a variable, by [`Region`].
    pub overlapped: [Option<Vec<u64>>; 3],
}
