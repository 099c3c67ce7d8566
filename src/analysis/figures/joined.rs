//! Rows of reports side by side: those of one key belong together, of several of one key the first
//! with the first, and so on.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Joins rows of several lists by key, a cell for each list: first those of the first list in their
/// order, then those that only later ones have.
pub fn side_by_side<K: Eq + Hash, T>(lists: Vec<Vec<(K, T)>>) -> Vec<Vec<Option<T>>> {
    let width = lists.len();
    let mut rows: Vec<Vec<Option<T>>> = Vec::new();
    // The rows of a key, and how many of them the list has that is gone through.
    let mut places: HashMap<K, (Vec<usize>, [usize; 2])> = HashMap::new();
    for (place, list) in lists.into_iter().enumerate() {
        for (key, cell) in list {
            let (of_key, [counted_in, used]) = places.entry(key).or_default();
            if *counted_in != place {
                (*counted_in, *used) = (place, 0);
            }
            let row = *of_key.get(*used).unwrap_or(&rows.len());
            *used = used.saturating_add(1);
            if row == rows.len() {
                of_key.push(row);
                rows.push((0..width).map(|_| None).collect());
            }
            if let Some(empty) = rows.get_mut(row).and_then(|row| row.get_mut(place)) {
                *empty = Some(cell);
            }
        }
    }
    rows
}

/// Names that one of two sides alone has, each with what is plain of it, matched where one of each side is plain alike: by
/// the name of the second side that of the first.
pub fn matched_by_plain<'a, T: Eq + Hash>(
    first: &'a [(T, T)],
    second: &'a [(T, T)],
) -> HashMap<&'a T, &'a T> {
    let only = |own: &'a [(T, T)], other: &'a [(T, T)]| {
        let other: HashSet<&T> = other.iter().map(|(name, _)| name).collect();
        let mut by_plain: HashMap<&T, Option<&T>> = HashMap::new();
        for (name, plain) in own.iter().filter(|(name, _)| !other.contains(name)) {
            let one = by_plain.entry(plain).or_insert(Some(name));
            *one = one.filter(|one| *one == name);
        }
        by_plain
    };
    let of_first = only(first, second);
    let of_second = only(second, first).into_iter();
    of_second.filter_map(|(plain, name)| Some((name?, (*of_first.get(plain)?)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same for two lists.
    fn joined<K: Eq + Hash, T>(source: Vec<(K, T)>, target: Vec<(K, T)>) -> Vec<[Option<T>; 2]> {
        let both = |row: Vec<Option<T>>| {
            let mut cells = row.into_iter();
            [cells.next().flatten(), cells.next().flatten()]
        };
        side_by_side(vec![source, target]).into_iter().map(both).collect()
    }

    #[test]
    fn names_are_matched_by_what_is_plain_of_them_where_that_is_one_of_each_side() {
        let side = |names: &[&'static str]| -> Vec<(&str, &str)> {
            names.iter().map(|name| (*name, name.trim_start_matches("main/"))).collect()
        };
        let first = side(&["main/a", "main/b", "b", "c", "main/d", "main/a"]);
        let second = side(&["a", "main/b", "main/c", "d", "main/main/d"]);
        let matched = |first, second| {
            let found = matched_by_plain(first, second).into_iter();
            let mut found: Vec<_> = found.map(|(name, other)| (*other, *name)).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(matched(&first, &second), [("c", "main/c"), ("main/a", "a")]);
        assert_eq!(matched(&second, &first), [("a", "main/a"), ("main/c", "c")]);
    }

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
    fn what_only_later_lists_have_comes_after() {
        let rows = side_by_side(vec![
            vec![("a", 1)],
            vec![("b", 2), ("a", 3)],
            vec![("b", 4), ("c", 5), ("b", 6)],
        ]);
        let expected = [
            [Some(1), Some(3), None],
            [None, Some(2), Some(4)],
            [None, None, Some(5)],
            [None, None, Some(6)],
        ];
        assert_eq!(rows, expected);
    }
}
