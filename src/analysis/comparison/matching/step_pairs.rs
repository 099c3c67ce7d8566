//! Pairs of steps: an alignment of the two lists, from sure to weak.
//!
//! Steps are aligned by all that they are compared by; what lies between two pairs is then aligned by
//! less and less ([`StepLevel`]). Numbers of the compiler can be in the way: where they have moved on by
//! some, a step has the number that another one had. So the steps are aligned without these numbers
//! from the outset as well, and wherever more steps find a partner that way, it is taken.
//!
//! Operations that have steps in common are the same; from there on, steps are compared by that.
//! Steps of different kinds are never paired, nor steps of operations with different names. Steps that have
//! but their kind, or kind and operation, in common are paired only beside others that are.

use std::collections::HashMap;

use crate::analysis::program::operations::Operation;

use super::Cancelled;
use super::alignment::Aligned;
use super::links::{fill, more_of_both};
use super::operation_pairs::{match_operations, shared_keys};
use super::pairs::{Pairs, Sureness};
use super::step_keys::{StepKeys, StepLevel};

/// Matches the steps and the operations of both sides; `None` when canceled. From then on the keys of
/// operations are the same on both sides where they belong together.
pub fn match_steps(
    source: &mut StepKeys<'_>,
    target: &mut StepKeys<'_>,
    names: [&[Operation]; 2],
    is_cancelled: Cancelled<'_>,
) -> Option<(Pairs, Pairs)> {
    let mut links = first_links(source, target, is_cancelled)?;
    let common = links.iter().filter_map(|link| {
        Some((source.operation(link.source as usize)?, target.operation(link.target as usize)?))
    });
    let operations = match_operations(source.operation_keys(), target.operation_keys(), common);
    let [from, to] = shared_keys(source.operation_keys(), target.operation_keys(), &operations);
    source.set_operation_keys(from);
    target.set_operation_keys(to);
    let sides = Sides { source, target, names, operations: &operations };
    links.retain(|link| sides.may_be_paired(link));
    for level in
        [StepLevel::Model, StepLevel::Words, StepLevel::Name, StepLevel::Operation, StepLevel::Kind]
    {
        if matches!(level, StepLevel::Operation | StepLevel::Kind) && links.is_empty() {
            break;
        }
        let may_be = |link: &Aligned| sides.may_be_paired(link);
        links = fill(sides.source, sides.target, &links, level, may_be, is_cancelled)?;
    }
    let unnamed = Unnamed::of(&sides);
    let mut pairs = Pairs::new(sides.source.len(), sides.target.len());
    for link in links {
        let sureness = sides.sureness(&link, &unnamed);
        pairs.pair(link.source as usize, link.target as usize, sureness);
    }
    Some((pairs, operations))
}

/// Aligns the steps by what they have of their own.
fn first_links(
    source: &StepKeys<'_>,
    target: &StepKeys<'_>,
    is_cancelled: Cancelled<'_>,
) -> Option<Vec<Aligned>> {
    let is_of_kind = |link: &Aligned| {
        let (from, to) = (link.source as usize, link.target as usize);
        source.program(from).kind == target.program(to).kind
    };
    let by =
        |links: &[Aligned], level| fill(source, target, links, level, is_of_kind, is_cancelled);
    let has_numbers = source.has_numbers() || target.has_numbers();
    let (with_numbers, without_numbers) = rayon::join(
        || by(&by(&[], StepLevel::Exact)?, StepLevel::Model),
        || has_numbers.then(|| by(&[], StepLevel::Model)),
    );
    let with_numbers = with_numbers?;
    match without_numbers {
        Some(without_numbers) => Some(more_of_both(&with_numbers, &without_numbers?)),
        None => Some(with_numbers),
    }
}

struct Sides<'a> {
    source: &'a StepKeys<'a>,
    target: &'a StepKeys<'a>,
    names: [&'a [Operation]; 2],
    /// Which of these belong together.
    operations: &'a Pairs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// The same operation, so sure; or neither step has one.
    Same(Sureness),
    /// One step has none, or no name in it.
    Unknown,
    /// Two operations.
    Different,
}

impl Sides<'_> {
    fn may_be_paired(&self, link: &Aligned) -> bool {
        let (source, target) = (link.source as usize, link.target as usize);
        self.source.program(source).kind == self.target.program(target).kind
            && self.relation(source, target) != Relation::Different
    }

    fn relation(&self, source: usize, target: usize) -> Relation {
        let (from, to) = match (self.source.operation(source), self.target.operation(target)) {
            (None, None) => return Relation::Same(Sureness::Exact),
            (Some(from), Some(to)) => (from, to),
            _ => return Relation::Unknown,
        };
        if self.operations.target_of(from) == Some(to) {
            return Relation::Same(self.operations.sureness(from).unwrap_or(Sureness::Weak));
        }
        match (self.names[0].get(from), self.names[1].get(to)) {
            (Some(from), Some(to))
                if from.layer == to.layer
                    && from.kind == to.kind
                    && (from.name.is_none() || to.name.is_none()) =>
            {
                Relation::Unknown
            }
            _ => Relation::Different,
        }
    }

    fn sureness(&self, link: &Aligned, unnamed: &Unnamed) -> Sureness {
        let (source, target) = (link.source as usize, link.target as usize);
        let (from, to) = (self.source.program(source).name, self.target.program(target).name);
        let relation = self.relation(source, target);
        let of_operation = match relation {
            Relation::Same(sureness) => sureness,
            Relation::Unknown | Relation::Different => Sureness::Likely,
        };
        let is_in_operation =
            self.source.operation(source).is_some() && relation != Relation::Unknown;
        let of_name = if link.is_guess {
            Sureness::Weak
        } else if from.exact == 0 && to.exact == 0 {
            let keys = (
                self.source.key(source, StepLevel::Model),
                self.target.key(target, StepLevel::Model),
            );
            if keys.0 == keys.1 { unnamed.sureness(keys.0) } else { Sureness::Weak }
        } else if from.exact == to.exact {
            Sureness::Exact
        } else if from.exact == 0 || to.exact == 0 {
            Sureness::Weak
        } else if from.model == to.model || is_in_operation && from.words == to.words {
            Sureness::Likely
        } else {
            Sureness::Weak
        };
        of_name.max(of_operation)
    }
}

/// How many steps without a name either side has of a kind and operation.
struct Unnamed(HashMap<Option<u64>, [usize; 2]>);

impl Unnamed {
    fn of(sides: &Sides<'_>) -> Self {
        let mut counts: HashMap<Option<u64>, [usize; 2]> = HashMap::new();
        for (side, steps) in [sides.source, sides.target].into_iter().enumerate() {
            for step in (0..steps.len()).filter(|step| steps.program(*step).name.exact == 0) {
                let count = counts.entry(steps.key(step, StepLevel::Model)).or_default();
                if let Some(count) = count.get_mut(side) {
                    *count += 1;
                }
            }
        }
        Self(counts)
    }

    fn sureness(&self, key: Option<u64>) -> Sureness {
        match self.0.get(&key) {
            Some([source, target]) if source == target => Sureness::Exact,
            _ => Sureness::Likely,
        }
    }
}
