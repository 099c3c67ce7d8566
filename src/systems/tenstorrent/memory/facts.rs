//! What a report says, as programs get it (formats/tenstorrent.md 11).

use serde::Serialize;

use super::errors::{ErrorFacts, error_facts};
use super::scratch_facts::{InUsePeak, ScratchFacts};
use super::spaces::{SpaceFacts, Spaces, buffers_by_address};
use super::{BufferLife, LifeReads, RankMemory, TransientPeak};
use crate::store::names::{FastMap, NameId, Names};
use crate::systems::tenstorrent::recorded::{
    ArchSource, BufferLayout, BufferSpace, CalledFrom, CorePages, PageTable, TensorPlacement,
    TtnnDevice, TtnnMachine, TtnnRank, TtnnReport, frames_in, user_frame_in,
};

/// A rank with what follows from it.
#[derive(Clone, Copy, Debug)]
pub struct RankView<'a> {
    /// The names of the report.
    pub names: &'a Names,
    /// What was recorded.
    pub rank: &'a TtnnRank,
    /// What follows from it.
    pub memory: &'a RankMemory,
    /// What cores hold at the end of the operation with the least headroom; `None` where the report does not say.
    pub pages: Option<&'a CorePages>,
}

impl<'a> RankView<'a> {
    /// A name.
    pub fn name(&self, name: NameId) -> &'a str {
        self.names.get(name)
    }

    /// The operation at a position.
    pub fn operation(&self, at: u32) -> OperationFacts<'a> {
        let operations = &self.rank.operations;
        OperationFacts { operation: operations.id(at), name: self.name(operations.name(at)) }
    }

    /// The row of `devices`; all 0 without one.
    pub fn device(&self) -> TtnnDevice {
        self.rank.machine.device.unwrap_or_default()
    }

    /// What a buffer is called: its tensor with shape and data type, or the operation that it helps.
    pub fn buffer_name(&self, life: &BufferLife, reads: LifeReads) -> String {
        self.named(life, reads, &self.shape_and_type(reads.tensor))
    }

    /// ` [1, 1, 512, 512] BFLOAT16`; empty where it is not known.
    fn shape_and_type(&self, tensor: Option<u64>) -> String {
        let (shape, data_type) = self.tensor(tensor);
        let of = shape.zip(data_type).map(|(shape, data_type)| format!(" {shape:?} {data_type}"));
        of.unwrap_or_default()
    }

    fn named(&self, life: &BufferLife, reads: LifeReads, of: &str) -> String {
        match (reads.tensor, life.allocated_by) {
            (Some(tensor), _) if reads.is_visible => format!("tensor {tensor}{of}"),
            (_, Some(by)) => format!("helper of {}{of}", self.operation(by).name),
            _ => format!("buffer at {}{of}", life.key.address),
        }
    }

    /// The calls in Python that led to the operation at a position, the innermost first.
    pub fn frames(&self, at: u32) -> impl Iterator<Item = CalledFrom<'a>> + use<'a> {
        let stack = self.rank.calls.stack(at).map(|stack| self.name(stack));
        frames_in(stack.unwrap_or_default())
    }

    /// The line of the user's code that calls the operation at a position: `path:line (function)`.
    pub fn line(&self, at: u32) -> Option<String> {
        let stack = self.rank.calls.stack(at)?;
        Some(user_frame_in(self.name(stack))?.title())
    }

    /// The function of the user's code that calls the operation at a position: `function (path)`.
    pub fn function(&self, at: u32) -> Option<String> {
        let stack = self.rank.calls.stack(at)?;
        Some(user_frame_in(self.name(stack))?.function_title())
    }

    /// The position of the last operation.
    pub fn last_operation(&self) -> Option<u32> {
        self.rank.operations.count().checked_sub(1)
    }

    /// Banks of a space on a chip.
    pub fn banks(&self, space: BufferSpace) -> u64 {
        if space.is_of_core() { self.device().l1_banks } else { self.rank.machine.dram_banks }
    }

    /// The shape and the data type of a tensor: `[1, 1, 512, 512]`, `BFLOAT16`.
    pub fn tensor(&self, tensor: Option<u64>) -> (Option<Vec<u64>>, Option<&'a str>) {
        let row = tensor.and_then(|tensor| self.rank.tensors.get(tensor)?.row);
        let Some(row) = row else { return (None, None) };
        let shape = shape_of(self.name(row.shape));
        (shape, Some(self.last_word(row.data_type)))
    }

    /// The page layout and the requested placement of a tensor, as in `TILE (L1, block sharded)`; empty if unknown.
    pub fn tensor_layout(&self, tensor: u64) -> String {
        let row = self.rank.tensors.get(tensor).and_then(|facts| facts.row);
        let Some(row) = row else { return String::new() };
        let pages = self.last_word(row.page_layout);
        let TensorPlacement { space, layout } = row.placement;
        match space.map(|space| place_text(space, layout)) {
            Some(place) if pages.is_empty() => format!("({place})"),
            Some(place) => format!("{pages} ({place})"),
            None => pages.to_owned(),
        }
    }

    /// `TILE` of `Layout.TILE` or `Layout::TILE`.
    fn last_word(&self, name: NameId) -> &'a str {
        let name = self.name(name);
        name.rsplit(['.', ':']).next().unwrap_or(name)
    }
}

