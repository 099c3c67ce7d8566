//! Pairs of operations: those that have most steps in common, and the same name, but for numbers of the
//! compiler; the rest by layer, kind and name.
//!
//! Numbers of the compiler in the name of an operation (`98/scatterAdd`) do not say which it is. Its steps
//! do, so their alignment comes first.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::analysis::program::operations::Operation;

use super::names::{NameKeys, combine, hash};
use super::pairs::{Pairs, Sureness};

/// What an operation is compared by; never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationKeys {
    /// Layer, kind and name.
    pub exact: u64,
    /// The same without the compiler's numbers.
    pub model: u64,
}

/// The keys of operations.
pub fn operation_keys(operations: &[Operation]) -> Vec<OperationKeys> {
    let keys = |operation: &Operation| {
        let kind = combine(hash(&operation.layer), operation.kind.as_deref().map_or(0, hash));
        let name = NameKeys::of(operation.name.as_deref().unwrap_or(""));
        OperationKeys { exact: combine(kind, name.exact) | 1, model: combine(kind, name.model) | 1 }
    };
    operations.iter().map(keys).collect()
}

/// Matches operations. `common` has the two operations of each pair of steps.
pub fn match_operations(
    source: &[OperationKeys],
    target: &[OperationKeys],
    common: impl Iterator<Item = (usize, usize)>,
) -> Pairs {
    let mut steps_in_common: HashMap<(usize, usize), usize> = HashMap::new();
    for operations in common {
        *steps_in_common.entry(operations).or_default() += 1;
    }
    let is_equal = |from: usize, to: usize, key: fn(&OperationKeys) -> u64| {
        let (from, to) = (source.get(from).map(key), target.get(to).map(key));
        from.is_some() && from == to
    };
    let mut found: Vec<_> = steps_in_common
        .into_iter()
        .filter(|((from, to), _)| is_equal(*from, *to, |keys| keys.model))
        .map(|((from, to), steps)| {
            let is_exact = is_equal(from, to, |keys| keys.exact);
            // The sum does not tell the source from the target.
            (Reverse((steps, is_exact)), from + to, from, to)
        })
        .collect();
    found.sort_unstable();
    let mut pairs = Pairs::new(source.len(), target.len());
    for (Reverse((_, is_exact)), _, from, to) in found {
        let sureness = if is_exact { Sureness::Exact } else { Sureness::Likely };
        pairs.pair(from, to, sureness);
    }
    pair_equal(&mut pairs, source, target);
    pairs
}

/// Pairs what has the same name, wherever it stands. A report has an operation only once.
fn pair_equal(pairs: &mut Pairs, source: &[OperationKeys], target: &[OperationKeys]) {
    let by_key: HashMap<u64, usize> =
        target.iter().enumerate().map(|(row, keys)| (keys.exact, row)).collect();
    for (row, keys) in source.iter().enumerate() {
        if let Some(other) = by_key.get(&keys.exact) {
            pairs.pair(row, *other, Sureness::Exact);
        }
    }
}

/// Keys of both sides that are the same for operations that belong together, and for no others.
pub fn shared_keys(
    source: &[OperationKeys],
    target: &[OperationKeys],
    pairs: &Pairs,
) -> [Vec<OperationKeys>; 2] {
    let shared = |own: &OperationKeys, partner: Option<&OperationKeys>| {
        // The same from both sides, so that it does not matter which is the source.
        let key = match partner {
            Some(partner) => combine(own.exact.wrapping_add(partner.exact), 2),
            None => combine(own.exact, 1),
        };
        OperationKeys { exact: key | 1, model: key | 1 }
    };
    let from = source.iter().enumerate();
    let to = target.iter().enumerate();
    [
        from.map(|(row, keys)| shared(keys, pairs.target_of(row).and_then(|row| target.get(row))))
            .collect(),
        to.map(|(row, keys)| shared(keys, pairs.source_of(row).and_then(|row| source.get(row))))
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
            ..Operation::default()
        };
        names.iter().map(operation).collect()
    }

    fn partners(
        source: &[&str],
        target: &[&str],
        common: &[(usize, usize)],
    ) -> Vec<Option<(usize, Sureness)>> {
        let (source, target) =
            (operation_keys(&operations(source)), operation_keys(&operations(target)));
        let pairs = match_operations(&source, &target, common.iter().copied());
        let [from, to] = shared_keys(&source, &target, &pairs);
        for (row, keys) in from.iter().enumerate() {
            let same: Vec<usize> = (0..to.len()).filter(|other| to[*other] == *keys).collect();
            assert_eq!(same, Vec::from_iter(pairs.target_of(row)));
        }
        (0..source.len()).map(|row| Some((pairs.target_of(row)?, pairs.sureness(row)?))).collect()
    }

    #[test]
    fn operations_are_matched_by_name_wherever_they_stand() {
        let found = partners(&["a", "b", "", "c"], &["c", "a", "", "b2"], &[]);
        let exact = |row| Some((row, Sureness::Exact));
        assert_eq!(found, [exact(1), None, exact(2), exact(0)]);
    }

    #[test]
    fn numbers_of_the_compiler_may_differ_and_the_models_own_may_not() {
        let common = [(0, 0), (1, 1)];
        let found = partners(&["layer1.0.conv1", "x/Op_7"], &["layer1.1.conv1", "x/Op_9"], &common);
        assert_eq!(found, [None, Some((1, Sureness::Likely))]);
    }

    #[test]
    fn an_operation_with_the_number_that_another_had_is_not_taken_for_it() {
        let common = [(0, 0), (0, 0), (0, 1), (1, 1), (1, 1), (1, 0)];
        let found = partners(&["Op_1/a", "Op_2/a"], &["Op_2/a", "Op_3/a"], &common);
        let likely = |row| Some((row, Sureness::Likely));
        assert_eq!(found, [likely(0), likely(1)]);
    }
}
