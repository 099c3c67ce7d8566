//! `tilescope compare` of programs of XLA.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::conclusions::Conclusion;
use super::peaks::{
    FigureRow, LongName, PeakComparison, PeakRow, PeakTable, RunOfMany, Side, check_by, counts, row,
};
use super::peaks_text::counts_cell;
use super::{By, CompareArguments};
use crate::analysis::compared_programs::{
    ComparedFigure, ComparedProgram, ComparedPrograms, NoSuchSpace, OtherParameters, PairedBy,
    ProgramRow, compared_figures, conclusions,
};
use crate::analysis::compared_snapshots::Room;
use crate::analysis::figures::difference::Difference;
use crate::cli::output::{self, Document, name_cell, open_program};
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{XlaFiles, XlaRun};
use crate::store::hlo::ListedModule;
use crate::store::hlo::Platform;
use crate::store::{Warning, WarningCode};
use crate::systems::xla::buffer_assignment::peaks::NO_OPERATION;
use crate::text::run_names::run_names;
use crate::text::{bytes, exact_bytes, grouped, shortened};

/// Compares programs.
pub(super) fn run(files: &[XlaFiles], arguments: &CompareArguments) -> ExitCode {
    let result = output::with_progress("Reading the modules", |progress| {
        let (answer, warnings) = compared(files, arguments, progress)?;
        warnings.iter().for_each(output::print_warning);
        Ok(Document::new(answer, warnings))
    });
    output::finish_in_parts(&result, arguments.json)
}

/// Reads and compares them, the others with the first. Of more than two no more than two are in memory.
fn compared(
    files: &[XlaFiles],
    arguments: &CompareArguments,
    progress: &Progress,
) -> Result<(PeakComparison<Value>, Vec<Warning>), Error> {
    let CompareArguments { device, shown, .. } = arguments;
    check_by(
        shown,
        &[By::Category, By::Operation, By::Variable],
        "Programs of XLA are compared by category, by operation, and by variable (operation, shape and category).",
    )?;
    let [first, second, more @ ..] = files else {
        return Err(Error::new(ErrorKind::Usage, "two programs are compared, or more"));
    };
    let (source, target) =
        rayon::join(|| open_program(first, progress), || open_program(second, progress));
    let (source, target) = (source?, target?);
    let mut warnings = output::named_warnings(&source.report);
    warnings.extend(output::named_warnings(&target.report));
    let (room, color) = (device.room(), device.device.unwrap_or(0));
    let compare = |target: &XlaRun| {
        let compared = ComparedPrograms::of([&source.program, &target.program], color);
        compared.map_err(|NoSuchSpace(side)| {
            if side == 0 { &source } else { target }.program.no_such_space(color)
        })
    };
    let title = source.program.color_words(color);
    let conclude = |compared: &ComparedPrograms| -> Vec<Conclusion> {
        conclusions(compared, room, &title, &bytes).iter().map(Conclusion::of_programs).collect()
    };
    let compared = compare(&target)?;
    let said = conclude(&compared);
    let title_of = |run: &XlaRun| {
        let module = &run.program.analysed.module.name;
        let space = run.program.color_title(color);
        if module.is_empty() { space } else { format!("{module}, {space}") }
    };
    let mut titles = vec![title_of(&source), title_of(&target)];
    drop(target);
    let mut sides: Vec<ComparedProgram> = compared.sides.to_vec();
    let [of_source, of_target] = &compared.sides;
    warnings.extend(other_module(of_source, of_target, second));
    let mut runs = Vec::new();
    if !more.is_empty() {
        let mut of_runs = vec![Vec::new(), said.clone()];
        for files in more {
            let other = open_program(files, progress)?;
            warnings.extend(output::named_warnings(&other.report));
            let compared = compare(&other)?;
            of_runs.push(conclude(&compared));
            titles.push(title_of(&other));
            let [_, side] = compared.sides;
            warnings.extend(other_module(of_source, &side, files));
            sides.push(side);
        }
        let names = run_names(files.iter().map(|files| files.path.as_path()));
        let rows = names.into_iter().zip(&titles).zip(of_runs);
        runs.extend(rows.map(|((name, title), conclusions)| RunOfMany {
            name,
            device_title: title.clone(),
            keys: json!({ "device": color }),
            conclusions,
        }));
    }
    let figures = compared_figures(&sides.iter().collect::<Vec<_>>());
    let is_known = compared.sides.iter().any(|side| side.capacity_bytes(room).is_some());
    let hint = "What the device has is not in the files: --capacity 16GiB";
    let both = compared.sides.each_ref();
    let answer = PeakComparison {
        system: "xla",
        section: section(&compared, &figures, room, [first, second]),
        paths: files.iter().map(|files| files.path.display().to_string()).collect(),
        sides: [0, 1].map(|place| side(both[place], titles.get(place).cloned())),
        memory: memory(both, room),
        conclusions: said,
        runs,
        figures: figures.iter().map(figure).collect(),
        notes: (!is_known).then(|| hint.to_owned()).into_iter().collect(),
        peaks: peaks_text(both, &title),
        tables: tables(&compared),
        settings: ("flag", compared.flags),
        counted: "values",
        shown: shown.clone(),
    };
    Ok((answer, warnings))
}

