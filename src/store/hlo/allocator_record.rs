//! What the allocator of a device did while a profile was recorded (formats/xla.md 4.4).

use std::collections::HashMap;
use std::ops::Range;

use serde::Serialize;

use crate::store::names::{NameId, Names};

/// The events of one allocator, by their times.
#[derive(Clone, Debug, Default)]
pub struct AllocatorRecord {
    /// How the allocator calls itself: `GPU_0_bfc`.
    pub name: String,
    /// The device whose memory it gives out, as the profile calls it: `GPU:0`. `None` where no device has such a name.
    pub device: Option<String>,
    /// Bytes that this device has.
    pub memory_bytes: Option<u64>,
    /// Bytes that the allocator may take at most: what is in use, reserved and available. `None` where events contradict each
    /// other, or do not say it.
    pub limit_bytes: Option<u64>,
    /// Most bytes in use since the process began, as the events state it: it may have been before the first of them.
    pub process_peak_bytes: Option<u64>,
    /// The events, in the order of their times.
    pub events: Vec<AllocatorEvent>,
    /// Texts of the events.
    pub texts: Names,
    /// Calls of Python within which there were events, each behind the one that it is called from.
    pub calls: Vec<AllocatorCall>,
}

/// An allocation or a deallocation. What the profile does not say of it is `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllocatorEvent {
    /// Nanoseconds from the first event of any allocator in the profile.
    pub time_ns: u64,
    /// Whether it is an allocation.
    pub is_allocation: bool,
    /// Bytes that are in use behind it.
    pub in_use_bytes: u64,
    /// Bytes that the allocator could still take behind it.
    pub available_bytes: Option<u64>,
    /// Most bytes in use since the process began.
    pub peak_bytes: Option<u64>,
    /// Bytes that were asked for.
    pub requested_bytes: Option<u64>,
    /// Bytes of the block, which is rounded up.
    pub block_bytes: Option<u64>,
    /// Where the block lies.
    pub address: Option<u64>,
    /// Of what the allocator holds and is free, the part that is not in its largest free piece: 0 to 1.
    pub fragmentation: Option<f64>,
    /// The operation that asked, in TensorFlow, or [`NameId::NONE`].
    pub operation: NameId,
    /// Element type and shape of what it is for, or [`NameId::NONE`].
    pub shape: NameId,
    /// The program that was started when it asked, or [`NameId::NONE`].
    pub program: NameId,
    /// The innermost call of Python, a row of [`AllocatorRecord::calls`], or [`AllocatorCall::NONE`].
    pub call: u32,
}

/// A call of Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AllocatorCall {
    /// The row of the call that it is called from, or [`Self::NONE`].
    pub caller: u32,
    /// Where it is: `model.py:29 attention`.
    pub name: NameId,
}

impl AllocatorCall {
    /// In place of a row: no call.
    pub const NONE: u32 = u32::MAX;
}

/// A block of memory, and when it was in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedBlock {
    /// The event that allocated it; `None` where that was before the first.
    pub from: Option<u32>,
    /// The event that freed it, or the number of events.
    pub to: u32,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes of them that nobody asked for: blocks are rounded up, and not always split.
    pub spare_bytes: u64,
}

impl RecordedBlock {
    /// The events behind which it is in use.
    pub fn events(&self) -> Range<u32> {
        self.from.unwrap_or(0)..self.to
    }
}

/// The figures of a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AllocatorFigures {
    /// How the allocator calls itself.
    pub allocator: String,
    /// The device whose memory it gives out.
    pub device: Option<String>,
    /// Bytes that this device has.
    pub memory_bytes: Option<u64>,
    /// Bytes that the allocator may take at most.
    pub limit_bytes: Option<u64>,
    /// Number of events.
    pub events: usize,
    /// From the first event to the last.
    pub duration_ns: u64,
    /// Bytes in use before the first event.
    pub first_in_use_bytes: u64,
    /// Bytes in use behind the last.
    pub last_in_use_bytes: u64,
    /// Most bytes in use behind any of them.
    pub peak_in_use_bytes: u64,
    /// The first event behind which that was so.
    pub peak_event: usize,
    /// Its time, from the first event of any allocator.
    pub peak_time_ns: u64,
    /// The program that was started then.
    pub peak_program: Option<String>,
    /// The operation that asked.
    pub peak_operation: Option<String>,
    /// The fragmentation then.
    pub peak_fragmentation: Option<f64>,
    /// Most bytes in use since the process began.
    pub process_peak_bytes: Option<u64>,
}

