"""One TOML file describes a training. `read(path)` checks every key and gives a Training; a checkpoint records it."""
import dataclasses
import json
import math
import tomllib
import typing
from dataclasses import dataclass, field
from pathlib import Path


class ConfigError(Exception):
    """Names the file, the key and what to do."""


@dataclass(frozen=True)
class Model:
    """From scratch (tokenizer and sizes), or from an ordinary or latent-feedback checkpoint (`start`)."""

    start: str = ""  # checkpoint folder; empty: from scratch
    tokenizer: str = ""  # folder of tokenizer.json, from scratch only
    fusion: str = "glu"
    hidden_size: int = 128
    layers: int = 2
    heads: int = 4
    kv_heads: int = 4
    intermediate_size: int = 384
    context: int = 512  # max_position_embeddings
    rope_theta: float = 10000.0


@dataclass(frozen=True)
class Data:
    train: list[str] = field(default_factory=list)  # JSONL or plain text (one document a file or per blank line)
    held_out: list[str] = field(default_factory=list)
    sequence_length: int = 256  # tokens of a row; longer documents are cut at its end
    held_out_rows: int = 128  # at most so many are scored at each evaluation


@dataclass(frozen=True)
class Objective:
    first_weight: float = 1.0
    later_weight: float = 1.0
    # Share of documents whose fused input starts at a random place; the others are fused from their second token on.
    prefix_mixing: float = 0.5
    # Where such a start is: "uniform" over the document, or "answer": the first token of one of its answers.
    prefix_start: str = "uniform"


@dataclass(frozen=True)
class Phase:
    """Until `until` (share of the steps), each batch draws its number of passes with these weights."""

    until: float = 1.0
    passes: dict[str, float] = field(default_factory=lambda: {"1": 1.0})


@dataclass(frozen=True)
class Schedule:
    steps: int = 1000
    rows: int = 64  # of one step, over all processes
    micro_rows: int = 64  # of one forward and backward run in one process: gradients accumulate over them
    optimizer: str = "adamw"  # or "muon": Muon for the hidden matrices, AdamW for embeddings, head and norms
    muon_share: float = 3.0  # size of Muon's updates beside learning_rate (that of AdamW's)
    gate_share: float = 10.0  # size of the updates of the token gate W^G beside the other hidden matrices'
    learning_rate: float = 1e-3
    warmup: float = 0.02  # share of the steps with a rising rate
    decay: float = 0.3  # share of the steps, at the end, with a falling one
    final_rate: float = 0.05  # of learning_rate, at the last step
    weight_decay: float = 0.1
    beta2: float = 0.99
    clip: float = 1.0  # largest norm of the gradient
    phases: list[Phase] = field(default_factory=lambda: [Phase()])


@dataclass(frozen=True)
class Run:
    out: str = ""
    seed: int = 1
    precision: str = "f32"  # or "bf16": products in bfloat16, weights, sums and the residual stream in float32
    device: str = "auto"
    threads: int = 0  # 0: as PyTorch chooses
    checkpoint_steps: int = 200
    keep_checkpoints: int = 2
    evaluate_steps: int = 500
    evaluate_passes: int = 4
    log_steps: int = 10
    minutes: float = 0.0  # stop (with a checkpoint) after so long; 0: at the last step


@dataclass(frozen=True)
class Training:
    model: Model
    data: Data
    objective: Objective
    schedule: Schedule
    run: Run
    source: str = ""  # the file's text, as recorded in checkpoints

    def tables(self):
        """The file's tables as plain values, all keys, paths absolute."""
        return {name: value for name, value in dataclasses.asdict(self).items() if isinstance(value, dict)}

    def identity(self):
        """What decides the weights beyond rounding, as plain values: a training is only resumed under the same. Files
        are left out: what is in them counts, not where they are (Trainer.identity)."""
        values = self.tables()
        for part, keys in _NO_WEIGHT.items():
            for key in keys:
                values[part].pop(key)
        return values