/// That a program is of another module than the first.
fn other_module(
    first: &ComparedProgram,
    other: &ComparedProgram,
    files: &XlaFiles,
) -> Option<Warning> {
    if other.is_of_module_of(first) {
        return None;
    }
    let [name, of_first] = [other, first].map(|side| shortened(&side.module, 60));
    let message = format!(
        "it is {name} and the first is {of_first}: these are different modules, so nothing is said to be better or worse"
    );
    let (code, file) = (WarningCode::Inconsistent, files.path.display().to_string());
    Some(Warning { code, file, message })
}

fn side(side: &ComparedProgram, title: Option<String>) -> Side {
    let lives = side.figures.lives;
    let peak_bytes = lives.map(|lives| lives.temporary_peak_bytes);
    Side {
        device: side.figures.color,
        device_title: title.unwrap_or_default(),
        peak_bytes,
        not_always_live_bytes: peak_bytes,
        always_live_bytes: side.figures.throughout_bytes(),
        step: side.peak.as_ref().map(|peak| i64::from(peak.position)),
    }
}

fn figure(figure: &ComparedFigure) -> FigureRow {
    FigureRow {
        key: figure.figure.key(),
        title: figure.figure.title(),
        is_bytes: figure.figure.is_bytes(),
        values: figure.values.clone(),
        are_at_least: Vec::new(),
    }
}

/// The section `memory` of `summary`, with both values of every figure.
fn memory(sides: [&ComparedProgram; 2], room: Room) -> Map<String, Value> {
    let both = |of: &dyn Fn(&ComparedProgram) -> Option<u64>| json!(Difference::of(sides.map(of)));
    let keys = [
        ("total_bytes", both(&|side| Some(side.figures.total_bytes))),
        ("always_live_bytes", both(&|side| Some(side.figures.throughout_bytes()))),
        ("gap_bytes", both(&|side| side.figures.lost_bytes())),
        ("capacity_bytes", both(&|side| side.capacity_bytes(room))),
    ];
    keys.into_iter().map(|(key, figure)| (key.to_owned(), figure)).collect()
}

fn peaks_text(sides: [&ComparedProgram; 2], title: &str) -> String {
    let names = ["source", "target"];
    let part = |(side, name): (&ComparedProgram, &str)| match (side.figures.lives, &side.peak) {
        (None, _) => format!("not known of the {name}"),
        (Some(_), None) => format!("nothing is temporary in the {name}"),
        (Some(lives), Some(peak)) => format!(
            "{} at position {} of the {name}",
            exact_bytes(lives.temporary_peak_bytes),
            grouped(u64::from(peak.position))
        ),
    };
    let parts: Vec<String> = sides.into_iter().zip(names).map(part).collect();
    format!(
        "Peaks of what is temporary in {title}: {}; positions are not aligned",
        parts.join(", ")
    )
}

fn operation_of(operation: Option<&String>) -> &str {
    operation.map_or(NO_OPERATION, String::as_str)
}

fn tables(compared: &ComparedPrograms) -> Vec<PeakTable> {
    let Some(peaks) = &compared.peaks else { return Vec::new() };
    let by_category = peaks.by_category.iter().map(|(category, both)| {
        PeakRow::named(category.as_str(), category.title().to_owned(), *both)
    });
    let by_operation = peaks.by_operation.iter().map(|(operation, both)| {
        let name = operation_of(operation.as_ref());
        PeakRow::named(name, name_cell(name), *both)
    });
    let by_value = peaks.rows.iter().map(|row| PeakRow {
        name: row.operation().to_owned(),
        long_name: LongName::Text(format!("{} {}", row.operation(), row.shape())),
        size: None,
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
            by: By::Operation,
            title: "By operation",
            words: vec!["<"],
            rows: by_operation.collect(),
        },
        PeakTable {
            by: By::Variable,
            title: "By operation, shape and category",
            words: vec!["<", "<in place of", "<shape", "<", "values", "<"],
            rows: by_value.collect(),
        },
    ]
}

fn cells_of(row: &ProgramRow) -> Vec<String> {
    vec![
        name_cell(row.operation()),
        name_cell(row.other_operation().unwrap_or_default()),
        name_cell(&row.shape()),
        row.kind().map_or("", |kind| kind.category.title()).to_owned(),
        counts_cell(&row.both),
        row.both.row_change().title().to_owned(),
    ]
}

