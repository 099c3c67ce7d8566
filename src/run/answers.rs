//! The answers of a run: the trait that each system implements.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::alive::{AliveBy, AliveVariables, GroupBytes, StepBytes};
use super::allocations::Allocations;
use super::areas::{AreasBy, AreasOf, StackedAreas};
use super::arena_map::{ArenaMap, ArenasOf};
use super::beside_curve::{BesideCurve, CurveLine, StepSaid};
use super::budget::BudgetFacts;
use super::calls::CallList;
use super::claim::Claim;
use super::compared::names::SharedNames;
use super::compared::rows::Category;
use super::compared::{Compared, ComparedWords, PeakOfSide, RunSide};
use super::conclusion::Conclusion;
use super::cores::CoresAtStep;
use super::evidence::Place;
use super::first_sight::FirstSight;
use super::insights::Insights;
use super::joined_logs::MessagePlace;
use super::modules::ModuleOfRun;
use super::need::Need;
use super::peak::{MemoryTotals, PeakOfRun};
use super::report_answers::{GROUPINGS, alive_in_report, alive_rows_of_report, peak_of_report};
use super::report_arenas::{ReportArenas, device_titles, first_device};
use super::room::Room;
use super::section::{OwnFacts, Section};
use super::variable_details::{VariableBrief, VariableDetails};
use super::verdict::Verdict;
use crate::analysis::areas::{areas_of_report, groupings_of_report};
use crate::analysis::comparison::fact_groups::TitledFacts;
use crate::analysis::comparison::landmarks::Landmark;
use crate::analysis::comparison::report_facts;
use crate::analysis::derived::Derived;
use crate::analysis::execution::Executed;
use crate::analysis::liveness::Scope;
use crate::analysis::program::modules::ModelPlace;
use crate::analysis::program::report_options::options;
use crate::analysis::sweep::{NEEDED, PEAK, SweepFacts, SweepFigure, TOTAL};
use crate::diagnose::Finding;
use crate::format::{Error, ErrorKind};
use crate::progress::Progress;
use crate::store::placed::ReadError;
use crate::store::{ArenaId, DeviceId, StepId, UnloweredId};

/// What a run answers. Every method has a default that answers nothing, so a system implements what it has.
///
/// All of them may take long and belong on a thread beside the window; [`Derived`] keeps what was worked out.
pub trait Answers: Any + Debug + Send + Sync {
    /// What the files of the run alone say of whether it fits, or how it ended, in the system's own words; `None` where
    /// nothing in it says so. [`Derived::verdict`] is what everybody asks.
    fn verdict(&self, derived: &Derived) -> Option<Verdict> {
        let _ = derived;
        None
    }

    /// The verdict with what follows and what to try next.
    ///
    /// # Errors
    /// When files behind the run cannot be read any more.
    fn insights(&self, derived: &Derived, progress: &Progress) -> Result<Insights, ReadError> {
        let _ = progress;
        Ok(Insights { verdict: self.verdict(derived), ..Insights::default() })
    }

    /// The same with what the first pages show beside it; `size` writes bytes. Where it `is_final` nothing more comes of
    /// what it goes by; else it takes what is there, and no time.
    fn first_sight(
        &self,
        derived: &Derived,
        is_final: bool,
        progress: &Progress,
        size: &dyn Fn(u64) -> String,
    ) -> FirstSight {
        let _ = size;
        FirstSight::of_answers(derived, is_final, progress)
    }

    /// Whether the answers go by no part of the report, so that nothing of it has to be read before they are asked for.
    fn are_beside_report(&self) -> bool {
        false
    }

    /// The memory that the run takes.
    fn memory(&self, derived: &Derived) -> MemoryTotals {
        let _ = derived;
        MemoryTotals::default()
    }

    /// The steps of the run; `None` where it has none.
    fn steps(&self, derived: &Derived) -> Option<u64> {
        derived.report().steps.get().map(|steps| steps.ids.len() as u64)
    }

    /// The peak and who owns it; `None` where the run does not say.
    fn peak(&self, derived: &Derived) -> Option<PeakOfRun> {
        peak_of_report(derived)
    }

