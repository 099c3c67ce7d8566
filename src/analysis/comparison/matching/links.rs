//! Links between steps, from one level of comparison to the next.

use super::Cancelled;
use super::alignment::{Aligned, align};
use super::step_keys::{StepKeys, StepLevel};

/// Aligns what lies between links by a level, and returns all links. Of the new ones those that
/// `may_be` refuses are left out. `None` when canceled.
pub fn fill(
    source: &StepKeys<'_>,
    target: &StepKeys<'_>,
    links: &[Aligned],
    level: StepLevel,
    may_be: impl Fn(&Aligned) -> bool,
    is_cancelled: Cancelled<'_>,
) -> Option<Vec<Aligned>> {
    let mut all = Vec::with_capacity(links.len());
    let mut done = (0, 0);
    let ends = links.iter().map(|link| (link.source as usize, link.target as usize, Some(link)));
    for (from_end, to_end, link) in ends.chain([(source.len(), target.len(), None)]) {
        if done.0 < from_end && done.1 < to_end {
            let (from_keys, from) = source.keys(done.0..from_end, level);
            let (to_keys, to) = target.keys(done.1..to_end, level);
            let between = align(&from_keys, &to_keys, is_cancelled)?.into_iter();
            let in_steps = between.filter_map(|link| {
                let (from, to) = (from.get(link.source as usize)?, to.get(link.target as usize)?);
                Some(Aligned { source: *from, target: *to, ..link })
            });
            all.extend(in_steps.filter(&may_be));
        }
        done = (from_end + 1, to_end + 1);
        all.extend(link);
    }
    Some(all)
}

/// The links of one alignment, and between two that both have, those of the other if it has more there.
pub fn more_of_both(first: &[Aligned], second: &[Aligned]) -> Vec<Aligned> {
    let ends = |link: &Aligned| (link.source, link.target);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fuller_one_is_taken_between_what_both_have() {
        let links = |pairs: &[(u32, u32)]| -> Vec<Aligned> {
            let link = |(source, target): &(u32, u32)| Aligned {
                source: *source,
                target: *target,
                is_guess: false,
            };
            pairs.iter().map(link).collect()
        };
        let first = links(&[(0, 1), (2, 2), (4, 4), (6, 7), (8, 8)]);
        let second = links(&[(1, 1), (2, 2), (3, 3), (4, 5), (5, 6), (8, 8), (9, 9)]);
        let chosen = links(&[(0, 1), (2, 2), (3, 3), (4, 5), (5, 6), (8, 8), (9, 9)]);
        assert_eq!(more_of_both(&first, &second), chosen);
        assert_eq!(more_of_both(&first, &[]), first);
        assert_eq!(more_of_both(&[], &first), first);
    }
}
