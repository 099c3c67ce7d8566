//! Places the variables of a tile as a compiler does: first fit in the given order, under alignment,
//! elements and interleaving, overlapping only what is never live at the same time. Gaps and
//! overflow arise from that; nothing is drawn at random.

use std::ops::Range;

use super::model::LifeSpan;
use crate::store::target::Target;

/// The first byte that is given out: what is below belongs to the boot code.
const FIRST_BYTE: u64 = 16;

/// A variable of a tile that wants a place.
#[derive(Clone, Debug)]
pub struct WantedPlace<'a> {
    /// Size, bytes.
    pub bytes: u64,
    /// Alignment, bytes.
    pub alignment: u64,
    pub life: &'a LifeSpan,
    /// Whether it is code. All code comes before all data.
    pub is_code: bool,
    /// Whether it must lie in interleaved memory.
    pub is_interleaved: bool,
    /// A variable before it whose memory region it may not share.
    pub avoids: Option<usize>,
}

/// The offsets of the variables of one tile: code first, then data that is always live, then the
/// rest. Variables without bytes get 0.
pub fn place(wanted: &[WantedPlace<'_>], target: &Target) -> Vec<u64> {
    let mut offsets = Vec::with_capacity(wanted.len());
    // The first byte that nothing takes that is always live: from here on others are placed.
    let mut free = FIRST_BYTE;
    let mut was_code = true;
    let mut temporaries = PlacedTemporaries::default();
    for variable in wanted {
        if variable.bytes == 0 {
            offsets.push(0);
            continue;
        }
        if was_code && !variable.is_code {
            // Data may not share a memory element with code.
            let next = target.element_offsets.iter().find(|start| **start >= free);
            free = next.copied().unwrap_or(free);
            was_code = false;
        }
        let lowest = match target.interleaved_start {
            Some(start) if variable.is_interleaved => free.max(start),
            _ => free,
        };
        let avoided = variable.avoids.and_then(|other| offsets.get(other));
        let lowest = lowest.max(avoided.map_or(0, |offset| end_of_region(*offset, target)));
        let offset = match variable.life {
            LifeSpan::Always => {
                let offset = lowest.max(temporaries.end).next_multiple_of(variable.alignment);
                free = offset + variable.bytes;
                offset
            }
            LifeSpan::Steps(from, to) => temporaries.place(variable, *from..*to, lowest),
        };
        offsets.push(offset);
    }
    offsets
}

/// Where the region of an address ends; the last one has no end, and nothing can avoid it.
fn end_of_region(address: u64, target: &Target) -> u64 {
    target.region_offsets.iter().find(|start| **start > address).copied().unwrap_or(0)
}

/// Steps that share a list in [`PlacedTemporaries`].
const STEPS_PER_LIST: u32 = 32;

/// What is placed and not always live, by the steps at which it is live: only what is live at the
/// same time can be in the way.
#[derive(Default)]
struct PlacedTemporaries {
    /// (offset, end, life), for every group of steps that a life touches.
    lists: Vec<Vec<(u64, u64, Range<u32>)>>,
    /// The highest end.
    end: u64,
    /// What is in the way of the variable at hand, by offset.
    in_the_way: Vec<(u64, u64)>,
}

impl PlacedTemporaries {
    fn place(&mut self, variable: &WantedPlace<'_>, life: Range<u32>, lowest: u64) -> u64 {
        let first = (life.start / STEPS_PER_LIST) as usize;
        let last = (life.end.max(1) - 1) as usize / STEPS_PER_LIST as usize;
        if self.lists.len() <= last {
            self.lists.resize(last + 1, Vec::new());
        }
        self.in_the_way.clear();
        let lists = self.lists.get(first..=last).unwrap_or(&[]);
        for (start, end, other) in lists.iter().flatten() {
            if other.start < life.end && life.start < other.end {
                self.in_the_way.push((*start, *end));
            }
        }
        self.in_the_way.sort_unstable();
        let mut offset = lowest.next_multiple_of(variable.alignment);
        for (start, end) in &self.in_the_way {
            if *start >= offset + variable.bytes {
                break;
            }
            if *end > offset {
                offset = end.next_multiple_of(variable.alignment);
            }
        }
        let end = offset + variable.bytes;
        self.end = self.end.max(end);
        for list in self.lists.get_mut(first..=last).unwrap_or(&mut []) {
            list.push((offset, end, life.clone()));
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::poplar::synth::machine::{Architecture, target};
    use proptest::prelude::*;

    /// Whether two variables may be live at the same time.
    fn interfere(a: &LifeSpan, b: &LifeSpan) -> bool {
        match (a, b) {
            (LifeSpan::Steps(from_a, to_a), LifeSpan::Steps(from_b, to_b)) => {
                from_a < to_b && from_b < to_a
            }
            _ => true,
        }
    }

    proptest! {
        #[test]
        fn only_what_is_never_live_together_overlaps(
            sizes in proptest::collection::vec(
                (1..9000_u64, 0..6_u32, 0..20_u32, 1..9_u32, 0..10_u32), 1..60
            ),
            code in 0..20_usize,
        ) {
            let target = target(Architecture::Mk2, 1, 16);
            let lives: Vec<LifeSpan> = sizes
                .iter()
                .map(|(_, _, from, steps, kind)| {
                    if *kind < 3 { LifeSpan::Always } else { LifeSpan::Steps(*from, from + steps) }
                })
                .collect();
            let variables: Vec<WantedPlace<'_>> = sizes
                .iter()
                .zip(&lives)
                .enumerate()
                .map(|(at, ((bytes, alignment, _, _, kind), life))| WantedPlace {
                    bytes: *bytes,
                    alignment: 1 << alignment,
                    life: if at < code { &LifeSpan::Always } else { life },
                    is_code: at < code,
                    is_interleaved: at >= code && *kind == 9,
                    avoids: (at > code && *kind == 8).then_some(code),
                })
                .collect();
            let offsets = place(&variables, &target);
            let range = |at: usize| offsets[at]..offsets[at] + variables[at].bytes;
            let element = |address: u64| target.element_offsets.partition_point(|start| *start <= address);
            for a in 0..variables.len() {
                prop_assert_eq!(offsets[a] % variables[a].alignment, 0);
                prop_assert!(!variables[a].is_interleaved || offsets[a] >= 212_992);
                if variables[a].avoids.is_some() && offsets[code] < 212_992 {
                    prop_assert!(offsets[a] >= 212_992, "another region");
                }
                for b in 0..a {
                    let (in_a, in_b) = (range(a), range(b));
                    if interfere(variables[a].life, variables[b].life) {
                        prop_assert!(in_a.end <= in_b.start || in_b.end <= in_a.start);
                    }
                    if variables[a].is_code != variables[b].is_code {
                        prop_assert!(element(in_a.start) > element(in_b.end - 1));
                    }
                }
            }
        }
    }
}
