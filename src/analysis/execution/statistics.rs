//! What a range of cycles was spent on.
//!
//! - Cycles of a kind are the lengths of its spans as far as they lie in the range. Tile cycles of a span that lies in
//!   it in part count in proportion.
//! - *Utilisation* is the tile cycles of compute by all cycles of all tiles of the IPUs in the range.
//! - Active tiles and balance are means by cycles over the spans that compute; *balance* is what tiles take on average
//!   by what the longest takes.
//! - *Idle* is the part of the range in which an IPU has no span at all, hidden or not.
//! - Bytes to and from host and other IPUs are what tiles send and receive in transfers that begin in the range, by
//!   what the compiler made of these programs.
//! - Kinds that are hidden are left out of all but idle cycles, and named.

use std::collections::HashMap;
use std::ops::Range;

use serde::Serialize;

use super::Executed;
use crate::analysis::program::kinds::Activity;
use crate::store::exchange::{ExchangeId, ExchangeKind};
use crate::store::names::NameId;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The cycles.
    pub cycles: Range<u64>,
    /// Of this IPU only.
    pub ipu: Option<u32>,
    /// Kinds that are left out, ascending.
    pub hidden: Vec<NameId>,
}

/// Spans of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KindCycles {
    /// The kind, as in the file; empty where it has none.
    pub kind: String,
    /// What it does.
    pub activity: Activity,
    /// Spans that lie in the range, whole or in part.
    pub spans: u64,
    /// Their cycles there.
    pub cycles: u64,
    /// Cycles of all tiles together; `None` where they are not recorded by tile of each span.
    pub tile_cycles: Option<u64>,
}

/// Bytes that tiles exchange with others than tiles of their own IPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MovedBytes {
    /// From the host.
    pub from_host: u64,
    /// To the host.
    pub to_host: u64,
    /// From other IPUs.
    pub from_ipus: u64,
    /// To other IPUs.
    pub to_ipus: u64,
}

/// What a range was spent on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// By kind, most cycles first.
    pub kinds: Vec<KindCycles>,
    /// Cycles of each IPU without any span, added up.
    pub idle_cycles: u64,
    /// Tiles that are active, on average.
    pub active_tiles: Option<f64>,
    /// Balance, on average, 0 to 1.
    pub balance: Option<f64>,
    /// Utilisation, 0 to 1.
    pub utilisation: Option<f64>,
    /// Bytes moved; `None` where the report has no table of exchanges.
    pub moved: Option<MovedBytes>,
    /// Hidden kinds that have spans in the range.
    pub left_out: Vec<String>,
}

impl Statistics {
    /// Cycles of all kinds together.
    pub fn cycles(&self) -> u64 {
        self.kinds.iter().fold(0, |sum, kind| sum.saturating_add(kind.cycles))
    }
}

/// Sums over the spans of a kind.
#[derive(Clone, Copy, Debug)]
struct Sums {
    spans: u64,
    cycles: u64,
    tile_cycles: Option<u128>,
}

