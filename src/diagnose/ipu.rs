//! Messages of Poplar, PopLibs and their frameworks about the memory of tiles (poplar.md 6.2, 6.3).

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::amount;
use super::finding::{Finding, Kind};
use super::message::{Message, MessageFound, pattern};

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "Out of memory on tiles? (?<tiles>{tiles})\
                  (?:: (?<used>{n}) bytes used but (?:the )?tiles? only ha(?:ve|s) (?<limit>{n}) bytes\
                  (?: of memory)?)?(?:[.]? Profile saved to: {path})?",
        read: |found| Some(tile(found)),
        example: "Out of memory on tile 12: 270336 bytes used but tiles only have 262144 bytes of memory",
        meaning: "A tile of an IPU, or some that are listed, need more memory than they have.",
    },
    Message {
        // Poplar before its first release.
        pattern: "Out of memory on (?<count>{count}) tiles\
                  (?: Total memory overspill: (?<excess>{n}) bytes\
                  (?: Top tile by memory usage: Tile (?<tile>{n}) memory usage: (?<used>{n}) bytes)?)?",
        read: |found| Some(counted_before_1_0(found)),
        example: "Out of memory on 4 tiles\nTotal memory overspill: 12345 bytes\nTop tile by memory usage:\nTile 8 memory \
                  usage: 274489 bytes",
        meaning: "The same in Poplar before its first release.",
    },
    Message {
        pattern: r"(?<count>{count}) tile\(s\) out of memory",
        read: |found| Some(counted(found)),
        example: "1,021 tile(s) out of memory",
        meaning: "The last line of a summary counts the tiles that are out of memory.",
    },
    Message {
        pattern: "(?:Out of memory: )?Cannot fit all variable data onto one or more tiles[.]?\
                  (?: Profile saved to: {path})?",
        read: |found| Some(with_profile(Kind::VariablesDoNotFit, found)),
        example: "Out of memory: Cannot fit all variable data onto one or more tiles. Profile saved to: out/profile.pop",
        meaning: "The variables of one or more tiles cannot be placed.",
    },
    Message {
        pattern: "Out of memory, the graph profile is available here: {path}",
        read: |found| Some(with_profile(Kind::OutOfMemory, found)),
        example: "Out of memory, the graph profile is available here: /tmp/oom/profile.pop",
        meaning: "The program does not fit into the IPU, and its report was written.",
    },
    Message {
        pattern: r"Need to set the 'debug\.allowOutOfMemory' engine option to true to get the graph report",
        read: |_| Some(Finding::new(Kind::ProfileNotWritten)),
        example: "Need to set the 'debug.allowOutOfMemory' engine option to true to get the graph report",
        meaning: "The program does not fit into the IPU, and no report was asked for.",
    },
    Message {
        pattern: "[Tt]ile (?<tile>{n}) receives more data than it has total memory in exchange\
                  (?: '(?<exchange>[^'\r\n]*)'?)?",
        read: |found| Some(exchange(found)),
        example: "Tile 1470 receives more data than it has total memory in exchange 'cs2_9/enc/gather_ExchangePre'",
        meaning: "A tile receives more in one exchange than its memory holds.",
    },
    Message {
        pattern: "[Tt]ile (?<tile>{n}) _poplar_start must be {n} not {n} bytes from the start of memory\
                  (?:[.] Typically this error occurs when there is too much code to fit in\\s*code memory[.]?)?",
        read: |found| {
            Some(Finding { tile: found.number("tile"), ..Finding::new(Kind::CodeTooLarge) })
        },
        example: "tile 6 _poplar_start must be 0 not 262144 bytes from the start of memory. Typically this error occurs when there \
                  is too much code to fit incode memory.",
        meaning: "The code of a tile leaves no room.",
    },
    Message {
        pattern: "Buffer {n} needs to be at least (?<requested>{n}) [Bb]ytes, but remaining host buffer \
                  memory is only (?<free>{n})",
        read: |found| Some(host_buffer(found)),
        example: "Buffer 3 needs to be at least 1073741824 Bytes, but remaining host buffer memory is only 268435456",
        meaning: "A buffer for streams in the memory of the host is too small. This is not memory of the IPU.",
    },
    Message {
        pattern: "Out of memory[.] Single stream of length (?<requested>{n})(?: in bufferIndex {n})?",
        read: |found| Some(host_buffer(found)),
        example: "Out of memory. Single stream of length 300000000 in bufferIndex 4",
        meaning: "One stream is larger than the buffer for streams in the memory of the host.",
    },
    Message {
        pattern: "(?:Warning: )?(?:[a-z]+ )?planner unable to meet memory target\
                  (?:; retrying while targeting minimum memory[.]|[.] Optimizing for minimum memory[.]*)?",
        read: |_| Some(Finding::new(Kind::PlannerAtMinimum)),
        example: "Warning: convolution planner unable to meet memory target; retrying while targeting minimum memory.",
        meaning: "A convolution or matmul already has the plan with the least memory.",
    },
    Message {
        pattern: "Unable to meet memory target[.] Retrying with \
                  (?:a per-tile memory limit of (?<limit>{n}) bytes|no per-tile memory limit)[.]?",
        read: |found| Some(over_target(found)),
        example: "Unable to meet memory target. Retrying with a per-tile memory limit of 766770 bytes.",
        meaning: "The planner goes on with more memory than its share.",
    },
    Message {
        pattern: "embedding::plan could not find a valid solution with availableMemoryProportion=\
                  [0-9.e-]+, trying again with unlimited temporary memory",
        read: |found| Some(over_target(found)),
        example: "embedding::plan could not find a valid solution with availableMemoryProportion=0.05, trying again with unlimited \
                  temporary memory",
        meaning: "The same for an embedding.",
    },
    Message {
        pattern: "Slice planner could not find a valid solution, opting for no plan",
        read: |_| Some(Finding::new(Kind::PlannerNoPlan)),
        example: "Slice planner could not find a valid solution, opting for no plan",
        meaning: "A gather or scatter goes on without a plan.",
    },
];

