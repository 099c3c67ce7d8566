//! Addresses over steps: the picture of an arena over all steps, each placement a rectangle.
//!
//! A placement that takes memory is a rectangle for each range of steps at which it lives: its addresses ×
//! those steps. What lives as long as the program spans all steps; what lives several times is several
//! rectangles. A gap is what no placement ever uses below the last used byte, and spans all steps; what is
//! behind that byte is beyond; all else is free at its step.
//!
//! A picture divides a window of addresses and steps evenly into cells of whole bytes and steps, and a cell
//! is what most of its bytes × steps are: of placements by kind, those that lie over one another counted
//! each; the first kind of equals, then gap, beyond, free.

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::liveness::lifetimes::{LivesOfClasses, merged};
use crate::analysis::placement::gaps::used_ranges;
use crate::limits::Lives;
use crate::store::Report;
use crate::store::placed::{Placed, Placement};

/// Most cells along a side.
pub const MOST_CELLS: u32 = 2048;
/// Rectangles of which it is known together what they span.
const TOGETHER: usize = 64;

/// A placement as long as it lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Its row in [`Placed`].
    pub row: u32,
    /// Its addresses.
    pub bytes: Range<u64>,
    /// The steps at which it lives, positions in [`crate::store::program::Steps`].
    pub steps: Range<u32>,
}

/// All rectangles of an arena.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressSteps {
    /// The rectangles, by first address, then by last, then by row and step.
    pub rectangles: Vec<Rectangle>,
    /// Addresses that no placement ever uses, ascending.
    pub gaps: Vec<Range<u64>>,
    /// The last used byte + 1.
    pub end: u64,
    /// Number of steps.
    pub steps: u32,
    /// Placements that are one rectangle from their first step to their last, because all together live too often.
    pub simplified: u64,
    /// Where [`TOGETHER`] rectangles after each other end, and the steps that they span: a place is found without
    /// looking at all.
    spans: Vec<PlacedSpan>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PlacedSpan {
    end: u64,
    steps: Range<u32>,
}

impl PlacedSpan {
    fn of(rectangles: &[Rectangle]) -> Self {
        let start = rectangles.iter().map(|one| one.steps.start).min().unwrap_or(0);
        let last = rectangles.iter().map(|one| one.steps.end).max().unwrap_or(0);
        let end = rectangles.iter().map(|one| one.bytes.end).max().unwrap_or(0);
        Self { end, steps: start..last }
    }
}

/// A part of the addresses and steps, and how many cells it has at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressWindow {
    /// The addresses.
    pub bytes: Range<u64>,
    pub steps: Range<u32>,
    /// Cells along the steps.
    pub columns: u32,
    /// Cells along the addresses.
    pub rows: u32,
}

/// What most of a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressCell {
    /// Placements of a kind.
    Kind(u8),
    /// Bytes that no placement ever uses.
    Gap,
    /// Bytes behind the last used one.
    Beyond,
    /// Bytes that only placements of other steps use.
    Free,
}

/// A window as cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressPicture {
    /// Its addresses.
    pub bytes: Range<u64>,
    pub steps: Range<u32>,
    /// Cells along the steps.
    pub columns: usize,
    /// Cells along the addresses.
    pub rows: usize,
    /// The cells, row by row, the lowest addresses first.
    pub cells: Vec<AddressCell>,
}

impl AddressSteps {
    /// The rectangles of what is placed; `None` where steps or liveness are absent.
    pub fn new(placed: &Placed, report: &Report) -> Option<Self> {
        let classes = &report.liveness.get()?.classes;
        let steps = u32::try_from(report.steps.get()?.ids.len()).ok()?;
        let mut lives = LivesOfClasses::new(classes, steps);
        Some(Self::of_lives(placed, steps, |placement: &Placement| lives.of(placement.class)))
    }

    /// The same where nothing is known of steps: one, at which everything lives.
    pub fn without_steps(placed: &Placed) -> Self {
        let once: Arc<[Range<u32>]> = Arc::from([0..1]);
        Self::of_lives(placed, 1, |_| Arc::clone(&once))
    }

