//! One table of two lists: what belongs together shares a row.
//!
//! Items are joined by their pairs first, then by equal keys: what has the same key in both lists is in
//! the same row, and so is what the matching has paired although the keys differ.

use std::collections::HashMap;
use std::hash::Hash;

use crate::analysis::comparison::matching::Pairs;
use crate::analysis::figures::difference::Side;

/// The rows of both lists' items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Join {
    source: Vec<u32>,
    target: Vec<u32>,
    /// For each row its first item, and whether only one list has the row.
    rows: Vec<JoinedRow>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedRow {
    /// The list that `item` is of: the source where it has any.
    pub side: Side,
    /// The first item, a position in its list.
    pub item: usize,
    /// The only list that has the row.
    pub only: Option<Side>,
}

impl Join {
    /// Joins two lists of keys; pairs are of positions in them, and may be of the first part only.
    pub fn new<K: Eq + Hash>(
        [source, target]: [impl Iterator<Item = K>; 2],
        pairs: &Pairs,
    ) -> Self {
        let mut join = Self::default();
        let mut by_key: HashMap<K, u32> = HashMap::new();
        for (item, key) in source.enumerate() {
            let row = *by_key.entry(key).or_insert_with(|| join.row(Side::Source, item));
            join.source.push(row);
        }
        for (item, key) in target.enumerate() {
            let paired = pairs.source_of(item).and_then(|source| join.source.get(source)).copied();
            let row = paired.unwrap_or_else(|| {
                *by_key.entry(key).or_insert_with(|| join.row(Side::Target, item))
            });
            if let Some(row) = join.rows.get_mut(row as usize)
                && row.side == Side::Source
            {
                row.only = None;
            }
            join.target.push(row);
        }
        join
    }

    fn row(&mut self, side: Side, item: usize) -> u32 {
        self.rows.push(JoinedRow { side, item, only: Some(side) });
        u32::try_from(self.rows.len() - 1).unwrap_or(u32::MAX)
    }

    /// The row of an item of one of the lists.
    pub fn row_of(&self, side: Side, item: usize) -> Option<usize> {
        let items = side.of([&self.source, &self.target]);
        items.get(item).map(|row| *row as usize)
    }

    /// The rows, in the order of the source, then of the target.
    pub fn rows(&self) -> &[JoinedRow] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::matching::Sureness;
    use proptest::prelude::*;

    #[test]
    fn pairs_come_before_keys() {
        let mut pairs = Pairs::new(3, 2);
        assert!(pairs.pair(2, 1, Sureness::Likely));
        let (source, target) = (["a", "b", "cs1", "a"], ["b", "cs2", "cs2", "new", "a"]);
        let join = Join::new([source.iter(), target.iter()], &pairs);
        let rows =
            |side, len| (0..len).map(|item| join.row_of(side, item).unwrap()).collect::<Vec<_>>();
        assert_eq!(rows(Side::Source, 4), [0, 1, 2, 0]);
        assert_eq!(rows(Side::Target, 5), [1, 2, 3, 4, 0]);
        let only: Vec<_> = join.rows().iter().map(|row| row.only).collect();
        assert_eq!(only, [None, None, None, Some(Side::Target), Some(Side::Target)]);
        assert_eq!(
            join.rows()[4],
            JoinedRow { side: Side::Target, item: 3, only: Some(Side::Target) }
        );
        assert_eq!(join.row_of(Side::Target, 5), None);
    }

    proptest! {
        #[test]
        fn every_row_has_an_item_and_says_which_lists_have_it(
            source in proptest::collection::vec(0..5_u8, 0..9),
            target in proptest::collection::vec(0..7_u8, 0..9),
            wanted in proptest::collection::vec((0..9_usize, 0..9_usize), 0..5),
        ) {
            let mut pairs = Pairs::new(source.len(), target.len());
            for (source, target) in wanted {
                pairs.pair(source, target, Sureness::Weak);
            }
            let join = Join::new([source.iter(), target.iter()], &pairs);
            let of = |side, len| -> Vec<usize> {
                (0..len).filter_map(|item| join.row_of(side, item)).collect()
            };
            let (in_source, in_target) = (of(Side::Source, source.len()), of(Side::Target, target.len()));
            prop_assert_eq!((in_source.len(), in_target.len()), (source.len(), target.len()));
            for (number, row) in join.rows().iter().enumerate() {
                let expected = match (in_source.contains(&number), in_target.contains(&number)) {
                    (true, true) => None,
                    (true, false) => Some(Side::Source),
                    (false, true) => Some(Side::Target),
                    (false, false) => return Err(TestCaseError::fail("a row of nothing")),
                };
                prop_assert_eq!(row.only, expected);
                prop_assert_eq!(join.row_of(row.side, row.item), Some(number));
            }
            for (source, target) in pairs.iter() {
                prop_assert_eq!(in_source[source], in_target[target]);
            }
        }
    }
}
