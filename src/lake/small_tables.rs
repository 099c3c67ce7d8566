//! The tables of a run that fit in memory: the run itself, its options, tiles, steps, variables before
//! lowering, operations.

use std::collections::HashMap;
use std::sync::Arc;

use super::staging::Staging;
use super::table::Kind::{Flag, Integer, Real, Text};
use super::table::{Cell, Table, Written, flag, integer, integer_if, real, text};
use crate::analysis::comparison::contribution::{Contributor, LiveBytes};
use crate::analysis::comparison::moment::{AliveAt, Moment};
use crate::analysis::comparison::owners::Owners;
use crate::analysis::consists::consists_of;
use crate::analysis::derived::Derived;
use crate::analysis::figures::difference::Side;
use crate::analysis::liveness::scope_curve::peak_of_everything;
use crate::analysis::liveness::{self, Scope, live_at, variable_name};
use crate::analysis::memory::{self, FullestTile};
use crate::analysis::program::named_facts::{commit, model};
use crate::analysis::program::operations::OperationName;
use crate::analysis::program::report_options::id;
use crate::analysis::program::step_operations::StepOperations;
use crate::analysis::program::steps;
use crate::analysis::sweep::SweepRun;
use crate::analysis::throughput::{batch_size, throughput};
use crate::format::Error;
use crate::store::{ClassId, Report, StepId, TileId};
use crate::systems::poplar::insights::logs::warnings_at_minimum;

pub(super) const RUNS: Table = Table {
    name: "runs",
    columns: &[
        ("system", Text),
        ("name", Text),
        ("path", Text),
        ("no_report", Flag),
        ("model", Text),
        ("commit_id", Text),
        ("compiled_at", Text),
        ("compiler_version", Text),
        ("format", Text),
        ("exported_by", Text),
        ("machine", Text),
        ("architecture", Text),
        ("ipus", Integer),
        ("replicas", Integer),
        ("tile_count", Integer),
        ("tiles_per_ipu", Integer),
        ("bytes_per_tile", Integer),
        ("clock_hz", Integer),
        ("fits", Flag),
        ("tiles_over_limit", Integer),
        ("fullest_tile", Integer),
        ("fullest_tile_bytes", Integer),
        ("fullest_tile_including_gaps_bytes", Integer),
        ("over_limit_bytes", Integer),
        ("total_bytes", Integer),
        ("including_gaps_bytes", Integer),
        ("gap_bytes", Integer),
        ("always_live_bytes", Integer),
        ("peak_step", Integer),
        ("peak_bytes", Integer),
        ("code_bytes", Integer),
        ("batch_size", Integer),
        ("recorded_runs", Integer),
        ("cycles", Integer),
        ("elapsed_microseconds", Integer),
        ("throughput_samples_per_second", Real),
        ("throughput_by_elapsed_time_samples_per_second", Real),
        ("planner_at_minimum", Integer),
        ("warnings", Integer),
    ],
};

pub(super) const OPTIONS: Table = Table {
    name: "options",
    columns: &[("id", Text), ("kind", Text), ("name", Text), ("value", Text), ("number", Real)],
};

pub(super) const TILES: Table = Table {
    name: "tiles",
    columns: &[
        ("tile", Integer),
        ("ipu", Integer),
        ("bytes", Integer),
        ("including_gaps_bytes", Integer),
        ("gap_bytes", Integer),
        ("always_live_bytes", Integer),
        ("not_always_live_max_bytes", Integer),
        ("over_limit_bytes", Integer),
        ("non_interleaved_bytes", Integer),
        ("interleaved_bytes", Integer),
        ("overflowed_bytes", Integer),
    ],
};

pub(super) const STEPS: Table = Table {
    name: "steps",
    columns: &[
        ("step", Integer),
        ("program", Integer),
        ("kind", Text),
        ("name", Text),
        ("operation", Integer),
        ("operation_kind", Text),
        ("operation_layer", Text),
        ("operation_name", Text),
        ("available_memory_proportion", Real),
        ("location", Text),
        ("not_always_live_bytes", Integer),
    ],
};

