//! The answers of a record.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::block_list::RecordedBlocks;
use super::cards::add_cards;
use super::insights::{insights, nanoseconds_text, need, percent_text, verdict};
use super::report::{DEVICE, FORMAT};
use super::{MOST_OF_TABLE, OpenRecord, allocators_section};
use crate::analysis::areas::{AreaGroups, Counted, NOT_ATTRIBUTABLE, stacked};
use crate::analysis::comparison::fact_groups::{
    Statements, TitledFacts, count, push, sized, sized_with, words,
};
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::program::modules::StepSpans;
use crate::format::{Error, ErrorKind};
use crate::progress::Progress;
use crate::run::allocations::CodeFrame;
use crate::run::answers::SourceFormat;
use crate::run::areas::AreaGroup;
use crate::run::beside_curve::StepBand;
use crate::run::section::keys_of;
use crate::run::{
    AliveBy, Allocations, Answers, AreasBy, AreasOf, BesideCurve, Cell, CurveLine, FirstSight,
    Insights, MemoryTotals, ModuleOfRun, Need, OwnFacts, Section, StackedAreas, StepSaid, Verdict,
};
use crate::store::hlo::{AllocatorEvent, AllocatorFigures};
use crate::store::placed::ReadError;
use crate::text::{bytes, clean, grouped};

/// The answers of an open record.
#[derive(Debug)]
pub(super) struct RecordAnswers {
    open: Arc<OpenRecord>,
}

/// The section `xla` of JSON documents.
#[derive(Serialize)]
struct RecordSection<'a> {
    file: &'a str,
    module: Option<()>,
    allocators: [&'a AllocatorFigures; 1],
}

impl RecordAnswers {
    pub(super) fn of(open: OpenRecord) -> Self {
        Self { open: Arc::new(open) }
    }

    /// Whether a scope is that of the record: there is but one curve.
    fn is_curve(scope: Scope) -> bool {
        matches!(scope, Scope::Everything | Scope::Device(_))
    }

    fn said_of(&self, step: usize, event: &AllocatorEvent) -> StepSaid {
        let open = &self.open;
        let record = &open.record;
        let mut facts: Vec<(&'static str, Cell)> = Vec::new();
        let text = |text: String| Cell::Text(text);
        facts.push(("In use", Cell::Bytes(event.in_use_bytes)));
        let mut bytes_of = |name, bytes: Option<u64>| {
            facts.extend(bytes.map(|bytes| (name, Cell::Bytes(bytes))));
        };
        bytes_of("Available", event.available_bytes);
        bytes_of("Asked", event.requested_bytes);
        bytes_of("Block", event.block_bytes);
        bytes_of("Peak of the process", event.peak_bytes);
        if let Some(fragmentation) = event.fragmentation {
            facts.push(("Fragmentation", text(percent_text(fragmentation))));
        }
        facts.push(("Time", text(nanoseconds_text(event.time_ns))));
        facts.extend(event.address.map(|address| ("Address", text(format!("{address:#x}")))));
        let place = u32::try_from(step).ok();
        let block = open.blocks.iter().flatten().find(|block| {
            if event.is_allocation {
                block.from == place
            } else {
                Some(block.to) == place && Some(block.bytes) == event.block_bytes
            }
        });
        if let Some(block) = block {
            facts.push(("Lives", text(open.life_text(block))));
            if !event.is_allocation {
                facts.push(("Allocated for", text(open.title(block).to_owned())));
            }
        }
        facts.extend(record.text(event.operation).map(|of| ("Operation", text(of.to_owned()))));
        facts.extend(record.text(event.shape).map(|shape| ("Shape", text(shape.to_owned()))));
        if let Some(program) = record.text(event.program) {
            let reserved = open.program_bytes(program);
            let reserved =
                reserved.map_or_else(String::new, |of| format!(", reserves {}", bytes(of)));
            facts.push(("Program", text(format!("{program}{reserved}"))));
        }
        let frame =
            |name: &str| CodeFrame { title: name.to_owned(), is_own: true, is_in_paths: true };
        StepSaid {
            title: if event.is_allocation { "allocation" } else { "deallocation" }.to_owned(),
            bytes: event.block_bytes,
            facts,
            stack_title: if event.is_allocation { "Asked for in" } else { "Freed in" },
            stack: record.calls_of(event).map(frame).collect(),
            has_stacks: !record.calls.is_empty(),
        }
    }
}

impl Answers for RecordAnswers {
    fn verdict(&self, _: &Derived) -> Option<Verdict> {
        Some(verdict(&self.open))
    }

