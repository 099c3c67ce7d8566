//! Alignment of two sequences of keys: equal keys, each with at most one of the other side, in the same
//! order on both sides.
//!
//! What both begin and end with belongs together. Between, keys that only one side has are left out, and the
//! shortest edit is looked for: if it is not long, as many keys as can be find a partner. If it is
//! long, anchors divide the sequences and each part is aligned by itself. Where there are no anchors
//! (a few keys that repeat all the time), a longer edit is looked for; and if that is not enough, the
//! farthest way with some edits is taken again and again. Where that leaves much out, its pairs are
//! guesses. Time and memory grow with the lengths, whatever the keys.
//!
//! Swapping the sequences gives the same pairs: the work is always done in the same direction.

use std::cmp::Ordering;

use super::Cancelled;
use super::anchors::anchors;
use super::shortest_edit::{common_prefix, shortest_edit};

/// So many elements may be left out for the alignment to be the best there is.
const EDITS: usize = 512;
/// The same where there are no anchors, but no more than one element in [`ONE_IN`].
const EDITS_WITHOUT_ANCHORS: usize = 4096;
/// Keeps the work in proportion to the lengths.
const ONE_IN: usize = 16;
/// Elements that are left out at a time where the best alignment is not looked for.
const EDITS_OF_GUESS: usize = 256;
/// Of so many elements one may be left out for what is kept to be no guess.
const LEFT_OUT: usize = 8;
/// How often parts between anchors are divided by anchors again.
const DEPTH: usize = 8;

/// Two elements that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aligned {
    pub source: u32,
    pub target: u32,
    /// Whether the best alignment was not looked for there, and this one leaves much out.
    pub is_guess: bool,
}

/// Aligns two sequences; the links ascend. `None` when canceled.
pub fn align(source: &[u64], target: &[u64], is_cancelled: Cancelled<'_>) -> Option<Vec<Aligned>> {
    let is_swapped = (source.len(), source) > (target.len(), target);
    let (from, to) = if is_swapped { (target, source) } else { (source, target) };
    let (from_places, to_places) = (places(from.len()), places(to.len()));
    let mut aligning = Aligning { links: Vec::new(), is_cancelled };
    let sides =
        (Sequence { keys: from, places: &from_places }, Sequence { keys: to, places: &to_places });
    aligning.align(sides.0, sides.1, 0)?;
    let mut links = aligning.links;
    if is_swapped {
        for link in &mut links {
            std::mem::swap(&mut link.source, &mut link.target);
        }
    }
    Some(links)
}

fn places(len: usize) -> Vec<u32> {
    (0..u32::try_from(len).unwrap_or(u32::MAX)).collect()
}

/// A part of a sequence: keys, and where each was at first.
#[derive(Clone, Copy)]
struct Sequence<'a> {
    keys: &'a [u64],
    places: &'a [u32],
}

impl Sequence<'_> {
    fn part(self, start: usize, end: usize) -> Self {
        Self {
            keys: self.keys.get(start..end).unwrap_or(&[]),
            places: self.places.get(start..end).unwrap_or(&[]),
        }
    }

    fn len(self) -> usize {
        self.keys.len()
    }
}

struct Aligning<'a> {
    links: Vec<Aligned>,
    is_cancelled: Cancelled<'a>,
}

