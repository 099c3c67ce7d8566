//! Sums over blocks of spans, by kind: of a range only the spans of the blocks at its ends are gone through, so what it
//! was spent on takes about as long for a million spans as for a thousand.

use std::collections::HashMap;
use std::ops::Range;

use super::{Activities, Executed, lies_in};
use crate::progress::Progress;
use crate::store::exchange::{ExchangeId, ExchangeKind};
use crate::store::tile_list::TileList;

/// Spans of a block.
const BLOCK: usize = 1024;

/// Sums over spans of a kind as far as they lie in a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KindSums {
    /// Those that lie in it, whole or in part.
    pub spans: u64,
    /// Their cycles there.
    pub cycles: u64,
    /// Cycles of all tiles together; `None` where they are not recorded of each span.
    pub tile_cycles: Option<u128>,
    /// Tiles that were active, times cycles.
    pub active: f64,
    /// Balance times cycles, and the cycles of spans whose balance is known.
    pub balanced: [f64; 2],
    /// Bytes that tiles received and sent in transfers that begin in the range: with the host, with other IPUs.
    pub moved: [[u64; 2]; 2],
}

impl KindSums {
    const NONE: Self = Self {
        spans: 0,
        cycles: 0,
        tile_cycles: Some(0),
        active: 0.0,
        balanced: [0.0; 2],
        moved: [[0; 2]; 2],
    };

    fn add(&mut self, other: &Self) {
        self.spans = self.spans.saturating_add(other.spans);
        self.cycles = self.cycles.saturating_add(other.cycles);
        let both = self.tile_cycles.zip(other.tile_cycles);
        self.tile_cycles = both.map(|(sum, more)| sum.saturating_add(more));
        self.active += other.active;
        for (sum, more) in self.balanced.iter_mut().zip(other.balanced) {
            *sum += more;
        }
        for (sum, more) in self.moved.iter_mut().flatten().zip(other.moved.as_flattened()) {
            *sum = sum.saturating_add(*more);
        }
    }
}

/// Spans of an IPU that begin one after the other.
#[derive(Clone, Debug)]
struct SpanBlock {
    /// Their rows.
    rows: Range<usize>,
    /// The first start, the last, and the farthest end.
    first: u64,
    last: u64,
    end: u64,
    /// Cycles before each of them but the first in which no span runs, of the IPU whole.
    idle: u64,
    /// Where its sums are.
    sums: Range<usize>,
}

/// Sums over the spans of a trace.
#[derive(Clone, Debug, Default)]
pub struct SpanSums {
    /// The blocks of each IPU.
    devices: Vec<(u32, Vec<SpanBlock>)>,
    /// Of each block those of its kinds, by place.
    sums: Vec<(usize, KindSums)>,
    /// How many kinds there are; those without a name have a place after them.
    kinds: usize,
    /// Bytes that an exchange moves on an IPU: received, sent.
    moved: HashMap<(ExchangeId, u32), [u64; 2]>,
    /// The last cycle of the trace.
    last: u64,
}

/// What lies in a range.
#[derive(Clone, Debug, Default)]
pub(super) struct InRange {
    /// By place of the kind.
    pub by_kind: Vec<KindSums>,
    /// Cycles of each IPU without any span, added up.
    pub idle_cycles: u64,
    /// IPUs that were looked at.
    pub devices: u64,
}

impl SpanSums {
    /// Of a trace; `None` when it was canceled.
    pub fn of(executed: Executed<'_>, progress: &Progress) -> Option<Self> {
        Self::by_blocks(executed, BLOCK, progress)
    }

