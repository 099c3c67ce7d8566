//! Tensors, the operations that made and read them, and how many chips have them.

use std::collections::BTreeSet;

use super::small_tables::RanksByNumber;
use super::{known, rank_number, read_known};
use crate::format::sqlite::{Cells, NumberedRows, ROW_ID, Tables};
use crate::store::names::FastMap;
use crate::systems::tenstorrent::recorded::{
    BufferKey, BufferSpace, TensorPlacement, TensorRow, TtnnRank, TtnnReport,
};

/// Chips that executions name, at most: the largest systems have some thousand.
const MOST_CHIPS: usize = 1 << 16;

/// Reads them into the ranks of a report.
pub fn read(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &RanksByNumber) {
    read_tensors(tables, report, ranks);
    let columns = ["operation_id", "tensor_id", "rank"];
    for (table, is_input) in [("input_tensors", true), ("output_tensors", false)] {
        read_known(tables, table, &columns, 2, |cells| {
            let (Some(id), Some(tensor)) = (cells.required(0), cells.required(1)) else { return };
            let Some(rank) = rank_of(cells, 2, report, ranks) else { return };
            let Some(at) = rank.operations.position(id) else { return };
            if is_input {
                rank.add_input(tensor, at);
            } else {
                rank.tensors.add_output(tensor, at);
            }
        });
    }
    for rank in &mut report.ranks {
        rank.machine.chips = 1;
    }
    count_device_tensors(tables, report, ranks);
    count_executions(tables, report);
}

/// The rank of a row, if operations or devices have it; an absent column stands for 0.
pub fn rank_of<'a>(
    cells: &mut Cells<'_, '_>,
    column: usize,
    report: &'a mut TtnnReport,
    ranks: &RanksByNumber,
) -> Option<&'a mut TtnnRank> {
    report.ranks.get_mut(ranks.find(rank_number(cells, column)?)?)
}

fn read_tensors(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &RanksByNumber) {
    let columns = [
        "tensor_id",
        "shape",
        "dtype",
        "layout",
        "memory_config",
        "address",
        "buffer_type",
        "rank",
    ];
    read_known(tables, "tensors", &columns, 7, |cells| {
        let Some(tensor) = cells.required(0) else { return };
        let [shape, data_type, page_layout] = [1, 2, 3].map(|column| {
            let text = cells.text(column);
            report.names.intern(&text.unwrap_or_default())
        });
        let config = cells.text(4).filter(|text| !text.is_empty() && text != "None");
        let placement = config.as_deref().map(TensorPlacement::of_config).unwrap_or_default();
        let has_memory_config = config.is_some();
        let space = space_of(cells, 6);
        let key = cells.number(5).zip(space).map(|(address, space)| BufferKey { space, address });
        let row = TensorRow { shape, data_type, page_layout, placement, key, has_memory_config };
        if let Some(rank) = rank_of(cells, 7, report, ranks) {
            rank.tensors.add_row(tensor, row);
        }
    });
}

/// The space of a cell, which has its number, or its word.
fn space_of(cells: &mut Cells<'_, '_>, column: usize) -> Option<BufferSpace> {
    let text = cells.word(column)?;
    match text.parse() {
        Ok(code) => BufferSpace::of_code(code),
        Err(_) => BufferSpace::of_word(&text),
    }
}

/// A tensor of a mesh has a row for each chip.
fn count_device_tensors(tables: &Tables<'_>, report: &mut TtnnReport, ranks: &RanksByNumber) {
    let mut rows: FastMap<(u64, u64), u64> = FastMap::default();
    read_known(tables, "device_tensors", &["tensor_id", "rank"], 1, |cells| {
        let Some(tensor) = cells.required(0) else { return };
        let Some(rank) = rank_of(cells, 1, report, ranks) else { return };
        let count = rows.entry((rank.rank, tensor)).or_default();
        *count = count.saturating_add(1);
        rank.machine.chips = rank.machine.chips.max(*count);
    });
}

/// Each chip that ran something.
fn count_executions(tables: &Tables<'_>, report: &mut TtnnReport) {
    let table = "operation_executions";
    if !tables.has_table(table) || !tables.has_column(table, "physical_device_id") {
        return;
    }
    let columns = known(tables, table, &["physical_device_id", "rank"], 1);
    let mut seen: BTreeSet<(u64, u64)> = BTreeSet::new();
    tables.rows(&NumberedRows::all(table, columns, ROW_ID), |cells| {
        let Some(chip) = cells.number(0) else { return };
        let number = rank_number(cells, 1);
        if let Some(rank) = number.filter(|_| seen.len() < MOST_CHIPS) {
            seen.insert((rank, chip));
        }
    });
    for rank in &mut report.ranks {
        let chips = seen.range((rank.rank, 0)..=(rank.rank, u64::MAX)).count() as u64;
        rank.machine.chips = rank.machine.chips.max(chips);
    }
}
