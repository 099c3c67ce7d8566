//! Rows of two reports side by side: those of one key, such as a name, belong together, of several of
//! one key the first with the first, and so on.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Joins rows by key: those of the source in their order, each with its partner, then those that only
/// the target has.
pub fn joined<T, K: ?Sized + Eq + Hash>(
    source: Vec<T>,
    target: Vec<T>,
    key: impl Fn(&T) -> &K,
) -> Vec<[Option<T>; 2]> {
    let mut places: HashMap<&K, VecDeque<usize>> = HashMap::new();
    for (place, row) in target.iter().enumerate() {
        places.entry(key(row)).or_default().push_back(place);
    }
    let partner = |row: &T| places.get_mut(key(row))?.pop_front();
    let partners: Vec<Option<usize>> = source.iter().map(partner).collect();
    let mut target: Vec<Option<T>> = target.into_iter().map(Some).collect();
    let mut rows = Vec::with_capacity(source.len());
    for (row, place) in source.into_iter().zip(partners) {
        rows.push([Some(row), place.and_then(|place| target.get_mut(place)?.take())]);
    }
    rows.extend(target.into_iter().filter(Option::is_some).map(|row| [None, row]));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_key_are_joined_in_order() {
        let source = vec![("a", 1), ("b", 2), ("a", 3)];
        let target = vec![("c", 4), ("a", 5), ("a", 6), ("a", 7)];
        let figures = |row: [Option<(&str, u32)>; 2]| row.map(|cell| cell.map(|cell| cell.1));
        let rows: Vec<_> = joined(source, target, |row| row.0).into_iter().map(figures).collect();
        let expected = [
            [Some(1), Some(5)],
            [Some(2), None],
            [Some(3), Some(6)],
            [None, Some(4)],
            [None, Some(7)],
        ];
        assert_eq!(rows, expected);
    }
}
