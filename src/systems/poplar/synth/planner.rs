//! A planner of convolutions and matmuls in two phases, as PopLibs has it: the fastest plan within
//! proportion × tile memory, or, where none is, the smallest, with a warning in the log.
//!
//! Plans differ in how the work is split over tiles and over time. Splitting over input channels
//! keeps more tiles busy and costs partial sums; splitting over time (serially) divides the
//! temporary memory and costs steps, exchanges and code.

use super::network::{LayerKind, NetworkLayer};

/// How one layer is computed. Bytes are those of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerPlan {
    /// Parts that are computed one after the other.
    pub serial_split: u64,
    /// Parts of the input channels that are computed side by side, their partial sums then added.
    pub channel_split: u64,
    /// Estimated cycles.
    pub cycles: u64,
    /// Estimated temporary bytes on the worst tile.
    pub temporary_bytes: u64,
    /// Of those, the rearranged operands.
    pub operand_bytes: u64,
    /// And the partial sums.
    pub partial_bytes: u64,
    /// Tiles that hold the rearranged operands; fewer than there are for very small plans.
    pub operand_tiles: u32,
    /// Whether no plan was within the memory.
    pub is_minimum_memory: bool,
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest {
    /// Samples at a time.
    pub batch: u64,
    /// Tiles that the layer may use.
    pub tiles: u32,
    /// Memory of a tile, bytes.
    pub bytes_per_tile: u64,
    /// `availableMemoryProportion`.
    pub proportion: f64,
}

/// Serial splits that are tried.
const SERIAL_SPLITS: [u64; 6] = [1, 2, 4, 8, 16, 32];
/// Splits over input channels that are tried.
const CHANNEL_SPLITS: [u64; 3] = [1, 2, 4];
/// Multiplications of a tile in a cycle.
const MACS_PER_CYCLE: u64 = 64;
/// Bytes that a tile exchanges in a cycle.
const EXCHANGE_BYTES_PER_CYCLE: u64 = 4;
/// Bytes of an element and of a partial sum.
const HALF: u64 = 2;
const FLOAT: u64 = 4;
/// From this serial split on, operands are too small to be spread over all tiles. The estimate takes
/// them as evenly spread all the same, which is why such plans can fail by imbalance.
const FEW_TILES_FROM: u64 = 32;
/// Bytes that every plan needs on a tile: borders, padding, the message of the next part.
const FIXED_BYTES: u64 = 7_168;
/// A kernel reads each input several times, and the rearranged input holds it as often, up to here.
const MOST_COPIES: u64 = 9;

/// The plan of a layer.
pub fn plan(layer: &NetworkLayer, request: &PlanRequest) -> LayerPlan {
    let plans = SERIAL_SPLITS.iter().flat_map(|serial| {
        CHANNEL_SPLITS.iter().map(move |channels| candidate(layer, request, *serial, *channels))
    });
    let plans: Vec<LayerPlan> = plans.collect();
    let budget = (request.bytes_per_tile as f64 * request.proportion) as u64;
    let within = plans.iter().filter(|plan| plan.temporary_bytes <= budget);
    if let Some(fastest) = within.min_by_key(|plan| (plan.cycles, plan.temporary_bytes)) {
        return *fastest;
    }
    let smallest = plans.iter().min_by_key(|plan| (plan.temporary_bytes, plan.cycles));
    let smallest = smallest.copied().unwrap_or_else(|| candidate(layer, request, 1, 1));
    LayerPlan { is_minimum_memory: true, ..smallest }
}

fn candidate(
    layer: &NetworkLayer,
    request: &PlanRequest,
    serial_split: u64,
    channel_split: u64,
) -> LayerPlan {
    let tiles = u64::from(request.tiles.max(1));
    let per_tile = |elements: u64| (elements * request.batch).div_ceil(tiles);
    let copies = match layer.kind {
        LayerKind::Convolution { kernel, .. } => (kernel * kernel).min(MOST_COPIES),
        _ => 1,
    };
    // Neighboring tiles overlap, hence more than one copy even without a kernel.
    let operands = per_tile(layer.input) * HALF * copies * 11 / 4;
    let partials = per_tile(layer.output) * FLOAT * channel_split;
    let is_small = serial_split >= FEW_TILES_FROM;
    let operand_bytes = operands / serial_split;
    // More parts of the channels keep idle tiles busy, up to a point.
    let work = (layer.macs * request.batch).div_ceil(tiles * MACS_PER_CYCLE);
    let busy = work * 10 / (9 + channel_split.min(2));
    let exchange = (operands + partials) / EXCHANGE_BYTES_PER_CYCLE;
    let reduce = partials * (channel_split - 1) / 8;
    let repeated = if serial_split > 1 { exchange * serial_split / 16 } else { 0 };
    LayerPlan {
        serial_split,
        channel_split,
        cycles: busy + exchange + reduce + serial_split * 400 + repeated,
        temporary_bytes: operand_bytes + partials / serial_split + FIXED_BYTES,
        operand_bytes,
        partial_bytes: partials / serial_split,
        operand_tiles: if is_small { (request.tiles / 32).max(1) } else { request.tiles },
        is_minimum_memory: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::poplar::synth::network::Network;

    #[test]
    fn a_smaller_budget_gives_a_smaller_and_slower_plan() {
        let layers = Network::Resnext101.layers();
        for layer in layers.iter().filter(|layer| layer.is_planned()) {
            let at = |proportion| {
                let request =
                    PlanRequest { batch: 8, tiles: 1472, bytes_per_tile: 638_976, proportion };
                plan(layer, &request)
            };
            let (wide, narrow, least) = (at(0.6), at(0.05), at(0.0));
            assert!(narrow.temporary_bytes <= wide.temporary_bytes);
            assert!(narrow.cycles >= wide.cycles);
            assert!(least.is_minimum_memory && !wide.is_minimum_memory);
            assert!(least.temporary_bytes <= narrow.temporary_bytes);
        }
    }
}