impl Aligning<'_> {
    fn link(&mut self, source: Sequence<'_>, target: Sequence<'_>, is_guess: bool) {
        let pairs = source.places.iter().zip(target.places);
        self.links.extend(pairs.map(|(source, target)| Aligned {
            source: *source,
            target: *target,
            is_guess,
        }));
    }

    /// Aligns two parts; `None` when canceled.
    fn align(&mut self, source: Sequence<'_>, target: Sequence<'_>, depth: usize) -> Option<()> {
        self.strip(source, target, |aligning, source, target| {
            if (aligning.is_cancelled)() {
                return None;
            }
            if aligning.by_shortest_edit(source, target, EDITS) {
                return Some(());
            }
            let (from, to) = shared(source.keys, target.keys);
            let (source, target) = (KeptElements::of(source, &from), KeptElements::of(target, &to));
            // They may begin and end alike now.
            aligning.strip(source.side(), target.side(), |aligning, source, target| {
                if aligning.by_shortest_edit(source, target, EDITS) {
                    return Some(());
                }
                let anchors =
                    if depth < DEPTH { anchors(source.keys, target.keys) } else { Vec::new() };
                if !anchors.is_empty() {
                    return aligning.between_anchors(source, target, &anchors, depth);
                }
                let limit = EDITS_WITHOUT_ANCHORS.min((source.len() + target.len()) / ONE_IN);
                if aligning.by_shortest_edit(source, target, limit) {
                    return Some(());
                }
                aligning.guess(source, target)
            })
        })
    }

    /// Links what both begin and end with, and leaves the rest to `between`, if both have one.
    fn strip(
        &mut self,
        source: Sequence<'_>,
        target: Sequence<'_>,
        between: impl FnOnce(&mut Self, Sequence<'_>, Sequence<'_>) -> Option<()>,
    ) -> Option<()> {
        let prefix = common_prefix(source.keys, target.keys);
        self.link(source.part(0, prefix), target.part(0, prefix), false);
        let (source, target) =
            (source.part(prefix, source.len()), target.part(prefix, target.len()));
        let suffix = common_suffix(source.keys, target.keys);
        let (source_end, target_end) = (source.len() - suffix, target.len() - suffix);
        let parts = (source.part(0, source_end), target.part(0, target_end));
        if parts.0.len() > 0 && parts.1.len() > 0 {
            between(self, parts.0, parts.1)?;
        }
        self.link(
            source.part(source_end, source.len()),
            target.part(target_end, target.len()),
            false,
        );
        Some(())
    }

    /// Aligns two parts by the shortest edit, if that is not long.
    fn by_shortest_edit(
        &mut self,
        source: Sequence<'_>,
        target: Sequence<'_>,
        limit: usize,
    ) -> bool {
        let path = shortest_edit(source.keys, target.keys, limit);
        if path.is_complete {
            self.link_runs(source, target, &path.runs, false);
        }
        path.is_complete
    }

    /// Aligns what lies between anchors, and links these.
    fn between_anchors(
        &mut self,
        source: Sequence<'_>,
        target: Sequence<'_>,
        anchors: &[(usize, usize)],
        depth: usize,
    ) -> Option<()> {
        let mut done = (0, 0);
        for (from, to) in anchors {
            self.align(source.part(done.0, *from), target.part(done.1, *to), depth + 1)?;
            self.link(source.part(*from, from + 1), target.part(*to, to + 1), false);
            done = (from + 1, to + 1);
        }
        self.align(source.part(done.0, source.len()), target.part(done.1, target.len()), depth + 1)
    }

    fn link_runs(
        &mut self,
        source: Sequence<'_>,
        target: Sequence<'_>,
        runs: &[(usize, usize, usize)],
        is_guess: bool,
    ) {
        for (from, to, count) in runs {
            self.link(source.part(*from, from + count), target.part(*to, to + count), is_guess);
        }
    }

    /// Aligns two parts, some edits at a time.
    fn guess(&mut self, source: Sequence<'_>, target: Sequence<'_>) -> Option<()> {
        let (mut source, mut target) = (source, target);
        while source.len() > 0 && target.len() > 0 {
            if (self.is_cancelled)() {
                return None;
            }
            let path = shortest_edit(source.keys, target.keys, EDITS_OF_GUESS);
            let all = path.reached.0 + path.reached.1;
            let kept: usize = path.runs.iter().map(|(_, _, count)| count * 2).sum();
            let is_guess = (all - kept) * LEFT_OUT > all;
            self.link_runs(source, target, &path.runs, is_guess);
            source = source.part(path.reached.0, source.len());
            target = target.part(path.reached.1, target.len());
        }
        Some(())
    }
}

struct KeptElements {
    keys: Vec<u64>,
    places: Vec<u32>,
}

impl KeptElements {
    fn of(side: Sequence<'_>, is_kept: &[bool]) -> Self {
        let elements = side.keys.iter().zip(side.places).zip(is_kept);
        let kept = elements.filter(|(_, is_kept)| **is_kept);
        let (keys, places) = kept.map(|(element, _)| element).unzip();
        Self { keys, places }
    }

    fn side(&self) -> Sequence<'_> {
        Sequence { keys: &self.keys, places: &self.places }
    }
}

fn common_suffix(source: &[u64], target: &[u64]) -> usize {
    let pairs = source.iter().rev().zip(target.iter().rev());
    pairs.take_while(|(source, target)| source == target).count()
}

