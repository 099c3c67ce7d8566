//! Decimation: a column of numbers folded into one bin a pixel column, so that the cost of drawing
//! follows the pixels and not the data.
//!
//! A bin keeps the least and the most of its values and where the most is. Bins begin at multiples of their width, so
//! that they stay what they are while the picture is dragged. In long columns, blocks of values are folded once, so
//! that a frame does not visit every value again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Values folded into a block.
const BLOCK: usize = 64;
/// Columns up to this length are folded value by value.
const SHORT: usize = 8 * 1024;

/// Tells numbers to draw apart from all others: caches of bins are kept by it.
pub fn new_version() -> u64 {
    static VERSIONS: AtomicU64 = AtomicU64::new(1);
    VERSIONS.fetch_add(1, Ordering::Relaxed)
}

/// Numbers to draw; a number that the file lacks is a hole.
#[derive(Clone, Copy, Debug)]
pub enum BinValues<'a> {
    Known(&'a [u64]),
    Cells(&'a [Option<u64>]),
}

impl BinValues<'_> {
    pub fn len(self) -> usize {
        match self {
            Self::Known(values) => values.len(),
            Self::Cells(values) => values.len(),
        }
    }

    pub fn get(self, position: usize) -> Option<u64> {
        match self {
            Self::Known(values) => values.get(position).copied(),
            Self::Cells(values) => values.get(position).copied().flatten(),
        }
    }

    pub fn max(self) -> Option<u64> {
        match self {
            Self::Known(values) => values.iter().max().copied(),
            Self::Cells(values) => values.iter().flatten().max().copied(),
        }
    }
}

/// Neighboring values that share a pixel column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelBin {
    pub from: usize,
    /// The position after the last.
    pub to: usize,
    pub min: u64,
    pub max: u64,
    /// The first position that has the most.
    pub highest: usize,
}

/// Folds the positions that are visible between `start` and `end` into about `columns` bins; each
/// position `i` covers `i - 0.5` to `i + 0.5`. Bins without any known value are left out. `blocks`
/// are those of `blocks_of`, or none.
pub fn fold(
    values: BinValues<'_>,
    blocks: &[Option<PixelBin>],
    (start, end): (f64, f64),
    columns: usize,
) -> Vec<PixelBin> {
    let len = values.len();
    let first = (start + 0.5).floor().max(0.0) as usize;
    let last = ((end + 0.5).ceil().max(0.0) as usize).min(len);
    if first >= last || columns == 0 {
        return Vec::new();
    }
    let width = (((end - start) / columns as f64).floor().max(1.0) as usize).min(len);
    let mut bins = Vec::with_capacity((last - first) / width + 2);
    let mut from = first - first % width;
    while from < last {
        let to = (from + width).min(len);
        bins.extend(if width < 2 * BLOCK {
            bin(values, from, to)
        } else {
            of_blocks(values, blocks, from, to)
        });
        from = to;
    }
    bins
}

fn bin(values: BinValues<'_>, from: usize, to: usize) -> Option<PixelBin> {
    let mut found: Option<PixelBin> = None;
    for position in from..to {
        let Some(value) = values.get(position) else { continue };
        let bin =
            found.get_or_insert(PixelBin { from, to, min: value, max: value, highest: position });
        bin.min = bin.min.min(value);
        if value > bin.max {
            bin.max = value;
            bin.highest = position;
        }
    }
    found
}

/// Every block of values, folded; nothing for short columns.
fn blocks_of(values: BinValues<'_>) -> Vec<Option<PixelBin>> {
    if values.len() <= SHORT {
        return Vec::new();
    }
    let starts = (0..values.len()).step_by(BLOCK);
    starts.map(|from| bin(values, from, (from + BLOCK).min(values.len()))).collect()
}

/// As [`bin`], from whole blocks where there are some.
fn of_blocks(
    values: BinValues<'_>,
    blocks: &[Option<PixelBin>],
    from: usize,
    to: usize,
) -> Option<PixelBin> {
    let (first, last) = (from.div_ceil(BLOCK), to / BLOCK);
    let Some(whole) = blocks.get(first..last) else { return bin(values, from, to) };
    let ends = [bin(values, from, first * BLOCK), bin(values, last * BLOCK, to)];
    let [before, after] = ends;
    let parts = before.into_iter().chain(whole.iter().flatten().copied()).chain(after);
    let joined = parts.reduce(|a, b| PixelBin {
        min: a.min.min(b.min),
        max: a.max.max(b.max),
        highest: if b.max > a.max { b.highest } else { a.highest },
        ..a
    })?;
    Some(PixelBin { from, to, ..joined })
}

