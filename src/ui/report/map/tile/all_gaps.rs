//! The gaps of all tiles of all runs, gone through in the background, and why tiles are over the limit.

use eframe::egui;
use std::sync::Arc;

use crate::analysis::placement::gap_totals::GapTotals;
use crate::analysis::placement::overflow::{Overflow, why_it_overflows};
use crate::analysis::placement::read::gaps_of_all;
use crate::progress::Progress;
use crate::store::Report;
use crate::ui::runs::{Needed, Needs, PerRun, Runs, RunsAnswer};

const NEEDS: Needs = &[Needed::Variables];

pub struct AllGaps {
    pub totals: GapTotals,
    /// Why tiles are over the limit.
    pub overflow: Option<Overflow>,
}

/// Those of each run; `None` where they cannot be read.
pub type GapsOfRuns = Arc<PerRun<Option<AllGaps>>>;

#[derive(Default)]
pub struct AskForGaps(RunsAnswer<(), GapsOfRuns>);

impl AllGaps {
    fn new(report: &Report, progress: &Progress) -> Option<Self> {
        // What went wrong is among the report's warnings.
        let totals = gaps_of_all(report, progress).ok()??;
        let (memory, target) = (report.memory.get(), report.target.get());
        let overflow = memory
            .and_then(|memory| why_it_overflows(memory, target, &totals, 0..memory.tiles.len()));
        Some(Self { totals, overflow })
    }
}

impl AskForGaps {
    /// Asks as soon as that can be answered; returns the answer, and in its absence why.
    pub fn ask(&mut self, ui: &egui::Ui, runs: &Arc<Runs>) -> (Option<&GapsOfRuns>, String) {
        let is_there = runs.is_settled(NEEDS);
        if is_there {
            self.0.ask("gaps of all tiles", ui.ctx(), (runs, NEEDS), &(), move |runs, cancel| {
                Arc::new(runs.each(|run| AllGaps::new(&run.report, cancel.progress())))
            });
        }
        let gaps = self.0.get((runs, NEEDS), &());
        let (arenas, items) = (runs.system().arenas, runs.system().items);
        let note = match (gaps, self.0.failure()) {
            (_, Some(failure)) => failure.to_owned(),
            (Some(gaps), _) if gaps.iter().all(Option::is_none) => {
                format!("the gaps of other {arenas} cannot be read")
            }
            (Some(_), _) => String::new(),
            (None, _) if !is_there && !runs.is_working() => {
                format!("the gaps of all {arenas} were not read: reading was canceled")
            }
            (None, _) if !is_there => format!("the {items} of all {arenas} are being read…"),
            (None, _) => {
                // The job wakes the window only when it ends.
                ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
                let percent = match self.0.progress().map(Progress::now) {
                    None | Some((_, 0)) => String::new(),
                    Some((done, total)) => format!(" {} %", (done * 100 / total).min(100)),
                };
                format!("the gaps of all {arenas} are being read…{percent}")
            }
        };
        (gaps, note)
    }
}
