"""Turns a GGUF file into a Hugging Face checkpoint folder. Run through scripts/convert_gguf."""

import argparse
import json
import os
import shutil
import sys
import tempfile

from fault import Fault

DTYPES = {"f32": ("F32", "float32"), "bf16": ("BF16", "bfloat16"), "f16": ("F16", "float16")}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="convert_gguf", description="Turns a GGUF file into a checkpoint folder.")
    parser.add_argument("--in", dest="source", required=True, metavar="FILE", help="the GGUF file")
    parser.add_argument("--out", dest="target", required=True, metavar="DIR", help="the folder to make; must not exist")
    parser.add_argument(
        "--dtype", choices=DTYPES, default="f32",
        help="how weights are written; only f32 holds every 4-bit and 8-bit value exactly (default: f32)",
    )
    return parser.parse_args(arguments)


def write_json(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=2)
        file.write("\n")


def convert(source, target, dtype):
    # Late, so that --help and wrong usage need no packages.
    import safetensors_file
    from gguf_file import GgufFile
    from gguf_model import GgufModel
    from gguf_tokenizer import GgufTokenizer

    if os.path.lexists(target):  # a link that leads nowhere is in the way too
        raise Fault(target, "already exists", "name a new folder or remove this one")
    file = GgufFile(source)
    model = GgufModel(file)
    tokenizer = GgufTokenizer(file, model.vocab)
    tensors = model.tensors()
    stored, torch_name = DTYPES[dtype]
    parent = os.path.dirname(os.path.abspath(target))
    os.makedirs(parent, exist_ok=True)
    # Nobody sees half a folder: it is written beside its place and renamed when whole.
    partial = tempfile.mkdtemp(prefix=".converting-", dir=parent)
    try:
        os.chmod(partial, 0o755)
        write_json(partial, "tokenizer.json", tokenizer.tokenizer_json())
        write_json(partial, "tokenizer_config.json", tokenizer.tokenizer_config(model.positions))
        write_json(partial, "config.json", model.config(torch_name, tokenizer.ids()))
        write_json(partial, "generation_config.json", tokenizer.ids())
        safetensors_file.write(os.path.join(partial, "model.safetensors"), stored, tensors)
        os.rename(partial, target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return len(tensors)


def main(arguments):
    options = parse(arguments)
    try:
        count = convert(options.source, options.target, options.dtype)
    except Fault as fault:
        print(f"convert_gguf: {fault}", file=sys.stderr)
        return 1
    except ImportError as error:
        print(f"convert_gguf: {error.name}: Python package missing (run scripts/setup)", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"convert_gguf: {error.filename or options.target}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("convert_gguf: interrupted; nothing was left behind", file=sys.stderr)
        return 130
    print(f"{options.target}: {count} tensors as {options.dtype}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
