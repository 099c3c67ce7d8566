//! The answers of an IPU report.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::budgets::{budgets, need};
use super::cards::cards;
use super::cross_checks::contradictions_of_trace;
use super::facts::{PoplarSection, ReportFacts};
use super::files::OpenReport;
use super::insights::change::{conclusions_of, insights_of};
use super::insights::logs::log_messages;
use super::insights::sentences::{verdict_reason, verdict_sentences};
use super::insights::verdict::{TilesVerdict, verdict};
use super::insights::{
    PoplarInsights as ReportInsights, insights_of_resident, insights_with_tiles, run_verdict,
};
use super::sections::sections_of;
use super::sweep_facts::sweep_facts;
use crate::analysis::derived::{Derived, Memo};
use crate::analysis::execution::Executed;
use crate::analysis::liveness::Scope;
use crate::analysis::memory;
use crate::analysis::sweep::SweepFacts;
use crate::diagnose::{Device, Finding};
use crate::files;
use crate::format::{Error, ErrorKind};
use crate::progress::Progress;
use crate::run::answers::SourceFormat;
use crate::run::compared::PeakOfSide;
use crate::run::section::keys_of;
use crate::run::{
    Answers, BudgetFacts, Compared, Conclusion, FirstSight, Insights, MemoryTotals, MessagePlace,
    Need, OwnFacts, Place, Room, Section, Verdict,
};
use crate::store::memory::TileColumn;
use crate::store::placed::ReadError;
use crate::store::{DeviceId, Report, TileId};
use crate::text::exact_bytes;

/// The answers of a report, from the parts of it that are read.
#[derive(Debug, Default)]
pub struct PoplarAnswers {
    insights: Memo<(), Arc<ReportInsights>>,
}

impl OpenReport {
    /// What is worked out once for this report.
    pub fn derived(&self) -> Derived {
        derived_of(Arc::clone(&self.report))
    }

    /// Reads debug information and logs, and works out the insights, which read tiles that are over. `logs` count
    /// as those beside the profile.
    ///
    /// # Errors
    /// When the profile cannot be opened again, or one of the logs cannot be opened.
    pub fn read_for_summary(
        &self,
        derived: &Derived,
        logs: &[PathBuf],
        progress: &Progress,
    ) -> Result<(), Error> {
        self.read_debug_info(progress);
        for log in logs {
            files::open(log).map_err(|error| Error::io(log, &error))?;
        }
        self.read_logs(logs, progress, log_messages);
        derived.answers().insights(derived, progress)?;
        Ok(())
    }
}

/// What is worked out once for a report of Poplar.
pub fn derived_of(report: Arc<Report>) -> Derived {
    Derived::new(report).with_answers(Arc::new(PoplarAnswers::default()))
}

fn of_run(verdict: Option<&TilesVerdict>) -> Verdict {
    verdict.map_or_else(run_verdict::unknown, TilesVerdict::of_run)
}

fn insights_of_run(found: &ReportInsights) -> Insights {
    Insights {
        verdict: Some(of_run(found.verdict.as_ref())),
        conclusions: found.conclusions.clone(),
        advice: found.advice.clone(),
        not_advised: found.not_advised.clone(),
    }
}

impl PoplarAnswers {
    /// What the report says at first sight: with what is read for it where `is_final` says that nothing more of what it
    /// goes by will come, else from what is there.
    fn report_insights(
        &self,
        derived: &Derived,
        is_final: bool,
        progress: &Progress,
    ) -> Arc<ReportInsights> {
        // What went wrong is among the warnings of the report.
        let kept = is_final.then(|| self.insights_of_tiles(derived, progress).ok()).flatten();
        kept.unwrap_or_else(|| Arc::new(insights_of_resident(derived)))
    }

    /// The same with what is read for it, where nothing more of what it goes by will come.
    ///
    /// # Errors
    /// When the files cannot be read any more, or nobody waits for it.
    fn insights_of_tiles(
        &self,
        derived: &Derived,
        progress: &Progress,
    ) -> Result<Arc<ReportInsights>, ReadError> {
        let mut failure = None;
        let found = self.insights.get(&(), || match insights_with_tiles(derived, progress) {
            // What was canceled is not kept.
            Ok(found) => (!progress.is_cancelled()).then(|| Arc::new(found)),
            Err(error) => {
                failure = Some(error);
                None
            }
        });
        found.ok_or_else(|| failure.unwrap_or_else(|| "cancelled".into()))
    }
}

