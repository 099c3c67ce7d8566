//! The answers of an XLA module.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::{Map, Value};

use super::alive::{self, by_category, by_owner};
use super::areas;
use super::budgets::{budgets, need};
use super::buffer_assignment::claims::compared_claims;
use super::buffer_assignment::facts::ModuleFacts;
use super::buffer_assignment::insights::{ModuleInsights, PeakOfSpace};
use super::buffer_assignment::program::AnalysedModule;
use super::buffer_assignment::shares::shares_at;
use super::buffer_assignment::trace_lives::TraceLives;
use super::cards::add_cards;
use super::compared;
use super::compared::ComparedModule;
use super::compared::path::plain_path;
use super::fact_groups;
use super::layers::LayersOfPaths;
use super::run::{ErrorText, ModuleTotals, XlaRun};
use super::sections::sections;
use super::sweep_facts::sweep_facts;
use super::variables;
use crate::analysis::comparison::fact_groups::TitledFacts;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::program::modules::ModelPlace;
use crate::analysis::sweep::SweepFacts;
use crate::diagnose::{Finding, XlaCapture};
use crate::format::Error;
use crate::progress::Progress;
use crate::run::answers::SourceFormat;
use crate::run::compared::names::SharedNames;
use crate::run::compared::{ComparedWords, RunSide};
use crate::run::section::keys_of;
use crate::run::{
    AliveBy, AliveVariables, Answers, AreasBy, AreasOf, BesideCurve, BudgetFacts, Claim, Compared,
    Conclusion, FirstSight, GroupBytes, Insights, MemoryTotals, MessagePlace, ModuleOfRun, Need,
    OwnFacts, PeakOfRun, PeakRow, PeakVariable, Place, Room, Section, StackedAreas, StepBytes,
    VariableBrief, VariableDetails, Verdict,
};
use crate::store::UnloweredId;
use crate::store::hlo::{AllocatorFigures, BesideModule, ListedModule, plain_module_name};
use crate::store::names::NameId;
use crate::store::placed::ReadError;
use crate::systems::xla::buffer_assignment::in_use::PlacedValue;
use crate::text::{bytes, exact_bytes};

/// The largest values of the peak that are named.
const MOST_VALUES: usize = 10;

#[derive(Debug)]
pub struct XlaAnswers {
    pub(super) program: Arc<AnalysedModule>,
    /// What XLA said when the program did not fit, where that lies beside it.
    pub(super) error_text: Option<ErrorText>,
    modules: Vec<ModuleOfRun>,
    insights: OnceLock<ModuleInsights>,
    layers: LayersOfPaths,
}

impl XlaAnswers {
    /// Of a run that is open.
    pub fn of(run: &XlaRun) -> Self {
        Self {
            program: run.program.clone(),
            error_text: run.error_text.clone(),
            modules: run.modules.clone(),
            insights: OnceLock::new(),
            layers: LayersOfPaths::of(&run.program),
        }
    }

    /// What the program says at first sight, worked out once.
    fn found(&self) -> &ModuleInsights {
        self.insights.get_or_init(|| ModuleInsights::of(&self.program))
    }
}

/// A module as all systems list it.
pub fn module_of_run(listed: &ListedModule) -> ModuleOfRun {
    let plain_name = listed.module.as_deref().map(|name| plain_module_name(name).to_owned());
    ModuleOfRun {
        key: listed.key.clone(),
        title: listed.title.clone(),
        name: listed.module.clone(),
        plain_name,
        place: listed.place,
        main_bytes: listed.main_bytes,
        allocations: listed.allocations as u64,
    }
}

/// The section `xla` of JSON documents: keys of formats/xla.md.
#[derive(Serialize)]
struct XlaSection<'a> {
    file: String,
    module: Option<String>,
    #[serde(flatten)]
    facts: ModuleFacts,
    modules: &'a [ListedModule],
    device: &'a BesideModule,
    claims: Option<OwnClaims>,
    error_text: Option<Stated>,
    flags: Map<String, Value>,
    /// What allocators did while the profile was recorded in which the module lies.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    allocators: &'a [AllocatorFigures],
}

