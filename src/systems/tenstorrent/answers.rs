//! The answers of a report of TT-NN.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::areas::{areas, beside_curve, groupings};
use super::budgets::budgets;
use super::call_list::call_list;
use super::cards::add_cards;
use super::compared::{self, ComparedReport};
use super::cores::cores_at;
use super::figures::{figures, settings as settings_of};
use super::insights::insights;
use super::joined_logs::message_place;
use super::memory::facts::{RankView, TtnnFacts};
use super::memory::purposes::BufferPurpose;
use super::recorded::BufferSpace;
use super::run::{
    MemoryOfRank, SCRATCH, TtnnContents, device_titles, is_throughout, main_memory, main_view,
    memory_of_device, scratch_at,
};
use super::sections::sections;
use super::step_said::step_said;
use super::verdict::{BROKE_OFF, INCOMPLETE, decisive_rank, verdict};
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::analysis::comparison::options::OptionText;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::program::report_options::{OptionKind, ReportOption};
use crate::analysis::sweep::{FigureValue, NEEDED, SweepFacts, SweepFigure};
use crate::diagnose::Finding;
use crate::format::{Error, ErrorKind, Progress};
use crate::run::answers::SourceFormat;
use crate::run::areas::{AreasBy, AreasOf, StackedAreas};
use crate::run::beside_curve::{BesideCurve, StepSaid};
use crate::run::calls::CallList;
use crate::run::compared::names::SharedNames;
use crate::run::compared::rows::Category;
use crate::run::compared::{ComparedWords, Own, PeakOfSide, PeakTab, RunSide};
use crate::run::cores::CoresAtStep;
use crate::run::{
    AliveBy, AliveVariable, AliveVariables, Answers, BudgetFacts, Compared, Conclusion, FirstSight,
    GroupBytes, Insights, MemoryTotals, MessagePlace, Need, OwnFacts, PeakOfRun, PeakRow,
    PeakVariable, Room, Section, StepBytes, Verdict,
};
use crate::store::DeviceId;
use crate::store::placed::ReadError;
use crate::text::exact_bytes;

/// How reports are compared: by what is alive at their peaks.
static COMPARED: ComparedWords = ComparedWords {
    no_setting: "No setting of TT-NN differs",
    steps: "operations",
    counted: "buffers",
    detail: "Buffer",
    by_row: "By operation and buffer",
    tabs: [(PeakTab::Rows, "By operation and buffer"), (PeakTab::Owners, "By operation")],
    ..ComparedWords::GENERAL
};

/// A report with what follows from it.
#[derive(Debug)]
pub struct TtnnAnswers(Arc<TtnnContents>, OnceLock<Verdict>);

/// A buffer that is alive, with its name and the operation that allocated it.
struct NamedBuffer<'a> {
    name: String,
    operation: Option<&'a str>,
    line: Option<String>,
    category: &'static str,
    shape: Option<Vec<u64>>,
    bytes: u64,
    is_throughout: bool,
}

impl TtnnAnswers {
    /// The answers from what was read.
    pub fn of(contents: Arc<TtnnContents>) -> Self {
        Self(contents, OnceLock::new())
    }

    /// The verdict, worked out once: every device asks for it.
    fn found(&self) -> &Verdict {
        self.1.get_or_init(|| verdict(&self.0.views()))
    }

