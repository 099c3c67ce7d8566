//! The variables of both reports as differences: those alive at a place, and those that always live.

use eframe::egui;
use std::sync::Arc;

use super::Both;
use super::derived::PairDerived;
use super::places::Places;
use crate::analysis::comparison::attribution::Attribution;
use crate::analysis::liveness::variables::{VariableRow, always_live, not_always_live};
use crate::store::Report;
use crate::ui::job::{Latest, Same};
use crate::ui::legacy::Side;
use crate::ui::report::differences::Entries;
use crate::ui::report::differences::variables::variable_entries;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// What is alive there, and not always live.
    NotAlwaysLive(Places),
    /// What always lives.
    AlwaysLive,
}

/// What entries were made for: also the curves, and what variables belong to.
type Key = (Wanted, u64, Option<Same<Attribution>>);

/// Entries of both, or the report that lacks what they need.
type Found = Result<Arc<Entries>, Side>;

/// Lists of variables, made beside the window.
#[derive(Debug, Default)]
pub struct PairVariables {
    entries: Latest<Key, Found>,
}

impl PairVariables {
    /// Asks for a list; returns the one that was made last with what it is of.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        both: &Both<'_>,
        derived: &Arc<PairDerived>,
        wanted: Wanted,
    ) -> Option<(Wanted, &Found)> {
        let attribution = both.attribution.cloned();
        let key = (wanted, derived.version, attribution.clone().map(Same));
        let (reports, derived) = (both.shared(), Arc::clone(derived));
        self.entries.ask("variables of both", ctx, &key, move |_| {
            let reports = reports.each_ref().map(|report| &**report);
            let rows = rows_of_both(reports, &derived, wanted)?;
            Ok(Arc::new(variable_entries(reports, rows, attribution.as_deref())))
        });
        self.entries.last().map(|((wanted, ..), found)| (*wanted, found))
    }

    /// Why there is no list.
    pub fn failure(&self) -> Option<&str> {
        self.entries.failure()
    }
}

/// The variables of source and target.
///
/// # Errors
/// The report that lacks what they need.
pub fn rows_of_both(
    reports: [&Report; 2],
    derived: &PairDerived,
    wanted: Wanted,
) -> Result<[Vec<VariableRow>; 2], Side> {
    let [source, target] =
        Side::BOTH.map(|side| rows(side.of(reports), derived, side, wanted).ok_or(side));
    Ok([source?, target?])
}

fn rows(
    report: &Report,
    derived: &PairDerived,
    side: Side,
    wanted: Wanted,
) -> Option<Vec<VariableRow>> {
    match wanted {
        Wanted::AlwaysLive => always_live(report, derived.scope),
        Wanted::NotAlwaysLive(places) => {
            let worst = derived.side(side)?.derived.curve.worst_arenas.as_deref();
            let steps: Vec<usize> = places.step(side).into_iter().collect();
            not_always_live(report, derived.scope, &steps, worst)
        }
    }
}
