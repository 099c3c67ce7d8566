//! The steps that ran as lanes of rows: those of an IPU below each other, nested by names or by debug contexts, or
//! flat.
//!
//! - Nested by names, a step lies in the parts of its name before each `/`; parts that steps one after the other have
//!   in common are one. By layers, it lies in the debug contexts of its program, the outermost on top.
//! - *Overlapped I/O* of an IPU are the transfers with the host during which, in part at least, another of its spans
//!   runs that is no such transfer and does not wait. They have a lane of their own.
//! - Lightweight profiling has a lane for each tile that it measured on.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::Executed;
use crate::analysis::program::kinds::Activity;
use crate::analysis::spans::{Bins, SpanRow, SpanRows};
use crate::store::debug_info::ContextRow;
use crate::store::names::NameId;
use crate::store::{ComputeSetId, ProgramId};

/// Most rows around a step; the rest of its name is one part.
const MOST_DEPTH: usize = 10;
/// Contexts of a chain, as in [`crate::store::debug_info`].
const MOST_CONTEXTS: usize = 256;

/// How steps are nested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// By parts of names.
    #[default]
    Names,
    /// By debug contexts.
    Layers,
    /// Not at all.
    Flat,
}

/// What a lane is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneOf {
    /// An IPU.
    Ipu(u32),
    /// The overlapped I/O of an IPU.
    OverlappedIo(u32),
    /// The blocks of a tile.
    Blocks(u32),
}

/// What a range of a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A span, by its row.
    Span(usize),
    /// A part of names, one of [`Lanes::parts`].
    Part(u32),
    /// A block, by its row.
    Block(usize),
}

/// A lane.
#[derive(Clone, Debug)]
pub struct Lane {
    /// What it is of.
    pub of: LaneOf,
    /// Its ranges.
    pub rows: SpanRows,
    /// What each is: above 2³¹ a span or a block, else a part.
    nodes: Vec<u32>,
}

const LEAF: u32 = 1 << 31;

/// What a range looks like: a part of names, what a span does, a block by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// A part of names.
    Part,
    /// A span.
    Does(Activity),
    /// A block, by the number of its kind.
    Block(u8),
}

/// The first tag of blocks.
const BLOCKS: u8 = 100;

impl Looks {
    /// By the tag of a range.
    pub fn of(tag: u8) -> Self {
        match (tag.checked_sub(1), tag.checked_sub(BLOCKS)) {
            (None, _) => Self::Part,
            (_, Some(kind)) => Self::Block(kind),
            (Some(place), None) => {
                Self::Does(Activity::ALL.get(place as usize).copied().unwrap_or(Activity::Other))
            }
        }
    }
}

/// The tag of a span, by what it does.
fn tag_of(activity: Activity) -> u8 {
    let place = Activity::ALL.iter().position(|other| *other == activity).unwrap_or(0);
    u8::try_from(place + 1).unwrap_or(0)
}

impl Lane {
    /// What a range is.
    pub fn node(&self, number: u32) -> Option<Node> {
        let node = *self.nodes.get(number as usize)?;
        Some(match (node & LEAF, self.of) {
            (0, _) => Node::Part(node),
            (_, LaneOf::Blocks(_)) => Node::Block((node & !LEAF) as usize),
            _ => Node::Span((node & !LEAF) as usize),
        })
    }
}

impl Lane {
    /// The range of a span or block that begins at a cycle.
    pub fn range_of(&self, row_in_columns: usize, start: u64) -> Option<u32> {
        let wanted = leaf(row_in_columns);
        self.rows.rows().iter().enumerate().find_map(|(depth, row)| {
            let begins = |at: &usize| row.get(*at).is_some_and(|(other, _)| other == start);
            let mut same = (row.begun_before(start)..row.len()).take_while(begins);
            same.find_map(|at| {
                let number = self.rows.number(depth, at)?;
                (self.nodes.get(number as usize) == Some(&wanted)).then_some(number)
            })
        })
    }
}

/// Bytes alive over the spans of an IPU.
#[derive(Clone, Debug)]
pub struct MemoryOfIpu {
    /// The IPU.
    pub ipu: u32,
    /// Where each span begins.
    pub starts: Vec<u64>,
    /// Not-always-live bytes from there on: of a span without a step of liveness those before it.
    pub bytes: Vec<u64>,
    bins: Bins<BytesOfBin>,
    /// The most of them.
    pub most: u64,
}

/// What is alive from the spans of a bin on: the most, and after the last of them; nothing where none begins.
type BytesOfBin = Option<(u64, u64)>;

