//! Pairs of operations: the same layer, kind and name; or names that differ in the compiler's numbers
//! alone, in the order in which the operations first come.

use crate::analysis::operations::Operation;

use super::Cancelled;
use super::alignment::align;
use super::names::{NameKeys, combine, hash};
use super::pairs::{Pairs, Sureness};

/// What tells an operation from others of its report.
#[derive(Clone, Copy)]
struct Key {
    /// Layer, kind and name.
    exact: u64,
    /// The same without the compiler's numbers.
    model: u64,
}

fn keys(operations: &[Operation]) -> Vec<Key> {
    let key = |operation: &Operation| {
        let kind = combine(hash(&operation.layer), operation.kind.as_deref().map_or(0, hash));
        let name = NameKeys::of(operation.name.as_deref().unwrap_or(""));
        Key { exact: combine(kind, name.exact), model: combine(kind, name.model) }
    };
    operations.iter().map(key).collect()
}

/// Matches the operations of two reports; `None` when cancelled.
pub fn match_operations(
    source: &[Operation],
    target: &[Operation],
    is_cancelled: Cancelled<'_>,
) -> Option<Pairs> {
    let (source, target) = (keys(source), keys(target));
    let mut by_name = Pairs::new(source.len(), target.len());
    pair_equal(&mut by_name, &source, &target);
    pair_in_order(&mut by_name, &source, &target, is_cancelled)?;
    if by_name.matched() == source.len().min(target.len()) {
        return Some(by_name);
    }
    // Where all numbers have moved on by some, an operation may have the number that another one had.
    let mut in_order = Pairs::new(source.len(), target.len());
    pair_in_order(&mut in_order, &source, &target, is_cancelled)?;
    pair_equal(&mut in_order, &source, &target);
    Some(if in_order.matched() > by_name.matched() { in_order } else { by_name })
}

/// Pairs what has the same name, wherever it stands. A report has an operation only once.
fn pair_equal(pairs: &mut Pairs, source: &[Key], target: &[Key]) {
    let mut by_key: Vec<(u64, usize)> =
        target.iter().enumerate().map(|(row, key)| (key.exact, row)).collect();
    by_key.sort_unstable();
    for (row, key) in source.iter().enumerate() {
        let place = by_key.partition_point(|other| other.0 < key.exact);
        if let Some((_, other)) = by_key.get(place).filter(|other| other.0 == key.exact) {
            pairs.pair(row, *other, Sureness::Exact);
        }
    }
}

/// Pairs the rest by names without the compiler's numbers.
fn pair_in_order(
    pairs: &mut Pairs,
    source: &[Key],
    target: &[Key],
    is_cancelled: Cancelled<'_>,
) -> Option<()> {
    let (from, to): (Vec<usize>, Vec<usize>) =
        (pairs.only_source().collect(), pairs.only_target().collect());
    let of = |rows: &[usize], keys: &[Key]| -> Vec<u64> {
        rows.iter().filter_map(|row| keys.get(*row)).map(|key| key.model).collect()
    };
    for link in align(&of(&from, source), &of(&to, target), is_cancelled)? {
        let rows = (from.get(link.source as usize), to.get(link.target as usize));
        let (Some(from), Some(to)) = rows else { continue };
        let is_equal =
            source.get(*from).map(|key| key.exact) == target.get(*to).map(|key| key.exact);
        let sureness = match (link.is_guess, is_equal) {
            (_, true) => Sureness::Exact,
            (true, false) => Sureness::Weak,
            (false, false) => Sureness::Likely,
        };
        pairs.pair(*from, *to, sureness);
    }
    Some(())
}

/// For each operation of both sides a number that it shares with its partner and with no other; never 0.
pub fn shared_codes(source: &[Operation], target: &[Operation], pairs: &Pairs) -> [Vec<u64>; 2] {
    let (from, to) = (keys(source), keys(target));
    let code = |own: &Key, partner: Option<&Key>| {
        // The same from both sides, so that it does not matter which is the source.
        partner.map_or(combine(own.exact, 1), |partner| {
            combine(own.exact.wrapping_add(partner.exact), 2)
        }) | 1
    };
    let of_source = from.iter().enumerate();
    let of_target = to.iter().enumerate();
    [
        of_source
            .map(|(row, key)| code(key, pairs.target_of(row).and_then(|row| to.get(row))))
            .collect(),
        of_target
            .map(|(row, key)| code(key, pairs.source_of(row).and_then(|row| from.get(row))))
            .collect(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(names: &[&str]) -> Vec<Operation> {
        let operation = |name: &&str| Operation {
            kind: Some("convolution".to_owned()),
            layer: "poplibs".to_owned(),
            name: (!name.is_empty()).then(|| (*name).to_owned()),
            detail: None,
            available_memory_proportion: None,
            location: None,
        };
        names.iter().map(operation).collect()
    }

    fn partners(source: &[&str], target: &[&str]) -> Vec<Option<(usize, Sureness)>> {
        let (source, target) = (operations(source), operations(target));
        let pairs = match_operations(&source, &target, &|| false).expect("not cancelled");
        let [from, to] = shared_codes(&source, &target, &pairs);
        for (row, code) in from.iter().enumerate() {
            let same: Vec<usize> = (0..to.len()).filter(|other| to[*other] == *code).collect();
            assert_eq!(same, Vec::from_iter(pairs.target_of(row)));
        }
        (0..source.len()).map(|row| Some((pairs.target_of(row)?, pairs.sureness(row)?))).collect()
    }

    #[test]
    fn operations_are_matched_by_name_wherever_they_stand() {
        let found = partners(&["a", "b", "", "c"], &["c", "a", "", "b2"]);
        let exact = |row| Some((row, Sureness::Exact));
        assert_eq!(found, [exact(1), None, exact(2), exact(0)]);
    }

    #[test]
    fn numbers_of_the_compiler_may_differ_and_the_models_own_may_not() {
        let found = partners(&["layer1.0.conv1", "x/Op_7"], &["layer1.1.conv1", "x/Op_9"]);
        assert_eq!(found, [None, Some((1, Sureness::Likely))]);
    }

    #[test]
    fn an_operation_with_the_number_that_another_had_is_not_taken_for_it() {
        let found = partners(
            &["Op_1/a", "Op_2/b", "Op_3/a"],
            &["Op_1/c", "Op_2/c", "Op_3/a", "Op_4/b", "Op_5/a"],
        );
        let likely = |row| Some((row, Sureness::Likely));
        assert_eq!(found, [likely(2), likely(3), likely(4)]);
    }
}
