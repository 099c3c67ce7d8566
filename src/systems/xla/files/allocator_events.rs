//! The events of allocators in a profile, as the allocator of TensorFlow and XLA (`BFCAllocator`) traces them: one of the
//! name `MemoryAllocation` or `MemoryDeallocation` on a line of the host's plane, which is a thread, for each block.
//!
//! Their statistics, by name. Figures are as of behind the event
//! (`BFCAllocator::AddTraceMe` and `GetFragmentation`):
//!
//! | statistic | meaning |
//! |---|---|
//! | `allocator_name` | `GPU_0_bfc`; `xla_gpu_host_bfc` is memory of the host |
//! | `bytes_allocated` | bytes of all blocks in use |
//! | `bytes_reserved` | bytes set apart beside these, 0 in XLA |
//! | `bytes_available` | the limit of the allocator less both: the three add up to the same number in all events |
//! | `peak_bytes_in_use` | most bytes in use since the process began |
//! | `requested_bytes`, `allocation_bytes` | asked for, and the block, which is rounded up |
//! | `addr` | where the block lies: the deallocation of a block has the same |
//! | `fragmentation` | of what the allocator holds and is free, the part that is not in its largest free piece |
//! | `tf_op`, `data_type`, `shape` | of TensorFlow: the operation that asked. XLA writes `(null)`, 0, or nothing |
//!
//! The time of an event is that at which its line begins and its own offset: lines begin at different times. In that
//! order what is in use changes by the bytes of each block, in all events of the samples.

use std::collections::{BTreeMap, HashMap};

use super::host_calls::HostCalls;
use super::profiled::{StatNames, StatValue, bytes_of, is_device, names};
use super::wire::{Wire, field_at};
use crate::limits::cut;
use crate::store::hlo::{AllocatorCall, AllocatorEvent, AllocatorRecord};
use crate::store::names::{Interner, NameId};

/// Allocators that are kept: there is one of each device, and a few of the host.
const MOST_ALLOCATORS: usize = 1 << 10;
/// Events that are kept of a profile, some 300 MB.
const MOST_EVENTS: usize = 1 << 21;
/// Longest text that is kept of an event.
const LONGEST_TEXT: usize = 512;

/// The records of all allocators of devices, by their names; `warn` is told what is left out of them.
pub(super) fn allocator_records(
    message: &[u8],
    warn: &mut dyn FnMut(String),
) -> Vec<AllocatorRecord> {
    let mut reading = RecordsReading::default();
    for plane in bytes_of(message, 1).filter(|plane| !is_device(plane)) {
        reading.add_plane(plane);
    }
    let mut devices = MemoryOfAllocator::new();
    for plane in bytes_of(message, 1) {
        let Some(name) = bytes_of(plane, 2).find_map(|name| name.strip_prefix(b"/device:")) else {
            continue;
        };
        let device = String::from_utf8_lossy(name).into_owned();
        let memory = StatNames::of(plane).memory_bytes(plane);
        devices.entry(device.replace(':', "_")).or_insert((device, memory));
    }
    reading.finish(&devices, warn)
}

#[derive(Default)]
struct RecordsReading<'a> {
    allocators: BTreeMap<&'a [u8], RecordParts>,
    events: usize,
    /// Events without a figure or an allocator, and beyond what is kept.
    incomplete: usize,
    beyond: usize,
}

/// A record that is not in order yet.
#[derive(Default)]
struct RecordParts {
    /// Events with their times in picoseconds.
    events: Vec<(u128, AllocatorEvent)>,
    texts: Interner,
    calls: Vec<AllocatorCall>,
    call_rows: HashMap<AllocatorCall, u32>,
    limit_bytes: Option<u64>,
    is_limit_contradicted: bool,
}

