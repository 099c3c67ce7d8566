//! A number for every tile, kept small (the lists "by tile" of formats/poplar.md 2.3).
//!
//! Most lists of a report are long runs of equal numbers. A list takes 32 bytes and the less of: 16
//! bytes for each run, or for each tile the one, two or four bytes that its largest number needs.

use std::ops::Range;

use super::column;

/// A number for each of the tiles 0, 1, 2 …
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TileList {
    tiles: u32,
    values: ListValues,
}

/// Equal numbers up to the tile `end`, exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct EqualRun {
    end: u32,
    value: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum ListValues {
    Same(u64),
    Runs(Box<[EqualRun]>),
    #[serde(with = "column::boxed")]
    OneByte(Box<[u8]>),
    #[serde(with = "column::boxed")]
    TwoBytes(Box<[u16]>),
    #[serde(with = "column::boxed")]
    FourBytes(Box<[u32]>),
}

impl TileList {
    /// The list of `runs`: so many tiles with such a number. Tiles beyond 2³² − 1 are left out.
    pub fn from_runs(runs: impl IntoIterator<Item = (u32, u64)>) -> Self {
        let mut list: Vec<EqualRun> = Vec::new();
        let (mut tiles, mut most) = (0_u32, 0_u64);
        for (count, value) in runs.into_iter().filter(|(count, _)| *count > 0) {
            tiles = tiles.saturating_add(count);
            most = most.max(value);
            match list.last_mut() {
                Some(last) if last.value == value => last.end = tiles,
                _ => list.push(EqualRun { end: tiles, value }),
            }
        }
        let values = match list.as_slice() {
            [] => ListValues::Same(0),
            [one] => ListValues::Same(one.value),
            _ => pack(list, tiles, most),
        };
        Self { tiles, values }
    }

    /// Number of tiles.
    pub fn len(&self) -> u32 {
        self.tiles
    }

    /// Whether it has no tile.
    pub fn is_empty(&self) -> bool {
        self.tiles == 0
    }

    /// Calls `each` with the number of tiles and the number of every run within `tiles`, in order;
    /// neighbors may be equal. Tiles that the list does not have are left out.
    pub fn runs_in(&self, tiles: Range<u32>, mut each: impl FnMut(u32, u64)) {
        let end = tiles.end.min(self.tiles);
        let mut start = tiles.start.min(end);
        if start == end {
            return;
        }
        let range = start as usize..end as usize;
        match &self.values {
            ListValues::Same(value) => each(end.saturating_sub(start), *value),
            ListValues::Runs(runs) => {
                let first = runs.partition_point(|run| run.end <= start);
                for run in runs.get(first..).unwrap_or(&[]) {
                    let until = run.end.min(end);
                    each(until.saturating_sub(start), run.value);
                    start = until;
                    if start == end {
                        break;
                    }
                }
            }
            ListValues::OneByte(list) => each_number(list.get(range), each),
            ListValues::TwoBytes(list) => each_number(list.get(range), each),
            ListValues::FourBytes(list) => each_number(list.get(range), each),
        }
    }

    /// The number of a tile.
    pub fn get(&self, tile: u32) -> Option<u64> {
        let mut found = None;
        self.runs_in(tile..tile.saturating_add(1), |_, value| found = Some(value));
        found
    }

    /// The sum over all tiles.
    pub fn sum(&self) -> u64 {
        let mut sum = 0_u64;
        self.runs_in(0..self.tiles, |count, value| {
            sum = sum.saturating_add(u64::from(count).saturating_mul(value));
        });
        sum
    }

    /// Resident bytes, itself included.
    pub fn resident_bytes(&self) -> usize {
        let of_values = match &self.values {
            ListValues::Same(_) => 0,
            ListValues::Runs(runs) => size_of_val(&**runs),
            ListValues::OneByte(list) => size_of_val(&**list),
            ListValues::TwoBytes(list) => size_of_val(&**list),
            ListValues::FourBytes(list) => size_of_val(&**list),
        };
        size_of::<Self>() + of_values
    }
}

