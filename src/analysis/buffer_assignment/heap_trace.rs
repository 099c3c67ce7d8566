//! XLA's own simulation of an allocation, replayed (formats/xla.md 5.5).

use std::collections::{BTreeMap, HashMap};

use crate::store::hlo::{HeapEventKind, HeapTrace, HloModule, ValueId};

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

/// Replays a trace.
pub fn replay(module: &HloModule, trace: &HeapTrace) -> ReplayedTrace {
    // Of a value that shares memory the one with which it does; of others how often it is in use.
    let mut shared: HashMap<ValueId, ValueId> = HashMap::new();
    let mut references: HashMap<ValueId, u64> = HashMap::new();
    let bytes = |value: ValueId| module.value(value).map_or(0, |value| value.bytes);
    let mut now = 0_u64;
    let mut replayed = ReplayedTrace { peak_bytes: 0, peak_event: 0, left_at_end_bytes: 0 };
    for (row, event) in trace.events.iter().enumerate() {
        match event.kind {
            HeapEventKind::Alloc => {
                shared.remove(&event.value);
                *references.entry(event.value).or_default() += 1;
                now = now.saturating_add(bytes(event.value));
            }
            HeapEventKind::ShareWith => {
                let root = root_of(&mut shared, event.shared_with);
                // A ring of values, or one that shares with itself, has no root.
                if root != event.value {
                    shared.insert(event.value, root);
                }
                let count = references.entry(root).or_default();
                if *count == 0 {
                    now = now.saturating_add(bytes(root));
                }
                *count += 1;
            }
            HeapEventKind::Free => {
                let root = root_of(&mut shared, event.value);
                if let Some(count) = references.get_mut(&root).filter(|count| **count > 0) {
                    *count -= 1;
                    if *count == 0 {
                        now = now.saturating_sub(bytes(root));
                    }
                }
            }
        }
        if now > replayed.peak_bytes {
            (replayed.peak_bytes, replayed.peak_event) = (now, row);
        }
    }
    replayed.left_at_end_bytes = now;
    replayed
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
