//! `tilescope check`: whether a report stays within budgets, for a CI job that reads the exit status.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::Input;
use super::compare::{DeviceArguments, runs_of};
use super::output::{self, Answer, BUDGET_EXCEEDED, Document, aligned};
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::RunFiles;
use crate::store::{TileId, Warning};
use crate::systems::poplar::files::OpenReport;
use crate::systems::poplar::insights::budgets::{
    Budgets, Check, Figure, Figures, checks, growth_percent,
};
use crate::text::{bytes, exact_bytes, grouped, signed_bytes, size};

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The report.
    #[command(flatten)]
    pub input: Input,
    /// The report that growth is measured against.
    #[arg(long, value_name = "PATH", requires = "max_growth")]
    pub baseline: Option<PathBuf>,
    /// Of memory snapshots and programs of XLA: which device, and what it has.
    #[command(flatten)]
    pub device: DeviceArguments,
    /// What is allowed.
    #[command(flatten)]
    pub budgets: BudgetArguments,
}

/// Budgets, of which one at least is given. Sizes are bytes, or have a unit: 600K, 600KiB, 1G.
#[derive(Debug, Default, Args)]
#[group(required = true, multiple = true)]
pub struct BudgetArguments {
    /// The most that the fullest tile may have, gaps included; of reports of Poplar.
    #[arg(long, value_name = "N", value_parser = size::parse)]
    pub max_tile_bytes: Option<u64>,
    /// The most that all tiles may have together, gaps included; of a memory snapshot what may be taken from the
    /// device, of a program of XLA what it may reserve.
    #[arg(long, value_name = "N", value_parser = size::parse)]
    pub max_total_bytes: Option<u64>,
    /// The most that may be alive at the peak, always live or not; of a memory snapshot what is asked for, of a
    /// program of XLA what is in use.
    #[arg(long, value_name = "N", value_parser = size::parse)]
    pub max_peak_bytes: Option<u64>,
    /// The most that each of these may have grown since the baseline.
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "baseline", allow_negative_numbers = true)]
    pub max_growth: Option<f64>,
    /// No tile may be over what it has; the run of a memory snapshot, or a program of XLA, must fit into
    /// --capacity, or what a text or a file beside it states.
    #[arg(long)]
    pub must_fit: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim_end_matches('%').parse().map_err(|_| "not a number".to_owned())?;
    if value.is_finite() { Ok(value) } else { Err("a number with an end expected".to_owned()) }
}

#[derive(Debug, Serialize)]
pub struct CheckReport {
    pub(super) passed: bool,
    pub(super) checks: Vec<Row>,
}

/// Why it cannot be said whether a run fits.
pub(super) const UNKNOWN_CAPACITY: &str = "what the device has is not known";

/// A check: of what, against what; `actual` is null where the report does not say, and for growth
/// from 0. `reason` is why it fails where that is not its limit.
#[derive(Debug, Default, Serialize)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) limit: Value,
    pub(super) actual: Value,
    pub(super) passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) figure: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tile: Option<TileId>,
    #[serde(flatten)]
    pub(super) grown: Option<Grown>,
    #[serde(skip)]
    pub(super) text: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Grown {
    pub(super) baseline_bytes: Option<u64>,
    pub(super) actual_bytes: Option<u64>,
}

pub fn run(arguments: &CheckArguments) -> ExitCode {
    let CheckArguments { input, baseline, device, budgets } = arguments;
    let paths: Vec<&Path> =
        std::iter::once(&input.path).chain(baseline).map(PathBuf::as_path).collect();
    match runs_of(&paths, None, device) {
        Err(error) => return output::fail(&error, input.json),
        Ok(runs) => {
            let (mut snapshots, mut programs) = (Vec::new(), Vec::new());
            for run in runs {
                match run.into_files() {
                    RunFiles::Pytorch(files) => snapshots.push(*files),
                    RunFiles::Xla(files) => programs.push(*files),
                    RunFiles::Poplar(_) => {}
                }
            }
            if !snapshots.is_empty() {
                return super::check_of_snapshot::run(&snapshots, arguments);
            }
            if !programs.is_empty() {
                return super::check_of_program::run(&programs, arguments);
            }
        }
    }
    match baseline {
        None => output::answer(input, |open, _| Ok(CheckReport::of(open, None, budgets))),
        Some(baseline) => {
            output::answer_of_several(&input.path, &[baseline], input.json, |open, baseline, _| {
                Ok(CheckReport::of(open, baseline.first(), budgets))
            })
        }
    }
}