/// Resident bytes of a column of lists.
pub fn resident_bytes(lists: &[Option<TileList>]) -> usize {
    let empty = size_of::<Option<TileList>>();
    lists.iter().map(|list| list.as_ref().map_or(empty, TileList::resident_bytes)).sum()
}

fn each_number<T: Copy + Into<u64>>(list: Option<&[T]>, mut each: impl FnMut(u32, u64)) {
    list.unwrap_or(&[]).iter().for_each(|value| each(1, (*value).into()));
}

fn pack(runs: Vec<EqualRun>, tiles: u32, most: u64) -> ListValues {
    let is_smaller = |bytes: u64| u64::from(tiles) * bytes < size_of_val(&*runs) as u64;
    if u8::try_from(most).is_ok() && is_smaller(1) {
        ListValues::OneByte(expand(&runs))
    } else if u16::try_from(most).is_ok() && is_smaller(2) {
        ListValues::TwoBytes(expand(&runs))
    } else if u32::try_from(most).is_ok() && is_smaller(4) {
        ListValues::FourBytes(expand(&runs))
    } else {
        ListValues::Runs(runs.into_boxed_slice())
    }
}

/// One number a tile; the caller has seen that all fit.
fn expand<T: Copy + Default + TryFrom<u64>>(runs: &[EqualRun]) -> Box<[T]> {
    let mut list = Vec::with_capacity(runs.last().map_or(0, |run| run.end as usize));
    for run in runs {
        list.resize(run.end as usize, T::try_from(run.value).unwrap_or_default());
    }
    list.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_list_takes_the_least_that_holds_it() {
        let bytes = |list: TileList| list.resident_bytes() - size_of::<TileList>();
        assert_eq!(size_of::<Option<TileList>>(), 32);
        assert_eq!(bytes(TileList::from_runs([(1472, 7), (0, 9), (1, 7)])), 0);
        assert_eq!(bytes(TileList::from_runs([(1, 0), (1471, 4)])), 2 * 16);
        let different = |step: u64| TileList::from_runs((0..100).map(move |tile| (1, tile * step)));
        assert_eq!(bytes(different(1)), 100);
        assert_eq!(bytes(different(100)), 200);
        assert_eq!(bytes(different(1000)), 400);
        assert_eq!(bytes(different(1 << 40)), 1600);
        // A run from a damaged file is not expanded.
        let long = TileList::from_runs([(u32::MAX - 1, 1), (1, 2), (9, 3)]);
        assert_eq!((bytes(long.clone()), long.len()), (3 * 16, u32::MAX));
        assert_eq!(TileList::from_runs([]).get(0), None);
    }

    proptest! {
        #[test]
        fn numbers_come_back(
            runs in proptest::collection::vec(
                (0..9_u32, prop_oneof![0..3_u64, 0..999_u64, 0..99_999_u64, any::<u64>()]), 0..40),
            start in 0..99_u32, length in 0..99_u32,
        ) {
            let expected: Vec<u64> = runs
                .iter()
                .flat_map(|(count, value)| vec![*value; *count as usize])
                .collect();
            let list = TileList::from_runs(runs);
            prop_assert_eq!(list.len() as usize, expected.len());
            prop_assert_eq!(list.is_empty(), expected.is_empty());
            let sum = expected.iter().fold(0_u64, |sum, value| sum.saturating_add(*value));
            prop_assert_eq!(list.sum(), sum);
            let mut found = Vec::new();
            list.runs_in(start..start + length, |count, value| {
                found.extend(vec![value; count as usize]);
            });
            let end = expected.len().min((start + length) as usize);
            prop_assert_eq!(&found, &expected[(start as usize).min(end)..end]);
            prop_assert_eq!(list.get(start), expected.get(start as usize).copied());
        }
    }
}