    /// The memory of which something is needed, with its rank.
    fn memory_of_need<'a, 'b>(
        views: &'b [RankView<'a>],
        need: &Need,
    ) -> Option<(&'b RankView<'a>, MemoryOfRank)> {
        let memory = match need.device {
            Some(device) => memory_of_device(views, DeviceId::of_number(device)),
            None => main_memory(views),
        }?;
        Some((views.get(memory.rank)?, memory))
    }

    /// The memory that a scope is about.
    fn memory_of(views: &[RankView<'_>], derived: &Derived, scope: Scope) -> Option<MemoryOfRank> {
        match scope.device(derived.report()) {
            Some(device) => memory_of_device(views, device),
            None => main_memory(views),
        }
    }

    /// What is alive in a scope: in a bank with circular buffers where it is L1 of a core.
    fn alive_in<'a, 'b>(
        view: &'b RankView<'a>,
        memory: &MemoryOfRank,
        at: u32,
        scope: Scope,
    ) -> impl Iterator<Item = NamedBuffer<'a>> + use<'a, 'b> {
        let has_scratch = matches!(scope, Scope::Arena(_)) && memory.space == BufferSpace::L1;
        let scratch = has_scratch.then(|| scratch_at(view, at)).flatten();
        let scratch = scratch.into_iter().flat_map(move |scratch| {
            let each = scratch.bytes_beside_buffers(view, at).into_iter();
            each.map(move |bytes| NamedBuffer {
                name: scratch.name.clone(),
                operation: Some(view.operation(at).name),
                line: view.line(at),
                category: SCRATCH,
                shape: None,
                bytes,
                is_throughout: false,
            })
        });
        Self::buffers(view, memory, at).chain(scratch)
    }

    fn buffers<'a, 'b>(
        view: &'b RankView<'a>,
        memory: &MemoryOfRank,
        at: u32,
    ) -> impl Iterator<Item = NamedBuffer<'a>> + use<'a, 'b> {
        view.memory.alive_at(memory.space, at).map(move |(place, life)| {
            let reads = view.memory.reads_of(place);
            NamedBuffer {
                name: view.buffer_name(life, reads),
                operation: life.allocated_by.map(|by| view.operation(by).name),
                line: life.allocated_by.and_then(|by| view.line(by)),
                category: BufferPurpose::of(view, life, reads).key(),
                shape: view.tensor(reads.tensor).0,
                bytes: life.bytes,
                is_throughout: is_throughout(life),
            }
        })
    }

    fn peak_of(view: &RankView<'_>, memory: &MemoryOfRank) -> Option<PeakOfRun> {
        let at = view.memory.peak(memory.space)?;
        let operation = view.operation(at);
        let mut always_live_bytes = 0_u64;
        let [mut by_category, mut by_operation, mut by_line] =
            [(); 3].map(|()| BuffersByName::default());
        let count = view.memory.alive_at(memory.space, at).count();
        let mut largest = Vec::with_capacity(count);
        let has_stacks = view.rank.calls.has_stacks();
        for buffer in Self::buffers(view, memory, at) {
            if buffer.is_throughout {
                always_live_bytes = always_live_bytes.saturating_add(buffer.bytes);
            }
            by_category.add(buffer.category, buffer.bytes);
            by_operation.add(buffer.operation_name(), buffer.bytes);
            if has_stacks {
                by_line.add(buffer.line_name(), buffer.bytes);
            }
            largest.push(PeakVariable {
                name: buffer.name,
                bytes: buffer.bytes,
                category: Some(buffer.category.to_owned()),
                operation: buffer.operation.map(str::to_owned),
            });
        }
        let rows = |groups: BuffersByName| {
            let row = |(name, (bytes, count))| PeakRow { name, bytes, count };
            sorted_by_bytes(groups.0.into_iter().map(row).collect(), |row| row.bytes)
        };
        Some(PeakOfRun {
            device: Some(memory.device().to_number()),
            step: i64::try_from(operation.operation).ok(),
            kind: Some("operation".to_owned()),
            name: Some(operation.name.to_owned()),
            operation: Some(operation.name.to_owned()),
            bytes: view.memory.level(memory.space, at),
            always_live_bytes: Some(always_live_bytes),
            by_category: rows(by_category),
            by_operation: rows(by_operation),
            by_line: rows(by_line),
            stack: view.frames(at).map(|frame| frame.title()).collect(),
            largest: sorted_by_bytes(largest, |one| one.bytes),
            ..PeakOfRun::default()
        })
    }
}

/// What is needed by a verdict. A run that broke off, or is not known in full, may have needed more.
fn need_of(verdict: &Verdict, device: Option<i64>) -> Need {
    let reasons = [BROKE_OFF, INCOMPLETE];
    let at_least = reasons.into_iter().find(|reason| verdict.cause == Some(reason.cause));
    Need { device, at_least, ..Need::of_verdict(verdict) }
}

impl NamedBuffer<'_> {
    /// The name of the operation that allocated it.
    fn operation_name(&self) -> &str {
        self.operation.unwrap_or("before the report")
    }

    /// The line of the user's code that allocated it.
    fn line_name(&self) -> &str {
        self.line.as_deref().unwrap_or("(no line recorded)")
    }
}

/// Bytes and numbers of buffers by group.
#[derive(Default)]
struct BuffersByName(BTreeMap<String, (u64, u64)>);

