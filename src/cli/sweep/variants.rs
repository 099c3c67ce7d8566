//! `tilescope sweep` of memory snapshots: the variants of one training run, in percent of a reference.

use std::process::ExitCode;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{SweepArguments, output};
use crate::analysis::allocator::run_end::Recorded;
use crate::analysis::variants::{NoReference, Variant, VariantColumn, VariantTable, ran};
use crate::cli::output::{Answer, CsvAnswer, Document, aligned, name_cell};
use crate::csv::line;
use crate::format::pytorch::SnapshotFiles;
use crate::format::{Error, ErrorKind};
use crate::store::Warnings;
use crate::text::{clean, exact_bytes};
use crate::variant_sweep::read_variants;

const UNKNOWN: &str = "–";
const MIB: u64 = 1 << 20;

/// Refuses options that only snapshots have.
pub fn check_no_options(arguments: &SweepArguments) -> Result<(), Error> {
    let SweepArguments { capacity, other, reference, device, .. } = arguments;
    let given = [
        ("--capacity", capacity.is_some()),
        ("--other", other.is_some()),
        ("--reference", reference.is_some()),
        ("--device", device.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => {
            let message = format!("{option} is of memory snapshots, and there are none");
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
    for path in &arguments.paths {
        let metadata = std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        if !metadata.is_dir() && !snapshots.iter().any(|snapshot| &snapshot.path == path) {
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
        let answer = VariantReport::of(arguments, variants)?;
        Ok(Document::new(answer, warnings))
    });
    let text = if arguments.csv { VariantReport::csv } else { VariantReport::text };
    output::finish(&result, arguments.json, text)
}

/// `tilescope.sweep/1` of snapshots (cli.md, Other systems).
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
                    format!("{name} has no events: nobody knows what the run took at most")
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
        let row = |row: &Variant| {
            let mut value = json!({
                "variant": row.name,
                "finished": row.outcome.finished(),
                "allocated_bytes": row.allocated_bytes,
                "max_allocated_bytes": row.max_allocated_bytes,
                "max_allocated_from": row.max_allocated_from.as_str(),
                "reserved_bytes": row.reserved_bytes,
                "max_reserved_bytes": row.max_reserved_bytes,
                "requested_peak_bytes": row.requested_peak_bytes,
                "oom_request_bytes": row.failed_request_bytes,
                "needed_bytes": row.needed_bytes,
                "oversubscription_bytes": table.oversubscription_bytes(row),
                "percent": table.percent(row),
            });
            if row.recorded != Recorded::Whole {
                value["recorded"] = json!(row.recorded.key());
                value["max_reserved_from"] = json!(row.max_reserved_from.as_str());
            }
            if row.is_cut {
                value["cut"] = json!(true);
            }
            if let Some(bytes) = row.smi_bytes {
                value["smi_bytes"] = json!(bytes);
            }
            value
        };
        let stated = table
            .rows
            .iter()
            .filter_map(|row| Some((row.name.clone(), json!(row.stated_capacity_bytes?))));
        json!({
            "system": "pytorch",
            "paths": self.paths,
            "capacity_bytes": table.capacity_bytes,
            "other_bytes": table.other_bytes,
            "reference": table.name(table.reference),
            "least_needed": table.name(table.least_needed()),
            // Of error texts beside snapshots, rounded by who wrote them.
            "stated_capacity_bytes": stated.collect::<serde_json::Map<String, Value>>(),
            "rows": table.rows.iter().map(row).collect::<Value>(),
        })
        .serialize(serializer)
    }
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
        let mut header = vec!["<".to_owned(), "<variant".to_owned(), "<ran".to_owned()];
        for column in &columns {
            let unit = if *column == VariantColumn::Allocated { " MiB" } else { "" };
            header.push(format!("{}{unit}", column.title()));
            header.extend(column.has_percent().then(String::new));
        }
        let least = table.least_needed();
        let rows = table.rows.iter().enumerate().map(|(place, row)| {
            let percent = table.percent(row);
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
                    |bytes| format!("{at_least}{}", mib(bytes)),
                ));
                if column.has_percent() {
                    cells.push(percent_cell(column.percent(&percent)));
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
        let mut lines = vec!["Sizes in MiB, rounded down.".to_owned()];
        let mark = if table.reference.is_some() { "R " } else { "" };
        lines.push(format!("{mark}{}", clean(&table.reference_text())));
        lines.extend(table.least_text(exact_bytes).map(|text| format!("* {}", clean(&text))));
        lines.push(table.capacity_text(exact_bytes).unwrap_or_else(|| {
            let stated = table.stated_capacity_bytes().map_or_else(String::new, |bytes| {
                format!(" An error text beside them states {}.", exact_bytes(bytes))
            });
            format!("What the device has is not in the files: --capacity 16GiB.{stated}")
        }));
        lines.extend(table.footnotes().into_iter().map(str::to_owned));
        lines.join("\n") + "\n"
    }
}

impl CsvAnswer for VariantReport {
    fn csv(&self) -> String {
        let table = &self.table;
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
        ];
        let mut text = line(titles.map(str::to_owned));
        let number = |bytes: Option<u64>| bytes.map_or_else(String::new, |bytes| bytes.to_string());
        let share =
            |percent: Option<f64>| percent.map_or_else(String::new, |one| format!("{one:.1}"));
        for row in &table.rows {
            let percent = table.percent(row);
            text += &line([
                clean(&row.name).into_owned(),
                row.outcome.finished().map_or_else(String::new, |finished| finished.to_string()),
                row.allocated_bytes.to_string(),
                row.max_allocated_bytes.to_string(),
                row.max_allocated_from.as_str().to_owned(),
                row.reserved_bytes.to_string(),
                row.max_reserved_bytes.to_string(),
                row.requested_peak_bytes.to_string(),
                number(row.failed_request_bytes),
                row.needed_bytes.to_string(),
                number(table.oversubscription_bytes(row)),
                number(row.smi_bytes),
                share(percent.allocated_bytes),
                share(percent.max_allocated_bytes),
                share(percent.max_reserved_bytes),
                share(percent.requested_peak_bytes),
                share(percent.smi_bytes),
            ]);
        }
        text
    }
}
