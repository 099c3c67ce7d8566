"""Damage to snapshots of PyTorch and to dumps and profiles of XLA: their numbers, lengths, opcodes, fields and lines; and what is asked of runs of all
systems but Poplar."""

import pickletools
import re
import shutil

from . import files

NUMBERS = [0, 1, 2, 127, 128, 255, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**64 - 1]


def varint(number):
    data = b""
    while number > 127:
        data, number = data + bytes([number & 127 | 128]), number >> 7
    return data + bytes([number])


def number_at(data, at):
    number, shift = 0, 0
    while at < len(data) and shift < 70:
        number |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return number, at
    return None, at


def fields(data, start, end):
    """The fields of a message: number, kind, where each begins, where its contents do, and where it ends; `None` if it is no message."""
    found = []
    while start < end:
        key, at = number_at(data, start)
        if not key or not key >> 3:
            return None
        kind, begin = key & 7, at
        if kind == 0:
            _, at = number_at(data, at)
        elif kind == 2:
            length, begin = number_at(data, at)
            at = begin + length if length is not None else end + 1
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            return None
        if at > end:
            return None
        found.append((key >> 3, kind, start, begin, at))
        start = at
    return found


def some_message(data, rng):
    """The fields of a message anywhere in a proto, with the heads of those around it, from outside."""
    start, end, around = 0, len(data), []
    here = fields(data, start, end) or []
    while True:
        inner = [field for field in here if field[1] == 2 and field[4] - field[3] > 1]
        if not inner or rng.random() < 0.25:
            return here, around
        field = rng.choice(inner)
        within = fields(data, field[3], field[4])
        if not within:
            return here, around
        around.append(field)
        here = within


def some_field(data, rng, kind):
    """A field of a kind anywhere in a proto, with the heads of the messages around it; none where the message has none."""
    here, around = some_message(data, rng)
    of_kind = [field for field in here if field[1] == kind]
    return (rng.choice(of_kind), around) if of_kind else None


def put(data, around, start, end, new):
    """Puts bytes in place of others; the lengths of all messages around become right again."""
    piece, (start_of, end_of) = bytes(new), (start, end)
    for number, _, first, begin, last in reversed(around):
        whole = bytes(data[begin:start_of]) + piece + bytes(data[end_of:last])
        piece, start_of, end_of = varint(number << 3 | 2) + varint(len(whole)) + whole, first, last
    return data[:start_of] + piece + data[end_of:]


def proto_fields(data, rng):
    """Fields that are lost, come twice, change places, or are of another number or kind."""
    for _ in range(rng.randint(1, 6)):
        here, around = some_message(data, rng)
        if not here:
            return data
        number, kind, start, begin, end = rng.choice(here)
        field = bytes(data[start:end])
        other = rng.choice(here)
        new = rng.choice([
            b"", field * 2, field * rng.choice([3, 50, 2000]) if len(field) < 200 else field, bytes(data[other[2]:other[4]]),
            varint(rng.randint(1, 60) << 3 | kind) + bytes(data[start + len(varint(number << 3)):end]),
            varint(number << 3) + varint(rng.choice(NUMBERS)), varint(number << 3 | 2) + varint(0),
        ])
        data = put(data, around, start, end, new)
    return data


def proto_numbers(data, rng):
    """Numbers of fields, packed ones as well, that are others."""
    for _ in range(rng.randint(1, 30)):
        if found := some_field(data, rng, 0):
            (number, _, start, _, end), around = found
            data = put(data, around, start, end, varint(number << 3) + varint(rng.choice([*NUMBERS, rng.randrange(2**32)])))
    return data


def proto_lengths(data, rng):
    """Lengths that are not those of what follows."""
    for _ in range(rng.randint(1, 4)):
        if found := some_field(data, rng, 2):
            (number, _, start, begin, _), _ = found
            data = data[:start] + varint(number << 3 | 2) + varint(rng.choice([*NUMBERS, rng.randrange(300)])) + data[begin:]
    return data


def proto_texts(data, rng):
    """Texts that are long, no UTF-8, or obeyed by a terminal."""
    for _ in range(rng.randint(1, 6)):
        if found := some_field(data, rng, 2):
            (number, _, start, _, end), around = found
            text = rng.choice([b"", b"\xff\xfe", b"\x1b[2J\r\n\x07", b"x" * 300_000, "\u202e".encode() * 9, b"/" * 5000, b"a,\"b\r\n=1"])
            data = put(data, around, start, end, varint(number << 3 | 2) + varint(len(text)) + text)
    return data


