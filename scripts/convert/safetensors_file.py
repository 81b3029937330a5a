"""Writes a safetensors file one block of rows at a time, so that memory does not grow with the model."""

import json
import struct

import numpy as np

from fault import Fault

BYTES = {"F32": 4, "F16": 2, "BF16": 2}


def encode(values, dtype, name):
    """float32 values as the bytes of `dtype`, rounded to nearest even; refuses what it cannot hold."""
    values = np.ascontiguousarray(values, dtype="<f4")
    if not np.isfinite(values).all():
        raise Fault(name, "holds NaN or infinity")
    if dtype == "F32":
        return values.tobytes()
    if dtype == "F16":
        with np.errstate(over="ignore"):
            halves = values.astype("<f2")
        if not np.isfinite(halves).all():
            raise Fault(name, "holds values too large for f16", "use --dtype f32 or bf16")
        return halves.tobytes()
    bits = values.view("<u4")
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    halves = (rounded >> np.uint32(16)).astype("<u2")
    if ((halves & 0x7F80) == 0x7F80).any():
        raise Fault(name, "holds values too large for bf16", "use --dtype f32")
    return halves.tobytes()


def write(path, dtype, tensors):
    """`tensors`: list of (name, shape, blocks), `blocks` a function that yields float32 arrays in row order."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape, _ in tensors:
        size = int(np.prod(shape, dtype=np.int64)) * BYTES[dtype]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors start aligned, as the format asks for
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for name, _, blocks in tensors:
            for block in blocks():
                file.write(encode(block, dtype, name))
            if file.tell() != 8 + len(text) + header[name]["data_offsets"][1]:
                raise Fault(name, "has another number of values than its shape says")
