//! The map of a device of a snapshot: its segments side by side, with the blocks that lie in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::allocator::categories::BlockCategory;
use super::allocator::failed_requests::last_failed;
use super::allocator::lives::BlockLives;
use super::allocator::replayed::ReplayedSnapshot;
use super::allocator::segment_map::{event_at, map_cells, segment_axis, segment_of, segments_at};
use super::blocks::BlockList;
use super::event_said::{address_text, life_text, stack_of};
use crate::analysis::liveness::Scope;
use crate::run::Cell;
use crate::run::arena_map::{
    ArenaAxis, ArenaMap, ArenaMoment, BlockSaid, MapCells, MapLegend, MapWindow, PlacedBlock,
};
use crate::store::DeviceId;
use crate::store::snapshot::{Action, StackId};
use crate::text::grouped;

/// Blocks between two looks at whether anybody still waits.
const BLOCKS_PER_LOOK: usize = 4096;

#[derive(Debug)]
pub struct SegmentMap {
    replayed: Arc<ReplayedSnapshot>,
    device: usize,
    axis: ArenaAxis,
    legend: MapLegend,
    first_step: usize,
}

impl SegmentMap {
    /// Of the device at a place.
    pub fn of(replayed: &Arc<ReplayedSnapshot>, device: usize) -> Option<Self> {
        let lives = &replayed.device(device)?.1.lives;
        let of_blocks = replayed.categories(device);
        let is_there = |category: &BlockCategory| of_blocks.contains(category);
        let categories = BlockCategory::ALL.into_iter().filter(is_there);
        let rows = || 0..lives.len();
        let waits =
            |row: usize| lives.requested_free_at[row].saturating_add(1) < lives.freed_at[row];
        Some(Self {
            legend: MapLegend {
                categories: categories.map(|category| category.title().to_owned()).collect(),
                is_reserved: true,
                has_rounding: rows().any(|row| lives.bytes[row] > lives.requested[row]),
                waits: rows().any(waits).then_some("Waits for another stream"),
                ..MapLegend::default()
            },
            axis: segment_axis(replayed, device),
            first_step: first_step(replayed, device).unwrap_or(0),
            replayed: Arc::clone(replayed),
            device,
        })
    }

    fn lives(&self) -> Option<&BlockLives> {
        self.replayed.device(self.device).map(|(_, replay)| &replay.lives)
    }

    /// What was asked for at a step at which a request failed.
    fn failed_at(&self, step: usize) -> Option<u64> {
        let replayed = &self.replayed;
        let row = replayed.device(self.device)?.0.row(step)?;
        let is_failed = replayed.snapshot.events.actions.get(row) == Some(&Action::OutOfMemory);
        replayed.snapshot.events.sizes.get(row).copied().filter(|_| is_failed)
    }
}

/// The step of the request at which a run ended on a device, else that of the peak. Goes through all of its events.
fn first_step(replayed: &ReplayedSnapshot, device: usize) -> Option<usize> {
    let (device, replay) = replayed.device(device)?;
    let failed = last_failed(&replayed.snapshot, device).map(|failed| failed.event);
    let event = failed.or_else(|| u32::try_from(replay.requested_peak.event).ok())?;
    (!device.events.is_empty()).then_some(event as usize)
}

impl ArenaMap for SegmentMap {
    fn axis(&self) -> &ArenaAxis {
        &self.axis
    }

    fn legend(&self) -> &MapLegend {
        &self.legend
    }

    fn steps(&self) -> usize {
        self.replayed.device(self.device).map_or(1, |(device, _)| device.steps() as usize)
    }

    fn scope(&self) -> Scope {
        let device = self.replayed.device(self.device);
        device.map_or(Scope::Everything, |(of, _)| Scope::Device(DeviceId::of_number(of.number)))
    }

    fn first_step(&self) -> usize {
        self.first_step
    }

    fn category(&self, block: u32) -> Option<usize> {
        let title = self.replayed.categories(self.device).get(block as usize)?.title();
        self.legend.categories.iter().position(|other| *other == title)
    }

    fn cells(&self, window: MapWindow, is_cancelled: &dyn Fn() -> bool) -> Option<MapCells> {
        map_cells(&self.replayed, self.device, &self.axis, window, is_cancelled)
    }