/// What XLA states of the module beside what comes out of it.
#[derive(Serialize)]
struct OwnClaims {
    figures: Vec<super::buffer_assignment::claims::ModuleClaim>,
    /// The position that XLA takes for the peak.
    moment: Option<u32>,
}

/// What an error text beside the module states: figures of XLA, which has its own definitions of most.
#[derive(Serialize)]
struct Stated {
    file: String,
    #[serde(flatten, serialize_with = "XlaCapture::serialize_of")]
    finding: Finding,
}

impl Answers for XlaAnswers {
    fn verdict(&self, _: &Derived) -> Option<Verdict> {
        self.found().found.verdict.clone()
    }

    fn insights(&self, _: &Derived, _: &Progress) -> Result<Insights, ReadError> {
        Ok(self.found().found.clone())
    }

    fn first_sight(
        &self,
        derived: &Derived,
        is_final: bool,
        progress: &Progress,
        size: &dyn Fn(u64) -> String,
    ) -> FirstSight {
        let mut sight = FirstSight::of_answers(derived, is_final, progress);
        add_cards(&mut sight, self.found(), size);
        sight
    }

    fn are_beside_report(&self) -> bool {
        true
    }

    /// Of the main memory. Gaps are what temporary allocations have that is never in use at once; they are reserved, so
    /// they count.
    fn memory(&self, _: &Derived) -> MemoryTotals {
        let Some(main) = self.found().main_space() else { return MemoryTotals::default() };
        let lost = main.peak.as_ref().map(PeakOfSpace::lost_bytes);
        MemoryTotals {
            total_bytes: Some(main.total_bytes),
            including_gaps_bytes: Some(main.total_bytes),
            gap_bytes: lost,
            always_live_bytes: Some(main.total_bytes.saturating_sub(main.temporary_bytes())),
            ..MemoryTotals::default()
        }
    }

    fn steps(&self, _: &Derived) -> Option<u64> {
        let analysed = &self.program.analysed;
        let facts = analysed.schedule.instructions.len() as u64;
        let traced = || Some(TraceLives::of(analysed)?.trace.events.len() as u64);
        Some(facts).filter(|steps| *steps > 0).or_else(traced)
    }

    fn peak(&self, _: &Derived) -> Option<PeakOfRun> {
        let main = self.found().main_space()?;
        let reserved = alive::reserved(&self.program, 0);
        match &main.peak {
            Some(peak) => Some(self.peak_of(peak, &reserved)),
            None => self.peak_of_trace(&reserved),
        }
    }

    /// The peak of the module, where its figures are those of the message.
    fn message_place(&self, derived: &Derived, finding: &Finding) -> Option<MessagePlace> {
        let agreed = ModuleTotals::of(&self.program).agreement(finding)?;
        let step = self.peak(derived)?.step?;
        let said = format!(
            "The message states {}, and this module has {}: it seems to be about this module",
            bytes(agreed.stated_bytes),
            exact_bytes(agreed.bytes)
        );
        let (device, step) = (Some(0), Some(step));
        let place = Place { device, step, ..Place::default() };
        let title = "the peak in Liveness".to_owned();
        Some(MessagePlace { said, title, place })
    }

    fn groupings(&self, _: &Derived, scope: Scope) -> Vec<AreasBy> {
        areas::groupings(&self.program, &self.layers, scope)
    }