pub(super) const VARIABLES: Table = Table {
    name: "variables",
    columns: &[
        ("variable", Integer),
        ("name", Text),
        ("class", Integer),
        ("bytes", Integer),
        ("always_live", Flag),
        ("live_at_peak", Flag),
        ("first_step", Integer),
        ("last_step", Integer),
        ("operation", Integer),
    ],
};

pub(super) const OPERATIONS: Table = Table {
    name: "operations",
    columns: &[
        ("operation", Integer),
        ("kind", Text),
        ("layer", Text),
        ("name", Text),
        ("module", Text),
        ("detail", Text),
        ("available_memory_proportion", Real),
        ("location", Text),
        ("steps", Integer),
        ("always_live_bytes", Integer),
        ("not_always_live_bytes", Integer),
        ("peak_bytes", Integer),
    ],
};

/// What several tables say of the peak of everything, worked out once.
#[derive(Debug, Default)]
pub(super) struct PeakOfRun {
    derived: Option<Derived>,
    alive: Option<AliveAt>,
    /// For each class, by position: whether it is always live, and whether anything of it is alive at the
    /// peak; the latter is not known where the peak is not.
    classes: Vec<(bool, Option<bool>)>,
}

impl PeakOfRun {
    /// Of a report whose debug contexts and exchanges are read.
    pub fn of(report: &Arc<Report>) -> Self {
        let derived = Derived::new(Arc::clone(report));
        let timeline = derived.timeline(Scope::Everything, &|| false);
        let alive = timeline.and_then(|timeline| Moment::peak(&timeline.curve, Scope::Everything));
        let classes = report.liveness.get().map(|liveness| {
            let classes = &liveness.classes;
            let live = alive.map(|alive| live_at(classes, alive.moment.step));
            let of_class = |(position, always): (usize, &bool)| {
                let live = live.as_ref().and_then(|live| live.get(position).copied());
                (*always, live.map(|live| live || *always))
            };
            classes.always_live.iter().enumerate().map(of_class).collect()
        });
        Self { derived: Some(derived), alive, classes: classes.unwrap_or_default() }
    }

    /// Whether a class is always live, and alive at the peak; not known of one that the report does not have.
    pub fn life(&self, report: &Report, class: ClassId) -> (Option<bool>, Option<bool>) {
        let position = report.liveness.get().and_then(|it| it.classes.ids.position(class));
        let life = position.and_then(|position| self.classes.get(position));
        life.map_or((None, None), |(always, at_peak)| (Some(*always), *at_peak))
    }

    fn owners(&self) -> Option<Arc<Owners>> {
        self.derived.as_ref().map(Derived::owners)
    }

    fn operations(&self) -> Option<Arc<StepOperations>> {
        self.derived.as_ref()?.operations()
    }

    /// What of the bytes alive at the peak belongs to each operation, and what to none. `None` where the
    /// report does not name operations, or its debug information is cut.
    fn by_operation(&self) -> Option<(HashMap<OperationName, LiveBytes>, LiveBytes)> {
        let explained = consists_of(self.derived.as_ref()?, self.alive?);
        let (mut named, mut rest) = (HashMap::new(), LiveBytes::default());
        for row in explained.by_owner?.operations?.into_rows() {
            let bytes = Side::Source.of(row.bytes.0);
            match row.contributor {
                Contributor::Operation(name) => drop(named.insert(name, bytes)),
                _ => rest.add_all(&bytes),
            }
        }
        Some((named, rest))
    }
}

/// Writes them all.
///
/// # Errors
/// `cannot-write` when there is no room.
pub(super) fn write(
    staging: &Staging<'_>,
    run: &SweepRun,
    report: &Report,
    peak: &PeakOfRun,
) -> Result<Vec<(&'static str, Written)>, Error> {
    Ok(vec![
        (RUNS.name, write_run(staging, run, report, peak)?),
        (OPTIONS.name, write_options(staging, run)?),
        (TILES.name, write_tiles(staging, report)?),
        (STEPS.name, write_steps(staging, report, peak)?),
        (VARIABLES.name, write_variables(staging, report, peak)?),
        (OPERATIONS.name, write_operations(staging, peak)?),
    ])
}

