"""Small GGUF files of every architecture and type that the tests of scripts convert."""

import gguf
import numpy as np

HIDDEN, LAYERS, HEADS, KV_HEADS, HEAD_DIM, INTERMEDIATE = 256, 2, 4, 2, 64, 512
Type = gguf.GGMLQuantizationType


def byte_tokens():
    """The 256 byte-level symbols, as GPT-2's vocabulary writes them."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in kept]
    return [chr(b) for b in kept] + [chr(256 + i) for i in range(len(others))]


class Source:
    """A GGUF file to be: change what a test is about, then write."""

    def __init__(self, arch="llama"):
        self.arch = arch
        self.random = np.random.default_rng(7)
        self.meta = {
            "block_count": LAYERS, "context_length": 128, "embedding_length": HIDDEN,
            "feed_forward_length": INTERMEDIATE, "attention.head_count": HEADS, "attention.head_count_kv": KV_HEADS,
            "rope.freq_base": 100000.0, "attention.layer_norm_rms_epsilon": 1e-5, "rope.dimension_count": HEAD_DIM,
        }
        self.pre = "smollm"
        base = byte_tokens()
        self.tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *base, "he", "ll", "hell"]
        self.types = [3] * 3 + [1] * (len(self.tokens) - 3)
        self.merges = ["h e", "l l", "he ll"]
        self.extra = {"tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2,
                      "tokenizer.ggml.padding_token_id": 2}
        self.template = "{{ messages }}"
        self.add_bos = False
        self.vocab_rows = 288
        self.tensors = {}  # name: (values, type)
        self._fill()

    def _fill(self):
        q, kv = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
        shapes = {"attn_q": (q, HIDDEN), "attn_k": (kv, HIDDEN), "attn_v": (kv, HIDDEN), "attn_output": (HIDDEN, q),
                  "ffn_gate": (INTERMEDIATE, HIDDEN), "ffn_up": (INTERMEDIATE, HIDDEN),
                  "ffn_down": (HIDDEN, INTERMEDIATE), "attn_norm": (HIDDEN,), "ffn_norm": (HIDDEN,)}
        self.set("token_embd.weight", (self.vocab_rows, HIDDEN))
        self.set("output_norm.weight", (HIDDEN,))
        for layer in range(LAYERS):
            for name, shape in shapes.items():
                self.set(f"blk.{layer}.{name}.weight", shape)

    def set(self, name, shape, kind=Type.F32):
        self.tensors[name] = (self.random.standard_normal(shape).astype(np.float32), kind)

    def quantise(self, kind):
        for name, (values, _) in self.tensors.items():
            if values.ndim == 2:
                self.tensors[name] = (values, kind)

    def write(self, path):
        writer = gguf.GGUFWriter(path, self.arch)
        for key, value in self.meta.items():
            add = writer.add_float32 if isinstance(value, float) else writer.add_uint32
            if isinstance(value, str):
                add = writer.add_string
            add(f"{self.arch}.{key}", value)
        writer.add_tokenizer_model("gpt2")
        if self.pre:
            writer.add_tokenizer_pre(self.pre)
        writer.add_token_list(self.tokens)
        writer.add_token_types(self.types)
        writer.add_token_merges(self.merges)
        writer.add_add_bos_token(self.add_bos)
        if self.template:
            writer.add_chat_template(self.template)
        for key, value in self.extra.items():
            writer.add_uint32(key, value)
        for name, (values, kind) in self.tensors.items():
            if kind in (Type.F32, Type.F16):
                writer.add_tensor(name, values.astype(np.float16 if kind == Type.F16 else np.float32))
            else:
                writer.add_tensor(name, encode(values, kind), raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def encode(values, kind):
    if kind in (Type.Q4_K, Type.Q6_K):
        # Blocks of any bytes are valid but for their scales, which must be finite.
        size = {Type.Q4_K: 144, Type.Q6_K: 210}[kind]
        blocks = np.random.default_rng(values.size).integers(0, 256, (values.size // 256, size), dtype=np.uint8)
        scale = np.array([0.01], dtype="<f2").view(np.uint8)
        if kind == Type.Q4_K:
            blocks[:, 0:2] = blocks[:, 2:4] = scale
        else:
            blocks[:, 208:210] = scale
        return blocks.reshape(values.shape[0], -1)
    return gguf.quantize(values, kind)
