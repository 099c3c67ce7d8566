//! The blocks of a record one by one, with the calls of Python in which they were asked for.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::{BEFORE, OpenRecord};
use crate::run::allocations::{Allocation, Allocations, CodeFrame};
use crate::run::areas::AreasBy;
use crate::store::hlo::{AllocatorCall, RecordedBlock};
use crate::store::names::NameId;
use crate::text::grouped;

/// Blocks between two looks at whether anybody still waits.
const BLOCKS_PER_LOOK: usize = 1 << 14;
/// What is in use throughout, in the place of a row.
const THROUGHOUT: u32 = u32::MAX;

/// Blocks, the largest first.
#[derive(Debug)]
pub(super) struct RecordedBlocks {
    open: Arc<OpenRecord>,
    /// Rows among the blocks of the record, or [`THROUGHOUT`].
    rows: Vec<u32>,
    /// The stack of each row.
    of_rows: Vec<u32>,
    /// The calls of each stack, the innermost first: names.
    stacks: Vec<Vec<u32>>,
}

impl RecordedBlocks {
    /// Those that are in use at an event, or all; `None` where they are not known, or when it was canceled.
    pub(super) fn of(
        open: &Arc<OpenRecord>,
        event: Option<usize>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Self> {
        let blocks = open.blocks.as_ref()?;
        let event = event.map(|event| u32::try_from(event).unwrap_or(u32::MAX));
        let mut rows: Vec<u32> = Vec::new();
        for (row, block) in (0_u32..).zip(blocks) {
            if (row as usize).is_multiple_of(BLOCKS_PER_LOOK) && is_cancelled() {
                return None;
            }
            if event.is_none_or(|event| block.events().contains(&event)) {
                rows.push(row);
            }
        }
        rows.extend((open.always_live_bytes() > 0).then_some(THROUGHOUT));
        let mut list =
            Self { open: Arc::clone(open), rows, of_rows: Vec::new(), stacks: Vec::new() };
        list.rows.sort_by_key(|row| (Reverse(open.bytes_of_block(*row)), *row));
        let mut known: HashMap<u32, u32> = HashMap::new();
        for row in &list.rows {
            let call = open.block(*row).and_then(|block| open.call_of(block));
            let stacks = &mut list.stacks;
            let next = u32::try_from(stacks.len()).unwrap_or(u32::MAX);
            list.of_rows.push(call.map_or(u32::MAX, |call| {
                *known.entry(call).or_insert_with(|| {
                    stacks.push(open.record.names_of_call(call).map(|name| name.0).collect());
                    next
                })
            }));
        }
        Some(list)
    }

    fn block(&self, row: usize) -> Option<&RecordedBlock> {
        self.open.block(*self.rows.get(row)?)
    }
}

impl OpenRecord {
    fn block(&self, row: u32) -> Option<&RecordedBlock> {
        self.blocks.as_ref()?.get(row as usize)
    }

    fn bytes_of_block(&self, row: u32) -> u64 {
        self.block(row).map_or_else(|| self.always_live_bytes(), |block| block.bytes)
    }

    /// The innermost call of Python in which a block was asked for.
    fn call_of(&self, block: &RecordedBlock) -> Option<u32> {
        let event = self.record.events.get(block.from? as usize)?;
        (event.call != AllocatorCall::NONE).then_some(event.call)
    }

    /// From which event to which a block is in use.
    pub(super) fn life_text(&self, block: &RecordedBlock) -> String {
        let event = |place: u32| format!("event {}", grouped(place.into()));
        let from = block.from.map_or_else(|| "before the first event".to_owned(), event);
        let is_open = block.to as usize >= self.record.events.len();
        let to = if is_open { "the end".to_owned() } else { event(block.to) };
        format!("{from} to {to}")
    }
}

impl Allocations for RecordedBlocks {
    fn titles(&self) -> (&'static str, bool) {
        ("Asked for in", false)
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, row: usize) -> Option<Allocation> {
        let events = &self.open.record.events;
        let of = *self.rows.get(row)?;
        let Some(block) = self.open.block(of) else {
            return Some(Allocation {
                bytes: self.open.bytes_of_block(of),
                category: Some(BEFORE.to_owned()),
                steps: events.len() as u64,
                life: "before the first event to the end".to_owned(),
                ..Allocation::default()
            });
        };
        let event = events.get(block.from.unwrap_or(block.to) as usize);
        let address = event.and_then(|event| event.address);
        Some(Allocation {
            bytes: block.bytes,
            category: Some(self.open.title(block).to_owned()),
            from: block.from.map(u64::from),
            steps: block.events().len() as u64,
            address: address.map_or_else(String::new, |address| format!("{address:#x}")),
            life: self.open.life_text(block),
            ..Allocation::default()
        })
    }

    fn bytes(&self, row: usize) -> [u64; 2] {
        self.rows.get(row).map_or([0; 2], |row| [self.open.bytes_of_block(*row); 2])
    }

    fn step(&self, row: usize) -> Option<usize> {
        Some(self.block(row)?.from? as usize)
    }

    fn key(&self, row: usize) -> (u32, u32) {
        (0, self.rows.get(row).copied().unwrap_or(THROUGHOUT))
    }

    fn stack(&self, row: usize) -> usize {
        let stack = self.of_rows.get(row).map_or(usize::MAX, |stack| *stack as usize);
        stack.min(self.stacks.len())
    }

    fn stacks(&self) -> usize {
        self.stacks.len()
    }

    fn frames_of(&self, stack: usize) -> &[u32] {
        self.stacks.get(stack).map_or(&[], Vec::as_slice)
    }

    fn frames(&self) -> usize {
        self.open.record.texts.len()
    }

    fn frame(&self, frame: u32) -> CodeFrame {
        let title = self.open.record.texts.get(NameId(frame)).to_owned();
        CodeFrame { title, is_own: true, is_in_paths: true }
    }

    fn code(&self, stack: usize, _: AreasBy) -> Cow<'_, str> {
        let innermost = self.frames_of(stack).first();
        Cow::Borrowed(innermost.map_or("", |frame| self.open.record.texts.get(NameId(*frame))))
    }

    fn has_devices(&self) -> bool {
        false
    }
}