    fn of_lives(
        placed: &Placed,
        steps: u32,
        mut lives: impl FnMut(&Placement) -> Arc<[Range<u32>]>,
    ) -> Self {
        let (mut rectangles, mut simplified) = (Vec::new(), 0_u64);
        let mut left = Lives::of_picture();
        for row in placed.by_address().iter().copied() {
            let Some(placement) = placed.get(row) else { continue };
            let bytes = placement.offset..placement.end();
            let lives = lives(placement);
            let rectangle = |steps| Rectangle { row, bytes: bytes.clone(), steps };
            if left.take(lives.len()) {
                rectangles.extend(lives.iter().cloned().map(rectangle));
            } else if let (Some(first), Some(last)) = (lives.first(), lives.last()) {
                rectangles.push(rectangle(first.start..last.end));
                simplified = simplified.saturating_add(1);
            }
        }
        let used = used_ranges(placed, |_| true);
        let ends = std::iter::once(0).chain(used.iter().map(|range| range.end));
        let gaps = ends.zip(&used).map(|(end, next)| end..next.start);
        Self {
            spans: rectangles.chunks(TOGETHER).map(PlacedSpan::of).collect(),
            rectangles,
            gaps: gaps.filter(|gap| !gap.is_empty()).collect(),
            end: used.last().map_or(0, |range| range.end),
            steps,
            simplified,
        }
    }

    /// The rectangle that ends highest; of equals that which lives first.
    pub fn highest(&self) -> Option<&Rectangle> {
        let key = |one: &&Rectangle| (one.bytes.end, std::cmp::Reverse((one.steps.start, one.row)));
        self.rectangles.iter().max_by_key(key)
    }

    /// The steps at which something ends above an address, ascending and apart.
    pub fn steps_above(&self, address: u64) -> Vec<Range<u32>> {
        let above = self.rectangles.iter().filter(|one| one.bytes.end > address);
        let mut steps: Vec<Range<u32>> = above.map(|one| one.steps.clone()).collect();
        steps.sort_by_key(|steps| steps.start);
        merged(steps)
    }

    /// The rectangles that have a byte and a step of a part of the addresses and steps, each with its position.
    pub fn places_within<'a>(
        &'a self,
        bytes: &'a Range<u64>,
        steps: &'a Range<u32>,
    ) -> impl Iterator<Item = (usize, &'a Rectangle)> {
        let end = self.rectangles.partition_point(|one| one.bytes.start < bytes.end);
        let below = self.rectangles.get(..end).unwrap_or(&[]);
        let is_near = |span: &PlacedSpan| {
            span.end > bytes.start && overlap(&widened(&span.steps), &widened(steps)) > 0
        };
        let chunks = below.chunks(TOGETHER).zip(&self.spans).zip((0..).step_by(TOGETHER));
        let near = chunks.filter(move |((_, span), _)| is_near(span));
        let all = near.flat_map(|((rectangles, _), first)| (first..).zip(rectangles));
        all.filter(move |(_, one)| {
            overlap(&one.bytes, bytes) > 0 && overlap(&widened(&one.steps), &widened(steps)) > 0
        })
    }

    /// The rectangles of a placement, by its row and its addresses.
    pub fn of_row(&self, row: u32, bytes: &Range<u64>) -> &[Rectangle] {
        let wanted = (bytes.start, bytes.end, row);
        let key = |one: &Rectangle| (one.bytes.start, one.bytes.end, one.row);
        let first = self.rectangles.partition_point(|one| key(one) < wanted);
        let end = self.rectangles.partition_point(|one| key(one) <= wanted);
        self.rectangles.get(first..end).unwrap_or(&[])
    }

    /// The row of the placement that has most of a part of the addresses and steps, the first of
    /// equals; `None` where none lives.
    pub fn most_of(&self, bytes: &Range<u64>, steps: &Range<u32>) -> Option<u32> {
        let areas = self.places_within(bytes, steps).map(|(_, one)| {
            let high = overlap(&one.bytes, bytes);
            let wide = overlap(&widened(&one.steps), &widened(steps));
            (u128::from(high) * u128::from(wide), one.row)
        });
        areas.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, row)| row)
    }

    /// A window as cells; `kinds` has the kind of every row of [`Placed`], `None` for what is left out.
    /// `None` when it was canceled.
    pub fn render(
        &self,
        kinds: &[Option<u8>],
        window: &AddressWindow,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<AddressPicture> {
        let steps = cuts(&widened(&window.steps), window.columns);
        let bytes = cuts(&window.bytes, window.rows);
        let count = kinds.iter().flatten().max().map_or(0, |most| usize::from(*most) + 1);
        let columns = steps.len().saturating_sub(1);
        let mut bands = Bands { steps: &steps, count, sums: vec![0; columns * (count + 2)] };
        let mut cells = Vec::with_capacity(columns * bytes.len().saturating_sub(1));
        let everything = 0..u64::from(u32::MAX);
        let mut coming = self.rectangles.iter().peekable();
        let mut alive: Vec<&Rectangle> = Vec::new();
        for pair in bytes.windows(2) {
            let [start, end] = *pair else { continue };
            if is_cancelled() {
                return None;
            }
            let band = start..end;
            alive.retain(|rectangle| rectangle.bytes.end > start);
            while let Some(rectangle) = coming.next_if(|next| next.bytes.start < end) {
                if rectangle.bytes.end > start {
                    alive.push(rectangle);
                }
            }
            bands.clear();
            for rectangle in &alive {
                if let Some(Some(kind)) = kinds.get(rectangle.row as usize) {
                    let high = overlap(&rectangle.bytes, &band);
                    bands.add(usize::from(*kind), high, &widened(&rectangle.steps));
                }
            }
            let first = self.gaps.partition_point(|gap| gap.end <= start);
            let gaps = self.gaps.iter().skip(first).take_while(|gap| gap.start < end);
            let gap = gaps.fold(0_u64, |sum, gap| sum.saturating_add(overlap(gap, &band)));
            bands.add(count, gap, &everything);
            bands.add(count + 1, overlap(&(self.end..u64::MAX), &band), &everything);
            bands.cells_into(end - start, &mut cells);
        }
        Some(AddressPicture {
            bytes: window.bytes.clone(),
            steps: window.steps.clone(),
            columns,
            rows: bytes.len().saturating_sub(1),
            cells,
        })
    }
}

