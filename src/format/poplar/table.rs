//! Reads tables of `profile.pop` by name, whatever columns they have.
//!
//! The format changed within major version 3, so a reader asks for the columns that it knows and
//! gets `None` for those that are absent. Damage is gathered for each table and becomes one warning
//! that names the first row and counts the others.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::RangeInclusive;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::blob::BlobError;
use crate::format::Progress;
use crate::store::ids::{Id, IdColumn};
use crate::store::{WarningCode, Warnings};

/// Rows of a table that is read as a whole rather than looked through for some tiles.
const FEW_ROWS: i64 = 200_000;
/// Rows that are looked at for each tile to find where the rows of some lie, and for all tiles.
const LOOKS_AT_TILE: i64 = 4;
const MOST_LOOKS: i64 = 40_000;

/// One thread's view of the profile.
pub struct Tables<'a> {
    connection: Connection,
    /// Tables in lower case, as far as the schema can be read.
    names: HashSet<String>,
    schema_error: Option<rusqlite::Error>,
    file: &'a str,
    file_bytes: u64,
    warnings: &'a Warnings,
    pub progress: &'a Progress,
}

/// What to read of a table.
pub struct Query<'a> {
    pub table: &'a str,
    /// The columns, of which the first names a row in messages.
    pub columns: &'a [&'a str],
    /// What follows `FROM table`, an order for example; it may use the columns of `needs`.
    pub tail: &'a str,
    /// Columns without which `tail` makes no sense; without them it is left out.
    pub needs: &'a [&'a str],
}

impl<'a> Tables<'a> {
    pub fn new(
        connection: Connection,
        file: &'a str,
        file_bytes: u64,
        warnings: &'a Warnings,
        progress: &'a Progress,
    ) -> Self {
        let mut names = HashSet::new();
        let schema_error = read_table_names(&connection, &mut names).err();
        Self { connection, names, schema_error, file, file_bytes, warnings, progress }
    }

    /// Whether a table is there, by the part of the schema that can be read.
    pub fn has_table(&self, table: &str) -> bool {
        self.names.contains(&table.to_ascii_lowercase())
    }

    /// Whether a table has a column, for those that only some versions have.
    pub fn has_column(&self, table: &str, column: &str) -> bool {
        let columns = self.columns(table).ok().flatten().unwrap_or_default();
        columns.iter().any(|name| name.eq_ignore_ascii_case(column))
    }

    /// What is wrong with the schema, if anything.
    pub fn schema_error(&self) -> Option<&rusqlite::Error> {
        self.schema_error.as_ref()
    }

