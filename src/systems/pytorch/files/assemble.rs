//! From the objects of a pickle to the columns of a snapshot: everything that the root names, resolved once nothing can
//! change. Malformed objects are left out and counted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::allocator_settings::settings;
use super::cycles::has_cycle;
use super::intern::Interned;
use super::objects::Objects;
use super::rows::{BlockRow, SegmentRow};
use super::values::{Fault, NONE, Pickled, PyObject, Reference};
use super::word::Word;
use crate::limits;
use crate::store::names::{NameId, Names};
use crate::store::snapshot::{
    AnnotationMark, Block, BlockState, Events, Frame, Segment, Snapshot, SnapshotDevice, StackId,
};
use crate::store::{WarningCode, Warnings};

/// Devices of a snapshot: far beyond what a process has.
const MOST_DEVICES: usize = 4096;

/// Bytes of an event in all columns.
const EVENT_BYTES: u64 = 33;

/// Makes a snapshot of what the root names, and says whether its events are as they were told while they were read. They
/// take at most `most_bytes`: some bytes of the file may name one again and again.
///
/// # Errors
/// When a list or dict is within itself.
pub(super) fn assemble(
    mut objects: Objects,
    root: u32,
    most_bytes: u64,
    file: &str,
    warnings: &Warnings,
) -> Result<(Snapshot, bool), Fault> {
    let left_out = objects.events.leave_out_bad();
    let mut parts = SnapshotParts {
        names: Names::default(),
        name_of_text: vec![NameId::NONE; objects.texts.len()],
        frames: Vec::new(),
        stacks: Interned::new(),
        stack_of_row: vec![UNKNOWN; objects.short_lists()],
        stack_of_long: HashMap::new(),
        used: HashSet::new(),
        events_left: usize::try_from(most_bytes / EVENT_BYTES).unwrap_or(usize::MAX),
        wrong_shapes: 0,
        blocks_beyond: 0,
        blocks_overlapping: 0,
        segments_of_other_sizes: 0,
        is_as_told: left_out == 0 && !objects.events.has_changed(),
    };
    let mut snapshot = Snapshot { settings: settings(&objects, root), ..Snapshot::default() };
    // What is looked for lies at fixed depths, so it ends whatever lies within what.
    let (has_cycle, stacks) = rayon::join(
        || has_cycle(&objects, root),
        || {
            parts.segments(&objects, root, &mut snapshot);
            parts.stacks_of_events(&objects)
        },
    );
    if has_cycle {
        return Err(Fault::new("a list or dict that is within itself"));
    }
    let warn = |code, message: String| warnings.add(code, file, message);
    if left_out > 0 {
        let message = format!(
            "{left_out} events lack an address or a size, or have one below 0; they are left out"
        );
        warn(WarningCode::Inconsistent, message);
    }
    for (text, count) in &objects.events.unknown_actions {
        let name = text.map_or("something else".into(), |text| {
            format!("{:?}", limits::cut(&lossy(objects.texts.get(text)), 80))
        });
        let message = format!(
            "{count} events have the action {name}, which is not known; they change nothing"
        );
        warn(WarningCode::UnknownValue, message);
    }
    parts.events(&mut objects, root, stacks, &mut snapshot);
    snapshot.annotations = parts.annotations(&objects, root);
    snapshot.streams = std::mem::take(&mut objects.events.stream_numbers);
    if parts.wrong_shapes > 0 {
        let message = format!(
            "{} segments, blocks, events or annotations are malformed or occur several times; \
             they are left out",
            parts.wrong_shapes
        );
        warn(WarningCode::Inconsistent, message);
    }
    if parts.blocks_beyond > 0 {
        let message = format!(
            "{} blocks begin before or end behind the segment that they are listed in; figures of \
             free memory are doubtful",
            parts.blocks_beyond
        );
        warn(WarningCode::Inconsistent, message);
    }
    if parts.blocks_overlapping > 0 {
        let message = format!(
            "{} blocks begin before the one that is listed before them ends; bytes of blocks are counted several times",
            parts.blocks_overlapping
        );
        warn(WarningCode::Inconsistent, message);
    }
    if parts.segments_of_other_sizes > 0 {
        let message = format!(
            "{} segments state another allocated_size, active_size or requested_size than their \
             blocks add up to",
            parts.segments_of_other_sizes
        );
        warn(WarningCode::Inconsistent, message);
    }
    let stacks = (0..parts.stacks.len() as u32).map(|row| parts.stacks.get(row));
    for stack in stacks {
        snapshot.stacks.frames.extend_from_slice(stack);
        snapshot.stacks.ends.push(snapshot.stacks.frames.len());
    }
    snapshot.frames = parts.frames;
    snapshot.texts = parts.names;
    Ok((snapshot, parts.is_as_told))
}

