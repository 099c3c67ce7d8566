//! Arenas: the ranges of addresses in which things are placed.
//!
//! A tile of an IPU, an allocation of XLA, a segment of PyTorch. Several of them make up a device: an
//! IPU, a memory space of XLA, a GPU. For Poplar the arena `n` is the tile `n` and the device `n` the
//! IPU `n`; what only tiles have goes by [`TileId`].

use super::ids::{ArenaId, TileId};

impl From<TileId> for ArenaId {
    fn from(tile: TileId) -> Self {
        Self(tile.0)
    }
}

impl ArenaId {
    /// The tile that this arena is, in a report whose arenas are tiles.
    pub fn tile(self) -> TileId {
        TileId(self.0)
    }
}
