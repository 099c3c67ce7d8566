//! `tilescope check`: whether a run stays within budgets, for a CI job that reads the exit status.

mod format;
mod github;
mod junit;
mod markdown;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use self::format::CheckFormat;
use super::Input;
use super::compare::DeviceArguments;
use super::output::{self, Answer, BUDGET_EXCEEDED, Document, aligned};
use super::standard_input::RunPlace;
use crate::format::{Error, ErrorKind, Progress};
use crate::run::{BudgetFacts, BudgetFigure, BudgetedFigure, Ending, Outcome, Room};
use crate::systems::several::runs_to_compare;
use crate::text::{bytes, exact_bytes, grouped, signed_bytes, size};

/// Arguments of `tilescope check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The run.
    #[command(flatten)]
    pub input: Input,
    /// How the answer is written.
    #[arg(long, value_enum, default_value_t, conflicts_with = "json")]
    pub format: CheckFormat,
    /// The module to check where a run has several: a part of its name or of its file's name.
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// The run that growth is measured against.
    #[arg(long, value_name = "RUN", requires = "max_growth")]
    pub baseline: Option<PathBuf>,
    /// Which device, and what it has.
    #[command(flatten)]
    pub device: DeviceArguments,
    /// What is allowed.
    #[command(flatten)]
    pub budgets: BudgetArguments,
}

/// Budgets, of which one at least is given. Sizes are bytes, or have a unit: 600KiB and 600K are binary, 16GB is decimal.
#[derive(Debug, Default, Args)]
#[group(required = true, multiple = true)]
pub struct BudgetArguments {
    /// Maximum bytes of the fullest tile, with gaps; for IPU reports.
    #[arg(long, value_name = "BYTES", value_parser = size::parse)]
    pub max_tile_bytes: Option<u64>,
    /// Maximum bytes of the run: reserved on the device, allocated by the module, or of all tiles together with gaps.
    #[arg(long, value_name = "BYTES", value_parser = size::parse)]
    pub max_total_bytes: Option<u64>,
    /// Maximum bytes alive at the peak, such as 16GiB (16G is the same) or 16GB (decimal).
    #[arg(long, value_name = "BYTES", value_parser = size::parse)]
    pub max_peak_bytes: Option<u64>,
    /// Minimum bytes between circular buffers and the lowest buffer in L1 of a core; for TT-NN reports.
    #[arg(long, value_name = "BYTES", value_parser = size::parse)]
    pub min_headroom_bytes: Option<u64>,
    /// Maximum growth of each of these figures since the baseline, headroom aside.
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "baseline", allow_negative_numbers = true)]
    pub max_growth: Option<f64>,
    /// Require that the run fits into --capacity, or else into the capacity that the run or a file beside it states.
    #[arg(long)]
    pub must_fit: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim_end_matches('%').parse().map_err(|_| "not a number".to_owned())?;
    if value.is_finite() { Ok(value) } else { Err("expected a finite number".to_owned()) }
}

/// `tilescope.check/2` (cli.md).
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct CheckReport {
    passed: bool,
    checks: Vec<CheckRow>,
}

