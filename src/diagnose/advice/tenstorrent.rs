//! Advice about the memory of Tenstorrent devices under TT-NN.

use super::{Sentence, led_by};
use crate::diagnose::tenstorrent::{
    BufferWithoutSpace, TenstorrentError, TenstorrentForm, TenstorrentVerdict,
};
use crate::text::{counted, exact_bytes, grouped, shortened};

const DEALLOCATE: &str = "Give back tensors that nothing reads any more: `ttnn.deallocate(tensor)`. Without it a tensor stays \
    until Python drops its last name.";

const TO_DRAM: &str = "Keep tensors in DRAM that need not be in L1: `ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG)`, or \
    `memory_config=ttnn.DRAM_MEMORY_CONFIG` in the operation that makes them.";

const SHARD: &str = "Spread large L1 tensors over more cores, so that each core holds less: \
    `ttnn.create_sharded_memory_config` with a larger `core_grid`.";

const BLOCKS: &str = "Compute in smaller blocks. Of a matmul they are set in its program config: `in0_block_w`, `per_core_M`, \
    `per_core_N`, `out_subblock_h` and `out_subblock_w`.";

const MOVE: &str = "Close the gaps: `ttnn.move(tensor)` and `ttnn.reallocate(tensor)` place a tensor anew, next to the others. \
    Call them where a tensor that lives long has gaps beside it.";

const ORDER: &str = "Allocate what is large and lives long first, so that what comes and goes leaves no gaps between.";

const BATCH: &str = "Compute less at once: a smaller batch, shorter sequences.";

const WEIGHTS: &str = "Store weights as `ttnn.bfloat8_b` (1,088 B for 32 × 32 elements) instead of `ttnn.bfloat16` \
    (2,048 B), if the numbers allow it.";

const MESH: &str =
    "Spread weights over more devices: `ttnn.ShardTensorToMesh` when they are loaded.";

pub fn of(error: &TenstorrentError) -> Vec<Sentence> {
    let at_least = |before: &str| {
        let text = |missing| format!("{before} at least {}", exact_bytes(missing));
        error.missing_bytes.map_or_else(String::new, text)
    };
    match &error.form {
        TenstorrentForm::NoSpace(buffer) | TenstorrentForm::NoSpaceDependencies { buffer, .. } => {
            no_space(buffer, error)
        }
        TenstorrentForm::Clash { scratch, scratch_end_address, .. } => {
            let smaller = at_least("");
            let first = format!(
                "Free or move the L1 tensors that lie below address {}, on all cores alike, or make the {} buffers of this \
                 operation{smaller} smaller on each core.",
                grouped(*scratch_end_address),
                scratch.word()
            );
            led_by(first, [DEALLOCATE, TO_DRAM, BLOCKS, SHARD])
        }
        TenstorrentForm::BeyondCore { scratch, .. } => {
            let smaller = at_least("");
            let first = format!(
                "Make the {} buffers of this operation{smaller} smaller on each core: they alone are larger than its L1, and \
                 freeing tensors does not help.",
                scratch.word()
            );
            let cores = "Give the operation more cores, so that each computes less: a larger `core_grid`, or a program config \
                with a larger `compute_with_storage_grid_size`.";
            led_by(first, [BLOCKS, cores, BATCH])
        }
        TenstorrentForm::BelowFloor { .. } => {
            // The message does not say of which memory it is.
            led_by(free_at_least(error, "", ""), [DEALLOCATE, BATCH])
        }
        TenstorrentForm::Ring { buffer, ring_bytes, unreserved_l1_bytes_per_core } => {
            let most = percent_down(*unreserved_l1_bytes_per_core, *ring_bytes);
            let most = most.map_or_else(String::new, |percent| {
                format!(", to at most {percent} % of what it is")
            });
            let first = format!(
                "Reduce the capacity of the dataflow buffer `{}`, its stride or its entry size{most}: the ring alone is larger than \
                 what a core has, and freeing tensors does not help.",
                shortened(buffer, 80)
            );
            led_by(first, [BLOCKS])
        }
        TenstorrentForm::Arena { .. } => {
            let first = match error.missing_bytes {
                Some(missing) => format!(
                    "Ask for less, or give the arena a range that is at least {} larger on each core.",
                    exact_bytes(missing)
                ),
                None => {
                    "Free what lies in the arena, ask for less, or give the arena a larger range."
                        .to_owned()
                }
            };
            led_by(
                first,
                [
                    "Spread the persistent buffers over more cores, so that each core holds less of them.",
                ],
            )
        }
        TenstorrentForm::ServiceCore { .. } => {
            let smaller = at_least(" by");
            let first = format!(
                "Keep the operation off the cores of the service, with a core grid without them, or make its circular buffers \
                 smaller{smaller}."
            );
            led_by(first, [BLOCKS])
        }
    }
}

fn no_space(buffer: &BufferWithoutSpace, error: &TenstorrentError) -> Vec<Sentence> {
    match buffer.space.as_str() {
        "L1_SMALL" => small(buffer, error),
        "TRACE" => trace(error),
        "DRAM" => dram(buffer, error),
        _ => l1(buffer, error),
    }
}

fn l1(buffer: &BufferWithoutSpace, error: &TenstorrentError) -> Vec<Sentence> {
    match error.verdict {
        TenstorrentVerdict::NeverFits => led_by(spread(buffer), [TO_DRAM, SHARD, BATCH]),
        TenstorrentVerdict::Fragmented => led_by(MOVE, [ORDER, DEALLOCATE, TO_DRAM]),
        TenstorrentVerdict::BlockedByDependencies => {
            led_by(free_in_one_piece(error, "on each core"), [DEALLOCATE, TO_DRAM, SHARD])
        }
        _ => led_by(
            free_at_least(error, " of L1", " on each core"),
            [DEALLOCATE, TO_DRAM, SHARD, BATCH],
        ),
    }
}

