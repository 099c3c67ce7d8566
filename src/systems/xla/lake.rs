//! Tables of a lake that only modules have: memory spaces, allocations, and the values in them.

use std::collections::HashMap;

use super::buffer_assignment::in_use;
use super::buffer_assignment::insights::MOST_SPACES;
use super::buffer_assignment::program::AnalysedModule;
use super::compared::{ComparedModule, ModuleFigure};
use super::run::XlaRun;
use crate::format::Error;
use crate::limits;
use crate::run::ColumnKind::{Flag, Integer, Text};
use crate::run::tables::{flag, integer, integer_if, text};
use crate::run::{RunTable, TableRows, TableWriter};
use crate::store::hlo::{AllocationKind, Assigned, Platform, ValueId};
use crate::store::{WarningCode, Warnings};

/// The tables.
pub(super) const TABLES: [RunTable; 3] = [MEMORY_SPACES, ALLOCATIONS, PLACED_VALUES];

const MEMORY_SPACES: RunTable = RunTable {
    name: "memory_spaces",
    columns: &[
        ("color", Integer),
        ("title", Text),
        ("platform", Text),
        ("device", Text),
        ("total_bytes", Integer),
        ("argument_bytes", Integer),
        ("output_bytes", Integer),
        ("constant_bytes", Integer),
        ("thread_local_bytes", Integer),
        ("temporary_bytes", Integer),
        ("donated_bytes", Integer),
        ("donatable_bytes", Integer),
        ("in_use_peak_bytes", Integer),
        ("temporary_peak_bytes", Integer),
        ("peak_step", Integer),
        ("lost_bytes", Integer),
        ("padding_bytes", Integer),
        ("values", Integer),
    ],
};

const ALLOCATIONS: RunTable = RunTable {
    name: "allocations",
    columns: &[
        ("allocation", Integer),
        ("color", Integer),
        ("kind", Text),
        ("donated", Flag),
        ("parameter", Integer),
        ("bytes", Integer),
        ("values", Integer),
        ("in_use_peak_bytes", Integer),
        ("peak_step", Integer),
    ],
};

const PLACED_VALUES: RunTable = RunTable {
    name: "placed_values",
    columns: &[
        ("value", Integer),
        ("name", Text),
        ("allocation", Integer),
        ("color", Integer),
        ("offset_bytes", Integer),
        ("bytes", Integer),
        ("unpadded_bytes", Integer),
        ("shape", Text),
        ("category", Text),
        ("kind", Text),
        ("operation_name", Text),
        ("location", Text),
        ("first_step", Integer),
        ("last_step", Integer),
        ("live_at_peak", Flag),
        ("peak_bytes", Integer),
    ],
};

/// Writes them all.
///
/// # Errors
/// `cannot-write`.
pub(super) fn write(run: &XlaRun, writer: &dyn TableWriter) -> Result<(), Error> {
    let of = OwnRows::of(run);
    writer.write(&MEMORY_SPACES, &mut |rows| of.memory_spaces(rows))?;
    writer.write(&ALLOCATIONS, &mut |rows| of.allocations(rows))?;
    writer.write(&PLACED_VALUES, &mut |rows| of.placed_values(rows))
}

/// A memory space, with the position of the peak of what is temporary, where it has one.
struct Space {
    color: i64,
    side: ComparedModule,
    peak_step: Option<u32>,
}

struct OwnRows<'a> {
    program: &'a AnalysedModule,
    spaces: Vec<Space>,
}

impl<'a> OwnRows<'a> {
    fn of(run: &'a XlaRun) -> Self {
        let program = &*run.program;
        let colors: Vec<i64> = program.analysed.colors().collect();
        warn_of_more_spaces(colors.len(), &run.report.warnings, program);
        let space = |color: &i64| {
            let side = ComparedModule::of(program, *color)?;
            let lives = side.figures.lives.filter(|_| side.peak.is_some());
            Some(Space { color: *color, peak_step: lives.map(|lives| lives.position), side })
        };
        let spaces = colors.iter().take(MOST_SPACES).filter_map(space).collect();
        Self { program, spaces }
    }

    fn memory_spaces(&self, rows: &mut dyn TableRows) -> Result<(), Error> {
        for Space { color, side, peak_step } in &self.spaces {
            let figure = |of: ModuleFigure| integer_if(of.of(&side.figures));
            rows.row(&[
                integer(*color),
                text(&*self.program.color_title(*color)),
                text(self.program.platform.map(Platform::as_str)),
                text(self.program.beside.device.as_deref()),
                figure(ModuleFigure::Total),
                figure(ModuleFigure::Arguments),
                figure(ModuleFigure::Outputs),
                figure(ModuleFigure::Constants),
                figure(ModuleFigure::ThreadLocal),
                figure(ModuleFigure::Temporary),
                figure(ModuleFigure::Donated),
                figure(ModuleFigure::Donatable),
                figure(ModuleFigure::InUsePeak),
                figure(ModuleFigure::TemporaryPeak),
                integer_if(*peak_step),
                figure(ModuleFigure::Lost),
                figure(ModuleFigure::Padding),
                figure(ModuleFigure::Values),
            ])?;
        }
        Ok(())
    }