    /// The columns of a table, or `None` when there is no such table.
    fn columns(&self, table: &str) -> Result<Option<Vec<String>>, rusqlite::Error> {
        if !self.has_table(table) {
            return Ok(None);
        }
        let mut statement =
            self.connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get::<_, String>(0))?;
        names.collect::<Result<_, _>>().map(Some)
    }

    /// Whether a table has all of these columns; if not, a warning says which is absent.
    pub fn has_columns(&self, table: &str, columns: &[&str]) -> bool {
        let message = match self.columns(table) {
            Err(error) => format!("table {table}: {error}"),
            Ok(None) => format!("table {table} is absent"),
            Ok(Some(present)) => {
                let absent =
                    |column: &&&str| !present.iter().any(|name| name.eq_ignore_ascii_case(column));
                match columns.iter().find(absent) {
                    Some(column) => format!("table {table} has no column {column}"),
                    None => return true,
                }
            }
        };
        self.warn(WarningCode::Inconsistent, message);
        false
    }

    /// Reads a table's rows into `each`. Returns whether the table is there; what is wrong with it
    /// becomes warnings. A column that the table lacks is `None` in every row.
    pub fn read(
        &self,
        table: &str,
        columns: &[&str],
        order: &str,
        each: impl FnMut(&mut Cells<'_, '_>),
    ) -> bool {
        let tail = if order.is_empty() { String::new() } else { format!("ORDER BY [{order}]") };
        let needs = [order];
        let needs = if order.is_empty() { &[][..] } else { &needs[..] };
        self.query(&Query { table, columns, tail: &tail, needs }, [], each)
    }

    /// As [`Self::read`], with conditions.
    pub fn query(
        &self,
        query: &Query<'_>,
        parameters: impl rusqlite::Params,
        each: impl FnMut(&mut Cells<'_, '_>),
    ) -> bool {
        let mut damage = Damage::default();
        let table = query.table;
        let found = self.try_query(query, parameters, each, &mut damage);
        match &found {
            Ok(true) => {}
            Ok(false) => self.warn(WarningCode::Inconsistent, format!("table {table} is absent")),
            Err(error) => damage.add(&format!("after {} rows", damage.rows), &error.to_string()),
        }
        if let Some(first) = &damage.first {
            let others = match damage.count {
                0 | 1 => String::new(),
                count => format!(" ({count} such places in this table)"),
            };
            self.warn(damage.code, format!("table {table}, {first}{others}"));
        }
        matches!(found, Ok(true)) || damage.rows > 0
    }

    /// The row ids of a table as ranges of about equal width, several for each thread: a table that
    /// has no row ids, or cannot be read, is one range.
    pub fn row_ranges(&self, table: &str) -> Vec<RangeInclusive<i64>> {
        let id = |order: &str| -> Result<i64, rusqlite::Error> {
            let sql = format!("SELECT rowid FROM [{table}] ORDER BY rowid {order} LIMIT 1");
            self.connection.query_row(&sql, [], |row| row.get(0))
        };
        match (id("ASC"), id("DESC")) {
            (Ok(first), Ok(last)) => split_for_threads(first, last),
            (Err(rusqlite::Error::QueryReturnedNoRows), _) => Vec::new(),
            _ => vec![i64::MIN..=i64::MAX],
        }
    }

    /// For each of some tiles a range of row ids that holds its rows, where the rows of a tile lie together, as
    /// in every real report: rows evenly spread over the table are looked at, several for each of its `tiles`.
    /// `None` for a table that is quickly read as a whole, or where a tile is not met, or twice.
    pub fn row_ranges_of_tiles(
        &self,
        table: &str,
        tiles: usize,
        wanted: &[u32],
    ) -> Option<Vec<RangeInclusive<i64>>> {
        let ranges = self.row_ranges(table);
        let (first, last) = (*ranges.first()?.start(), *ranges.last()?.end());
        let rows = last.checked_sub(first).filter(|rows| *rows >= FEW_ROWS)?;
        let looks = i64::try_from(tiles).ok()?.checked_mul(LOOKS_AT_TILE)?.clamp(1, MOST_LOOKS);
        let sql =
            format!("SELECT rowid, tile FROM [{table}] WHERE rowid >= ?1 ORDER BY rowid LIMIT 1");
        let mut statement = self.connection.prepare(&sql).ok()?;
        let apart = usize::try_from(rows.checked_div(looks)?.max(1)).ok()?;
        let mut seen: Vec<(i64, Option<u32>)> = Vec::new();
        for from in (first..=last).step_by(apart) {
            let row = statement.query_row([from], |row| Ok((row.get(0)?, row.get(1)?)));
            seen.push(row.ok()?);
        }
        let of_tile = |tile: &u32| {
            let is_it = |(_, other): &&(i64, Option<u32>)| *other == Some(*tile);
            let start = seen.iter().position(|row| is_it(&row))?;
            let length = seen.iter().skip(start).take_while(is_it).count();
            let end = start.checked_add(length)?;
            let is_met_again = seen.iter().skip(end).any(|row| is_it(&row));
            (!is_met_again).then_some(())?;
            let before = start.checked_sub(1).and_then(|before| seen.get(before));
            let from = before.map_or(first, |(id, _)| id.saturating_add(1));
            let to = seen.get(end).map_or(last, |(id, _)| id.saturating_sub(1));
            Some(from..=to)
        };
        wanted.iter().map(of_tile).collect()
    }

    /// Adds a warning about this file.
    pub fn warn(&self, code: WarningCode, message: impl Into<String>) {
        self.warnings.add(code, self.file, message);
    }

    fn try_query(
        &self,
        query: &Query<'_>,
        parameters: impl rusqlite::Params,
        mut each: impl FnMut(&mut Cells<'_, '_>),
        damage: &mut Damage,
    ) -> Result<bool, rusqlite::Error> {
        let table = query.table;
        let Some(present) = self.columns(table)? else { return Ok(false) };
        let has = |column: &str| present.iter().any(|name| name.eq_ignore_ascii_case(column));
        let mut selected = Vec::with_capacity(query.columns.len());
        let is_there: Vec<bool> = query.columns.iter().map(|column| has(column)).collect();
        for (column, is_there) in query.columns.iter().zip(&is_there) {
            if *is_there {
                selected.push(format!("[{column}]"));
            } else {
                self.warn(
                    WarningCode::Inconsistent,
                    format!("table {table} has no column {column}"),
                );
                selected.push("NULL".to_owned());
            }
        }
        let has_needs = query.needs.iter().all(|column| has(column));
        let tail = if has_needs { query.tail } else { "" };
        let sql = format!("SELECT {} FROM [{table}] {tail}", selected.join(", "));
        let mut statement = self.connection.prepare(&sql)?;
        // Without the columns that the conditions need, the parameters have no place either.
        let mut rows = if has_needs { statement.query(parameters)? } else { statement.query([])? };
        // A row takes four bytes at least: more rows than that are a loop in a damaged file.
        let most_rows = self.file_bytes / 4;
        while let Some(row) = rows.next()? {
            damage.rows = damage.rows.saturating_add(1);
            if damage.rows > most_rows {
                damage.add("end", "more rows than the file has room for");
                break;
            }
            if damage.rows.is_multiple_of(4096) && self.progress.is_cancelled() {
                break;
            }
            each(&mut Cells { row, columns: query.columns, is_there: &is_there, damage });
        }
        Ok(true)
    }
}

