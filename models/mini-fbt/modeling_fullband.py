"""Llama with latent feedback as a Hugging Face model: the file that each checkpoint carries.

    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
    model.generate(ids, setting="latent@2")

Source: Full-bandwidth Transformers, arXiv 2608.08888, equations 1, 3 and 4. The input at position t is the token's
embedding e_t fused with the top-layer hidden state h_{t-1} (after the final norm): e_t (x) h_{t-1}.

A setting says how: "standard" (never fused), "latent" (prompt plain, generated tokens fused), "latent@P" (the prompt is
run P times, each pass fused with the states of the pass before), "latent@exact" (the prompt one position at a time),
"standard@P"; ":zero", ":stale", ":reversed" or ":constant_gate" after it spoils the feedback, to show whether it is
used.

Shapes: B sequences, T positions, D model width, V vocabulary.
"""
import inspect
import re
from dataclasses import dataclass

import torch
from torch import nn
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM, LlamaModel
from transformers.modeling_outputs import CausalLMOutputWithPast

CONTROLS = ("zero", "stale", "reversed", "constant_gate")
FUSIONS = ("glu", "additive")
# What transformers calls the keys and values of earlier positions, as an argument and in an output.
_CACHE = "cache" if "cache" in inspect.signature(LlamaModel.forward).parameters else "past_key_values"
# generate()'s options under which it decodes otherwise than token by token from a cache, so that no states go along;
# and their values that do not.
_WITHOUT_STATES = {"num_beams": (None, 1), "assistant_model": (None,), "use_mtp": (None, False),
                   "prompt_lookup_num_tokens": (None,), "assistant_early_exit": (None,), "penalty_alpha": (None, 0),
                   "dola_layers": (None,), "prefill_chunk_size": (None,), "custom_generate": (None,),
                   "use_cache": (None, True)}
_SETTING = re.compile(r"(standard|latent|parallel)(?:@(exact|[1-9][0-9]*))?(?::(\w+))?")


class FullBandwidthLlamaConfig(LlamaConfig):
    """Llama's configuration with `latent_feedback`, {"fusion": "glu"} or {"fusion": "additive"}, and `setting`, how the
    model decodes and scores where a call does not say (from_pretrained(..., setting="latent@2"))."""

    model_type = "fullband_llama"

    def __init__(self, latent_feedback=None, setting="standard", **kwargs):
        super().__init__(**kwargs)
        self.latent_feedback = {"fusion": "glu"} if latent_feedback is None else dict(latent_feedback)
        self.setting = setting

    def to_dict(self):
        """Without the setting: it belongs to a use of the weights, not to the weights."""
        values = super().to_dict()
        values.pop("setting", None)
        return values


@dataclass(frozen=True)
class Setting:
    """`passes` over the prompt (0: the exact recurrence); `latent`: further tokens are fused."""

    latent: bool
    passes: int
    control: str | None

    @staticmethod
    def parse(text):
        match = _SETTING.fullmatch(text)
        if not match or match[3] not in (None, *CONTROLS):
            raise ValueError(f"unknown setting {text!r} (standard, latent, latent@P, latent@exact, parallel@P, "
                             f"and a control: {', '.join(CONTROLS)})")
        mode, passes, control = match[1], match[2] or "1", match[3]
        if mode == "parallel" and passes == "exact":
            raise ValueError(f"unknown setting {text!r}: the recurrence is latent@exact")
        if control and mode != "latent" and passes == "1":
            raise ValueError(f"setting {text!r} has no fused position for a control to spoil")
        return Setting(mode == "latent", 0 if passes == "exact" else int(passes), control)

    @property
    def plain(self):
        return not self.latent and self.passes == 1


@dataclass
class FullBandwidthOutput(CausalLMOutputWithPast):
    """`states`: top-layer hidden states [B, 2, D] of the last two positions, what the next token is fused with."""

    states: torch.Tensor | None = None


