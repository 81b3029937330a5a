"""One TOML file describes a training. `read(path)` checks every key and gives a Training; a checkpoint records it."""
import dataclasses
import tomllib
import types
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

    def identity(self):
        """What decides the weights, as plain values: a training is only resumed under the same."""
        values = dataclasses.asdict(self)
        for key in ("source",):
            values.pop(key)
        for key in ("out", "device", "threads", "checkpoint_steps", "keep_checkpoints", "evaluate_steps",
                    "evaluate_passes", "log_steps", "minutes"):
            values["run"].pop(key)
        values["data"].pop("held_out_rows")
        return values


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
    types = typing.get_type_hints(kind)
    out = {}
    for key, value in values.items():
        if key not in types:
            raise ConfigError(f"{where} {key}: is not a known key ({', '.join(types)})")
        out[key] = _value(types[key], value, f"{where} {key}")
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
        raise ConfigError(f"{where}: {value!r} is not a {kind.__name__}")
    return value


def _check(t, path):
    def require(condition, what):
        if not condition:
            raise ConfigError(f"{path}: {what}")

    require(t.run.out, "[run] out: names no folder for checkpoints and metrics")
    require(t.data.train, "[data] train: names no file")
    require(bool(t.model.start) != bool(t.model.tokenizer), "[model] needs either start (a checkpoint) or tokenizer")
    require(t.model.fusion in ("glu", "additive", "none"), f"[model] fusion: {t.model.fusion!r} is not glu, additive or none")
    require(t.run.precision in ("f32", "bf16"), f"[run] precision: {t.run.precision!r} is not f32 or bf16")
    require(t.objective.prefix_start in ("uniform", "answer"), "[objective] prefix_start: is not uniform or answer")
    require(0 <= t.objective.prefix_mixing <= 1, "[objective] prefix_mixing: is not a share")
    s = t.schedule
    require(s.steps >= 1 and s.rows >= 1 and s.micro_rows >= 1, "[schedule] steps, rows and micro_rows: at least 1")
    require(0 <= s.warmup and 0 <= s.decay and s.warmup + s.decay <= 1, "[schedule] warmup and decay: shares of the steps")
    require(s.phases and s.phases[-1].until == 1.0, "[schedule] phases: the last is until = 1.0")
    require(all(a.until < b.until for a, b in zip(s.phases, s.phases[1:])), "[schedule] phases: until must rise")
    for phase in s.phases:
        require(phase.passes and all(k.isdigit() and int(k) >= 1 and w > 0 for k, w in phase.passes.items()),
                f"[schedule] phases: passes {phase.passes} are not numbers of passes with positive weights")
        require(t.model.fusion != "none" or set(phase.passes) == {"1"}, "[schedule] phases: fusion none has one pass")
    require(t.data.sequence_length >= 2, "[data] sequence_length: at least 2")


def _absolute(t, folder):
    """Paths in the file are relative to it."""
    def path(text):
        return str((folder / text).resolve()) if text else ""

    return dataclasses.replace(
        t, model=dataclasses.replace(t.model, start=path(t.model.start), tokenizer=path(t.model.tokenizer)),
        data=dataclasses.replace(t.data, train=[path(p) for p in t.data.train], held_out=[path(p) for p in t.data.held_out]),
        run=dataclasses.replace(t.run, out=path(t.run.out)))
