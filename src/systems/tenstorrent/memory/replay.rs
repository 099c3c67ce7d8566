//! Walks the operations of a rank in their order.

use std::collections::BTreeMap;

use super::lives::{BufferLife, FreedBy, TensorLinks};
use super::scratch::{ProgramMoment, ScratchFinder};
use super::{FullestMoment, RankMemory, SpaceBytes, TransientPeak, occupied};
use crate::store::names::{FastMap, NameId};
use crate::systems::tenstorrent::recorded::{
    BufferKey, BufferLayout, BufferSpace, GraphEvent, NodeBuffer, OperationGraph, Stay, TtnnRank,
};

/// Operations that failed whose fullest moment is kept.
const MOST_FAILURES: usize = 64;

/// The walk so far.
#[derive(Debug, Default)]
pub struct RankReplay {
    found: RankMemory,
    rounding_bytes: u64,
    /// The next operation.
    next: u32,
    /// The next stay to begin, and the stays by their last operation with the next of them to end.
    begun: usize,
    by_last: Vec<u32>,
    ended: usize,
    /// Whether the end of the operation before is not that of the rows of `buffers`.
    is_guessed: bool,
    alive: BTreeMap<BufferKey, AliveBuffer>,
    sums: SpaceBytes,
    /// L1 and L1_SMALL without rounding.
    unrounded: u64,
    links: TensorLinks,
    scratch: ScratchFinder,
}

/// A buffer that is there at the moment.
#[derive(Clone, Copy, Debug)]
struct AliveBuffer {
    life: u32,
    unrounded: u64,
}

/// What is known of a buffer at a moment: bytes on a bank as they were asked for, and its layout.
#[derive(Clone, Copy, Debug)]
struct KnownBuffer {
    unrounded: u64,
    layout: Option<BufferLayout>,
}

/// Buffers that are otherwise at the end of an operation than they are now, by ascending key, each once; `None` of those that
/// are gone.
#[derive(Debug, Default)]
struct EndsOfBuffers(Vec<(BufferKey, Option<KnownBuffer>)>);

impl EndsOfBuffers {
    /// Of several that are said of a buffer, the last one counts.
    fn of(mut said: Vec<(BufferKey, Option<KnownBuffer>)>) -> Self {
        said.sort_by_key(|(key, _)| *key);
        said.dedup_by(|later, earlier| {
            let is_same = later.0 == earlier.0;
            if is_same {
                earlier.1 = later.1;
            }
            is_same
        });
        Self(said)
    }

    /// What is said of a buffer, if anything.
    fn find(&self, key: &BufferKey) -> Option<&(BufferKey, Option<KnownBuffer>)> {
        self.0.get(self.0.binary_search_by_key(key, |(other, _)| *other).ok()?)
    }
}

/// A tensor with its place and shape, as the last node of an operation has them.
type LastTensor = (u64, Option<BufferKey>, NameId);

impl RankReplay {
    /// Before the first operation.
    pub fn of(rank: &TtnnRank) -> Self {
        let mut by_last: Vec<u32> = (0_u32..).take(rank.stays.len()).collect();
        by_last.sort_by_key(|stay| rank.stays.get(*stay as usize).map(|stay| stay.last));
        let rounding_bytes = rank.machine.arch.rounding_bytes();
        Self { rounding_bytes, by_last, ..Self::default() }
    }

    /// Takes the graph of an operation in; those before it that were left out have none.
    pub fn step(&mut self, rank: &TtnnRank, operation: u32, graph: &OperationGraph) {
        self.pass_to(rank, operation);
        self.operation(rank, graph);
    }

    /// All that follows, once no graph is left.
    pub fn finish(mut self, rank: &TtnnRank) -> RankMemory {
        self.pass_to(rank, rank.operations.count());
        let Self { mut found, links, scratch, alive, by_last, .. } = self;
        // What follows needs room of its own.
        drop((alive, by_last));
        found.lives.shrink_to_fit();
        found.reads = links.reads(found.lives.len(), &rank.tensors);
        (found.programs, found.scratch, found.scratch_counts) = scratch.finish();
        found
    }

