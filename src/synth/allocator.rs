//! Places the variables of a tile as a compiler does: first fit in the given order, under alignment
//! and element constraints, overlapping only what is never live at the same time. Gaps and overflow
//! arise from that; nothing is drawn at random.

use std::ops::Range;

use super::model::{Life, Wanted};
use crate::store::target::Target;

/// The first byte that is given out: what is below belongs to the boot code.
const FIRST_BYTE: u64 = 16;

/// Whether two variables may be live at the same time.
fn interfere(a: &Life, b: &Life) -> bool {
    match (a, b) {
        (Life::Steps(from_a, to_a), Life::Steps(from_b, to_b)) => from_a < to_b && from_b < to_a,
        _ => true,
    }
}

/// The offsets of the variables of one tile.
pub fn place(wanted: &[Wanted], target: &Target) -> Vec<u64> {
    let mut offsets: Vec<u64> = Vec::with_capacity(wanted.len());
    let mut taken: Vec<Range<u64>> = Vec::new();
    for variable in wanted {
        if variable.bytes == 0 {
            offsets.push(0);
            continue;
        }
        taken.clear();
        for (other, offset) in wanted.iter().zip(&offsets).filter(|(other, _)| other.bytes > 0) {
            let range = *offset..*offset + other.bytes;
            if other.is_code != variable.is_code {
                taken.push(whole_elements(&range, target));
            } else if interfere(&other.life, &variable.life) {
                taken.push(range);
            }
        }
        taken.sort_by_key(|range| range.start);
        let lowest = if variable.is_interleaved {
            target.interleaved_start.unwrap_or(FIRST_BYTE)
        } else {
            FIRST_BYTE
        };
        let mut offset = lowest.next_multiple_of(variable.alignment);
        for range in &taken {
            if range.start >= offset + variable.bytes {
                break;
            }
            if range.end > offset {
                offset = range.end.next_multiple_of(variable.alignment);
            }
        }
        offsets.push(offset);
    }
    offsets
}

/// A range extended to the borders of the memory elements that it touches.
fn whole_elements(range: &Range<u64>, target: &Target) -> Range<u64> {
    let elements = &target.element_offsets;
    let first = elements.partition_point(|start| *start <= range.start);
    let start = first.checked_sub(1).and_then(|at| elements.get(at)).copied().unwrap_or(0);
    let end = elements.iter().find(|start| **start >= range.end).copied();
    start..end.unwrap_or(range.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::tiny;
    use proptest::prelude::*;

    fn wanted(bytes: u64, alignment: u64, life: Life, is_code: bool) -> Wanted {
        Wanted {
            name: String::new(),
            bytes,
            alignment,
            category: 0,
            life,
            shown_as: String::new(),
            is_lowered_from: false,
            is_code,
            is_interleaved: false,
            is_constant: false,
        }
    }

    proptest! {
        #[test]
        fn only_what_is_never_live_together_overlaps(
            sizes in proptest::collection::vec(
                (1..5000_u64, 0..6_u32, 0..20_u32, 1..9_u32, 0..10_u32), 1..40
            )
        ) {
            let target = tiny::target(16);
            let variables: Vec<Wanted> = sizes
                .iter()
                .map(|(bytes, alignment, from, steps, kind)| {
                    let life = if *kind < 3 { Life::Always } else { Life::Steps(*from, from + steps) };
                    wanted(*bytes, 1 << alignment, life, *kind == 0)
                })
                .collect();
            let offsets = place(&variables, &target);
            let range = |at: usize| offsets[at]..offsets[at] + variables[at].bytes;
            for a in 0..variables.len() {
                prop_assert_eq!(offsets[a] % variables[a].alignment, 0);
                for b in 0..a {
                    let (in_a, in_b) = (range(a), range(b));
                    if interfere(&variables[a].life, &variables[b].life) {
                        prop_assert!(in_a.end <= in_b.start || in_b.end <= in_a.start);
                    }
                    if variables[a].is_code != variables[b].is_code {
                        let elements = whole_elements(&in_b, &target);
                        prop_assert!(in_a.end <= elements.start || elements.end <= in_a.start);
                    }
                }
            }
        }
    }
}
