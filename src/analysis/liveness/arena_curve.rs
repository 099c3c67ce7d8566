//! The liveness curve of an arena that is not a tile, from what is placed in it: at each step the bytes
//! of addresses that anything alive there has, each counted once however many lie over one another.
//! What is always live is the union of what lives as long as the program; the rest of the union is not
//! always live.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::analysis::liveness::accumulate;
use crate::analysis::liveness::lifetimes::merged;
use crate::store::liveness::Classes;
use crate::store::placed::Placed;

/// Not-always-live bytes at each of `steps` steps, and always-live bytes.
pub fn curve_of_placed(placed: &Placed, classes: &Classes, steps: usize) -> (Vec<u64>, u64) {
    let mut edges: Vec<(u64, bool, u32)> = Vec::new();
    for row in placed.by_address() {
        let Some(placement) = placed.get(*row) else { continue };
        edges.extend([(placement.offset, true, *row), (placement.end(), false, *row)]);
    }
    edges.sort_unstable();
    let mut here: BTreeMap<u32, &[Range<u32>]> = BTreeMap::new();
    let (mut deltas, mut always_live, mut from) = (Vec::new(), 0_u64, 0_u64);
    for (address, begins, row) in edges {
        let bytes = address.saturating_sub(from);
        from = address;
        if bytes > 0 && !here.is_empty() {
            let is_always = |row: &u32| {
                placed.get(*row).is_some_and(|placement| classes.is_always_live(placement.class))
            };
            if here.keys().any(is_always) {
                always_live = always_live.saturating_add(bytes);
            } else {
                let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
                let mut ranges: Vec<Range<u32>> =
                    here.values().copied().flatten().cloned().collect();
                ranges.sort_unstable_by_key(|range| range.start);
                for range in merged(ranges) {
                    deltas.extend([(range.start, bytes), (range.end, -bytes)]);
                }
            }
        }
        if begins {
            let class = placed.get(row).and_then(|placement| classes.ids.position(placement.class));
            here.insert(row, class.map_or(&[], |class| classes.ranges_of(class)));
        } else {
            here.remove(&row);
        }
    }
    (accumulate(&deltas, steps), always_live)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ClassId;
    use crate::store::names::Names;
    use crate::store::placed::Placement;
    use crate::store::variable::VariableFlags;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_address_counts_once_at_every_step(
            ranges in proptest::collection::vec((0..9_u32, 1..6_u32, any::<bool>()), 1..6),
            rows in proptest::collection::vec((0..40_u64, 0..20_u64, 0..6_u32), 0..12),
        ) {
            let mut classes = Classes::default();
            for (id, (start, length, always)) in (0..).zip(&ranges) {
                let range = if *always { 0..12 } else { *start..start + length };
                prop_assert!(classes.push(ClassId(id), *always, [range]));
            }
            let placement = |(id, (offset, bytes, class)): (u32, &(u64, u64, u32))| Placement {
                id,
                offset: *offset,
                bytes: *bytes,
                alignment: 0,
                category: None,
                class: ClassId(*class),
                unlowered: None,
                flags: VariableFlags(1),
            };
            let placements: Vec<Placement> = (0..).zip(&rows).map(placement).collect();
            let none = vec![Vec::new(); placements.len()];
            let placed = Placed::new(placements.clone(), Names::default(), none.clone(), none);
            let (curve, always_live) = curve_of_placed(&placed, &classes, 12);
            let at = |address: u64, is_wanted: &dyn Fn(&Placement) -> bool| {
                let here = placements.iter().filter(|it| it.offset <= address && address < it.end());
                here.filter(|it| is_wanted(it)).count() > 0
            };
            let is_always = |it: &Placement| classes.is_always_live(it.class);
            let expected = (0..60).filter(|address| at(*address, &is_always)).count() as u64;
            prop_assert_eq!(always_live, expected);
            for (step, bytes) in curve.iter().enumerate() {
                let is_live = |it: &Placement| classes.is_live_at(it.class, step);
                let alive = (0..60).filter(|address| at(*address, &is_live)).count() as u64;
                prop_assert_eq!(bytes + always_live, alive);
            }
        }
    }
}
