//! What each space of memory has at its peak and at the end of a report.

use std::cmp::Reverse;

use serde::Serialize;

use super::facts::{OperationFacts, RankView};
use super::{BufferLife, FreedBy, LifeReads};
use crate::systems::tenstorrent::recorded::{BufferLayout, BufferSpace};

/// Buffers that are listed.
const MOST_LISTED: usize = 10;

/// Something of each space of a chip.
#[derive(Debug, Serialize)]
pub struct Spaces<T> {
    #[serde(rename = "DRAM")]
    dram: T,
    #[serde(rename = "L1")]
    l1: T,
    #[serde(rename = "L1_SMALL")]
    l1_small: T,
    #[serde(rename = "TRACE")]
    trace: T,
}

impl<T> Spaces<T> {
    /// Of what each space has.
    pub fn of(each: impl Fn(BufferSpace) -> T) -> Self {
        let [dram, l1, l1_small, trace] = BufferSpace::OF_CHIP.map(each);
        Self { dram, l1, l1_small, trace }
    }
}

/// What a space has.
#[derive(Debug, Serialize)]
pub struct SpaceFacts<'a> {
    buffer_rows: u64,
    banks_per_chip: u64,
    peak_bytes_per_bank: u64,
    peak_at: Option<OperationFacts<'a>>,
    peak_operations: usize,
    peak_buffers: usize,
    peak_reserved_bytes_per_chip: u64,
    peak_used_bytes_per_chip: Option<u64>,
    /// Below 0 where the nodes of buffers say more than banks can hold: the report contradicts itself.
    peak_lost_bytes_per_chip: Option<i64>,
    end_bytes_per_bank: u64,
    sum_over_operations_bytes_per_bank: u64,
    top: Vec<BufferFacts<'a>>,
    peak_dead: BufferSum,
    peak_never_read: BufferSum,
    kept_to_end: KeptToEnd,
    #[serde(skip_serializing_if = "Option::is_none")]
    leaks: Option<Vec<LeakFacts<'a>>>,
}

impl<'a> SpaceFacts<'a> {
    /// Of a space of a rank.
    pub fn of(view: &RankView<'a>, space: BufferSpace) -> Self {
        let memory = view.memory;
        let levels = || (0_u32..).take(memory.levels.len()).map(|at| memory.level(space, at));
        let peak = memory.peak(space);
        let peak_bytes = peak.map_or(0, |at| memory.level(space, at));
        let alive = peak.map(|at| alive_at(view, space, at)).unwrap_or_default();
        let reserved = peak_bytes.saturating_mul(view.banks(space));
        let used = held_bytes(&alive);
        let last = view.last_operation();
        let rows = view.rank.rows_of_spaces.get(space as usize).copied();
        Self {
            buffer_rows: rows.unwrap_or(0),
            banks_per_chip: view.banks(space),
            peak_bytes_per_bank: peak_bytes,
            peak_at: peak.map(|at| view.operation(at)),
            peak_operations: levels()
                .filter(|bytes| peak.is_some() && *bytes == peak_bytes)
                .count(),
            peak_buffers: alive.len(),
            peak_reserved_bytes_per_chip: reserved,
            peak_used_bytes_per_chip: used,
            peak_lost_bytes_per_chip: used.map(|used| difference(reserved, used)),
            end_bytes_per_bank: last.map_or(0, |at| memory.level(space, at)),
            sum_over_operations_bytes_per_bank: levels().fold(0, u64::saturating_add),
            top: largest(&alive).map(|(life, reads)| BufferFacts::of(view, life, reads)).collect(),
            peak_dead: peak.map_or_else(BufferSum::default, |at| dead_at(&alive, at)),
            peak_never_read: peak.map_or_else(BufferSum::default, |at| never_read_at(&alive, at)),
            kept_to_end: KeptToEnd::of(view, space),
            leaks: (space == BufferSpace::L1).then(|| leaks(view)),
        }
    }
}

fn difference(reserved: u64, used: u64) -> i64 {
    let lost = i128::from(reserved).saturating_sub(i128::from(used));
    i64::try_from(lost).unwrap_or(if lost < 0 { i64::MIN } else { i64::MAX })
}

/// A buffer with who reads it.
type AliveBuffers<'a> = Vec<(&'a BufferLife, LifeReads)>;

/// The buffers of a space at the end of an operation.
pub fn alive_at<'a>(view: &RankView<'a>, space: BufferSpace, at: u32) -> AliveBuffers<'a> {
    let memory = view.memory;
    memory.alive_at(space, at).map(|(place, life)| (life, memory.reads_of(place))).collect()
}

/// Bytes that buffers hold over the banks of a chip; `None` where the report does not say it of one of them.
pub fn held_bytes(alive: &[(&BufferLife, LifeReads)]) -> Option<u64> {
    let mut held = alive.iter().map(|(life, _)| life.chip_bytes);
    held.try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)))
}

/// The buffers of a space at the end of an operation as addresses with bytes, by address.
pub fn buffers_by_address(view: &RankView<'_>, space: BufferSpace, at: u32) -> Vec<(u64, u64)> {
    let alive = view.memory.alive_at(space, at);
    let mut buffers: Vec<_> = alive.map(|(_, life)| (life.key.address, life.bytes)).collect();
    buffers.sort_unstable();
    buffers
}

fn largest<'a, 'b>(
    alive: &'b [(&'a BufferLife, LifeReads)],
) -> impl Iterator<Item = (&'a BufferLife, LifeReads)> + use<'a, 'b> {
    let mut sorted: Vec<_> = alive.iter().collect();
    sorted.sort_by_key(|(life, _)| (Reverse(life.bytes), life.key.address));
    sorted.into_iter().take(MOST_LISTED).copied()
}

