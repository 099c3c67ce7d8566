//! What the liveness page computes once for a scope.

use crate::analysis::liveness::{Scope, always_live_bytes, curve, limit_bytes};
use crate::analysis::peaks::{Peak, peaks};
use crate::store::Report;
use crate::store::liveness::Liveness;
use crate::store::program::Steps;

/// The curve of a scope and what belongs to it.
#[derive(Debug)]
pub struct Derived {
    /// The scope.
    pub scope: Scope,
    /// Not-always-live bytes at each step.
    pub curve: Vec<u64>,
    /// Always-live bytes.
    pub always_live: Option<u64>,
    /// The limit.
    pub limit: Option<u64>,
    /// Its peaks, largest first.
    pub peaks: Vec<Peak>,
    /// The step of the largest.
    pub peak: Option<usize>,
}

impl Derived {
    /// Computes it; `None` when the report has no curve.
    pub fn new(report: &Report, liveness: &Liveness, steps: &Steps, scope: Scope) -> Option<Self> {
        let curve = curve(liveness, scope, steps.ids.len())?;
        let (memory, target) = (report.memory.get(), report.target.get());
        let peaks = peaks(&curve);
        Some(Self {
            scope,
            always_live: memory.and_then(|memory| always_live_bytes(scope, memory, target)),
            limit: memory.and_then(|memory| limit_bytes(scope, memory, target)),
            peak: peaks.first().map(|peak| peak.step),
            peaks,
            curve,
        })
    }

    /// The most not-always-live bytes at any step.
    pub fn highest(&self) -> u64 {
        self.peaks.first().map_or(0, |peak| peak.bytes)
    }

    /// The most bytes at any step, always-live ones included.
    pub fn top(&self) -> u64 {
        self.highest().saturating_add(self.always_live.unwrap_or(0))
    }

    /// Tells the curves of different scopes apart.
    pub fn version(&self) -> u64 {
        match self.scope {
            Scope::Everything => 0,
            Scope::Ipu(ipu) => 1 + u64::from(ipu),
            Scope::Tile(tile) => (1 << 32) + u64::from(tile.0),
        }
    }
}
