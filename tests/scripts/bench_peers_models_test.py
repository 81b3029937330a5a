"""What scripts/bench_peers makes of a model for each engine, from a small GGUF file: the same numbers in every form."""

import json
import os
import struct
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import gguf
import numpy as np
from gguf_source import HEAD_DIM, HEADS, KV_HEADS, Source, Type

HOME = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HOME / "scripts" / "side_by_side"))

import agreement  # noqa: E402
import prepare  # noqa: E402
import works  # noqa: E402
from fault import Fault  # noqa: E402

ALL = (works.FULLBAND, works.TRANSFORMERS, works.LLAMA_CPP)


def bfloat16(values):
    """Of float32 values, rounded to nearest, ties to even, one at a time; as float32."""
    out = []
    for (bits,) in struct.iter_unpack("<I", np.asarray(values, "<f4").tobytes()):
        low = bits & 0xFFFF
        up = low > 0x8000 or (low == 0x8000 and bits & 0x10000)
        out.append((bits - low) + (0x10000 if up else 0))
    return np.array(out, "<u4").view("<f4").reshape(np.shape(values))


def read_checkpoint(folder):
    """({name: float32 values}, types stored, the configuration's type)"""
    data = (Path(folder) / "model.safetensors").read_bytes()
    size = 8 + struct.unpack_from("<Q", data)[0]
    found, types = {}, set()
    for name, one in json.loads(data[8:size]).items():
        if name == "__metadata__":
            continue
        types.add(one["dtype"])
        begin, end = (size + offset for offset in one["data_offsets"])
        if one["dtype"] == "BF16":
            values = (np.frombuffer(data[begin:end], "<u2").astype("<u4") << 16).view("<f4")
        else:
            values = np.frombuffer(data[begin:end], "<f4")
        found[name] = values.reshape(one["shape"])
    return found, types, json.loads((Path(folder) / "config.json").read_text())["torch_dtype"]


def read_gguf(path):
    """({name: float32 values}, types of the matrices)"""
    found, types = {}, set()
    for tensor in gguf.GGUFReader(path).tensors:
        values = gguf.dequantize(np.asarray(tensor.data), tensor.tensor_type)
        found[tensor.name] = values.reshape([int(size) for size in reversed(tensor.shape)])
        if found[tensor.name].ndim == 2:
            types.add(tensor.tensor_type)
    return found, types


class PrepareTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.peers = self.folder / "peers"
        environment = {"FULLBAND_CACHE": str(self.folder), "FULLBAND_PYTHON": sys.executable}
        for patch in (mock.patch.dict(os.environ, environment), mock.patch.object(prepare, "script", self.script)):
            patch.start()
            self.addCleanup(patch.stop)
        self.source = Source()
        self.source.quantise(Type.Q4_1)
        down, _ = self.source.tensors["blk.1.ffn_down.weight"]
        down[0, :2] = 3.14159e-7, 2.71828e-6  # float16 has fewer bits for these than bfloat16
        self.source.tensors["blk.1.ffn_down.weight"] = down, Type.F32
        self.source.write(self.folder / "source.gguf")
        self.said = []

    real = staticmethod(prepare.script)

    def script(self, path, *arguments, **environment):
        """As prepare.script, but for what fetches and builds."""
        if path.name == "fetch_smollm2":
            return self.folder / ("source.gguf" if arguments else "model")
        if path.name == "build_llama_cpp":
            return self.folder / "built"
        return self.real(path, *arguments, **environment)

    def prepare(self, engines=ALL, stages=works.STAGES):
        setup = prepare.Setup(Path("fullband"), Path("python"))
        prepare.prepare_models(setup, engines, stages, self.said.append)
        return setup

    def test_all_forms_hold_the_same_numbers_which_are_the_source_s_rounded_once(self):
        setup = self.prepare()
        sources, _ = read_gguf(self.folder / "source.gguf")
        expected = {name: bfloat16(values) for name, values in sources.items()}
        self.assertTrue(any((expected[name] != sources[name]).any() for name in sources if expected[name].ndim == 1))
        self.assertTrue(any((expected[name] != sources[name]).any() for name in sources if expected[name].ndim == 2))
        for weights, kind in (("float32", Type.F32), ("bfloat16", Type.BF16), ("float16", Type.F16)):
            found, types = read_gguf(setup.ggufs[weights])
            self.assertEqual((found.keys(), types), (expected.keys(), {kind}))
            for name, values in found.items():
                exact = np.abs(expected[name]) >= (2.0**-17 if kind == Type.F16 else 0)
                np.testing.assert_array_equal(values[exact], expected[name][exact], f"{weights} {name}")

        half, types, kind = read_checkpoint(setup.model)
        self.assertEqual((types, kind), ({"BF16"}, "bfloat16"))
        single, types, kind = read_checkpoint(setup.widened)
        self.assertEqual((types, kind), ({"F32"}, "float32"))
        self.assertEqual(half.keys(), single.keys())
        for name, values in half.items():
            np.testing.assert_array_equal(values, single[name], name)
        for name, of_gguf in (
            ("model.embed_tokens.weight", "token_embd.weight"),
            ("model.layers.1.mlp.down_proj.weight", "blk.1.ffn_down.weight"),
            ("model.layers.0.input_layernorm.weight", "blk.0.attn_norm.weight"),
        ):
            np.testing.assert_array_equal(half[name], expected[of_gguf], name)
        self.assertEqual(half["model.layers.0.self_attn.k_proj.weight"].shape[0], KV_HEADS * HEAD_DIM)
        self.assertEqual(json.loads((setup.model / "config.json").read_text())["num_attention_heads"], HEADS)
        self.assertEqual((setup.wide, setup.llama_cpp), (self.folder / "model", self.folder / "built"))

    def test_what_is_there_is_not_made_again_and_nothing_of_other_names_is_taken(self):
        self.peers.mkdir()
        old = [self.peers / name for name in ("model-f32.gguf", "model-bf16.gguf", "model-f16.gguf", "model-bf16")]
        for path in old:
            path.write_text("of an earlier state")
        first = self.prepare()
        self.assertEqual(len(self.said), 5)
        made = [first.model, first.widened, *first.ggufs.values()]
        self.assertEqual(len({*made, *old}), 9)
        self.assertEqual([path.read_text() for path in old], ["of an earlier state"] * 4)
        self.assertEqual(sorted(self.peers.iterdir()), sorted([*made, *old]))  # and nothing half made
        self.said.clear()
        self.assertEqual((self.prepare(), self.said), (first, []))

    def test_suites_need_the_one_checkpoint_that_both_sides_load(self):
        setup = self.prepare(stages=["gsm8k"])
        self.assertEqual((setup.widened, setup.ggufs, setup.llama_cpp), (None, {}, None))
        self.assertEqual(read_checkpoint(setup.model)[1], {"BF16"})

    def test_without_the_project_s_interpreter_nothing_is_made(self):
        with mock.patch.dict(os.environ, {"FULLBAND_PYTHON": "/nonexistent/python3"}):
            with self.assertRaisesRegex(Fault, r"/nonexistent/python3: no such interpreter \(scripts/setup\)"):
                self.prepare()
        self.assertEqual(list(self.peers.iterdir()), [])