    fn pass_to(&mut self, rank: &TtnnRank, operation: u32) {
        while self.next < operation {
            self.operation(rank, &OperationGraph::default());
        }
    }

    /// The next operation.
    fn operation(&mut self, rank: &TtnnRank, graph: &OperationGraph) {
        let at = self.next;
        let events = &graph.events;
        let failed = rank.operations.failed_without_rows(at);
        let mut ends = if failed { EndsOfBuffers::default() } else { self.changes(rank, at) };
        let back = if failed { FastMap::default() } else { self.walk_back(rank, &ends, events) };
        let others = back.keys().filter(|key| ends.find(key).is_none());
        let others: Vec<_> = others.map(|key| (*key, self.at_end(&ends, key))).collect();
        if !others.is_empty() {
            ends.0.extend(others);
            ends.0.sort_unstable_by_key(|(key, _)| *key);
        }
        for (key, end) in &ends.0 {
            let start = back.get(key).copied().unwrap_or(*end);
            self.settle_start(at, *key, start);
        }
        let last_tensor = self.walk_forth(rank, at, events);
        for (key, end) in ends.0 {
            self.settle_end(at, key, end);
        }
        self.link_tensors(rank, at, graph, last_tensor);
        self.scratch.count(graph);
        self.is_guessed = failed;
        self.found.levels.push(self.sums);
        self.next = at.saturating_add(1);
    }

    /// What the rows of an operation have otherwise than what is alive now.
    fn changes(&mut self, rank: &TtnnRank, at: u32) -> EndsOfBuffers {
        let mut changes: Vec<(BufferKey, Option<KnownBuffer>)> = Vec::new();
        let known =
            |stay: &Stay| KnownBuffer { unrounded: stay.bytes_per_bank, layout: stay.layout };
        if self.is_guessed {
            changes.extend(self.alive.keys().map(|key| (*key, None)));
            let stays = rank.stays.iter().take_while(|stay| stay.first <= at);
            let stays = stays.filter(|stay| stay.last >= at);
            changes.extend(stays.map(|stay| (stay.key, Some(known(stay)))));
        }
        while let Some(stay) = self.by_last.get(self.ended) {
            let Some(stay) = rank.stays.get(*stay as usize).filter(|stay| stay.last < at) else {
                break;
            };
            if !self.is_guessed {
                changes.push((stay.key, None));
            }
            self.ended = self.ended.saturating_add(1);
        }
        while let Some(stay) = rank.stays.get(self.begun).filter(|stay| stay.first <= at) {
            if stay.last >= at {
                changes.push((stay.key, Some(known(stay))));
            }
            self.begun = self.begun.saturating_add(1);
        }
        EndsOfBuffers::of(changes)
    }

    /// A buffer at the end of an operation.
    fn at_end(&self, changes: &EndsOfBuffers, key: &BufferKey) -> Option<KnownBuffer> {
        if let Some((_, end)) = changes.find(key) {
            return *end;
        }
        let alive = self.alive.get(key)?;
        Some(KnownBuffer { unrounded: alive.unrounded, layout: None })
    }

    /// What of the start of an operation is otherwise than its end.
    fn walk_back(
        &mut self,
        rank: &TtnnRank,
        changes: &EndsOfBuffers,
        events: &[GraphEvent],
    ) -> FastMap<BufferKey, Option<KnownBuffer>> {
        let mut back: FastMap<BufferKey, Option<KnownBuffer>> = FastMap::default();
        for event in events.iter().rev() {
            match event {
                GraphEvent::Allocate(node) => {
                    let now = back.get(&node.key).copied();
                    let now = now.unwrap_or_else(|| self.at_end(changes, &node.key));
                    if now.is_none() {
                        self.mismatch();
                    }
                    back.insert(node.key, None);
                }
                GraphEvent::Free(node) => {
                    // It is mostly there at the end of the operation before, whose rows say it.
                    let before = self.alive.get(&node.key).map(|alive| alive.unrounded);
                    let before = before.filter(|_| node.bytes_per_bank.is_none());
                    let unrounded = before.unwrap_or_else(|| bytes_per_bank(node, rank));
                    back.insert(node.key, Some(KnownBuffer { unrounded, layout: node.layout }));
                }
                _ => {}
            }
        }
        back
    }

