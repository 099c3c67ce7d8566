//! Messages of XLA about the memory of TPUs (advice.md, "Error texts"). Amounts are binary although
//! they are written K, M, G.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::amount;
use super::finding::{FailedProgram, Finding, Kind, ListedAllocation, OfProgram, UsedPart};
use super::message::{Message, MessageFound, pattern, readable};
use super::xla_listing;

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?:(?:R(?:ESOURCE_EXHAUSTED|esource exhausted)|E[0-9]{4}|Runtime(?:Buffer|Program)AllocationFailure|\
                  Error allocating device buffer|Error loading program '(?<program>[^'\r\n]{1,300})'): )*\
                  Attempting to (?:allocate|reserve) (?<requested>{size})(?: at the bottom of memory)?\
                  [.] That was not possible\
                  (?<facts>(?:[.,;]* (?:There (?:are|is) {size} free|{size} reserved|and {size} reservable\
                  |Due to fragmentation|[Tt]he largest contiguous region of free memory is {size}(?: due to fragmentation)?\
                  |If fragmentation is eliminated|the maximum reservable bytes would be {size}\
                  |so compaction will(?: not)? enable this reservation\
                  |The nearest obstacle is at {size} from the bottom of memory with size {size}\
                  |Scope: [^\\s;,]{1,80}))*)\
                  (?:[.;:]*\\s*\\((?<instance>[0-9]+x[0-9a-fx]+_{word})\\))?",
        read: |found| Some(run_time(found)),
        example: "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to \
                  allocate 12.00M. That was not possible. There are 3.50M free.; (0x1x0_HBM0)",
        meaning: "The runtime of a TPU found no room for an array or for a program (`Error loading program`): too little \
                  is free, or no free piece is large enough.",
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:E[0-9]{4}: {word}: )?\
                  (?:XLA:TPU compile permanent error[.] )?Ran out of memory in memory space (?<space>{word})\
                  (?: while allocating on {word} for %?(?<kernel>[A-Za-z_][0-9A-Za-z_.-]{0,199}))?\
                  (?:[.] Used (?<used>{size}) of (?<limit>{size})(?: {word})?\
                  (?:[.] Exceeded {word} capacity by (?<excess>{size})[.]?)?)?",
        read: |found| Some(compile_time(found)),
        example: "XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space \
                  hbm. Used 20.50G of 15.75G hbm. Exceeded hbm capacity by 4.75G.",
        meaning: "The compiler of a TPU found that a program needs more of a memory than there is: `hbm` is the main \
                  memory, `vmem` and `smem` are on the chip.",
    },
    Message {
        // Since 2025, without a listing.
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:E[0-9]{4}: {word}: )?\
                  Ran out of memory on HBM, the total memory required for HLO temporaries \
                  \\((?<used>{size})\\) exceeds available HBM \\((?<limit>{size})\\)",
        read: |found| Some(in_hbm(found, Vec::new())),
        example: "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries (18.50G) \
                  exceeds available HBM (15.75G)",
        meaning: "The same in newer releases, without a listing. The amount has arguments and results in it.",
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:Compilation failure: )?(?:E[0-9]{4}: {word}: )?\
                  Aborting compilation early because it.{1,3}s unlikely to have enough (?:{word} )?memory[.] \
                  Requires (?<used>{size}), has (?<limit>{size}) available\
                  (?:[.] If more detailed logging is desired, set (?<flag>--xla_tpu_[a-z_]{1,80})(?:=-?[0-9]+)?)?",
        read: |found| Some(in_hbm(found, Vec::new())),
        example: "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Aborting compilation early because it's unlikely to have \
                  enough memory. Requires 3.50T, has 90.75G available. If more detailed logging is desired, set \
                  --xla_tpu_impure_oom_fast_exit_threshold=-1",
        meaning: "The compiler of a TPU gave up at once, because the program needs far more memory than there is.",
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:E[0-9]{4}: {word}: )?\
                  TPU TensorCore Hbm usage: (?<tensor>{size}), (?:SparseCore Hbm usage:? (?<sparse>{size}), )?\
                  exceeding available bytes: (?<limit>{size})",
        read: |found| Some(by_core(found)),
        example: "RESOURCE_EXHAUSTED: TPU TensorCore Hbm usage: 34.50G, SparseCore Hbm usage 74.25G, exceeding available \
                  bytes: 95.75G",
        meaning: "TensorCore and SparseCore together need more of the main memory than the chip has.",
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:E[0-9]{4}: {word}: )?\
                  Allocation \\(size=(?<requested>{n})\\) would exceed memory \\(size=(?<limit>{n})\\)\
                  (?: ::)?(?: #{word})?(?: \\[)?\\s*shape = '?(?<shape>[^'\\s]{1,400}?)'?, space=(?<space>{word})\
                  (?:, size = {word})?(?:, scoped)?(?:, tag = '(?<tag>[^']{1,400})')?",
        read: |found| Some(one_allocation(found)),
        example: "RESOURCE_EXHAUSTED: Allocation (size=134217728) would exceed memory (size=67108864) :: #allocation25 [shape \
                  = 'u8[134217728]{0}', space=vmem, size = 0x8000000, scoped, tag = 'scoped memory for my_kernel.2'",
        meaning: "One allocation is larger than the memory on the chip.",
    },
    Message {
        pattern: "(?<part>Scoped )allocation with size (?<used>{size}) and limit (?<limit>{size}) exceeded scoped \
                  (?<space>{word}) limit by (?<excess>{size})",
        read: |found| {
            Some(Finding {
                used_bytes: found.amount("used"),
                limit_bytes: found.amount("limit"),
                excess_bytes: found.amount("excess"),
                memory_space: found.word("space"),
                ..Finding::new(Kind::TpuOutOfMemory)
            })
        },
        example: "Scoped allocation with size 24.50M and limit 16.00M exceeded scoped vmem limit by 8.50M.",
        meaning: "A kernel needs more of the memory on the chip than a kernel may have.",
    },
    Message {
        pattern: "(?:E[0-9]{4}: {word}: )?current allocation offset upper bound \\((?<used>{n}) words\\) exceeds the \
                  (?:legitimate )?(?:user )?allocatable offset upper bound \\((?<limit>{n}) words\\)\
                  (?: in memory space (?<number>{n}))?(?: when allocating (?<requested>{n}) words)?",
        read: |found| Some(sparse_core(found)),
        example: "'memref.alloca' op E3000: CompileTimeSparseCoreAllocationFailure: current allocation offset upper bound \
                  (140704 words) exceeds the legitimate user allocatable offset upper bound (131071 words) in memory \
                  space 201 when allocating 23440 words.",
        meaning: "A program for the SparseCore of a TPU needs more of one of its memories than there is. A word has 4 bytes.",
    },
];

