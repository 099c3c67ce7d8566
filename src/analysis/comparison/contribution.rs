//! The parts of a change: rows of bytes in both reports that add up to the whole.

use std::cmp::Reverse;

use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::memory::category_title;
use crate::analysis::placement::gaps::GapReason;
pub use crate::analysis::program::operations::OperationName;

/// What bytes belong to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Contributor {
    /// A category, by its name in the file.
    Category(String),
    Operation(OperationName),
    /// A module of the network: the operations whose names begin with its path.
    Module(String),
    /// The variables of a name.
    Variable(String),
    /// Addresses of a tile that several variables use, each byte once.
    Overlapped,
    /// Bytes of a tile that liveness does not explain (definitions.md, Categories).
    NotExplained,
    /// Gaps of a tile; of a reason, where the reasons are known.
    Gaps(Option<GapReason>),
    /// What is left: nothing says what it belongs to.
    NotAttributable,
}

impl Contributor {
    /// What programs know it by: a category by its key, all else by its title.
    pub fn key(&self) -> String {
        match self {
            Self::Category(key) => key.clone(),
            other => other.title(),
        }
    }

    /// What it is called.
    pub fn title(&self) -> String {
        match self {
            Self::Category(name) => category_title(name),
            Self::Operation(name) => name.in_words(),
            Self::Module(name) | Self::Variable(name) => name.clone(),
            Self::Overlapped => "Overlapped".to_owned(),
            Self::NotExplained => "Not explained by liveness".to_owned(),
            Self::Gaps(None) => "Gaps".to_owned(),
            Self::Gaps(Some(reason)) => format!("Gaps: {}", reason.title().to_lowercase()),
            Self::NotAttributable => "Not attributable".to_owned(),
        }
    }
}

/// Bytes by liveness. Signed: what is left over can be below 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveBytes {
    pub always_live: i64,
    /// Alive at the step that is looked at.
    pub not_always_live: i64,
    /// Neither: gaps, and bytes that several variables share.
    pub other: i64,
}

impl LiveBytes {
    pub fn of(&self, part: LifePart) -> i64 {
        match part {
            LifePart::All => self.sum(),
            LifePart::AlwaysLive => self.always_live,
            LifePart::NotAlwaysLive => self.not_always_live,
        }
    }

    pub fn sum(&self) -> i64 {
        self.always_live.saturating_add(self.not_always_live).saturating_add(self.other)
    }

    /// Adds bytes that are always live or not.
    pub fn add(&mut self, is_always_live: bool, bytes: u64) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let sum = if is_always_live { &mut self.always_live } else { &mut self.not_always_live };
        *sum = sum.saturating_add(bytes);
    }

    pub fn add_all(&mut self, others: &Self) {
        self.always_live = self.always_live.saturating_add(others.always_live);
        self.not_always_live = self.not_always_live.saturating_add(others.not_always_live);
        self.other = self.other.saturating_add(others.other);
    }

    fn take(&mut self, others: &Self) {
        self.always_live = self.always_live.saturating_sub(others.always_live);
        self.not_always_live = self.not_always_live.saturating_sub(others.not_always_live);
        self.other = self.other.saturating_sub(others.other);
    }
}

/// What of the bytes is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifePart {
    All,
    AlwaysLive,
    NotAlwaysLive,
}

/// Bytes of source and target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesOfTwo(pub [LiveBytes; 2]);

impl BytesOfTwo {
    pub fn of(&self, part: LifePart) -> Difference {
        let [source, target] = self.0.map(|bytes| bytes.of(part));
        Difference::between(source, target)
    }

    pub fn side_mut(&mut self, side: Side) -> &mut LiveBytes {
        side.of(self.0.each_mut())
    }

    pub fn add_all(&mut self, others: &Self) {
        self.0.iter_mut().zip(&others.0).for_each(|(sum, others)| sum.add_all(others));
    }
}

