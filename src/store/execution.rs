//! Execution: what was recorded of the program's runs, in total, by step and IPU, and by tile in blocks
//! (formats/poplar.md 2.4, Execution side).

use std::ops::Range;

use super::column::Column;
use super::ids::{ComputeSetId, ProgramId};
use super::names::{NameId, Names};

/// What was recorded of the program's runs, over all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ExecutionTotals {
    /// Calls of `Engine::run` that were recorded.
    pub runs: u64,
    /// Steps that were recorded.
    pub steps: u64,
    /// The total that the report states, over all runs.
    pub cycles: Option<u64>,
    /// Sum of the runs' elapsed time, microseconds.
    pub elapsed_microseconds: Option<u64>,
}

/// Cycles that the report states (`execution_cycle_totals`): of the run, and, summed over tiles, by what they do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedCycles {
    /// Of the run, from its first step to its last.
    pub cycles: u64,
    /// Vertices run on the tile.
    pub compute: u64,
    /// Data moves between tiles.
    pub internal_exchange: u64,
    /// Data moves between IPUs.
    pub global_exchange: u64,
    /// Data moves between IPU and host.
    pub stream_copy: u64,
    /// Transfers with the host begin.
    pub stream_copy_begin: u64,
    /// Transfers with the host end.
    pub stream_copy_end: u64,
    /// Tiles wait for each other.
    pub sync: u64,
}

/// A call of `Engine::run` (`runs`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionRun {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// When it began, microseconds since 1970.
    pub start_microseconds: Option<u64>,
    /// How long it took by the host's clock, microseconds.
    pub elapsed_microseconds: Option<u64>,
    /// Programs that it ran, without syncs.
    pub programs: Option<u64>,
    /// Steps of it.
    pub steps: Option<u64>,
    /// The clock of each IPU as it was estimated, Hz; empty where not recorded.
    pub clock_hz: Vec<u64>,
    /// The cycle of each IPU at which it began; empty where not recorded.
    pub start_cycles: Vec<u64>,
    /// The cycle of each IPU at which it ended; empty where not recorded.
    pub end_cycles: Vec<u64>,
    /// What the report states of it.
    pub stated: Option<StatedCycles>,
}

/// Nothing in a column of 32-bit numbers.
const NONE: u32 = u32::MAX;

/// Columns of the steps that ran: of `steps` a row for each, of `steps_by_ipu` a row, a *span*, for each on an IPU.
/// A step takes 16 bytes, a span 40.
#[derive(Clone, Debug, Default)]
pub struct ExecutionTrace {
    /// The runs, in the order in which they were.
    pub runs: Vec<ExecutionRun>,
    /// Names of kinds.
    pub kind_names: Names,
    /// Number of each step, ascending.
    pub ids: Column<u32>,
    /// Kind of each step, a row of [`Self::kind_names`].
    pub kinds: Column<NameId>,
    /// Program of each step.
    programs: Column<u32>,
    /// Compute set of each step.
    compute_sets: Column<u32>,
    /// Steps on IPUs, by IPU, then by start, then by step.
    pub spans: Spans,
    /// The IPUs that have spans, ascending.
    pub devices: Vec<DeviceSpans>,
    /// Number and sum of each list of cycles by tile, by number.
    pub lists: Vec<(u32, u64)>,
    /// Lightweight profiling.
    pub blocks: TileBlocks,
}

/// Columns of steps on IPUs.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// Row of the step.
    pub steps: Column<u32>,
    /// The cycle at which the first tile began.
    pub starts: Column<u64>,
    /// The cycle at which the last tile ended; not before the start.
    pub ends: Column<u64>,
    /// Cycles of the tile that took longest.
    pub cycles: Column<u64>,
    /// Tiles that did something.
    pub active_tiles: Column<u32>,
    /// Cycles of a tile on average by those of the longest, 0 to 1; no number where that is not known.
    balances: Column<f32>,
    /// Number of the list of cycles by tile.
    lists: Column<u32>,
}

/// A span, as it is added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Its IPU.
    pub device: u32,
    /// Row of its step.
    pub step: u32,
    /// The cycle at which the first tile began.
    pub start: u64,
    /// The cycle at which the last tile ended.
    pub end: u64,
    /// Cycles of the tile that took longest.
    pub cycles: u64,
    /// Tiles that did something.
    pub active_tiles: u32,
    /// Cycles of a tile on average by those of the longest, 0 to 1; `None` where that was not recorded.
    pub balance: Option<f32>,
    /// Number of the list of cycles by tile.
    pub list: Option<u32>,
}

/// The spans of an IPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSpans {
    /// The IPU.
    pub device: u32,
    /// Its rows in [`Spans`].
    pub rows: Range<usize>,
}

impl Spans {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The number of a span's list of cycles by tile; `None` where none was recorded.
    pub fn list(&self, span: usize) -> Option<u32> {
        self.lists.get(span).copied().filter(|list| *list != NONE)
    }