    fn by_blocks(executed: Executed<'_>, length: usize, progress: &Progress) -> Option<Self> {
        let activities = executed.activities();
        let kinds = activities.kinds();
        let last = executed.cycles().map_or(0, |cycles| cycles.end);
        let mut found = Self { kinds, last, ..Self::default() };
        let mut by_kind = vec![KindSums::NONE; kinds.saturating_add(1)];
        for device in &executed.trace.devices {
            let (mut blocks, mut busy_to) = (Vec::new(), 0_u64);
            for start in device.rows.clone().step_by(length) {
                if progress.is_cancelled() {
                    return None;
                }
                let rows = start..start.saturating_add(length).min(device.rows.end);
                let Some((first, _)) = executed.bounds(start) else { break };
                let mut block = SpanBlock {
                    rows: rows.clone(),
                    first,
                    last: first,
                    end: first,
                    idle: 0,
                    sums: 0..0,
                };
                busy_to = busy_to.max(first);
                let mut used = Vec::new();
                for span in rows {
                    let Some((start, end)) = executed.bounds(span) else { continue };
                    block.idle = block.idle.saturating_add(start.saturating_sub(busy_to));
                    busy_to = busy_to.max(end);
                    (block.last, block.end) = (start, block.end.max(end));
                    let place = found.place(executed, span);
                    found.know_moved(executed, span, device.device);
                    let Some(sums) = by_kind.get_mut(place) else { continue };
                    if sums.spans == 0 {
                        used.push(place);
                    }
                    sums.add(&found.of_span(
                        executed,
                        &activities,
                        span,
                        device.device,
                        &(start..end),
                    ));
                }
                let before = found.sums.len();
                let taken = |place: usize| {
                    let sums = by_kind.get_mut(place)?;
                    Some((place, std::mem::replace(sums, KindSums::NONE)))
                };
                found.sums.extend(used.into_iter().filter_map(taken));
                block.sums = before..found.sums.len();
                blocks.push(block);
            }
            found.devices.push((device.device, blocks));
        }
        Some(found)
    }

    /// What lies in a range, on one IPU or on all.
    pub(super) fn in_range(
        &self,
        executed: Executed<'_>,
        cycles: &Range<u64>,
        wanted: Option<u32>,
    ) -> InRange {
        let activities = executed.activities();
        let by_kind = vec![KindSums::NONE; self.kinds.saturating_add(1)];
        let mut found = InRange { by_kind, ..InRange::default() };
        let is_wanted = |device: u32| wanted.is_none_or(|wanted| wanted == device);
        for (device, blocks) in self.devices.iter().filter(|(device, _)| is_wanted(*device)) {
            found.devices += 1;
            let mut busy_to = cycles.start;
            let mut idle = 0_u64;
            for block in blocks.iter().take_while(|block| block.first <= cycles.end) {
                // What has no length may lie at the start.
                if block.end <= cycles.start && block.last < cycles.start {
                    continue;
                }
                let is_whole = cycles.start <= block.first
                    && block.end <= cycles.end
                    && (block.last < cycles.end || cycles.end == self.last);
                if is_whole {
                    idle = idle.saturating_add(block.first.saturating_sub(busy_to));
                    idle = idle.saturating_add(block.idle);
                    busy_to = busy_to.max(block.end);
                    for (place, more) in self.sums.get(block.sums.clone()).unwrap_or(&[]) {
                        if let Some(sums) = found.by_kind.get_mut(*place) {
                            sums.add(more);
                        }
                    }
                    continue;
                }
                for span in block.rows.clone() {
                    let Some(bounds) = executed.bounds(span) else { continue };
                    if !lies_in(bounds, cycles, self.last) {
                        continue;
                    }
                    let from = bounds.0.max(cycles.start);
                    idle = idle.saturating_add(from.saturating_sub(busy_to));
                    busy_to = busy_to.max(bounds.1.min(cycles.end));
                    let more = self.of_span(executed, &activities, span, *device, cycles);
                    if let Some(sums) = found.by_kind.get_mut(self.place(executed, span)) {
                        sums.add(&more);
                    }
                }
            }
            idle = idle.saturating_add(cycles.end.saturating_sub(busy_to));
            found.idle_cycles = found.idle_cycles.saturating_add(idle);
        }
        found
    }

