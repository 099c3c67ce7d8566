//! The verdict: whether a report fits, and if not why, or how much room is left.
//!
//! Each IPU is judged by its own tiles and its own memory, never all of them together: a stage of a
//! pipeline cannot use what another has left. A tile is over by its bytes including gaps
//! (definitions.md). An IPU that has such tiles fails
//!
//! - by the *curve*: what lives at its peak is more than it has,
//! - by *imbalance*: its curve is within its memory, but some tiles need more at one step than they have,
//! - by *placement*: no tile that is over needs more at any one step than it has; the rest is gaps, and
//!   variables that never live together but share no addresses.
//!
//! The whole fails by what its worst IPU fails by: that which is over by most bytes, the lowest of equals.
//! Where some IPUs are over and others are not, that is an imbalance between IPUs as well (`between`).

use serde::Serialize;

use super::between::{BetweenIpus, between_ipus};
use crate::analysis::liveness::scope_curve::peak_of;
use crate::analysis::liveness::{self, Scope};
use crate::analysis::memory;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::{FullestTile, TileTotals};
use crate::analysis::placement::gap_totals::GapTotals;
use crate::analysis::placement::overflow::{LostToGaps, Overflow, why_it_overflows};
use crate::store::memory::TileMemory;
use crate::store::target::Target;
use crate::store::{DeviceId, Report, TileId};
use crate::text::words;

/// Whether a report fits. Bytes include gaps where nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TilesVerdict {
    /// Whether no tile is over.
    pub fits: bool,
    pub tiles: u64,
    /// Bytes of all tiles.
    pub used_bytes: u64,
    /// Bytes that they have.
    pub capacity_bytes: u64,
    /// Bytes that one tile has.
    pub limit_bytes: u64,
    /// The liveness curve of the worst IPU, or, where it fits, of that with the least room above its
    /// peak; `None` where the report does not have it.
    pub curve: Option<CurveVerdict>,
    /// How much room is left, where it fits.
    pub room: Option<LeastRoom>,
    pub failure: Option<TilesFailure>,
    /// Each IPU; given apart from the whole (cli.md).
    #[serde(skip)]
    pub ipus: Vec<IpuVerdict>,
}

impl TilesVerdict {
    /// With the reasons of the gaps of some of the tiles that are over.
    pub fn with_gaps(mut self, report: &Report, gaps: &GapTotals) -> Self {
        let (memory, target) = (report.memory.get(), report.target.get());
        let overflow =
            memory.and_then(|memory| why_it_overflows(memory, target, gaps, 0..memory.tiles.len()));
        if let (Some(failure), Some(overflow)) = (&mut self.failure, overflow) {
            let has_gaps = |tile: &TileId| gaps.of_tile(*tile).is_some();
            let tiles: TileSelection = overflow.tiles.into_iter().filter(has_gaps).collect();
            failure.gaps = Some(overflow.reasons);
            failure.gaps_of = Some(tiles.to_string());
            failure.gaps_of_tiles = tiles.count();
        }
        self
    }

    /// The IPUs that something must be done on: those that are over, or, where it fits, all.
    pub fn ipus_concerned(&self) -> Vec<u32> {
        let concerned = |ipu: &&IpuVerdict| self.fits || !ipu.fits;
        self.ipus.iter().filter(concerned).map(|ipu| ipu.ipu).collect()
    }
}

/// Whether one IPU fits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IpuVerdict {
    pub ipu: u32,
    pub tiles: u64,
    pub tiles_over: u64,
    pub fits: bool,
    /// Why it does not fit; `None` where it does, or the report does not say what lives on it.
    pub cause: Option<OverCause>,
    /// Always live and not always live at the peak of its own curve.
    pub peak_bytes: Option<u64>,
    pub peak_step: Option<u32>,
    /// Bytes that its tiles have.
    pub limit_bytes: u64,
    /// Bytes that its tiles use, gaps included.
    pub used_bytes: Option<u64>,
    /// Bytes over the limit of each tile, summed.
    pub over_bytes: u64,
    /// Tiles that are over and need more at one step than they have.
    #[serde(skip)]
    pub need_more_at_one_step: Option<u64>,
    pub always_live_bytes: Option<u64>,
    pub gap_bytes: Option<u64>,
    pub fullest_tile: Option<FullestTile>,
}

impl IpuVerdict {
    fn curve(&self) -> Option<CurveVerdict> {
        let (step, bytes) = (self.peak_step?, self.peak_bytes?);
        Some(CurveVerdict { ipu: self.ipu, step, bytes, limit_bytes: self.limit_bytes })
    }

    /// Whether it needs so much that the model is to be split: more than twice what it has (docs/user/advice.md,
    /// Limits).
    pub fn needs_split(&self) -> bool {
        self.used_bytes.is_some_and(|used| used / 2 > self.limit_bytes)
    }

