#!/usr/bin/env python3
"""Writes what fuzzing begins with to fuzz/corpus: small inputs of each target, taken from the sample reports.

usage: fuzz/seeds.py PROGRAM, where PROGRAM is tilescope, which writes an index to be a seed. `scripts/fuzz` does not need it: the corpora are kept.
"""

import hashlib
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import cbor

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_profiles"
TABLE = re.search(r'TABLE: &str =\s*"(.*?)";', (ROOT / "src/fuzzing.rs").read_text(), re.S)[1]


def keep(target, data):
    folder = ROOT / "fuzz/corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def blobs():
    chosen = {}
    for name in ("tiny", "pipeline"):
        database = sqlite3.connect(f"file:{SAMPLES / name}/profile.pop?mode=ro", uri=True)
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [row[1] for row in database.execute(f"PRAGMA table_info([{table}])") if row[2] == "BLOB"]
            for column in columns:
                for (blob,) in database.execute(f"SELECT [{column}] FROM [{table}] WHERE length([{column}]) < 100 LIMIT 8"):
                    chosen.setdefault((table, column, len(blob) // 16), blob)
    for (_, column, _), blob in chosen.items():
        plain = sum(byte >= 0x80 for byte in blob)
        keep("blob", bytes([16 if column.endswith("rle") else plain & 255]) + blob)
    keep("blob", b"\x05")
    keep("blob", b"\x02\x84\x80")
    keep("blob", b"\x01\x01\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\xff")


def pages():
    """Databases of one table: a leaf, some levels, records over several pages, columns that came later."""
    rows = {
        "leaf": [(i, i * 7 % 50, f"name {i}", None, i) for i in range(8)],
        "levels": [(i, -i, "text " * (i % 5), bytes([i % 256]) * (i % 60), 1 << i % 60) for i in range(1, 90)],
        "overflow": [(i * 1000, 20, None, b"abc" * 300 * i, None) for i in range(1, 4)],
        "ends": [(-(1 << 63), 0, "", b"", 1), (0, 1.5, 3, "text", "x"), ((1 << 63) - 1, None, None, None, None)],
        "none": [],
    }
    for size, names in ((512, rows), (1024, ("levels",))):
        for name in names:
            with tempfile.TemporaryDirectory() as directory:
                path = pathlib.Path(directory, "made")
                database = sqlite3.connect(path)
                database.execute(f"PRAGMA page_size = {size}")
                database.execute(TABLE)
                database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows[name])
                database.commit()
                database.close()
                data = path.read_bytes()
                assert len(data) < 16_000, f"{name}: {len(data)} bytes"
                for wanted in (0, 4, 10, 29):
                    keep("sqlite", bytes([wanted]) + data)


def contexts():
    for name in ("tiny", "pipeline"):
        whole, _ = cbor.decode((SAMPLES / name / "debug.cbor").read_bytes())
        every, texts = whole.get("contexts"), whole.get("stringTable")
        by_kind = {}
        for context in every:
            by_kind.setdefault(tuple(key for key, _ in context), context)
        for some in [every[:3], every[-4:], list(by_kind.values())[:8]]:
            pairs = cbor.Pairs([("contexts", some), ("stringTable", texts[:12])])
            data = cbor.encode(pairs)
            keep("debug_cbor", data)
            keep("debug_cbor", data[:len(data) * 2 // 3])
            keep("debug_cbor", cbor.encode(cbor.Pairs(reversed(pairs))))
    keep("debug_cbor", (SAMPLES / "tiny/debug.cbor").read_bytes()[:400])
    keep("debug_cbor", b"\xbf\x68contexts\x9f\xbf\x62id\x01\xff\xff\x6bstringTable\x9f\x7f\x61a\x61b\xff\xff\xff")


def texts():
    for name in ("tiny", "pair-0.6"):
        for file in ("app.json", "framework.json"):
            keep("side_file", (SAMPLES / name / file).read_bytes())
    for text in ('{"a":[1,{"b":[[],{},"\\u00e9\\ud83d\\ude00",-1.5e300,null,true]}],"a":2}', "[[1,[2]],[]]", '"text"', "{}", ""):
        keep("side_file", text.encode())
    # The messages that the program knows, as its tests have them.
    examples = (ROOT / "src/analysis/diagnose/tests/examples.txt").read_text()
    for part in re.split(r"\n{2,}", examples):
        keep("log", part.encode()[:1500])
    tests = (ROOT / "src/analysis/diagnose/tests/mod.rs").read_text()
    for text in set(re.findall(r'"((?:[^"\\]|\\.){40,})"', tests)):
        keep("log", text.replace("\\n", "\n").replace('\\"', '"').replace("\\x1b", "\x1b").encode()[:1500])
    keep("log", b"\x1b[31mred\x1b[0m \x1b]0;title\x07 out of memory\r\nkilled\r")


def indexes(program):
    """The index of the smallest sample without what takes most of its room, with and without debug contexts."""
    for has_debug in (True, False):
        with tempfile.TemporaryDirectory() as directory:
            report = pathlib.Path(directory, "report")
            report.mkdir()
            source = sqlite3.connect(f"file:{SAMPLES}/tiny/profile.pop?mode=ro", uri=True)
            made = sqlite3.connect(report / "profile.pop")
            source.backup(made)
            made.execute("DELETE FROM vars_info WHERE var_id > 40")
            made.execute("DELETE FROM var_bytes_by_eq_class WHERE rowid > 40")
            made.commit()
            made.close()
            if has_debug:
                shutil.copy(SAMPLES / "tiny/debug.cbor", report)
            subprocess.run([program, "index", report], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "XDG_CACHE_HOME": directory})
            (found,) = pathlib.Path(directory, "tilescope").rglob("*.arrow")
            keep("index", found.read_bytes())


blobs()
pages()
contexts()
texts()
indexes(sys.argv[1])
for folder in sorted((ROOT / "fuzz/corpus").iterdir()):
    files = list(folder.iterdir())
    print(f"{folder.name}: {len(files)} inputs, {sum(path.stat().st_size for path in files)} bytes")
