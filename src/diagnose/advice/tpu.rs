//! Advice about the memory of TPUs (JAX, PyTorch/XLA).

use super::{Finding, Sentence, free_at_least, led_by, server};
use crate::diagnose::finding::{Kind, ListedAllocation};
use crate::diagnose::run_settings::Framework;
use crate::text::{bytes, shortened};

const CHECKPOINT: &str = "In training, compute activations again instead of keeping them: JAX \
    `jax.checkpoint(f)`, Flax `nn.remat`, PyTorch/XLA `torch_xla.utils.checkpoint.checkpoint`.";

const DONATE: &str = "Let results take the place of arguments: `jax.jit(f, donate_argnums=(0,))` for the state that \
    a step replaces.";

const REFERENCES: &str = "Drop references to arrays that are no longer needed (old state, lists of losses): \
    what Python still names is not freed; `del`, or `float(loss)` instead of keeping the array.";

const STORE: &str = "Spread parameters and optimizer state over more chips (JAX `jax.sharding.NamedSharding`, PyTorch/XLA \
    FSDP), and write checkpoints in shards: one that gathers the whole state on a chip needs room for all of it.";

const LAYOUT: &str = "Mind padding and layout: the last two extents of an array are padded to multiples of 8 and 128, so that \
    `f32[1000000,3]` takes 43 times its size. Put large extents last, and see what is allocated: \
    `LIBTPU_INIT_ARGS=--tpu_log_allocations_on_oom=true`, `jax.profiler.save_device_memory_profile(path)`.";

fn batch(finding: &Finding) -> &'static str {
    if finding.run.is_inference() {
        "Compute less at once: a smaller batch, shorter sequences."
    } else {
        "Compute less at once: a smaller batch, shorter sequences, accumulated gradients."
    }
}

fn shard(finding: &Finding) -> &'static str {
    if finding.run.is_inference() {
        "Spread the weights over more chips: JAX `jax.sharding.NamedSharding`, PyTorch/XLA SPMD."
    } else {
        "Spread parameters and optimizer state over more chips: JAX `jax.sharding.NamedSharding`, PyTorch/XLA FSDP."
    }
}

fn checkpoint(finding: &Finding) -> Option<&'static str> {
    (!finding.run.is_inference()).then_some(CHECKPOINT)
}

/// What frees arrays that are not needed; only JAX says which arguments a result may replace.
fn keep(finding: &Finding) -> Sentence {
    if may_donate(finding) { format!("{REFERENCES} {DONATE}").into() } else { REFERENCES.into() }
}

pub fn of(finding: &Finding) -> Vec<Sentence> {
    if finding.text.contains("offset upper bound") {
        return sparse_core(finding);
    }
    if finding.text.contains("Aborting compilation early") {
        return aborted(finding);
    }
    let mut advice = match finding.memory_space.as_deref() {
        Some("hbm") => compile_time(finding),
        Some(space) => return scratchpad(finding, space),
        None => run_time(finding),
    };
    if let Some(of_server) = server::running(finding, None) {
        advice.truncate(1);
        advice.extend(of_server);
    }
    advice
}

fn run_time(finding: &Finding) -> Vec<Sentence> {
    let chip = finding.chip().map_or_else(String::new, |chip| format!(" on chip {chip}"));
    let first = match (finding.kind, finding.program_name()) {
        (Kind::TpuFragmented, _) => {
            let largest = finding.contiguous_bytes.map_or_else(String::new, |contiguous| {
                format!(" (the largest has {})", bytes(contiguous))
            });
            let pieces =
                format!("enough is free{chip}, but no single block is large enough{largest}.");
            match obstacle(finding) {
                Some(obstacle) => format!(
                    "Load this program before arrays are made, or free what lies in its way{obstacle}, which the message says \
                     would make room: {pieces}"
                ),
                None => format!(
                    "Allocate what is large and lives long first, and keep the sizes of arrays few: {pieces}"
                ),
            }
        }
        (_, Some(program)) => {
            let amount = free_at_least(finding).unwrap_or_else(|| "Free memory".to_owned());
            format!(
                "{amount}{chip}, so that the program `{}` can be loaded: what it needs has to lie in one piece at the bottom of \
                 the memory. Compile fewer programs that are loaded at once, and free arrays before it runs.",
                shortened(program, 120)
            )
        }
        _ => {
            let amount = free_at_least(finding).unwrap_or_else(|| "Free memory".to_owned());
            format!("{amount}{chip}: other arrays must go, or programs that are loaded.")
        }
    };
    let store = if finding.run.is_inference() { shard(finding) } else { STORE };
    vec![first.into(), keep(finding), store.into(), batch(finding).into(), LAYOUT.into()]
}