/// What many buffers are called, as [`RankView::buffer_name`] says: tensors have few shapes, each of which is written once.
#[derive(Debug, Default)]
pub struct BufferNames(FastMap<[NameId; 2], String>);

impl BufferNames {
    /// Shapes that are kept.
    const MOST: usize = 4096;

    /// What a buffer is called. All are of one report.
    pub fn of(&mut self, view: &RankView<'_>, life: &BufferLife, reads: LifeReads) -> String {
        let Self(known) = self;
        if known.len() > Self::MOST {
            known.clear();
        }
        let row = reads.tensor.and_then(|tensor| view.rank.tensors.get(tensor)?.row);
        let key = row.map_or([NameId::NONE; 2], |row| [row.shape, row.data_type]);
        let of = known.entry(key).or_insert_with(|| view.shape_and_type(reads.tensor));
        view.named(life, reads, of)
    }
}

/// A space with its buffer layout: `L1, block sharded`.
pub fn place_text(space: BufferSpace, layout: Option<BufferLayout>) -> String {
    match layout {
        Some(layout) => {
            format!("{}, {}", space.word(), layout.word().replace('_', " ").to_lowercase())
        }
        None => space.word().to_owned(),
    }
}

/// The sizes in `Shape([1, 1, 512, 512])`.
pub fn shape_of(text: &str) -> Option<Vec<u64>> {
    let (_, inner) = text.split_once('[')?;
    let (inner, _) = inner.split_once(']')?;
    let sizes = inner.split(',').map(str::trim).filter(|size| !size.is_empty());
    sizes.map(|size| size.parse().ok()).collect()
}

/// A number with one decimal.
pub fn one_decimal(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OperationFacts<'a> {
    /// Its id.
    pub operation: u64,
    /// Its name.
    pub name: &'a str,
}

/// The section `tenstorrent` of a summary.
#[derive(Debug, Serialize)]
pub struct TtnnFacts<'a> {
    schema_version: Option<&'a str>,
    ttnn_version: Option<&'a str>,
    detailed_buffers: bool,
    rank_count: usize,
    ranks: Vec<RankFacts<'a>>,
}

