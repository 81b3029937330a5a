"""GGUF metadata and tensor names to config.json and Hugging Face tensor names."""

import numpy as np

from fault import Fault

# GGUF architecture: Hugging Face class, model_type. (Mistral models without sliding window are stored as "llama".)
FAMILIES = {
    "llama": ("LlamaForCausalLM", "llama"),
    "qwen2": ("Qwen2ForCausalLM", "qwen2"),
    "qwen3": ("Qwen3ForCausalLM", "qwen3"),
}
# Only the "llama" converter of the GGUF world interleaves the two halves of each rotary head.
PERMUTED = {"llama"}

OUTER = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
LAYER = {
    "attn_norm.weight": "input_layernorm.weight",
    "attn_q.weight": "self_attn.q_proj.weight",
    "attn_k.weight": "self_attn.k_proj.weight",
    "attn_v.weight": "self_attn.v_proj.weight",
    "attn_output.weight": "self_attn.o_proj.weight",
    "ffn_norm.weight": "post_attention_layernorm.weight",
    "ffn_gate.weight": "mlp.gate_proj.weight",
    "ffn_up.weight": "mlp.up_proj.weight",
    "ffn_down.weight": "mlp.down_proj.weight",
}
BIASES = {
    "attn_q.bias": "self_attn.q_proj.bias",
    "attn_k.bias": "self_attn.k_proj.bias",
    "attn_v.bias": "self_attn.v_proj.bias",
    "attn_output.bias": "self_attn.o_proj.bias",
}
QK_NORMS = {
    "attn_q_norm.weight": "self_attn.q_norm.weight",
    "attn_k_norm.weight": "self_attn.k_norm.weight",
}