/// ` (at 4.66G from …)`: what the message says has to move, if that makes room.
fn obstacle(finding: &Finding) -> Option<String> {
    finding.text.contains("compaction will enable").then(|| {
        let place = finding.text.split_once("nearest obstacle is at ");
        let place = place.and_then(|(_, place)| place.split([';', ')']).next());
        let place = place.map(|place| shortened(place.trim_end_matches('.'), 80));
        place.map_or_else(String::new, |place| format!(" (at {place})"))
    })
}

/// The compiler gave up before it looked at details.
fn aborted(finding: &Finding) -> Vec<Sentence> {
    let amounts = match (finding.used_bytes, finding.limit_bytes) {
        (Some(needed), Some(limit)) => {
            format!(": the module needs {}, and there are {}", bytes(needed), bytes(limit))
        }
        _ => String::new(),
    };
    let look = format!(
        "Look for an array that is not sharded, or an extent that is wrong{amounts}. That much is seldom a matter of tuning."
    );
    let more = "Let the compiler go on, so that it lists what is large: \
        `LIBTPU_INIT_ARGS=--xla_tpu_impure_oom_fast_exit_threshold=-1`.";
    let rest = [more, shard(finding), batch(finding)];
    led_by(look, rest.into_iter().chain(checkpoint(finding)))
}

/// The memories of a SparseCore are small; what helps depends on which.
fn sparse_core(finding: &Finding) -> Vec<Sentence> {
    let space = finding.memory_space.as_deref().unwrap_or_default();
    let amount = free_at_least(finding).unwrap_or_else(|| "Free memory".to_owned());
    if space == "hbm" {
        let tables = format!(
            "{amount}: check that embedding tables are sharded over all chips, and lower `max_ids_per_partition` and \
             `max_unique_ids_per_partition`, for which room is kept."
        );
        return led_by(tables, [batch(finding), shard(finding)]);
    }
    let smaller = format!(
        "{amount} of {}, a memory of the SparseCore: use smaller blocks in your own kernels (`scratch_shapes`, the window of a \
         gather).",
        shortened(space, 30)
    );
    led_by(
        smaller,
        [
            "Take collectives off the SparseCore if it is one of them: \
             `--xla_tpu_enable_sparse_core_collective_offload_all_gather=false`, and the same for `all_reduce`.",
            "See which operation it is: `--xla_sc_dump_mlir_to=DIR`, `--xla_mosaic_dump_to=DIR`. If no kernel of yours is \
             there, report it to XLA.",
        ],
    )
}

/// XLA did what it can do by itself.
pub fn rematerialization(finding: &Finding) -> Vec<Sentence> {
    let amounts = match (finding.used_bytes, finding.limit_bytes, finding.excess_bytes) {
        (Some(used), Some(limit), Some(over)) => format!(
            ": the module needs {} where {} are meant to be enough, {} too many, although XLA computes values again",
            bytes(used),
            bytes(limit),
            bytes(over)
        ),
        _ => ": XLA computes values again and does not get there".to_owned(),
    };
    let first = format!(
        "Make the module smaller{amounts}. Alone it is a warning; look whether the run fails later."
    );
    let checkpoint = "In training, say yourself what is computed again: `jax.checkpoint(f, policy=…)` around each layer of a \
        `scan`, which keeps only the inputs of the layers.";
    let most = "If the target is too low because other programs had memory at that moment, run alone on the device; the target is \
        what XLA may take of what the device has.";
    led_by(first, [checkpoint, batch(finding), shard(finding), most])
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
    let saved = results_of_their_own(finding).zip(arguments).map(|(own, all)| own.min(all));
    let saved = saved.filter(|_| may_donate(finding));
    let missing = finding.excess_bytes;
    if let Some((saved, missing)) = saved.zip(missing).filter(|(saved, missing)| saved >= missing) {
        let enough = format!(
            "{DONATE} That alone can be enough: {} of results have memory of their own, and {} are missing.",
            bytes(saved),
            bytes(missing)
        );
        let rest = checkpoint(finding).filter(|_| !is_arguments).unwrap_or(shard(finding));
        return [enough.into(), first.into()]
            .into_iter()
            .chain(most_padded(&finding.allocations).map(padding))
            .chain([rest.into(), batch(finding).into()])
            .collect();
    }
    let mut advice = vec![first.into()];
    advice.extend(most_padded(&finding.allocations).map(padding));
    let donate = donate(finding);
    // Of what arguments hold, donation is the cheaper way.
    let (first, last) = if is_arguments { (donate, None) } else { (None, donate) };
    let (shard, batch) = (Some(shard(finding)), Some(batch(finding)));
    let checkpoint = checkpoint(finding);
    let rest = if is_arguments { [shard, batch, checkpoint] } else { [checkpoint, batch, shard] };
    let rest = first.into_iter().chain(rest.into_iter().flatten().map(Sentence::from)).chain(last);
    advice.extend(rest);
    advice
}