    fn place(&self, executed: Executed<'_>, span: usize) -> usize {
        (executed.kind_of(span).0 as usize).min(self.kinds)
    }

    /// Adds up what the exchange of a span moves, unless it is known.
    fn know_moved(&mut self, executed: Executed<'_>, span: usize, device: u32) {
        if let Some(id) = moving(executed, span) {
            let bytes = || bytes_on_device(executed, id, device).unwrap_or_default();
            self.moved.entry((id, device)).or_insert_with(bytes);
        }
    }

    /// A span as far as it lies in a range.
    fn of_span(
        &self,
        executed: Executed<'_>,
        activities: &Activities<'_>,
        span: usize,
        device: u32,
        cycles: &Range<u64>,
    ) -> KindSums {
        let Some((start, end)) = executed.bounds(span) else { return KindSums::NONE };
        let (from, to) = (start.max(cycles.start), end.min(cycles.end));
        let (part, length) = (to.saturating_sub(from), end.saturating_sub(start));
        let of_tiles = executed.trace.tile_cycles(span);
        let mut sums = KindSums { spans: 1, cycles: part, ..KindSums::NONE };
        sums.tile_cycles = of_tiles.map(|whole| in_proportion(whole, part, length));
        if activities.of_span(span) == crate::analysis::program::kinds::Activity::Compute {
            let spans = &executed.trace.spans;
            let tiles = spans.active_tiles.get(span).copied().unwrap_or(0);
            sums.active = part as f64 * f64::from(tiles);
            if let Some(balance) = spans.balance(span) {
                sums.balanced = [part as f64 * f64::from(balance), part as f64];
            }
        }
        // Of a part of a span its transfer counts where it begins.
        if start >= cycles.start
            && let Some(id) = moving(executed, span)
            && let Some(bytes) = self.moved.get(&(id, device))
        {
            let with = usize::from(id.kind == ExchangeKind::Global);
            if let Some(moved) = sums.moved.get_mut(with) {
                *moved = *bytes;
            }
        }
        sums
    }
}

/// The part of `whole` that lies in `part` of `length`.
fn in_proportion(whole: u64, part: u64, length: u64) -> u128 {
    if part == length {
        u128::from(whole)
    } else {
        u128::from(whole) * u128::from(part) / u128::from(length.max(1))
    }
}

/// The exchange with others than tiles of the same IPU that a span runs.
fn moving(executed: Executed<'_>, span: usize) -> Option<ExchangeId> {
    executed.exchange(executed.step_of(span)).filter(|id| id.kind != ExchangeKind::Internal)
}

