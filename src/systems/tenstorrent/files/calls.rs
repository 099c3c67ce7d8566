//! Stack traces and arguments of operations.

use super::read_known;
use super::small_tables::RanksByNumber;
use super::tensors::rank_of;
use crate::format::sqlite::Tables;
use crate::limits;
use crate::systems::tenstorrent::recorded::TtnnReport;

/// Bytes of a stack trace that are kept.
pub const STACK_BYTES: usize = 1 << 14;
/// Bytes of the value of an argument that are kept: tensors are written at length.
pub const VALUE_BYTES: usize = 1 << 10;

/// Reads them into the ranks of a report, where the tables are there.
pub fn read(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &RanksByNumber) {
    read_stacks(tables, report, ranks);
    read_arguments(tables, report, ranks);
}

fn read_stacks(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &RanksByNumber) {
    let table = "stack_traces";
    let columns = ["operation_id", "stack_trace", "rank"];
    read_known(tables, table, &columns, 2, |cells| {
        let Some(id) = cells.required(0) else { return };
        let Some(text) = cells.long_text(1).filter(|text| !text.is_empty()) else { return };
        let stack = report.names.intern(&limits::cut(&text, STACK_BYTES));
        let Some(rank) = rank_of(cells, 2, report, ranks) else { return };
        if let Some(at) = rank.operations.position(id) {
            rank.calls.add_stack(at, stack);
        }
    });
}

fn read_arguments(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &RanksByNumber) {
    let table = "operation_arguments";
    let columns = ["operation_id", "name", "value", "rank"];
    read_known(tables, table, &columns, 3, |cells| {
        let Some(id) = cells.required(0) else { return };
        let (Some(name), Some(value)) = (cells.text(1), cells.long_text(2)) else { return };
        let name = report.names.intern(&name);
        let value = report.names.intern(&limits::cut(&value, VALUE_BYTES));
        let Some(rank) = rank_of(cells, 3, report, ranks) else { return };
        if let Some(at) = rank.operations.position(id) {
            rank.calls.add_argument(at, name, value);
        }
    });
}
