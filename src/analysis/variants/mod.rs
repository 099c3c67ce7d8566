//! Variants of one training run side by side (formats/pytorch.md 8): what each took, in percent of a reference, and
//! what it is over a capacity.

mod of_snapshot;
mod words;

use std::path::PathBuf;

use crate::analysis::figures::difference::percent_of;
use crate::run::{Outcome as ProgramFit, StatedRoom};
use crate::store::snapshot::RankDevice;
use crate::systems::pytorch::allocator::run_end::{Outcome, Recorded};
use crate::systems::xla::buffer_assignment::insights::outcome as outcome_of;
use crate::systems::xla::buffer_assignment::space::SpaceFigures;
use crate::text::words;
pub use words::{VariantColumn, footnotes, ran, rank_text};

words! {
    /// Where the largest bytes of a variant are from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PeakFrom by as_str {
        /// PyTorch's own statistics beside the snapshot.
        MemoryStats = "memory_stats",
        /// The events.
        Replay = "replay",
        /// The events, of which the first or the last are cut off, or of which there are none: it may have been more.
        AtLeast = "replay, at least",
    }
}

/// One variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// What it is called.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The numbers of all its devices, of a program of XLA of its memory spaces, and of which rank each is in a run of
    /// several.
    pub devices: Vec<(i64, Option<RankDevice>)>,
    /// The rank and device that its figures are of, in a run of several ranks.
    pub rank: Option<RankDevice>,
    /// What became of it; of a program that was compiled that it is whole, or cut.
    pub outcome: Outcome,
    /// Whether its file ends before its contents do: then its figures are of what could be read, and of no whole run.
    pub is_cut: bool,
    /// Whether XLA found no room for it on the device that it was compiled for.
    pub is_refused: bool,
    /// What the device must have for it at least.
    pub needed_bytes: u64,
    /// What nvidia-smi said, where the user says so.
    pub smi_bytes: Option<u64>,
    /// Capacity of the device as something beside it states it; an error text rounds it to hundredths of a unit.
    pub stated_capacity_bytes: Option<u64>,
    /// What others had of the device when the request failed that the text is about.
    pub stated_other_bytes: Option<u64>,
    /// What it took.
    pub took: Took,
}

/// What a variant took, in the terms of its system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Took {
    /// Of a caching allocator.
    Snapshot(SnapshotTook),
    /// Of a program of XLA.
    Program(SpaceFigures),
}

/// What a run took from a caching allocator, bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SnapshotTook {
    /// How much of it was recorded.
    pub recorded: Recorded,
    /// Handed out at the end.
    pub allocated_bytes: u64,
    /// The most that was handed out.
    pub max_allocated_bytes: u64,
    /// Where that is from.
    pub max_allocated_from: PeakFrom,
    /// Taken from the device at the end.
    pub reserved_bytes: u64,
    /// The most that was.
    pub max_reserved_bytes: u64,
    /// Where that is from.
    pub max_reserved_from: PeakFrom,
    /// The most that was asked for at once.
    pub requested_peak_bytes: u64,
    /// The request at which it ended on this device.
    pub failed_request_bytes: Option<u64>,
}

/// Variants in the natural order of their names.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantTable {
    /// The variants.
    pub rows: Vec<Variant>,
    /// Bytes that the device has, where the user says so.
    pub capacity_bytes: Option<u64>,
    /// Bytes of others on the device.
    pub other_bytes: u64,
    /// The variant that the others are compared with, a place in `rows`.
    pub reference: Option<usize>,
}

/// Why a variant cannot be the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReference {
    /// None has the name.
    NotThere,
    /// Its file is cut.
    Cut,
    /// It has no events, or a rank of it has none.
    NotRecorded,
}

impl Variant {
    /// Whether it ran to its end, as far as its file says so: only then its figures compare.
    pub fn is_comparable(&self) -> bool {
        self.outcome == Outcome::Ran
    }

    /// Why it cannot be what others are compared with; `None` where it can.
    pub fn why_no_reference(&self) -> Option<NoReference> {
        let recorded = self.snapshot().map(|took| took.recorded);
        match (self.is_cut, self.outcome, recorded) {
            (true, ..) => Some(NoReference::Cut),
            (_, Outcome::NotRecorded, _) | (.., Some(Recorded::Nothing)) => {
                Some(NoReference::NotRecorded)
            }
            _ => None,
        }
    }