/// A check: of what, against what; `actual` is null where the run does not say, and for growth
/// from 0. `reason` is why it fails where that is not its limit.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
struct CheckRow {
    name: &'static str,
    /// The device that it is of; null for all of them together.
    device: Option<i64>,
    limit: Value,
    actual: Value,
    passed: bool,
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    figure: Option<BudgetFigure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tile: Option<u32>,
    #[serde(flatten)]
    grown: Option<Grown>,
    #[serde(skip)]
    text: String,
    /// How many more devices fail.
    #[serde(skip)]
    also: u64,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Grown {
    baseline_bytes: Option<u64>,
    actual_bytes: Option<u64>,
}

pub fn run(arguments: &CheckArguments) -> ExitCode {
    let result = output::with_progress("Reading the run", |progress| checked(arguments, progress));
    let CheckArguments { input, format, .. } = arguments;
    let run = input.path.display().to_string();
    if let Err(error) = &result {
        if let Err(cannot_write) = output::print(&format.of_error(&run, error)) {
            return cannot_write.into();
        }
        // An annotation stands in the log, where standard error would say the same again.
        if *format == CheckFormat::Github {
            return output::status_of(error).into();
        }
    }
    output::finish(&result, input.json, |report| format.of_answer(&run, report))
}

/// Opens the run and its baseline, and checks all budgets.
fn checked(
    arguments: &CheckArguments,
    progress: &Progress,
) -> Result<Document<CheckReport>, Error> {
    let CheckArguments { input, module, baseline, device, budgets, .. } = arguments;
    let place = RunPlace::of(&input.path, progress)?;
    let baseline = baseline.as_deref();
    let paths: Vec<&Path> = std::iter::once(&*place.path).chain(baseline).collect();
    let (mut all, mut warnings) = (Vec::new(), Vec::new());
    for (path, found) in paths.iter().zip(runs_to_compare(&paths, module.as_deref(), progress)?) {
        output::say_choice_at(path, &*found);
        let run = output::opened(&*found, progress)?;
        let derived = run.derived();
        derived.set_room(device.room());
        let of_device = |device: Option<i64>| derived.answers().budgets(derived, device);
        let main = of_device(device.device)?;
        let devices = match device.device {
            Some(_) => Vec::new(),
            None => derived.answers().devices_to_check(derived),
        };
        let others = devices.into_iter().filter(|of| of.is_some() && *of != main.need.device);
        let others = others.map(of_device).collect::<Result<Vec<BudgetFacts>, _>>()?;
        let facts = &main;
        let whose = match device.device {
            Some(number) => format!("device {number} does"),
            None => format!("runs of {} do", found.system().title()),
        };
        for (figure, is_given, what) in [
            (BudgetFigure::FullestArena, budgets.max_tile_bytes.is_some(), "tiles"),
            (BudgetFigure::Headroom, budgets.min_headroom_bytes.is_some(), "circular buffers"),
        ] {
            if is_given && facts.figures.iter().all(|of| of.figure != figure) {
                return Err(no_figure([figure.option(), what, &whose], facts));
            }
        }
        let said = run.warnings(progress);
        warnings.extend(if paths.len() > 1 { output::named(path, said) } else { said });
        all.push((main, others));
    }
    warnings.iter().for_each(output::print_warning);
    let checks = match (all.first(), all.get(1)) {
        (Some(run), baseline) => checks_of_devices(run, baseline, budgets, device.room()),
        (None, _) => Vec::new(),
    };
    let passed = checks.iter().all(|check| check.passed);
    Ok(Document::new(CheckReport { passed, checks }, warnings))
}

/// The error for a budget whose figure this run or device lacks.
fn no_figure([option, what, whose]: [&str; 3], facts: &BudgetFacts) -> Error {
    let message = format!("--{option} is for {what}, which {whose} not have");
    let others = facts.figures.iter().map(|of| {
        let [noun, _] = of.subject;
        format!("--{} limits {noun}", of.figure.option())
    });
    let others = others.collect::<Vec<_>>().join(", ");
    Error::new(ErrorKind::Usage, message).hint(format!("{others}."))
}

/// What budgets of a run are held against: of the device that says most, and of the others that must be within them.
type DevicesToCheck = (BudgetFacts, Vec<BudgetFacts>);

/// Every budget that there is, each of the device that is furthest over it, else of the one that says most.
fn checks_of_devices(
    (main, others): &DevicesToCheck,
    baseline: Option<&DevicesToCheck>,
    budgets: &BudgetArguments,
    room: Room,
) -> Vec<CheckRow> {
    let of_device = |facts: &BudgetFacts| {
        let before = baseline.map(|(main, others)| {
            let same = others.iter().find(|of| of.need.device == facts.need.device);
            same.unwrap_or(main)
        });
        checks(facts, before, budgets, room)
    };
    // Of each run the device that says most is compared, whatever its number.
    let mut rows = checks(main, baseline.map(|(main, _)| main), budgets, room);
    for facts in others {
        for (worst, row) in rows.iter_mut().zip(of_device(facts)) {
            let is_over = |row: &CheckRow| !row.passed && row.reason.is_none();
            let actual = |row: &CheckRow| row.actual.as_f64().unwrap_or(f64::INFINITY);
            let also = worst.also.saturating_add(u64::from(!worst.passed && !row.passed));
            let is_worse = match (is_over(worst), is_over(&row)) {
                (false, true) => true,
                (true, true) if row.figure.is_some_and(BudgetFigure::has_least) => {
                    actual(&row) < actual(worst)
                }
                (true, true) => actual(&row) > actual(worst),
                (_, false) => worst.passed && !row.passed,
            };
            if is_worse {
                *worst = row;
            }
            worst.also = also;
        }
    }
    for row in &mut rows {
        row.text += &match row.also {
            0 => String::new(),
            1 => "; 1 more device fails".to_owned(),
            also => format!("; {} more devices fail", grouped(also)),
        };
    }
    rows
}

/// Every budget that there is, with what the run has; growth is against the baseline.
fn checks(
    facts: &BudgetFacts,
    baseline: Option<&BudgetFacts>,
    budgets: &BudgetArguments,
    room: Room,
) -> Vec<CheckRow> {
    let limit = |figure: BudgetFigure| match figure {
        BudgetFigure::FullestArena => budgets.max_tile_bytes,
        BudgetFigure::Total => budgets.max_total_bytes,
        BudgetFigure::Peak => budgets.max_peak_bytes,
        BudgetFigure::Headroom => budgets.min_headroom_bytes,
    };
    let limited = facts.figures.iter().filter_map(|of| Some(limited(facts, of, limit(of.figure)?)));
    let grown = budgets.max_growth.zip(baseline).into_iter().flat_map(|(limit, baseline)| {
        let figures = facts.figures.iter().filter(|of| !of.figure.has_least());
        figures.map(move |of| grown([baseline, facts], of, limit))
    });
    limited.chain(grown).chain(budgets.must_fit.then(|| fits(facts, room))).collect()
}

/// The row of a check of a run, of whose text this is the end.
fn row(facts: &BudgetFacts, name: &'static str, text: &str) -> CheckRow {
    let text = match &*facts.need.title {
        "" => text.to_owned(),
        title => format!("{title}: {text}"),
    };
    CheckRow { name, device: facts.need.device, text, ..CheckRow::default() }
}

/// Whether a figure is within the limit of its option. What is not known is not.
fn limited(facts: &BudgetFacts, of: &BudgetedFigure, limit: u64) -> CheckRow {
    let name = of.figure.option();
    let [noun, verb] = of.subject;
    let found = |row: CheckRow| CheckRow {
        limit: limit.into(),
        actual: of.bytes.into(),
        figure: Some(of.figure),
        tile: of.arena.as_ref().map(|(arena, _)| *arena),
        ..row
    };
    let Some(actual) = of.bytes else {
        let text = format!(
            "the bytes of {noun} are not known, so --{name} cannot be checked: {}",
            of.why_unknown
        );
        let row = found(row(facts, name, &text));
        return CheckRow { reason: Some(of.why_unknown.to_owned()), ..row };
    };
    let has_least = of.figure.has_least();
    let is_within = if has_least { actual >= limit } else { actual <= limit };
    let why_not = of.at_least.map(|at_least| at_least.why).filter(|_| is_within);
    let difference = exact_bytes(actual.abs_diff(limit));
    let than = if has_least { "asks for" } else { "allows" };
    let compared = match why_not {
        Some(why) => format!("within --{name} as far as it got, but {why}"),
        None => {
            let word = if actual < limit || (is_within && !has_least) { "less" } else { "more" };
            format!("{difference} {word} than --{name} {than}")
        }
    };
    let least = match (of.at_least, has_least) {
        (None, _) => "",
        (Some(_), false) => "at least ",
        (Some(_), true) => "at most ",
    };
    let noun = of.arena.as_ref().map_or(noun, |(_, title)| title);
    let text = format!("{noun} {verb} {least}{}, {compared}", exact_bytes(actual));
    CheckRow {
        passed: is_within && why_not.is_none(),
        reason: why_not.map(str::to_owned),
        ..found(row(facts, name, &text))
    }
}

/// How much a figure has grown since a baseline. What is not known has grown too much.
fn grown([baseline, facts]: [&BudgetFacts; 2], of: &BudgetedFigure, limit: f64) -> CheckRow {
    const NAME: &str = "max-growth";
    let before = baseline.figures.iter().find(|before| before.figure == of.figure);
    let (from, to) = (before.and_then(|before| before.bytes), of.bytes);
    let [noun, verb] = of.subject;
    let found = |row: CheckRow| CheckRow {
        limit: limit.into(),
        figure: Some(of.figure),
        tile: of.arena.as_ref().map(|(arena, _)| *arena),
        grown: Some(Grown { baseline_bytes: from, actual_bytes: to }),
        ..row
    };
    let (Some(from), Some(to)) = (from, to) else {
        let reason = match to {
            Some(_) => format!("of the baseline {}", of.why_unknown),
            None => of.why_unknown.to_owned(),
        };
        let text = format!("the growth of {noun} cannot be checked: {reason}");
        return CheckRow { reason: Some(reason), ..found(row(facts, NAME, &text)) };
    };
    let percent = growth_percent(from, to);
    let is_within = percent <= limit;
    let why_not = of.at_least.map(|at_least| at_least.why.to_owned());
    let of_baseline = || Some(format!("of the baseline: {}", before?.at_least?.why));
    let why_not = why_not.or_else(of_baseline);
    let change = i64::try_from(i128::from(to) - i128::from(from)).unwrap_or(i64::MAX);
    let shown = if percent.is_finite() {
        format!("{percent:+.2} %").replace('-', "−")
    } else {
        "from 0".to_owned()
    };
    let on = of.arena.as_ref().map_or_else(String::new, |(_, title)| format!(" on {title}"));
    let text = format!(
        "{noun} {verb} {}{on} instead of {}, {} ({shown}); --{NAME} allows {limit} %{}",
        bytes(to),
        bytes(from),
        signed_bytes(change),
        why_not.as_ref().map_or_else(String::new, |why| format!("; {why}")),
    );
    CheckRow {
        // Growth without end is no number in JSON.
        actual: percent.into(),
        passed: is_within && why_not.is_none(),
        reason: why_not.filter(|_| is_within),
        ..found(row(facts, NAME, &text))
    }
}

/// By how much bytes have grown, percent of those of the baseline: without end from 0, below 0 where
/// they have shrunk.
fn growth_percent(baseline: u64, actual: u64) -> f64 {
    if baseline == 0 {
        return if actual == 0 { 0.0 } else { f64::INFINITY };
    }
    // The bytes of any machine are exact in an f64.
    (actual as f64 - baseline as f64) * 100.0 / baseline as f64
}

/// Whether it fits for sure.
fn fits(facts: &BudgetFacts, room: Room) -> CheckRow {
    let need = &facts.need;
    let judged = need.judge(room);
    let passed = judged.outcome == Outcome::Fits;
    let is_over = judged.over_bytes.is_some_and(|over| over > 0);
    let hint = match judged.capacity_bytes {
        None => ": --capacity 16GiB sets it",
        Some(_) => "",
    };
    // Of how many parts, the run says in its own words.
    let own = if facts.own.is_empty() { String::new() } else { format!("{}; ", facts.own) };
    let text = format!("{own}{}{hint}", judged.text);
    let why_not = match (judged.capacity_bytes, need.at_least, need.ending) {
        (None, ..) => UNKNOWN_CAPACITY,
        (_, _, Ending::Refused) => need.refusal,
        (_, Some(at_least), _) => at_least.why,
        (Some(_), None, _) => UNKNOWN_NEED,
    };
    CheckRow {
        limit: judged.limit_bytes.into(),
        actual: need.bytes.filter(|_| judged.capacity_bytes.is_some()).into(),
        passed,
        reason: (!passed && !is_over).then(|| why_not.to_owned()),
        tile: need.arena,
        ..row(facts, "must-fit", &text)
    }
}

/// Why it cannot be said whether a run fits.
const UNKNOWN_CAPACITY: &str = "the capacity of the device is not known";
const UNKNOWN_NEED: &str = "it is not known what the run needs";

impl CheckReport {
    /// Whether all budgets are kept, in a sentence.
    fn verdict(&self) -> String {
        let failed = self.checks.iter().filter(|check| !check.passed).count() as u64;
        match failed {
            0 => "Passed: every budget is kept".to_owned(),
            _ => format!(
                "Failed: {} of {} budgets are not kept",
                grouped(failed),
                grouped(self.checks.len() as u64)
            ),
        }
    }
}

impl CheckRow {
    /// What tells it from the other checks of a run: its option, and the figure where an option limits several.
    fn title(&self) -> String {
        match (&self.grown, self.figure) {
            (Some(_), Some(figure)) => format!("{} of {}", self.name, figure.key()),
            _ => self.name.to_owned(),
        }
    }
}

impl Answer for CheckReport {
    const SCHEMA: &'static str = "tilescope.check/2";

