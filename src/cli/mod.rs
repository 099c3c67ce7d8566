//! The commands: the same answers as the window, as text for people and as JSON for programs.
//!
//! One file per command, its figures, its JSON and its text side by side.

mod check;
mod chrome_trace;
pub mod compare;
mod completions;
mod demo;
pub mod diagnose;
mod export;
mod first_word;
mod help;
mod index;
pub mod interrupted;
pub mod liveness;
pub mod map;
pub mod ops;
pub mod output;
pub mod record;
mod render;
pub mod report;
pub mod room;
pub mod schemas;
pub mod scope;
pub mod standard_error;
mod standard_input;
pub mod summary;
pub mod sweep;
mod synth;
pub mod tiles;
pub mod trace;
pub mod window;
mod workflow_commands;
mod written_file;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use self::output::arrow::PrintedAs;
use crate::index::{Cache, use_for_process};
use crate::work::WorkDone;

/// Memory and execution profiles of AI accelerators.
///
/// Without a command, opens a window on the runs, or the home page.
#[derive(Debug, Parser)]
#[command(
    name = "tilescope",
    version = env!("TILESCOPE_VERSION"),
    args_conflicts_with_subcommands = true,
    help_template = help::template(),
    after_help = "Exit status: 0 done; 1 `check` found a budget exceeded; 2 wrong arguments, or \
                  several runs below a path; 3 the input cannot be read; 4 the output cannot be \
                  written."
)]
pub struct Arguments {
    /// What to do instead of opening a window.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    /// Up to eight runs, the first of which is the reference: PyTorch snapshots, XLA dumps or profiles, TT-NN reports,
    /// IPU reports. Each is a file, or a directory that holds one run.
    #[arg(value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Read everything from the files of the runs, without the index of earlier reads.
    #[arg(long, global = true)]
    pub no_index: bool,
    /// Print on standard error how much was read.
    #[arg(long, global = true)]
    pub stats: bool,
}

impl Arguments {
    /// Lets this process use the index in the user's cache directory, unless it is not to.
    pub fn choose_index(&self) {
        if let Some(cache) = Cache::of_user().filter(|_| !self.no_index) {
            use_for_process(cache);
        }
    }

    /// Says how much was read, where that is asked for.
    pub fn say_work(&self) {
        if self.stats {
            standard_error::say(format_args!("work: {}", WorkDone::now()));
        }
    }
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Whether a run fits, what its memory is made of, where the peak is, and what to try next.
    #[command(after_help = help::examples("summary"))]
    Summary(summary::SummaryArguments),
    /// Memory of each tile; for IPU reports.
    #[command(after_help = help::examples("tiles"))]
    Tiles(tiles::TilesArguments),
    /// Memory at every step (program step, allocator event, position in the schedule), its peaks, and what is alive there.
    #[command(after_help = help::examples("liveness"))]
    Liveness(liveness::LivenessArguments),
    /// What ran when on each device, and what the cycles were spent on; for IPU reports that recorded it.
    #[command(after_help = help::examples("trace"))]
    Trace(trace::TraceArguments),
    /// What lies where in one arena (a tile, a segment, an allocation), with the reason for each gap.
    #[command(after_help = help::examples("map"))]
    Map(map::MapArguments),
    /// Each operation of an IPU report with bytes, vertices, cycles and steps; each call of a TT-NN report.
    #[command(after_help = help::examples("ops"))]
    Ops(ops::OpsArguments),
    /// Check a run against memory budgets; the exit status says whether it passed. For CI.
    #[command(after_help = help::examples("check"))]
    Check(check::CheckArguments),
    /// What changed between two runs, and what the change consists of.
    #[command(after_help = help::examples("compare"))]
    Compare(compare::CompareArguments),
    /// What a log or an error message says about memory: what ran out, by how much, and what to do.
    #[command(after_help = help::examples("diagnose"))]
    Diagnose(diagnose::DiagnoseArguments),
    /// All runs below a directory side by side: the settings that vary, and the best run that fits.
    #[command(after_help = help::examples("sweep"))]
    Sweep(sweep::SweepArguments),
    /// Write the figures of runs as Parquet files, or what ran as a trace for Perfetto.
    #[command(after_help = help::examples("export"))]
    Export(export::ExportArguments),
    /// Run a command and record the memory of PyTorch in all processes that it starts; the script stays as it is.
    #[command(after_help = help::examples("record"))]
    Record(record::RecordArguments),
    /// Write a page of the window, or one of its pictures, as PNG or SVG. Needs no display and no graphics card.
    #[command(after_help = help::examples("render"))]
    Render(render::RenderArguments),
    /// Write runs as one HTML file that opens anywhere: verdict, curve, peak, advice, and what changed between several.
    #[command(after_help = help::examples("report"))]
    Report(report::PageArguments),
    /// The index, which makes runs open faster: list it, clear it, or write it in advance.
    #[command(after_help = help::examples("index"))]
    Index(index::IndexArguments),
    /// Open a demo: one model at several settings, written once to the cache directory (a few MB; about 500 MB for the IPU).
    #[command(after_help = help::examples("demo"))]
    Demo(demo::DemoArguments),
    /// Write a synthetic run, to try the program or to test with.
    #[command(after_help = help::examples("synth"))]
    Synth(synth::SynthArguments),
    /// Print a script that completes command lines in a shell.
    #[command(after_help = help::examples("completions"))]
    Completions(completions::CompletionsArguments),
    /// Write the pages of the manual into a directory.
    #[command(after_help = help::examples("man"))]
    Man(completions::ManArguments),
}