impl AllocatorRecord {
    /// A text of an event.
    pub fn text(&self, name: NameId) -> Option<&str> {
        (name != NameId::NONE).then(|| self.texts.get(name))
    }

    /// The bytes that there are for the allocator.
    pub fn capacity_bytes(&self) -> Option<u64> {
        self.limit_bytes.into_iter().chain(self.memory_bytes).min()
    }

    /// Bytes in use before the first event.
    pub fn first_in_use_bytes(&self) -> u64 {
        let Some(first) = self.events.first() else { return 0 };
        let bytes = first.block_bytes.unwrap_or(0);
        if first.is_allocation {
            first.in_use_bytes.saturating_sub(bytes)
        } else {
            first.in_use_bytes.saturating_add(bytes)
        }
    }

    /// The first event behind which most is in use.
    pub fn peak(&self) -> Option<(usize, &AllocatorEvent)> {
        let most = self.events.iter().map(|event| event.in_use_bytes).max()?;
        self.events.iter().enumerate().find(|(_, event)| event.in_use_bytes == most)
    }

    /// What is said of it in a few lines; `None` where it has no event.
    pub fn figures(&self) -> Option<AllocatorFigures> {
        let (peak_event, peak) = self.peak()?;
        let (first, last) = self.events.first().zip(self.events.last())?;
        let text = |name| self.text(name).map(str::to_owned);
        Some(AllocatorFigures {
            allocator: self.name.clone(),
            device: self.device.clone(),
            memory_bytes: self.memory_bytes,
            limit_bytes: self.limit_bytes,
            events: self.events.len(),
            duration_ns: last.time_ns.saturating_sub(first.time_ns),
            first_in_use_bytes: self.first_in_use_bytes(),
            last_in_use_bytes: last.in_use_bytes,
            peak_in_use_bytes: peak.in_use_bytes,
            peak_event,
            peak_time_ns: peak.time_ns,
            peak_program: text(peak.program),
            peak_operation: text(peak.operation),
            peak_fragmentation: peak.fragmentation,
            process_peak_bytes: self.process_peak_bytes,
        })
    }

    /// The blocks that were allocated or freed, those of earlier events first; `None` where an event does not say which
    /// block it is about. A block whose address is allocated again ends there.
    pub fn blocks(&self) -> Option<Vec<RecordedBlock>> {
        let end = u32::try_from(self.events.len()).ok()?;
        let mut blocks: Vec<RecordedBlock> = Vec::new();
        let mut at_address: HashMap<u64, usize> = HashMap::new();
        for (place, event) in (0..).zip(&self.events) {
            let (address, bytes) = (event.address?, event.block_bytes?);
            let spare_bytes = bytes.saturating_sub(event.requested_bytes.unwrap_or(bytes));
            let known = at_address.remove(&address).and_then(|row| blocks.get_mut(row));
            let is_known = known.is_some();
            if let Some(block) = known {
                block.to = place;
            }
            if event.is_allocation {
                at_address.insert(address, blocks.len());
                blocks.push(RecordedBlock { from: Some(place), to: end, bytes, spare_bytes });
            } else if !is_known {
                blocks.push(RecordedBlock { from: None, to: place, bytes, spare_bytes });
            }
        }
        Some(blocks)
    }