    /// Cycles of a tile on average by those of the longest, 0 to 1; `None` where that was not recorded.
    pub fn balance(&self, span: usize) -> Option<f32> {
        self.balances.get(span).copied().filter(|balance| !balance.is_nan())
    }

    fn push(&mut self, span: &Span) {
        self.steps.push(span.step);
        self.starts.push(span.start);
        self.ends.push(span.end.max(span.start));
        self.cycles.push(span.cycles);
        self.active_tiles.push(span.active_tiles);
        self.balances.push(span.balance.unwrap_or(f32::NAN));
        self.lists.push(span.list.unwrap_or(NONE));
    }
}

impl ExecutionTrace {
    /// Appends a step; numbers ascend.
    pub fn push_step(
        &mut self,
        id: u32,
        kind: NameId,
        program: Option<ProgramId>,
        compute_set: Option<ComputeSetId>,
    ) {
        self.ids.push(id);
        self.kinds.push(kind);
        self.programs.push(program.map_or(NONE, |program| program.0));
        self.compute_sets.push(compute_set.map_or(NONE, |set| set.0));
    }

    /// Takes all spans, in any order.
    pub fn set_spans(&mut self, mut spans: Vec<Span>) {
        spans.sort_unstable_by_key(|span| (span.device, span.start, span.step));
        self.devices.clear();
        self.spans = Spans::default();
        for of_device in spans.chunk_by(|a, b| a.device == b.device) {
            let first = self.spans.len();
            for span in of_device {
                self.spans.push(span);
            }
            let device = of_device.first().map_or(0, |span| span.device);
            self.devices.push(DeviceSpans { device, rows: first..self.spans.len() });
        }
    }

    /// The program of a step.
    pub fn program(&self, step: usize) -> Option<ProgramId> {
        self.programs.get(step).copied().filter(|id| *id != NONE).map(ProgramId)
    }

    /// The compute set of a step, where the row says so itself.
    pub fn compute_set(&self, step: usize) -> Option<ComputeSetId> {
        self.compute_sets.get(step).copied().filter(|id| *id != NONE).map(ComputeSetId)
    }

    /// The kind of a step.
    pub fn kind(&self, step: usize) -> &str {
        self.kinds.get(step).map_or("", |kind| self.kind_names.get(*kind))
    }

    /// Cycles of all tiles in a span together; `None` where they were not recorded by tile.
    pub fn tile_cycles(&self, span: usize) -> Option<u64> {
        let list = self.spans.list(span)?;
        // Numbers follow each other, mostly.
        let (first, _) = self.lists.first()?;
        let near = self.lists.get(list.checked_sub(*first)? as usize);
        if let Some((_, sum)) = near.filter(|(id, _)| *id == list) {
            return Some(*sum);
        }
        let place = self.lists.binary_search_by_key(&list, |(id, _)| *id).ok()?;
        self.lists.get(place).map(|(_, sum)| *sum)
    }

    /// The IPU of a span.
    pub fn device_of(&self, span: usize) -> Option<u32> {
        self.devices.iter().find(|device| device.rows.contains(&span)).map(|device| device.device)
    }

    /// The steps of each run, as rows: by the numbers that runs state; `None` where these do not add up to the
    /// steps that there are.
    pub fn steps_of_runs(&self) -> Option<Vec<Range<usize>>> {
        let mut first = 0_usize;
        let mut rows = Vec::new();
        for run in &self.runs {
            let end = first.checked_add(usize::try_from(run.steps?).ok()?)?;
            rows.push(first..end);
            first = end;
        }
        (first == self.ids.len()).then_some(rows)
    }
}

/// What a block measured (`blocks.type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// A block of the user's program.
    Common,
    /// A transfer with the host.
    StreamCopy,
    /// The buffer of measurements was full: some were lost.
    Overflow,
    /// A block without a name.
    Anonymous,
    /// The measurements were sent to the host.
    Flush,
    /// A number that the notes do not have.
    Unknown,
}

impl BlockKind {
    /// By its number in the file.
    pub fn of(number: u8) -> Self {
        match number {
            0 => Self::Common,
            1 => Self::StreamCopy,
            2 => Self::Overflow,
            3 => Self::Anonymous,
            4 => Self::Flush,
            _ => Self::Unknown,
        }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Common => "Block",
            Self::StreamCopy => "Stream copy",
            Self::Overflow => "Overflow",
            Self::Anonymous => "Anonymous",
            Self::Flush => "Block flush",
            Self::Unknown => "Unknown",
        }
    }
}

/// Columns of `blocks`, what lightweight profiling measured: by tile, then by start. Cycles are those of the tile.
#[derive(Clone, Debug, Default)]
pub struct TileBlocks {
    /// The tile.
    pub tiles: Column<u32>,
    /// First cycle.
    pub starts: Column<u64>,
    /// One past the last; not before the first.
    pub ends: Column<u64>,
    /// Number of the block.
    ids: Column<u32>,
    /// Number of its kind.
    kinds: Column<u8>,
}

