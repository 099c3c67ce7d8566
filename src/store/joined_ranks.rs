//! The snapshots of the processes of one run as one: the devices of all ranks beside each other, numbered from 0. Texts,
//! frames and stacks that several ranks have are there once.

use std::collections::HashMap;

use super::names::Interner;
use super::snapshot::{
    AnnotationMark, Block, Frame, RankDevice, Segment, Snapshot, SnapshotDevice, StackId,
};

/// There are more events, stacks or streams than rows can be numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// The ranks of a run so far.
#[derive(Debug, Default)]
pub struct JoinedRanks {
    snapshot: Snapshot,
    texts: Interner,
    frames: HashMap<Frame, u32>,
    stacks: HashMap<Box<[u32]>, StackId>,
    is_begun: bool,
}

impl JoinedRanks {
    /// Appends what a rank has. Returns whether its settings are those of the first one, which count for all.
    ///
    /// # Errors
    /// When there is no room for it; then nothing was appended.
    pub fn push(&mut self, rank: u32, of: Snapshot) -> Result<bool, TooLarge> {
        let joined = &self.snapshot;
        for (before, more) in [
            (joined.events.len(), of.events.len()),
            (joined.stacks.len(), of.stacks.len()),
            (joined.streams.len(), of.streams.len()),
        ] {
            if before.saturating_add(more) >= u32::MAX as usize {
                return Err(TooLarge);
            }
        }
        let has_same_settings = !self.is_begun || of.settings == self.snapshot.settings;
        if !self.is_begun {
            self.snapshot.settings = of.settings.clone();
            self.is_begun = true;
        }
        let stacks = self.stacks_of(&of);
        let stack = |id: StackId| stacks.get(id.0 as usize).copied().unwrap_or(StackId::NONE);
        let numbers = self.add_devices(rank, &of);
        self.add_events(&of, &stack);
        let joined = &mut self.snapshot;
        for mark in &of.annotations {
            let Some(device) = numbers.get(&mark.device).copied() else { continue };
            let name = self.texts.intern(of.texts.get(mark.name));
            joined.annotations.push(AnnotationMark { name, device, ..*mark });
        }
        let first_block = joined.blocks.len();
        let blocks = of.blocks.iter();
        joined.blocks.extend(blocks.map(|block| Block { stack: stack(block.stack), ..*block }));
        joined.segments.extend(of.segments.into_iter().map(|segment| Segment {
            stack: stack(segment.stack),
            blocks: segment.blocks.start + first_block..segment.blocks.end + first_block,
            ..segment
        }));
        joined.streams.extend_from_slice(&of.streams);
        Ok(has_same_settings)
    }

    /// The devices of a rank; the number of each by the one that it has in its file.
    fn add_devices(&mut self, rank: u32, of: &Snapshot) -> HashMap<i64, i64> {
        let joined = &mut self.snapshot;
        let (events, segments) = (joined.events.len(), joined.segments.len());
        let of_rank = |device: &SnapshotDevice, number: i64| SnapshotDevice {
            number,
            rank: Some(RankDevice { rank, gpu: device.number }),
            is_cut: device.is_cut,
            segments: device.segments.start + segments..device.segments.end + segments,
            events: device.events.start + events..device.events.end + events,
        };
        let mut numbers = HashMap::new();
        for device in &of.devices {
            let number = i64::try_from(joined.devices.len()).unwrap_or(i64::MAX);
            numbers.insert(device.number, number);
            joined.devices.push(of_rank(device, number));
        }
        for host in &of.pinned_hosts {
            let before = i64::try_from(joined.pinned_hosts.len()).unwrap_or(i64::MAX);
            let number = SnapshotDevice::HOST.saturating_sub(before);
            numbers.entry(host.number).or_insert(number);
            joined.pinned_hosts.push(of_rank(host, number));
        }
        numbers
    }

    fn add_events(&mut self, of: &Snapshot, stack: &dyn Fn(StackId) -> StackId) {
        let events = &mut self.snapshot.events;
        // There is room for them.
        let (first_row, first_stream) = (events.len() as u32, self.snapshot.streams.len() as u32);
        events.actions.extend_from_slice(&of.events.actions);
        events.addresses.extend_from_slice(&of.events.addresses);
        events.sizes.extend_from_slice(&of.events.sizes);
        events.times.extend_from_slice(&of.events.times);
        for stream in &of.events.streams {
            events.streams.push(stream.saturating_add(first_stream));
        }
        for id in &of.events.stacks {
            events.stacks.push(stack(*id));
        }
        for (row, text) in &of.events.texts {
            let text = self.texts.intern(of.texts.get(*text));
            events.texts.push((row.saturating_add(first_row), text));
        }
    }

    /// The stacks of a rank as they are called here.
    fn stacks_of(&mut self, of: &Snapshot) -> Vec<StackId> {
        let joined = &mut self.snapshot;
        let mut frames = Vec::with_capacity(of.frames.len());
        for frame in &of.frames {
            let mut text = |id| self.texts.intern(of.texts.get(id));
            let frame = Frame { file: text(frame.file), name: text(frame.name), line: frame.line };
            let next = joined.frames.len() as u32;
            let row = *self.frames.entry(frame).or_insert(next);
            if row == next {
                joined.frames.push(frame);
            }
            frames.push(row);
        }
        let mut stacks = Vec::with_capacity(of.stacks.len());
        for id in (0..of.stacks.len() as u32).map(StackId) {
            let of_rank = of.stacks.frames_of(id).iter();
            let content: Box<[u32]> =
                of_rank.filter_map(|row| frames.get(*row as usize).copied()).collect();
            let known = self.stacks.get(&content).copied();
            stacks.push(known.unwrap_or_else(|| {
                let next = StackId(joined.stacks.len() as u32);
                joined.stacks.frames.extend_from_slice(&content);
                joined.stacks.ends.push(joined.stacks.frames.len());
                self.stacks.insert(content, next);
                next
            }));
        }
        stacks
    }

    /// All of them as one.
    pub fn into_snapshot(self) -> Snapshot {
        Snapshot { texts: self.texts.into_names(), ..self.snapshot }
    }
}
