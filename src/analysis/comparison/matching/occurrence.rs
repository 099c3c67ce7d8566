//! Pairs of rows with equal keys by order of occurrence: the first of the source with the first of the
//! target, and so on.

use crate::store::names::Names;

use super::names::NameKeys;
use super::pairs::{Pairs, Sureness};

/// Pairs rows with equal keys, given as (key, row). `rule` says how sure the pairs of a key are, from
/// the first row of the source and how many rows each side has; `None` leaves them.
pub fn pair_equal(
    pairs: &mut Pairs,
    mut source: Vec<(u64, usize)>,
    mut target: Vec<(u64, usize)>,
    rule: impl Fn(usize, usize, usize) -> Option<Sureness>,
) {
    source.sort_unstable();
    target.sort_unstable();
    let mut rest = target.as_slice();
    for equal in source.chunk_by(|one, other| one.0 == other.0) {
        let Some((key, first)) = equal.first() else { continue };
        let start = rest.partition_point(|other| other.0 < *key);
        let (_, from_key) = rest.split_at(start);
        let (partners, after) =
            from_key.split_at(from_key.partition_point(|other| other.0 == *key));
        rest = after;
        if let Some(sureness) = rule(*first, equal.len(), partners.len()) {
            for ((_, from), (_, to)) in equal.iter().zip(partners) {
                pairs.pair(*from, *to, sureness);
            }
        }
    }
}

/// How sure pairs are that have no name, from how many rows each side has.
pub fn of_unnamed(source: usize, target: usize) -> Sureness {
    if source == target { Sureness::Exact } else { Sureness::Likely }
}

/// Pairs the rows that have no partner yet by their names: as they stand; then without the compiler's
/// numbers, where both sides have as many; then without any number, where both sides have one.
pub fn pair_by_name(pairs: &mut Pairs, source: &Names, target: &Names) {
    let keys = |names: &Names, row: usize| Some((NameKeys::of(names.at(row)?), row));
    let from: Vec<_> = pairs.only_source().filter_map(|row| keys(source, row)).collect();
    let to: Vec<_> = pairs.only_target().filter_map(|row| keys(target, row)).collect();
    let is_named = |row: usize| source.at(row).is_some_and(|name| !name.is_empty());
    let mut pair = |key: fn(&NameKeys) -> u64,
                    rule: &dyn Fn(usize, usize, usize) -> Option<Sureness>| {
        let keyed = |(keys, row): &(NameKeys, usize)| (key(keys), *row);
        let free = from.iter().filter(|(_, row)| pairs.target_of(*row).is_none());
        let source = free.map(keyed).collect();
        let free = to.iter().filter(|(_, row)| pairs.source_of(*row).is_none());
        let target = free.map(keyed).collect();
        pair_equal(pairs, source, target, rule);
    };
    pair(|keys| keys.exact, &|first, source, target| {
        Some(if is_named(first) { Sureness::Exact } else { of_unnamed(source, target) })
    });
    pair(|keys| keys.model, &|first, source, target| {
        (source == target && is_named(first)).then_some(Sureness::Likely)
    });
    pair(|keys| keys.words, &|first, source, target| {
        (source == 1 && target == 1 && is_named(first)).then_some(Sureness::Weak)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partners(source: &[&str], target: &[&str]) -> Vec<Option<(usize, Sureness)>> {
        let names = |list: &[&str]| {
            let mut names = Names::default();
            for name in list {
                names.push(name);
            }
            names
        };
        let mut pairs = Pairs::new(source.len(), target.len());
        pair_by_name(&mut pairs, &names(source), &names(target));
        (0..source.len()).map(|row| Some((pairs.target_of(row)?, pairs.sureness(row)?))).collect()
    }

    #[test]
    fn equal_names_go_by_order() {
        let exact = |row| Some((row, Sureness::Exact));
        assert_eq!(
            partners(&["b", "a", "b", "b"], &["b", "b", "a"]),
            [exact(0), exact(2), exact(1), None]
        );
        assert_eq!(partners(&["", "a", ""], &["a", "", ""]), [exact(1), exact(0), exact(2)]);
        let likely = Some((0, Sureness::Likely));
        assert_eq!(partners(&["", ""], &[""]), [likely, None]);
    }

    #[test]
    fn other_numbers_are_a_partner_only_where_there_is_no_choice() {
        let likely = |row| Some((row, Sureness::Likely));
        assert_eq!(partners(&["w__1", "w__2"], &["w__7", "w__8"]), [likely(0), likely(1)]);
        assert_eq!(partners(&["w__1", "w__2"], &["w__7"]), [None, None]);
        let found = partners(&["layer1.0", "layer1.1"], &["layer1.1", "layer1.2"]);
        assert_eq!(found, [Some((1, Sureness::Weak)), Some((0, Sureness::Exact))]);
        assert_eq!(partners(&["t1", "t2"], &["t3"]), [None, None]);
    }
}