impl<'a> TtnnFacts<'a> {
    /// What a report says, with each of its ranks.
    pub fn of(report: &'a TtnnReport, ranks: &[RankView<'a>]) -> Self {
        Self {
            schema_version: report.schema_version.as_deref(),
            ttnn_version: report.ttnn_version.as_deref(),
            detailed_buffers: report.page_table.is_some(),
            rank_count: ranks.len(),
            ranks: ranks.iter().map(|rank| RankFacts::of(report, rank)).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct RankFacts<'a> {
    rank: u64,
    arch: &'a str,
    arch_from: ArchSource,
    board: Option<&'a str>,
    device: MachineFacts<'a>,
    counts: CountFacts,
    spaces: Spaces<SpaceFacts<'a>>,
    l1_transient_peak: Option<TransientFacts<'a>>,
    l1_at_peak: Option<FreeRanges<'a>>,
    scratch: ScratchFacts<'a>,
    in_use_peak: Option<InUsePeak<'a>>,
    errors: Vec<ErrorFacts<'a>>,
}

impl<'a> RankFacts<'a> {
    fn of(report: &'a TtnnReport, view: &RankView<'a>) -> Self {
        let machine = &view.rank.machine;
        let transient = view.memory.transient.filter(|_| view.last_operation().is_some());
        Self {
            rank: view.rank.rank,
            arch: &machine.arch.name,
            arch_from: machine.arch.from,
            board: machine.board.as_deref(),
            device: MachineFacts::of(machine),
            counts: CountFacts::of(report, view),
            spaces: Spaces::of(|space| SpaceFacts::of(view, space)),
            l1_transient_peak: transient.map(|peak| TransientFacts::of(view, &peak)),
            l1_at_peak: FreeRanges::of(view),
            scratch: ScratchFacts::of(view),
            in_use_peak: InUsePeak::of(view),
            errors: error_facts(view),
        }
    }
}

#[derive(Debug, Serialize)]
struct MachineFacts<'a> {
    chips: u64,
    rows: u64,
    mesh_ids: &'a [u64],
    grid_x: Option<u64>,
    grid_y: Option<u64>,
    worker_l1_bytes_per_core: Option<u64>,
    floor_address: Option<u64>,
    l1_bank_bytes_per_core: Option<u64>,
    l1_small_bytes_per_core: Option<u64>,
    cb_limit_bytes_per_core: Option<u64>,
    l1_banks_per_chip: Option<u64>,
    dram_banks_per_chip: u64,
    rounding_bytes: u64,
}

impl<'a> MachineFacts<'a> {
    fn of(machine: &'a TtnnMachine) -> Self {
        let of = |fact: fn(&TtnnDevice) -> u64| machine.device.as_ref().map(fact);
        Self {
            chips: machine.chips,
            rows: machine.device_rows,
            mesh_ids: &machine.mesh_ids,
            grid_x: of(|device| device.grid_x),
            grid_y: of(|device| device.grid_y),
            worker_l1_bytes_per_core: of(|device| device.worker_l1_bytes),
            floor_address: of(|device| device.floor_address),
            l1_bank_bytes_per_core: of(|device| device.l1_bank_bytes),
            l1_small_bytes_per_core: of(TtnnDevice::l1_small_bytes),
            cb_limit_bytes_per_core: machine.device.and_then(|device| device.cb_limit_bytes),
            l1_banks_per_chip: of(|device| device.l1_banks),
            dram_banks_per_chip: machine.dram_banks,
            rounding_bytes: machine.arch.rounding_bytes(),
        }
    }
}

#[derive(Debug, Serialize)]
struct CountFacts {
    operations: usize,
    buffer_rows: u64,
    tensors: u64,
    errors: usize,
    page_rows: u64,
    page_table: Option<PageTable>,
    replay_mismatches: u64,
    freed_between_operations: u64,
}

impl CountFacts {
    fn of(report: &TtnnReport, view: &RankView<'_>) -> Self {
        let RankView { rank, memory, .. } = view;
        Self {
            operations: rank.operations.ids.len(),
            buffer_rows: rank.buffer_rows,
            tensors: rank.tensors.rows,
            errors: rank.errors.len(),
            page_rows: rank.page_rows,
            page_table: report.page_table.filter(|_| rank.page_rows > 0),
            replay_mismatches: memory.mismatches,
            freed_between_operations: memory.freed_between,
        }
    }
}

