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

use super::{Activities, Executed, SPANS_PER_LOOK};
use crate::analysis::program::kinds::Activity;
use crate::analysis::spans::{SpanRow, SpanRows};
use crate::progress::Progress;
use crate::store::execution::ExecutionTrace;
use crate::store::names::NameId;
use crate::store::{ComputeSetId, ProgramId};

/// Most rows around a step; the rest of its name is one part.
const MOST_DEPTH: usize = 10;

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
    Device(u32),
    /// The overlapped I/O of an IPU.
    OverlappedIo(u32),
    /// The blocks of a tile.
    Blocks(u32),
}

/// What a range of a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneNode {
    /// A span, by its row.
    Span(usize),
    /// A part of names, one of [`Lanes::parts`].
    Part(u32),
    /// A block, by its row.
    Block(usize),
}

impl LaneNode {
    /// The cycle at which a span or block begins.
    pub fn start(self, trace: &ExecutionTrace) -> Option<u64> {
        match self {
            Self::Span(row) => trace.spans.starts.get(row).copied(),
            Self::Block(row) => trace.blocks.starts.get(row).copied(),
            Self::Part(_) => None,
        }
    }
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
    pub fn node(&self, number: u32) -> Option<LaneNode> {
        let node = *self.nodes.get(number as usize)?;
        Some(match (node & LEAF, self.of) {
            (0, _) => LaneNode::Part(node),
            (_, LaneOf::Blocks(_)) => LaneNode::Block((node & !LEAF) as usize),
            _ => LaneNode::Span((node & !LEAF) as usize),
        })
    }

    /// What a span or block is in [`Self::nodes`], if this is a lane of such.
    fn leaf_of(&self, node: LaneNode) -> Option<u32> {
        match (node, self.of) {
            (LaneNode::Block(row), LaneOf::Blocks(_))
            | (LaneNode::Span(row), LaneOf::Device(_) | LaneOf::OverlappedIo(_)) => Some(leaf(row)),
            _ => None,
        }
    }

    /// The range of a span or block that begins at a cycle; `None` where it does not lie in this lane.
    pub fn range_of(&self, node: LaneNode, start: u64) -> Option<u32> {
        let wanted = self.leaf_of(node)?;
        self.rows.rows().iter().enumerate().find_map(|(depth, row)| {
            let begins = |at: &usize| row.get(*at).is_some_and(|(other, _)| other == start);
            let mut same = (row.begun_before(start)..row.len()).take_while(begins);
            same.find_map(|at| {
                let number = self.rows.number(depth, at)?;
                (self.nodes.get(number as usize) == Some(&wanted)).then_some(number)
            })
        })
    }

    /// The span or block that comes after another, which begins at a cycle, or before it, in whatever row; without one
    /// the first or the last. One that is hidden has neighbors as well.
    pub fn beside(&self, now: Option<(LaneNode, u64)>, is_after: bool) -> Option<u32> {
        let node = |number: u32| self.nodes.get(number as usize).copied();
        let now = now.and_then(|(node, start)| Some((self.leaf_of(node)?, start)));
        let is_wanted = |(node, _): &(u32, u32)| {
            let is_there = |(now, _)| if is_after { *node > now } else { *node < now };
            node & LEAF != 0 && now.is_none_or(is_there)
        };
        let of_row = |(depth, row): (usize, &SpanRow)| {
            let named = |at: usize| {
                let number = self.rows.number(depth, at)?;
                Some((node(number)?, number))
            };
            // Spans and blocks are numbered by their starts.
            if is_after {
                let first = now.map_or(0, |(_, start)| row.begun_before(start));
                (first..row.len()).filter_map(named).find(is_wanted)
            } else {
                let begun = |(_, start): (u32, u64)| row.begun_before(start.saturating_add(1));
                (0..now.map_or(row.len(), begun)).rev().filter_map(named).find(is_wanted)
            }
        };
        let found = self.rows.rows().iter().enumerate().filter_map(of_row);
        let found = if is_after { found.min() } else { found.max() };
        found.map(|(_, number)| number)
    }
}

/// All lanes of a report.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// By IPU, each followed by its overlapped I/O; then by tile.
    pub lanes: Vec<Lane>,
    /// Parts of names.
    pub parts: Vec<Arc<str>>,
}

