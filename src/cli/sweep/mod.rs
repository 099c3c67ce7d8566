//! `tilescope sweep`: all reports below a directory, what varies between them, and the fastest that
//! fits.

mod csv;
mod document;
mod grid;
mod table;
mod variants;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::{Serialize, Serializer};

use super::output::{self, Answer, CsvAnswer, Document};
use crate::analysis::sweep::{Curve, Figure, HeatMap, OptionNotFound, Sweep, curve, heat_map};
use crate::folder_sweep::{all_warnings, read_sweep, shared_warnings};
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{RunsOfPaths, files_of_run, runs_of_paths};
use crate::store::{Warning, Warnings};
use crate::text::{clean, size};

/// Arguments of `tilescope sweep`.
#[derive(Debug, Args)]
pub struct SweepArguments {
    /// A directory with reports in it, at any depth; links to directories are not followed. Of memory
    /// snapshots and dumps of XLA also several directories, or files.
    #[arg(value_name = "DIR", required = true)]
    pub paths: Vec<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
    /// Print comma-separated values instead of text: one line of titles with the units, then a line
    /// for each run; with --by for each cell or point.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// One figure along an option that varies, instead of the list of runs.
    #[arg(long, value_name = "OPTION")]
    pub by: Option<String>,
    /// A heat map: --by down, this option across.
    #[arg(long, value_name = "OPTION", requires = "by")]
    pub and: Option<String>,
    /// The figure of --by: fits, tiles-over-limit, fullest-tile, total, including-gaps, always-live, peak,
    /// code, cycles, throughput, throughput-by-elapsed-time, planner-at-minimum, or a number of app.json by its
    /// key, such as a measured throughput. By default throughput, or the peak where no throughput is known.
    #[arg(long, value_name = "FIGURE", requires = "by")]
    pub figure: Option<String>,
    /// Of memory snapshots and programs of XLA: what the device has, for example 16GiB.
    #[arg(long, value_parser = size::parse, value_name = "BYTES")]
    pub capacity: Option<u64>,
    /// Of memory snapshots and programs of XLA: what others have of the device, for example 600MiB.
    #[arg(long, value_parser = size::parse, value_name = "BYTES")]
    pub other: Option<u64>,
    /// Of memory snapshots and programs of XLA: the variant that the others are compared with.
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// Of memory snapshots: the number of the device, in place of the one that failed or had most.
    #[arg(long, value_name = "N")]
    pub device: Option<i64>,
    /// The module of dumps of XLA that is meant: a part of its name or of its file's.
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
}

impl SweepArguments {
    /// Those of `tilescope sweep PATH`.
    pub fn of_path(path: PathBuf) -> Self {
        Self {
            paths: vec![path],
            json: false,
            csv: false,
            by: None,
            and: None,
            figure: None,
            capacity: None,
            other: None,
            reference: None,
            device: None,
            module: None,
        }
    }
}

/// `tilescope.sweep/1` (cli.md).
#[derive(Debug)]
pub struct SweepReport {
    folder: PathBuf,
    sweep: Sweep,
    grid: Option<Grid>,
    /// Of the folder itself.
    warnings: Vec<Warning>,
}

/// One figure of all runs by one option or two.
#[derive(Debug)]
enum Grid {
    Curve(Curve),
    HeatMap(HeatMap),
}

/// Reads all reports below a directory and puts them side by side.
pub fn run(arguments: &SweepArguments) -> ExitCode {
    let found = Warnings::default();
    let module = arguments.module.as_deref();
    match runs_of_paths(&arguments.paths, module, &found, &Progress::default()) {
        RunsOfPaths::Pytorch(snapshots) => return variants::run(arguments, &snapshots, &found),
        RunsOfPaths::Xla(programs) => return variants::run_programs(arguments, &programs, &found),
        RunsOfPaths::Poplar => {}
    }
    let result = output::with_progress("Reading the reports", |progress| {
        let mut answer = SweepReport::of(arguments, progress)?;
        let others = found.list().into_iter().filter(|other| !answer.warnings.contains(other));
        let others: Vec<Warning> = others.collect();
        answer.warnings.extend(others);
        let shared = shared_warnings(&answer.warnings, answer.warnings_of_runs());
        shared.iter().for_each(output::print_warning);
        let warnings = answer.all_warnings();
        Ok(Document::new(answer, warnings))
    });
    let text = if arguments.csv { SweepReport::csv } else { SweepReport::text };
    output::finish(&result, arguments.json, text)
}

