//! Tables of a lake that only memory snapshots have: of each device figures, events, blocks with their lives, segments;
//! and the frames of stacks.

use crate::format::Error;
use crate::run::ColumnKind::{Flag, Integer, Text};
use crate::run::tables::{flag, integer, integer_if, text};
use crate::run::{RunTable, TableRows, TableWriter};
use crate::store::snapshot::{Action, Events, StackId};
use crate::systems::pytorch::allocator::device_facts::DeviceFacts;
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::user_frame::{is_python, is_users, user_frame_title};

/// The tables.
pub(super) const TABLES: [RunTable; 5] = [DEVICES, EVENTS, BLOCKS, SEGMENTS, FRAMES];

const DEVICES: RunTable = RunTable {
    name: "devices",
    columns: &[
        ("device", Integer),
        ("rank", Integer),
        ("gpu", Integer),
        ("event_count", Integer),
        ("segment_count", Integer),
        ("block_count", Integer),
        ("history_complete", Flag),
        ("allocated_bytes", Integer),
        ("active_bytes", Integer),
        ("reserved_bytes", Integer),
        ("requested_bytes", Integer),
        ("rounding_bytes", Integer),
        ("inactive_bytes", Integer),
        ("largest_inactive_bytes", Integer),
        ("max_allocated_bytes", Integer),
        ("max_allocated_exact", Flag),
        ("max_active_bytes", Integer),
        ("max_reserved_bytes", Integer),
        ("requested_peak_bytes", Integer),
        ("requested_peak_event", Integer),
        ("failed_request_bytes", Integer),
    ],
};

const EVENTS: RunTable = RunTable {
    name: "events",
    columns: &[
        ("device", Integer),
        ("event", Integer),
        ("step", Integer),
        ("action", Text),
        ("address", Integer),
        ("bytes", Integer),
        ("device_free_bytes", Integer),
        ("stream", Integer),
        ("time_us", Integer),
        ("stack", Integer),
        ("text", Text),
    ],
};

const BLOCKS: RunTable = RunTable {
    name: "blocks",
    columns: &[
        ("device", Integer),
        ("block", Integer),
        ("address", Integer),
        ("requested_bytes", Integer),
        ("bytes", Integer),
        ("allocated_event", Integer),
        ("free_requested_event", Integer),
        ("freed_event", Integer),
        ("live_at_requested_peak", Flag),
        ("category", Text),
        ("stack", Integer),
        ("frame", Text),
    ],
};

const SEGMENTS: RunTable = RunTable {
    name: "segments",
    columns: &[
        ("device", Integer),
        ("address", Integer),
        ("bytes", Integer),
        ("expandable", Flag),
        ("first_event", Integer),
        ("end_event", Integer),
    ],
};

const FRAMES: RunTable = RunTable {
    name: "frames",
    columns: &[
        ("stack", Integer),
        ("position", Integer),
        ("file", Text),
        ("line", Integer),
        ("function", Text),
        ("python", Flag),
        ("users", Flag),
    ],
};

/// Writes them all.
///
/// # Errors
/// `cannot-write`.
pub(super) fn write(replayed: &ReplayedSnapshot, writer: &dyn TableWriter) -> Result<(), Error> {
    writer.write(&DEVICES, &mut |rows| devices(replayed, rows))?;
    writer.write(&EVENTS, &mut |rows| events(replayed, rows))?;
    writer.write(&BLOCKS, &mut |rows| blocks(replayed, rows))?;
    writer.write(&SEGMENTS, &mut |rows| segments(replayed, rows))?;
    writer.write(&FRAMES, &mut |rows| frames(replayed, rows))
}

fn devices(replayed: &ReplayedSnapshot, rows: &mut dyn TableRows) -> Result<(), Error> {
    let first_host = replayed.snapshot.devices.len();
    let hosts =
        (first_host..replayed.replays.len()).filter_map(|place| DeviceFacts::of(replayed, place));
    let hosts: Vec<DeviceFacts> = hosts.collect();
    for facts in replayed.device_facts().iter().chain(&hosts) {
        let end = &facts.end;
        rows.row(&[
            integer(facts.device),
            integer_if(facts.rank.map(|of| of.rank)),
            integer_if(facts.rank.map(|of| of.gpu)),
            integer(facts.events),
            integer(facts.segments),
            integer(facts.blocks),
            flag(facts.history_complete),
            integer(end.allocated_bytes),
            integer(end.active_bytes),
            integer(end.reserved_bytes),
            integer(end.requested_bytes),
            integer(end.rounding_bytes),
            integer(end.inactive_bytes),
            integer(end.largest_inactive_bytes),
            integer(facts.allocated_peak.bytes),
            flag(facts.allocated_peak.exact),
            integer(facts.active_peak_bytes),
            integer(facts.reserved_peak_bytes),
            integer(facts.requested_peak.bytes),
            integer(facts.requested_peak.event),
            integer_if(facts.ended_by.map(|failed| failed.bytes)),
        ])?;
    }
    Ok(())
}