    fn insights(&self, _: &Derived, _: &Progress) -> Result<Insights, ReadError> {
        Ok(insights(&self.open))
    }

    fn first_sight(
        &self,
        derived: &Derived,
        is_final: bool,
        progress: &Progress,
        size: &dyn Fn(u64) -> String,
    ) -> FirstSight {
        let mut sight = FirstSight::of_answers(derived, is_final, progress);
        add_cards(&mut sight, &self.open, size);
        sight
    }

    /// It ran, whatever else there is for it.
    fn need(&self, _: &Derived, device: Option<i64>) -> Result<Need, Error> {
        match device {
            None | Some(DEVICE) => Ok(need(&self.open)),
            Some(device) => {
                let message = format!("the profile's allocator has no device {device}");
                Err(Error::new(ErrorKind::Usage, message))
            }
        }
    }

    /// At the peak while it was recorded.
    fn memory(&self, _: &Derived) -> MemoryTotals {
        MemoryTotals {
            moment: "the peak while it was recorded",
            total_bytes: Some(self.open.figures.peak_in_use_bytes),
            always_live_bytes: Some(self.open.always_live_bytes()),
            ..MemoryTotals::default()
        }
    }

    fn groupings(&self, _: &Derived, scope: Scope) -> Vec<AreasBy> {
        let has_blocks = Self::is_curve(scope) && self.open.blocks.is_some();
        let by = has_blocks.then_some(AreasBy::Operation);
        by.into_iter().chain([AreasBy::Liveness]).collect()
    }

