"""Copies a GGUF file with its numbers rounded to bfloat16: python gguf_copy.py SOURCE TARGET F32|F16|BF16

All numbers are dequantised and rounded to the nearest bfloat16 (ties to even) whatever the type, so that files of every
type hold the same: F32 and BF16 exactly, F16 but for numbers below 2^-17, which it rounds again.
Matrices are written in the type, vectors (norms) in float32, as llama.cpp's own conversion leaves them.
"""

import os
import sys
import tempfile

import gguf
import numpy as np

LEFT_OUT = ("general.architecture", "general.file_type", "general.quantization_version")
FILE_TYPES = {
    "F32": gguf.LlamaFileType.ALL_F32,
    "F16": gguf.LlamaFileType.MOSTLY_F16,
    "BF16": gguf.LlamaFileType.MOSTLY_BF16,
}


def rounded(values):
    """The nearest numbers of bfloat16, as float32."""
    kind = gguf.GGMLQuantizationType.BF16
    return gguf.quants.dequantize(gguf.quants.quantize(values, kind), kind)


def add_tensor(writer, tensor, kind) -> None:
    values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
    values = rounded(values.reshape([int(size) for size in reversed(tensor.shape)]))
    if values.ndim == 1 or kind == gguf.GGMLQuantizationType.F32:
        writer.add_tensor(tensor.name, values)
        return
    writer.add_tensor(tensor.name, gguf.quants.quantize(values, kind), raw_dtype=kind)


def copy(source: str, target: str, name: str) -> None:
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    writer.add_file_type(FILE_TYPES[name])
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key in LEFT_OUT:
            continue
        kind = field.types[0]
        writer.add_key_value(key, field.contents(), kind, field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None)
    for tensor in reader.tensors:
        add_tensor(writer, tensor, gguf.GGMLQuantizationType[name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    source, target, name = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(target))) as folder:
        partial = os.path.join(folder, "partial.gguf")
        copy(source, partial, name)
        os.rename(partial, target)


if __name__ == "__main__":
    main()