/// The sums of one row of cells: bytes × steps by column and kind, then those of gaps and of beyond.
struct Bands<'a> {
    steps: &'a [u64],
    count: usize,
    sums: Vec<u64>,
}

impl Bands<'_> {
    fn clear(&mut self) {
        self.sums.fill(0);
    }

    /// Adds what has some bytes of the row at some steps.
    fn add(&mut self, kind: usize, bytes: u64, steps: &Range<u64>) {
        if bytes == 0 {
            return;
        }
        let first = self.steps.partition_point(|cut| *cut <= steps.start).saturating_sub(1);
        let width = self.count + 2;
        let columns = self.steps.windows(2).enumerate().skip(first);
        for (column, pair) in columns.take_while(|(_, pair)| pair.first() < Some(&steps.end)) {
            let [start, end] = *pair else { continue };
            if let Some(sum) = self.sums.get_mut(column * width + kind) {
                let area = bytes.saturating_mul(overlap(&(start..end), steps));
                *sum = sum.saturating_add(area);
            }
        }
    }

    fn cells_into(&self, bytes: u64, cells: &mut Vec<AddressCell>) {
        for (sums, pair) in self.sums.chunks(self.count + 2).zip(self.steps.windows(2)) {
            let [start, end] = *pair else { continue };
            let all = bytes.saturating_mul(end - start);
            let taken = sums.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
            let free = (all.saturating_sub(taken), sums.len());
            let parts = sums.iter().copied().zip(0..).chain([free]);
            let (_, most) = parts.reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap_or(free);
            cells.push(match most {
                most if most < self.count => {
                    AddressCell::Kind(u8::try_from(most).unwrap_or(u8::MAX))
                }
                most if most == self.count => AddressCell::Gap,
                most if most == self.count + 1 => AddressCell::Beyond,
                _ => AddressCell::Free,
            });
        }
    }
}