class GgufModel:
    """Sizes, config and the list of tensors of one file; everything is checked before anything is written."""

    def __init__(self, file):
        self.file = file
        self.arch = file.get("general.architecture")
        if self.arch not in FAMILIES:
            raise Fault(
                file.path, f"architecture '{self.arch}' is not converted", "known: " + ", ".join(FAMILIES)
            )
        self.hidden = self._size("embedding_length")
        self.layers = self._size("block_count")
        self.heads = self._size("attention.head_count")
        self.kv_heads = self._size("attention.head_count_kv", self.heads)
        self.intermediate = self._size("feed_forward_length")
        self.positions = self._size("context_length")
        if self.heads % self.kv_heads:
            raise Fault(file.path, f"{self.heads} heads do not divide into {self.kv_heads} key/value heads")
        self.head_dim = self._head_dim()
        embedding = file.shape("token_embd.weight")
        self.vocab = embedding[0]
        self.tied = "output.weight" not in file.tensors
        self.biases = sorted({n for n in BIASES if f"blk.0.{n}" in file.tensors})
        self.qk_norm = self.arch == "qwen3"
        self.rope_scaling = self._rope_scaling()

    def _size(self, key, default=None):
        value = self.file.get(f"{self.arch}.{key}", *([] if default is None else [default]))
        if isinstance(value, list):
            raise Fault(f"{self.file.path}: {self.arch}.{key}", "differs between layers, which is not converted")
        if not isinstance(value, int) or value <= 0:
            raise Fault(f"{self.file.path}: {self.arch}.{key}", f"is {value!r}, not a positive whole number")
        return value

    def _head_dim(self):
        get = self.file.get
        rotary = get(f"{self.arch}.rope.dimension_count", None)
        head_dim = get(f"{self.arch}.attention.key_length", None) or rotary or self.hidden // self.heads
        if get(f"{self.arch}.attention.value_length", head_dim) != head_dim:
            raise Fault(self.file.path, "keys and values of different length are not converted")
        if rotary not in (None, head_dim):
            raise Fault(self.file.path, f"rotates {rotary} of {head_dim} dimensions, which is not converted")
        if get(f"{self.arch}.attention.sliding_window", None):
            raise Fault(self.file.path, "sliding-window attention is not converted")
        if get(f"{self.arch}.expert_count", 0):
            raise Fault(self.file.path, "mixture-of-experts models are not converted")
        return head_dim

    def _rope_scaling(self):
        kind = self.file.get(f"{self.arch}.rope.scaling.type", "none")
        if "rope_freqs.weight" in self.file.tensors:
            return self._llama3_scaling()
        if kind == "none":
            return None
        if kind == "linear":
            return {"rope_type": "linear", "factor": self.file.real(f"{self.arch}.rope.scaling.factor")}
        raise Fault(self.file.path, f"rope scaling '{kind}' is not converted", "known: none, linear, llama3")

    def _llama3_scaling(self):
        """Llama 3's scaling is stored as its outcome, one divisor a frequency. Finds the numbers that give it."""
        stored = self.file.vector("rope_freqs.weight")
        factor = round(float(stored.max()), 4)
        for positions in (8192, 4096, 16384, 32768):
            found = {
                "rope_type": "llama3", "factor": factor, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": positions,
            }
            wanted = llama3_divisors(self.theta(), self.head_dim, found)
            if stored.shape == wanted.shape and np.allclose(stored, wanted, rtol=1e-5, atol=0):
                return found
        raise Fault(
            f"{self.file.path}: rope_freqs.weight", "is not what any known Llama 3 scaling gives, so it is not converted"
        )

    def theta(self):
        return self.file.real(f"{self.arch}.rope.freq_base", 10000.0)

    def config(self, dtype, tokenizer_ids):
        """config.json, in the keys that every version of transformers reads."""
        architecture, model_type = FAMILIES[self.arch]
        config = {
            "architectures": [architecture],
            "model_type": model_type,
            "hidden_size": self.hidden,
            "intermediate_size": self.intermediate,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "hidden_act": "silu",
            "max_position_embeddings": self.positions,
            "rms_norm_eps": self.file.real(f"{self.arch}.attention.layer_norm_rms_epsilon"),
            "rope_theta": self.theta(),
            "rope_scaling": self.rope_scaling,
            "tie_word_embeddings": self.tied,
            "vocab_size": self.vocab,
            "torch_dtype": dtype,
            **tokenizer_ids,
        }
        if self.arch == "llama":
            config |= {"attention_bias": bool(self.biases), "mlp_bias": False}
        if self.arch == "qwen3":
            config |= {"attention_bias": bool(self.biases)}
        if self.arch in ("qwen2", "qwen3"):
            config |= {"use_sliding_window": False, "sliding_window": None}
        return config

    def tensors(self):
        """(name, shape, blocks) of each tensor, as safetensors_file.write takes them."""
        wanted = self._wanted()
        unknown = set(self.file.tensors) - set(wanted) - {"rope_freqs.weight"}
        if unknown:
            raise Fault(f"{self.file.path}: {min(unknown)}", f"is no tensor of a {self.arch} model as converted here")
        listed = []
        for source, (name, shape, heads) in wanted.items():
            if self.file.shape(source) != shape:
                raise Fault(
                    f"{self.file.path}: {source}", f"has shape {list(self.file.shape(source))}, {list(shape)} expected"
                )
            rows = rotary_rows(heads, self.head_dim) if heads else None
            listed.append((name, shape, lambda source=source, rows=rows: self._values(source, rows)))
        return listed

    def _values(self, source, rows):
        if rows is not None and len(self.file.shape(source)) == 1:
            return [self.file.vector(source)[rows]]
        return self.file.blocks(source, rows)

    def _wanted(self):
        """GGUF name: (Hugging Face name, shape, number of permuted heads or 0)."""
        d, m = self.hidden, self.intermediate
        q, kv = self.heads * self.head_dim, self.kv_heads * self.head_dim
        shapes = {
            "attn_norm": (d,), "ffn_norm": (d,), "attn_q": (q, d), "attn_k": (kv, d), "attn_v": (kv, d),
            "attn_output": (d, q), "ffn_gate": (m, d), "ffn_up": (m, d), "ffn_down": (d, m),
            "attn_q_norm": (self.head_dim,), "attn_k_norm": (self.head_dim,),
        }
        permuted = {"attn_q": self.heads, "attn_k": self.kv_heads} if self.arch in PERMUTED else {}
        names = LAYER | {n: BIASES[n] for n in self.biases} | (QK_NORMS if self.qk_norm else {})
        wanted = {"token_embd.weight": (OUTER["token_embd.weight"], (self.vocab, d), 0)}
        for layer in range(self.layers):
            for source, name in names.items():
                stem, kind = source.rsplit(".", 1)
                shape = shapes[stem] if kind == "weight" else shapes[stem][:1]
                wanted[f"blk.{layer}.{source}"] = (f"model.layers.{layer}.{name}", shape, permuted.get(stem, 0))
        wanted["output_norm.weight"] = (OUTER["output_norm.weight"], (d,), 0)
        if not self.tied:
            wanted["output.weight"] = (OUTER["output.weight"], (self.vocab, d), 0)
        return wanted


def rotary_rows(heads, head_dim):
    """For each row of the half-split layout, the row of the interleaved one (x0 y0 x1 y1 … per head) that holds it."""
    rows = np.arange(heads * head_dim).reshape(heads, head_dim // 2, 2)
    return rows.swapaxes(1, 2).reshape(-1)


def llama3_divisors(theta, head_dim, scaling):
    """By how much Llama 3's rope scaling divides each of the head_dim / 2 frequencies."""
    frequencies = theta ** -(np.arange(0, head_dim, 2, dtype=np.float64) / head_dim)
    wavelengths = 2 * np.pi / frequencies
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    ratio = scaling["original_max_position_embeddings"] / wavelengths
    share = np.clip((ratio - low) / (high - low), 0, 1)  # 1: short waves, kept; 0: long waves, divided in full
    return 1 / ((1 - share) / scaling["factor"] + share)