def opcodes(data):
    try:
        return [(code, argument, at) for code, argument, at in pickletools.genops(bytes(data))]
    except Exception:  # what is damaged already
        return []


def pickle_numbers(data, rng):
    """Numbers of a pickle that are others of as many bytes."""
    widths = {"BININT": (1, 4), "BININT1": (1, 1), "BININT2": (1, 2), "BINGET": (1, 1), "LONG_BINGET": (1, 4)}
    numbers = [(at, *widths[code.name]) for code, _, at in opcodes(data) if code.name in widths]
    for at, head, width in rng.sample(numbers, min(len(numbers), rng.choice([1, 3, 30, 300]))):
        data[at + head:at + head + width] = (rng.choice([*NUMBERS, rng.randrange(2**31)]) % (1 << 8 * width)).to_bytes(width, "little")
    longs = [(at, data[at + 1]) for code, _, at in opcodes(data) if code.name == "LONG1" and data[at + 1]]
    for at, width in rng.sample(longs, min(len(longs), rng.choice([1, 10]))):
        data[at + 2:at + 2 + width] = rng.choice([b"\xff" * width, b"\x7f" * width, bytes(width), rng.randbytes(width)])


def pickle_opcodes(data, rng):
    """Opcodes that are lost, come twice, change places, or are others."""
    every = opcodes(data)
    bounds = [at for *_, at in every] + [len(data)]
    for _ in range(rng.randint(1, 5)):
        if len(bounds) < 3:
            return data
        first = rng.randrange(len(bounds) - 2)
        last = min(first + rng.choice([1, 1, 2, 10]), len(bounds) - 1)
        piece = bytes(data[bounds[first]:bounds[last]])
        other = rng.randrange(len(bounds) - 1)
        new = rng.choice([
            b"", piece * 2, bytes(data[bounds[other]:bounds[other + 1]]), b"N", b"]", b"}", b"(", b"0", b"1", b"2", b"t", b"u", b"e", b"s", b"a",
            b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", b"X\xff\xff\xff\x7f", b"r\xff\xff\xff\xff", b"cos\nsystem\n", b"(" * 2000, b"]" * 2000, b"\x81", b"R",
        ])
        data = data[:bounds[first]] + new + data[bounds[last]:]
        every = opcodes(data)
        bounds = [at for *_, at in every] + [len(data)]
    return data


def text_lines(data, rng):
    """Lines that are lost, come twice or often, change places, or are cut."""
    lines = bytes(data).split(b"\n")
    for _ in range(rng.randint(1, 8)):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        way = rng.randrange(5)
        if way == 0:
            del lines[at:at + rng.choice([1, 1, 5, 50])]
            lines = lines or [b""]
        elif way == 1:
            lines[at:at] = [lines[at]] * rng.choice([1, 2, 20_000])
        elif way == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif way == 3:
            lines[at] = lines[at][:rng.randrange(len(lines[at]) + 1)]
        else:
            lines[at] += rng.choice([b" " * 9, b"," * 1000, b"\x1b[31m", b"\xff", b"{" * 500, b"(" * 5000, b"x" * 300_000])
    return b"\n".join(lines)


def text_numbers(data, rng):
    """Numbers in a text that are others."""
    found = list(re.finditer(rb"-?\d+", bytes(data)))
    for match in sorted(rng.sample(found, min(len(found), rng.choice([1, 5, 100]))), key=lambda match: -match.start()):
        new = rng.choice([*NUMBERS, -1, 10**30, rng.randrange(2**32)])
        data = data[:match.start()] + str(new).encode() + data[match.end():]
    return data


BYTES = {
    "one bit": files.one_bit, "bits": files.some_bits, "bytes": files.some_bytes, "cut": files.cut, "longer": files.longer,
    "empty": files.empty, "moved": files.moved,
}
OF_ENDING = {
    ".pickle": {"numbers": pickle_numbers, "opcodes": pickle_opcodes},
    ".pb": {"fields": proto_fields, "numbers": proto_numbers, "lengths": proto_lengths, "texts": proto_texts},
    ".txt": {"lines": text_lines, "numbers": text_numbers},
    ".json": {"lines": text_lines, "numbers": text_numbers},
}


