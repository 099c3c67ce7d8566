//! What a change did to memory, in sentences.

use super::{ReportChange, SidesOfScratch, SpaceChange};
use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::Difference;
use crate::run::{Conclusion, Evidence};
use crate::text::{capitalised, clean, counted};

/// Operations that are named.
const MOST_OPERATIONS: usize = 2;

/// Sentences about spaces, circular buffers and what is kept; `size` writes bytes.
pub(super) fn conclusions(
    change: &ReportChange<'_>,
    size: &dyn Fn(u64) -> String,
) -> Vec<Conclusion> {
    let mut said = vec![spaces(change, size)];
    said.extend(scratch(change, size));
    said.extend(kept(change, size));
    said
}

/// How L1 and DRAM changed, and by which operations.
fn spaces(change: &ReportChange<'_>, size: &dyn Fn(u64) -> String) -> Conclusion {
    let [l1, dram] = [&change.spaces.l1, &change.spaces.dram];
    let [of_l1, of_dram] = [l1, dram].map(|space| space.peak_bytes_per_bank.change().unwrap_or(0));
    let parts = [("the peak of L1 of a core", of_l1), ("that of a bank of DRAM", of_dram)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, change)| *change != 0)
        .map(|(what, change)| {
            let verb = if change > 0 { "rose" } else { "fell" };
            format!("{what} {verb} by {}", size(change.unsigned_abs()))
        })
        .collect();
    let text = match &*parts {
        [] => "The peaks of L1 and DRAM stayed the same".to_owned(),
        _ => {
            let lead = match (of_l1.signum(), of_dram.signum()) {
                (1, -1) if went(dram, l1) => "Memory went from DRAM to L1: ",
                (-1, 1) if went(l1, dram) => "Memory went from L1 to DRAM: ",
                _ => "",
            };
            let named = named(if of_l1 == 0 { dram } else { l1 });
            capitalised(&format!("{lead}{}{named}", parts.join(", ")))
        }
    };
    let evidence = vec![
        Evidence::change("L1 of a core", Unit::Bytes, l1.peak_bytes_per_bank),
        Evidence::change("A bank of DRAM", Unit::Bytes, dram.peak_bytes_per_bank),
    ];
    Conclusion { evidence, ..Conclusion::new("spaces", text) }
}

/// `; most of it are buffers of ttnn.reshape and ttnn.linear`.
fn named(space: &SpaceChange<'_>) -> String {
    let total = space.peak_bytes_per_bank.change().unwrap_or(0);
    let rows = space.by_allocating_operation.iter();
    let same_way = rows.filter(|row| row.difference.signum() == total.signum());
    let names: Vec<String> = same_way
        .take(MOST_OPERATIONS)
        .map(|row| {
            row.name
                .map_or("operations before the report".to_owned(), |name| clean(name).into_owned())
        })
        .collect();
    match &*names {
        [] => String::new(),
        names => format!("; most by buffers of {}", names.join(" and ")),
    }
}

/// Whether an operation has fewer bytes in one space and more in another.
fn went(from: &SpaceChange<'_>, to: &SpaceChange<'_>) -> bool {
    let less = from.by_allocating_operation.iter().filter(|row| row.difference < 0);
    let has_more = |name| {
        let mut rows = to.by_allocating_operation.iter();
        rows.any(|row| row.name == name && row.difference > 0)
    };
    less.map(|row| row.name).any(has_more)
}

/// How circular buffers changed, or why that is not known.
fn scratch(change: &ReportChange<'_>, size: &dyn Fn(u64) -> String) -> Vec<Conclusion> {
    let scratch = &change.scratch;
    if !scratch.comparable {
        let sides = [
            (scratch.source_unknown_programs, "source"),
            (scratch.target_unknown_programs, "target"),
        ];
        let unknown = sides.into_iter().filter(|(count, _)| *count > 0);
        let unknown: Vec<String> = unknown
            .map(|(count, side)| format!("{} of the {side}", counted(count, "program")))
            .collect();
        let text = format!(
            "Circular buffers cannot be compared: those of {} are not known",
            unknown.join(" and ")
        );
        return vec![Conclusion::new("circular-buffers", text)];
    }
    let moved = |id, what: &str, sides: &SidesOfScratch, is_better_up: bool| {
        let bytes = Difference { source: sides.source, target: sides.target };
        let change = bytes.change().filter(|change| *change != 0)?;
        let verb = if change > 0 { "rose" } else { "fell" };
        let text = format!("{what} {verb} by {}", size(change.unsigned_abs()));
        let is_better = Some((change > 0) == is_better_up);
        let evidence = vec![Evidence::change(what, Unit::Bytes, bytes)];
        Some(Conclusion { is_better, evidence, ..Conclusion::new(id, text) })
    };
    let largest = &scratch.largest_bytes_per_core;
    let headroom = &scratch.headroom_bytes_per_core;
    [
        moved("circular-buffers", "The largest circular buffers of a core", largest, false),
        moved("headroom", "The least room between circular buffers and buffers", headroom, true),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// How what is kept to the end changed.
fn kept(change: &ReportChange<'_>, size: &dyn Fn(u64) -> String) -> Option<Conclusion> {
    let bytes = change.l1_read_then_kept_bytes_per_core;
    let by = bytes.change().filter(|by| *by != 0)?;
    let verb = if by > 0 { "more" } else { "less" };
    let text = format!(
        "{} {verb} of L1 of a core is kept to the end after it was last read",
        size(by.unsigned_abs())
    );
    let evidence = vec![Evidence::change("Read and kept", Unit::Bytes, bytes)];
    Some(Conclusion { is_better: Some(by < 0), evidence, ..Conclusion::new("kept", text) })
}
