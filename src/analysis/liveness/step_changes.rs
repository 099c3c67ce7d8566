//! Changes of the bytes of groups from step to step, and their running sums: the curves.
//!
//! Mostly one thing begins or ends at a step, so a step has room for one change and the few others stand in a list
//! beside: nine bytes a step, from which all groups are added up in one pass.

use std::ops::Range;

use rayon::prelude::*;

/// No change yet.
const NONE: u8 = u8::MAX;

/// Steps that one thread adds up at once.
const CHUNK: usize = 1 << 17;

/// The bytes of all that is alive at each step.
pub(crate) fn summed(len: usize, blocks: impl Iterator<Item = (Range<u32>, u64)>) -> Vec<u64> {
    let mut curve = vec![0_u64; len];
    for (steps, bytes) in blocks.filter(|(steps, _)| !steps.is_empty()) {
        let [start, end] = [steps.start, steps.end].map(|step| step as usize);
        if let Some(change) = curve.get_mut(start) {
            *change = change.wrapping_add(bytes);
        }
        if let Some(change) = curve.get_mut(end) {
            *change = change.wrapping_sub(bytes);
        }
    }
    let mut sum = 0_u64;
    for value in &mut curve {
        sum = sum.wrapping_add(*value);
        *value = known(sum);
    }
    curve
}

/// Changes of bytes, which wrap around: what is taken away is added as its complement.
#[derive(Debug)]
pub(crate) struct StepChanges {
    /// The group whose bytes change at each step.
    groups: Vec<u8>,
    /// By how much.
    bytes: Vec<u64>,
    /// Step, group and bytes of further changes, by step.
    others: Vec<(u32, u8, u64)>,
}

impl StepChanges {
    /// Of blocks, values or variables: the steps at which each counts, its bytes, and its group, of which there are fewer than 255.
    pub(crate) fn of(len: usize, blocks: impl Iterator<Item = (Range<u32>, u64, u8)>) -> Self {
        let mut changes = Self { groups: vec![NONE; len], bytes: vec![0; len], others: Vec::new() };
        for (steps, bytes, group) in blocks.filter(|(steps, ..)| !steps.is_empty()) {
            changes.add(steps.start, group, bytes);
            changes.add(steps.end, group, bytes.wrapping_neg());
        }
        changes.others.sort_by_key(|(step, ..)| *step);
        changes
    }

    fn add(&mut self, step: u32, group: u8, bytes: u64) {
        let at = step as usize;
        // What ends behind the last step does not change.
        let (Some(of), Some(sum)) = (self.groups.get_mut(at), self.bytes.get_mut(at)) else {
            return;
        };
        if *of == NONE || *of == group {
            *of = group;
            *sum = sum.wrapping_add(bytes);
        } else {
            self.others.push((step, group, bytes));
        }
    }

    /// Number of steps.
    fn len(&self) -> usize {
        self.groups.len()
    }

    /// Hands each step of a range with its changes to `look`, which keeps the sums of groups.
    fn go_through(
        &self,
        steps: Range<usize>,
        sums: &mut [u64],
        mut look: impl FnMut(usize, Option<usize>, &[u64]),
    ) {
        let mut others = self.others.partition_point(|(step, ..)| (*step as usize) < steps.start);
        let own = self.groups.get(steps.clone()).unwrap_or_default().iter();
        let own = own.zip(self.bytes.get(steps.clone()).unwrap_or_default());
        for (step, (group, bytes)) in steps.zip(own) {
            let mut lowest = None;
            let mut change = |group: u8, bytes: u64| {
                if let Some(sum) = sums.get_mut(usize::from(group)) {
                    *sum = sum.wrapping_add(bytes);
                    let group = usize::from(group);
                    lowest = Some(lowest.map_or(group, |lowest: usize| lowest.min(group)));
                }
            };
            if *group != NONE {
                change(*group, *bytes);
            }
            while let Some((_, group, bytes)) =
                self.others.get(others).filter(|(of, ..)| *of as usize == step)
            {
                change(*group, *bytes);
                others += 1;
            }
            look(step, lowest, sums);
        }
    }

