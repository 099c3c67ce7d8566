//! Reads tables of an SQLite file by name, whatever columns they have.
//!
//! Formats gain and lose columns from one version to the next, so a reader asks for the columns that it knows and
//! gets `None` for those that are absent. Damage is gathered for each table and becomes one warning
//! that names the first row and counts the others.

use std::collections::HashSet;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::cells::{Cells, Damage, RowSource};
use super::direct::Direct;
use super::patience::Patience;
use super::record::Only;
use crate::format::Progress;
use crate::limits;
use crate::store::{WarningCode, Warnings};

/// Rows of a table that is read as a whole rather than looked through for some values.
const FEW_ROWS: i64 = 200_000;
/// Rows that are looked at for each value to find where the rows of some lie, and for all values.
const LOOKS_AT_VALUE: i64 = 4;
const MOST_LOOKS: i64 = 40_000;

/// Parts of a table for each thread, so that none waits long for another.
const PARTS_OF_THREAD: i64 = 8;

/// What numbers the rows of a table that has no column for it.
pub const ROW_ID: &str = "rowid";

/// One thread's view of the file.
pub struct Tables<'a> {
    connection: Connection,
    patience: Arc<Patience>,
    /// The pages of the same file, where they are read.
    direct: Option<Direct<'a>>,
    /// Tables in lower case, as far as the schema can be read.
    names: HashSet<String>,
    schema_error: Option<String>,
    file: &'a str,
    file_bytes: u64,
    /// Whether the file ends before its header says.
    pub is_cut: bool,
    /// Tables whose rows could not be read to the end.
    broken: Mutex<HashSet<String>>,
    /// Damage in one part of a table; it is reported together with that of the other parts.
    pub(super) of_part: Option<Mutex<Damage>>,
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

/// Rows of a table in the order of the column that numbers them, which is how they lie in the file.
#[derive(Clone)]
pub struct NumberedRows<'a> {
    pub table: &'a str,
    /// The columns, of which the first names a row in messages.
    pub columns: &'a [&'a str],
    /// The column that numbers the rows, or [`ROW_ID`]. Without it all rows come, in any order.
    pub key: &'a str,
    /// Rows with these numbers only.
    pub ids: Option<RangeInclusive<i64>>,
    /// Of these, those that one of the columns tells.
    pub only: Option<Only<'a>>,
}

impl<'a> NumberedRows<'a> {
    pub fn all(table: &'a str, columns: &'a [&'a str], key: &'a str) -> Self {
        Self { table, columns, key, ids: None, only: None }
    }
}

impl<'a> Tables<'a> {
    pub fn new(
        connection: Connection,
        patience: Arc<Patience>,
        direct: Option<Direct<'a>>,
        file: &'a str,
        file_bytes: u64,
        warnings: &'a Warnings,
        progress: &'a Progress,
    ) -> Self {
        let mut names = HashSet::new();
        let read = read_table_names(&connection, &mut names);
        let schema_error = read.err().map(|error| patience.words(&error));
        Self {
            connection,
            patience,
            direct,
            names,
            schema_error,
            file,
            file_bytes,
            is_cut: false,
            broken: Mutex::default(),
            of_part: None,
            warnings,
            progress,
        }
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

    /// Whether a table is there and has no row. What cannot be read is said where its rows are.
    pub fn is_empty(&self, table: &str) -> bool {
        self.patience.begin();
        let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM [{table}])");
        self.has_table(table)
            && self.connection.query_row(&sql, [], |row| row.get(0)).unwrap_or(false)
    }

    /// Whether rows of a table that was read are missing, because they cannot be read.
    pub fn is_broken(&self, table: &str) -> bool {
        self.broken().contains(table)
    }

    fn broken(&self) -> MutexGuard<'_, HashSet<String>> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is wrong with the schema, if anything.
    pub fn schema_error(&self) -> Option<&str> {
        self.schema_error.as_deref()
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
            Err(error) => format!("table {table}: {}", self.patience.words(&error)),
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
        self.patience.begin();
        let mut damage = Damage::default();
        let found = self.try_query(query, parameters, each, &mut damage);
        self.report(query.table, &found, damage)
    }