/// Which elements of each have a key that the other has as well.
fn shared(source: &[u64], target: &[u64]) -> (Vec<bool>, Vec<bool>) {
    let (from, to) = (sorted(source), sorted(target));
    let (mut is_shared_source, mut is_shared_target) =
        (vec![false; source.len()], vec![false; target.len()]);
    let mark = |is_shared: &mut Vec<bool>, equal: &[(u64, usize)]| {
        for (_, place) in equal {
            if let Some(is_shared) = is_shared.get_mut(*place) {
                *is_shared = true;
            }
        }
    };
    let (mut ones, mut others) =
        (from.chunk_by(is_equal).peekable(), to.chunk_by(is_equal).peekable());
    while let (Some([one, ..]), Some([other, ..])) = (ones.peek(), others.peek()) {
        match one.0.cmp(&other.0) {
            Ordering::Less => drop(ones.next()),
            Ordering::Greater => drop(others.next()),
            Ordering::Equal => {
                mark(&mut is_shared_source, ones.next().unwrap_or(&[]));
                mark(&mut is_shared_target, others.next().unwrap_or(&[]));
            }
        }
    }
    (is_shared_source, is_shared_target)
}

fn is_equal(one: &(u64, usize), other: &(u64, usize)) -> bool {
    one.0 == other.0
}

fn sorted(keys: &[u64]) -> Vec<(u64, usize)> {
    let mut sorted: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(source: &[u64], target: &[u64]) -> Vec<(usize, usize)> {
        let links = align(source, target, &|| false).expect("not cancelled");
        links.iter().map(|link| (link.source as usize, link.target as usize)).collect()
    }

    fn is_alignment(pairs: &[(usize, usize)], source: &[u64], target: &[u64]) -> bool {
        pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1)
            && pairs.iter().all(|(from, to)| source[*from] == target[*to])
    }

    /// Keys in layers: each layer has the same keys, or its own.
    fn layers(number: u64, own: bool) -> Vec<u64> {
        let of_layer =
            |layer: u64| (0..7).map(move |key| key % 5 + if own { 100 * layer } else { 0 });
        (0..number).flat_map(of_layer).collect()
    }

    #[test]
    fn a_long_edit_is_divided_by_anchors() {
        // Every third layer is another one: more edits than are looked for at once.
        let source = layers(1000, true);
        let target: Vec<u64> = source
            .iter()
            .map(|key| if (key / 100).is_multiple_of(3) { key + 1_000_000 } else { *key })
            .collect();
        let pairs = pairs(&source, &target);
        assert!(is_alignment(&pairs, &source, &target));
        assert_eq!(pairs.len(), 666 * 7);
        assert!(pairs.iter().all(|(from, to)| from == to));
    }

    #[test]
    fn repeats_without_end_are_guessed_and_say_so() {
        // Two keys in two orders: nothing comes once, in whatever row.
        let source: Vec<u64> = (0..40_000).map(|place| place % 2).collect();
        let target: Vec<u64> = (0..40_000).map(|place| u64::from(place % 4 > 1)).collect();
        let links = align(&source, &target, &|| false).expect("not cancelled");
        assert!(links.iter().filter(|link| link.is_guess).count() > 20_000);
        assert!(links.len() > 25_000, "{}", links.len());
    }

    #[test]
    fn repeats_with_few_edits_are_no_guess() {
        // The same layer again and again: nothing comes once, and there are too many edits for the best.
        let source = layers(8000, false);
        let twice = |place: usize| 1 + usize::from(place % 11 == 5);
        let target: Vec<u64> = source
            .iter()
            .enumerate()
            .flat_map(|(place, key)| std::iter::repeat_n(*key, twice(place)))
            .collect();
        assert!(target.len() > source.len() + EDITS_WITHOUT_ANCHORS);
        let links = align(&source, &target, &|| false).expect("not cancelled");
        assert!(links.iter().all(|link| !link.is_guess));
        assert!(links.len() * 100 > source.len() * 99, "{} of {}", links.len(), source.len());
    }

    #[test]
    fn it_stops_when_it_is_cancelled() {
        assert_eq!(align(&[1, 2], &[2, 1], &|| true), None);
    }

    proptest! {
        #[test]
        fn pairs_are_an_alignment_and_do_not_depend_on_the_direction(
            source in proptest::collection::vec(0..6_u64, 0..40),
            target in proptest::collection::vec(0..6_u64, 0..40),
        ) {
            let found = pairs(&source, &target);
            prop_assert!(is_alignment(&found, &source, &target));
            let mut turned = pairs(&target, &source);
            for pair in &mut turned {
                *pair = (pair.1, pair.0);
            }
            prop_assert_eq!(found, turned);
        }

        #[test]
        fn a_sequence_with_something_put_in_keeps_all_of_itself(
            own in proptest::bool::ANY,
            number in 1..200_u64,
            insert in proptest::collection::vec(0..6_u64, 0..600),
            place in 0..1000_usize,
        ) {
            let source = layers(number, own);
            let mut target = source.clone();
            let place = place % (source.len() + 1);
            target.splice(place..place, insert);
            prop_assert_eq!(pairs(&source, &target).len(), source.len());
        }
    }
}
