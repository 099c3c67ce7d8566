//! `tilescope sweep` of memory snapshots: the variants of one training run, in percent of a reference.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{SweepArguments, output};
use crate::analysis::variants::{
    NoReference, SnapshotTook, Took, Variant, VariantColumn, VariantTable, ran,
};
use crate::cli::output::{Answer, CsvAnswer, Document, aligned, name_cell};
use crate::csv::line;
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{XlaFiles, files_of_run, find_module};
use crate::store::Warnings;
use crate::systems::pytorch::allocator::run_end::Recorded;
use crate::systems::pytorch::files::SnapshotFiles;
use crate::text::{self, clean, exact_bytes};
use crate::variant_sweep::{read_programs, read_variants};

const UNKNOWN: &str = "–";
const MIB: u64 = 1 << 20;

/// Refuses options that only snapshots have.
pub fn check_no_options(arguments: &SweepArguments) -> Result<(), Error> {
    let SweepArguments { capacity, other, reference, device, module, .. } = arguments;
    let given = [
        ("--capacity", capacity.is_some()),
        ("--other", other.is_some()),
        ("--reference", reference.is_some()),
        ("--device", device.is_some()),
        ("--module", module.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => {
            let message =
                format!("{option} is of memory snapshots and programs of XLA, and there are none");
            Err(Error::new(ErrorKind::Usage, message)
                .hint("Reports of Poplar know what their devices have."))
        }
    }
}

/// Says what is wrong with the arguments before anything is read.
fn check_arguments(arguments: &SweepArguments, snapshots: &[SnapshotFiles]) -> Result<(), Error> {
    if arguments.by.is_some() {
        let message = "--by is of reports of Poplar; memory snapshots have one table";
        return Err(Error::new(ErrorKind::Usage, message).hint("Leave it out."));
    }
    let is_other = |path: &&PathBuf| !snapshots.iter().any(|snapshot| &snapshot.path == *path);
    for path in arguments.paths.iter().filter(is_other) {
        let metadata = std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        if !metadata.is_dir() {
            files_of_run(path, &Progress::default())?;
            let message = format!("{} is no memory snapshot", path.display());
            return Err(Error::new(ErrorKind::NotAReport, message)
                .in_file(path)
                .hint("Files that torch.cuda.memory._dump_snapshot writes are compared here."));
        }
    }
    Ok(())
}

/// Reads the snapshots and puts them side by side; `warnings` has what there is to say of how they were found.
pub fn run(
    arguments: &SweepArguments,
    snapshots: &[SnapshotFiles],
    warnings: &Warnings,
) -> ExitCode {
    let result = output::with_progress("Reading the snapshots", |progress| {
        check_arguments(arguments, snapshots)?;
        let variants = read_variants(snapshots, arguments.device, warnings, progress)?;
        let warnings = warnings.list();
        warnings.iter().for_each(output::print_warning);
        if variants.is_empty() {
            return Err(no_variants(arguments.device));
        }
        let answer = VariantReport::of(arguments, variants)?;
        Ok(Document::new(answer, warnings))
    });
    let text = if arguments.csv { VariantReport::csv } else { VariantReport::text };
    output::finish(&result, arguments.json, text)
}

/// That no snapshot has the device that is asked for, or any.
fn no_variants(device: Option<i64>) -> Error {
    let number = device.map_or_else(String::new, |number| format!(" {number}"));
    Error::new(ErrorKind::Usage, format!("none of the snapshots has a device{number}"))
        .hint("tilescope summary FILE lists the devices of a snapshot.")
}

/// The same of programs of XLA.
pub fn run_programs(
    arguments: &SweepArguments,
    programs: &[XlaFiles],
    warnings: &Warnings,
) -> ExitCode {
    let result = output::with_progress("Reading the modules", |progress| {
        if arguments.by.is_some() {
            let message = "--by is of reports of Poplar; programs of XLA have one table";
            return Err(Error::new(ErrorKind::Usage, message).hint("Leave it out."));
        }
        let is_taken = |path: &PathBuf| {
            let of_run =
                |files: &XlaFiles| files.modules.iter().any(|one| one.at.path().starts_with(path));
            programs.iter().any(of_run)
        };
        for path in arguments.paths.iter().filter(|path| !is_taken(path)) {
            // What is damaged is a warning.
            if find_module(path, None, progress).is_ok_and(|found| found.is_none()) {
                files_of_run(path, progress)?;
            }
        }
        let color = arguments.device.unwrap_or(0);
        let variants = read_programs(programs, color, warnings, progress)?;
        let warnings = warnings.list();
        warnings.iter().for_each(output::print_warning);
        let answer = VariantReport::of(arguments, variants)?;
        Ok(Document::new(answer, warnings))
    });
    let text = if arguments.csv { VariantReport::csv } else { VariantReport::text };
    output::finish(&result, arguments.json, text)
}

/// `tilescope.sweep/1` of snapshots and programs (cli.md, Other systems).
#[derive(Debug)]
struct VariantReport {
    paths: Vec<String>,
    table: VariantTable,
}

impl VariantReport {
    fn of(arguments: &SweepArguments, variants: Vec<Variant>) -> Result<Self, Error> {
        let names: Vec<String> = variants.iter().map(|row| clean(&row.name).into_owned()).collect();
        let reference = arguments.reference.as_deref();
        let other = arguments.other.unwrap_or(0);
        let table = VariantTable::new(variants, arguments.capacity, other, reference);
        let table = table.map_err(|error| {
            let name = clean(reference.unwrap_or_default());
            let message = match error {
                NoReference::NotThere => format!("no variant is called {name}"),
                NoReference::Cut => {
                    format!("the file of {name} is cut: its figures are of no whole run")
                }
                NoReference::NotRecorded => {
                    format!(
                        "{name} has no events, or one of its ranks has none: nobody knows what the run took at most"
                    )
                }
            };
            let hint = format!("These are there: {}.", names.join(", "));
            Error::new(ErrorKind::Usage, message).hint(hint)
        })?;
        let paths = arguments.paths.iter().map(|path| path.display().to_string()).collect();
        Ok(Self { paths, table })
    }
}

impl Serialize for VariantReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let table = &self.table;
        let rows = table.rows.iter().enumerate();
        let rows = rows.map(|(place, row)| match &row.took {
            Took::Snapshot(took) => snapshot_row(table, place, row, took),
            Took::Program(_) => program_row(table, place, row),
        });
        let stated = table
            .rows
            .iter()
            .filter_map(|row| Some((row.name.clone(), json!(row.stated_capacity_bytes?))));
        json!({
            "system": if table.is_of_programs() { "xla" } else { "pytorch" },
            "paths": self.paths,
            "capacity_bytes": table.capacity_bytes,
            "other_bytes": table.other_bytes,
            "reference": table.name(table.reference),
            "least_needed": table.name(table.least_needed()),
            // Of error texts beside snapshots, rounded by who wrote them.
            "stated_capacity_bytes": stated.collect::<Map<String, Value>>(),
            "rows": rows.collect::<Value>(),
        })
        .serialize(serializer)
    }
}