    /// What something beside it states of its device.
    pub fn stated(&self) -> StatedRoom {
        StatedRoom {
            capacity_bytes: self.stated_capacity_bytes,
            other_bytes: self.stated_other_bytes,
        }
    }

    /// What it took from a caching allocator; `None` of a program of XLA.
    pub fn snapshot(&self) -> Option<&SnapshotTook> {
        match &self.took {
            Took::Snapshot(took) => Some(took),
            Took::Program(_) => None,
        }
    }

    /// What it takes as a program of XLA; `None` of a snapshot.
    pub fn program(&self) -> Option<&SpaceFigures> {
        match &self.took {
            Took::Snapshot(_) => None,
            Took::Program(figures) => Some(figures),
        }
    }
}

impl VariantTable {
    /// Puts variants side by side. The reference is that of the name, else the first that is finished and, where a
    /// capacity is known, not over it.
    ///
    /// # Errors
    /// When no variant has the name, or the one that has it cannot be the reference.
    pub fn new(
        mut rows: Vec<Variant>,
        capacity_bytes: Option<u64>,
        other_bytes: u64,
        reference: Option<&str>,
    ) -> Result<Self, NoReference> {
        rows.sort_by(|a, b| natural(&a.name).cmp(&natural(&b.name)).then(a.name.cmp(&b.name)));
        let mut table = Self { rows, capacity_bytes, other_bytes, reference: None };
        table.reference = match reference {
            Some(name) => {
                let place = table.rows.iter().position(|row| row.name == name);
                let place = place.ok_or(NoReference::NotThere)?;
                match table.rows.get(place).and_then(Variant::why_no_reference) {
                    Some(why) => return Err(why),
                    None => Some(place),
                }
            }
            None => table.rows.iter().position(|row| table.fits(row) == Some(true)),
        };
        Ok(table)
    }

    /// By how much a variant, with what others have of the device, is over its capacity; `None` where that is not
    /// known.
    pub fn oversubscription_bytes(&self, row: &Variant) -> Option<u64> {
        let all = row.needed_bytes.saturating_add(self.other_bytes);
        // What XLA says of a device is what it compiled for; of a snapshot only the user says it.
        let stated = row.stated_capacity_bytes.filter(|_| row.program().is_some());
        self.capacity_bytes.or(stated).map(|capacity| all.saturating_sub(capacity))
    }

    /// Whether a variant ran, or was compiled, and, where a capacity is known, is not over it; `None` where its file does not
    /// say whether it ran.
    pub fn fits(&self, row: &Variant) -> Option<bool> {
        let has_ran = row.outcome.finished()? && !self.is_refused(row);
        Some(has_ran && self.oversubscription_bytes(row).is_none_or(|bytes| bytes == 0))
    }

    /// Whether a program of XLA fits; of a capacity that nobody knows it is not said.
    pub fn fit_of_program(&self, row: &Variant) -> ProgramFit {
        outcome_of(self.oversubscription_bytes(row), self.is_refused(row), row.is_cut)
    }

    /// What XLA refused says nothing of another device that the user names.
    fn is_refused(&self, row: &Variant) -> bool {
        row.is_refused && self.capacity_bytes.is_none()
    }

    /// The variant that needs least of those that ran, a place in `rows`; the first of equals.
    pub fn least_needed(&self) -> Option<usize> {
        let finished = self.rows.iter().enumerate().filter(|(_, row)| row.is_comparable());
        finished.min_by_key(|(place, row)| (row.needed_bytes, *place)).map(|(place, _)| place)
    }

    /// Whether the variants are programs of XLA.
    pub fn is_of_programs(&self) -> bool {
        self.rows.iter().any(|row| row.program().is_some())
    }

    /// A variant's figure in percent of the reference's, with one decimal, half up; `None` of one that is not finished,
    /// or whose file is cut.
    pub fn percent(&self, row: &Variant, column: VariantColumn) -> Option<f64> {
        self.percent_of(row, self.rows.get(self.reference?)?, column)
    }