/// Memory spaces of a SparseCore have numbers.
fn sparse_core(found: &MessageFound) -> Finding {
    const WORD: u64 = 4;
    let words = |group| found.number(group)?.checked_mul(WORD);
    let space = found.number("number").map(|number| match number {
        0 => "smem".to_owned(),
        201 => "tile_spmem".to_owned(),
        202 => "spmem".to_owned(),
        203 => "hbm".to_owned(),
        204 => "sync flags".to_owned(),
        other => format!("memory space {other}"),
    });
    let finding = Finding {
        used_bytes: words("used"),
        limit_bytes: words("limit"),
        memory_space: space.or_else(|| Some("SparseCore".to_owned())),
        ..Finding::new(Kind::TpuOutOfMemory)
    };
    Finding { requested_bytes: words("requested"), ..finding.with_excess() }
}

/// What a program needs of the memory of a TPU, all of it together.
fn in_hbm(found: &MessageFound, breakdown: Vec<UsedPart>) -> Finding {
    let parts = breakdown.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.bytes));
    let finding = Finding {
        used_bytes: found.amount("used").or(parts),
        limit_bytes: found.amount("limit"),
        memory_space: Some("hbm".to_owned()),
        breakdown,
        ..Finding::new(Kind::TpuOutOfMemory)
    };
    finding.with_excess()
}

fn by_core(found: &MessageFound) -> Finding {
    let parts = [("TensorCore", "tensor"), ("SparseCore", "sparse")];
    let part = |(name, group): (&str, &str)| {
        Some(UsedPart { name: name.to_owned(), bytes: found.amount(group)? })
    };
    in_hbm(found, parts.into_iter().filter_map(part).collect())
}

/// One allocation that is larger than the memory on the chip.
fn one_allocation(found: &MessageFound) -> Finding {
    let (requested, limit) = (found.amount("requested"), found.amount("limit"));
    let allocation = requested.map(|bytes| ListedAllocation {
        bytes,
        shape: found.word("shape"),
        label: found.word("tag").map(|tag| readable(tag.as_bytes())),
        ..ListedAllocation::default()
    });
    Finding {
        failed_program: FailedProgram::kernel(
            found
                .word("tag")
                .and_then(|tag| Some(kernel_name(tag.strip_prefix("scoped memory for ")?))),
        ),
        requested_bytes: requested,
        limit_bytes: limit,
        excess_bytes: requested
            .zip(limit)
            .and_then(|(requested, limit)| requested.checked_sub(limit))
            .filter(|excess| *excess > 0),
        memory_space: found.word("space"),
        allocations: allocation.into_iter().collect(),
        ..Finding::new(Kind::TpuOutOfMemory)
    }
}

