//! The table `buffers`: what is alive at the end of each operation.
//!
//! It has a row for each buffer and operation, 100 million in large reports, and buffers of consecutive operations are
//! mostly the same. So rows are taken in as they come and kept as [`Stay`]s: a buffer with its first and last operation.
//! Parts of the table are read at the same time, and their stays joined.

use std::collections::BTreeSet;

use super::small_tables::RanksByNumber;
use super::{known, rank_number};
use crate::format::sqlite::{Cells, Database, NumberedRows, ROW_ID, Tables, WholeNumbers};
use crate::format::{Error, Progress};
use crate::limits;
use crate::store::names::FastMap;
use crate::store::{WarningCode, Warnings};
use crate::systems::tenstorrent::recorded::{
    BufferKey, BufferLayout, BufferSpace, Stay, TtnnRank, TtnnReport, position_of_id,
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
const MOST_MESHES: usize = 1024;
/// Rows of an operation that are remembered, and among how many of them the next one is looked for.
const MOST_REMEMBERED: usize = 1 << 16;
const LOOKED_AT: usize = 16;

/// What is known of a report before its buffers are read.
pub struct KnownOperations<'a> {
    /// The ids of the operations of each rank, ascending.
    ids: Vec<Vec<u64>>,
    ranks: &'a RanksByNumber,
    /// Whether buffers are recorded core by core.
    is_detailed: bool,
}

impl<'a> KnownOperations<'a> {
    /// Those of a report.
    pub fn of(report: &TtnnReport, ranks: &'a RanksByNumber) -> Self {
        let ids = report.ranks.iter().map(|rank| rank.operations.ids.clone()).collect();
        Self { ids, ranks, is_detailed: report.page_table.is_some() }
    }
}

/// What the table says.
#[derive(Default)]
pub struct FoundBuffers {
    of_ranks: Vec<StaysOfRank>,
    /// Whether rows are missing because they cannot be read.
    pub is_broken: bool,
}

impl FoundBuffers {
    /// Puts the buffers into the ranks of their report.
    pub fn fill(self, report: &mut TtnnReport, tables: &Tables<'_>) {
        for (rank, of_rank) in report.ranks.iter_mut().zip(self.of_ranks) {
            of_rank.finish(rank);
            if let Some(said) = said_of_meshes(rank) {
                let message = format!("table buffers, rank {}: {said}", rank.rank);
                tables.warn(WarningCode::Inconsistent, message);
            }
        }
    }
}

/// Reads the table.
///
/// # Errors
/// When the database cannot be opened again.
pub fn read(
    database: &Database,
    operations: &KnownOperations<'_>,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<FoundBuffers, Error> {
    let tables = &database.tables(warnings, progress)?;
    if !tables.has_table(TABLE) {
        tables.warn(WarningCode::Inconsistent, "table buffers is absent");
        return Ok(FoundBuffers::default());
    }
    let columns = known(tables, TABLE, &COLUMNS, 5);
    let mut all = BufferRows::new(operations);
    let read_part = |tables: &Tables<'_>, ids| {
        let mut rows = BufferRows::new(operations);
        let table = NumberedRows { ids, ..NumberedRows::all(TABLE, columns, ROW_ID) };
        tables.rows(&table, |cells| rows.add(cells));
        rows
    };
    // Warnings of this pass are dropped if the table is read again.
    let said = Warnings::default();
    let mut is_broken =
        database.read_in_parts(TABLE, &said, progress, read_part, |part| all.join(part))?;
    if all.are_in_order {
        warnings.add_all(&said.list());
    } else {
        // Nobody promises an order, though all producers keep it.
        all = BufferRows::new(operations);
        tables.read(TABLE, columns, "operation_id", |cells| all.add(cells));
        is_broken = tables.is_broken(TABLE);
    }
    Ok(FoundBuffers { of_ranks: all.of_ranks, is_broken })
}