class LatentFeedback(nn.Module):
    """e_t (x) h_{t-1}: W^U h * sigmoid(W^G e) (glu, equation 4) or e + W^U h (additive)."""

    def __init__(self, config):
        super().__init__()
        self.fusion = config.latent_feedback.get("fusion")
        if self.fusion not in FUSIONS:
            raise ValueError(f"latent_feedback.fusion {self.fusion!r} is not one of {FUSIONS}")
        width = config.hidden_size
        self.state_proj = nn.Linear(width, width, bias=False)
        if self.fusion == "glu":
            self.token_gate = nn.Linear(width, width, bias=False)

    def forward(self, e, h, older, control=None, constant=None):
        """e, h, older [..., D]: embedding, state of the position before, and of the one before that.
        constant [D]: embedding of token 0, for the control constant_gate. Returns [..., D]."""
        if control == "zero":
            h = torch.zeros_like(h)
        elif control == "stale":
            h = older
        elif control == "reversed":
            h = h.flip(-1)
        elif control == "constant_gate":
            if self.fusion != "glu":
                raise ValueError("the control constant_gate needs a gate: fusion is additive")
            e = constant.expand_as(e)
        if self.fusion == "additive":
            return e + self.state_proj(h)
        return self.state_proj(h) * torch.sigmoid(self.token_gate(e))


def shift_right(h, first):
    """h [B, T, D] -> the states of the position before each, and of the one before that, which for a text's second
    position is its first, too. first [B, T]: where a text begins. What stands there is never used."""
    before = torch.cat([h[:, :1], h[:, :-1]], 1)
    older = torch.cat([before[:, :1], before[:, :-1]], 1)
    second = torch.cat([first[:, :1], first[:, :-1]], 1)
    return before, torch.where(second[..., None], before, older)


