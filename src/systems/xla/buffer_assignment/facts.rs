//! The figures of a module, with the keys of the command's section `xla` (cli.md, Other systems).

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::analysed::Analysed;
use super::heap_trace::{ReplayedTrace, replay, traces_by_allocation};
use super::in_use::{self, CurveChanges, PlacedValue};
use super::shares::shares_at;
use crate::store::hlo::{
    AllocationKind, BufferAllocation, HeapTrace, HloModule, Platform, ValueId,
};

/// Values of the peak that are named.
const TOP: usize = 5;

/// Bytes by the number of a color.
pub type ByColor = BTreeMap<i64, u64>;

/// Temporary allocations of a JSON document. A module has one of each memory space, and of some platforms a few hundred.
const TEMPORARY_IN_JSON: usize = 10_000;

fn first_temporary<S: Serializer>(rows: &[TemporaryFacts], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(rows.iter().take(TEMPORARY_IN_JSON))
}

/// The figures of a module.
#[derive(Debug, Serialize)]
pub struct ModuleFacts {
    /// What it was compiled for.
    pub platform: Option<&'static str>,
    /// Length of the schedule.
    pub steps: Option<u32>,
    /// Number of allocations.
    pub allocations: usize,
    /// Number of values that have a place.
    pub values: usize,
    /// Number of values that live at positions of the schedule.
    pub values_with_live_range: Option<usize>,
    /// Of all allocations.
    pub total_bytes: u64,
    /// The same by color.
    pub bytes_by_color: ByColor,
    /// The same by kind.
    pub bytes_by_kind: BTreeMap<&'static str, u64>,
    /// Parameters.
    pub parameters: ParameterFacts,
    /// Each temporary allocation, by color and number. JSON has the first of many.
    #[serde(serialize_with = "first_temporary")]
    pub temp: Vec<TemporaryFacts>,
    /// The number of those that JSON leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_temp: Option<usize>,
    /// All but temporary allocations, by color.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_throughout_by_color: Option<ByColor>,
    /// Results whose memory a parameter could give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub donatable_bytes: Option<u64>,
    /// By color, without thread-local allocations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_use: Option<BTreeMap<i64, InUse>>,
}

/// Parameters of the program.
#[derive(Debug, Default, Serialize)]
pub struct ParameterFacts {
    /// Number of their allocations.
    pub allocations: usize,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes of those that results take over.
    pub donated_bytes: u64,
}

/// A temporary allocation.
#[derive(Debug, Serialize)]
pub struct TemporaryFacts {
    /// Its number.
    pub allocation: i64,
    /// Its memory space.
    pub color: i64,
    /// Bytes.
    pub bytes: u64,
    /// Number of values that have a place in it.
    pub values: usize,
    /// Its peak; absent where the order of instructions is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<PeakFacts>,
    /// What XLA's own simulation comes to.
    pub heap_trace: Option<TraceFacts>,
}

/// The peak of an allocation.
#[derive(Debug, Serialize)]
pub struct PeakFacts {
    /// Bytes in use.
    pub bytes: u64,
    /// All positions at which it is reached, as ranges with both ends included.
    pub positions: Vec<(u32, u32)>,
    /// The first of them.
    pub first: u32,
    /// The instruction there.
    pub instruction: Option<String>,
    /// Number of values that live there.
    pub live_values: usize,
    /// Sum of their sizes, which may exceed the peak.
    pub sum_of_sizes: u64,
    /// The allocation less the peak.
    pub lost_bytes: u64,
    /// Number of gaps between what is in use.
    pub holes: usize,
    /// Padding of the values that live there.
    pub padding_bytes: u64,
    /// The largest of them.
    pub top: Vec<LiveValue>,
}

/// A value that lives at a peak.
#[derive(Clone, Debug, Serialize)]
pub struct LiveValue {
    /// Its name.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// Its first byte within the allocation.
    pub offset: u64,
    /// The first position at which it lives.
    pub start: u32,
    /// The last.
    pub end: u32,
    /// Its shape.
    pub shape: String,
    /// Bytes without padding.
    pub unpadded_bytes: Option<u64>,
    /// Path of its operation.
    pub op_name: Option<String>,
    /// `file:line`.
    pub source: Option<String>,
}

