//! What a run says at first sight, asked for by every page that shows some of it and worked out once.

use eframe::egui;
use std::sync::Arc;

use crate::store::Report;
use crate::systems::poplar::insights::Insights;
use crate::systems::pytorch::allocator::insights::SnapshotInsights;
use crate::ui::job::{Latest, Same};
use crate::ui::runs::{Needed, Needs, Run};

/// What of a report insights are worked out from, besides logs.
const NEEDS: Needs = &[Needed::Liveness, Needed::Debug, Needed::Exchanges];

/// What is said where advice would stand, until it is final.
pub const ADVICE_COMES: &str =
    "Advice comes when the operations are read; whether it fits will not change";

#[derive(Default)]
pub struct FoundInsights(Latest<Vec<bool>, Arc<Insights>>);

/// Insights, and whether they are final: advice changes while what it is based on is still being read.
#[derive(Clone)]
pub struct KnownInsights {
    pub found: Arc<Insights>,
    pub is_final: bool,
}

impl FoundInsights {
    /// Asks for those of a run; `None` until the small tables are read and looked at. Called in every frame.
    pub fn ask(&mut self, ctx: &egui::Context, run: &Run) -> Option<KnownInsights> {
        if !Needed::Liveness.is_settled(&run.report) {
            return None;
        }
        let key = settled(&run.report, NEEDS);
        let is_final = are_all(&key);
        let derived = Arc::clone(&run.derived);
        let work =
            move |cancel: &crate::ui::job::Cancel| derived.insights(is_final, cancel.progress());
        self.0.ask("insights", ctx, &key, work);
        let (of, found) = self.0.last()?;
        Some(KnownInsights { found: Arc::clone(found), is_final: are_all(of) })
    }

    /// Why there will be none.
    pub fn failure(&self) -> Option<&str> {
        self.0.failure()
    }
}

/// The same of a memory snapshot, which is read as a whole.
#[derive(Default)]
pub struct FoundSnapshotInsights(Latest<Same<Report>, Option<Arc<SnapshotInsights>>>);

impl FoundSnapshotInsights {
    /// Asks for those of a run; `None` until they are worked out, and of what is no snapshot. Called in every frame.
    pub fn ask(&mut self, ctx: &egui::Context, run: &Run) -> Option<Arc<SnapshotInsights>> {
        let derived = Arc::clone(&run.derived);
        let key = Same(Arc::clone(&run.report));
        self.0.ask("insights", ctx, &key, move |_| derived.snapshot_insights());
        self.0.get(&key)?.clone()
    }

    /// Why there will be none.
    pub fn failure(&self) -> Option<&str> {
        self.0.failure()
    }
}

/// Whether nothing more will come of some parts ([`settled`]).
pub fn are_all(settled: &[bool]) -> bool {
    settled.iter().all(|settled| *settled)
}

/// Which parts are there, logs first.
pub fn settled(report: &Report, needs: Needs) -> Vec<bool> {
    let parts = needs.iter().map(|needed| needed.is_settled(report));
    std::iter::once(report.logs.is_settled()).chain(parts).collect()
}
