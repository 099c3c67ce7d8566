//! What programs take of each core beside buffers: circular buffers between their kernels.

use super::capture::DraftTensor;
use super::chip::{CORES, PAGE_BYTES};

/// Pages that a kernel is ahead of the next one, twice as many as it works on.
const DOUBLE: u64 = 2;
/// Tiles of the inner size that a matmul takes at a time.
const INNER_TILES: u64 = 8;

/// Bytes of the circular buffers of an operation of the device, in the order of their addresses: for its first input, its
/// second, and its result.
pub fn circular_buffers(
    operation: &str,
    inputs: &[&DraftTensor],
    outputs: &[DraftTensor],
) -> Vec<u64> {
    let of_core = outputs.first().map_or(1, |output| output.pages().div_ceil(CORES));
    let row = inputs.first().map_or(1, |input| input.shape[3].div_ceil(32));
    let pages: &[u64] = match operation {
        "MatmulDeviceOperation" => {
            let inner = row.min(INNER_TILES);
            &[DOUBLE * inner, DOUBLE * inner, of_core]
        }
        "LayerNormDeviceOperation" | "SoftmaxDeviceOperation" => &[DOUBLE * row, row, DOUBLE * row],
        _ => &[DOUBLE, DOUBLE, DOUBLE],
    };
    pages.iter().map(|pages| pages * PAGE_BYTES).collect()
}