    /// How much is alive at that peak, where nobody asks what.
    fn peak_size(&self, derived: &Derived) -> Option<PeakOfSide> {
        self.peak(derived).map(|PeakOfRun { bytes, always_live_bytes, step, .. }| PeakOfSide {
            bytes,
            not_always_live_bytes: bytes.saturating_sub(always_live_bytes.unwrap_or(0)),
            step,
        })
    }

    /// Where devices have memories of their own, of which no sum is a memory: the one that the run is about. Each then
    /// counts its steps from its own first.
    fn first_device(&self, derived: &Derived) -> Option<DeviceId> {
        let _ = derived;
        None
    }

    /// What the curve of a scope can be split by, the usual one first.
    fn groupings(&self, derived: &Derived, scope: Scope) -> Vec<AreasBy> {
        groupings_of_report(derived.report(), scope)
    }

    /// The curve of a scope as areas over the steps of the report, which add up to it; `None` where that cannot be told,
    /// or when it was canceled.
    fn areas(
        &self,
        derived: &Derived,
        of: AreasOf,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<StackedAreas> {
        areas_of_report(derived, of, is_cancelled)
    }

    /// What is drawn beside the curve of a scope. `has_all_lines` is not wanted where several runs share a picture.
    fn beside_curve(&self, derived: &Derived, scope: Scope, has_all_lines: bool) -> BesideCurve {
        let _ = (derived, scope, has_all_lines);
        BesideCurve::default()
    }

    /// The curves of other devices, where each has memory and steps of its own, over the steps of that of a scope: aligned
    /// by their own numbers.
    fn other_curves(&self, derived: &Derived, scope: Scope) -> Vec<CurveLine> {
        let _ = (derived, scope);
        Vec::new()
    }

    /// Where parts of the program begin and end, by names that mean the same in another run; of the device that the run is
    /// about, where each has steps of its own. Nothing where steps themselves are matched.
    fn landmarks(&self, derived: &Derived) -> Vec<Landmark> {
        let _ = derived;
        Vec::new()
    }

    /// When each step of a scope was, microseconds from the first, never descending; `None` where the run does not say.
    fn step_times(&self, derived: &Derived, scope: Scope) -> Option<Vec<u64>> {
        let _ = (derived, scope);
        None
    }

    /// What a step of a scope did, as far as the report does not say it.
    fn step_said(&self, derived: &Derived, scope: Scope, step: usize) -> Option<StepSaid> {
        let _ = (derived, scope, step);
        None
    }

    /// What bytes that are alive in a scope can be put together by.
    fn alive_groupings(&self, derived: &Derived, scope: Scope) -> Vec<AliveBy> {
        let _ = (derived, scope);
        GROUPINGS.to_vec()
    }

    /// What lists say of variables of the report, in their order; empty where a system says nothing here.
    fn variable_briefs(&self, derived: &Derived, variables: &[UnloweredId]) -> Vec<VariableBrief> {
        let _ = (derived, variables);
        Vec::new()
    }

    /// All that is known of variables of the report, in their order; empty where a system says nothing of them here.
    fn variable_details(
        &self,
        derived: &Derived,
        variables: &[UnloweredId],
    ) -> Vec<VariableDetails> {
        let _ = (derived, variables);
        Vec::new()
    }

    /// The variables that are alive at a step; `None` where they are not known.
    fn alive(&self, derived: &Derived, at: &StepBytes) -> Option<AliveVariables> {
        alive_in_report(derived, at)
    }

    /// What is alive at a step by groups, as far as that is known.
    fn alive_rows(&self, derived: &Derived, at: &StepBytes, by: AliveBy) -> Vec<GroupBytes> {
        alive_rows_of_report(derived, at, by)
    }

    /// Whether [`Self::allocations`] has an answer.
    fn has_allocations(&self) -> bool {
        false
    }

    /// The allocations of a scope that are alive at a step, or all of them; `None` where the run has no list of them, or
    /// when it was canceled.
    fn allocations(
        &self,
        derived: &Derived,
        scope: Scope,
        step: Option<usize>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Arc<dyn Allocations>> {
        let _ = (derived, scope, step, is_cancelled);
        None
    }

    /// The devices whose arenas are drawn side by side, by what they are called; none of a run that has no such map.
    fn arena_maps(&self, derived: &Derived) -> Vec<String> {
        device_titles(derived.report())
    }

    /// Of these devices the one that is shown first, a place; with an arena that is selected the one that it is of.
    fn first_arena_map(&self, derived: &Derived, selected: Option<ArenaId>) -> usize {
        first_device(derived.report(), selected)
    }

    /// Whether these maps go by no part of the report. Then they are there before all else, and are shown first.
    fn are_arena_maps_beside_report(&self) -> bool {
        false
    }

    /// The arenas of one of these devices side by side; `None` where they cannot be read, or when it was canceled.
    fn arena_map(
        &self,
        derived: &Derived,
        of: &ArenasOf,
        progress: &Progress,
    ) -> Option<Arc<dyn ArenaMap>> {
        Some(Arc::new(ReportArenas::of(derived, of, progress)?))
    }

    /// The calls of the run, where each step is one call; `None` where steps are something else.
    fn calls(&self, derived: &Derived) -> Option<CallList> {
        let _ = derived;
        None
    }

    /// Whether [`Self::cores`] has an answer.
    fn has_cores(&self) -> bool {
        false
    }

    /// What each core of the chips holds at a step, or at the one at which most is in use; `None` where the run has no such
    /// cores or step, or when it was canceled. It may read files.
    fn cores(
        &self,
        derived: &Derived,
        step: Option<usize>,
        progress: &Progress,
    ) -> Option<CoresAtStep> {
        let _ = (derived, step, progress);
        None
    }

    /// What the producer states beside what comes out here.
    fn claims(&self, derived: &Derived) -> Vec<Claim> {
        let _ = derived;
        Vec::new()
    }

    /// Facts of the run in groups, in the order in which they are shown: what is known now. The default is what its report says.
    fn fact_groups(&self, derived: &Derived) -> Vec<TitledFacts> {
        report_facts::groups(&derived.with_known_timeline(Scope::Everything))
    }

    /// The form of the files, and who wrote them: `memory snapshot`, `PyTorch 2.9`.
    fn format(&self, derived: &Derived) -> SourceFormat {
        let _ = derived;
        SourceFormat::default()
    }

    /// What only this system says, for people: sections of the terminal's summary, in their order.
    fn sections(&self, derived: &Derived, insights: &Insights) -> Vec<Section> {
        let _ = (derived, insights);
        Vec::new()
    }

    /// What only this system says, for programs: the section of the JSON document that is named after the system.
    fn own_json<'a>(&'a self, derived: &'a Derived) -> Option<OwnFacts<'a>> {
        let _ = derived;
        None
    }

    /// The modules at the path of the run, the one that is open first; empty where runs have none.
    fn modules(&self) -> &[ModuleOfRun] {
        &[]
    }

    /// The position of a place's step among the steps of the report; `None` where it names none that is there.
    fn step_position(&self, derived: &Derived, place: &Place) -> Option<usize> {
        let step = u32::try_from(place.step?).ok()?;
        derived.report().steps.get()?.ids.position(StepId(step))
    }

    /// Where this run has what a message of a log is about; `None` where nothing says that it is about this run.
    fn message_place(&self, derived: &Derived, finding: &Finding) -> Option<MessagePlace> {
        let _ = (derived, finding);
        None
    }

    /// The devices that have memory, with what they are called, by their numbers.
    fn devices(&self, derived: &Derived) -> BTreeMap<i64, String> {
        let _ = derived;
        BTreeMap::new()
    }

    /// The name of an operation without what differs from one release of its producer to the next; `None` where names are
    /// as they are in every release.
    fn matched_name<'a>(&self, name: &'a str) -> Option<Cow<'a, str>> {
        let _ = name;
        None
    }

