#!/usr/bin/env python3
"""Put a value into a tensor of a safetensors file: poke.py FILE TENSOR INDEX VALUE [INDEX VALUE...].

INDEX is that of the flat tensor, or `all`. Relies on Python's standard library only.
"""
import json
import struct
import sys

FORMATS = {"F16": "e", "F32": "f", "F64": "d"}


def encode(dtype, value):
    if dtype == "BF16":
        return struct.pack("<f", value)[2:]
    return struct.pack("<" + FORMATS[dtype], value)


def main(path, name, pokes):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    (header,) = struct.unpack("<Q", data[:8])
    tensor = json.loads(data[8 : 8 + header])[name]
    begin, end = (8 + header + offset for offset in tensor["data_offsets"])
    for index, value in zip(pokes[::2], pokes[1::2]):
        item = encode(tensor["dtype"], float(value))
        if index == "all":
            data[begin:end] = item * ((end - begin) // len(item))
        else:
            at = begin + int(index) * len(item)
            data[at : at + len(item)] = item
    with open(path, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