    /// Ends what is not there at the start of an operation, and begins what is.
    fn settle_start(&mut self, at: u32, key: BufferKey, start: Option<KnownBuffer>) {
        let bytes = start.map(|start| self.occupied(start.unrounded));
        let now = self.alive.get(&key).map(|alive| self.occupied(alive.unrounded));
        if now == bytes {
            return;
        }
        if let Some(before) = at.checked_sub(1).filter(|_| now.is_some()) {
            self.end(key, FreedBy::NobodyAfter(before));
            self.found.freed_between = self.found.freed_between.saturating_add(1);
        }
        if let Some(start) = start {
            self.begin(at, key, start, None);
        }
    }

    /// The same for its end, which its graph should have led to.
    fn settle_end(&mut self, at: u32, key: BufferKey, end: Option<KnownBuffer>) {
        let bytes = end.map(|end| self.occupied(end.unrounded));
        let now = self.alive.get(&key).map(|alive| self.occupied(alive.unrounded));
        if let (Some(layout), Some(alive)) = (end.and_then(|end| end.layout), self.alive.get(&key))
            && let Some(life) = self.found.lives.get_mut(alive.life as usize)
        {
            life.layout.get_or_insert(layout);
        }
        if now == bytes {
            return;
        }
        self.mismatch();
        if now.is_some() {
            self.end(key, FreedBy::Operation(at));
        }
        if let Some(end) = end {
            self.begin(at, key, end, None);
        }
    }

    /// Does what a graph says; returns its last tensor.
    fn walk_forth(
        &mut self,
        rank: &TtnnRank,
        at: u32,
        events: &[GraphEvent],
    ) -> Option<LastTensor> {
        let mut last = None;
        self.note_moment(rank, at);
        for event in events {
            match event {
                GraphEvent::Allocate(node) => {
                    if self.alive.contains_key(&node.key) {
                        self.mismatch();
                        self.end(node.key, FreedBy::Operation(at));
                    }
                    let unrounded = bytes_per_bank(node, rank);
                    let buffer = KnownBuffer { unrounded, layout: node.layout };
                    self.begin(at, node.key, buffer, Some(node.bytes));
                    self.note_moment(rank, at);
                }
                GraphEvent::Free(node) => {
                    if self.alive.contains_key(&node.key) {
                        self.end(node.key, FreedBy::Operation(at));
                    } else {
                        self.mismatch();
                    }
                }
                GraphEvent::Tensor { tensor, key, shape } => {
                    last = Some((*tensor, *key, *shape));
                    if let Some(alive) = key.and_then(|key| self.alive.get(&key)) {
                        self.links.add(alive.life, *tensor);
                    }
                }
                GraphEvent::View { from, to } => self.links.add_view(*from, *to),
                GraphEvent::Program(program) => {
                    let of =
                        |space: BufferSpace| self.sums.get(space as usize).copied().unwrap_or(0);
                    self.scratch.add(
                        program,
                        ProgramMoment {
                            operation: at,
                            lowest_l1_address: self.lowest_l1_address(),
                            l1_bytes: of(BufferSpace::L1),
                            l1_small_bytes: of(BufferSpace::L1Small),
                        },
                    );
                }
            }
        }
        last
    }

    fn lowest_l1_address(&self) -> Option<u64> {
        let from = BufferKey { space: BufferSpace::L1, address: 0 };
        let (lowest, _) = self.alive.range(from..).next()?;
        (lowest.space == BufferSpace::L1).then_some(lowest.address)
    }

