//! `tilescope export`: the figures of runs as Parquet files, many runs side by side.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::chrome_trace;
use super::output::{self, Answer, Document};
use crate::lake::{ExportedRun, export};
use crate::text::{bytes, clean, counted, grouped};

/// Arguments of `tilescope export`.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Runs, or directories that hold runs at any depth. Links to directories are not followed.
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Write Parquet files into this directory, the lake: it gets a directory for each table, with a file for each run.
    /// Exporting a run again replaces its files. docs/user/lake.md lists the columns, with queries for DuckDB and Spark.
    #[arg(long, value_name = "DIR", required_unless_present = "chrome_trace")]
    pub parquet: Option<PathBuf>,
    /// Write the steps that ran as a trace for Perfetto or chrome://tracing instead. IPU reports record them.
    #[arg(long, value_name = "FILE", conflicts_with = "parquet")]
    pub chrome_trace: Option<PathBuf>,
    /// The module to export where a run has several: a part of its name or of its file's name.
    #[arg(long, value_name = "NAME", conflicts_with = "chrome_trace")]
    pub module: Option<String>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `tilescope.export/1`: what was written.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Export {
    lake: String,
    runs: Vec<ExportedRun>,
}

/// Runs the command.
pub fn run(arguments: &ExportArguments) -> ExitCode {
    if let Some(file) = &arguments.chrome_trace {
        return chrome_trace::run(&arguments.paths, file, arguments.json);
    }
    let lake = &arguments.parquet.clone().unwrap_or_default();
    let result = output::with_progress("Exporting the runs", |progress| {
        let exported = export(&arguments.paths, arguments.module.as_deref(), lake, progress)?;
        exported.shared_warnings().iter().for_each(output::print_warning);
        let warnings = exported.all_warnings();
        Ok(Document::new(
            Export { lake: lake.display().to_string(), runs: exported.runs },
            warnings,
        ))
    });
    output::finish(&result, arguments.json, Answer::text)
}

impl Answer for Export {
    const SCHEMA: &'static str = "tilescope.export/1";

    fn text(&self) -> String {
        let written = || self.runs.iter().flat_map(|run| &run.tables).map(|(_, written)| written);
        let sum = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0, u64::saturating_add);
        format!(
            "{} in {}: {} rows, {}\n",
            counted(self.runs.len() as u64, "run"),
            clean(&self.lake),
            grouped(sum(&mut written().map(|written| written.rows))),
            bytes(sum(&mut written().map(|written| written.bytes))),
        )
    }
}
