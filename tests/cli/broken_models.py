"""Broken checkpoint folders and tokenizers, for bad_input_test.py."""
from __future__ import annotations

import json
import shutil
import struct

import checkpoints
import tiny
from rows import Place, Row

NORM = "model.norm.weight"
EMBEDDING = "model.embed_tokens.weight"
GATE = "model.layers.0.mlp.gate_proj.weight"


def decode(place: Place) -> list[str]:
    return ["decode", "--model", str(place.folder / "model"), "--tokens", "1,2,3", "--setting", "standard",
            "--max-new", "2", "--json"]


def spoiled(spoil, command=decode):
    """A row's `make`: a good folder, which `spoil(folder)` spoils."""
    def make(place: Place) -> list[str]:
        shutil.copytree(place.good, place.folder / "model")
        spoil(place.folder / "model")
        return command(place)
    return make


def weights(change):
    return spoiled(lambda folder: tiny.edit_safetensors(folder / "model.safetensors", change))


def raw_weights(change):
    def spoil(folder):
        file = folder / "model.safetensors"
        file.write_bytes(change(file.read_bytes()))
    return spoiled(spoil)


def config(**changes):
    """config.json with keys set; a value of None takes the key out."""
    def change(content):
        for key, value in changes.items():
            content[key] = value
            if value is None:
                del content[key]
    return spoiled(lambda folder: tiny.edit_json(folder / "config.json", change))


def set_entry(name, **changes):
    return lambda header, data: header[name].update(changes)


def move_onto_neighbour(header, data):
    begin, end = header[NORM]["data_offsets"]
    header[NORM]["data_offsets"] = [begin - 4, end - 4]


def set_float(name, value):
    def change(header, data):
        struct.pack_into("<f", data, header[name]["data_offsets"][0] + 20, value)
    return change


def drop(name):
    """Takes a tensor out, its bytes too."""
    def change(header, data):
        begin, end = header.pop(name)["data_offsets"]
        del data[begin:end]
        for entry in header.values():
            entry["data_offsets"] = [o - (end - begin if o >= end else 0) for o in entry["data_offsets"]]
    return change