/// XLA's own simulation.
#[derive(Debug, Serialize)]
pub struct TraceFacts {
    /// Number of events.
    pub events: usize,
    /// Whether they are in the order of the schedule.
    pub whole_module: bool,
    /// The most that it has at once.
    pub peak_bytes: u64,
    /// The event after which it has them first.
    pub peak_event: usize,
    /// The instruction of that event.
    pub instruction: Option<String>,
    /// What it has after the last event.
    pub left_at_end_bytes: u64,
}

/// What is in use of a memory space.
#[derive(Debug, Serialize)]
pub struct InUse {
    /// The most at one position.
    pub peak_bytes: u64,
    /// The positions at which it is reached, as ranges with both ends included.
    pub positions: Vec<(u32, u32)>,
}

impl ModuleFacts {
    /// The figures of a module.
    pub fn of(analysed: &Analysed, platform: Option<Platform>) -> Self {
        let module = &analysed.module;
        let has_schedule = module.has_schedule();
        let (mut bytes_by_color, mut throughout) = (ByColor::new(), ByColor::new());
        let kinds = AllocationKind::ALL.iter().map(|kind| (kind.as_str(), 0));
        let mut bytes_by_kind: BTreeMap<&'static str, u64> = kinds.collect();
        let mut parameters = ParameterFacts::default();
        let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
        let mut total_bytes = 0;
        for allocation in &module.allocations {
            let bytes = allocation.bytes;
            add(&mut total_bytes, bytes);
            add(bytes_by_color.entry(allocation.color).or_default(), bytes);
            add(bytes_by_kind.entry(allocation.kind.as_str()).or_default(), bytes);
            let is_temporary = allocation.kind == AllocationKind::Temporary;
            let reserved = if is_temporary { 0 } else { bytes };
            add(throughout.entry(allocation.color).or_default(), reserved);
            if allocation.kind == AllocationKind::Parameter {
                parameters.allocations += 1;
                add(&mut parameters.bytes, bytes);
                add(&mut parameters.donated_bytes, if allocation.is_donated() { bytes } else { 0 });
            }
        }
        let temp = temporary(analysed);
        Self {
            platform: platform.map(Platform::as_str),
            steps: has_schedule.then(|| analysed.schedule.end()),
            allocations: module.allocations.len(),
            values: module.assigned.len(),
            values_with_live_range: has_schedule.then(|| analysed.ranges.len()),
            total_bytes,
            bytes_by_color,
            bytes_by_kind,
            parameters,
            more_temp: temp.len().checked_sub(TEMPORARY_IN_JSON).filter(|more| *more > 0),
            temp,
            reserved_throughout_by_color: has_schedule.then_some(throughout),
            donatable_bytes: module.entry.is_some().then(|| analysed.donatable_bytes()),
            in_use: has_schedule.then(|| in_use_by_color(analysed)),
        }
    }
}

fn in_use_by_color(analysed: &Analysed) -> BTreeMap<i64, InUse> {
    let mut curves: BTreeMap<i64, Vec<&CurveChanges>> = BTreeMap::new();
    for (allocation, curve) in analysed.module.allocations.iter().zip(&analysed.in_use) {
        if allocation.kind != AllocationKind::ThreadLocal {
            curves.entry(allocation.color).or_default().push(curve);
        }
    }
    let of_color = |curves: Vec<&CurveChanges>| {
        let (peak_bytes, positions) = in_use::peak(&in_use::sum(curves), analysed.schedule.end());
        InUse { peak_bytes, positions }
    };
    curves.into_iter().map(|(color, curves)| (color, of_color(curves))).collect()
}

/// The temporary allocations by color and number.
fn temporary(analysed: &Analysed) -> Vec<TemporaryFacts> {
    let module = &analysed.module;
    let mut counts = vec![0_usize; module.allocations.len()];
    for assigned in &module.assigned {
        if let Some(count) = counts.get_mut(assigned.allocation as usize) {
            *count += 1;
        }
    }
    let traces = traces_by_allocation(module);
    let mut rows: Vec<(u32, &BufferAllocation)> = (0..)
        .zip(&module.allocations)
        .filter(|(_, allocation)| allocation.kind == AllocationKind::Temporary)
        .collect();
    rows.sort_by_key(|(_, allocation)| (allocation.color, allocation.number));
    rows.into_iter()
        .map(|(row, allocation)| TemporaryFacts {
            allocation: allocation.number,
            color: allocation.color,
            bytes: allocation.bytes,
            values: counts.get(row as usize).copied().unwrap_or(0),
            peak: module.has_schedule().then(|| peak_of(analysed, row as usize, allocation.bytes)),
            heap_trace: traces.get(&row).map(|trace| trace_facts(module, trace)),
        })
        .collect()
}