    fn exit_code(&self) -> ExitCode {
        if self.passed { ExitCode::SUCCESS } else { BUDGET_EXCEEDED.into() }
    }

    fn text(&self) -> String {
        let rows = self.checks.iter().map(|check| {
            let verdict = if check.passed { "passed" } else { "FAILED" };
            vec![verdict.to_owned(), check.name.to_owned(), check.text.clone()]
        });
        self.verdict() + "\n" + &aligned(&["<", "<", "<"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{AtLeast, Need};

    /// A report of checks that passed or not, with these texts.
    pub(super) fn report_of<const N: usize>(checks: [(bool, &str); N]) -> CheckReport {
        let row = |(passed, text): (bool, &str)| CheckRow {
            name: BudgetFigure::Total.option(),
            passed,
            text: text.to_owned(),
            ..CheckRow::default()
        };
        let checks: Vec<CheckRow> = checks.into_iter().map(row).collect();
        CheckReport { passed: checks.iter().all(|check| check.passed), checks }
    }

    fn facts(tile: u64, total: u64, peak: Option<u64>) -> BudgetFacts {
        let of = |figure, bytes| BudgetedFigure::of(figure, ["it", "has"], bytes, "nobody knows");
        let figures = vec![
            of(BudgetFigure::FullestArena, Some(tile)),
            of(BudgetFigure::Total, Some(total)),
            of(BudgetFigure::Peak, peak),
        ];
        let need = Need { bytes: Some(total), ..Need::default() };
        BudgetFacts { figures, need, own: String::new() }
    }

    #[test]
    fn headroom_has_a_least() {
        let limited_by = |bytes, at_least, limit| {
            let of = BudgetedFigure {
                at_least,
                ..BudgetedFigure::of(BudgetFigure::Headroom, ["headroom", "is"], bytes, "unknown")
            };
            let row = limited(&BudgetFacts::default(), &of, limit);
            (row.passed, row.text)
        };
        let said = |passed, text: &str| (passed, text.to_owned());
        assert_eq!(
            limited_by(Some(90), None, 80),
            said(true, "headroom is 90 B, 10 B more than --min-headroom-bytes asks for")
        );
        assert_eq!(
            limited_by(Some(70), None, 80),
            said(false, "headroom is 70 B, 10 B less than --min-headroom-bytes asks for")
        );
        let (passed, text) = limited_by(Some(90), Some(AtLeast::of("x", "it may be less")), 80);
        assert!(!passed && text.starts_with("headroom is at most 90 B, within"), "{text}");
        assert!(!limited_by(None, None, 80).0);
    }

    fn passed(
        budgets: &BudgetArguments,
        facts: &BudgetFacts,
        baseline: Option<&BudgetFacts>,
    ) -> Vec<bool> {
        let room = Room { capacity_bytes: Some(99), ..Room::default() };
        checks(facts, baseline, budgets, room).iter().map(|row| row.passed).collect()
    }

    #[test]
    fn a_limit_may_be_reached_and_not_exceeded() {
        let budgets = BudgetArguments {
            max_tile_bytes: Some(10),
            max_total_bytes: Some(99),
            max_peak_bytes: Some(50),
            must_fit: true,
            ..BudgetArguments::default()
        };
        assert_eq!(passed(&budgets, &facts(10, 100, Some(50)), None), [true, false, true, false]);
        let unknown = facts(10, 99, None);
        assert_eq!(passed(&budgets, &unknown, None), [true, true, false, true], "not known");
        let mut lower_bound = unknown;
        for figure in &mut lower_bound.figures {
            figure.at_least = Some(AtLeast::CUT);
        }
        lower_bound.need.at_least = Some(AtLeast::CUT);
        assert_eq!(passed(&budgets, &lower_bound, None), [false, false, false, false]);
        let none = BudgetArguments::default();
        assert!(checks(&lower_bound, None, &none, Room::default()).is_empty());
    }

    #[test]
    fn growth_is_of_all_three() {
        let budgets = BudgetArguments { max_growth: Some(5.0), ..BudgetArguments::default() };
        let baseline = facts(100, 1000, Some(0));
        let of = |facts| passed(&budgets, &facts, Some(&baseline));
        assert_eq!(of(facts(105, 1051, Some(0))), [true, false, true]);
        assert_eq!(of(facts(0, 0, Some(1))), [true, true, false], "from 0 any growth is too much");
        assert_eq!(of(facts(0, 0, None)), [true, true, false]);
        let must_shrink = BudgetArguments { max_growth: Some(-10.0), ..BudgetArguments::default() };
        let found = passed(&must_shrink, &facts(90, 901, Some(0)), Some(&baseline));
        assert_eq!(found, [true, false, false]);
    }
}