/// Adds the id of a mesh, up to a cap.
pub fn add_mesh(meshes: &mut BTreeSet<u64>, mesh: u64) {
    if meshes.len() < MOST_MESHES {
        meshes.insert(mesh);
    }
}

/// The warning about a rank with buffers in several meshes.
pub fn said_of_meshes(rank: &TtnnRank) -> Option<String> {
    let count = rank.machine.mesh_ids.len();
    let said = || format!("buffers of {count} meshes, which are shown as one range of addresses");
    (count > 1).then(said)
}

/// Takes rows in.
struct BufferRows<'a> {
    operations: &'a KnownOperations<'a>,
    of_ranks: Vec<StaysOfRank>,
    /// The number and the place of the rank of the row before.
    last_rank: Option<(u64, usize)>,
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
    /// The positions of operations that have rows, as they come.
    with_rows: Vec<u32>,
    remembered: RowsBefore,
    meshes: BTreeSet<u64>,
    last_mesh: Option<u64>,
    rows: u64,
    pub rows_of_spaces: [u64; BufferSpace::COUNT],
}

/// What a row says but for its operation and rank: the numbers, and which of all columns are not NULL.
type BufferNumbers = ([i64; 5], u32);

/// The rows of the operation before. Most of an operation say the same in the same order, and need not be looked at further.
#[derive(Default)]
struct RowsBefore {
    /// Those of the operation before, with the places of their stays.
    before: Vec<(BufferNumbers, u32)>,
    /// Those of this operation so far.
    now: Vec<(BufferNumbers, u32)>,
    /// The place of the next one, if nothing changes.
    next: usize,
}

impl RowsBefore {
    /// Another operation begins.
    fn turn(&mut self) {
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
        self.next = 0;
    }

    /// The stay of the next row, if it says what is expected.
    fn stay_of(&self, row: &BufferNumbers) -> Option<u32> {
        let ((expected, present), stay) = self.before.get(self.next)?;
        let (numbers, of_row) = row;
        // Without a call, for there may be a hundred million rows.
        let pairs = expected.iter().zip(numbers);
        let differs = pairs.fold(0, |differs, (one, other)| differs | (one ^ other));
        (differs == 0 && present == of_row).then_some(*stay)
    }

    /// Remembers the row that was expected, with its stay, and expects the one behind it next.
    #[inline]
    fn add_expected(&mut self, row: &BufferNumbers, stay: u32) {
        if self.now.len() < MOST_REMEMBERED {
            self.now.push((*row, stay));
        }
        self.next = self.next.saturating_add(1);
    }

    /// Remembers a row with its stay, and expects the one behind it next.
    fn add(&mut self, row: BufferNumbers, stay: u32) {
        if self.now.len() < MOST_REMEMBERED {
            self.now.push((row, stay));
        }
        let expected = self.before.get(self.next..).unwrap_or_default().iter().take(LOOKED_AT);
        if let Some(at) = expected.map(|(expected, _)| expected).position(|other| *other == row) {
            self.next = self.next.saturating_add(at).saturating_add(1);
        }
    }
}

impl<'a> BufferRows<'a> {
    fn new(operations: &'a KnownOperations<'a>) -> Self {
        let of_ranks = operations.ids.iter().map(|_| StaysOfRank::default()).collect();
        Self { operations, of_ranks, last_rank: None, are_in_order: true }
    }

