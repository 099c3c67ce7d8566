//! The report that pages and commands share with other systems, of a module: memory spaces are devices, allocations are
//! arenas, positions of the schedule are steps.
//!
//! Everything except temporary allocations is reserved for as long as the module runs, and so is always live; the curve
//! above it is the union of addresses of what lives in temporary allocations. Values share addresses: beside their sizes
//! stand the bytes that count for each of them at each step, which add up to the curve.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::operations::{Callers, Operations};
use super::programs::AllPrograms;
use super::{AnalysedModule, XlaRun};
use crate::progress::Progress;
use crate::store::arena::Arenas;
use crate::store::hlo::{
    AllocationKind, Assigned, BufferAllocation, HloModule, InstructionId, ValueId,
};
use crate::store::ids::CategoryId;
use crate::store::liveness::{Deltas, Liveness, VariableBytes};
use crate::store::names::Names;
use crate::store::options::{About, EngineOption};
use crate::store::placed::{Placed, Placement, ReadArena, ReadError};
use crate::store::report::Categories;
use crate::store::variable::VariableFlags;
use crate::store::{Absence, ArenaId, ClassId, DeviceId, UnloweredId};
use crate::systems::xla::buffer_assignment::categories::ValueCategory;
use crate::systems::xla::buffer_assignment::in_use::{self, CurveChanges, PlacedValue};
use crate::systems::xla::buffer_assignment::live_ranges::LiveRange;
use crate::systems::xla::buffer_assignment::shares::{ValueShare, shares};
use crate::systems::xla::buffer_assignment::trace_lives::TraceLives;
use crate::systems::xla::compared::path::plain_path;
use crate::text::{bytes, clean};

/// The class of what is there for as long as the program runs.
const THROUGHOUT: ClassId = ClassId(0);

impl XlaRun {
    /// Fills the parts of the report.
    pub fn fill_report(&self, progress: &Progress) {
        let (report, program) = (&*self.report, &self.program);
        let module = &program.analysed.module;
        let flag = |(name, value): &(String, String)| EngineOption {
            name: name.clone(),
            value: value.clone(),
            // A dump has only those that are not as they are by default.
            is_default: Some(false),
        };
        report.about.fill(Some(About {
            format: Some(program.format().to_owned()),
            engine_options: program.beside.flags.iter().map(flag).collect(),
            why_no_phases: Some(Absence::unexplained()),
            ..About::default()
        }));
        report.categories.fill(Some(named_categories()));
        report.arenas.fill(Some(arenas(program)));
        let traced = TraceLives::of(&program.analysed);
        if module.has_schedule() {
            let mut operations = Operations::of(program);
            let AllPrograms { programs, steps, trees } = AllPrograms::of(program, &operations);
            report.steps.fill(Some(steps));
            let (deltas, liveness) = liveness(program, &operations, None);
            report.deltas.fill(Some(deltas));
            report.liveness.fill(Some(liveness));
            report.programs.fill(Some(programs));
            if let Some(trees) = trees {
                report.program_trees.fill(Some(trees));
            }
            let callers = Callers::of(program, &mut operations);
            if !operations.debug.ids.is_empty() {
                report.debug.fill(Some(operations.debug));
                report.set_context_reader(Box::new(callers));
            }
        } else if let Some(traced) = &traced {
            let AllPrograms { programs, steps, .. } = AllPrograms::of_trace(module, traced.trace);
            report.steps.fill(Some(steps));
            let (deltas, liveness) = liveness(program, &Operations::default(), Some(traced));
            report.deltas.fill(Some(deltas));
            report.liveness.fill(Some(liveness));
            report.programs.fill(Some(programs));
        } else {
            let why = || {
                let what = match module.entry {
                    None => {
                        "The file has no instructions, nor a trace of XLA's simulation of all that is temporary"
                    }
                    Some(_) => {
                        "The file does not say in which order instructions run, so it is not \
                        known when values live"
                    }
                };
                Absence::new(
                    what,
                    "Dump the module: XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_proto\"",
                )
            };
            report.steps.settle(Err(why()));
            report.programs.settle(Err(why()));
            report.deltas.settle(Err(why()));
            report.liveness.settle(Err(why()));
        }
        let traced = traced.map(|traced| {
            let firsts = traced.by_value().filter_map(<[PlacedValue]>::first).copied();
            (traced.allocation, firsts.collect())
        });
        report.set_reader(Box::new(AllocationReader { program: Arc::clone(program), traced }));
        let is_cancelled = progress.is_cancelled();
        let rest = if is_cancelled { Absence::cancelled() } else { Absence::unexplained() };
        report.settle_rest(&rest);
    }
}