    fn allocations(&self, rows: &mut dyn TableRows) -> Result<(), Error> {
        let analysed = &self.program.analysed;
        let module = &analysed.module;
        let mut values = vec![0_u64; module.allocations.len()];
        for assigned in &module.assigned {
            if let Some(count) = values.get_mut(assigned.allocation as usize) {
                *count = count.saturating_add(1);
            }
        }
        let in_use = module.allocations.iter().zip(&values).zip(&analysed.in_use);
        for ((allocation, values), in_use) in in_use {
            let peak = in_use::peak(in_use, analysed.schedule.end());
            let peak = module.has_schedule().then_some(peak);
            let first = |(bytes, positions): &(u64, Vec<(u32, u32)>)| {
                positions.first().map(|(first, _)| *first).filter(|_| *bytes > 0)
            };
            rows.row(&[
                integer(allocation.number),
                integer(allocation.color),
                text(allocation.kind.as_str()),
                flag(allocation.is_donated()),
                integer_if(allocation.parameter.map(|(number, _)| number)),
                integer(allocation.bytes),
                integer(*values),
                integer_if(peak.as_ref().map(|(bytes, _)| *bytes)),
                integer_if(peak.as_ref().and_then(first)),
            ])?;
        }
        Ok(())
    }

    fn placed_values(&self, rows: &mut dyn TableRows) -> Result<(), Error> {
        let analysed = &self.program.analysed;
        let module = &analysed.module;
        let mut shares = self.shares();
        let instruction = |value: ValueId| module.value(value).map(|value| value.instruction);
        let source = |value: ValueId| module.source(instruction(value)?);
        let [most_operation, most_source] = [
            most_bytes(module.assigned.iter().filter_map(|one| analysed.operation(one.value))),
            most_bytes(module.assigned.iter().filter_map(|one| source(one.value))),
        ];
        for assigned in &module.assigned {
            let value = assigned.value;
            let allocation = module.allocations.get(assigned.allocation as usize);
            let color = allocation.map(|one| one.color);
            let peak = self.spaces.iter().find(|space| Some(space.color) == color);
            let peak = peak.and_then(|space| space.peak_step);
            let range = analysed.ranges.get(value);
            let is_temporary = allocation.map(|one| one.kind == AllocationKind::Temporary);
            // What has no life is in no sum, and of what is known to live elsewhere nothing counts.
            let share = shares.remove(&place_of(assigned)).or(peak.and(range).map(|_| 0));
            let shape = module.value_shape(value);
            let operation = analysed.operation(value).map(|path| limits::cut(path, most_operation));
            let source = source(value);
            rows.row(&[
                integer(value.0),
                text(&*self.program.value_name(value)),
                integer_if(allocation.map(|one| one.number)),
                integer_if(color),
                integer(assigned.offset),
                integer(assigned.bytes),
                integer_if(module.shapes.unpadded_bytes(shape)),
                text(&*module.shapes.title(shape)),
                text(analysed.category(assigned).as_str()),
                text(instruction(value).map(|id| module.opcode(id)).filter(|it| !it.is_empty())),
                text(operation.as_deref()),
                text(source.as_deref().map(|it| limits::cut(it, most_source)).as_deref()),
                integer_if(range.map(|range| range.start)),
                integer_if(range.map(|range| range.end)),
                flag(range.zip(peak).map(|(range, peak)| range.has(peak))),
                integer_if(share.filter(|_| is_temporary == Some(true))),
            ])?;
        }
        Ok(())
    }

    /// What of the peak of its memory space counts to each value, by its place.
    fn shares(&self) -> HashMap<(u32, ValueId, u64), u64> {
        let mut shares: HashMap<(u32, ValueId, u64), u64> = HashMap::new();
        for Space { color, peak_step, .. } in &self.spaces {
            let Some(position) = peak_step else { continue };
            for (placed, bytes) in self.program.analysed.shares_at(*color, *position) {
                let share = shares.entry(place_of(&placed.assigned)).or_default();
                *share = share.saturating_add(bytes);
            }
        }
        shares
    }
}

fn place_of(assigned: &Assigned) -> (u32, ValueId, u64) {
    (assigned.allocation, assigned.value, assigned.offset)
}

/// Programs have up to four memory spaces.
fn warn_of_more_spaces(count: usize, warnings: &Warnings, program: &AnalysedModule) {
    if count > MOST_SPACES {
        let message =
            format!("only {MOST_SPACES} of {count} memory spaces are written, and peaks in them");
        let file = program.modules.first().map_or("", |listed| listed.file.as_str());
        warnings.add(WarningCode::Inconsistent, file, message);
    }
}

/// Bytes to which texts are cut that rows repeat by reference.
fn most_bytes<T: AsRef<str>>(texts: impl Iterator<Item = T>) -> usize {
    let (count, bytes) = texts.fold((0_usize, 0_usize), |(count, bytes), text| {
        (count.saturating_add(1), bytes.saturating_add(text.as_ref().len()))
    });
    limits::name_bytes(count, bytes).unwrap_or(limits::NAME_BYTES)
}
