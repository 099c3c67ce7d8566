//! The size of the block that a request gets (formats/pytorch.md 4.4, the rules of PyTorch's allocator): the request
//! is rounded up, and what is free behind it is split off where it is worth it.

use crate::store::snapshot::AllocatorSettings;

/// Sizes are multiples of this, and no rest is smaller.
pub const LEAST_BYTES: u64 = 512;

/// Requests of at most this many bytes are small.
pub const SMALL_BYTES: u64 = 1 << 20;

/// The bytes of a request, rounded up.
pub fn rounded(bytes: u64, settings: &AllocatorSettings) -> u64 {
    if bytes < LEAST_BYTES {
        return LEAST_BYTES;
    }
    let mebibytes = (bytes >> 20).clamp(1, 32768);
    let divisions = settings.roundup_divisions.get(mebibytes.ilog2() as usize).copied();
    match divisions {
        Some(divisions @ 2..) if bytes > LEAST_BYTES.saturating_mul(divisions) => {
            up_to_division(bytes, divisions)
        }
        _ => up_to_multiple(bytes, LEAST_BYTES),
    }
}

/// The next multiple of the power of two at or below `bytes` divided by `divisions`, which are taken down to a power
/// of two.
fn up_to_division(bytes: u64, divisions: u64) -> u64 {
    if bytes.is_power_of_two() {
        return bytes;
    }
    let power = 1_u64 << bytes.ilog2();
    match power >> divisions.ilog2() {
        0 => power.saturating_mul(2),
        step => up_to_multiple(bytes, step),
    }
}

/// The next multiple of a power of two.
fn up_to_multiple(bytes: u64, of: u64) -> u64 {
    let below = bytes & !(of - 1);
    if below == bytes { bytes } else { below.saturating_add(of) }
}

/// The bytes of the block that a request of `rounded` bytes gets where so many are `free`.
pub fn block_bytes(
    rounded: u64,
    free: u64,
    is_expandable: bool,
    settings: &AllocatorSettings,
) -> u64 {
    let rest = free.saturating_sub(rounded);
    let is_split = if rounded <= SMALL_BYTES || is_expandable {
        rest >= LEAST_BYTES
    } else {
        settings.most_split_bytes.is_none_or(|most| rounded < most) && rest > SMALL_BYTES
    };
    if is_split { rounded } else { free }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_rounded_as_the_allocator_does() {
        let plain = AllocatorSettings::default();
        for (bytes, expected) in
            [(0, 512), (1, 512), (511, 512), (512, 512), (513, 1024), (2 << 20, 2 << 20)]
        {
            assert_eq!(rounded(bytes, &plain), expected, "{bytes}");
        }
        assert_eq!(rounded(u64::MAX, &plain), u64::MAX);
        // Four divisions from 1 MiB on: 1200 B stay multiples of 512, for they are below 512 × 4.
        let divided = AllocatorSettings { roundup_divisions: [4; 16], ..plain.clone() };
        let mebi = 1_u64 << 20;
        for (bytes, expected) in [
            (1200, 1536),
            (2049, 2560),
            (mebi, mebi),
            (mebi + 1, mebi + mebi / 4),
            (7 * mebi, 7 * mebi),
            (6 * mebi + 1, 7 * mebi),
        ] {
            assert_eq!(rounded(bytes, &divided), expected, "{bytes}");
        }
        // Six is taken down to four.
        let six = AllocatorSettings { roundup_divisions: [6; 16], ..plain };
        assert_eq!(rounded(6 * mebi + 1, &six), 7 * mebi);
    }

    #[test]
    fn what_is_free_behind_a_request_is_split_off_where_it_is_worth_it() {
        let plain = AllocatorSettings::default();
        let mebi = 1_u64 << 20;
        assert_eq!(block_bytes(512, 1024, false, &plain), 512);
        assert_eq!(block_bytes(512, 1023, false, &plain), 1023);
        assert_eq!(block_bytes(2 * mebi, 3 * mebi, false, &plain), 3 * mebi);
        assert_eq!(block_bytes(2 * mebi, 3 * mebi + 1, false, &plain), 2 * mebi);
        assert_eq!(block_bytes(2 * mebi, 3 * mebi, true, &plain), 2 * mebi);
        let limited = AllocatorSettings { most_split_bytes: Some(2 * mebi), ..plain };
        assert_eq!(block_bytes(2 * mebi, 20 * mebi, false, &limited), 20 * mebi);
        assert_eq!(block_bytes(2 * mebi - 512, 20 * mebi, false, &limited), 2 * mebi - 512);
        // Less than was asked for cannot be; then it is what there is.
        assert_eq!(block_bytes(512, 8, false, &limited), 8);
    }
}