    /// Takes a row in, and notes whether its operation comes before that of the previous row.
    fn add(&mut self, cells: &mut Cells<'_, '_>) {
        let numbers: Option<WholeNumbers<7>> = cells.whole_numbers();
        if numbers.is_some_and(|numbers| self.add_repeated(&numbers)) {
            return;
        }
        let Some(place) = self.place_of(cells) else {
            cells.damage(6, "a rank that has neither operations nor devices");
            return;
        };
        let ids = self.operations.ids.get(place);
        let (Some(ids), Some(of_rank)) = (ids, self.of_ranks.get_mut(place)) else { return };
        of_rank.rows = of_rank.rows.saturating_add(1);
        let Some(id) = cells.required(0) else { return };
        let Some((operation, is_in_order)) = of_rank.operation_of(id, ids) else {
            cells.damage(0, "an operation that has no row");
            return;
        };
        let Some(stay) = stay_of(cells, operation, self.operations.is_detailed) else { return };
        if let Some(mesh) = cells.number(4).filter(|mesh| of_rank.last_mesh != Some(*mesh)) {
            of_rank.last_mesh = Some(mesh);
            add_mesh(&mut of_rank.meshes, mesh);
        }
        let place = of_rank.add(stay);
        if let Some(WholeNumbers { numbers: [_, row @ .., _], present }) = numbers {
            of_rank.remembered.add((row, present), place);
        }
        self.are_in_order &= is_in_order;
    }

    /// Takes a row in that says the same as that of the operation before. Returns whether it does.
    #[inline]
    fn add_repeated(&mut self, row: &WholeNumbers<7>) -> bool {
        let WholeNumbers { numbers: [id, row @ .., rank], present } = *row;
        if present & 1 == 0 {
            return false;
        }
        let number = rank.cast_unsigned();
        let of_rank = match self.last_rank {
            Some((last, place)) if last == number => self.of_ranks.get_mut(place),
            _ => None,
        };
        of_rank.is_some_and(|of_rank| {
            of_rank.add_repeated(id.cast_unsigned(), &(row, present)).is_some()
        })
    }

    /// The place of the rank of a row.
    fn place_of(&mut self, cells: &mut Cells<'_, '_>) -> Option<usize> {
        let number = rank_number(cells, 6)?;
        match self.last_rank {
            Some((last, place)) if last == number => Some(place),
            _ => {
                let place = self.operations.ranks.find(number)?;
                self.last_rank = Some((number, place));
                Some(place)
            }
        }
    }