/// Splits ids into ranges of about equal width, several for each thread.
pub fn split_for_threads(mut first: i64, last: i64) -> Vec<RangeInclusive<i64>> {
    let threads = i64::try_from(rayon::current_num_threads()).unwrap_or(1);
    let parts = threads.saturating_mul(8);
    let width = last.saturating_sub(first).checked_div(parts).unwrap_or(0).max(4096);
    let mut ranges = Vec::new();
    while first <= last {
        let end = first.saturating_add(width).min(last);
        ranges.push(first..=end);
        first = end.saturating_add(1);
        if end == i64::MAX {
            break;
        }
    }
    ranges
}

/// Reads the names of tables up to the first fault of the schema. A view is no table: its definition
/// is a program that the file would make us run; nor is a virtual table.
fn read_table_names(
    connection: &Connection,
    names: &mut HashSet<String>,
) -> Result<(), rusqlite::Error> {
    let mut statement = connection.prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        names.insert(row.get::<_, String>(0)?.to_ascii_lowercase());
    }
    Ok(())
}

#[derive(Debug)]
struct Damage {
    code: WarningCode,
    first: Option<String>,
    count: u64,
    rows: u64,
}

impl Default for Damage {
    fn default() -> Self {
        Self { code: WarningCode::Inconsistent, first: None, count: 0, rows: 0 }
    }
}

impl Damage {
    fn add(&mut self, place: &str, what: &str) {
        self.first.get_or_insert_with(|| format!("{place}: {what}"));
        self.count = self.count.saturating_add(1);
    }
}

/// The cells of one row, by position in the query's columns.
pub struct Cells<'r, 's> {
    row: &'r Row<'s>,
    columns: &'r [&'r str],
    is_there: &'r [bool],
    damage: &'r mut Damage,
}