impl<'a> RecordsReading<'a> {
    fn add_plane(&mut self, plane: &'a [u8]) {
        let kind = |(id, name): (i64, &[u8])| match name {
            b"MemoryAllocation" => Some((id, true)),
            b"MemoryDeallocation" => Some((id, false)),
            _ => None,
        };
        let kinds: HashMap<i64, bool> = names(plane, 4).filter_map(kind).collect();
        if kinds.is_empty() {
            return;
        }
        let statistics = StatNames::of(plane);
        let mut calls = HostCalls::of(plane);
        for line in bytes_of(plane, 3) {
            self.add_line(line, &kinds, &statistics, &mut calls);
        }
    }

    fn add_line(
        &mut self,
        line: &'a [u8],
        kinds: &HashMap<i64, bool>,
        statistics: &StatNames<'a>,
        calls: &mut HostCalls<'a>,
    ) {
        let of_allocator = |event: &'a [u8]| {
            let head = EventHead::of(event);
            Some((event, *kinds.get(&head.name)?, head.offset_ps))
        };
        let mut found = bytes_of(line, 4).filter_map(of_allocator).peekable();
        if found.peek().is_none() {
            return;
        }
        calls.read_line(line, kinds, statistics);
        let begin = line_begin_ns(line).saturating_mul(1000);
        for (event, is_allocation, offset_ps) in found {
            if self.events >= MOST_EVENTS {
                self.beyond = self.beyond.saturating_add(1);
                continue;
            }
            let stated = StatedEvent::of(event, statistics);
            let (Some(allocator), Some(in_use_bytes)) = (stated.allocator, stated.in_use) else {
                self.incomplete = self.incomplete.saturating_add(1);
                continue;
            };
            let is_full = self.allocators.len() >= MOST_ALLOCATORS;
            if !is_of_device(allocator) || is_full && !self.allocators.contains_key(allocator) {
                continue;
            }
            self.events = self.events.saturating_add(1);
            let record = self.allocators.entry(allocator).or_default();
            record.add_limit(&stated);
            let at = calls.at(offset_ps);
            let program = at
                .program
                .map_or(NameId::NONE, |name| record.texts.intern(&cut(&name, LONGEST_TEXT)));
            let mut call = AllocatorCall::NONE;
            for name in at.python {
                call = record.call(call, &text_of(name));
            }
            let shape = stated.shape_text();
            let event = AllocatorEvent {
                time_ns: 0,
                is_allocation,
                in_use_bytes,
                available_bytes: stated.available,
                peak_bytes: stated.peak,
                requested_bytes: stated.requested,
                block_bytes: stated.block,
                address: stated.address,
                fragmentation: stated.fragmentation,
                operation: stated
                    .operation
                    .map_or(NameId::NONE, |of| record.texts.intern(&text_of(of))),
                shape: shape.map_or(NameId::NONE, |shape| record.texts.intern(&shape)),
                program,
                call,
            };
            record.events.push((begin.saturating_add(offset_ps.into()), event));
        }
    }

    fn finish(
        self,
        devices: &MemoryOfAllocator,
        warn: &mut dyn FnMut(String),
    ) -> Vec<AllocatorRecord> {
        if self.incomplete > 0 {
            warn(format!(
                "{} events of allocators do not say which allocator it is, or what is in use; they are left out",
                self.incomplete
            ));
        }
        if self.beyond > 0 {
            warn(format!(
                "only the first {MOST_EVENTS} events of allocators are read; there are {} more",
                self.beyond
            ));
        }
        let times = self.allocators.values().flat_map(|parts| &parts.events).map(|(time, _)| *time);
        let first = times.min().unwrap_or(0);
        let record = |(name, parts): (&[u8], RecordParts)| {
            let name = String::from_utf8_lossy(name).into_owned();
            let device = device_of(&name, devices);
            let record = AllocatorRecord {
                device: device.map(|(device, _)| device.clone()),
                memory_bytes: device.and_then(|(_, bytes)| *bytes),
                ..parts.finish(name, first)
            };
            let others = record.contradictions();
            if others > 0 {
                warn(format!(
                    "{}: at {others} of {} events what is in use changes by something else than the block of the event",
                    record.name,
                    record.events.len()
                ));
            }
            record
        };
        self.allocators.into_iter().map(record).collect()
    }
}