    /// Takes in what the next part of the table has.
    fn join(&mut self, next: Self) {
        self.are_in_order &= next.are_in_order;
        for (of_rank, next) in self.of_ranks.iter_mut().zip(next.of_ranks) {
            self.are_in_order &= of_rank.join(next);
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
    fn operation_of(&mut self, id: u64, ids: &[u64]) -> Option<(u32, bool)> {
        if let Some((last, at)) = self.operation
            && last == id
        {
            return Some((at, true));
        }
        let at = position_of_id(ids, id)?;
        let is_in_order = self.operation.is_none_or(|(_, before)| before < at);
        self.operation = Some((id, at));
        self.with_rows.push(at);
        self.remembered.turn();
        Some((at, is_in_order))
    }

    /// Takes a row in that says the same as that of the operation before; `None` where it does not.
    #[inline]
    fn add_repeated(&mut self, id: u64, row: &BufferNumbers) -> Option<()> {
        let (_, at) = self.operation.filter(|(last, _)| *last == id)?;
        let place = self.remembered.stay_of(row)?;
        let stay = self.stays.get_mut(place as usize)?;
        // Of several rows of an operation another one may have counted.
        let ([_, bytes, ..], _) = row;
        if bytes.cast_unsigned() != stay.bytes_per_bank || stay.last.checked_add(1) != Some(at) {
            return None;
        }
        stay.last = at;
        self.rows = self.rows.saturating_add(1);
        let space = stay.key.space;
        self.count_row(space);
        self.remembered.add_expected(row, place);
        Some(())
    }

    fn count_row(&mut self, space: BufferSpace) {
        if let Some(rows) = self.rows_of_spaces.get_mut(space as usize) {
            *rows = rows.saturating_add(1);
        }
    }

    /// Adds a buffer at the end of an operation, and returns the place of its stay. Operations come in their order; of
    /// several rows that an operation has of a buffer, the last one counts for this operation.
    pub fn add(&mut self, stay: Stay) -> u32 {
        self.count_row(stay.key.space);
        self.add_stay(stay)
    }

    /// Adds a stay that begins with the last operation so far, or after it.
    fn add_stay(&mut self, stay: Stay) -> u32 {
        let next = u32::try_from(self.stays.len()).unwrap_or(u32::MAX);
        let place = self.last.entry(stay.key).or_insert(next);
        if let Some(last) = self.stays.get_mut(*place as usize) {
            let is_twice = last.last == stay.first;
            let is_same = last.bytes_per_bank == stay.bytes_per_bank
                && (is_twice || last.layout == stay.layout);
            if is_same && (is_twice || last.last.checked_add(1) == Some(stay.first)) {
                last.last = stay.last;
                return *place;
            }
            if is_twice && last.first == stay.first {
                *last = stay;
                return *place;
            }
            if is_twice {
                last.last = last.last.saturating_sub(1);
            }
        }
        *place = next;
        self.stays.push(stay);
        next
    }

    /// Takes in what the next part of the table has. Returns whether its operations do not come before those so far.
    fn join(&mut self, next: Self) -> bool {
        let before = self.operation.map(|(_, at)| at);
        let is_in_order = next.with_rows.first().copied().or(before) >= before;
        self.operation = next.operation.or(self.operation);
        self.with_rows.extend(next.with_rows);
        next.meshes.into_iter().for_each(|mesh| add_mesh(&mut self.meshes, mesh));
        self.rows = self.rows.saturating_add(next.rows);
        for (rows, more) in self.rows_of_spaces.iter_mut().zip(next.rows_of_spaces) {
            *rows = rows.saturating_add(more);
        }
        for stay in next.stays {
            self.add_stay(stay);
        }
        is_in_order
    }

    fn finish(self, rank: &mut TtnnRank) {
        rank.stays = self.stays;
        rank.stays.sort_by_key(|stay| stay.first);
        rank.buffer_rows = self.rows;
        rank.rows_of_spaces = self.rows_of_spaces;
        rank.machine.mesh_ids = self.meshes.into_iter().collect();
        for at in self.with_rows {
            if let Some(has_rows) = rank.operations.has_rows.get_mut(at as usize) {
                *has_rows = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stays of rows of one buffer: operations with bytes.
    fn of_rows(rows: &[(u32, u64)]) -> StaysOfRank {
        let mut of_rank = StaysOfRank::default();
        for (at, bytes_per_bank) in rows.iter().copied() {
            let key = BufferKey { space: BufferSpace::L1, address: 64 };
            of_rank.operation = Some((at.into(), at));
            of_rank.with_rows.push(at);
            of_rank.add(Stay { key, bytes_per_bank, layout: None, first: at, last: at });
        }
        of_rank
    }

    fn stays(of_rank: &StaysOfRank) -> Vec<(u32, u32, u64)> {
        let stays = of_rank.stays.iter();
        stays.map(|stay| (stay.first, stay.last, stay.bytes_per_bank)).collect()
    }

    #[test]
    fn a_buffer_stays_as_long_as_consecutive_operations_have_it() {
        let of_rank = of_rows(&[(0, 8), (1, 8), (1, 8), (2, 16), (4, 16)]);
        assert_eq!(stays(&of_rank), [(0, 1, 8), (2, 2, 16), (4, 4, 16)]);
        let differing = of_rows(&[(0, 8), (1, 8), (1, 16), (2, 16)]);
        assert_eq!(
            stays(&differing),
            [(0, 0, 8), (1, 2, 16)],
            "the last row of an operation counts"
        );
    }

    #[test]
    fn parts_of_the_table_give_the_same_as_all_of_it() {
        let rows = [(0, 8), (1, 8), (1, 8), (2, 16), (2, 16), (4, 16), (5, 16), (6, 16)];
        let whole = stays(&of_rows(&rows));
        for at in 0..=rows.len() {
            let (before, after) = rows.split_at(at);
            let mut joined = of_rows(before);
            assert!(joined.join(of_rows(after)), "in order");
            assert_eq!(stays(&joined), whole, "{at}");
        }
        assert!(!of_rows(&rows).join(of_rows(&rows)), "not in order");
    }
}
