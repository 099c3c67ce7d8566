//! `tilescope sweep`: all runs below a directory, of any system, what varies between them, and which is the best.

mod csv;
mod document;
mod grid;
mod table;

use super::output::arrow::{ArrowArgument, PrintedAs, RowsAnswer, write_stream};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::{Serialize, Serializer};

pub(super) use self::document::SweepDocument;
use super::output::{self, Answer, CsvAnswer, Document};
use super::room::RoomArguments;
use crate::analysis::sweep::{
    Curve, FigureToSweep, HeatMap, NoReference, NotFound, Sweep, SweepRun, curve, heat_map,
};
use crate::format::{Error, ErrorKind, Progress};
use crate::store::Warning;
use crate::sweep::{all_warnings, place_of, read_runs, shared_warnings};
use crate::text::clean;

/// Arguments of `tilescope sweep`.
#[derive(Debug, Args)]
pub struct SweepArguments {
    /// Directories that hold runs at any depth, or runs. Links to directories are not followed.
    #[arg(value_name = "DIR|RUN", required = true)]
    pub paths: Vec<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
    /// Print comma-separated values instead of text: one line of titles with the units, then a line
    /// for each run; with --by for each cell or point.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print one figure along an option that varies, instead of the list of runs.
    #[arg(long, value_name = "OPTION")]
    pub by: Option<String>,
    /// Print a heat map: --by down, this option across.
    #[arg(long, value_name = "OPTION", requires = "by")]
    pub and: Option<String>,
    /// The figure for --by: a figure of the JSON document (needed, total, peak, throughput, max-reserved, …), or the key
    /// of a number in app.json, such as a measured throughput. By default throughput where it is known, else needed.
    #[arg(long, value_name = "FIGURE", requires = "by")]
    pub figure: Option<String>,
    /// What the device has, instead of what each run states. Where there are other runs, tiles keep what their report
    /// states.
    #[command(flatten)]
    pub room: RoomArguments,
    /// The run that the others are compared with: its name, its path, or its settings (batch_size=8). By default the
    /// first complete run that fits or ran.
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// The number of the device (GPU, memory space). By default the most telling device of each run.
    #[arg(long, value_name = "N")]
    pub device: Option<i64>,
    /// The module to read from dumps: a part of its name or of its file's name.
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Print an Arrow stream instead.
    #[command(flatten)]
    pub arrow: ArrowArgument,
}

impl SweepArguments {
    /// Those of `tilescope sweep PATH`.
    pub fn of_path(path: PathBuf) -> Self {
        Self {
            paths: vec![path],
            json: false,
            csv: false,
            arrow: ArrowArgument::default(),
            by: None,
            and: None,
            figure: None,
            room: RoomArguments::default(),
            reference: None,
            device: None,
            module: None,
        }
    }
}

/// `tilescope.sweep/2` (cli.md).
#[derive(Debug)]
pub struct SweepReport {
    paths: Vec<PathBuf>,
    sweep: Sweep,
    grid: Option<Grid>,
    /// Of the folders themselves.
    warnings: Vec<Warning>,
}

/// One figure of all runs by one option or two.
#[derive(Debug)]
enum Grid {
    Curve(Curve),
    HeatMap(HeatMap),
}

/// Reads all runs below directories and puts them side by side.
pub fn run(arguments: &SweepArguments) -> ExitCode {
    let result = output::with_progress("Reading the runs", |progress| {
        let answer = SweepReport::of(arguments, progress)?;
        let runs = answer.warnings_of_runs();
        let runs = || runs.iter().map(|(place, warnings)| (&**place, *warnings));
        shared_warnings(&answer.warnings, runs()).iter().for_each(output::print_warning);
        let warnings = answer.all_warnings();
        Ok(Document::new(answer, warnings))
    });
    output::finish_as(&result, arguments.json, PrintedAs::of(arguments.csv, &arguments.arrow))
}

impl SweepReport {
    /// Reads the runs and makes what the arguments ask for of them.
    ///
    /// # Errors
    /// When a path cannot be read or has no run in it; `usage` for an option that does not vary, a run that is not
    /// there.
    pub fn of(arguments: &SweepArguments, progress: &Progress) -> Result<Self, Error> {
        let SweepArguments { paths, module, device, room, reference, .. } = arguments;
        let (runs, warnings) = read_runs(paths, module.as_deref(), *device, progress)?;
        let mut sweep = Sweep::new(runs, room.room());
        if let Some(text) = reference {
            sweep.compare_with(text).map_err(|why| no_reference(&sweep, text, why))?;
        }
        let grid = grid(&sweep, arguments)?;
        Ok(Self { paths: paths.clone(), sweep, grid, warnings })
    }