impl MemoryOfIpu {
    fn of(ipu: u32, starts: Vec<u64>, bytes: Vec<u64>) -> Self {
        let things = (0..starts.len()).map(|at| (starts[at], Some((bytes[at], bytes[at]))));
        let both = |a: BytesOfBin, b: BytesOfBin| match (a, b) {
            (Some((most, _)), Some((other, last))) => Some((most.max(other), last)),
            (a, b) => a.or(b),
        };
        let end = starts.last().map_or(0, |start| start.saturating_add(1));
        let bins = Bins::of(end, things, None, both);
        let most = bytes.iter().copied().max().unwrap_or(0);
        Self { ipu, starts, bytes, bins, most }
    }

    /// What is alive at a cycle; `None` before the first span.
    pub fn at(&self, cycle: u64) -> Option<u64> {
        let begun = self.starts.partition_point(|start| *start <= cycle);
        self.bytes.get(begun.checked_sub(1)?).copied()
    }

    /// The most that is alive in each of `columns` equal parts between two places; `None` before the first span.
    pub fn columns(&self, (from, to): (f64, f64), columns: usize) -> Vec<Option<u64>> {
        let unit = (to - from) / columns.max(1) as f64;
        let mut last = (from > 0.0).then(|| self.at(from as u64)).flatten();
        let mut found = Vec::with_capacity(columns);
        let first = self.starts.partition_point(|start| (*start as f64) < from);
        let bins = self.bins.between((from, to), unit);
        let (mut bin, mut span) = (0, first);
        for column in 0..columns {
            let end = from + (column + 1) as f64 * unit;
            let mut most = last;
            if let Some(bins) = bins {
                // Bins are shorter than columns.
                let (begin, length, bins) = bins;
                while let Some(held) = bins.get(bin).filter(|_| begin + (bin as f64) * length < end)
                {
                    if let Some((highest, after)) = held {
                        most = most.max(Some(*highest));
                        last = Some(*after);
                    }
                    bin += 1;
                }
            } else {
                while let Some((_, bytes)) = self
                    .starts
                    .get(span)
                    .zip(self.bytes.get(span))
                    .filter(|(start, _)| (**start as f64) < end)
                {
                    most = most.max(Some(*bytes));
                    last = Some(*bytes);
                    span += 1;
                }
            }
            found.push(most);
        }
        found
    }
}

/// All lanes of a report.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// By IPU, each followed by its overlapped I/O; then by tile.
    pub lanes: Vec<Lane>,
    /// Parts of names.
    pub parts: Vec<Arc<str>>,
    /// From the first cycle to the last.
    pub cycles: Range<u64>,
}

impl Lanes {
    /// Of a report, without the spans of hidden kinds.
    pub fn of(executed: Executed<'_>, nesting: Nesting, hidden: &[NameId]) -> Self {
        let trace = executed.trace;
        let mut paths = Paths {
            executed,
            nesting,
            found: HashMap::new(),
            numbers: HashMap::new(),
            parts: Vec::new(),
        };
        let activities = executed.activities();
        let mut lanes = Vec::new();
        for ipu in &trace.ipus {
            let kind = |span: usize| {
                trace.kinds.get(executed.step_of(span)).copied().unwrap_or(NameId::NONE)
            };
            let is_shown = |span: &usize| !hidden.contains(&kind(*span));
            let activity = |span: usize| {
                activities.get(kind(span).0 as usize).copied().unwrap_or(Activity::Other)
            };
            let beside = overlapped(executed, ipu.rows.clone(), activity);
            let is_beside = |span: &usize| beside.binary_search(span).is_ok();
            let main: Vec<usize> =
                ipu.rows.clone().filter(is_shown).filter(|span| !is_beside(span)).collect();
            lanes.push(nested((executed, &activity), LaneOf::Ipu(ipu.ipu), &main, &mut paths));
            let beside: Vec<usize> = beside.iter().copied().filter(is_shown).collect();
            if !beside.is_empty() {
                lanes.push(flat((executed, &activity), LaneOf::OverlappedIo(ipu.ipu), &beside));
            }
        }
        lanes.extend(lanes_of_blocks(executed));
        // Hidden or not, so that nothing moves when a kind is hidden.
        let cycles = executed.whole();
        Self { lanes, parts: paths.parts, cycles }
    }
}

/// The transfers with the host among the spans of an IPU that go on beside others, ascending.
fn overlapped(
    executed: Executed<'_>,
    rows: Range<usize>,
    activity: impl Fn(usize) -> Activity,
) -> Vec<usize> {
    let spans = &executed.trace.spans;
    let bounds = |span: usize| Some((*spans.starts.get(span)?, *spans.ends.get(span)?));
    let mut found = Vec::new();
    // The farthest end of others so far, and the transfers that may still be met by one that begins later.
    let (mut busy_to, mut open) = (0_u64, Vec::<(u64, usize)>::new());
    for span in rows {
        let Some((start, end)) = bounds(span) else { continue };
        let doing = activity(span);
        if doing.is_of_host() {
            if start < busy_to {
                found.push(span);
            } else if end > start {
                open.push((end, span));
            }
        } else if !doing.is_waiting() && end > start {
            open.retain(|(open_to, transfer)| {
                if *open_to > start {
                    found.push(*transfer);
                }
                false
            });
            busy_to = busy_to.max(end);
        }
    }
    found.sort_unstable();
    found
}

