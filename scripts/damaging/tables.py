"""Damage to what a profile says: its tables, through SQLite."""

import re
import sqlite3
from contextlib import closing

NUMBERS = [0, 1, -1, 2, 255, 256, 1471, 1472, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**53, 2**62, 2**63 - 1, -(2**63), -(2**31)]


def connect(path):
    database = sqlite3.connect(path, isolation_level=None)
    database.text_factory = bytes
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA journal_mode = MEMORY")
    return database


def names(database):
    return [name.decode() for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


def columns(database, table):
    return [row[1].decode() for row in database.execute(f"PRAGMA table_info([{table}])")]


def filled(database):
    return [table for table in names(database) if database.execute(f"SELECT 1 FROM [{table}] LIMIT 1").fetchone()]


def free(database, table):
    """The same rows in a table without keys and conditions; row ids stay."""
    kept = columns(database, table)
    listed = ", ".join(f"[{name}]" for name in kept)
    database.execute(f"CREATE TABLE freed ({listed})")
    database.execute(f"INSERT INTO freed (rowid, {listed}) SELECT rowid, {listed} FROM [{table}]")
    database.execute(f"DROP TABLE [{table}]")
    database.execute(f"ALTER TABLE freed RENAME TO [{table}]")
    return kept


def in_tables(most=3):
    """Makes a change of one table a change of some tables of a profile."""
    def made(change):
        def damage(path, rng):
            with closing(connect(path)) as database:
                tables = filled(database)
                for table in rng.sample(tables, rng.randint(1, min(most, len(tables)))):
                    change(database, table, rng)
        damage.__name__ = change.__name__
        return damage
    return made


@in_tables(5)
def drop_table(database, table, rng):
    database.execute(f"DROP TABLE [{table}]")


@in_tables(5)
def empty_table(database, table, rng):
    database.execute(f"DELETE FROM [{table}]")


@in_tables()
def lose_rows(database, table, rng):
    database.execute(f"DELETE FROM [{table}] WHERE abs(rowid * {rng.randrange(1, 10**6)}) % {rng.randint(2, 20)} = 0")


@in_tables()
def columns_otherwise(database, table, rng):
    """One is gone, has another name, or stands elsewhere."""
    kept = columns(database, table)
    one = rng.choice(kept)
    if len(kept) > 1 and rng.random() < 0.6:
        free(database, table)
        database.execute(f"ALTER TABLE [{table}] DROP COLUMN [{one}]")
    elif rng.random() < 0.5:
        database.execute(f"ALTER TABLE [{table}] RENAME COLUMN [{one}] TO [other{rng.randrange(9)}]")
    else:
        shuffled = rng.sample(kept, len(kept))
        database.execute(f"CREATE TABLE freed AS SELECT {', '.join(f'[{name}]' for name in shuffled)} FROM [{table}]")
        database.execute(f"DROP TABLE [{table}]")
        database.execute(f"ALTER TABLE freed RENAME TO [{table}]")


def put(database, table, column, rng, values):
    """Values into a column, in one row, some rows or all."""
    rows = [row for (row,) in database.execute(f"SELECT rowid FROM [{table}] LIMIT 5000")]
    if not rows:
        return
    chosen = rng.choice([rng.sample(rows, 1), rng.sample(rows, min(len(rows), 5)), rows])
    value = values()
    is_one = rng.random() < 0.5
    database.executemany(f"UPDATE OR IGNORE [{table}] SET [{column}] = ? WHERE rowid = ?",
                         [(value if is_one else values(), row) for row in chosen])


def in_columns(values):
    """Values into columns of any tables, made by the rng."""
    def damage(path, rng):
        with closing(connect(path)) as database:
            for table in rng.sample(filled(database), rng.randint(1, 3)):
                if rng.random() < 0.6:
                    free(database, table)
                column = rng.choice(columns(database, table))
                try:
                    put(database, table, column, rng, lambda: values(rng))
                except sqlite3.IntegrityError:
                    pass  # NOT NULL of a table that is as it was
    damage.__name__ = values.__name__
    return damage


@in_columns
def wrong_types(rng):
    return rng.choice([None, "text", "", b"", b"\x81\x82", 1.5, -0.5, 1e300, float("inf"), "12", "-7", 3])


@in_columns
def numbers(rng):
    return rng.choice([*NUMBERS, rng.randrange(2**63), -rng.randrange(2**63), rng.randrange(2000)])


def giant_names(path, rng):
    """Texts of up to two million letters in some rows of some columns, shorter ones in all rows."""
    with closing(connect(path)) as database:
        for table in rng.sample(filled(database), rng.randint(1, 4)):
            column = rng.choice(free(database, table))
            length, rows = rng.choice([(300, 10**9), (5000, 1000), (100_000, 30), (2_000_000, 4)])
            name = rng.choice(["x", "conv/", "\u00e9", "\u202e"]) * length
            database.execute(f"UPDATE [{table}] SET [{column}] = ? || rowid WHERE rowid IN (SELECT rowid FROM [{table}] LIMIT {rows})", (name,))


def texts_by_cast(path, rng):
    """Text that is no UTF-8, and what terminals and spreadsheets obey."""
    with closing(connect(path)) as database:
        for table in rng.sample(filled(database), rng.randint(1, 4)):
            column = rng.choice(free(database, table))
            raw = invalid_bytes(rng)
            database.execute(f"UPDATE [{table}] SET [{column}] = CAST(? AS TEXT) WHERE rowid % {rng.choice([1, 3, 7])} = 0", (raw,))


def invalid_bytes(rng):
    starts = [b"\xff\xfe", b"a\x00b", b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\x1b[2J", b"\x80" * 50, b"=1+1\n\"x\""]
    return rng.choice(starts) + rng.randbytes(rng.randrange(6))


def list_of(numbers):
    """A list in a BLOB, base 128, the last byte of each number marked."""
    made = bytearray()
    for number in numbers:
        groups = [number & 127 | 128]
        while number := number >> 7:
            groups.append(number & 127)
        made += bytes(reversed(groups))
    return bytes(made)


def bad_list(rng, old):
    old = bytearray(old or b"\x80")
    kind = rng.randrange(9)
    if kind == 0:
        return bytes(old[:rng.randrange(len(old) + 1)])
    if kind == 1:
        return bytes(old) * rng.choice([2, 50])
    if kind == 2:
        return rng.randbytes(rng.choice([1, 10, 1000, 200_000]))
    if kind == 3:  # a run that is longer than any memory
        return list_of([rng.choice([2**31, 2**40, 2**62, 2**63]) & ~1, rng.randrange(300)])
    if kind == 4:
        return list_of([rng.choice([2**31, 2**40, 2**62]) | 1, 1, 2, 3])
    if kind == 5:
        return list_of([rng.choice([2**32 - 1, 2**63, 2**64 - 1, 2**40]) for _ in range(rng.randint(1, 40))])
    if kind == 6:  # numbers without an end
        return bytes(rng.choice([1, 20, 100_000]))
    if kind == 7:
        return list_of([rng.randrange(100)] * rng.choice([1, 3, 2000, 300_000]))
    for _ in range(rng.randint(1, 6)):
        old[rng.randrange(len(old))] ^= 1 << rng.randrange(8)
    return bytes(old)


def lists(path, rng):
    """BLOBs that are other lists, or none."""
    with closing(connect(path)) as database:
        found = []
        for table in filled(database):
            for row in database.execute(f"PRAGMA table_info([{table}])").fetchall():
                if row[2] == b"BLOB":
                    found.append((table, row[1].decode()))
        for table, column in rng.sample(found, min(len(found), rng.randint(1, 4))):
            rows = database.execute(f"SELECT rowid, [{column}] FROM [{table}] WHERE typeof([{column}]) = 'blob'").fetchall()
            for row, old in rng.sample(rows, min(len(rows), rng.choice([1, 3, 1000]))):
                database.execute(f"UPDATE [{table}] SET [{column}] = ? WHERE rowid = ?", (bad_list(rng, old), row))


def same_keys(path, rng):
    """Rows that come more than once, with the same or with other cells."""
    with closing(connect(path)) as database:
        for table in rng.sample(filled(database), rng.randint(1, 4)):
            kept = free(database, table)
            times = rng.choice([1, 1, 3])
            for _ in range(times):
                listed = ", ".join(f"[{name}]" for name in kept)
                database.execute(f"INSERT INTO [{table}] ({listed}) SELECT {listed} FROM [{table}]")
            if rng.random() < 0.5:
                database.execute(f"UPDATE [{table}] SET [{rng.choice(kept)}] = (SELECT [{kept[0]}] FROM [{table}] LIMIT 1)")


CYCLES = [
    "UPDATE depth_first_steps SET parent_step_id = id",
    "UPDATE depth_first_steps SET parent_step_id = (SELECT max(id) FROM depth_first_steps) - id",
    "UPDATE depth_first_steps SET parent_step_id = id + 1",
    "UPDATE depth_first_steps SET parent_step_id = NULL",
    "UPDATE depth_first_steps SET program_id = (SELECT min(program_id) FROM depth_first_steps)",
    "UPDATE programs SET children = (SELECT children FROM programs WHERE children IS NOT NULL ORDER BY length(children) DESC LIMIT 1)",
    "UPDATE eq_class_step SET step_id_from = step_id_to, step_id_to = step_id_from",
    "UPDATE eq_class_step SET step_id_from = 0, step_id_to = 9223372036854775807",
    "UPDATE eq_class_step SET eq_class_id = 1",
    "UPDATE var_bytes_by_eq_class SET eq_class_id = 1",
    "UPDATE vars_info SET equivalence_class_id = 1",
    "UPDATE vars_info SET tile = 0",
    "UPDATE vars_info SET offset = 0",
    "UPDATE vars_info SET offset = 4294967295",
    "UPDATE memory_not_always_live_by_step_and_ipu SET delta_bytes = 9223372036854775807",
    "UPDATE memory_not_always_live_by_step_and_ipu SET delta_bytes = -delta_bytes",
    "UPDATE memory_not_always_live_by_step_and_ipu SET step_id = -step_id",
    "UPDATE target_info SET num_ipus = 4294967296",
    "UPDATE target_info SET num_tiles = 9223372036854775807",
    "UPDATE target_info SET bytes_per_tile = 0",
    "UPDATE target_info SET clock_frequency = 0",
    "UPDATE memory_by_tile SET tile = tile * 1000000007",
    "UPDATE memory_liveness_tiles SET tile = 99999999",
    "UPDATE debug_ids SET ids = (SELECT ids FROM debug_ids ORDER BY length(ids) DESC LIMIT 1)",
    "UPDATE execution_cycle_totals SET cycles = 9223372036854775807",
    "UPDATE runs SET elapsed_microseconds = -1",
    "UPDATE version_info SET major = 99",
    "UPDATE var_categories SET id = 0",
    "UPDATE var_categories SET name = (SELECT min(name) FROM var_categories)",
]


def meaning(statements):
    """Tables that contradict themselves: cycles, everything in one place, sums that overflow."""
    def damage(path, rng):
        with closing(connect(path)) as database:
            for statement in rng.sample(statements, rng.randint(1, 3)):
                try:
                    free(database, statement.split()[1])
                    database.execute(statement)
                except sqlite3.OperationalError:
                    pass  # a table or a column that this version of the format does not have
    return damage


def one_column_of_all(path, rng):
    """The same number in every column of that name: ids that name nothing, or all the same."""
    with closing(connect(path)) as database:
        by_name = {}
        for table in filled(database):
            for column in columns(database, table):
                by_name.setdefault(column, []).append(table)
        column = rng.choice(sorted(by_name))
        number = rng.choice(NUMBERS)
        for table in by_name[column]:
            free(database, table)
            database.execute(f"UPDATE [{table}] SET [{column}] = {number}")


def schema(path, rng):
    """What the schema says of a table: its root page, its statement, that it is a view."""
    with closing(connect(path)) as database:
        tables = filled(database)
        one, other = rng.sample(tables, 2)
        kind = rng.randrange(6)
        if kind == 0:
            database.execute(f"DROP TABLE [{one}]")
            database.execute(f"CREATE VIEW [{one}] AS SELECT * FROM [{other}]")
            return
        if kind == 1:
            database.execute(f"ALTER TABLE [{one}] RENAME TO [gone]")
            database.execute(f"CREATE VIEW [{one}] AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM [gone], n")
            return
        sql = database.execute("SELECT sql FROM sqlite_master WHERE name = ?", (one,)).fetchone()[0].decode()
        database.execute("PRAGMA writable_schema = ON")
        if kind == 2:
            database.execute("UPDATE sqlite_master SET rootpage = ? WHERE name = ?", (rng.choice([0, 1, 2, 5, 2**31, -1, rng.randrange(100)]), one))
        elif kind == 3:
            pieces = re.split(r"(\W+)", sql)
            at = rng.randrange(len(pieces))
            pieces[at] = rng.choice(["", "x", "(", ")", "'", "INTEGER", "WITHOUT ROWID", "\x00", "REAL", "TEXT"])
            database.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", ("".join(pieces), one))
        elif kind == 4:
            database.execute("UPDATE sqlite_master SET name = ?1, tbl_name = ?1 WHERE name = ?2", (other, one))
        else:
            database.execute("UPDATE sqlite_master SET type = ? WHERE name = ?", (rng.choice(["view", "index", "trigger", "x", ""]), one))