    /// Turns what is wrong with a table into a warning. Returns whether it was there.
    fn report(
        &self,
        table: &str,
        found: &Result<bool, rusqlite::Error>,
        mut damage: Damage,
    ) -> bool {
        damage.count_work();
        match found {
            Ok(true) => {}
            Ok(false) => self.warn(WarningCode::Inconsistent, format!("table {table} is absent")),
            // Nobody waits for what there is to say.
            Err(_) if self.progress.is_cancelled() => {}
            Err(error) => {
                self.broken().insert(table.to_owned());
                damage.add(&format!("after {} rows", damage.rows), &self.patience.words(error));
            }
        }
        let has_any = matches!(found, Ok(true)) || damage.rows > 0;
        match &self.of_part {
            Some(of_part) => of_part.lock().unwrap_or_else(PoisonError::into_inner).join(damage),
            None => self.warn_of_damage(table, &damage),
        }
        has_any
    }

    /// Says what is wrong with the rows of a table.
    pub(super) fn warn_of_damage(&self, table: &str, damage: &Damage) {
        if let Some(first) = &damage.first {
            let others = match damage.count {
                0 | 1 => String::new(),
                count => format!(" ({count} such places in this table)"),
            };
            self.warn(damage.code, format!("table {table}, {first}{others}"));
        }
    }

    /// The row ids of a table as ranges of about equal width, several for each thread: a table that
    /// has no row ids, or cannot be read, is one range.
    pub fn row_ranges(&self, table: &str) -> Vec<RangeInclusive<i64>> {
        self.row_ranges_for(table, PARTS_OF_THREAD)
    }

    /// The same with so many ranges for each thread.
    pub(super) fn row_ranges_for(
        &self,
        table: &str,
        parts_of_thread: i64,
    ) -> Vec<RangeInclusive<i64>> {
        self.patience.begin();
        let id = |order: &str| -> Result<i64, rusqlite::Error> {
            let sql = format!("SELECT rowid FROM [{table}] ORDER BY rowid {order} LIMIT 1");
            self.connection.query_row(&sql, [], |row| row.get(0))
        };
        match (id("ASC"), id("DESC")) {
            (Ok(first), Ok(last)) => split(first, last, parts_of_thread),
            (Err(rusqlite::Error::QueryReturnedNoRows), _) => Vec::new(),
            _ => vec![i64::MIN..=i64::MAX],
        }
    }