/// Enough free memory in total and yet no block for the request: fragmentation.
fn run_time(found: &MessageFound) -> Finding {
    let facts = found.word("facts").unwrap_or_default();
    // What ends where the input does is cut within its digits.
    let is_cut = found.captures.name("facts").map(|facts| facts.end())
        == Some(found.captures.get_match().end())
        && found.after.nearest(1).is_empty();
    let fact = |regex: &Regex| {
        let amount = regex.captures(facts.as_bytes())?.get(1)?;
        let is_whole = !is_cut
            || amount.end() < facts.len()
            || amount.as_bytes().last().is_some_and(u8::is_ascii_alphabetic);
        amount::of_bytes(amount.as_bytes()).filter(|_| is_whole)
    };
    let (requested, free) = (found.amount("requested"), fact(&FREE));
    let is_enough = requested.zip(free).is_some_and(|(requested, free)| free >= requested);
    let kind = if is_enough { Kind::TpuFragmented } else { Kind::TpuOutOfMemory };
    let instance = found.word("instance");
    let chip = instance.as_deref().and_then(|name| name.split('_').next()).map(str::to_owned);
    let finding = Finding {
        requested_bytes: requested,
        free_bytes: free,
        contiguous_bytes: fact(&CONTIGUOUS).or_else(|| fact(&RESERVABLE)),
        failed_program: FailedProgram {
            chip,
            program_name: found.word("program"),
            ..FailedProgram::default()
        }
        .if_any(),
        instance,
        ..Finding::new(kind)
    };
    finding.with_excess()
}

static FREE: LazyLock<Regex> = LazyLock::new(|| pattern("There (?:are|is) ({size}) free"));
static CONTIGUOUS: LazyLock<Regex> =
    LazyLock::new(|| pattern("largest contiguous region of free memory is ({size})"));
static RESERVABLE: LazyLock<Regex> = LazyLock::new(|| pattern("and ({size}) reservable"));

/// The name of a kernel without the number that the compiler gives it: `flash_attention` of `flash_attention.1`.
fn kernel_name(name: &str) -> String {
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.trim_end_matches(['.', ',', ';']);
    match name.rsplit_once('.') {
        Some((name, number)) if is_number(number) => name.to_owned(),
        _ => name.to_owned(),
    }
}

static NEXT: LazyLock<Regex> = LazyLock::new(|| pattern("Ran out of memory"));
static SCOPED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "Scoped allocation with size ({size}) and limit ({size}) exceeded scoped {word} limit by ({size})",
    )
});

/// What an operation needs on the chip stands behind the text of the operation, which may be long.
fn compile_time(found: &MessageFound) -> Finding {
    let listing = xla_listing::read(found.after);
    let own =
        found.after.get(..NEXT.find(found.after).map_or(found.after.len(), |next| next.start()));
    let scoped = SCOPED.captures(own.unwrap_or_default());
    let scoped = |group| amount::of_bytes(scoped.as_ref()?.get(group)?.as_bytes());
    let finding = Finding {
        used_bytes: found.amount("used").or_else(|| scoped(1)),
        limit_bytes: found.amount("limit").or_else(|| scoped(2)),
        excess_bytes: found.amount("excess").or_else(|| scoped(3)),
        memory_space: found.word("space"),
        failed_program: FailedProgram::kernel(found.word("kernel").map(|name| kernel_name(&name))),
        breakdown: listing.parts,
        of_program: OfProgram {
            total_bytes: listing.total_bytes,
            program: listing.program,
            packing: listing.packing,
            output_bytes: listing.outputs.0,
            shared_output_bytes: listing.outputs.1,
        }
        .if_any(),
        allocations: listing.allocations,
        ..Finding::new(Kind::TpuOutOfMemory)
    };
    finding.with_excess()
}

#[cfg(test)]
mod tests {
    use crate::diagnose::diagnose;

    #[test]
    fn a_request_at_the_bottom_of_memory_need_not_say_what_is_free() {
        let text = "Attempting to reserve 6.14G at the bottom of memory. That was not possible.";
        let found = diagnose(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].requested_bytes, found[0].free_bytes), (Some(6_592_774_799), None));
        let found = diagnose(&format!("{text} There are 1.00G free."));
        assert_eq!(found[0].free_bytes, Some(1 << 30));
    }

    #[test]
    fn a_number_with_which_the_input_ends_is_none() {
        let text = "Ran out of memory in memory space hbm. Used 15.91G of 15.75G hbm.";
        let limit = |end: usize| diagnose(&text[..end])[0].limit_bytes;
        let at = text.find("15.75G").unwrap();
        assert_eq!(
            [limit(at + 2), limit(at + 5), limit(at + 6)],
            [None, None, Some(16_911_433_728)]
        );
    }
}
