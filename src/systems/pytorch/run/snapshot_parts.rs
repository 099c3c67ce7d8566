//! The columns that make up a PyTorch snapshot: those of its events and blocks as they are, the rest encoded.
//!
//! Data that is read back is checked before it becomes a snapshot: columns that belong together have the same length,
//! codes are valid, and the rows of devices and segments exist. Everything else is checked where it is used.

use std::io::Write;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::index::{ColumnWriter, IndexError, IndexFile, check};
use crate::store::column::Column;
use crate::store::names::{NameId, Names};
use crate::store::snapshot::{
    Action, AllocatorSettings, AnnotationMark, Block, BlockState, Events, Frame, Segment, Snapshot,
    SnapshotDevice, StackId, Stacks,
};

/// What is small beside events and blocks.
#[derive(Deserialize)]
struct SmallParts {
    settings: AllocatorSettings,
    devices: Vec<SnapshotDevice>,
    pinned_hosts: Vec<SnapshotDevice>,
    texts_of_events: Vec<(u32, NameId)>,
    segments: Vec<Segment>,
    streams: Vec<u64>,
    annotations: Vec<AnnotationMark>,
    frames: Vec<Frame>,
    stacks: Stacks,
    texts: Names,
}

/// The same as it is in a snapshot, in the same order.
#[derive(Serialize)]
struct SmallPartsOf<'a> {
    settings: &'a AllocatorSettings,
    devices: &'a [SnapshotDevice],
    pinned_hosts: &'a [SnapshotDevice],
    texts_of_events: &'a [(u32, NameId)],
    segments: &'a [Segment],
    streams: &'a [u64],
    annotations: &'a [AnnotationMark],
    frames: &'a [Frame],
    stacks: &'a Stacks,
    texts: &'a Names,
}

const SMALL: &str = "snapshot";
const EVENTS: [&str; 6] = [
    "events.actions",
    "events.addresses",
    "events.sizes",
    "events.streams",
    "events.times",
    "events.stacks",
];
const BLOCKS: [&str; 5] =
    ["blocks.addresses", "blocks.bytes", "blocks.requested", "blocks.states", "blocks.stacks"];

/// Bytes of an event, of a block at the end, and of what comes once a stack, a frame, a text and a segment, about.
const EVENT_BYTES: usize = 33;
const BLOCK_BYTES: usize = 29;
const SMALL_BYTES: usize = 32;

/// Bytes that the index of a snapshot will take, about.
pub fn expected_snapshot_bytes(snapshot: &Snapshot) -> u64 {
    let small = snapshot.stacks.len() + snapshot.frames.len() + snapshot.texts.len();
    let small = small.saturating_add(snapshot.segments.len());
    let parts = [
        snapshot.events.len().saturating_mul(EVENT_BYTES),
        snapshot.blocks.len().saturating_mul(BLOCK_BYTES),
        small.saturating_mul(SMALL_BYTES),
        snapshot.stacks.frames.len().saturating_mul(4),
        snapshot.texts.text.len(),
    ];
    parts.iter().fold(1 << 15, |sum, bytes| sum.saturating_add(*bytes as u64))
}

/// Writes a snapshot.
///
/// # Errors
/// When the file cannot be written.
pub fn write_snapshot<W: Write>(
    snapshot: &Snapshot,
    to: &mut ColumnWriter<W>,
) -> Result<(), IndexError> {
    let small = SmallPartsOf {
        settings: &snapshot.settings,
        devices: &snapshot.devices,
        pinned_hosts: &snapshot.pinned_hosts,
        texts_of_events: &snapshot.events.texts,
        segments: &snapshot.segments,
        streams: &snapshot.streams,
        annotations: &snapshot.annotations,
        frames: &snapshot.frames,
        stacks: &snapshot.stacks,
        texts: &snapshot.texts,
    };
    to.encoded(SMALL, &small)?;
    let events = &snapshot.events;
    let [actions, addresses, sizes, streams, times, stacks] = EVENTS;
    to.column(actions, &events.actions.iter().map(|action| *action as u8).collect())?;
    to.column(addresses, &events.addresses)?;
    to.column(sizes, &events.sizes)?;
    to.column(streams, &events.streams)?;
    to.column(times, &events.times)?;
    to.column(stacks, &events.stacks)?;
    let blocks = snapshot.blocks.iter();
    let [addresses, bytes, requested, states, stacks] = BLOCKS;
    to.column(addresses, &blocks.clone().map(|block| block.address).collect())?;
    to.column(bytes, &blocks.clone().map(|block| block.bytes).collect())?;
    to.column(requested, &blocks.clone().map(|block| block.requested_bytes).collect())?;
    to.column(states, &blocks.clone().map(|block| block.state as u8).collect())?;
    to.column(stacks, &blocks.map(|block| block.stack).collect())
}

