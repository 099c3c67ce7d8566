"""Damage to the bytes of a file: flips, cuts, pages of SQLite."""

import struct

INTERESTING = [0, 1, 0x7F, 0x80, 0xFF]


def change(path, rng, how):
    data = bytearray(path.read_bytes())
    if data:
        path.write_bytes(how(data, rng) or data)


def one_bit(data, rng):
    at = rng.randrange(len(data))
    data[at] ^= 1 << rng.randrange(8)


def some_bits(data, rng):
    for _ in range(rng.randint(2, 400)):
        one_bit(data, rng)


def some_bytes(data, rng):
    for _ in range(rng.randint(1, 40)):
        at = rng.randrange(len(data))
        length = rng.choice([1, 1, 2, 4, 8, 64])
        byte = rng.choice([*INTERESTING, rng.randrange(256)])
        data[at:at + length] = bytes([byte]) * len(data[at:at + length])


def cut(data, rng):
    return data[:rng.choice([rng.randrange(len(data)), rng.randrange(min(len(data), 200)), len(data) // 4096 * 4096 // 2])]


def longer(data, rng):
    return data + rng.randbytes(rng.choice([1, 100, 4096, 300_000]))


def empty(data, rng):
    data.clear()
    return data


def moved(data, rng):
    """A piece is taken out or comes twice, so that all behind it lies elsewhere."""
    at, length = rng.randrange(len(data)), rng.randint(1, 5000)
    return data[:at] + data[at + length:] if rng.random() < 0.5 else data[:at + length] + data[at:]


def page_bytes(data):
    size = struct.unpack(">H", data[16:18])[0] if len(data) > 100 else 0
    return size if size >= 512 else 4096


def pages(data, first=1):
    size = page_bytes(data)
    return [at for at in range(first * size, len(data) - size + 1, size)]


def zero_pages(data, rng):
    size = page_bytes(data)
    for at in rng.sample(pages(data), rng.randint(1, 4)):
        data[at:at + size] = bytes(size)


def swap_pages(data, rng):
    size = page_bytes(data)
    for _ in range(rng.randint(1, 3)):
        a, b = rng.sample(pages(data), 2)
        data[a:a + size], data[b:b + size] = data[b:b + size], data[a:a + size]


def copy_page(data, rng):
    size = page_bytes(data)
    for _ in range(rng.randint(1, 3)):
        a, b = rng.sample(pages(data), 2)
        data[a:a + size] = data[b:b + size]


def file_header(data, rng):
    at, length = rng.choice([(16, 2), (18, 1), (19, 1), (20, 1), (21, 1), (24, 4), (28, 4), (32, 4), (36, 4), (44, 4), (52, 4), (56, 4), (92, 4)])
    new = rng.choice([0, 1, 2, 3, 255, 512, 65535, 0x7FFFFFFF, 0xFFFFFFFF, rng.randrange(1 << 32)])
    data[at:at + length] = (new % (1 << 8 * length)).to_bytes(length, "big")


def page_header(data, rng):
    """Kind, free block, number of cells or start of cells of some page, or where one of its cells is."""
    for _ in range(rng.randint(1, 3)):
        page = rng.choice(pages(data))
        at, length = rng.choice([(0, 1), (1, 2), (3, 2), (5, 2), (7, 1), (8, 2), (8 + 2 * rng.randrange(20), 2)])
        new = rng.choice([0, 1, 2, 5, 10, 13, 255, 4095, 65535, rng.randrange(65536)])
        data[page + at:page + at + length] = (new % (1 << 8 * length)).to_bytes(length, "big")


def page_pointers(data, rng):
    """Children of interior pages that are other pages: shared ones, loops, none that there are."""
    size = page_bytes(data)
    interior = [at for at in pages(data) if data[at] in (2, 5)]
    for _ in range(rng.randint(1, 4)):
        if not interior:
            return
        page = rng.choice(interior)
        cells = struct.unpack(">H", data[page + 3:page + 5])[0]
        cell = rng.randrange(cells + 1)
        at = page + 8
        if cell < cells:
            at = page + struct.unpack(">H", data[page + 12 + 2 * cell:page + 14 + 2 * cell])[0]
        new = rng.choice([page // size + 1, rng.randrange(len(data) // size) + 1, 0, 1, 0xFFFFFFFF, len(data) // size + 1])
        data[at:at + 4] = struct.pack(">I", new)


def overflow_pages(data, rng):
    """The first bytes of pages, where a page of an overflow chain names the next."""
    for _ in range(rng.randint(1, 20)):
        page = rng.choice(pages(data))
        if data[page] == 0:
            data[page:page + 4] = struct.pack(">I", rng.choice([page // page_bytes(data) + 1, rng.randrange(1, 100), 0, 0xFFFFFFFF]))
