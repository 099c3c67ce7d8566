//! Ranges on an axis in rows, of which only what is visible is looked at, whatever their number.
//!
//! - A row holds ranges by start; they may overlap. A range has no text: whoever asks for one has its number.
//! - What falls onto one place of a picture (a pixel) is shown by its longest range. From afar it is found in bins of
//!   equal length, a level of them for every four times as long, which lie in memory one after the other; from near the
//!   ranges themselves are gone through, and where very many begin in one pixel the longest is found in a tree of maxima
//!   with eight branches. So a picture costs as much as it is wide.

use std::ops::Range;

/// Ranges of which a block has the maxima of the level below.
const BRANCHES: usize = 8;

/// Positions of the largest of numbers, by block, by block of blocks, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LargestIndex {
    levels: Vec<Vec<u32>>,
}

impl LargestIndex {
    /// Of `count` numbers, at most 2³².
    pub fn of(count: usize, number: impl Fn(usize) -> u64) -> Self {
        let mut levels: Vec<Vec<u32>> = Vec::new();
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let largest = |block: &[u32]| {
            let first = block.first().copied().unwrap_or(0);
            block.iter().skip(1).fold(first, |best, at| {
                if number(*at as usize) > number(best as usize) { *at } else { best }
            })
        };
        if count > BRANCHES {
            let block = |from: usize| {
                let block: Vec<u32> = (from..count.min(from + BRANCHES)).map(position).collect();
                largest(&block)
            };
            levels.push((0..count).step_by(BRANCHES).map(block).collect());
        }
        while let Some(last) = levels.last().filter(|last| last.len() > BRANCHES) {
            let next = last.chunks(BRANCHES).map(largest).collect();
            levels.push(next);
        }
        Self { levels }
    }

    /// The position of the largest number in a range, the first of equals within a block; `None` in an empty one.
    pub fn in_range(&self, range: Range<usize>, number: impl Fn(usize) -> u64) -> Option<usize> {
        let mut best: Option<(u64, usize)> = None;
        let mut look = |at: usize| {
            let value = number(at);
            if best.is_none_or(|(most, _)| value > most) {
                best = Some((value, at));
            }
        };
        let (mut from, mut to) = (range.start, range.end);
        let mut below: Option<&[u32]> = None;
        let at = |below: Option<&[u32]>, place: usize| match below {
            Some(level) => level.get(place).map(|at| *at as usize),
            None => Some(place),
        };
        for level in &self.levels {
            if to.saturating_sub(from) <= 2 * BRANCHES {
                break;
            }
            while !from.is_multiple_of(BRANCHES) {
                at(below, from).into_iter().for_each(&mut look);
                from += 1;
            }
            while !to.is_multiple_of(BRANCHES) {
                to -= 1;
                at(below, to).into_iter().for_each(&mut look);
            }
            (from, to, below) = (from / BRANCHES, to / BRANCHES, Some(level.as_slice()));
        }
        (from..to).filter_map(|place| at(below, place)).for_each(&mut look);
        best.map(|(_, at)| at)
    }
}

/// What begins in equal parts of an axis, by levels: each has parts four times as long as the one below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bins<T> {
    origin: u64,
    /// The logarithm of the length of a part, and what each part holds.
    levels: Vec<(u32, Vec<T>)>,
}

/// How many things share a part of the finest level, on average.
const OF_BIN: u64 = 4;
/// The logarithm of how many parts make up one of the next level.
const BIN_SHIFT: u32 = 2;

impl<T: Copy> Bins<T> {
    /// Of things by their starts, up to `end`; `both` makes one of two neighbors.
    pub fn of(
        end: u64,
        things: impl ExactSizeIterator<Item = (u64, T)> + Clone,
        empty: T,
        both: impl Fn(T, T) -> T,
    ) -> Self {
        let Some((origin, _)) = things.clone().next() else {
            return Self { origin: 0, levels: Vec::new() };
        };
        let most = (things.len() as u64 / OF_BIN).max(1);
        let length = end.saturating_sub(origin).max(1);
        let shift = (0..u64::BITS).find(|shift| length >> shift < most).unwrap_or(u64::BITS - 1);
        let count = usize::try_from(length >> shift).unwrap_or(0).saturating_add(1);
        let mut bins = vec![empty; count];
        for (start, thing) in things {
            let place = start.saturating_sub(origin) >> shift;
            if let Some(bin) = usize::try_from(place).ok().and_then(|place| bins.get_mut(place)) {
                *bin = both(*bin, thing);
            }
        }
        let mut levels = vec![(shift, bins)];
        while let Some((shift, bins)) = levels.last().filter(|(_, bins)| bins.len() > 64) {
            let merged = bins
                .chunks(1 << BIN_SHIFT)
                .map(|bins| bins.iter().fold(empty, |merged, bin| both(merged, *bin)));
            let next = (shift + BIN_SHIFT, merged.collect());
            levels.push(next);
        }
        Self { origin, levels }
    }

