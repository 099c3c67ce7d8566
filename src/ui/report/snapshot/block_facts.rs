//! What is said of a block and of an event, for people.

use crate::store::snapshot::{Action, StackId};
use crate::systems::pytorch::allocator::block_index::BlockIndex;
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::text::{clean, counted, grouped, time_text};
use crate::ui::units::Units;

/// A fact: its name and what it says.
pub type NamedFact = (&'static str, String);

/// An address with its number among the blocks that were there: `0x7f00…#3`.
pub fn address_text(address: u64, number: u32) -> String {
    if number > 0 { format!("{address:#x}#{number}") } else { format!("{address:#x}") }
}

/// From which event to which a block lives.
pub fn life_text(lives: &BlockLives, row: usize, events: usize) -> String {
    let freed = lives.freed_at.get(row).copied().unwrap_or(BlockLives::OPEN);
    let from = lives.allocation(row);
    let count =
        |from: u32, to: usize| counted((to as u64).saturating_sub(u64::from(from)), "event");
    match (from, freed) {
        (None, BlockLives::OPEN) => "before the first event, to the end".to_owned(),
        (None, freed) => format!("before the first event, to {}", grouped(freed.into())),
        (Some(from), BlockLives::OPEN) => {
            format!("{} to the end, {}", grouped(from.into()), count(from, events))
        }
        (Some(from), freed) => {
            let (first, last) = (grouped(from.into()), grouped(freed.into()));
            format!("{first} to {last}, {}", count(from, freed as usize))
        }
    }
}

/// What an event did, in a few words: `alloc of 32.0 MiB`.
pub fn event_title(replayed: &ReplayedSnapshot, step: usize, units: Units) -> String {
    let events = &replayed.snapshot.events;
    let row = u32::try_from(step).ok().and_then(|step| replayed.axis().row(step));
    let Some((row, action)) = row.and_then(|row| Some((row, *events.actions.get(row)?))) else {
        return "the state at the end".to_owned();
    };
    let bytes = events.sizes.get(row).copied().unwrap_or(0);
    match action {
        Action::OutOfMemory => format!("out of memory, {} asked", units.bytes(bytes)),
        Action::Snapshot | Action::Unknown | Action::Annotate => action.as_str().to_owned(),
        _ => format!("{} of {}", action.as_str(), units.bytes(bytes)),
    }
}

/// The stack of an event; of a free that of the allocation where it has none.
pub fn stack_of_event(replayed: &ReplayedSnapshot, step: usize) -> StackId {
    let row = u32::try_from(step).ok().and_then(|step| replayed.axis().row(step));
    let stack = row.and_then(|row| replayed.snapshot.events.stacks.get(row));
    stack.copied().unwrap_or(StackId::NONE)
}

/// The place of the device of a step, and its event there.
pub fn event_of_step(replayed: &ReplayedSnapshot, step: usize) -> Option<(usize, u32)> {
    let row = replayed.axis().row(u32::try_from(step).ok()?)?;
    let mut devices = replayed.devices().enumerate();
    let (place, (device, _)) = devices.find(|(_, (device, _))| device.events.contains(&row))?;
    Some((place, u32::try_from(row - device.events.start).ok()?))
}

/// The facts of an event. `index` is that of its device, once it is known ([`super::prepare`]); `first_time` when the
/// first of its events was that says when, microseconds.
pub fn event_facts(
    replayed: &ReplayedSnapshot,
    (step, index): (usize, Option<&BlockIndex>),
    first_time: Option<i64>,
    units: Units,
) -> Vec<NamedFact> {
    let mut facts = Vec::new();
    let snapshot = &replayed.snapshot;
    let Some((place, event)) = event_of_step(replayed, step) else { return facts };
    let Some((device, replay)) = replayed.device(place) else { return facts };
    let row = device.events.start + event as usize;
    let events = &snapshot.events;
    let action = events.actions.get(row).copied().unwrap_or(Action::Unknown);
    let (bytes, address) = (
        events.sizes.get(row).copied().unwrap_or(0),
        events.addresses.get(row).copied().unwrap_or(0),
    );
    if snapshot.all_devices().count() > 1 {
        facts.push((
            "Device",
            format!("{}, its event {}", device.title(), grouped(u64::from(event))),
        ));
    }
    match action {
        Action::OutOfMemory => {
            facts.push(("Asked", units.exact(bytes)));
            if let Some(free) = events.device_free(row) {
                facts.push(("Free on the device", units.exact(free)));
            }
        }
        Action::Alloc | Action::FreeRequested | Action::FreeCompleted => {
            let block = index.and_then(|index| Some((index, index.row(event)?)));
            facts.push(("Asked", units.exact(bytes)));
            if let Some((index, block)) = block {
                let taken = replay.lives.bytes.get(block).copied().unwrap_or(0);
                facts.push(("Block", units.exact(taken)));
                facts.push(("Address", address_text(address, index.number(block))));
                let life = life_text(&replay.lives, block, device.events.len());
                facts.push(("Lives", life));
                if let Some(category) = replayed.categories(place).get(block) {
                    facts.push(("Category", category.title().to_owned()));
                }
            } else {
                facts.push(("Address", format!("{address:#x}")));
            }
        }
        Action::Snapshot | Action::Unknown => {}
        _ => {
            facts.push(("Size", units.exact(bytes)));
            facts.push(("Address", format!("{address:#x}")));
        }
    }
    let stream = events.streams.get(row).and_then(|stream| snapshot.streams.get(*stream as usize));
    if let Some(stream) = stream.filter(|stream| **stream != 0) {
        facts.push(("Stream", format!("{stream:#x}")));
    }
    if let Some((time, first)) = events.time(row).zip(first_time) {
        let since = time.saturating_sub(first);
        if let Ok(since) = u64::try_from(since) {
            facts.push(("Time from the first", time_text(since as f64 * 1e-6)));
        }
    }
    if let Some(text) = events.text(row) {
        facts.push(("Text", clean(snapshot.texts.get(text)).into_owned()));
    }
    facts
}
