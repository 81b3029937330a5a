"""Plausible mistakes, planted in the reference: a comparison that does not notice them is worth nothing."""
from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Callable
from unittest import mock

import numpy as np

import fbt_reference as fbt


@dataclass(frozen=True)
class Fault:
    """`patch` replaces functions of the reference by name, `change` makes another model of a model."""

    name: str
    shape: str  # the checkpoint and the setting that it must show in
    setting: str
    patch: dict | None = None
    change: Callable[[fbt.Model], fbt.Model] | None = None

    @contextmanager
    def planted(self):
        with mock.patch.multiple(fbt, **(self.patch or {"CONTROLS": fbt.CONTROLS})):
            yield

    def spoil(self, model: fbt.Model) -> fbt.Model:
        return self.change(model) if self.change else model


def swap_fusion_weights(model):
    up, gate = "latent_feedback.state_proj.weight", "latent_feedback.token_gate.weight"
    return fbt.Model(model.config, model.w | {up: model.w[gate], gate: model.w[up]})


def without(ending):
    """A model that lacks the tensors whose names end so."""
    return lambda model: fbt.Model(model.config, {n: w for n, w in model.w.items() if not n.endswith(ending)})


def with_config(**keys):
    return lambda model: fbt.Model(model.config | keys, model.w)


_fuse, _prefill, _rotate, _sigmoid = fbt.fuse, fbt.prefill, fbt.rotate, fbt.sigmoid


def interleaved(x, positions, frequencies):
    """The other layout of rotary pairs: neighbours instead of halves."""
    order = np.concatenate([np.arange(0, x.shape[-1], 2), np.arange(1, x.shape[-1], 2)])
    out = np.empty_like(x)
    out[..., order] = _rotate(x[..., order], positions, frequencies)
    return out


def gate_and_value_swapped(model, e, h, h_older, control=None):
    """The activation on the state, the token as the value."""
    up = h @ model.w["latent_feedback.state_proj.weight"].T
    return _sigmoid(up) * (e @ model.w["latent_feedback.token_gate.weight"].T)


FAULTS = (
    Fault("the fusion's weights are swapped", "tied_glu", "latent", change=swap_fusion_weights),
    Fault("the fusion's gate and value are swapped", "tied_glu", "latent@2", {"fuse": gate_and_value_swapped}),
    Fault("the feedback is one position late", "tied_glu", "latent",
          {"fuse": lambda m, e, h, older, control=None: _fuse(m, e, older, older, control)}),
    Fault("the control is ignored", "tied_glu", "latent:stale",
          {"fuse": lambda m, e, h, older, control=None: _fuse(m, e, h, older, None)}),
    Fault("the additive fusion forgets the token", "untied_additive_bf16", "latent",
          {"fuse": lambda m, e, h, older, control=None: _fuse(m, 0 * e, h, older, control)}),
    Fault("one prefill pass too few", "tied_glu", "latent@3",
          {"prefill": lambda m, t, passes=1, **k: _prefill(m, t, passes - 1, **k)}),
    Fault("position 1 stays plain", "tied_glu", "parallel@2",
          {"prefill": lambda m, t, passes=1, **k: _prefill(m, t, passes, fused_from=2, **k)}),
    Fault("the rotation goes the other way", "tied_glu", "standard", {"rotate": lambda x, p, f: _rotate(x, -p, f)}),
    Fault("rotary pairs are neighbours", "tied_glu", "standard", {"rotate": interleaved}),
    Fault("the rope type linear is ignored", "biases_linear_f16", "standard", change=with_config(rope_scaling=None)),
    Fault("the rope type llama3 is ignored", "llama3_rope_mixed", "standard", change=with_config(rope_scaling=None)),
    Fault("rope_theta is the default", "qwen2_bf16", "standard", change=with_config(rope_theta=None)),
    Fault("rope_parameters is not read", "qwen3_head_dim", "standard", change=with_config(rope_parameters=None)),
    Fault("key/value heads are dealt out in turn", "tied_glu", "standard",
          {"share_heads": lambda x, times: np.tile(x, (1, times, 1))}),
    Fault("q bias is left out", "qwen2_bf16", "standard", change=without("q_proj.bias")),
    Fault("k bias is left out", "qwen2_bf16", "standard", change=without("k_proj.bias")),
    Fault("v bias is left out", "qwen2_bf16", "standard", change=without("v_proj.bias")),
    Fault("o bias is left out", "qwen3_bias_additive", "standard", change=without("o_proj.bias")),
    Fault("gate bias is left out", "biases_linear_f16", "standard", change=without("gate_proj.bias")),
    Fault("up bias is left out", "biases_linear_f16", "standard", change=without("up_proj.bias")),
    Fault("down bias is left out", "biases_linear_f16", "standard", change=without("down_proj.bias")),
    Fault("q norm is left out", "qwen3_head_dim", "standard", change=without("q_norm.weight")),
    Fault("k norm is left out", "qwen3_head_dim", "standard", change=without("k_norm.weight")),
    Fault("the norm's epsilon is another", "tied_glu", "standard", change=with_config(rms_norm_eps=1e-3)),
    Fault("SiLU is a plain sigmoid gate of half the slope", "tied_glu", "standard", {"sigmoid": lambda x: _sigmoid(x / 2)}),
)