    /// For each of some values of a column a range of row ids that holds its rows, where the rows of a value lie
    /// together: rows evenly spread over the table are looked at, several for each of so many `values`.
    /// `None` for a table that is quickly read as a whole, or where a value is not met, or twice.
    pub fn row_ranges_of_values(
        &self,
        (table, column): (&str, &str),
        values: usize,
        wanted: &[u32],
    ) -> Option<Vec<RangeInclusive<i64>>> {
        let ranges = self.row_ranges(table);
        let (first, last) = (*ranges.first()?.start(), *ranges.last()?.end());
        let rows = last.checked_sub(first).filter(|rows| *rows >= FEW_ROWS)?;
        let looks = i64::try_from(values).ok()?.checked_mul(LOOKS_AT_VALUE)?.clamp(1, MOST_LOOKS);
        let sql = format!(
            "SELECT rowid, [{column}] FROM [{table}] WHERE rowid >= ?1 ORDER BY rowid LIMIT 1"
        );
        let mut statement = self.connection.prepare(&sql).ok()?;
        let apart = usize::try_from(rows.checked_div(looks)?.max(1)).ok()?;
        let mut seen: Vec<(i64, Option<u32>)> = Vec::new();
        for from in (first..=last).step_by(apart) {
            let row = statement.query_row([from], |row| Ok((row.get(0)?, row.get(1)?)));
            seen.push(row.ok()?);
        }
        let of_value = |value: &u32| {
            let is_it = |(_, other): &&(i64, Option<u32>)| *other == Some(*value);
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
        wanted.iter().map(of_value).collect()
    }

    /// Adds a warning about this file.
    pub fn warn(&self, code: WarningCode, message: impl Into<String>) {
        self.warnings.add(code, self.file, message);
    }

    /// Reads rows as they lie in the file, straight from its pages where that can be done, and into `each` as
    /// [`Self::read`] does. For large tables.
    pub fn rows(&self, rows: &NumberedRows<'_>, each: impl FnMut(&mut Cells<'_, '_>)) -> bool {
        self.patience.begin();
        let mut damage = Damage::default();
        let found = self.try_rows(rows, each, &mut damage);
        self.report(rows.table, &found, damage)
    }

    /// Whether the rows are in the order of one of their columns, too, by what the pages say; false where that
    /// cannot be told without sorting them.
    pub fn are_in_order_of(&self, rows: &NumberedRows<'_>, column: usize) -> bool {
        let Some(direct) = &self.direct else { return false };
        if !self.has_table(rows.table) {
            return false;
        }
        let (mut last, mut is_sorted) = (i64::MIN, true);
        let is_read = direct.read(&self.connection, rows, self.progress, &mut |record| {
            match record.value(column) {
                ValueRef::Integer(number) if number >= last => last = number,
                _ => is_sorted = false,
            }
            if is_sorted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        is_read && is_sorted
    }

    fn try_rows(
        &self,
        rows: &NumberedRows<'_>,
        mut each: impl FnMut(&mut Cells<'_, '_>),
        damage: &mut Damage,
    ) -> Result<bool, rusqlite::Error> {
        let Some(selected) = self.select(rows.table, rows.columns)? else { return Ok(false) };
        let (columns, is_there) = (rows.columns, &*selected.is_there);
        if let Some(direct) = &self.direct {
            let is_read = direct.read(&self.connection, rows, self.progress, &mut |record| {
                damage.rows = damage.rows.saturating_add(1);
                if damage.rows.is_multiple_of(256) {
                    damage.count_work();
                    if self.progress.is_cancelled() {
                        return ControlFlow::Break(());
                    }
                }
                each(&mut Cells { row: RowSource::Direct(*record), columns, is_there, damage });
                ControlFlow::Continue(())
            });
            if is_read {
                return Ok(true);
            }
        }
        let has = |column: &str| column == ROW_ID || selected.has(column);
        // Without the column that a condition needs, it is left out.
        let ids = rows.ids.as_ref().filter(|_| has(rows.key));
        let only = rows.only.filter(|only| has(only.column()));
        let ids_condition = ids.map(|_| format!("[{}] BETWEEN ?1 AND ?2", rows.key));
        let conditions: Vec<String> =
            ids_condition.into_iter().chain(only.map(|only| only.condition())).collect();
        let mut tail = String::new();
        if rows.key == ROW_ID && ids.is_none() {
            // As they lie, and not in the order of an index.
            tail.push_str("NOT INDEXED");
        }
        if !conditions.is_empty() {
            tail.push_str(&format!(" WHERE {}", conditions.join(" AND ")));
        }
        if has(rows.key) && (rows.key != ROW_ID || ids.is_some()) {
            tail.push_str(&format!(" ORDER BY [{}]", rows.key));
        }
        let parameters = ids.into_iter().flat_map(|ids| [*ids.start(), *ids.end()]);
        let tail = (&*tail, rusqlite::params_from_iter(parameters));
        self.run(rows.table, columns, &selected, Some(tail), each, damage)?;
        Ok(true)
    }

    fn try_query(
        &self,
        query: &Query<'_>,
        parameters: impl rusqlite::Params,
        each: impl FnMut(&mut Cells<'_, '_>),
        damage: &mut Damage,
    ) -> Result<bool, rusqlite::Error> {
        let Some(selected) = self.select(query.table, query.columns)? else { return Ok(false) };
        let has_needs = query.needs.iter().all(|column| selected.has(column));
        let tail = has_needs.then_some((query.tail, parameters));
        self.run(query.table, query.columns, &selected, tail, each, damage)?;
        Ok(true)
    }

    /// Which of some columns a table has, with a warning for each that it lacks; `None` without the table.
    fn select(&self, table: &str, columns: &[&str]) -> Result<Option<Selected>, rusqlite::Error> {
        let Some(present) = self.columns(table)? else { return Ok(None) };
        let mut selected = Selected { present, is_there: Vec::with_capacity(columns.len()) };
        for column in columns {
            let is_there = selected.has(column);
            if !is_there {
                self.warn(
                    WarningCode::Inconsistent,
                    format!("table {table} has no column {column}"),
                );
            }
            selected.is_there.push(is_there);
        }
        Ok(Some(selected))
    }

    /// Reads through SQLite, with what follows `FROM table` and its parameters. Rows that were handed out already
    /// are passed over: they are the first ones.
    fn run(
        &self,
        table: &str,
        columns: &[&str],
        selected: &Selected,
        tail: Option<(&str, impl rusqlite::Params)>,
        mut each: impl FnMut(&mut Cells<'_, '_>),
        damage: &mut Damage,
    ) -> Result<(), rusqlite::Error> {
        let is_there = &*selected.is_there;
        let names: Vec<String> = columns
            .iter()
            .zip(is_there)
            .map(
                |(column, is_there)| {
                    if *is_there { format!("[{column}]") } else { "NULL".to_owned() }
                },
            )
            .collect();
        let sql = format!("SELECT {} FROM [{table}]", names.join(", "));
        let mut statement;
        let mut rows = match tail {
            Some((tail, parameters)) => {
                statement = self.connection.prepare(&format!("{sql} {tail}"))?;
                statement.query(parameters)?
            }
            None => {
                statement = self.connection.prepare(&sql)?;
                statement.query([])?
            }
        };
        // More rows than that are a loop in a damaged file.
        let (most_rows, mut bytes_left) =
            (limits::rows(self.file_bytes), limits::cell_bytes(self.file_bytes));
        let handed_out = damage.rows;
        let mut found = 0_u64;
        while let Some(row) = rows.next()? {
            found = found.saturating_add(1);
            self.patience.row();
            if found <= handed_out {
                continue;
            }
            damage.rows = found;
            if found > most_rows {
                damage.add("end", "more rows than the file has room for");
                break;
            }
            // Rows may name the same pages for what does not fit on their own.
            let bytes = (0..columns.len()).map(|column| bytes_of(row, column)).sum();
            let Some(left) = bytes_left.checked_sub(bytes) else {
                damage.add("end", "texts and BLOBs of more bytes than the file has");
                break;
            };
            bytes_left = left;
            each(&mut Cells { row: RowSource::Sqlite(row), columns, is_there, damage });
        }
        Ok(())
    }
}

/// The columns of a table, and which of those that are asked for it has.
struct Selected {
    present: Vec<String>,
    is_there: Vec<bool>,
}

impl Selected {
    fn has(&self, column: &str) -> bool {
        self.present.iter().any(|name| name.eq_ignore_ascii_case(column))
    }
}

/// Bytes of a text or a BLOB.
fn bytes_of(row: &rusqlite::Row<'_>, column: usize) -> u64 {
    match row.get_ref(column) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len() as u64,
        _ => 0,
    }
}

/// Splits ids into ranges of about equal width, several for each thread.
pub fn split_for_threads(first: i64, last: i64) -> Vec<RangeInclusive<i64>> {
    split(first, last, PARTS_OF_THREAD)
}

fn split(mut first: i64, last: i64, parts_of_thread: i64) -> Vec<RangeInclusive<i64>> {
    let threads = i64::try_from(rayon::current_num_threads()).unwrap_or(1);
    let parts = threads.saturating_mul(parts_of_thread);
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
pub(super) fn read_table_names(
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