impl Default for Sums {
    fn default() -> Self {
        Self { spans: 0, cycles: 0, tile_cycles: Some(0) }
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

/// What a range of cycles was spent on.
pub fn statistics(executed: Executed<'_>, asked: &Asked) -> Statistics {
    let trace = executed.trace;
    let activities = executed.activities();
    // The last is of spans without a kind.
    let mut by_kind = vec![Sums::default(); activities.len() + 1];
    let mut moved = Moved::of(executed);
    let (mut idle_cycles, mut ipus) = (0_u64, 0_u64);
    // Of spans that compute: cycles, and active tiles and balance times cycles.
    let mut computing = [0.0_f64; 3];
    let wanted = |ipu: u32| asked.ipu.is_none_or(|wanted| wanted == ipu);
    for ipu in trace.ipus.iter().filter(|ipu| wanted(ipu.ipu)) {
        ipus += 1;
        let mut busy_to = asked.cycles.start;
        let starts = trace.spans.starts.get(ipu.rows.clone()).unwrap_or(&[]);
        let last = starts.partition_point(|start| *start < asked.cycles.end);
        for span in ipu.rows.clone().take(last) {
            let (Some(start), Some(end)) =
                (trace.spans.starts.get(span), trace.spans.ends.get(span))
            else {
                continue;
            };
            let (from, to) = (*start.max(&asked.cycles.start), *end.min(&asked.cycles.end));
            // What has no length lies in the range in which it begins.
            if to < from || (to == from && !(start == end && asked.cycles.contains(start))) {
                continue;
            }
            idle_cycles = idle_cycles.saturating_add(from.saturating_sub(busy_to));
            busy_to = busy_to.max(to);
            let step = executed.step_of(span);
            let kind = trace.kinds.get(step).copied().unwrap_or(NameId::NONE);
            let place = (kind.0 as usize).min(activities.len());
            let Some(sums) = by_kind.get_mut(place) else { continue };
            let (part, length) = (to - from, end - start);
            sums.spans += 1;
            sums.cycles = sums.cycles.saturating_add(part);
            let of_tiles = trace.tile_cycles(span);
            sums.tile_cycles = sums
                .tile_cycles
                .zip(of_tiles)
                .map(|(sum, of_tiles)| sum + in_proportion(of_tiles, part, length));
            if asked.hidden.contains(&kind) {
                continue;
            }
            if activities.get(kind.0 as usize) == Some(&Activity::Compute) {
                let weight = part as f64;
                let tiles = trace.spans.active_tiles.get(span).copied().unwrap_or(0);
                let balance = trace.spans.balances.get(span).copied().unwrap_or(0.0);
                let [cycles, active, balanced] = &mut computing;
                *cycles += weight;
                *active += weight * f64::from(tiles);
                *balanced += weight * f64::from(balance);
            }
            if asked.cycles.contains(start) {
                moved.add(step, ipu.ipu);
            }
        }
        idle_cycles = idle_cycles.saturating_add(asked.cycles.end.saturating_sub(busy_to));
    }
    let id = |place: usize| match u32::try_from(place) {
        Ok(kind) if place < activities.len() => NameId(kind),
        _ => NameId::NONE,
    };
    let found = || by_kind.iter().enumerate().filter(|(_, sums)| sums.spans > 0);
    let found = || found().map(|(place, sums)| (id(place), sums));
    let name = |kind: NameId| trace.kind_names.get(kind).to_owned();
    let is_hidden = |kind: NameId| asked.hidden.contains(&kind);
    let mut left_out: Vec<String> =
        found().filter(|(kind, _)| is_hidden(*kind)).map(|(kind, _)| name(kind)).collect();
    left_out.sort_unstable();
    let shown = found().filter(|(kind, _)| !is_hidden(*kind));
    let mut kinds: Vec<KindCycles> = shown
        .map(|(kind, sums)| KindCycles {
            kind: name(kind),
            activity: activities.get(kind.0 as usize).copied().unwrap_or(Activity::Other),
            spans: sums.spans,
            cycles: sums.cycles,
            tile_cycles: sums.tile_cycles.and_then(|cycles| u64::try_from(cycles).ok()),
        })
        .collect();
    kinds.sort_by(|a, b| b.cycles.cmp(&a.cycles).then_with(|| a.kind.cmp(&b.kind)));
    let length = asked.cycles.end.saturating_sub(asked.cycles.start);
    let capacity = executed.tiles_per_ipu().map(|tiles| tiles as f64 * length as f64 * ipus as f64);
    let of_compute = kinds.iter().filter(|kind| kind.activity == Activity::Compute);
    let computed: Option<u64> = of_compute
        .map(|kind| kind.tile_cycles)
        .try_fold(0_u64, |sum, cycles| Some(sum.saturating_add(cycles?)));
    let [cycles, active, balanced] = computing;
    let mean = |sum: f64| (cycles > 0.0).then(|| sum / cycles);
    Statistics {
        idle_cycles,
        active_tiles: mean(active),
        balance: mean(balanced),
        utilisation: computed
            .zip(capacity.filter(|capacity| *capacity > 0.0))
            .map(|(computed, capacity)| (computed as f64 / capacity).min(1.0)),
        moved: moved.sums,
        left_out,
        kinds,
    }
}

/// Bytes moved, with what each exchange moves on an IPU, added up once.
struct Moved<'a> {
    executed: Executed<'a>,
    of_exchanges: HashMap<(ExchangeId, u32), [u64; 2]>,
    sums: Option<MovedBytes>,
}

impl<'a> Moved<'a> {
    fn of(executed: Executed<'a>) -> Self {
        let has_any = executed.report.exchanges.get().is_some();
        Self { executed, of_exchanges: HashMap::new(), sums: has_any.then(MovedBytes::default) }
    }

    fn add(&mut self, step: usize, ipu: u32) {
        let Some(id) = self.executed.exchange(step).filter(|id| id.kind != ExchangeKind::Internal)
        else {
            return;
        };
        let executed = self.executed;
        let [received, sent] = *self
            .of_exchanges
            .entry((id, ipu))
            .or_insert_with(|| bytes_on_ipu(executed, id, ipu).unwrap_or_default());
        let Some(sums) = &mut self.sums else { return };
        let (from, to) = match id.kind {
            ExchangeKind::Global => (&mut sums.from_ipus, &mut sums.to_ipus),
            ExchangeKind::Host | ExchangeKind::Internal => (&mut sums.from_host, &mut sums.to_host),
        };
        *from = from.saturating_add(received);
        *to = to.saturating_add(sent);
    }
}

/// What the tiles of an IPU receive and send in an exchange.
fn bytes_on_ipu(executed: Executed<'_>, id: ExchangeId, ipu: u32) -> Option<[u64; 2]> {
    let exchanges = executed.report.exchanges.get()?;
    let row = exchanges.position(id)?;
    let tiles = u32::try_from(executed.tiles_per_ipu()?).ok()?;
    let first = ipu.saturating_mul(tiles);
    let sum = |lists: &[Option<crate::store::tile_list::TileList>]| {
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