impl Lanes {
    /// Of a report, without the spans of hidden kinds; `None` when it was canceled.
    pub fn of(
        executed: Executed<'_>,
        nesting: Nesting,
        hidden: &[NameId],
        progress: &Progress,
    ) -> Option<Self> {
        let mut paths = Paths {
            executed,
            nesting,
            found: HashMap::new(),
            numbers: HashMap::new(),
            parts: Vec::new(),
        };
        let activities = executed.activities();
        let mut lanes = Vec::new();
        for device in &executed.trace.devices {
            let is_shown = |span: &usize| !hidden.contains(&executed.kind_of(*span));
            let beside = overlapped(executed, device.rows.clone(), &activities);
            let is_beside = |span: &usize| beside.binary_search(span).is_ok();
            let main: Vec<usize> =
                device.rows.clone().filter(is_shown).filter(|span| !is_beside(span)).collect();
            let of = LaneOf::Device(device.device);
            lanes.push(nested((executed, &activities), of, &main, &mut paths, progress)?);
            let beside: Vec<usize> = beside.iter().copied().filter(is_shown).collect();
            if !beside.is_empty() {
                lanes.push(flat(
                    (executed, &activities),
                    LaneOf::OverlappedIo(device.device),
                    &beside,
                ));
            }
        }
        lanes.extend(lanes_of_blocks(executed));
        (!progress.is_cancelled()).then_some(Self { lanes, parts: paths.parts })
    }

    /// The lane in which a span or block lies; of a hidden span that of its IPU.
    pub fn lane_of(&self, trace: &ExecutionTrace, node: LaneNode) -> Option<&Lane> {
        let start = node.start(trace)?;
        let lane = self.lanes.iter().find(|lane| lane.range_of(node, start).is_some());
        lane.or_else(|| {
            let LaneNode::Span(row) = node else { return None };
            let of = LaneOf::Device(trace.device_of(row)?);
            self.lanes.iter().find(|lane| lane.of == of)
        })
    }
}

