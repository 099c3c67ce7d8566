//! What the scratch of programs takes of cores.

use std::collections::BTreeMap;

use serde::Serialize;

use super::facts::{OperationFacts, RankView};
use super::{ProgramState, ProgramUse};
use crate::systems::tenstorrent::recorded::{CoreRange, ScratchBuffer, TtnnDevice};

/// Scratch of a rank.
#[derive(Debug, Serialize)]
pub struct ScratchFacts<'a> {
    programs: usize,
    recorded: usize,
    inferred: usize,
    unknown: usize,
    ambiguous: usize,
    cache_hits: Option<usize>,
    built_without_scratch: Option<usize>,
    circular_buffer_nodes: u64,
    on_tensor_nodes: u64,
    dataflow_buffer_nodes: u64,
    scratchpad_nodes: u64,
    largest: Option<LargestScratch<'a>>,
    closest: Option<ClosestScratch<'a>>,
    least_room_of_unknown: Option<RoomOfUnknown<'a>>,
    operations: Vec<OperationScratch<'a>>,
}

impl<'a> ScratchFacts<'a> {
    /// Of a rank.
    pub fn of(view: &RankView<'a>) -> Self {
        let programs = &view.memory.programs;
        let count = |is_one: &dyn Fn(&ProgramUse) -> bool| {
            programs.iter().filter(|program| is_one(program)).count()
        };
        let of_state = |state: ProgramState| count(&|program| program.state == state);
        let says_hits = programs.iter().any(|program| program.is_cache_hit.is_some());
        let is_built_unknown = |program: &ProgramUse| {
            program.is_cache_hit == Some(false) && program.state == ProgramState::Unknown
        };
        let counts = view.memory.scratch_counts;
        Self {
            programs: programs.len(),
            recorded: of_state(ProgramState::Recorded),
            inferred: of_state(ProgramState::Inferred),
            unknown: of_state(ProgramState::Unknown),
            ambiguous: count(&|program| program.is_ambiguous),
            cache_hits: says_hits.then(|| count(&|program| program.is_cache_hit == Some(true))),
            built_without_scratch: says_hits.then(|| count(&is_built_unknown)),
            circular_buffer_nodes: counts.circular_buffers,
            on_tensor_nodes: counts.on_tensors,
            dataflow_buffer_nodes: counts.dataflow_buffers,
            scratchpad_nodes: counts.scratchpads,
            largest: largest(view).map(|known| LargestScratch::of(view, &known)),
            closest: closest(view).map(|known| ClosestScratch::of(view, &known)),
            least_room_of_unknown: RoomOfUnknown::of(view),
            operations: OperationScratch::list(view),
        }
    }
}

/// A program whose scratch is known.
#[derive(Clone, Copy, Debug)]
pub struct KnownScratch<'a> {
    /// The program.
    pub program: &'a ProgramUse,
    /// Its own scratch.
    pub buffers: &'a [ScratchBuffer],
    /// The highest address behind one of these; where scratch begins if there is none.
    pub highest_end: u64,
    /// Bytes on the fullest core.
    pub bytes: u64,
    /// Where buffers begin on the cores: the lowest, or the end of L1 without one.
    lowest_l1: u64,
}

impl KnownScratch<'_> {
    /// Bytes between scratch and the lowest buffer, below 0 where they overlap.
    pub fn headroom_bytes(&self) -> i128 {
        i128::from(self.lowest_l1).saturating_sub(i128::from(self.highest_end))
    }

    /// Bytes of a core with buffers and scratch.
    pub fn in_use_bytes(&self) -> u64 {
        let moment = &self.program.moment;
        moment.l1_bytes.saturating_add(moment.l1_small_bytes).saturating_add(self.bytes)
    }
}

