//! The tables of programs of XLA: the module, its flags, memory spaces, allocations and the values in them. Steps are in the
//! table that programs of Poplar have as well, for they mean the same.

use std::collections::HashMap;
use std::path::Path;

use super::small_tables::{PeakOfRun, STEPS, write_steps};
use super::snapshots::SETTINGS;
use super::staging::Staging;
use super::table::Kind::{Flag, Integer, Text};
use super::table::{Table, Written, flag, integer, integer_if, text};
use super::{Exported, ExportedRun, run_id};
use crate::budget;
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{Program, XlaFiles, XlaRun};
use crate::run::Room;
use crate::store::hlo::{AllocationKind, Assigned, Platform, ValueId};
use crate::store::{WarningCode, Warnings};
use crate::systems::xla::buffer_assignment::in_use;
use crate::systems::xla::buffer_assignment::insights::MOST_SPACES;
use crate::systems::xla::compared::{ComparedProgram, ProgramFigure};
use crate::systems::xla::files::FoundModule;

pub(super) const MODULES: Table = Table {
    name: "modules",
    columns: &[
        ("system", Text),
        ("name", Text),
        ("path", Text),
        ("exported_by", Text),
        ("module", Text),
        ("format", Text),
        ("platform", Text),
        ("device", Text),
        ("capacity_bytes", Integer),
        ("fits", Flag),
        ("cut", Flag),
        ("steps", Integer),
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
        ("warnings", Integer),
    ],
};

pub(super) const MEMORY_SPACES: Table = Table {
    name: "memory_spaces",
    columns: &[
        ("color", Integer),
        ("title", Text),
        ("total_bytes", Integer),
        ("argument_bytes", Integer),
        ("output_bytes", Integer),
        ("constant_bytes", Integer),
        ("thread_local_bytes", Integer),
        ("temporary_bytes", Integer),
        ("donated_bytes", Integer),
        ("in_use_peak_bytes", Integer),
        ("temporary_peak_bytes", Integer),
        ("peak_step", Integer),
        ("lost_bytes", Integer),
        ("padding_bytes", Integer),
        ("values", Integer),
    ],
};