/// Checks that each path is one of runs.
///
/// # Errors
/// As [`files_of_run`] for the first that is none.
fn check_paths(paths: &[PathBuf], progress: &Progress) -> Result<(), Error> {
    let errors = paths.iter().filter_map(|path| files_of_run(path, progress).err());
    // Several runs in a directory are what a sweep is for.
    let mut errors = errors.filter(|error| error.kind != ErrorKind::SeveralReports);
    errors.next().map_or(Ok(()), Err)
}

impl SweepReport {
    /// Reads the reports and makes what the arguments ask for of them.
    ///
    /// # Errors
    /// When the directory cannot be read or has no report in it; `usage` for an option that does not
    /// vary.
    pub fn of(arguments: &SweepArguments, progress: &Progress) -> Result<Self, Error> {
        let [folder] = arguments.paths.as_slice() else {
            check_paths(&arguments.paths, progress)?;
            let message = "several paths are named, and not all of them have memory snapshots";
            return Err(Error::new(ErrorKind::Usage, message)
                .hint("Name one directory that has all reports in it."));
        };
        variants::check_no_options(arguments)?;
        let (sweep, warnings) = read_sweep(folder, progress)?;
        let grid = grid(&sweep, arguments)?;
        Ok(Self { folder: folder.clone(), sweep, grid, warnings })
    }

    /// Warnings of the folder, then of each run, whose files are named as seen from the folder.
    pub fn all_warnings(&self) -> Vec<Warning> {
        all_warnings(&self.warnings, self.warnings_of_runs())
    }

    fn warnings_of_runs(&self) -> impl Iterator<Item = (&str, &[Warning])> {
        self.sweep.runs.iter().map(|run| (&*run.name, &*run.warnings))
    }
}

fn grid(sweep: &Sweep, arguments: &SweepArguments) -> Result<Option<Grid>, Error> {
    let Some(by) = &arguments.by else { return Ok(None) };
    let by = find_option(sweep, by)?;
    let has_throughput = || sweep.runs.iter().any(|run| Figure::Throughput.of(run).is_some());
    let figure = match &arguments.figure {
        Some(text) => find_figure(sweep, text)?,
        None if has_throughput() => Figure::Throughput,
        None => Figure::Peak,
    };
    Ok(match &arguments.and {
        None => curve(sweep, by, figure).map(Grid::Curve),
        Some(and) => heat_map(sweep, find_option(sweep, and)?, by, figure).map(Grid::HeatMap),
    })
}

fn find_figure(sweep: &Sweep, text: &str) -> Result<Figure, Error> {
    let words = [
        "there is no figure, and no number in app.json, called",
        "several numbers of app.json have in their names",
    ];
    the_one(sweep.find_figure(text), text, words, || {
        let keys: Vec<_> = sweep.figures().map(|figure| clean(sweep.figure_key(figure))).collect();
        format!("These are there: {}.", keys.join(", "))
    })
}

fn find_option(sweep: &Sweep, text: &str) -> Result<usize, Error> {
    let words = [
        "no option that varies between these reports is called",
        "several options that vary have in their names",
    ];
    the_one(sweep.find_option(text), text, words, || {
        let ids: Vec<_> = sweep.options.iter().map(|option| clean(&option.id)).collect();
        match ids.as_slice() {
            [] => "No option varies.".to_owned(),
            ids => format!("These vary: {}.", ids.join(", ")),
        }
    })
}

/// What a text means, or in words that there is none of the name, or several; with a hint at what there is.
fn the_one<T>(
    found: Result<T, OptionNotFound>,
    text: &str,
    [none, several]: [&str; 2],
    hint: impl FnOnce() -> String,
) -> Result<T, Error> {
    found.map_err(|reason| {
        let reason = match reason {
            OptionNotFound::None => none,
            OptionNotFound::Several => several,
        };
        Error::new(ErrorKind::Usage, format!("{reason} {}", clean(text))).hint(hint())
    })
}

impl Serialize for SweepReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        document::document(self).serialize(serializer)
    }
}

impl Answer for SweepReport {
    const SCHEMA: &'static str = "tilescope.sweep/1";

    fn text(&self) -> String {
        match &self.grid {
            None => table::text(&self.sweep, &self.folder),
            Some(Grid::HeatMap(map)) => grid::heat_map_text(&self.sweep, map),
            Some(Grid::Curve(curve)) => grid::curve_text(&self.sweep, curve),
        }
    }
}

impl CsvAnswer for SweepReport {
    fn csv(&self) -> String {
        match &self.grid {
            None => csv::of_runs(&self.sweep),
            Some(Grid::HeatMap(map)) => csv::of_heat_map(&self.sweep, map),
            Some(Grid::Curve(curve)) => csv::of_curve(&self.sweep, curve),
        }
    }
}