/// Reads a snapshot, the columns of its events in place.
///
/// # Errors
/// When the index is damaged.
pub fn read_snapshot(from: &IndexFile) -> Result<Snapshot, IndexError> {
    from.verify(&EVENTS)?;
    let small: SmallParts = from.decoded(SMALL)?;
    let [actions, addresses, sizes, streams, times, stacks] = EVENTS;
    let events = Events {
        actions: decoded_words(&from.column::<u8>(actions)?, &Action::ALL)?,
        addresses: from.column(addresses)?,
        sizes: from.column(sizes)?,
        streams: from.column(streams)?,
        times: from.column(times)?,
        stacks: from.column(stacks)?,
        texts: small.texts_of_events,
    };
    let lengths = [
        events.addresses.len(),
        events.sizes.len(),
        events.streams.len(),
        events.times.len(),
        events.stacks.len(),
    ];
    let snapshot = Snapshot {
        settings: small.settings,
        devices: small.devices,
        pinned_hosts: small.pinned_hosts,
        blocks: read_blocks(from)?,
        segments: small.segments,
        streams: small.streams,
        annotations: small.annotations,
        frames: small.frames,
        stacks: small.stacks,
        texts: small.texts,
        events,
    };
    let is_within = |rows: &Range<usize>, count| rows.start <= rows.end && rows.end <= count;
    let (events, segments) = (snapshot.events.len(), snapshot.segments.len());
    check(lengths.iter().all(|length| *length == events), "columns of one length")?;
    let are_there = |device: &SnapshotDevice| {
        is_within(&device.events, events) && is_within(&device.segments, segments)
    };
    check(snapshot.all_devices().all(are_there), "rows of devices")?;
    let has_blocks = |segment: &Segment| is_within(&segment.blocks, snapshot.blocks.len());
    check(snapshot.segments.iter().all(has_blocks), "rows of segments")?;
    Ok(snapshot)
}

fn read_blocks(from: &IndexFile) -> Result<Vec<Block>, IndexError> {
    from.verify(&BLOCKS)?;
    let [addresses, bytes, requested, states, stacks] = BLOCKS;
    let (addresses, bytes): (Column<u64>, Column<u64>) =
        (from.column(addresses)?, from.column(bytes)?);
    let requested: Column<u64> = from.column(requested)?;
    let states = decoded_words(&from.column::<u8>(states)?, &BlockState::ALL)?;
    let stacks: Column<StackId> = from.column(stacks)?;
    let lengths = [bytes.len(), requested.len(), states.len(), stacks.len()];
    check(lengths.iter().all(|length| *length == addresses.len()), "columns of one length")?;
    let mut blocks = Vec::with_capacity(addresses.len());
    let rows = addresses.iter().zip(&bytes).zip(&requested).zip(&states).zip(&stacks);
    for ((((address, bytes), requested_bytes), state), stack) in rows {
        blocks.push(Block {
            address: *address,
            bytes: *bytes,
            requested_bytes: *requested_bytes,
            state: *state,
            stack: *stack,
        });
    }
    Ok(blocks)
}

/// What codes stand for: positions in a list of all that there is.
///
/// # Errors
/// When one of them stands for nothing.
pub fn decoded_words<T: Copy>(codes: &[u8], all: &[T]) -> Result<Vec<T>, IndexError> {
    let words: Option<Vec<T>> =
        codes.iter().map(|code| all.get(usize::from(*code)).copied()).collect();
    let found = || IndexError::Damaged { what: "codes of words", found: "others".to_owned() };
    words.ok_or_else(found)
}