pub(super) const ALLOCATIONS: Table = Table {
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

pub(super) const PLACED_VALUES: Table = Table {
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

/// Tables of programs of XLA. The first is written last: a run that has a row there has all of its others.
pub const MODULE_TABLES: [Table; 6] =
    [MODULES, SETTINGS, MEMORY_SPACES, ALLOCATIONS, PLACED_VALUES, STEPS];

/// A module, and what it is called as seen from the folder that was named.
#[derive(Clone, Debug)]
pub(super) struct FoundProgram {
    pub files: XlaFiles,
    pub name: String,
}

impl FoundProgram {
    /// Of the module that is meant.
    pub fn of(files: XlaFiles) -> Self {
        let name = files.modules.first().map(|found| found.listed.key.clone());
        Self { name: name.unwrap_or_default(), files }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        self.files.modules.first().map_or(&*self.files.path, |found| found.at.path())
    }
}

/// Writes a program into a lake.
///
/// # Errors
/// When it cannot be read, and `cannot-write`.
pub(super) fn export_program(
    found: &FoundProgram,
    lake: &Path,
    exported: &mut Exported,
    progress: &Progress,
) -> Result<(), Error> {
    let FoundProgram { files, name } = found;
    let cancelled = || Error::new(ErrorKind::Unreadable, "cancelled");
    let Some(FoundModule { at, .. }) = files.modules.first() else { return Ok(()) };
    let run = XlaRun::open(files, progress)?.ok_or_else(cancelled)?;
    run.fill_report(progress);
    let id = run_id::of_module(at, progress)?;
    let staging = Staging::new(lake, progress)?;
    let path = at.path().display().to_string();
    let rows = Rows::of(&staging, &run);
    let mut tables = vec![
        (SETTINGS.name, rows.settings()?),
        (MEMORY_SPACES.name, rows.memory_spaces()?),
        (ALLOCATIONS.name, rows.allocations()?),
        (PLACED_VALUES.name, rows.placed_values()?),
        (STEPS.name, write_steps(&staging, &run.report, &PeakOfRun::default())?),
    ];
    let warnings = run.report.warnings.list();
    tables.insert(0, (MODULES.name, rows.module(name, &path, warnings.len())?));
    if progress.is_cancelled() {
        return Err(cancelled());
    }
    staging.publish(&MODULE_TABLES, &id)?;
    exported.runs.push(ExportedRun { run: id, path, name: name.clone(), tables });
    exported.of_runs.push((name.clone(), warnings));
    Ok(())
}

/// A memory space, with the position of the peak of what is temporary, where it has one.
struct Space {
    color: i64,
    side: ComparedProgram,
    peak_step: Option<u32>,
}

struct Rows<'a> {
    staging: &'a Staging<'a>,
    program: &'a Program,
    spaces: Vec<Space>,
}

impl<'a> Rows<'a> {
    fn of(staging: &'a Staging<'a>, run: &'a XlaRun) -> Self {
        let program = &*run.program;
        let colors: Vec<i64> = program.analysed.colors().collect();
        warn_of_more_spaces(colors.len(), &run.report.warnings, program);
        let space = |color: &i64| {
            let side = ComparedProgram::of(program, *color)?;
            let lives = side.figures.lives.filter(|_| side.peak.is_some());
            Some(Space { color: *color, peak_step: lives.map(|lives| lives.position), side })
        };
        let spaces = colors.iter().take(MOST_SPACES).filter_map(space).collect();
        Self { staging, program, spaces }
    }

    fn module(&self, name: &str, path: &str, warnings: usize) -> Result<Written, Error> {
        let mut table = self.staging.create(&MODULES)?;
        let Self { program, .. } = self;
        let module = &program.analysed.module;
        let main = self.spaces.iter().find(|space| space.color == 0);
        let figure =
            |of: ProgramFigure| integer_if(main.and_then(|space| of.of(&space.side.figures)));
        let exported_by = super::program();
        table.row([
            text("xla"),
            text(name),
            text(path),
            text(&*exported_by),
            text(Some(&*module.name).filter(|name| !name.is_empty())),
            text(program.format()),
            text(program.platform.map(Platform::as_str)),
            text(program.beside.device.as_deref()),
            integer_if(program.beside.capacity_bytes),
            flag(main.and_then(|space| space.side.fit(Room::default()).fits())),
            flag(program.is_cut),
            figure(ProgramFigure::Steps),
            figure(ProgramFigure::Total),
            figure(ProgramFigure::Arguments),
            figure(ProgramFigure::Outputs),
            figure(ProgramFigure::Constants),
            figure(ProgramFigure::ThreadLocal),
            figure(ProgramFigure::Temporary),
            figure(ProgramFigure::Donated),
            figure(ProgramFigure::Donatable),
            figure(ProgramFigure::InUsePeak),
            figure(ProgramFigure::TemporaryPeak),
            integer_if(main.and_then(|space| space.peak_step)),
            integer(warnings),
        ])?;
        table.finish()
    }

    fn settings(&self) -> Result<Written, Error> {
        let mut table = self.staging.create(&SETTINGS)?;
        for (name, value) in &self.program.beside.flags {
            table.row([text(&**name), text(&**value)])?;
        }
        table.finish()
    }

    fn memory_spaces(&self) -> Result<Written, Error> {
        let mut table = self.staging.create(&MEMORY_SPACES)?;
        for Space { color, side, peak_step } in &self.spaces {
            let figure = |of: ProgramFigure| integer_if(of.of(&side.figures));
            table.row([
                integer(*color),
                text(&*self.program.color_title(*color)),
                figure(ProgramFigure::Total),
                figure(ProgramFigure::Arguments),
                figure(ProgramFigure::Outputs),
                figure(ProgramFigure::Constants),
                figure(ProgramFigure::ThreadLocal),
                figure(ProgramFigure::Temporary),
                figure(ProgramFigure::Donated),
                figure(ProgramFigure::InUsePeak),
                figure(ProgramFigure::TemporaryPeak),
                integer_if(*peak_step),
                figure(ProgramFigure::Lost),
                figure(ProgramFigure::Padding),
                figure(ProgramFigure::Values),
            ])?;
        }
        table.finish()
    }

    fn allocations(&self) -> Result<Written, Error> {
        let mut table = self.staging.create(&ALLOCATIONS)?;
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
            table.row([
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
        table.finish()
    }

    fn placed_values(&self) -> Result<Written, Error> {
        let mut table = self.staging.create(&PLACED_VALUES)?;
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
            let operation = analysed.operation(value).map(|path| budget::cut(path, most_operation));
            let source = source(value);
            table.row([
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
                text(source.as_deref().map(|it| budget::cut(it, most_source)).as_deref()),
                integer_if(range.map(|range| range.start)),
                integer_if(range.map(|range| range.end)),
                flag(range.zip(peak).map(|(range, peak)| range.has(peak))),
                integer_if(share.filter(|_| is_temporary == Some(true))),
            ])?;
        }
        table.finish()
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
fn warn_of_more_spaces(count: usize, warnings: &Warnings, program: &Program) {
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
    budget::name_bytes(count, bytes).unwrap_or(budget::NAME_BYTES)
}
