//! `tilescope compare` of memory snapshots.

use std::process::ExitCode;
use std::sync::Arc;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::conclusions::Conclusion;
use super::peaks::{
    FigureRow, LongName, OneByOne, PeakComparison, PeakRow, PeakTable, RunOfMany, Side,
    both_of_sections, check_by, counts, row,
};
use super::peaks_text::counts_cell;
use super::{By, CompareArguments};
use crate::analysis::compared_snapshots::{
    ComparedFigure, ComparedPeaks, ComparedRow, ComparedSide, ComparedSnapshots, Function,
    FunctionRow, MatchedBy, NoSuchDevice, PeakMoment, Room, compared_figures, conclusions,
};
use crate::cli::output::{self, Answer, Document, name_cell, open_snapshot};
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{ReplayedSnapshot, SnapshotRun};
use crate::store::Warning;
use crate::systems::pytorch::allocator::user_frame::NO_STACK;
use crate::systems::pytorch::answers::memory_totals;
use crate::systems::pytorch::files::SnapshotFiles;
use crate::text::run_names::run_names;
use crate::text::{bytes, exact_bytes, grouped};

/// Compares snapshots.
pub(super) fn run(files: &[SnapshotFiles], arguments: &CompareArguments) -> ExitCode {
    let result = output::with_progress("Reading the snapshots", |progress| {
        let document = document(files, arguments, progress)?;
        document.warnings().iter().for_each(output::print_warning);
        Ok(document)
    });
    output::finish_in_parts(&result, arguments.json)
}

/// The document of a comparison of snapshots.
///
/// # Errors
/// When one of them cannot be read, does not have the device, or is asked for what snapshots do not have.
pub fn document(
    files: &[SnapshotFiles],
    arguments: &CompareArguments,
    progress: &Progress,
) -> Result<Document<impl Answer + use<>>, Error> {
    let (answer, warnings) = compared(files, arguments, progress)?;
    Ok(Document::new(answer, warnings))
}

/// Reads and compares them, the others with the first. Of more than two no more than two are in memory.
fn compared(
    files: &[SnapshotFiles],
    arguments: &CompareArguments,
    progress: &Progress,
) -> Result<(PeakComparison<Section>, Vec<Warning>), Error> {
    let CompareArguments { device, shown, .. } = arguments;
    check_by(
        shown,
        &[By::Category, By::Module, By::Variable],
        "Snapshots are compared by category, by module (functions), and by variable (user frames and sizes).",
    )?;
    let [first, second, more @ ..] = files else {
        return Err(Error::new(ErrorKind::Usage, "two snapshots are compared, or more"));
    };
    let (source, target) =
        rayon::join(|| open_snapshot(first, progress), || open_snapshot(second, progress));
    let (source, target) = (source?, target?);
    let mut warnings = output::named_warnings(&source.report);
    warnings.extend(output::named_warnings(&target.report));
    let room = device.room();
    let compare = |target: &SnapshotRun| {
        let compared = ComparedSnapshots::of([&source.allocator, &target.allocator], device.device);
        compared.map_err(|NoSuchDevice(side)| {
            if side == 0 { &source } else { target }.no_such_device(device.device)
        })
    };
    let conclude = |compared: &ComparedSnapshots| -> Vec<Conclusion> {
        conclusions(compared, room, &bytes).iter().map(Conclusion::of_snapshots).collect()
    };
    let compared = compare(&target)?;
    let memory = memory_of_both([&source, &target]);
    drop(target);
    let said = conclude(&compared);
    let mut sides: Vec<ComparedSide> = compared.sides.to_vec();
    let mut runs = Vec::new();
    if !more.is_empty() {
        let mut of_runs = vec![Vec::new(), said.clone()];
        for files in more {
            let other = open_snapshot(files, progress)?;
            warnings.extend(output::named_warnings(&other.report));
            let compared = compare(&other)?;
            of_runs.push(conclude(&compared));
            let [_, side] = compared.sides;
            sides.push(side);
        }
        let names = run_names(files.iter().map(|files| files.path.as_path()));
        let rows = names.into_iter().zip(&sides).zip(of_runs);
        runs.extend(rows.map(|((name, side), said)| run_of_many(name, side, said)));
    }
    let figures = compared_figures(&sides.iter().collect::<Vec<_>>());
    let hint = "What the device has is not in the files: --capacity 16GiB";
    let answer = PeakComparison {
        system: "pytorch",
        tables: tables(&compared),
        peaks: peaks_text(&compared),
        paths: files.iter().map(|files| files.path.display().to_string()).collect(),
        sides: compared.sides.each_ref().map(side),
        memory,
        conclusions: said,
        runs,
        figures: figures.iter().map(figure).collect(),
        notes: room.capacity_bytes.is_none().then(|| hint.to_owned()).into_iter().collect(),
        section: Section { facts: facts(&compared, &figures, room), peaks: compared.peaks },
        settings: ("setting", compared.settings),
        counted: "blocks",
        shown: shown.clone(),
    };
    Ok((answer, warnings))
}

