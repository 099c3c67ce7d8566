//! `tilescope check` of a program of XLA.
//!
//! The total is what a memory space reserves, for that is what the device must have. The peak is what is reserved
//! throughout and what is temporary at its peak, as in liveness: parameters, results and constants count whether they
//! are in use then or not. Both are of the main memory, or of the one that is named.

use std::process::ExitCode;

use super::check::{
    BudgetArguments, CheckArguments, Grown, Row, UNKNOWN_CAPACITY, grown_row, limited_row,
    run_of_system,
};
use super::compare::DeviceArguments;
use super::output::open_program;
use crate::format::{Error, Progress};
use crate::opened::XlaFiles;
use crate::run::Outcome as ProgramFit;
use crate::run::Room;
use crate::store::Warning;
use crate::systems::poplar::insights::budgets::Figure;
use crate::systems::xla::compared::ComparedProgram;
use crate::text::{bytes, exact_bytes};

/// What a figure is for a budget, how it comes from a program, the option, what it is of.
type Checked = (Figure, fn(&ComparedProgram) -> Option<u64>, &'static str, &'static str);

const FIGURES: [Checked; 2] = [
    (Figure::Total, |side| Some(side.figures.total_bytes), "max-total-bytes", "what is reserved"),
    (
        Figure::Peak,
        in_use_bytes,
        "max-peak-bytes",
        "what is reserved throughout with the temporary peak",
    ),
];

/// What is reserved throughout, with what is temporary at its peak; `None` where neither the order of instructions is
/// known nor XLA's simulation of what is temporary.
fn in_use_bytes(side: &ComparedProgram) -> Option<u64> {
    let temporary = side.figures.temporary_peak_bytes()?;
    Some(side.figures.throughout_bytes().saturating_add(temporary))
}

/// The memory space of a program that is checked.
struct Side {
    title: String,
    of: ComparedProgram,
}

/// Checks a program, against the second if there is one.
pub(super) fn run(files: &[XlaFiles], arguments: &CheckArguments) -> ExitCode {
    let CheckArguments { device, budgets, .. } = arguments;
    let no_tiles = [
        "--max-tile-bytes is of tiles, which a program of XLA does not have",
        "--max-total-bytes limits what is reserved, --max-peak-bytes what is reserved throughout with the temporary peak.",
    ];
    let open = |files: &XlaFiles, progress: &Progress| checked(files, device, progress);
    run_of_system(files, arguments, ("Reading the module", no_tiles), open, |side, baseline| {
        checks(side, baseline, budgets, device.room())
    })
}

fn checked(
    files: &XlaFiles,
    device: &DeviceArguments,
    progress: &Progress,
) -> Result<(Side, Vec<Warning>), Error> {
    let run = open_program(files, progress)?;
    let (program, color) = (&run.program, device.device.unwrap_or(0));
    let of = ComparedProgram::of(program, color).ok_or_else(|| program.no_such_space(color))?;
    let side = Side { title: program.color_title(color), of };
    Ok((side, run.report.warnings.list()))
}

fn checks(side: &Side, baseline: Option<&Side>, budgets: &BudgetArguments, room: Room) -> Vec<Row> {
    let mut rows = Vec::new();
    let limits = [budgets.max_total_bytes, budgets.max_peak_bytes];
    for (checked, limit) in FIGURES.into_iter().zip(limits) {
        rows.extend(limit.map(|limit| limited(side, checked, limit)));
    }
    if let Some((limit, baseline)) = budgets.max_growth.zip(baseline) {
        rows.extend(FIGURES.map(|checked| grown(side, baseline, checked, limit)));
    }
    if budgets.must_fit {
        rows.push(fits(side, room));
    }
    rows
}

/// Why a program fails that would fit by its figures.
const REFUSED: &str = "XLA refused it";

/// Why there is no peak.
const UNKNOWN_LIVES: &str = "the file does not say when values live";

/// Why figures are no more than lower bounds.
fn why_at_least(side: &Side) -> Option<&'static str> {
    side.of.is_cut.then_some("the file ends before its contents do, so it may be more")
}

fn limited(side: &Side, (figure, of, name, subject): Checked, limit: u64) -> Row {
    let Some(actual) = of(&side.of) else {
        let text = format!("{}: {subject} is not known, for {UNKNOWN_LIVES}", side.title);
        let (limit, reason) = (limit.into(), Some(UNKNOWN_LIVES.to_owned()));
        return Row { name, limit, reason, figure: Some(figure), text, ..Row::default() };
    };
    let subject = (&*side.title, figure, subject);
    limited_row(subject, name, (actual, limit), (why_at_least(side), ""))
}

fn grown(side: &Side, baseline: &Side, (figure, of, _, subject): Checked, limit: f64) -> Row {
    let (from, to) = (of(&baseline.of), of(&side.of));
    let (Some(from), Some(to)) = (from, to) else {
        let reason = match to {
            Some(_) => format!("of the baseline {UNKNOWN_LIVES}"),
            None => UNKNOWN_LIVES.to_owned(),
        };
        let text = format!("{}: how much {subject} has grown is not known: {reason}", side.title);
        let (name, limit, figure) = ("max-growth", limit.into(), Some(figure));
        let grown = Some(Grown { baseline_bytes: from, actual_bytes: to });
        return Row { name, limit, reason: Some(reason), figure, grown, text, ..Row::default() };
    };
    let why_not = why_at_least(side)
        .map(|why| format!("; {why}"))
        .or_else(|| why_at_least(baseline).map(|why| format!("; of the baseline: {why}")));
    grown_row((&side.title, figure, subject), (from, to), limit, (why_not, ""))
}

fn fits(side: &Side, room: Room) -> Row {
    let empty = Row { name: "must-fit", ..Row::default() };
    let (title, of, fit) = (&side.title, &side.of, side.of.fit(room));
    let total = of.figures.total_bytes;
    let reserved = bytes(total);
    let Some((over, capacity)) = of.over_bytes(room).zip(of.capacity_bytes(room)) else {
        let (text, reason) = match fit {
            ProgramFit::DoesNotFit => {
                (format!("{title}: it reserves {reserved}, which XLA refused"), REFUSED)
            }
            _ => (
                format!(
                    "{title}: it reserves {reserved}, and what the device has is not in the files: --capacity 16GiB says it"
                ),
                UNKNOWN_CAPACITY,
            ),
        };
        return Row { text, reason: Some(reason.to_owned()), ..empty };
    };
    let other = match room.other_bytes {
        0 => String::new(),
        other => format!(" and others have {}", bytes(other)),
    };
    // Why it fails where it is within what there is.
    let why_not = match fit {
        _ if over > 0 => None,
        ProgramFit::Fits => None,
        ProgramFit::DoesNotFit => Some(REFUSED),
        _ => Some(why_at_least(side).unwrap_or("whether it fits is not known")),
    };
    let compared = match (over, why_not) {
        (1.., _) => format!("{} too much", exact_bytes(over)),
        (0, None) => "it fits".to_owned(),
        (0, Some(why)) => format!("but {why}"),
    };
    Row {
        limit: capacity.saturating_sub(room.other_bytes).into(),
        actual: total.into(),
        passed: fit == ProgramFit::Fits,
        reason: why_not.map(str::to_owned),
        text: format!(
            "{title}: it reserves {reserved}{other} of the {}, {compared}",
            bytes(capacity)
        ),
        ..empty
    }
}
