//! A lake in tests: written by the program, read with the parquet crate.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use tilescope::cli::sweep::{SweepArguments, SweepReport};
use tilescope::format::Progress;
use tilescope::run::RunTable;
use tilescope::systems::SYSTEMS;

use crate::common;

/// A row by the names of its columns.
pub type Row = BTreeMap<String, Value>;

/// Exports as a user does; what the command said.
pub fn export(paths: &[&Path], lake: &Path) -> Value {
    let mut arguments = vec!["export", "--json", "--parquet", lake.to_str().unwrap()];
    arguments.extend(paths.iter().map(|path| path.to_str().unwrap()));
    let output = common::tilescope(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    common::json(&output)
}

/// `sweep` of a folder, figures as they are: parsing a text would round the last digit of some.
pub fn sweep(folder: &Path) -> Value {
    let arguments = SweepArguments::of_path(folder.to_owned());
    serde_json::to_value(SweepReport::of(&arguments, &Progress::default()).unwrap()).unwrap()
}

/// The rows of all runs of a table, with the column `run`.
pub fn rows(lake: &Path, table: &str) -> Vec<Row> {
    let mut runs: Vec<_> = std::fs::read_dir(lake.join(table)).unwrap().flatten().collect();
    runs.sort_by_key(std::fs::DirEntry::file_name);
    let id = |entry: &std::fs::DirEntry| {
        entry.file_name().to_str().unwrap().strip_prefix("run=").unwrap().to_owned()
    };
    runs.iter().flat_map(|entry| of_run(lake, table, &id(entry))).collect()
}

/// The runs of a system.
pub fn runs_of(lake: &Path, system: &str) -> Vec<Row> {
    let mut runs = rows(lake, "runs");
    runs.retain(|run| run["system"] == system);
    runs
}

/// The rows of a run.
pub fn of_run(lake: &Path, table: &str, run: &str) -> Vec<Row> {
    let file = lake.join(table).join(format!("run={run}/part.parquet"));
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let of_batch = |batch: &RecordBatch| {
        let row = |row: usize| {
            let named = batch.schema_ref().fields().iter().zip(batch.columns());
            let cells = named.map(|(field, column)| (field.name().clone(), cell(column, row)));
            cells.chain([("run".to_owned(), json!(run))]).collect::<Row>()
        };
        (0..batch.num_rows()).map(row).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of_batch).collect()
}

fn cell(column: &dyn Array, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => json!(column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => json!(column.as_boolean().value(row)),
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        other => panic!("{other}"),
    }
}

/// A figure that is there.
pub fn integer(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no integer"))
}

/// A column added up.
pub fn sum(rows: &[Row], column: &str) -> i64 {
    rows.iter().map(|row| integer(&row[column])).sum()
}

/// Compares every run of a lake with its row in `sweep --json`, and its options with those that vary there.
pub fn runs_are_those_of_the_sweep(lake: &Path, sweep: &Value) {
    let runs = rows(lake, "runs");
    let expected = sweep["runs"].as_array().unwrap();
    assert_eq!(runs.len(), expected.len());
    for row in expected {
        let run = runs.iter().find(|run| run["path"] == row["path"]).unwrap();
        for key in ["system", "no_report"] {
            assert_eq!(run[key], row[key], "{key}");
        }
        let verdict = &row["verdict"];
        for key in
            ["outcome", "cause", "used_bytes", "capacity_bytes", "capacity_from", "over_bytes"]
        {
            assert_eq!(run[key], verdict[key], "{key}");
        }
        let fits = match verdict["outcome"].as_str() {
            Some("fits") => Value::Bool(true),
            Some("does-not-fit") => Value::Bool(false),
            _ => Value::Null,
        };
        assert_eq!(run["fits"], fits);
        let figures = row["figures"].as_object().unwrap();
        assert!(figures.len() > 6, "{row}");
        for (key, value) in figures {
            assert_eq!(run[key], *value, "{key}");
        }
        let at_least: Vec<&str> =
            run["at_least"].as_str().into_iter().flat_map(|keys| keys.split(',')).collect();
        assert_eq!(json!(at_least), row["at_least"]);
        let options = of_run(lake, "options", run["run"].as_str().unwrap());
        // Where runs are files, a sweep calls them by their directories.
        let is_named_alike = run["name"] == row["name"];
        assert!(is_named_alike || row["system"] != "poplar", "{row}");
        for (id, value) in row["settings"].as_object().unwrap() {
            let found = options.iter().find(|option| option["id"] == *id);
            match (found, value) {
                _ if id == "directory" && !is_named_alike => {}
                (None, Value::Null) => {}
                (Some(found), Value::String(text)) => assert_eq!(found["value"], *text),
                (Some(found), value) => {
                    assert_eq!(found["number"].as_f64(), value.as_f64(), "{id}");
                }
                (None, value) => panic!("{id} is {value}"),
            }
        }
    }
}

/// The tables of a system that only its runs have.
pub fn tables_of(system: &str) -> &'static [RunTable] {
    let mut systems = SYSTEMS.iter();
    systems.find(|one| one.words().name == system).unwrap().tables()
}

/// Whether the document has every column of some tables, which are lines of a section of it.
pub fn columns_are_documented(section: &str, tables: &[RunTable]) {
    let document = std::fs::read_to_string(common::in_package("docs/user/lake.md")).unwrap();
    let section = document.split(&format!("\n### {section}\n")).nth(1).unwrap();
    for table in tables {
        let line = section.lines().find(|line| line.starts_with(&format!("| `{}` |", table.name)));
        let line = line.unwrap_or_else(|| panic!("{}", table.name));
        for (column, _) in table.columns {
            assert!(line.contains(&format!("`{column}`")), "{} {column}", table.name);
        }
    }
}
