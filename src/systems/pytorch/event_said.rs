//! An event of a snapshot: facts of it and of its block, and the code that asked.

use super::allocator::lives::BlockLives;
use super::allocator::replayed::ReplayedSnapshot;
use super::allocator::user_frame::{frame_title, is_python, is_users};
use crate::run::allocations::CodeFrame;
use crate::run::beside_curve::StepSaid;
use crate::run::section::Cell;
use crate::store::snapshot::{Action, Events, Frame, Snapshot, StackId};
use crate::text::{clean, counted, grouped, time_text};

/// What an event of the device at a place did; `None` of the end of a snapshot without events.
pub fn event_said(replayed: &ReplayedSnapshot, place: usize, step: usize) -> Option<StepSaid> {
    let (device, replay) = replayed.device(place)?;
    let (snapshot, events) = (&replayed.snapshot, &replayed.snapshot.events);
    let (event, row) = (u32::try_from(step).ok()?, device.row(step)?);
    let action = *events.actions.get(row)?;
    let bytes = events.sizes.get(row).copied().unwrap_or(0);
    let address = events.addresses.get(row).copied().unwrap_or(0);
    let block = replayed.index(place).and_then(|index| Some((index, index.row(event)?)));
    let mut facts: Vec<(&'static str, Cell)> = Vec::new();
    let mut text = |name, text: String| facts.push((name, Cell::Text(text)));
    if snapshot.all_devices().count() > 1 {
        text("Device", device.title());
    }
    let is_of_block =
        matches!(action, Action::Alloc | Action::FreeRequested | Action::FreeCompleted);
    match action {
        Action::Snapshot | Action::Unknown | Action::Annotate => {}
        Action::OutOfMemory => {
            facts.push(("Asked", Cell::Bytes(bytes)));
            if let Some(free) = events.device_free(row) {
                facts.push(("Free on the device", Cell::Bytes(free)));
            }
        }
        _ => {
            let (name, block) = if is_of_block { ("Asked", block) } else { ("Size", None) };
            facts.push((name, Cell::Bytes(bytes)));
            let number = block.map_or(0, |(index, block)| index.number(block));
            let taken = block.and_then(|(_, block)| replay.lives.bytes.get(block));
            facts.extend(taken.map(|taken| ("Block", Cell::Bytes(*taken))));
            facts.push(("Address", Cell::Text(address_text(address, number))));
            if let Some((_, block)) = block {
                let life = life_text(&replay.lives, block, device.events.len());
                facts.push(("Lives", Cell::Text(life)));
                let category = replayed.categories(place).get(block);
                let title = category.map(|category| Cell::Text(category.title().to_owned()));
                facts.extend(title.map(|title| ("Category", title)));
            }
        }
    }
    let stream = events.streams.get(row).and_then(|stream| snapshot.streams.get(*stream as usize));
    if let Some(stream) = stream.filter(|stream| **stream != 0) {
        facts.push(("Stream", Cell::Text(format!("{stream:#x}"))));
    }
    let first = device.events.clone().find_map(|row| events.time(row));
    let since = events.time(row).zip(first).map(|(time, first)| time.saturating_sub(first));
    if let Some(since) = since.and_then(|since| u64::try_from(since).ok()) {
        facts.push(("Time from the first", Cell::Text(time_text(since as f64 * 1e-6))));
    }
    if let Some(text) = events.text(row) {
        facts.push(("Text", Cell::Text(clean(snapshot.texts.get(text)).into_owned())));
    }
    let own = events.stacks.get(row).copied().unwrap_or(StackId::NONE);
    // A free seldom has a stack of its own.
    let (stack_title, stack) = if snapshot.frames_of(own).next().is_some() {
        ("Asked for by", own)
    } else {
        let of_block = block.and_then(|(_, block)| replay.lives.stacks.get(block));
        ("Allocated by", of_block.copied().unwrap_or(StackId::NONE))
    };
    let (title, bytes) = event_title(events, row, action);
    let stack = stack_of(snapshot, stack);
    let title = title.to_owned();
    Some(StepSaid { title, bytes, facts, stack_title, stack, has_stacks: true })
}

/// What an event did, in a few words, and the bytes that it was about.
fn event_title(events: &Events, row: usize, action: Action) -> (&'static str, Option<u64>) {
    match action {
        Action::Snapshot | Action::Unknown | Action::Annotate => (action.as_str(), None),
        Action::OutOfMemory => ("failed request", events.sizes.get(row).copied()),
        action => (action.as_str(), events.sizes.get(row).copied()),
    }
}

pub fn stack_of(snapshot: &Snapshot, stack: StackId) -> Vec<CodeFrame> {
    snapshot.frames_of(stack).map(|frame| code_frame(snapshot, frame)).collect()
}

/// A frame in the shape of every system.
pub(super) fn code_frame(snapshot: &Snapshot, frame: &Frame) -> CodeFrame {
    CodeFrame {
        title: frame_title(snapshot, frame),
        is_own: is_users(snapshot, frame),
        is_in_paths: is_python(snapshot, frame),
    }
}

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
