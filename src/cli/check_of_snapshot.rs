//! `tilescope check` of a memory snapshot.
//!
//! The total is what is taken from the device at most (reserved), for that is what the device must have. The peak is
//! what is asked for at most (requested), the peak of summary, liveness and compare: it is exact of every file, and does
//! not move with the rounding of the allocator. Both are of the device that failed, else of the one that had
//! most, or of the one that is named.

use std::path::PathBuf;
use std::process::ExitCode;

use super::check::{
    BudgetArguments, CheckArguments, Row, UNKNOWN_CAPACITY, grown_row, limited_row, run_of_system,
};
use super::compare::DeviceArguments;
use super::output;
use crate::analysis::variants::{SnapshotTook, Variant, VariantColumn};
use crate::format::{Error, Progress};
use crate::run::Room;
use crate::store::Warning;
use crate::systems::poplar::insights::budgets::Figure;
use crate::systems::pytorch::allocator::replayed::AllocatorRun;
use crate::systems::pytorch::allocator::run_end::{Outcome, Recorded};
use crate::systems::pytorch::files::SnapshotFiles;
use crate::text::{bytes, exact_bytes};

/// A figure that is checked: what it is for a budget, where it stands in the table of variants, the option, what it is.
type Checked = (Figure, VariantColumn, &'static str, &'static str);

const FIGURES: [Checked; 2] = [
    (
        Figure::Total,
        VariantColumn::MaxReserved,
        "max-total-bytes",
        "what is taken from the device at most",
    ),
    (Figure::Peak, VariantColumn::RequestedPeak, "max-peak-bytes", "what is asked for at most"),
];

/// The device of a run that is checked.
struct Side {
    title: String,
    variant: Variant,
    took: SnapshotTook,
}

impl Side {
    /// Of a run, of the device of a number or the one that failed or had most; `None` where there is none.
    fn of(run: &AllocatorRun, device: Option<i64>) -> Option<Self> {
        let (place, variant) = Variant::of_run((String::new(), PathBuf::new()), run, device)?;
        let (took, (device, _)) = (*variant.snapshot()?, run.snapshot()?.device(place)?);
        Some(Self { title: device.title(), variant, took })
    }

    fn bytes(&self, figure: VariantColumn) -> u64 {
        match figure {
            VariantColumn::MaxReserved => self.took.max_reserved_bytes,
            _ => self.took.requested_peak_bytes,
        }
    }
}

/// Checks a snapshot, against the second if there is one.
pub(super) fn run(files: &[SnapshotFiles], arguments: &CheckArguments) -> ExitCode {
    let CheckArguments { device, budgets, .. } = arguments;
    let no_tiles = [
        "--max-tile-bytes is of tiles, which a memory snapshot does not have",
        "--max-total-bytes limits what is taken from the device, --max-peak-bytes what is asked for at once.",
    ];
    let open = |files: &SnapshotFiles, progress: &Progress| checked(files, device, progress);
    run_of_system(files, arguments, ("Reading the snapshot", no_tiles), open, |side, baseline| {
        checks(side, baseline, budgets, device.room())
    })
}

fn checked(
    files: &SnapshotFiles,
    device: &DeviceArguments,
    progress: &Progress,
) -> Result<(Side, Vec<Warning>), Error> {
    let run = output::open_snapshot(files, progress)?;
    let side = Side::of(&run.allocator, device.device);
    let side = side.ok_or_else(|| run.no_such_device(device.device))?;
    Ok((side, run.report.warnings.list()))
}

fn checks(side: &Side, baseline: Option<&Side>, budgets: &BudgetArguments, room: Room) -> Vec<Row> {
    let mut rows = Vec::new();
    let limits = [budgets.max_total_bytes, budgets.max_peak_bytes];
    for ((figure, of, name, subject), limit) in FIGURES.into_iter().zip(limits) {
        let Some(limit) = limit else { continue };
        rows.push(limited(side, (figure, of), (name, subject), limit));
    }
    if let Some((limit, baseline)) = budgets.max_growth.zip(baseline) {
        for (figure, of, _, subject) in FIGURES {
            rows.push(grown(side, baseline, (figure, of), subject, limit));
        }
    }
    if budgets.must_fit {
        rows.push(fits(side, room));
    }
    rows
}