    /// What the parts between two places hold, of the coarsest level whose parts are no longer than half of `unit`,
    /// with where the first begins and how long each is; `None` where all are longer.
    pub fn between(&self, (from, to): (f64, f64), unit: f64) -> Option<(f64, f64, &[T])> {
        let is_short = |(shift, _): &&(u32, Vec<T>)| 2.0 * length_of(*shift) <= unit;
        let (shift, bins) = self.levels.iter().rev().find(is_short)?;
        let place = |at: f64| {
            let along = (at.max(0.0) as u64).saturating_sub(self.origin) >> shift;
            usize::try_from(along).unwrap_or(usize::MAX).min(bins.len())
        };
        let (first, last) = (place(from), place(to).saturating_add(1).min(bins.len()));
        let (first, length) = (first.min(last), length_of(*shift));
        let start = self.origin as f64 + first as f64 * length;
        Some((start, length, bins.get(first..last)?))
    }
}

/// How long a part of a level is.
fn length_of(shift: u32) -> f64 {
    2_f64.powf(f64::from(shift))
}

/// A range in a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Binned {
    start: u64,
    end: u64,
    /// One more than its position; 0 where there is none.
    number: u32,
    tag: u8,
}

impl Binned {
    /// The longer of two, the first of equals.
    fn longer(self, other: Self) -> Self {
        let is_other = self.number == 0
            || other.number != 0 && other.end - other.start > self.end - self.start;
        if is_other { other } else { self }
    }
}

/// How many ranges share a look back for one that began earlier.
const BLOCK: usize = 64;
/// Ranges in a pixel that are gone through one by one.
const FEW: usize = 64;

/// Ranges of a row, by start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanRow {
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// What each looks like, for whoever draws it.
    tags: Vec<u8>,
    longest: LargestIndex,
    /// For every block of ranges the one that reaches farthest of all before it.
    farthest: Vec<u32>,
    bins: Bins<Binned>,
}

/// A range that is to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its position in the row.
    pub at: usize,
    /// Where it begins.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// What it looks like.
    pub tag: u8,
}

