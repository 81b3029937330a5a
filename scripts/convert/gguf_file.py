"""Reads a GGUF file's metadata and tensors, and refuses what is malformed by name."""

import gguf
import numpy as np

from fault import Fault

# The types whose dequantisation the tests check. Others are refused rather than trusted.
TYPES = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K")
BLOCK_VALUES = 1 << 22  # float32 values held at once


class GgufFile:
    def __init__(self, path):
        self.path = path
        try:
            self._reader = gguf.GGUFReader(path)
        except FileNotFoundError:
            raise Fault(path, "no such file") from None
        except OSError as error:
            raise Fault(path, error.strerror or str(error)) from None
        # The reader slices a memory map, so a damaged or truncated file shows as any of these.
        except (ValueError, KeyError, IndexError, TypeError, OverflowError, MemoryError, AttributeError) as error:
            raise Fault(path, f"not a readable GGUF file: {error}", "is it complete?") from None
        self.tensors = {tensor.name: tensor for tensor in self._reader.tensors}
        for name, tensor in self.tensors.items():
            if tensor.tensor_type.name not in TYPES:
                raise Fault(
                    f"{path}: {name}",
                    f"is stored as {tensor.tensor_type.name}, which is not converted",
                    "known: " + ", ".join(TYPES),
                )

    _REQUIRED = object()

    def get(self, key, default=_REQUIRED):
        """A metadata value: number, string, bool or list."""
        field = self._reader.fields.get(key)
        if field is None:
            if default is GgufFile._REQUIRED:
                raise Fault(self.path, f"has no metadata key {key}")
            return default
        try:
            return field.contents()
        except (ValueError, UnicodeDecodeError, IndexError) as error:
            raise Fault(f"{self.path}: {key}", f"cannot be read: {error}") from None

    def real(self, key, default=_REQUIRED):
        """A float32 metadata value as the shortest decimal that means it (1e-05, not 9.999999747378752e-06)."""
        value = self.get(key, default)
        return value if value is None else float(str(np.float32(value)))

    def shape(self, name):
        if name not in self.tensors:
            raise Fault(self.path, f"has no tensor {name}")
        # GGUF lists the fastest dimension first.
        return tuple(int(n) for n in reversed(self.tensors[name].shape))

    def vector(self, name):
        return np.concatenate(list(self.blocks(name)))

    def blocks(self, name, rows=None):
        """The tensor as float32 arrays of whole rows, in the order of `rows` where given."""
        tensor, shape = self.tensors[name], self.shape(name)
        if len(shape) == 1:
            yield gguf.dequantize(np.asarray(tensor.data), tensor.tensor_type).reshape(shape)
            return
        step = max(1, BLOCK_VALUES // shape[1])
        for first in range(0, shape[0], step):
            last = min(shape[0], first + step)
            index = slice(first, last) if rows is None else rows[first:last]
            data = np.ascontiguousarray(tensor.data[index])
            yield gguf.dequantize(data, tensor.tensor_type).reshape(last - first, shape[1])
