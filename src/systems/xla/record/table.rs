//! The allocators of a profile as a table.

use super::insights::{nanoseconds_text, percent_text};
use crate::run::{Cell, Section};
use crate::store::hlo::AllocatorFigures;
use crate::text::grouped;

/// Rows of the table; JSON has all.
pub(in crate::systems::xla) const MOST_OF_TABLE: usize = 40;

/// The allocators of a profile, a row each; `None` where there is none.
pub(in crate::systems::xla) fn allocators_section(
    all: &[AllocatorFigures],
    most: usize,
) -> Option<Section> {
    let row = |one: &AllocatorFigures| {
        let at = one.peak_program.as_deref().or(one.peak_operation.as_deref()).unwrap_or("");
        vec![
            Cell::Text(one.allocator.clone()),
            Cell::Bytes(one.peak_in_use_bytes),
            Cell::Text(nanoseconds_text(one.peak_time_ns)),
            Cell::Text(at.to_owned()),
            Cell::Text(one.peak_fragmentation.map_or_else(String::new, percent_text)),
            Cell::Bytes(one.first_in_use_bytes),
            Cell::Bytes(one.last_in_use_bytes),
            Cell::from(one.process_peak_bytes),
            Cell::from(one.limit_bytes),
            Cell::Count(one.events as u64),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = all.iter().take(most).map(row).collect();
    let more = all.len().saturating_sub(most);
    if more > 0 {
        let mut row = vec![Cell::Text(format!("{} more", grouped(more as u64)))];
        row.resize(10, Cell::Empty);
        rows.push(row);
    }
    let columns = [
        "Allocator",
        "peak",
        "at",
        "started then",
        "fragmentation",
        "before",
        "after",
        "peak of the process",
        "limit",
        "events",
    ];
    (!rows.is_empty()).then(|| {
        Section::table("Allocators while they were recorded, bytes in use", &columns, rows)
    })
}