/// Whether a message that rounds may state these bytes.
fn is_about(bytes: u64, stated: u64) -> bool {
    bytes.abs_diff(stated) <= bytes / 1000
}

impl Answers for PoplarAnswers {
    /// A tile of that number; whether its bytes are those of the message is said.
    fn message_place(&self, derived: &Derived, finding: &Finding) -> Option<MessagePlace> {
        let tile = finding.tile.filter(|_| finding.device == Some(Device::Ipu))?;
        let tile = TileId(u32::try_from(tile).ok()?);
        let memory = derived.report().memory.get()?;
        let row = memory.tiles.position(tile)?;
        let of = |column: &TileColumn| column.get(row).copied().flatten();
        let [own, with_gaps] = [&memory.total, &memory.including_gaps].map(of);
        let stated = finding.used_bytes;
        let said = match (stated, with_gaps.or(own)?) {
            (Some(stated), _)
                if [own, with_gaps].into_iter().flatten().any(|it| is_about(it, stated)) =>
            {
                format!("Tile {tile} takes {}, as the message says", exact_bytes(stated))
            }
            (Some(stated), takes) => format!(
                "Tile {tile} takes {}; the message says {}, so it may be about another compilation",
                exact_bytes(takes),
                exact_bytes(stated)
            ),
            (None, takes) => format!("Tile {tile} takes {}", exact_bytes(takes)),
        };
        let place = Place { arena: Some(tile.to_string()), ..Place::default() };
        Some(MessagePlace { said, title: format!("tile {tile} in Map"), place })
    }

    fn verdict(&self, derived: &Derived) -> Option<Verdict> {
        let report = derived.report();
        let is_settled = report.memory.is_settled() && report.target.is_settled();
        is_settled.then(|| of_run(verdict(report).as_ref()))
    }

    fn insights(&self, derived: &Derived, progress: &Progress) -> Result<Insights, ReadError> {
        Ok(insights_of_run(&*self.insights_of_tiles(derived, progress)?))
    }

    fn first_sight(
        &self,
        derived: &Derived,
        is_final: bool,
        progress: &Progress,
        size: &dyn Fn(u64) -> String,
    ) -> FirstSight {
        let found = self.report_insights(derived, is_final, progress);
        let mut sight = FirstSight::of(Arc::new(insights_of_run(&found)));
        if let Some(verdict) = &found.verdict {
            sight.reason = verdict_reason(verdict, size);
            let conclusions = found.conclusions.iter().map(|conclusion| conclusion.text.clone());
            sight.sentences =
                verdict_sentences(verdict, size).into_iter().chain(conclusions).collect();
            // Each IPU has its own memory.
            let curve = verdict.curve.filter(|_| verdict.ipus.len() > 1);
            sight.peak_scope = curve.map(|curve| Scope::Device(DeviceId(curve.ipu)));
        }
        sight.cards = cards(&found, derived.report().target.get(), is_final, size);
        sight
    }

    /// Without what it consists of, which takes long on many tiles.
    fn peak_size(&self, derived: &Derived) -> Option<PeakOfSide> {
        PeakOfSide::of_report(derived)
    }

    fn memory(&self, derived: &Derived) -> MemoryTotals {
        let report = derived.report();
        let Some(memory) = report.memory.get() else { return MemoryTotals::default() };
        let totals = memory::totals(memory, report.target.get());
        MemoryTotals {
            total_bytes: totals.total_bytes,
            including_gaps_bytes: totals.including_gaps_bytes,
            gap_bytes: totals.gap_bytes,
            always_live_bytes: totals.always_live_bytes,
            ..MemoryTotals::default()
        }
    }

    fn sweep_facts(&self, derived: &Derived, device: Option<i64>) -> Result<SweepFacts, Error> {
        if let Some(device) = device {
            let message = format!(
                "an IPU report is checked against the memory of its tiles: --device {device} does \
                not apply to it"
            );
            return Err(Error::new(ErrorKind::Usage, message));
        }
        Ok(sweep_facts(derived.report()))
    }

    fn change_conclusions(
        &self,
        compared: &Compared,
        size: &dyn Fn(u64) -> String,
    ) -> Vec<Conclusion> {
        conclusions_of(compared, size)
    }

    fn change_json(&self, compared: &Compared, _: Room) -> Map<String, Value> {
        Map::from_iter([("insights".to_owned(), json!(insights_of(compared)))])
    }