def damage(report, rng, kind):
    """Damages one file of a run, or several of them."""
    every = sorted(path for path in report.rglob("*") if path.is_file())
    count = rng.randint(2, 3) if kind == "several" else 1
    for path in rng.choices(every, [9 if path.suffix in (".pickle", ".pb", ".txt") else 1 for path in every], k=count):
        ways = {**BYTES, **OF_ENDING.get(path.suffix, {})}
        if kind == "absent" and len(every) > 1:
            path.unlink(missing_ok=True)
        elif path.exists():
            files.change(path, rng, ways.get(kind) or rng.choice(list(ways.values())))


def made(program, system, folder, run):
    """Runs of a system that the program writes, and of XLA a profile of its modules; `run` runs a command."""
    net = {"--layers": "1", "--width": "32", "--heads": "1", "--sequence": "16", "--batch": "2"}
    if system != "tenstorrent":
        net["--vocabulary"] = "256"
    ways = {
        "pytorch": {"plain": [], "fails": ["--capacity", "1MiB"], "window": ["--max-entries", "120"], "streams": ["--streams", "2", "--varied-lengths"]},
        "xla": {"tpu": ["--platform", "tpu", "--texts"], "gpu": ["--platform", "gpu", "--texts", "--capacity", "2MiB"], "cpu": ["--platform", "cpu"]},
        "tenstorrent": {"ranks": ["--ranks", "2", "--layers", "2"], "pages": ["--schema", "2"], "leak": ["--schema", "3.3", "--leak", "--passes", "3"],
                        "no-room": ["--batch", "512", "--width", "512"]},
    }[system]
    for name, options in ways.items():
        place = folder / name
        of_net = [word for option, value in net.items() if option not in options for word in (option, value)]
        run([program, "synth", "--system", system, *of_net, *options, "-o", place / "snapshot.pickle" if system == "pytorch" else place])
    if system == "xla":
        entries = [part(4, part(2, part(5, part(6, path.read_bytes())))) for path in sorted(folder.rglob("*.hlo.pb"))]
        (folder / "profile").mkdir()
        (folder / "profile/host.xplane.pb").write_bytes(part(1, part(2, b"/host:metadata") + b"".join(entries)))
        # Texts alone are another reader's.
        shutil.copytree(folder / "tpu", folder / "texts", ignore=shutil.ignore_patterns("*.pb"))
    return sorted(folder.iterdir())


def part(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


KINDS = [*BYTES, "opcodes", "fields", "numbers", "lengths", "texts", "lines", "absent", "several"]


def copy(sample, to):
    """Copies a run: a directory, or a file with what lies beside it under its name."""
    to.mkdir()
    if sample.is_dir():
        shutil.copytree(sample, to, dirs_exist_ok=True)
    else:
        for path in sample.parent.glob(sample.name + "*"):
            if path.is_file():
                shutil.copy(path, to / path.name)
    for path in [to, *to.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def commands(report, other, folder, lake):
    """What is asked of a run of these systems, with the forms it is asked in."""
    two, three = ("", "json"), ("", "json", "csv")
    return {
        "summary": (["summary", report], two),
        "liveness": (["liveness", report, "--peaks", "5"], two),
        **{f"liveness --by {by}": (["liveness", report, "--step", "peak", "--by", by], two) for by in ("category", "operation", "module", "variable")},
        "map": (["map", report, "--arena", "0"], three),
        "check": (["check", report, "--must-fit", "--capacity", "1GiB", "--max-peak-bytes", "5"], two),
        "check --baseline": (["check", report, "--baseline", other, "--max-growth", "1"], ("json",)),
        "compare with": (["compare", report, other], three),
        "compare to": (["compare", other, report, "--brief"], ("",)),
        "compare --by": (["compare", other, report, "--by", "category", "--by", "operation", "--by", "module", "--by", "variable"], ("", "csv")),
        "sweep": (["sweep", folder], three),
        "diagnose": (["diagnose", report], two),
        "summary, indexed": (["summary", report], ("json",)),
        "index": (["index", report], two),
        "summary of an index": (["summary", report], ("json",)),
        "ops": (["ops", report], three),
        "trace": (["trace", report], three),
        "export": (["export", "--parquet", lake, report], two),
    }
