//! Outliers: tiles whose bytes including gaps lie outside Tukey's fences, that is below
//! Q1 − 1.5 × (Q3 − Q1) or above Q3 + 1.5 × (Q3 − Q1); quartiles by nearest rank. Tiles whose bytes
//! are not known do not count.

use crate::store::memory::TileMemory;

use crate::analysis::memory::{cell, statistics};

/// Tiles that are unlike most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outliers {
    /// The fewest bytes that are not outside.
    pub low: u64,
    /// The most bytes that are not outside.
    pub high: u64,
    /// Rows of [`TileMemory::tiles`] that are outside: the farthest from the median first, then by
    /// row.
    pub rows: Vec<usize>,
}

/// The outliers of all tiles; `None` where no tile's bytes are known.
pub fn outliers(memory: &TileMemory) -> Option<Outliers> {
    let rows = 0..memory.including_gaps.len();
    let mut sorted: Vec<u64> =
        rows.clone().filter_map(|row| cell(&memory.including_gaps, row)).collect();
    sorted.sort_unstable();
    let quartile = |quarters: usize| {
        let rank = sorted.len().saturating_mul(quarters).div_ceil(4);
        sorted.get(rank.checked_sub(1)?).copied()
    };
    let (first, third) = (quartile(1)?, quartile(3)?);
    let spread = third - first;
    // Rounded down, which leaves the same whole numbers inside as a fence with half a byte.
    let margin = spread.saturating_add(spread / 2);
    let (low, high) = (first.saturating_sub(margin), third.saturating_add(margin));
    let median = statistics(memory, rows.clone()).median?;
    let mut outside: Vec<(u64, usize)> = rows
        .filter_map(|row| {
            let bytes = cell(&memory.including_gaps, row)?;
            (bytes < low || bytes > high).then(|| (bytes.abs_diff(median), row))
        })
        .collect();
    outside.sort_by(|(a, row_a), (b, row_b)| b.cmp(a).then(row_a.cmp(row_b)));
    Some(Outliers { low, high, rows: outside.into_iter().map(|(_, row)| row).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;
    use proptest::prelude::*;

    fn memory_of(bytes: &[Option<u64>]) -> TileMemory {
        fixture::memory((0..).zip(bytes.iter().copied()))
    }

    #[test]
    fn the_farthest_comes_first() {
        let bytes = [10, 11, 12, 13, 14, 15, 16, 17, 90, 1, 200].map(Some);
        let found = outliers(&memory_of(&bytes)).expect("outliers");
        // Sorted 1 10 11 12 13 14 15 16 17 90 200: Q1 is the 3rd, Q3 the 9th.
        assert_eq!((found.low, found.high), (11 - 9, 17 + 9));
        assert_eq!(found.rows, [10, 8, 9]);
        assert_eq!(outliers(&memory_of(&[None])), None);
        assert_eq!(outliers(&memory_of(&[Some(3), None])).map(|found| found.rows), Some(vec![]));
        let found = outliers(&memory_of(&[Some(0), Some(0), Some(u64::MAX), Some(u64::MAX)]));
        assert!(found.is_some_and(|found| found.rows.is_empty()), "nothing overflows");
    }

    proptest! {
        #[test]
        fn the_fences_are_those_of_the_definition(
            bytes in proptest::collection::vec(0..200_u64, 1..60),
        ) {
            let cells: Vec<Option<u64>> = bytes.iter().copied().map(Some).collect();
            let found = outliers(&memory_of(&cells)).expect("outliers");
            let mut sorted = bytes.clone();
            sorted.sort_unstable();
            let nearest = |part: f64| sorted[(part * sorted.len() as f64).ceil() as usize - 1] as f64;
            let (first, third) = (nearest(0.25), nearest(0.75));
            let margin = 1.5 * (third - first);
            for (row, bytes) in bytes.iter().enumerate() {
                let is_outside = (*bytes as f64) < first - margin || (*bytes as f64) > third + margin;
                prop_assert_eq!(found.rows.contains(&row), is_outside);
            }
            let median = sorted[(sorted.len() - 1) / 2];
            let distance = |row: &usize| std::cmp::Reverse(bytes[*row].abs_diff(median));
            prop_assert!(found.rows.is_sorted_by_key(distance));
        }
    }
}