fn place(side: &ComparedProgram) -> Value {
    let peak = side.peak.as_ref();
    json!({
        "bytes": side.figures.lives.map(|lives| lives.temporary_peak_bytes),
        "position": peak.map(|peak| peak.position),
        "opcode": peak.map(|peak| peak.opcode.as_str()),
        "instruction": peak.map(|peak| peak.instruction.as_str()),
        "operation": peak.and_then(|peak| peak.operation.as_deref()),
    })
}

/// The facts of the system.
fn section(
    compared: &ComparedPrograms,
    figures: &[ComparedFigure],
    room: Room,
    files: [&XlaFiles; 2],
) -> Value {
    let [source, target] = compared.sides.each_ref();
    let both = |value: &dyn Fn(&ComparedProgram) -> Value| json!({ "source": value(source), "target": value(target) });
    let [first, second] = files.map(|files| files.modules.first());
    let listed = |value: &dyn Fn(&ListedModule) -> Value| json!({ "source": first.map(|found| value(&found.listed)), "target": second.map(|found| value(&found.listed)) });
    let percent = figures.iter().filter(|figure| figure.figure.is_bytes());
    let percent =
        percent.map(|figure| (figure.figure.key().to_owned(), json!(figure.percent_of_source(1))));
    json!({
        "module": listed(&|one| json!(one.module)),
        "file": listed(&|one| json!(one.file)),
        "platform": both(&|side| json!(side.platform.map(Platform::as_str))),
        "color": source.figures.color,
        "cut": both(&|side| side.is_cut.into()),
        "stated_capacity_bytes": both(&|side| json!(side.stated_capacity_bytes)),
        "capacity_bytes": room.capacity_bytes,
        "other_bytes": room.other_bytes,
        "over_bytes": both(&|side| json!(side.over_bytes(room))),
        "peak": both(&place),
        "recomputed_instructions": both(&|side| json!(side.recomputed)),
        "parameters": parameters(&compared.parameters),
        "percent": percent.collect::<Map<String, Value>>(),
        "modules": modules(files),
        "rows": rows(compared),
    })
}

fn rows(compared: &ComparedPrograms) -> Value {
    let Some(peaks) = &compared.peaks else { return Value::Null };
    let rows = peaks.rows.iter().map(|one| {
        let shapes = one.kinds.each_ref().map(|kind| kind.as_ref().map(|kind| &kind.shape));
        row(
            json!({
                "operation": one.kind().and_then(|kind| kind.operation.as_deref()),
                "operation_of_source": one.other_operation(),
                "shape": { "source": shapes[0], "target": shapes[1] },
                "category": one.kind().map(|kind| kind.category.as_str()),
                "change": one.both.row_change().as_str(),
                "paired_by": one.paired.map(PairedBy::as_str),
                "values": counts(&one.both),
            }),
            &one.both,
        )
    });
    rows.collect()
}

fn parameters(parameters: &OtherParameters) -> Value {
    let [source, target] = parameters.counts;
    let changed = parameters.changed.iter().map(|changed| {
        let [source, target] = &changed.shapes;
        json!({
            "count": changed.count,
            "number": changed.number,
            "shape": { "source": source, "target": target },
            "dimension": changed.dimension.map(|[source, target]| json!({ "source": source, "target": target })),
        })
    });
    json!({
        "count": { "source": source, "target": target },
        "changed": changed.collect::<Value>(),
    })
}

/// The modules of two dumps by their names; of one name in the order of their files.
fn modules(files: [&XlaFiles; 2]) -> Value {
    let mut by_name: BTreeMap<&str, [Vec<&ListedModule>; 2]> = BTreeMap::new();
    for (side, files) in files.into_iter().enumerate() {
        let mut modules: Vec<&ListedModule> =
            files.modules.iter().map(|found| &found.listed).collect();
        modules.sort_by(|a, b| a.file.cmp(&b.file));
        for one in modules {
            let name = one.module.as_deref().unwrap_or_default();
            if let Some(list) = by_name.entry(name).or_default().get_mut(side) {
                list.push(one);
            }
        }
    }
    let rows = by_name.into_iter().flat_map(|(name, [source, target])| {
        (0..source.len().max(target.len())).map(move |place| {
            let pair = [source.get(place), target.get(place)];
            let sizes = |of: fn(&ListedModule) -> u64| {
                Difference::of(pair.map(|one| one.map(|one| of(one))))
            };
            json!({
                "module": name,
                "only": match pair {
                    [Some(_), None] => Some("source"),
                    [None, Some(_)] => Some("target"),
                    _ => None,
                },
                "total_bytes": sizes(|one| one.total_bytes),
                "temp_bytes": sizes(|one| one.temp_bytes),
            })
        })
    });
    rows.collect()
}
