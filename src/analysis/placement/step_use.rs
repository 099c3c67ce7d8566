//! The use of an arena's memory at a step, up to the last byte that is alive there.
//!
//! Each byte counts once: *alive* (something that lives at the step has it), *free* (only what lives at other
//! steps has it), *gap* (nothing ever has it). The three add up to the end. So an end above the limit has one of
//! three causes: more is alive than fits, or it would fit but bytes are free below it, or gaps are.

use crate::analysis::placement::gaps::used_ranges;
use crate::store::placed::{Placed, Placement};

/// Bytes below the last one that is alive at a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepUse {
    /// Alive at the step.
    pub alive: u64,
    /// Alive at other steps only.
    pub free: u64,
    /// Never used.
    pub gaps: u64,
    /// The last byte that is alive, + 1.
    pub end: u64,
}

impl StepUse {
    /// What `is_live` says to live at the step.
    pub fn new(placed: &Placed, is_live: impl Fn(&Placement) -> bool) -> Self {
        let live = used_ranges(placed, is_live);
        let end = live.last().map_or(0, |range| range.end);
        let below = |ranges: &[std::ops::Range<u64>]| {
            let sizes = ranges.iter().map(|range| range.end.min(end).saturating_sub(range.start));
            sizes.fold(0_u64, u64::saturating_add)
        };
        let (alive, used) = (below(&live), below(&used_ranges(placed, |_| true)));
        Self { alive, free: used.saturating_sub(alive), gaps: end.saturating_sub(used), end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;
    use crate::store::ClassId;

    #[test]
    fn alive_free_and_gaps_add_up_to_the_end() {
        // 0–4 class 1, 6–10 class 2, 8–12 class 1, 20–30 class 2.
        let placements = [(0, 4, 1), (6, 4, 2), (8, 4, 1), (20, 10, 2)]
            .map(|(offset, bytes, class)| fixture::placement(offset, bytes, class));
        let placed = fixture::placed(placements);
        let of = |class: u32| StepUse::new(&placed, |one| one.class == ClassId(class));
        // Below 12 class 1 has 4 + 4, class 2 alone 6–8, nothing 4–6.
        assert_eq!(of(1), StepUse { alive: 8, free: 2, gaps: 2, end: 12 });
        // Below 30 class 2 has 4 + 10, class 1 alone 0–4 and 10–12, nothing 4–6 and 12–20.
        assert_eq!(of(2), StepUse { alive: 14, free: 6, gaps: 10, end: 30 });
        assert_eq!(of(3), StepUse::default());
    }
}
