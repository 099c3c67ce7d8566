#!/usr/bin/env python3
"""Writes what fuzzing begins with to fuzz/corpus: small inputs of each target, taken from the sample reports.

usage: fuzz/seeds.py PROGRAM, where PROGRAM is tilescope, which writes an index to be a seed. `scripts/fuzz` does not need it: the corpora are kept.
"""

import gzip
import hashlib
import json
import os
import pathlib
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import cbor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
from damaging import others

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_profiles"
TABLE = re.search(r'TABLE: &str =\s*"(.*?)";', (ROOT / "src/systems/fuzzing.rs").read_text(), re.S)[1]


def keep(target, data):
    folder = ROOT / "fuzz/corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def snapshots():
    """Memory snapshots as PyTorch writes them, with whatever one may hold, small, in three protocols."""
    def frames(*lines):
        return [{"name": f"f{line}", "filename": "/home/me/train.py", "line": line} for line in lines]
    stack = frames(3, 5)
    at = 0x7F0000000000
    def event(action, addr, size, **more):
        return {"action": action, "addr": addr, "size": size, "stream": 0, "time_us": 1000, "frames": stack, **more}
    block = {"address": at, "size": 1024, "requested_size": 900, "state": "active_allocated", "frames": stack}
    free = {"address": at + 1024, "size": (2 << 20) - 1024, "requested_size": 0, "state": "inactive", "frames": []}
    pending = dict(free, state="active_pending_free")
    segment = {"device": 0, "address": at, "total_size": 2 << 20, "allocated_size": 1024, "active_size": 1024, "stream": 0,
               "segment_type": "small", "segment_pool_id": (0, 0), "is_expandable": False, "frames": stack, "blocks": [block, free]}
    trace = [event("segment_alloc", at, 2 << 20), event("alloc", at, 900), event("alloc", at + 1024, 4096),
             event("free_requested", at + 1024, 4096), event("free_completed", at + 1024, 4096)]
    mapped = dict(segment, is_expandable=True, segment_pool_id=(1, 2))
    pieces = [event("segment_map", at, 1 << 20), event("segment_map", at + (1 << 20), 1 << 20), *trace[1:],
              event("segment_unmap", at + (1 << 20), 1 << 20), event("segment_map", at + (1 << 20), 1 << 20)]
    failed = {"action": "oom", "size": 1 << 30, "device_free": 5, "stream": 7, "time_us": 1001, "frames": []}
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "expandable_segments": False, "garbage_collection_threshold": 0.5,
                "roundup_power2_divisions": {"1": 4, "32768": 8}}
    marks = [{"stage": stage, "name": "Optimizer.step#A", "device": 0, "time_us": time} for stage, time in (("START", 999), ("END", 1005))]
    roots = [
        {"segments": [segment], "device_traces": [trace + [failed]], "allocator_settings": settings, "external_annotations": marks},
        {"device_traces": [pieces, []], "segments": [mapped]},
        {"segments": [dict(segment, blocks=[block, pending])], "device_traces": [trace[4:]], "host_segments": [dict(segment, device=-1)],
         "host_traces": trace},
        {"segments": [{"device": 0, "address": at, "total_size": 512, "blocks": [
            {"size": 512, "state": "active_allocated", "history": [{"addr": at, "real_size": 400, "frames": stack}]}]}]},
    ]
    for root in roots:
        for protocol in (2, 4, 5):
            keep("snapshot", pickle.dumps(root, protocol))


def timelines():
    rows = [[0, 100, 20, 0, 3, 0, 0, 0, 0], [0, 100, 20, 0, 0, 500, 0, 0, 1]]
    keep("timeline", json.dumps([[1000, 1001], rows]).encode())
    raw = json.dumps([[-1, 1, 100, 0], [5000, 2, 40, 4], [6000, 3, -40, 4], [6000, 3, 40, 5], [7000, 4, -40, 5]]).encode()
    keep("timeline", raw)
    keep("timeline", gzip.compress(raw, mtime=0))


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
    examples = (ROOT / "src/diagnose/tests/examples.txt").read_text()
    for part in re.split(r"\n{2,}", examples):
        keep("log", part.encode()[:1500])
    tests = (ROOT / "src/diagnose/tests/mod.rs").read_text()
    for text in set(re.findall(r'"((?:[^"\\]|\\.){40,})"', tests)):
        keep("log", text.replace("\\n", "\n").replace('\\"', '"').replace("\\x1b", "\x1b").encode()[:1500])
    keep("log", b"\x1b[31mred\x1b[0m \x1b]0;title\x07 out of memory\r\nkilled\r")


