//! The peaks of a memory space, and the operations that own them (formats/xla.md 4.3, 5.4).
//!
//! Two peaks, not one: that of what is temporary, which checkpointing or another order lowers, and that of all that is
//! in use.

use std::collections::BTreeMap;

use super::analysed::Analysed;
use super::in_use::{self, CurveChanges, PlacedValue};
use super::shares::shares_at;
use crate::run::{AliveBy, PeakRow};
use crate::store::hlo::AllocationKind;

/// What an instruction without a path counts to.
pub const NO_OPERATION: &str = "(no operation)";

/// What counts to no line of the source.
pub const NO_SOURCE: &str = "(no source line)";

/// The peak of the temporary allocations of a memory space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemporaryPeak {
    /// The memory space.
    pub color: i64,
    /// The first position that reaches it.
    pub position: u32,
    /// Union of the addresses that are in use, bytes.
    pub bytes: u64,
    pub allocated_bytes: u64,
}

impl Analysed {
    /// The peak of what is temporary of a memory space; `None` where nothing is, or nothing is known of when values
    /// live.
    pub fn temporary_peak(&self, color: i64) -> Option<TemporaryPeak> {
        let rows: Vec<(usize, u64)> = self
            .allocations_of(color, |kind| kind == AllocationKind::Temporary)
            .map(|(row, one)| (row, one.bytes))
            .collect();
        let curves: Vec<&CurveChanges> =
            rows.iter().filter_map(|(row, _)| self.in_use.get(*row)).collect();
        let (bytes, positions) = in_use::peak(&in_use::sum(curves), self.schedule.end());
        let position = positions.first().map(|(first, _)| *first)?;
        let allocated_bytes = rows.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        (bytes > 0).then_some(TemporaryPeak { color, position, bytes, allocated_bytes })
    }

    /// What is in use of temporary allocations at a position: each value that lives there with the bytes that count to
    /// it. Every address counts to the value there that lives the longest, so the bytes add up to the union.
    pub fn shares_at(&self, color: i64, position: u32) -> Vec<(&PlacedValue, u64)> {
        let rows = self.allocations_of(color, |kind| kind == AllocationKind::Temporary);
        let placed = rows.filter_map(|(row, _)| self.placed.get(row));
        placed.flat_map(|placed| shares_at(placed, position)).collect()
    }

    /// What a value counts to: its category, the operation that it comes from, or the line of the source.
    pub fn owner(&self, one: &PlacedValue, by: AliveBy) -> String {
        let value = one.assigned.value;
        match by {
            AliveBy::Category => self.category(&one.assigned).as_str().to_owned(),
            AliveBy::Line => self.source(value).unwrap_or_else(|| NO_SOURCE.to_owned()),
            _ => self.operation(value).unwrap_or(NO_OPERATION).to_owned(),
        }
    }

    /// Shares of what is in use by what they count to, largest first: rows add up as [`Self::shares_at`] does.
    pub fn owners(&self, shares: &[(&PlacedValue, u64)], by: AliveBy) -> Vec<PeakRow> {
        owners(shares, |one| self.owner(one, by))
    }
}

/// Shares of what is in use by what `owner` says that each value counts to, largest first.
pub fn owners(
    shares: &[(&PlacedValue, u64)],
    owner: impl Fn(&PlacedValue) -> String,
) -> Vec<PeakRow> {
    let mut owners: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (one, bytes) in shares {
        let owner = owners.entry(owner(one)).or_default();
        owner.0 = owner.0.saturating_add(*bytes);
        owner.1 += 1;
    }
    let row = |(name, (bytes, count))| PeakRow { name, bytes, count };
    let mut rows: Vec<PeakRow> = owners.into_iter().map(row).collect();
    // By name already.
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    rows
}