# Keys that the weights do not depend on.
_NO_WEIGHT = {
    "model": ("start", "tokenizer"), "data": ("train", "held_out", "held_out_rows"), "schedule": ("micro_rows",),
    "run": ("out", "device", "threads", "checkpoint_steps", "keep_checkpoints", "evaluate_steps", "evaluate_passes",
            "log_steps", "minutes")}


def toml_of(tables):
    """TOML of a dict of tables: JSON's numbers, strings, booleans and lists are TOML's."""
    def one(value):
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(key)} = {one(entry)}" for key, entry in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(one, value)) + "]"
        return json.dumps(value, ensure_ascii=False)

    return "\n".join(f"[{name}]\n" + "".join(f"{key} = {one(value)}\n" for key, value in table.items())
                     for name, table in tables.items())


def read(path):
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except OSError as fault:
        raise ConfigError(f"{path}: {fault.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ConfigError(f"{path}: is not TOML: {fault}") from None
    parts = {}
    known = {"model": Model, "data": Data, "objective": Objective, "schedule": Schedule, "run": Run}
    for name in values:
        if name not in known:
            raise ConfigError(f"{path}: [{name}] is not known ({', '.join(known)})")
    for name, kind in known.items():
        parts[name] = _fill(kind, values.get(name, {}), f"{path}: [{name}]")
    training = Training(**parts, source=text)
    _check(training, path)
    return _absolute(training, path.resolve().parent)


def _fill(kind, values, where):
    if not isinstance(values, dict):
        raise ConfigError(f"{where} is not a table")
    kinds = typing.get_type_hints(kind)
    out = {}
    for key, value in values.items():
        if key not in kinds:
            raise ConfigError(f"{where} {key}: is not a known key ({', '.join(kinds)})")
        out[key] = _value(kinds[key], value, f"{where} {key}")
    return kind(**out)


def _value(kind, value, where):
    if kind is float and type(value) is int:
        value = float(value)
    origin = typing.get_origin(kind)
    if origin is list:
        (item,) = typing.get_args(kind)
        if type(value) is not list:
            raise ConfigError(f"{where}: is not a list")
        if dataclasses.is_dataclass(item):
            return [_fill(item, entry, f"{where} {i + 1}") for i, entry in enumerate(value)]
        return [_value(item, entry, where) for entry in value]
    if origin is dict:
        if type(value) is not dict:
            raise ConfigError(f"{where}: is not a table")
        return {str(k): _value(float, v, f"{where} {k}") for k, v in value.items()}
    if type(value) is not kind:
        names = {int: "a whole number", float: "a number", str: "text"}
        raise ConfigError(f"{where}: {value!r} is not {names[kind]}")
    if kind is float and not math.isfinite(value):
        raise ConfigError(f"{where}: {value} is not a finite number")
    return value


def _check(t, path):
    def require(condition, what):
        if not condition:
            raise ConfigError(f"{path}: {what}")

    require(t.run.out, "[run] out: names no folder for checkpoints and metrics")
    require(t.data.train and all(t.data.train), "[data] train: names no file")
    require(all(t.data.held_out), "[data] held_out: holds an empty name")
    require(bool(t.model.start) != bool(t.model.tokenizer),
            "[model] needs either start (a checkpoint) or tokenizer (from scratch), and not both")
    for part, key, choices in (("model", "fusion", ("glu", "additive", "none")), ("run", "precision", ("f32", "bf16")),
                               ("run", "device", ("auto", "cpu", "cuda")),
                               ("schedule", "optimizer", ("adamw", "muon")),
                               ("objective", "prefix_start", ("uniform", "answer"))):
        value = getattr(getattr(t, part), key)
        require(value in choices, f"[{part}] {key}: {value!r} is not one of {', '.join(choices)}")
    for part, key, least in _LEAST:
        value = getattr(getattr(t, part), key)
        require(value >= least, f"[{part}] {key}: {value} is less than {least}")
    for part, key in _POSITIVE:
        value = getattr(getattr(t, part), key)
        require(value > 0, f"[{part}] {key}: {value} is not above 0")
    _check_model(t, require)
    _check_schedule(t, require)


_LEAST = (
    ("data", "sequence_length", 2), ("data", "held_out_rows", 1), ("schedule", "steps", 1), ("schedule", "rows", 1),
    ("schedule", "micro_rows", 1), ("schedule", "weight_decay", 0), ("schedule", "final_rate", 0),
    ("objective", "first_weight", 0), ("objective", "later_weight", 0), ("run", "seed", 0), ("run", "threads", 0),
    ("run", "checkpoint_steps", 1), ("run", "keep_checkpoints", 1), ("run", "evaluate_steps", 1),
    ("run", "evaluate_passes", 1), ("run", "log_steps", 1), ("run", "minutes", 0))
_POSITIVE = (
    ("model", "hidden_size"), ("model", "layers"), ("model", "heads"), ("model", "kv_heads"),
    ("model", "intermediate_size"), ("model", "context"), ("model", "rope_theta"), ("schedule", "learning_rate"),
    ("schedule", "clip"), ("schedule", "muon_share"), ("schedule", "gate_share"))


def _check_model(t, require):
    m = t.model
    if m.start:  # the sizes are the checkpoint's
        return
    require(m.hidden_size % m.heads == 0, f"[model] heads: hidden_size {m.hidden_size} is not a multiple of {m.heads}")
    require(m.hidden_size // m.heads % 2 == 0, f"[model] heads: a head's width {m.hidden_size // m.heads} is odd")
    require(m.heads % m.kv_heads == 0, f"[model] kv_heads: heads {m.heads} is not a multiple of {m.kv_heads}")
    require(t.data.sequence_length <= m.context,
            f"[data] sequence_length: {t.data.sequence_length} is more than [model] context, {m.context}")


def _check_schedule(t, require):
    s, o = t.schedule, t.objective
    require(0 <= o.prefix_mixing <= 1, f"[objective] prefix_mixing: {o.prefix_mixing} is not a share, 0 to 1")
    require(o.first_weight > 0 or o.later_weight > 0, "[objective] first_weight and later_weight: both are 0")
    require(0 <= s.warmup and 0 <= s.decay and s.warmup + s.decay <= 1,
            "[schedule] warmup and decay: are not shares of the steps, together at most 1")
    require(0 <= s.beta2 < 1, f"[schedule] beta2: {s.beta2} is not below 1")
    require(s.phases and s.phases[-1].until == 1.0, "[schedule] phases: the last is until = 1.0")
    require(s.phases[0].until > 0 and all(a.until < b.until for a, b in zip(s.phases, s.phases[1:])),
            "[schedule] phases: until must rise, from above 0")
    for phase in s.phases:
        require(phase.passes and all(k.isdecimal() and k == str(int(k)) and int(k) >= 1 and w > 0
                                     for k, w in phase.passes.items()),
                f"[schedule] phases: passes {phase.passes} are not numbers of passes with positive weights")
        require(t.model.fusion != "none" or set(phase.passes) == {"1"}, "[schedule] phases: fusion none has one pass")
        require(o.first_weight > 0 or "1" not in phase.passes,
                "[objective] first_weight: 0 leaves nothing to learn in batches of one pass")


def _absolute(t, folder):
    """Paths in the file are relative to it."""
    def path(text):
        return str((folder / text).resolve()) if text else ""

    return dataclasses.replace(
        t, model=dataclasses.replace(t.model, start=path(t.model.start), tokenizer=path(t.model.tokenizer)),
        data=dataclasses.replace(t.data, train=[path(p) for p in t.data.train],
                                 held_out=[path(p) for p in t.data.held_out]),
        run=dataclasses.replace(t.run, out=path(t.run.out)))