fn write_run(
    staging: &Staging<'_>,
    run: &SweepRun,
    report: &Report,
    peak: &PeakOfRun,
) -> Result<Written, Error> {
    let mut writer = staging.create(&RUNS)?;
    let (about, target) = (report.about.get(), report.target.get());
    let memory = report.memory.get();
    let totals = memory.map(|tiles| memory::totals(tiles, target)).unwrap_or_default();
    let row = totals.fullest;
    let fullest = memory.zip(row).and_then(|(memory, row)| FullestTile::of(memory, row));
    let over =
        memory.zip(row).and_then(|(memory, row)| memory::over_limit_bytes(memory, target, row));
    let execution = report.execution.get();
    let throughput = throughput(report);
    let steps = report.steps.get();
    let peak_step = peak.alive.and_then(|alive| steps?.ids.get(alive.moment.step));
    writer.row([
        text("poplar"),
        text(run.name.as_str()),
        text(run.path.as_str()),
        flag(run.no_report),
        text(model(report).as_deref()),
        text(commit(report).as_deref()),
        text(about.and_then(|about| about.compiled_at.as_deref())),
        text(about.and_then(|about| about.poplar_version.as_deref())),
        text(about.and_then(|about| about.format.as_deref())),
        text(&*super::program()),
        text(target.and_then(|target| target.kind.as_deref())),
        text(target.and_then(|target| target.architecture.as_deref())),
        integer_if(target.and_then(|target| target.ipus)),
        integer_if(target.and_then(|target| target.replicas)),
        integer_if(target.and_then(|target| target.tiles)),
        integer_if(target.and_then(|target| target.tiles_per_ipu)),
        integer_if(report.bytes_per_tile()),
        integer_if(target.and_then(|target| target.clock_hz)),
        flag(run.facts.verdict.outcome.fits()),
        integer_if(totals.tiles_over_limit),
        integer_if(fullest.map(|tile| tile.tile)),
        integer_if(fullest.and_then(|tile| tile.bytes)),
        integer_if(fullest.and_then(|tile| tile.including_gaps_bytes)),
        integer_if(over),
        integer_if(totals.total_bytes),
        integer_if(totals.including_gaps_bytes),
        integer_if(totals.gap_bytes),
        integer_if(totals.always_live_bytes),
        integer_if(peak_step.map(|step: StepId| step.0)),
        integer_if(peak_of_everything(report).map(|(_, bytes)| bytes)),
        integer_if(memory.and_then(memory::code_bytes)),
        integer_if(batch_size(report)),
        integer_if(execution.map(|totals| totals.runs)),
        integer_if(execution.and_then(|totals| totals.cycles)),
        integer_if(execution.and_then(|totals| totals.elapsed_microseconds)),
        real(throughput.by_cycles),
        real(throughput.by_elapsed_time),
        integer_if(warnings_at_minimum(report)),
        integer(run.warnings.len()),
    ])?;
    writer.finish()
}

fn write_options(staging: &Staging<'_>, run: &SweepRun) -> Result<Written, Error> {
    let mut writer = staging.create(&OPTIONS)?;
    for option in &run.facts.options {
        writer.row([
            text(&*id(option.kind, &option.name)),
            text(option.kind.key()),
            text(option.name.as_str()),
            text(&*option.value.to_string()),
            real(option.value.as_f64()),
        ])?;
    }
    writer.finish()
}

fn write_tiles(staging: &Staging<'_>, report: &Report) -> Result<Written, Error> {
    let mut writer = staging.create(&TILES)?;
    let Some(tiles) = report.memory.get() else { return writer.finish() };
    let target = report.target.get();
    for (row, tile) in tiles.tiles.as_slice().iter().enumerate() {
        let tile: TileId = *tile;
        let [plain, interleaved, overflowed] = &tiles.by_region;
        let cell = |column| integer_if(memory::cell(column, row));
        writer.row([
            integer(tile.0),
            integer_if(target.and_then(|target| target.ipu_of(tile))),
            cell(&tiles.total),
            cell(&tiles.including_gaps),
            integer_if(memory::gap_bytes(tiles, row)),
            cell(&tiles.always_live),
            cell(&tiles.not_always_live_max),
            integer_if(memory::over_limit_bytes(tiles, target, row)),
            cell(plain),
            cell(interleaved),
            cell(overflowed),
        ])?;
    }
    writer.finish()
}