    /// Bytes that a tile of it has.
    pub fn bytes_per_tile(&self) -> Option<u64> {
        self.limit_bytes.checked_div(self.tiles)
    }

    /// Bytes left above the peak, 0 where there are none.
    fn above_peak_bytes(&self) -> Option<u64> {
        Some(self.limit_bytes.saturating_sub(self.peak_bytes?))
    }
}

/// The peak of an IPU against what it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CurveVerdict {
    pub ipu: u32,
    pub step: u32,
    /// Always live and not always live there.
    pub bytes: u64,
    /// Bytes that its tiles have.
    pub limit_bytes: u64,
}

impl CurveVerdict {
    /// Whether the peak is within the limit.
    pub fn fits(&self) -> bool {
        self.bytes <= self.limit_bytes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LeastRoom {
    /// The fullest tile.
    pub tile: u32,
    /// Bytes left on it, the least of any tile.
    pub least_bytes: u64,
    /// Bytes left above the peak of an IPU, the least of any.
    pub above_peak_bytes: Option<u64>,
}

words! {
    /// By what a report fails (see the module).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OverCause by word {
        /// The curve of the IPU is above its memory.
        Curve = "curve",
        /// Some tiles need more at one step than they have.
        Imbalance = "imbalance",
        /// Tiles have enough for every step, but not as variables lie on them.
        Placement = "placement",
    }
}

/// Why a report does not fit. Bytes and counts are of the tiles that are over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TilesFailure {
    /// The cause, that of the worst IPU; `None` where the report does not say what lives on tiles.
    pub cause: Option<OverCause>,
    /// The IPU that is over by most bytes.
    pub worst_ipu: Option<u32>,
    /// The IPUs that are over, ascending; none where the report does not say which tiles an IPU has.
    pub ipus: Vec<u32>,
    /// What would have to move where only some IPUs are over.
    pub between_ipus: Option<BetweenIpus>,
    /// The tiles that are over, as text: `0-15,952`.
    pub tiles: String,
    pub tiles_over: u64,
    /// Bytes over the limit, summed.
    pub over_bytes: u64,
    /// The tile that is over by most.
    pub worst_tile: u32,
    pub worst_over_bytes: u64,
    /// Tiles that need more at one step than they have.
    pub need_more_at_one_step: Option<u64>,
    pub gap_bytes: u64,
    /// Gap bytes by reason, most first, of the tiles that were looked at; `None` where none were.
    pub gaps: Option<Vec<LostToGaps>>,
    /// Of the tiles that are over those whose gaps were looked at, as text; `None` where none were.
    pub gaps_of: Option<String>,
    #[serde(skip)]
    pub gaps_of_tiles: u64,
    /// Tiles that would fit without any gap. That is arithmetic, not a placement.
    pub would_fit_without_gaps: u64,
    /// Bytes that liveness does not explain.
    pub not_explained_bytes: Option<u64>,
}

/// The verdict, without the reasons of gaps; `None` where the report does not say what tiles use or have.
pub fn verdict(report: &Report) -> Option<TilesVerdict> {
    let (memory, target) = (report.memory.get()?, report.target.get());
    let limit_bytes = report.bytes_per_tile()?;
    let rows = 0..memory.tiles.len();
    let overflow = why_it_overflows(memory, target, &GapTotals::default(), rows)?;
    let totals = memory::totals(memory, target);
    let ipus = ipus(report, memory, target)?;
    let fits = overflow.tiles.is_empty();
    let worst = ipus.iter().rev().filter(|ipu| !ipu.fits).max_by_key(|ipu| ipu.over_bytes);
    let curve = match worst {
        Some(worst) => worst.curve(),
        None => least_room(&ipus).and_then(IpuVerdict::curve),
    };
    let failure = match worst {
        Some(worst) => Some(failure(overflow, worst, &ipus)?),
        None => None,
    };
    Some(TilesVerdict {
        fits,
        tiles: memory.tiles.len() as u64,
        used_bytes: totals.including_gaps_bytes?,
        capacity_bytes: liveness::limit_bytes(Scope::Everything, report.arenas.get()?)?,
        limit_bytes,
        room: if fits { room(memory, limit_bytes, &totals, &ipus) } else { None },
        failure,
        curve,
        ipus,
    })
}

/// Each IPU that has tiles; all tiles as one where the report does not say which are whose.
fn ipus(report: &Report, memory: &TileMemory, target: Option<&Target>) -> Option<Vec<IpuVerdict>> {
    let tiles = memory.tiles.as_slice().iter();
    let of_tiles: Option<Vec<u32>> = tiles.map(|tile| target?.device_of(*tile)).collect();
    let Some(mut numbers) = of_tiles else {
        return Some(vec![ipu(report, 0, Scope::Everything)?]);
    };
    // Tiles ascend, and so do their IPUs.
    numbers.dedup();
    let of_number = |number| ipu(report, number, Scope::Device(DeviceId(number)));
    numbers.into_iter().map(of_number).collect()
}

