//! The table `buffers`: what is alive at the end of each operation.
//!
//! It has a row for each buffer and operation, 100 million in large reports, and buffers of consecutive operations are
//! mostly the same. So rows are taken in as they come and kept as [`Stay`]s: a buffer with its first and last operation.

use std::collections::BTreeSet;

use super::small_tables::RanksByNumber;
use super::{known, rank_number};
use crate::format::sqlite::{Cells, NumberedRows, ROW_ID, Tables};
use crate::limits;
use crate::store::WarningCode;
use crate::store::names::FastMap;
use crate::systems::tenstorrent::recorded::{
    BufferKey, BufferLayout, BufferSpace, Stay, TtnnRank, TtnnReport,
};

const TABLE: &str = "buffers";
const COLUMNS: [&str; 7] = [
    "operation_id",
    "address",
    "max_size_per_bank",
    "buffer_type",
    "device_id",
    "buffer_layout",
    "rank",
];
/// Meshes that are told apart.
pub const MOST_MESHES: usize = 1024;

/// Reads the table into the ranks of a report.
pub fn read(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &RanksByNumber) {
    if !tables.has_table(TABLE) {
        tables.warn(WarningCode::Inconsistent, "table buffers is absent");
        return;
    }
    let columns = known(tables, TABLE, &COLUMNS, 5);
    let mut rows = BufferRows::new(report, ranks);
    tables.rows(&NumberedRows::all(TABLE, columns, ROW_ID), |cells| {
        rows.add(report, cells);
    });
    if !rows.are_in_order {
        // Nobody promises an order, though all producers keep it.
        rows = BufferRows::new(report, ranks);
        tables.read(TABLE, columns, "operation_id", |cells| {
            rows.add(report, cells);
        });
    }
    rows.finish(report);
    for rank in report.ranks.iter().filter(|rank| rank.machine.mesh_ids.len() > 1) {
        let count = rank.machine.mesh_ids.len();
        let message = format!(
            "table buffers, rank {}: buffers of {count} meshes, which are shown as one range of addresses",
            rank.rank
        );
        tables.warn(WarningCode::Inconsistent, message);
    }
}

/// Takes rows in.
struct BufferRows<'a> {
    ranks: &'a RanksByNumber,
    of_ranks: Vec<StaysOfRank>,
    is_detailed: bool,
    are_in_order: bool,
}

/// The stays of a rank so far.
#[derive(Default)]
pub struct StaysOfRank {
    pub stays: Vec<Stay>,
    /// The last stay of each place.
    last: FastMap<BufferKey, u32>,
    /// The id and the position of the operation of the row before.
    operation: Option<(u64, u32)>,
    meshes: BTreeSet<u64>,
    last_mesh: Option<u64>,
    rows: u64,
    pub rows_of_spaces: [u64; BufferSpace::COUNT],
}

impl<'a> BufferRows<'a> {
    fn new(report: &TtnnReport, ranks: &'a RanksByNumber) -> Self {
        let of_ranks = report.ranks.iter().map(|_| StaysOfRank::default()).collect();
        let is_detailed = report.page_table.is_some();
        Self { ranks, of_ranks, is_detailed, are_in_order: true }
    }

    /// Takes a row in, and notes whether its operation comes before that of the previous row.
    fn add(&mut self, report: &mut TtnnReport, cells: &mut Cells<'_, '_>) {
        let number = rank_number(cells, 6);
        let place = number.and_then(|number| self.ranks.find(number));
        let rank = place.and_then(|place| report.ranks.get_mut(place));
        let of_rank = place.and_then(|place| self.of_ranks.get_mut(place));
        let (Some(rank), Some(of_rank)) = (rank, of_rank) else {
            cells.damage(6, "a rank that has neither operations nor devices");
            return;
        };
        of_rank.rows = of_rank.rows.saturating_add(1);
        let Some(id) = cells.required(0) else { return };
        let Some((operation, is_in_order)) = of_rank.operation_of(id, rank) else {
            cells.damage(0, "an operation that has no row");
            return;
        };
        let Some(stay) = stay_of(cells, operation, self.is_detailed) else { return };
        if let Some(mesh) = cells.number(4).filter(|mesh| of_rank.last_mesh != Some(*mesh)) {
            of_rank.last_mesh = Some(mesh);
            if of_rank.meshes.len() < MOST_MESHES {
                of_rank.meshes.insert(mesh);
            }
        }
        of_rank.add(stay);
        self.are_in_order &= is_in_order;
    }

