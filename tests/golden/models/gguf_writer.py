"""Write a small GGUF file: metadata, tensors as F32, F16, BF16, Q8_0, Q4_0 or Q4_1. Versions 2 and 3 share
one little-endian layout. Used by make_models.py only. Relies on: NumPy."""

import struct

import numpy as np

ALIGNMENT = 32
BLOCK = 32  # weights a quantised block


def to_bfloat16(x):
    """float32 -> uint16 bits, rounded to nearest even."""
    bits = np.ascontiguousarray(x, "<f4").view("<u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def scale_of(span, steps):
    """float16 scales, and a divisor that is never 0."""
    scale = (span / steps).astype("<f2")
    return scale, np.where(scale == 0, 1, scale).astype(np.float64)


def pack_nibbles(q):
    """[blocks][32] of 0..15 -> [blocks][16] bytes, weight i low and weight i + 16 high."""
    q = q.astype(np.uint8)
    return q[:, :16] | (q[:, 16:] << 4)


def pack_q8_0(x):
    blocks = x.reshape(-1, BLOCK)
    scale, divisor = scale_of(np.abs(blocks).max(axis=1), 127)
    q = np.clip(np.rint(blocks / divisor[:, None]), -127, 127).astype("i1")
    return b"".join(s.tobytes() + b.tobytes() for s, b in zip(scale, q))


def pack_q4_0(x):
    blocks = x.reshape(-1, BLOCK)
    extreme = blocks[np.arange(len(blocks)), np.abs(blocks).argmax(axis=1)]  # maps to -8 exactly
    scale, divisor = scale_of(extreme, -8)
    q = pack_nibbles(np.clip(np.rint(blocks / divisor[:, None]) + 8, 0, 15))
    return b"".join(s.tobytes() + b.tobytes() for s, b in zip(scale, q))


def pack_q4_1(x):
    blocks = x.reshape(-1, BLOCK)
    low = blocks.min(axis=1).astype("<f2")
    scale, divisor = scale_of(blocks.max(axis=1) - low.astype(np.float64), 15)
    q = pack_nibbles(np.clip(np.rint((blocks - low.astype(np.float64)[:, None]) / divisor[:, None]), 0, 15))
    return b"".join(s.tobytes() + m.tobytes() + b.tobytes() for s, m, b in zip(scale, low, q))


# name: (type number, packer of a float64 array)
TYPES = {"F32": (0, lambda x: x.astype("<f4").tobytes()), "F16": (1, lambda x: x.astype("<f2").tobytes()),
         "BF16": (30, lambda x: to_bfloat16(x).tobytes()), "Q4_0": (2, pack_q4_0), "Q4_1": (3, pack_q4_1),
         "Q8_0": (8, pack_q8_0)}


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(item):
    """A metadata value with its type number before it."""
    if isinstance(item, bool):
        return struct.pack("<I?", 7, item)
    if isinstance(item, int):
        return struct.pack("<II", 4, item)
    if isinstance(item, float):
        return struct.pack("<If", 6, item)
    return struct.pack("<I", 8) + string(item)


def pad(raw):
    return raw + bytes(-len(raw) % ALIGNMENT)


def write_gguf(path, version, metadata, tensors):
    """tensors: {name: (type name, float64 array)}."""
    head = struct.pack("<4sIQQ", b"GGUF", version, len(tensors), len(metadata))
    head += b"".join(string(key) + value(item) for key, item in metadata.items())
    data = b""
    for name, (kind, x) in tensors.items():
        number, pack = TYPES[kind]
        head += string(name) + struct.pack("<I", x.ndim) + struct.pack(f"<{x.ndim}Q", *x.shape[::-1])
        head += struct.pack("<IQ", number, len(data))
        data += pad(pack(x))
    path.write_bytes(pad(head) + data)