pub(super) fn lossy(text: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(text)
}

/// Of a stack that was not asked for yet.
const UNKNOWN: u32 = u32::MAX - 1;

struct SnapshotParts {
    names: Names,
    name_of_text: Vec<NameId>,
    /// Frames by the rows that they have in the objects, as far as those were asked for.
    frames: Vec<Frame>,
    stacks: Interned<u32>,
    /// Stacks by rows of short lists.
    stack_of_row: Vec<u32>,
    stack_of_long: HashMap<u32, StackId>,
    /// Segments, blocks and annotations that have their place, and lists of such and of events. No snapshot has one
    /// in two places; a file of some bytes could have one in millions.
    used: HashSet<u32>,
    /// Events that there is room for.
    events_left: usize,
    wrong_shapes: u64,
    /// Blocks that begin before or end behind their segment.
    blocks_beyond: u64,
    /// Blocks that begin before the end of the block before them.
    blocks_overlapping: u64,
    /// Segments that state other sums of bytes than their blocks have.
    segments_of_other_sizes: u64,
    /// Whether events are as they were told while they were read.
    is_as_told: bool,
}

impl SnapshotParts {
    fn wrong(&mut self) {
        self.wrong_shapes = self.wrong_shapes.saturating_add(1);
    }

    /// Whether an object is met for the first time; else it is counted.
    fn is_new(&mut self, object: u32) -> bool {
        let is_new = self.used.insert(object);
        if !is_new {
            self.wrong();
        }
        is_new
    }

