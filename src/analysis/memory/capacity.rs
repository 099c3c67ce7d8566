//! The use of the memory of all tiles: bytes that each category has for itself, not-always-live bytes that share
//! addresses, gaps, and free bytes. With the bytes over the limit, the parts add up to the memory.
//!
//! A category has for itself what lies at addresses that one variable uses ([`category_total`]); what is left of the
//! bytes without gaps is shared by several.

use super::{category_total, totals};
use crate::store::Report;

/// What a part of the memory is used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartOf {
    /// A category, by its name in the file.
    Category(String),
    /// Where the report has no categories: what is always live.
    AlwaysLive,
    /// Addresses that several variables use at different steps.
    Shared,
    Gaps,
}

/// The memory of all tiles and its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// Bytes with gaps.
    pub used_bytes: u64,
    /// Bytes that there are.
    pub capacity_bytes: u64,
    /// The parts, categories first, largest first; their bytes add up to [`Self::used_bytes`].
    pub parts: Vec<(PartOf, u64)>,
}

impl Capacity {
    /// Of a report; `None` where it does not say what tiles use or have.
    pub fn of(report: &Report) -> Option<Self> {
        let memory = report.memory.get()?;
        let totals = totals(memory, report.target.get());
        let used_bytes = totals.including_gaps_bytes?;
        let total_bytes = totals.total_bytes?.min(used_bytes);
        let tiles = memory.tiles.len() as u64;
        let capacity_bytes = report.bytes_per_tile()?.checked_mul(tiles)?;
        let of_category = |bytes: Option<u64>| bytes.filter(|bytes| *bytes > 0);
        let mut parts: Vec<(PartOf, u64)> = memory
            .categories
            .iter()
            .filter_map(|category| {
                let bytes = of_category(category_total(category).not_overlapped)?;
                Some((PartOf::Category(category.name.clone()), bytes))
            })
            .collect();
        parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let sum = |parts: &[(PartOf, u64)]| {
            parts.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes))
        };
        // Categories that say more than there is say nothing.
        if parts.is_empty() || sum(&parts) > total_bytes {
            parts.clear();
            let always_live = totals.always_live_bytes.filter(|bytes| *bytes <= total_bytes)?;
            parts.push((PartOf::AlwaysLive, always_live));
        }
        let own = sum(&parts);
        parts.push((PartOf::Shared, total_bytes.saturating_sub(own)));
        parts.push((PartOf::Gaps, used_bytes.saturating_sub(total_bytes)));
        Some(Self { used_bytes, capacity_bytes, parts })
    }

    /// Bytes that nothing uses, on all tiles together, also where they are of no use to those that are over.
    pub fn free_bytes(&self) -> u64 {
        self.capacity_bytes.saturating_sub(self.used_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::memory;
    use crate::store::target::Target;

    #[test]
    fn parts_add_up_to_what_is_used() {
        assert_eq!(Capacity::of(&Report::default()), None);
        let report = Report::default();
        let mut tiles = memory((0..).zip([Some(90), Some(130)]));
        tiles.total = vec![Some(80), Some(110)];
        tiles.always_live = vec![Some(30), Some(50)];
        report.memory.fill(Some(tiles));
        let target = Target { bytes_per_tile: Some(100), ..Target::default() };
        report.target.fill(Some(target));
        let found = Capacity::of(&report).expect("a capacity");
        assert_eq!((found.used_bytes, found.capacity_bytes, found.free_bytes()), (220, 200, 0));
        let parts = [(PartOf::AlwaysLive, 80), (PartOf::Shared, 110), (PartOf::Gaps, 30)];
        assert_eq!(found.parts, parts);
    }
}
