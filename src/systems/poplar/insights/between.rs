//! Imbalance between IPUs: some are over and others are not, and what would have to move.
//!
//! Bytes that move are taken evenly from all tiles of an IPU: so that its fullest tile fits, the share by which that
//! tile is over must leave each of them. Room is counted as evenly: what the tiles of an IPU take until its fullest is
//! full. That is arithmetic: what can move are layers, as they are.

use serde::Serialize;

use super::verdict::IpuVerdict;

/// What would have to move from the IPUs that are over to those that are not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BetweenIpus {
    /// The IPUs that are over.
    pub full: Vec<u32>,
    /// Those that are not.
    pub others: Vec<u32>,
    /// Bytes that would have to leave the first.
    pub move_bytes: u64,
    /// Of so many that they use, gaps included.
    pub of_bytes: u64,
    /// Bytes that the others can take.
    pub room_bytes: u64,
}

impl BetweenIpus {
    /// What would have to move, percent of what the IPUs that are over use.
    pub fn percent(&self) -> f64 {
        self.move_bytes as f64 * 100.0 / self.of_bytes.max(1) as f64
    }

    /// Whether the others can take what would have to move.
    pub fn has_room(&self) -> bool {
        self.move_bytes <= self.room_bytes
    }
}

/// `None` where all IPUs are over or none is, or where the report does not say what they use.
pub fn between_ipus(ipus: &[IpuVerdict]) -> Option<BetweenIpus> {
    let (full, others): (Vec<_>, Vec<_>) = ipus.iter().partition(|ipu| !ipu.fits);
    if full.is_empty() || others.is_empty() {
        return None;
    }
    let numbers = |ipus: &[&IpuVerdict]| ipus.iter().map(|ipu| ipu.ipu).collect();
    let moves: Option<u64> = full.iter().try_fold(0, |sum: u64, ipu| sum.checked_add(excess(ipu)?));
    let room = others.iter().try_fold(0, |sum: u64, ipu| sum.checked_add(room(ipu)?));
    let of = full.iter().try_fold(0, |sum: u64, ipu| sum.checked_add(ipu.used_bytes?));
    Some(BetweenIpus {
        full: numbers(&full),
        others: numbers(&others),
        move_bytes: moves?,
        of_bytes: of?,
        room_bytes: room?,
    })
}

/// The share by which the fullest tile is over, of what the IPU uses; rounded up.
fn excess(ipu: &IpuVerdict) -> Option<u64> {
    let fullest = ipu.fullest_tile?.including_gaps_bytes?;
    let over = fullest.saturating_sub(ipu.bytes_per_tile()?);
    let share = u128::from(ipu.used_bytes?) * u128::from(over);
    u64::try_from(share.div_ceil(u128::from(fullest.max(1)))).ok()
}

/// What all tiles take until the fullest is full.
fn room(ipu: &IpuVerdict) -> Option<u64> {
    let fullest = ipu.fullest_tile?.including_gaps_bytes?;
    ipu.bytes_per_tile()?.saturating_sub(fullest).checked_mul(ipu.tiles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::memory::FullestTile;

    fn ipu(number: u32, used_bytes: u64, fullest: u64) -> IpuVerdict {
        IpuVerdict {
            ipu: number,
            tiles: 4,
            tiles_over: u64::from(fullest > 100),
            fits: fullest <= 100,
            limit_bytes: 400,
            used_bytes: Some(used_bytes),
            over_bytes: fullest.saturating_sub(100),
            fullest_tile: Some(FullestTile {
                tile: number * 4,
                bytes: None,
                including_gaps_bytes: Some(fullest),
            }),
            ..IpuVerdict::default()
        }
    }

    #[test]
    fn the_share_by_which_the_fullest_tile_is_over_must_move() {
        let found = between_ipus(&[ipu(0, 440, 125), ipu(1, 300, 90), ipu(2, 8, 2)]);
        let expected = BetweenIpus {
            full: vec![0],
            others: vec![1, 2],
            move_bytes: 88,
            of_bytes: 440,
            room_bytes: 40 + 392,
        };
        assert_eq!(found, Some(expected.clone()));
        assert!((expected.percent() - 20.0).abs() < 1e-9 && expected.has_room());
        assert_eq!(between_ipus(&[ipu(0, 440, 125)]), None, "there is no other");
        assert_eq!(between_ipus(&[ipu(0, 440, 125), ipu(1, 440, 125)]), None, "all are over");
        assert_eq!(between_ipus(&[ipu(0, 4, 5), ipu(1, 4, 5)]), None, "none is over");
    }
}
