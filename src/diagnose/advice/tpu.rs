//! Advice about the memory of TPUs (JAX, PyTorch/XLA).

use super::{Finding, Sentence, free_at_least, led_by};
use crate::diagnose::finding::{Kind, ListedAllocation};
use crate::text::{bytes, shortened};

const BATCH: &str =
    "Compute less at once: a smaller batch, shorter sequences, accumulated gradients.";

const CHECKPOINT: &str = "In training, compute activations again instead of keeping them: JAX \
    `jax.checkpoint(f)`, Flax `nn.remat`, PyTorch/XLA `torch_xla.utils.checkpoint.checkpoint`.";

const SHARD: &str = "Spread parameters and optimizer state over more chips: JAX \
    `jax.sharding.NamedSharding`, PyTorch/XLA FSDP.";

const DONATE: &str = "Let results take the place of arguments: `jax.jit(f, donate_argnums=(0,))` for the state \
    that a step replaces.";

const REFERENCES: &str = "Drop references to arrays that are no longer needed (old state, lists of losses): \
    what Python still names is not freed; `del`, or `float(loss)` instead of keeping the array.";

const LIST: &str = "List what is allocated when it happens: \
    `LIBTPU_INIT_ARGS=--tpu_log_allocations_on_oom=true` prints it for people to read (its format \
    is not public), `jax.profiler.save_device_memory_profile(path)` writes it shortly before; \
    `XLA_FLAGS=--xla_dump_to=DIR` shows what the module itself needs.";

pub fn of(finding: &Finding) -> Vec<Sentence> {
    match finding.memory_space.as_deref() {
        Some("hbm") => compile_time(finding),
        Some(space) => scratchpad(finding, space),
        None => run_time(finding),
    }
}

fn run_time(finding: &Finding) -> Vec<Sentence> {
    let first = if finding.kind == Kind::TpuFragmented {
        let largest = finding.contiguous_bytes.map_or_else(String::new, |contiguous| {
            format!(" (the largest has {})", bytes(contiguous))
        });
        format!(
            "Allocate what is large and lives long first, and keep the sizes of arrays few: enough is free, but \
             no single block is large enough{largest}, although the runtime has already tried to defragment."
        )
    } else {
        let amount = free_at_least(finding).unwrap_or_else(|| "Free memory".to_owned());
        format!(
            "{amount}: the runtime has already tried again, defragmented and unloaded \
             executables, so other arrays must go."
        )
    };
    led_by(first, [REFERENCES, DONATE, BATCH, LIST])
}

fn compile_time(finding: &Finding) -> Vec<Sentence> {
    let part = |name: &str| {
        finding
            .breakdown
            .iter()
            .filter(|part| part.name.starts_with(name))
            .map(|part| part.bytes)
            .max()
    };
    if let (Some(tensor), Some(sparse)) = (part("TensorCore"), part("SparseCore")) {
        return by_core(finding, tensor, sparse);
    }
    let (program, arguments) = (part("program"), part("argument"));
    let amount = free_at_least(finding).unwrap_or_else(|| "Make the module smaller".to_owned());
    let is_arguments = arguments > program;
    let first = match (program, arguments) {
        (Some(program), Some(arguments)) if is_arguments => format!(
            "{amount}, of the arguments first: they have {}, the module's own temporaries {}.",
            bytes(arguments),
            bytes(program)
        ),
        (Some(program), _) => format!(
            "{amount}, of the module's temporaries first: they have {}{}.",
            bytes(program),
            arguments.map_or_else(String::new, |arguments| format!(
                ", the arguments {}",
                bytes(arguments)
            ))
        ),
        _ => format!("{amount}."),
    };
    let mut advice = vec![first.into()];
    advice.extend(most_padded(&finding.allocations).map(padding));
    let rest = if is_arguments {
        [SHARD, DONATE, BATCH, CHECKPOINT]
    } else {
        [CHECKPOINT, BATCH, SHARD, DONATE]
    };
    advice.extend(rest.map(Sentence::from));
    advice
}

/// TensorCore and SparseCore share the memory; what helps depends on which has more.
fn by_core(finding: &Finding, tensor: u64, sparse: u64) -> Vec<Sentence> {
    let amount = free_at_least(finding).unwrap_or_else(|| "Make the module smaller".to_owned());
    let (more, most, less, least) = if sparse > tensor {
        ("SparseCore", sparse, "TensorCore", tensor)
    } else {
        ("TensorCore", tensor, "SparseCore", sparse)
    };
    let first = format!(
        "{amount}, of what the {more} needs first: it has {}, the {less} {}.",
        bytes(most),
        bytes(least)
    );
    let tables = "Make what embedding tables need smaller: narrower features, fewer unique ids a row \
                  (`max_unique_nz_per_row`), tables one after another \
                  (`--xla_sc_num_serialized_tables_to_optimize_hbm`).";
    let rest = if sparse > tensor {
        [tables, BATCH, SHARD, CHECKPOINT]
    } else {
        [CHECKPOINT, BATCH, SHARD, DONATE]
    };
    led_by(first, rest)
}

/// The allocation that padding costs most, if it at least doubles it.
fn most_padded(allocations: &[ListedAllocation]) -> Option<(&ListedAllocation, u64)> {
    allocations
        .iter()
        .filter_map(|allocation| Some((allocation, allocation.unpadded_bytes?)))
        .filter(|(allocation, unpadded)| allocation.bytes / 2 >= *unpadded)
        .max_by_key(|(allocation, unpadded)| allocation.bytes - unpadded)
}

fn padding((allocation, unpadded): (&ListedAllocation, u64)) -> Sentence {
    let shape = allocation.shape.as_deref().unwrap_or("the largest allocation");
    let choose = format!(
        "Choose a layout with less padding for {}: {} hold {}. The last two extents are padded to multiples of \
         8 and 128: put large ones there.",
        shortened(shape, 80),
        bytes(allocation.bytes),
        bytes(unpadded)
    );
    choose.into()
}

fn scratchpad(finding: &Finding, space: &str) -> Vec<Sentence> {
    let amount = free_at_least(finding).unwrap_or_else(|| "Free memory".to_owned());
    let free = format!(
        "{amount} of {}, the memory on the chip: use smaller blocks in your own kernels (Pallas block shapes, \
         fewer prefetched scalars).",
        shortened(space, 20)
    );
    let raise = "Raise what a kernel may have, if the chip has more: \
                 `LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib=65536`.";
    let rest = [
        "Compute less at once: fewer sequences, shorter ones, smaller tables of indices.",
        "Report it to XLA if no kernel of yours is in the listing: the compiler should not run out of it.",
    ];
    led_by(free, (space == "vmem").then_some(raise).into_iter().chain(rest))
}
