//! Anchors: what stands once in both of two sequences, as far as its order is the same in both.
//!
//! An element that comes once on each side says where it belongs, whatever lies between ("patience
//! diff"). Where every element repeats, a few of them in a row may come once.

use std::cmp::Ordering;

/// How many elements in a row are looked at, fewest first.
const WINDOWS: [usize; 4] = [1, 4, 16, 64];
/// Where one element in so many is an anchor, longer rows are not looked at.
const ENOUGH: usize = 8;
/// Of so many that come once on each side, one must be in order: of what is alike by chance, few are.
const IN_ORDER: usize = 4;
/// Of so many elements one must be an anchor: a few in a long sequence may have moved.
const APART: usize = 4096;
/// An odd number without pattern (2⁶⁴ ÷ golden ratio).
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Anchors as (place in the source, place in the target), ascending in both. Where elements in a row
/// are the anchor, the place is that of the first.
pub fn anchors(source: &[u64], target: &[u64]) -> Vec<(usize, usize)> {
    let mut most = Vec::new();
    let len = source.len().min(target.len());
    for window in WINDOWS {
        let both = once_in_both(source, target, window);
        let found = in_order(&both);
        let is_trusted = found.len().saturating_mul(IN_ORDER) >= both.len()
            && found.len().saturating_mul(APART) >= len;
        if is_trusted && found.len() > most.len() {
            most = found;
        }
        if most.len().saturating_mul(ENOUGH) >= len {
            break;
        }
    }
    most
}

/// Every row of so many elements as (what tells it apart, its place), sorted.
fn windows(keys: &[u64], window: usize) -> Vec<(u64, usize)> {
    // Keys are hashes: sums tell them apart, powers of a factor their order.
    let add = |sum: u64, key: &u64| sum.wrapping_mul(FACTOR).wrapping_add(*key);
    let of_first = (0..window).fold(1_u64, |power, _| power.wrapping_mul(FACTOR));
    let (first, rest) = keys.split_at(window.min(keys.len()));
    let mut sum = first.iter().fold(0, add);
    let mut rows = Vec::with_capacity(rest.len() + 1);
    if first.len() == window {
        rows.push((sum, 0));
    }
    for (place, (left, entered)) in (1..).zip(keys.iter().zip(rest)) {
        sum = add(sum, entered).wrapping_sub(left.wrapping_mul(of_first));
        rows.push((sum, place));
    }
    rows.sort_unstable();
    rows
}

/// Rows of so many elements that come once on each side, ascending in the source.
fn once_in_both(source: &[u64], target: &[u64], window: usize) -> Vec<(usize, usize)> {
    let (from, to) = (windows(source, window), windows(target, window));
    let (mut from, mut to) = (singles(&from).peekable(), singles(&to).peekable());
    let mut both = Vec::new();
    while let (Some((first, source_place)), Some((second, target_place))) = (from.peek(), to.peek())
    {
        let order = first.cmp(second);
        if order == Ordering::Equal {
            let from = source.get(*source_place..source_place + window);
            if from == target.get(*target_place..target_place + window) {
                both.push((*source_place, *target_place));
            }
        }
        if order != Ordering::Greater {
            from.next();
        }
        if order != Ordering::Less {
            to.next();
        }
    }
    both.sort_unstable();
    both
}

/// The entries of a sorted list whose key no other has.
fn singles(sorted: &[(u64, usize)]) -> impl Iterator<Item = (u64, usize)> {
    sorted
        .chunk_by(|first, second| first.0 == second.0)
        .filter_map(|equal| if let [single] = equal { Some(*single) } else { None })
}

/// The most of the pairs, ascending in the first number, that ascend in the second as well.
pub fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the pair with the lowest end, and for each pair the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (place, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs.get(*end).is_some_and(|end| end.1 < pair.1));
        before.push(length.checked_sub(1).and_then(|length| ends.get(length)).copied());
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let last = ends.last().copied();
    let chain = std::iter::successors(last, |place| before.get(*place).copied().flatten());
    let mut kept: Vec<(usize, usize)> =
        chain.filter_map(|place| pairs.get(place)).copied().collect();
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_comes_once_is_an_anchor() {
        assert_eq!(anchors(&[7, 1, 7, 2, 3], &[1, 2, 7, 3]), [(1, 0), (3, 1), (4, 3)]);
        // What has moved is left out.
        assert_eq!(anchors(&[9, 1, 2, 3], &[1, 2, 3, 9]), [(1, 0), (2, 1), (3, 2)]);
        assert!(anchors(&[1, 1], &[1, 1, 1]).is_empty() && anchors(&[], &[1]).is_empty());
    }

    #[test]
    fn repeated_elements_are_anchored_by_their_neighbours() {
        let source = [1, 2, 1, 1, 2, 2, 1, 2];
        let target = [2, 1, 1, 2, 2, 1, 2];
        assert_eq!(anchors(&source, &target), [(1, 0), (2, 1), (3, 2), (4, 3)]);
    }

    proptest! {
        #[test]
        fn anchors_ascend_and_are_equal(
            source in proptest::collection::vec(0..40_u64, 0..60),
            target in proptest::collection::vec(0..40_u64, 0..60),
        ) {
            let found = anchors(&source, &target);
            prop_assert!(found.iter().all(|(from, to)| source[*from] == target[*to]));
            prop_assert!(found.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }

        #[test]
        fn the_longest_order_is_kept(order in proptest::collection::vec(0..20_usize, 0..12)) {
            let pairs: Vec<(usize, usize)> = order.iter().copied().enumerate().collect();
            let kept = in_order(&pairs).len();
            let best = (0..1_u32 << pairs.len())
                .filter_map(|chosen| {
                    let kept: Vec<usize> =
                        pairs.iter().filter(|pair| chosen >> pair.0 & 1 == 1).map(|pair| pair.1).collect();
                    kept.windows(2).all(|two| two[0] < two[1]).then_some(kept.len())
                })
                .max();
            prop_assert_eq!(Some(kept), best);
        }
    }
}