    /// The same of the variant before it; `None` of a training run where that did not run to its end.
    pub fn percent_of_previous(&self, place: usize, column: VariantColumn) -> Option<f64> {
        let previous = self.rows.get(place.checked_sub(1)?)?;
        if previous.snapshot().is_some() && !previous.is_comparable() {
            return None;
        }
        self.percent_of(self.rows.get(place)?, previous, column)
    }

    fn percent_of(&self, row: &Variant, of: &Variant, column: VariantColumn) -> Option<f64> {
        if !row.is_comparable() {
            return None;
        }
        percent_of(column.bytes(self, row)?, column.bytes(self, of)?)
    }
}

/// A part of a name: a number by its value, all else by its letters.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NamePart<'a> {
    /// Without zeros in front, shorter ones first.
    Number(usize, &'a str),
    Text(&'a str),
}

/// A name in parts, so that `splits_2` comes before `splits_10`.
fn natural(name: &str) -> Vec<NamePart<'_>> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let ends = |letter: char| is_digit(letter) != is_digit(first);
        let (part, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        parts.push(if is_digit(first) {
            let digits = part.trim_start_matches('0');
            NamePart::Number(digits.len(), digits)
        } else {
            NamePart::Text(part)
        });
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::xla::buffer_assignment::space::ProgramFigure;

    fn variant(name: &str, has_ran: bool, bytes: u64) -> Variant {
        Variant {
            name: name.to_owned(),
            path: PathBuf::new(),
            devices: vec![(0, None)],
            rank: None,
            outcome: if has_ran { Outcome::Ran } else { Outcome::OutOfMemory },
            is_cut: false,
            is_refused: false,
            needed_bytes: bytes,
            smi_bytes: None,
            stated_capacity_bytes: None,
            stated_other_bytes: None,
            took: Took::Snapshot(SnapshotTook {
                recorded: Recorded::Whole,
                allocated_bytes: bytes,
                max_allocated_bytes: bytes,
                max_allocated_from: PeakFrom::Replay,
                reserved_bytes: bytes,
                max_reserved_bytes: bytes,
                max_reserved_from: PeakFrom::Replay,
                requested_peak_bytes: bytes,
                failed_request_bytes: (!has_ran).then_some(1),
            }),
        }
    }

    /// The same, of which not all was recorded.
    fn recorded(recorded: Recorded, of: Variant) -> Variant {
        let took = *of.snapshot().unwrap();
        let max_reserved_from = PeakFrom::AtLeast;
        Variant { took: Took::Snapshot(SnapshotTook { recorded, max_reserved_from, ..took }), ..of }
    }

    fn allocated(table: &VariantTable, row: usize) -> Option<f64> {
        table.percent(&table.rows[row], VariantColumn::Allocated)
    }

    fn table(capacity: Option<u64>, reference: Option<&str>) -> Result<VariantTable, NoReference> {
        let rows = vec![
            variant("splits_10", true, 1500),
            variant("splits_0", false, 3000),
            variant("splits_2", true, 2000),
            variant("splits_4", true, 1305),
        ];
        VariantTable::new(rows, capacity, 100, reference)
    }

    #[test]
    fn the_reference_is_the_first_that_ran_and_fits() {
        let names = |table: &VariantTable| -> Vec<String> {
            table.rows.iter().map(|row| row.name.clone()).collect()
        };
        let plain = table(None, None).unwrap();
        assert_eq!(names(&plain), ["splits_0", "splits_2", "splits_4", "splits_10"]);
        assert_eq!((plain.reference, plain.least_needed()), (Some(1), Some(2)));
        assert_eq!(allocated(&plain, 2), Some(65.3), "65.25, half up");
        assert_eq!(allocated(&plain, 0), None, "it did not run to its end");
        assert_eq!(plain.oversubscription_bytes(&plain.rows[0]), None);
        let small = table(Some(1600), None).unwrap();
        assert_eq!(small.reference, Some(2), "splits_2 and what others have is more");
        assert_eq!(small.oversubscription_bytes(&small.rows[1]), Some(500));
        assert_eq!(allocated(&small, 1), Some(153.3));
        let named = table(Some(1600), Some("splits_10")).unwrap();
        assert_eq!(named.reference, Some(3));
        assert!(table(None, Some("splits_3")).is_err());
        let none = table(Some(10), None).unwrap();
        assert_eq!(none.reference, None);
        assert_eq!(allocated(&none, 1), None);
    }

    #[test]
    fn a_file_that_is_cut_is_neither_the_reference_nor_the_least() {
        let cut = |name: &str, bytes| Variant {
            is_cut: true,
            outcome: Outcome::Cut,
            ..variant(name, true, bytes)
        };
        let rows = || vec![cut("a", 10), variant("b", true, 30), variant("c", true, 20)];
        let table = VariantTable::new(rows(), None, 0, None).unwrap();
        assert_eq!((table.reference, table.least_needed()), (Some(1), Some(2)));
        assert_eq!(allocated(&table, 0), None);
        assert_eq!([0, 1].map(|row| table.fits(&table.rows[row])), [None, Some(true)]);
        assert_eq!(VariantTable::new(rows(), None, 0, Some("a")), Err(NoReference::Cut));
        assert_eq!(VariantTable::new(rows(), None, 0, Some("d")), Err(NoReference::NotThere));
    }

    #[test]
    fn of_what_was_not_recorded_nothing_is_compared_and_a_window_is_a_lower_bound() {
        let state = Variant { outcome: Outcome::NotRecorded, ..variant("a", true, 10) };
        let state = recorded(Recorded::Nothing, state);
        let window = recorded(Recorded::Window, variant("b", true, 20));
        let rows = || vec![state.clone(), window.clone(), variant("c", true, 30)];
        let table = VariantTable::new(rows(), Some(5), 0, Some("c")).unwrap();
        assert_eq!(table.rows.iter().map(ran).collect::<Vec<_>>(), ["not recorded", "yes", "yes"]);
        assert_eq!(allocated(&table, 0), None);
        assert_eq!(table.fits(&table.rows[0]), None, "even of a device that is too small");
        assert_eq!(VariantTable::new(rows(), None, 0, Some("a")), Err(NoReference::NotRecorded));
        let bounds = |row: &Variant| {
            let columns = VariantColumn::of(&table).into_iter();
            let bounds = columns.filter(|column| column.is_at_least(row));
            bounds.map(VariantColumn::title).collect::<Vec<_>>()
        };
        assert_eq!(bounds(&table.rows[1]), ["max reserved", "requested peak", "needed"]);
        assert_eq!(bounds(&table.rows[2]), [""; 0]);
        assert_eq!(
            table.least_text(|bytes| bytes.to_string()).unwrap(),
            "least needed: b, at least 20"
        );
        assert_eq!(table.footnotes().len(), 2);
    }

    #[test]
    fn of_programs_a_capacity_beside_them_counts_and_each_is_compared_with_the_one_before() {
        let program = |name: &str, bytes: u64| Variant {
            took: Took::Program(SpaceFigures { total_bytes: bytes, ..SpaceFigures::default() }),
            stated_capacity_bytes: Some(100),
            ..variant(name, true, bytes)
        };
        let rows = vec![program("b_2", 80), program("b_10", 40), program("b_1", 120)];
        let table = VariantTable::new(rows, None, 0, None).unwrap();
        let total = VariantColumn::Program(ProgramFigure::Total);
        assert!(table.is_of_programs() && VariantColumn::of(&table).contains(&total));
        assert_eq!((table.name(table.reference), table.least_needed()), (Some("b_2"), Some(2)));
        assert_eq!(table.oversubscription_bytes(&table.rows[0]), Some(20));
        assert_eq!(table.percent(&table.rows[0], total), Some(150.0));
        let previous = [0, 1, 2].map(|row| table.percent_of_previous(row, total));
        assert_eq!(previous, [None, Some(66.7), Some(50.0)]);
    }

    #[test]
    fn names_are_in_natural_order() {
        let before = |a: &str, b: &str| assert!(natural(a) < natural(b), "{a} before {b}");
        before("a2", "a10");
        before("a2b", "a2c");
        before("a09", "a10");
        before("rank7_step3", "rank7_step20");
        before("99999999999999999999998", "99999999999999999999999");
        assert_eq!(natural("a02"), natural("a2"));
    }
}
