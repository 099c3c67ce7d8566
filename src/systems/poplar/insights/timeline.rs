//! The bytes alive in one place, on a tile or on all tiles together, from step to step.
//!
//! Only the steps at which something begins or ends to live are gone through, so that the time does not
//! grow with the number of steps.

use crate::store::liveness::{Classes, VariableBytes};
use crate::store::{ClassId, UnloweredId};

/// More rows than that on a tile cannot be numbered in half of a word.
const MOST_ROWS: u32 = 1 << 31;

/// A variable as far as it lives in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliveRow {
    pub variable: UnloweredId,
    pub class: ClassId,
    /// The position of the class in [`Classes`].
    pub class_row: usize,
    /// Whether the class lives as long as the program.
    pub is_always_live: bool,
    /// Bytes in the place while it lives.
    pub bytes: u64,
}

impl AliveRow {
    /// The row of the table that it stands for.
    pub fn table_row(&self) -> VariableBytes {
        VariableBytes { variable: self.variable, class: self.class, bytes: self.bytes }
    }
}

/// The rows of a place, and when they begin and end to live.
#[derive(Clone, Debug, Default)]
pub struct PlaceTimeline {
    rows: Vec<AliveRow>,
    changes: Vec<LifeChange>,
}

/// At a step a row begins or ends to live: in one number, from the highest bits on, the step, the row, and whether
/// it begins; one number is sorted faster than three fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LifeChange(u64);

impl LifeChange {
    fn new(step: u32, row: u32, begins: bool) -> Self {
        Self(u64::from(step) << 32 | u64::from(row) << 1 | u64::from(begins))
    }

    fn step(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn row(self) -> usize {
        (self.0 as u32 >> 1) as usize
    }

    fn begins(self) -> bool {
        self.0 & 1 == 1
    }
}

/// A step at which something changes, and what is alive from there on to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceMoment {
    /// The step, a position in [`crate::store::program::Steps`].
    pub step: u32,
    /// Bytes alive, always or not.
    pub bytes: u64,
}

impl PlaceTimeline {
    /// The rows of a place; those without bytes, or whose class is not known, are left out.
    pub fn new(rows: impl Iterator<Item = VariableBytes>, classes: &Classes) -> Self {
        let mut timeline = Self::default();
        for row in rows.filter(|row| row.bytes > 0) {
            let Some(class_row) = classes.ids.position(row.class) else { continue };
            let number = u32::try_from(timeline.rows.len()).ok().filter(|row| *row < MOST_ROWS);
            let Some(number) = number else { break };
            let is_always_live = classes.always_live.get(class_row) == Some(&true);
            let VariableBytes { variable, class, bytes } = row;
            timeline.rows.push(AliveRow { variable, class, class_row, is_always_live, bytes });
            if is_always_live {
                continue;
            }
            for range in classes.ranges_of(class_row).iter().filter(|range| !range.is_empty()) {
                let change = |step, begins| LifeChange::new(step, number, begins);
                timeline.changes.extend([change(range.start, true), change(range.end, false)]);
            }
        }
        timeline.changes.sort_unstable();
        timeline
    }

    pub fn rows(&self) -> &[AliveRow] {
        &self.rows
    }

    /// The moment at which most is alive, the first of equals, when of each row as many bytes are
    /// there as `left` says.
    pub fn worst(&self, left: impl Fn(&AliveRow) -> u64) -> PlaceMoment {
        let bytes: Vec<u64> = self.rows.iter().map(left).collect();
        let mut worst: Option<PlaceMoment> = None;
        self.walk(&bytes, |moment, _| {
            if worst.is_none_or(|worst| moment.bytes > worst.bytes) {
                worst = Some(moment);
            }
        });
        worst.unwrap_or_default()
    }

    /// Goes through the moments in their order, step 0 first, with the rows that begin or end to live
    /// there.
    pub fn each_moment(
        &self,
        mut each: impl FnMut(PlaceMoment, &mut dyn Iterator<Item = (&AliveRow, bool)>),
    ) {
        let bytes: Vec<u64> = self.rows.iter().map(|row| row.bytes).collect();
        self.walk(&bytes, |moment, changes| {
            let mut rows = changes
                .iter()
                .filter_map(|change| Some((self.rows.get(change.row())?, change.begins())));
            each(moment, &mut rows);
        });
    }

    fn walk(&self, bytes: &[u64], mut each: impl FnMut(PlaceMoment, &[LifeChange])) {
        let of = |change: &LifeChange| bytes.get(change.row()).copied().unwrap_or(0);
        let always_live = self.rows.iter().zip(bytes).filter(|(row, _)| row.is_always_live);
        let mut alive = always_live.fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        if self.changes.first().is_none_or(|first| first.step() > 0) {
            each(PlaceMoment { step: 0, bytes: alive }, &[]);
        }
        for changes in self.changes.chunk_by(|a, b| a.step() == b.step()) {
            let ends = changes.iter().filter(|change| !change.begins());
            let begins = changes.iter().filter(|change| change.begins());
            alive = begins.fold(alive, |sum, change| sum.saturating_add(of(change)));
            alive = ends.fold(alive, |sum, change| sum.saturating_sub(of(change)));
            let Some(step) = changes.first().map(|change| change.step()) else { continue };
            each(PlaceMoment { step, bytes: alive }, changes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::analysis::fixture;
    use crate::analysis::liveness::curve_of_variables;

    const STEPS: u32 = 12;

    fn classes(cuts: &[Vec<(u32, u32)>]) -> Classes {
        let of_class = |cuts: &Vec<(u32, u32)>| {
            let mut next = 0;
            let range = |(gap, length): &(u32, u32)| {
                let start = next + gap;
                let end = (start + length).min(STEPS);
                next = end + 1;
                start..end
            };
            cuts.iter().map(range).filter(|range| !range.is_empty()).collect::<Vec<_>>()
        };
        fixture::classes(0, cuts.iter().map(of_class))
    }

    proptest! {
        #[test]
        fn the_worst_moment_is_that_of_the_curve(
            cuts in proptest::collection::vec(proptest::collection::vec((0..4_u32, 0..5_u32), 0..4), 1..6),
            cells in proptest::collection::vec((0..7_u32, 0..50_u64), 0..20),
            kept in 1..4_u64,
        ) {
            let classes = classes(&cuts);
            let row = |(class, bytes): &(u32, u64)| {
                fixture::variable_bytes((*class, *class, *bytes))
            };
            let rows: Vec<VariableBytes> = cells.iter().map(row).collect();
            let timeline = PlaceTimeline::new(rows.iter().copied(), &classes);
            let kept_rows: Vec<VariableBytes> =
                rows.iter().map(|row| VariableBytes { bytes: row.bytes / kept, ..*row }).collect();
            let always = |rows: &[VariableBytes]| -> u64 {
                rows.iter().filter(|row| row.class == ClassId(0)).map(|row| row.bytes).sum()
            };
            let curve = curve_of_variables(&kept_rows, &classes, STEPS as usize);
            let most = curve.iter().max().copied().unwrap_or(0);
            let found = timeline.worst(|row| row.bytes / kept);
            prop_assert_eq!(found.bytes, most + always(&kept_rows));
            prop_assert_eq!(Some(found.step as usize), curve.iter().position(|bytes| *bytes == most));
            let curve = curve_of_variables(&rows, &classes, STEPS as usize);
            let mut seen = 0;
            timeline.each_moment(|moment, _| {
                if moment.step < STEPS {
                    assert_eq!(moment.bytes, curve[moment.step as usize] + always(&rows));
                }
                seen += 1;
            });
            prop_assert!(seen > 0);
        }
    }
}