fn leaf(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(LEAF - 1).min(LEAF - 1) | LEAF
}

/// The steps that ran, and what each span does.
type Spans<'a> = (Executed<'a>, &'a dyn Fn(usize) -> Activity);

fn flat((executed, activity): Spans<'_>, of: LaneOf, spans: &[usize]) -> Lane {
    let all = &executed.trace.spans;
    let start = |span: &usize| all.starts.get(*span).copied().unwrap_or(0);
    let end = |span: &usize| all.ends.get(*span).copied().unwrap_or(0);
    let tags = spans.iter().map(|span| tag_of(activity(*span))).collect();
    let row = SpanRow::of(spans.iter().map(start).collect(), spans.iter().map(end).collect(), tags);
    let nodes = spans.iter().map(|span| leaf(*span)).collect();
    Lane { of, rows: SpanRows::of(vec![row]), nodes }
}

/// Rows that are being filled.
#[derive(Default)]
struct RowMaker {
    starts: Vec<u64>,
    ends: Vec<u64>,
    nodes: Vec<u32>,
    tags: Vec<u8>,
}

impl RowMaker {
    fn push(&mut self, (node, tag): (u32, u8), start: u64, end: u64) {
        self.tags.push(tag);
        self.starts.push(start);
        self.ends.push(end);
        self.nodes.push(node);
    }
}

fn nested(
    (executed, activity): Spans<'_>,
    of: LaneOf,
    spans: &[usize],
    paths: &mut Paths<'_>,
) -> Lane {
    if paths.nesting == Nesting::Flat {
        return flat((executed, activity), of, spans);
    }
    let all = &executed.trace.spans;
    let mut rows: Vec<RowMaker> = Vec::new();
    // The parts around the step before, which the next one may go on with.
    let mut around: Arc<[u32]> = Arc::from([]);
    for span in spans {
        let (Some(start), Some(end)) = (all.starts.get(*span), all.ends.get(*span)) else {
            continue;
        };
        let path = paths.of_step(executed.step_of(*span));
        let common = path.iter().zip(&*around).take_while(|(a, b)| a == b).count();
        if rows.len() <= path.len() {
            rows.resize_with(path.len() + 1, RowMaker::default);
        }
        for (depth, part) in path.iter().enumerate() {
            let Some(row) = rows.get_mut(depth) else { continue };
            match row.ends.last_mut().filter(|_| depth < common) {
                Some(last) => *last = (*last).max(*end),
                None => row.push((*part, 0), *start, *end),
            }
        }
        if let Some(row) = rows.get_mut(path.len()) {
            row.push((leaf(*span), tag_of(activity(*span))), *start, *end);
        }
        around = path;
    }
    let nodes = rows.iter().flat_map(|row| &row.nodes).copied().collect();
    let rows = rows.into_iter().map(|row| SpanRow::of(row.starts, row.ends, row.tags)).collect();
    Lane { of, rows: SpanRows::of(rows), nodes }
}

/// What a step runs, by which steps are alike.
type What = (Option<ProgramId>, Option<ComputeSetId>);

/// The parts around steps, of each program once.
struct Paths<'a> {
    executed: Executed<'a>,
    nesting: Nesting,
    found: HashMap<What, Arc<[u32]>>,
    numbers: HashMap<Arc<str>, u32>,
    parts: Vec<Arc<str>>,
}