impl BuffersByName {
    fn add(&mut self, name: &str, more: u64) {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), (0, 0));
        }
        if let Some((bytes, count)) = self.0.get_mut(name) {
            *bytes = bytes.saturating_add(more);
            *count = count.saturating_add(1);
        }
    }
}

fn sorted_by_bytes<T>(mut rows: Vec<T>, bytes: impl Fn(&T) -> u64) -> Vec<T> {
    rows.sort_by_key(|row| std::cmp::Reverse(bytes(row)));
    rows
}

impl Answers for TtnnAnswers {
    fn verdict(&self, _: &Derived) -> Option<Verdict> {
        Some(self.found().clone())
    }

    fn insights(&self, _: &Derived, _: &Progress) -> Result<Insights, ReadError> {
        let views = self.0.views();
        let verdict = self.found().clone();
        let decisive = decisive_rank(&views).and_then(|place| Some((place, views.get(place)?)));
        Ok(decisive.map(|(place, view)| insights(view, place, verdict)).unwrap_or_default())
    }

    /// What held the memory at the last operation, of a report that has nothing of the failure.
    fn message_place(&self, _: &Derived, finding: &Finding) -> Option<MessagePlace> {
        message_place(&self.0.views(), finding)
    }

    fn first_sight(
        &self,
        derived: &Derived,
        is_final: bool,
        progress: &Progress,
        size: &dyn Fn(u64) -> String,
    ) -> FirstSight {
        let mut sight = FirstSight::of_answers(derived, is_final, progress);
        let views = self.0.views();
        if let Some(view) = main_view(&views) {
            add_cards(&mut sight, view, self.peak(derived).as_ref(), size);
        }
        sight
    }

    fn groupings(&self, derived: &Derived, scope: Scope) -> Vec<AreasBy> {
        let views = self.0.views();
        let memory = Self::memory_of(&views, derived, scope);
        memory.and_then(|memory| views.get(memory.rank)).map(groupings).unwrap_or_default()
    }

    fn areas(
        &self,
        derived: &Derived,
        of: AreasOf,
        _: &(dyn Fn() -> bool + Sync),
    ) -> Option<StackedAreas> {
        let views = self.0.views();
        let memory = Self::memory_of(&views, derived, of.scope)?;
        areas(views.get(memory.rank)?, &memory, of)
    }

    fn beside_curve(&self, derived: &Derived, scope: Scope, _: bool) -> BesideCurve {
        let views = self.0.views();
        let memory = Self::memory_of(&views, derived, scope);
        let of = memory.and_then(|memory| Some(beside_curve(views.get(memory.rank)?, &memory)));
        of.unwrap_or_default()
    }

    /// Of L1 of a core at its peak.
    fn memory(&self, derived: &Derived) -> MemoryTotals {
        let peak = self.peak(derived);
        MemoryTotals {
            moment: "at the peak of L1",
            total_bytes: peak.as_ref().map(|peak| peak.bytes),
            always_live_bytes: peak.and_then(|peak| peak.always_live_bytes),
            ..MemoryTotals::default()
        }
    }

    fn first_device(&self, _: &Derived) -> Option<DeviceId> {
        Some(main_memory(&self.0.views())?.device())
    }

    fn peak(&self, _: &Derived) -> Option<PeakOfRun> {
        let views = self.0.views();
        let main = main_memory(&views)?;
        Self::peak_of(views.get(main.rank)?, &main)
    }

    fn alive(&self, derived: &Derived, at: &StepBytes) -> Option<AliveVariables> {
        let views = self.0.views();
        let memory = Self::memory_of(&views, derived, at.scope)?;
        let step = u32::try_from(at.step).ok()?;
        let view = views.get(memory.rank)?;
        let alive = || view.memory.alive_at(memory.space, step);
        let always = alive().filter(|(_, life)| is_throughout(life)).count();
        let mut found = AliveVariables {
            always_live: Vec::with_capacity(always),
            not_always_live: Vec::with_capacity(alive().count().saturating_sub(always)),
        };
        for buffer in Self::alive_in(view, &memory, step, at.scope) {
            let list = if buffer.is_throughout {
                &mut found.always_live
            } else {
                &mut found.not_always_live
            };
            list.push(AliveVariable {
                bytes: buffer.bytes,
                category: Some(buffer.category.into()),
                operation: buffer.operation.map(str::to_owned),
                shape: buffer.shape.map(|shape| format!("{shape:?}")),
                name: buffer.name,
                ..AliveVariable::default()
            });
        }
        Some(found)
    }

