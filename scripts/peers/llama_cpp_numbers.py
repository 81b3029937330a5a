"""Records llama.cpp's log-probabilities for SmolLM2, on a float32 GGUF made from the Q4_1 file.

The continuations are those of transformers_smollm2.json. llama.cpp is run in-process (package xllamacpp) with a
float32 key/value cache, without flash attention, and asked for each next token's log-probability after prompt + continuation so far.

Run: python scripts/peers/llama_cpp_numbers.py --gguf FILE
"""
from __future__ import annotations

import argparse
import json
import tempfile
import urllib.request
from pathlib import Path

import gguf
import numpy as np
import xllamacpp

import common

CANDIDATES = 2000  # log-probabilities returned a step; a rarer continuation token is left out of the comparison


def write_f32(source: Path, target: Path) -> None:
    """Copies a GGUF file with every tensor dequantised to float32."""
    reader = gguf.GGUFReader(source)
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(target, architecture)
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type", "general.quantization_version"):
            continue
        kind = field.types[0]
        writer.add_key_value(name, field.contents(), kind, field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        writer.add_tensor(tensor.name, values.reshape([int(n) for n in reversed(tensor.shape)]))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def post(address: str, path: str, body: dict) -> dict:
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as reply:
        return json.load(reply)


def start(path: Path) -> tuple[xllamacpp.Server, str]:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx, parameters.n_parallel = 2048, 1
    parameters.cache_type_k = parameters.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    # Its flash attention rounds to float16 on the CPU: differences of 1e-2 instead of 2e-4.
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    server = xllamacpp.Server(parameters)
    return server, server.listening_address


def next_logprobs(address: str, ids: list[int]) -> dict[int, float]:
    reply = post(address, "/completion", {"prompt": ids, "n_predict": 1, "temperature": -1, "n_probs": CANDIDATES,
                                          "cache_prompt": True, "post_sampling_probs": False})
    return {entry["id"]: entry["logprob"] for entry in reply["completion_probabilities"][0]["top_logprobs"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", type=Path, required=True)
    parser.add_argument("--items", type=int, default=20)
    arguments = parser.parse_args()
    recorded = json.loads((common.PEER_DATA / "transformers_smollm2.json").read_text())
    from transformers import AutoTokenizer  # the prompts' ids, as in the recording that is read here
    tokenizer = AutoTokenizer.from_pretrained(common.SMOLLM2)

    with tempfile.TemporaryDirectory() as folder:
        converted = Path(folder) / "f32.gguf"
        write_f32(arguments.gguf, converted)
        server, address = start(converted)
        scores = []
        for row, question in enumerate(common.gsm8k_questions(arguments.items)):
            ids = tokenizer(common.gsm8k_prompt(question))["input_ids"]
            logprobs = []
            for token in recorded["scores"][row]["continuation"]:
                value = next_logprobs(address, ids).get(token)
                logprobs.append(None if value is None else round(value, 6))
                ids.append(token)
            scores.append({"item": str(row), "logprobs": logprobs})
            print(f"item {row + 1}/{arguments.items}", flush=True)
        del server
    common.write_fixture("llama_cpp_smollm2.json", {"xllamacpp": xllamacpp.__version__, "scores": scores})


if __name__ == "__main__":
    main()