/// Checks a run of another system than Poplar's, against the second if there is one: `open` reads what is checked of a run,
/// with its warnings; `reading` is said meanwhile, and `no_tiles` why its tiles cannot be checked, and what can.
pub(super) fn run_of_system<F, S>(
    files: &[F],
    arguments: &CheckArguments,
    (reading, no_tiles): (&'static str, [&'static str; 2]),
    open: impl Fn(&F, &Progress) -> Result<(S, Vec<Warning>), Error> + Sync,
    checks: impl Fn(&S, Option<&S>) -> Vec<Row> + Sync,
) -> ExitCode
where
    F: Sync,
{
    let result = output::with_progress(reading, |progress| {
        if arguments.budgets.max_tile_bytes.is_some() {
            let [message, hint] = no_tiles;
            return Err(Error::new(ErrorKind::Usage, message).hint(hint));
        }
        let (mut warnings, mut sides) = (Vec::new(), Vec::new());
        for files in files {
            let (side, said) = open(files, progress)?;
            warnings.extend(said);
            sides.push(side);
        }
        warnings.iter().for_each(output::print_warning);
        let Some((side, baseline)) = sides.split_first() else {
            return Err(Error::new(ErrorKind::Usage, "a run is checked"));
        };
        let checks = checks(side, baseline.first());
        let passed = checks.iter().all(|check| check.passed);
        Ok(Document::new(CheckReport { passed, checks }, warnings))
    });
    output::finish(&result, arguments.input.json, Answer::text)
}

/// What is checked of a run of another system than Poplar's: the title of its device, the figure, what that is of.
pub(super) type Subject<'a> = (&'a str, Figure, &'static str);

/// Whether a figure is within the limit of an option; `why_not` is why it is no more than a lower bound, `note` what else is
/// said.
pub(super) fn limited_row(
    (title, figure, subject): Subject<'_>,
    name: &'static str,
    (actual, limit): (u64, u64),
    (why_not, note): (Option<&str>, &str),
) -> Row {
    let is_within = actual <= limit;
    let difference = exact_bytes(actual.abs_diff(limit));
    let compared = match (is_within, why_not) {
        (false, _) => format!("{difference} more than --{name} allows"),
        (true, Some(why)) => format!("within --{name} as far as it got, but {why}"),
        (true, None) => format!("{difference} less than --{name} allows"),
    };
    Row {
        name,
        limit: limit.into(),
        actual: actual.into(),
        passed: is_within && why_not.is_none(),
        reason: why_not.filter(|_| is_within).map(str::to_owned),
        figure: Some(figure),
        text: format!("{title}: {subject} is {}, {compared}{note}", exact_bytes(actual)),
        ..Row::default()
    }
}

/// How much a figure has grown, in bytes of the baseline and now; `why_not` is why it is no more than a lower bound, `note` what
/// else is said.
pub(super) fn grown_row(
    (title, figure, subject): Subject<'_>,
    (from, to): (u64, u64),
    limit: f64,
    (why_not, note): (Option<String>, &str),
) -> Row {
    let percent = growth_percent(from, to);
    let is_within = percent <= limit;
    let reason = why_not.as_deref().filter(|_| is_within);
    let change = i64::try_from(i128::from(to) - i128::from(from)).unwrap_or(i64::MAX);
    let shown = if percent.is_finite() {
        format!("{percent:+.2} %").replace('-', "−")
    } else {
        "from 0".to_owned()
    };
    Row {
        name: "max-growth",
        limit: limit.into(),
        // Growth without end is no number in JSON.
        actual: percent.into(),
        passed: is_within && why_not.is_none(),
        reason: reason.map(|why| why.trim_start_matches("; ").to_owned()),
        figure: Some(figure),
        grown: Some(Grown { baseline_bytes: Some(from), actual_bytes: Some(to) }),
        text: format!(
            "{title}: {subject} is {} in place of {}, {} ({shown}); --max-growth allows {limit} %{}{note}",
            bytes(to),
            bytes(from),
            signed_bytes(change),
            why_not.unwrap_or_default(),
        ),
        ..Row::default()
    }
}

impl CheckReport {
    /// Checks a report whose small tables are read, and so are those of the baseline.
    pub fn of(
        open: &OpenReport,
        baseline: Option<&OpenReport>,
        arguments: &BudgetArguments,
    ) -> Self {
        let budgets = Budgets {
            max_tile_bytes: arguments.max_tile_bytes,
            max_total_bytes: arguments.max_total_bytes,
            max_peak_bytes: arguments.max_peak_bytes,
            max_growth: arguments.max_growth,
            must_fit: arguments.must_fit,
        };
        let figures = Figures::of(&open.report);
        let baseline = baseline.map(|baseline| Figures::of(&baseline.report));
        let found = checks(&budgets, &figures, baseline.as_ref());
        let bytes_per_tile = open.report.bytes_per_tile();
        Self {
            passed: found.iter().all(Check::passed),
            checks: found.iter().map(|check| row(check, &figures, bytes_per_tile)).collect(),
        }
    }
}