    /// Finds the tensors that no node with an address says where they lie.
    fn link_tensors(
        &mut self,
        rank: &TtnnRank,
        at: u32,
        graph: &OperationGraph,
        last: Option<LastTensor>,
    ) {
        for tensor in rank.tensors.first_at(at) {
            let key = rank.tensors.get(tensor).and_then(|facts| facts.row?.key);
            if let Some(alive) = key.and_then(|key| self.alive.get(&key)) {
                self.links.add(alive.life, tensor);
            }
        }
        let Some((last, key, last_shape)) = last else { return };
        let has_node = |id: u64| {
            graph
                .events
                .iter()
                .any(|event| matches!(event, GraphEvent::Tensor { tensor, .. } if *tensor == id))
        };
        let alive = key.and_then(|key| self.alive.get(&key)).map(|alive| alive.life);
        let Some(life) = alive.or_else(|| self.links.last_life(last)) else { return };
        for output in rank.tensors.outputs_of(at) {
            let row = rank.tensors.get(output).and_then(|facts| facts.row);
            let is_it = row.is_some_and(|row| row.has_memory_config && row.shape == last_shape);
            if is_it && !has_node(output) {
                self.links.add(life, output);
            }
        }
    }

    fn begin(&mut self, at: u32, key: BufferKey, buffer: KnownBuffer, node_bytes: Option<u64>) {
        let life = u32::try_from(self.found.lives.len()).unwrap_or(u32::MAX);
        let KnownBuffer { unrounded, layout } = buffer;
        let bytes = self.occupied(unrounded);
        self.alive.insert(key, AliveBuffer { life, unrounded });
        if let Some(sum) = self.sums.get_mut(key.space as usize) {
            *sum = sum.saturating_add(bytes);
        }
        if key.space.is_of_core() {
            self.unrounded = self.unrounded.saturating_add(unrounded);
        }
        self.found.lives.push(BufferLife {
            key,
            bytes,
            chip_bytes: node_bytes,
            layout,
            allocated_by: node_bytes.map(|_| at),
            first: at,
            freed: None,
        });
    }

    fn end(&mut self, key: BufferKey, freed: FreedBy) {
        let Some(AliveBuffer { life, unrounded }) = self.alive.remove(&key) else { return };
        let bytes = self.occupied(unrounded);
        if let Some(sum) = self.sums.get_mut(key.space as usize) {
            *sum = sum.saturating_sub(bytes);
        }
        if key.space.is_of_core() {
            self.unrounded = self.unrounded.saturating_sub(unrounded);
        }
        if let Some(life) = self.found.lives.get_mut(life as usize) {
            life.freed = Some(freed);
        }
    }

    /// Holds what is alive now against the most so far.
    fn note_moment(&mut self, rank: &TtnnRank, at: u32) {
        let of = |space: BufferSpace| self.sums.get(space as usize).copied().unwrap_or(0);
        let bytes = of(BufferSpace::L1).saturating_add(of(BufferSpace::L1Small));
        let first = TransientPeak { operation: at, bytes, unrounded_bytes: self.unrounded };
        let most = self.found.transient.get_or_insert(first);
        if bytes > most.bytes {
            (most.operation, most.bytes) = (at, bytes);
        }
        most.unrounded_bytes = most.unrounded_bytes.max(self.unrounded);
        if rank.operations.has_error.get(at as usize) == Some(&true) {
            self.note_failure(at, bytes);
        }
    }

    fn note_failure(&mut self, at: u32, bytes: u64) {
        let failures = &mut self.found.failures;
        if failures.last().is_none_or(|(last, _)| *last != at) {
            if failures.len() >= MOST_FAILURES {
                return;
            }
            failures.push((at, FullestMoment::default()));
        }
        if let Some((_, moment)) = failures.last_mut().filter(|(_, most)| bytes >= most.bytes) {
            let alive = self.alive.iter().map(|(key, alive)| (*key, alive.life)).collect();
            *moment = FullestMoment { bytes, alive };
        }
    }

    /// The bytes that a buffer takes of a bank.
    fn occupied(&self, unrounded: u64) -> u64 {
        occupied(unrounded, self.rounding_bytes)
    }

    fn mismatch(&mut self) {
        self.found.mismatches = self.found.mismatches.saturating_add(1);
    }
}

/// Bytes on the fullest bank, as they were asked for.
fn bytes_per_bank(node: &NodeBuffer, rank: &TtnnRank) -> u64 {
    let l1_banks = rank.machine.device.map_or(1, |device| device.l1_banks);
    let is_of_core = node.key.space.is_of_core();
    node.bytes_per_bank_of(if is_of_core { l1_banks } else { rank.machine.dram_banks })
}