impl SpanRow {
    /// Of ranges by start, each with a tag; an end before its start counts as the start.
    pub fn of(starts: Vec<u64>, mut ends: Vec<u64>, mut tags: Vec<u8>) -> Self {
        ends.resize(starts.len(), 0);
        tags.resize(starts.len(), 0);
        for (start, end) in starts.iter().zip(&mut ends) {
            *end = (*end).max(*start);
        }
        let length = |at: usize| ends[at] - starts[at];
        let longest = LargestIndex::of(starts.len(), length);
        let mut farthest = Vec::with_capacity(starts.len() / BLOCK + 1);
        let mut best = 0_usize;
        for at in 0..starts.len() {
            if at.is_multiple_of(BLOCK) {
                farthest.push(u32::try_from(best).unwrap_or(u32::MAX));
            }
            if ends[at] > ends[best] {
                best = at;
            }
        }
        let binned = |at: usize| {
            let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
            (starts[at], Binned { start: starts[at], end: ends[at], number, tag: tags[at] })
        };
        let last = starts.last().map_or(0, |start| start.saturating_add(1));
        let bins = Bins::of(last, (0..starts.len()).map(binned), Binned::default(), Binned::longer);
        Self { starts, ends, tags, longest, farthest, bins }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Where a range begins and ends.
    pub fn get(&self, at: usize) -> Option<(u64, u64)> {
        Some((*self.starts.get(at)?, *self.ends.get(at)?))
    }

    /// The ranges that begin before a place.
    pub fn begun_before(&self, place: u64) -> usize {
        self.starts.partition_point(|start| *start < place)
    }

    /// The range that covers a place, of several the one that began last.
    pub fn at(&self, place: u64) -> Option<usize> {
        self.covering(place, 1).first().copied()
    }

    /// Ranges that cover a place, no more than so many, the one that began last first: of those that began long
    /// before only the one that reaches farthest.
    pub fn covering(&self, place: u64, most: usize) -> Vec<usize> {
        let begun = self.starts.partition_point(|start| *start <= place);
        let covers = |at: &usize| self.ends.get(*at).is_some_and(|end| *end > place);
        let near = begun.saturating_sub(BLOCK)..begun;
        let far = self.reaching(near.start).filter(covers);
        near.rev().filter(covers).chain(far).take(most).collect()
    }

    /// Of the first `count` ranges the one that reaches farthest.
    fn reaching(&self, count: usize) -> Option<usize> {
        let block = count.checked_sub(1)? / BLOCK;
        let before = self.farthest.get(block).map(|at| *at as usize);
        let end = |at: &usize| self.ends.get(*at).copied();
        (block * BLOCK..count).chain(before).max_by_key(end)
    }

    /// Hands out what is to be drawn between two places, a pixel being `unit` long: the longest of those that begin
    /// in the same pixel, and one that began before.
    pub fn each_visible(&self, (from, to): (f64, f64), unit: f64, mut each: impl FnMut(Seen)) {
        let unit = if unit.is_finite() && unit > 0.0 { unit } else { 1.0 };
        let seen = |at: usize| {
            Some(Seen {
                at,
                start: *self.starts.get(at)?,
                end: *self.ends.get(at)?,
                tag: *self.tags.get(at)?,
            })
        };
        let mut next = self.begun_before(from.max(0.0).ceil() as u64);
        if let Some(before) =
            self.reaching(next).and_then(seen).filter(|before| before.end as f64 > from)
        {
            each(before);
        }
        if let Some((.., bins)) = self.bins.between((from, to), unit) {
            // What is seen does not begin before, so cutting is rounding down.
            let pixel = |bin: &Binned| ((bin.start as f64 - from) / unit) as u64;
            let is_seen = |bin: &&Binned| {
                bin.number > 0 && bin.start as f64 >= from && (bin.start as f64) < to
            };
            let mut longest: Option<(u64, Binned)> = None;
            let mut hand = |bin: Binned| {
                each(Seen {
                    at: bin.number as usize - 1,
                    start: bin.start,
                    end: bin.end,
                    tag: bin.tag,
                });
            };
            for bin in bins.iter().filter(is_seen) {
                let now = pixel(bin);
                longest = match longest {
                    Some((pixel, other)) if pixel == now => Some((pixel, other.longer(*bin))),
                    other => {
                        if let Some((_, done)) = other {
                            hand(done);
                        }
                        Some((now, *bin))
                    }
                };
            }
            if let Some((_, done)) = longest {
                hand(done);
            }
            return;
        }
        let length = |at: usize| self.ends[at] - self.starts[at];
        while let Some(start) = self.starts.get(next).copied().filter(|start| (*start as f64) < to)
        {
            // The pixels lie where the picture begins.
            let pixel = ((start as f64 - from) / unit).floor();
            let border = from + (pixel + 1.0) * unit;
            let after = self.first_from(next, border);
            let found = match after - next {
                1 => Some(next),
                ..=FEW => (next..after).max_by_key(|at| (length(*at), std::cmp::Reverse(*at))),
                _ => self.longest.in_range(next..after, length),
            };
            found.and_then(seen).into_iter().for_each(&mut each);
            next = after;
        }
    }

    /// The first range from `next` on, at least the one after it, that begins at `border` or later.
    fn first_from(&self, next: usize, border: f64) -> usize {
        let is_before =
            |at: usize| self.starts.get(at).is_some_and(|start| (*start as f64) < border);
        let mut step = 1;
        while is_before(next + step) {
            step *= 2;
        }
        let (low, high) = (next + step / 2 + 1, (next + step).min(self.len()));
        let rest = self.starts.get(low.min(high)..high).unwrap_or(&[]);
        low.min(high) + rest.partition_point(|start| (*start as f64) < border)
    }
}

/// Ranges within ranges: those of a row lie in ranges of the row above.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanRows {
    rows: Vec<SpanRow>,
    /// The number of the first range of each row.
    firsts: Vec<u32>,
}

impl SpanRows {
    /// Of rows from the outermost inwards. Ranges are numbered row by row.
    pub fn of(rows: Vec<SpanRow>) -> Self {
        let mut firsts = Vec::with_capacity(rows.len());
        let mut first = 0_usize;
        for row in &rows {
            firsts.push(u32::try_from(first).unwrap_or(u32::MAX));
            first = first.saturating_add(row.len());
        }
        Self { rows, firsts }
    }

    /// The rows.
    pub fn rows(&self) -> &[SpanRow] {
        &self.rows
    }

