//! Messages of XLA about the memory of TPUs (advice.md, "Error texts"). Amounts are binary although
//! they are written K, M, G.

use super::finding::{Finding, Kind};
use super::message::{Found, Message};
use super::tpu_breakdown;

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): (?:Error allocating device buffer: )?)?\
                  Attempting to (?:allocate|reserve) (?<requested>{size})(?: at the bottom of memory)?\
                  [.] That was not possible[.] There are (?<free>{size}) free\
                  (?:, {size} reserved, and (?<reservable>{size}) reservable)?\
                  (?:[.] The largest contiguous region of free memory is (?<contiguous>{size}) due to \
                  fragmentation)?(?:[.;]*\\s*\\((?<instance>0x[0-9a-fx]+_{word})\\))?",
        read: run_time,
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:XLA:TPU compile permanent error[.] )?\
                  Ran out of memory in memory space (?<space>{word})\
                  (?:[.] Used (?<used>{size}) of (?<limit>{size})(?: {word})?\
                  (?:[.] Exceeded {word} capacity by (?<excess>{size})[.]?)?)?",
        read: compile_time,
    },
];

/// Enough free memory in total and yet no block for the request: fragmentation.
fn run_time(found: &Found) -> Finding {
    let (requested, free) = (found.number("requested"), found.number("free"));
    let is_enough = requested.zip(free).is_some_and(|(requested, free)| free >= requested);
    let kind = if is_enough { Kind::TpuFragmented } else { Kind::TpuOutOfMemory };
    let finding = Finding {
        requested_bytes: requested,
        free_bytes: free,
        contiguous_bytes: found.number("contiguous").or_else(|| found.number("reservable")),
        instance: found.word("instance"),
        ..Finding::new(kind)
    };
    finding.with_excess()
}

fn compile_time(found: &Found) -> Finding {
    let (breakdown, allocations) = tpu_breakdown::read(found.after);
    let finding = Finding {
        used_bytes: found.number("used"),
        limit_bytes: found.number("limit"),
        excess_bytes: found.number("excess"),
        memory_space: found.word("space"),
        breakdown,
        allocations,
        ..Finding::new(Kind::TpuOutOfMemory)
    };
    finding.with_excess()
}