/// A buffer, as lists have it.
#[derive(Debug, Serialize)]
pub struct BufferFacts<'a> {
    bytes_per_bank: u64,
    address: u64,
    bytes_per_chip: Option<u64>,
    layout: Option<&'static str>,
    tensor: Option<u64>,
    shape: Option<Vec<u64>>,
    dtype: Option<&'a str>,
    helper: bool,
    allocated_by: Option<OperationFacts<'a>>,
    freed: Option<FreedFacts<'a>>,
}

#[derive(Debug, Serialize)]
struct FreedFacts<'a> {
    how: &'static str,
    #[serde(flatten)]
    by: OperationFacts<'a>,
}

impl<'a> BufferFacts<'a> {
    /// Of a life.
    pub fn of(view: &RankView<'a>, life: &BufferLife, reads: LifeReads) -> Self {
        let (shape, dtype) = view.tensor(reads.tensor);
        let freed = life.freed.map(|freed| {
            let (how, at) = match freed {
                FreedBy::Operation(at) => ("by", at),
                FreedBy::NobodyAfter(at) => ("after", at),
            };
            FreedFacts { how, by: view.operation(at) }
        });
        Self {
            bytes_per_bank: life.bytes,
            address: life.key.address,
            bytes_per_chip: life.chip_bytes,
            layout: life.layout.map(BufferLayout::word),
            tensor: reads.tensor,
            shape,
            dtype,
            helper: !reads.is_visible,
            allocated_by: life.allocated_by.map(|at| view.operation(at)),
            freed,
        }
    }
}

/// How many buffers, and what they take of a bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BufferSum {
    /// How many.
    pub buffers: u64,
    /// Bytes.
    pub bytes_per_bank: u64,
}

impl BufferSum {
    fn add(&mut self, life: &BufferLife) {
        self.buffers = self.buffers.saturating_add(1);
        self.bytes_per_bank = self.bytes_per_bank.saturating_add(life.bytes);
    }

    fn of<'a>(lives: impl Iterator<Item = &'a BufferLife>) -> Self {
        let mut sum = Self::default();
        lives.for_each(|life| sum.add(life));
        sum
    }
}

/// Buffers that were read before an operation and are read by none from there on.
pub fn dead_at(alive: &[(&BufferLife, LifeReads)], at: u32) -> BufferSum {
    let is_dead = |reads: &LifeReads| reads.last.is_some_and(|last| last < at);
    BufferSum::of(alive.iter().filter(|(_, reads)| is_dead(reads)).map(|(life, _)| *life))
}

/// Buffers with tensors of the user that were there before an operation, and that none ever reads.
fn never_read_at(alive: &[(&BufferLife, LifeReads)], at: u32) -> BufferSum {
    let is_one = |(life, reads): &&(&BufferLife, LifeReads)| {
        reads.is_visible && reads.last.is_none() && life.allocated_by.is_none_or(|by| by < at)
    };
    BufferSum::of(alive.iter().filter(is_one).map(|(life, _)| *life))
}

/// What is there at the end of a report, in parts that add up to it.
#[derive(Debug, Default, Serialize)]
pub struct KeptToEnd {
    /// Read before the last operation.
    pub read_then_kept: BufferSum,
    /// Read by the last operation.
    pub read_by_last_operation: BufferSum,
    /// Never read: results, or waste.
    pub never_read: BufferSum,
    /// Of no tensor that the user sees.
    pub helpers: BufferSum,
}

impl KeptToEnd {
    /// Of a space of a rank.
    pub fn of(view: &RankView<'_>, space: BufferSpace) -> Self {
        let mut kept = Self::default();
        let Some(end) = view.last_operation() else { return kept };
        for (life, reads) in alive_at(view, space, end) {
            let part = match reads.last {
                _ if !reads.is_visible => &mut kept.helpers,
                None => &mut kept.never_read,
                Some(last) if last == end => &mut kept.read_by_last_operation,
                Some(_) => &mut kept.read_then_kept,
            };
            part.add(life);
        }
        kept
    }
}

#[derive(Debug, Serialize)]
struct LeakFacts<'a> {
    bytes_per_bank: u64,
    address: u64,
    tensor: Option<u64>,
    shape: Option<Vec<u64>>,
    dtype: Option<&'a str>,
    allocated_by: Option<OperationFacts<'a>>,
    last_used_by: OperationFacts<'a>,
    idle_operations: u32,
}

/// What may have been forgotten in L1: read, then kept to the end, the most bytes for the most operations first.
fn leaks<'a>(view: &RankView<'a>) -> Vec<LeakFacts<'a>> {
    let Some(end) = view.last_operation() else { return Vec::new() };
    let kept = alive_at(view, BufferSpace::L1, end).into_iter().filter_map(|(life, reads)| {
        let last = reads.last.filter(|last| reads.is_visible && *last < end)?;
        Some((life, reads, last, end.saturating_sub(last)))
    });
    let mut kept: Vec<_> = kept.collect();
    kept.sort_by_key(|(life, _, _, idle)| {
        (Reverse(life.bytes.saturating_mul(u64::from(*idle))), life.key.address)
    });
    let leak = |(life, reads, last, idle): (&BufferLife, LifeReads, u32, u32)| {
        let (shape, dtype) = view.tensor(reads.tensor);
        LeakFacts {
            bytes_per_bank: life.bytes,
            address: life.key.address,
            tensor: reads.tensor,
            shape,
            dtype,
            allocated_by: life.allocated_by.map(|at| view.operation(at)),
            last_used_by: view.operation(last),
            idle_operations: idle,
        }
    };
    kept.into_iter().take(MOST_LISTED).map(leak).collect()
}