/// The programs whose scratch is known, in their order.
pub fn known_scratch<'a>(view: &RankView<'a>) -> impl Iterator<Item = KnownScratch<'a>> {
    let (memory, device) = (view.memory, view.rank.machine.device);
    let known = move |program: &'a ProgramUse| {
        let device = device?;
        let buffers = memory.scratch.get(program.scratch? as usize)?;
        let highest = buffers.iter().map(ScratchBuffer::end).max();
        let highest_end = highest.unwrap_or(device.floor_address);
        Some(KnownScratch {
            program,
            buffers,
            highest_end,
            bytes: highest_end.saturating_sub(device.floor_address),
            lowest_l1: program.moment.lowest_l1_address.unwrap_or(device.l1_end()),
        })
    };
    memory.programs.iter().filter_map(known)
}

/// The first program with the most scratch.
pub fn largest<'a>(view: &RankView<'a>) -> Option<KnownScratch<'a>> {
    let most = known_scratch(view).map(|known| known.highest_end).max()?;
    known_scratch(view).find(|known| known.highest_end == most && !known.buffers.is_empty())
}

/// The first program with the least room between its scratch and the lowest buffer.
pub fn closest<'a>(view: &RankView<'a>) -> Option<KnownScratch<'a>> {
    known_scratch(view).min_by_key(KnownScratch::headroom_bytes)
}

/// What the programs of an operation take of a core.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgramsOfOperation {
    /// How many there are.
    pub count: u64,
    /// Those whose scratch is not known.
    pub unknown: u64,
    /// The most that known scratch takes, bytes.
    pub scratch_bytes: Option<u64>,
    /// The least between known scratch and buffers, bytes; below 0 where they overlap.
    pub headroom_bytes: Option<i128>,
    /// The most that is in use with known scratch, bytes.
    pub in_use_bytes: u64,
}

impl ProgramsOfOperation {
    /// Of each operation that has programs, by its position.
    pub fn by_operation(view: &RankView<'_>) -> BTreeMap<u32, Self> {
        let mut found: BTreeMap<u32, Self> = BTreeMap::new();
        for program in &view.memory.programs {
            let of = found.entry(program.moment.operation).or_default();
            of.count = of.count.saturating_add(1);
            let is_unknown = program.state == ProgramState::Unknown;
            of.unknown = of.unknown.saturating_add(u64::from(is_unknown));
        }
        for known in known_scratch(view) {
            let of = found.entry(known.program.moment.operation).or_default();
            of.scratch_bytes = of.scratch_bytes.max(Some(known.bytes));
            of.in_use_bytes = of.in_use_bytes.max(known.in_use_bytes());
            let headroom = known.headroom_bytes();
            of.headroom_bytes = Some(of.headroom_bytes.map_or(headroom, |it| it.min(headroom)));
        }
        found
    }
}

#[derive(Debug, Serialize)]
struct LargestScratch<'a> {
    at: OperationFacts<'a>,
    device_operation: &'a str,
    sureness: ProgramState,
    highest_end_address: u64,
    bytes_per_core: u64,
    core_ranges: Vec<[u32; 4]>,
    cores: usize,
    circular_buffers: usize,
}

impl<'a> LargestScratch<'a> {
    fn of(view: &RankView<'a>, known: &KnownScratch<'a>) -> Self {
        let reaching = known.buffers.iter().filter(|buffer| buffer.end() == known.highest_end);
        let mut ranges: Vec<CoreRange> =
            reaching.flat_map(|buffer| buffer.cores.iter().copied()).collect();
        ranges.sort_unstable();
        ranges.dedup();
        let grid = CoreGrid::of(&view.device(), known.buffers);
        Self {
            at: view.operation(known.program.moment.operation),
            device_operation: view.name(known.program.device_operation),
            sureness: known.program.state,
            highest_end_address: known.highest_end,
            bytes_per_core: known.bytes,
            core_ranges: ranges.iter().map(|range| range.corners).collect(),
            cores: grid.fullest(|_| 0).map_or(0, |fullest| fullest.cores),
            circular_buffers: known.buffers.len(),
        }
    }
}