/// Bytes of results that take no argument's place, if the message says so.
fn results_of_their_own(finding: &Finding) -> Option<u64> {
    let program = finding.of_program.as_deref()?;
    program.output_bytes?.checked_sub(program.shared_output_bytes?)
}

/// PyTorch/XLA gives arguments back by itself where a step replaces them.
fn may_donate(finding: &Finding) -> bool {
    finding.run.framework != Some(Framework::PyTorch)
}

/// Donating helps where results have memory of their own.
fn donate(finding: &Finding) -> Option<Sentence> {
    match results_of_their_own(finding) {
        _ if !may_donate(finding) => None,
        None => Some(DONATE.into()),
        Some(0) => None,
        Some(own) => {
            Some(format!("{DONATE} Of the results {} have memory of their own.", bytes(own)).into())
        }
    }
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
    let (shard, batch) = (Some(shard(finding)), Some(batch(finding)));
    let rest = if sparse > tensor {
        [Some(tables), batch, shard, checkpoint(finding)]
    } else {
        [checkpoint(finding), batch, shard, Some(DONATE).filter(|_| may_donate(finding))]
    };
    led_by(first, rest.into_iter().flatten())
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
    let whose = finding.kernel().map_or_else(
        || "in your own kernels".to_owned(),
        |kernel| format!("in the kernel `{}`", shortened(kernel, 80)),
    );
    let free = format!(
        "{amount} of {}, the memory on the chip: use smaller blocks {whose} (Pallas block shapes, \
         fewer prefetched scalars).",
        shortened(space, 20)
    );
    let raise = raised_limit(finding).filter(|_| space == "vmem");
    let rest = [
        "Compute less at once: fewer sequences, shorter ones, smaller tables of indices.",
        "Report it to XLA if no kernel of yours is in the listing: the compiler should not run out of it.",
    ];
    let rest = rest.map(Sentence::from);
    [Sentence::from(free)].into_iter().chain(raise).chain(rest).collect()
}

/// The limit of a kernel may be raised where the chip has more: v5e, v5p and v6e have 128 MiB, v7 has 64.
fn raised_limit(finding: &Finding) -> Option<Sentence> {
    const MIB: u64 = 1 << 20;
    /// A limit that is as large as this may be all of the chip.
    const ALL: u64 = 64 * MIB;
    let needed = match (finding.used_bytes, finding.limit_bytes) {
        (_, Some(limit)) if limit >= ALL => return None,
        (Some(used), _) if used >= 2 * ALL => return None,
        (Some(used), _) => used.checked_next_multiple_of(MIB)?,
        (None, _) => return Some(
            "Raise what a kernel may have, if the chip has more (v5e, v5p and v6e have 128 MiB, older ones 16): \
             `LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib=N`."
                .into(),
        ),
    };
    let raise = format!(
        "Raise what a kernel may have, if the chip has more (v5e, v5p and v6e have 128 MiB, v7 64, older ones 16): \
         `LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib={}`.",
        needed / 1024
    );
    Some(raise.into())
}
