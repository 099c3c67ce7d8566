//! How the sentences are written, and how their figures are read.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

use super::{BufferWithoutSpace, ScratchKind, TenstorrentForm};
use crate::diagnose::{amount, message};

/// Core ranges: `[0-0 - 7-7]`, `[(x=0,y=0) - (x=7,y=7)]`, several of these in braces, or the same in JSON.
macro_rules! cores {
    () => {
        r#"(?<cores>[\[{(](?:[\s0-9xy=:,"()\[\]{}-]|start|end)*)"#
    };
}

/// [`TenstorrentForm::NoSpace`] and [`TenstorrentForm::NoSpaceDependencies`]. Older releases stop after the bank's size, the
/// oldest before it.
pub const NO_SPACE: &str = "Out of Memory: Not enough space (?<dependencies>after considering dependencies )?to allocate \
    (?<size>{n}) B (?<space>[A-Z][A-Z0-9_]{1,20})(?: buffer)? across (?<banks>{n}) banks(?:, where each bank needs to store \
    (?<each>{n}) B| \\((?<per>{n}) B per bank\\))(?:, (?:but )?bank size is (?:only )?(?<bank>{n}) B)?\
    (?: \\(allocated: (?<allocated>{n}) B, free: (?<free>{n}) B, largest free block: (?<largest>{n}) B\\))?\
    (?:[.]? After subtracting (?<depended>{n}) dependency range(?:s|\\(s\\))? and (?<occupied>{n}) additional occupied \
    range(?:s|\\(s\\))?, (?<placeable>{n}) B remained placeable across (?<windows>{n}) window(?:s|\\(s\\))?, largest \
    (?<window>{n}) B)?";

/// [`TenstorrentForm::Clash`].
pub const CLASH: &str = concat!(
    "Statically allocated (?<scratch>circular|dataflow) buffers in program (?<program>{n}) clash with L1 buffers on core \
     ranges? ",
    cores!(),
    "[.] L1 buffer allocated at (?<lowest>{n}) and static (?:circular|dataflow) buffer region ends at (?<end>{n})"
);

/// [`TenstorrentForm::BeyondCore`].
pub const BEYOND_CORE: &str = concat!(
    "Statically allocated (?<scratch>circular|dataflow) buffers (?:in program {n} )?(?:on core ranges? ",
    cores!(),
    ")?grow to (?<end>{n}) B which is beyond max L1 size of (?<limit>{n}) B"
);

/// [`TenstorrentForm::BelowFloor`].
pub const BELOW_FLOOR: &str = "Out of Memory: Cannot allocate at an address below (?<floor>{n})[.] Allocation at (?<address>{n})";

/// [`TenstorrentForm::Ring`].
pub const RING: &str = "DFB (?<buffer>\\S{1,200}): ring size \\((?<ring>{n}) bytes\\) exceeds Tensix unreserved L1 size \
    \\((?<limit>{n}) bytes\\)(?:; reduce capacity, stride, or entry_size)?";

/// [`TenstorrentForm::Arena`].
pub const ARENA: &str = concat!(
    "Persistent L1 arena is out of memory: cannot place (?<size>{n}) bytes(?: aligned to (?<alignment>{n}) on cores ",
    cores!(),
    "in \\[(?<from>{n}), (?<to>{n})\\))?"
);

/// [`TenstorrentForm::ServiceCore`].
pub const SERVICE_CORE: &str = concat!(
    "Circular buffers on service-core ranges? ",
    cores!(),
    "in program (?<program>{n}) clash with ServiceCoreManager-allocated L1 \\(lowest service allocation at (?<lowest>{n}), \
     CB region ends at (?<end>{n})\\)"
);

/// Reads the figures of a sentence; `None` where one is no number.
type SentenceReader = fn(&Captures) -> Option<TenstorrentForm>;

/// All sentences.
const SENTENCES: [(&str, SentenceReader); 7] = [
    (NO_SPACE, no_space),
    (CLASH, clash),
    (BEYOND_CORE, beyond_core),
    (BELOW_FLOOR, below_floor),
    (RING, ring),
    (ARENA, arena),
    (SERVICE_CORE, service_core),
];

static PATTERNS: LazyLock<Vec<(Regex, SentenceReader)>> = LazyLock::new(|| {
    SENTENCES.iter().map(|(pattern, read)| (message::pattern(pattern), *read)).collect()
});

/// The sentences of a text with the places where they begin, in its order.
pub fn found_in(text: &[u8]) -> Vec<(usize, TenstorrentForm)> {
    let mut found: Vec<_> = PATTERNS
        .iter()
        .flat_map(|(pattern, read)| {
            pattern.captures_iter(text).filter_map(|of| Some((of.get_match().start(), read(&of)?)))
        })
        .collect();
    found.sort_by_key(|(at, _)| *at);
    found
}