/// What the tiles of an IPU receive and send in an exchange.
fn bytes_on_device(executed: Executed<'_>, id: ExchangeId, device: u32) -> Option<[u64; 2]> {
    let exchanges = executed.report.exchanges.get()?;
    let row = exchanges.position(id)?;
    let tiles = u32::try_from(executed.tiles_per_device()?).ok()?;
    let first = device.saturating_mul(tiles);
    let sum = |lists: &[Option<TileList>]| {
        let mut sum = 0_u64;
        if let Some(Some(list)) = lists.get(row) {
            list.runs_in(first..first.saturating_add(tiles), |count, bytes| {
                sum = sum.saturating_add(u64::from(count).saturating_mul(bytes));
            });
        }
        sum
    };
    Some([sum(&exchanges.received), sum(&exchanges.sent)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Report;
    use crate::store::execution::{ExecutionTrace, Span};
    use crate::store::names::Interner;
    use proptest::prelude::*;

    /// Steps of two kinds on two IPUs: the distance from the start before, a length, a kind.
    fn report(steps: &[(u64, u64, bool)]) -> Report {
        let mut kinds = Interner::default();
        let ids = ["OnTileExecute", "Sync"].map(|kind| kinds.intern(kind));
        let mut trace = ExecutionTrace::default();
        let (mut spans, mut now) = (Vec::new(), 0);
        for (step, (distance, length, is_sync)) in (0_u32..).zip(steps) {
            now += distance;
            trace.push_step(step, ids[usize::from(*is_sync)], None, None);
            spans.extend((0..2).map(|device| Span {
                device,
                step,
                start: now + u64::from(device),
                end: now + u64::from(device) + length,
                cycles: *length,
                active_tiles: step,
                balance: (step % 3 > 0).then_some(0.5),
                list: (step % 4 > 0).then_some(step),
            }));
        }
        trace.kind_names = kinds.into_names();
        trace.set_spans(spans);
        trace.lists = (0..steps.len() as u32).map(|step| (step, 1000)).collect();
        let report = Report::default();
        report.trace.fill(Some(trace));
        report
    }

    proptest! {
        #[test]
        fn sums_by_blocks_are_those_of_all_spans(
            steps in proptest::collection::vec((0..9_u64, 0..20_u64, any::<bool>()), 1..60),
            from in 0..300_u64, length in 0..300_u64, block in 1..9_usize,
        ) {
            let report = report(&steps);
            let executed = Executed::of(&report).expect("a trace");
            let all = executed.cycles().expect("spans");
            let progress = Progress::default();
            let by_block = SpanSums::by_blocks(executed, block, &progress).expect("sums");
            for cycles in [from..from + length, from..all.end.max(from), all.clone()] {
                let found = by_block.in_range(executed, &cycles, None);
                // One span after the other.
                let singly = SpanSums::by_blocks(executed, 1, &progress).expect("sums");
                let mut expected = InRange::default();
                for device in 0..2 {
                    let of_device = singly.in_range(executed, &cycles, Some(device));
                    expected.idle_cycles += of_device.idle_cycles;
                }
                let mut idle = 0;
                for of_device in &executed.trace.devices {
                    idle += cycles.clone().filter(|cycle| {
                        !of_device.rows.clone().filter_map(|span| executed.bounds(span)).any(
                            |(start, end)| (start..end).contains(cycle),
                        )
                    }).count() as u64;
                }
                prop_assert_eq!(found.idle_cycles, idle);
                prop_assert_eq!(expected.idle_cycles, idle);
                for (place, sums) in found.by_kind.iter().enumerate() {
                    let spans: Vec<usize> = (0..executed.trace.spans.len())
                        .filter(|span| by_block.place(executed, *span) == place)
                        .filter(|span| lies_in(executed.bounds(*span).expect("a span"), &cycles, all.end))
                        .collect();
                    let part = |span: &usize| {
                        let (start, end) = executed.bounds(*span).expect("a span");
                        end.min(cycles.end) - start.max(cycles.start)
                    };
                    prop_assert_eq!(sums.spans, spans.len() as u64);
                    prop_assert_eq!(sums.cycles, spans.iter().map(part).sum::<u64>());
                    let are_recorded = spans.iter().all(|span| executed.trace.tile_cycles(*span).is_some());
                    prop_assert_eq!(sums.tile_cycles.is_some(), are_recorded);
                }
            }
        }
    }

    #[test]
    fn a_long_trace_is_not_gone_through() {
        let steps: Vec<(u64, u64, bool)> = (0..5000).map(|step| (10, 8, step % 2 > 0)).collect();
        let report = report(&steps);
        let executed = Executed::of(&report).expect("a trace");
        let sums = SpanSums::of(executed, &Progress::default()).expect("sums");
        assert_eq!(sums.devices.iter().map(|(_, blocks)| blocks.len()).sum::<usize>(), 10);
        let found = sums.in_range(executed, &(10..40_010), Some(0));
        assert_eq!((found.by_kind[0].cycles, found.by_kind[1].cycles), (2000 * 8, 2000 * 8));
        assert_eq!(found.idle_cycles, 40_000 - 32_000);
        let cancelled = Progress::default();
        cancelled.cancel();
        assert!(SpanSums::of(executed, &cancelled).is_none());
    }
}
