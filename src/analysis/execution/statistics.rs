//! Statistics of a range of cycles.
//!
//! - Cycles of a kind are the lengths of its spans as far as they lie in the range. Tile cycles of a span that lies in
//!   it in part count in proportion.
//! - Shares are of all cycles of all IPUs in the range. Spans of an IPU may overlap, so shares of kinds may add up to more
//!   than the whole.
//! - *Utilization* is the tile cycles of compute by all cycles of all tiles of the IPUs in the range.
//! - Active tiles and balance are means by cycles over the spans that compute; *balance* is what tiles take on average
//!   by what the longest takes, over those of which it is known.
//! - *Idle* is the part of the range in which an IPU has no span at all, hidden or not.
//! - Bytes to and from host and other IPUs are what tiles send and receive in transfers that begin in the range, by
//!   what the compiler made of these programs.
//! - Kinds that are hidden are left out of all but idle cycles, and named.

use std::ops::Range;

use serde::Serialize;

use super::Executed;
use super::sums::{KindSums, SpanSums};
use crate::analysis::program::kinds::Activity;
use crate::store::names::NameId;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatisticsQuery {
    /// The cycles.
    pub cycles: Range<u64>,
    /// Of this IPU only.
    pub device: Option<u32>,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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
pub struct CycleStatistics {
    /// By kind, most cycles first.
    pub kinds: Vec<KindCycles>,
    /// Cycles of the range, of all IPUs together.
    pub range_cycles: u64,
    /// Cycles of each IPU without any span, added up.
    pub idle_cycles: u64,
    /// Tiles that are active, on average.
    pub active_tiles: Option<f64>,
    /// Balance, on average, 0 to 1.
    pub balance: Option<f64>,
    /// Utilization, 0 to 1.
    pub utilisation: Option<f64>,
    /// Bytes moved; `None` where the report has no table of exchanges.
    pub moved: Option<MovedBytes>,
    /// Hidden kinds that have spans in the range.
    pub left_out: Vec<String>,
}

impl CycleStatistics {
    /// What cycles are of the range, 0 to 1.
    pub fn share(&self, cycles: u64) -> f64 {
        cycles as f64 / self.range_cycles.max(1) as f64
    }
}

/// What a range of cycles was spent on, by the sums of the trace.
pub fn statistics(
    executed: Executed<'_>,
    sums: &SpanSums,
    asked: &StatisticsQuery,
) -> CycleStatistics {
    let trace = executed.trace;
    let activities = executed.activities();
    let found = sums.in_range(executed, &asked.cycles, asked.device);
    let id = |place: usize| match u32::try_from(place) {
        Ok(kind) if place < activities.kinds() => NameId(kind),
        _ => NameId::NONE,
    };
    let (mut kinds, mut left_out, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    for (place, sums) in found.by_kind.iter().enumerate().filter(|(_, sums)| sums.spans > 0) {
        let (kind, activity) = (id(place), activities.of_kind(id(place)));
        let name = trace.kind_names.get(kind).to_owned();
        if asked.hidden.contains(&kind) {
            left_out.push(name);
            continue;
        }
        shown.push((activity, sums));
        kinds.push(KindCycles {
            kind: name,
            activity,
            spans: sums.spans,
            cycles: sums.cycles,
            tile_cycles: sums.tile_cycles.and_then(|cycles| u64::try_from(cycles).ok()),
        });
    }
    left_out.sort_unstable();
    kinds.sort_by(|a, b| b.cycles.cmp(&a.cycles).then_with(|| a.kind.cmp(&b.kind)));
    let length = asked.cycles.end.saturating_sub(asked.cycles.start);
    let range_cycles = length.saturating_mul(found.devices);
    let computing = || {
        let is_computing = |(activity, _): &&(Activity, &KindSums)| *activity == Activity::Compute;
        shown.iter().filter(is_computing).map(|(_, sums)| *sums)
    };
    let sum = |of: fn(&KindSums) -> f64| computing().map(of).sum::<f64>();
    let mean = |sum: f64, cycles: f64| (cycles > 0.0).then(|| sum / cycles);
    let computed =
        computing().try_fold(0_u128, |sum, of| Some(sum.saturating_add(of.tile_cycles?)));
    let capacity = executed.tiles_per_device().map(|tiles| tiles as f64 * range_cycles as f64);
    let moved = |with: usize, way: usize| {
        let of = |(_, sums): &(Activity, &KindSums)| sums.moved[with][way];
        shown.iter().map(of).fold(0_u64, u64::saturating_add)
    };
    let has_exchanges = executed.report.exchanges.get().is_some();
    CycleStatistics {
        range_cycles,
        idle_cycles: found.idle_cycles,
        active_tiles: mean(sum(|sums| sums.active), sum(|sums| sums.cycles as f64)),
        balance: mean(sum(|sums| sums.balanced[0]), sum(|sums| sums.balanced[1])),
        utilisation: computed
            .zip(capacity.filter(|capacity| *capacity > 0.0))
            .map(|(computed, capacity)| (computed as f64 / capacity).min(1.0)),
        moved: has_exchanges.then(|| MovedBytes {
            from_host: moved(0, 0),
            to_host: moved(0, 1),
            from_ipus: moved(1, 0),
            to_ipus: moved(1, 1),
        }),
        left_out,
        kinds,
    }
}
