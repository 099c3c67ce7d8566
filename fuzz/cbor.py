"""CBOR as debug.cbor has it (RFC 8949): enough to take a file apart and write it changed."""

import struct


class Break(Exception):
    """The end of a value whose length was not said."""


def decode(data, at=0):
    """A value and the offset behind it; maps become lists of pairs, so that keys may come twice."""
    major, low = data[at] >> 5, data[at] & 31
    at += 1
    if data[at - 1] == 0xFF:
        raise Break(at)
    number = low
    if 24 <= low <= 27:
        length = 1 << (low - 24)
        number = int.from_bytes(data[at:at + length], "big")
        at += length
    if major in (0, 1):
        return (number if major == 0 else -1 - number), at
    if major in (2, 3) and low != 31:
        raw = data[at:at + number]
        return (raw if major == 2 else raw.decode()), at + number
    if major in (4, 5):
        items, left = [], number * (major - 3) if low != 31 else None
        while left is None or left > 0:
            try:
                item, at = decode(data, at)
            except Break as end:
                at = end.args[0]
                break
            items.append(item)
            left = left - 1 if left is not None else None
        return (items if major == 4 else Pairs(zip(items[::2], items[1::2]))), at
    if major == 7:
        simple = {20: False, 21: True, 22: None}
        if low in simple:
            return simple[low], at
        if low in (26, 27):
            return struct.unpack(">f" if low == 26 else ">d", data[at - (1 << (low - 24)):at])[0], at
    raise ValueError(f"byte {at - 1}: {data[at - 1]:#x}")


class Pairs(list):
    """A map."""

    def get(self, key):
        return next((value for name, value in self if name == key), None)


def head(major, number):
    if number < 24:
        return bytes([major << 5 | number])
    power = next(power for power in range(4) if number < 1 << (8 << power))
    return bytes([major << 5 | (24 + power)]) + number.to_bytes(1 << power, "big")


def encode(value):
    if isinstance(value, bool):
        return bytes([0xF5 if value else 0xF4])
    if value is None:
        return b"\xf6"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        raw = value.encode("utf-8", "surrogateescape")
        return head(3, len(raw)) + raw
    if isinstance(value, Pairs):
        return head(5, len(value)) + b"".join(encode(key) + encode(inner) for key, inner in value)
    return head(4, len(value)) + b"".join(map(encode, value))