    fn finish(self, report: &mut TtnnReport) {
        for (rank, of_rank) in report.ranks.iter_mut().zip(self.of_ranks) {
            rank.stays = of_rank.stays;
            rank.stays.sort_by_key(|stay| stay.first);
            rank.buffer_rows = of_rank.rows;
            rank.rows_of_spaces = of_rank.rows_of_spaces;
            rank.machine.mesh_ids = of_rank.meshes.into_iter().collect();
        }
    }
}

/// What a row says of a buffer at the end of one operation.
fn stay_of(cells: &mut Cells<'_, '_>, operation: u32, is_detailed: bool) -> Option<Stay> {
    let address = cells.required_up_to(1, limits::ADDRESS)?;
    let bytes_per_bank = cells.required_up_to(2, limits::ADDRESS)?;
    let code = cells.required(3)?;
    let Some(space) = BufferSpace::of_code(code) else {
        cells.damage(3, &format!("a number from 0 to 4 expected, {code} found"));
        return None;
    };
    let layout = cells.number(5).and_then(|code| BufferLayout::of_code(code, is_detailed));
    let key = BufferKey { space, address };
    Some(Stay { key, bytes_per_bank, layout, first: operation, last: operation })
}

impl StaysOfRank {
    /// The position of an operation, and whether it does not come before that of the row before.
    fn operation_of(&mut self, id: u64, rank: &mut TtnnRank) -> Option<(u32, bool)> {
        if let Some((last, at)) = self.operation
            && last == id
        {
            return Some((at, true));
        }
        let at = rank.operations.position(id)?;
        let is_in_order = self.operation.is_none_or(|(_, before)| before < at);
        self.operation = Some((id, at));
        if let Some(has_rows) = rank.operations.has_rows.get_mut(at as usize) {
            *has_rows = true;
        }
        Some((at, is_in_order))
    }

    /// Adds a buffer at the end of an operation; operations come in their order.
    pub fn add(&mut self, stay: Stay) {
        let rows = self.rows_of_spaces.get_mut(stay.key.space as usize);
        if let Some(rows) = rows {
            *rows = rows.saturating_add(1);
        }
        let next = u32::try_from(self.stays.len()).unwrap_or(u32::MAX);
        let place = self.last.entry(stay.key).or_insert(next);
        if let Some(last) = self.stays.get_mut(*place as usize) {
            // The same buffer in two rows of an operation counts once.
            if last.last == stay.last {
                last.bytes_per_bank = stay.bytes_per_bank;
                return;
            }
            let is_same = last.bytes_per_bank == stay.bytes_per_bank && last.layout == stay.layout;
            if is_same && last.last.checked_add(1) == Some(stay.last) {
                last.last = stay.last;
                return;
            }
        }
        *place = next;
        self.stays.push(stay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_stays_as_long_as_consecutive_operations_have_it() {
        let mut of_rank = StaysOfRank::default();
        let key = BufferKey { space: BufferSpace::L1, address: 64 };
        let mut add = |at: u32, bytes_per_bank: u64| {
            of_rank.add(Stay { key, bytes_per_bank, layout: None, first: at, last: at });
        };
        for (at, bytes) in [(0, 8), (1, 8), (1, 8), (2, 16), (4, 16)] {
            add(at, bytes);
        }
        let stays = of_rank.stays.iter().map(|stay| (stay.first, stay.last, stay.bytes_per_bank));
        assert_eq!(stays.collect::<Vec<_>>(), [(0, 1, 8), (2, 2, 16), (4, 4, 16)]);
        assert_eq!(of_rank.rows_of_spaces, [0, 5, 0, 0, 0]);
    }
}
