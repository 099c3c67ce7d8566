//! The operations of a report as a table: what each was called with, what it made, and how full L1 of a core was.
//!
//! In use: the most of L1 and L1_SMALL that is known of an operation, at its end or with a program whose circular buffers are
//! known. Fragmentation: what of the free bytes of the L1 bank at the end lies outside of the largest free range.

use std::collections::BTreeMap;

use super::memory::BufferLife;
use super::memory::facts::{RankView, free_ranges, largest, place_text};
use super::memory::scratch_facts::ProgramsOfOperation;
use super::recorded::BufferSpace;
use super::run::memory_of_device;
use super::step_said::{arguments_text, tensor_text};
use super::verdict::capacity_bytes;
use crate::run::Cell;
use crate::run::calls::{CallColumn, CallList, CallRow, CallUnit};
use crate::store::DeviceId;

const fn column(
    key: &'static str,
    title: &'static str,
    unit: CallUnit,
    rule: &'static str,
) -> CallColumn {
    CallColumn { key, title, unit, rule }
}

const COLUMNS: [CallColumn; 15] = [
    column("name", "Operation", CallUnit::Words, ""),
    column("operation", "Id", CallUnit::Number, ""),
    column(
        "in_use_bytes_per_core",
        "In use",
        CallUnit::Bytes,
        "The most of L1 and L1_SMALL of a core that is known of the operation, with circular buffers",
    ),
    column(
        "in_use_percent",
        "of a core, %",
        CallUnit::Number,
        "The same of what a core has for buffers and circular buffers",
    ),
    column(
        "circular_buffer_bytes_per_core",
        "Circular buffers",
        CallUnit::Bytes,
        "The most that circular buffers of a program of the operation take of a core, as far as they are known",
    ),
    column("largest_free_bytes_per_core", "Largest free range", CallUnit::Bytes, ""),
    column(
        "fragmentation_percent",
        "Fragmentation, %",
        CallUnit::Number,
        "What of the free bytes lies outside of the largest free range",
    ),
    column("arguments", "Arguments", CallUnit::Words, ""),
    column("outputs", "Outputs", CallUnit::Words, ""),
    column(
        "allocated",
        "Allocated in",
        CallUnit::Words,
        "The memory and layout of the buffers that it allocated",
    ),
    column("line", "Line of code", CallUnit::Words, ""),
    column(
        "l1_bytes_per_core",
        "L1 at the end",
        CallUnit::Bytes,
        "Buffers in L1 at the end of the operation",
    ),
    column(
        "free_bytes_per_core",
        "Free",
        CallUnit::Bytes,
        "What is free of the L1 bank at the end of the operation",
    ),
    column(
        "unknown_programs",
        "Programs not known",
        CallUnit::Number,
        "Programs whose circular buffers the report does not have: more may have been in use",
    ),
    column(
        "host_microseconds",
        "Host time, µs",
        CallUnit::Number,
        "Time of the call on the host, with compilation at the first one: no time of the device",
    ),
];

const NOTE: &str = "host times are of calls, not of the device";