pub fn no_space(found: &Captures) -> Option<TenstorrentForm> {
    let buffer = BufferWithoutSpace {
        space: word(found, "space")?,
        buffer_bytes: number(found, "size")?,
        banks: number(found, "banks")?,
        bytes_per_bank: number(found, "each").or_else(|| number(found, "per"))?,
        bank_bytes: number(found, "bank"),
        allocated_bytes_per_bank: number(found, "allocated"),
        free_bytes_per_bank: number(found, "free"),
        largest_free_bytes_per_bank: number(found, "largest"),
    };
    if found.name("dependencies").is_none() {
        return Some(TenstorrentForm::NoSpace(buffer));
    }
    Some(TenstorrentForm::NoSpaceDependencies {
        buffer,
        dependency_ranges: number(found, "depended"),
        occupied_ranges: number(found, "occupied"),
        placeable_bytes_per_bank: number(found, "placeable"),
        windows: number(found, "windows"),
        largest_window_bytes_per_bank: number(found, "window"),
    })
}

pub fn clash(found: &Captures) -> Option<TenstorrentForm> {
    Some(TenstorrentForm::Clash {
        scratch: scratch(found)?,
        program: number(found, "program")?,
        core_ranges: core_ranges(found),
        lowest_l1_address: number(found, "lowest")?,
        scratch_end_address: number(found, "end")?,
        scratch_bytes_per_core: None,
    })
}

pub fn beyond_core(found: &Captures) -> Option<TenstorrentForm> {
    Some(TenstorrentForm::BeyondCore {
        scratch: scratch(found)?,
        core_ranges: core_ranges(found),
        scratch_end_address: number(found, "end")?,
        worker_l1_bytes_per_core: number(found, "limit")?,
        scratch_bytes_per_core: None,
    })
}

pub fn below_floor(found: &Captures) -> Option<TenstorrentForm> {
    Some(TenstorrentForm::BelowFloor {
        floor_address: number(found, "floor")?,
        address: number(found, "address")?,
    })
}

pub fn ring(found: &Captures) -> Option<TenstorrentForm> {
    Some(TenstorrentForm::Ring {
        buffer: word(found, "buffer")?,
        ring_bytes: number(found, "ring")?,
        unreserved_l1_bytes_per_core: number(found, "limit")?,
    })
}

pub fn arena(found: &Captures) -> Option<TenstorrentForm> {
    Some(TenstorrentForm::Arena {
        requested_bytes: number(found, "size")?,
        alignment_bytes: number(found, "alignment"),
        core_ranges: core_ranges(found),
        from_address: number(found, "from"),
        to_address: number(found, "to"),
    })
}

pub fn service_core(found: &Captures) -> Option<TenstorrentForm> {
    Some(TenstorrentForm::ServiceCore {
        program: number(found, "program")?,
        core_ranges: core_ranges(found),
        lowest_service_address: number(found, "lowest")?,
        scratch_end_address: number(found, "end")?,
    })
}

fn number(found: &Captures, group: &str) -> Option<u64> {
    amount::of_bytes(found.name(group)?.as_bytes())
}

fn word(found: &Captures, group: &str) -> Option<String> {
    Some(String::from_utf8_lossy(found.name(group)?.as_bytes()).into_owned())
}

fn scratch(found: &Captures) -> Option<ScratchKind> {
    Some(match found.name("scratch")?.as_bytes() {
        b"circular" => ScratchKind::Circular,
        _ => ScratchKind::Dataflow,
    })
}

/// The core ranges as `[x0, y0, x1, y1]`: in every notation a range has these four numbers, in this order. None where a
/// number is too large for a core.
fn core_ranges(found: &Captures) -> Vec<[u32; 4]> {
    let cores = word(found, "cores").unwrap_or_default();
    let numbers = cores.split(|letter: char| !letter.is_ascii_digit());
    let numbers = numbers.filter(|digits| !digits.is_empty()).map(str::parse::<u32>);
    let numbers: Vec<u32> = numbers.collect::<Result<_, _>>().unwrap_or_default();
    numbers.chunks_exact(4).filter_map(|range| range.try_into().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::MESSAGES;
    use super::*;

    #[test]
    fn a_log_is_searched_for_every_sentence() {
        let searched: Vec<_> = MESSAGES.iter().map(|message| message.pattern).collect();
        assert_eq!(searched, SENTENCES.map(|(pattern, _)| pattern));
    }

    #[test]
    fn core_ranges_have_several_notations() {
        for (text, expected) in [
            ("[0-0 - 7-7]", &[[0, 0, 7, 7]][..]),
            ("[(x=0,y=0) - (x=7,y=7)]", &[[0, 0, 7, 7]]),
            ("{[0-0 - 7-0], [0-1 - 3-1]}", &[[0, 0, 7, 0], [0, 1, 3, 1]]),
            (
                "{[(x=1,y=2)\n-\n(x=3,y=4)], [(x=5,y=6) - (x=12,y=9)]}",
                &[[1, 2, 3, 4], [5, 6, 12, 9]],
            ),
            ("[{\"start\":{\"x\":0,\"y\":0},\"end\":{\"x\":7,\"y\":7}}]", &[[0, 0, 7, 7]]),
            ("{}", &[]),
            ("[0-0 - 7-99999999999]", &[]),
        ] {
            let text = format!(
                "Statically allocated dataflow buffers on core range {text} grow to 9 B which is beyond max L1 size of 7 B"
            );
            let [(0, TenstorrentForm::BeyondCore { core_ranges, .. })] =
                &found_in(text.as_bytes())[..]
            else {
                panic!("one sentence: {text}");
            };
            assert_eq!(core_ranges, expected, "{text}");
        }
    }
}
