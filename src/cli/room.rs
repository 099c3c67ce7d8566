//! What the user says of a device: the arguments of every command that says whether a run fits.

use clap::Args;

use crate::run::{CapacityArgument, Room};
use crate::text::size;

/// What the device has.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct RoomArguments {
    /// Memory of the device, instead of what the run or a file beside it states: bytes such as 16GiB, or a device such
    /// as v5e or H100. Of a run with tiles: memory of a tile.
    #[arg(long, value_parser = CapacityArgument::parse, value_name = "BYTES|DEVICE")]
    pub capacity: Option<CapacityArgument>,
    /// Memory of the device that other processes use, for example 600MiB.
    #[arg(long, value_parser = size::parse, value_name = "BYTES")]
    pub other: Option<u64>,
}

impl RoomArguments {
    /// What they say.
    pub fn room(&self) -> Room {
        Room {
            capacity_bytes: self.capacity.map(|capacity| capacity.bytes),
            named: self.capacity.and_then(|capacity| capacity.from),
            other_bytes: self.other.unwrap_or(0),
            is_other_said: self.other.is_some(),
        }
    }
}
