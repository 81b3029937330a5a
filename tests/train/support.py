"""What the tests of the trainer share: tiny models with the reference's view of them, tiny data, trainings in children.

Importing it ends the test as skipped (exit code 77) where PyTorch is missing.
"""
import contextlib
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["TOKENIZERS_PARALLELISM"] = "false"
_cache = tempfile.TemporaryDirectory(prefix="fullband-test-")  # transformers copies a checkpoint's code there
os.environ["HF_HOME"] = _cache.name
try:
    import numpy as np
    import torch
    import transformers
    from transformers.models.llama import modeling_llama
except ModuleNotFoundError as missing:
    print(f"{missing.name} is missing: run scripts/setup --train")
    sys.exit(77)  # skipped

HOME = Path(__file__).resolve().parent.parent.parent
# Both folders hold a checkpoints.py: tests/reference's, which draws weights, is `shapes` here.
sys.path.insert(0, str(HOME / "tests" / "reference"))
import checkpoints as shapes  # noqa: E402
import compare_engine  # noqa: E402
import faults  # noqa: E402, F401
import fbt_reference as fbt  # noqa: E402

sys.modules.pop("checkpoints")
sys.path[0] = str(HOME / "scripts" / "train")
import modeling_fullband as modeling  # noqa: E402
from settings import toml_of  # noqa: E402

torch.set_num_threads(1)
transformers.utils.logging.disable_progress_bar()

GLU = shapes.Shape("glu", family="FullBandwidthLlamaForCausalLM", width=32, inner=56)
ADDITIVE = shapes.Shape("additive", family="FullBandwidthLlamaForCausalLM", fusion="additive", width=32, inner=56,
                        groups=4, tied=False)
# Float64 throughout, both sides: a thousand roundings of 2^-53 in numbers of size 100.
CLOSE = 1e-10


def config_of(shape):
    values = shapes.config_of(shape)
    values.pop("architectures")
    return modeling.FullBandwidthLlamaConfig(bos_token_id=None, eos_token_id=None, **values)


def random_model(shape, seed=1, dtype=torch.float64):
    """A model with the weights that tests/reference draws, and the reference's model of the same weights."""
    weights = shapes.random_tensors(shape, seed)
    if dtype == torch.float32:
        weights = {name: values.astype(np.float32).astype(np.float64) for name, values in weights.items()}
    model = modeling.FullBandwidthLlamaForCausalLM(config_of(shape)).to(dtype).eval()
    state = {name: torch.from_numpy(values).to(dtype) for name, values in weights.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    model.tie_weights()
    return model, fbt.Model(shapes.config_of(shape), weights)


def reference_of(model):
    """The reference's model of a PyTorch model's weights."""
    weights = {name: value.detach().double().numpy() for name, value in model.state_dict().items()}
    return fbt.Model(model.config.to_dict(), weights)


class _Double:
    """The parts of transformers' Llama that compute in float32 whatever the model's type, in float64."""

    @staticmethod
    def norm(self, x):
        return self.weight * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.variance_epsilon))

    @staticmethod
    def rotary(self, x, position_ids):
        angle = position_ids[..., None].to(x.dtype) * self.inv_freq_double.to(x.dtype)
        angle = torch.cat([angle, angle], -1)
        return angle.cos(), angle.sin()