class AgreementTest(unittest.TestCase):
    """With stand-ins for the engines, whose tokens are those that a file in the model's place names."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        program = self.folder / "fullband"
        program.write_text(
            f"#!{sys.executable}\nimport json, sys\nmodel = sys.argv[sys.argv.index('--model') + 1]\n"
            "if sys.argv[1] == 'tokenize': print(json.dumps({'ids': [5, 6]}))\n"
            "else:\n"
            "    prompt = sys.argv[sys.argv.index('--tokens') + 1]\n"
            "    print(json.dumps({'tokens': json.load(open(model)) + [len(prompt)]}))\n"
        )
        program.chmod(0o755)
        greedy = self.folder / "greedy"  # as llama_greedy.py: FILE FOLDER GGUF …
        greedy.write_text(
            f"#!{sys.executable}\nimport json, sys\n"
            "print(json.dumps({'tokens': json.load(open(sys.argv[3])) + [3], 'version': '1', 'system': 's'}))\n"
        )
        greedy.chmod(0o755)
        self.setup = prepare.Setup(program, greedy, llama_cpp=self.folder)
        self.setup.model, self.setup.widened = self.tokens("a", [1, 2]), self.tokens("b", [1, 2])
        self.setup.ggufs = {"float32": self.tokens("c", [1, 2]), "bfloat16": self.tokens("d", [9, 9])}
        self.theirs = [1, 2, 3]

    def tokens(self, name, tokens):
        (self.folder / name).write_text(json.dumps(tokens))
        return self.folder / name

    def ask(self, **request):
        self.assertEqual((request["dtype"], request["prompt"]), ("float32", [5, 6]))
        return {"tokens": self.theirs}

    def check(self, engines=ALL):
        versions = {}
        agreement.check(self.setup, engines, self, 2, versions)
        return versions

    def test_all_agree(self):
        self.assertEqual(self.check(), {"llama_cpp_python": "1", "llama_cpp_system": "s"})

    def test_each_that_differs_is_named(self):
        self.tokens("b", [1, 7])
        with self.assertRaisesRegex(Fault, "^Fullband, float32 checkpoint: continues the prompt otherwise"):
            self.check()
        self.check([works.TRANSFORMERS, works.LLAMA_CPP])  # Fullband's other form is not measured
        self.tokens("b", [1, 2])
        self.tokens("c", [7, 2])
        with self.assertRaisesRegex(Fault, "^llama.cpp: continues the prompt otherwise"):
            self.check()
        self.tokens("c", [1, 2])
        self.theirs = [1, 2, 4]
        with self.assertRaisesRegex(Fault, "^transformers: continues the prompt otherwise"):
            self.check()


if __name__ == "__main__":
    unittest.main(verbosity=1)
