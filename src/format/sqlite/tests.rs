//! Tables read straight from the pages are what SQLite gives, or are refused; ordinary ones are not refused.

#![allow(clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

use std::fs;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};

use crate::progress::Progress;
use proptest::prelude::*;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::record::varint;
use super::*;

/// A database in a directory of its own.
struct Made {
    directory: tempfile::TempDir,
}

impl Made {
    fn by(statements: &str) -> Self {
        let made = Self { directory: tempfile::tempdir().unwrap() };
        made.run(statements);
        made
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("made.db")
    }

    fn run(&self, statements: &str) {
        Connection::open(self.path()).unwrap().execute_batch(statements).unwrap();
    }
}

/// As the reader of reports opens it.
fn connect(path: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let uri = format!("file://{}?mode=ro&immutable=1", path.display());
    let connection = Connection::open_with_flags(uri, flags).unwrap();
    let settings = "PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON; PRAGMA writable_schema = ON";
    // A header that SQLite does not read says so at the first query.
    drop(connection.execute_batch(settings));
    connection
}

/// What the cells of a row are, texts and blobs byte by byte.
type Cells = Vec<String>;

fn through_sqlite(
    connection: &Connection,
    table: &str,
    columns: &[&str],
    (ids, only): (&RangeInclusive<i64>, Option<Only<'_>>),
) -> (Vec<Cells>, Option<rusqlite::Error>) {
    let only = only.map_or(String::new(), |only| format!("AND {}", only.condition()));
    let sql = format!(
        "SELECT {} FROM [{table}] WHERE rowid BETWEEN ?1 AND ?2 {only} ORDER BY rowid",
        columns.join(", ")
    );
    let mut found = Vec::new();
    let mut read = || {
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([ids.start(), ids.end()])?;
        while let Some(row) = rows.next()? {
            let cell = |column| format!("{:?}", row.get_ref(column).unwrap());
            found.push((0..columns.len()).map(cell).collect());
            // More than any of these tests has: a loop in a damaged file.
            if found.len() > 20_000 {
                break;
            }
        }
        Ok(())
    };
    let error = read().err();
    (found, error)
}

fn straight(
    path: &Path,
    connection: &Connection,
    table: &str,
    columns: &[&str],
    (ids, only): (&RangeInclusive<i64>, Option<Only<'_>>),
) -> (Vec<Cells>, Option<Refusal>) {
    let mut found: Vec<Cells> = Vec::new();
    let mut read = || {
        let file = DatabaseFile::open(path)?;
        let stored = StoredTable::find(connection, table)?;
        let layout = stored.layout(columns, only)?;
        read_rows(&file, &stored, &layout, ids, &Progress::default(), &mut |record| {
            let cell = |column| format!("{:?}", record.value(column));
            found.push((0..columns.len()).map(cell).collect());
            if let Some(WholeNumbers { numbers: [number], present }) = record.whole_numbers() {
                let value = if present == 1 { ValueRef::Integer(number) } else { ValueRef::Null };
                assert_eq!(record.value(0), value);
            }
            ControlFlow::Continue(())
        })
    };
    let refusal = read().err();
    (found, refusal)
}

/// Compares both ways and returns the refusal, if any: the rows until then must be SQLite's first.
fn compared(
    path: &Path,
    table: &str,
    columns: &[&str],
    ids: &RangeInclusive<i64>,
) -> Option<Refusal> {
    compared_only(path, table, columns, (ids, None))
}

fn compared_only(
    path: &Path,
    table: &str,
    columns: &[&str],
    (ids, only): (&RangeInclusive<i64>, Option<Only<'_>>),
) -> Option<Refusal> {
    let connection = connect(path);
    let (found, refusal) = straight(path, &connection, table, columns, (ids, only));
    let (expected, error) = through_sqlite(&connection, table, columns, (ids, only));
    let shown = found.len().min(expected.len());
    assert_eq!(found[..shown], expected[..shown], "{table} {columns:?} {ids:?}");
    match &refusal {
        None => {
            assert!(error.is_none(), "SQLite says {error:?} after {} rows", expected.len());
            assert_eq!(found.len(), expected.len(), "{table} {columns:?} {ids:?}");
        }
        Some(refusal) => assert!(
            found.len() <= expected.len(),
            "{refusal} after {} rows, SQLite {error:?} after {}",
            found.len(),
            expected.len()
        ),
    }
    refusal
}

const ALL: RangeInclusive<i64> = i64::MIN..=i64::MAX;

fn assert_equal(path: &Path, table: &str, columns: &[&str]) {
    for ids in [ALL, -5..=40, 0..=0, 17..=17, 30..=i64::MAX, 1_000_000..=2_000_000] {
        assert_eq!(compared(path, table, columns, &ids), None, "{table} {columns:?} {ids:?}");
    }
}

fn assert_refused(path: &Path, table: &str, columns: &[&str], why: &str) {
    let refusal = compared(path, table, columns, &ALL).expect("this is refused").to_string();
    assert!(refusal.contains(why), "{refusal}");
}

fn encoded(number: u64) -> Vec<u8> {
    if number >> 56 != 0 {
        let mut bytes: Vec<u8> =
            (0..8).rev().map(|group| (number >> (8 + 7 * group)) as u8 | 0x80).collect();
        bytes.push(number as u8);
        return bytes;
    }
    let groups = (64 - number.leading_zeros()).div_ceil(7).max(1);
    let group = |at: u32| (number >> (7 * at)) as u8 & 0x7f | if at > 0 { 0x80 } else { 0 };
    (0..groups).rev().map(group).collect()
}

#[test]
fn the_ends_of_varints() {
    assert_eq!(varint(&[]), None);
    assert_eq!(varint(&[0x81]), None);
    assert_eq!(varint(&[0x80; 8]), None);
    assert_eq!(varint(&[0x80, 0x80, 0x01, 7]), Some((1, &[7_u8][..])));
    assert_eq!(varint(&[0xff; 9]), Some((u64::MAX, &[][..])));
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        (any::<i64>(), 0..64_u32).prop_map(|(number, shift)| Value::Integer(number >> shift)),
        any::<f64>().prop_map(Value::Real),
        ".{0,12}".prop_map(Value::Text),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Value::Blob),
        // Longer than a page of any size that is made here but the largest.
        (any::<u8>(), 0..9_000_usize).prop_map(|(byte, length)| Value::Blob(vec![byte; length])),
    ]
}

proptest! {
    #[test]
    fn varints_come_back(number in any::<u64>(), shift in 0..64_u32, more in any::<[u8; 3]>()) {
        let number = number >> shift;
        let mut bytes = encoded(number);
        bytes.extend(more);
        prop_assert_eq!(varint(&bytes), Some((number, &more[..])));
    }

    #[test]
    fn any_bytes_are_a_varint_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
        if let Some((_, rest)) = varint(&bytes) {
            prop_assert!(bytes.ends_with(rest) && rest.len() < bytes.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn random_tables_are_equal(
        rows in proptest::collection::vec(
            (any::<i64>(), 0..64_u32, [any_value(), any_value(), any_value()]), 0..60),
        size in 9..=16_u32,
        auto_vacuum in 0..=2,
        kept in 1..5_i64,
    ) {
        let made = Made::by(&format!(
            "PRAGMA page_size = {}; PRAGMA auto_vacuum = {auto_vacuum}; \
             CREATE TABLE other (x); \
             CREATE TABLE t (a, id INTEGER PRIMARY KEY, b TEXT, c BLOB, d FLOAT);", 1_u32 << size));
        let mut connection = Connection::open(made.path()).unwrap();
        let transaction = connection.transaction().unwrap();
        for (id, shift, [a, b, c]) in &rows {
            transaction.execute(
                "INSERT OR REPLACE INTO t VALUES (?1, ?2, ?3, ?4, ?1)",
                (a, id >> shift, b, c),
            ).unwrap();
            transaction.execute("INSERT INTO other VALUES (?1)", [c]).unwrap();
        }
        transaction.execute("DELETE FROM t WHERE id % ?1 <> 0", [kept]).unwrap();
        transaction.commit().unwrap();
        drop(connection);
        assert_equal(&made.path(), "t", &["id", "a", "b", "c", "d"]);
        assert_equal(&made.path(), "t", &["d"]);
        assert_equal(&made.path(), "t", &["c", "id"]);
        assert_equal(&made.path(), "t", &["a"]);
        assert_equal(&made.path(), "other", &["x"]);
    }
}

/// Rows of different lengths, some of which need overflow pages, with gaps between their ids.
const ROWS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) \
     INSERT INTO t SELECT i * 3, i % 7, 'name' || i, zeroblob(i % 50), \
     CASE WHEN i % 97 = 0 THEN zeroblob(3000 + i) END, -i * 1000003 FROM n;";
const TABLE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER NOT NULL, name TEXT, \
     list BLOB, long BLOB, last INTEGER);";
const COLUMNS: [&str; 6] = ["id", "a", "name", "list", "long", "last"];

#[test]
fn every_page_size_and_vacuum_with_free_pages() {
    for size in 9..=16 {
        for auto_vacuum in 0..=2 {
            let made = Made::by(&format!(
                "PRAGMA page_size = {}; PRAGMA auto_vacuum = {auto_vacuum}; {TABLE} {ROWS} \
                 DELETE FROM t WHERE id BETWEEN 600 AND 1500 OR id % 5 = 0;",
                1 << size
            ));
            assert_equal(&made.path(), "t", &COLUMNS);
            assert_equal(&made.path(), "t", &["name", "id"]);
            assert_equal(&made.path(), "T", &["LAST"]);
            made.run("DELETE FROM t");
            assert_equal(&made.path(), "t", &COLUMNS);
        }
    }
}

#[test]
fn rows_that_a_column_after_a_long_one_is_wanted_of() {
    let made = Made::by(&format!("PRAGMA page_size = 512; {TABLE} {ROWS}"));
    assert_equal(&made.path(), "t", &["last"]);
    // A header of 900 columns does not fit on its leaf either.
    let names: Vec<String> = (0..900).map(|column| format!("c{column}")).collect();
    made.run(&format!("CREATE TABLE wide ({})", names.join(", ")));
    let connection = Connection::open(made.path()).unwrap();
    let places = vec!["?"; 900].join(", ");
    for row in 0..5_i64 {
        let values = (0..900).map(|column| format!("{row} {column} {}", "x".repeat(70)));
        let sql = format!("INSERT INTO wide VALUES ({places})");
        connection.execute(&sql, params_from_iter(values)).unwrap();
    }
    drop(connection);
    assert_equal(&made.path(), "wide", &["c0", "c899", "c450"]);
}

#[test]
fn bytes_reserved_on_every_page() {
    let made = Made::by("PRAGMA page_size = 1024; VACUUM;");
    let mut bytes = fs::read(made.path()).unwrap();
    assert_eq!(bytes.len(), 1024, "an empty database is one page");
    // SQLite has no statement for it: byte 20 of the header, and where the cells of the page begin.
    bytes[20] = 32;
    bytes[105..107].copy_from_slice(&992_u16.to_be_bytes());
    fs::write(made.path(), bytes).unwrap();
    made.run(&format!("{TABLE} {ROWS}"));
    assert_eq!(fs::read(made.path()).unwrap()[20], 32);
    assert_equal(&made.path(), "t", &COLUMNS);
}

#[test]
fn columns_added_later() {
    let made = Made::by(&format!(
        "{TABLE} {ROWS} ALTER TABLE t ADD COLUMN later INTEGER; \
         ALTER TABLE t ADD COLUMN five INTEGER DEFAULT 5; \
         INSERT INTO t (id, a, later) VALUES (5000, 1, 2);"
    ));
    let path = made.path();
    assert_equal(&path, "t", &["id", "later", "a"]);
    assert_refused(&path, "t", &["id", "five"], "a column that was added with a default");
    // Rows that have it are read.
    assert_eq!(compared(&path, "t", &["id", "five"], &(4000..=6000)), None);
    made.run("ALTER TABLE t DROP COLUMN name");
    assert_equal(&path, "t", &["id", "later", "last"]);
}

#[test]
fn keys_that_are_the_row_id_and_keys_that_are_not() {
    let made = Made::by(
        "CREATE TABLE alias (a, id INTEGER, PRIMARY KEY (id)); INSERT INTO alias VALUES (1, 7);
         CREATE TABLE quirk (id INTEGER PRIMARY KEY DESC, a); INSERT INTO quirk VALUES (7, 1);
         CREATE TABLE int (id INT PRIMARY KEY, a); INSERT INTO int VALUES (7, 1);
         CREATE TABLE two (a INTEGER, b INTEGER, PRIMARY KEY (a, b)); INSERT INTO two VALUES (7, 1);
         CREATE TABLE own (rowid TEXT, a); INSERT INTO own VALUES ('x', 1);",
    );
    let connection = connect(&made.path());
    for (table, column, is_row_id) in [
        ("alias", "id", true),
        ("alias", "rowid", true),
        ("alias", "a", false),
        ("quirk", "id", false),
        ("int", "id", false),
        ("two", "a", false),
        ("own", "rowid", false),
    ] {
        let stored = StoredTable::find(&connection, table).unwrap();
        assert_eq!(stored.is_row_id(column), is_row_id, "{table}.{column}");
    }
    for table in ["alias", "quirk", "int"] {
        assert_equal(&made.path(), table, &["id", "a"]);
    }
    assert_equal(&made.path(), "two", &["b", "a"]);
}

#[test]
fn what_is_not_read_here_is_refused() {
    let made = Made::by(
        "CREATE TABLE keyed (id INTEGER PRIMARY KEY, a) WITHOUT ROWID; INSERT INTO keyed VALUES (1, 2);
         CREATE TABLE unclear (id INTEGER PRIMARY KEY, a FLOATINT, b TEXT DOUBLE, c); INSERT INTO unclear VALUES (1, 2, 3, 4);
         CREATE TABLE made_up (a, b AS (a + 1), c); INSERT INTO made_up (a, c) VALUES (1, 3);
         CREATE VIEW view AS SELECT 1 AS a;",
    );
    let path = made.path();
    let connection = connect(&path);
    let refusal =
        straight(&path, &connection, "keyed", &["id"], (&ALL, None)).1.unwrap().to_string();
    assert!(refusal.contains("a page of a table with row ids expected"), "{refusal}");
    assert_refused(&path, "unclear", &["id", "a"], "column a of an unclear type");
    assert_refused(&path, "unclear", &["b"], "column b of an unclear type");
    assert_equal(&path, "unclear", &["c", "id"]);
    assert_refused(&path, "made_up", &["c"], "a generated column");
    let refusal = straight(&path, &connection, "view", &["a"], (&ALL, None)).1.unwrap().to_string();
    assert!(refusal.contains("0 entries in the schema"), "{refusal}");
    for encoding in ["UTF-16le", "UTF-16be"] {
        let made = Made::by(&format!("PRAGMA encoding = '{encoding}'; {TABLE} {ROWS}"));
        assert_refused(&made.path(), "t", &["name"], "encoding 1 (UTF-8) expected");
    }
}

#[test]
fn rows_by_one_of_their_columns() {
    let made = Made::by(&format!(
        "PRAGMA page_size = 512; {TABLE} {ROWS} UPDATE t SET last = NULL WHERE id % 4 = 0; \
         UPDATE t SET last = 7.5 WHERE id % 5 = 0;
         CREATE TABLE texts (a INTEGER, b); INSERT INTO texts VALUES (1, 5), ('x', 'x'), (2, 6);"
    ));
    let path = made.path();
    for only in [
        Only::Null("last"),
        Only::NotNull("last"),
        Only::Between("last", 7, 8),
        Only::Between("a", 3, 3),
        Only::Between("id", 30, 700),
        Only::Null("long"),
    ] {
        for columns in [&COLUMNS[..], &["id"], &["a", "name"]] {
            // Row 291 is the first long one: what lies behind the long column is not on its leaf.
            let refusal = compared_only(&path, "t", columns, (&(100..=290), Some(only)));
            assert_eq!(refusal, None, "{only:?} {columns:?}");
            let refusal = compared_only(&path, "t", columns, (&(100..=2000), Some(only)));
            let is_behind = ["long", "last"].contains(&only.column());
            assert_eq!(refusal.is_some(), is_behind, "{only:?} {columns:?}: {refusal:?}");
        }
    }
    let refused = |table, only| {
        compared_only(&path, table, &["a"], (&ALL, Some(only)))
            .expect("this is refused")
            .to_string()
    };
    assert!(refused("texts", Only::Between("a", 0, 9)).contains("a number to compare"));
    assert!(refused("texts", Only::Between("b", 0, 9)).contains("does not tell"));
    assert!(refused("t", Only::NotNull("a")).contains("does not tell"));
}

#[test]
fn a_header_that_is_none() {
    let made = Made::by(&format!("PRAGMA page_size = 512; {TABLE} {ROWS}"));
    let intact = fs::read(made.path()).unwrap();
    for (at, byte, why) in [
        (0, b'T', "the name of the format"),
        (16, 3, "a page size"),
        (20, 33, "480 usable bytes"),
        (18, 3, "format version"),
        (19, 3, "format version"),
        (21, 65, "payload fractions"),
        (59, 2, "encoding 1"),
    ] {
        let mut bytes = intact.clone();
        bytes[at] = byte;
        fs::write(made.path(), bytes).unwrap();
        let refusal = DatabaseFile::open(&made.path()).unwrap_err().to_string();
        assert!(refusal.contains(why), "{refusal}");
    }
    fs::write(made.path(), &intact[..99]).unwrap();
    assert!(matches!(DatabaseFile::open(&made.path()), Err(Refusal::Unreadable { .. })));
}

#[test]
fn a_file_that_is_cut_while_it_is_read() {
    let made = Made::by(&format!("{TABLE} {ROWS}"));
    let connection = connect(&made.path());
    let file = DatabaseFile::open(&made.path()).unwrap();
    let stored = StoredTable::find(&connection, "t").unwrap();
    let layout = stored.layout(&["id"], None).unwrap();
    fs::OpenOptions::new().write(true).open(made.path()).unwrap().set_len(8192).unwrap();
    let mut rows = 0;
    let refusal = read_rows(&file, &stored, &layout, &ALL, &Progress::default(), &mut |_| {
        rows += 1;
        ControlFlow::Continue(())
    });
    assert!(matches!(refusal, Err(Refusal::Unreadable { .. })), "{refusal:?} after {rows} rows");
}

#[test]
fn it_stops_when_it_is_told_to() {
    let made = Made::by(&format!("{TABLE} {ROWS}"));
    let connection = connect(&made.path());
    let file = DatabaseFile::open(&made.path()).unwrap();
    let stored = StoredTable::find(&connection, "t").unwrap();
    let layout = stored.layout(&["id"], None).unwrap();
    let mut rows = 0;
    read_rows(&file, &stored, &layout, &ALL, &Progress::default(), &mut |_| {
        rows += 1;
        if rows == 500 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!(rows, 500);
}

/// Damages a copy in one of several ways, the same for the same seed.
fn damage(bytes: &mut Vec<u8>, page: usize, seed: u64) {
    let mut state = seed;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    // The schema stays: it is SQLite that reads it.
    let pages = bytes.len() / page;
    match seed % 6 {
        0 => {
            for _ in 0..=random(3) {
                let at = page + random(bytes.len() - page);
                bytes[at] = u8::try_from(random(256)).unwrap();
            }
        }
        // Heads and pointers of pages, where damage tells most.
        1 | 2 => {
            let at = page * (1 + random(pages - 1)) + random(40);
            bytes[at] = u8::try_from(random(256)).unwrap();
        }
        3 => {
            let (from, to) = (1 + random(pages - 1), 1 + random(pages - 1));
            let copied = bytes[from * page..(from + 1) * page].to_vec();
            bytes[to * page..(to + 1) * page].copy_from_slice(&copied);
        }
        4 => {
            let at = 1 + random(pages - 1);
            bytes[at * page..(at + 1) * page].fill(0);
        }
        _ => bytes.truncate(page + random(bytes.len() - page)),
    }
}

#[test]
fn damaged_files_are_refused_or_equal() {
    let made = Made::by(&format!("PRAGMA page_size = 512; {TABLE} {ROWS}"));
    let intact = fs::read(made.path()).unwrap();
    let (mut refused, mut equal) = (0, 0);
    for seed in 0..300 {
        let mut bytes = intact.clone();
        damage(&mut bytes, 512, seed);
        fs::write(made.path(), bytes).unwrap();
        for (columns, ids) in
            [(&COLUMNS[..], ALL), (&["id"][..], ALL), (&["name", "id"][..], 700..=2000)]
        {
            match compared(&made.path(), "t", columns, &ids) {
                Some(_) => refused += 1,
                None => equal += 1,
            }
            for only in [Only::Between("a", 2, 4), Only::NotNull("long")] {
                compared_only(&made.path(), "t", columns, (&ids, Some(only)));
            }
        }
    }
    assert!(refused > 150 && equal > 150, "{refused} refused, {equal} equal");
}

#[test]
fn loops_and_shared_pages_give_no_row_twice() {
    let made = Made::by(&format!("PRAGMA page_size = 512; {TABLE} {ROWS}"));
    let connection = connect(&made.path());
    let root = StoredTable::find(&connection, "t").unwrap().root;
    drop(connection);
    let intact = fs::read(made.path()).unwrap();
    let start = (root as usize - 1) * 512;
    assert_eq!(intact[start], 5, "the root has children");
    // The rightmost child is the root, or the first child; the first child is the root.
    let first = usize::from(u16::from_be_bytes([intact[start + 12], intact[start + 13]]));
    let child = intact[start + first..start + first + 4].to_vec();
    for (at, page) in [
        (start + 8, root.to_be_bytes().to_vec()),
        (start + 8, child),
        (start + first, root.to_be_bytes().to_vec()),
        (start + first, 0_u32.to_be_bytes().to_vec()),
        (start + first, u32::MAX.to_be_bytes().to_vec()),
    ] {
        let mut bytes = intact.clone();
        bytes[at..at + 4].copy_from_slice(&page);
        fs::write(made.path(), bytes).unwrap();
        let connection = connect(&made.path());
        let (found, refusal) = straight(&made.path(), &connection, "t", &["id"], (&ALL, None));
        assert!(refusal.is_some() && found.len() < 900, "{refusal:?} after {} rows", found.len());
    }
}
