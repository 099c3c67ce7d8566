//! The curve without some values, or with others: bytes in use are worked out again at every position, so that values at
//! shared addresses count, and so does a peak elsewhere.

use crate::store::hlo::AllocationKind;
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::in_use::{self, CurveChanges, PlacedValue};
use crate::systems::xla::buffer_assignment::live_ranges::LiveRange;

/// Bytes at each position of a range.
pub fn during(range: LiveRange, bytes: u64) -> CurveChanges {
    vec![(range.start, bytes), (range.end.saturating_add(1), 0)]
}

impl Analysed {
    /// The values of the temporary allocations of the main memory.
    pub fn temporaries(&self) -> impl Iterator<Item = &PlacedValue> {
        let rows = self.allocations_of(0, |kind| kind == AllocationKind::Temporary);
        rows.filter_map(|(row, _)| self.placed.get(row)).flatten()
    }

    /// What is temporary of the main memory.
    pub fn temporary_curve(&self) -> CurveChanges {
        let rows = self.allocations_of(0, |kind| kind == AllocationKind::Temporary);
        in_use::sum(rows.filter_map(|(row, _)| self.in_use.get(row)))
    }

    /// The same, if the values that `is_gone` says take nothing.
    pub fn curve_without(&self, is_gone: impl Fn(&PlacedValue) -> bool) -> CurveChanges {
        let rows = self.allocations_of(0, |kind| kind == AllocationKind::Temporary);
        let without = |placed: &Vec<PlacedValue>| {
            let stay = placed.iter().filter(|one| !is_gone(one)).copied();
            in_use::bytes_in_use(&stay.collect::<Vec<_>>())
        };
        let curves: Vec<CurveChanges> =
            rows.filter_map(|(row, _)| self.placed.get(row)).map(without).collect();
        in_use::sum(&curves)
    }

    /// The most of several curves together.
    pub fn most_of<'a>(&self, curves: impl IntoIterator<Item = &'a CurveChanges>) -> u64 {
        in_use::peak(&in_use::sum(curves), self.schedule.end()).0
    }

    /// The most that is temporary of the main memory, if the values that `is_divided` says take one of so many parts.
    pub fn peak_with_part(&self, parts: u64, is_divided: impl Fn(&PlacedValue) -> bool) -> u64 {
        let all = self.temporary_curve();
        let without = self.curve_without(is_divided);
        let scaled =
            without.iter().map(|(at, bytes)| (*at, bytes.saturating_mul(parts.saturating_sub(1))));
        let scaled: CurveChanges = scaled.collect();
        self.most_of([&all, &scaled]).checked_div(parts).unwrap_or(0)
    }
}
