//! Rows of reports side by side: those of one key belong together, of several of one key the first with
//! the first, and so on.

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

/// Joins rows of any number of reports: those of the first in their order, then those that only later
/// ones have. Each row has a place for every report.
pub fn joined_of_all<K: Eq + Hash, T>(reports: Vec<Vec<(K, T)>>) -> Vec<Vec<Option<T>>> {
    let width = reports.len();
    let mut rows: Vec<Vec<Option<T>>> = Vec::new();
    let mut places: HashMap<K, Vec<usize>> = HashMap::new();
    for (report, list) in reports.into_iter().enumerate() {
        let mut taken: HashMap<usize, usize> = HashMap::new();
        for (key, value) in list {
            let of_key = places.entry(key).or_default();
            // Rows of a key are taken in their order, each once by a report.
            let first = of_key.first().copied().unwrap_or(rows.len());
            let nth = taken.entry(first).or_default();
            let place = of_key.get(*nth).copied().unwrap_or(rows.len());
            *nth = nth.saturating_add(1);
            if place == rows.len() {
                of_key.push(place);
                rows.push((0..width).map(|_| None).collect());
            }
            if let Some(cell) = rows.get_mut(place).and_then(|row| row.get_mut(report)) {
                *cell = Some(value);
            }
        }
    }
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

    #[test]
    fn rows_of_several_reports_are_joined_alike() {
        let lists = || {
            let source = vec![("a", 1), ("b", 2), ("a", 3)];
            (source, vec![("c", 4), ("a", 5), ("a", 6), ("a", 7)], vec![("a", 8), ("d", 9), ("c", 10)])
        };
        let (source, target, _) = lists();
        let of_two: Vec<_> = joined(source, target).into_iter().map(Vec::from).collect();
        let (source, target, _) = lists();
        let mut rows = joined_of_all(vec![source, target]);
        assert_eq!(rows, of_two);
        let (source, target, third) = lists();
        rows = joined_of_all(vec![source, target, third]);
        let of_third: Vec<_> = rows.iter().map(|row| row[2]).collect();
        assert_eq!(of_third, [Some(8), None, None, Some(10), None, Some(9)]);
        assert_eq!(joined_of_all(vec![vec![(1, 1), (1, 2)]]), [[Some(1)], [Some(2)]]);
    }
}