fn row(check: &Check, figures: &Figures, bytes_per_tile: Option<u64>) -> Row {
    let empty = Row { passed: check.passed(), ..Row::default() };
    match *check {
        Check::Bytes { figure, limit, actual } => Row {
            name: option(figure),
            limit: limit.into(),
            actual: actual.into(),
            figure: Some(figure),
            tile: tile(figure, figures),
            text: bytes_text(figure, figures, limit, actual),
            ..empty
        },
        Check::Growth { figure, limit, baseline, actual } => Row {
            name: "max-growth",
            limit: limit.into(),
            // Growth without end is no number in JSON.
            actual: baseline.zip(actual).map(|(from, to)| growth_percent(from, to)).into(),
            figure: Some(figure),
            tile: tile(figure, figures),
            grown: Some(Grown { baseline_bytes: baseline, actual_bytes: actual }),
            text: growth_text(figure, figures, limit, baseline, actual),
            ..empty
        },
        Check::Fit { tiles_over_limit } => Row {
            name: "must-fit",
            limit: 0.into(),
            actual: tiles_over_limit.into(),
            tile: tile(Figure::FullestTile, figures),
            text: fit_text(figures, bytes_per_tile),
            ..empty
        },
    }
}

/// The option that limits the bytes of a figure.
fn option(figure: Figure) -> &'static str {
    match figure {
        Figure::FullestTile => "max-tile-bytes",
        Figure::Total => "max-total-bytes",
        Figure::Peak => "max-peak-bytes",
    }
}

fn tile(figure: Figure, figures: &Figures) -> Option<TileId> {
    figures.fullest_tile.filter(|_| figure == Figure::FullestTile).map(|(tile, _)| tile)
}

/// The figure as the subject of a sentence.
fn subject(figure: Figure, tile: Option<TileId>) -> String {
    match (figure, tile) {
        (Figure::FullestTile, Some(tile)) => format!("tile {tile}"),
        (Figure::FullestTile, None) => "the fullest tile".to_owned(),
        (Figure::Total, _) => "all tiles together".to_owned(),
        (Figure::Peak, _) => "the peak".to_owned(),
    }
}

fn bytes_text(figure: Figure, figures: &Figures, limit: u64, actual: Option<u64>) -> String {
    let subject = subject(figure, tile(figure, figures));
    let option = option(figure);
    let Some(actual) = actual else {
        return format!("the bytes of {subject} are not known, so --{option} cannot be checked");
    };
    let verb = if figure == Figure::Total { "have" } else { "has" };
    let difference = exact_bytes(actual.abs_diff(limit));
    let compared = if actual > limit {
        format!("{difference} more than --{option} allows")
    } else {
        format!("{difference} less than --{option} allows")
    };
    format!("{subject} {verb} {}, {compared}", exact_bytes(actual))
}

fn growth_text(
    figure: Figure,
    figures: &Figures,
    limit: f64,
    baseline: Option<u64>,
    actual: Option<u64>,
) -> String {
    // Another tile may be the fullest in the baseline.
    let subject = subject(figure, None);
    let (Some(from), Some(to)) = (baseline, actual) else {
        let which = if actual.is_none() { "this report" } else { "the baseline" };
        return format!(
            "{which} does not say how large {subject} is: its growth cannot be checked"
        );
    };
    let now = match (figure, figures.fullest_tile) {
        (Figure::FullestTile, Some((tile, _))) => format!("{} on tile {tile}", bytes(to)),
        _ => bytes(to),
    };
    let difference = i64::try_from(i128::from(to) - i128::from(from)).unwrap_or(i64::MAX);
    let percent = growth_percent(from, to);
    let percent = if percent.is_finite() {
        format!("{percent:+.2} %").replace('-', "−")
    } else {
        "from 0".to_owned()
    };
    format!(
        "{subject}: {} to {now}, {} ({percent}); --max-growth allows {limit} %",
        bytes(from),
        signed_bytes(difference),
    )
}

fn fit_text(figures: &Figures, bytes_per_tile: Option<u64>) -> String {
    let (Some(over), Some(has)) = (figures.tiles_over_limit, bytes_per_tile) else {
        return "whether the program fits is not known".to_owned();
    };
    let fullest = figures.fullest_tile.map_or_else(String::new, |(tile, full)| {
        let difference = exact_bytes(full.abs_diff(has));
        let side = if full > has { "more than it has" } else { "less than it has" };
        format!("; the fullest, tile {tile}, has {}, {difference} {side}", exact_bytes(full))
    });
    match over {
        0 => format!("no tile is over its {}{fullest}", bytes(has)),
        1 => format!("1 tile is over its {}{fullest}", bytes(has)),
        _ => format!("{} tiles are over their {}{fullest}", grouped(over), bytes(has)),
    }
}

impl Answer for CheckReport {
    const SCHEMA: &'static str = "tilescope.check/1";

    fn exit_code(&self) -> ExitCode {
        if self.passed { ExitCode::SUCCESS } else { BUDGET_EXCEEDED.into() }
    }

    fn text(&self) -> String {
        let failed = self.checks.iter().filter(|check| !check.passed).count() as u64;
        let verdict = match failed {
            0 => "Passed: every budget is kept\n".to_owned(),
            _ => format!(
                "Failed: {} of {} budgets are not kept\n",
                grouped(failed),
                grouped(self.checks.len() as u64)
            ),
        };
        let rows = self.checks.iter().map(|check| {
            let verdict = if check.passed { "passed" } else { "FAILED" };
            vec![verdict.to_owned(), check.name.to_owned(), check.text.clone()]
        });
        verdict + &aligned(&["<", "<", "<"], rows)
    }
}