/// What every command that reads a run takes.
#[derive(Debug, Args)]
pub struct Input {
    /// A run: a PyTorch snapshot, an XLA dump or profile, a TT-NN report, or an IPU report. A file, a directory that holds one run, or -
    /// for a file from standard input.
    #[arg(value_name = "RUN")]
    pub path: PathBuf,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The arguments of this process; when they are wrong, says so with the usage of the command.
///
/// # Errors
/// The exit status, also after `--help` and `--version`.
pub fn parse() -> Result<Arguments, ExitCode> {
    let words = words();
    let arguments = || match words.get(1) {
        Some(word) => first_word_checked(word, &words),
        None => Arguments::try_parse_from(&words),
    };
    arguments().map_err(|error| {
        let text = error.render();
        if error.use_stderr() {
            standard_error::write(text.ansi());
            // clap gives no usage with a value that it cannot parse.
            if !text.to_string().contains("Usage:") {
                standard_error::say(format_args!("\n{}", usage()));
            }
        } else if let Err(cannot_write) = output::print_help(&text) {
            return cannot_write.into();
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

/// Options that all commands have.
const FOR_ALL: [&str; 2] = ["--no-index", "--stats"];

/// The words of the command line. An option for all commands may stand before the command as well as behind it.
fn words() -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let program = Arguments::command();
    let is_for_all = |word: &&OsString| FOR_ALL.iter().any(|option| *word == option);
    let leading = words.iter().skip(1).take_while(is_for_all).count();
    if let Some(first) = words.get_mut(1..leading.saturating_add(2))
        && first.last().is_some_and(|word| program.find_subcommand(word).is_some())
    {
        first.rotate_right(1);
    }
    words
}

/// Several runs are counted before the first is looked for.
fn first_word_checked(word: &OsStr, words: &[OsString]) -> Result<Arguments, clap::Error> {
    let parsed = Arguments::try_parse_from(words).and_then(few_enough);
    if parsed.as_ref().is_ok_and(|arguments| arguments.command.is_some()) {
        return parsed;
    }
    let is_too_many =
        parsed.as_ref().is_err_and(|error| error.kind() == clap::error::ErrorKind::TooManyValues);
    if !is_too_many {
        first_word::check(word)?;
    }
    let arguments = parsed?;
    for run in &arguments.runs {
        first_word::check_run(run)?;
    }
    Ok(arguments)
}

fn few_enough(arguments: Arguments) -> Result<Arguments, clap::Error> {
    let most = window::MOST_RUNS;
    match arguments.runs.get(most) {
        None => Ok(arguments),
        Some(further) => Err(Arguments::command().error(
            clap::error::ErrorKind::TooManyValues,
            format!(
                "{} runs are named, but at most {most} can be open together: leave out '{}' or others",
                arguments.runs.len(),
                further.display()
            ),
        )),
    }
}

/// The usage of the command that this process was called with.
fn usage() -> String {
    let mut program = Arguments::command();
    program.build();
    let name = words().get(1).cloned().unwrap_or_default();
    match program.find_subcommand_mut(&name) {
        Some(command) => command.render_usage().to_string(),
        None => program.render_usage().to_string(),
    }
}

/// How the process ends: as the command did, unless something that it said is lost.
pub fn end(status: ExitCode) -> ExitCode {
    if standard_error::is_lost() { output::CANNOT_WRITE.into() } else { status }
}

/// Runs a command and says how it ended. `started` is when the process began.
pub fn run(command: &CliCommand, started: Instant) -> ExitCode {
    match command {
        CliCommand::Summary(arguments) => summary::run(arguments),
        CliCommand::Tiles(arguments) => {
            let printed = PrintedAs::of(arguments.csv, &arguments.arrow);
            output::answer_or_instead(&arguments.input, printed, "tiles", |run, progress| {
                tiles::Tiles::of(run, arguments, progress)
            })
        }
        CliCommand::Liveness(arguments) => liveness::run(arguments),
        CliCommand::Trace(arguments) => {
            let printed = PrintedAs::of(arguments.csv, &arguments.arrow);
            output::answer_or_instead(&arguments.input, printed, "trace", |run, progress| {
                trace::TraceReport::of(run, arguments, progress)
            })
        }
        CliCommand::Map(arguments) => {
            let printed = PrintedAs::text_or_csv(arguments.csv);
            output::answer_or_instead(&arguments.input, printed, "map", |run, progress| {
                map::Map::of(run, arguments, progress)
            })
        }
        CliCommand::Ops(arguments) => {
            let printed = PrintedAs::of(arguments.csv, &arguments.arrow);
            output::answer_or_instead(&arguments.input, printed, "ops", |run, progress| {
                ops::Ops::of(run, arguments, progress)
            })
        }
        CliCommand::Check(arguments) => check::run(arguments),
        CliCommand::Compare(arguments) => compare::run(arguments),
        CliCommand::Diagnose(arguments) => diagnose::run(arguments),
        CliCommand::Sweep(arguments) => sweep::run(arguments),
        CliCommand::Export(arguments) => export::run(arguments),
        CliCommand::Record(arguments) => record::run(arguments),
        CliCommand::Render(arguments) => render::run(arguments),
        CliCommand::Report(arguments) => report::run(arguments),
        CliCommand::Index(arguments) => index::run(arguments),
        CliCommand::Demo(arguments) => demo::run(arguments, started),
        CliCommand::Synth(arguments) => synth::run(arguments),
        CliCommand::Completions(arguments) => completions::print_completions(arguments),
        CliCommand::Man(arguments) => completions::write_manual(arguments),
    }
}

/// Sends log lines to standard error as `TILESCOPE_LOG` asks (`TILESCOPE_LOG=debug`, for example);
/// nothing without it.
pub fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::builder()
        .with_env_var("TILESCOPE_LOG")
        .with_default_directive(tracing_subscriber::filter::LevelFilter::OFF.into())
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .log_internal_errors(false)
        .init();
}