    fn contradictions_of_trace(&self, executed: Executed<'_>) -> Vec<String> {
        contradictions_of_trace(executed)
    }

    fn format(&self, derived: &Derived) -> SourceFormat {
        let about = derived.report().about.get().cloned().unwrap_or_default();
        SourceFormat {
            format: about.format,
            producer: about.producer_version.map(|version| format!("Poplar {version}")),
            captured_at: about.compiled_at,
        }
    }

    fn sections(&self, derived: &Derived, _: &Insights) -> Vec<Section> {
        let report = derived.report();
        let insights = self.report_insights(derived, true, &Progress::default());
        sections_of(report, &ReportFacts::of(report), &insights)
    }

    fn need(&self, derived: &Derived, device: Option<i64>) -> Result<Need, Error> {
        need(derived, device)
    }

    fn budgets(&self, derived: &Derived, device: Option<i64>) -> Result<BudgetFacts, Error> {
        budgets(derived, device)
    }

    fn own_json<'a>(&'a self, derived: &'a Derived) -> Option<OwnFacts<'a>> {
        let insights = self.report_insights(derived, true, &Progress::default());
        Some(Box::new(keys_of(&PoplarSection::of(derived.report(), &insights))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::explanation::GroupedBy;
    use crate::analysis::comparison::moment::ScopeStep;
    use crate::analysis::consists::{consists_of, rows_of_moments};
    use crate::progress::Progress;
    use crate::store::{ArenaId, DeviceId};
    use crate::systems::poplar::files::OpenReport;
    use crate::systems::poplar::synth::story::{PROPORTIONS, directory_name, story};
    use rayon::prelude::*;

    /// What is alive at any step of the story consists of rows that add up to what the curve says.
    #[test]
    fn what_every_step_consists_of_adds_up() {
        let directory = tempfile::tempdir().expect("a directory");
        let progress = Progress::default();
        story().write(directory.path(), &progress).expect("the story");
        let checked: usize = PROPORTIONS
            .into_par_iter()
            .map(|proportion| {
                let path = directory.path().join(directory_name(proportion));
                let open = OpenReport::open(&path, &progress).expect("a report");
                open.read_all(&progress, |_| Vec::new()).expect("all of it");
                let derived = open.derived();
                let scopes = [
                    Scope::Everything,
                    Scope::Device(DeviceId(0)),
                    Scope::Arena(ArenaId(3)),
                    Scope::WorstArena,
                ];
                // On one tile every step; of all tiles some, for the time that it takes.
                let each = |scope: Scope| if scope.needs_arenas() { 1 } else { 320 };
                let check = |scope| check_steps(&derived, scope, each(scope));
                scopes.into_iter().map(check).sum::<usize>()
            })
            .sum();
        assert!(checked > 11_000, "{checked}");
    }

    fn check_steps(derived: &Derived, scope: Scope, each: usize) -> usize {
        let timeline = derived.timeline(scope, &|| false).expect("a curve");
        let curve = &timeline.curve;
        let steps = curve.not_always_live.len();
        for step in (0..steps).step_by(each) {
            let alive = ScopeStep::alive(curve, scope, step).expect("bytes");
            let whole = curve.always_live.at(step).expect("bytes") + curve.not_always_live[step];
            let found = [Some(consists_of(derived, alive))];
            for by in
                [GroupedBy::Category, GroupedBy::Operation, GroupedBy::Module, GroupedBy::Variable]
            {
                let rows = rows_of_moments(&found, by).expect("rows");
                let sum: i64 = rows.iter().filter_map(|(_, bytes)| bytes[0]).sum();
                assert_eq!(u64::try_from(sum).ok(), Some(whole), "{scope:?} {step} {by:?}");
                assert!(rows.len() > 1, "{scope:?} {step} {by:?}");
            }
        }
        steps.div_ceil(each)
    }

    #[test]
    fn insights_that_were_cancelled_are_not_kept() {
        let (answers, derived) = (PoplarAnswers::default(), Derived::new(Arc::default()));
        let insights = |progress: &Progress| answers.report_insights(&derived, true, progress);
        let cancelled = Progress::default();
        cancelled.cancel();
        insights(&cancelled);
        let found = insights(&Progress::default());
        assert_eq!(answers.insights.made(), 2, "worked out again");
        assert!(Arc::ptr_eq(&found, &insights(&cancelled)), "and kept");
    }
}