fn side(side: &ComparedSide) -> Side {
    let peak = side.took.requested_peak_bytes;
    Side {
        device: side.facts.device,
        device_title: side.device_title(),
        peak_bytes: Some(peak),
        not_always_live_bytes: Some(peak.saturating_sub(side.always_live_bytes)),
        always_live_bytes: side.always_live_bytes,
        step: Some(side.peak.step),
    }
}

fn run_of_many(name: String, side: &ComparedSide, conclusions: Vec<Conclusion>) -> RunOfMany {
    RunOfMany {
        name,
        device_title: side.device_title(),
        keys: json!({
            "device": side.facts.device,
            "finished": side.variant.outcome.finished(),
        }),
        conclusions,
    }
}

fn figure(figure: &ComparedFigure) -> FigureRow {
    FigureRow {
        key: figure.figure.key(),
        title: figure.figure.title(),
        is_bytes: figure.figure.is_bytes(),
        values: figure.values.iter().copied().map(Some).collect(),
        are_at_least: figure.are_at_least.clone(),
    }
}

/// The section `memory` of `summary`, with both values of every figure.
fn memory_of_both(both: [&SnapshotRun; 2]) -> Map<String, Value> {
    both_of_sections(both.map(|run| {
        // It has no keys but texts, so this cannot fail.
        let memory = |replayed: &Arc<ReplayedSnapshot>| {
            serde_json::to_value(memory_totals(replayed)).unwrap_or_default()
        };
        run.allocator.snapshot().map_or(Value::Null, memory)
    }))
}

fn name_of(row: &FunctionRow) -> String {
    row.function.as_ref().map_or_else(|| NO_STACK.to_owned(), Function::title)
}

fn peaks_text(compared: &ComparedSnapshots) -> String {
    let [source, target] = compared.sides.each_ref();
    let at = |side: &ComparedSide| match u64::try_from(side.peak.event) {
        Ok(event) => format!("at event {}", grouped(event)),
        Err(_) => "before the first event".to_owned(),
    };
    format!(
        "Requested peaks: {} {} of the source, {} {} of the target; events are not aligned",
        exact_bytes(source.took.requested_peak_bytes),
        at(source),
        exact_bytes(target.took.requested_peak_bytes),
        at(target),
    )
}

fn tables(compared: &ComparedSnapshots) -> Vec<PeakTable> {
    let peaks = &compared.peaks;
    let by_category = peaks.by_category.iter().map(|(category, both)| {
        PeakRow::named(category.as_str(), category.title().to_owned(), *both)
    });
    let by_function = peaks.by_function.iter().map(|function| {
        let name = name_of(function);
        PeakRow::named(&name, name_cell(&name), function.both)
    });
    let by_frames = peaks.rows.iter().map(|row| PeakRow {
        name: row.title(),
        long_name: LongName::Frames(row.frames.clone()),
        size: row.size,
        cells: cells_of(row),
        both: row.both,
    });
    vec![
        PeakTable {
            by: By::Category,
            title: "By category",
            words: vec!["<"],
            rows: by_category.collect(),
        },
        PeakTable {
            by: By::Module,
            title: "By function",
            words: vec!["<"],
            rows: by_function.collect(),
        },
        PeakTable {
            by: By::Variable,
            title: "By user frames and size",
            words: vec!["<", "<called by", "<", "each", "blocks", "<"],
            rows: by_frames.collect(),
        },
    ]
}

