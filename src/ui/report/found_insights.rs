//! The insights of a run, worked out once for all pages that show some of them.

use eframe::egui;
use std::sync::Arc;

use crate::run::{FirstSight, Room};
use crate::store::Report;
use crate::ui::job::{Cancel, Latest, Same};
use crate::ui::runs::{Needed, Needs, Run};
use crate::ui::units::Units;

/// What of a report insights are worked out from, besides logs, where they go by the report.
const NEEDS: Needs = &[Needed::Liveness, Needed::Debug, Needed::Exchanges];

/// What is said where advice would stand, until it is final.
pub const ADVICE_COMES: &str =
    "Advice appears when the operations are read; the verdict will not change";

#[derive(Default)]
pub struct FoundInsights(Latest<InsightsKey, Arc<FirstSight>>);

/// The report, which parts of it were there, whether the insights are final, how they write bytes, and what the user says of the device.
type InsightsKey = (Same<Report>, Vec<bool>, bool, Units, Room);

/// Insights, and whether they are final: advice changes while what it is based on is still being read.
#[derive(Clone)]
pub struct KnownInsights {
    pub sight: Arc<FirstSight>,
    pub is_final: bool,
}

impl FoundInsights {
    /// Asks for those of a run; `None` until what they go by is read and looked at. Where `has_time` is not set, it is
    /// only asked for what takes none. Called in every frame.
    pub fn ask(&mut self, ctx: &egui::Context, run: &Run, has_time: bool) -> Option<KnownInsights> {
        let is_beside = run.derived.answers().are_beside_report();
        if !is_beside && !Needed::Liveness.is_settled(&run.report) {
            return None;
        }
        let parts = if is_beside { Vec::new() } else { settled(&run.report, NEEDS) };
        let is_final = has_time && are_all(&parts);
        let units = Units::now(ctx);
        let key = (Same(Arc::clone(&run.report)), parts, is_final, units, run.derived.room());
        let derived = Arc::clone(&run.derived);
        let work = move |cancel: &Cancel| {
            let size = |bytes: u64| units.bytes(bytes);
            Arc::new(derived.first_sight(is_final, cancel.progress(), &size))
        };
        self.0.ask("insights", ctx, &key, work);
        let ((of, _, is_final, ..), sight) = self.0.last()?;
        let is_of_run = *of == key.0;
        is_of_run.then(|| KnownInsights { sight: Arc::clone(sight), is_final: *is_final })
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