/// Why figures are no more than a lower bound; a budget that they are within is then not known to be kept.
fn why_at_least(side: &Side) -> Option<&'static str> {
    if side.variant.is_cut {
        return Some("the file ends before its contents do, so it may be more");
    }
    match (side.variant.outcome, side.took.recorded) {
        (Outcome::OutOfMemory, _) => {
            Some("the run ran out of memory, and nobody knows what it would have come to")
        }
        (_, Recorded::Nothing) => {
            Some("no events were recorded, so it may have been more before the snapshot was taken")
        }
        _ => None,
    }
}

/// What of a figure that counts is only of the events that were recorded.
fn of_window(side: &Side, of: VariantColumn) -> &'static str {
    let is_window = side.took.recorded == Recorded::Window && of.is_at_least(&side.variant);
    if is_window { "; of the recorded window, whose beginning is cut off" } else { "" }
}

fn limited(
    side: &Side,
    (figure, of): (Figure, VariantColumn),
    (name, subject): (&'static str, &'static str),
    limit: u64,
) -> Row {
    let both = (side.bytes(of), limit);
    let notes = (why_at_least(side), of_window(side, of));
    limited_row((&side.title, figure, subject), name, both, notes)
}

fn grown(
    side: &Side,
    baseline: &Side,
    (figure, of): (Figure, VariantColumn),
    subject: &'static str,
    limit: f64,
) -> Row {
    let why_not = why_at_least(side)
        .map(|why| format!("; {why}"))
        .or_else(|| why_at_least(baseline).map(|why| format!("; of the baseline: {why}")));
    let window = match (of_window(side, of), of_window(baseline, of)) {
        ("", "") => "",
        ("", _) => "; the baseline's is of its recorded window, whose beginning is cut off",
        (window, "") => window,
        _ => "; both of their recorded windows, whose beginnings are cut off",
    };
    let both = (baseline.bytes(of), side.bytes(of));
    grown_row((&side.title, figure, subject), both, limit, (why_not, window))
}

/// Whether a run fits: what it needs against what others leave of the device.
fn fits(side: &Side, room: Room) -> Row {
    let empty = Row { name: "must-fit", ..Row::default() };
    let title = &side.title;
    let needed = side.variant.needed_bytes;
    let least = if VariantColumn::Needed.is_at_least(&side.variant) { "at least " } else { "" };
    let needed_text = format!("{least}{}", bytes(needed));
    let Some(known) = room.or_stated(side.variant.stated()) else {
        let text = format!(
            "{title}: it needs {needed_text}, and what the device has is not in the file: --capacity 16GiB says it"
        );
        return Row { text, reason: Some(UNKNOWN_CAPACITY.to_owned()), ..empty };
    };
    let limit = known.capacity_bytes.saturating_sub(known.other_bytes);
    let over = needed.saturating_add(known.other_bytes).saturating_sub(known.capacity_bytes);
    let by = if known.is_stated { " that the error text beside it states" } else { "" };
    let (before, after) = match (known.other_bytes, known.is_other_stated) {
        (0, _) => (String::new(), String::new()),
        (other, false) => (format!(" and others have {}", bytes(other)), String::new()),
        (other, true) => (
            String::new(),
            format!(", of which others had {} when that request failed", bytes(other)),
        ),
    };
    let why_not = why_at_least(side);
    let compared = match (over, why_not) {
        (0, Some(why)) => format!("; {why}"),
        (0, None) => format!(", {} less", exact_bytes(limit.saturating_sub(needed))),
        (over, _) => format!(", {} too much", exact_bytes(over)),
    };
    Row {
        limit: limit.into(),
        actual: needed.into(),
        passed: over == 0 && why_not.is_none(),
        reason: why_not.filter(|_| over == 0).map(str::to_owned),
        text: format!(
            "{title}: it needs {needed_text}{before} of the {}{by}{after}{compared}{}",
            bytes(known.capacity_bytes),
            of_window(side, VariantColumn::Needed)
        ),
        ..empty
    }
}
