//! Messages of XLA about the memory of TPUs (advice.md, "Error texts"). Amounts are binary although
//! they are written K, M, G.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::amount;
use super::finding::{Finding, Kind, ListedAllocation, OfProgram, UsedPart};
use super::message::{Message, MessageFound, pattern, readable};
use super::xla_listing;

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): (?:Error allocating device buffer: )?)?\
                  Attempting to (?:allocate|reserve) (?<requested>{size})(?: at the bottom of memory)?\
                  [.] That was not possible(?:[.] There are (?<free>{size}) free\
                  (?:, {size} reserved, and (?<reservable>{size}) reservable)?\
                  (?:[.] The largest contiguous region of free memory is (?<contiguous>{size}) due to \
                  fragmentation)?)?(?:[.;]*\\s*\\((?<instance>0x[0-9a-fx]+_{word})\\))?",
        read: run_time,
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:E[0-9]{4}: {word}: )?\
                  (?:XLA:TPU compile permanent error[.] )?Ran out of memory in memory space (?<space>{word})\
                  (?:[.] Used (?<used>{size}) of (?<limit>{size})(?: {word})?\
                  (?:[.] Exceeded {word} capacity by (?<excess>{size})[.]?)?)?",
        read: compile_time,
    },
    Message {
        // Since 2025, without a listing.
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:E[0-9]{4}: {word}: )?\
                  Ran out of memory on HBM, the total memory required for HLO temporaries \
                  \\((?<used>{size})\\) exceeds available HBM \\((?<limit>{size})\\)",
        read: |found| in_hbm(found, Vec::new()),
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:E[0-9]{4}: {word}: )?\
                  TPU TensorCore Hbm usage: (?<tensor>{size}), (?:SparseCore Hbm usage:? (?<sparse>{size}), )?\
                  exceeding available bytes: (?<limit>{size})",
        read: by_core,
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:E[0-9]{4}: {word}: )?\
                  Allocation \\(size=(?<requested>{n})\\) would exceed memory \\(size=(?<limit>{n})\\)\
                  (?: ::)?(?: #{word})?(?: \\[)?\\s*shape = '?(?<shape>[^'\\s]{1,400}?)'?, space=(?<space>{word})\
                  (?:, size = {word})?(?:, scoped)?(?:, tag = '(?<tag>[^']{1,400})')?",
        read: one_allocation,
    },
];

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
    let (requested, free) = (found.amount("requested"), found.amount("free"));
    let is_enough = requested.zip(free).is_some_and(|(requested, free)| free >= requested);
    let kind = if is_enough { Kind::TpuFragmented } else { Kind::TpuOutOfMemory };
    let finding = Finding {
        requested_bytes: requested,
        free_bytes: free,
        contiguous_bytes: found.amount("contiguous").or_else(|| found.amount("reservable")),
        instance: found.word("instance"),
        ..Finding::new(kind)
    };
    finding.with_excess()
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
        breakdown: listing.parts,
        of_program: OfProgram {
            total_bytes: listing.total_bytes,
            program: listing.program,
            packing: listing.packing,
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