    /// Warnings of the folders, then of each run, whose files are named as seen from the folder.
    pub fn all_warnings(&self) -> Vec<Warning> {
        let runs = self.warnings_of_runs();
        all_warnings(&self.warnings, runs.iter().map(|(place, warnings)| (&**place, *warnings)))
    }

    /// Where the files of each run are, with what was said of them.
    fn warnings_of_runs(&self) -> Vec<(String, &[Warning])> {
        let of = |run: &'_ SweepRun| place_of(&self.paths, run);
        self.sweep.runs.iter().map(|run| (of(run), &*run.warnings)).collect()
    }
}

/// Why a run cannot be what the others are compared with, with those that are there.
fn no_reference(sweep: &Sweep, text: &str, why: Option<NoReference>) -> Error {
    let name = clean(text);
    let message = match why {
        None => format!("no run is called {name}"),
        Some(NoReference::NotWhole) => {
            format!("{name} cannot be the reference: its file is cut or cannot be read")
        }
        Some(NoReference::NotRecorded) => format!(
            "{name} cannot be the reference: it, or one of its ranks, has no events, so its peak is not known"
        ),
    };
    let names: Vec<_> = sweep.runs.iter().map(|run| clean(&run.name)).collect();
    Error::new(ErrorKind::Usage, message).hint(format!("These are there: {}.", names.join(", ")))
}

fn grid(sweep: &Sweep, arguments: &SweepArguments) -> Result<Option<Grid>, Error> {
    let Some(by) = &arguments.by else { return Ok(None) };
    let by = find_option(sweep, by)?;
    let figure = match &arguments.figure {
        Some(text) => find_figure(sweep, text)?,
        None => sweep.first_figure(),
    };
    Ok(match &arguments.and {
        None => curve(sweep, by, figure).map(Grid::Curve),
        Some(and) => heat_map(sweep, find_option(sweep, and)?, by, figure).map(Grid::HeatMap),
    })
}

fn find_figure(sweep: &Sweep, text: &str) -> Result<FigureToSweep, Error> {
    let words =
        ["no figure and no number in app.json is called", "several numbers in app.json match"];
    the_one(sweep.find_figure(text), text, words, || {
        let keys: Vec<_> = sweep.figures().map(|figure| clean(sweep.figure_word(figure))).collect();
        format!("These are there: {}.", keys.join(", "))
    })
}

fn find_option(sweep: &Sweep, text: &str) -> Result<usize, Error> {
    let words =
        ["no setting that varies between these runs is called", "several settings that vary match"];
    the_one(sweep.find_option(text), text, words, || {
        let ids: Vec<_> = sweep.options.iter().map(|option| clean(&option.id)).collect();
        match ids.as_slice() {
            [] => "No setting varies.".to_owned(),
            ids => format!("These vary: {}.", ids.join(", ")),
        }
    })
}

/// What a text means, or in words that there is none of the name, or several; with a hint at what there is.
fn the_one<T>(
    found: Result<T, NotFound>,
    text: &str,
    [none, several]: [&str; 2],
    hint: impl FnOnce() -> String,
) -> Result<T, Error> {
    found.map_err(|reason| {
        let reason = match reason {
            NotFound::None => none,
            NotFound::Several => several,
        };
        Error::new(ErrorKind::Usage, format!("{reason} {}", clean(text))).hint(hint())
    })
}

impl Serialize for SweepReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SweepDocument::of(self).serialize(serializer)
    }
}

impl Answer for SweepReport {
    const SCHEMA: &'static str = "tilescope.sweep/2";

    fn text(&self) -> String {
        match &self.grid {
            None => table::text(&self.sweep, &self.paths),
            Some(Grid::HeatMap(map)) => grid::heat_map_text(&self.sweep, map),
            Some(Grid::Curve(curve)) => grid::curve_text(&self.sweep, curve),
        }
    }
}

impl RowsAnswer for SweepReport {
    /// The runs, also where one figure is asked for.
    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        let document = SweepDocument::of(self);
        write_stream(|| document.runs.iter(), out)
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