/// The bin that covers a position, or the nearest one.
pub fn nearest(bins: &[PixelBin], position: f64) -> Option<&PixelBin> {
    let after = bins.partition_point(|bin| (bin.to as f64) <= position + 0.5);
    bins.get(after).or_else(|| bins.last())
}

/// Bins of one series, kept while what they were made from stays the same.
#[derive(Clone, Default)]
pub struct BinCache {
    made_from: Option<(u64, u64, u64, usize)>,
    bins: Vec<PixelBin>,
    blocks_of: Option<(u64, usize)>,
    blocks: FoldedBlocks,
}

/// The blocks of a column, folded: beside the window where it is long.
#[derive(Clone, Debug, Default)]
pub struct FoldedBlocks(Arc<Vec<Option<PixelBin>>>);

impl FoldedBlocks {
    pub fn of(values: BinValues<'_>) -> Self {
        Self(Arc::new(blocks_of(values)))
    }
}

impl BinCache {
    /// Takes blocks that were folded beside the window, for a version of the values.
    pub fn take(&mut self, version: u64, len: usize, blocks: &FoldedBlocks) {
        if !self.is_folded(version, len) {
            self.blocks = blocks.clone();
            self.blocks_of = Some((version, len));
            self.made_from = None;
        }
    }

    /// The bins for a version of the values and a visible range.
    pub fn get(
        &mut self,
        version: u64,
        values: BinValues<'_>,
        (start, end): (f64, f64),
        columns: usize,
    ) -> &[PixelBin] {
        let key = (version, start.to_bits(), end.to_bits(), columns);
        if !self.is_folded(version, values.len()) {
            self.blocks = FoldedBlocks::of(values);
            self.blocks_of = Some((version, values.len()));
            self.made_from = None;
        }
        if self.made_from != Some(key) {
            self.bins = fold(values, &self.blocks.0, (start, end), columns);
            self.made_from = Some(key);
        }
        &self.bins
    }

    /// Whether it has the blocks of a version of the values, of which there are so many.
    pub fn is_folded(&self, version: u64, len: usize) -> bool {
        self.blocks_of == Some((version, len))
    }

    /// Those of the last question.
    pub fn bins(&self) -> &[PixelBin] {
        &self.bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_columns_show_every_value_and_narrow_ones_the_most() {
        let values = [1, 9, 2, 3, 4, 8];
        let all = fold(BinValues::Known(&values), &[], (-0.5, 5.5), 100);
        assert_eq!(all.len(), 6, "one bin a value when there is room");
        let folded = fold(BinValues::Known(&values), &[], (-0.5, 5.5), 2);
        assert_eq!(folded.len(), 2);
        assert_eq!(folded[0], PixelBin { from: 0, to: 3, min: 1, max: 9, highest: 1 });
        assert_eq!(nearest(&folded, 4.0).map(|bin| bin.highest), Some(5));
        assert_eq!(nearest(&folded, 99.0).map(|bin| bin.highest), Some(5));
    }

    #[test]
    fn holes_and_nothing_are_drawn_as_nothing() {
        assert!(fold(BinValues::Known(&[]), &[], (-0.5, 0.5), 10).is_empty());
        let cells = [None, Some(4), None];
        let bins = fold(BinValues::Cells(&cells), &[], (-0.5, 2.5), 10);
        assert_eq!(bins.iter().map(|bin| bin.from).collect::<Vec<_>>(), [1]);
        assert!(nearest(&[], 0.0).is_none());
    }

    proptest! {
        #[test]
        fn no_spike_is_lost(values in proptest::collection::vec(0..1000_u64, 1..500), columns in 1..40_usize) {
            let end = values.len() as f64 - 0.5;
            let bins = fold(BinValues::Known(&values), &[], (-0.5, end), columns);
            prop_assert_eq!(bins.iter().map(|bin| bin.max).max(), values.iter().copied().max());
            prop_assert!(bins.len() <= columns * 2 + 2);
            prop_assert!(bins.iter().all(|bin| values[bin.highest] == bin.max));
        }

        #[test]
        fn blocks_change_nothing(
            seed in 1..u64::MAX,
            start in 0..30_000_usize,
            span in 10..30_000_usize,
            columns in 1..300_usize,
        ) {
            let mut state = seed;
            let values: Vec<Option<u64>> = (0..30_000)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 60 != 0).then_some(state >> 40)
                })
                .collect();
            let values = BinValues::Cells(&values);
            let blocks = blocks_of(values);
            prop_assert!(!blocks.is_empty());
            let range = (start as f64, (start + span) as f64);
            prop_assert_eq!(fold(values, &blocks, range, columns), fold(values, &[], range, columns));
        }
    }
}