    /// The events at which the bytes in use change by something else than the bytes of the block.
    pub fn contradictions(&self) -> usize {
        let changes = self.events.iter().zip(self.events.iter().skip(1));
        let is_other = |(before, event): &(&AllocatorEvent, &AllocatorEvent)| {
            let Some(bytes) = event.block_bytes else { return false };
            let expected = if event.is_allocation {
                before.in_use_bytes.checked_add(bytes)
            } else {
                before.in_use_bytes.checked_sub(bytes)
            };
            expected != Some(event.in_use_bytes)
        };
        changes.filter(is_other).count()
    }

    /// A call and those that it is called from, the innermost first: their names.
    pub fn names_of_call(&self, call: u32) -> impl Iterator<Item = NameId> {
        let mut next = call;
        std::iter::from_fn(move || {
            let call = self.calls.get(next as usize)?;
            // Callers come first, so that this ends.
            next = if call.caller < next { call.caller } else { AllocatorCall::NONE };
            Some(call.name)
        })
    }

    /// The calls of an event, the innermost first.
    pub fn calls_of(&self, event: &AllocatorEvent) -> impl Iterator<Item = &str> {
        self.names_of_call(event.call).map(|name| self.texts.get(name))
    }

    /// What an event is called: its operation, else the program that was started, else the innermost call.
    pub fn title(&self, event: &AllocatorEvent) -> Option<&str> {
        let named = self.text(event.operation).or_else(|| self.text(event.program));
        named.or_else(|| self.calls_of(event).next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(is_allocation: bool, address: u64, bytes: u64, in_use_bytes: u64) -> AllocatorEvent {
        AllocatorEvent {
            time_ns: 0,
            is_allocation,
            in_use_bytes,
            available_bytes: None,
            peak_bytes: None,
            requested_bytes: None,
            block_bytes: Some(bytes),
            address: Some(address),
            fragmentation: None,
            operation: NameId::NONE,
            shape: NameId::NONE,
            program: NameId::NONE,
            call: AllocatorCall::NONE,
        }
    }

    fn record(events: Vec<AllocatorEvent>) -> AllocatorRecord {
        AllocatorRecord { events, ..AllocatorRecord::default() }
    }

    #[test]
    fn blocks_are_paired_by_their_addresses() {
        let events = vec![
            event(true, 8, 10, 110),
            event(false, 4, 30, 80),
            event(false, 8, 10, 70),
            event(true, 8, 20, 90),
            event(true, 8, 20, 110),
        ];
        let of = record(events);
        let blocks = of.blocks().unwrap();
        let lives: Vec<_> =
            blocks.iter().map(|block| (block.from, block.to, block.bytes)).collect();
        // What is allocated at one address twice was freed without an event.
        let expected = [(Some(0), 2, 10), (None, 1, 30), (Some(3), 4, 20), (Some(4), 5, 20)];
        assert_eq!(lives, expected);
        assert_eq!((of.first_in_use_bytes(), of.contradictions()), (100, 0));
        assert_eq!(of.peak().map(|(place, _)| place), Some(0), "the first of equals");
        let unknown = record(vec![AllocatorEvent { address: None, ..event(true, 0, 1, 1) }]);
        assert_eq!(unknown.blocks(), None);
        let wrong = record(vec![event(false, 8, 10, 5), event(true, 8, 10, 16)]);
        assert_eq!((wrong.first_in_use_bytes(), wrong.contradictions()), (15, 1));
        assert_eq!(record(Vec::new()).figures(), None);
    }

    #[test]
    fn calls_that_call_each_other_end() {
        let mut of = record(vec![AllocatorEvent { call: 1, ..event(true, 8, 1, 1) }]);
        let [outer, inner] = ["a", "b"].map(|name| of.texts.push(name));
        of.calls = vec![
            AllocatorCall { caller: 1, name: outer },
            AllocatorCall { caller: 0, name: inner },
        ];
        let calls: Vec<_> = of.calls_of(&of.events[0]).collect();
        assert_eq!(calls, ["b", "a"]);
        assert_eq!(of.title(&of.events[0]), Some("b"));
    }
}