impl RecordParts {
    fn add_limit(&mut self, stated: &StatedEvent<'_>) {
        let parts = [stated.in_use, stated.available, Some(stated.reserved.unwrap_or(0))];
        let limit = parts.into_iter().try_fold(0_u64, |sum, part| sum.checked_add(part?));
        if let Some(limit) = limit {
            let known = *self.limit_bytes.get_or_insert(limit);
            self.is_limit_contradicted |= known != limit;
        }
    }

    /// The row of a call within another.
    fn call(&mut self, caller: u32, name: &str) -> u32 {
        let call = AllocatorCall { caller, name: self.texts.intern(name) };
        let next = u32::try_from(self.calls.len()).unwrap_or(AllocatorCall::NONE);
        let calls = &mut self.calls;
        *self.call_rows.entry(call).or_insert_with(|| {
            calls.push(call);
            next
        })
    }

    fn finish(mut self, name: String, first: u128) -> AllocatorRecord {
        // What is at one time stays in the order of the file.
        self.events.sort_by_key(|(time, _)| *time);
        let at = |(time, event): (u128, AllocatorEvent)| {
            let since = time.saturating_sub(first) / 1000;
            AllocatorEvent { time_ns: u64::try_from(since).unwrap_or(u64::MAX), ..event }
        };
        let limit = self.limit_bytes.filter(|bytes| !self.is_limit_contradicted && *bytes > 0);
        let events: Vec<AllocatorEvent> = self.events.into_iter().map(at).collect();
        let peaks =
            events.iter().map(|event| event.peak_bytes.unwrap_or(0).max(event.in_use_bytes));
        AllocatorRecord {
            name,
            limit_bytes: limit,
            process_peak_bytes: peaks.max(),
            events,
            texts: self.texts.into_names(),
            calls: self.calls,
            ..AllocatorRecord::default()
        }
    }
}

/// What every event of a line begins with.
#[derive(Clone, Copy, Default)]
pub(super) struct EventHead {
    /// The number of its name.
    pub name: i64,
    /// When it begins, from the beginning of its line.
    pub offset_ps: u64,
    /// How long it takes.
    pub duration_ps: u64,
}

impl EventHead {
    pub(super) fn of(event: &[u8]) -> Self {
        let mut head = Self::default();
        let mut fields = Wire::of(event);
        while let Ok(Some((number, field))) = fields.next_field() {
            let positive = || u64::try_from(field.number()).unwrap_or(0);
            match number {
                1 => head.name = field.number(),
                2 => head.offset_ps = positive(),
                3 => head.duration_ps = positive(),
                _ => {}
            }
        }
        head
    }
}

/// When a line begins.
fn line_begin_ns(line: &[u8]) -> u128 {
    let mut fields = Wire::of(line);
    while let Ok(Some((number, field))) = fields.next_field() {
        if number == 3 {
            return u128::try_from(field.number()).unwrap_or(0);
        }
    }
    0
}

/// What the statistics of an event state.
#[derive(Default)]
struct StatedEvent<'a> {
    allocator: Option<&'a [u8]>,
    in_use: Option<u64>,
    available: Option<u64>,
    reserved: Option<u64>,
    peak: Option<u64>,
    requested: Option<u64>,
    block: Option<u64>,
    address: Option<u64>,
    fragmentation: Option<f64>,
    operation: Option<&'a [u8]>,
    element: Option<&'static str>,
    shape: Option<&'a [u8]>,
}

