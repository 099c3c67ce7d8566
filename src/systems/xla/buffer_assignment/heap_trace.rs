//! XLA's own simulation of an allocation, replayed (formats/xla.md 5.5).

use std::collections::{BTreeMap, HashMap};

use crate::store::hlo::{HeapEvent, HeapEventKind, HeapTrace, HloModule, ValueId};

/// What a trace comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedTrace {
    /// The most that it has at once, bytes.
    pub peak_bytes: u64,
    /// The event after which it has them first, from 0.
    pub peak_event: usize,
    /// What it has after the last event, bytes; 0 where it is whole.
    pub left_at_end_bytes: u64,
}

/// The traces of a module by the row of their allocation, of each the first. What a trace says of its allocation is wrong
/// in practice: its first value tells it.
pub fn traces_by_allocation(module: &HloModule) -> BTreeMap<u32, &HeapTrace> {
    let mut allocation_of: Vec<Option<u32>> = vec![None; module.values.len()];
    for assigned in &module.assigned {
        if let Some(slot) = allocation_of.get_mut(assigned.value.0 as usize) {
            *slot = Some(assigned.allocation);
        }
    }
    let mut traces: BTreeMap<u32, &HeapTrace> = BTreeMap::new();
    for trace in &module.traces {
        let first = trace.events.first().map(|event| event.value.0 as usize);
        let allocation = first.and_then(|value| allocation_of.get(value).copied().flatten());
        if let Some(allocation) = allocation {
            traces.entry(allocation).or_insert(trace);
        }
    }
    traces
}

pub fn replay(module: &HloModule, trace: &HeapTrace) -> ReplayedTrace {
    let mut simulation = Simulation::of(module);
    let mut replayed = ReplayedTrace { peak_bytes: 0, peak_event: 0, left_at_end_bytes: 0 };
    for (row, event) in trace.events.iter().enumerate() {
        simulation.follow(event);
        if simulation.bytes > replayed.peak_bytes {
            (replayed.peak_bytes, replayed.peak_event) = (simulation.bytes, row);
        }
    }
    replayed.left_at_end_bytes = simulation.bytes;
    replayed
}

/// What an event does to the life of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventEffect {
    Begins,
    Ends,
    /// Nothing: the value is there already, or is not there any more.
    Nothing,
}

/// Follows the events of a trace one after the other.
pub(super) struct Simulation<'a> {
    module: &'a HloModule,
    /// Of a value that shares memory the one with which it does, also when it is gone.
    shared: HashMap<ValueId, ValueId>,
    /// The values that are there, each with the one whose memory it is in.
    there: HashMap<ValueId, ValueId>,
    /// By how many the memory of a value is in use.
    references: HashMap<ValueId, u64>,
    /// What is in use behind the event.
    bytes: u64,
}

impl<'a> Simulation<'a> {
    pub fn of(module: &'a HloModule) -> Self {
        let (shared, there, references) = Default::default();
        Self { module, shared, there, references, bytes: 0 }
    }

    pub fn follow(&mut self, event: &HeapEvent) -> EventEffect {
        let value = event.value;
        if event.kind == HeapEventKind::Free {
            let Some(root) = self.there.remove(&value) else { return EventEffect::Nothing };
            let count = self.references.entry(root).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.bytes = self.bytes.saturating_sub(self.bytes_of(root));
            }
            return EventEffect::Ends;
        }
        if self.there.contains_key(&value) {
            return EventEffect::Nothing;
        }
        // A value that shares with itself, or with none that is known, has memory of its own.
        let root = match event.kind {
            HeapEventKind::ShareWith if self.module.value(event.shared_with).is_some() => {
                root_of(&mut self.shared, event.shared_with)
            }
            _ => value,
        };
        if root == value {
            self.shared.remove(&value);
        } else {
            self.shared.insert(value, root);
        }
        self.there.insert(value, root);
        let count = self.references.entry(root).or_default();
        let is_first = *count == 0;
        *count = count.saturating_add(1);
        if is_first {
            self.bytes = self.bytes.saturating_add(self.bytes_of(root));
        }
        EventEffect::Begins
    }

    fn bytes_of(&self, value: ValueId) -> u64 {
        self.module.value(value).map_or(0, |value| value.bytes)
    }
}

/// The value at the end of a chain, which is made shorter on the way; a ring ends where it began.
fn root_of(shared: &mut HashMap<ValueId, ValueId>, value: ValueId) -> ValueId {
    let (mut root, mut left) = (value, shared.len());
    while let Some(next) = shared.get(&root).filter(|_| left > 0) {
        (root, left) = (*next, left - 1);
    }
    let mut at = value;
    while let Some(next) = shared.get_mut(&at).filter(|next| **next != root) {
        at = std::mem::replace(next, root);
        if at == root {
            break;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::hlo::{HloValue, InstructionId};
    use crate::store::names::NameId;

    /// What is in use behind each event of values of 1, 2, 4 … bytes: what happens, to which, and with which it shares.
    fn curve(events: &[(HeapEventKind, u32, u32)]) -> Vec<u64> {
        let value = |row: u32| HloValue {
            id: row.into(),
            bytes: 1 << row,
            instruction: InstructionId::NONE,
            place: 0,
        };
        let module = HloModule { values: (0..4).map(value).collect(), ..HloModule::default() };
        let mut simulation = Simulation::of(&module);
        let follow = |(kind, value, shared_with): &(HeapEventKind, u32, u32)| {
            simulation.follow(&HeapEvent {
                kind: *kind,
                value: ValueId(*value),
                shared_with: ValueId(*shared_with),
                instruction: NameId::NONE,
            });
            simulation.bytes
        };
        events.iter().map(follow).collect()
    }

    #[test]
    fn memory_is_in_use_until_the_last_that_shares_it_is_gone() {
        use HeapEventKind::{Alloc, Free, ShareWith};
        let chain = [(Alloc, 0, 9), (ShareWith, 1, 0), (ShareWith, 2, 1), (Free, 0, 9)];
        assert_eq!(curve(&[&chain[..], &[(Free, 1, 9), (Free, 2, 9)]].concat())[3..], [1, 1, 0]);
        // It is used again by one that shares it.
        let again = [(Alloc, 1, 9), (Free, 1, 9), (ShareWith, 0, 1), (Free, 0, 9)];
        assert_eq!(curve(&again), [2, 0, 2, 0]);
    }

    #[test]
    fn what_cannot_be_changes_nothing() {
        use HeapEventKind::{Alloc, Free, ShareWith};
        assert_eq!(
            curve(&[(Free, 0, 9), (Alloc, 0, 9), (Alloc, 0, 9), (Free, 0, 9)]),
            [0, 1, 1, 0]
        );
        let twice = [(Alloc, 0, 9), (ShareWith, 1, 0), (Free, 1, 9), (Free, 1, 9), (Free, 0, 9)];
        assert_eq!(curve(&twice), [1, 1, 1, 1, 0], "the first is still there");
        // Rings, and one that is not known.
        let ring = [(ShareWith, 0, 1), (ShareWith, 1, 0), (Free, 1, 9), (ShareWith, 2, 2)];
        assert_eq!(curve(&ring), [2, 2, 2, 6]);
        assert_eq!(curve(&[(ShareWith, 2, 9)]), [4]);
        assert_eq!(curve(&[(Alloc, 9, 9), (Free, 9, 9)]), [0, 0]);
    }
}
