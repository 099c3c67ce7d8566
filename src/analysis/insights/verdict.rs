//! The verdict: whether a report fits, and if not why, or how much room is left.
//!
//! A tile is over by its bytes including gaps (definitions.md). A report that does not fit fails
//!
//! - by the *curve*: what lives at the peak of all tiles together is more than they have,
//! - by *imbalance*: the curve is within the limit, but some tiles need more at one step than they have,
//! - by *placement*: no tile that is over needs more at any one step than it has; the rest is gaps, and
//!   variables that never live together but share no addresses.

use serde::Serialize;

use crate::analysis::liveness::scope_curve::peak_of_everything;
use crate::analysis::liveness::{self, Scope};
use crate::analysis::memory;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::placement::gap_totals::GapTotals;
use crate::analysis::placement::overflow::{LostToGaps, Overflow, why_it_overflows};
use crate::store::Report;
use crate::store::memory::TileMemory;

/// Whether a report fits. Bytes include gaps where nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Whether no tile is over.
    pub fits: bool,
    pub tiles: u64,
    /// Bytes of all tiles.
    pub used_bytes: u64,
    /// Bytes that they have.
    pub capacity_bytes: u64,
    /// Bytes that one tile has.
    pub limit_bytes: u64,
    /// The liveness curve of all tiles together; `None` where the report does not have it.
    pub curve: Option<CurveVerdict>,
    /// How much room is left, where it fits.
    pub room: Option<Room>,
    pub failure: Option<Failure>,
}

/// The peak of all tiles together against what they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CurveVerdict {
    /// The number of the step.
    pub step: u32,
    /// Always live and not always live there.
    pub bytes: u64,
    /// Bytes that all tiles have.
    pub limit_bytes: u64,
}

impl CurveVerdict {
    /// Whether the peak is within the limit.
    pub fn fits(&self) -> bool {
        self.bytes <= self.limit_bytes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Room {
    /// The fullest tile.
    pub tile: u32,
    /// Bytes left on it, the least of any tile.
    pub least_bytes: u64,
    /// Bytes left above the peak of the curve, all tiles together.
    pub above_peak_bytes: Option<u64>,
}

/// By what a report fails (see the module).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The curve of all tiles together is above the limit.
    Curve,
    /// Some tiles need more at one step than they have.
    Imbalance,
    /// Tiles have enough for every step, but not as variables lie on them.
    Placement,
}

/// Why a report does not fit. Bytes and counts are of the tiles that are over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The cause; `None` where the report does not say what lives on tiles.
    pub cause: Option<Cause>,
    /// The tiles that are over, as text: `0-15,952`.
    pub tiles: String,
    pub tiles_over: u64,
    /// Bytes over the limit, summed.
    pub over_bytes: u64,
    /// The tile that is over by most.
    pub worst_tile: u32,
    /// By how many bytes.
    pub worst_over_bytes: u64,
    /// Tiles that need more at one step than they have.
    pub need_more_at_one_step: Option<u64>,
    pub gap_bytes: u64,
    /// Gap bytes by reason, most first; `None` where they were not read.
    pub gaps: Option<Vec<LostToGaps>>,
    /// Tiles that would fit without any gap. That is arithmetic, not a placement.
    pub would_fit_without_gaps: u64,
    /// Bytes that liveness does not explain.
    pub not_explained_bytes: Option<u64>,
}

/// The verdict; `None` where the report does not say what tiles use or have. `gaps` are those of the
/// tiles that are over at least, where they were read.
pub fn verdict(report: &Report, gaps: Option<&GapTotals>) -> Option<Verdict> {
    let (memory, target) = (report.memory.get()?, report.target.get());
    let none = GapTotals::default();
    let overflow = why_it_overflows(memory, target, gaps.unwrap_or(&none))?;
    let capacity_bytes = liveness::limit_bytes(Scope::Everything, report.arenas.get()?)?;
    let totals = memory::totals(memory, target);
    let curve = curve(report, capacity_bytes);
    let fits = overflow.tiles.is_empty();
    Some(Verdict {
        fits,
        tiles: memory.tiles.len() as u64,
        used_bytes: totals.including_gaps_bytes?,
        capacity_bytes,
        limit_bytes: target?.bytes_per_tile?,
        room: if fits { room(memory, target?.bytes_per_tile?, curve.as_ref()) } else { None },
        failure: if fits { None } else { Some(failure(overflow, curve.as_ref(), gaps.is_some())?) },
        curve,
    })
}

fn curve(report: &Report, limit_bytes: u64) -> Option<CurveVerdict> {
    let (step, bytes) = peak_of_everything(report)?;
    Some(CurveVerdict { step: report.steps.get()?.ids.get(step)?.0, bytes, limit_bytes })
}

fn room(memory: &TileMemory, limit_bytes: u64, curve: Option<&CurveVerdict>) -> Option<Room> {
    let fullest = memory::totals(memory, None).fullest?;
    Some(Room {
        tile: memory.tiles.get(fullest)?.0,
        least_bytes: limit_bytes.saturating_sub(memory::cell(&memory.including_gaps, fullest)?),
        above_peak_bytes: curve.map(|curve| curve.limit_bytes.saturating_sub(curve.bytes)),
    })
}

fn failure(overflow: Overflow, curve: Option<&CurveVerdict>, knows_gaps: bool) -> Option<Failure> {
    let (worst_tile, worst_over_bytes) = overflow.worst?;
    let cause = match (curve.map(CurveVerdict::fits), overflow.need_more_at_one_step) {
        (Some(false), _) => Some(Cause::Curve),
        (_, Some(0)) => Some(Cause::Placement),
        (Some(true), Some(_)) => Some(Cause::Imbalance),
        _ => None,
    };
    Some(Failure {
        cause,
        gaps: knows_gaps.then_some(overflow.reasons),
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