/// Tiles are parts of images, too: without the figures of Poplar the text around has to be about an IPU, or about
/// nothing else.
fn tile(found: &MessageFound) -> Finding {
    let has_figures = found.number("used").is_some() || found.path().is_some();
    if !has_figures && found.is_near(&IMAGE) {
        return Finding::new(Kind::UnknownMemoryMessage);
    }
    let tiles = found.word("tiles").unwrap_or_default();
    let first = tiles.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let finding = Finding {
        tile: first.parse().ok(),
        // One tile that is named need not be the only one.
        tiles_out: listed(&tiles).filter(|count| *count > 1),
        used_bytes: found.number("used"),
        limit_bytes: found.number("limit"),
        profile: found.path(),
        is_of_log: !has_figures,
        ..Finding::new(Kind::TileOutOfMemory)
    };
    finding.with_excess()
}

/// Words about images.
static IMAGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?i:upscal|\\bimages?\\b|esrgan|\\bvae\\b|pixel|tile[ _-]?size|tiled|tile {n} ?(?:/|of)|\\bframes?\\b|smaller tiles|\\bretry\\b|\\[OOM\\])",
    )
});

/// How many tiles a list like `0-3, 7 and 9` has.
fn listed(tiles: &str) -> Option<u64> {
    let list = tiles.replace("and", ",");
    let parts = list.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| match part.split_once('-') {
            None => Some(1),
            Some((from, to)) => {
                let (from, to): (u64, u64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
                to.checked_sub(from)?.checked_add(1)
            }
        })
        .try_fold(0_u64, |sum, count| sum.checked_add(count?))
}

/// The excess is that of all tiles together. Some versions print all that the tile uses instead, which
/// is none.
fn counted_before_1_0(found: &MessageFound) -> Finding {
    let used_bytes = found.number("used");
    Finding {
        tiles_out: found.number("count"),
        excess_bytes: found.number("excess").filter(|excess| Some(*excess) != used_bytes),
        tile: found.number("tile"),
        used_bytes,
        ..Finding::new(Kind::TilesOutOfMemory)
    }
}

static FULLEST_TILE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"Maximum \(Including Gaps\): ({n}) \([^)\n]*\) on tile ({n})"));
static MEMORY_PER_TILE: LazyLock<Regex> = LazyLock::new(|| pattern("Memory Per-Tile: ({size})"));

/// The last line of a summary's list of tiles. The fullest tile stands just before it, the memory of
/// a tile at the summary's beginning.
fn counted(found: &MessageFound) -> Finding {
    /// Bytes in which the last lines before the message lie.
    const NEAR: usize = 1024;
    let near = found.before.len().saturating_sub(NEAR);
    let near = found.before.get(near..).unwrap_or_default();
    let fullest = FULLEST_TILE.captures_iter(near).last();
    let fullest = |group| amount::of_bytes(fullest.as_ref()?.get(group)?.as_bytes());
    let limit = MEMORY_PER_TILE.captures_iter(found.before).last();
    let limit = limit.and_then(|facts| amount::of_bytes(facts.get(1)?.as_bytes()));
    let (used_bytes, tile) = (fullest(1), fullest(2));
    let limit_bytes = limit.filter(|limit| used_bytes.is_none_or(|used| used > *limit));
    let finding = Finding {
        tiles_out: found.number("count"),
        tile,
        used_bytes,
        limit_bytes,
        ..Finding::new(Kind::TilesOutOfMemory)
    };
    finding.with_excess()
}

fn with_profile(kind: Kind, found: &MessageFound) -> Finding {
    Finding { profile: found.path(), ..Finding::new(kind) }
}

fn exchange(found: &MessageFound) -> Finding {
    Finding {
        tile: found.number("tile"),
        exchange: found.word("exchange").map(String::into_boxed_str),
        ..Finding::new(Kind::ExchangeTooLarge)
    }
}

fn host_buffer(found: &MessageFound) -> Finding {
    let finding = Finding {
        requested_bytes: found.number("requested"),
        free_bytes: found.number("free"),
        ..Finding::new(Kind::HostBuffer)
    };
    finding.with_excess()
}

fn over_target(found: &MessageFound) -> Finding {
    Finding { limit_bytes: found.number("limit"), ..Finding::new(Kind::PlannerOverTarget) }
}