/// What of a snapshot is given in percent, besides what nvidia-smi said.
const IN_PERCENT: [VariantColumn; 4] = [
    VariantColumn::Allocated,
    VariantColumn::MaxAllocated,
    VariantColumn::MaxReserved,
    VariantColumn::RequestedPeak,
];

fn snapshot_row(table: &VariantTable, place: usize, row: &Variant, took: &SnapshotTook) -> Value {
    let columns = || IN_PERCENT.into_iter().chain(row.smi_bytes.map(|_| VariantColumn::Smi));
    let percent: BTreeMap<&str, Option<f64>> =
        columns().map(|column| (column.key(), table.percent(row, column))).collect();
    let previous: BTreeMap<&str, Option<f64>> =
        columns().map(|column| (column.key(), table.percent_of_previous(place, column))).collect();
    let mut value = json!({
        "variant": row.name,
        "finished": row.outcome.finished(),
        "allocated_bytes": took.allocated_bytes,
        "max_allocated_bytes": took.max_allocated_bytes,
        "max_allocated_from": took.max_allocated_from.as_str(),
        "reserved_bytes": took.reserved_bytes,
        "max_reserved_bytes": took.max_reserved_bytes,
        "requested_peak_bytes": took.requested_peak_bytes,
        "oom_request_bytes": took.failed_request_bytes,
        "needed_bytes": row.needed_bytes,
        "oversubscription_bytes": table.oversubscription_bytes(row),
        "percent": percent,
        "percent_of_previous": previous,
    });
    if took.recorded != Recorded::Whole {
        value["recorded"] = json!(took.recorded.key());
        value["max_reserved_from"] = json!(took.max_reserved_from.as_str());
    }
    if let Some(of) = row.rank {
        value["rank"] = json!(of.rank);
        value["gpu"] = json!(of.gpu);
    }
    with_what_is_said(value, row)
}

