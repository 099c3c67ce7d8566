//! Rows of two reports side by side: those of one key belong together, of several of one key the first
//! with the first, and so on.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Joins rows by key: those of the source in their order, each with its partner, then those that only
/// the target has.
pub fn joined<K: Eq + Hash, T>(source: Vec<(K, T)>, target: Vec<(K, T)>) -> Vec<[Option<T>; 2]> {
    let mut places: HashMap<K, VecDeque<usize>> = HashMap::new();
    let mut rest: Vec<Option<T>> = Vec::with_capacity(target.len());
    for (place, (key, row)) in target.into_iter().enumerate() {
        places.entry(key).or_default().push_back(place);
        rest.push(Some(row));
    }
    let mut rows = Vec::with_capacity(source.len());
    for (key, row) in source {
        let partner = places.get_mut(&key).and_then(VecDeque::pop_front);
        rows.push([Some(row), partner.and_then(|place| rest.get_mut(place)?.take())]);
    }
    rows.extend(rest.into_iter().filter(Option::is_some).map(|row| [None, row]));
    rows
}

/// The same for rows that have their key in them.
pub fn joined_by<K: Eq + Hash, T>(
    source: Vec<T>,
    target: Vec<T>,
    key: impl Fn(&T) -> K,
) -> Vec<[Option<T>; 2]> {
    let keyed = |rows: Vec<T>| rows.into_iter().map(|row| (key(&row), row)).collect();
    joined(keyed(source), keyed(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_key_are_joined_in_order() {
        let source = vec![("a", 1), ("b", 2), ("a", 3)];
        let target = vec![("c", 4), ("a", 5), ("a", 6), ("a", 7)];
        let rows = joined(source, target);
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
