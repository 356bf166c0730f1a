#!/usr/bin/python3
"""take_apart.py FOLDER TRACE... - traces as inputs of fuzz_trace: nothing in them is compressed.

Each is written to FOLDER twice: with the tags of its columns, and with their halves.
"""
import ctypes
import os
import struct
import sys

HEAD = struct.Struct("<IHH6I4Q")  # as struct tide_format_chunk
COLUMNS, EVENTS, PLAIN, BY_COLUMNS = 15, 1, 2, 16
LARGEST = 0xffff  # payload, and column

ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def unpack(stored, most):
    out = ctypes.create_string_buffer(most)
    size = ZSTD.ZSTD_decompress(out, most, stored, len(stored))
    if size > most:
        sys.exit("take_apart.py: this is no trace of ours")
    return out.raw[:size]


def varint(payload, at):
    value = shift = 0
    while True:
        byte = payload[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def tags_of(halves, count):
    others = iter(halves[15 + (count + 1) // 2:])
    found = bytearray()
    for i in range(count):
        half = halves[15 + i // 2] >> 4 * (i % 2) & 15
        found.append(halves[half] if half < 15 else next(others))
    return bytes(found)


def apart(payload, as_halves):
    """The columns of PAYLOAD behind their lengths, and of how many tags the first is halves."""
    at, lengths, columns, count = 0, [], [], 0
    for _ in range(COLUMNS):
        length, at = varint(payload, at)
        stored, at = varint(payload, at)
        lengths.append((length, stored))
    for i, (length, stored) in enumerate(lengths):
        column = payload[at:at + stored]
        at += stored
        if stored != length:
            column = unpack(column, 2 * length + 64)
            if i == 0 and as_halves:
                count = length
            elif i == 0:
                column = tags_of(column, length)
        columns.append(column)
    if max(map(len, columns)) > LARGEST:
        return None, 0
    return b"".join([struct.pack("<H", len(c)) for c in columns] + columns), count


def take_apart(trace, as_halves):
    """None: it has too large a chunk."""
    out, at = bytearray(trace[:64]), 64
    while at < len(trace):
        head = list(HEAD.unpack_from(trace, at))
        kind, flags, stored, raw = head[1:5]
        payload, count = trace[at + 64:at + 64 + stored], 0
        at += 64 + stored
        if flags & BY_COLUMNS:
            payload, count = apart(payload, as_halves)
        elif not flags & PLAIN:
            payload, flags = unpack(payload, raw), flags | PLAIN
        if not payload or len(payload) > LARGEST:
            return None
        head[1:4] = kind - EVENTS, flags, len(payload) - 1
        head[8], head[11] = count > 0, count  # reserved, reserved2
        out += HEAD.pack(*head) + payload
    return out


def main(folder, *paths):
    for path in paths:
        with open(path, "rb") as file:
            trace = file.read()
        for as_halves in (False, True):
            parts = take_apart(trace, as_halves)
            name = os.path.basename(path) + (".halves" if as_halves else ".tags")
            if parts:
                with open(os.path.join(folder, name), "wb") as out:
                    out.write(parts)


if __name__ == "__main__":
    main(*sys.argv[1:])