    fn areas(
        &self,
        derived: &Derived,
        of: AreasOf,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<StackedAreas> {
        areas::areas((&self.program, &self.layers), derived, of, is_cancelled)
    }

    fn alive_groupings(&self, _: &Derived, scope: Scope) -> Vec<AliveBy> {
        alive::groupings(&self.layers, scope)
    }

    fn variable_briefs(&self, _: &Derived, variables: &[UnloweredId]) -> Vec<VariableBrief> {
        variables::briefs(&self.program, variables)
    }

    fn variable_details(&self, _: &Derived, variables: &[UnloweredId]) -> Vec<VariableDetails> {
        variables::details(&self.program, variables)
    }

    fn alive(&self, _: &Derived, at: &StepBytes) -> Option<AliveVariables> {
        alive::alive(&self.program, at)
    }

    fn alive_rows(&self, _: &Derived, at: &StepBytes, by: AliveBy) -> Vec<GroupBytes> {
        alive::rows(&self.program, &self.layers, at, by)
    }

    fn beside_curve(&self, derived: &Derived, scope: Scope, has_all_lines: bool) -> BesideCurve {
        let of = (&*self.program, &self.layers);
        areas::beside_curve(of, derived, scope, has_all_lines)
    }

    fn claims(&self, _: &Derived) -> Vec<Claim> {
        let claim = |one: super::buffer_assignment::claims::ModuleClaim| Claim {
            name: one.title(|color| self.program.color_title(color)),
            stated: one.claimed_bytes,
            ours: one.bytes,
            agrees: one.agrees,
            file: one.file,
        };
        compared_claims(&self.program).into_iter().map(claim).collect()
    }

    fn fact_groups(&self, _: &Derived) -> Vec<TitledFacts> {
        fact_groups::groups(&self.program, self.found())
    }

    fn format(&self, _: &Derived) -> SourceFormat {
        SourceFormat { format: Some(self.program.format().to_owned()), ..SourceFormat::default() }
    }

    fn modules(&self) -> &[ModuleOfRun] {
        &self.modules
    }

    fn sections(&self, _: &Derived, _: &Insights) -> Vec<Section> {
        sections(self)
    }

    fn own_json<'a>(&'a self, _: &'a Derived) -> Option<OwnFacts<'a>> {
        let program = &*self.program;
        let figures = compared_claims(program);
        let moment = program.claims.moment;
        let listed = program.modules.first();
        let facts = XlaSection {
            file: listed.map(|one| one.file.clone()).unwrap_or_default(),
            module: listed.and_then(|one| one.module.clone()),
            facts: ModuleFacts::of(&program.analysed, program.platform),
            modules: &program.modules,
            device: &program.beside,
            allocators: program.beside.allocators(),
            claims: (!figures.is_empty() || moment.is_some())
                .then_some(OwnClaims { figures, moment }),
            error_text: (self.error_text.as_ref())
                .map(|text| Stated { file: text.file(), finding: text.finding.clone() }),
            flags: (program.beside.flags.iter())
                .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
                .collect(),
        };
        Some(Box::new(keys_of(&facts)))
    }

    fn devices(&self, _: &Derived) -> BTreeMap<i64, String> {
        let colors = self.program.analysed.colors();
        colors.map(|color| (color, self.program.color_title(color))).collect()
    }

    fn matched_name<'a>(&self, name: &'a str) -> Option<Cow<'a, str>> {
        Some(plain_path(name))
    }

    fn model_place(&self, operation: &str) -> ModelPlace {
        self.layers.place(operation)
    }

    fn are_maps_by_layer(&self) -> bool {
        self.layers.has_several
    }

    fn compared_words(&self) -> &'static ComparedWords {
        &compared::WORDS
    }

    /// Of a memory space, or of the main memory.
    fn compared_side(
        &self,
        _: &Derived,
        device: Option<i64>,
        names: &mut SharedNames,
    ) -> Result<Option<RunSide>, Error> {
        let color = device.unwrap_or(0);
        let side = compared::side(&self.program, color, names);
        side.map(Some).ok_or_else(|| self.program.no_such_space(color))
    }

    fn change_conclusions(
        &self,
        compared: &Compared,
        size: &dyn Fn(u64) -> String,
    ) -> Vec<Conclusion> {
        compared::change_conclusions(compared, size)
    }

    fn change_warnings(&self, compared: &Compared) -> Vec<String> {
        compared::change_warnings(compared)
    }

    fn change_json(&self, compared: &Compared, room: Room) -> Map<String, Value> {
        compared::change_json(compared, room)
    }

    /// Of a memory space, or of the main memory.
    fn sweep_facts(&self, derived: &Derived, device: Option<i64>) -> Result<SweepFacts, Error> {
        let color = device.unwrap_or(0);
        let side = ComparedModule::of(&self.program, color);
        let side = side.ok_or_else(|| self.program.no_such_space(color))?;
        let facts = sweep_facts(&side, &self.program.beside.flags);
        Ok(SweepFacts { devices: self.devices(derived), ..facts })
    }

    fn need(&self, _: &Derived, device: Option<i64>) -> Result<Need, Error> {
        let found = need(&self.program, device);
        found.ok_or_else(|| self.program.no_such_space(device.unwrap_or(0)))
    }

    fn budgets(&self, _: &Derived, device: Option<i64>) -> Result<BudgetFacts, Error> {
        let found = budgets(&self.program, device);
        found.ok_or_else(|| self.program.no_such_space(device.unwrap_or(0)))
    }

    fn things_beside_report(&self) -> usize {
        let module = &self.program.analysed.module;
        module.instructions.len().saturating_add(module.values.len())
    }
}

