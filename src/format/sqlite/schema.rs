//! The schema of a table: its root page, and which column lies where in a record.
//!
//! The schema is small and a program of its own, so SQLite reads it.

use rusqlite::Connection;

use super::Refusal;
use super::record::{CellSource, Layout, Only, RecordPart};

/// A table as it lies in the file.
#[derive(Clone, Debug)]
pub struct StoredTable {
    name: String,
    pub(super) root: u32,
    columns: Vec<StoredColumn>,
}

#[derive(Clone, Debug)]
struct StoredColumn {
    name: String,
    /// It is another name of the row id; what the record has in its place is not looked at.
    is_row_id: bool,
    /// Records that were written before the column was added do not have it; then it is this, if that is NULL.
    default_is_null: bool,
    kind: Affinity,
    /// SQLite takes it for granted that it is never NULL.
    is_never_null: bool,
}

/// What the declared type of a column says ("Datatypes in SQLite", section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Affinity {
    /// Values are compared as the numbers that they are stored as.
    Integers,
    /// Whole numbers are stored as integers, and SQLite gives them as reals.
    Reals,
    /// Words of reals and of others. What counts then is not worth telling apart.
    Unclear,
    Other,
}

impl Affinity {
    fn of(declared: &str) -> Self {
        let has = |part: &&str| declared.contains(part);
        let is_real = ["REAL", "FLOA", "DOUB"].iter().any(has);
        match () {
            () if is_real && ["INT", "CHAR", "CLOB", "TEXT", "BLOB"].iter().any(has) => {
                Self::Unclear
            }
            () if is_real => Self::Reals,
            () if has(&"INT") => Self::Integers,
            () => Self::Other,
        }
    }
}

impl StoredTable {
    /// Looks a table up.
    ///
    /// # Errors
    /// When it is none, or has columns that are not stored.
    pub fn find(connection: &Connection, table: &str) -> Result<Self, Refusal> {
        Self::try_find(connection, table)
            .unwrap_or_else(|error| Err(Refusal::table(table, error.to_string())))
    }

    fn try_find(
        connection: &Connection,
        table: &str,
    ) -> Result<Result<Self, Refusal>, rusqlite::Error> {
        let mut statement = connection.prepare_cached(
            "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?1 COLLATE NOCASE",
        )?;
        let roots: Vec<i64> =
            statement.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let [root] = *roots else {
            return Ok(Err(Refusal::table(
                table,
                format!("{} entries in the schema", roots.len()),
            )));
        };
        let Ok(root) = u32::try_from(root) else {
            return Ok(Err(Refusal::table(table, format!("root page {root}"))));
        };
        // Only a primary key that is no alias of the row id has an index of its own.
        let mut statement = connection
            .prepare_cached("SELECT count(*) FROM pragma_index_list(?1) WHERE origin = 'pk'")?;
        let has_key_index = statement.query_row([table], |row| row.get::<_, i64>(0))? > 0;
        let mut statement = connection.prepare_cached(
            "SELECT name, type, dflt_value IS NULL, pk, hidden, [notnull] FROM pragma_table_xinfo(?1) ORDER BY cid",
        )?;
        let mut rows = statement.query([table])?;
        let (mut columns, mut keys) = (Vec::new(), 0_usize);
        while let Some(row) = rows.next()? {
            let kind: String = row.get(1)?;
            let is_key = row.get::<_, i64>(3)? > 0;
            keys = keys.saturating_add(is_key.into());
            if row.get::<_, i64>(4)? != 0 {
                return Ok(Err(Refusal::table(table, "a generated column")));
            }
            let kind = kind.to_ascii_uppercase();
            columns.push(StoredColumn {
                name: row.get(0)?,
                is_row_id: is_key && kind == "INTEGER" && !has_key_index,
                default_is_null: row.get(2)?,
                kind: Affinity::of(&kind),
                is_never_null: row.get(5)?,
            });
        }
        if keys > 1 {
            for column in &mut columns {
                column.is_row_id = false;
            }
        }
        Ok(Ok(Self { name: table.to_owned(), root, columns }))
    }

    /// Whether a column numbers the rows: `rowid`, or another name of it.
    pub fn is_row_id(&self, column: &str) -> bool {
        match self.columns.iter().find(|stored| stored.is_called(column)) {
            Some(stored) => stored.is_row_id,
            None => column.eq_ignore_ascii_case("rowid"),
        }
    }

    /// What is to be read of each record: some columns, of which those that the table lacks are NULL.
    ///
    /// # Errors
    /// When one of them is of a kind that is not read here, or does not tell which rows are wanted.
    pub fn layout<'a>(
        &self,
        columns: &[&str],
        only: Option<Only<'a>>,
    ) -> Result<Layout<'a>, Refusal> {
        let sources = columns.iter().map(|column| self.source(column)).collect::<Result<_, _>>()?;
        let only = match only {
            Some(only) => {
                let column = only.column();
                let stored = self.columns.iter().find(|stored| stored.is_called(column));
                let is_told = stored.is_some_and(|stored| match only {
                    Only::Null(_) | Only::NotNull(_) => !stored.is_never_null && !stored.is_row_id,
                    Only::Between(..) => stored.kind == Affinity::Integers,
                });
                if !is_told {
                    let what = format!("column {column} does not tell which rows are wanted");
                    return Err(Refusal::table(&self.name, what));
                }
                Some((RecordPart::new(vec![self.source(column)?]), only))
            }
            None => None,
        };
        let defaults = self.columns.iter().map(|column| column.default_is_null);
        Ok(Layout::new(RecordPart::new(sources), only, defaults.collect()))
    }

    fn source(&self, column: &str) -> Result<CellSource, Refusal> {
        let at = self.columns.iter().position(|stored| stored.is_called(column));
        let Some((at, stored)) = at.and_then(|at| Some((at, self.columns.get(at)?))) else {
            return Ok(CellSource::Null);
        };
        if stored.is_row_id {
            return Ok(CellSource::RowId);
        }
        match stored.kind {
            Affinity::Unclear => {
                Err(Refusal::table(&self.name, format!("column {column} of an unclear type")))
            }
            Affinity::Reals => Ok(CellSource::Real(at)),
            Affinity::Integers | Affinity::Other => Ok(CellSource::Stored(at)),
        }
    }
}

impl StoredColumn {
    fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}