    /// By group the bytes of it and of all below it that are shown, at each step; none of what is not shown.
    pub(crate) fn layers(&self, is_shown: &[bool]) -> Vec<Vec<u64>> {
        let len_of = |is_shown: &bool| if *is_shown { self.len() } else { 0 };
        let mut layers: Vec<Vec<u64>> =
            is_shown.iter().map(|is_shown| vec![0; len_of(is_shown)]).collect();
        let starts = self.sums_before_chunks(is_shown.len());
        let mut rest: Vec<_> = layers.iter_mut().map(|layer| layer.chunks_mut(CHUNK)).collect();
        let parts: Vec<_> = starts
            .into_iter()
            .enumerate()
            .map(|(chunk, sums)| {
                let parts = rest.iter_mut().map(|chunks| chunks.next().unwrap_or_default());
                (chunk * CHUNK, sums, parts.collect::<Vec<&mut [u64]>>())
            })
            .collect();
        parts.into_par_iter().for_each(|(start, mut sums, mut parts)| {
            let end = (start + CHUNK).min(self.len());
            let mut upto = vec![0_u64; sums.len()];
            pile_up(&sums, is_shown, &mut upto, 0);
            self.go_through(start..end, &mut sums, |step, changed, sums| {
                if let Some(lowest) = changed {
                    pile_up(sums, is_shown, &mut upto, lowest);
                }
                for (part, bytes) in parts.iter_mut().zip(&upto) {
                    if let Some(value) = part.get_mut(step - start) {
                        *value = *bytes;
                    }
                }
            });
        });
        layers
    }

    /// The sums of all groups before the first step of each chunk.
    fn sums_before_chunks(&self, groups: usize) -> Vec<Vec<u64>> {
        let starts: Vec<usize> = (0..self.len()).step_by(CHUNK).collect();
        let of_chunks: Vec<Vec<u64>> = starts
            .into_par_iter()
            .map(|start| {
                let mut sums = vec![0; groups];
                self.go_through(start..(start + CHUNK).min(self.len()), &mut sums, |_, _, _| {});
                sums
            })
            .collect();
        let mut before = vec![0_u64; groups];
        let mut all = Vec::with_capacity(of_chunks.len());
        for of_chunk in of_chunks {
            all.push(before.clone());
            for (sum, bytes) in before.iter_mut().zip(of_chunk) {
                *sum = sum.wrapping_add(bytes);
            }
        }
        all
    }
}

/// A sum that wraps around below 0 is of a damaged file: nothing.
fn known(sum: u64) -> u64 {
    if i64::try_from(sum).is_ok() { sum } else { 0 }
}

/// The bytes of each group with those below it, from one group on.
fn pile_up(sums: &[u64], is_shown: &[bool], upto: &mut [u64], from: usize) {
    let mut below = from.checked_sub(1).and_then(|below| upto.get(below)).copied().unwrap_or(0);
    for ((sum, is_shown), upto) in sums.iter().zip(is_shown).zip(upto).skip(from) {
        if *is_shown {
            below = below.saturating_add(known(*sum));
        }
        *upto = below;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is alive of each shown group and those below it, looked up block by block.
    fn expected(len: usize, blocks: &[(Range<u32>, u64, u8)], is_shown: &[bool]) -> Vec<Vec<u64>> {
        let of = |step: usize, group: usize| {
            let alive = blocks.iter().filter(|(steps, _, of)| {
                steps.contains(&(step as u32)) && usize::from(*of) == group
            });
            alive.map(|(_, bytes, _)| bytes).sum::<u64>()
        };
        let layer = |group: usize| {
            let all =
                |step| (0..=group).filter(|of| is_shown[*of]).map(|group| of(step, group)).sum();
            if is_shown[group] { (0..len).map(all).collect() } else { Vec::new() }
        };
        (0..is_shown.len()).map(layer).collect()
    }

    proptest! {
        #[test]
        fn layers_are_what_is_alive(
            len in 1_usize..60,
            blocks in proptest::collection::vec((0_u32..60, 0_u32..70, 0_u64..9, 0_u8..3), 0..60),
            is_shown in proptest::collection::vec(any::<bool>(), 3),
        ) {
            let blocks: Vec<_> = blocks
                .into_iter()
                .map(|(start, end, bytes, group)| (start..end.max(start), bytes, group))
                .collect();
            let changes = StepChanges::of(len, blocks.iter().cloned());
            prop_assert_eq!(changes.layers(&is_shown), expected(len, &blocks, &is_shown));
            let whole = expected(len, &blocks, &[true; 3]).pop().unwrap_or_default();
            let alone = summed(len, blocks.iter().map(|(steps, bytes, _)| (steps.clone(), *bytes)));
            prop_assert_eq!(alone, whole);
        }
    }

    #[test]
    fn chunks_go_on_where_the_one_before_ended() {
        let len = 2 * CHUNK + 5;
        let blocks = (0..len as u32 / 2).map(|start| (start..start + CHUNK as u32, 7, 0));
        let layers = StepChanges::of(len, blocks.clone()).layers(&[true]);
        let mut now = 0_u64;
        let mut expected = vec![0_u64; len];
        for (step, value) in expected.iter_mut().enumerate() {
            now += if step < len / 2 { 7 } else { 0 };
            now -= if step >= CHUNK && step < CHUNK + len / 2 { 7 } else { 0 };
            *value = now;
        }
        assert!(layers == [expected]);
    }
}