impl XlaAnswers {
    /// The peak where the order of instructions is known.
    fn peak_of(&self, of: &PeakOfSpace, reserved: &[PeakRow]) -> PeakOfRun {
        let peak = &of.at;
        let analysed = &self.program.analysed;
        let module = &analysed.module;
        let instruction = analysed.schedule.instructions.get(peak.position as usize).copied();
        let shares = analysed.shares_at(0, peak.position);
        let always_live = sum(reserved);
        PeakOfRun {
            device: Some(0),
            step: Some(peak.position.into()),
            kind: instruction
                .map(|id| module.opcode(id).to_owned())
                .filter(|kind| !kind.is_empty()),
            name: instruction.map(|id| module.instruction_name(id).to_owned()),
            operation: instruction
                .and_then(|id| module.nearest_operation(id))
                .map(|name| module.texts.get(name).to_owned()),
            operation_by_operand: instruction.is_some_and(|id| module.is_operation_by_operand(id)),
            stack: instruction.map_or_else(Vec::new, |id| {
                let stack = module.stack(id);
                if stack.is_empty() { module.source(id).into_iter().collect() } else { stack }
            }),
            bytes: peak.bytes.saturating_add(always_live),
            always_live_bytes: Some(always_live),
            by_category: by_category(&of.by_category, reserved),
            by_operation: by_owner(&of.by_operation, reserved),
            by_module: Vec::new(),
            by_line: by_owner(&of.by_source, reserved),
            largest: self.largest(shares),
        }
    }

    /// The peak where no instructions are known, by XLA's own simulation, whose events are the steps; `None` where
    /// nothing is ever in use.
    fn peak_of_trace(&self, reserved: &[PeakRow]) -> Option<PeakOfRun> {
        let analysed = &self.program.analysed;
        let traced = TraceLives::of(analysed)?;
        let (bytes, step) = traced.peak();
        let event = traced.trace.events.get(step as usize).filter(|_| bytes > 0)?;
        let name = analysed.module.texts.get(event.instruction);
        let shares = shares_at(&traced.placed, step);
        let owners = |by| analysed.owners(&shares, by);
        let always_live = sum(reserved);
        Some(PeakOfRun {
            device: Some(0),
            step: Some(step.into()),
            kind: Some(event.kind.as_str().to_owned()),
            name: (event.instruction != NameId::NONE).then(|| name.to_owned()),
            bytes: bytes.saturating_add(always_live),
            always_live_bytes: Some(always_live),
            by_category: by_category(&owners(AliveBy::Category), reserved),
            by_operation: by_owner(&owners(AliveBy::Operation), reserved),
            largest: self.largest(shares),
            ..PeakOfRun::default()
        })
    }

    /// The values with most bytes that count to them, of equals the first names.
    fn largest(&self, shares: Vec<(&PlacedValue, u64)>) -> Vec<PeakVariable> {
        let analysed = &self.program.analysed;
        let variable = |(one, bytes): (&PlacedValue, u64)| PeakVariable {
            name: self.program.value_name(one.assigned.value),
            bytes,
            category: Some(analysed.category(&one.assigned).as_str().to_owned()),
            operation: analysed.operation(one.assigned.value).map(str::to_owned),
        };
        let counted = shares.into_iter().filter(|(_, bytes)| *bytes > 0);
        let mut named: Vec<PeakVariable> = counted.map(variable).collect();
        named.sort_by(|one, other| {
            (other.bytes.cmp(&one.bytes)).then_with(|| one.name.cmp(&other.name))
        });
        named.truncate(MOST_VALUES);
        named
    }
}

fn sum(rows: &[PeakRow]) -> u64 {
    rows.iter().fold(0, |sum, row| sum.saturating_add(row.bytes))
}