fn events(replayed: &ReplayedSnapshot, rows: &mut dyn TableRows) -> Result<(), Error> {
    let snapshot = &replayed.snapshot;
    let events: &Events = &snapshot.events;
    for (device, _) in replayed.devices() {
        for (event, row) in (0_u32..).zip(device.events.clone()) {
            let Some(action) = events.actions.get(row).copied() else { break };
            let at = events.addresses.get(row).copied();
            // A request that failed has no address.
            let is_failed = action == Action::OutOfMemory;
            let stream = events.streams.get(row);
            let stream = stream.and_then(|stream| snapshot.streams.get(*stream as usize));
            let stack = events.stacks.get(row).copied().filter(|stack| *stack != StackId::NONE);
            let said = events.text(row).map(|said| snapshot.texts.get(said));
            rows.row(&[
                integer(device.number),
                integer(event),
                integer(event),
                text(action.as_str()),
                integer_if(at.filter(|_| !is_failed)),
                integer_if(events.sizes.get(row).copied()),
                integer_if(at.filter(|_| is_failed)),
                integer_if(stream.copied()),
                integer_if(events.time(row)),
                integer_if(stack.map(|stack| stack.0)),
                text(said),
            ])?;
        }
    }
    Ok(())
}

fn blocks(replayed: &ReplayedSnapshot, rows: &mut dyn TableRows) -> Result<(), Error> {
    let snapshot = &replayed.snapshot;
    let stacks = (0..snapshot.stacks.len() as u32).map(StackId);
    let titles: Vec<Option<String>> =
        stacks.map(|stack| user_frame_title(snapshot, stack)).collect();
    let event = |event: u32| (event != BlockLives::OPEN).then_some(event);
    for (place, (device, replay)) in replayed.devices().enumerate() {
        let lives = &replay.lives;
        let categories = replayed.categories(place);
        for row in 0..lives.len() {
            let stack = lives.stacks[row];
            let title = titles.get(stack.0 as usize).and_then(Option::as_deref);
            rows.row(&[
                integer(device.number),
                integer(row),
                integer(lives.addresses[row]),
                integer(lives.requested[row]),
                integer(lives.bytes[row]),
                integer_if(lives.allocation(row)),
                integer_if(event(lives.requested_free_at[row])),
                integer_if(event(lives.freed_at[row])),
                flag(lives.is_live_after(row, replay.requested_peak.event)),
                text(categories.get(row).map(|category| category.as_str())),
                integer_if((stack != StackId::NONE).then_some(stack.0)),
                text(title),
            ])?;
        }
    }
    Ok(())
}

fn segments(replayed: &ReplayedSnapshot, rows: &mut dyn TableRows) -> Result<(), Error> {
    for (place, (device, _)) in replayed.devices().enumerate() {
        for range in replayed.segments(place) {
            for times in &range.times {
                rows.row(&[
                    integer(device.number),
                    integer(range.address),
                    integer(range.bytes),
                    flag(range.is_expandable),
                    integer_if((times.start >= 0).then_some(times.start)),
                    integer_if((times.end != i64::MAX).then_some(times.end)),
                ])?;
            }
        }
    }
    Ok(())
}

fn frames(replayed: &ReplayedSnapshot, rows: &mut dyn TableRows) -> Result<(), Error> {
    let snapshot = &replayed.snapshot;
    for stack in 0..snapshot.stacks.len() as u32 {
        for (position, frame) in snapshot.frames_of(StackId(stack)).enumerate() {
            rows.row(&[
                integer(stack),
                integer(position),
                text(snapshot.texts.get(frame.file)),
                integer(frame.line),
                text(snapshot.texts.get(frame.name)),
                flag(is_python(snapshot, frame)),
                flag(is_users(snapshot, frame)),
            ])?;
        }
    }
    Ok(())
}
