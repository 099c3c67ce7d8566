"""Damage to the files beside a profile: debug contexts, JSON, logs, journals."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "fuzz"))
import cbor

from . import files
from .tables import NUMBERS


def any_value(rng, depth=0):
    """A value that no context has there."""
    return rng.choice([
        lambda: rng.choice(NUMBERS[:18]), lambda: -rng.randrange(2**60), lambda: "text", lambda: "", lambda: b"\xff\x00", lambda: None, lambda: True,
        lambda: 1e300, lambda: float("nan"), lambda: "0.6", lambda: "nan", lambda: "x" * 300_000, lambda: "\udcff\udc80",
        lambda: [any_value(rng, depth + 1) for _ in range(3)] if depth < 4 else [],
        lambda: cbor.Pairs([("id", any_value(rng, depth + 1))]) if depth < 4 else cbor.Pairs(),
    ])()


def contexts(path, rng):
    """Contexts that name each other in circles or nothing, come twice, or have other values in place of theirs."""
    whole, _ = cbor.decode(path.read_bytes())
    every, texts = whole.get("contexts"), whole.get("stringTable")
    for _ in range(rng.randint(1, 3)):
        kind = rng.randrange(8)
        some = rng.choice([rng.sample(every, min(len(every), 3)), every])
        key = rng.choice(["parentId", "id", "name", "location", "layer", "type", "args", "opid", "api"])
        number = rng.choice(NUMBERS[:18])
        if kind == 0:  # a circle, or a chain as long as there are contexts
            for one, other in zip(every, every[1:] + every[:1]):
                set_key(one, "parentId", other.get("id"))
        elif kind == 1:
            for context in some:
                set_key(context, key, number)
        elif kind == 2:
            for context in some:
                set_key(context, key, any_value(rng))
        elif kind == 3:
            for context in some:
                context[:] = [pair for pair in context if pair[0] != key]
        elif kind == 4:
            every += every[:rng.randint(1, len(every))]
        elif kind == 5:
            texts[:] = rng.choice([[], texts[:1], ["x" * 100_000] * 3, [1, None], ["\udcff"] * len(texts), texts * 50])
        elif kind == 6:
            for context in some:
                context += [(key, any_value(rng))] * rng.choice([1, 2, 1000])
        else:
            every[rng.randrange(len(every))] = rng.choice([cbor.Pairs(), cbor.Pairs([("id", 1)])])
    pairs = [("contexts", every), ("stringTable", texts)]
    if rng.random() < 0.3:
        pairs = rng.choice([pairs[::-1], pairs[:1], pairs[1:], pairs * 2, [("contexts", 7), pairs[1]], [pairs[0], ("stringTable", {})][:1]])
    path.write_bytes(cbor.encode(cbor.Pairs(pairs)))


def cbor_bytes(path, rng):
    """Lengths beyond the file, nesting without end, values that never end."""
    data = bytearray(path.read_bytes())
    at = rng.randrange(len(data))
    piece = rng.choice([
        b"\x9b" + b"\xff" * 8, b"\xbb\x7f" + b"\xff" * 7, b"\x7b\x00\x00\x00\x10" + bytes(4), b"\x5b" + b"\xff" * 8, b"\x9a\x7f\xff\xff\xff",
        b"\x81" * 200_000, b"\x9f" * 100_000, b"\xbf" * 100_000, b"\xa1" * 65, b"\xc1" * 100_000, b"\x7f" * 1000, b"\xff", b"\x7f\x61a" * 500,
        b"\xf8\x00", b"\x1c\x1d\x1e", b"\xfb\x7f\xf8" + bytes(6), b"\x60" * 100_000, b"\xa0" * 100_000,
    ])
    if rng.random() < 0.5:
        data[at:at + len(piece)] = piece
    else:
        data[at:at] = piece
    path.write_bytes(data)


def set_key(context, key, value):
    for at, (name, _) in enumerate(context):
        if name == key:
            context[at] = (key, value)
            return
    context.append((key, value))


def json(path, rng):
    """Depth, length, numbers, keys and bytes that JSON files of reports do not have."""
    text = path.read_bytes()
    path.write_bytes(rng.choice([
        lambda: b"[" * 100_000,
        lambda: b"[" * 100 + b"]" * 100,
        lambda: b'{"a":' * 127 + b"1" + b"}" * 127,
        lambda: b'{"a":' * 50_000,
        lambda: b'{"batch_size": 1e999, "network": -1e-999, "b": 123456789012345678901234567890}',
        lambda: b'{"' + b"k" * 1_000_000 + b'": "' + b"v" * 1_000_000 + b'"}',
        lambda: b"{" + b",".join(b'"k%d": %d' % (i % 7, i) for i in range(20_000)) + b"}",
        lambda: b"[" + b"1," * 400_000 + b"1]",
        lambda: b"[" + b"[]," * 200_000 + b"1]",
        lambda: b'"\\ud800\\udfff\\u0000"',
        lambda: b"\xff\xfe{}",
        lambda: b"\xef\xbb\xbf" + text,
        lambda: text + text,
        lambda: text.replace(b'"', b"\x1b", 3),
        lambda: text.replace(b"0", b"NaN").replace(b"8", b"-"),
        lambda: b'{"name": {"run": "\\u001b[2J\\u202e=1+1"}, "throughput": null, "seconds": [[1]]}',
        lambda: b"",
        lambda: rng.randbytes(2000),
    ])())


def log(path, rng):
    """Lines without end, messages by the thousand, numbers that overflow, what terminals obey."""
    message = rng.choice([
        "Out of memory on tile 12: 270336 bytes used but tiles only have 262144 bytes of memory",
        "Out of memory on tile 99999999999999999999: 18446744073709551616 bytes used but tiles only have -1 bytes of memory",
        "RuntimeError: CUDA out of memory. Tried to allocate 99999999999999999999.99 GiB (GPU 0; 1e999 GiB total capacity)",
        "RESOURCE_EXHAUSTED: Attempting to reserve 18446744073709551615.00G at the bottom of memory.",
        "Used 170141183460469231731687303715884105728 B of 0 B hbm. Exceeded hbm capacity by -3.5G.",
        "Killed process 1 (x) total-vm:99999999999999999999kB, anon-rss:18446744073709551615kB",
        "slurmstepd: error: Detected 4294967296 oom-kill event(s)",
        "std::bad_alloc",
    ]).encode()
    path.write_bytes(rng.choice([
        lambda: message + b"\n",
        lambda: (message + b"\n") * 30_000,
        lambda: message * 20_000,
        lambda: b"\x1b[31m" + message + b"\x1b]0;" + b"title" * 50_000,
        lambda: rng.randbytes(100_000) + message + rng.randbytes(100_000),
        lambda: message[:rng.randrange(len(message))],
        lambda: b"\r".join(message for _ in range(1000)),
        lambda: b"".join(bytes([byte, 0]) for byte in message) * 10,
        lambda: message + b"\n" + b"  Size: 1.00G\n" * 100_000,
        lambda: b"x" * 5_000_000 + message,
        lambda: bytes(1_000_000),
    ])())


def journals(profile, rng):
    """What SQLite leaves beside a file whose writer has ended in the middle, and what only looks like it."""
    data = profile.read_bytes()
    name, made = rng.choice([
        ("-wal", lambda: rng.randbytes(50_000)),
        ("-wal", lambda: b"\x37\x7f\x06\x82\x00\x2d\xe2\x18\x00\x00\x10\x00" + rng.randbytes(20_000)),
        ("-wal", lambda: b""),
        ("-journal", lambda: rng.randbytes(50_000)),
        ("-journal", lambda: b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\xff" * 20 + data[:8192]),
        ("-journal", lambda: b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\x00\x00\x00\x03" + bytes(4) + b"\x00\x00\x00\x05\x00\x00\x02\x00\x00\x00\x10\x00" + bytes(484) + data[:12400]),
        ("-shm", lambda: rng.randbytes(32_768)),
    ])
    profile.with_name(profile.name + name).write_bytes(made())
    if rng.random() < 0.5:
        files.change(profile, rng, lambda data, _: data.__setitem__(slice(18, 20), b"\x02\x02"))


def absent(directory, rng):
    """Files are gone, or those of another kind stand in their place."""
    present = sorted(directory.iterdir())
    one, other = rng.sample(present, 2)
    kind = rng.randrange(4)
    if kind == 0:
        one.unlink()
    elif kind == 1:
        one.write_bytes(other.read_bytes())
    elif kind == 2:
        one.unlink()
        one.mkdir()
    else:
        one.unlink()
        one.symlink_to(rng.choice([other.name, one.name, "/", "nothing"]))
