"""Models to train: from scratch or from a checkpoint; and the folders that trained ones are written to."""
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import AutoConfig, LlamaForCausalLM

from modeling_fullband import FullBandwidthLlamaConfig, FullBandwidthLlamaForCausalLM
from settings import ConfigError

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")


def source_folder(model):
    """Where the tokenizer is."""
    return Path(model.start or model.tokenizer)


def load_tokenizer(model):
    """(tokenizer, id of the end-of-text token)."""
    folder = source_folder(model)
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except Exception as fault:
        raise ConfigError(f"{folder}: has no readable tokenizer.json and tokenizer_config.json: {fault}") from None
    name = settings.get("eos_token")
    name = name.get("content") if isinstance(name, dict) else name
    end = tokenizer.token_to_id(name) if name else None
    if end is None:
        raise ConfigError(f"{folder / 'tokenizer_config.json'}: eos_token {name!r} is not a token of the tokenizer")
    return tokenizer, end


def build(training, tokenizer, end):
    """The model with its first weights, float32. fusion "none" gives an ordinary Llama."""
    m = training.model
    torch.manual_seed(training.run.seed)
    if m.start:
        return _from_checkpoint(m)
    shape = dict(vocab_size=tokenizer.get_vocab_size(), hidden_size=m.hidden_size,
                 intermediate_size=m.intermediate_size, num_hidden_layers=m.layers, num_attention_heads=m.heads,
                 num_key_value_heads=m.kv_heads,
                 head_dim=m.hidden_size // m.heads, max_position_embeddings=m.context, rms_norm_eps=1e-5,
                 rope_parameters={"rope_type": "default", "rope_theta": m.rope_theta}, tie_word_embeddings=True,
                 # Llama's own 0.02 suits widths of a thousand and more; narrower ones learn nothing from it for long.
                 initializer_range=m.hidden_size**-0.5, bos_token_id=None, eos_token_id=end, pad_token_id=None)
    return FullBandwidthLlamaForCausalLM(FullBandwidthLlamaConfig(latent_feedback=_feedback(m), **shape))


def _feedback(m):
    # Always built with the fusion, so that models that differ in it alone start from the same other weights.
    return {"fusion": "glu" if m.fusion == "none" else m.fusion}


def is_ordinary(folder):
    """Whether a checkpoint's config.json has no latent_feedback."""
    try:
        return "latent_feedback" not in json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise ConfigError(f"{folder}: has no readable config.json: {fault}") from None


def _from_checkpoint(m):
    ordinary = is_ordinary(m.start)
    try:
        if ordinary:
            kind = AutoConfig.from_pretrained(m.start).model_type
            if kind != "llama":
                raise ConfigError(f"{m.start}: is a {kind} model; training starts from Llama checkpoints")
            old = LlamaForCausalLM.from_pretrained(m.start, dtype=torch.float32)
        else:
            old = FullBandwidthLlamaForCausalLM.from_pretrained(m.start, dtype=torch.float32)
    except ConfigError:
        raise
    except Exception as fault:  # transformers and safetensors raise whatever they like
        raise ConfigError(f"{m.start}: cannot be loaded: {str(fault).splitlines()[0]}") from None
    model = _with_fusion(old, m) if ordinary else old
    if not ordinary and m.fusion not in ("none", model.config.latent_feedback["fusion"]):
        raise ConfigError(f"[model] fusion: {m.fusion} is not that of {m.start}, "
                          f"{model.config.latent_feedback['fusion']}")
    # Training knows no padding token: what the file calls so (SmolLM2's end of turn) is learnt like any other.
    model.get_input_embeddings().padding_idx = None
    return model


def _with_fusion(ordinary, m):
    values = ordinary.config.to_dict()
    for key in ("model_type", "architectures", "transformers_version", "dtype", "torch_dtype"):
        values.pop(key, None)
    model = FullBandwidthLlamaForCausalLM(FullBandwidthLlamaConfig(latent_feedback=_feedback(m), **values))
    missing, unexpected = model.load_state_dict(ordinary.state_dict(), strict=False)
    if unexpected or any(not name.startswith("latent_feedback.") for name in missing):
        raise ConfigError(f"{m.start}: tensors do not fit: missing {missing}, unexpected {unexpected}")
    model.tie_weights()
    model.generation_config = ordinary.generation_config
    return model