#[derive(Debug, Serialize)]
struct ClosestScratch<'a> {
    at: OperationFacts<'a>,
    device_operation: &'a str,
    sureness: ProgramState,
    highest_end_address: u64,
    bytes_per_core: u64,
    headroom_bytes_per_core: i64,
    lowest_l1_address: Option<u64>,
    fullest_reserved: Option<FullestReserved>,
    fullest_holding_data: Option<FullestCores>,
}

#[derive(Debug, Serialize)]
struct FullestReserved {
    bytes_per_core: u64,
    l1_bytes_per_core: u64,
    l1_small_bytes_per_core: u64,
    scratch_bytes_per_core: u64,
    cores: usize,
    first_core: [u32; 2],
}

impl<'a> ClosestScratch<'a> {
    fn of(view: &RankView<'a>, known: &KnownScratch<'a>) -> Self {
        let moment = known.program.moment;
        let grid = CoreGrid::of(&view.device(), known.buffers);
        let reserved = moment.l1_bytes.saturating_add(moment.l1_small_bytes);
        let fullest = grid.fullest(|_| reserved);
        let held = |pages: &crate::systems::tenstorrent::recorded::CorePages| {
            grid.fullest(|core| pages.get(&core).copied().unwrap_or(0))
        };
        Self {
            at: view.operation(moment.operation),
            device_operation: view.name(known.program.device_operation),
            sureness: known.program.state,
            highest_end_address: known.highest_end,
            bytes_per_core: known.bytes,
            headroom_bytes_per_core: i64::try_from(known.headroom_bytes()).unwrap_or(i64::MIN),
            lowest_l1_address: moment.lowest_l1_address,
            fullest_reserved: fullest.map(|fullest| FullestReserved {
                bytes_per_core: fullest.bytes_per_core,
                l1_bytes_per_core: moment.l1_bytes,
                l1_small_bytes_per_core: moment.l1_small_bytes,
                scratch_bytes_per_core: fullest.bytes_per_core.saturating_sub(reserved),
                cores: fullest.cores,
                first_core: fullest.first_core,
            }),
            fullest_holding_data: view.pages.and_then(held),
        }
    }
}

/// The cores with the most bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct FullestCores {
    bytes_per_core: u64,
    cores: usize,
    first_core: [u32; 2],
}

/// Bytes of scratch on each core.
#[derive(Debug)]
pub struct CoreGrid {
    /// Cores of a row.
    pub width: u32,
    /// Row by row.
    pub bytes: Vec<u64>,
}

impl CoreGrid {
    /// Of some scratch.
    pub fn of(device: &TtnnDevice, buffers: &[ScratchBuffer]) -> Self {
        let [width, height] =
            [device.grid_x, device.grid_y].map(|cores| u32::try_from(cores).unwrap_or(0));
        let mut bytes = vec![0; (width as usize).saturating_mul(height as usize)];
        for buffer in buffers {
            let taken = buffer.end().saturating_sub(device.floor_address);
            for [x0, y0, x1, y1] in buffer.cores.iter().map(|range| range.corners) {
                for y in y0..=y1.min(height.saturating_sub(1)) {
                    let row = (y as usize).saturating_mul(width as usize);
                    let end = x1.saturating_add(1).min(width) as usize;
                    let cores = row.saturating_add(x0 as usize)..row.saturating_add(end);
                    for core in bytes.get_mut(cores).unwrap_or_default() {
                        *core = taken.max(*core);
                    }
                }
            }
        }
        Self { width, bytes }
    }

    /// The cores with the most, where each has some bytes beside its scratch; `None` without cores.
    fn fullest(&self, beside: impl Fn((u32, u32)) -> u64) -> Option<FullestCores> {
        let mut fullest: Option<FullestCores> = None;
        for (place, scratch) in (0_u32..).zip(&self.bytes) {
            let (x, y) = (place.checked_rem(self.width)?, place.checked_div(self.width)?);
            let bytes_per_core = scratch.saturating_add(beside((x, y)));
            match &mut fullest {
                Some(most) if bytes_per_core == most.bytes_per_core => {
                    most.cores = most.cores.saturating_add(1);
                }
                Some(most) if bytes_per_core < most.bytes_per_core => {}
                _ => fullest = Some(FullestCores { bytes_per_core, cores: 1, first_core: [x, y] }),
            }
        }
        fullest
    }
}