impl<'r> Cells<'r, '_> {
    /// Whether the table has the column at all.
    pub fn has(&self, column: usize) -> bool {
        self.is_there.get(column) == Some(&true)
    }

    /// A number that may be absent: `None` for NULL, and with damage for what is no number ≥ 0.
    pub fn number(&mut self, column: usize) -> Option<u64> {
        let number = self.signed(column)?;
        let positive = u64::try_from(number).ok();
        if positive.is_none() {
            self.damage(column, &format!("a number ≥ 0 expected, {number} found"));
        }
        positive
    }

    /// A number below 2³² that may be absent.
    pub fn number32(&mut self, column: usize) -> Option<u32> {
        let number = self.number(column)?;
        self.below_2_32(column, number)
    }

    /// A number that must be there; its absence is damage.
    pub fn required(&mut self, column: usize) -> Option<u64> {
        if self.is_null(column) {
            if self.has(column) {
                self.damage(column, "a number expected, NULL found");
            }
            return None;
        }
        self.number(column)
    }

    /// A number below 2³² that must be there.
    pub fn required32(&mut self, column: usize) -> Option<u32> {
        let number = self.required(column)?;
        self.below_2_32(column, number)
    }

    /// Puts the id in the first column behind those of the rows before. Returns false where it is none, or
    /// not above the last one, which is the damage `twice`.
    pub fn next_id<T: Id>(&mut self, ids: &mut IdColumn<T>, twice: &str) -> bool {
        let Some(number) = self.required32(0) else { return false };
        let is_next = ids.push(T::new(number));
        if !is_next {
            self.damage(0, twice);
        }
        is_next
    }

    fn below_2_32(&mut self, column: usize, number: u64) -> Option<u32> {
        let small = u32::try_from(number).ok();
        if small.is_none() {
            self.damage(column, &format!("a number below 2³² expected, {number} found"));
        }
        small
    }

    /// A signed number that may be absent.
    pub fn signed(&mut self, column: usize) -> Option<i64> {
        match self.row.get_ref(column) {
            Ok(ValueRef::Integer(number)) => Some(number),
            Ok(ValueRef::Null) | Err(_) => None,
            Ok(other) => {
                let found = format!("{}", other.data_type());
                self.damage(column, &format!("a number expected, {found} found"));
                None
            }
        }
    }

    /// Whether the cell is NULL, or its column absent.
    pub fn is_null(&self, column: usize) -> bool {
        matches!(self.row.get_ref(column), Ok(ValueRef::Null) | Err(_))
    }

    /// A text; numbers are taken as text, bytes that are not UTF-8 are replaced.
    pub fn text(&mut self, column: usize) -> Option<Cow<'r, str>> {
        match self.row.get_ref(column).ok()? {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number.to_string().into()),
            ValueRef::Real(number) => Some(number.to_string().into()),
            ValueRef::Text(text) => Some(String::from_utf8_lossy(text)),
            ValueRef::Blob(_) => {
                self.damage(column, "a text expected, a BLOB found");
                None
            }
        }
    }

    pub fn owned_text(&mut self, column: usize) -> Option<String> {
        self.text(column).map(Cow::into_owned)
    }

    /// Decodes a blob; `None` where it is absent, and with damage where it cannot be decoded.
    pub fn decode<T>(
        &mut self,
        column: usize,
        decode: impl FnOnce(&[u8]) -> Result<T, BlobError>,
    ) -> Option<T> {
        let bytes = match self.row.get_ref(column).ok()? {
            ValueRef::Null => return None,
            ValueRef::Blob(bytes) => bytes,
            other => {
                let found = format!("{}", other.data_type());
                self.damage(column, &format!("a BLOB expected, {found} found"));
                return None;
            }
        };
        match decode(bytes) {
            Ok(value) => Some(value),
            Err(error) => {
                self.damage(column, &error.to_string());
                None
            }
        }
    }

    /// Notes that this row is damaged in `column`.
    pub fn damage(&mut self, column: usize, what: &str) {
        let key = match self.row.get_ref(0) {
            Ok(ValueRef::Integer(number)) => number.to_string(),
            Ok(ValueRef::Text(text)) => String::from_utf8_lossy(text).chars().take(80).collect(),
            _ => format!("number {}", self.damage.rows),
        };
        let first = self.columns.first().copied().unwrap_or("row");
        let name = self.columns.get(column).copied().unwrap_or("?");
        self.damage.add(&format!("row {first} {key}, column {name}"), what);
    }
}