/// Where cells begin, and where the last one ends: no more than there are numbers, and at most `cells`.
fn cuts(range: &Range<u64>, cells: u32) -> Vec<u64> {
    let len = range.end.saturating_sub(range.start);
    let cells = u64::from(cells.clamp(1, MOST_CELLS)).min(len);
    let cut = |cell: u64| {
        let along = u128::from(len) * u128::from(cell) / u128::from(cells.max(1));
        range.start + u64::try_from(along).unwrap_or(len)
    };
    (0..=cells).map(cut).collect()
}

fn widened(range: &Range<u32>) -> Range<u64> {
    u64::from(range.start)..u64::from(range.end)
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> u64 {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::analysis::fixture;
    use crate::store::liveness::Liveness;

    const STEPS: u32 = 12;

    /// Class 0 lives always, 1 at steps 1–3 and 5–8, 2 at 6–11, 3 at none.
    fn report() -> Report {
        let report = Report::default();
        report.steps.fill(Some(fixture::steps(STEPS)));
        let classes = fixture::classes(0, [vec![], vec![1..4, 5..9], vec![6..12], vec![]]);
        report.liveness.fill(Some(Liveness { classes, ..Liveness::default() }));
        report
    }

    fn placed(placements: &[(u64, u64, u32)]) -> Placed {
        let placements = placements
            .iter()
            .map(|(offset, bytes, class)| fixture::placement(*offset, *bytes, *class));
        fixture::placed(placements)
    }

    #[test]
    fn what_lives_twice_is_two_rectangles() {
        let placed = placed(&[(8, 8, 1), (0, 4, 0), (8, 4, 2), (20, 4, 3), (30, 0, 0)]);
        let found = AddressSteps::new(&placed, &report()).expect("rectangles");
        let all: Vec<_> = found
            .rectangles
            .iter()
            .map(|one| (one.row, one.bytes.clone(), one.steps.clone()))
            .collect();
        let expected = [(1, 0..4, 0..12), (2, 8..12, 6..12), (0, 8..16, 1..4), (0, 8..16, 5..9)];
        assert_eq!(all, expected);
        assert_eq!((found.gaps.clone(), found.end, found.steps), (vec![4..8, 16..20], 24, 12));
        assert_eq!(found.most_of(&(8..9), &(0..1)), None);
        assert_eq!(found.most_of(&(8..9), &(6..7)), Some(2), "the first of equals");
        assert_eq!(found.most_of(&(8..16), &(6..7)), Some(0));
        let window = AddressWindow { bytes: 0..28, steps: 0..12, columns: 3, rows: 7 };
        let kinds = [Some(0), Some(1), Some(1), None, None];
        let picture = found.render(&kinds, &window, &|| false).expect("a picture");
        assert_eq!((picture.columns, picture.rows), (3, 7));
        let row = |row: usize| &picture.cells[row * 3..row * 3 + 3];
        assert_eq!(row(0), [AddressCell::Kind(1); 3]);
        assert_eq!(row(1), [AddressCell::Gap; 3]);
        assert_eq!(row(2), [AddressCell::Kind(0), AddressCell::Kind(0), AddressCell::Kind(1)]);
        assert_eq!(row(3), [AddressCell::Kind(0), AddressCell::Kind(0), AddressCell::Free]);
        assert_eq!(row(5), [AddressCell::Free; 3]);
        assert_eq!(row(6), [AddressCell::Beyond; 3]);
        assert_eq!(found.render(&kinds, &window, &|| true), None, "cancelled");
        assert_eq!(AddressSteps::new(&placed, &Report::default()), None);
    }

    #[test]
    fn what_lives_too_often_together_is_drawn_from_its_first_step_to_its_last() {
        let report = Report::default();
        report.steps.fill(Some(fixture::steps(40_001)));
        let often: Vec<Range<u32>> = (0..20_000).map(|step| step * 2 + 1..step * 2 + 2).collect();
        let classes = fixture::classes(0, [vec![], often]);
        report.liveness.fill(Some(Liveness { classes, ..Liveness::default() }));
        let rows: Vec<_> = (0..1000).map(|row| (row * 8, 8, 1)).collect();
        let found = AddressSteps::new(&placed(&rows), &report).expect("rectangles");
        assert!(found.rectangles.len() < 1_100_000, "{}", found.rectangles.len());
        let whole = found.rectangles.iter().filter(|one| one.steps == (1..40_000)).count();
        assert_eq!(found.simplified, whole as u64);
        assert!((940..1000).contains(&whole), "{whole}");
    }

    #[test]
    fn steps_at_which_something_ends_above_an_address_are_merged() {
        // Ends: row 0 at 16 at steps 1–3 and 5–8, row 1 at 20 at 6–11, row 2 at 4 always.
        let placed = placed(&[(8, 8, 1), (12, 8, 2), (0, 4, 0)]);
        let found = AddressSteps::new(&placed, &report()).expect("rectangles");
        assert_eq!(found.steps_above(15), [1..4, 5..12]);
        assert_eq!(found.steps_above(16), [(6..12)]);
        assert_eq!(found.steps_above(20), []);
        let highest = found.highest().expect("one");
        assert_eq!((highest.row, highest.steps.clone()), (1, 6..12));
        let without = AddressSteps::without_steps(&placed);
        assert_eq!((without.rectangles.len(), without.steps, without.end), (3, 1, 20));
    }

    proptest! {
        #[test]
        fn cells_agree_with_drawing_each_rectangle(
            placements in proptest::collection::vec((0..40_u64, 0..9_u64, 0..4_u32), 0..150),
            bytes in (0..30_u64, 1..30_u64),
            steps in (0..11_u32, 1..12_u32),
            cells in (1..20_u32, 1..20_u32),
        ) {
            let placed = placed(&placements);
            let found = AddressSteps::new(&placed, &report()).expect("rectangles");
            let kinds: Vec<Option<u8>> = (0..placements.len()).map(|row| match row % 4 {
                3 => None,
                row => u8::try_from(row).ok(),
            }).collect();
            let window = AddressWindow {
                bytes: bytes.0..bytes.0 + bytes.1,
                steps: steps.0..(steps.0 + steps.1).min(STEPS),
                columns: cells.0,
                rows: cells.1,
            };
            let picture = found.render(&kinds, &window, &|| false).expect("a picture");
            let rows = cuts(&window.bytes, window.rows);
            let columns = cuts(&widened(&window.steps), window.columns);
            let mut expected = Vec::new();
            for high in rows.windows(2) {
                for wide in columns.windows(2) {
                    // Kinds 0 to 2, gap, beyond.
                    let mut sums = [0_u64; 5];
                    for (address, step) in
                        (high[0]..high[1]).flat_map(|a| (wide[0]..wide[1]).map(move |s| (a, s)))
                    {
                        for one in &found.rectangles {
                            let is_in = one.bytes.contains(&address)
                                && widened(&one.steps).contains(&step);
                            if let (true, Some(kind)) = (is_in, kinds[one.row as usize]) {
                                sums[usize::from(kind)] += 1;
                            }
                        }
                        sums[3] += u64::from(found.gaps.iter().any(|gap| gap.contains(&address)));
                        sums[4] += u64::from(address >= found.end);
                    }
                    let all = (high[1] - high[0]) * (wide[1] - wide[0]);
                    let free = all.saturating_sub(sums.iter().sum());
                    let most = sums.iter().copied().chain([free]).max().expect("a sum");
                    expected.push(match sums.iter().position(|sum| *sum == most) {
                        Some(3) => AddressCell::Gap,
                        Some(4) => AddressCell::Beyond,
                        Some(kind) => AddressCell::Kind(kind as u8),
                        None => AddressCell::Free,
                    });
                }
            }
            prop_assert_eq!(picture.cells, expected);
            let steps = window.steps.clone();
            let lies_within = |one: &Rectangle| {
                overlap(&one.bytes, &window.bytes) > 0
                    && overlap(&widened(&one.steps), &widened(&steps)) > 0
            };
            let all = found.rectangles.iter().enumerate();
            let within: Vec<_> = all.filter(|(_, one)| lies_within(one)).collect();
            prop_assert_eq!(found.places_within(&window.bytes, &steps).collect::<Vec<_>>(), within);
            for (row, placement) in (0..).zip(&placed.placements) {
                let all = found.rectangles.iter().filter(|one| one.row == row);
                let of_row = found.of_row(row, &(placement.offset..placement.end()));
                prop_assert_eq!(of_row.iter().collect::<Vec<_>>(), all.collect::<Vec<_>>());
            }
        }
    }
}
