//! The shortest edit between two sequences, as far as a bounded number of edits reaches.
//!
//! Myers, "An O(ND) difference algorithm and its variations" (1986): for each number of edits, the
//! farthest point on every diagonal. Time and memory grow with the square of the edits that are allowed, and
//! runs of equal elements cost no more than their length on each diagonal.

/// Stands for a diagonal on which no point is reached.
const NONE: u32 = u32::MAX;

/// A way through two sequences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditPath {
    /// Equal elements as (first of the source, first of the target, how many), ascending.
    pub runs: Vec<(usize, usize, usize)>,
    /// How far it goes in both.
    pub reached: (usize, usize),
    /// Whether it goes to both ends, and no other way leaves fewer elements out.
    pub is_complete: bool,
}

/// How many elements both sequences begin with.
pub fn common_prefix(source: &[u64], target: &[u64]) -> usize {
    source.iter().zip(target).take_while(|(source, target)| source == target).count()
}

/// The farthest points by number of edits, end to end: `edits + 1` diagonals for each number.
struct Reach(Vec<u32>);

impl Reach {
    /// How far in the source the diagonal `row` of `edits` goes. Diagonal 0 has the most elements of the
    /// target left out of the source, the last one the fewest.
    fn at(&self, edits: usize, row: usize) -> Option<usize> {
        let place = edits.checked_mul(edits + 1)? / 2 + row;
        self.0.get(place).filter(|x| **x != NONE).map(|x| *x as usize)
    }

    /// Where a diagonal is entered, and whether from the one before it (an element of the source is left
    /// out) or from the one after it (one of the target).
    fn enter(&self, edits: usize, row: usize, lens: (usize, usize)) -> Option<(usize, bool)> {
        let before = edits.checked_sub(1)?;
        let on_target = (row < edits).then(|| self.at(before, row)).flatten();
        let on_target = on_target.filter(|x| x + before < lens.1 + 2 * row);
        let on_source = row.checked_sub(1).and_then(|row| self.at(before, row));
        let on_source = on_source.filter(|x| *x < lens.0).map(|x| x + 1);
        match (on_target, on_source) {
            (Some(down), Some(right)) if right > down => Some((right, true)),
            (Some(down), _) => Some((down, false)),
            (None, right) => right.map(|right| (right, true)),
        }
    }
}

/// The shortest edit from `source` to `target`, or, where it takes more than `limit` edits, the way
/// that gets farthest with so many.
pub fn shortest_edit(source: &[u64], target: &[u64], limit: usize) -> EditPath {
    let lens = (source.len(), target.len());
    let mut reach = Reach(Vec::new());
    let limit = limit.min(lens.0.saturating_add(lens.1));
    for edits in 0..=limit {
        for row in 0..=edits {
            let entered = if edits == 0 {
                Some(0)
            } else {
                reach.enter(edits, row, lens).map(|entry| entry.0)
            };
            let Some(x) = entered else {
                reach.0.push(NONE);
                continue;
            };
            let y = x + edits - row * 2;
            let rest = (source.get(x..).unwrap_or(&[]), target.get(y..).unwrap_or(&[]));
            let equal = common_prefix(rest.0, rest.1);
            reach.0.push(u32::try_from(x + equal).unwrap_or(NONE));
            if (x + equal, y + equal) == lens {
                return EditPath { is_complete: true, ..way_back(&reach, edits, row, lens) };
            }
        }
    }
    let points =
        (0..=limit).filter_map(|row| Some((reach.at(limit, row)? * 2 + limit - row * 2, row)));
    match points.max() {
        Some((_, row)) => way_back(&reach, limit, row, lens),
        // Each number of edits leads somewhere, or the end was there before.
        None => EditPath { reached: lens, ..EditPath::default() },
    }
}

/// The way to the farthest point of a diagonal.
fn way_back(reach: &Reach, edits: usize, row: usize, lens: (usize, usize)) -> EditPath {
    let (mut edits, mut row) = (edits, row);
    let mut path = EditPath::default();
    let mut is_end = true;
    while let Some(x) = reach.at(edits, row) {
        let y = x + edits - row * 2;
        if std::mem::take(&mut is_end) {
            path.reached = (x, y);
        }
        let (start, is_from_source) = reach.enter(edits, row, lens).unwrap_or((0, false));
        if x > start {
            path.runs.push((start, y - (x - start), x - start));
        }
        let Some(before) = edits.checked_sub(1) else { break };
        edits = before;
        row -= usize::from(is_from_source);
    }
    path.runs.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The length of the longest common subsequence, by the table.
    fn longest_common(source: &[u64], target: &[u64]) -> usize {
        let mut row = vec![0; target.len() + 1];
        for from in source {
            let mut diagonal = 0;
            for (place, to) in (1..).zip(target) {
                let above = row[place];
                row[place] = if from == to { diagonal + 1 } else { above.max(row[place - 1]) };
                diagonal = above;
            }
        }
        row[target.len()]
    }

    fn is_way(path: &EditPath, source: &[u64], target: &[u64]) -> bool {
        let mut end = (0, 0);
        for (from, to, count) in &path.runs {
            if (*from, *to) < end
                || *to < end.1
                || source[*from..from + count] != target[*to..to + count]
            {
                return false;
            }
            end = (from + count, to + count);
        }
        end.0 <= path.reached.0 && end.1 <= path.reached.1
    }

    #[test]
    fn what_was_put_in_is_left_out() {
        let path = shortest_edit(&[1, 2, 3, 1, 2], &[1, 2, 9, 3, 1, 2], 5);
        assert_eq!(path.runs, [(0, 0, 2), (2, 3, 3)]);
        assert!(path.is_complete && path.reached == (5, 6));
        assert!(shortest_edit(&[], &[], 0).is_complete);
        let path = shortest_edit(&[1, 2], &[], 1);
        assert!(!path.is_complete && path.reached == (1, 0), "{path:?}");
    }

    proptest! {
        #[test]
        fn as_many_are_kept_as_can_be(
            source in proptest::collection::vec(0..4_u64, 0..24),
            target in proptest::collection::vec(0..4_u64, 0..24),
            limit in 0..30_usize,
        ) {
            let path = shortest_edit(&source, &target, limit);
            prop_assert!(is_way(&path, &source, &target));
            let kept: usize = path.runs.iter().map(|run| run.2).sum();
            let best = longest_common(&source, &target);
            let edits = source.len() + target.len() - 2 * best;
            prop_assert_eq!(path.is_complete, edits <= limit);
            if path.is_complete {
                prop_assert_eq!(path.reached, (source.len(), target.len()));
                prop_assert_eq!(kept, best);
            } else {
                prop_assert_eq!(path.reached.0 + path.reached.1, 2 * kept + limit);
            }
        }
    }
}
