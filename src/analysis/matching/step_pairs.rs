//! Pairs of steps: an alignment of the two lists, from sure to weak.
//!
//! Steps are aligned by all that they are compared by; what lies between two pairs is then aligned by
//! less and less ([`Level`]). Numbers of the compiler can be in the way: where they have moved on by
//! some, a step has the number that another one had. So the steps are aligned without these numbers
//! from the outset as well, and wherever more steps find a partner that way, it is taken.
//!
//! Steps of different kinds are never paired, nor steps of operations with different names. Steps that have
//! but their kind, or kind and operation, in common are paired only beside others that are.

use std::collections::HashMap;

use crate::analysis::operations::Operation;

use super::Cancelled;
use super::alignment::{Link, align};
use super::pairs::{Pairs, Sureness};
use super::step_keys::{Level, StepKeys};

/// What is compared with what.
pub struct Sides<'a> {
    /// The steps of the source.
    pub source: &'a StepKeys<'a>,
    /// The steps of the target.
    pub target: &'a StepKeys<'a>,
    /// The operations of the source.
    pub source_operations: &'a [Operation],
    /// The operations of the target.
    pub target_operations: &'a [Operation],
    /// Which operations belong together.
    pub operations: &'a Pairs,
}

/// Matches the steps; `None` when cancelled.
pub fn match_steps(sides: &Sides<'_>, is_cancelled: Cancelled<'_>) -> Option<Pairs> {
    let lens = (sides.source.len(), sides.target.len());
    let has_numbers = sides.source.has_numbers() || sides.target.has_numbers();
    let (with_numbers, without_numbers) = rayon::join(
        || {
            let links = sides.fill(&[], Level::Exact, is_cancelled)?;
            sides.fill(&links, Level::Model, is_cancelled)
        },
        || has_numbers.then(|| sides.fill(&[], Level::Model, is_cancelled)),
    );
    let mut links = with_numbers?;
    if let Some(without_numbers) = without_numbers {
        links = more_of_both(&links, &without_numbers?);
    }
    for level in [Level::Words, Level::Name, Level::Operation, Level::Kind] {
        let is_weak = matches!(level, Level::Operation | Level::Kind);
        if is_weak && links.is_empty() {
            break;
        }
        links = sides.fill(&links, level, is_cancelled)?;
    }
    let counts = Unnamed::of(sides);
    let mut pairs = Pairs::new(lens.0, lens.1);
    for link in links {
        if let Some(sureness) = sides.sureness(&link, &counts) {
            pairs.pair(link.source as usize, link.target as usize, sureness);
        }
    }
    Some(pairs)
}

/// How the operations of two steps relate.
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
    /// Aligns what lies between links by a level, and returns all links.
    fn fill(&self, links: &[Link], level: Level, is_cancelled: Cancelled<'_>) -> Option<Vec<Link>> {
        let mut all = Vec::with_capacity(links.len());
        let mut done = (0, 0);
        let end = Link { source: u32::MAX, target: u32::MAX, is_guess: false };
        for link in links.iter().chain([&end]) {
            let next = (
                (link.source as usize).min(self.source.len()),
                (link.target as usize).min(self.target.len()),
            );
            if done.0 < next.0 && done.1 < next.1 {
                let from = self.source.keys(done.0..next.0, level);
                let to = self.target.keys(done.1..next.1, level);
                let between = align(&from, &to, is_cancelled)?.into_iter().map(|found| Link {
                    source: found.source.saturating_add(done.0 as u32),
                    target: found.target.saturating_add(done.1 as u32),
                    ..found
                });
                all.extend(between.filter(|link| self.may_be_paired(link)));
            }
            done = (next.0 + 1, next.1 + 1);
            all.push(*link);
        }
        all.pop();
        Some(all)
    }

    fn may_be_paired(&self, link: &Link) -> bool {
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
        match (self.source_operations.get(from), self.target_operations.get(to)) {
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

    /// How sure a pair is; `None` for two steps that may not be one.
    fn sureness(&self, link: &Link, unnamed: &Unnamed) -> Option<Sureness> {
        let (source, target) = (link.source as usize, link.target as usize);
        let (from, to) = (self.source.program(source).name, self.target.program(target).name);
        let relation = self.relation(source, target);
        let of_operation = match relation {
            Relation::Same(sureness) => sureness,
            Relation::Unknown => Sureness::Likely,
            Relation::Different => return None,
        };
        let is_in_operation =
            self.source.operation(source).is_some() && relation != Relation::Unknown;
        let of_name = if link.is_guess {
            Sureness::Weak
        } else if from.exact == 0 && to.exact == 0 {
            let keys =
                (self.source.key(source, Level::Model), self.target.key(target, Level::Model));
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
        Some(of_name.max(of_operation))
    }
}

/// The links of one alignment, and between two that both have, those of the other if it has more there.
fn more_of_both(first: &[Link], second: &[Link]) -> Vec<Link> {
    let ends = |link: &Link| (link.source, link.target);
    let mut chosen = Vec::with_capacity(first.len().max(second.len()));
    let (mut first, mut second) = (first, second);
    loop {
        // How many of each come before the next one that both have.
        let (mut from, mut to) = (0, 0);
        let mut is_end = true;
        while let (Some(one), Some(other)) = (first.get(from), second.get(to)) {
            if ends(one) == ends(other) {
                is_end = false;
                break;
            }
            if one.source <= other.source {
                from += 1;
            }
            if other.source <= one.source {
                to += 1;
            }
        }
        if is_end {
            (from, to) = (first.len(), second.len());
        }
        let (before, common) = first.split_at(from);
        let (before_other, common_other) = second.split_at(to);
        chosen.extend_from_slice(if before_other.len() > before.len() {
            before_other
        } else {
            before
        });
        let (Some((both, rest)), Some((_, rest_other))) =
            (common.split_first(), common_other.split_first())
        else {
            return chosen;
        };
        chosen.push(*both);
        (first, second) = (rest, rest_other);
    }
}

/// How many steps without a name either side has of a kind and operation.
struct Unnamed(HashMap<u64, [usize; 2]>);

impl Unnamed {
    fn of(sides: &Sides<'_>) -> Self {
        let mut counts: HashMap<u64, [usize; 2]> = HashMap::new();
        for (side, steps) in [sides.source, sides.target].into_iter().enumerate() {
            for step in (0..steps.len()).filter(|step| steps.program(*step).name.exact == 0) {
                let count = counts.entry(steps.key(step, Level::Model)).or_default();
                if let Some(count) = count.get_mut(side) {
                    *count += 1;
                }
            }
        }
        Self(counts)
    }

    fn sureness(&self, key: u64) -> Sureness {
        match self.0.get(&key) {
            Some([source, target]) if source == target => Sureness::Exact,
            _ => Sureness::Likely,
        }
    }
}
