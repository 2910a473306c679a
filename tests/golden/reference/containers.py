"""Read safetensors and GGUF files into float64 NumPy arrays, as plainly as the formats allow.
Part of the reference: trusts its files, so it serves our own fixtures and models, never hostile input."""

import json
import struct
from pathlib import Path

import numpy as np


def from_bfloat16(bits):
    """uint16 bit patterns of bfloat16 -> float32 (a bfloat16 is the upper half of a float32)."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


# ---- safetensors: u64 header length, JSON header, raw data ------------------------------------------------

SAFETENSORS_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
                     "U8": "|u1", "BOOL": "|u1"}


def read_safetensors(path):
    """{name: array}, floating types widened to float64."""
    raw = Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        values = np.frombuffer(raw[8 + length + begin:8 + length + end], SAFETENSORS_TYPES[entry["dtype"]])
        if entry["dtype"] == "BF16":
            values = from_bfloat16(values)
        if values.dtype.kind == "f":
            values = values.astype(np.float64)
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def read_folder(folder):
    """(config, {name: array}) of a Hugging Face folder, one file or sharded."""
    folder = Path(folder)
    config = json.loads((folder / "config.json").read_text())
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return config, read_safetensors(folder / "model.safetensors")
    tensors = {}
    for shard in sorted(set(json.loads(index.read_text())["weight_map"].values())):
        tensors.update(read_safetensors(folder / shard))
    return config, tensors


# ---- GGUF: header, metadata, tensor table, aligned data ---------------------------------------------------

GGUF_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
                12: "<d"}
GGUF_STRING, GGUF_ARRAY = 8, 9


def block_f32(raw, count):
    return np.frombuffer(raw, "<f4", count)


def block_f16(raw, count):
    return np.frombuffer(raw, "<f2", count)


def block_bf16(raw, count):
    return from_bfloat16(np.frombuffer(raw, "<u2", count))


def block_q8_0(raw, count):
    """32 weights: float16 scale, 32 int8."""
    blocks = np.frombuffer(raw, np.dtype([("scale", "<f2"), ("q", "i1", 32)]), count // 32)
    return blocks["scale"].astype(np.float64)[:, None] * blocks["q"]


def nibbles(packed):
    """[blocks][16] bytes -> [blocks][32]: low nibbles are weights 0..15, high nibbles 16..31."""
    return np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float64)


def block_q4_0(raw, count):
    """32 weights: float16 scale, 32 nibbles about 8."""
    blocks = np.frombuffer(raw, np.dtype([("scale", "<f2"), ("q", "u1", 16)]), count // 32)
    return blocks["scale"].astype(np.float64)[:, None] * (nibbles(blocks["q"]) - 8)


def block_q4_1(raw, count):
    """32 weights: float16 scale, float16 minimum, 32 nibbles."""
    blocks = np.frombuffer(raw, np.dtype([("scale", "<f2"), ("low", "<f2"), ("q", "u1", 16)]), count // 32)
    return (blocks["scale"].astype(np.float64)[:, None] * nibbles(blocks["q"])
            + blocks["low"].astype(np.float64)[:, None])


# type number: (name, weights a block, bytes a block, decoder)
GGUF_TYPES = {0: ("F32", 1, 4, block_f32), 1: ("F16", 1, 2, block_f16), 30: ("BF16", 1, 2, block_bf16),
              2: ("Q4_0", 32, 18, block_q4_0), 3: ("Q4_1", 32, 20, block_q4_1), 8: ("Q8_0", 32, 34, block_q8_0)}


class Cursor:
    """A place in a GGUF file's bytes that moves as values are read."""

    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, layout):
        (value,) = struct.unpack_from(layout, self.raw, self.at)
        self.at += struct.calcsize(layout)
        return value

    def string(self):
        length = self.take("<Q")
        self.at += length
        return self.raw[self.at - length:self.at].decode("utf-8", "replace")

    def value(self, kind):
        if kind == GGUF_STRING:
            return self.string()
        if kind == GGUF_ARRAY:
            element, count = self.take("<I"), self.take("<Q")
            return [self.value(element) for _ in range(count)]
        return self.take(GGUF_SCALARS[kind])


def read_gguf(path):
    """(metadata, {name: array}); arrays have the usual order, the first GGUF dimension last."""
    cursor = Cursor(Path(path).read_bytes())
    magic, version = cursor.take("<I"), cursor.take("<I")
    assert magic == 0x46554747 and version in (2, 3), path
    tensor_count, key_count = cursor.take("<Q"), cursor.take("<Q")
    metadata = {}
    for _ in range(key_count):
        key = cursor.string()
        metadata[key] = cursor.value(cursor.take("<I"))
    table = []
    for _ in range(tensor_count):
        name = cursor.string()
        shape = [cursor.take("<Q") for _ in range(cursor.take("<I"))]
        table.append((name, shape[::-1], cursor.take("<I"), cursor.take("<Q")))
    alignment = metadata.get("general.alignment", 32)
    data = -(-cursor.at // alignment) * alignment
    tensors = {}
    for name, shape, kind, offset in table:
        count = int(np.prod(shape))
        _, weights, size, decode = GGUF_TYPES[kind]
        raw = cursor.raw[data + offset:data + offset + count // weights * size]
        tensors[name] = decode(raw, count).astype(np.float64).reshape(shape)
    return metadata, tensors