/// The word for what an allocation is for.
fn kind_of(allocation: &BufferAllocation) -> &'static str {
    if allocation.is_donated() { "donated parameter" } else { allocation.kind.in_text() }
}

fn named_categories() -> Categories {
    let mut categories = Categories::default();
    for category in ValueCategory::ALL {
        categories.ids.push(CategoryId(category as u32));
        categories.names.push(category.title());
    }
    categories
}

fn arenas(program: &AnalysedModule) -> Arenas {
    let analysed = &program.analysed;
    let colors: Vec<i64> = analysed.colors().collect();
    // What the device has lies beside the file, if anywhere, and other memory spaces are no part of the main one.
    let main = Some(DeviceId::of_number(0));
    let mut arenas = Arenas { come_and_go: true, main, ..Arenas::default() };
    arenas.device_capacities = program
        .beside
        .capacity_bytes
        .map(|bytes| (DeviceId::of_number(0), bytes))
        .into_iter()
        .collect();
    arenas.apart = colors
        .iter()
        .filter(|color| **color != 0)
        .map(|color| DeviceId::of_number(*color))
        .collect();
    for color in &colors {
        arenas.device_names.insert(DeviceId::of_number(*color), program.color_title(*color));
    }
    let module = &analysed.module;
    let (parameters, mains) = (module.entry_parameters(), analysed.largest_values());
    for (row, allocation) in (0_u32..).zip(&module.allocations) {
        let number = allocation.number;
        let reserved = reserved_name(module, &parameters, allocation);
        let name = format!("allocation {number}, {reserved}, {}", bytes(allocation.bytes));
        let is_temporary = allocation.kind == AllocationKind::Temporary;
        arenas.ids.push(ArenaId(row));
        arenas.names.push(&name);
        arenas.contents.push(contents_of(
            module,
            &parameters,
            (allocation, mains.get(row as usize)),
        ));
        arenas.devices.push(Some(DeviceId::of_number(allocation.color)));
        arenas.capacities.push(Some(allocation.bytes));
        arenas.always_live.push(Some(if is_temporary { 0 } else { allocation.bytes }));
    }
    arenas
}

