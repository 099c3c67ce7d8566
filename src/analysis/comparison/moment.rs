//! A place in a report where bytes are alive: a scope and a step.

use super::contribution::LiveBytes;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::scope_curve::ScopeCurve;

/// A scope, which is not the worst tile, and a step position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeStep {
    pub scope: Scope,
    /// The step, a position in [`crate::store::program::Steps`].
    pub step: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliveAt {
    pub moment: ScopeStep,
    pub bytes: LiveBytes,
}

impl ScopeStep {
    /// A step of a scope; of [`Scope::WorstArena`] the tile that is worst there.
    pub fn at(curve: &ScopeCurve, scope: Scope, step: usize) -> Option<Self> {
        let scope = match scope {
            Scope::WorstArena => Scope::Arena(*curve.worst_arenas.as_ref()?.get(step)?),
            _ => scope,
        };
        Some(Self { scope, step })
    }

    /// The step of a scope at which most is alive, always live or not, the first of equals. `None`
    /// where the always-live bytes are not known.
    pub fn peak(curve: &ScopeCurve, scope: Scope) -> Option<AliveAt> {
        let alive = (0..curve.not_always_live.len()).filter_map(|step| {
            let bytes = alive_at(curve, step)?;
            Some((bytes.always_live.saturating_add(bytes.not_always_live), std::cmp::Reverse(step)))
        });
        let (_, std::cmp::Reverse(step)) = alive.max()?;
        Self::alive(curve, scope, step)
    }

    /// What is alive at a step of a scope.
    pub fn alive(curve: &ScopeCurve, scope: Scope, step: usize) -> Option<AliveAt> {
        Some(AliveAt { moment: Self::at(curve, scope, step)?, bytes: alive_at(curve, step)? })
    }
}

fn alive_at(curve: &ScopeCurve, step: usize) -> Option<LiveBytes> {
    let mut alive = LiveBytes::default();
    alive.add(true, curve.always_live.at(step)?);
    alive.add(false, *curve.not_always_live.get(step)?);
    Some(alive)
}
