//! Exchanges: what moves between tiles, between IPUs, and to and from the host
//! (`program_type_do_exchange`, `program_type_global_exchange`, `program_type_stream_copy_mid`,
//! formats/poplar.md 2.4).

use super::ids::TileId;
use super::list_at;
use super::tile_list::{self, TileList};

/// Between what an exchange moves data; each kind has a table of its own.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum ExchangeKind {
    /// Between tiles of an IPU (`DoExchange`).
    Internal,
    /// Between IPUs (`GlobalExchange`).
    Global,
    /// Between tiles and the host (`StreamCopyMid`).
    Host,
}

impl ExchangeKind {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Internal => "Internal",
            Self::Global => "Global",
            Self::Host => "Host",
        }
    }
}

/// An exchange: its kind, and its id in the table of that kind.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct ExchangeId {
    /// The kind.
    pub kind: ExchangeKind,
    /// The id, which is the `programs.variant_index` of the programs that run it.
    pub number: u32,
}

/// What moves from where to where. Poplar shortens long lists of variables ("… (1471 variables in
/// total)").
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Transfer {
    /// Variables with their byte ranges; where the host is the source, its stream or remote buffer.
    pub source: String,
    /// Variables with their byte ranges; where the host is the destination, its stream or remote buffer.
    pub destination: String,
    /// What the host's end is; `None` where both ends are variables.
    pub host: Option<HostEnd>,
}

/// The host's end of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HostEnd {
    /// Whether it is the source, and not the destination.
    pub is_source: bool,
    /// Whether it is a remote buffer, and not a stream.
    pub is_remote_buffer: bool,
}

impl Transfer {
    /// The name of the stream or remote buffer.
    pub fn host_name(&self) -> Option<&str> {
        Some(if self.host?.is_source { &self.source } else { &self.destination })
    }
}

/// Code of internal exchanges on some tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeOnTiles {
    /// The tiles, ascending.
    pub tiles: Vec<TileId>,
    /// Of each exchange whose code is known the bytes on each of them.
    pub exchanges: Vec<(ExchangeId, Vec<u64>)>,
}

impl CodeOnTiles {
    /// Of some tiles, and of no exchange yet.
    pub fn of(tiles: &[TileId]) -> Self {
        let mut tiles = tiles.to_vec();
        tiles.sort_unstable();
        Self { tiles, exchanges: Vec::new() }
    }

    /// Adds an exchange with its code by tile.
    pub fn push(&mut self, id: ExchangeId, by_tile: &TileList) {
        let bytes = self.tiles.iter().map(|tile| by_tile.get(tile.0).unwrap_or(0)).collect();
        self.exchanges.push((id, bytes));
    }
}

/// Columns of all exchanges, by [`ExchangeId`]. Each takes 144 bytes, a transfer 56 and its texts, to
/// which comes what the lists do not say in one number.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Exchanges {
    /// The exchanges, ascending.
    pub ids: Vec<ExchangeId>,
    /// Bytes that each tile receives; `None` where the list could not be decoded.
    pub received: Vec<Option<TileList>>,
    /// Bytes that each tile sends.
    pub sent: Vec<Option<TileList>>,
    /// Code on each tile, bytes; the file has it of internal exchanges only.
    pub code: Vec<Option<TileList>>,
    /// Cycles on each tile: exact for internal exchanges, estimates for others; `None` where the file
    /// has none.
    pub cycles: Vec<Option<TileList>>,
    /// Transfers of all exchanges, end to end.
    pub transfers: Vec<Transfer>,
    /// Where each exchange's transfers end in `transfers`.
    pub transfer_ends: Vec<usize>,
}

impl Exchanges {
    /// The code on some tiles.
    pub fn code_on(&self, tiles: &[TileId]) -> CodeOnTiles {
        let mut code = CodeOnTiles::of(tiles);
        for (id, by_tile) in self.ids.iter().zip(&self.code) {
            if let Some(by_tile) = by_tile {
                code.push(*id, by_tile);
            }
        }
        code
    }

    /// The row of an exchange.
    pub fn position(&self, id: ExchangeId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// The transfers of an exchange.
    pub fn transfers_of(&self, position: usize) -> &[Transfer] {
        list_at(&self.transfers, &self.transfer_ends, position)
    }

    /// Resident bytes of all columns.
    pub fn resident_bytes(&self) -> usize {
        let lists = [&self.received, &self.sent, &self.code, &self.cycles];
        let of_lists: usize = lists.into_iter().map(|lists| tile_list::resident_bytes(lists)).sum();
        let of_transfers = self.transfers.iter().map(|transfer| {
            size_of::<Transfer>() + transfer.source.capacity() + transfer.destination.capacity()
        });
        of_lists
            + of_transfers.sum::<usize>()
            + self.ids.capacity() * size_of::<ExchangeId>()
            + self.transfer_ends.capacity() * size_of::<usize>()
    }
}