fn program_row(table: &VariantTable, place: usize, row: &Variant) -> Value {
    let columns = || VariantColumn::of(table).into_iter();
    let mut value: Map<String, Value> = columns()
        .map(|column| (column.key().to_owned(), json!(column.bytes(table, row))))
        .collect();
    let percent = columns().filter(|column| column.has_percent());
    let percent: BTreeMap<&str, Option<f64>> =
        percent.map(|column| (column.key(), table.percent(row, column))).collect();
    let previous = columns().filter(|column| column.has_percent_of_previous());
    let previous: BTreeMap<&str, Option<f64>> =
        previous.map(|column| (column.key(), table.percent_of_previous(place, column))).collect();
    value.insert("variant".to_owned(), json!(row.name));
    value.insert("path".to_owned(), json!(row.path.display().to_string()));
    value.insert("needed_bytes".to_owned(), json!(row.needed_bytes));
    value.insert("fits".to_owned(), json!(table.fit_of_program(row).fits()));
    value.insert("percent".to_owned(), json!(percent));
    value.insert("percent_of_previous".to_owned(), json!(previous));
    with_what_is_said(Value::Object(value), row)
}

/// What a row has only where there is something to say.
fn with_what_is_said(mut value: Value, row: &Variant) -> Value {
    if row.is_cut {
        value["cut"] = json!(true);
    }
    if let Some(bytes) = row.smi_bytes {
        value["smi_bytes"] = json!(bytes);
    }
    value
}

/// MiB rounded down, as PyTorch's users print them.
fn mib(bytes: u64) -> String {
    (bytes / MIB).to_string()
}

fn percent_cell(percent: Option<f64>) -> String {
    percent.map_or_else(|| UNKNOWN.to_owned(), |percent| format!("{percent:.1} %"))
}

impl Answer for VariantReport {
    const SCHEMA: &'static str = "tilescope.sweep/1";

    fn text(&self) -> String {
        let table = &self.table;
        let columns = VariantColumn::of(table);
        let state = format!("<{}", table.state_title());
        let mut header = vec!["<".to_owned(), "<variant".to_owned(), state];
        let is_of_programs = table.is_of_programs();
        for column in &columns {
            let unit = if *column == VariantColumn::Allocated { " MiB" } else { "" };
            header.push(format!("{}{unit}", column.title()));
            header.extend(column.has_percent().then(String::new));
            let before = if is_of_programs { "of the one before" } else { "of previous" };
            header.extend(column.has_percent_of_previous().then(|| before.to_owned()));
        }
        let least = table.least_needed();
        let rows = table.rows.iter().enumerate().map(|(place, row)| {
            let mark = if table.reference == Some(place) {
                "R"
            } else if least == Some(place) {
                "*"
            } else {
                ""
            };
            let mut cells = vec![mark.to_owned(), name_cell(&row.name), ran(row).to_owned()];
            for column in &columns {
                let at_least = if column.is_at_least(row) { "≥ " } else { "" };
                let bytes = column.bytes(table, row);
                cells.push(bytes.map_or_else(
                    || UNKNOWN.to_owned(),
                    // A program may be small, and its figures are exact.
                    |bytes| {
                        if is_of_programs {
                            format!("{at_least}{}", text::bytes(bytes))
                        } else {
                            format!("{at_least}{}", mib(bytes))
                        }
                    },
                ));
                if column.has_percent() {
                    cells.push(percent_cell(table.percent(row, *column)));
                }
                if column.has_percent_of_previous() {
                    cells.push(percent_cell(table.percent_of_previous(place, *column)));
                }
            }
            cells
        });
        let mut text = aligned(&header, rows);
        text.push('\n');
        text += &self.notes();
        text
    }
}