def shards(folder, spoil):
    """The weights in two shards with an index; `spoil(first, second, weight_map)` sees all before it is written."""
    header, data = tiny.read_safetensors(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    parts = [{}, {}]
    for i, (name, entry) in enumerate(header.items()):
        begin, end = entry["data_offsets"]
        parts[i % 2][name] = (entry, bytes(data[begin:end]))
    names = ["part-1.safetensors", "part-2.safetensors"]
    weight_map = {name: names[i] for i in range(2) for name in parts[i]}
    spoil(parts[0], parts[1], weight_map)
    for file, part in zip(names, parts):
        packed, blob = {}, b""
        for name, (entry, bytes_) in part.items():
            packed[name] = {**entry, "data_offsets": [len(blob), len(blob) + len(bytes_)]}
            blob += bytes_
        if part:
            tiny.write_safetensors(folder / file, packed, blob)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


def in_two_shards(first, second, weight_map):
    second[EMBEDDING] = first[EMBEDDING]


def no_second_shard(first, second, weight_map):
    second.clear()


def tensor_not_in_its_shard(first, second, weight_map):
    weight_map[EMBEDDING] = "part-2.safetensors"


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


def write(name: str, content: str | bytes):
    def spoil(folder):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return spoil


WEIGHTS = "model.safetensors"
CHECKPOINT_ROWS = [
    Row("truncated weights", raw_weights(lambda raw: raw[:-10]), 1, [WEIGHTS, "truncated"]),
    Row("weights cut in the header", raw_weights(lambda raw: raw[:100]), 1, [WEIGHTS, "truncated"]),
    Row("weights of five bytes", raw_weights(lambda raw: raw[:5]), 1, [WEIGHTS, "truncated"]),
    Row("empty weights", raw_weights(lambda raw: b""), 1, [WEIGHTS, "truncated"]),
    Row("bytes behind the last tensor", raw_weights(lambda raw: raw + b"abcd"), 1, [WEIGHTS, "4 bytes"]),
    Row("header not JSON", raw_weights(lambda raw: raw[:8] + b"!" + raw[9:]), 1, [WEIGHTS, "header", "JSON"]),
    Row("header length huge", raw_weights(lambda raw: b"\xff" * 8 + raw[8:]), 1, [WEIGHTS, "header"]),
    Row("header length beyond the file", raw_weights(lambda raw: struct.pack("<Q", len(raw)) + raw[8:]), 1,
        [WEIGHTS, "truncated"]),
    Row("header a list", raw_weights(lambda raw: struct.pack("<Q", 2) + b"[]"), 1, [WEIGHTS, "array"]),
    Row("header nested deep", raw_weights(lambda raw: struct.pack("<Q", 400002 + 6) + b'{"a": ' + deep(200000).encode()
                                          + b"} "), 1, [WEIGHTS, "header", "nested"]),
    Row("overlapping offsets", weights(move_onto_neighbour), 1, [WEIGHTS, "overlap"]),
    Row("negative offsets", weights(set_entry(NORM, data_offsets=[-64, 0])), 1, [WEIGHTS, NORM, "negative"]),
    Row("huge offsets", weights(set_entry(NORM, data_offsets=[2**62, 2**62 + 64])), 1, [WEIGHTS, NORM]),
    Row("offsets beyond 64 bits", weights(set_entry(NORM, data_offsets=[0, 2**64 - 1])), 1, [WEIGHTS, NORM, "huge"]),
    Row("backward offsets", weights(set_entry(NORM, data_offsets=[64, 0])), 1, [WEIGHTS, NORM, "backwards"]),
    Row("offsets not integers", weights(set_entry(NORM, data_offsets=[0.0, 64.0])), 1, [WEIGHTS, NORM]),
    Row("shape overflows", weights(set_entry(NORM, shape=[2**40, 2**40])), 1, [WEIGHTS, NORM, "overflows"]),
    Row("wrong byte count", weights(set_entry(NORM, shape=[15])), 1, [WEIGHTS, NORM, "60 bytes"]),
    Row("wrong shape", weights(set_entry(GATE, shape=[16, 24])), 1, [WEIGHTS, GATE, "[16, 24]", "[24, 16]"]),
    Row("unknown dtype", weights(set_entry(NORM, dtype="F8_E4M3")), 1, [WEIGHTS, NORM, "F8_E4M3"]),
    Row("entry not an object", weights(lambda header, data: header.update({NORM: 3})), 1, [WEIGHTS, NORM]),
    Row("NaN weights", weights(set_float(GATE, float("nan"))), 1, [WEIGHTS, GATE, "nan", "row 0, column 5"]),
    Row("infinite weights", weights(set_float(EMBEDDING, float("-inf"))), 1, [WEIGHTS, EMBEDDING, "inf"]),
    Row("missing tensor", weights(drop(GATE)), 1, [WEIGHTS, GATE, "missing"]),
    Row("unknown tensor", weights(lambda h, d: h.update({"odd.weight": h.pop(NORM)})), 1, [WEIGHTS, NORM]),
    Row("missing latent tensors", weights(drop("latent_feedback.state_proj.weight")), 1,
        [WEIGHTS, "latent_feedback.state_proj.weight", "missing"]),
    Row("weights missing", spoiled(lambda folder: (folder / WEIGHTS).unlink()), 1, [WEIGHTS, "missing"]),
    Row("weights a folder", spoiled(lambda folder: ((folder / WEIGHTS).unlink(), (folder / WEIGHTS).mkdir())), 1,
        [WEIGHTS, "not a regular file"]),
    Row("tensor in two shards", spoiled(lambda folder: shards(folder, in_two_shards)), 1,
        ["part-2.safetensors", EMBEDDING, "part-1.safetensors"]),
    Row("missing shard", spoiled(lambda folder: shards(folder, no_second_shard)), 1,
        ["part-2.safetensors", "missing", "index"]),
    Row("tensor in another shard", spoiled(lambda folder: shards(folder, tensor_not_in_its_shard)), 1,
        ["index.json", EMBEDDING, "part-1.safetensors"]),
    Row("index not JSON", spoiled(lambda folder: (shards(folder, lambda *_: None),
                                                  write("model.safetensors.index.json", "{")(folder))), 1,
        ["model.safetensors.index.json", "JSON"]),
]

CONFIG_ROWS = [
    Row("config.json missing", spoiled(lambda folder: (folder / "config.json").unlink()), 1, ["config.json", "missing"]),
    Row("config.json not JSON", spoiled(write("config.json", "{'hidden_size': 4}")), 1, ["config.json", "JSON"]),
    Row("config.json a list", spoiled(write("config.json", "[]")), 1, ["config.json", "array"]),
    Row("config.json not UTF-8", spoiled(write("config.json", b'{"a": "\xff"}')), 1, ["config.json", "JSON"]),
    Row("config.json with a number too large", spoiled(write("config.json", '{"hidden_size": 1e999}')), 1,
        ["config.json"]),
    Row("config.json nested deep", spoiled(write("config.json", '{"hidden_size": ' + deep(200000) + "}")), 1,
        ["config.json", "nested"]),
    Row("hidden_size a string", config(hidden_size="16"), 1, ["config.json", "hidden_size", "integer"]),
    Row("num_hidden_layers a fraction", config(num_hidden_layers=1.5), 1, ["config.json", "num_hidden_layers"]),
    Row("tie_word_embeddings a number", config(tie_word_embeddings=1), 1, ["config.json", "tie_word_embeddings"]),
    Row("vocab_size negative", config(vocab_size=-61), 1, ["config.json", "vocab_size", "-61"]),
    Row("hidden_size missing", config(hidden_size=None), 1, ["config.json", "hidden_size", "missing"]),
    Row("heads that do not divide", config(num_key_value_heads=3), 1, ["config.json", "num_key_value_heads"]),
    Row("unknown architecture", config(architectures=["LlamaForCausalML"]), 1,
        ["config.json", "architectures", "LlamaForCausalML", "LlamaForCausalLM"]),
    Row("sliding window", config(architectures=["MistralForCausalLM"], sliding_window=32), 1,
        ["config.json", "sliding_window", "32"]),
    Row("unknown rope type", config(rope_scaling={"rope_type": "yarn", "factor": 2.0}), 1, ["config.json", "yarn"]),
    Row("two rope thetas", config(rope_theta=10000.0, rope_parameters={"rope_type": "default", "rope_theta": 5e5}), 1,
        ["config.json", "rope_theta", "500000"]),
    Row("unknown fusion", config(latent_feedback={"fusion": "glue"}), 1, ["config.json", "latent_feedback", "glue", "glu"]),
    Row("quantized weights", config(quantization_config={"bits": 4}), 1, ["config.json", "quantization_config"]),
    Row("end token out of range", config(eos_token_id=1 << 40), 1, ["config.json", "eos_token_id"]),
    Row("generation_config.json ill-typed", spoiled(write("generation_config.json", '{"eos_token_id": "two"}')), 1,
        ["generation_config.json", "eos_token_id"]),
]


def tokenize(place: Place) -> list[str]:
    place.stdin = b'"a b"\n'
    return ["tokenize", "--model", str(place.folder / "model")]


def without_control(content):
    """Another token in the place of the one that stands for byte 4, as some real vocabularies have none."""
    vocab = content["model"]["vocab"]
    vocab["xyzzyxyzzy"] = vocab.pop("\u0104")


def decode_control(place: Place) -> list[str]:
    return ["decode", "--model", str(place.folder / "model"), "--setting", "standard", "--prompt", "Hi \x04!",
            "--max-new", "1"]


def score_control(place: Place) -> list[str]:
    return ["score", "--model", str(place.folder / "model"), "--setting", "standard", "--context", "Hi",
            "--continuation", " \x04!"]


def tokenizer(change, command=tokenize):
    return spoiled(lambda folder: tiny.edit_json(folder / "tokenizer.json", change), command)


def nested(levels):
    def change(content):
        part = content["pre_tokenizer"]
        for _ in range(levels):
            part = {"type": "Sequence", "pretokenizers": [part]}
        content["pre_tokenizer"] = part
    return change


def name_itself(content):
    """A template that names a special token whose entry is another name: the nearest to a cycle JSON has."""
    content["post_processor"] = {
        "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "A"}}],
        "pair": [], "special_tokens": {"B": {"id": "A", "ids": [0], "tokens": ["A"]}}}


FILE = "tokenizer.json"
TOKENIZER_ROWS = [
    Row("tokenizer.json missing", spoiled(lambda folder: (folder / FILE).unlink(), tokenize), 1, [FILE]),
    Row("tokenizer.json not JSON", spoiled(write(FILE, "{"), tokenize), 1, [FILE, "JSON"]),
    Row("tokenizer.json with a number too large", spoiled(write(FILE, '{"model": 1e999}'), tokenize), 1, [FILE]),
    Row("tokenizer.json not UTF-8", spoiled(write(FILE, b'{"a": "\xff"}'), tokenize), 1, [FILE, "JSON"]),
    Row("tokenizer.json nested deep",
        spoiled(lambda folder: (folder / FILE).write_text(
            tiny.replaced((folder / FILE).read_text(), "{", '{"odd": ' + deep(200000) + ", ")), tokenize), 1, [FILE, "nested"]),
    Row("model missing", tokenizer(lambda c: c.pop("model")), 1, [FILE, "model"]),
    Row("vocab missing", tokenizer(lambda c: c["model"].pop("vocab")), 1, [FILE, "model", "vocab"]),
    Row("vocab a list", tokenizer(lambda c: c["model"].update(vocab=[])), 1, [FILE, "model.vocab", "array"]),
    Row("two tokens of one id", tokenizer(lambda c: c["model"]["vocab"].update(a=5, b=5)), 1, [FILE, "vocab", "id 5"]),
    Row("byte without a token", tokenizer(lambda c: c["model"]["vocab"].pop("~")), 1, [FILE, "vocab", "0x7E"]),
    Row("prompt with a byte without a token", tokenizer(without_control, decode_control), 1,
        ["--prompt", "0x04", "offset 3"]),
    Row("continuation with a byte without a token", tokenizer(without_control, score_control), 1,
        ["--continuation", "0x04", "offset 1"]),
    Row("merges missing", tokenizer(lambda c: c["model"].pop("merges")), 1, [FILE, "model", "merges"]),
    Row("merge with an unknown token", tokenizer(lambda c: c["model"]["merges"].insert(2, ["a", "zzyzx"])), 1,
        [FILE, "merges[2]", "zzyzx"]),
    Row("merge of three parts", tokenizer(lambda c: c["model"]["merges"].insert(1, ["a", "b", "c"])), 1,
        [FILE, "merges[1]", "3 parts"]),
    Row("kind not BPE", tokenizer(lambda c: c["model"].update(type="Unigram")), 1, [FILE, "model.type", "Unigram"]),
    Row("pre-tokenizer missing", tokenizer(lambda c: c.pop("pre_tokenizer")), 1, [FILE, "pre_tokenizer"]),
    Row("unknown pre-tokenizer", tokenizer(lambda c: c.update(pre_tokenizer={"type": "Metaspace"})), 1,
        [FILE, "pre_tokenizer", "Metaspace"]),
    Row("pre-tokenizers too deep", tokenizer(nested(40)), 1, [FILE, "pre_tokenizer", "deep"]),
    Row("bad regular expression",
        tokenizer(lambda c: c.update(pre_tokenizer={"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]})), 1, [FILE, "pattern"]),
    Row("template that names nothing", tokenizer(name_itself), 1, [FILE, "special_tokens"]),
    Row("added token with a gap", tokenizer(lambda c: c["added_tokens"][0].update(id=900000)), 1, [FILE, "added_tokens[0]"]),
    Row("tokenizer_config.json not JSON", spoiled(write("tokenizer_config.json", "]"), tokenize), 1,
        ["tokenizer_config.json", "JSON"]),
    Row("end token that is not there", spoiled(write("tokenizer_config.json", '{"eos_token": "<odd>"}'), tokenize), 1,
        ["tokenizer_config.json", "eos_token", "<odd>"]),
    Row("decode with a broken tokenizer", tokenizer(lambda c: c["model"].pop("vocab"), decode), 1, [FILE, "vocab"]),
]

ROWS = CHECKPOINT_ROWS + CONFIG_ROWS + TOKENIZER_ROWS
