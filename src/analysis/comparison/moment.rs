//! A place in a report where bytes are alive: a scope and a step.

use super::contribution::LiveBytes;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::scope_curve::{ScopeCurve, scope_curve};
use crate::store::Report;

/// A scope, which is not the worst tile, and a step position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The scope.
    pub scope: Scope,
    /// The step, a position in [`crate::store::program::Steps`].
    pub step: usize,
}

impl Moment {
    /// A step of a scope; of [`Scope::WorstArena`] the tile that is worst there.
    pub fn at(curve: &ScopeCurve, scope: Scope, step: usize) -> Option<Self> {
        let scope = match scope {
            Scope::WorstArena => Scope::Arena(*curve.worst_arenas.as_ref()?.get(step)?),
            _ => scope,
        };
        Some(Self { scope, step })
    }

    /// The step of a scope at which most is alive, always live or not, the first of equals. `None`
    /// where the curve or the always-live bytes are not known.
    pub fn peak(
        report: &Report,
        scope: Scope,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Self> {
        let curve = scope_curve(report, scope, is_cancelled)?;
        let alive = (0..curve.not_always_live.len()).filter_map(|step| {
            let bytes = alive_at(&curve, step)?;
            Some((bytes.always_live.saturating_add(bytes.not_always_live), std::cmp::Reverse(step)))
        });
        let (_, std::cmp::Reverse(step)) = alive.max()?;
        Self::at(&curve, scope, step)
    }

    /// What is alive then. `None` where the curve or the always-live bytes are not known.
    pub fn alive(&self, report: &Report) -> Option<LiveBytes> {
        alive_at(&scope_curve(report, self.scope, &|| false)?, self.step)
    }
}

fn alive_at(curve: &ScopeCurve, step: usize) -> Option<LiveBytes> {
    let mut alive = LiveBytes::default();
    alive.add(true, curve.always_live.at(step)?);
    alive.add(false, *curve.not_always_live.get(step)?);
    Some(alive)
}