/// A buffer that is larger than the L1 of its cores.
fn spread(buffer: &BufferWithoutSpace) -> String {
    let least =
        buffer.bank_bytes.filter(|bank| *bank > 0).map(|bank| buffer.buffer_bytes.div_ceil(bank));
    let even = buffer.banks.max(1);
    match least {
        Some(least) if least > buffer.banks => format!(
            "Put the tensor into DRAM: in L1 it needs at least {}, it lies on {}, and freeing others does not help.",
            counted(least, "core"),
            grouped(buffer.banks)
        ),
        Some(_) => format!(
            "Put the tensor into DRAM, or choose its shards so that each of its {} holds about the same: {} then, and freeing \
             others does not help.",
            counted(buffer.banks, "core"),
            exact_bytes(buffer.buffer_bytes.div_ceil(even))
        ),
        None => {
            "Put the tensor into DRAM, or spread it over more cores: freeing others does not help."
                .to_owned()
        }
    }
}

fn dram(buffer: &BufferWithoutSpace, error: &TenstorrentError) -> Vec<Sentence> {
    match error.verdict {
        TenstorrentVerdict::NeverFits => led_by(spread_in_dram(buffer), [WEIGHTS, MESH, BATCH]),
        TenstorrentVerdict::Fragmented => led_by(MOVE, [ORDER, DEALLOCATE, WEIGHTS]),
        TenstorrentVerdict::BlockedByDependencies => {
            led_by(free_in_one_piece(error, "in each bank"), [DEALLOCATE, WEIGHTS, MESH])
        }
        _ => {
            let all = error.missing_bytes.and_then(|missing| missing.checked_mul(buffer.banks));
            let all = all.map_or_else(String::new, |all| {
                format!(" in each bank, {} over all", exact_bytes(all))
            });
            led_by(free_at_least(error, " of DRAM", &all), [DEALLOCATE, WEIGHTS, MESH, BATCH])
        }
    }
}

/// A buffer of which a part is larger than a bank of DRAM.
fn spread_in_dram(buffer: &BufferWithoutSpace) -> String {
    let banks = counted(buffer.banks, "bank");
    let of_banks = buffer.bank_bytes.and_then(|bank| bank.checked_mul(buffer.banks));
    if of_banks.is_some_and(|of_banks| buffer.buffer_bytes <= of_banks) {
        return format!(
            "Choose the shards of the tensor so that each of its {banks} holds about the same: freeing others does not help."
        );
    }
    format!(
        "Spread the tensor over more banks of DRAM than the {} that it lies on, or split it: it is larger than these, and freeing \
         others does not help.",
        grouped(buffer.banks)
    )
}

/// L1_SMALL has the tables of convolutions and pools.
fn small(buffer: &BufferWithoutSpace, error: &TenstorrentError) -> Vec<Sentence> {
    let is_whole =
        matches!(error.verdict, TenstorrentVerdict::NeverFits | TenstorrentVerdict::OutOfMemory);
    let least = buffer
        .bank_bytes
        .zip(error.missing_bytes)
        .and_then(|(bank, missing)| bank.checked_add(missing));
    let now = buffer
        .bank_bytes
        .map_or_else(String::new, |bank| format!(" It is {} now.", exact_bytes(bank)));
    let least = least.filter(|_| is_whole);
    let value = least.map_or_else(|| "…".to_owned(), |least| least.to_string());
    let words = if least.is_some() { " or more" } else { "" };
    let first = format!(
        "Open the device with a larger L1_SMALL: `ttnn.open_device(device_id=0, l1_small_size={value})`{words}.{now}"
    );
    let cost =
        "Take no more than is needed: what L1_SMALL has, other L1 tensors lose on every core.";
    let users = "L1_SMALL has the tables of convolutions, pools and halos: give back what nothing reads any more \
        (`ttnn.deallocate(tensor)`).";
    led_by(first, [cost, users])
}

fn trace(error: &TenstorrentError) -> Vec<Sentence> {
    let missing = error.missing_bytes.map_or_else(String::new, |missing| {
        format!(" {} are missing in each bank.", exact_bytes(missing))
    });
    let first = format!(
        "Open the device with a larger region for traces: `ttnn.open_device(device_id=0, trace_region_size=…)`. It is taken from \
         DRAM.{missing}"
    );
    led_by(
        first,
        [
            "Release traces that are not executed any more: `ttnn.release_trace(device, trace_id)`.",
            "Record fewer operations in a trace.",
        ],
    )
}

/// `Free at least 7.06 KiB (7,232 B) of L1 on each core.`
fn free_at_least(error: &TenstorrentError, space: &str, place: &str) -> String {
    match error.missing_bytes {
        Some(missing) => format!("Free at least {}{space}{place}.", exact_bytes(missing)),
        None => format!("Free memory{space}: the message does not say how much is missing."),
    }
}

fn free_in_one_piece(error: &TenstorrentError, place: &str) -> String {
    let missing = error.missing_bytes.map(exact_bytes).unwrap_or_default();
    format!("Free at least {missing} beside the largest piece that may be used, {place}.")
}

/// A part in percent of a whole, rounded down.
fn percent_down(part: u64, whole: u64) -> Option<u128> {
    (u128::from(part) * 100).checked_div(whole.into())
}
