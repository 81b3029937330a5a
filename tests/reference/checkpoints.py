"""Random checkpoint folders of every shape and kind that the engine reads, small enough to run in milliseconds."""
from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Shape:
    """What one checkpoint is. `dtypes` are dealt out to the tensors in turn."""

    name: str
    family: str = "LlamaForCausalLM"
    fusion: str | None = "glu"
    dtypes: tuple[str, ...] = ("F32",)
    heads: int = 4
    groups: int = 2
    head_dim: int | None = None  # None: width / heads, and no head_dim in config.json
    tied: bool = True
    attention_bias: bool = False
    mlp_bias: bool = False
    extra: dict = field(default_factory=dict)  # further keys of config.json
    width: int = 48
    inner: int = 88
    layers: int = 2
    vocab: int = 61
    feedback_gain: float = 1.0  # small: passes over an additive model contract
    prompt: int = 19  # length of the prompt that the comparison uses


SHAPES = (
    Shape("tied_glu"),
    Shape("untied_additive_bf16", fusion="additive", dtypes=("BF16",), groups=4, tied=False),
    Shape("biases_linear_f16", dtypes=("F16",), attention_bias=True, mlp_bias=True,
          extra={"rope_scaling": {"type": "linear", "factor": 2.5}}),
    Shape("qwen2_bf16", family="Qwen2ForCausalLM", dtypes=("BF16",), tied=False, extra={"rope_theta": 1e6}),
    Shape("qwen3_head_dim", family="Qwen3ForCausalLM", head_dim=20,
          extra={"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}),
    Shape("qwen3_bias_additive", family="Qwen3ForCausalLM", fusion="additive", dtypes=("BF16",), head_dim=8,
          attention_bias=True, tied=False),
    Shape("llama3_rope_mixed", family="FullBandwidthLlamaForCausalLM", dtypes=("F32", "BF16", "F16"), heads=3, groups=3,
          extra={"rope_theta": 10000.0, "rope_scaling": {
              "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
              "original_max_position_embeddings": 64}}),
    Shape("mistral_one_group_long", family="MistralForCausalLM", groups=1, head_dim=8,
          extra={"sliding_window": None}, prompt=75),
    Shape("ordinary", fusion=None, groups=4),
)


def config_of(shape: Shape) -> dict:
    config = {
        "architectures": [shape.family], "hidden_size": shape.width, "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads, "num_key_value_heads": shape.groups,
        "vocab_size": shape.vocab, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "tie_word_embeddings": shape.tied, "attention_bias": shape.attention_bias, "mlp_bias": shape.mlp_bias,
    }
    if shape.head_dim or shape.family == "Qwen3ForCausalLM":
        config["head_dim"] = shape.head_dim or shape.width // shape.heads
    if shape.fusion:
        config["latent_feedback"] = {"fusion": shape.fusion}
    return config | shape.extra


def random_tensors(shape: Shape, seed: int) -> dict[str, np.ndarray]:
    """Float64 draws. Norms lie near 1, biases near 0. The layers add less to the residual stream than the input brings:
    with layers as strong as the input, the recurrence of a random model is chaotic, and no tolerance means anything."""
    rng = np.random.default_rng(seed)
    width, inner = shape.width, shape.inner
    head = shape.head_dim or width // shape.heads
    queries, keys = shape.heads * head, shape.groups * head
    tensors = {}

    def matrix(name, rows, columns, gain=1.0, bias=False):
        tensors[name + ".weight"] = rng.normal(0, gain / np.sqrt(columns), (rows, columns))
        if bias:
            tensors[name + ".bias"] = rng.normal(0, 0.3, rows)

    def norm(name, size):
        tensors[name + ".weight"] = rng.normal(1, 0.2, size)

    tensors["model.embed_tokens.weight"] = rng.normal(0, 0.6, (shape.vocab, width))
    norm("model.norm", width)
    if not shape.tied:
        matrix("lm_head", shape.vocab, width, 3)
    if shape.fusion:
        gain = 2 if shape.fusion == "glu" else 1
        matrix("latent_feedback.state_proj", width, width, gain * shape.feedback_gain)
    if shape.fusion == "glu":
        matrix("latent_feedback.token_gate", width, width, 0.7)
    qkv_bias = shape.attention_bias or shape.family == "Qwen2ForCausalLM"
    for layer in range(shape.layers):
        p = f"model.layers.{layer}."
        norm(p + "input_layernorm", width)
        matrix(p + "self_attn.q_proj", queries, width, 1.5, qkv_bias)
        matrix(p + "self_attn.k_proj", keys, width, 1.5, qkv_bias)
        matrix(p + "self_attn.v_proj", keys, width, 1, qkv_bias)
        if shape.family == "Qwen3ForCausalLM":
            norm(p + "self_attn.q_norm", head)
            norm(p + "self_attn.k_norm", head)
        matrix(p + "self_attn.o_proj", width, queries, 0.25, shape.attention_bias)
        norm(p + "post_attention_layernorm", width)
        matrix(p + "mlp.gate_proj", inner, width, 1, shape.mlp_bias)
        matrix(p + "mlp.up_proj", inner, width, 1, shape.mlp_bias)
        matrix(p + "mlp.down_proj", width, inner, 0.25, shape.mlp_bias)
    return tensors


def stored(values: np.ndarray, dtype: str) -> bytes:
    if dtype == "BF16":  # round to nearest, ties to even
        bits = values.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).tobytes()
    return values.astype({"F16": np.float16, "F32": np.float32}[dtype]).tobytes()


def write(shape: Shape, folder: Path, seed: int = 1) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config_of(shape)))
    header, data = {}, b""
    for i, (name, values) in enumerate(random_tensors(shape, seed).items()):
        dtype = shape.dtypes[i % len(shape.dtypes)]
        raw = stored(values, dtype)
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    return folder
