"""scripts/convert_gguf on small GGUF files made here, against dequantisation and rotary orders written out plainly."""

import contextlib
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

import gguf
import numpy as np
from gguf_source import HEAD_DIM, HEADS, HIDDEN, KV_HEADS, LAYERS, Source, Type, encode

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CONVERT = os.path.join(HOME, "scripts", "convert_gguf")
sys.path.insert(0, os.path.join(HOME, "scripts", "convert"))

import convert_gguf  # noqa: E402  (found through the path above)


def half(data, at):
    return struct.unpack_from("<e", data, at)[0]


def plain_dequantise(data, kind):
    """The formats as ggml's comments describe them, one value at a time."""
    out = []
    if kind == Type.Q8_0:
        for b in range(0, len(data), 34):
            out += [half(data, b) * v for v in struct.unpack_from("<32b", data, b + 2)]
    elif kind in (Type.Q4_0, Type.Q4_1):
        size, first = (18, 2) if kind == Type.Q4_0 else (20, 4)
        for b in range(0, len(data), size):
            nibbles = data[b + first : b + size]
            quants = [n & 15 for n in nibbles] + [n >> 4 for n in nibbles]
            offset = -8 * half(data, b) if kind == Type.Q4_0 else half(data, b + 2)
            out += [half(data, b) * v + offset for v in quants]
    elif kind == Type.Q4_K:
        for b in range(0, len(data), 144):
            d, low, s, qs = half(data, b), half(data, b + 2), data[b + 4 : b + 16], data[b + 16 : b + 144]
            for j in range(8):
                if j < 4:
                    scale, minimum = s[j] & 63, s[j + 4] & 63
                else:
                    scale = (s[j + 4] & 15) | (s[j - 4] >> 6) << 4
                    minimum = (s[j + 4] >> 4) | (s[j] >> 6) << 4
                part = qs[32 * (j // 2) : 32 * (j // 2) + 32]
                out += [d * scale * (v >> 4 if j % 2 else v & 15) - low * minimum for v in part]
    elif kind == Type.Q6_K:
        for b in range(0, len(data), 210):
            ql, qh = data[b : b + 128], data[b + 128 : b + 192]
            scales, d = struct.unpack_from("<16b", data, b + 192), half(data, b + 208)
            for i in range(256):
                part, r = divmod(i, 128)
                quarter, column = divmod(r, 32)
                lower = ql[64 * part + 32 * (quarter % 2) + column]
                lower = lower >> 4 if quarter >= 2 else lower & 15
                upper = (qh[32 * part + column] >> (2 * quarter)) & 3
                out.append(d * scales[i // 16] * ((lower | upper << 4) - 32))
    return np.array(out, dtype=np.float64)


def read_safetensors(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        raw = data[slice(*entry["data_offsets"])]
        if entry["dtype"] == "BF16":
            values = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            values = np.frombuffer(raw, {"F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    if sum(e["data_offsets"][1] - e["data_offsets"][0] for e in header.values()) != len(data):
        raise AssertionError("the tensors do not fill the file")
    return tensors


def half_split(values, heads):
    """Interleaved rotary rows of each head to first halves, then second halves."""
    out = np.empty_like(values)
    for h in range(heads):
        for i in range(HEAD_DIM // 2):
            out[h * HEAD_DIM + i] = values[h * HEAD_DIM + 2 * i]
            out[h * HEAD_DIM + HEAD_DIM // 2 + i] = values[h * HEAD_DIM + 2 * i + 1]
    return out


class ConvertTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.gguf = os.path.join(self.folder.name, "in.gguf")
        self.out = os.path.join(self.folder.name, "out")

    def run_convert(self, *options):
        """In this process, since starting Python takes longer than most of these conversions."""
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            status = convert_gguf.main(["--in", self.gguf, "--out", self.out, *options])
        return subprocess.CompletedProcess([], status, output.getvalue(), errors.getvalue())

    def convert(self, source, *options):
        source.write(self.gguf)
        done = self.run_convert(*options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return read_safetensors(os.path.join(self.out, "model.safetensors"))

    def refused(self, source, *parts, options=()):
        source.write(self.gguf)
        return self.failed(*parts, options=options)

    def failed(self, *parts, options=()):
        done = self.run_convert(*options)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("convert_gguf: "), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertFalse(os.path.exists(self.out))
        self.assertEqual([n for n in os.listdir(self.folder.name) if n.startswith(".converting")], [])

    def json(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as file:
            return json.load(file)


class WeightsTest(ConvertTest):
    def test_names_orders_and_values_of_float32(self):
        source = Source()
        tensors = self.convert(source)
        self.assertEqual(len(tensors), len(source.tensors))
        given = {name: values for name, (values, _) in source.tensors.items()}
        np.testing.assert_array_equal(tensors["model.embed_tokens.weight"], given["token_embd.weight"])
        np.testing.assert_array_equal(tensors["model.norm.weight"], given["output_norm.weight"])
        ours = {"self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate",
                "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
                "post_attention_layernorm": "ffn_norm"}
        for layer in range(LAYERS):
            for name, theirs in ours.items():
                np.testing.assert_array_equal(
                    tensors[f"model.layers.{layer}.{name}.weight"], given[f"blk.{layer}.{theirs}.weight"]
                )
            for name, theirs, heads in (("q", "attn_q", HEADS), ("k", "attn_k", KV_HEADS)):
                np.testing.assert_array_equal(
                    tensors[f"model.layers.{layer}.self_attn.{name}_proj.weight"],
                    half_split(given[f"blk.{layer}.{theirs}.weight"], heads),
                )

    def test_every_kind_of_quantisation(self):
        for kind in (Type.Q8_0, Type.Q4_0, Type.Q4_1, Type.Q4_K, Type.Q6_K):
            with self.subTest(kind=kind.name):
                source = Source()
                source.quantise(kind)
                self.out = os.path.join(self.folder.name, kind.name)
                tensors = self.convert(source)
                values = source.tensors["blk.1.ffn_down.weight"][0]
                wanted = plain_dequantise(encode(values, kind).tobytes(), kind).reshape(values.shape)
                # The formats' products round a few times in float32.
                scale = np.abs(wanted).max()
                np.testing.assert_allclose(
                    tensors["model.layers.1.mlp.down_proj.weight"], wanted, rtol=0, atol=scale * 4 * 2.0**-24
                )
                queries = source.tensors["blk.0.attn_q.weight"][0]
                wanted = plain_dequantise(encode(queries, kind).tobytes(), kind).reshape(queries.shape)
                np.testing.assert_allclose(
                    tensors["model.layers.0.self_attn.q_proj.weight"], half_split(wanted, HEADS),
                    rtol=0, atol=np.abs(wanted).max() * 4 * 2.0**-24,
                )

    def test_float16_and_bfloat16_sources(self):
        for kind, width in ((Type.F16, 2.0**-11), (Type.BF16, 2.0**-8)):
            with self.subTest(kind=kind.name):
                source = Source()
                source.quantise(kind)
                self.out = os.path.join(self.folder.name, kind.name)
                tensors = self.convert(source)
                given = source.tensors["blk.0.ffn_up.weight"][0]
                got = tensors["model.layers.0.mlp.up_proj.weight"]
                np.testing.assert_allclose(got, given, rtol=width, atol=1e-7)
                self.assertTrue((got != given).any())  # or it was never narrow

    def test_bf16_rounds_to_nearest_even(self):
        source = Source()
        values = source.tensors["output_norm.weight"][0]
        # Two ties (down to even, up to even), just above a tie, and a negative one.
        values[:4] = np.array([0x3F808000, 0x3F818000, 0x3F808001, 0xBF818000], "<u4").view("<f4")
        tensors = self.convert(source, "--dtype", "bf16")
        wanted = np.array([0x3F800000, 0x3F820000, 0x3F810000, 0xBF820000], "<u4").view("<f4")
        np.testing.assert_array_equal(tensors["model.norm.weight"][:4], wanted)
        self.assertEqual(self.json("config.json")["torch_dtype"], "bfloat16")

    def test_f16_target(self):
        source = Source()
        tensors = self.convert(source, "--dtype", "f16")
        np.testing.assert_array_equal(
            tensors["model.norm.weight"], source.tensors["output_norm.weight"][0].astype(np.float16)
        )

    def test_untied_output(self):
        source = Source()
        source.set("output.weight", (source.vocab_rows, HIDDEN))
        tensors = self.convert(source)
        np.testing.assert_array_equal(tensors["lm_head.weight"], source.tensors["output.weight"][0])
        self.assertFalse(self.json("config.json")["tie_word_embeddings"])

    def test_qwen_weights_keep_their_order(self):
        for arch in ("qwen2", "qwen3"):
            with self.subTest(arch=arch):
                source = Source(arch)
                source.pre = "qwen2"
                for layer in range(LAYERS):
                    if arch == "qwen2":
                        for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
                            source.set(f"blk.{layer}.attn_{name}.bias", (heads * HEAD_DIM,))
                    else:
                        for name in "qk":
                            source.set(f"blk.{layer}.attn_{name}_norm.weight", (HEAD_DIM,))
                self.out = os.path.join(self.folder.name, arch)
                tensors = self.convert(source)
                prefix = "model.layers.1.self_attn."
                np.testing.assert_array_equal(
                    tensors[prefix + "q_proj.weight"], source.tensors["blk.1.attn_q.weight"][0]
                )
                extra = "attn_k.bias" if arch == "qwen2" else "attn_k_norm.weight"
                name = "k_proj.bias" if arch == "qwen2" else "k_norm.weight"
                np.testing.assert_array_equal(tensors[prefix + name], source.tensors[f"blk.1.{extra}"][0])
                self.assertEqual(
                    self.json("config.json")["architectures"], [arch.capitalize() + "ForCausalLM"]
                )

    def test_llama_biases_are_put_in_order_too(self):
        source = Source()
        for layer in range(LAYERS):
            for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
                source.set(f"blk.{layer}.attn_{name}.bias", (heads * HEAD_DIM,))
            source.set(f"blk.{layer}.attn_output.bias", (HIDDEN,))
        tensors = self.convert(source)
        np.testing.assert_array_equal(
            tensors["model.layers.0.self_attn.q_proj.bias"],
            half_split(source.tensors["blk.0.attn_q.bias"][0], HEADS),
        )
        self.assertTrue(self.json("config.json")["attention_bias"])

    def test_large_tensors_are_converted_in_blocks(self):
        source = Source()
        source.vocab_rows = 20000
        source.set("token_embd.weight", (source.vocab_rows, HIDDEN), Type.Q8_0)
        tensors = self.convert(source)
        given = source.tensors["token_embd.weight"][0]
        np.testing.assert_allclose(tensors["model.embed_tokens.weight"], given, atol=np.abs(given).max() / 127)


class ConfigTest(ConvertTest):
    def test_config(self):
        self.convert(Source())
        config = self.json("config.json")
        wanted = {
            "architectures": ["LlamaForCausalLM"], "hidden_size": 256, "intermediate_size": 512,
            "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
            "rms_norm_eps": 1e-5, "rope_theta": 100000.0, "rope_scaling": None, "max_position_embeddings": 128,
            "tie_word_embeddings": True, "vocab_size": 288, "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
            "attention_bias": False, "mlp_bias": False, "torch_dtype": "float32",
        }
        self.assertEqual({key: config[key] for key in wanted}, wanted)
        self.assertEqual(
            self.json("generation_config.json"), {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2}
        )

    def test_llama3_rope_scaling_is_found_again(self):
        source = Source()
        source.meta["rope.freq_base"] = 500000.0
        scaling = {"factor": 8.0, "low": 1.0, "high": 4.0, "positions": 8192}
        frequencies = 500000.0 ** -(np.arange(0, HEAD_DIM, 2) / HEAD_DIM)
        divisors = []
        for frequency in frequencies:
            wavelength = 2 * np.pi / frequency
            if wavelength < scaling["positions"] / scaling["high"]:
                divisors.append(1.0)
            elif wavelength > scaling["positions"] / scaling["low"]:
                divisors.append(scaling["factor"])
            else:
                smooth = (scaling["positions"] / wavelength - 1.0) / 3.0
                divisors.append(1 / ((1 - smooth) / scaling["factor"] + smooth))
        source.tensors["rope_freqs.weight"] = (np.array(divisors, np.float32), Type.F32)
        self.convert(source)
        self.assertEqual(self.json("config.json")["rope_scaling"], {
            "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        })

    def test_linear_rope_scaling(self):
        source = Source()
        source.meta |= {"rope.scaling.type": "linear", "rope.scaling.factor": 2.5}
        self.convert(source)
        self.assertEqual(self.json("config.json")["rope_scaling"], {"rope_type": "linear", "factor": 2.5})

    def test_end_of_turn_tokens_end_generation(self):
        source = Source()
        source.extra["tokenizer.ggml.eot_token_id"] = 0
        self.convert(source)
        self.assertEqual(self.json("generation_config.json")["eos_token_id"], [2, 0])


class TokenizerTest(ConvertTest):
    def test_smollm(self):
        source = Source()
        self.convert(source)
        tokenizer = self.json("tokenizer.json")
        self.assertIsNone(tokenizer["normalizer"])
        self.assertIsNone(tokenizer["post_processor"])
        self.assertEqual(tokenizer["pre_tokenizer"]["type"], "Sequence")
        digits, byte_level = tokenizer["pre_tokenizer"]["pretokenizers"]
        self.assertEqual(digits, {"type": "Digits", "individual_digits": True})
        self.assertEqual((byte_level["type"], byte_level["add_prefix_space"], byte_level["use_regex"]),
                         ("ByteLevel", False, True))
        self.assertEqual(tokenizer["decoder"]["type"], "ByteLevel")
        self.assertEqual(tokenizer["model"]["vocab"], {t: i for i, t in enumerate(source.tokens)})
        self.assertEqual(tokenizer["model"]["merges"], source.merges)
        self.assertEqual([(a["id"], a["content"], a["special"]) for a in tokenizer["added_tokens"]],
                         [(i, source.tokens[i], True) for i in range(3)])
        config = self.json("tokenizer_config.json")
        self.assertEqual((config["bos_token"], config["eos_token"], config["add_bos_token"], config["chat_template"]),
                         ("<|im_start|>", "<|im_end|>", False, "{{ messages }}"))

    def test_added_tokens_behind_the_vocabulary_and_padding(self):
        source = Source()
        source.pre = "qwen2"
        source.arch = "llama"
        plain = source.tokens[3:]
        source.tokens = [*plain, "<|end|>", "<tool>", "[PAD0]", "[PAD1]"]
        source.types = [1] * len(plain) + [3, 4, 5, 5]
        source.extra = {"tokenizer.ggml.eos_token_id": len(plain)}
        self.convert(source)
        tokenizer = self.json("tokenizer.json")
        self.assertEqual(tokenizer["normalizer"], {"type": "NFC"})
        self.assertEqual(tokenizer["model"]["vocab"], {t: i for i, t in enumerate(plain)})
        self.assertEqual([(a["id"], a["content"], a["special"]) for a in tokenizer["added_tokens"]],
                         [(len(plain), "<|end|>", True), (len(plain) + 1, "<tool>", False)])
        self.assertEqual(self.json("config.json")["vocab_size"], 288)

    def test_llama3_adds_its_start_token(self):
        source = Source()
        source.pre = "llama-bpe"
        source.add_bos = True
        self.convert(source)
        tokenizer = self.json("tokenizer.json")
        self.assertTrue(tokenizer["model"]["ignore_merges"])
        post = tokenizer["post_processor"]
        self.assertEqual(post["type"], "TemplateProcessing")
        self.assertEqual(post["single"][0], {"SpecialToken": {"id": "<|im_start|>", "type_id": 0}})
        self.assertEqual(post["special_tokens"]["<|im_start|>"]["ids"], [1])
        self.assertIn(r"\p{N}{1,3}", tokenizer["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"])


class RefusalTest(ConvertTest):
    def test_missing_file(self):
        self.failed("in.gguf: no such file")

    def test_not_gguf(self):
        for content in (b"", b"GG", b"not a gguf file at all" * 9):
            with open(self.gguf, "wb") as file:
                file.write(content)
            self.failed("in.gguf: not a readable GGUF file")

    def test_truncated_anywhere(self):
        Source().write(self.gguf)
        with open(self.gguf, "rb") as file:
            whole = file.read()
        for share in (0.00001, 0.0005, 0.001, 0.002, 0.003, 0.5, 0.999999):
            with open(self.gguf, "wb") as file:
                file.write(whole[: int(len(whole) * share)])
            self.failed("in.gguf")

    def test_existing_target(self):
        source = Source()
        self.convert(source)
        done = self.run_convert()
        self.assertEqual(done.returncode, 1)
        self.assertIn("already exists", done.stderr)

    def test_target_that_is_a_link_to_nowhere(self):
        Source().write(self.gguf)
        os.symlink("/nonexistent", self.out)
        done = self.run_convert()
        self.assertEqual(done.returncode, 1)
        self.assertIn("already exists", done.stderr)

    def run_script(self, *arguments, **environment):
        return subprocess.run([CONVERT, *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "FULLBAND_PYTHON": sys.executable, **environment})

    def test_the_script_itself(self):
        self.assertEqual(self.run_script("--in", "x").returncode, 2)
        self.assertEqual(self.run_script("--in", "x", "--out", "y", "--dtype", "q4").returncode, 2)
        done = self.run_script("--in", "x", "--out", "y", FULLBAND_PYTHON="/nonexistent/python3")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "convert_gguf: /nonexistent/python3: no such interpreter (run scripts/setup)\n"))
        Source().write(self.gguf)
        self.assertEqual(self.run_script("--in", self.gguf, "--out", self.out).returncode, 0)
        self.assertTrue(os.path.exists(os.path.join(self.out, "model.safetensors")))

    def test_unknown_architecture(self):
        source = Source("gemma")
        self.refused(source, "architecture 'gemma' is not converted", "known: llama, qwen2, qwen3")

    def test_unknown_quantisation(self):
        source = Source()
        source.tensors["blk.0.ffn_up.weight"] = (source.tensors["blk.0.ffn_up.weight"][0], Type.Q5_0)
        self.refused(source, "blk.0.ffn_up.weight: is stored as Q5_0")

    def test_missing_and_surplus_tensors(self):
        source = Source()
        del source.tensors["blk.1.attn_v.weight"]
        self.refused(source, "has no tensor blk.1.attn_v.weight")
        source = Source()
        source.set("blk.0.ffn_gate_exps.weight", (4, 32))
        self.refused(source, "blk.0.ffn_gate_exps.weight: is no tensor of a llama model")

    def test_misshapen_tensor(self):
        source = Source()
        source.set("blk.0.attn_k.weight", (64, HIDDEN))
        self.refused(source, "blk.0.attn_k.weight: has shape [64, 256], [128, 256] expected")

    def test_weights_that_are_no_numbers(self):
        for value in (np.nan, np.inf):
            source = Source()
            source.tensors["blk.1.ffn_norm.weight"][0][5] = value
            self.refused(source, "post_attention_layernorm.weight: holds NaN or infinity")

    def test_weights_too_large_for_f16(self):
        source = Source()
        source.tensors["output_norm.weight"][0][0] = 1e5
        self.refused(source, "too large for f16", options=("--dtype", "f16"))

    def test_missing_key(self):
        source = Source()
        del source.meta["block_count"]
        self.refused(source, "has no metadata key llama.block_count")

    def test_unknown_pre_tokenizer(self):
        source = Source()
        source.pre = "deepseek-llm"
        self.refused(source, "tokenizer.ggml.pre: 'deepseek-llm' is not converted", "known: smollm, llama-bpe, qwen2")

    def test_broken_merges_and_vocabularies(self):
        source = Source()
        source.merges.append("z zz")
        self.refused(source, "tokenizer.ggml.merges: 'z zz' does not join")
        source = Source()
        source.tokens[-1] = "he"
        source.merges.pop()
        self.refused(source, "names a token twice")
        source = Source()
        source.set("token_embd.weight", (100, HIDDEN))
        self.refused(source, "the embedding 100 rows")

    def test_unknown_rope(self):
        source = Source()
        source.meta |= {"rope.scaling.type": "yarn"}
        self.refused(source, "rope scaling 'yarn' is not converted")
        source = Source()
        source.tensors["rope_freqs.weight"] = (np.linspace(1, 8, 32, dtype=np.float32), Type.F32)
        self.refused(source, "rope_freqs.weight")

    def test_partial_rotation(self):
        source = Source()
        source.meta |= {"attention.key_length": 64, "rope.dimension_count": 32}
        self.refused(source, "rotates 32 of 64 dimensions")

    def test_unwritable_target(self):
        Source().write(self.gguf)
        self.out = "/proc/no/such/place"
        done = self.run_convert()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)

    def test_full_disk(self):
        """A file-size limit stands in for a full disk; the half-written folder must go."""
        Source().write(self.gguf)
        done = subprocess.run(
            ["bash", "-c", f"trap '' XFSZ; ulimit -f 512; exec '{CONVERT}' --in '{self.gguf}' --out '{self.out}'"],
            capture_output=True, text=True, check=False, env={**os.environ, "FULLBAND_PYTHON": sys.executable},
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["in.gguf"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
