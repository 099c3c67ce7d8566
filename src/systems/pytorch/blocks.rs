//! The blocks of a snapshot as allocations, a row each.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

use super::allocator::lives::BlockLives;
use super::allocator::replayed::ReplayedSnapshot;
use super::areas::devices_of;
use super::event_said::{address_text, code_frame, life_text};
use crate::analysis::liveness::Scope;
use crate::run::allocations::{Allocation, Allocations, CodeFrame};
use crate::run::areas::AreasBy;
use crate::store::snapshot::StackId;

/// Blocks between two looks at whether anybody still waits.
const BLOCKS_PER_LOOK: usize = 4096;

/// Some blocks of a snapshot, the largest first.
#[derive(Debug)]
pub struct BlockList {
    replayed: Arc<ReplayedSnapshot>,
    /// The place of the device, and the block.
    rows: Vec<(u32, u32)>,
    has_devices: bool,
}

impl BlockList {
    /// Of some blocks: the place of the device of each, and its row there.
    pub fn of(replayed: &Arc<ReplayedSnapshot>, mut rows: Vec<(u32, u32)>) -> Self {
        rows.sort_by_key(|(place, row)| {
            let lives = replayed.replays.get(*place as usize).map(|replay| &replay.lives);
            let bytes = lives.and_then(|lives| lives.requested.get(*row as usize));
            (Reverse(bytes.copied().unwrap_or(0)), *place, *row)
        });
        // Who draws rows does not wait for these.
        for place in 0..replayed.replays.len() {
            replayed.categories(place);
            replayed.index(place);
        }
        replayed.code_names(AreasBy::Line);
        let has_devices = replayed.snapshot.all_devices().count() > 1;
        Self { replayed: Arc::clone(replayed), rows, has_devices }
    }

    /// The device and the block of a row.
    fn at(&self, row: usize) -> Option<(usize, usize)> {
        self.rows.get(row).map(|(place, row)| (*place as usize, *row as usize))
    }

    fn lives(&self, place: usize) -> Option<&BlockLives> {
        self.replayed.replays.get(place).map(|replay| &replay.lives)
    }
}

/// The blocks of a scope that are alive at a step, or all of them: the place of the device of each, and its row there. `None`
/// of a segment, or when it was canceled.
pub fn blocks_alive(
    replayed: &ReplayedSnapshot,
    scope: Scope,
    step: Option<usize>,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<(u32, u32)>> {
    let devices = devices_of(replayed, scope)?;
    let mut rows = Vec::new();
    for (place, (_, replay)) in replayed.devices().enumerate() {
        if !devices.has(&replayed.snapshot, place) {
            continue;
        }
        let lives = &replay.lives;
        for row in 0..lives.len() {
            if row.is_multiple_of(BLOCKS_PER_LOOK) && is_cancelled() {
                return None;
            }
            let is_alive = step.is_none_or(|step| {
                let from = lives.allocation(row).unwrap_or(0);
                // One that is never given back has the largest number there is.
                (from as usize) <= step && step < lives.freed_at[row] as usize
            });
            if is_alive {
                rows.push((place as u32, row as u32));
            }
        }
    }
    Some(rows)
}

impl Allocations for BlockList {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, row: usize) -> Option<Allocation> {
        let (place, row) = self.at(row)?;
        let (device, replay) = self.replayed.device(place)?;
        let lives = &replay.lives;
        let from = lives.allocation(row);
        let until = match *lives.freed_at.get(row)? {
            BlockLives::OPEN => device.events.len() as u64,
            event => u64::from(event),
        };
        let number = self.replayed.index(place).map_or(0, |index| index.number(row));
        Some(Allocation {
            bytes: *lives.requested.get(row)?,
            taken: lives.bytes.get(row).copied(),
            category: (self.replayed.categories(place).get(row))
                .map(|category| category.title().to_owned()),
            from: from.map(u64::from),
            steps: until.saturating_sub(u64::from(from.unwrap_or(0))),
            address: address_text(*lives.addresses.get(row)?, number),
            device: if self.has_devices { device.title() } else { String::new() },
            life: life_text(lives, row, device.events.len()),
        })
    }

    fn bytes(&self, row: usize) -> [u64; 2] {
        let of = |column: &[u64], row: usize| column.get(row).copied().unwrap_or(0);
        let lives = self.at(row).and_then(|(place, row)| Some((self.lives(place)?, row)));
        lives.map_or([0; 2], |(lives, row)| [of(&lives.requested, row), of(&lives.bytes, row)])
    }

    fn step(&self, row: usize) -> Option<usize> {
        let (place, row) = self.at(row)?;
        Some(self.lives(place)?.allocation(row)? as usize)
    }

    fn key(&self, row: usize) -> (u32, u32) {
        self.rows.get(row).copied().unwrap_or((u32::MAX, u32::MAX))
    }

    fn stack(&self, row: usize) -> usize {
        let stack = self.at(row).and_then(|(place, row)| self.lives(place)?.stacks.get(row));
        (stack.copied().unwrap_or(StackId::NONE).0 as usize).min(self.stacks())
    }

    fn stacks(&self) -> usize {
        self.replayed.snapshot.stacks.len()
    }

    fn frames_of(&self, stack: usize) -> &[u32] {
        let stack = u32::try_from(stack).map_or(StackId::NONE, StackId);
        self.replayed.snapshot.stacks.frames_of(stack)
    }

    fn frames(&self) -> usize {
        self.replayed.snapshot.frames.len()
    }

    fn frame(&self, frame: u32) -> CodeFrame {
        let snapshot = &self.replayed.snapshot;
        let frame = snapshot.frames.get(frame as usize);
        frame.map_or_else(CodeFrame::default, |frame| code_frame(snapshot, frame))
    }

    fn code(&self, stack: usize, by: AreasBy) -> Cow<'_, str> {
        let names = self.replayed.code_names(by);
        Cow::Borrowed(names.title_of(u32::try_from(stack).map_or(StackId::NONE, StackId)))
    }

    fn has_devices(&self) -> bool {
        self.has_devices
    }
}