#[derive(Debug, Serialize)]
struct RoomOfUnknown<'a> {
    at: OperationFacts<'a>,
    device_operation: &'a str,
    room_bytes_per_core: u64,
    lowest_l1_address: Option<u64>,
}

impl<'a> RoomOfUnknown<'a> {
    /// Of the program whose scratch is not known and can have been the least.
    fn of(view: &RankView<'a>) -> Option<Self> {
        let device = view.rank.machine.device?;
        let lowest =
            |program: &ProgramUse| program.moment.lowest_l1_address.unwrap_or(device.l1_end());
        let unknown = view.memory.programs.iter();
        let unknown = unknown.filter(|program| program.state == ProgramState::Unknown);
        let program = unknown.min_by_key(|program| lowest(program))?;
        Some(Self {
            at: view.operation(program.moment.operation),
            device_operation: view.name(program.device_operation),
            room_bytes_per_core: lowest(program).saturating_sub(device.floor_address),
            lowest_l1_address: program.moment.lowest_l1_address,
        })
    }
}

#[derive(Debug, Serialize)]
struct OperationScratch<'a> {
    #[serde(flatten)]
    operation: OperationFacts<'a>,
    programs: usize,
    recorded: usize,
    inferred: usize,
    unknown: usize,
    highest_end_address: Option<u64>,
    bytes_per_core: Option<u64>,
}

impl<'a> OperationScratch<'a> {
    fn list(view: &RankView<'a>) -> Vec<Self> {
        let programs = &view.memory.programs;
        let mut known = known_scratch(view).peekable();
        let of_operation = |programs: &[ProgramUse]| {
            let at = programs.first().map_or(0, |program| program.moment.operation);
            let count = |state| programs.iter().filter(|program| program.state == state).count();
            let mut most: Option<(u64, u64)> = None;
            while let Some(one) = known.next_if(|known| known.program.moment.operation == at) {
                most = most.max(Some((one.highest_end, one.bytes)));
            }
            Self {
                operation: view.operation(at),
                programs: programs.len(),
                recorded: count(ProgramState::Recorded),
                inferred: count(ProgramState::Inferred),
                unknown: count(ProgramState::Unknown),
                highest_end_address: most.map(|(end, _)| end),
                bytes_per_core: most.map(|(_, bytes)| bytes),
            }
        };
        let same =
            |one: &ProgramUse, other: &ProgramUse| one.moment.operation == other.moment.operation;
        programs.chunk_by(same).map(of_operation).collect()
    }
}

/// The program with which most of a core is in use, as far as scratch is known.
#[derive(Debug, Serialize)]
pub struct InUsePeak<'a> {
    bytes_per_core: u64,
    at: OperationFacts<'a>,
    device_operation: &'a str,
    sureness: ProgramState,
    l1_bytes_per_core: u64,
    l1_small_bytes_per_core: u64,
    scratch_bytes_per_core: u64,
}

impl<'a> InUsePeak<'a> {
    /// Of a rank.
    pub fn of(view: &RankView<'a>) -> Option<Self> {
        let fullest = fullest(view)?;
        let moment = &fullest.program.moment;
        Some(Self {
            bytes_per_core: fullest.in_use_bytes(),
            at: view.operation(moment.operation),
            device_operation: view.name(fullest.program.device_operation),
            sureness: fullest.program.state,
            l1_bytes_per_core: moment.l1_bytes,
            l1_small_bytes_per_core: moment.l1_small_bytes,
            scratch_bytes_per_core: fullest.bytes,
        })
    }
}

/// The first program with which most of a core is in use.
pub fn fullest<'a>(view: &RankView<'a>) -> Option<KnownScratch<'a>> {
    let most = known_scratch(view).map(|known| known.in_use_bytes()).max()?;
    known_scratch(view).find(|known| known.in_use_bytes() == most)
}