/// A block, as it is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TileBlock {
    /// The tile.
    pub tile: u32,
    /// First cycle.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Number of the block.
    pub id: Option<u32>,
    /// Number of its kind in the file.
    pub kind: u8,
}

impl TileBlocks {
    /// Of blocks in any order.
    pub fn of(mut blocks: Vec<TileBlock>) -> Self {
        blocks.sort_unstable();
        let mut columns = Self::default();
        for block in blocks {
            columns.tiles.push(block.tile);
            columns.starts.push(block.start);
            columns.ends.push(block.end.max(block.start));
            columns.ids.push(block.id.unwrap_or(NONE));
            columns.kinds.push(block.kind);
        }
        columns
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tiles.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tiles.is_empty()
    }

    /// A block by its row.
    pub fn get(&self, row: usize) -> Option<TileBlock> {
        Some(TileBlock {
            tile: *self.tiles.get(row)?,
            start: *self.starts.get(row)?,
            end: *self.ends.get(row)?,
            id: self.ids.get(row).copied().filter(|id| *id != NONE),
            kind: *self.kinds.get(row)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(device: u32, step: u32, start: u64, end: u64) -> Span {
        Span {
            device,
            step,
            start,
            end,
            cycles: end.saturating_sub(start),
            active_tiles: 4,
            balance: Some(1.0),
            list: None,
        }
    }

    #[test]
    fn spans_are_found_by_their_device_in_the_order_of_their_starts() {
        let mut trace = ExecutionTrace::default();
        trace.set_spans(vec![span(1, 3, 50, 60), span(0, 2, 30, 20), span(0, 1, 5, 9)]);
        let found: Vec<_> =
            trace.devices.iter().map(|device| (device.device, device.rows.clone())).collect();
        assert_eq!(found, [(0, 0..2), (1, 2..3)]);
        assert_eq!(&*trace.spans.steps, &[1, 2, 3]);
        assert_eq!(trace.spans.ends[1], 30, "a span does not end before it begins");
        assert_eq!((trace.device_of(2), trace.device_of(3)), (Some(1), None));
        assert_eq!(trace.tile_cycles(0), None);
    }

    #[test]
    fn a_balance_that_is_not_known_is_not_0_and_cycles_are_found_by_the_number_of_their_list() {
        let mut trace = ExecutionTrace::default();
        let with =
            |step, list, balance| Span { balance, list, ..span(0, step, u64::from(step), 9) };
        trace.set_spans(vec![
            with(0, Some(3), Some(0.0)),
            with(1, Some(9), None),
            with(2, Some(4), Some(0.5)),
            with(3, Some(2), Some(1.0)),
        ]);
        trace.lists = vec![(3, 30), (4, 40), (9, 90)];
        let found: Vec<_> = (0..5).map(|span| trace.spans.balance(span)).collect();
        assert_eq!(found, [Some(0.0), None, Some(0.5), Some(1.0), None]);
        let found: Vec<_> = (0..5).map(|span| trace.tile_cycles(span)).collect();
        assert_eq!(found, [Some(30), Some(90), Some(40), None, None]);
    }

    #[test]
    fn bytes_of_steps_and_spans_are_those_of_their_columns() {
        let mut trace = ExecutionTrace::default();
        trace.push_step(0, NameId::NONE, None, None);
        trace.set_spans(vec![span(0, 0, 1, 2)]);
        let of_step = size_of_val(&*trace.ids)
            + size_of_val(&*trace.kinds)
            + size_of_val(&*trace.programs)
            + size_of_val(&*trace.compute_sets);
        let spans = &trace.spans;
        let of_span = size_of_val(&*spans.steps)
            + size_of_val(&*spans.starts)
            + size_of_val(&*spans.ends)
            + size_of_val(&*spans.cycles)
            + size_of_val(&*spans.active_tiles)
            + size_of_val(&*spans.balances)
            + size_of_val(&*spans.lists);
        assert_eq!((of_step, of_span), (16, 40), "as docs/dev/report-parts.md says");
    }

    #[test]
    fn steps_belong_to_runs_only_where_the_numbers_add_up() {
        let mut trace = ExecutionTrace::default();
        let kind = NameId::NONE;
        (0..5).for_each(|id| trace.push_step(id, kind, None, None));
        let run = |steps| ExecutionRun { steps, ..ExecutionRun::default() };
        trace.runs = vec![run(Some(2)), run(Some(3))];
        assert_eq!(trace.steps_of_runs(), Some(vec![0..2, 2..5]));
        trace.runs = vec![run(Some(2)), run(Some(2))];
        assert_eq!(trace.steps_of_runs(), None);
        trace.runs = vec![run(None)];
        assert_eq!(trace.steps_of_runs(), None);
    }
}