/// What stands for the contents of an allocation: what it is for, of a parameter its name and where it has none its number
/// and shape, of others the operation and the shape of the largest value; of what is temporary the memory space.
fn contents_of(
    module: &HloModule,
    parameters: &HashMap<i64, InstructionId>,
    (allocation, main): (&BufferAllocation, Option<&ValueId>),
) -> u64 {
    let mut hasher = DefaultHasher::new();
    (allocation.kind as u8, allocation.color).hash(&mut hasher);
    match (allocation.kind, allocation.parameter, main) {
        (AllocationKind::Temporary, ..) | (_, None, None) => {}
        (_, Some((number, element)), _) => {
            let instruction = parameters.get(&number).copied().unwrap_or(InstructionId::NONE);
            match module.op_name(instruction) {
                Some(name) => (name, element).hash(&mut hasher),
                None => {
                    let shape = module.shapes.title(module.instructions.shape(instruction));
                    (number, element, shape).hash(&mut hasher);
                }
            }
        }
        (_, None, Some(value)) => {
            let instruction = module.value(*value).map(|value| value.instruction);
            let operation = instruction.and_then(|id| module.nearest_operation(id));
            let operation = operation.map(|name| plain_path(module.texts.get(name)));
            (operation, module.shapes.title(module.value_shape(*value))).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// What changes at each step, and when variables live; with `traced` by what XLA's simulation did, where nothing else says it.
fn liveness(
    program: &AnalysedModule,
    operations: &Operations,
    traced: Option<&TraceLives<'_>>,
) -> (Deltas, Liveness) {
    let analysed = &program.analysed;
    let module = &analysed.module;
    let count = match traced {
        Some(traced) => u32::try_from(traced.trace.events.len()).unwrap_or(u32::MAX),
        None => analysed.schedule.end().saturating_add(1),
    };
    let of_trace: HashMap<ValueId, &[PlacedValue]> = (traced.iter())
        .flat_map(|traced| traced.by_value())
        .filter_map(|lives| Some((lives.first()?.assigned.value, lives)))
        .collect();
    let mut liveness = Liveness::default();
    liveness.classes.push(THROUGHOUT, true, [0..count]);
    // A variable for each value, and behind them one for each allocation that is reserved throughout.
    for row in 0..module.values.len() as u32 {
        let value = ValueId(row);
        liveness.variable_ids.push(UnloweredId(row));
        liveness.variable_names.push(&program.value_name(value));
        liveness.debug_ids.extend(operations.of_value(program, value));
        liveness.debug_id_ends.push(liveness.debug_ids.len());
        // Classes are ascending, as values are here.
        let steps = |range: LiveRange| range.start..range.end.saturating_add(1);
        if let Some(range) = analysed.ranges.get(value) {
            liveness.classes.push(class_of(value), false, [steps(range)]);
        } else if let Some(lives) = of_trace.get(&value) {
            liveness.classes.push(class_of(value), false, lives.iter().map(|one| steps(one.range)));
        }
    }
    let mut next = module.values.len() as u32;
    let mut rows: Vec<VariableBytes> = Vec::new();
    let mut counted: BTreeMap<i64, Vec<VariableBytes>> = BTreeMap::new();
    let parameters = module.entry_parameters();
    // A parameter is of the instruction that it is, all else that is reserved of the largest value in it.
    let of_reserved = |allocation: &BufferAllocation, largest: Option<ValueId>| {
        let parameter = allocation.parameter.and_then(|(number, _)| parameters.get(&number));
        let of_parameter = parameter.and_then(|id| operations.of_instruction(*id));
        of_parameter.or_else(|| operations.of_value(program, largest?))
    };
    let mains = analysed.largest_values();
    for ((row, allocation), placed) in module.allocations.iter().enumerate().zip(&analysed.placed) {
        let is_main = allocation.color == 0;
        let counted = counted.entry(allocation.color).or_default();
        if allocation.kind == AllocationKind::Temporary {
            let traced = traced.filter(|traced| traced.allocation == row);
            let placed = traced.map_or(placed, |traced| &traced.placed);
            for one in placed.chunk_by(|one, other| one.assigned == other.assigned) {
                let Some(Assigned { value, bytes, .. }) = one.first().map(|one| one.assigned)
                else {
                    continue;
                };
                let variable = UnloweredId(value.0);
                let row = VariableBytes { variable, class: class_of(value), bytes };
                rows.extend(is_main.then_some(row));
            }
            count_shares(placed, &mut liveness, counted);
            continue;
        }
        let variable = UnloweredId(next);
        next = next.saturating_add(1);
        liveness.variable_ids.push(variable);
        liveness.variable_names.push(&reserved_name(module, &parameters, allocation));
        liveness.debug_ids.extend(of_reserved(allocation, mains.get(row).copied()));
        liveness.debug_id_ends.push(liveness.debug_ids.len());
        let row = VariableBytes { variable, class: THROUGHOUT, bytes: allocation.bytes };
        rows.extend(is_main.then_some(row));
        counted.push(row);
    }
    let mut deltas = Deltas::default();
    let temporary = |color: i64| {
        let rows = analysed.allocations_of(color, |kind| kind == AllocationKind::Temporary);
        rows.filter_map(|(row, _)| analysed.in_use.get(row)).collect::<Vec<_>>()
    };
    if let Some(traced) = traced {
        // Of other memory spaces nothing is known.
        deltas.everything = differences(&traced.in_use, count);
        deltas.by_device.insert(DeviceId::of_number(0), deltas.everything.clone());
    } else {
        for color in analysed.colors() {
            let curve = in_use::sum(temporary(color));
            deltas.by_device.insert(DeviceId::of_number(color), differences(&curve, count));
        }
        deltas.everything = differences(&in_use::sum(temporary(0)), count);
    }
    let of_main = counted.get(&0).cloned().unwrap_or_default();
    liveness.counted_bytes = (of_main != rows).then_some(of_main);
    liveness.variable_bytes = Some(rows);
    liveness.counted_bytes_of_devices =
        counted.into_iter().map(|(color, rows)| (DeviceId::of_number(color), rows)).collect();
    (deltas, liveness)
}

/// Adds what counts to the values of an allocation, with a class for each number of bytes.
fn count_shares(placed: &[PlacedValue], liveness: &mut Liveness, counted: &mut Vec<VariableBytes>) {
    let all = shares(placed);
    let value_of =
        |share: &ValueShare| placed.get(share.row as usize).map(|one| one.assigned.value);
    for of_value in all.chunk_by(|one, other| value_of(one) == value_of(other)) {
        let Some(value) = of_value.first().and_then(value_of) else { continue };
        let variable = UnloweredId(value.0);
        let mut by_bytes: BTreeMap<u64, Vec<Range<u32>>> = BTreeMap::new();
        for share in of_value {
            by_bytes.entry(share.bytes).or_default().push(share.steps.clone());
        }
        let is_one = by_bytes.len() == 1;
        for (bytes, steps) in by_bytes {
            let mut class = class_of(value);
            if !is_one && bytes > 0 {
                let last = liveness.classes.ids.as_slice().last();
                class = ClassId(last.map_or(0, |last| last.0.saturating_add(1)));
                liveness.classes.push(class, false, steps);
                liveness.whole_lives.insert(class, class_of(value));
            }
            counted.push(VariableBytes { variable, class, bytes });
        }
    }
}

/// What an allocation is for, of a parameter by the name that the program gives it: `params['w'], donated parameter 3`;
/// of what is no parameter, with the number of the allocation, but for temporary memory: `output of allocation 7`.
pub fn reserved_name(
    module: &HloModule,
    parameters: &HashMap<i64, InstructionId>,
    allocation: &BufferAllocation,
) -> String {
    let kind = kind_of(allocation);
    let Some((number, _)) = allocation.parameter else {
        return match allocation.kind {
            AllocationKind::Temporary => kind.to_owned(),
            _ => format!("{kind} of allocation {}", allocation.number),
        };
    };
    let name = parameters.get(&number).and_then(|id| module.op_name(*id));
    match name.filter(|name| !name.is_empty()) {
        Some(name) => format!("{}, {kind} {number}", clean(name)),
        None => format!("{kind} {number}"),
    }
}

fn class_of(value: ValueId) -> ClassId {
    ClassId(value.0.saturating_add(1))
}

/// The differences of a curve from step to step, those behind the last step left out.
fn differences(curve: &CurveChanges, count: u32) -> Vec<(u32, i64)> {
    let mut before = 0_i64;
    let mut differences = Vec::with_capacity(curve.len());
    for (position, bytes) in curve.iter().filter(|(position, _)| *position < count) {
        let now = i64::try_from(*bytes).unwrap_or(i64::MAX);
        differences.push((*position, now.saturating_sub(before)));
        before = now;
    }
    differences
}

/// Gives the values of an allocation, which are in memory.
#[derive(Debug)]
struct AllocationReader {
    program: Arc<AnalysedModule>,
    /// The values of an allocation that the trace of XLA's simulation has, where nothing else says when they live.
    traced: Option<(usize, Vec<PlacedValue>)>,
}

impl ReadArena for AllocationReader {
    fn read(&self, arena: ArenaId, _: &Progress) -> Result<Option<Placed>, ReadError> {
        let (analysed, row) = (&self.program.analysed, arena.0 as usize);
        let traced = self.traced.as_ref().filter(|(allocation, _)| *allocation == row);
        let placed = traced.map(|(_, placed)| placed).or_else(|| analysed.placed.get(row));
        let Some(placed) = placed else { return Ok(None) };
        let mut names = Names::default();
        let mut placements = Vec::with_capacity(placed.len());
        for one in placed {
            let value = one.assigned.value;
            names.push(&self.program.value_name(value));
            placements.push(Placement {
                id: value.0,
                offset: one.assigned.offset,
                bytes: one.assigned.bytes,
                alignment: 0,
                category: Some(analysed.category(&one.assigned) as u32),
                class: class_of(value),
                unlowered: Some(UnloweredId(value.0)),
                flags: VariableFlags(1),
            });
        }
        Ok(Some(Placed::new(placements, names, Vec::new(), Vec::new())))
    }
}