def xla(program):
    """Small modules with their texts, as the synthetic dumps have them, and a profile of one."""
    net = ["--layers", "1", "--width", "8", "--heads", "1", "--sequence", "8", "--vocabulary", "16"]
    for platform in ("tpu", "gpu", "cpu"):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([program, "synth", "--system", "xla", *net, "--batch", "1", "--platform", platform, "--texts", "-o", directory],
                           check=True, stdout=subprocess.DEVNULL)
            texts = []
            for path in sorted(pathlib.Path(directory).iterdir()):
                if path.suffix == ".pb":
                    proto = smaller(path.read_bytes())
                    keep("xla_proto", proto)
                    keep("xla_proto", proto[:len(proto) * 2 // 3])
                    keep("xla_proto", profile_of(proto))
                elif path.name.endswith(("-buffer-assignment.txt", "-live-range.txt")):
                    texts.append(path.read_bytes())
            keep("xla_text", b"\0".join(text[:1500] for text in texts))
            for text in texts:
                keep("xla_text", text[:3000])


def graphs():
    """Graphs of the first operations of the sample reports of TT-NN, and nodes that these do not have."""
    for folder in sorted((SAMPLES / "tenstorrent").iterdir()):
        database = sqlite3.connect(f"file:{folder}/db.sqlite?mode=ro", uri=True)
        texts = [text for (text,) in database.execute("SELECT captured_graph FROM captured_graph LIMIT 6")]
        keep("ttnn_graph", "\0".join(texts[:2]).encode())
        keep("ttnn_graph", "\0".join(text for text in texts if len(text) < 4000).encode())
    def node(kind, counter, inputs=(), connections=(), **params):
        return {"node_type": kind, "counter": counter, "params": params, "input_tensors": list(inputs), "connections": list(connections),
                "arguments": ["at 0x55a9", "8"]}
    buffer = {"address": "64", "size": "2048", "buffer_type": 1, "type": "L1", "layout": "BLOCK_SHARDED", "num_cores": "4", "page_size": "512"}
    scratch = {"address": 32, "size": 64, "core_range_set": "{[(x=0,y=0) - (x=7,y=7)]}", "device_id": 0}
    first = [
        node("function_start", 0, [1], name="Tensor::reshape"), node("tensor", 1, tensor_id=7, address=64, buffer_type=1, shape="Shape([4])"),
        node("function_end", 2, [], [3, 99], name="Tensor::reshape"), node("tensor", 3, tensor_id=8, buffer_type=1),
        node("function_start", 4, name="Conv2dDeviceOperation", program_cache_hit=False, program_factory_type="f", program_factory_index=1),
        node("buffer_allocate", 5, **buffer), node("circular_buffer_deallocate_all", 6, device_id=1),
        node("circular_buffer_allocate", 7, globally_allocated="0", **scratch), node("circular_buffer_allocate", 8, globally_allocated=1, **scratch),
        node("dataflow_buffer_allocate", 9, borrows_memory="0", **scratch), node("scratchpad_allocate", 10, **scratch),
        node("function_end", 11, name="Conv2dDeviceOperation"),
    ]
    second = [node("function_start", 0, name="Conv2dDeviceOperation", program_cache_hit=True), node("circular_buffer_deallocate_all", 1),
              node("buffer_deallocate", 2, **buffer), {"node_type": "capture_end", "params": None}]
    keep("ttnn_graph", b"\0".join(json.dumps(graph).encode() for graph in (first, second, first)))


def smaller(message, level=0, most=6):
    """A proto with the first few of whatever it has many of, three levels deep."""
    seen, small = {}, b""
    for number, kind, start, begin, end in others.fields(message, 0, len(message)) or []:
        seen[number] = seen.get(number, 0) + 1
        if seen[number] <= most:
            inner = message[begin:end]
            is_message = kind == 2 and level < 3 and len(inner) > 200 and others.fields(inner, 0, len(inner))
            small += others.part(number, smaller(inner, level + 1)) if is_message else message[start:end]
    return small


def profile_of(proto):
    """A profile with one module."""
    entry = others.part(4, others.part(2, others.part(5, others.part(6, proto))))
    return others.part(1, others.part(2, b"/host:metadata") + entry)


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


snapshots()
timelines()
graphs()
xla(sys.argv[1])
blobs()
pages()
contexts()
texts()
indexes(sys.argv[1])
for folder in sorted((ROOT / "fuzz/corpus").iterdir()):
    files = list(folder.iterdir())
    print(f"{folder.name}: {len(files)} inputs, {sum(path.stat().st_size for path in files)} bytes")