    fn moment(
        &self,
        step: usize,
        arena: Option<usize>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<ArenaMoment> {
        let (replayed, place) = (&self.replayed, self.device);
        let (device, replay) = replayed.device(place)?;
        let at_step = u32::try_from(step).unwrap_or(u32::MAX);
        let event = event_at(device, at_step);
        let (categories, lives) = (replayed.categories(place), &replay.lives);
        let (mut by_category, mut listed, mut listed_bytes) = (BTreeMap::new(), Vec::new(), 0_u64);
        for (number, row) in lives.live_after(event).enumerate() {
            if number.is_multiple_of(BLOCKS_PER_LOOK) && is_cancelled() {
                return None;
            }
            if let Some(category) = categories.get(row) {
                let sum: &mut u64 = by_category.entry(*category).or_default();
                *sum = sum.saturating_add(lives.bytes[row]);
            }
            if arena.is_none_or(|wanted| segment_of(replayed, (place, row)) == Some(wanted)) {
                listed_bytes = listed_bytes.saturating_add(lives.requested[row]);
                listed.push((place as u32, row as u32));
            }
        }
        let by_category = by_category.into_iter();
        let mut by_category: Vec<(String, u64)> =
            by_category.map(|(category, bytes)| (category.title().to_owned(), bytes)).collect();
        by_category.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        Some(ArenaMoment {
            step,
            at: segments_at(replayed, place, &self.axis, at_step),
            by_category,
            allocations: Arc::new(BlockList::of(replayed, listed)),
            listed_bytes,
            failed: self.failed_at(step),
        })
    }

    fn place(&self, block: usize) -> Option<PlacedBlock> {
        let (device, replay) = self.replayed.device(self.device)?;
        let lives = &replay.lives;
        let (address, bytes) = (*lives.addresses.get(block)?, *lives.bytes.get(block)?);
        let from = lives.allocation(block).unwrap_or(0);
        let to = match *lives.freed_at.get(block)? {
            BlockLives::OPEN => device.steps(),
            event => event,
        };
        Some(PlacedBlock {
            arena: segment_of(&self.replayed, (self.device, block))?,
            addresses: address..address.saturating_add(bytes),
            steps: from..to,
        })
    }

    fn said(&self, block: usize) -> Option<BlockSaid> {
        let (replayed, place) = (&self.replayed, self.device);
        let (device, _) = replayed.device(place)?;
        let lives = self.lives()?;
        let of = |column: &[u64]| column.get(block).copied().unwrap_or(0);
        let (asked, bytes) = (of(&lives.requested), of(&lives.bytes));
        let mut facts = vec![("Asked", Cell::Bytes(asked)), ("Block", Cell::Bytes(bytes))];
        let rounding = bytes.saturating_sub(asked);
        if rounding > 0 {
            facts.push(("Rounding", Cell::Bytes(rounding)));
        }
        let number = replayed.known_index(place).map_or(0, |index| index.number(block));
        facts.push(("Address", Cell::Text(address_text(of(&lives.addresses), number))));
        let segment = segment_of(replayed, (place, block));
        facts.extend(segment.map(|segment| ("Segment", Cell::Text(segment.to_string()))));
        facts.push(("Lives", Cell::Text(life_text(lives, block, device.events.len()))));
        let given_back = lives.requested_free_at.get(block).zip(lives.freed_at.get(block));
        if let Some((given_back, _)) =
            given_back.filter(|(given_back, freed)| given_back.saturating_add(1) < **freed)
        {
            let event = grouped(u64::from(*given_back));
            let text = format!("waits for other streams from event {event}");
            facts.push(("Given back", Cell::Text(text)));
        }
        let category = replayed.categories(place).get(block);
        let stack = lives.stacks.get(block).copied().unwrap_or(StackId::NONE);
        Some(BlockSaid {
            title: category.map_or("Block", |category| category.title()).to_owned(),
            bytes,
            facts,
            rule: category.map_or("", |category| category.rule()),
            is_from_code: true,
            stack: stack_of(&replayed.snapshot, stack),
            variable: None,
        })
    }
}