    fn areas(
        &self,
        derived: &Derived,
        of: AreasOf,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<StackedAreas> {
        let blocks = self.open.blocks.as_ref().filter(|_| of.by == AreasBy::Operation)?;
        let timeline =
            derived.timeline(of.scope, is_cancelled).filter(|_| Self::is_curve(of.scope))?;
        let len = timeline.len();
        let mut groups = AreaGroups::default();
        let mut keys: HashMap<&str, u32> = HashMap::new();
        let mut key = |title| {
            *keys.entry(title).or_insert_with(|| groups.key(AreaGroup::placed(clean(title))))
        };
        let end = u32::try_from(len).unwrap_or(u32::MAX);
        let bytes = self.open.always_live_bytes();
        let mut counted = vec![Counted { steps: 0..end, bytes, key: key(super::BEFORE) }];
        counted.extend(blocks.iter().map(|block| Counted {
            steps: block.events(),
            bytes: block.bytes,
            key: key(self.open.title(block)),
        }));
        let areas = stacked(len, &counted, timeline.peak, |key| groups.get(key));
        Some(areas.up_to(|step| timeline.alive_at(step), len, NOT_ATTRIBUTABLE))
    }

    fn beside_curve(&self, _: &Derived, scope: Scope, _: bool) -> BesideCurve {
        let events = &self.open.record.events;
        let peaks: Option<Vec<u64>> = events.iter().map(|event| event.peak_bytes).collect();
        let line = peaks.filter(|_| Self::is_curve(scope)).map(|bytes| CurveLine {
            title: Cow::Borrowed("Peak of the process"),
            rule: "Most bytes in use since the process began, as the allocator states it at each event",
            bytes,
            ..CurveLine::default()
        });
        let bands = Self::is_curve(scope).then(|| fragmentation_band(events)).flatten();
        BesideCurve {
            lines: line.into_iter().collect(),
            bands: bands.into_iter().collect(),
            ..BesideCurve::default()
        }
    }

    fn step_times(&self, _: &Derived, scope: Scope) -> Option<Vec<u64>> {
        let times = self.open.record.events.iter().map(|event| event.time_ns / 1000);
        Self::is_curve(scope).then(|| times.collect())
    }

    fn step_said(&self, _: &Derived, _: Scope, step: usize) -> Option<StepSaid> {
        Some(self.said_of(step, self.open.record.events.get(step)?))
    }

    fn alive_groupings(&self, _: &Derived, _: Scope) -> Vec<AliveBy> {
        vec![AliveBy::Variable]
    }

    fn has_allocations(&self) -> bool {
        self.open.blocks.is_some()
    }

    fn allocations(
        &self,
        _: &Derived,
        scope: Scope,
        step: Option<usize>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Arc<dyn Allocations>> {
        let list = RecordedBlocks::of(&self.open, step, is_cancelled);
        Some(Arc::new(list.filter(|_| Self::is_curve(scope))?))
    }

    /// Blocks lie far apart.
    fn arena_maps(&self, _: &Derived) -> Vec<String> {
        Vec::new()
    }

    fn fact_groups(&self, _: &Derived) -> Vec<TitledFacts> {
        let figures = &self.open.figures;
        let mut said: Statements = Vec::new();
        push(&mut said, "Allocator", words(clean(&figures.allocator).into_owned()));
        if let Some(device) = &figures.device {
            push(&mut said, "Device", words(clean(device).into_owned()));
        }
        if let Some(memory) = figures.memory_bytes {
            push(&mut said, "Memory of the device", sized(memory));
        }
        if let Some(limit) = figures.limit_bytes {
            push(&mut said, "Limit of the allocator", sized(limit));
        }
        push(&mut said, "Events", count(figures.events));
        push(&mut said, "Recorded", words(nanoseconds_text(figures.duration_ns)));
        push(&mut said, "In use before the first event", sized(figures.first_in_use_bytes));
        let event = grouped(figures.peak_event as u64);
        let peak = sized_with(figures.peak_in_use_bytes, format!(" at event {event}"));
        push(&mut said, "In use, peak", peak);
        push(&mut said, "In use behind the last event", sized(figures.last_in_use_bytes));
        if let Some(peak) = figures.process_peak_bytes {
            push(&mut said, "Peak of the process", sized(peak));
        }
        if let Some(fragmentation) = figures.peak_fragmentation {
            push(&mut said, "Fragmentation at the peak", words(percent_text(fragmentation)));
        }
        vec![(Cow::Borrowed("Allocator"), said)]
    }

    fn format(&self, _: &Derived) -> SourceFormat {
        SourceFormat { format: Some(FORMAT.to_owned()), ..SourceFormat::default() }
    }

    fn sections(&self, _: &Derived, _: &Insights) -> Vec<Section> {
        allocators_section(std::slice::from_ref(&self.open.figures), MOST_OF_TABLE)
            .into_iter()
            .collect()
    }

    fn own_json<'a>(&'a self, _: &'a Derived) -> Option<OwnFacts<'a>> {
        Some(Box::new(keys_of(&RecordSection {
            file: &self.open.file,
            module: None,
            allocators: [&self.open.figures],
        })))
    }

    fn modules(&self) -> &[ModuleOfRun] {
        &self.open.modules
    }

    fn devices(&self, _: &Derived) -> BTreeMap<i64, String> {
        [(DEVICE, self.open.record.name.clone())].into_iter().collect()
    }
}

/// Events in a row with the same fragmentation in tens of percent; `None` where no event states it.
fn fragmentation_band(events: &[AllocatorEvent]) -> Option<StepBand> {
    let mut spans = StepSpans::default();
    for (step, event) in (0_u32..).zip(events) {
        let of_ten = event.fragmentation.map(|part| (part.clamp(0.0, 1.0) * 10.0) as u8);
        spans.add(step, of_ten.map(|of_ten| of_ten.min(9)));
    }
    let title = |of_ten: u8| format!("{}–{} %", of_ten * 10, (of_ten + 1) * 10);
    let parts: Vec<_> =
        spans.done.into_iter().map(|(steps, of_ten)| (steps, title(of_ten))).collect();
    (!parts.is_empty()).then_some(StepBand { title: "Fragmented", parts })
}