@contextlib.contextmanager
def float64():
    """Within it a model in float64 computes in float64 (rope type default)."""
    def frequencies(self):
        width = self.config.head_dim
        theta = self.config.rope_parameters["rope_theta"]
        return theta ** (-torch.arange(width // 2, dtype=torch.float64) / (width // 2))

    rotary = modeling_llama.LlamaRotaryEmbedding
    with mock.patch.object(modeling_llama.LlamaRMSNorm, "forward", _Double.norm), \
            mock.patch.object(rotary, "forward", _Double.rotary), \
            mock.patch.object(rotary, "inv_freq_double", property(frequencies), create=True):
        yield


class Case(unittest.TestCase):
    """With a folder of its own; in float64 unless it says otherwise."""

    in_float64 = True

    def setUp(self):
        if self.in_float64:
            self.enterContext(float64())
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def assert_close(self, found, expected, allowed=CLOSE, what=""):
        found, expected = (np.asarray(x.detach() if torch.is_tensor(x) else x) for x in (found, expected))
        self.assertEqual(found.shape, expected.shape, what)
        error = np.abs(found - expected).max(initial=0)
        self.assertTrue(error <= allowed, f"{what}: differs by {error:.3g}, allowed {allowed:.3g}")

    def assert_noticed(self, check, *patches, what=""):
        """The check must fail with these faults planted: one that cannot fail shows nothing."""
        with contextlib.ExitStack() as planted:
            for patch in patches:
                planted.enter_context(patch)
            try:
                check()
            except (AssertionError, self.failureException):
                return
        self.fail(f"a planted fault goes unnoticed: {what or patches}")


# ---------------------------------------------------------------- trainings

TEXTS = ["a b c d e f g", "one two three four five six seven", "the ball goes to Ann, then to Bob", "count 1 2 3 4 5"]
CONFIG = {
    "model": {"tokenizer": "tokenizer", "hidden_size": 16, "layers": 1, "heads": 2, "kv_heads": 1,
              "intermediate_size": 24, "context": 64},
    "data": {"train": ["train.jsonl"], "held_out": ["held_out.jsonl"], "sequence_length": 24, "held_out_rows": 4},
    "objective": {"prefix_mixing": 0.5, "prefix_start": "answer"},
    "schedule": {"steps": 30, "rows": 4, "micro_rows": 4, "learning_rate": 3e-3, "phases": [
        {"until": 0.3, "passes": {"1": 1}}, {"until": 1.0, "passes": {"1": 1, "2": 2, "3": 1}}]},
    "run": {"out": "out", "seed": 5, "device": "cpu", "threads": 1, "checkpoint_steps": 4, "log_steps": 1,
            "evaluate_steps": 10, "evaluate_passes": 3},
}


def write_tokenizer(folder, vocabulary=270):
    import train_tokenizer
    source = folder.parent / f"{folder.name}.txt"
    source.write_text("\n\n".join(TEXTS), encoding="utf-8")
    with mock.patch.object(sys, "argv", ["train_tokenizer", "--out", str(folder), "--vocabulary", str(vocabulary),
                                         str(source)]), contextlib.redirect_stdout(None):
        assert train_tokenizer.main() == 0
    return folder


def write_training(folder, documents=60, **changes):
    """A folder with tokenizer, data and train.toml; changes: {"table": {"key": value}}."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "tokenizer").exists():
        write_tokenizer(folder / "tokenizer")
        rng = np.random.default_rng(4)
        for name, count in (("train", documents), ("held_out", 12)):
            with open(folder / f"{name}.jsonl", "w", encoding="utf-8") as file:
                for _ in range(count):
                    digits = [str(d) for d in rng.integers(0, 10, rng.integers(1, 5))]
                    turns = [["copy " + " ".join(digits) + " :", " " + " ".join(digits)], [" again", " " + digits[0]]]
                    file.write(json.dumps({"turns": turns[:rng.integers(1, 3)]}) + "\n")
    return write_config(folder / "train.toml", **changes)


def write_config(path, **changes):
    values = {table: dict(keys) for table, keys in CONFIG.items()}
    for table, keys in changes.items():
        values[table] |= keys
    path.write_text(toml_of(values), encoding="utf-8")
    return path


def child(work, log):
    """Runs work() in a forked child (the imports are done), its output to `log`; the child's process id."""
    pid = os.fork()
    if pid:
        return pid
    code = 99
    try:
        with open(log, "ab", buffering=0) as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        code = work()
    except BaseException:  # noqa: BLE001 (a child must never return into the test)
        import traceback
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def train_here(config, *arguments):
    """scripts/train/train's main() in this process: its exit code."""
    import train
    with mock.patch.object(sys, "argv", ["train", str(config), *map(str, arguments)]):
        return train.main()


def wait_for(pid):
    """The exit code of a child; minus the signal where one ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def train_in_child(config, *arguments, log=None):
    """(exit code, what it said)."""
    log = log or Path(config).with_suffix(".log")
    log.write_bytes(b"")
    code = wait_for(child(lambda: train_here(config, *arguments), log))
    return code, log.read_text(encoding="utf-8")


def metrics_of(out):
    with open(Path(out) / "metrics.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def last_checkpoint(out):
    files = sorted(Path(out).glob("step-*.pt"))
    return torch.load(files[-1], weights_only=True)
