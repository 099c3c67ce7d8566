#!/usr/bin/env python3
"""Writes a debug.cbor of a wanted size: the contexts of a smaller one again and again, each time with ids of their own.

usage: scripts/bench_debug_info.py FROM TO BYTES
"""

import struct
import sys

BREAK = 0xFF


def head(data, at):
    """Major type, argument (None where the length is open) and where it ends."""
    first = data[at]
    major, short = first >> 5, first & 31
    if short < 24:
        return major, short, at + 1
    if short == 31:
        return major, None, at + 1
    length = 1 << (short - 24)
    return major, int.from_bytes(data[at + 1 : at + 1 + length], "big"), at + 1 + length


def end_of(data, at):
    """Where the item at a place ends."""
    major, argument, at = head(data, at)
    if major in (2, 3):
        return at + argument
    if major in (4, 5):
        for _ in range(argument * (major - 3)):
            at = end_of(data, at)
    return at


def contexts_of(data, at):
    """The bytes of all contexts, those of their ids as numbers of 8 bytes, and where these are."""
    made, places = bytearray(), []
    while data[at] != BREAK:
        _, pairs, inside = head(data, at)
        end = at
        made += data[at:inside]
        for _ in range(pairs):
            value = end_of(data, inside)
            end = end_of(data, value)
            key = data[inside:value]
            made += key
            if key[1:] in (b"id", b"parentId"):
                made.append(0x1B)
                places.append((len(made), head(data, value)[1]))
                made += bytes(8)
            else:
                made += data[value:end]
            inside = end
        at = end
    return made, places, at + 1


def main():
    source, target, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = open(source, "rb").read()
    start = len(b"\xa2\x68contexts\x9f")
    contexts, places, strings = contexts_of(data, start)
    ids = max(number for _, number in places) + 1
    with open(target, "wb") as file:
        file.write(data[:start])
        for copy in range(max(1, -(-(wanted - len(data) + strings) // len(contexts)))):
            for place, number in places:
                struct.pack_into(">Q", contexts, place, number + copy * ids)
            file.write(contexts)
        file.write(bytes([BREAK]) + data[strings:])


main()