fn ipu(report: &Report, number: u32, scope: Scope) -> Option<IpuVerdict> {
    let (memory, target) = (report.memory.get()?, report.target.get());
    let rows = scope.rows(memory, target);
    let totals = memory::totals_of_rows(memory, target, rows.clone());
    let overflow = why_it_overflows(memory, target, &GapTotals::default(), rows.clone())?;
    let limit_bytes = report.bytes_per_tile()?.checked_mul(rows.len() as u64)?;
    let peak = peak(report, scope, rows.len() == memory.tiles.len());
    let fits = overflow.tiles.is_empty();
    let is_within = peak.map(|(_, bytes)| bytes <= limit_bytes);
    Some(IpuVerdict {
        ipu: number,
        tiles: rows.len() as u64,
        tiles_over: overflow.tiles.len() as u64,
        fits,
        cause: if fits { None } else { cause(is_within, overflow.need_more_at_one_step) },
        peak_bytes: peak.map(|(_, bytes)| bytes),
        peak_step: peak.map(|(step, _)| step),
        limit_bytes,
        used_bytes: totals.including_gaps_bytes,
        over_bytes: overflow.over_bytes,
        need_more_at_one_step: overflow.need_more_at_one_step,
        always_live_bytes: totals.always_live_bytes,
        gap_bytes: totals.gap_bytes,
        fullest_tile: totals.fullest.and_then(|row| FullestTile::of(memory, row)),
    })
}

/// The number of the step of an IPU's peak, and what is alive there. An IPU that is all there is has the
/// curve of everything; of several each needs its own, and without it nothing is said.
fn peak(report: &Report, scope: Scope, is_all: bool) -> Option<(u32, u64)> {
    let has_several =
        report.target.get().is_some_and(|target| target.devices.is_some_and(|n| n > 1));
    let scope = match scope {
        Scope::Device(device) => {
            let deltas = report.deltas.get();
            match deltas.is_some_and(|deltas| deltas.by_device.contains_key(&device)) {
                true => scope,
                false if is_all && !has_several => Scope::Everything,
                false => return None,
            }
        }
        _ if has_several => return None,
        scope => scope,
    };
    let (step, bytes) = peak_of(report, scope)?;
    Some((report.steps.get()?.ids.get(step)?.0, bytes))
}

fn cause(is_curve_within: Option<bool>, need_more_at_one_step: Option<u64>) -> Option<OverCause> {
    match (is_curve_within, need_more_at_one_step) {
        (Some(false), _) => Some(OverCause::Curve),
        (_, Some(0)) => Some(OverCause::Placement),
        (Some(true), Some(_)) => Some(OverCause::Imbalance),
        _ => None,
    }
}

/// The IPU with the least room above its peak; `None` where that of any is not known.
fn least_room(ipus: &[IpuVerdict]) -> Option<&IpuVerdict> {
    let rooms: Option<Vec<_>> =
        ipus.iter().map(|ipu| Some((ipu.above_peak_bytes()?, ipu))).collect();
    rooms?.into_iter().min_by_key(|(bytes, _)| *bytes).map(|(_, ipu)| ipu)
}

fn room(
    memory: &TileMemory,
    limit_bytes: u64,
    totals: &TileTotals,
    ipus: &[IpuVerdict],
) -> Option<LeastRoom> {
    let fullest = totals.fullest?;
    Some(LeastRoom {
        tile: memory.tiles.get(fullest)?.0,
        least_bytes: limit_bytes.saturating_sub(memory::cell(&memory.including_gaps, fullest)?),
        above_peak_bytes: least_room(ipus).and_then(IpuVerdict::above_peak_bytes),
    })
}

fn failure(overflow: Overflow, worst: &IpuVerdict, ipus: &[IpuVerdict]) -> Option<TilesFailure> {
    let (worst_tile, worst_over_bytes) = overflow.worst?;
    Some(TilesFailure {
        cause: worst.cause,
        worst_ipu: Some(worst.ipu),
        ipus: ipus.iter().filter(|ipu| !ipu.fits).map(|ipu| ipu.ipu).collect(),
        between_ipus: between_ipus(ipus),
        gaps: None,
        gaps_of: None,
        gaps_of_tiles: 0,
        tiles_over: overflow.tiles.len() as u64,
        tiles: overflow.tiles.into_iter().collect::<TileSelection>().to_string(),
        over_bytes: overflow.over_bytes,
        worst_tile: worst_tile.0,
        worst_over_bytes,
        need_more_at_one_step: overflow.need_more_at_one_step,
        gap_bytes: overflow.gap_bytes,
        would_fit_without_gaps: overflow.would_fit_without_gaps,
        not_explained_bytes: overflow.not_explained_bytes,
    })
}