    /// How many ranges there are in all rows.
    pub fn len(&self) -> usize {
        self.rows.iter().map(SpanRow::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(SpanRow::is_empty)
    }

    /// The row of a range and its place there.
    pub fn place(&self, number: u32) -> Option<(usize, usize)> {
        let row = self.firsts.partition_point(|first| *first <= number).checked_sub(1)?;
        let at = (number - *self.firsts.get(row)?) as usize;
        // Of rows without a range the last begins there, too.
        (at < self.rows.get(row)?.len()).then_some((row, at))
    }

    /// The number of a range by its row and place.
    pub fn number(&self, row: usize, at: usize) -> Option<u32> {
        let is_there = at < self.rows.get(row)?.len();
        self.firsts.get(row)?.checked_add(u32::try_from(at).ok()?).filter(|_| is_there)
    }

    /// Where a range begins and ends.
    pub fn get(&self, number: u32) -> Option<(u64, u64)> {
        let (row, at) = self.place(number)?;
        self.rows.get(row)?.get(at)
    }

    /// The range of a row that covers a place.
    pub fn at(&self, row: usize, place: u64) -> Option<u32> {
        self.number(row, self.rows.get(row)?.at(place)?)
    }

    /// From the first start to the last end.
    pub fn extent(&self) -> Option<Range<u64>> {
        let rows = self.rows.iter();
        let start = rows.clone().filter_map(|row| row.starts.first()).min()?;
        let end =
            rows.filter_map(|row| row.get(row.reaching(row.len())?)).map(|(_, end)| end).max()?;
        Some(*start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(spans: &[(u64, u64)]) -> SpanRow {
        SpanRow::of(
            spans.iter().map(|(start, _)| *start).collect(),
            spans.iter().map(|(start, length)| start + length).collect(),
            Vec::new(),
        )
    }

    #[test]
    fn ranges_are_found_by_place_and_number() {
        let rows = SpanRows::of(vec![
            row(&[(0, 100), (100, 50)]),
            row(&[]),
            row(&[(10, 20), (40, 5), (110, 40)]),
        ]);
        assert_eq!((rows.len(), rows.extent()), (5, Some(0..150)));
        assert_eq!(rows.at(0, 99), Some(0));
        assert_eq!((rows.at(2, 30), rows.at(2, 41)), (None, Some(3)));
        assert_eq!((rows.place(4), rows.place(5)), (Some((2, 2)), None));
        assert_eq!(
            (rows.number(2, 2), rows.number(2, 3), rows.number(1, 0)),
            (Some(4), None, None)
        );
        assert_eq!(rows.get(4), Some((110, 150)));
    }

    #[test]
    fn a_picture_costs_as_much_as_it_is_wide() {
        let many: Vec<(u64, u64)> = (0..1_000_000).map(|at| (at * 10, 1 + at % 9)).collect();
        let row = row(&many);
        let mut found = Vec::new();
        row.each_visible((0.0, 10_000_000.0), 10_000.0, |seen| found.push(seen.at));
        assert!(found.len() <= 1000 && found.len() > 990, "{}", found.len());
        assert!(found.iter().all(|at| many[*at].1 == 9), "the longest of each pixel");
        found.clear();
        row.each_visible((5000.0, 5100.0), 0.1, |seen| found.push(seen.at));
        assert_eq!(found, (500..510).collect::<Vec<_>>());
    }

    #[test]
    fn what_began_long_before_is_seen() {
        let mut spans = vec![(0, 1_000_000)];
        spans.extend((1..5000).map(|at| (at * 10, 3)));
        let row = row(&spans);
        let mut found = Vec::new();
        row.each_visible((40_005.0, 40_025.0), 1.0, |seen| found.push(seen.at));
        assert_eq!(found, [0, 4001, 4002]);
        assert_eq!((row.at(40_005), row.at(40_011)), (Some(0), Some(4001)));
    }

    proptest! {
        #[test]
        fn the_largest_is_the_largest(
            numbers in proptest::collection::vec(0..1000_u64, 0..700), from in 0..700_usize, length in 0..700_usize,
        ) {
            let tree = LargestIndex::of(numbers.len(), |at| numbers[at]);
            let range = from.min(numbers.len())..(from + length).min(numbers.len());
            let found = tree.in_range(range.clone(), |at| numbers[at]);
            let most = numbers[range.clone()].iter().max();
            prop_assert_eq!(found.map(|at| &numbers[at]), most);
            prop_assert!(found.is_none_or(|at| range.contains(&at)));
        }

        #[test]
        fn every_pixel_that_something_begins_in_is_drawn(
            spans in proptest::collection::vec((0..50_u64, 0..80_u64), 1..300), from in 0..5000_u64, unit in 1..200_u64,
        ) {
            let mut start = 0;
            let spans: Vec<(u64, u64)> = spans
                .into_iter()
                .map(|(gap, length)| { start += gap; (start, length) })
                .collect();
            let row = row(&spans);
            let (from, unit) = (from as f64, unit as f64);
            let to = from + 50.0 * unit;
            let mut drawn = Vec::new();
            row.each_visible((from, to), unit, |seen| drawn.push(seen.at));
            prop_assert!(drawn.len() <= 51);
            let pixel = |at: usize| ((spans[at].0 as f64 - from) / unit).floor();
            let begins = |at: &usize| spans[*at].0 as f64 >= from && (spans[*at].0 as f64) < to;
            let mut expected: Vec<i64> = (0..spans.len()).filter(begins).map(|at| pixel(at) as i64).collect();
            expected.dedup();
            let mut found: Vec<i64> = drawn.iter().copied().filter(begins).map(|at| pixel(at) as i64).collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
