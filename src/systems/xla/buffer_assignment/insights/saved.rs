//! The peak without some values: bytes in use are worked out again at every position, so that values at shared
//! addresses count, and so does a peak elsewhere.

use crate::store::hlo::AllocationKind;
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::in_use::{self, CurveChanges, PlacedValue};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastPeaks {
    /// Without the values, bytes.
    pub without: u64,
    /// With half of what they alone have, bytes.
    pub with_half: u64,
}

impl Analysed {
    /// What is temporary of a memory space at its peak, if the values that `is_gone` says take nothing, or half.
    pub fn peaks_without(&self, color: i64, is_gone: impl Fn(&PlacedValue) -> bool) -> LeastPeaks {
        let rows = self.allocations_of(color, |kind| kind == AllocationKind::Temporary);
        let rows: Vec<usize> = rows.map(|(row, _)| row).collect();
        let without = |row: &usize| {
            let placed = self.placed.get(*row)?;
            let stay = placed.iter().filter(|one| !is_gone(one)).copied();
            Some(in_use::bytes_in_use(&stay.collect::<Vec<_>>()))
        };
        let without: Vec<CurveChanges> = rows.iter().filter_map(without).collect();
        let with = rows.iter().filter_map(|row| self.in_use.get(*row));
        let end = self.schedule.end();
        let most = |curve: CurveChanges| in_use::peak(&curve, end).0;
        LeastPeaks {
            with_half: most(in_use::sum(without.iter().chain(with))) / 2,
            without: most(in_use::sum(&without)),
        }
    }
}