    fn alive_groupings(&self, _: &Derived, _: Scope) -> Vec<AliveBy> {
        let mut all = vec![AliveBy::Operation, AliveBy::Category, AliveBy::Variable];
        let has_lines = self.0.recorded.ranks.iter().any(|rank| rank.calls.has_stacks());
        all.extend(has_lines.then_some(AliveBy::Line));
        all
    }

    fn step_said(&self, derived: &Derived, scope: Scope, step: usize) -> Option<StepSaid> {
        let views = self.0.views();
        let memory = Self::memory_of(&views, derived, scope)?;
        Some(step_said(views.get(memory.rank)?, u32::try_from(step).ok()?))
    }

    fn alive_rows(&self, derived: &Derived, at: &StepBytes, by: AliveBy) -> Vec<GroupBytes> {
        let views = self.0.views();
        let memory = Self::memory_of(&views, derived, at.scope);
        let view = memory.and_then(|memory| views.get(memory.rank));
        let (Some(memory), Some(view), Ok(step)) = (memory, view, u32::try_from(at.step)) else {
            return Vec::new();
        };
        let mut groups = BuffersByName::default();
        for buffer in Self::alive_in(view, &memory, step, at.scope) {
            let name = match by {
                AliveBy::Operation => buffer.operation_name(),
                AliveBy::Line => buffer.line_name(),
                AliveBy::Category => buffer.category,
                _ => return Vec::new(),
            };
            groups.add(name, buffer.bytes);
        }
        let row = |(name, (bytes, count)): (String, (u64, u64))| GroupBytes {
            name,
            bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
            count,
        };
        groups.0.into_iter().map(row).collect()
    }

    fn calls(&self, _: &Derived) -> Option<CallList> {
        Some(call_list(&self.0.views()))
    }

    fn has_cores(&self) -> bool {
        let ranks = &self.0.recorded.ranks;
        let devices = ranks.iter().filter_map(|rank| rank.machine.device);
        devices.into_iter().any(|device| device.grid_x > 0 && device.grid_y > 0)
    }

    fn cores(&self, _: &Derived, step: Option<usize>, progress: &Progress) -> Option<CoresAtStep> {
        cores_at(&self.0, step, progress)
    }

    fn format(&self, _: &Derived) -> SourceFormat {
        let recorded = &self.0.recorded;
        let schema = recorded.schema_version.as_deref();
        SourceFormat {
            format: Some(match schema {
                Some(schema) => format!("TT-NN report, schema {schema}"),
                None if recorded.is_capture => "TT-NN capture".to_owned(),
                None => "TT-NN report".to_owned(),
            }),
            producer: recorded.ttnn_version.as_ref().map(|version| format!("TT-NN {version}")),
            captured_at: None,
        }
    }

    /// Of the fullest core, or of that of a device. A run that broke off may have needed more.
    fn need(&self, _: &Derived, device: Option<i64>) -> Result<Need, Error> {
        let views = self.0.views();
        let whole = self.found();
        let of_several = decisive_rank(&views).filter(|_| views.len() > 1);
        let device = device.or_else(|| i64::try_from(of_several?).ok());
        let Some(number) = device else { return Ok(need_of(whole, None)) };
        let found = whole.devices.iter().find(|device| device.device == number);
        if let Some(found) = found.map(Verdict::of_device) {
            return Ok(need_of(&Verdict { used_of: whole.used_of, ..found }, device));
        }
        let other = memory_of_device(&views, DeviceId::of_number(number));
        let other = other.and_then(|memory| Some((memory, views.get(memory.rank)?)));
        let Some((memory, view)) = other else {
            let message = format!(
                "there is no device {number}; L1 of the ranks counts from 0, other spaces follow"
            );
            return Err(Error::new(ErrorKind::Usage, message));
        };
        let bytes = memory.levels(view).max();
        Ok(Need { device, title: memory.title(view), verb: "needs", bytes, ..Need::default() })
    }

    fn devices_to_check(&self, _: &Derived) -> Vec<Option<i64>> {
        match self.0.views().len() {
            0 | 1 => vec![None],
            ranks => (0_i64..).take(ranks).map(Some).collect(),
        }
    }

