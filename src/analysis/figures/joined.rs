//! Rows of several reports side by side: those of one key belong together, of several of one key the
//! first with the first, and so on.

use std::collections::HashMap;
use std::hash::Hash;

/// Joins rows by key: those of the source in their order, each with its partner, then those that only
/// the target has.
pub fn joined<K: Eq + Hash + Clone, T>(
    source: Vec<(K, T)>,
    target: Vec<(K, T)>,
) -> Vec<[Option<T>; 2]> {
    let pair = |row: Vec<Option<T>>| <[Option<T>; 2]>::try_from(row).ok();
    joined_all(vec![source, target]).into_iter().filter_map(pair).collect()
}

/// The same of any number of lists: rows of the first in their order, then those that only the second
/// and later ones have, and so on.
pub fn joined_all<K: Eq + Hash + Clone, T>(lists: Vec<Vec<(K, T)>>) -> Vec<Vec<Option<T>>> {
    let count = lists.len();
    let mut rows: Vec<Vec<Option<T>>> = Vec::new();
    // Rows by their key and how often it has come before.
    let mut places: HashMap<(K, usize), usize> = HashMap::new();
    for (list, items) in lists.into_iter().enumerate() {
        let mut before: HashMap<K, usize> = HashMap::with_capacity(items.len());
        for (key, item) in items {
            let times = before.entry(key.clone()).or_default();
            let place = *places.entry((key, *times)).or_insert_with(|| {
                rows.push((0..count).map(|_| None).collect());
                rows.len().saturating_sub(1)
            });
            *times = times.saturating_add(1);
            if let Some(cell) = rows.get_mut(place).and_then(|row| row.get_mut(list)) {
                *cell = Some(item);
            }
        }
    }
    rows
}

/// The same for rows that have their key in them.
pub fn joined_by<K: Eq + Hash + Clone, T>(
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

    #[test]
    fn three_lists_share_their_rows() {
        let lists = vec![vec![("a", 1), ("a", 2)], vec![("b", 3)], vec![("a", 4), ("b", 5)]];
        let expected =
            [vec![Some(1), None, Some(4)], vec![Some(2), None, None], vec![None, Some(3), Some(5)]];
        assert_eq!(joined_all(lists), expected);
    }
}