/// The operations of all ranks.
pub(super) fn call_list(views: &[RankView<'_>]) -> CallList {
    let mut calls = Vec::new();
    for (place, view) in (0_u32..).zip(views) {
        let Some(memory) = memory_of_device(views, DeviceId(place)) else { continue };
        let rows = rank_rows(view).into_iter().enumerate();
        calls.extend(rows.map(|(step, cells)| CallRow { device: memory.device(), step, cells }));
    }
    CallList { columns: COLUMNS.to_vec(), calls, note: NOTE }
}

fn rank_rows(view: &RankView<'_>) -> Vec<Vec<Cell>> {
    let count = view.rank.operations.count();
    let mut programs = ProgramsOfOperation::by_operation(view);
    let mut made: BTreeMap<u32, Vec<&BufferLife>> = BTreeMap::new();
    for (life, reads) in view.memory.lives.iter().zip(&view.memory.reads) {
        if let Some(by) = life.allocated_by.filter(|_| reads.is_visible) {
            made.entry(by).or_default().push(life);
        }
    }
    let mut alive = AliveInL1::of(view);
    (0..count)
        .map(|at| {
            let lives = made.get(&at).map_or(&[][..], Vec::as_slice);
            let programs = programs.remove(&at).unwrap_or_default();
            row(view, at, programs, alive.free_at(view, at), lives)
        })
        .collect()
}

fn row(
    view: &RankView<'_>,
    at: u32,
    programs: ProgramsOfOperation,
    (free, largest): (u64, u64),
    made: &[&BufferLife],
) -> Vec<Cell> {
    let l1 = view.memory.level(BufferSpace::L1, at);
    let in_use = programs.in_use_bytes.max(view.memory.core_level(at));
    let capacity = capacity_bytes(view);
    let percent = |part: u64, whole: u64| {
        part.saturating_mul(100).saturating_add(whole / 2).checked_div(whole)
    };
    let count = |number: Option<u64>| number.map_or(Cell::Empty, Cell::Count);
    let operation = view.operation(at);
    let has_device = view.rank.machine.device.is_some();
    let bytes = |bytes: u64| Cell::from(has_device.then_some(bytes));
    let outputs: Vec<String> =
        view.rank.tensors.outputs_of(at).map(|tensor| tensor_text(view, tensor)).collect();
    let mut places: Vec<String> =
        made.iter().map(|life| place_text(life.key.space, life.layout)).collect();
    places.sort_unstable();
    places.dedup();
    let host = view.rank.operations.host_nanoseconds.get(at as usize).copied().flatten();
    vec![
        Cell::Text(operation.name.to_owned()),
        Cell::Count(operation.operation),
        Cell::Bytes(in_use),
        count(capacity.and_then(|capacity| percent(in_use, capacity))),
        Cell::from(programs.scratch_bytes),
        bytes(largest),
        count(percent(free.saturating_sub(largest), free).filter(|_| has_device)),
        Cell::Text(arguments_text(view, at)),
        Cell::Text(outputs.join(", ")),
        Cell::Text(places.join(", ")),
        view.line(at).map_or(Cell::Empty, Cell::Text),
        Cell::Bytes(l1),
        bytes(free),
        if programs.unknown > 0 { Cell::Count(programs.unknown) } else { Cell::Empty },
        count(host.map(|nanoseconds| nanoseconds / 1000)),
    ]
}

/// The buffers in L1 at the ends of operations, one after the other.
struct AliveInL1 {
    /// Addresses with bytes.
    alive: BTreeMap<u64, u64>,
    /// Lives by the operation at whose end they are first, and by the one at whose end they are gone; the last one first.
    begin: Vec<(u32, u64, u64)>,
    end: Vec<(u32, u64)>,
}

impl AliveInL1 {
    fn of(view: &RankView<'_>) -> Self {
        let lives = view.memory.lives.iter();
        let lives = lives.filter(|it| it.key.space == BufferSpace::L1 && it.is_at_end_of(it.first));
        let (mut begin, mut end) = (Vec::new(), Vec::new());
        for life in lives {
            begin.push((life.first, life.key.address, life.bytes));
            end.push((life.last().saturating_add(1), life.key.address));
        }
        begin.sort_unstable_by(|one, other| other.cmp(one));
        end.sort_unstable_by(|one, other| other.cmp(one));
        Self { alive: BTreeMap::new(), begin, end }
    }

    /// Free bytes of the L1 bank at the end of an operation, and the largest free range. Operations come in their order.
    fn free_at(&mut self, view: &RankView<'_>, at: u32) -> (u64, u64) {
        while self.end.last().is_some_and(|(from, _)| *from <= at) {
            if let Some((_, address)) = self.end.pop() {
                self.alive.remove(&address);
            }
        }
        while self.begin.last().is_some_and(|(from, ..)| *from <= at) {
            if let Some((_, address, bytes)) = self.begin.pop() {
                self.alive.insert(address, bytes);
            }
        }
        let buffers = self.alive.iter().map(|(address, bytes)| (*address, *bytes));
        let free = free_ranges(&view.device(), buffers);
        let sum = free.iter().fold(0_u64, |sum, range| sum.saturating_add(range.bytes));
        (sum, largest(&free))
    }
}
