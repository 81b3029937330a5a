"""Executable specification of the decode semantics, in float64 NumPy.

It is slow on purpose: every line is meant to be checked against the equations.
The product's engine must agree with it; the product must not import it at run time.

Shapes: T positions, D model width, H query heads, G key/value heads, K head width, V vocabulary.
Source: Full-bandwidth Transformers, arXiv 2608.08888, equations 1, 3 and 4.

Biases and q/k norms are applied where the checkpoint holds them.
"""
from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np


# ---------------------------------------------------------------- checkpoint

def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """All tensors of one .safetensors file as float64; bf16, f16 and f32 are understood."""
    blob = Path(path).read_bytes()
    (header_size,) = struct.unpack("<Q", blob[:8])
    header = json.loads(blob[8 : 8 + header_size])
    data = memoryview(blob)[8 + header_size :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = data[begin:end]
        if entry["dtype"] == "BF16":
            values = (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(raw, {"F16": np.float16, "F32": np.float32, "F64": np.float64}[entry["dtype"]])
        tensors[name] = values.astype(np.float64).reshape(entry["shape"])
    return tensors


@dataclass
class Model:
    config: dict
    w: dict[str, np.ndarray]

    @staticmethod
    def load(folder: str | Path) -> "Model":
        folder = Path(folder)
        weights: dict[str, np.ndarray] = {}
        for shard in sorted(folder.glob("*.safetensors")):
            weights.update(read_safetensors(shard))
        return Model(json.loads((folder / "config.json").read_text()), weights)

    def head(self) -> np.ndarray:
        """[V, D] output matrix: the embedding where config ties the two, else lm_head."""
        tied = self.config.get("tie_word_embeddings", False)
        return self.w["model.embed_tokens.weight" if tied else "lm_head.weight"]

    def rope_theta(self) -> float:
        """Top-level `rope_theta` (older configs) or `rope_parameters.rope_theta` (newer); 10000 where neither is given."""
        stated = {v for v in (self.config.get("rope_theta"), (self.config.get("rope_parameters") or {}).get("rope_theta")) if v}
        if len(stated) > 1:
            raise ValueError(f"config.json states rope_theta twice, differently: {sorted(stated)}")
        return float(stated.pop()) if stated else 10000.0


# ---------------------------------------------------------------- the stack f

def rms_norm(x, weight, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def inverse_frequencies(model: Model, width: int) -> np.ndarray:
    """Radians per position of each of the K/2 pairs, scaled as config.json's rope type says."""
    frequencies = model.rope_theta() ** (-np.arange(width // 2) / (width // 2))
    rope = model.config.get("rope_parameters") or model.config.get("rope_scaling") or {}
    kind = rope.get("rope_type") or rope.get("type") or "default"
    if kind == "default":
        return frequencies
    if kind == "linear":
        return frequencies / rope["factor"]
    if kind != "llama3":
        raise ValueError(f"rope type {kind!r} is not defined")
    # llama3: waves that fit the original context several times stay, waves longer than it are slowed by the
    # factor, and between the two the share of each changes linearly in the number of waves per context.
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    waves = rope["original_max_position_embeddings"] * frequencies / (2 * np.pi)
    kept = np.clip((waves - low) / (high - low), 0, 1)
    return kept * frequencies + (1 - kept) * frequencies / rope["factor"]


def rotate(x, positions, frequencies):
    """Rotary embedding, half-split layout. x: [T, heads, K]; positions: [T]; frequencies: [K/2]."""
    half = x.shape[-1] // 2
    angle = positions[:, None] * frequencies
    cos, sin = np.cos(angle)[:, None, :], np.sin(angle)[:, None, :]
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def share_heads(x, times):
    """[T, G, K] -> [T, H, K]: each key/value head serves `times` neighbouring query heads."""
    return np.repeat(x, times, 1)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


class Cache:
    """Keys and values of every layer for the positions run so far."""

    def __init__(self, layers: int):
        self.k = [None] * layers
        self.v = [None] * layers
        self.length = 0


def stack(model: Model, u: np.ndarray, cache: Cache) -> np.ndarray:
    """Runs input vectors u [T, D] through all layers on top of the cache.

    Returns the top-layer hidden states h [T, D] after the final norm: the vectors that the
    head projects (equation 1) and that latent feedback returns to the input (equation 3).
    """
    c = model.config
    heads, groups = c["num_attention_heads"], c.get("num_key_value_heads", c["num_attention_heads"])
    width = c.get("head_dim") or c["hidden_size"] // heads
    eps, frequencies = c["rms_norm_eps"], inverse_frequencies(model, width)
    steps = u.shape[0]
    positions = np.arange(cache.length, cache.length + steps)
    x = u
    for layer in range(c["num_hidden_layers"]):
        def weight(name):
            return model.w[f"model.layers.{layer}.{name}.weight"]

        def linear(name, vectors):
            bias = model.w.get(f"model.layers.{layer}.{name}.bias", 0.0)
            return vectors @ weight(name).T + bias

        def head_norm(name, vectors):  # over each head's K numbers, before the rotation
            norm = model.w.get(f"model.layers.{layer}.{name}.weight")
            return vectors if norm is None else rms_norm(vectors, norm, eps)

        a = rms_norm(x, weight("input_layernorm"), eps)
        q = head_norm("self_attn.q_norm", linear("self_attn.q_proj", a).reshape(steps, heads, width))
        k = head_norm("self_attn.k_norm", linear("self_attn.k_proj", a).reshape(steps, groups, width))
        q, k = rotate(q, positions, frequencies), rotate(k, positions, frequencies)
        v = linear("self_attn.v_proj", a).reshape(steps, groups, width)
        if cache.k[layer] is not None:
            k = np.concatenate([cache.k[layer], k])
            v = np.concatenate([cache.v[layer], v])
        cache.k[layer], cache.v[layer] = k, v

        shared = heads // groups
        scores = np.einsum("thk,shk->hts", q, share_heads(k, shared)) / np.sqrt(width)
        future = np.arange(k.shape[0])[None, :] > positions[:, None]
        scores = np.where(future[None], -np.inf, scores)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        mixed = np.einsum("hts,shk->thk", p, share_heads(v, shared)).reshape(steps, heads * width)
        x = x + linear("self_attn.o_proj", mixed)

        m = rms_norm(x, weight("post_attention_layernorm"), eps)
        gate = linear("mlp.gate_proj", m)
        x = x + linear("mlp.down_proj", gate * sigmoid(gate) * linear("mlp.up_proj", m))
    cache.length += steps
    return rms_norm(x, model.w["model.norm.weight"], eps)


# ---------------------------------------------------------------- latent feedback

def embed(model: Model, tokens) -> np.ndarray:
    return model.w["model.embed_tokens.weight"][np.asarray(tokens)]


CONTROLS = ("zero", "stale", "reversed", "constant_gate")


def fuse(model: Model, e: np.ndarray, h: np.ndarray, h_older: np.ndarray, control: str | None = None) -> np.ndarray:
    """e_t (x) h_{t-1}. 'glu' is equation 4; 'additive' is the shortcut-prone form it is compared with.

    A control spoils the feedback, to show whether it is used: zero (h := 0), stale (h_{t-2}, or h_0 at t = 1),
    reversed (h's coordinates in reverse order), constant_gate (the gate of token 0 for every token; glu only).
    """
    kind = model.config["latent_feedback"]["fusion"]
    if control == "zero":
        h = np.zeros_like(h)
    elif control == "stale":
        h = h_older
    elif control == "reversed":
        h = h[..., ::-1]
    up = h @ model.w["latent_feedback.state_proj.weight"].T
    if kind == "glu":
        gate_input = np.broadcast_to(embed(model, 0), e.shape) if control == "constant_gate" else e
        return up * sigmoid(gate_input @ model.w["latent_feedback.token_gate.weight"].T)
    if kind == "additive" and control != "constant_gate":
        return e + up
    raise ValueError(f"fusion {kind!r} with control {control!r} is not defined")


def prefill(model: Model, tokens, passes: int = 1, fused_from: int = 1, control: str | None = None):
    """Runs the prompt `passes` times; every pass starts from an empty cache.

    Pass 1 feeds plain embeddings. Pass p > 1 feeds e_t (x) h^(p-1)_{t-1} at every position
    t >= max(fused_from, 1) and the plain e_t before it (position 0 has no predecessor).
    Returns (h [T, D] of the last pass, its cache). The earlier caches are not needed to decode.
    """
    e = embed(model, tokens)
    start = max(fused_from, 1)
    h = cache = None
    for p in range(passes):
        u = e.copy()
        if p > 0:
            t = np.arange(start, len(e))
            u[t] = fuse(model, e[t], h[t - 1], h[np.maximum(t - 2, 0)], control)
        cache = Cache(model.config["num_hidden_layers"])
        h = stack(model, u, cache)
    return h, cache


def recur(model: Model, tokens, fused_from: int = 1, control: str | None = None):
    """The exact recurrence of equation 3, one position at a time: the limit of many passes."""
    e = embed(model, tokens)
    cache = Cache(model.config["num_hidden_layers"])
    h = []
    for t in range(len(tokens)):
        u = e[t : t + 1]
        if t >= max(fused_from, 1):
            u = fuse(model, u, h[-1], h[max(t - 2, 0)], control)
        h.append(stack(model, u, cache))
    return np.concatenate(h), cache


# ---------------------------------------------------------------- settings

@dataclass(frozen=True)
class Setting:
    """How to decode or score: '<mode>[@<passes>|@exact][:<control>]'.

    standard[@P], latent[@P]: P prefill passes over the prompt (1 if not given; 'exact' = the recurrence),
    then each further token re-enters plain (standard) or fused (latent).
    parallel@P: scoring only; P passes over context and continuation together.
    """
    mode: str
    passes: int | str
    control: str | None

    @staticmethod
    def parse(text: str) -> "Setting":
        rest, _, control = text.partition(":")
        mode, _, passes = rest.partition("@")
        if (mode not in ("standard", "latent", "parallel") or control not in ("", *CONTROLS)
                or (passes and passes != "exact" and not (passes.isdigit() and int(passes) > 0))):
            raise ValueError(f"unknown setting {text!r}")
        return Setting(mode, passes if passes == "exact" else int(passes or 1), control or None)

    def prefill(self, model, tokens):
        if self.passes == "exact":
            return recur(model, tokens, control=self.control)
        return prefill(model, tokens, self.passes, control=self.control)


class Decoder:
    """A prompt that has been prefilled under a setting, and the tokens appended since."""

    def __init__(self, model: Model, tokens, setting: Setting):
        self.model, self.setting = model, setting
        h, self.cache = setting.prefill(model, tokens)
        self.h = list(h)

    def logits(self) -> np.ndarray:
        return self.model.head() @ self.h[-1]

    def append(self, token: int):
        u = embed(self.model, token)
        if self.setting.mode == "latent":
            u = fuse(self.model, u, self.h[-1], self.h[max(len(self.h) - 2, 0)], self.setting.control)
        self.h.append(stack(self.model, u[None], self.cache)[0])


def decode(model: Model, tokens, new_tokens: int, setting: str):
    """Greedy decoding. Returns the generated ids and the logits [new_tokens, V] they came from.

    'standard' and 'latent' share their one-pass prefill, so their first token is the same.
    """
    s = Setting.parse(setting)
    if s.mode == "parallel":
        raise ValueError("parallel is for scoring only")
    decoder, ids, logits = Decoder(model, tokens, s), [], []
    for _ in range(new_tokens):
        logits.append(decoder.logits())
        ids.append(int(logits[-1].argmax()))
        decoder.append(ids[-1])
    return ids, np.stack(logits)


def score(model: Model, context, continuation, setting: str) -> np.ndarray:
    """Natural log-probability of each continuation token given all before it. Shape [len(continuation)].

    standard and latent: what decoding under that setting would assign if it were made to emit the continuation.
    parallel@P: P passes over context + continuation at once (the paper's multi-pass evaluation). parallel@1 == standard.
    """
    if not len(context):
        raise ValueError("an empty context has no state to score from; give at least the BOS token")
    s = Setting.parse(setting)
    if s.mode == "parallel":
        h, _ = s.prefill(model, list(context) + list(continuation))
        logits = h[len(context) - 1 : -1] @ model.head().T
    else:
        decoder, logits = Decoder(model, context, s), []
        for token in continuation:
            logits.append(decoder.logits())
            decoder.append(token)
        logits = np.stack(logits)
    return log_softmax(logits)[np.arange(len(continuation)), np.asarray(continuation)]


def log_softmax(logits: np.ndarray) -> np.ndarray:
    z = logits - logits.max(-1, keepdims=True)
    return z - np.log(np.exp(z).sum(-1, keepdims=True))


def residual_per_pass(model: Model, tokens, passes: int) -> list[float]:
    """||h^(p) - h^(p-1)|| / ||h^(p-1)|| for p = 2..passes: falls where the map contracts, grows where it diverges."""
    out, before = [], prefill(model, tokens, 1)[0]
    for p in range(2, passes + 1):
        now = prefill(model, tokens, p)[0]
        out.append(float(np.linalg.norm(now - before) / np.linalg.norm(before)))
        before = now
    return out