impl<'a> StatedEvent<'a> {
    fn of(event: &'a [u8], statistics: &StatNames<'a>) -> Self {
        let mut stated = Self::default();
        for statistic in bytes_of(event, 4) {
            let Some((name, value)) = statistics.named(statistic) else {
                if statistics.name_of(statistic) == Some(b"fragmentation") {
                    stated.fragmentation = fraction_of(statistic);
                }
                continue;
            };
            match (name, value) {
                (b"allocator_name", StatValue::Text(text)) => stated.allocator = Some(text),
                (b"bytes_allocated", value) => stated.in_use = value.bytes(),
                (b"bytes_available", value) => stated.available = value.bytes(),
                (b"bytes_reserved", value) => stated.reserved = value.bytes(),
                (b"peak_bytes_in_use", value) => stated.peak = value.bytes(),
                (b"requested_bytes", value) => stated.requested = value.bytes(),
                (b"allocation_bytes", value) => stated.block = value.bytes(),
                (b"addr", value) => stated.address = value.bytes().filter(|address| *address > 0),
                // A fraction that is 0 is written as a whole number.
                (b"fragmentation", value) => {
                    stated.fragmentation = value.bytes().map(|whole| whole as f64);
                }
                (b"tf_op", StatValue::Text(text)) => stated.operation = Some(text),
                (b"data_type", value) => stated.element = value.bytes().and_then(element_type),
                (b"shape" | b"tensor_shapes", StatValue::Text(text)) => stated.shape = Some(text),
                _ => {}
            }
        }
        let is_said = |text: &&[u8]| !text.is_empty() && *text != b"(null)";
        stated.operation = stated.operation.filter(is_said);
        stated.shape = stated.shape.filter(is_said);
        stated
    }

    /// The element type and the shape: `float32[64,1024]`.
    fn shape_text(&self) -> Option<String> {
        let shape = self.shape.map(text_of).unwrap_or_default();
        let text = format!("{}{shape}", self.element.unwrap_or(""));
        (!text.is_empty()).then_some(text)
    }
}

/// The number with a point of a statistic, if it is a fraction.
fn fraction_of(statistic: &[u8]) -> Option<f64> {
    let mut rest = statistic;
    while let Ok(Some((number, start, length))) = field_at(rest) {
        if number == 2 {
            let bytes = rest.get(start.checked_sub(8)?..start)?;
            let number = f64::from_le_bytes(bytes.try_into().ok()?);
            return (0.0..=1.0).contains(&number).then_some(number);
        }
        let behind = usize::try_from(length).ok().and_then(|length| start.checked_add(length))?;
        rest = rest.get(behind..)?;
    }
    None
}

/// What TensorFlow calls an element type by its number (`types.proto`).
fn element_type(number: u64) -> Option<&'static str> {
    Some(match number {
        1 => "float32",
        2 => "float64",
        3 => "int32",
        4 => "uint8",
        5 => "int16",
        6 => "int8",
        7 => "string",
        8 => "complex64",
        9 => "int64",
        10 => "bool",
        14 => "bfloat16",
        17 => "uint16",
        18 => "complex128",
        19 => "float16",
        20 => "resource",
        21 => "variant",
        22 => "uint32",
        23 => "uint64",
        _ => return None,
    })
}

fn text_of(bytes: &[u8]) -> String {
    cut(&String::from_utf8_lossy(bytes), LONGEST_TEXT).into_owned()
}

/// Whether an allocator is of a device's memory: `GPU_0_bfc`, and not `xla_gpu_host_bfc`.
fn is_of_device(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    !["host", "cpu", "pinned"].iter().any(|of_host| name.contains(of_host))
}

/// Devices with their memory, by how the names of their allocators begin: `GPU_0` of `GPU:0`.
type MemoryOfAllocator = BTreeMap<String, (String, Option<u64>)>;

/// The device of an allocator, `GPU:0` of `GPU_0_bfc`: of several the one with the shortest name.
fn device_of<'a>(
    allocator: &str,
    devices: &'a MemoryOfAllocator,
) -> Option<&'a (String, Option<u64>)> {
    let ends = allocator.char_indices().take(LONGEST_TEXT);
    let mut beginnings = ends.filter_map(|(at, next)| {
        let beginning = allocator.get(..at).filter(|_| !next.is_ascii_digit())?;
        devices.get(beginning)
    });
    beginnings.next().or_else(|| devices.get(allocator))
}