    fn budgets(&self, derived: &Derived, device: Option<i64>) -> Result<BudgetFacts, Error> {
        let need = self.need(derived, device)?;
        let views = self.0.views();
        Ok(match Self::memory_of_need(&views, &need) {
            Some((view, memory)) => budgets(view, &memory, need),
            None => BudgetFacts { need, ..BudgetFacts::default() },
        })
    }

    fn sweep_facts(&self, derived: &Derived, device: Option<i64>) -> Result<SweepFacts, Error> {
        let need = self.need(derived, device)?;
        let views = self.0.views();
        let view = Self::memory_of_need(&views, &need).map(|(view, _)| view);
        let mut settings = self.0.recorded.release();
        settings.extend(view.map(settings_of).unwrap_or_default());
        let needed = SweepFigure::count(&NEEDED, need.bytes).at_least(need.at_least.is_some());
        let figures = view.map(figures).unwrap_or_default();
        let options = ReportOption::settings(&settings);
        Ok(SweepFacts {
            figures: std::iter::once(needed).chain(figures).collect(),
            kinds: options.first().map(|option| option.kind).into_iter().collect(),
            options,
            devices: self.devices(derived),
            is_whole: view.is_some_and(|view| view.rank.errors.is_empty()),
            ..SweepFacts::default()
        })
    }

    fn sections(&self, _: &Derived, _: &Insights) -> Vec<Section> {
        sections(&self.0.views())
    }

    fn own_json<'a>(&'a self, _: &'a Derived) -> Option<OwnFacts<'a>> {
        Some(Box::new(TtnnFacts::of(&self.0.recorded, &self.0.views())))
    }

    fn devices(&self, derived: &Derived) -> BTreeMap<i64, String> {
        device_titles(derived.report(), &self.0.views())
    }

    fn compared_category(&self, name: &str) -> Option<Category> {
        let all = (0_u8..).zip(BufferPurpose::ALL);
        let mut found = all.filter(|(_, purpose)| purpose.key() == name);
        found.next().map(|(place, of)| Category { place, key: of.key(), title: of.title() })
    }

    fn compared_words(&self) -> &'static ComparedWords {
        &COMPARED
    }

    fn compared_side(
        &self,
        derived: &Derived,
        device: Option<i64>,
        names: &mut SharedNames,
    ) -> Result<Option<RunSide>, Error> {
        if let Some(device) = device {
            let message =
                format!("TT-NN reports are compared by L1 of a core, not by the device {device}");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let side = RunSide::of_answers(derived, names);
        // Where nothing is ever in L1, there is still all the rest.
        let figure = |key, title| Figure::of_run(key, title, Unit::Bytes, Some(0), false);
        let side = side.unwrap_or_else(|| RunSide {
            device: None,
            title: derived.report().system.all_devices.to_owned(),
            peak: Some(PeakOfSide { bytes: 0, not_always_live_bytes: 0, step: None }),
            peak_text: exact_bytes(0),
            always_live_bytes: Some(0),
            figures: vec![figure("peak_bytes", "Peak"), figure("total_bytes", "Total")],
            settings: OptionText::all(derived.report()),
            need: self.need(derived, None).unwrap_or_default(),
            alive: Some(Vec::new()),
            own: Own::new(()),
        });
        let (views, mut compared, mut settings) = (self.0.views(), side.figures, side.settings);
        if let Some(view) = main_view(&views) {
            settings.extend(OptionText::of_kind(OptionKind::Setting, &settings_of(view)));
            let figure = |one: SweepFigure| {
                let bytes = one.value.and_then(FigureValue::count);
                Figure::of_run(one.kind.key, one.kind.title, Unit::Bytes, bytes, false)
            };
            compared.extend(figures(view).into_iter().map(figure));
        }
        let own = Own::new(ComparedReport(Arc::clone(&self.0)));
        Ok(Some(RunSide { figures: compared, settings, own, ..side }))
    }

    fn change_conclusions(
        &self,
        compared: &Compared,
        size: &dyn Fn(u64) -> String,
    ) -> Vec<Conclusion> {
        compared::change_conclusions(compared, size)
    }

    fn change_json(&self, compared: &Compared, _: Room) -> Map<String, Value> {
        compared::change_json(compared)
    }
}