impl VariantReport {
    /// What the table is about, below it.
    fn notes(&self) -> String {
        let table = &self.table;
        let rounded = (!table.is_of_programs()).then(|| "Sizes in MiB, rounded down.".to_owned());
        let mut lines: Vec<String> = rounded.into_iter().collect();
        let mark = if table.reference.is_some() { "R " } else { "" };
        lines.push(format!("{mark}{}", clean(&table.reference_text())));
        lines.extend(table.least_text(exact_bytes).map(|text| format!("* {}", clean(&text))));
        lines.push(table.capacity_text(exact_bytes).unwrap_or_else(|| {
            let stated = table.stated_capacity_bytes();
            match (stated, table.is_of_programs()) {
                (Some(bytes), true) => {
                    format!("What lies beside them states a capacity of {}.", exact_bytes(bytes))
                }
                (Some(bytes), false) => format!(
                    "What the device has is not in the files: --capacity 16GiB. An error text beside them states {}.",
                    exact_bytes(bytes)
                ),
                (None, _) => "What the device has is not in the files: --capacity 16GiB.".to_owned(),
            }
        }));
        lines.extend(table.rank_texts().map(|text| clean(&text).into_owned()));
        lines.extend(table.footnotes().into_iter().map(str::to_owned));
        lines.join("\n") + "\n"
    }
}

impl CsvAnswer for VariantReport {
    fn csv(&self) -> String {
        let table = &self.table;
        if table.is_of_programs() {
            return programs_csv(table);
        }
        let titles = [
            "variant",
            "finished",
            "allocated_bytes",
            "max_allocated_bytes",
            "max_allocated_from",
            "reserved_bytes",
            "max_reserved_bytes",
            "requested_peak_bytes",
            "oom_request_bytes",
            "needed_bytes",
            "oversubscription_bytes",
            "smi_bytes",
            "allocated_percent",
            "max_allocated_percent",
            "max_reserved_percent",
            "requested_peak_percent",
            "smi_percent",
            "allocated_percent_of_previous",
            "max_allocated_percent_of_previous",
            "max_reserved_percent_of_previous",
            "requested_peak_percent_of_previous",
            "smi_percent_of_previous",
        ];
        let mut text = line(titles.map(str::to_owned));
        let number = |bytes: Option<u64>| bytes.map_or_else(String::new, |bytes| bytes.to_string());
        let share =
            |percent: Option<f64>| percent.map_or_else(String::new, |one| format!("{one:.1}"));
        for (place, row) in table.rows.iter().enumerate() {
            let Some(took) = row.snapshot() else { continue };
            let percent = |column: VariantColumn| share(table.percent(row, column));
            let previous = |column: VariantColumn| share(table.percent_of_previous(place, column));
            text += &line([
                clean(&row.name).into_owned(),
                row.outcome.finished().map_or_else(String::new, |finished| finished.to_string()),
                took.allocated_bytes.to_string(),
                took.max_allocated_bytes.to_string(),
                took.max_allocated_from.as_str().to_owned(),
                took.reserved_bytes.to_string(),
                took.max_reserved_bytes.to_string(),
                took.requested_peak_bytes.to_string(),
                number(took.failed_request_bytes),
                row.needed_bytes.to_string(),
                number(table.oversubscription_bytes(row)),
                number(row.smi_bytes),
                percent(VariantColumn::Allocated),
                percent(VariantColumn::MaxAllocated),
                percent(VariantColumn::MaxReserved),
                percent(VariantColumn::RequestedPeak),
                percent(VariantColumn::Smi),
                previous(VariantColumn::Allocated),
                previous(VariantColumn::MaxAllocated),
                previous(VariantColumn::MaxReserved),
                previous(VariantColumn::RequestedPeak),
                previous(VariantColumn::Smi),
            ]);
        }
        text
    }
}

fn programs_csv(table: &VariantTable) -> String {
    let columns = VariantColumn::of(table);
    let mut titles = vec!["variant".to_owned(), "path".to_owned(), "state".to_owned()];
    for column in &columns {
        let name = column.key().trim_end_matches("_bytes");
        titles.push(column.key().to_owned());
        titles.extend(column.has_percent().then(|| format!("{name}_percent")));
        let previous = column.has_percent_of_previous();
        titles.extend(previous.then(|| format!("{name}_percent_of_previous")));
    }
    let mut text = line(titles);
    let share = |percent: Option<f64>| percent.map_or_else(String::new, |one| format!("{one:.1}"));
    for (place, row) in table.rows.iter().enumerate() {
        let path = row.path.display().to_string();
        let mut cells =
            vec![clean(&row.name).into_owned(), clean(&path).into_owned(), ran(row).to_owned()];
        for column in &columns {
            let bytes = column.bytes(table, row);
            cells.push(bytes.map_or_else(String::new, |bytes| bytes.to_string()));
            cells.extend(column.has_percent().then(|| share(table.percent(row, *column))));
            let previous = column.has_percent_of_previous();
            cells.extend(previous.then(|| share(table.percent_of_previous(place, *column))));
        }
        text += &line(cells);
    }
    text
}