fn callers(row: &ComparedRow) -> String {
    let names: Vec<&str> = row.frames.iter().skip(1).map(|function| &*function.name).collect();
    match &row.of_source {
        Some(function) => format!("was in {}", function.title()),
        None => names.join(" < "),
    }
}

fn cells_of(row: &ComparedRow) -> Vec<String> {
    vec![
        name_cell(&row.title()),
        name_cell(&callers(row)),
        row.category.title().to_owned(),
        row.size.map_or_else(|| "several".to_owned(), bytes),
        counts_cell(&row.both),
        row.change().title().to_owned(),
    ]
}

fn peak_moment(side: &ComparedSide) -> Value {
    let PeakMoment { event, step, action, annotations, function, .. } = &side.peak;
    json!({
        "bytes": side.took.requested_peak_bytes,
        "event": event,
        "step": step,
        "action": action,
        "annotations": annotations,
        "function": function.as_ref().map(Function::title),
    })
}

/// What snapshots say of themselves alone.
struct Section {
    facts: Value,
    peaks: ComparedPeaks,
}

impl Serialize for Section {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut section = serializer.serialize_map(None)?;
        for (key, value) in self.facts.as_object().into_iter().flatten() {
            section.serialize_entry(key, value)?;
        }
        section.serialize_entry("rows", &OneByOne(|| self.peaks.rows.iter().map(row_of)))?;
        section.end()
    }
}

fn row_of(compared: &ComparedRow) -> Value {
    let frames: Value = compared.frames.iter().map(Function::title).collect();
    row(
        json!({
            "frames": frames,
            "frame_of_source": compared.of_source.as_ref().map(Function::title),
            "block_bytes": compared.size,
            "category": compared.category.as_str(),
            "change": compared.change().as_str(),
            "matched_by": compared.matched.map(MatchedBy::as_str),
            "blocks": counts(&compared.both),
        }),
        &compared.both,
    )
}

fn facts(compared: &ComparedSnapshots, figures: &[ComparedFigure], room: Room) -> Value {
    let [source, target] = compared.sides.each_ref();
    let both = |value: &dyn Fn(&ComparedSide) -> Value| json!({ "source": value(source), "target": value(target) });
    let percent = figures.iter().filter(|figure| figure.figure.is_bytes());
    let percent =
        percent.map(|figure| (figure.figure.key().to_owned(), json!(figure.percent_of_source(1))));
    json!({
        "device": both(&|side| side.facts.device.into()),
        "finished": both(&|side| side.variant.outcome.finished().into()),
        "cut": both(&|side| side.variant.is_cut.into()),
        "recorded": both(&|side| side.took.recorded.key().into()),
        "history_complete": both(&|side| side.facts.history_complete.into()),
        "max_allocated_from": both(&|side| side.took.max_allocated_from.as_str().into()),
        "oom_request_bytes": both(&|side| json!(side.took.failed_request_bytes)),
        "recomputed_allocations": both(&|side| side.recomputed.into()),
        "stated_capacity_bytes": both(&|side| json!(side.variant.stated_capacity_bytes)),
        "stated_other_bytes": both(&|side| json!(side.variant.stated_other_bytes)),
        "capacity_bytes": room.capacity_bytes,
        "other_bytes": room.other_bytes,
        "peak": both(&peak_moment),
        "percent": percent.collect::<Map<String, Value>>(),
    })
}
