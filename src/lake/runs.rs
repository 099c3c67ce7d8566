//! The tables that runs of all systems have: the run itself, what it was made with, its steps.

use super::staging::Staging;
use crate::analysis::derived::Derived;
use crate::analysis::program::named_facts::{commit, model};
use crate::analysis::program::report_options::id;
use crate::analysis::program::steps;
use crate::analysis::sweep::{FigureUnit, FigureValue, SweepFigure, SweepRun};
use crate::format::Error;
use crate::run::ColumnKind::{Flag, Integer, Real, Text};
use crate::run::tables::{flag, integer, integer_if, real, text};
use crate::run::{ColumnKind, RunTable, TableCell, TableRows, TableWriter};

/// What is known of a run, as `tilescope summary` says it. Behind these it has a column for each figure that its system
/// brings into a sweep.
pub(super) const RUNS: RunTable = RunTable {
    name: "runs",
    columns: &[
        ("system", Text),
        ("name", Text),
        ("path", Text),
        ("no_report", Flag),
        ("module", Text),
        ("model", Text),
        ("commit_id", Text),
        ("format", Text),
        ("producer", Text),
        ("captured_at", Text),
        ("exported_by", Text),
        ("outcome", Text),
        ("cause", Text),
        ("fits", Flag),
        ("used_bytes", Integer),
        ("capacity_bytes", Integer),
        ("capacity_from", Text),
        ("over_bytes", Integer),
        ("whole", Flag),
        ("at_least", Text),
        ("total_bytes", Integer),
        ("including_gaps_bytes", Integer),
        ("gap_bytes", Integer),
        ("always_live_bytes", Integer),
        ("steps", Integer),
        ("peak_step", Integer),
        ("peak_bytes", Integer),
        ("warnings", Integer),
    ],
};

pub(super) const OPTIONS: RunTable = RunTable {
    name: "options",
    columns: &[("id", Text), ("kind", Text), ("name", Text), ("value", Text), ("number", Real)],
};

pub(super) const STEPS: RunTable = RunTable {
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

/// Writes them all, the run last.
///
/// # Errors
/// `cannot-write` when there is no room.
pub(super) fn write(staging: &Staging<'_>, run: &SweepRun, derived: &Derived) -> Result<(), Error> {
    staging.write(&STEPS, &mut |rows| write_steps(derived, rows))?;
    staging.write(&OPTIONS, &mut |rows| write_options(run, rows))?;
    write_run(staging, run, derived)
}

fn write_run(staging: &Staging<'_>, run: &SweepRun, derived: &Derived) -> Result<(), Error> {
    let (report, answers, facts) = (&**derived.report(), derived.answers(), &run.facts);
    let (format, memory) = (answers.format(derived), answers.memory(derived));
    let (peak, verdict) = (answers.peak_size(derived), &facts.verdict);
    let (model, commit, exported_by) = (model(report), commit(report), super::program());
    let is_least = |figure: &&SweepFigure| figure.is_at_least && figure.value.is_some();
    let at_least: Vec<&str> =
        facts.figures.iter().filter(is_least).map(|figure| figure.kind.key).collect();
    let at_least = at_least.join(",");
    let mut columns = RUNS.columns.to_vec();
    let mut cells = vec![
        text(run.system),
        text(&*run.name),
        text(&*run.path),
        flag(run.no_report),
        text(answers.modules().first().and_then(|module| module.name.as_deref())),
        text(model.as_deref()),
        text(commit.as_deref()),
        text(format.format.as_deref()),
        text(format.producer.as_deref()),
        text(format.captured_at.as_deref()),
        text(&*exported_by),
        text(verdict.outcome.key()),
        text(verdict.cause),
        flag(verdict.outcome.fits()),
        integer_if(verdict.used_bytes),
        integer_if(verdict.capacity_bytes),
        text(verdict.capacity_from.as_deref()),
        integer_if(verdict.over_bytes),
        flag(facts.is_whole),
        text(Some(&*at_least).filter(|keys| !keys.is_empty())),
        integer_if(memory.total_bytes),
        integer_if(memory.including_gaps_bytes),
        integer_if(memory.gap_bytes),
        integer_if(memory.always_live_bytes),
        integer_if(answers.steps(derived)),
        integer_if(peak.as_ref().and_then(|peak| peak.step)),
        integer_if(peak.as_ref().map(|peak| peak.bytes)),
        integer(run.warnings.len()),
    ];
    for figure in &facts.figures {
        let (kind, cell) = cell_of(figure);
        match columns.iter().position(|(name, _)| *name == figure.kind.key) {
            Some(place) => match cells.get_mut(place) {
                Some(own) if *own == TableCell::Integer(None) => *own = cell,
                _ => {}
            },
            None => {
                columns.push((figure.kind.key, kind));
                cells.push(cell);
            }
        }
    }
    staging.write_columns((RUNS.name, &columns), &mut |rows| rows.row(&cells))
}

fn cell_of(figure: &SweepFigure) -> (ColumnKind, TableCell<'static>) {
    match figure.kind.unit {
        FigureUnit::Bytes | FigureUnit::Count | FigureUnit::Place => {
            (Integer, integer_if(figure.value.and_then(FigureValue::count)))
        }
        FigureUnit::SamplesPerSecond | FigureUnit::Number => {
            (Real, real(figure.value.map(FigureValue::as_f64)))
        }
    }
}

fn write_options(run: &SweepRun, rows: &mut dyn TableRows) -> Result<(), Error> {
    for option in &run.facts.options {
        rows.row(&[
            text(&*id(option.kind, &option.name)),
            text(option.kind.key()),
            text(option.name.as_str()),
            text(&*option.value.to_string()),
            real(option.value.as_f64()),
        ])?;
    }
    Ok(())
}

fn write_steps(derived: &Derived, rows: &mut dyn TableRows) -> Result<(), Error> {
    let report = &**derived.report();
    let scope = derived.first_scope();
    let device = scope.device(report);
    let count = report.steps.get().map_or(0, |steps| steps.count_of(device));
    let timeline = derived.timeline(scope, &|| false);
    let curve = timeline.as_ref().map_or(&[][..], |timeline| &timeline.curve.not_always_live);
    let operations = derived.operations();
    for position in 0..count {
        let Some(facts) = steps::facts(report, device, position) else { continue };
        let operation = facts.operation.as_ref();
        let number = operations.as_ref().and_then(|all| *all.of_step.get(position)?);
        rows.row(&[
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
    Ok(())
}
