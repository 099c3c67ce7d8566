//! Metadata, devices, operations and errors.

use super::{known, rank_number, read_known};
use crate::format::sqlite::{Cells, NumberedRows, ROW_ID, Tables};
use crate::limits;
use crate::store::WarningCode;
use crate::store::names::{FastMap, NameId};
use crate::systems::tenstorrent::recorded::{ErrorRow, TtnnDevice, TtnnRank, TtnnReport};

/// The name of the operation that frees tensors and reads none.
pub const DEALLOCATE: &str = "ttnn.deallocate";
/// Bytes of the text of an error.
pub const ERROR_BYTES: usize = 1 << 20;

/// Places of ranks in a report.
#[derive(Debug, Default)]
pub struct RanksByNumber {
    places: FastMap<u64, usize>,
}

impl RanksByNumber {
    /// The place of a rank; `None` for one that no row of operations, devices or buffers named.
    pub fn find(&self, rank: u64) -> Option<usize> {
        self.places.get(&rank).copied()
    }

    /// The rank of a row, which an absent column leaves 0; new where it was not met before.
    pub fn of_row<'a>(
        &mut self,
        cells: &mut Cells<'_, '_>,
        column: usize,
        report: &'a mut TtnnReport,
    ) -> Option<&'a mut TtnnRank> {
        let rank = rank_number(cells, column)?;
        let next = report.ranks.len();
        if next >= limits::RANKS_OF_REPORT && !self.places.contains_key(&rank) {
            cells.damage(column, "too many ranks");
            return None;
        }
        let place = *self.places.entry(rank).or_insert(next);
        if place == next {
            report.ranks.push(TtnnRank { rank, ..TtnnRank::default() });
        }
        report.ranks.get_mut(place)
    }

    /// Sorts the ranks of a report.
    pub fn sort(&mut self, report: &mut TtnnReport) {
        report.ranks.sort_by_key(|rank| rank.rank);
        self.places = report.ranks.iter().map(|rank| rank.rank).zip(0..).collect();
    }
}

/// Reads them.
pub fn read(tables: &Tables<'_>) -> (TtnnReport, RanksByNumber) {
    let (mut report, mut ranks) = (TtnnReport::default(), RanksByNumber::default());
    read_metadata(tables, &mut report);
    read_devices(tables, &mut report, &mut ranks);
    read_operations(tables, &mut report, &mut ranks);
    find_ranks_of_buffers(tables, &mut report, &mut ranks);
    ranks.sort(&mut report);
    read_errors(tables, &mut report, &ranks);
    (report, ranks)
}

fn read_metadata(tables: &Tables<'_>, report: &mut TtnnReport) {
    read_known(tables, "report_metadata", &["key", "value"], 2, |cells| {
        let (Some(key), Some(value)) = (cells.word(0), cells.word(1)) else { return };
        match &*key {
            "schema_version" => report.schema_version = Some(value.into_owned()),
            "version" => report.ttnn_version = Some(value.into_owned()),
            _ => {}
        }
    });
}

const DEVICE_COLUMNS: [&str; 9] = [
    "device_id",
    "num_x_compute_cores",
    "num_y_compute_cores",
    "worker_l1_size",
    "address_at_first_l1_cb_buffer",
    "l1_bank_size",
    "cb_limit",
    "l1_num_banks",
    "rank",
];

fn read_devices(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &mut RanksByNumber) {
    let columns = known(tables, "devices", &DEVICE_COLUMNS, 8);
    tables.read("devices", columns, "", |cells| {
        let Some(rank) = ranks.of_row(cells, 8, report) else { return };
        let cb_limit_bytes = cells.number_up_to(6, limits::ADDRESS);
        let mut number = |column: usize, most: u64| cells.number_up_to(column, most).unwrap_or(0);
        let device = TtnnDevice {
            grid_x: number(1, TtnnDevice::MOST_CORES),
            grid_y: number(2, TtnnDevice::MOST_CORES),
            worker_l1_bytes: number(3, limits::ADDRESS),
            floor_address: number(4, limits::ADDRESS),
            l1_bank_bytes: number(5, limits::ADDRESS),
            cb_limit_bytes,
            l1_banks: number(7, limits::TILES),
        };
        rank.machine.device_rows = rank.machine.device_rows.saturating_add(1);
        rank.machine.device.get_or_insert(device);
    });
}

fn read_operations(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &mut RanksByNumber) {
    let columns = ["operation_id", "name", "duration", "rank"];
    let columns = known(tables, "operations", &columns, 3);
    // As they come; each rank is sorted afterwards.
    let mut rows: Vec<(u64, u64, NameId, Option<u64>)> = Vec::new();
    tables.rows(&NumberedRows::all("operations", columns, ROW_ID), |cells| {
        let Some(id) = cells.required(0) else { return };
        let name = cells.text(1).unwrap_or_default();
        let name = report.names.intern(&name);
        let nanoseconds = cells.real(2).map(|seconds| seconds * 1e9);
        let nanoseconds = nanoseconds.filter(|one| (0.0..1e18).contains(one));
        if let Some(rank) = ranks.of_row(cells, 3, report) {
            rows.push((rank.rank, id, name, nanoseconds.map(|one| one as u64)));
        }
    });
    let deallocate = report.names.find(DEALLOCATE);
    rows.sort_by_key(|(rank, id, ..)| (*rank, *id));
    rows.dedup_by_key(|(rank, id, ..)| (*rank, *id));
    for (rank, id, name, nanoseconds) in rows {
        let place = ranks.find(rank).and_then(|place| report.ranks.get_mut(place));
        let Some(TtnnRank { operations, .. }) = place else { continue };
        operations.push(id, name, nanoseconds, name == deallocate);
    }
}

/// Ranks that only `buffers` names have neither operations nor devices, so nothing of theirs can be shown.
fn find_ranks_of_buffers(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &mut RanksByNumber) {
    if report.ranks.is_empty() && tables.has_table("buffers") && !tables.is_empty("buffers") {
        tables.warn(WarningCode::Inconsistent, "table operations has no row");
        report.ranks.push(TtnnRank::default());
        ranks.sort(report);
    }
}

fn read_errors(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &RanksByNumber) {
    let columns = ["operation_id", "operation_name", "error_type", "error_message", "rank"];
    read_known(tables, "errors", &columns, 4, |cells| {
        let number = rank_number(cells, 4);
        let place = number.and_then(|rank| ranks.find(rank));
        let Some(rank) = place.and_then(|place| report.ranks.get_mut(place)) else { return };
        let id = cells.number(0);
        let operation = id.and_then(|id| rank.operations.position(id));
        let failed = operation.and_then(|at| rank.operations.has_error.get_mut(at as usize));
        if let Some(has_error) = failed {
            *has_error = true;
        }
        let message = cells.long_text(3).unwrap_or_default();
        rank.errors.push(ErrorRow {
            operation,
            name: cells.owned_text(1).unwrap_or_default(),
            kind: cells.owned_text(2).unwrap_or_default(),
            message: limits::cut(&message, ERROR_BYTES).into_owned(),
        });
    });
}