    /// What is in a list that the root names, unless it was met before.
    fn items_of<'a>(&mut self, objects: &'a Objects, list: Option<u32>) -> &'a [u32] {
        let Some(list) = list else { return &[] };
        let items = objects.items(list).unwrap_or_default();
        if items.is_empty() || self.is_new(list) { items } else { &[] }
    }

    fn name(&mut self, objects: &Objects, text: u32) -> NameId {
        let Some(name) = self.name_of_text.get_mut(text as usize) else { return NameId::NONE };
        if *name == NameId::NONE {
            *name = self.names.push(&lossy(objects.texts.get(text)));
        }
        *name
    }

    /// The stack that a list of frames is.
    #[inline]
    fn stack(&mut self, objects: &Objects, list: Option<u32>) -> StackId {
        let Some(list) = list.filter(|list| *list != NONE) else { return StackId::NONE };
        match objects.list_row(list) {
            Some(row) => match self.stack_of_row.get(row as usize).copied() {
                Some(UNKNOWN) | None => {
                    let stack = self.new_stack(objects, list);
                    if let Some(known) = self.stack_of_row.get_mut(row as usize) {
                        *known = stack.0;
                    }
                    stack
                }
                Some(stack) => StackId(stack),
            },
            None => match self.stack_of_long.get(&list) {
                Some(stack) => *stack,
                None => {
                    let stack = self.new_stack(objects, list);
                    if objects.items(list).is_some_and(|items| !items.is_empty()) {
                        self.stack_of_long.insert(list, stack);
                    }
                    stack
                }
            },
        }
    }

    fn new_stack(&mut self, objects: &Objects, list: u32) -> StackId {
        let mut content = Vec::new();
        for item in objects.items(list).unwrap_or_default() {
            let kind = Reference(*item).object().map(|object| objects.kind(object));
            if let Some(PyObject::Frame(row)) = kind {
                content.push(row);
            }
        }
        if content.is_empty() {
            return StackId::NONE;
        }
        for row in &content {
            let row = *row as usize;
            while self.frames.len() <= row {
                let [file, name, line] = objects.frame(self.frames.len() as u32);
                let (file, name) = (self.name(objects, file), self.name(objects, name));
                self.frames.push(Frame { file, name, line });
            }
        }
        self.stacks.row(&content).map_or(StackId::NONE, |(row, _)| StackId(row))
    }

    fn segments(&mut self, objects: &Objects, root: u32, snapshot: &mut Snapshot) {
        let mut by_device: BTreeMap<i64, Vec<SegmentRow>> = BTreeMap::new();
        for segment in self.segment_rows(objects, root, Word::Segments) {
            // Below 0 is pinned memory of the host, which has a list of its own.
            let is_known = by_device.contains_key(&segment.device);
            if is_known || (segment.device >= 0 && by_device.len() < MOST_DEVICES) {
                by_device.entry(segment.device).or_default().push(segment);
            } else {
                self.wrong();
            }
        }
        for (number, rows) in by_device {
            let segments = self.add_segments(objects, rows, snapshot);
            snapshot.devices.push(SnapshotDevice { number, segments, ..SnapshotDevice::default() });
        }
        let host = self.segment_rows(objects, root, Word::HostSegments);
        let segments = self.add_segments(objects, host, snapshot);
        let number = SnapshotDevice::HOST;
        snapshot.pinned_hosts =
            vec![SnapshotDevice { number, segments, ..SnapshotDevice::default() }];
    }

    fn segment_rows(&mut self, objects: &Objects, root: u32, key: Word) -> Vec<SegmentRow> {
        let mut rows = Vec::new();
        for item in self.items_of(objects, list_of(objects, root, key)) {
            let Some(object) = Reference(*item).object() else {
                self.wrong();
                continue;
            };
            match objects.kind(object) {
                PyObject::Segment(row) if self.is_new(object) => {
                    rows.extend(objects.segments.get(row as usize));
                }
                PyObject::Segment(_) => {}
                _ => self.wrong(),
            }
        }
        rows
    }

    fn add_segments(
        &mut self,
        objects: &Objects,
        mut rows: Vec<SegmentRow>,
        snapshot: &mut Snapshot,
    ) -> Range<usize> {
        let start = snapshot.segments.len();
        rows.sort_by_key(|segment| segment.address);
        for row in rows {
            let Some((address, bytes)) = row.address.zip(row.total) else {
                self.wrong();
                continue;
            };
            let blocks = self.add_blocks(objects, &row, snapshot);
            let of = snapshot.blocks.get(blocks.clone()).unwrap_or_default();
            let end = address.saturating_add(bytes);
            let is_beyond = |block: &&Block| {
                block.address < address || block.address.saturating_add(block.bytes) > end
            };
            let beyond = of.iter().filter(is_beyond).count() as u64;
            self.blocks_beyond = self.blocks_beyond.saturating_add(beyond);
            let overlapping = of.windows(2).filter(|two| {
                matches!(two, [before, block] if block.address < before.address.saturating_add(before.bytes))
            });
            self.blocks_overlapping =
                self.blocks_overlapping.saturating_add(overlapping.count() as u64);
            let sum = |is_counted: fn(&Block) -> bool| {
                let counted = of.iter().filter(|block| is_counted(block));
                counted.fold(0_u64, |sum, block| sum.saturating_add(block.bytes))
            };
            let allocated = || sum(|block| block.state == BlockState::Allocated);
            let active = || sum(Block::is_active);
            let requested = of
                .iter()
                .filter(|block| block.is_active())
                .fold(0_u64, |sum, block| sum.saturating_add(block.requested_bytes));
            let is_other =
                |stated: Option<u64>, found: u64| stated.is_some_and(|stated| stated != found);
            let has_other_sizes = is_other(row.allocated, allocated())
                || is_other(row.active, active())
                || is_other(row.requested, requested);
            // Of pinned host memory a free block has requested bytes as well.
            if has_other_sizes && row.device >= 0 {
                self.segments_of_other_sizes = self.segments_of_other_sizes.saturating_add(1);
            }
            let mut pool = row.pool.into_iter().flat_map(|tuple| objects.tuple_items(tuple));
            let mut part = || match pool.next() {
                Some(Pickled::Unsigned(number)) => number,
                _ => 0,
            };
            let pool = (part(), part());
            let segment = Segment {
                address,
                bytes,
                allocated_bytes: row.allocated.unwrap_or_else(allocated),
                active_bytes: row.active.unwrap_or_else(active),
                stream: row.stream,
                is_small: row.is_small,
                pool,
                is_expandable: row.is_expandable,
                stack: self.stack(objects, row.frames),
                blocks,
            };
            snapshot.segments.push(segment);
        }
        start..snapshot.segments.len()
    }

    fn add_blocks(
        &mut self,
        objects: &Objects,
        segment: &SegmentRow,
        snapshot: &mut Snapshot,
    ) -> Range<usize> {
        let start = snapshot.blocks.len();
        let mut next = segment.address.unwrap_or(0);
        for item in self.items_of(objects, segment.blocks) {
            let object = Reference(*item).object();
            let row = match object.map(|object| objects.kind(object)) {
                Some(PyObject::Block(row)) => objects.blocks.get(row as usize),
                _ => None,
            };
            if row.is_some() && !object.is_some_and(|object| self.is_new(object)) {
                continue;
            }
            match row.and_then(|row| self.block(objects, row, next)) {
                Some(block) => {
                    next = block.address.saturating_add(block.bytes);
                    snapshot.blocks.push(block);
                }
                None => self.wrong(),
            }
        }
        start..snapshot.blocks.len()
    }

    /// A block that begins at `next` where the file does not say where it begins.
    fn block(&mut self, objects: &Objects, row: &BlockRow, next: u64) -> Option<Block> {
        let bytes = row.size?;
        let state = match row.state? {
            Word::ActiveAllocated => BlockState::Allocated,
            Word::ActivePending => BlockState::Pending,
            Word::Inactive => BlockState::Inactive,
            _ => return None,
        };
        // Before 2.1 requested bytes and stack were those of the last allocation in a list of them.
        let history = || {
            let first = *objects.items(row.history?)?.first()?;
            Reference(first).object()
        };
        let real_size = || match objects.get(history()?, Word::RealSize) {
            Some(Pickled::Unsigned(size)) => Some(size),
            _ => None,
        };
        let old_frames = || match objects.get(history()?, Word::Frames) {
            Some(Pickled::Object(list)) => Some(list),
            _ => None,
        };
        Some(Block {
            address: row.address.unwrap_or(next),
            bytes,
            requested_bytes: row.requested.or_else(real_size).unwrap_or(bytes),
            state,
            stack: self.stack(objects, row.frames.or_else(old_frames)),
        })
    }

    fn stacks_of_events(&mut self, objects: &Objects) -> Vec<StackId> {
        objects.events.frames.iter().map(|list| self.stack(objects, Some(*list))).collect()
    }

    fn events(
        &mut self,
        objects: &mut Objects,
        root: u32,
        stacks: Vec<StackId>,
        snapshot: &mut Snapshot,
    ) {
        let rows = &mut objects.events;
        let mut texts: Vec<(u32, u32)> = std::mem::take(&mut rows.metadata);
        // The last text of an event counts.
        texts.reverse();
        texts.sort_by_key(|(row, _)| *row);
        texts.dedup_by_key(|(row, _)| *row);
        let mut events = Events {
            actions: std::mem::take(&mut rows.actions),
            addresses: std::mem::take(&mut rows.addresses).into(),
            sizes: std::mem::take(&mut rows.sizes).into(),
            streams: std::mem::take(&mut rows.streams).into(),
            times: std::mem::take(&mut rows.times).into(),
            stacks: stacks.into(),
            texts: Vec::new(),
        };
        events.texts = texts.iter().map(|(row, text)| (*row, self.name(objects, *text))).collect();
        let lists = self.event_lists(objects, root);
        let ranges = match lists.iter().map(|(_, list)| range_of(list)).collect() {
            Some::<Vec<Range<usize>>>(ranges) => ranges,
            // Not as they stand in the file: an event that comes twice, or another order.
            None => {
                self.is_as_told = false;
                let order: Vec<u32> =
                    lists.iter().flat_map(|(_, list)| list.iter().copied()).collect();
                events = gathered(&events, &order);
                let mut end = 0_usize;
                let lengths = lists.iter().map(|(_, list)| list.len());
                lengths
                    .map(|length| {
                        let start = end;
                        end = end.saturating_add(length);
                        start..end
                    })
                    .collect()
            }
        };
        for ((number, _), range) in lists.iter().zip(ranges) {
            if *number == SnapshotDevice::HOST {
                snapshot.pinned_hosts.iter_mut().for_each(|host| host.events = range.clone());
                continue;
            }
            match snapshot.devices.iter_mut().find(|device| device.number == *number) {
                Some(device) => device.events = range,
                None => snapshot.devices.push(SnapshotDevice {
                    number: *number,
                    events: range,
                    ..SnapshotDevice::default()
                }),
            }
        }
        snapshot.devices.sort_by_key(|device| device.number);
        snapshot.pinned_hosts.retain(|host| !host.events.is_empty() || !host.segments.is_empty());
        snapshot.events = events;
    }

    /// The events of each device that has some, as rows, and of pinned host memory.
    fn event_lists(&mut self, objects: &Objects, root: u32) -> Vec<(i64, Vec<u32>)> {
        let traces = self.items_of(objects, list_of(objects, root, Word::DeviceTraces));
        for _ in traces.iter().skip(MOST_DEVICES) {
            self.wrong();
        }
        let of_devices = traces.iter().take(MOST_DEVICES).map(|item| Reference(*item).object());
        let of_host = (SnapshotDevice::HOST, list_of(objects, root, Word::HostTraces));
        let mut lists = Vec::new();
        for (number, list) in (0..).zip(of_devices).chain([of_host]) {
            let items = self.items_of(objects, list);
            let mut rows = Vec::with_capacity(items.len().min(self.events_left));
            for item in items {
                match Reference(*item).object().map(|object| objects.kind(object)) {
                    Some(PyObject::Event(row)) if self.events_left > 0 => {
                        self.events_left = self.events_left.saturating_sub(1);
                        rows.push(row);
                    }
                    _ => self.wrong(),
                }
            }
            if !rows.is_empty() {
                lists.push((number, rows));
            }
        }
        lists
    }

    fn annotations(&mut self, objects: &Objects, root: u32) -> Vec<AnnotationMark> {
        let list = list_of(objects, root, Word::ExternalAnnotations);
        let mut marks = Vec::new();
        for item in self.items_of(objects, list) {
            let object = Reference(*item).object();
            let row = match object.map(|object| objects.kind(object)) {
                Some(PyObject::Mark(row)) => objects.marks.get(row as usize),
                _ => None,
            };
            if row.is_some() && !object.is_some_and(|object| self.is_new(object)) {
                continue;
            }
            let mark = row.and_then(|row| {
                let is_start = match row.stage? {
                    Word::Start => true,
                    Word::End => false,
                    _ => return None,
                };
                let name = self.name(objects, row.name?);
                Some(AnnotationMark { is_start, name, device: row.device, time: row.time? })
            });
            match mark {
                Some(mark) => marks.push(mark),
                None => self.wrong(),
            }
        }
        marks
    }
}

fn list_of(objects: &Objects, root: u32, key: Word) -> Option<u32> {
    match objects.get(root, key) {
        Some(Pickled::Object(list)) => Some(list),
        _ => None,
    }
}

/// The range of rows that a list is, in order and without gap.
fn range_of(rows: &[u32]) -> Option<Range<usize>> {
    let first = *rows.first()?;
    let is_range = (first..).zip(rows).all(|(expected, row)| expected == *row);
    let start = first as usize;
    is_range.then(|| start..start.saturating_add(rows.len()))
}

/// The events of these rows, in this order.
fn gathered(events: &Events, order: &[u32]) -> Events {
    fn column<T: Copy, C: FromIterator<T>>(from: &[T], order: &[u32]) -> C {
        order.iter().filter_map(|row| from.get(*row as usize).copied()).collect()
    }
    let texts = (0..).zip(order).filter_map(|(row, old)| Some((row, events.text(*old as usize)?)));
    Events {
        actions: column(&events.actions, order),
        addresses: column(&events.addresses, order),
        sizes: column(&events.sizes, order),
        streams: column(&events.streams, order),
        times: column(&events.times, order),
        stacks: column(&events.stacks, order),
        texts: texts.collect(),
    }
}