class FullBandwidthLlamaForCausalLM(LlamaForCausalLM):
    config_class = FullBandwidthLlamaConfig

    def __init__(self, config):
        super().__init__(config)
        self.latent_feedback = LatentFeedback(config)
        self.post_init()

    def fuse(self, e, h, older, control=None):
        constant = self.get_input_embeddings().weight[0] if control == "constant_gate" else None
        return self.latent_feedback(e, h, older, control, constant)

    def run_passes(self, e, fused, first, passes, control=None, **inputs):
        """States [B, T, D] of each of `passes` runs over e [B, T, D], in order. `fused` [B, T] says which positions of
        the later passes take the state of the position before; the others take the plain embedding. `first` [B, T]:
        where a text begins; never fused."""
        states, u = [], e
        for p in range(passes):
            if p:
                u = self._fused_inputs(e, states[-1], fused, first, control)
            states.append(self.model(inputs_embeds=u, use_cache=False, **inputs).last_hidden_state)
        return states

    def _fused_inputs(self, e, h, fused, first, control):
        return torch.where(fused[..., None], self.fuse(e, *shift_right(h, first), control), e)

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, cache=None, inputs_embeds=None,
                labels=None, use_cache=None, logits_to_keep=0, setting=None, states=None, past_key_values=None,
                **kwargs):
        """As LlamaForCausalLM's (past_key_values is an older name of `cache`). Without `states` (from an earlier
        output) the tokens are a prompt: run as `setting` has it, P passes over all of them at once (so a whole text
        under latent@P is scored by P parallel passes). With `states` they continue what is in the cache, fused one by
        one under a latent setting."""
        chosen = Setting.parse(setting or self.config.setting)
        cache = past_key_values if cache is None else cache
        # Stands even under standard: generate() builds its inputs alike for every setting.
        e = self.get_input_embeddings()(input_ids) if inputs_embeds is None else inputs_embeds
        inputs = dict(attention_mask=attention_mask, position_ids=position_ids)
        first = None if states is not None or chosen.plain else self._first(e, cache, attention_mask)
        if states is not None and chosen.latent:
            h, cache = self._recur(e, chosen, cache, states, **inputs)
        elif states is not None or chosen.passes == 1:
            h, cache = self._run(e, cache, use_cache, **inputs)
        else:
            if cache is not None and cache.get_seq_length():
                raise ValueError("a cache without the states that go with it: pass states=output.states as well")
            h, cache = self._prompt(e, chosen, first, cache, use_cache, **inputs)
        keep = slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) else logits_to_keep
        logits = self.lm_head(h[:, keep, :])
        loss = None
        if labels is not None:
            loss = self.loss_function(logits=logits, labels=labels, vocab_size=self.config.vocab_size, **kwargs)
        return FullBandwidthOutput(loss=loss, logits=logits, states=self._last(h, first, states), **{_CACHE: cache})

    def _last(self, h, first, states):
        """States [B, 2, D] of the last two positions; of the last alone, twice, where it begins a text."""
        if h.shape[1] == 1:
            return torch.cat([h if states is None else states[:, 1:], h], 1)
        if first is None:
            return h[:, -2:]
        return torch.cat([torch.where(first[:, -1:, None], h[:, -1:], h[:, -2:-1]), h[:, -1:]], 1)

    def _run(self, u, cache, use_cache, **inputs):
        out = self.model(inputs_embeds=u, use_cache=use_cache, **{_CACHE: cache}, **inputs)
        return out.last_hidden_state, getattr(out, _CACHE)

    def _first(self, e, cache, attention_mask):
        """[B, T], true at each row's first token: rows are padded on the left. Padding counts as first, too."""
        if attention_mask is None:
            done = 0 if cache is None else cache.get_seq_length()
            return torch.arange(done, done + e.shape[1], device=e.device)[None].expand(e.shape[:2]) == 0
        if attention_mask.dim() != 2:
            raise ValueError("latent feedback needs an attention mask [sequences, positions], which tells padding from "
                             "text; a static cache makes another")
        return (attention_mask.cumsum(1) <= 1)[:, -e.shape[1]:]

    def _prompt(self, e, setting, first, cache, use_cache, **inputs):
        if setting.passes == 0:
            return self._recur(e, setting, cache, None, first=first, **inputs)
        h = self.run_passes(e, ~first, first, setting.passes - 1, setting.control, **inputs)[-1]
        return self._run(self._fused_inputs(e, h, ~first, first, setting.control), cache, use_cache, **inputs)

    def _recur(self, e, setting, cache, states, attention_mask, position_ids, first=None):
        """One position at a time. first [B, T]: positions that enter plain."""
        cache = DynamicCache(config=self.config) if cache is None else cache
        done, rows = cache.get_seq_length(), []
        for t in range(e.shape[1]):
            u = e[:, t:t + 1]
            if states is not None:
                fused = self.fuse(u, states[:, 1:], states[:, :1], setting.control)
                u = fused if first is None else torch.where(first[:, t, None, None], u, fused)
            mask = None if attention_mask is None else attention_mask[:, :done + t + 1]
            positions = None if position_ids is None else position_ids[:, t:t + 1]
            h, cache = self._run(u, cache, True, attention_mask=mask, position_ids=positions)
            older = h if states is None else states[:, 1:]
            if first is not None:
                older = torch.where(first[:, t, None, None], h, older)
            states = torch.cat([older, h], 1)
            rows.append(h)
        return torch.cat(rows, 1), cache

    def generate(self, inputs=None, generation_config=None, *args, setting=None, **kwargs):
        """As every model's generate(), under `setting` (default: the configuration's). What decodes otherwise than
        token by token from a cache (beams, assistants, use_cache=False) is refused under a setting that needs the
        states."""
        chosen = setting or self.config.setting
        if chosen.startswith("parallel"):
            raise ValueError(f"setting {chosen}: is for scoring only")
        if not Setting.parse(chosen).plain:
            config = generation_config or self.generation_config
            for name, off in _WITHOUT_STATES.items():
                value = kwargs.get(name, getattr(config, name, None))
                if not any(value is known for known in off):
                    raise ValueError(f"setting {chosen}: {name} = {value} is not supported with latent feedback")
        return super().generate(inputs, generation_config, *args, setting=chosen, **kwargs)

    def _update_model_kwargs_for_generation(self, outputs, model_kwargs, *args, **kwargs):
        model_kwargs = super()._update_model_kwargs_for_generation(outputs, model_kwargs, *args, **kwargs)
        model_kwargs["states"] = outputs.states
        return model_kwargs