/// What one contributor has in both reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    pub contributor: Contributor,
    /// The report that alone has it.
    pub only: Option<Side>,
    pub bytes: BytesOfTwo,
}

/// Contributions that add up to a whole, in both reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    rows: Vec<Contribution>,
}

impl Grouping {
    /// Rows, and what they leave of the whole, if anything, as a row that is not attributable, which
    /// takes the place of one that is among them. Rows without bytes are left out.
    pub fn closed(rows: impl IntoIterator<Item = Contribution>, whole: &BytesOfTwo) -> Self {
        let mut rest = *whole;
        let counts = |row: &Contribution| {
            row.contributor != Contributor::NotAttributable && row.bytes != BytesOfTwo::default()
        };
        let mut rows: Vec<Contribution> = rows.into_iter().filter(counts).collect();
        for row in &rows {
            rest.0.iter_mut().zip(&row.bytes.0).for_each(|(rest, bytes)| rest.take(bytes));
        }
        if rest != BytesOfTwo::default() {
            rows.push(Contribution {
                contributor: Contributor::NotAttributable,
                only: None,
                bytes: rest,
            });
        }
        Self { rows }
    }

    /// All rows, in no order.
    pub fn rows(&self) -> &[Contribution] {
        &self.rows
    }

    pub fn into_rows(self) -> Vec<Contribution> {
        self.rows
    }

    /// The rows that contribute to the change of a part, largest first; they add up to it.
    pub fn ranked(&self, part: LifePart) -> Vec<(&Contribution, Difference)> {
        let mut ranked: Vec<_> = self
            .rows
            .iter()
            .map(|row| (row, row.bytes.of(part)))
            .filter(|(_, bytes)| !bytes.is_equal())
            .collect();
        ranked.sort_by_key(|(_, bytes)| Reverse(bytes.magnitude()));
        ranked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_module_is_the_path_before_the_last_part() {
        let module = |kind: Option<&str>, name: Option<&str>| {
            let (kind, name) = (kind.map(str::to_owned), name.map(str::to_owned));
            OperationName { kind, layer: "poplibs".to_owned(), name }.module().to_owned()
        };
        assert_eq!(module(None, Some("layer1.0.conv2")), "layer1.0");
        assert_eq!(module(None, Some("layer1/0.5/conv2.a")), "layer1/0.5");
        assert_eq!(module(None, Some("fc")), "fc");
        assert_eq!(
            (module(Some("matMul"), None), module(None, None)),
            ("matMul".into(), "poplibs".into())
        );
    }

    proptest! {
        #[test]
        fn what_is_left_closes_the_sum(
            cells in proptest::collection::vec(proptest::array::uniform6(-9_i64..9), 0..9),
            whole in proptest::array::uniform6(-9_i64..9),
        ) {
            let bytes = |cells: [i64; 6]| {
                let side = |at: usize| LiveBytes {
                    always_live: cells[at],
                    not_always_live: cells[at + 1],
                    other: cells[at + 2],
                };
                BytesOfTwo([side(0), side(3)])
            };
            let whole = bytes(whole);
            let row = |(number, cells): (usize, &[i64; 6])| Contribution {
                contributor: Contributor::Variable(number.to_string()),
                only: None,
                bytes: bytes(*cells),
            };
            let grouping = Grouping::closed(cells.iter().enumerate().map(row), &whole);
            let mut sum = BytesOfTwo::default();
            grouping.rows().iter().for_each(|row| sum.add_all(&row.bytes));
            prop_assert_eq!(sum, whole);
            for part in [LifePart::All, LifePart::AlwaysLive, LifePart::NotAlwaysLive] {
                let ranked = grouping.ranked(part);
                let changes: i64 = ranked.iter().filter_map(|(_, bytes)| bytes.change()).sum();
                prop_assert_eq!(Some(changes), whole.of(part).change());
                prop_assert!(ranked.is_sorted_by_key(|(_, bytes)| Reverse(bytes.magnitude())));
            }
        }
    }
}
