//! The pool and the stream of each block. A block belongs to the stream that it was allocated on, and to the pool of its
//! segment, which the file says of segments that are there at the end.

use super::lives::BlockLives;
use super::replay::Replay;
use super::replayed::ReplayedSnapshot;
use super::segment_ranges::{SegmentRange, range_at, range_of_block};
use crate::store::names::{Interner, Names};
use crate::store::snapshot::{Segment, Snapshot, SnapshotDevice};

/// What each block belongs to.
#[derive(Clone, Debug)]
pub struct BlockPools {
    /// What pools and streams are called.
    pub names: Names,
    /// By place and row of a block a row of `names`.
    pub of_blocks: Vec<Vec<u32>>,
}

impl BlockPools {
    /// Of all devices.
    pub fn of(replayed: &ReplayedSnapshot) -> Self {
        let mut names = Interner::default();
        let snapshot = &replayed.snapshot;
        let of_device = |(place, (device, replay)): (usize, (&SnapshotDevice, &Replay))| {
            let lives = &replay.lives;
            let ranges = replayed.segments(place);
            let mut segments: Vec<&Segment> = snapshot.segments_of(device).iter().collect();
            segments.sort_by_key(|segment| segment.address);
            let name = |row: usize| {
                let segment = segment_of(&segments, ranges, lives, row);
                let stream = match lives.allocation(row) {
                    Some(event) => stream_of(snapshot, device, event),
                    None => segment.map(|segment| segment.stream),
                };
                names.intern(&title(segment.map(|segment| segment.pool), stream)).0
            };
            (0..lives.len()).map(name).collect()
        };
        let of_blocks = replayed.devices().enumerate().map(of_device).collect();
        Self { names: names.into_names(), of_blocks }
    }

    /// What the pool and the stream of a block are called.
    pub fn title(&self, place: usize, row: usize) -> &str {
        let name = self.of_blocks.get(place).and_then(|of| of.get(row));
        name.and_then(|name| self.names.at(*name as usize)).unwrap_or("")
    }
}

/// Whether a snapshot has more than the common pool and one stream.
pub fn has_pools(snapshot: &Snapshot) -> bool {
    let is_private = |segment: &Segment| segment.pool != (0, 0);
    snapshot.streams.len() > 1 || snapshot.segments.iter().any(is_private)
}

/// The segment of the end that a block lay in: that of its address, if it was there from its allocation on.
fn segment_of<'a>(
    segments: &[&'a Segment],
    ranges: &[SegmentRange],
    lives: &BlockLives,
    row: usize,
) -> Option<&'a Segment> {
    let range = ranges.get(range_of_block(ranges, lives, row)?)?;
    let event = lives.allocation(row).map_or(-1, i64::from);
    range.times.last().filter(|times| times.end == i64::MAX && times.contains(&event))?;
    let address = *lives.addresses.get(row)?;
    let is_within = |segment: &&Segment| address < segment.end();
    segments.get(range_at(segments, address, |segment| segment.address, is_within)?).copied()
}

fn stream_of(snapshot: &Snapshot, device: &SnapshotDevice, event: u32) -> Option<u64> {
    let number = *snapshot.events.streams.get(device.row(event as usize)?)?;
    snapshot.streams.get(number as usize).copied()
}

/// What they are called. Most are of the common pool and the default stream, and it is said of the others.
fn title(pool: Option<(u64, u64)>, stream: Option<u64>) -> String {
    let pool = match pool {
        Some((0, 0)) => "Common pool".to_owned(),
        Some((first, second)) => format!("Private pool {first}.{second}"),
        None => "Pool not known".to_owned(),
    };
    match stream {
        None | Some(0) => pool,
        Some(stream) => format!("{pool}, stream {stream:#x}"),
    }
}