/// The transfers with the host among the spans of an IPU that go on beside others, ascending.
fn overlapped(
    executed: Executed<'_>,
    rows: Range<usize>,
    activities: &Activities<'_>,
) -> Vec<usize> {
    let mut found = Vec::new();
    // The farthest end of others so far, and the transfers that may still be met by one that begins later.
    let (mut busy_to, mut open) = (0_u64, Vec::<(u64, usize)>::new());
    for span in rows {
        let Some((start, end)) = executed.bounds(span) else { continue };
        let doing = activities.of_span(span);
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
type LaneSpans<'a> = (Executed<'a>, &'a Activities<'a>);

fn flat((executed, activities): LaneSpans<'_>, of: LaneOf, spans: &[usize]) -> Lane {
    let all = &executed.trace.spans;
    let start = |span: &usize| all.starts.get(*span).copied().unwrap_or(0);
    let end = |span: &usize| all.ends.get(*span).copied().unwrap_or(0);
    let tags = spans.iter().map(|span| tag_of(activities.of_span(*span))).collect();
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
    fn push(&mut self, node: u32, tag: u8, start: u64, end: u64) {
        self.tags.push(tag);
        self.starts.push(start);
        self.ends.push(end);
        self.nodes.push(node);
    }
}

/// The spans of an IPU as rows; `None` when it was canceled.
fn nested(
    (executed, activities): LaneSpans<'_>,
    of: LaneOf,
    spans: &[usize],
    paths: &mut Paths<'_>,
    progress: &Progress,
) -> Option<Lane> {
    if paths.nesting == Nesting::Flat {
        return Some(flat((executed, activities), of, spans));
    }
    let mut rows: Vec<RowMaker> = Vec::new();
    // The parts around the step before, which the next one may go on with.
    let mut around: Arc<[u32]> = Arc::from([]);
    for (at, span) in spans.iter().enumerate() {
        if at.is_multiple_of(SPANS_PER_LOOK) && progress.is_cancelled() {
            return None;
        }
        let Some((start, end)) = executed.bounds(*span) else { continue };
        let path = paths.of_step(executed.step_of(*span));
        let common = path.iter().zip(&*around).take_while(|(a, b)| a == b).count();
        if rows.len() <= path.len() {
            rows.resize_with(path.len() + 1, RowMaker::default);
        }
        for (depth, part) in path.iter().enumerate() {
            let Some(row) = rows.get_mut(depth) else { continue };
            match row.ends.last_mut().filter(|_| depth < common) {
                Some(last) => *last = (*last).max(end),
                None => row.push(*part, 0, start, end),
            }
        }
        if let Some(row) = rows.get_mut(path.len()) {
            row.push(leaf(*span), tag_of(activities.of_span(*span)), start, end);
        }
        around = path;
    }
    let nodes = rows.iter().flat_map(|row| &row.nodes).copied().collect();
    let rows = rows.into_iter().map(|row| SpanRow::of(row.starts, row.ends, row.tags)).collect();
    Some(Lane { of, rows: SpanRows::of(rows), nodes })
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
        let Some(context) = debug.position(self.executed.debug_id(step)) else { return Vec::new() };
        let title = |row: usize| {
            let kind = debug.kind(row).filter(|kind| !kind.is_empty());
            let what = kind.unwrap_or_else(|| debug.layer(row));
            match (what, debug.name(row).unwrap_or_default()) {
                ("", name) => name.to_owned(),
                (what, "") => what.to_owned(),
                (what, name) => format!("{what} {name}"),
            }
        };
        let mut titles: Vec<String> =
            debug.ancestry(context).map(title).filter(|title| !title.is_empty()).collect();
        titles.reverse();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Report;
    use crate::store::execution::Span;
    use crate::store::names::Interner;
    use crate::store::program::Programs;

    /// Steps of such kinds on an IPU, each from a cycle to another.
    fn ran(steps: &[(&str, u64, u64)]) -> Report {
        let (mut trace, mut kinds) = (ExecutionTrace::default(), Interner::default());
        let mut spans = Vec::new();
        for (step, (kind, start, end)) in (0_u32..).zip(steps) {
            trace.push_step(step, kinds.intern(kind), None, None);
            spans.push(Span {
                device: 0,
                step,
                start: *start,
                end: *end,
                cycles: end - start,
                active_tiles: 1,
                balance: None,
                list: None,
            });
        }
        trace.kind_names = kinds.into_names();
        trace.set_spans(spans);
        let report = Report::default();
        report.trace.fill(Some(trace));
        report
    }

    #[test]
    fn what_goes_on_beside_others_or_is_hidden_has_its_lane_and_neighbours_there() {
        let report = ran(&[
            ("OnTileExecute", 0, 10),
            ("StreamCopyMid", 5, 20),
            ("Sync", 10, 12),
            ("OnTileExecute", 12, 40),
            ("StreamCopyMid", 25, 30),
            ("OnTileExecute", 40, 50),
        ]);
        let executed = Executed::of(&report).expect("a trace");
        let lanes = |hidden: &[NameId]| {
            let made = Lanes::of(executed, Nesting::Names, hidden, &Progress::default());
            made.expect("lanes")
        };
        let of = |lanes: &Lanes, span| {
            lanes.lane_of(executed.trace, LaneNode::Span(span)).map(|it| it.of)
        };
        let beside = |lanes: &Lanes, span, is_after| {
            let node = LaneNode::Span(span);
            let lane = lanes.lane_of(executed.trace, node).expect("a lane");
            let start = node.start(executed.trace).expect("a span");
            lane.beside(Some((node, start)), is_after).and_then(|number| lane.node(number))
        };
        let all = lanes(&[]);
        assert_eq!(
            (of(&all, 0), of(&all, 1)),
            (Some(LaneOf::Device(0)), Some(LaneOf::OverlappedIo(0)))
        );
        assert_eq!(beside(&all, 1, true), Some(LaneNode::Span(4)), "the next transfer");
        assert_eq!((beside(&all, 4, true), beside(&all, 1, false)), (None, None));
        let (transfers, syncs) = (NameId(1), NameId(2));
        let without = lanes(&[syncs]);
        assert_eq!(beside(&without, 2, true), Some(LaneNode::Span(3)));
        assert_eq!(beside(&without, 2, false), Some(LaneNode::Span(0)));
        let without = lanes(&[transfers]);
        assert_eq!(of(&without, 4), Some(LaneOf::Device(0)), "its own lane is hidden, too");
        assert_eq!(beside(&without, 4, true), Some(LaneNode::Span(5)));
        assert_eq!(beside(&without, 4, false), Some(LaneNode::Span(3)));
    }

    /// A lane of steps with these names, each ten cycles after the one before.
    fn lane(names: &[&str]) -> Lane {
        let (mut trace, mut programs) = (ExecutionTrace::default(), Programs::default());
        let mut spans = Vec::new();
        for (step, name) in (0_u32..).zip(names) {
            assert!(programs.ids.push(ProgramId(step)));
            programs.names.push(name);
            programs.compute_sets.push(None);
            trace.push_step(step, NameId::NONE, Some(ProgramId(step)), None);
            let start = u64::from(step) * 10;
            spans.push(Span {
                device: 0,
                step,
                start,
                end: start + 8,
                cycles: 8,
                active_tiles: 1,
                balance: None,
                list: None,
            });
        }
        trace.set_spans(spans);
        let report = Report::default();
        report.programs.fill(Some(programs));
        report.trace.fill(Some(trace));
        let executed = Executed::of(&report).expect("a trace");
        let lanes = Lanes::of(executed, Nesting::Names, &[], &Progress::default()).expect("lanes");
        lanes.lanes.into_iter().next().expect("a lane")
    }

    #[test]
    fn no_step_is_passed_over_however_deep_it_lies() {
        let lane = lane(&["a/b/one", "two", "a/three", "a/b/c/four", "a/b/five"]);
        assert!(lane.rows.rows().len() > 3);
        let mut seen = Vec::new();
        let at = |number: u32| Some((lane.node(number)?, lane.rows.get(number)?.0));
        let mut now = lane.beside(None, true);
        while let Some(number) = now {
            seen.push(lane.node(number));
            now = lane.beside(at(number), true);
        }
        let all: Vec<Option<LaneNode>> = (0..5).map(|span| Some(LaneNode::Span(span))).collect();
        assert_eq!(seen, all);
        let mut now = lane.beside(None, false);
        while let Some(number) = now {
            assert_eq!(seen.pop(), Some(lane.node(number)));
            now = lane.beside(at(number), false);
        }
        assert!(seen.is_empty());
    }
}