/// Writes the steps of a program, whatever the system.
///
/// # Errors
/// `cannot-write` when there is no room.
pub(super) fn write_steps(
    staging: &Staging<'_>,
    report: &Report,
    peak: &PeakOfRun,
) -> Result<Written, Error> {
    let mut writer = staging.create(&STEPS)?;
    let count = report.steps.get().map_or(0, |steps| steps.ids.len());
    let curve = report
        .liveness
        .get()
        .and_then(|it| liveness::curve(it, Scope::Everything, count))
        .unwrap_or_default();
    let operations = peak.operations();
    for position in 0..count {
        let Some(facts) = steps::facts(report, position) else { continue };
        let operation = facts.operation.as_ref();
        let number = operations.as_ref().and_then(|all| *all.of_step.get(position)?);
        writer.row([
            integer(facts.step.0),
            integer(facts.program.0),
            text(facts.kind.as_deref()),
            text(facts.name.as_deref()),
            integer_if(number),
            text(operation.and_then(|it| it.kind.as_deref())),
            text(operation.map(|it| it.layer.as_str())),
            text(operation.and_then(|it| it.name.as_deref())),
            real(operation.and_then(|it| it.available_memory_proportion)),
            text(operation.and_then(|it| it.location.as_deref())),
            integer_if(curve.get(position).copied()),
        ])?;
    }
    writer.finish()
}

fn write_variables(
    staging: &Staging<'_>,
    report: &Report,
    peak: &PeakOfRun,
) -> Result<Written, Error> {
    let mut writer = staging.create(&VARIABLES)?;
    let Some(liveness) = report.liveness.get() else { return writer.finish() };
    let owners = peak.owners();
    let step = |position: u32| report.steps.get()?.ids.get(position as usize).map(|step| step.0);
    for row in liveness.variable_bytes.iter().flatten() {
        let class = liveness.classes.ids.position(row.class);
        let ranges = class.map_or(&[][..], |class| liveness.classes.ranges_of(class));
        let first = ranges.iter().map(|range| range.start).min();
        let last = ranges.iter().map(|range| range.end.saturating_sub(1)).max();
        let (always_live, live_at_peak) = peak.life(report, row.class);
        let operation = owners.as_ref().and_then(|owners| owners.variables.of(liveness, row));
        writer.row([
            integer(row.variable.0),
            text(&*variable_name(liveness, row.variable)),
            integer(row.class.0),
            integer(row.bytes),
            flag(always_live),
            flag(live_at_peak),
            integer_if(first.and_then(step)),
            integer_if(last.and_then(step)),
            integer_if(operation.map(|(operation, _)| operation)),
        ])?;
    }
    writer.finish()
}

fn write_operations(staging: &Staging<'_>, peak: &PeakOfRun) -> Result<Written, Error> {
    let mut writer = staging.create(&OPERATIONS)?;
    let Some((mut bytes_of, rest)) = peak.by_operation() else { return writer.finish() };
    let (owners, steps) = (peak.owners(), peak.operations());
    let operations = owners.as_ref().map_or(&[][..], |owners| owners.operations());
    for (number, operation) in (0_u32..).zip(operations) {
        let name = OperationName::of(operation);
        let bytes = bytes_of.remove(&name).unwrap_or_default();
        let steps = steps.as_ref().map(|steps| steps.steps_of(number).len());
        writer.row([
            integer(number),
            text(operation.kind.as_deref()),
            text(operation.layer.as_str()),
            text(operation.name.as_deref()),
            text(name.module()),
            text(operation.detail.as_deref()),
            real(operation.available_memory_proportion),
            text(operation.location.as_deref()),
            integer_if(steps),
            integer(bytes.always_live),
            integer(bytes.not_always_live),
            integer(bytes.sum()),
        ])?;
    }
    let none = || text(None);
    writer.row([
        Cell::Integer(None),
        none(),
        none(),
        none(),
        none(),
        none(),
        real(None),
        none(),
        Cell::Integer(None),
        integer(rest.always_live),
        integer(rest.not_always_live),
        integer(rest.sum()),
    ])?;
    writer.finish()
}