@dataclass
class FusionStart:
    """What the fusion starts from, in float64: over the positions that will be fused, the mean squares of the
    embeddings' coordinates [D], the mean of the states of the positions before [D], and that of their outer products
    [D, D]. Held as sums over `count` positions, so that those of a step's parts can be added."""

    e_square: torch.Tensor
    h: torch.Tensor
    h_outer: torch.Tensor
    count: torch.Tensor

    @staticmethod
    def of(e, h):
        """e, h [N, D]: embeddings and the states of the positions before."""
        e, h = e.double(), h.double()
        return FusionStart(e.square().sum(0).cpu(), h.sum(0).cpu(), (h.T @ h).cpu(), torch.tensor([len(e)]).double())

    def values(self):
        return list(vars(self).values())


@torch.no_grad()
def start_fusion(model, sums, seed, gain=3.0, share=0.1):
    """The fusion's first weights, called once, before the first step of more than one pass: a fused input is then as
    close to the plain one as equation 4's form allows, so that what the stack has learned goes on working.

    Every state is mapped to nearly the same vector c, by the least-squares solution w of w h = 1, plus a random part of
    size `share`; the gate passes each coordinate of the embedding: c_i sigmoid(s_i e_i) = c_i / 2 + e_i + ..., with
    c_i s_i = 4 and s_i e_i of size `gain`. The constant c / 2 is left over; its signs are random. Additive: e plus the
    random part. sums: a FusionStart over the whole step."""
    feedback, width = model.latent_feedback, model.config.hidden_size
    e_square, h, outer, _ = (value / sums.count for value in sums.values())
    random = torch.Generator().manual_seed(seed)
    draw = torch.randn(width, width, generator=random, dtype=torch.float64) / (outer.diagonal().sum())**0.5
    size = e_square.sqrt().clamp(min=1e-6 * float(e_square.max())**0.5 + 1e-30)
    if feedback.fusion == "additive":
        feedback.state_proj.weight.copy_(share * size[:, None] * draw)
        return
    ridge = 1e-3 * outer.diagonal().mean() * torch.eye(width, dtype=torch.float64)
    constant = torch.linalg.solve(outer + ridge, h)
    sign = torch.randint(0, 2, (width,), generator=random).double() * 2 - 1
    slope = sign * gain / size
    feedback.token_gate.weight.copy_(torch.diag(slope))
    feedback.state_proj.weight.copy_((4 / slope)[:, None] * (constant[None] + share * draw))


def export(model, training, folder, dtype=torch.float32, record=None):
    """Writes a Hugging Face folder that from_pretrained and Fullband both read. `folder` must not exist; it is there
    when all of it is written. record: what training.json says beside the configuration (a dict)."""
    folder = Path(folder)
    if folder.exists():
        raise ConfigError(f"{folder}: exists; an export writes a new folder")
    draft = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    draft.mkdir(parents=True)
    state = {name: value.detach().to("cpu", dtype).contiguous() for name, value in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        state.pop("lm_head.weight", None)
    if training.model.fusion == "none":
        state = {name: value for name, value in state.items() if not name.startswith("latent_feedback.")}
    save_file(state, draft / "model.safetensors", metadata={"format": "pt"})
    (draft / "model.safetensors").chmod(0o644)  # the library leaves it to its owner alone
    config = _config(model.config, training.model.fusion == "none", dtype)
    (draft / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    if training.model.fusion != "none":
        shutil.copyfile(Path(__file__).parent / "modeling_fullband.py", draft / "modeling_fullband.py")
    for name in TOKENIZER_FILES + ("generation_config.json",):
        if (source_folder(training.model) / name).exists():
            shutil.copyfile(source_folder(training.model) / name, draft / name)
    (draft / "training.toml").write_text(training.source, encoding="utf-8")
    if record is not None:
        (draft / "training.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    draft.rename(folder)


def _config(config, plain, dtype):
    """config.json's values."""
    values = config.to_dict()
    values["dtype"] = str(dtype).removeprefix("torch.")
    values.pop("_name_or_path", None)
    if plain:
        values.pop("latent_feedback")
        values.update(model_type="llama", architectures=["LlamaForCausalLM"])
    else:
        values.update(architectures=["FullBandwidthLlamaForCausalLM"],
                      auto_map={"AutoConfig": "modeling_fullband.FullBandwidthLlamaConfig",
                                "AutoModelForCausalLM": "modeling_fullband.FullBandwidthLlamaForCausalLM"})
    # Llama's default is 1, some token: where there is none, the file must say so.
    return {key: value for key, value in values.items() if value is not None or key == "bos_token_id"}