#[derive(Debug, Serialize)]
struct TransientFacts<'a> {
    bytes_per_core: u64,
    at: OperationFacts<'a>,
    over_end_bytes_per_core: u64,
    unrounded_bytes_per_core: u64,
}

impl<'a> TransientFacts<'a> {
    fn of(view: &RankView<'a>, peak: &TransientPeak) -> Self {
        let at_end = view.memory.core_level(peak.operation);
        Self {
            bytes_per_core: peak.bytes,
            at: view.operation(peak.operation),
            over_end_bytes_per_core: peak.bytes.saturating_sub(at_end),
            unrounded_bytes_per_core: peak.unrounded_bytes,
        }
    }
}

/// What is free in L1 at its peak.
#[derive(Debug, Serialize)]
struct FreeRanges<'a> {
    at: OperationFacts<'a>,
    free_bytes_per_core: u64,
    largest_free_bytes_per_core: u64,
    fragmentation_percent: f64,
    free_ranges: Vec<FreeRange>,
}

impl<'a> FreeRanges<'a> {
    fn of(view: &RankView<'a>) -> Option<Self> {
        let at = view.memory.peak(BufferSpace::L1)?;
        let buffers = buffers_by_address(view, BufferSpace::L1, at);
        let free_ranges = free_ranges(&view.device(), buffers);
        let sum: u64 = free_ranges.iter().map(|range| range.bytes).sum();
        let largest = largest(&free_ranges);
        let lost = sum.saturating_sub(largest) as f64;
        Some(Self {
            at: view.operation(at),
            free_bytes_per_core: sum,
            largest_free_bytes_per_core: largest,
            fragmentation_percent: if sum == 0 {
                0.0
            } else {
                one_decimal(100.0 * lost / sum as f64)
            },
            free_ranges,
        })
    }
}

/// A range of addresses of a core where nothing lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FreeRange {
    /// Its first byte.
    pub address: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// The largest of them, bytes.
pub fn largest(ranges: &[FreeRange]) -> u64 {
    ranges.iter().map(|range| range.bytes).max().unwrap_or(0)
}

/// What is free in the L1 bank of a core between buffers: addresses with bytes, by address.
pub fn free_ranges(
    device: &TtnnDevice,
    buffers: impl IntoIterator<Item = (u64, u64)>,
) -> Vec<FreeRange> {
    let mut free = Vec::new();
    let (mut from, end) = (device.floor_address, device.l1_end());
    for (address, bytes) in buffers.into_iter().chain([(end, 0)]) {
        let gap = address.min(end).saturating_sub(from);
        if gap > 0 {
            free.push(FreeRange { address: from, bytes: gap });
        }
        from = from.max(address.saturating_add(bytes));
    }
    free
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shapes_are_lists_of_sizes() {
        assert_eq!(shape_of("Shape([1, 1, 512, 64])"), Some(vec![1, 1, 512, 64]));
        assert_eq!(shape_of("Shape([])"), Some(Vec::new()));
        assert_eq!((shape_of("Shape"), shape_of("Shape([a])")), (None, None));
    }

    proptest! {
        #[test]
        fn what_is_free_and_what_is_taken_is_the_bank(buffers in prop::collection::vec((0_u64..90, 1_u64..9), 0..9)) {
            let device = TtnnDevice { floor_address: 10, l1_bank_bytes: 100, ..TtnnDevice::default() };
            let mut buffers: Vec<(u64, u64)> = buffers.into_iter().map(|(at, bytes)| (at.saturating_add(10), bytes)).collect();
            buffers.sort_unstable();
            let taken = (10..110).filter(|at| buffers.iter().any(|(from, bytes)| (*from..from.saturating_add(*bytes)).contains(at)));
            let taken = taken.count() as u64;
            let free: u64 = free_ranges(&device, buffers.clone()).iter().map(|range| range.bytes).sum();
            prop_assert_eq!(free.saturating_add(taken), 100);
        }
    }
}
