//! The machines that reports can be made for (formats/poplar.md 1.4 and 2.4).

use crate::store::target::Target;

/// An IPU architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Architecture {
    // GC2.
    /// 1,216 tiles of 256 KiB.
    Mk1,
    // GC200.
    /// 1,472 tiles of 624 KiB.
    Mk2,
}

impl Architecture {
    /// Tiles of a whole chip.
    pub fn tiles_per_ipu(self) -> u32 {
        match self {
            Self::Mk1 => 1216,
            Self::Mk2 => 1472,
        }
    }
}

/// A machine of `ipus` IPUs. With fewer tiles than the chip has it is an IPU Model.
pub fn target(architecture: Architecture, ipus: u32, tiles_per_ipu: u32) -> Target {
    let (low, interleaved_start, high, base, clock_hz) = match architecture {
        Architecture::Mk1 => (8, 131_072, 4, 262_144, 1_600_000_000),
        Architecture::Mk2 => (13, 212_992, 13, 311_296, 1_850_000_000),
    };
    let bytes_per_tile = interleaved_start + high * 32_768;
    let low = (0..low).map(|element| element * 16_384);
    let high = (0..high).map(|element| interleaved_start + element * 32_768);
    let is_whole = tiles_per_ipu == architecture.tiles_per_ipu();
    let (ipus, tiles_per_ipu) = (u64::from(ipus), u64::from(tiles_per_ipu));
    let tiles = ipus * tiles_per_ipu;
    Target {
        kind: Some(if is_whole { "IPU" } else { "IPU_MODEL" }.to_owned()),
        architecture: Some(
            match architecture {
                Architecture::Mk1 => "ipu1",
                Architecture::Mk2 => "ipu2",
            }
            .to_owned(),
        ),
        devices: Some(ipus),
        replicas: Some(1),
        devices_per_replica: Some(ipus),
        tiles: Some(tiles),
        tiles_per_device: Some(tiles_per_ipu),
        tiles_per_replica: Some(tiles),
        bytes_per_tile: Some(bytes_per_tile),
        bytes_per_device: Some(bytes_per_tile * tiles_per_ipu),
        bytes_per_replica: Some(bytes_per_tile * tiles),
        total_bytes: Some(bytes_per_tile * tiles),
        clock_hz: Some(clock_hz),
        element_offsets: low.chain(high).collect(),
        region_offsets: vec![0, interleaved_start],
        interleaved_start: Some(interleaved_start),
        tile_base_address: Some(base),
        ..Target::default()
    }
}