fn trace_facts(module: &HloModule, trace: &HeapTrace) -> TraceFacts {
    let ReplayedTrace { peak_bytes, peak_event, left_at_end_bytes } = replay(module, trace);
    let instruction = trace.events.get(peak_event).map(|event| event.instruction);
    let instruction = instruction.map(|name| module.texts.get(name).to_owned());
    TraceFacts {
        events: trace.events.len(),
        whole_module: trace.is_of_whole_module,
        peak_bytes,
        peak_event,
        instruction,
        left_at_end_bytes,
    }
}

fn peak_of(analysed: &Analysed, row: usize, bytes: u64) -> PeakFacts {
    let module = &analysed.module;
    let (peak_bytes, positions) = in_use::peak(&analysed.in_use[row], analysed.schedule.end());
    let first = positions.first().map_or(0, |(first, _)| *first);
    let mut live: Vec<&PlacedValue> =
        analysed.placed[row].iter().filter(|one| one.range.has(first)).collect();
    let id = |one: &PlacedValue| module.value(one.assigned.value).map_or(0, |value| value.id);
    live.sort_by_key(|one| (std::cmp::Reverse(one.assigned.bytes), one.assigned.offset, id(one)));
    let sum = |of: &dyn Fn(&PlacedValue) -> u64| {
        live.iter().fold(0_u64, |sum, one| sum.saturating_add(of(one)))
    };
    let instruction = analysed.schedule.instructions.get(first as usize);
    PeakFacts {
        bytes: peak_bytes,
        positions,
        first,
        instruction: instruction.map(|id| module.instruction_name(*id).to_owned()),
        live_values: live.len(),
        sum_of_sizes: sum(&|one| one.assigned.bytes),
        lost_bytes: bytes.saturating_sub(peak_bytes),
        holes: holes(&live, bytes),
        padding_bytes: padding_of(module, &shares_at(&analysed.placed[row], first)),
        top: live.iter().take(TOP).map(|one| live_value(module, one)).collect(),
    }
}

/// Of bytes that a value takes those beyond its elements; `None` of tables of tuples and where the type is not known.
pub fn known_padding(module: &HloModule, value: ValueId, bytes: u64) -> Option<u64> {
    let unpadded = module.shapes.unpadded_bytes(module.value_shape(value))?;
    Some(bytes.saturating_sub(unpadded))
}

/// Bytes that a value takes beyond its elements; 0 where that is not known.
pub fn padding_bytes(module: &HloModule, one: &PlacedValue) -> u64 {
    known_padding(module, one.assigned.value, one.assigned.bytes).unwrap_or(0)
}

/// Padding of values that are alive together, as far as their bytes count to them.
pub fn padding_of(module: &HloModule, shares: &[(&PlacedValue, u64)]) -> u64 {
    let padding = shares.iter().map(|(one, bytes)| padding_bytes(module, one).min(*bytes));
    padding.fold(0, u64::saturating_add)
}

/// Number of gaps that a union leaves of an allocation.
fn holes(live: &[&PlacedValue], bytes: u64) -> usize {
    let mut covered: Vec<(u64, u64)> = (live.iter())
        .filter(|one| one.assigned.bytes > 0)
        .map(|one| (one.assigned.offset, one.assigned.offset + one.assigned.bytes))
        .collect();
    covered.sort_unstable();
    let (mut at, mut holes) = (0, 0);
    for (start, end) in covered {
        holes += usize::from(start > at);
        at = at.max(end);
    }
    holes + usize::from(bytes > at)
}

/// A value with what is said of it.
pub fn live_value(module: &HloModule, one: &PlacedValue) -> LiveValue {
    let value = one.assigned.value;
    let instruction = module.value(value).map(|value| value.instruction);
    let shape = module.value_shape(value);
    LiveValue {
        name: module.value_name(value),
        bytes: one.assigned.bytes,
        offset: one.assigned.offset,
        start: one.range.start,
        end: one.range.end,
        shape: module.shapes.whole_title(shape, None),
        unpadded_bytes: module.shapes.unpadded_bytes(shape),
        op_name: instruction.and_then(|id| module.op_name(id)).map(str::to_owned),
        source: instruction.and_then(|id| module.source(id)),
    }
}