    /// Where in the model an operation of this name stands.
    fn model_place(&self, operation: &str) -> ModelPlace {
        ModelPlace::of(operation)
    }

    /// Whether maps are colored by layer until another coloring is chosen, because categories tell little there.
    fn are_maps_by_layer(&self) -> bool {
        false
    }

    /// The category of the name that [`Self::alive`] gives, where comparisons by peaks tell them apart.
    fn compared_category(&self, name: &str) -> Option<Category> {
        let _ = name;
        None
    }

    /// How runs of the system are compared, and in which words.
    fn compared_words(&self) -> &'static ComparedWords {
        &ComparedWords::GENERAL
    }

    /// What the run brings into a comparison: of a device, or of the one that says most; where steps are matched, of all
    /// devices together. `None` where it has nothing that could be compared.
    ///
    /// # Errors
    /// When it does not have the device, or nothing that could be compared.
    fn compared_side(
        &self,
        derived: &Derived,
        device: Option<i64>,
        names: &mut SharedNames,
    ) -> Result<Option<RunSide>, Error> {
        let _ = device;
        if derived.report().system.are_steps_matched {
            return Ok(Some(RunSide::of_report(derived)));
        }
        Ok(RunSide::of_answers(derived, names))
    }

    /// What follows from a comparison of which this run is the source, beside whether the runs fit; `size` writes bytes.
    fn change_conclusions(
        &self,
        compared: &Compared,
        size: &dyn Fn(u64) -> String,
    ) -> Vec<Conclusion> {
        compared.peak_change(size).into_iter().collect()
    }

    /// Why the runs of a comparison should not be beside each other.
    fn change_warnings(&self, compared: &Compared) -> Vec<String> {
        let _ = compared;
        Vec::new()
    }

    /// What only this system says of two runs, for programs.
    fn change_json(&self, compared: &Compared, room: Room) -> Map<String, Value> {
        let _ = (compared, room);
        Map::new()
    }

    /// What the run brings into a table of many, but for its verdict: of a device, or of the one that says most.
    ///
    /// # Errors
    /// `usage` when it does not have the device.
    fn sweep_facts(&self, derived: &Derived, device: Option<i64>) -> Result<SweepFacts, Error> {
        let _ = device;
        let options = options(derived.report());
        let kinds = options.iter().map(|option| option.kind).collect();
        let need = self.need(derived, None)?;
        let figures = vec![
            SweepFigure::count(&NEEDED, need.bytes).at_least(need.at_least.is_some()),
            SweepFigure::count(&TOTAL, self.memory(derived).total_bytes),
            SweepFigure::count(&PEAK, self.peak_size(derived).map(|peak| peak.bytes)),
        ];
        let (devices, is_whole) = (self.devices(derived), true);
        let facts = SweepFacts::default();
        Ok(SweepFacts { figures, options, kinds, devices, is_whole, ..facts })
    }

    /// What the run needs: of a device, or of the one that says most.
    ///
    /// # Errors
    /// `usage` when it does not have the device, or nothing says what one of them needs.
    fn need(&self, derived: &Derived, device: Option<i64>) -> Result<Need, Error> {
        if let Some(device) = device {
            let message = format!("the figures of this run are of all devices, not of {device}");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let verdict = self.verdict(derived).unwrap_or_default();
        let peak = || self.peak_size(derived).map(|peak| peak.bytes);
        let bytes = verdict.used_bytes.or_else(peak);
        Ok(Need { bytes, ..Need::of_verdict(&verdict) })
    }

    /// The devices of which each must be within a budget; one that says nothing of them has a single one, itself.
    fn devices_to_check(&self, derived: &Derived) -> Vec<Option<i64>> {
        let _ = derived;
        vec![None]
    }

    /// What budgets are held against: of a device, or of the one that says most.
    ///
    /// # Errors
    /// When it does not have the device, or nothing that has a budget.
    fn budgets(&self, derived: &Derived, device: Option<i64>) -> Result<BudgetFacts, Error> {
        Ok(BudgetFacts::of_answers(derived, self.need(derived, device)?))
    }

    /// What contradicts itself in the steps that ran, which are read when somebody asks for them.
    fn contradictions_of_trace(&self, executed: Executed<'_>) -> Vec<String> {
        let _ = executed;
        Vec::new()
    }

    /// Things beside the report that a look at all of them goes through, which says how long that takes.
    fn things_beside_report(&self) -> usize {
        0
    }
}

/// The form of a run's files, and who wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFormat {
    /// What the files are: `memory snapshot`, `HLO module`, `3.8.0`.
    pub format: Option<String>,
    /// Who wrote them, with the version.
    pub producer: Option<String>,
    /// When, as text.
    pub captured_at: Option<String>,
}
