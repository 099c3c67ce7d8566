//! Bytes and numbers of things that source and target have.

use crate::analysis::figures::difference::Difference;
use crate::text::words;

/// Bytes of things, and how many they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Bytes.
    pub bytes: u64,
    /// Number of things.
    pub count: u64,
}

impl Amount {
    /// Counts what another has.
    pub fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.count = self.count.saturating_add(other.count);
    }
}

/// What both sides have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Both {
    /// Of the source.
    pub source: Amount,
    /// Of the target.
    pub target: Amount,
}

words! {
    /// What became of a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RowChange by as_str, title {
        /// It is only at the source's peak.
        OnlySource = "only-source" | "only in source",
        /// It is only at the target's peak.
        OnlyTarget = "only-target" | "only in target",
        /// The target has more.
        Grown = "grown" | "grown",
        /// The target has less.
        Shrunk = "shrunk" | "shrunk",
        /// Both have the same bytes.
        Unchanged = "unchanged" | "unchanged",
    }
}

impl Both {
    /// Bytes of both.
    pub fn bytes(&self) -> Difference {
        Difference::of([Some(self.source.bytes), Some(self.target.bytes)])
    }

    /// The larger of the two.
    pub fn most(&self) -> u64 {
        self.source.bytes.max(self.target.bytes)
    }

    /// What became of it.
    pub fn row_change(&self) -> RowChange {
        let Self { source, target } = self;
        match (source.count, target.count) {
            (_, 0) => RowChange::OnlySource,
            (0, _) => RowChange::OnlyTarget,
            _ if target.bytes > source.bytes => RowChange::Grown,
            _ if target.bytes < source.bytes => RowChange::Shrunk,
            _ => RowChange::Unchanged,
        }
    }

    /// The side that alone has it: `source` or `target`.
    pub fn only(&self) -> Option<&'static str> {
        match (self.source.count, self.target.count) {
            (0, 1..) => Some("target"),
            (1.., 0) => Some("source"),
            _ => None,
        }
    }

    /// Bytes by which they differ.
    pub fn size_of_change(&self) -> u64 {
        self.source.bytes.abs_diff(self.target.bytes)
    }

    /// By what rows are in order, the largest first.
    pub fn rank(&self) -> (u64, u64) {
        (self.size_of_change(), self.most())
    }

    /// Adds to the source, which is side 0, or to the target.
    pub fn add_to(&mut self, side: usize, amount: Amount) {
        let sum = if side == 0 { &mut self.source } else { &mut self.target };
        sum.add(amount);
    }
}