impl Paths<'_> {
    fn of_step(&mut self, step: usize) -> Arc<[u32]> {
        let trace = self.executed.trace;
        let key = (trace.program(step), trace.compute_set(step));
        if let Some(found) = self.found.get(&key) {
            return Arc::clone(found);
        }
        let texts = match self.nesting {
            Nesting::Names => parts_of_name(self.executed.name(step).unwrap_or_default()),
            Nesting::Layers => self.contexts(step),
            Nesting::Flat => Vec::new(),
        };
        let path: Arc<[u32]> = texts.into_iter().map(|text| self.number(text)).collect();
        self.found.insert(key, Arc::clone(&path));
        path
    }

    fn number(&mut self, text: String) -> u32 {
        let text: Arc<str> = text.into();
        let next = u32::try_from(self.parts.len()).unwrap_or(LEAF - 1).min(LEAF - 1);
        *self.numbers.entry(Arc::clone(&text)).or_insert_with(|| {
            self.parts.push(text);
            next
        })
    }

    /// What the contexts of a step's program are called, the outermost first.
    fn contexts(&self, step: usize) -> Vec<String> {
        let Some(debug) = self.executed.report.debug.get() else { return Vec::new() };
        let mut rows = Vec::new();
        let mut next = debug.position(self.executed.debug_id(step));
        while let Some(row) = next.filter(|_| rows.len() < MOST_CONTEXTS) {
            rows.push(row);
            let parent =
                debug.parents.get(row).copied().filter(|parent| *parent != ContextRow::NONE);
            next = parent.map(|parent| parent.0 as usize);
        }
        let title = |row: &usize| {
            let kind = debug.kinds.get(*row).map_or("", |kind| debug.words.get(*kind));
            let name = debug.names.get(*row).and_then(|name| debug.texts.at(name.0 as usize));
            let name = name.unwrap_or_default();
            let layer = debug.layer(*row);
            let what = if kind.is_empty() { layer } else { kind };
            match (what, name) {
                ("", name) => name.to_owned(),
                (what, "") => what.to_owned(),
                (what, name) => format!("{what} {name}"),
            }
        };
        let mut titles: Vec<String> =
            rows.iter().rev().map(title).filter(|title| !title.is_empty()).collect();
        titles.dedup();
        titles.truncate(MOST_DEPTH);
        titles
    }
}

/// The parts of a name before each `/`: without the last, which is the step itself.
fn parts_of_name(name: &str) -> Vec<String> {
    let Some((before, _)) = name.rsplit_once('/') else { return Vec::new() };
    before.splitn(MOST_DEPTH, '/').map(str::to_owned).collect()
}

fn lanes_of_blocks(executed: Executed<'_>) -> Vec<Lane> {
    let blocks = &executed.trace.blocks;
    let mut lanes = Vec::new();
    let mut first = 0;
    for of_tile in blocks.tiles.chunk_by(|a, b| a == b) {
        let rows = first..first + of_tile.len();
        first = rows.end;
        let Some(tile) = of_tile.first() else { continue };
        let (Some(starts), Some(ends)) =
            (blocks.starts.get(rows.clone()), blocks.ends.get(rows.clone()))
        else {
            continue;
        };
        let kind = |row: usize| blocks.get(row).map_or(0, |block| block.kind);
        let tags = rows.clone().map(|row| BLOCKS.saturating_add(kind(row))).collect();
        let row = SpanRow::of(starts.to_vec(), ends.to_vec(), tags);
        let nodes = rows.map(leaf).collect();
        lanes.push(Lane { of: LaneOf::Blocks(*tile), rows: SpanRows::of(vec![row]), nodes });
    }
    lanes
}

/// Bytes alive over the spans of each IPU; none where the report has no liveness.
pub fn memory_over_spans(
    executed: Executed<'_>,
    liveness_steps: &[Option<u32>],
) -> Vec<MemoryOfIpu> {
    let trace = executed.trace;
    let of_ipu = |ipu: &crate::store::execution::IpuSpans| {
        let curve = executed.curve_of_ipu(ipu.ipu)?;
        let mut last = 0;
        let bytes_at = |span: usize| {
            let step = liveness_steps.get(executed.step_of(span)).copied().flatten();
            last = step.and_then(|step| curve.get(step as usize).copied()).unwrap_or(last);
            last
        };
        let bytes: Vec<u64> = ipu.rows.clone().map(bytes_at).collect();
        let starts = trace.spans.starts.get(ipu.rows.clone()).unwrap_or(&[]).to_vec();
        Some(MemoryOfIpu::of(ipu.ipu, starts, bytes))
    };
    trace.ipus.iter().filter_map(of_ipu).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_by_columns_is_that_of_the_spans_from_near_and_from_afar() {
        let starts: Vec<u64> = (0..10_000).map(|at| 500 + at * 10).collect();
        let bytes: Vec<u64> =
            (0..10_000).map(|at| if at % 1000 == 700 { 9000 } else { at }).collect();
        let memory = MemoryOfIpu::of(0, starts, bytes);
        assert_eq!((memory.at(499), memory.at(500), memory.at(519)), (None, Some(0), Some(1)));
        let near = memory.columns((600.0, 640.0), 4);
        assert_eq!(near, [10, 11, 12, 13].map(Some));
        let afar = memory.columns((500.0, 100_500.0), 10);
        let expected = |at: u64| (at * 1000 + 999).max(9000);
        // A bin at the edge of a column counts for one of them.
        for (at, most) in (0..).zip(&afar) {
            assert!(most.is_some_and(|most| most.abs_diff(expected(at)) < 20), "{at}: {most:?}");
        }
        // Beyond the last span its bytes stay; before the first there is nothing.
        let beyond = memory.columns((-100_000.0, 300_500.0), 4);
        assert_eq!((beyond[0], beyond[2], beyond[3]), (None, Some(9999), Some(9999)));
    }
}
