//! The machine that a program was compiled for (`target_info`, formats/poplar.md 2.4).

use super::ids::TileId;

/// The target. A fact that the file lacks is `None`, never 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Target {
    /// `IPU`, `IPU_MODEL` or `CPU`, as in the file.
    pub kind: Option<String>,
    /// `ipu1`, `ipu2`, `ipu21` …
    pub architecture: Option<String>,
    /// Devices over all replicas.
    pub devices: Option<u64>,
    /// Replicas of the program.
    pub replicas: Option<u64>,
    /// Devices of one replica.
    pub devices_per_replica: Option<u64>,
    /// Tiles over all devices.
    pub tiles: Option<u64>,
    /// Tiles of one device.
    pub tiles_per_device: Option<u64>,
    /// Tiles of one replica.
    pub tiles_per_replica: Option<u64>,
    /// Memory of one tile, bytes.
    pub bytes_per_tile: Option<u64>,
    /// Memory of one device, bytes.
    pub bytes_per_device: Option<u64>,
    /// Memory of one replica, bytes.
    pub bytes_per_replica: Option<u64>,
    /// Memory of all devices, bytes.
    pub total_bytes: Option<u64>,
    /// Clock, Hz.
    pub clock_hz: Option<u64>,
    /// Start addresses of the memory elements within a tile, ascending.
    pub element_offsets: Vec<u64>,
    /// Start addresses of the memory regions within a tile, ascending.
    pub region_offsets: Vec<u64>,
    /// Where the interleaved region begins within a tile.
    pub interleaved_start: Option<u64>,
    /// The hardware address of a tile's first byte.
    pub tile_base_address: Option<u64>,
    /// Level of the compute set instrumentation (`Device`, `IPU`, `Tile`, `Vertex`).
    pub compute_instrumentation: Option<String>,
    /// Whether exchanges with the host and other devices are instrumented.
    pub external_exchange_instrumentation: Option<bool>,
}

impl Target {
    /// The device that a tile belongs to: tile ÷ tiles per device.
    pub fn device_of(&self, tile: TileId) -> Option<u32> {
        let per_device = u32::try_from(self.tiles_per_device?).ok()?;
        tile.0.checked_div(per_device)
    }
}
