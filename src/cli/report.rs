//! `tilescope report`: a run, or runs beside each other, as one HTML file that opens anywhere.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::output::{self, Answer, Document};
use super::room::RoomArguments;
use super::standard_input::RunPlace;
use super::window::MOST_RUNS;
use super::written_file::write_file;
use crate::format::{Error, Progress};
use crate::html::{HtmlPage, HtmlRun};
use crate::systems::several::runs_to_compare;
use crate::systems::system::{FoundRun, LatePart, OpenRun};
use crate::text::run_names::run_names;
use crate::text::{bytes, clean};

/// Arguments of `tilescope report`.
#[derive(Debug, Args)]
pub struct PageArguments {
    /// Up to eight runs of one system, the reference first. - is a file from standard input.
    #[arg(value_name = "RUN", required = true, num_args = 1..=MOST_RUNS)]
    pub runs: Vec<PathBuf>,
    /// The HTML file to write. An existing file is replaced.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// The module to show where runs have several: a part of its name or of its file's name.
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// What the device has.
    #[command(flatten)]
    pub room: RoomArguments,
    /// Print one JSON document about the file instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `tilescope.report/1`: what was written.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct WrittenPage {
    /// The file.
    report: String,
    /// Its bytes.
    bytes: u64,
    /// The runs that it shows.
    runs: Vec<String>,
}

/// Reads the runs and writes the file.
pub fn run(arguments: &PageArguments) -> ExitCode {
    let result = output::with_progress("Reading the runs", |progress| write(arguments, progress));
    output::finish(&result, arguments.json, Answer::text)
}

fn write(arguments: &PageArguments, progress: &Progress) -> Result<Document<WrittenPage>, Error> {
    let PageArguments { runs, output, module, room, .. } = arguments;
    let places = runs.iter().map(|path| RunPlace::of(path, progress));
    let places = places.collect::<Result<Vec<_>, Error>>()?;
    let paths: Vec<&Path> = places.iter().map(|place| &*place.path).collect();
    let found = runs_to_compare(&paths, module.as_deref(), progress)?;
    let names = run_names(runs.iter().map(PathBuf::as_path));
    let mut opened: Vec<Box<dyn OpenRun>> = Vec::new();
    for found in &found {
        output::say_choice(&**found);
        opened.push(read(&**found, room, progress)?);
    }
    let mut warnings = Vec::new();
    let page_runs = opened.iter().zip(names).map(|(run, name)| HtmlRun {
        name,
        derived: run.derived().clone(),
        warnings: run.warnings(progress),
    });
    let page_runs: Vec<HtmlRun> = page_runs.collect();
    let names: Vec<String> = page_runs.iter().map(|run| run.name.clone()).collect();
    for (run, path) in page_runs.iter().zip(&paths) {
        warnings.extend(output::named(path, run.warnings.clone()));
    }
    let page = HtmlPage::of(page_runs, room.room()).write(progress);
    let directories: Vec<PathBuf> = opened.iter().map(|run| run.directory()).collect();
    let write = |out: &mut dyn std::io::Write| out.write_all(page.as_bytes());
    let ((), bytes) = write_file(output, "the report", &directories, write)?;
    warnings.iter().for_each(output::print_warning);
    let report = output.display().to_string();
    Ok(Document::new(WrittenPage { report, bytes, runs: names }, warnings))
}

/// Reads all that a page shows of a run.
fn read(
    found: &dyn FoundRun,
    room: &RoomArguments,
    progress: &Progress,
) -> Result<Box<dyn OpenRun>, Error> {
    let run = output::opened(found, progress)?;
    run.derived().set_room(room.room());
    run.read_for_summary(&[], progress)?;
    run.fill_report(progress);
    run.read_parts(&LatePart::ALL, progress);
    Ok(run)
}

impl Answer for WrittenPage {
    const SCHEMA: &'static str = "tilescope.report/1";

    fn text(&self) -> String {
        format!("{}, {}\n", clean(&self.report), bytes(self.bytes))
    }
}
